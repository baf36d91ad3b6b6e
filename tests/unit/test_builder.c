#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "history/model/builder.h"
#include "history/model/read_list.h"

static struct rig_err err;

static int start(void **state)
{
    err = (struct rig_err){0};
    *state = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    return *state == NULL;
}

static int64_t elements[64];

static struct rig_read seen(uint32_t count)
{
    return (struct rig_read){.state = RIG_READ_SEEN, .count = count};
}

/* One transaction of one read of key `key` that returned the first `count` of `elements`. */
static void add_read(struct rig_history_builder *builder, uint32_t at, enum rig_outcome outcome, int64_t key,
                     uint32_t count)
{
    struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = key};
    struct rig_read read = seen(count);
    struct rig_txn_input txn = {
        .invoke_ns = at,
        .complete_ns = at + 1,
        .invoke_at = at,
        .complete_at = at + 1,
        .process = 3,
        .outcome = outcome,
        .ops = &op,
        .reads = &read,
        .op_count = 1,
        .elements = elements,
    };
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
}

static struct rig_history *finish(struct rig_history_builder *builder)
{
    struct rig_history *history = NULL;
    enum rig_rc rc = rig_history_builder_finish(builder, &history, &err);
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void set_elements(int64_t first, int64_t step, int count)
{
    for (int i = 0; i < count; i++)
        elements[i] = first + step * i;
}

static void prefixes_share_the_spine(void **state)
{
    struct rig_history_builder *builder = *state;
    set_elements(1, 1, 10);
    const uint32_t counts[] = {3, 1, 7, 0, 10, 7};
    for (uint32_t i = 0; i < 6; i++)
        add_read(builder, i * 2, RIG_OUTCOME_OK, 42, counts[i]);
    struct rig_history *history = finish(builder);
    assert_int_equal(history->txn_count, 6);
    assert_int_equal(history->key_count, 1);
    assert_int_equal(history->keys[0], 42);
    assert_int_equal(history->spines[0].count, 10);
    assert_int_equal(history->branch_count, 0);
    for (uint32_t i = 0; i < 6; i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, i);
        assert_int_equal(op->list, 0);
        assert_int_equal(op->read_state, RIG_READ_SEEN);
        struct rig_read_list list = rig_txn_op_list(history, op);
        assert_int_equal(list.count, counts[i]);
        if (counts[i] > 0)
            assert_true(rig_read_same(
                &list, &(struct rig_read_list){.at = elements, .shared = counts[i], .count = counts[i]}, counts[i]));
    }
    rig_history_free(history);
}

static void other_lists_are_stored_whole(void **state)
{
    struct rig_history_builder *builder = *state;
    set_elements(1, 1, 4);
    add_read(builder, 0, RIG_OUTCOME_OK, 5, 4);
    set_elements(1, 2, 4); /* 1 3 5 7: diverges at once */
    add_read(builder, 2, RIG_OUTCOME_OK, 5, 3);
    add_read(builder, 4, RIG_OUTCOME_OK, 5, 4); /* continues where the list above ended */
    add_read(builder, 6, RIG_OUTCOME_OK, 5, 2);
    struct rig_history *history = finish(builder);
    assert_int_equal(history->spines[0].count, 4);
    assert_int_equal(history->branch_count, 1);
    const uint32_t counts[] = {3, 4, 2};
    for (uint32_t i = 0; i < 3; i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, i + 1);
        assert_int_equal(op->list, RIG_LIST_BRANCH);
        struct rig_read_list list = rig_txn_op_list(history, op);
        assert_int_equal(list.count, counts[i]);
        assert_true(rig_read_same(
            &list, &(struct rig_read_list){.at = elements, .shared = counts[i], .count = counts[i]}, counts[i]));
    }
    rig_history_free(history);
}

static void failed_reads_never_grow_a_spine(void **state)
{
    struct rig_history_builder *builder = *state;
    set_elements(1, 1, 8);
    add_read(builder, 0, RIG_OUTCOME_OK, 5, 2);
    add_read(builder, 2, RIG_OUTCOME_FAIL, 5, 4);
    add_read(builder, 4, RIG_OUTCOME_FAIL, 5, 1);
    add_read(builder, 6, RIG_OUTCOME_INFO, 5, 3);
    struct rig_history *history = finish(builder);
    assert_int_equal(history->spines[0].count, 3);
    assert_int_equal(history->branch_count, 1);
    assert_int_equal(rig_txn_ops(history, 1)->list, RIG_LIST_BRANCH);
    assert_int_equal(rig_txn_op_list(history, rig_txn_ops(history, 1)).count, 4);
    assert_int_equal(rig_txn_ops(history, 2)->list, 0);
    assert_int_equal(rig_txn_ops(history, 3)->list, 0);
    rig_history_free(history);
}

static void nil_empty_and_unknown_stay_apart(void **state)
{
    struct rig_history_builder *builder = *state;
    struct rig_op ops[4];
    for (int i = 0; i < 4; i++)
        ops[i] = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = i};
    ops[3] = (struct rig_op){.kind = RIG_OP_APPEND, .key = 9, .value = -7};
    struct rig_read reads[4] = {{.state = RIG_READ_NIL}, {.state = RIG_READ_SEEN}, {.state = RIG_READ_UNKNOWN}};
    struct rig_txn_input txn = {.complete_at = 1, .ops = ops, .reads = reads, .op_count = 4};
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    struct rig_history *history = finish(builder);
    const struct rig_txn_op *mops = rig_txn_ops(history, 0);
    assert_int_equal(mops[0].read_state, RIG_READ_NIL);
    assert_int_equal(mops[1].read_state, RIG_READ_SEEN);
    assert_int_equal(mops[1].count, 0);
    assert_int_equal(mops[2].read_state, RIG_READ_UNKNOWN);
    assert_int_equal(mops[3].value, -7);
    assert_int_equal(rig_txn_op_list(history, &mops[0]).count, 0);
    rig_history_free(history);
}

static void open_transactions_come_last(void **state)
{
    struct rig_history_builder *builder = *state;
    const uint32_t invoke_at[] = {0, 1, 2, 3, 6};
    const uint32_t complete_at[] = {RIG_POSITION_NONE, 7, 4, RIG_POSITION_NONE, 8};
    for (int64_t i = 4; i >= 0; i--) {
        struct rig_op ops[2] = {{.kind = RIG_OP_APPEND, .key = i, .value = 10 + i},
                                {.kind = RIG_OP_APPEND, .key = i, .value = 20 + i}};
        struct rig_txn_input txn = {
            .invoke_at = invoke_at[i],
            .complete_at = complete_at[i],
            .outcome = complete_at[i] == RIG_POSITION_NONE ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK,
            .process = i,
            .ops = ops,
            .op_count = i % 2 == 0 ? 2 : 1,
            .error = i == 0 ? "lost: gone" : NULL,
        };
        assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    }
    struct rig_history *history = finish(builder);
    const int32_t order[] = {2, 1, 4, 0, 3};
    uint32_t ops = 0;
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(history->txns[i].process, order[i]);
        assert_int_equal(rig_txn_op_count(history, i), order[i] % 2 == 0 ? 2 : 1);
        assert_int_equal(rig_txn_ops(history, i)[0].value, 10 + order[i]);
        ops += rig_txn_op_count(history, i);
    }
    assert_int_equal(ops, history->op_count);
    assert_int_equal(rig_txn_name(history, 0), 4);
    assert_int_equal(rig_txn_name(history, 3), 0);
    assert_int_equal(rig_txn_end(history, 3), RIG_POSITION_NONE);
    assert_true(history->has_invocations);
    assert_int_equal(history->txns[3].error, 1);
    assert_string_equal(history->errors[0], "lost: gone");
    rig_history_free(history);
}

static void wrong_positions_are_refused(void **state)
{
    struct rig_history_builder *builder = *state;
    struct rig_op op = {.kind = RIG_OP_APPEND, .key = 1, .value = 1};
    struct rig_txn_input txn = {.invoke_at = 0, .complete_at = 4, .ops = &op, .op_count = 1};
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    txn.invoke_at = 1;
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    struct rig_history *history = NULL;
    assert_int_equal(rig_history_builder_finish(builder, &history, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "two operations at position 4; give them different numbers");
    assert_null(history);

    err = (struct rig_err){0};
    builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    txn.invoke_at = RIG_POSITION_NONE;
    txn.complete_at = 9;
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_OK);
    assert_int_equal(rig_history_builder_finish(builder, &history, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "1 of 2 transactions has no invocation; give all of them one, or none");
}

static void large_process_is_refused(void **state)
{
    struct rig_history_builder *builder = *state;
    struct rig_txn_input txn = {.complete_at = 1, .process = (int64_t)INT32_MAX + 1};
    assert_int_equal(rig_history_builder_add(builder, &txn, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "process 2147483648 does not fit 32 bits; renumber the processes");
    rig_history_builder_free(builder);
}

static void memory_limit_is_kept(void **state)
{
    rig_history_builder_free(*state);
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 1 << 20);
    struct rig_op op = {.kind = RIG_OP_APPEND, .key = 1, .value = 1};
    enum rig_rc rc = RIG_OK;
    uint32_t added = 0;
    while (rc == RIG_OK && added < 1000000) {
        struct rig_txn_input txn = {.invoke_at = added * 2, .complete_at = added * 2 + 1, .ops = &op, .op_count = 1};
        rc = rig_history_builder_add(builder, &txn, &err);
        added++;
    }
    assert_int_equal(rc, RIG_E_LIMIT);
    assert_in_range(added, 2000, 20000);
    assert_non_null(strstr(err.text, "1048576 bytes"));
    rig_history_builder_free(builder);
}

static void text_keys(void **state)
{
    struct rig_history_builder *builder = *state;
    int64_t x, y, again;
    assert_int_equal(rig_history_builder_text_key(builder, "xyz", 1, &x, &err), RIG_OK);
    assert_int_equal(rig_history_builder_text_key(builder, "yz", 2, &y, &err), RIG_OK);
    assert_int_equal(rig_history_builder_text_key(builder, "x", 1, &again, &err), RIG_OK);
    assert_int_equal(x, again);
    assert_int_not_equal(x, y);
    rig_history_builder_keyword_keys(builder);
    add_read(builder, 0, RIG_OUTCOME_OK, y, 0);
    add_read(builder, 2, RIG_OUTCOME_OK, x, 0);
    struct rig_history *history = finish(builder);
    char text[24];
    rig_history_key_text(history, 0, text, sizeof text);
    assert_string_equal(text, ":yz");
    rig_history_key_text(history, 1, text, sizeof text);
    assert_string_equal(text, ":x");
    rig_history_free(history);

    builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    add_read(builder, 0, RIG_OUTCOME_OK, 1, 0);
    assert_int_equal(rig_history_builder_text_key(builder, "x", 1, &x, &err), RIG_E_INPUT);
    rig_history_builder_free(builder);
}

static void empty_history(void **state)
{
    struct rig_history_builder *builder = *state;
    assert_int_equal(rig_history_builder_meta(builder, "name: x", 7, &err), RIG_OK);
    struct rig_history *history = finish(builder);
    assert_int_equal(history->txn_count, 0);
    assert_true(history->has_invocations);
    assert_string_equal(history->meta, "name: x");
    rig_history_free(history);
}

enum { RANDOM_TXNS = 2000 };

/* Every read comes back as it was added, for any mix of branches and outcomes, and in any order of adding. */
static void random_lists_come_back(void **state)
{
    struct rig_history_builder *builder = *state;
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    static int64_t reads[RANDOM_TXNS][64];
    static uint32_t counts[RANDOM_TXNS];
    uint32_t order[RANDOM_TXNS];
    for (uint32_t i = 0; i < RANDOM_TXNS; i++)
        order[i] = i;
    for (uint32_t i = RANDOM_TXNS - 1; i > 0; i--) {
        uint32_t j = (uint32_t)rig_rng_below(&rng, i + 1);
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (uint32_t n = 0; n < RANDOM_TXNS; n++) {
        uint32_t i = order[n];
        counts[i] = (uint32_t)rig_rng_below(&rng, 64);
        int64_t branch = (int64_t)rig_rng_below(&rng, 3);
        uint64_t fork = rig_rng_below(&rng, 64);
        for (uint32_t e = 0; e < counts[i]; e++)
            elements[e] = reads[i][e] = e < fork ? (int64_t)e : (int64_t)e * 100 + branch;
        add_read(builder, i * 2, (enum rig_outcome)rig_rng_below(&rng, 3), (int64_t)(i % 7), counts[i]);
    }
    struct rig_history *history = finish(builder);
    assert_int_equal(history->txn_count, RANDOM_TXNS);
    for (uint32_t i = 0; i < RANDOM_TXNS; i++) {
        struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, i));
        assert_int_equal(history->txns[i].complete_at, i * 2 + 1);
        assert_int_equal(history->keys[rig_txn_ops(history, i)->key], i % 7);
        assert_int_equal(list.count, counts[i]);
        if (list.count > 0)
            assert_true(rig_read_same(
                &list, &(struct rig_read_list){.at = reads[i], .shared = list.count, .count = list.count}, list.count));
    }
    rig_history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(prefixes_share_the_spine, start),
        cmocka_unit_test_setup(other_lists_are_stored_whole, start),
        cmocka_unit_test_setup(failed_reads_never_grow_a_spine, start),
        cmocka_unit_test_setup(nil_empty_and_unknown_stay_apart, start),
        cmocka_unit_test_setup(open_transactions_come_last, start),
        cmocka_unit_test_setup(wrong_positions_are_refused, start),
        cmocka_unit_test_setup(large_process_is_refused, start),
        cmocka_unit_test_setup(memory_limit_is_kept, start),
        cmocka_unit_test_setup(text_keys, start),
        cmocka_unit_test_setup(empty_history, start),
        cmocka_unit_test_setup(random_lists_come_back, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
