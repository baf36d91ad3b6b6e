#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "report/markup.h"
#include "report/report.h"
#include "tests/unit/hand_verdict.h"

static void escaped(const char *text, const char *expected)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_markup_escape(&out, text);
    assert_string_equal(rig_buf_text(&out), expected);
    rig_buf_done(&out);
}

static void markup_is_escaped_and_made_valid(void **state)
{
    (void)state;
    escaped("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
    escaped("\001\033[1m\n\t\x7f", "\xef\xbf\xbd\xef\xbf\xbd[1m\n\t\xef\xbf\xbd");
    escaped("\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80");
    escaped("\xff\xc0\x80\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    escaped("\xef\xbf\xbf", "\xef\xbf\xbd");
    escaped("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
    escaped("\xf5z", "\xef\xbf\xbdz");
    escaped("", "");
    escaped(NULL, "");
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

static void a_case_for_each_request(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.requested_levels |= RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION);
    hand.verdict.requested_anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G1A);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_junit(&hand.verdict, NULL, "skew", &out);
    assert_non_null(strstr(out.data, "<testsuite name=\"skew\" tests=\"3\" failures=\"1\" errors=\"0\""));
    assert_int_equal(occurrences(out.data, "<testcase "), 3);
    assert_int_equal(occurrences(out.data, "<failure type=\"G2-item\""), 1);
    assert_non_null(strstr(out.data, "T23&#39;s append of 3."));
    assert_non_null(strstr(out.data, "name=\"snapshot-isolation\"></testcase>"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void undecided_is_an_error(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"nothing was observed <at all>";
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].fate = RIG_FATE_NOT_REFUTED;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_junit(&hand.verdict, NULL, "skew", &out);
    assert_non_null(strstr(out.data, "failures=\"0\" errors=\"1\""));
    assert_non_null(strstr(out.data, "<error type=\"undecided\" message=\"nothing was observed &lt;at all&gt;\"/>"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void hostile_texts_stay_inside(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.witnesses[0].text = (char *)HAND_HOSTILE;
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].reason = (char *)HAND_HOSTILE;
    hand.verdict.summary = (char *)HAND_HOSTILE;
    const struct rig_report_run run = {.server = HAND_HOSTILE, .driver = "d"};
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_junit(&hand.verdict, &run, HAND_HOSTILE, &out);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "]]>"));
    for (const char *c = out.data; *c != '\0'; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped_and_made_valid),
        cmocka_unit_test(a_case_for_each_request),
        cmocka_unit_test(undecided_is_an_error),
        cmocka_unit_test(hostile_texts_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
