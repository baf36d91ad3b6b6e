#include "tests/unit/cmocka_first.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/interruption.h"
#include "cli/stop_signals.h"

static volatile sig_atomic_t seen;

static void see(int number)
{
    seen = number;
}

static void set_handler(int number, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler};
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

static void signals_are_counted_while_it_is_on(void **state)
{
    (void)state;
    set_handler(SIGTERM, see);
    for (int round = 0; round < 2; round++) {
        const atomic_int *count = rig_cli_stop_signals_begin();
        assert_int_equal(atomic_load(count), 0);
        assert_int_equal(raise(SIGINT), 0);
        assert_int_equal(raise(SIGTERM), 0);
        assert_int_equal(atomic_load(count), 2);
        assert_int_equal(raise(SIGHUP), 0); /* asks once, and never for more than the end of the load */
        assert_int_equal(atomic_load(count), 2);
        assert_int_equal(seen, 0);
        rig_cli_stop_signals_end();
        assert_true(handler_of(SIGINT) == SIG_DFL);
        assert_true(handler_of(SIGTERM) == see);
    }
    set_handler(SIGTERM, SIG_DFL);
}

static void a_terminal_that_is_gone_asks_once(void **state)
{
    (void)state;
    const atomic_int *count = rig_cli_stop_signals_begin();
    assert_int_equal(raise(SIGHUP), 0);
    assert_int_equal(raise(SIGHUP), 0);
    assert_int_equal(atomic_load(count), 1);
    rig_cli_stop_signals_end();
}

/* As under nohup; but a run must be able to end. */
static void ignored_signals_stay_ignored(void **state)
{
    (void)state;
    set_handler(SIGHUP, SIG_IGN);
    set_handler(SIGTERM, SIG_IGN);
    const atomic_int *count = rig_cli_stop_signals_begin();
    assert_int_equal(raise(SIGHUP), 0);
    assert_int_equal(atomic_load(count), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(atomic_load(count), 1);
    rig_cli_stop_signals_end();
    assert_true(handler_of(SIGHUP) == SIG_IGN);
    set_handler(SIGHUP, SIG_DFL);
    assert_true(handler_of(SIGTERM) == SIG_IGN);
    set_handler(SIGTERM, SIG_DFL);
}

static void a_time_limit_asks_twice(void **state)
{
    (void)state;
    const atomic_int *count = rig_cli_stop_signals_begin();
    rig_cli_time_limit_begin(rig_clock_now_ns() - RIG_NS_PER_S, RIG_NS_PER_S);
    while (atomic_load(count) < 2) /* the test's time-out ends a limit that does not ask */
        (void)sched_yield();
    rig_cli_time_limit_end();
    assert_int_equal(atomic_load(count), 2);
    rig_cli_stop_signals_end();
}

static void a_load_within_its_time_is_not_asked(void **state)
{
    (void)state;
    const atomic_int *count = rig_cli_stop_signals_begin();
    rig_cli_time_limit_begin(rig_clock_now_ns(), 3600 * RIG_NS_PER_S);
    rig_cli_time_limit_end();
    rig_cli_time_limit_begin(rig_clock_now_ns(), 0);
    rig_cli_time_limit_end();
    assert_int_equal(atomic_load(count), 0);
    rig_cli_stop_signals_end();
}

static void a_check_has_half_of_what_is_left(void **state)
{
    (void)state;
    const int64_t now = rig_clock_now_ns(), second = RIG_NS_PER_S;
    assert_int_equal(rig_cli_time_limit_share(now, 0, 60 * second), 60 * second);
    assert_int_equal(rig_cli_time_limit_share(now, 3600 * second, 60 * second), 60 * second);
    assert_int_equal(rig_cli_time_limit_share(now - 5 * second, second, 60 * second), RIG_NS_PER_MS);
    assert_in_range(rig_cli_time_limit_share(now, 10 * second, 60 * second), 1, 5 * second);
}

static void describe(void *context, char *text, unsigned long size)
{
    (void)context;
    (void)size;
    text[0] = '\0';
}

static void a_check_that_exceeds_its_time_is_undecided(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rig_cli_interruption_limit(rig_clock_now_ns() - 1);
        rig_cli_interruption_begin(describe, NULL);
        for (;;)
            (void)pause();
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), RIG_EXIT_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_counted_while_it_is_on),
        cmocka_unit_test(a_terminal_that_is_gone_asks_once),
        cmocka_unit_test(ignored_signals_stay_ignored),
        cmocka_unit_test(a_time_limit_asks_twice),
        cmocka_unit_test(a_load_within_its_time_is_not_asked),
        cmocka_unit_test(a_check_has_half_of_what_is_left),
        cmocka_unit_test(a_check_that_exceeds_its_time_is_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
