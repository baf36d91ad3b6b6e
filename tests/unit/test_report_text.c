#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "report/report.h"
#include "report/words.h"
#include "tests/unit/hand_verdict.h"

static const struct rig_report_latency latencies[] = {
    {.name = "writing",
     .count = 19876,
     .mean_ns = 1234567,
     .p50_ns = 1000000,
     .p90_ns = 2000000,
     .p99_ns = 9990000,
     .p999_ns = 45000000,
     .max_ns = 1200000000},
    {.name = "held open", .count = 0},
};
static const struct rig_report_error errors[] = {{"fail", "40001", "could not serialize access " HAND_HOSTILE, 1100}};

static struct rig_report_run hand_run(void)
{
    return (struct rig_report_run){.name = "pg-serializable",
                                   .driver = "postgres",
                                   .server = "PostgreSQL 15.4",
                                   .isolation = "serializable",
                                   .started_utc = "20260131T235959.123Z",
                                   .seed = UINT64_MAX,
                                   .client_count = 16,
                                   .load_s = 2,
                                   .final_reads = 1,
                                   .latencies = latencies,
                                   .latency_count = 2,
                                   .errors = errors,
                                   .error_count = 1};
}

static char *text_of(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour,
                     struct rig_buf *out)
{
    rig_buf_init(out, 0);
    rig_report_text(verdict, run, colour, 0, out);
    assert_false(out->failed);
    return out->data;
}

static void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("missing: %s\nin:\n%s", part, text);
}

static void summary_comes_first_then_the_verdict(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    const char *text = text_of(&hand.verdict, NULL, false, &out);
    const char *start = "T17 and T23 each missed what the other wrote: neither can have come first.\n"
                        "Serializability is refuted: T17 and T23 each missed the other's append.\n"
                        "\n"
                        "ANOMALY: in 3 acknowledged transactions, serializable does not hold\n"
                        "  requested           serializable\n"
                        "  workload            list-append (given)\n";
    assert_memory_equal(text, start, strlen(start));
    assert_holds(text, "  weakest refuted     repeatable-read\n");
    assert_holds(text, "  strongest held      ");
    assert_holds(text, "  refuted             repeatable-read, view-serializable, serializable, "
                       "strong-session-serializable,\n");
    assert_holds(text, "G2-item                                3  write skew");
    assert_holds(text, "  G2-item #1: T17 and T23 form a cycle\n    T17 = process 3");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void run_facts_are_shown(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    const struct rig_report_run run = hand_run();
    hand.verdict.effort.acknowledged = 2; /* of the load: whatever the outcome of the final reads */
    const char *text = text_of(&hand.verdict, &run, false, &out);
    assert_holds(text, "  server              PostgreSQL 15.4\n");
    assert_holds(text, "16 clients for 2.0 s, 1 ok a second, and 1 final read\n");
    assert_holds(text, "  seed                18446744073709551615\n");
    assert_holds(text, "  transactions        3: 3 ok, 0 fail, 0 unknown (0 %)\n");
    assert_holds(text, "  writing        19,876  1.23 ms  1.00 ms  2.00 ms  9.99 ms  45.0 ms   1.20 s\n");
    assert_null(strstr(text, "held open"));
    assert_holds(text, "  fail         1,100  40001      could not serialize access");
    assert_null(strstr(text, "warning"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void the_reason_for_the_end_of_the_load_is_reported(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    struct rig_report_run run = hand_run();
    run.stopped_by = "G2-item";
    hand.verdict.effort.acknowledged = 2;
    const char *text = text_of(&hand.verdict, &run, false, &out);
    assert_holds(text, "16 clients for 2.0 s, 1 ok a second, stopped at the first G2-item, and 1 final read\n");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void many_unknown_fates_are_warned_of(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    hand.verdict.ok_count = 95;
    hand.verdict.info_count = 5;
    assert_null(strstr(text_of(&hand.verdict, NULL, false, &out), "warning"));
    rig_buf_done(&out);
    hand.verdict.info_count = 6;
    assert_holds(text_of(&hand.verdict, NULL, false, &out), "warning: more than 5 %");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static struct rig_fault_event step_of(enum rig_fault_step step, bool failed, const char *text)
{
    return (struct rig_fault_event){.time_ns = 1000000000 + (int64_t)step * 1000000,
                                    .injection = 1,
                                    .step = (uint8_t)step,
                                    .failed = failed,
                                    .fault = "kill",
                                    .targets = "pg-1",
                                    .text = text};
}

static void faults_without_effect_are_distinguished(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {RIG_FAULT_WITHDRAWN "the load ended", "kill of pg-1, 0.000 s - 0.003 s; withdrawn: the load ended\n"},
        {"it runs as before", "kill of pg-1, 0.000 s - 0.003 s; FAILED: it runs as before\n"},
    };
    struct hand_verdict hand;
    struct rig_buf out;
    struct rig_report_run run = hand_run();
    hand_verdict_skew(&hand);
    run.planned_faults = 1;
    assert_holds(text_of(&hand.verdict, &run, false, &out), "warning: none of the plan's faults took effect");
    rig_buf_done(&out);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rig_fault_event faults[] = {
            step_of(RIG_FAULT_INJECT, false, ""), step_of(RIG_FAULT_INJECTED, true, cases[i].text),
            step_of(RIG_FAULT_HEAL, false, ""), step_of(RIG_FAULT_HEALED, false, "seen while it was healed")};
        hand.verdict.scope.faults = faults;
        hand.verdict.scope.fault_count = sizeof faults / sizeof faults[0];
        const char *text = text_of(&hand.verdict, &run, false, &out);
        assert_holds(text, cases[i].shown);
        assert_holds(text, "warning: none of the plan's faults took effect");
        rig_buf_done(&out);
    }
    hand.verdict.scope.faults = NULL;
    hand.verdict.scope.fault_count = 0;
    hand_verdict_done(&hand);
}

/* Repeated faults share one line, in text and on the page; those that ended otherwise have their own. */
static void many_faults_alike_are_folded(void **state)
{
    (void)state;
    enum { COUNT = 300, STEPS = 4 };
    struct rig_fault_event *faults = calloc(COUNT * STEPS, sizeof *faults);
    assert_non_null(faults);
    for (uint32_t i = 0; i < COUNT * STEPS; i++) {
        const bool bad = i / STEPS == 7 && i % STEPS == RIG_FAULT_HEALED;
        faults[i] = step_of((enum rig_fault_step)(i % STEPS), bad, bad ? "it does not answer" : "seen");
        faults[i].injection = 1 + i / STEPS;
        faults[i].time_ns = 1000000000 + (int64_t)(i / STEPS) * 100000000 + (int64_t)(i % STEPS) * 10000000;
        faults[i].ok = i % STEPS == RIG_FAULT_HEALED ? 2 : 0;
    }
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    hand.verdict.scope.faults = faults;
    hand.verdict.scope.fault_count = (size_t)COUNT * STEPS;
    const char *text = text_of(&hand.verdict, NULL, false, &out);
    assert_holds(text,
                 "#1 kill of pg-1, 299 times, 0.000 s - 29.930 s: 30.0 ms each, 30.0 ms at most; 598 ok, 0 fail, 0");
    assert_holds(text, "the first: seen");
    assert_holds(text, "#8 kill of pg-1, 0.700 s - ?");
    assert_holds(text, "FAILED: it does not answer");
    assert_null(strstr(text, "#9 "));
    rig_buf_done(&out);
    rig_buf_init(&out, 0);
    rig_report_html(&hand.verdict, NULL, NULL, "skew", &out);
    assert_non_null(strstr(out.data, "kill of pg-1, 299 times"));
    size_t rows = 0;
    for (const char *at = out.data; (at = strstr(at, "<tr><td class=\"n\">")) != NULL; at++)
        rows++;
    assert_int_equal(rows, 2);
    rig_buf_done(&out);
    hand.verdict.scope.fault_count = 4 * STEPS; /* a few are shown one by one */
    text = text_of(&hand.verdict, NULL, false, &out);
    assert_holds(text, "#4 kill of pg-1");
    rig_buf_done(&out);
    hand.verdict.scope.fault_count = 0;
    free(faults);
    hand_verdict_done(&hand);
}

static void truncation_and_indecision_are_said(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    hand.verdict.scope.truncated = true;
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"nothing was observed";
    const char *text = text_of(&hand.verdict, NULL, false, &out);
    static const char start[] = "UNDECIDED: nothing was observed; 3 acknowledged transactions were checked\n";
    assert_memory_equal(text, start, sizeof start - 1); /* the reason first, and once */
    assert_null(strstr(text, "The record was cut"));
    rig_buf_done(&out);
    hand.verdict.valid = RIG_VALID_FALSE;
    assert_memory_equal(text_of(&hand.verdict, NULL, false, &out), "The record was cut", 18);
    rig_buf_done(&out);
    hand.verdict.effort.failure = "nemesis: cannot heal";
    assert_memory_equal(text_of(&hand.verdict, NULL, false, &out), "The run failed: nemesis: cannot heal. The record",
                        48);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void colour_only_when_asked_for(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    assert_null(strchr(text_of(&hand.verdict, NULL, false, &out), '\033'));
    rig_buf_done(&out);
    assert_holds(text_of(&hand.verdict, NULL, true, &out),
                 "\033[1;31mANOMALY\033[0m: in 3 acknowledged transactions, serializable");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* Terminal sequences in a server's message must not reach the terminal. */
static void hostile_texts_are_defused(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    hand.verdict.summary = (char *)HAND_HOSTILE;
    hand.witnesses[0].text = (char *)"G2-item: " HAND_HOSTILE "\nsecond\rline";
    struct rig_report_run run = hand_run();
    run.server = HAND_HOSTILE;
    run.name = HAND_HOSTILE;
    const char *text = text_of(&hand.verdict, &run, false, &out);
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        assert_false((unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0);
    }
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void lines_are_at_most_120_columns(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_ring(&hand, 5);
    char summary[600];
    for (size_t i = 0; i + 1 < sizeof summary; i++)
        summary[i] = i % 7 == 6 ? ' ' : 'x';
    summary[sizeof summary - 1] = '\0';
    hand.verdict.summary = summary;
    hand.witnesses[0].text = (char *)"G2-item-realtime: T1 and T2 form a cycle, with a first line that is longer than "
                                     "any terminal is wide and "
                                     "must be broken somewhere\n"
                                     "  T1 = process 6, 0.104900 s - 0.116800 s: [append 2 39] [r 10 [7 2 4 14 9]] [r "
                                     "1 [14 30 64 2 ... 22 49 "
                                     "43 34 (15 elements)]] [r 1 [14 30 64 2 ... 22 49 43 34 (15 elements)]]\n"
                                     "  - T1 before T2: T1 read key 1 as [14 30 64 2 ... 22 49 43 34 (15 elements)] "
                                     "and did not see T2's append "
                                     "of 59.";
    const struct rig_report_run run = hand_run();
    const char *text = text_of(&hand.verdict, &run, false, &out);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 120)
            fail_msg("too long: %.*s", (int)strcspn(line, "\n"), line);
    assert_holds(text, "[append 2 39] [r 10 [7 2 4 14 9]]\n        [r 1 [14 30");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void only_three_witnesses_are_shown_in_full(void **state)
{
    (void)state;
    struct hand_verdict hand;
    struct rig_buf out;
    hand_verdict_skew(&hand);
    struct rig_witness many[5];
    for (size_t i = 0; i < 5; i++)
        many[i] = hand.witnesses[0];
    hand.verdict.findings[RIG_ANOMALY_G2_ITEM] =
        (struct rig_finding){.count = 12, .exact = false, .witnesses = many, .witness_count = 5};
    const char *text = text_of(&hand.verdict, NULL, false, &out);
    assert_holds(text, "at least 12  write skew");
    assert_holds(text, "G2-item #3: T17");
    assert_null(strstr(text, "#4"));
    assert_holds(text, "G2-item: 2 more with a witness");
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void operations_and_long_lists_are_elided(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 3);
    const struct rig_txn_op *ops = rig_txn_ops(hand.history, 0);
    const char *expected[] = {"append 0 7", "r 100 [1000 1001 1002 ... 1198 1199 (200 elements)]",
                              "r 1 [1000 1001 1002]"};
    for (size_t i = 0; i < 3; i++) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_words_op(&text, hand.history, &ops[i]);
        assert_string_equal(rig_buf_text(&text), expected[i]);
        rig_buf_done(&text);
    }
    hand_verdict_done(&hand);
}

static void numbers_read_well(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } durations[] = {{0, "0 ns"},        {999, "999 ns"},       {1000, "1.00 us"},      {45678, "45.7 us"},
                     {999000, "999 us"}, {12345678, "12.3 ms"}, {61000000000, "61.0 s"}};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        rig_buf_clear(&text);
        rig_words_duration(&text, durations[i].ns);
        assert_string_equal(rig_buf_text(&text), durations[i].text);
    }
    rig_buf_clear(&text);
    rig_words_count(&text, UINT64_MAX);
    assert_string_equal(rig_buf_text(&text), "18,446,744,073,709,551,615");
    rig_buf_clear(&text);
    rig_words_size(&text, 1536);
    rig_words_share(&text, 1, 800);
    assert_string_equal(rig_buf_text(&text), "1.50 KiB0.12 %");
    rig_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_comes_first_then_the_verdict),
        cmocka_unit_test(run_facts_are_shown),
        cmocka_unit_test(the_reason_for_the_end_of_the_load_is_reported),
        cmocka_unit_test(many_unknown_fates_are_warned_of),
        cmocka_unit_test(faults_without_effect_are_distinguished),
        cmocka_unit_test(many_faults_alike_are_folded),
        cmocka_unit_test(truncation_and_indecision_are_said),
        cmocka_unit_test(colour_only_when_asked_for),
        cmocka_unit_test(hostile_texts_are_defused),
        cmocka_unit_test(lines_are_at_most_120_columns),
        cmocka_unit_test(only_three_witnesses_are_shown_in_full),
        cmocka_unit_test(operations_and_long_lists_are_elided),
        cmocka_unit_test(numbers_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
