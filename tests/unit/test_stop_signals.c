#include "tests/unit/cmocka_first.h"

#include <signal.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_counted_while_it_is_on),
        cmocka_unit_test(a_terminal_that_is_gone_asks_once),
        cmocka_unit_test(ignored_signals_stay_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
