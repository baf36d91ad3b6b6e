/*
 * A session's wait ends when another thread raises its wake: at once, also before it begins, and no other session's.
 */
#include "tests/unit/cmocka_first.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/thread.h"

static struct rig_wakes wakes;

static int set_up(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_wakes_init(&wakes, 2, &err), RIG_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_wakes_done(&wakes);
    rig_wakes_done(&wakes);
    return 0;
}

static bool is_readable(const struct rig_wake *wake, int timeout_ms)
{
    struct pollfd polled = {.fd = rig_wake_fd(wake), .events = POLLIN};
    return poll(&polled, 1, timeout_ms) == 1;
}

static void *raise_late(void *wake)
{
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS);
    rig_wake_raise(wake);
    return NULL;
}

static void raised_wake_ends_the_wait(void **state)
{
    (void)state;
    struct rig_wake wake = {.fd_plus_one = 0}, other = {.fd_plus_one = 0};
    pthread_t thread;
    rig_wake_arm(&wake, &wakes, 0);
    rig_wake_arm(&other, &wakes, 1);
    assert_false(is_readable(&wake, 0));
    assert_int_equal(pthread_create(&thread, NULL, raise_late, &wake), 0);
    assert_true(is_readable(&wake, 20000));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(rig_wake_is_raised(&wake));
    rig_wake_settle(&wake); /* the interrupt was for it: every further wait ends as well */
    assert_true(is_readable(&wake, 0));
    assert_false(rig_wake_is_raised(&other));
    assert_false(is_readable(&other, 0));
}

/* It has no descriptor yet; the session reads the flag before it waits. */
static void wake_is_raised_before_it_is_armed(void **state)
{
    (void)state;
    struct rig_wake wake = {.fd_plus_one = 0};
    assert_int_equal(rig_wake_fd(&wake), -1);
    rig_wake_raise(&wake);
    rig_wake_arm(&wake, &wakes, 0);
    assert_true(rig_wake_is_raised(&wake));
}

static void next_session_is_not_ended(void **state)
{
    (void)state;
    struct rig_wake before = {.fd_plus_one = 0}, next = {.fd_plus_one = 0};
    rig_wake_arm(&before, &wakes, 0);
    rig_wake_raise(&before);
    rig_wake_arm(&next, &wakes, 0);
    assert_false(rig_wake_is_raised(&next));
    assert_false(is_readable(&next, 0));
    rig_wake_raise(&before); /* late: the session has just been closed */
    assert_true(is_readable(&next, 0));
    rig_wake_settle(&next);
    assert_false(is_readable(&next, 0));
}

static void too_few_descriptors_are_told(void **state)
{
    (void)state;
    struct rlimit before;
    struct rig_wakes many;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {.rlim_cur = 32, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(rig_wakes_init(&many, 100, &err), RIG_E_DRIVER);
    assert_non_null(strstr(err.text, "no descriptors for 100 clients: "));
    rig_wakes_done(&many);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(raised_wake_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wake_is_raised_before_it_is_armed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(next_session_is_not_ended, set_up, tear_down),
        cmocka_unit_test(too_few_descriptors_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
