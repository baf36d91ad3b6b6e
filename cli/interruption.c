#include "cli/interruption.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "cli/cli.h"

enum { SIGNAL_COUNT = 3, EXIT_BY_SIGNAL = 128, TEXT_BYTES = 512 };
static const int signals[SIGNAL_COUNT] = {SIGINT, SIGTERM, SIGHUP};

static struct sigaction old_actions[SIGNAL_COUNT];
static pthread_t thread;
static bool is_on;
static int wake_fd = -1;
static atomic_int came; /* the signal's number; -1: the work is done */
static void (*describe_work)(void *context, char *text, unsigned long size);
static void *work;
static int64_t limit_ns; /* when the time is over; 0: never */

static void on_signal(int number)
{
    const int saved_errno = errno;
    const uint64_t one = 1;
    int none = 0;
    if (atomic_compare_exchange_strong(&came, &none, number)) {
        const ssize_t written = write(wake_fd, &one, sizeof one);
        (void)written;
    }
    errno = saved_errno;
}

/* False: the time is over. */
static bool wait_for_wake(void)
{
    struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
    int ready;
    do {
        const int64_t left_ns = limit_ns == 0 ? 0 : limit_ns - rig_clock_now_ns();
        const int64_t left_ms = left_ns <= 0 ? 0 : left_ns / RIG_NS_PER_MS + 1;
        ready = poll(&wake, 1, limit_ns == 0 ? -1 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);
    } while ((ready < 0 && errno == EINTR) || (ready == 0 && limit_ns > rig_clock_now_ns()));
    return ready != 0;
}

static void *wait_for_signal(void *unused)
{
    (void)unused;
    char text[TEXT_BYTES] = "";
    int none = 0;
    const bool in_time = wait_for_wake();
    if (!in_time && atomic_compare_exchange_strong(&came, &none, -1)) {
        describe_work(work, text, sizeof text);
        rig_cli_complain("the time limit is over: %s", text);
        _exit(RIG_EXIT_UNDECIDED);
    }
    const int number = atomic_load(&came);
    if (number <= 0)
        return NULL;
    describe_work(work, text, sizeof text);
    rig_cli_complain("SIG%s: %s", sigabbrev_np(number), text);
    _exit(EXIT_BY_SIGNAL + number);
}

void rig_cli_interruption_limit(int64_t at_ns)
{
    limit_ns = at_ns;
}

void rig_cli_interruption_begin(void (*describe)(void *context, char *text, unsigned long size), void *context)
{
    RIG_REQUIRE(!is_on && describe != NULL);
    atomic_store(&came, 0);
    describe_work = describe;
    work = context;
    wake_fd = eventfd(0, EFD_CLOEXEC);
    if (wake_fd < 0)
        return;
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0) {
        (void)close(wake_fd);
        return;
    }
    is_on = true;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        RIG_INVARIANT(sigaction(signals[i], NULL, &old_actions[i]) == 0);
        if (old_actions[i].sa_handler != SIG_IGN)
            RIG_INVARIANT(sigaction(signals[i], &action, NULL) == 0);
    }
}

void rig_cli_interruption_end(void)
{
    if (!is_on)
        return;
    int none = 0;
    const uint64_t one = 1;
    /* A signal that came first ends the process from its thread. */
    if (atomic_compare_exchange_strong(&came, &none, -1)) {
        const ssize_t written = write(wake_fd, &one, sizeof one);
        (void)written;
    }
    (void)pthread_join(thread, NULL);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        RIG_INVARIANT(sigaction(signals[i], &old_actions[i], NULL) == 0);
    (void)close(wake_fd);
    wake_fd = -1;
    is_on = false;
}
