#include "tests/unit/cmocka_first.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static void time_never_runs_backwards(void **state)
{
    (void)state;
    int64_t last = rig_clock_now_ns();
    assert_true(last > 0);
    for (int i = 0; i < 10000; i++) {
        int64_t now = rig_clock_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void sleep_ends_at_the_deadline_or_later(void **state)
{
    (void)state;
    int64_t deadline_ns = rig_clock_now_ns() + 5 * RIG_NS_PER_MS;
    rig_clock_sleep_until_ns(deadline_ns);
    assert_true(rig_clock_now_ns() >= deadline_ns);
}

static void deadline_in_the_past_does_not_sleep(void **state)
{
    (void)state;
    int64_t start_ns = rig_clock_now_ns();
    rig_clock_sleep_until_ns(start_ns - RIG_NS_PER_S);
    rig_clock_sleep_until_ns(0);
    assert_true(rig_clock_now_ns() - start_ns < 60 * RIG_NS_PER_S);
}

static void utc_text_has_its_fixed_form(void **state)
{
    (void)state;
    char text[24];
    time_t before = time(NULL);
    rig_clock_utc_text(text, sizeof text);
    assert_int_equal(strlen(text), 20);
    static const char form[] = "dddddddd"
                               "T"
                               "dddddd"
                               "."
                               "ddd"
                               "Z";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (form[i] == 'd')
            assert_true(isdigit((unsigned char)text[i]));
        else
            assert_int_equal(text[i], form[i]);
    }
    struct tm parts = {0};
    assert_non_null(strptime(text, "%Y%m%dT%H%M%S", &parts));
    time_t told = timegm(&parts);
    assert_true(told >= before && told <= time(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(sleep_ends_at_the_deadline_or_later),
        cmocka_unit_test(deadline_in_the_past_does_not_sleep),
        cmocka_unit_test(utc_text_has_its_fixed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
