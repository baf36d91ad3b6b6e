#include "base/child_mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

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
static bool is_among(const char *entries, size_t size, const char *mark)
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

static void visit(pid_t pid, void *context)
{
    struct search *search = context;
    struct rig_process process;
    const size_t size = pid == getpid() ? 0 : read_environment(pid, search->room);
    if (size == 0 || !is_among(search->room, size, search->mark) || !rig_process_find(pid, &process))
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
    rig_process_each(visit, &search);
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
    const bool marked = size > 0 && is_among(room, size, mark);
    free(room);
    return marked && rig_process_signal(process, signal_number);
}
