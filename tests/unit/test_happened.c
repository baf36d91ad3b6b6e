/* The sentence about the event behind a verdict: which finding weighs most, and where writes were lost. */
#include "tests/unit/cmocka_first.h"

#include "base/clock.h"
#include "report/happened.h"
#include "report/headline.h"
#include "tests/unit/hand_verdict.h"

#define S RIG_NS_PER_S

static void assert_said(const struct rig_verdict *verdict, const char *expected)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_happened_say(&text, verdict);
    assert_string_equal(rig_buf_text(&text), expected);
    rig_buf_done(&text);
}

static void a_cycle_is_told_by_its_transactions(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    assert_said(&hand.verdict, "T17 and T23 each missed what the other wrote: neither can have come first.");
    hand.steps[1].kind = RIG_EDGE_REALTIME;
    hand.witnesses[0].anomaly = RIG_ANOMALY_G_SINGLE_REALTIME;
    assert_said(&hand.verdict, "T17 missed a write of T23, which had been acknowledged before it began.");
    hand.verdict.valid = RIG_VALID_TRUE;
    assert_said(&hand.verdict, "");
    hand_verdict_done(&hand);
}

static void what_weighs_more_comes_first(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.findings[RIG_ANOMALY_G1B] =
        (struct rig_finding){.count = 2, .exact = true, .refutes = hand.witnesses[0].refutes};
    assert_said(&hand.verdict, "2 reads show values that their own writers replaced before they committed.");
    hand.verdict.findings[RIG_ANOMALY_G1A] =
        (struct rig_finding){.count = 1, .exact = false, .refutes = hand.witnesses[0].refutes};
    assert_said(&hand.verdict, "At least 1 read shows a write that never committed.");
    assert_int_equal(rig_happened_first(&hand.verdict), RIG_ANOMALY_G1A);
    /* allowed by the request: no headline */
    hand.verdict.findings[RIG_ANOMALY_G1A].refutes = hand.verdict.findings[RIG_ANOMALY_G1B].refutes = 0;
    assert_int_equal(rig_happened_first(&hand.verdict), RIG_ANOMALY_COUNT);
    assert_said(&hand.verdict, "T17 and T23 each missed what the other wrote: neither can have come first.");
    hand_verdict_done(&hand);
}

static struct rig_fault_event event(uint32_t injection, enum rig_fault_step step, const char *fault,
                                    const char *targets, int64_t at_ns)
{
    return (struct rig_fault_event){.time_ns = at_ns,
                                    .injection = injection,
                                    .step = (uint8_t)step,
                                    .fault = fault,
                                    .targets = targets,
                                    .text = ""};
}

static void lost_writes_come_with_fault_and_node(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_lost rows[] = {{.acknowledged_ns = 3 * S, .key = "1", .node = "pg-1"},
                              {.acknowledged_ns = 4 * S, .key = "1", .node = "pg-1"},
                              {.acknowledged_ns = 8 * S - 1, .key = "1", .node = "pg-2"},
                              {.acknowledged_ns = 30 * S, .key = "1", .node = "pg-2"}};
    const struct rig_fault_event events[] = {event(1, RIG_FAULT_INJECT, "partition", "pg-1", 3 * S),
                                             event(1, RIG_FAULT_INJECTED, "partition", "pg-1", 3 * S),
                                             event(1, RIG_FAULT_HEAL, "partition", "pg-1", 6 * S),
                                             event(1, RIG_FAULT_HEALED, "partition", "pg-1", 6 * S),
                                             event(2, RIG_FAULT_INJECT, "kill", "pg-2", 8 * S),
                                             event(2, RIG_FAULT_INJECTED, "kill", "pg-2", 8 * S),
                                             event(2, RIG_FAULT_HEAL, "kill", "pg-2", 9 * S),
                                             event(2, RIG_FAULT_HEALED, "kill", "pg-2", 9 * S)};
    hand.verdict.lost = (struct rig_lost_rows){.at = rows, .count = 4};
    hand.verdict.findings[RIG_ANOMALY_LOST_APPEND] = (struct rig_finding){.count = 4, .exact = true};
    /* no fault, and it breaks nothing requested: a stale copy may explain it */
    assert_said(&hand.verdict,
                "T17 and T23 each missed what the other wrote: neither can have come first. 4 acknowledged appends are "
                "in no later read; acknowledged by pg-1 (2), pg-2 (2).");
    hand.verdict.scope.faults = events;
    hand.verdict.scope.fault_count = sizeof events / sizeof events[0];
    assert_said(
        &hand.verdict,
        "4 acknowledged appends were lost: 2 during partition of pg-1, 1 shortly before kill of pg-2, 1 at other "
        "times; acknowledged by pg-1 (2), pg-2 (2).");
    assert_int_equal(rig_happened_first(&hand.verdict), RIG_ANOMALY_LOST_APPEND);
    hand.verdict.lost.count = 2;
    hand.verdict.findings[RIG_ANOMALY_LOST_APPEND].count = 2;
    assert_said(&hand.verdict, "2 acknowledged appends were lost during partition of pg-1; acknowledged by pg-1.");
    rows[1].node = NULL;
    assert_said(&hand.verdict, "2 acknowledged appends were lost during partition of pg-1.");
    hand_verdict_done(&hand);
}

static void measures_of_types_where_nothing_is_broken(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.valid = RIG_VALID_TRUE;
    hand.verdict.scope.workload = RIG_WORKLOAD_BANK;
    hand.verdict.scope.full_reads = 1200;
    assert_said(&hand.verdict, "The total was right in all 1,200 reads of all accounts.");
    hand.verdict.scope.workload = RIG_WORKLOAD_COUNTER;
    assert_said(&hand.verdict, "The counters were right in all 1,200 reads.");
    hand.verdict.valid = RIG_VALID_FALSE;
    hand.verdict.findings[RIG_ANOMALY_WRONG_TOTAL] =
        (struct rig_finding){.count = 3, .exact = true, .refutes = hand.witnesses[0].refutes};
    assert_said(&hand.verdict, "3 of 1,200 reads of all accounts show a wrong total.");
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_is_told_by_its_transactions),
        cmocka_unit_test(what_weighs_more_comes_first),
        cmocka_unit_test(lost_writes_come_with_fault_and_node),
        cmocka_unit_test(measures_of_types_where_nothing_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
