#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checker/model/anomaly.h"
#include "run/load/run_progress.h"

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

static void the_line_has_all_parts(void **state)
{
    (void)state;
    char text[256];
    struct rig_progress progress = halfway();
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_string_equal(text, "load 5.0s 10k/20k 2000/s ok 9000 fail 999 unknown 1 p50 110us p99 12ms left 5.0s");
    progress.error = "40001";
    progress.error_count = 990;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_string_equal(
        text, "load 5.0s 10k/20k 2000/s ok 9000 fail 999 unknown 1 (mostly 40001) p50 110us p99 12ms left 5.0s");
    progress.ok = 1;
    progress.fail = 9998;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_string_equal(
        text, "load 5.0s 10k/20k 2000/s ok 1 fail 9998 unknown 1 (mostly 40001) p50 110us p99 12ms left 5.0s");
}

static void a_narrow_line_keeps_the_error(void **state)
{
    (void)state;
    char text[256];
    struct rig_progress progress = halfway();
    progress.error = "40001";
    progress.faults = "partition pg-2";
    rig_progress_text(&progress, 107, text, sizeof text);
    assert_non_null(strstr(text, "unknown 1 (mostly 40001) p99 12ms left 5.0s"));
    rig_progress_text(&progress, 106, text, sizeof text);
    assert_non_null(strstr(text, "unknown 1 (mostly 40001) left 5.0s"));
    rig_progress_text(&progress, 88, text, sizeof text);
    assert_string_equal(text,
                        "load 5.0s 10k/20k 2000/s under partition pg-2 ok 9000 fail 999 unknown 1 (mostly 40001)");
    rig_progress_text(&progress, 80, text, sizeof text);
    assert_string_equal(text, "load 5.0s 2000/s under partition pg-2 ok 9000 fail 999 unknown 1 (mostly 40001)");
}

/* The earlier of the two bounds; without a bound or a rate there is no estimate. */
static void the_remaining_time_is_that_of_the_nearer_bound(void **state)
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

static void a_check_shows_its_findings(void **state)
{
    (void)state;
    char text[256];
    uint64_t found[RIG_ANOMALY_COUNT] = {0};
    struct rig_progress progress = halfway();
    progress.found = found;
    progress.behind_ns = RIG_NS_PER_S;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_string_equal(text, "load 5.0s 10k/20k 2000/s ok 9000 fail 999 unknown 1 p50 110us p99 12ms left 5.0s");
    found[RIG_ANOMALY_G2_ITEM] = 3;
    progress.behind_ns = 2500 * RIG_NS_PER_MS;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, " 2000/s found G2-item 3 check behind 2.5s ok 9000 "));
    progress.put_off = true;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, " 2000/s found G2-item 3 check put off ok 9000 "));
    progress.put_off = false;
    found[RIG_ANOMALY_G0] = 12345;
    rig_progress_text(&progress, 200, text, sizeof text);
    assert_non_null(strstr(text, "G0 12k"));
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        found[anomaly] = UINT64_MAX;
    rig_progress_text(&progress, 200, text, sizeof text);
    char more[32];
    (void)snprintf(more, sizeof more, " and %d more ", (int)RIG_ANOMALY_COUNT - 2);
    assert_non_null(strstr(text, more));
}

static void shown_as(const struct rig_progress *progress, enum rig_progress_form form, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    rig_progress_show(progress, form, 200, stream);
    rig_progress_clear(form, stream);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void each_form_has_its_line(void **state)
{
    (void)state;
    uint64_t found[RIG_ANOMALY_COUNT] = {0};
    struct rig_progress progress = halfway();
    shown_as(&progress, RIG_PROGRESS_NONE, "");
    shown_as(&progress, RIG_PROGRESS_LINE,
             "\rload 5.0s 10k/20k 2000/s ok 9000 fail 999 unknown 1 p50 110us p99 12ms left 5.0s\033[K\r\033[K");
    shown_as(&progress, RIG_PROGRESS_LINES,
             "load 5.0s 10k/20k 2000/s ok 9000 fail 999 unknown 1 p50 110us p99 12ms left 5.0s\n");
    found[RIG_ANOMALY_G2_ITEM] = 3;
    progress.found = found;
    progress.behind_ns = 2500 * RIG_NS_PER_MS;
    progress.faults = "kill \"pg-1\"";
    shown_as(&progress, RIG_PROGRESS_JSON,
             "{\"phase\": \"load\", \"elapsed_s\": 5.000, \"transactions\": 10000, \"rate\": 2000.000, \"ok\": 9000, "
             "\"fail\": 999, \"info\": 1, \"total\": 20000, \"p50_ms\": 0.110, \"p99_ms\": 12.000, "
             "\"faults\": \"kill \\\"pg-1\\\"\", \"found\": {\"G2-item\": 3}, \"check_behind_s\": 2.500, "
             "\"left_s\": 5.000}\n");
    shown_as(&(struct rig_progress){.phase = "check", .done = 7, .has_share = true, .share = 1}, RIG_PROGRESS_JSON,
             "{\"phase\": \"check\", \"elapsed_s\": 0.000, \"transactions\": 7, \"rate\": 0.000, \"share\": 1.000}\n");
}

static void a_delay_is_shown_in_time(void **state)
{
    (void)state;
    struct rig_lag lag = {0};
    assert_int_equal(rig_lag_behind_ns(&lag, 5, 0), 0);
    int64_t now_ns = 0;
    for (uint64_t done = 0; done <= 50; done++, now_ns += RIG_NS_PER_S)
        rig_lag_note(&lag, now_ns, done);
    now_ns -= RIG_NS_PER_S;
    assert_int_equal(rig_lag_behind_ns(&lag, now_ns, 10), 39 * RIG_NS_PER_S);
    assert_int_equal(rig_lag_behind_ns(&lag, now_ns, 40), 9 * RIG_NS_PER_S);
    assert_int_equal(rig_lag_behind_ns(&lag, now_ns, 50), 0);
}

/* A delay of an hour is still shown, to within a few per cent, in the same space. */
static void long_delays_are_remembered(void **state)
{
    (void)state;
    struct rig_lag lag = {0};
    const int64_t hour_ns = 3600 * RIG_NS_PER_S;
    for (int64_t now_ns = 0; now_ns <= hour_ns; now_ns += 50 * RIG_NS_PER_MS)
        rig_lag_note(&lag, now_ns, (uint64_t)(now_ns / RIG_NS_PER_MS));
    int64_t behind_ns = rig_lag_behind_ns(&lag, hour_ns, 600 * 1000);
    assert_in_range(behind_ns, hour_ns - 720 * RIG_NS_PER_S, hour_ns - 600 * RIG_NS_PER_S);
}

/* A check: the transactions read, their share of the history, no outcomes. */
static void a_check_says_how_far_it_is(void **state)
{
    (void)state;
    char text[256];
    uint64_t found[RIG_ANOMALY_COUNT] = {0};
    found[RIG_ANOMALY_G2_ITEM] = 3;
    const struct rig_progress progress = {.phase = "check again",
                                          .elapsed_ns = 30 * RIG_NS_PER_S,
                                          .done = 12000000,
                                          .rate = 3000000,
                                          .has_share = true,
                                          .share = 0.25,
                                          .share_ns = 4 * RIG_NS_PER_S,
                                          .found = found};
    rig_progress_text(&progress, 120, text, sizeof text);
    assert_string_equal(text, "check again 30.0s 12M 3.0M/s 25% found G2-item 3 left 12.0s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_says_how_far_it_is),
        cmocka_unit_test(durations_are_short),
        cmocka_unit_test(counts_are_short),
        cmocka_unit_test(the_line_has_all_parts),
        cmocka_unit_test(a_narrow_line_keeps_the_error),
        cmocka_unit_test(the_remaining_time_is_that_of_the_nearer_bound),
        cmocka_unit_test(it_fits_the_terminal),
        cmocka_unit_test(a_check_shows_its_findings),
        cmocka_unit_test(each_form_has_its_line),
        cmocka_unit_test(a_delay_is_shown_in_time),
        cmocka_unit_test(long_delays_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
