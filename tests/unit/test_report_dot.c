#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "report/report.h"
#include "tests/unit/hand_verdict.h"

static void the_sentence_of_a_cycle_is_exact(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_dot_witness(&hand.verdict, &hand.witnesses[0], 1, &out);
    static const char *const expected[] = {
        "digraph \"G2-item-1\" {\n",
        "  label=\"G2-item #1: a cycle of 2 transactions\\lwrite skew: a cycle with two or more rw edges, two of them "
        "adjacent\\l\";\n",
        "  w0t0 [label=\"T17\\lprocess 3, 0.010000 s - 0.017000 s\\l* r 5 [1 2]\\l* append 9 4\\l\"];\n",
        "  w0t0 -> w0t1 [label=\"T17 before T23: rw, key 5\\lT17 read up to 2 and did not see 3\\l\", "
        "color=\"#cf222e\"];\n",
        "  w0t1 -> w0t0 [label=\"T23 before T17: rw, key 9\\lT23 read nil and did not see 4\\l\", "
        "color=\"#cf222e\"];\n",
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strstr(out.data, expected[i]) == NULL)
            fail_msg("%s\nis not in\n%s", expected[i], out.data);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

/* No transaction and no step of a long cycle is omitted; edges that are only real time are dashed. */
static void a_long_cycle_is_whole(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, HAND_TXNS_MAX);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_dot(&hand.verdict, "a long one", &out);
    assert_int_equal(count_of(out.data, "[label=\"T"), 2 * HAND_TXNS_MAX);
    assert_int_equal(count_of(out.data, " -> "), HAND_TXNS_MAX);
    assert_int_equal(count_of(out.data, "style=dashed"), 1);
    const char *dashed = strstr(out.data, "style=dashed");
    while (*dashed != '\n')
        dashed--;
    assert_non_null(strstr(dashed, ": real-time\\l"));
    assert_int_equal(count_of(out.data, "subgraph \"cluster_G2-item-realtime-1\" {"), 1);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void one_graph_has_a_cluster_for_each_witness(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_finding *finding = &hand.verdict.findings[RIG_ANOMALY_G2_ITEM];
    hand.witnesses[1] = hand.witnesses[0];
    finding->witness_count = 2;
    struct rig_buf out, again;
    rig_buf_init(&out, 0);
    rig_buf_init(&again, 0);
    rig_report_dot(&hand.verdict, "skew \"quoted\\", &out);
    assert_memory_equal(out.data, "digraph \"skew \\\"quoted\\\\\" {\n", 28);
    assert_int_equal(count_of(out.data, "subgraph \"cluster_G2-item-1\""), 1);
    assert_int_equal(count_of(out.data, "subgraph \"cluster_G2-item-2\""), 1);
    assert_int_equal(count_of(out.data, "  w1t1 -> w1t0 "), 1);
    rig_report_dot(&hand.verdict, "skew \"quoted\\", &again);
    assert_string_equal(out.data, again.data);
    rig_buf_done(&out);
    rig_buf_done(&again);
    hand_verdict_done(&hand);
}

static void an_oddity_is_an_edge_without_direction(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_noncyclic(&hand, RIG_ANOMALY_G1A, 2);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_dot_witness(&hand.verdict, &hand.witnesses[0], 3, &out);
    assert_non_null(strstr(out.data, "digraph \"G1a-3\" {\n"));
    assert_non_null(strstr(out.data,
                           "  w0t0 -> w0t1 [label=\"G1a, key 5\\lT17 read 2, written by T1, which aborted\\l\", "
                           "color=\"#bc4c00\", dir=none];\n"));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* Hostile names stay inside their quotes, in valid UTF-8 and without control characters. */
static void foreign_text_stays_quoted(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_dot(&hand.verdict, HAND_HOSTILE, &out);
    static const char expected[] = "digraph \"<script>alert(\\\"x\\\")</script> & ]]> 'q' ?[31m?";
    const char *end = strchr(out.data, '\n');
    assert_non_null(end);
    for (const char *at = out.data; at < end; at++)
        assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f);
    assert_memory_equal(out.data, expected, sizeof expected - 1);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentence_of_a_cycle_is_exact),
        cmocka_unit_test(a_long_cycle_is_whole),
        cmocka_unit_test(one_graph_has_a_cluster_for_each_witness),
        cmocka_unit_test(an_oddity_is_an_edge_without_direction),
        cmocka_unit_test(foreign_text_stays_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
