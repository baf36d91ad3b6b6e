#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "report/cases.h"
#include "report/report.h"
#include "tests/unit/hand_verdict.h"

struct tally {
    unsigned states[RIG_CASE_OPEN + 1];
    char last[64]; /* kind/name of the last case that did not pass */
};

static void count(const struct rig_report_case *test_case, void *context)
{
    struct tally *tally = context;
    tally->states[test_case->state]++;
    if (test_case->state != RIG_CASE_PASSED)
        (void)snprintf(tally->last, sizeof tally->last, "%s/%s", test_case->kind, test_case->name);
}

static struct tally tally_of(const struct hand_verdict *hand)
{
    struct tally tally = {0};
    rig_report_cases_visit(&hand->verdict, count, &tally);
    return tally;
}

static void each_request_is_a_case(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.requested_levels |= RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION);
    hand.verdict.requested_anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G1A) | RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM);
    const struct tally tally = tally_of(&hand);
    assert_int_equal(tally.states[RIG_CASE_PASSED], 2);
    assert_int_equal(tally.states[RIG_CASE_FAILED], 2);
    assert_int_equal(tally.states[RIG_CASE_OPEN], 0);
    hand_verdict_done(&hand);
}

static void no_verdict_but_a_valid_one_passes_whole(void **state)
{
    (void)state;
    static const enum rig_valid others[] = {RIG_VALID_FALSE, RIG_VALID_UNKNOWN};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct hand_verdict hand;
        hand_verdict_skew(&hand);
        hand.verdict.requested_levels = 0;
        hand.verdict.valid = others[i];
        hand.verdict.unknown_reason = others[i] == RIG_VALID_UNKNOWN ? (char *)"the budget is spent" : NULL;
        const struct tally tally = tally_of(&hand);
        assert_int_equal(tally.states[RIG_CASE_PASSED], 0);
        assert_string_equal(tally.last, "run/verdict");
        hand_verdict_done(&hand);
    }
}

static void a_failed_run_leaves_its_levels_open(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"the run failed: no server";
    hand.verdict.effort.failure = "no server";
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].fate = RIG_FATE_NOT_REFUTED;
    const struct tally tally = tally_of(&hand);
    assert_int_equal(tally.states[RIG_CASE_OPEN], 2);
    assert_int_equal(tally.states[RIG_CASE_PASSED], 0);
    hand_verdict_done(&hand);
}

static void an_annotation_is_one_line(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_annotations(&hand.verdict, "nightly, 50%: a", &out);
    assert_string_equal(
        rig_buf_text(&out),
        "::error title=nightly%2C 50%25%3A a%3A serializable%3A G2-item::a witness of the anomaly was found%0A"
        "G2-item: T17 and T23 form a cycle%0A"
        "  T17 = process 3, 0.010 s - 0.017 s: [r 5 [1 2]] [append 9 4]%0A"
        "  - T17 before T23: T17 read key 5 as [1 2] and did not see T23's append of 3.\n");
    rig_buf_clear(&out);
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"too little\n::error::forged";
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].fate = RIG_FATE_NOT_REFUTED;
    rig_report_annotations(&hand.verdict, "a", &out);
    assert_string_equal(rig_buf_text(&out),
                        "::error title=a%3A serializable (undecided)::too little ::error::forged\n");
    hand_verdict_done(&hand);
    rig_buf_done(&out);
}

static void a_long_annotation_is_cut_between_characters(void **state)
{
    (void)state;
    enum { PAIRS = 4000 };
    static char text[2 * PAIRS + 2] = "x";
    for (size_t i = 0; i < PAIRS; i++)
        memcpy(text + 1 + 2 * i, "\xc3\xa9", 2);
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.witnesses[0].text = text;
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].reason = (char *)"";
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_annotations(&hand.verdict, "a", &out);
    assert_true(out.size < 4100);
    assert_memory_equal(rig_buf_text(&out) + out.size - 6, "\xc3\xa9...\n", 6);
    hand_verdict_done(&hand);
    rig_buf_done(&out);
}

static void a_summary_has_a_row_for_each_case(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.requested_anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G1A);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_markdown(&hand.verdict, NULL, "skew", &out);
    const char *text = rig_buf_text(&out);
    assert_non_null(strstr(text, "<h3>rig: skew</h3>\n<p><b>ANOMALY: "));
    assert_non_null(strstr(text, "<tr><td>levels</td><td>serializable</td><td>FAILED</td><td>G2-item</td>"));
    assert_non_null(strstr(text, "<tr><td>anomalies</td><td>G1a</td><td>passed</td><td></td><td></td></tr>"));
    assert_non_null(strstr(text, "<details><summary>serializable: G2-item</summary>\n<pre>\n"));
    hand_verdict_done(&hand);
    rig_buf_done(&out);
}

static void hostile_texts_stay_inside(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.witnesses[0].text = (char *)HAND_HOSTILE "\n\n</pre></details>\n::error::forged";
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].reason = (char *)HAND_HOSTILE;
    const struct rig_report_run run = {.server = HAND_HOSTILE, .driver = "d"};
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_markdown(&hand.verdict, &run, HAND_HOSTILE, &out);
    assert_null(strstr(rig_buf_text(&out), "<script"));
    const char *end = strstr(rig_buf_text(&out), "</pre>");
    assert_non_null(end);
    assert_memory_equal(end, "</pre>\n</details>\n", 18);
    rig_buf_clear(&out);
    rig_report_annotations(&hand.verdict, HAND_HOSTILE, &out);
    assert_int_equal(strcspn(rig_buf_text(&out), "\n"), out.size - 1);
    rig_buf_clear(&out);
    rig_report_sarif(&hand.verdict, &run, HAND_HOSTILE, &out);
    for (const char *c = rig_buf_text(&out); *c != '\0'; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    hand_verdict_done(&hand);
    rig_buf_done(&out);
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned number = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        number++;
    return number;
}

static void sarif_tells_requests_from_other_findings(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.findings[RIG_ANOMALY_G1A] = (struct rig_finding){.count = 1};
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_sarif(&hand.verdict, NULL, "skew.jsonl", &out);
    const char *text = rig_buf_text(&out);
    assert_int_equal(occurrences(text, "\"level\": \"error\""), 1);
    assert_int_equal(occurrences(text, "\"level\": \"note\""), 1);
    assert_non_null(strstr(text, "\"ruleId\": \"G2-item\", \"level\": \"error\""));
    assert_non_null(strstr(text, "\"ruleId\": \"G1a\", \"level\": \"note\""));
    assert_int_equal(occurrences(text, "\"uri\": \"skew.jsonl\""), 2);
    assert_int_equal(occurrences(text, "\"id\": \"G2-item\""), 1);
    assert_int_equal(occurrences(text, "\"primaryLocationLineHash\": \""), 2);
    assert_int_equal(occurrences(text, "\"fullDescription\": {\"text\": \""),
                     occurrences(text, "\"help\": {\"text\": \""));
    assert_int_equal(occurrences(text, "relatedLocations"), 0);
    rig_buf_clear(&out);
    const struct rig_report_run run = {.plan_path = "plans of ours/a.yaml", .plan_line = 7};
    rig_report_sarif(&hand.verdict, &run, "skew", &out);
    text = rig_buf_text(&out);
    assert_int_equal(occurrences(text, "{\"uri\": \"plans%20of%20ours/a.yaml\"}, \"region\": {\"startLine\": 7}"), 2);
    assert_int_equal(occurrences(text, "\"uri\": \"history.rig\""), 2);
    hand_verdict_done(&hand);
    rig_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_a_case),
        cmocka_unit_test(no_verdict_but_a_valid_one_passes_whole),
        cmocka_unit_test(a_failed_run_leaves_its_levels_open),
        cmocka_unit_test(an_annotation_is_one_line),
        cmocka_unit_test(a_long_annotation_is_cut_between_characters),
        cmocka_unit_test(a_summary_has_a_row_for_each_case),
        cmocka_unit_test(hostile_texts_stay_inside),
        cmocka_unit_test(sarif_tells_requests_from_other_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
