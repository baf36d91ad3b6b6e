/* Smallest parts of histories, and the order of their statements. */
#include "tests/unit/given_history.h"

#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"

static struct rig_smallest_part shrunk(struct rig_history *history, const struct rig_shrink_options *options)
{
    struct rig_smallest_part part = {0};
    struct rig_err err = {0};
    if (rig_shrink_history(history, options, &part, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return part;
}

static struct rig_interleaving woven(const struct rig_smallest_part *part)
{
    struct rig_interleaving order = {0};
    struct rig_err err = {0};
    if (rig_interleaving_init(&order, part->history, part->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(order.step_count, part->history->op_count + 2 * part->history->txn_count);
    return order;
}

/* The place of a transaction's n-th statement; its operations are statements 1 and on. */
static uint32_t place_of(const struct rig_interleaving *order, uint32_t txn, uint32_t n)
{
    for (uint32_t i = 0; i < order->step_count; i++) {
        if (order->steps[i].txn == txn && n-- == 0)
            return i;
    }
    fail_msg("transaction %u has no such statement", (unsigned)txn);
    return UINT32_MAX;
}

static void leaves_out_the_others(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 1-2: ax1 ay2 rz[]\n"
                                        "ok 1 3-9: rx[1] ry[2] ax3 rz[]\n"
                                        "ok 2 4-10: rx[1] ry[2] ay4\n"
                                        "ok 3 11-12: rx[1 3] ry[2 4]\n"
                                        "info 4 13-14: ax5 rz?\n");
    /* The keys have rows anyway, so a read without the values of the others is a read of an item, as before. */
    const struct rig_shrink_options options = {
        .check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE), .assumptions = RIG_ASSUMES_PREFILLED}};
    struct rig_smallest_part part = shrunk(history, &options);
    assert_int_equal(part.anomaly, RIG_ANOMALY_G2_ITEM);
    assert_true(part.minimal && part.txns == 5 && part.ops == 14);
    /* the writes of the others are gone from the reads */
    assert_int_equal(part.history->txn_count, 2);
    assert_int_equal(part.history->op_count, 4);
    for (uint32_t i = 0; i < part.history->op_count; i++) {
        const struct rig_txn_op *op = &part.history->ops[i];
        assert_true(!rig_op_reads(op->kind) || rig_txn_op_list(part.history, op).count == 0);
    }
    /* what the whole history says of them stays */
    assert_int_equal(rig_txn_name(part.history, 0), 9);
    assert_int_equal(rig_txn_name(part.history, 1), 10);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

/* Without the writers of what was read, the reads would find no row, and the part would have phantoms instead. */
static void keeps_the_rows_that_were_read(void **state)
{
    (void)state;
    static const enum rig_level levels[] = {RIG_LEVEL_SERIALIZABLE, RIG_LEVEL_REPEATABLE_READ};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        struct rig_history *history = given("ok 0 1-2: ax1 ay2 rz[]\n"
                                            "ok 1 3-9: rx[1] ry[2] ax3 rz[]\n"
                                            "ok 2 4-10: rx[1] ry[2] ay4\n"
                                            "ok 3 11-12: rx[1 3] ry[2 4]\n"
                                            "info 4 13-14: ax5 rz?\n");
        const struct rig_shrink_options options = {.check = {.levels = RIG_LEVEL_BIT(levels[i])}};
        struct rig_smallest_part part = shrunk(history, &options);
        assert_int_equal(part.anomaly, RIG_ANOMALY_G2_ITEM);
        assert_int_equal(part.verdict->levels[RIG_LEVEL_REPEATABLE_READ].fate, RIG_FATE_REFUTED);
        assert_true(part.minimal);
        assert_int_equal(part.history->txn_count, 3);
        assert_int_equal(part.history->op_count, 6);
        rig_smallest_part_done(&part);
        rig_history_free(history);
    }
}

/* The writes of one row that was never there go: the anomaly was one of phantoms in the whole history, too. */
static void keeps_the_phantoms(void **state)
{
    (void)state;
    struct rig_history *history =
        given("ok 0 1-2: az1; ok 1 3-9: rx[] az2 ay3; ok 2 4-10: ry[] ax4; ok 3 11-12: rz[1 2]");
    const struct rig_shrink_options options = {.check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)}};
    struct rig_smallest_part part = shrunk(history, &options);
    assert_int_equal(part.anomaly, RIG_ANOMALY_G2_PREDICATE);
    assert_int_equal(part.history->txn_count, 2);
    assert_int_equal(part.history->op_count, 4);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

static void orders_a_write_skew(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 1-3: rx[] ay1; ok 1 2-4: ry[] ax2");
    const struct rig_shrink_options options = {.check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)}};
    struct rig_smallest_part part = shrunk(history, &options);
    struct rig_interleaving order = woven(&part);
    assert_true(order.explains_reads);
    assert_true(place_of(&order, 0, 1) < place_of(&order, 1, 3)); /* each read before the end of the other */
    assert_true(place_of(&order, 1, 1) < place_of(&order, 0, 3));
    rig_interleaving_done(&order);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

static void orders_a_dirty_read(void **state)
{
    (void)state;
    struct rig_history *history = given("fail 0 1-4: ax1; ok 1 2-3: rx[1]");
    const struct rig_shrink_options options = {.check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)}};
    struct rig_smallest_part part = shrunk(history, &options);
    assert_int_equal(part.anomaly, RIG_ANOMALY_G1A);
    struct rig_interleaving order = woven(&part);
    const uint32_t writer = part.history->txns[0].outcome == RIG_OUTCOME_FAIL ? 0 : 1, reader = 1 - writer;
    assert_true(place_of(&order, writer, 1) < place_of(&order, reader, 1));
    rig_interleaving_done(&order);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

/* No order explains a stale read: that of the times is shown, and it is not called an explanation. */
static void orders_a_stale_read(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 1-2: ax1; ok 1 3-4: rx[]; ok 0 5-6: rx[1]");
    const struct rig_shrink_options options = {.check = {.levels = 0}};
    struct rig_smallest_part part = shrunk(history, &options);
    struct rig_interleaving order = woven(&part);
    assert_false(order.explains_reads);
    for (uint32_t txn = 1; txn < part.history->txn_count; txn++)
        assert_true(place_of(&order, txn - 1, 2) < place_of(&order, txn, 0));
    rig_interleaving_done(&order);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

/* The order of a whole history's statements. */
static struct rig_interleaving woven_whole(const char *text, struct rig_history **history)
{
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)};
    struct rig_smallest_part part = {.history = given(text)};
    struct rig_err err = {0};
    if (rig_check(part.history, &options, &part.verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    struct rig_interleaving order = woven(&part);
    rig_verdict_free(part.verdict);
    *history = part.history;
    return order;
}

/* A lost update: nothing tells which append came first, but a lock of the row lets only one transaction write at a
 * time. */
static void keeps_uncommitted_writes_of_a_key_apart(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_interleaving order = woven_whole("ok 0 1-3: rx[] ax1; ok 1 2-4: rx[] ax2", &history);
    assert_true(order.explains_reads);
    assert_true(place_of(&order, 0, 3) < place_of(&order, 1, 2) || place_of(&order, 1, 3) < place_of(&order, 0, 2));
    assert_true(place_of(&order, 0, 1) < place_of(&order, 1, 3) && place_of(&order, 1, 1) < place_of(&order, 0, 3));
    rig_interleaving_done(&order);
    rig_history_free(history);
}

/* A transaction that rolls back holds its rows until then. */
static void keeps_a_failed_write_apart(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_interleaving order = woven_whole("fail 0 1-6: ax1 ry[]; ok 1 2-5: rx[1]; ok 2 3-7: ax2", &history);
    uint32_t failed = 0, reader = 0, writer = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const bool reads = rig_op_reads(rig_txn_ops(history, txn)[0].kind);
        *(history->txns[txn].outcome == RIG_OUTCOME_FAIL ? &failed : reads ? &reader : &writer) = txn;
    }
    assert_true(place_of(&order, failed, 1) < place_of(&order, reader, 1));
    assert_true(place_of(&order, failed, 3) < place_of(&order, writer, 1) ||
                place_of(&order, writer, 2) < place_of(&order, failed, 1));
    rig_interleaving_done(&order);
    rig_history_free(history);
}

/* The transaction that began first must not take the key first, since it reads what the other one commits later. */
static void searches_the_first_writer(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_interleaving order =
        woven_whole("ok 0 1-5: ax1 az6 ry[5]; ok 1 2-6: aw7 ax2 ay5; ok 2 3-7: rz[] ax3 ry[5] aw8", &history);
    assert_true(order.explains_reads);
    for (uint32_t one = 0; one < 3; one++) {
        static const uint32_t write[] = {1, 2, 2}, end[] = {4, 4, 5};
        for (uint32_t other = 0; other < one; other++)
            assert_true(place_of(&order, one, end[one]) < place_of(&order, other, write[other]) ||
                        place_of(&order, other, end[other]) < place_of(&order, one, write[one]));
    }
    rig_interleaving_done(&order);
    rig_history_free(history);
}

/* A dirty write needs two uncommitted writes of a key. */
static void keeps_a_dirty_write(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_interleaving order =
        woven_whole("ok 0 1-3: ax1 ay1; ok 1 2-4: ax2 ay2; ok 2 5-6: rx[1 2] ry[2 1]", &history);
    assert_true(order.explains_reads);
    assert_true(place_of(&order, 0, 1) < place_of(&order, 1, 1) && place_of(&order, 1, 2) < place_of(&order, 0, 2));
    rig_interleaving_done(&order);
    rig_history_free(history);
}

/* Each read of the other's key comes after its writer's end, which a lock of their common key asks for. */
static void takes_snapshots_before_it_gives_up_locks(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_interleaving order = woven_whole("ok 0 1-3: rx[] ax1 ry[] ay1; ok 1 2-4: ry[] ay2 rx[] ax2", &history);
    assert_true(order.explains_reads && order.by_snapshots);
    assert_true(place_of(&order, 0, 5) < place_of(&order, 1, 2) || place_of(&order, 1, 5) < place_of(&order, 0, 2));
    assert_true(place_of(&order, 0, 1) < place_of(&order, 1, 5) && place_of(&order, 1, 1) < place_of(&order, 0, 5));
    rig_interleaving_done(&order);
    rig_history_free(history);
}

static void says_when_the_budget_is_spent(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 1-3: rx[] ay1 rz[]; ok 1 2-4: ry[] ax2 rw[]");
    const struct rig_shrink_options options = {.check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)},
                                               .budget_ns = 1};
    struct rig_smallest_part part = shrunk(history, &options);
    assert_false(part.minimal);
    assert_int_equal(part.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    rig_smallest_part_done(&part);
    rig_history_free(history);
}

static void refuses_what_shows_nothing(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 1-2: ax1; ok 1 3-4: rx[1]");
    const struct rig_shrink_options options = {.check = {.levels = 0}};
    struct rig_smallest_part part = {0};
    struct rig_err err = {0};
    assert_int_equal(rig_shrink_history(history, &options, &part, &err), RIG_E_USAGE);
    assert_null(part.history);
    rig_history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_the_others),
        cmocka_unit_test(keeps_the_rows_that_were_read),
        cmocka_unit_test(keeps_the_phantoms),
        cmocka_unit_test(orders_a_write_skew),
        cmocka_unit_test(orders_a_dirty_read),
        cmocka_unit_test(orders_a_stale_read),
        cmocka_unit_test(says_when_the_budget_is_spent),
        cmocka_unit_test(refuses_what_shows_nothing),
        cmocka_unit_test(keeps_uncommitted_writes_of_a_key_apart),
        cmocka_unit_test(keeps_a_failed_write_apart),
        cmocka_unit_test(searches_the_first_writer),
        cmocka_unit_test(keeps_a_dirty_write),
        cmocka_unit_test(takes_snapshots_before_it_gives_up_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
