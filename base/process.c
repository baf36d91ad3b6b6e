#include "base/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    STATE_FIELD = 3,
    PARENT_FIELD = 4,
    SESSION_FIELD = 6,
    THREADS_FIELD = 20,
    STARTED_FIELD = 22
}; /* of proc(5), from 1 */
static const int64_t step_ns = 2 * RIG_NS_PER_MS;

/* From the start of the file. */
static size_t read_text(int fd, char *text, size_t size)
{
    const ssize_t got = pread(fd, text, size - 1, 0);
    text[got < 0 ? 0 : got] = '\0';
    return got < 0 ? 0 : (size_t)got;
}

static size_t read_file(const char *path, char *text, size_t size)
{
    text[0] = '\0';
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const size_t got = read_text(fd, text, size);
    (void)close(fd);
    return got;
}

bool rig_process_stat_read(int fd, struct rig_process_stat *stat)
{
    char text[1024];
    if (fd < 0 || read_text(fd, text, sizeof text) == 0)
        return false;
    /* PID (program) state parent group session ...: the program's name may contain anything, brackets included. */
    const char *name = strchr(text, '(');
    const char *at = strrchr(text, ')');
    if (name == NULL || at == NULL || at < name || at[1] != ' ' || at[2] == '\0')
        return false;
    struct rig_process_stat found = {.state = at[2]};
    (void)snprintf(found.program, sizeof found.program, "%.*s", (int)(at - name) - 1, name + 1);
    at += 2;
    for (int field = STATE_FIELD; field < STARTED_FIELD; field++) {
        at = strchr(at, ' ');
        if (at == NULL)
            return false;
        at++;
        if (field + 1 == PARENT_FIELD)
            found.parent = (pid_t)strtol(at, NULL, 10);
        if (field + 1 == SESSION_FIELD)
            found.session = (pid_t)strtol(at, NULL, 10);
        if (field + 1 == THREADS_FIELD)
            found.threads = (int)strtol(at, NULL, 10);
    }
    found.started = strtoull(at, NULL, 10);
    *stat = found;
    return true;
}

bool rig_process_stat(pid_t pid, struct rig_process_stat *stat)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const int fd = pid <= 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    const bool found = rig_process_stat_read(fd, stat);
    if (fd >= 0)
        (void)close(fd);
    return found;
}

/* While other threads of a process end, its first one is a zombie already, and memory and files are still in use. */
static bool has_ended(const struct rig_process_stat *stat)
{
    return stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
}

bool rig_process_find(pid_t pid, struct rig_process *process)
{
    struct rig_process_stat stat = {.started = 0};
    const bool found = rig_process_stat(pid, &stat);
    *process = (struct rig_process){.pid = pid, .started = stat.started};
    return found && !has_ended(&stat);
}

char rig_process_state(const struct rig_process *process)
{
    struct rig_process_stat stat;
    const bool is_this_one = rig_process_stat(process->pid, &stat) && stat.started == process->started;
    return is_this_one && !has_ended(&stat) ? stat.state : '\0';
}

bool rig_process_lives(const struct rig_process *process)
{
    return rig_process_state(process) != '\0';
}

/* A descriptor that stays that of its process when the number goes to another one; -1 with `errno`. */
static int open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    errno = ENOSYS;
    return -1;
#endif
}

static int send(int process_fd, pid_t pid, int signal_number)
{
#ifdef SYS_pidfd_send_signal
    if (process_fd >= 0)
        return (int)syscall(SYS_pidfd_send_signal, process_fd, signal_number, NULL, 0);
#endif
    return kill(pid, signal_number);
}

bool rig_process_signal(const struct rig_process *process, int signal_number)
{
    if (process->pid <= 0) {
        errno = ESRCH;
        return false;
    }
    const int fd = open_process(process->pid);
    if (fd < 0 && errno == ESRCH)
        return false;
    /* Opened before it is compared: a process that takes the number from now on is not the one of the descriptor. */
    bool sent = rig_process_lives(process);
    if (!sent)
        errno = ESRCH;
    else
        sent = send(fd, process->pid, signal_number) == 0;
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = error;
    return sent;
}

void rig_process_each(void (*visit)(pid_t pid, void *context), void *context)
{
    DIR *entries = opendir("/proc");
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]))
            visit((pid_t)strtol(entry->d_name, NULL, 10), context);
    }
    if (entries != NULL)
        (void)closedir(entries);
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

/* The fifth field of a line of /proc/<pid>/maps; -1 for a malformed line. The number of a segment may be 0. */
static int inode_of(const char *line)
{
    for (int field = 1; field < 5; field++) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    char *end;
    const long inode = strtol(line, &end, 10);
    return end > line && inode >= 0 && inode <= INT32_MAX ? (int)inode : -1;
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
        const int segment = name != NULL && strncmp(name, "/SYSV", 5) == 0 ? inode_of(line) : -1;
        if (segment >= 0 && !is_among(segments, count, segment))
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

enum { ENVIRONMENT_MOST = 4 << 20 };

void rig_child_mark_family(char family[RIG_CHILD_MARK_BYTES])
{
    uint64_t random[2];
    family[0] = '\0';
    if (getrandom(random, sizeof random, 0) == (ssize_t)sizeof random)
        (void)snprintf(family, RIG_CHILD_MARK_BYTES, "RIG_CHILD_MARK=%016" PRIx64 "%016" PRIx64 ".", random[0],
                       random[1]);
}

void rig_child_mark_of(const char *family, uint64_t number, char mark[RIG_CHILD_MARK_BYTES])
{
    mark[0] = '\0';
    if (family[0] != '\0')
        (void)snprintf(mark, RIG_CHILD_MARK_BYTES, "%s%" PRIu64, family, number);
}

/* A family ends with a dot and begins an entry; a mark is a whole entry. */
static bool mark_is_among(const char *entries, size_t size, const char *mark)
{
    const size_t length = strlen(mark);
    const bool family = mark[length - 1] == '.';
    for (size_t at = 0; at < size;) {
        const size_t entry = strnlen(entries + at, size - at);
        if (entry >= length && (family || entry == length) && memcmp(entries + at, mark, length) == 0)
            return true;
        at += entry + 1;
    }
    return false;
}

/* The environment with which a process began, read into `room`; 0: it cannot be read. */
static size_t read_environment(pid_t pid, char *room)
{
    char path[64];
    size_t size = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && size < ENVIRONMENT_MOST) {
        const ssize_t got = read(fd, room + size, ENVIRONMENT_MOST - size);
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    if (fd >= 0)
        (void)close(fd);
    return size;
}

struct search {
    const char *mark;
    char *room;
    struct rig_process *found;
    uint32_t capacity, count;
};

static void mark_visit(pid_t pid, void *context)
{
    struct search *search = context;
    struct rig_process process;
    const size_t size = pid == getpid() ? 0 : read_environment(pid, search->room);
    if (size == 0 || !mark_is_among(search->room, size, search->mark) || !rig_process_find(pid, &process))
        return;
    if (search->count < search->capacity)
        search->found[search->count] = process;
    search->count++;
}

uint32_t rig_child_mark_find(const char *mark, struct rig_process *found, uint32_t capacity)
{
    struct search search = {.mark = mark, .found = found, .capacity = capacity};
    search.room = mark[0] == '\0' ? NULL : malloc(ENVIRONMENT_MOST);
    if (search.room == NULL)
        return 0;
    rig_process_each(mark_visit, &search);
    free(search.room);
    return search.count;
}

bool rig_child_mark_signal(const char *mark, const struct rig_process *process, int signal_number)
{
    char *room = malloc(ENVIRONMENT_MOST);
    if (room == NULL)
        return false;
    /* The environment is that of the process, as long as a process of this number and start time has it. */
    const size_t size = read_environment(process->pid, room);
    const bool marked = size > 0 && mark_is_among(room, size, mark);
    free(room);
    return marked && rig_process_signal(process, signal_number);
}

enum { PATH_MOST = 4096 };

bool rig_account_find(const char *name, struct rig_account *account)
{
    *account = (struct rig_account){.drop = geteuid() == 0, .uid = geteuid(), .gid = getegid()};
    if (!account->drop)
        return true;
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[4096];
    if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return false;
    account->uid = found->pw_uid;
    account->gid = found->pw_gid;
    account->group_count = RIG_ACCOUNT_GROUPS_MOST;
    if (getgrouplist(name, found->pw_gid, account->groups, &account->group_count) < 0)
        account->group_count = RIG_ACCOUNT_GROUPS_MOST; /* it has more: the first ones do */
    (void)snprintf(account->name, sizeof account->name, "%s", name);
    return true;
}

static bool in_group(const struct rig_account *account, gid_t group)
{
    bool found = group == account->gid;
    for (int i = 0; i < account->group_count; i++)
        found = found || account->groups[i] == group;
    return found;
}

bool rig_account_can_reach(const struct rig_account *account, const char *path)
{
    char prefix[PATH_MOST];
    size_t length = strlen(path);
    if (!account->drop)
        return true;
    if (path[0] != '/' || length >= sizeof prefix)
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        struct stat status;
        if (stat(prefix, &status) != 0)
            return false;
        mode_t needed = status.st_uid == account->uid ? S_IXUSR : in_group(account, status.st_gid) ? S_IXGRP : S_IXOTH;
        if (!S_ISDIR(status.st_mode) || (status.st_mode & needed) == 0)
            return false;
    }
    return true;
}

bool rig_account_become(const struct rig_account *account)
{
    return !account->drop || (setgroups((size_t)account->group_count, account->groups) == 0 &&
                              setgid(account->gid) == 0 && setuid(account->uid) == 0);
}
