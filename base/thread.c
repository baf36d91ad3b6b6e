#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/log.h"
#include "base/plural.h"

struct start {
    void *(*run)(void *argument);
    void *argument;
    struct rig_log_file *log;
};

static void *thread_main(void *argument)
{
    const struct start start = *(struct start *)argument;
    free(argument);
    rig_log_use(start.log);
    void *result = start.run(start.argument);
    rig_log_close();
    return result;
}

int rig_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return ENOMEM;
    *start = (struct start){.run = run, .argument = argument, .log = rig_log_share()};
    sigset_t all, before;
    (void)sigfillset(&all);
    RIG_INVARIANT(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    const int error = pthread_create(thread, NULL, thread_main, start);
    RIG_INVARIANT(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    if (error != 0) {
        rig_log_release(start->log);
        free(start);
    }
    return error;
}

enum rig_rc rig_wakes_init(struct rig_wakes *wakes, uint32_t count, struct rig_err *err)
{
    *wakes = (struct rig_wakes){.at = calloc((size_t)count + 1, sizeof *wakes->at)};
    if (wakes->at == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%u client%s", count, rig_plural(count));
    for (; wakes->count < count; wakes->count++) {
        const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (fd < 0)
            return rig_fail(err, RIG_E_DRIVER, "no descriptors for %u client%s: %s; raise `ulimit -n`", count,
                            rig_plural(count), strerror(errno));
        wakes->at[wakes->count] = fd;
    }
    return RIG_OK;
}

void rig_wakes_done(struct rig_wakes *wakes)
{
    for (uint32_t i = 0; i < wakes->count; i++)
        (void)close(wakes->at[i]);
    free(wakes->at);
    *wakes = (struct rig_wakes){.count = 0};
}

static void empty(int fd)
{
    uint64_t calls;
    (void)!read(fd, &calls, sizeof calls);
}

void rig_wake_arm(struct rig_wake *wake, const struct rig_wakes *wakes, uint32_t client)
{
    RIG_REQUIRE(client < wakes->count);
    empty(wakes->at[client]);
    atomic_store(&wake->fd_plus_one, wakes->at[client] + 1);
}

void rig_wake_raise(struct rig_wake *wake)
{
    const uint64_t one = 1;
    /* The flag first: a session that arms its wake now sees it before it first sleeps. */
    atomic_store(&wake->raised, true);
    const int fd = rig_wake_fd(wake);
    if (fd >= 0 && write(fd, &one, sizeof one) < 0)
        RIG_INVARIANT(errno == EAGAIN); /* the counter is full: it wakes as well */
}

bool rig_wake_is_raised(const struct rig_wake *wake)
{
    return atomic_load(&wake->raised);
}

int rig_wake_fd(const struct rig_wake *wake)
{
    return atomic_load(&wake->fd_plus_one) - 1;
}

void rig_wake_settle(const struct rig_wake *wake)
{
    if (!rig_wake_is_raised(wake))
        empty(rig_wake_fd(wake));
}
