#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"
#include "report/report.h"
#include "tests/unit/hand_verdict.h"
#include "tests/unit/well_formed.h"

static const struct rig_report_latency latencies[] = {
    {"read-only", 9876, 800000, 700000, 1200000, 3000000, 9000000, 20000000},
    {"writing", 10024, 1234567, 1000000, 2000000, 9990000, 45000000, 1200000000},
};
static const struct rig_report_error errors[] = {
    {"fail", "40001", "ERROR: could not serialize access due to read/write dependencies among transactions", 1100},
    {"info", "08006", HAND_HOSTILE, 3},
};

static struct rig_report_run hand_run(void)
{
    return (struct rig_report_run){.name = "pg-serializable",
                                   .driver = "postgres",
                                   .server = "PostgreSQL 15.4 (Debian 15.4-1)",
                                   .isolation = "serializable",
                                   .started_utc = "20260131T235959.123Z",
                                   .plan_yaml = "name: pg-serializable\n# <script>alert(1)</script>\n",
                                   .seed = 42,
                                   .client_count = 16,
                                   .load_s = 12.5,
                                   .final_reads = 1,
                                   .latencies = latencies,
                                   .latency_count = 2,
                                   .errors = errors,
                                   .error_count = 2};
}

static void page_of(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                    struct rig_buf *out)
{
    rig_buf_init(out, 0);
    rig_report_html(verdict, run, NULL, name, out);
    assert_false(out->failed);
    assert_well_formed(out->data);
}

static void everything_is_on_the_page(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    const struct rig_report_run run = hand_run();
    struct rig_buf out;
    page_of(&hand.verdict, &run, "pg-serializable", &out);
    static const char *const parts[] = {
        "<h1>T17 and T23 each missed what the other wrote: neither can have come first.</h1>",
        "<p class=\"claim\">PostgreSQL 15.4 (Debian 15.4-1), asked for serializable, does not keep serializable: ",
        "it shows <span class=\"name\">G2-item (write-skew).</span></p>",
        "<p>Serializability is refuted",
        "<dt>Evidence</dt><dd>3 acknowledged transactions; 0 failed",
        "<section class=\"card\" id=\"witness\">\n<h3>G2-item #1</h3>",
        "ANOMALY: in 3 acknowledged transactions, serializable does not hold",
        "class=\"lattice\"",
        "id=\"G2-item\"",
        "T17 before T23: rw, key 5",
        "PostgreSQL 15.4 (Debian 15.4-1)",
        "<td class=\"n\">1.23 ms",
        "<td class=\"code\">40001</td>",
        "the resolved plan",
        "<dd>42</dd>",
        "prefers-color-scheme:dark"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(out.data, parts[i]) == NULL)
            fail_msg("missing: %s", parts[i]);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        assert_non_null(strstr(out.data, rig_level_info((enum rig_level)level)->name));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void nothing_foreign_gets_out(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_report_run run = hand_run();
    run.name = run.server = run.isolation = run.driver = run.plan_yaml = run.started_utc = HAND_HOSTILE;
    hand.verdict.summary = (char *)HAND_HOSTILE;
    hand.witnesses[0].text = (char *)HAND_HOSTILE;
    hand.verdict.levels[RIG_LEVEL_SERIALIZABLE].reason = (char *)HAND_HOSTILE;
    struct rig_buf out;
    page_of(&hand.verdict, &run, HAND_HOSTILE, &out);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "\033"));
    assert_null(strstr(out.data, "src=\""));
    for (const char *link = out.data; (link = strstr(link, "href=\"")) != NULL; link++)
        assert_memory_equal(link, "href=\"#", 7);
    assert_null(strstr(out.data, "url("));
    assert_null(strstr(out.data, "@import"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* Values and states of an object are texts from outside, too. */
static void hostile_values_stay_text(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_blocked(&hand, 3);
    struct rig_buf out;
    page_of(&hand.verdict, NULL, "history.jsonl", &out);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "\033"));
    assert_non_null(strstr(out.data, "write &lt;script&gt;"));
    assert_non_null(strstr(out.data, "the object is &lt;script&gt;"));
    assert_non_null(strstr(out.data, "class=\"bar blocked\""));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void a_clean_history_says_so(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 3);
    memset(hand.verdict.findings, 0, sizeof hand.verdict.findings);
    hand.verdict.valid = RIG_VALID_TRUE;
    hand.verdict.scope.truncated = true;
    struct rig_buf out;
    page_of(&hand.verdict, NULL, "history.rig", &out);
    assert_non_null(strstr(out.data, "data-verdict=\"valid\""));
    assert_non_null(strstr(out.data, "<h1>This history kept serializable in 3 acknowledged transactions.</h1>"));
    assert_null(strstr(out.data, "id=\"witness\""));
    assert_non_null(strstr(out.data, "None was found."));
    assert_non_null(strstr(out.data, "The record was cut"));
    assert_null(strstr(out.data, "<h2>Run</h2>"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* Without a decision the page claims nothing, whatever was found beside the request, and has no sign of a pass. */
static void an_open_verdict_is_no_pass(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"the run failed: no server";
    struct rig_report_run run = hand_run();
    run.failed = "no server";
    struct rig_buf out;
    page_of(&hand.verdict, &run, "failed", &out);
    const char *opening = strstr(out.data, "<body>"), *end = strstr(out.data, "class=\"fold\"");
    assert_true(opening != NULL && end != NULL);
    struct rig_buf head;
    rig_buf_init(&head, 0);
    rig_buf_add(&head, opening, (size_t)(end - opening));
    assert_non_null(strstr(rig_buf_text(&head), "<h1>Undecided: the run failed: no server.</h1>"));
    assert_non_null(strstr(head.data, "data-verdict=\"undecided\""));
    assert_null(strstr(head.data, "mark held"));
    assert_null(strstr(head.data, "kept"));
    assert_null(strstr(head.data, "id=\"witness\""));
    rig_buf_done(&head);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* RIG_HTML_DIR: a folder to store the pages in, for a person to look at. */
static void pages_for_the_eye(void **state)
{
    (void)state;
    const char *folder = getenv("RIG_HTML_DIR");
    if (folder == NULL)
        skip();
    for (uint32_t i = 0; i < 3; i++) {
        struct hand_verdict hand;
        if (i == 0)
            hand_verdict_skew(&hand);
        else
            hand_verdict_ring(&hand, 3 * i);
        if (i == 2) {
            hand.verdict.valid = RIG_VALID_UNKNOWN;
            hand.verdict.unknown_reason = (char *)"nothing was observed";
            for (unsigned level = 8; level < RIG_LEVEL_COUNT; level++)
                hand.verdict.levels[level].fate = RIG_FATE_NOT_REFUTED;
        }
        const struct rig_report_run run = hand_run();
        struct rig_buf out;
        struct rig_err err = {0};
        char path[4096];
        page_of(&hand.verdict, &run, "pg-serializable", &out);
        (void)snprintf(path, sizeof path, "%s/page-%u.html", folder, i);
        assert_int_equal(rig_output_save(&out, path, &err), RIG_OK);
        rig_buf_done(&out);
        hand_verdict_done(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_on_the_page),  cmocka_unit_test(nothing_foreign_gets_out),
        cmocka_unit_test(hostile_values_stay_text),   cmocka_unit_test(a_clean_history_says_so),
        cmocka_unit_test(an_open_verdict_is_no_pass), cmocka_unit_test(pages_for_the_eye),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
