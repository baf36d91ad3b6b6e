#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "history/source/source.h"
#include "history/model/window.h"
#include "tests/history/model_segment.h"

static struct rig_rng rng;
static struct rig_err err;

struct fixture {
    struct rig_window *window;
    struct rig_segment segment;
    uint32_t next_position;
};

static int start(void **state)
{
    static struct fixture f;
    err = (struct rig_err){0};
    f = (struct fixture){.window = rig_window_new(RIG_WORKLOAD_LIST_APPEND, 0)};
    rig_segment_init(&f.segment, 0);
    *state = &f;
    return f.window == NULL;
}

static int stop(void **state)
{
    struct fixture *f = *state;
    rig_segment_done(&f->segment);
    rig_window_free(f->window);
    return 0;
}

/* The key's number in the segment; its spine is 1, 2, 3 ..., from index `part` on 1001, 1002 ... */
static uint32_t add_key(struct fixture *f, int64_t key, uint32_t count, uint32_t part)
{
    struct rig_segment_key out = {.key = key};
    for (uint32_t i = 0; i < count; i++) {
        int64_t element = i < part ? i + 1 : i + 1001;
        assert_true(rig_growing_list_add(&f->segment.pool, &out.spine, &element, 1));
    }
    assert_true(rig_segment_keys_add(&f->segment.keys, out));
    return (uint32_t)f->segment.keys.count - 1;
}

/* A transaction with one read of `count` elements of a list. */
static void add_read(struct fixture *f, uint32_t key, uint32_t list, uint32_t count)
{
    struct rig_txn txn = {.invoke_at = f->next_position++, .first_op = (uint32_t)f->segment.ops.count};
    txn.complete_at = f->next_position++;
    struct rig_txn_op mop = {.key = key, .kind = RIG_OP_READ_LIST, .read_state = RIG_READ_SEEN};
    mop.list = list;
    mop.count = count;
    assert_true(rig_txn_vec_add(&f->segment.txns, txn) && rig_txn_op_vec_add(&f->segment.ops, mop));
}

static void add_open(struct fixture *f, uint32_t key, uint32_t invoke_at)
{
    struct rig_txn txn = {
        .invoke_at = invoke_at,
        .complete_at = RIG_POSITION_NONE,
        .complete_ns = RIG_NO_TIME,
        .first_op = (uint32_t)f->segment.open_ops.count,
    };
    struct rig_txn_op mop = {.key = key, .kind = RIG_OP_READ_LIST};
    assert_true(rig_txn_vec_add(&f->segment.open, txn) && rig_txn_op_vec_add(&f->segment.open_ops, mop));
}

/* Joins the segment; the next one begins empty. */
static void join(struct fixture *f)
{
    if (rig_window_add(f->window, &f->segment, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_segment_reset(&f->segment);
}

static void refuse(struct fixture *f, const char *text)
{
    assert_int_equal(rig_window_add(f->window, &f->segment, &err), RIG_E_INPUT);
    assert_string_equal(err.text, text);
    assert_null(rig_window_history(f->window, true));
    struct rig_history *history = NULL;
    struct rig_err second = {0};
    assert_int_equal(rig_window_give(f->window, &(struct rig_source_facts){0}, &history, &second), RIG_E_LIMIT);
    f->window = NULL;
}

/* Whether the transaction's read shows 1, 2, 3 ... and, from `part` on, 1001 ... */
static void assert_read(const struct rig_history *history, uint32_t txn, bool branch, uint32_t count, uint32_t part)
{
    const struct rig_txn_op *mop = rig_txn_ops(history, txn);
    assert_int_equal(rig_txn_op_is_branch(mop), branch);
    struct rig_read_list list = rig_txn_op_list(history, mop);
    assert_int_equal(list.count, count);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(rig_read_element(&list, i), i < part ? i + 1 : i + 1001);
}

static void spines_that_agree_are_one(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 7, 5, 9), 0, 5);
    join(f);
    add_key(f, 3, 2, 9);
    add_read(f, add_key(f, 7, 3, 9), 1, 3); /* shorter */
    join(f);
    add_read(f, add_key(f, 7, 9, 9), 0, 8); /* longer */
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->key_count, 2);
    assert_int_equal(history->keys[0], 7);
    assert_int_equal(history->keys[1], 3);
    assert_int_equal(history->spines[0].count, 9);
    assert_int_equal(history->branch_count, 0);
    assert_read(history, 0, false, 5, 9);
    assert_read(history, 1, false, 3, 9);
    assert_read(history, 2, false, 8, 9);
}

static void spines_that_part_become_branches(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 7, 6, 9), 0, 6);
    join(f);
    uint32_t key = add_key(f, 7, 5, 3);
    add_read(f, key, key, 3); /* before the spine and the read diverge */
    add_read(f, key, key, 5);
    join(f);
    key = add_key(f, 7, 8, 3); /* the branch continues */
    add_read(f, key, key, 7);
    key = add_key(f, 7, 4, 1); /* the same key under another number, diverging elsewhere */
    add_read(f, key, key, 4);
    add_read(f, key, key, 1);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->key_count, 1);
    assert_int_equal(history->spines[0].count, 6);
    assert_int_equal(history->branch_count, 2);
    assert_int_equal(history->branches[0].count, 8);
    assert_int_equal(history->branches[0].shared, 3);
    assert_int_equal(history->branches[1].count, 4);
    assert_int_equal(history->branches[1].shared, 1);
    assert_read(history, 1, false, 3, 9);
    assert_read(history, 2, true, 5, 3);
    assert_read(history, 3, true, 7, 3);
    assert_read(history, 4, true, 4, 1);
    assert_read(history, 5, false, 1, 9);
}

static void branches_may_turn_out_to_be_prefixes(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 7, 4, 9), 0, 4);
    join(f);
    /* Here the spine leaves the window's, and the branch is the window's. */
    uint32_t key = add_key(f, 7, 4, 2);
    struct rig_growing_branch branch = {.key = key, .shared = 2};
    for (int64_t i = 3; i <= 6; i++)
        assert_true(rig_growing_list_add(&f->segment.pool, &branch.tail, &i, 1));
    assert_true(rig_growing_branches_add(&f->segment.branches, branch));
    add_read(f, key, RIG_LIST_BRANCH, 6);
    add_read(f, key, key, 4);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->spines[0].count, 6);
    assert_int_equal(history->branch_count, 1);
    assert_read(history, 1, false, 6, 9);
    assert_read(history, 2, true, 4, 2);
}

/* A failed transaction's read of its own appends does not turn the lists of others into branches. */
static void failed_reads_do_not_make_spines(void **state)
{
    struct fixture *f = *state;
    uint32_t key = add_key(f, 7, 2, 9);
    struct rig_growing_branch branch = {.key = key, .shared = 2};
    for (int64_t i = 3; i <= 4; i++) {
        int64_t element = i <= 3 ? i : i + 1000;
        assert_true(rig_growing_list_add(&f->segment.pool, &branch.tail, &element, 1));
    }
    assert_true(rig_growing_branches_add(&f->segment.branches, branch));
    add_read(f, key, RIG_LIST_BRANCH, 4);
    f->segment.txns.at[0].outcome = RIG_OUTCOME_FAIL;
    add_read(f, key, RIG_LIST_BRANCH, 3);
    join(f);
    add_read(f, add_key(f, 7, 5, 9), 0, 5);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->spines[0].count, 5);
    assert_read(history, 0, true, 4, 3);
    assert_read(history, 1, false, 3, 9);
    assert_read(history, 2, false, 5, 9);
}

static void open_transactions_are_those_of_the_last_segment(void **state)
{
    struct fixture *f = *state;
    f->next_position = 10;
    add_open(f, add_key(f, 1, 0, 0), 4);
    add_open(f, add_key(f, 2, 0, 0), 2);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, true);
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[0].invoke_at, 2);
    assert_int_equal(history->txns[1].outcome, RIG_OUTCOME_INFO);
    assert_int_equal(rig_window_history(f->window, false)->txn_count, 0);
    assert_true(rig_window_key_is_open(f->window, 0) && rig_window_key_is_open(f->window, 1));
    add_open(f, add_key(f, 2, 0, 0), 2);
    add_read(f, add_key(f, 5, 1, 9), 1, 1);
    join(f);
    history = rig_window_history(f->window, true);
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->op_count, 2);
    assert_int_equal(history->txns[0].complete_at, 11);
    assert_int_equal(history->txns[1].invoke_at, 2);
    assert_int_equal(rig_txn_ops(history, 1)->key, 1);
    assert_false(rig_window_key_is_open(f->window, 0));
    assert_true(rig_window_key_is_open(f->window, 1));
    assert_int_equal(rig_window_key_used_at(f->window, 1), 0); /* by no complete transaction */
    assert_int_equal(rig_window_key_used_at(f->window, 2), 1);
    assert_int_equal(rig_window_used_now(f->window), 1);
}

static void a_use_counts_the_transactions_before(void **state)
{
    struct fixture *f = *state;
    uint32_t first = add_key(f, 1, 0, 0), second = add_key(f, 2, 0, 0);
    add_read(f, first, first, 0);
    add_read(f, second, second, 0);
    add_read(f, first, first, 0);
    join(f);
    second = add_key(f, 2, 0, 0);
    add_read(f, second, second, 0);
    join(f);
    (void)rig_window_history(f->window, false);
    assert_int_equal(rig_window_key_used_at(f->window, 0), 3);
    assert_int_equal(rig_window_key_used_at(f->window, 1), 4);
    assert_int_equal(rig_window_used_now(f->window), 4);
}

static void keys_of_one_kind_only(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    join(f);
    assert_true(rig_segment_keys_add(&f->segment.keys, (struct rig_segment_key){.text = "x", .text_length = 1}));
    refuse(f, "a text key in a history whose keys are numbers; use one kind of key");
}

static void texts_or_numbers(void **state)
{
    struct fixture *f = *state;
    assert_true(rig_segment_keys_add(&f->segment.keys, (struct rig_segment_key){.text = "xy", .text_length = 1}));
    join(f);
    assert_string_equal(rig_window_history(f->window, false)->key_texts[0], "x");
    add_key(f, 1, 0, 0);
    refuse(f, "a number as key in a history whose keys are texts; use one kind of key");
}

static void no_nul_in_a_key(void **state)
{
    struct fixture *f = *state;
    assert_true(rig_segment_keys_add(&f->segment.keys, (struct rig_segment_key){.text = "x\0y", .text_length = 3}));
    refuse(f, "a key with a NUL character in it; rename the key");
}

static void completions_ascend(void **state)
{
    struct fixture *f = *state;
    f->next_position = 4;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    join(f);
    f->next_position = 4;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    refuse(f, "two operations at position 5; give them different numbers");
}

static void completions_ascend_in_a_segment(void **state)
{
    struct fixture *f = *state;
    f->next_position = 4;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    f->next_position = 2;
    add_read(f, 0, 0, 0);
    refuse(f, "position 3 after position 5; sort the operations");
}

static void invocations_come_before(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    f->segment.txns.at[0].invoke_at = 1;
    refuse(f, "the transaction at position 1 completes before it is invoked");
}

static void all_invocations_or_none(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    add_read(f, 0, 0, 0);
    f->segment.txns.at[1].invoke_at = RIG_POSITION_NONE;
    refuse(f, "1 of 2 transactions has no invocation; give all of them one, or none");
}

static void open_ones_have_positions_of_their_own(void **state)
{
    struct fixture *f = *state;
    add_open(f, add_key(f, 1, 0, 0), 4);
    add_open(f, 0, 4);
    refuse(f, "two operations at position 4; give them different numbers");
}

static void the_limit_holds(void **state)
{
    struct fixture *f = *state;
    rig_window_free(f->window);
    f->window = rig_window_new(RIG_WORKLOAD_LIST_APPEND, 1 << 20);
    enum rig_rc rc = RIG_OK;
    for (int i = 0; i < 100000 && rc == RIG_OK; i++) {
        add_read(f, add_key(f, 1, 0, 0), 0, 0);
        rc = rig_window_add(f->window, &f->segment, &err);
        rig_segment_reset(&f->segment);
    }
    assert_int_equal(rc, RIG_E_LIMIT);
    assert_non_null(strstr(err.text, "more than the 1048576 bytes allowed"));
    assert_non_null(strstr(err.text, "raise --max-memory"));
}

/* ---- random models against the builder ---- */

/* Cuts the model's events into segments and joins them. */
static struct rig_window *join_model(const struct model *model, bool unordered)
{
    struct rig_window *window = rig_window_new(model->options->workload, 0);
    struct rig_segment segment;
    rig_segment_init(&segment, 0);
    for (uint32_t from = 0; from < model->event_count;) {
        uint32_t to = from + 1 + (uint32_t)rig_rng_below(&rng, 200);
        if (to > model->event_count)
            to = model->event_count;
        rig_segment_reset(&segment);
        model_segment(model, from, to, &rng, &segment);
        segment.unordered = unordered;
        if (rig_window_add(window, &segment, &err) != RIG_OK)
            fail_msg("%s", err.text);
        from = to;
    }
    rig_segment_done(&segment);
    return window;
}

static void windows_equal_built_histories(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        struct model_options options = {
            .workload = (enum rig_workload)rig_rng_below(&rng, RIG_WORKLOAD_COUNT),
            .txn_count = (uint32_t)rig_rng_below(&rng, 1000),
            .channel_count = 1 + (uint32_t)rig_rng_below(&rng, 20),
            .key_count = 1 + (int64_t)rig_rng_below(&rng, 40),
            .first_ns = 100,
            .position_gaps = round % 3 == 0,
            .text_keys = round % 5 == 0,
            .no_invocations = round % 7 == 0,
            .columns = round % 2 == 0,
        };
        struct model model;
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        struct rig_window *window = join_model(&model, false);
        const struct rig_history *view = rig_window_history(window, true);
        assert_non_null(view);
        assert_same_history(view, wanted);
        struct rig_source_facts facts = {.meta = "name: x", .skipped_count = 9, .truncated = round % 2 == 0};
        struct rig_history *history = NULL;
        assert_int_equal(rig_window_give(window, &facts, &history, &err), RIG_OK);
        assert_same_history(history, wanted);
        assert_string_equal(history->meta, "name: x");
        assert_int_equal(history->skipped_count, 9);
        assert_int_equal(history->truncated, facts.truncated);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
}

/* ---- dropping ---- */

static void drop_forgets_keys(void **state)
{
    struct fixture *f = *state;
    uint32_t one = add_key(f, 1, 3, 9), two = add_key(f, 2, 4, 9);
    add_read(f, one, one, 3);
    add_read(f, two, two, 4);
    join(f);
    uint32_t parted = add_key(f, 1, 3, 1), stays = add_key(f, 2, 4, 2);
    add_read(f, parted, parted, 3);
    add_read(f, stays, stays, 4);
    add_open(f, stays, 1);
    join(f);
    const uint8_t settled[] = {RIG_SETTLED_COMMITTED, 0, RIG_SETTLED_UNCOMMITTED, RIG_SETTLED_COMMITTED};
    const uint8_t drop_key[] = {1, 0};
    assert_int_equal(rig_window_history(f->window, false)->branch_count, 2);
    rig_window_release(f->window, settled, drop_key);
    const struct rig_history *history = rig_window_history(f->window, true);
    assert_int_equal(history->txn_count, 3);
    assert_int_equal(history->key_count, 1);
    assert_int_equal(history->branch_count, 1);
    assert_int_equal(history->keys[0], 2);
    assert_int_equal(history->txns[0].settled, RIG_SETTLED_NOT);
    assert_int_equal(history->txns[1].settled, RIG_SETTLED_COMMITTED);
    assert_int_equal(history->txns[1].complete_at, 7);
    assert_read(history, 0, false, 4, 9);
    assert_read(history, 1, true, 4, 2);
    assert_true(rig_window_key_is_open(f->window, 0));
    assert_int_equal(rig_window_key_used_at(f->window, 0), 4);
    /* A key that comes back is new; the remaining part continues. */
    one = add_key(f, 1, 2, 0);
    stays = add_key(f, 2, 6, 2);
    add_read(f, one, one, 2);
    add_read(f, stays, stays, 6);
    join(f);
    history = rig_window_history(f->window, false);
    assert_int_equal(history->key_count, 2);
    assert_int_equal(history->branch_count, 1);
    assert_read(history, 2, false, 2, 0);
    assert_read(history, 3, true, 6, 2);
}

/* The first operation on each key is known, unless nothing is known. */
static void assert_first_ops(const struct rig_history *view)
{
    uint32_t op_count = view->summary == NULL ? 0 : view->op_count;
    uint8_t *met = calloc(view->key_count + 1, 1);
    assert_non_null(met);
    for (uint32_t op = 0; op < op_count; op++) {
        uint32_t key = view->ops[op].key;
        if (!met[key])
            assert_int_equal(view->summary->keys[key].first_op, op);
        met[key] = 1;
    }
    for (uint32_t key = 0; op_count > 0 && key < view->key_count; key++)
        assert_true(met[key] || view->summary->keys[key].first_op == UINT32_MAX);
    free(met);
}

/* The expected rest of the model's transactions, of those that complete before `end`. */
struct left {
    const struct rig_history *whole;
    uint32_t *txn_at;       /* position of completion -> transaction of `whole`, + 1 */
    uint8_t *settled, *ops; /* per transaction, per operation of `whole`; an operation that was dropped is 1 */
};

static void assert_left(const struct rig_history *view, const struct left *left, uint32_t end)
{
    uint32_t stay = 0;
    for (uint32_t i = 0; i < left->whole->txn_count; i++) {
        bool stays = left->settled[i] == 0;
        for (uint32_t at = left->whole->txns[i].first_op; at < left->whole->txns[i + 1].first_op; at++)
            stays |= !left->ops[at];
        stay += stays && left->whole->txns[i].complete_at < end;
    }
    assert_int_equal(view->txn_count, stay);
    assert_first_ops(view);
    for (uint32_t i = 0; i < view->txn_count; i++) {
        const struct rig_txn *txn = &view->txns[i];
        uint32_t of = left->txn_at[txn->complete_at] - 1;
        const struct rig_txn *wanted = &left->whole->txns[of];
        assert_int_equal(txn->settled, left->settled[of]);
        assert_int_equal(txn->process, wanted->process);
        assert_same_columns(view, i, left->whole, of);
        assert_string_equal(txn->error == 0 ? "" : view->errors[txn->error - 1],
                            wanted->error == 0 ? "" : left->whole->errors[wanted->error - 1]);
        const struct rig_txn_op *ops = rig_txn_ops(view, i);
        uint32_t op = 0;
        for (uint32_t at = wanted->first_op; at < wanted[1].first_op; at++) {
            if (!left->ops[at])
                assert_same_op(view, &ops[op++], left->whole, &left->whole->ops[at]);
        }
        assert_int_equal(op, rig_txn_op_count(view, i));
        assert_true(op > 0 || !txn->settled);
    }
}

/* Judges most transactions and drops some of the droppable keys. */
static void drop_some(struct rig_window *window, struct left *left, uint32_t end)
{
    const struct rig_history *view = rig_window_history(window, false);
    uint8_t *settled = calloc(view->txn_count + 1, 1), *drop = calloc(view->key_count + 1, 1);
    assert_true(settled != NULL && drop != NULL);
    assert_first_ops(view);
    for (uint32_t key = 0; key < view->key_count; key++)
        drop[key] = rig_rng_below(&rng, 3) == 0 && !rig_window_key_is_open(window, key);
    for (uint32_t i = 0; i < view->txn_count; i++) {
        if (view->txns[i].settled == 0 && rig_rng_below(&rng, 50) != 0)
            settled[i] = 1 + (uint8_t)rig_rng_below(&rng, 2);
        for (uint32_t op = 0; !settled[i] && !view->txns[i].settled && op < rig_txn_op_count(view, i); op++)
            drop[rig_txn_ops(view, i)[op].key] = 0;
    }
    for (uint32_t i = 0; i < view->txn_count; i++) {
        uint32_t of = left->txn_at[view->txns[i].complete_at] - 1;
        if (settled[i])
            left->settled[of] = settled[i];
        uint32_t op = 0;
        for (uint32_t at = left->whole->txns[of].first_op; at < left->whole->txns[of + 1].first_op; at++) {
            if (!left->ops[at])
                left->ops[at] = drop[rig_txn_ops(view, i)[op++].key];
        }
    }
    rig_window_release(window, settled, drop);
    assert_left(rig_window_history(window, false), left, end);
    free(settled);
    free(drop);
}

static void only_the_dropped_part_is_gone(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        struct model_options options = {
            .workload = (enum rig_workload)(round % 2),
            .txn_count = 1500,
            .channel_count = 1 + (uint32_t)rig_rng_below(&rng, 20),
            .key_count = 1 + (int64_t)rig_rng_below(&rng, 40),
            .text_keys = round % 5 == 0,
            .columns = round % 4 > 1,
        };
        struct model model;
        model_make(&model, &options, &rng);
        struct rig_history *whole = model_history(&model, model.event_count);
        struct left left = {.whole = whole,
                            .txn_at = calloc(model.event_count + 1, sizeof(uint32_t)),
                            .settled = calloc(whole->txn_count + 1, 1),
                            .ops = calloc(whole->op_count + 1, 1)};
        assert_true(left.txn_at != NULL && left.settled != NULL && left.ops != NULL);
        for (uint32_t i = 0; i < whole->txn_count; i++) {
            if (whole->txns[i].complete_at != RIG_POSITION_NONE)
                left.txn_at[whole->txns[i].complete_at] = i + 1;
        }
        struct rig_window *window = rig_window_new(options.workload, 0);
        struct rig_segment segment;
        rig_segment_init(&segment, 0);
        for (uint32_t from = 0; from < model.event_count; from += 150) {
            uint32_t to = from + 150 < model.event_count ? from + 150 : model.event_count;
            rig_segment_reset(&segment);
            model_segment(&model, from, to, &rng, &segment);
            if (rig_window_add(window, &segment, &err) != RIG_OK)
                fail_msg("%s", err.text);
            drop_some(window, &left, to);
        }
        rig_segment_done(&segment);
        rig_window_free(window);
        rig_history_free(whole);
        free(left.txn_at);
        free(left.settled);
        free(left.ops);
        model_done(&model);
    }
}

/* Keys, errors and texts that come and go: memory stops growing after a while. */
static void memory_is_bounded(void **state)
{
    struct fixture *f = *state;
    size_t most[2] = {0, 0}; /* of the first half and of the second */
    const uint8_t settled[] = {RIG_SETTLED_COMMITTED};
    const uint8_t drop_key[] = {1};
    for (int i = 0; i < 100000; i++) {
        char text[24];
        int length = snprintf(text, sizeof text, "%d", i);
        struct rig_segment_key key = {.text = text, .text_length = (uint32_t)length};
        struct rig_segment_error error = {.text = text, .length = (uint32_t)length};
        int64_t elements[] = {1, 2, 3, 4, 5};
        assert_true(rig_growing_list_add(&f->segment.pool, &key.spine, elements, 5) &&
                    rig_segment_keys_add(&f->segment.keys, key) && rig_segment_errors_add(&f->segment.errors, error));
        add_read(f, 0, 0, 5);
        f->segment.txns.at[0].error = 1;
        assert_true(rig_columns_set(&f->segment.columns, RIG_COLUMN_NODE, 0,
                                    rig_columns_name(&f->segment.columns, text, (size_t)length)));
        join(f);
        const struct rig_history *view = rig_window_history(f->window, false);
        assert_int_equal(view->txn_count, 1);
        assert_string_equal(view->errors[view->txns[0].error - 1], text);
        assert_string_equal(view->key_texts[view->keys[0]], text);
        assert_string_equal(rig_history_column_name(view, 0, RIG_COLUMN_NODE), text);
        rig_window_release(f->window, settled, drop_key);
        size_t held = rig_window_bytes(f->window);
        most[i / 50000] = held > most[i / 50000] ? held : most[i / 50000];
    }
    assert_true(most[1] <= most[0]);
}

/* ---- events out of order ---- */

static void unordered_events_are_put_in_order(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        struct model_options options = {.txn_count = 300, .channel_count = 8, .key_count = 9, .first_ns = 100};
        struct model model;
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        /* The same events in another order of the file: each channel's in its own order, interleaved by their times. */
        for (uint32_t swap = 0; swap < 5000; swap++) {
            uint32_t at = 1 + (uint32_t)rig_rng_below(&rng, model.event_count - 1);
            struct model_event *a = &model.events[at - 1], *b = &model.events[at];
            if (model.txns[a->txn].channel == model.txns[b->txn].channel)
                continue;
            struct model_event other = *a;
            *a = *b;
            *b = other;
        }
        for (uint32_t i = 0; i < model.event_count; i++) {
            struct model_txn *txn = &model.txns[model.events[i].txn];
            *(model.events[i].is_completion ? &txn->complete_at : &txn->invoke_at) = i;
        }
        struct rig_window *window = join_model(&model, true);
        struct rig_history *history = NULL;
        assert_int_equal(rig_window_give(window, &(struct rig_source_facts){0}, &history, &err), RIG_OK);
        assert_same_history(history, wanted);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
}

int main(void)
{
    rig_rng_init(&rng, 20261121, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spines_that_agree_are_one, start, stop),
        cmocka_unit_test_setup_teardown(spines_that_part_become_branches, start, stop),
        cmocka_unit_test_setup_teardown(branches_may_turn_out_to_be_prefixes, start, stop),
        cmocka_unit_test_setup_teardown(failed_reads_do_not_make_spines, start, stop),
        cmocka_unit_test_setup_teardown(open_transactions_are_those_of_the_last_segment, start, stop),
        cmocka_unit_test_setup_teardown(a_use_counts_the_transactions_before, start, stop),
        cmocka_unit_test_setup_teardown(keys_of_one_kind_only, start, stop),
        cmocka_unit_test_setup_teardown(texts_or_numbers, start, stop),
        cmocka_unit_test_setup_teardown(no_nul_in_a_key, start, stop),
        cmocka_unit_test_setup_teardown(completions_ascend, start, stop),
        cmocka_unit_test_setup_teardown(completions_ascend_in_a_segment, start, stop),
        cmocka_unit_test_setup_teardown(invocations_come_before, start, stop),
        cmocka_unit_test_setup_teardown(all_invocations_or_none, start, stop),
        cmocka_unit_test_setup_teardown(open_ones_have_positions_of_their_own, start, stop),
        cmocka_unit_test_setup_teardown(the_limit_holds, start, stop),
        cmocka_unit_test(windows_equal_built_histories),
        cmocka_unit_test_setup_teardown(drop_forgets_keys, start, stop),
        cmocka_unit_test(only_the_dropped_part_is_gone),
        cmocka_unit_test_setup_teardown(memory_is_bounded, start, stop),
        cmocka_unit_test(unordered_events_are_put_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
