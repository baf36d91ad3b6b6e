#include "cli/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "cli/cli.h"

enum { SIGNAL_COUNT = 3 };
static const int signals[SIGNAL_COUNT] = {SIGINT, SIGTERM, SIGHUP};

static struct sigaction old_actions[SIGNAL_COUNT];
static bool is_changed[SIGNAL_COUNT];
static bool is_on;
static atomic_int count;

/* A terminal or a launcher that is gone asks once, whatever came before it. */
static void on_signal(int number)
{
    int none = 0;
    if (number == SIGHUP)
        (void)atomic_compare_exchange_strong(&count, &none, 1);
    else
        (void)atomic_fetch_add(&count, 1);
}

const atomic_int *rig_cli_stop_signals_begin(void)
{
    RIG_REQUIRE(!is_on);
    is_on = true;
    atomic_store(&count, 0);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        RIG_INVARIANT(sigaction(signals[i], NULL, &old_actions[i]) == 0);
        is_changed[i] = old_actions[i].sa_handler != SIG_IGN || signals[i] == SIGTERM;
        if (is_changed[i])
            RIG_INVARIANT(sigaction(signals[i], &action, NULL) == 0);
    }
    return &count;
}

/* Asks the run to end as one more signal does, from any thread. */
static void cli_stop_signals_ask(void)
{
    (void)atomic_fetch_add(&count, 1);
}

void rig_cli_stop_signals_end(void)
{
    RIG_REQUIRE(is_on);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (is_changed[i])
            RIG_INVARIANT(sigaction(signals[i], &old_actions[i], NULL) == 0);
    }
    is_on = false;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static pthread_t thread;
static bool is_limited, is_over; /* is_over: under the lock */
static int64_t ask_ns[2];        /* when the load is to end, and when the clients are interrupted */

/* Until the time, or until the load is over: then false. Under the lock. */
static bool wait_until(int64_t at_ns)
{
    const struct timespec at = {.tv_sec = at_ns / RIG_NS_PER_S, .tv_nsec = at_ns % RIG_NS_PER_S};
    while (!is_over && rig_clock_now_ns() < at_ns)
        (void)pthread_cond_timedwait(&ended, &lock, &at);
    return !is_over;
}

static void *watch(void *unused)
{
    static const char *const messages[] = {"three quarters of the time limit are over: the load ends",
                                           "seven eighths of the time limit are over: the clients are interrupted"};
    (void)unused;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2 && wait_until(ask_ns[i]); i++) {
        rig_log(RIG_LOG_WARN, "run", "%s", messages[i]);
        rig_cli_complain("%s", messages[i]);
        cli_stop_signals_ask();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void rig_cli_time_limit_begin(int64_t start_ns, int64_t limit_ns)
{
    pthread_condattr_t attributes;
    if (limit_ns == 0)
        return;
    ask_ns[0] = start_ns + limit_ns / 4 * 3;
    ask_ns[1] = start_ns + limit_ns / 8 * 7;
    is_over = false;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&ended, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    is_limited = rig_thread_start(&thread, watch, NULL) == 0;
    if (!is_limited)
        (void)pthread_cond_destroy(&ended);
}

void rig_cli_time_limit_end(void)
{
    if (!is_limited)
        return;
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
    (void)pthread_join(thread, NULL);
    (void)pthread_cond_destroy(&ended);
    is_limited = false;
}

int64_t rig_cli_time_limit_share(int64_t start_ns, int64_t limit_ns, int64_t budget_ns)
{
    if (limit_ns == 0)
        return budget_ns;
    const int64_t half = (start_ns + limit_ns - rig_clock_now_ns()) / 2;
    const int64_t share = half < budget_ns ? half : budget_ns;
    return share > RIG_NS_PER_MS ? share : RIG_NS_PER_MS;
}
