/* The ladder on whole histories: which rungs are cyclic, and read skew against reachability. */
#include "tests/unit/given_history.h"

#include "base/rng.h"
#include "checker/decide/cycle/ladder.h"
#include "checker/decide/cycle/read_skew.h"

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
    struct rig_ladder ladder;
};

static void infer(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    f->history = given(notation);
    rig_arena_init(&f->arena, 0);
    if (rig_infer_list_append(f->history, (struct rig_assumptions){0}, 8, &f->arena, &f->inference, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void climb(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    infer(f, notation);
    if (rig_ladder_climb(f->history, &f->inference, NULL, 8, 0, &f->ladder, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_ladder_done(&f->ladder);
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

static void a_serial_history_has_no_cycles(void **state)
{
    (void)state;
    struct fixture f;
    climb(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1] ax2; ok 0 4-5: rx[1 2]");
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
            assert_false(f.ladder.cyclic[rung][order]);
    }
    done(&f);
}

static void write_skew_stops_below_the_top_rung(void **state)
{
    (void)state;
    struct fixture f;
    climb(&f, "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]");
    assert_true(f.ladder.cyclic[RIG_RUNG_ALL][RIG_ALONG_PLAIN]);
    assert_false(f.ladder.cyclic[RIG_RUNG_SNAPSHOT][RIG_ALONG_PLAIN]);
    assert_false(f.ladder.cyclic[RIG_RUNG_SNAPSHOT][RIG_ALONG_REALTIME]);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G2_ITEM].count, 1);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_SINGLE].count, 0);
    done(&f);
}

static void a_long_fork_is_found_beside_nothing_else(void **state)
{
    (void)state;
    struct fixture f;
    climb(&f, "ok 0 0-2: ax1; ok 1 1-3: ay1; ok 2 4-6: rx[1] ry[]; ok 3 5-7: rx[] ry[1]; ok 0 8-9: rx[1] ry[1]");
    assert_true(f.ladder.cyclic[RIG_RUNG_SNAPSHOT][RIG_ALONG_PLAIN]);
    assert_false(f.ladder.cyclic[RIG_RUNG_FLOW][RIG_ALONG_PLAIN]);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_NONADJACENT].count, 1);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_NONADJACENT].kept[0].count, 4);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_SINGLE].count, 0);
    done(&f);
}

static void stale_reads_show_in_real_time_or_in_a_process_only(void **state)
{
    (void)state;
    struct fixture f;
    climb(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: rx[1]");
    assert_false(f.ladder.cyclic[RIG_RUNG_ALL][RIG_ALONG_PLAIN]);
    assert_false(f.ladder.cyclic[RIG_RUNG_ALL][RIG_ALONG_PROCESS]);
    assert_true(f.ladder.cyclic[RIG_RUNG_ALL][RIG_ALONG_REALTIME]);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_SINGLE_REALTIME].kept[0].count, 2);
    done(&f);
    climb(&f, "ok 0 0-1: ax1; ok 0 2-3: rx[]; ok 2 4-5: rx[1]");
    assert_true(f.ladder.cyclic[RIG_RUNG_ALL][RIG_ALONG_PROCESS]);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G_SINGLE_PROCESS].count, 1);
    done(&f);
}

static void two_short_transactions_win_over_a_long_cycle(void **state)
{
    (void)state;
    struct fixture f;
    /* A cycle of five over w and x, and one of two over y and z, in one component. */
    climb(&f, "ok 0 0-10: aw1 rx[]; ok 1 1-11: rw[1] aw2; ok 2 2-12: rw[1 2] aw3; ok 3 3-13: rw[1 2 3] ry[] az1;"
              "ok 4 4-14: rz[] ay1 ax1; ok 5 20-21: rw[1 2 3] rx[1] ry[1] rz[1]");
    assert_true(f.ladder.found[RIG_ANOMALY_G2_ITEM].count > 0);
    assert_int_equal(f.ladder.found[RIG_ANOMALY_G2_ITEM].kept[0].count, 2);
    done(&f);
}

/* b reaches a over ww and wr, relays included, by plain search. */
static bool flows(const struct rig_graph *graph, uint32_t from, uint32_t to)
{
    bool seen[256] = {false};
    uint32_t stack[256], depth = 0;
    assert_true(graph->node_count <= 256);
    stack[depth++] = to;
    seen[to] = true;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        if (node == from)
            return true;
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            uint32_t before = rig_edge_node(graph->edges[i]);
            if (rig_edge_link(graph->edges[i]) == RIG_LINK_RW || seen[before])
                continue;
            seen[before] = true;
            stack[depth++] = before;
        }
    }
    return false;
}

/* A random history in which reads show arbitrary prefixes of fixed lists. */
static void random_notation(struct rig_rng *rng, char *text, size_t size)
{
    size_t length = 0;
    int order[4][40], count[4] = {0};
    int txn_count = 8 + (int)rig_rng_below(rng, 20);
    for (int txn = 0; txn < txn_count; txn++) {
        length += (size_t)snprintf(text + length, size - length, "ok %d %d-%d:", txn, txn, 100 + txn);
        int ops = 1 + (int)rig_rng_below(rng, 3);
        for (int i = 0; i < ops; i++) {
            int key = (int)rig_rng_below(rng, 4);
            if (rig_rng_below(rng, 2) == 0) {
                order[key][count[key]] = count[key] + 1;
                count[key]++;
                length += (size_t)snprintf(text + length, size - length, " a%c%d", "wxyz"[key], count[key]);
            } else {
                int seen = (int)rig_rng_below(rng, (uint64_t)count[key] + 1);
                length += (size_t)snprintf(text + length, size - length, " r%c[", "wxyz"[key]);
                for (int j = 0; j < seen; j++)
                    length += (size_t)snprintf(text + length, size - length, "%s%d", j > 0 ? " " : "", order[key][j]);
                length += (size_t)snprintf(text + length, size - length, "]");
            }
        }
        length += (size_t)snprintf(text + length, size - length, ";");
    }
    text[length - 1] = '\0';
}

static void read_skew_agrees_with_reachability(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 77, 0);
    unsigned with = 0, without = 0;
    for (unsigned round = 0; round < 1500; round++) {
        static char text[16384];
        struct fixture f;
        random_notation(&rng, text, sizeof text);
        infer(&f, text);
        struct rig_err err = {0};
        assert_int_equal(rig_inference_pack(&f.inference, &err), RIG_OK);
        const struct rig_graph *graph = &f.inference.graph;
        bool expected = false;
        for (uint32_t to = 0; to < graph->txn_count; to++) {
            for (uint32_t i = graph->first[to]; i < graph->first[to + 1]; i++) {
                bool rw = rig_edge_link(graph->edges[i]) == RIG_LINK_RW;
                expected |= rw && flows(graph, to, rig_edge_node(graph->edges[i]));
            }
        }
        assert_int_equal(rig_ladder_climb(f.history, &f.inference, NULL, 8, 0, &f.ladder, &err), RIG_OK);
        if ((f.ladder.found[RIG_ANOMALY_G_SINGLE].count > 0) != expected)
            fail_msg("seed 77, round %u: %s", round, text);
        with += expected;
        without += !expected;
        done(&f);
    }
    assert_true(with > 100 && without > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_serial_history_has_no_cycles),
        cmocka_unit_test(write_skew_stops_below_the_top_rung),
        cmocka_unit_test(a_long_fork_is_found_beside_nothing_else),
        cmocka_unit_test(stale_reads_show_in_real_time_or_in_a_process_only),
        cmocka_unit_test(two_short_transactions_win_over_a_long_cycle),
        cmocka_unit_test(read_skew_agrees_with_reachability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
