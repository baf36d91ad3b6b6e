#include "nemesis/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { STARTED_FIELD = 22 };
static const int64_t step_ns = 2 * RIG_NS_PER_MS;

static size_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, size - 1);
    (void)close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return got < 0 ? 0 : (size_t)got;
}

/* The state and the start time of /proc/<pid>/stat. The name, in brackets, may hold anything; fields count behind it.
 */
static bool read_stat(pid_t pid, char *state, uint64_t *started)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (pid <= 0 || read_file(path, text, sizeof text) == 0)
        return false;
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    at += 2;
    *state = *at;
    for (int field = 3; field < STARTED_FIELD; field++) {
        at = strchr(at, ' ');
        if (at == NULL)
            return false;
        at++;
    }
    *started = strtoull(at, NULL, 10);
    return true;
}

bool rig_process_find(pid_t pid, struct rig_process *process)
{
    char state = '\0';
    *process = (struct rig_process){.pid = pid};
    return read_stat(pid, &state, &process->started) && state != 'Z' && state != 'X';
}

char rig_process_state(const struct rig_process *process)
{
    char state = '\0';
    uint64_t started = 0;
    if (!read_stat(process->pid, &state, &started) || started != process->started || state == 'Z' || state == 'X')
        return '\0';
    return state;
}

bool rig_process_lives(const struct rig_process *process)
{
    return rig_process_state(process) != '\0';
}

bool rig_process_signal(const struct rig_process *process, int signal_number)
{
    errno = ESRCH;
    return rig_process_lives(process) && kill(process->pid, signal_number) == 0;
}

static bool is_as_wanted(const struct rig_process *process, bool ended, bool stopped)
{
    const char state = rig_process_state(process);
    if (ended)
        return state == '\0';
    return state != '\0' && (state == 'T' || state == 't') == stopped;
}

static bool await(const struct rig_process *process, bool ended, bool stopped, int64_t timeout_ns)
{
    const int64_t until_ns = rig_clock_now_ns() + timeout_ns;
    while (!is_as_wanted(process, ended, stopped)) {
        const int64_t now_ns = rig_clock_now_ns();
        if (now_ns >= until_ns || (!ended && !rig_process_lives(process)))
            return false;
        rig_clock_sleep_until_ns(now_ns + step_ns);
    }
    return true;
}

bool rig_process_await_end(const struct rig_process *process, int64_t timeout_ns)
{
    return await(process, true, false, timeout_ns);
}

bool rig_process_await_state(const struct rig_process *process, bool stopped, int64_t timeout_ns)
{
    return await(process, false, stopped, timeout_ns);
}

/* The fifth field of a line of /proc/<pid>/maps; 0 when it is none. */
static int inode_of(const char *line)
{
    for (int field = 1; field < 5; field++) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    const long inode = strtol(line, NULL, 10);
    return inode > 0 && inode <= INT32_MAX ? (int)inode : 0;
}

static bool is_among(const int *numbers, uint32_t count, int number)
{
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] == number)
            return true;
    }
    return false;
}

/* /proc/<pid>/maps shows a segment as a file /SYSV<key>; its inode is the segment's number. */
uint32_t rig_process_segments(const struct rig_process *process, int *segments, uint32_t capacity)
{
    char path[64];
    char line[512];
    uint32_t count = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)process->pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && count < capacity && fgets(line, sizeof line, maps) != NULL) {
        const char *name = strchr(line, '/');
        const int segment = name != NULL && strncmp(name, "/SYSV", 5) == 0 ? inode_of(line) : 0;
        if (segment > 0 && !is_among(segments, count, segment))
            segments[count++] = segment;
    }
    if (maps != NULL)
        (void)fclose(maps);
    return count;
}

void rig_process_boot_id(char id[RIG_BOOT_ID_BYTES])
{
    size_t length = read_file("/proc/sys/kernel/random/boot_id", id, RIG_BOOT_ID_BYTES);
    while (length > 0 && id[length - 1] == '\n')
        id[--length] = '\0';
    id[length] = '\0';
}
