#include "run/run_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/bug.h"

enum { SIGNAL_COUNT = 3 };
static const int signals[SIGNAL_COUNT] = {SIGINT, SIGTERM, SIGHUP};

static struct sigaction old_actions[SIGNAL_COUNT];
static bool changed[SIGNAL_COUNT];
static bool installed;
static atomic_int count;
static atomic_int wake_fd = -1; /* lives as long as the process: a handler may still be running when it is put back */

static void wake(void)
{
    uint64_t one = 1;
    ssize_t written = write(atomic_load(&wake_fd), &one, sizeof one);
    (void)written; /* full means that a wake-up is pending */
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    int saved_errno = errno;
    atomic_fetch_add(&count, 1);
    wake();
    errno = saved_errno;
}

enum rig_rc rig_run_signals_install(struct rig_err *err)
{
    RIG_REQUIRE(!installed);
    if (atomic_load(&wake_fd) < 0) {
        int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (fd < 0)
            return rig_fail(err, RIG_E_IO, "eventfd: %s", strerror(errno));
        atomic_store(&wake_fd, fd);
    }
    atomic_store(&count, 0);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        RIG_INVARIANT(sigaction(signals[i], NULL, &old_actions[i]) == 0);
        changed[i] = old_actions[i].sa_handler != SIG_IGN || signals[i] == SIGTERM;
        if (changed[i])
            RIG_INVARIANT(sigaction(signals[i], &action, NULL) == 0);
    }
    installed = true;
    return RIG_OK;
}

void rig_run_signals_restore(void)
{
    if (!installed)
        return;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (changed[i])
            RIG_INVARIANT(sigaction(signals[i], &old_actions[i], NULL) == 0);
    }
    installed = false;
}

int rig_run_signals_count(void)
{
    return atomic_load(&count);
}

void rig_run_signals_wait(int timeout_ms)
{
    struct pollfd poll_fd = {.fd = atomic_load(&wake_fd), .events = POLLIN};
    if (poll(&poll_fd, 1, timeout_ms) > 0) {
        uint64_t pending;
        ssize_t got = read(poll_fd.fd, &pending, sizeof pending);
        (void)got;
    }
}

void rig_run_signals_wake(void)
{
    wake();
}
