#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "checker/decide/cycle/cycle.h"

static struct rig_txn txns[8];
static struct rig_history history = {.txns = txns, .txn_count = 7};

/* A cycle from a text: transactions as digits, edges as w (ww), r (wr), a (rw), p, t. */
static void read_cycle(const char *text, struct rig_cycle *cycle)
{
    static const char letters[] = "wrapt";
    cycle->count = 0;
    for (; *text != '\0'; text += 2) {
        struct rig_hop hop = {(uint32_t)(text[0] - '0'), (enum rig_edge_kind)(strchr(letters, text[1]) - letters)};
        assert_true(rig_cycle_add(cycle, hop));
    }
}

static void assert_cycle(const struct rig_cycle *cycle, const char *text)
{
    static const char letters[] = "wrapt";
    char written[32] = "";
    for (size_t i = 0; i < cycle->count; i++) {
        written[2 * i] = (char)('0' + cycle->at[i].txn);
        written[2 * i + 1] = letters[cycle->at[i].kind];
    }
    assert_string_equal(written, text);
}

static void shapes_have_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *cycle, *name;
    } rows[] = {
        {"0w1w", "G0"},
        {"0w1r", "G1c"},
        {"0w1a", "G-single-item"},
        {"0r1a2w", "G-single-item"},
        {"0a1a", "G2-item"},
        {"0a1w2a", "G2-item"}, /* adjacent over the end */
        {"0a1w2a3r", "G-nonadjacent-item"},
        {"0w1p", "G0-process"},
        {"0r1p", "G1c-process"},
        {"0a1p", "G-single-item-process"},
        {"0a1p2a3w", "G-nonadjacent-item-process"},
        {"0a1a2p", "G2-item-process"},
        {"0w1t", "G0-realtime"},
        {"0a1t2p", "G-single-item-realtime"},
        {"0a1t2a3r", "G-nonadjacent-item-realtime"},
        {"0a1a2t", "G2-item-realtime"},
    };
    struct rig_cycle cycle = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        read_cycle(rows[i].cycle, &cycle);
        assert_string_equal(rig_anomaly_info(rig_cycle_anomaly(&history, NULL, &cycle))->name, rows[i].name);
    }
    rig_cycle_done(&cycle);
}

static void a_write_cycle_of_unknown_fate_is_no_g0(void **state)
{
    (void)state;
    struct rig_cycle cycle = {0};
    txns[1].outcome = RIG_OUTCOME_INFO;
    read_cycle("0w1w", &cycle);
    assert_int_equal(rig_cycle_anomaly(&history, NULL, &cycle), RIG_ANOMALY_G1C);
    txns[1].outcome = RIG_OUTCOME_OK;
    rig_cycle_done(&cycle);
}

static void a_closed_walk_is_cut_to_a_cycle(void **state)
{
    (void)state;
    struct rig_cycle cycle = {0};
    read_cycle("0w1w2w1r3w", &cycle);
    assert_true(rig_cycle_simplify(&cycle));
    assert_cycle(&cycle, "1w2w");
    /* The inner half would join two rw edges at 1, the outer one does not. */
    read_cycle("0w1a2w4a1w3w", &cycle);
    assert_true(rig_cycle_simplify(&cycle));
    assert_cycle(&cycle, "0w1w3w");
    rig_cycle_done(&cycle);
}

/* Long walks are cut by looking up indices: the same result as for short ones, in linear time. */
static void a_long_walk_is_cut_like_a_short_one(void **state)
{
    (void)state;
    enum { LENGTH = 1000000, LOOPS = 1000 };
    struct rig_cycle cycle = {0};
    for (uint32_t i = 0; i < LENGTH; i++) {
        /* Before each thousandth transaction a loop back to it that only rw edges join. */
        if (i % (LENGTH / LOOPS) == 0) {
            assert_true(rig_cycle_add(&cycle, (struct rig_hop){i, RIG_EDGE_RW}));
            assert_true(rig_cycle_add(&cycle, (struct rig_hop){LENGTH + i, RIG_EDGE_WR}));
            assert_true(rig_cycle_add(&cycle, (struct rig_hop){2 * LENGTH, RIG_EDGE_RW}));
        }
        assert_true(rig_cycle_add(&cycle, (struct rig_hop){i, RIG_EDGE_WW}));
    }
    assert_true(rig_cycle_simplify(&cycle));
    rig_cycle_rotate(&cycle);
    assert_int_equal(cycle.count, LENGTH);
    for (uint32_t i = 0; i < LENGTH; i++)
        assert_int_equal(cycle.at[i].txn, i);
    assert_true(rig_cycle_add(&cycle, (struct rig_hop){LENGTH / 2, RIG_EDGE_WR}));
    assert_true(rig_cycle_simplify(&cycle));
    assert_int_equal(cycle.count, LENGTH / 2);
    rig_cycle_done(&cycle);
}

static void rotation_puts_the_lowest_first(void **state)
{
    (void)state;
    struct rig_cycle cycle = {0};
    read_cycle("5w3a1r4w", &cycle);
    rig_cycle_rotate(&cycle);
    assert_cycle(&cycle, "1r4w5w3a");
    rig_cycle_done(&cycle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_their_names),         cmocka_unit_test(a_write_cycle_of_unknown_fate_is_no_g0),
        cmocka_unit_test(a_closed_walk_is_cut_to_a_cycle), cmocka_unit_test(a_long_walk_is_cut_like_a_short_one),
        cmocka_unit_test(rotation_puts_the_lowest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
