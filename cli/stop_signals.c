#include "cli/stop_signals.h"

#include <signal.h>
#include <stdbool.h>

#include "base/bug.h"

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

void rig_cli_stop_signals_ask(void)
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
