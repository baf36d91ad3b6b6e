#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <unistd.h>

#include "history/source/load.h"
#include "report/charts.h"
#include "report/report.h"
#include "tests/unit/hand_verdict.h"
#include "tests/unit/well_formed.h"

enum { MANY = 60000 };

static enum rig_rc read_course(const struct rig_verdict *verdict, uint32_t clients, struct rig_course **course)
{
    char path[] = "/tmp/rig-test-course-XXXXXX";
    struct rig_err err = {0};
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    const struct rig_save_options save = {.form = RIG_FORM_RIG};
    assert_int_equal(rig_history_save(verdict->history, path, &save, &err), RIG_OK);
    const struct rig_source_options from = {.load = {.form = RIG_FORM_AUTO}};
    const enum rig_rc rc = rig_course_read(&(const char *){path}, 1, &from, verdict, clients, course, &err);
    (void)unlink(path);
    return rc;
}

/* The course of a history, read back from a file. */
static struct rig_course *course_of(const struct rig_verdict *verdict, uint32_t clients)
{
    struct rig_course *course = NULL;
    assert_int_equal(read_course(verdict, clients, &course), RIG_OK);
    assert_non_null(course);
    return course;
}

static uint64_t completed(const struct rig_course *course, enum rig_outcome outcome)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < course->slot_count; i++)
        sum +=
            course->slots[i].count[outcome][RIG_COURSE_READ_ONLY] + course->slots[i].count[outcome][RIG_COURSE_WRITING];
    return sum;
}

static void everything_is_in_a_short_one(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 5);
    struct rig_course *course = course_of(&hand.verdict, 5);
    assert_false(course->is_partial);
    assert_int_equal(course->bars.count, 5);
    assert_int_equal(completed(course, RIG_OUTCOME_OK), 4);
    const struct rig_course_bar *open = &course->bars.at[4];
    assert_true(open->complete_ns == RIG_NO_TIME && open->outcome == RIG_OUTCOME_INFO);
    const struct rig_course_op *op = &course->ops.at[1];
    assert_true(op->kind == RIG_OP_READ_LIST && op->count == 200 && op->value == 1199);
    assert_string_equal(course->texts.texts[op->key], "100");
    assert_int_equal(course->bars.at[0].complete_ns, 5000000);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

static void quantiles_are_near(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 5);
    struct rig_course *course = course_of(&hand.verdict, 0);
    int64_t p50 = 0;
    for (uint32_t i = 0; i < course->slot_count && p50 == 0; i++)
        p50 = rig_course_latency(&course->slots[i], 0.5);
    assert_in_range(p50, 5000000 * 15 / 16, 5000000);
    assert_int_equal(rig_histogram_count(&course->latency[RIG_COURSE_WRITING]), 4);
    assert_int_equal(rig_histogram_max(&course->latency[RIG_COURSE_WRITING]), 5000000);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

static bool is_drawn(const struct rig_course *course, uint32_t name)
{
    for (size_t i = 0; i < course->bars.count; i++)
        if (course->bars.at[i].name == name)
            return true;
    return false;
}

/* MANY transactions, each of one append, two thirds of them acknowledged; two witnesses. */
static void make_many(struct hand_verdict *hand)
{
    *hand = (struct hand_verdict){.history = NULL};
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct rig_op op = {RIG_OP_APPEND, i % 7, i + 1};
        hand_add(builder, i % 4, 2 * i, 2 * i + 1, i % 3 == 0 ? RIG_OUTCOME_FAIL : RIG_OUTCOME_OK, &op, NULL, 1, NULL);
    }
    hand_finish(hand, builder);
    hand->verdict.ok_count = MANY - MANY / 3;
    hand->verdict.fail_count = MANY / 3;
    for (uint32_t i = 0; i < 40; i++)
        hand->txns[i] = i * (MANY / 41);
    hand->witnesses[0] = (struct rig_witness){.txns = hand->txns, .txn_count = 1};
    hand->witnesses[1] = (struct rig_witness){.txns = hand->txns + 1, .txn_count = 39};
    hand->verdict.findings[RIG_ANOMALY_G0] =
        (struct rig_finding){.count = 2, .witnesses = hand->witnesses, .witness_count = 2};
}

/* In a long history the transactions of witnesses are always drawn, and each reading draws the same ones. */
static void a_long_one_keeps_the_witnesses(void **state)
{
    (void)state;
    struct hand_verdict hand;
    make_many(&hand);
    struct rig_course *course = course_of(&hand.verdict, 4), *again = course_of(&hand.verdict, 4);
    assert_true(course->is_partial);
    assert_int_equal(course->txn_count, MANY);
    assert_in_range(course->bars.count, RIG_COURSE_BARS / 4, RIG_COURSE_BARS);
    assert_int_equal(completed(course, RIG_OUTCOME_OK) + completed(course, RIG_OUTCOME_FAIL), MANY);
    for (uint32_t i = 0; i < 40; i++)
        assert_true(is_drawn(course, rig_txn_name(hand.history, hand.txns[i])));
    assert_int_equal(course->bars.count, again->bars.count);
    for (size_t i = 0; i < course->bars.count; i++)
        assert_int_equal(course->bars.at[i].name, again->bars.at[i].name);
    struct rig_buf said;
    rig_buf_init(&said, 0);
    rig_course_say_drawn(&said, course);
    assert_non_null(strstr(rig_buf_text(&said), " of 60,000 transactions are drawn: all of the witnesses"));
    rig_buf_done(&said);
    rig_course_free(course);
    rig_course_free(again);
    hand_verdict_done(&hand);
}

/* Codes of errors come from the database. */
static void charts_keep_hostile_texts_in_place(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 5);
    struct rig_course *course = course_of(&hand.verdict, 0);
    struct rig_episodes episodes;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_episodes_init(&episodes, &hand.verdict);
    assert_false(rig_chart_draw(&out, RIG_CHART_ERRORS, course, &episodes, true));
    assert_int_equal(out.size, 0);
    (void)snprintf(course->codes[0], RIG_COURSE_CODE_BYTES, "</text><script>alert(1)");
    course->code_count = 1;
    course->slots[0].by_code[0] = 3;
    for (unsigned chart = 0; chart < RIG_CHART_COUNT; chart++) {
        assert_true(rig_chart_draw(&out, (enum rig_chart)chart, course, &episodes, true));
        assert_non_null(rig_chart_name((enum rig_chart)chart));
    }
    assert_null(strstr(rig_buf_text(&out), "<script"));
    assert_non_null(strstr(out.data, "&lt;script&gt;"));
    assert_null(strstr(out.data, "nan"));
    rig_buf_done(&out);
    rig_episodes_done(&episodes);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

/* Bars take at most an eighth of --max-memory, and a limit that is too small is refused before the file is opened. */
static void a_limit_leaves_bars_out(void **state)
{
    (void)state;
    struct hand_verdict hand;
    make_many(&hand);
    hand.verdict.limit_bytes = 16 << 20;
    struct rig_course *course = course_of(&hand.verdict, 4), *none = NULL;
    assert_true(course->is_partial);
    assert_in_range(course->bars.capacity * sizeof *course->bars.at + course->ops.capacity * sizeof *course->ops.at +
                        rig_text_table_bytes(&course->texts),
                    1, hand.verdict.limit_bytes / 8);
    for (uint32_t i = 0; i < 40; i++)
        assert_true(is_drawn(course, rig_txn_name(hand.history, hand.txns[i])));
    assert_int_equal(completed(course, RIG_OUTCOME_OK) + completed(course, RIG_OUTCOME_FAIL), MANY);
    hand.verdict.limit_bytes = 1 << 20;
    assert_int_equal(read_course(&hand.verdict, 4, &none), RIG_E_LIMIT);
    assert_null(none);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

/* -- the page ------------------------------------------------------------------------------------------------------ */

static struct rig_buf page_of(const struct hand_verdict *hand, const struct rig_report_run *run,
                              const struct rig_course *course)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_html(&hand->verdict, run, course, "a long run", &out);
    assert_false(out.failed);
    assert_well_formed(rig_buf_text(&out));
    assert_false(out.failed);
    assert_in_range(out.size, 1, RIG_HTML_BYTES - 1);
    return out;
}

static unsigned count_of(const struct rig_buf *page, const char *text)
{
    unsigned count = 0;
    for (const char *at = page->data; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* Whatever is put on it: a text a key, operations without end, a plan that is larger than the page. */
static void the_page_stays_below_its_limit(void **state)
{
    (void)state;
    struct hand_verdict hand;
    make_many(&hand);
    struct rig_course *course = course_of(&hand.verdict, 4);
    struct rig_report_run run = {.name = "a long run", .driver = "sim", .client_count = 4};
    struct rig_buf page = page_of(&hand, &run, course);
    assert_int_equal(count_of(&page, "id=\"tl-drawn\""), 1);
    assert_int_equal(count_of(&page, " of 60,000 transactions are in this page: 40 of witnesses"), 1);
    rig_buf_done(&page);
    char name[80];
    struct rig_course_ops many = {.at = NULL};
    for (size_t i = 0; i < course->bars.count; i++) { /* 16 operations each, of keys with long names */
        const int length = snprintf(name, sizeof name, "%070zu", i);
        const uint32_t key = rig_text_table_put(&course->texts, name, (size_t)length);
        course->bars.at[i].first_op = (uint32_t)many.count;
        for (unsigned j = 0; j < 16; j++)
            assert_true(rig_course_ops_add(
                &many, (struct rig_course_op){.kind = RIG_OP_APPEND, .key = key, .value = INT64_MAX - j}));
    }
    rig_course_ops_done(&course->ops);
    course->ops = many;
    page = page_of(&hand, &run, course);
    assert_int_equal(count_of(&page, "transactions are in this page: 40 of witnesses"), 1);
    rig_buf_done(&page);
    char *plan = malloc(4000001);
    assert_non_null(plan);
    memset(plan, '<', 4000000);
    plan[4000000] = '\0';
    run.plan_yaml = plan;
    page = page_of(&hand, &run, course);
    assert_int_equal(count_of(&page, "Run, settings, plan: left out, so that the page stays below 3 MB"), 1);
    assert_int_equal(count_of(&page, "transactions are in this page: 40 of witnesses"), 1);
    rig_buf_done(&page);
    free(plan);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

/* The data of the timeline stand in a script element, which no key and no node may end. */
static void no_text_leaves_the_data(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 5);
    struct rig_course *course = course_of(&hand.verdict, 0);
    static char hostile[] = "</script><script>alert(1)</script><!-- & \xff";
    for (uint32_t i = 0; i < course->texts.count; i++)
        course->texts.texts[i] = hostile;
    struct rig_buf page = page_of(&hand, NULL, course);
    assert_int_equal(count_of(&page, "<script"), 2);
    assert_int_equal(count_of(&page, "</script"), 2);
    assert_int_equal(count_of(&page, "<!--"), 0);
    assert_true(count_of(&page, "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)") > 0);
    assert_int_equal(count_of(&page, "script-src 'sha256-"), 1);
    assert_int_equal(count_of(&page, "unsafe-inline"), 1); /* of styles */
    rig_buf_done(&page);
    rig_course_free(course);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_in_a_short_one),       cmocka_unit_test(quantiles_are_near),
        cmocka_unit_test(a_long_one_keeps_the_witnesses),     cmocka_unit_test(a_limit_leaves_bars_out),
        cmocka_unit_test(the_page_stays_below_its_limit),     cmocka_unit_test(no_text_leaves_the_data),
        cmocka_unit_test(charts_keep_hostile_texts_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
