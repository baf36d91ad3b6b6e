#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "history/source.h"
#include "history/window.h"
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
    struct rig_mop mop = {.key = key, .kind = RIG_OP_READ_LIST, .read_state = RIG_READ_SEEN};
    mop.list = list;
    mop.count = count;
    assert_true(rig_txn_vec_add(&f->segment.txns, txn) && rig_mop_vec_add(&f->segment.ops, mop));
}

static void add_open(struct fixture *f, uint32_t key, uint32_t invoke_at)
{
    struct rig_txn txn = {
        .invoke_at = invoke_at,
        .complete_at = RIG_POSITION_NONE,
        .complete_ns = RIG_NO_TIME,
        .first_op = (uint32_t)f->segment.open_ops.count,
    };
    struct rig_mop mop = {.key = key, .kind = RIG_OP_READ_LIST};
    assert_true(rig_txn_vec_add(&f->segment.open, txn) && rig_mop_vec_add(&f->segment.open_ops, mop));
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
static void assert_read(const struct rig_history *history, uint32_t txn, bool whole, uint32_t count, uint32_t part)
{
    const struct rig_mop *mop = rig_txn_ops(history, txn);
    assert_int_equal(rig_mop_is_whole(mop), whole);
    if (!whole)
        assert_int_equal(mop->list, mop->key);
    struct rig_list list = rig_mop_list(history, mop);
    assert_int_equal(list.count, count);
    for (uint32_t i = 0; list.at != NULL && i < list.count; i++)
        assert_int_equal(list.at[i], i < part ? i + 1 : i + 1001);
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
    assert_int_equal(history->list_count, 0);
    assert_read(history, 0, false, 5, 9);
    assert_read(history, 1, false, 3, 9);
    assert_read(history, 2, false, 8, 9);
}

static void spines_that_part_are_stored_whole(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 7, 6, 9), 0, 6);
    join(f);
    uint32_t key = add_key(f, 7, 5, 3);
    add_read(f, key, key, 3); /* before they part */
    add_read(f, key, key, 5);
    join(f);
    key = add_key(f, 7, 8, 3); /* what was stored whole goes on */
    add_read(f, key, key, 7);
    key = add_key(f, 7, 4, 1); /* the same key under another number, parting elsewhere */
    add_read(f, key, key, 4);
    add_read(f, key, key, 1);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->key_count, 1);
    assert_int_equal(history->spines[0].count, 6);
    assert_int_equal(history->list_count, 2);
    assert_int_equal(history->lists[0].count, 8);
    assert_read(history, 1, false, 3, 9);
    assert_read(history, 2, true, 5, 3);
    assert_read(history, 3, true, 7, 3);
    assert_read(history, 4, true, 4, 1);
    assert_read(history, 5, false, 1, 9);
}

static void whole_lists_may_turn_out_to_be_prefixes(void **state)
{
    struct fixture *f = *state;
    add_read(f, add_key(f, 7, 4, 9), 0, 4);
    join(f);
    /* Here the spine parts from the window's, and what is stored whole is the window's. */
    uint32_t key = add_key(f, 7, 4, 2);
    struct rig_segment_list whole = {.key = key};
    for (int64_t i = 1; i <= 6; i++)
        assert_true(rig_growing_list_add(&f->segment.pool, &whole.list, &i, 1));
    assert_true(rig_segment_lists_add(&f->segment.lists, whole));
    add_read(f, key, RIG_LIST_WHOLE, 6);
    add_read(f, key, key, 4);
    join(f);
    const struct rig_history *history = rig_window_history(f->window, false);
    assert_int_equal(history->spines[0].count, 6);
    assert_int_equal(history->list_count, 1);
    assert_read(history, 1, false, 6, 9);
    assert_read(history, 2, true, 4, 2);
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
    refuse(f, "two operations at position 5; number them apart");
}

static void completions_ascend_in_a_segment(void **state)
{
    struct fixture *f = *state;
    f->next_position = 4;
    add_read(f, add_key(f, 1, 0, 0), 0, 0);
    f->next_position = 2;
    add_read(f, 0, 0, 0);
    refuse(f, "position 3 behind position 5; sort the operations");
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
    refuse(f, "1 of 2 transactions have no invocation; give all of them one, or none");
}

static void open_ones_have_positions_of_their_own(void **state)
{
    struct fixture *f = *state;
    add_open(f, add_key(f, 1, 0, 0), 4);
    add_open(f, 0, 4);
    refuse(f, "two operations at position 4; number them apart");
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

static void windows_are_what_builders_make(void **state)
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

int main(void)
{
    rig_rng_init(&rng, 20261121, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spines_that_agree_are_one, start, stop),
        cmocka_unit_test_setup_teardown(spines_that_part_are_stored_whole, start, stop),
        cmocka_unit_test_setup_teardown(whole_lists_may_turn_out_to_be_prefixes, start, stop),
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
        cmocka_unit_test(windows_are_what_builders_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
