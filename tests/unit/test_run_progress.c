#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/clock.h"
#include "runner/run_progress.h"

static const char *duration(int64_t ns)
{
    static char text[32];
    rig_progress_duration(ns, text, sizeof text);
    return text;
}

static const char *count(uint64_t number)
{
    static char text[32];
    rig_progress_count(number, text, sizeof text);
    return text;
}

static void durations_are_short(void **state)
{
    (void)state;
    assert_string_equal(duration(-5), "0.0us");
    assert_string_equal(duration(1500), "1.5us");
    assert_string_equal(duration(350 * RIG_NS_PER_US), "350us");
    assert_string_equal(duration(2500 * RIG_NS_PER_US), "2.5ms");
    assert_string_equal(duration(45 * RIG_NS_PER_MS), "45ms");
    assert_string_equal(duration(12340 * RIG_NS_PER_MS), "12.3s");
    assert_string_equal(duration(185 * RIG_NS_PER_S), "3m05");
    assert_string_equal(duration(9000 * RIG_NS_PER_S), "2h30");
}

static void counts_are_short(void **state)
{
    (void)state;
    assert_string_equal(count(0), "0");
    assert_string_equal(count(9999), "9999");
    assert_string_equal(count(12345), "12k");
    assert_string_equal(count(123456), "123k");
    assert_string_equal(count(1500000), "1.5M");
    assert_string_equal(count(UINT64_C(4000000000)), "4.0G");
}

static struct rig_progress halfway(void)
{
    return (struct rig_progress){.phase = "load",
                                 .elapsed_ns = 5 * RIG_NS_PER_S,
                                 .done = 10000,
                                 .ok = 9000,
                                 .fail = 999,
                                 .info = 1,
                                 .rate = 2000,
                                 .has_latency = true,
                                 .p50_ns = 110 * RIG_NS_PER_US,
                                 .p99_ns = 12 * RIG_NS_PER_MS,
                                 .total = 20000};
}

static void the_line_tells_all(void **state)
{
    (void)state;
    char text[256];
    struct rig_progress progress = halfway();
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_string_equal(text, "load 5.0s 10k/20k 2000/s ok 9000 fail 999 info 1 p50 110us p99 12ms left 5.0s");
}

/* Whichever bound comes first; without a bound or a rate nothing is promised. */
static void what_is_left_is_the_nearer_bound(void **state)
{
    (void)state;
    char text[256];
    struct rig_progress progress = halfway();
    progress.duration_ns = 7 * RIG_NS_PER_S;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, "left 2.0s"));
    progress.duration_ns = 3600 * RIG_NS_PER_S;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, "left 5.0s"));
    progress.rate = 0;
    progress.duration_ns = 0;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_null(strstr(text, "left"));
    progress.duration_ns = 4 * RIG_NS_PER_S; /* already past */
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, "left 0.0us"));
}

static void it_fits_the_terminal(void **state)
{
    (void)state;
    char text[256];
    struct rig_progress progress = halfway();
    for (unsigned columns = 1; columns < 120; columns++) {
        rig_progress_text(&progress, columns, text, sizeof text);
        assert_true(strlen(text) < columns);
    }
    rig_progress_text(&progress, 0, text, sizeof text); /* unknown */
    assert_non_null(strstr(text, "left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_short),  cmocka_unit_test(counts_are_short),
        cmocka_unit_test(the_line_tells_all),   cmocka_unit_test(what_is_left_is_the_nearer_bound),
        cmocka_unit_test(it_fits_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
