#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"
#include "report/report.h"
#include "report/svg_layout.h"
#include "report/svg_timeline.h"
#include "tests/unit/hand_verdict.h"

struct area {
    double x, y, width, height;
};

static bool overlap(struct area a, struct area b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static struct area box_area(const struct rig_svg_box *box)
{
    return (struct area){box->x, box->y, box->width, box->height};
}

static struct area label_area(const struct rig_svg_edge *edge)
{
    return (struct area){edge->label_x, edge->label_y, edge->label_width, edge->label_height};
}

static bool inside(struct area a, const struct rig_svg_layout *layout)
{
    return a.x >= 0 && a.y >= 0 && a.x + a.width <= layout->width && a.y + a.height <= layout->height;
}

static void assert_legible(const struct rig_svg_layout *layout, uint32_t count)
{
    for (uint32_t i = 0; i < layout->box_count; i++) {
        if (!inside(box_area(&layout->boxes[i]), layout))
            fail_msg("cycle of %u: box %u is outside", count, i);
        for (uint32_t j = 0; j < i; j++)
            if (overlap(box_area(&layout->boxes[i]), box_area(&layout->boxes[j])))
                fail_msg("cycle of %u: boxes %u and %u overlap", count, j, i);
    }
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        if (layout->edges[i].step == NULL)
            continue;
        struct area label = label_area(&layout->edges[i]);
        if (!inside(label, layout))
            fail_msg("cycle of %u: label %u is outside", count, i);
        for (uint32_t j = 0; j < layout->box_count; j++)
            if (overlap(label, box_area(&layout->boxes[j])))
                fail_msg("cycle of %u: label %u covers box %u", count, i, j);
        for (uint32_t j = 0; j < i; j++)
            if (layout->edges[j].step != NULL && overlap(label, label_area(&layout->edges[j])))
                fail_msg("cycle of %u: labels %u and %u overlap", count, j, i);
    }
}

static void nothing_overlaps_at_any_length(void **state)
{
    (void)state;
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    assert_non_null(layout);
    for (uint32_t count = 2; count <= HAND_TXNS_MAX; count++) {
        struct hand_verdict hand;
        hand_verdict_ring(&hand, count);
        rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
        assert_int_equal(layout->box_count, count < RIG_SVG_BOXES ? count : RIG_SVG_BOXES);
        assert_true(layout->edge_count >= layout->box_count);
        assert_legible(layout, count);
        hand_verdict_done(&hand);
    }
    free(layout);
}

/* Every step of the cycle is drawn once and described. */
static void each_step_has_a_sentence(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_svg(&hand.verdict, &hand.witnesses[0], &out);
    assert_non_null(strstr(out.data, "T17 before T23: rw, key 5"));
    assert_non_null(strstr(out.data, "T17 read up to 2 and did not see 3"));
    assert_non_null(strstr(out.data, "T23 before T17: rw, key 9"));
    assert_non_null(strstr(out.data, "T23 read nil and did not see 4"));
    const char *drawn = strstr(out.data, ">r 5 [1 2]</text>");
    assert_non_null(drawn);
    const char *element = drawn;
    while (*element != '<')
        element--;
    assert_memory_equal(element, "<text class=\"op strong\"", 23);
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

static void boxes_keep_the_order_of_time(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 6);
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    assert_non_null(layout);
    rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
    for (uint32_t i = 1; i < 6; i++)
        assert_true(layout->boxes[i - 1].x < layout->boxes[i].x);
    /* the first two overlap in time, the last begins after all others have ended and never ends itself */
    assert_true(layout->boxes[1].x < layout->boxes[0].x + layout->boxes[0].width);
    assert_true(layout->boxes[5].x > layout->boxes[4].x + layout->boxes[4].width);
    assert_true(layout->boxes[5].open);
    assert_false(layout->boxes[4].open);
    free(layout);
    hand_verdict_done(&hand);
}

/* Two transactions of one process, joined along its lane; and pictures without times or invocations. */
static void one_process_has_one_lane(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, 4);
    hand.history->txns[2].process = hand.history->txns[3].process = 0;
    hand.history->txns[2].invoke_at = 200;
    hand.history->txns[2].complete_at = 210;
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    assert_non_null(layout);
    rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
    assert_int_equal(layout->lane_count, 3); /* the last began before the one at 200 and never ended */
    assert_legible(layout, 4);
    hand.history->txns[3].outcome = RIG_OUTCOME_OK;
    hand.history->txns[3].complete_at = 60;
    rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
    assert_int_equal(layout->lane_count, 2);
    assert_legible(layout, 4);
    for (uint32_t i = 0; i < 4; i++) {
        hand.history->txns[i].invoke_at = RIG_POSITION_NONE;
        hand.history->txns[i].invoke_ns = RIG_NO_TIME;
        hand.history->txns[i].complete_at = 100 * i;
    }
    rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
    assert_legible(layout, 4);
    free(layout);
    hand_verdict_done(&hand);
}

/* Each non-cyclic anomaly: one label that states the violation, the operations concerned marked. */
static void noncyclic_anomalies_have_sentences(void **state)
{
    (void)state;
    static const struct {
        enum rig_anomaly anomaly;
        uint32_t txn_count;
        bool arrow;
        const char *words;
    } cases[] = {
        {RIG_ANOMALY_DUPLICATE_ELEMENTS, 1, false, "T17 read 2 more than once"},
        {RIG_ANOMALY_GARBAGE_READ, 1, false, "T17 read 2, which no transaction wrote"},
        {RIG_ANOMALY_DIRTY_UPDATE, 2, true, "T17 wrote 2 onto 1 of T1, which aborted"},
        {RIG_ANOMALY_G1A, 2, true, "T17 read 2, written by T1, which aborted"},
        {RIG_ANOMALY_G1B, 2, true, "T17 read 2, after which T1 wrote more"},
        {RIG_ANOMALY_INCOMPATIBLE_ORDER, 2, false, "neither list is a prefix of the other"},
        {RIG_ANOMALY_FRACTURED_APPEND, 2, true, "T17 read 2 of T1, but not its earlier 1"},
        {RIG_ANOMALY_FUTURE_READ, 1, false, "T17 read 2 before it wrote it itself"},
        {RIG_ANOMALY_INTERNAL, 1, false, "T17's read disagrees with its own earlier operations"},
        {RIG_ANOMALY_LOST_UPDATE, 2, false, "both read the same version, both wrote the next"},
        {RIG_ANOMALY_LOST_APPEND, 2, false, "2 of T17 was acknowledged, and is missing for T1"},
    };
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    assert_non_null(layout);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hand_verdict hand;
        hand_verdict_noncyclic(&hand, cases[i].anomaly, cases[i].txn_count);
        rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
        assert_int_equal(layout->box_count, cases[i].txn_count);
        assert_int_equal(layout->edge_count, 1);
        assert_string_equal(layout->edges[0].words, cases[i].words);
        assert_true(layout->edges[0].blunt != cases[i].arrow);
        for (uint32_t box = 0; box < layout->box_count; box++) {
            assert_true(inside(box_area(&layout->boxes[box]), layout));
            assert_false(overlap(label_area(&layout->edges[0]), box_area(&layout->boxes[box])));
        }
        assert_true(inside(label_area(&layout->edges[0]), layout));
        if (cases[i].anomaly != RIG_ANOMALY_DIRTY_UPDATE)
            assert_true(layout->boxes[0].lines[0].strong); /* r 5 [1 2] */
        if (cases[i].anomaly == RIG_ANOMALY_G1A) {
            assert_false(layout->boxes[1].lines[0].strong);
            assert_true(layout->boxes[1].lines[1].strong); /* append 5 2 */
        }
        struct rig_buf out;
        rig_buf_init(&out, 0);
        rig_report_svg(&hand.verdict, &hand.witnesses[0], &out);
        assert_non_null(strstr(out.data, ">what happened, in one sentence. Refuted: read-committed"));
        assert_int_equal(strstr(out.data, "class=\"tip odd\"") != NULL, cases[i].arrow);
        rig_buf_done(&out);
        hand_verdict_done(&hand);
    }
    free(layout);
}

/* Real time goes to the right, also across lanes, and is marked on the axis between the completion and the
 * invocation. */
static void real_time_runs_along_the_axis(void **state)
{
    (void)state;
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    assert_non_null(layout);
    for (uint32_t count = 3; count <= RIG_SVG_LANES; count++) {
        struct hand_verdict hand;
        hand_verdict_ring(&hand, count);
        rig_svg_layout(hand.history, &hand.witnesses[0], 74, 640, layout);
        assert_int_equal(layout->pause_count, 1);
        const struct rig_svg_pause *pause = &layout->pauses[0];
        const struct rig_svg_box *from = &layout->boxes[count - 2], *to = &layout->boxes[count - 1];
        assert_int_equal(pause->from_txn, count - 2);
        assert_int_equal(pause->to_txn, count - 1);
        assert_true(pause->from_x == from->x + from->width && pause->to_x == to->x && pause->from_x < pause->to_x);
        const struct rig_svg_edge *edge = &layout->edges[count - 2];
        assert_int_equal(edge->step->kind, RIG_EDGE_REALTIME);
        assert_true(edge->tip_x == to->x && edge->tip_dx > 0.99);
        struct rig_buf out;
        rig_buf_init(&out, 0);
        rig_report_svg(&hand.verdict, &hand.witnesses[0], &out);
        assert_non_null(strstr(out.data, "class=\"pause\""));
        assert_non_null(strstr(out.data, " done</text>"));
        assert_non_null(strstr(out.data, " began</text>"));
        rig_buf_done(&out);
        hand_verdict_done(&hand);
    }
    free(layout);
}

static struct area bar_area(const struct rig_timeline_bar *bar)
{
    return (struct area){bar->x, bar->row, bar->width, 0.5};
}

static uint32_t bar_of(const struct rig_timeline *timeline, uint32_t txn)
{
    uint32_t bar = 0;
    while (bar < timeline->bar_count && timeline->bars[bar].txn != txn)
        bar++;
    return bar;
}

/* Bars keep the order of the events at any number of operations; those left out are counted. */
static void a_timeline_keeps_the_order_of_events(void **state)
{
    (void)state;
    struct rig_timeline *timeline = malloc(sizeof *timeline);
    assert_non_null(timeline);
    for (uint32_t count = 2; count <= HAND_TXNS_MAX; count++) {
        struct hand_verdict hand;
        hand_verdict_blocked(&hand, count);
        rig_timeline_layout(hand.history, &hand.witnesses[0], 74, 640, timeline);
        const uint32_t shown = count + 2 < RIG_TIMELINE_BARS ? count + 2 : RIG_TIMELINE_BARS;
        assert_int_equal(timeline->bar_count, shown);
        assert_int_equal(timeline->left_out, count + 2 - shown);
        assert_int_equal(timeline->row_count, count < 3 ? 4 : 5);
        assert_int_equal(timeline->bars[0].txn, count);
        assert_true(timeline->is_ordered);
        assert_int_equal(timeline->bars[0].order, 0);
        for (uint32_t i = 0; i < timeline->bar_count; i++) {
            const struct rig_timeline_bar *bar = &timeline->bars[i];
            assert_true(bar->x > 0 && bar->x + bar->width <= timeline->width);
            assert_true(bar->txn >= count || bar->order == bar->txn + 1);
            for (uint32_t j = 0; j < i; j++)
                assert_false(overlap(bar_area(bar), bar_area(&timeline->bars[j])));
        }
        const struct rig_timeline_bar *last = &timeline->bars[bar_of(timeline, count - 1)];
        const struct rig_timeline_bar *open = &timeline->bars[bar_of(timeline, count + 1)];
        assert_true(last->x + last->width < open->x && open->x < timeline->bars[0].x);
        assert_int_equal(open->end, RIG_POSITION_NONE);
        assert_true(open->x + open->width > timeline->end_x);
        hand_verdict_done(&hand);
    }
    free(timeline);
}

/* Operations of one process that overlap (a history that uses a process again) stand in rows of their own. */
static void overlapping_operations_of_a_process_have_rows(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_blocked(&hand, 4);
    struct rig_timeline *timeline = malloc(sizeof *timeline);
    assert_non_null(timeline);
    hand.history->txns[5].process = 5;
    rig_timeline_layout(hand.history, &hand.witnesses[0], 74, 640, timeline);
    assert_int_equal(timeline->row_count, 5);
    assert_int_equal(timeline->processes[3], 5);
    assert_int_equal(timeline->processes[4], 5);
    assert_true(timeline->bars[0].row != timeline->bars[1].row);
    free(timeline);
    hand_verdict_done(&hand);
}

/* An excerpt has the witness's operations only: no order is known, and the others are counted by the witness. */
static void a_timeline_of_an_excerpt_has_no_numbers(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_blocked(&hand, 4);
    hand.history->is_excerpt = true;
    hand.blocked.explained = 1000;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_svg(&hand.verdict, &hand.witnesses[0], &out);
    assert_null(strstr(out.data, "<tspan"));
    assert_null(strstr(out.data, "The numbers are"));
    assert_non_null(strstr(out.data, "996 other"));
    assert_non_null(strstr(out.data, "class=\"fade\""));
    rig_buf_done(&out);
    hand_verdict_done(&hand);
}

/* RIG_SVG_DIR: a folder to store the pictures in, for a person to look at. */
static void pictures_for_the_eye(void **state)
{
    (void)state;
    const char *folder = getenv("RIG_SVG_DIR");
    if (folder == NULL)
        skip();
    for (uint32_t count = 1; count <= 40; count += count < 9 ? 1 : 10) {
        struct hand_verdict hand;
        if (count == 1)
            hand_verdict_skew(&hand);
        else
            hand_verdict_ring(&hand, count);
        struct rig_buf out;
        struct rig_err err = {0};
        char path[4096];
        rig_buf_init(&out, 0);
        rig_report_svg(&hand.verdict, &hand.witnesses[0], &out);
        (void)snprintf(path, sizeof path, "%s/cycle-%02u.svg", folder, count);
        assert_int_equal(rig_output_save(&out, path, &err), RIG_OK);
        rig_buf_done(&out);
        hand_verdict_done(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_overlaps_at_any_length),
        cmocka_unit_test(each_step_has_a_sentence),
        cmocka_unit_test(boxes_keep_the_order_of_time),
        cmocka_unit_test(one_process_has_one_lane),
        cmocka_unit_test(noncyclic_anomalies_have_sentences),
        cmocka_unit_test(real_time_runs_along_the_axis),
        cmocka_unit_test(a_timeline_keeps_the_order_of_events),
        cmocka_unit_test(overlapping_operations_of_a_process_have_rows),
        cmocka_unit_test(a_timeline_of_an_excerpt_has_no_numbers),
        cmocka_unit_test(pictures_for_the_eye),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
