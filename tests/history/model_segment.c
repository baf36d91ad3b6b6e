#include "tests/history/model_segment.h"

#include <stdio.h>
#include <string.h>

#include "history/types/types.h"
#include "tests/unit/cmocka_first.h"

struct maker {
    const struct model *model;
    struct rig_rng *rng;
    struct rig_segment *segment;
    const struct model_txn *txn; /* the one being added */
    bool completed;
};

static bool is_key(const struct maker *maker, const struct rig_segment_key *known, int64_t key)
{
    char text[32];
    if (!maker->model->options->text_keys)
        return known->key == key;
    int length = snprintf(text, sizeof text, "key-%lld", (long long)key);
    return known->text_length == (uint32_t)length && memcmp(known->text, text, known->text_length) == 0;
}

static uint32_t new_key(struct maker *maker, int64_t key)
{
    struct rig_segment *segment = maker->segment;
    struct rig_segment_key out = {.key = key};
    if (maker->model->options->text_keys) {
        char text[32];
        int length = snprintf(text, sizeof text, "key-%lld", (long long)key);
        out.text = rig_arena_text(&segment->texts, text, (size_t)length);
        out.text_length = (uint32_t)length;
        assert_non_null(out.text);
    }
    assert_true(rig_segment_keys_add(&segment->keys, out));
    return (uint32_t)segment->keys.count - 1;
}

/* The number that the key was given last. */
static uint32_t find_key(struct maker *maker, int64_t key)
{
    for (size_t i = maker->segment->keys.count; i-- > 0;) {
        if (is_key(maker, &maker->segment->keys.at[i], key))
            return (uint32_t)i;
    }
    return new_key(maker, key);
}

static void grow(struct maker *maker, struct rig_growing_list *list, const int64_t *elements, uint32_t count)
{
    if (count > list->count)
        assert_true(rig_growing_list_add(&maker->segment->pool, list, elements + list->count, count - list->count));
}

static void place_list(struct maker *maker, struct rig_txn_op *mop, int64_t key, const int64_t *elements,
                       uint32_t count)
{
    struct rig_segment *segment = maker->segment;
    mop->count = count;
    mop->list = mop->key;
    if (rig_growing_list_agrees(&segment->keys.at[mop->key].spine, elements, count)) {
        grow(maker, &segment->keys.at[mop->key].spine, elements, count);
    } else if (rig_rng_below(maker->rng, 2) == 0) {
        mop->list = mop->key = new_key(maker, key);
        grow(maker, &segment->keys.at[mop->key].spine, elements, count);
    } else {
        const struct rig_growing_list *spine = &segment->keys.at[mop->key].spine;
        struct rig_growing_branch branch = {.key = mop->key};
        uint32_t most = (uint32_t)rig_rng_below(maker->rng, count + 1);
        while (branch.shared < most && branch.shared < spine->count &&
               spine->at[branch.shared] == elements[branch.shared])
            branch.shared++;
        grow(maker, &branch.tail, elements + branch.shared, count - branch.shared);
        assert_true(rig_growing_branches_add(&segment->branches, branch));
        mop->list = RIG_LIST_BRANCH | (uint32_t)(segment->branches.count - 1);
    }
}

static void add_ops(struct maker *maker, struct rig_txn_op_vec *ops)
{
    const struct model_txn *txn = maker->txn;
    for (uint32_t i = 0; i < txn->op_count; i++) {
        const struct rig_op *op = &txn->ops[i];
        struct rig_txn_op mop = {.key = find_key(maker, op->key), .kind = (uint8_t)op->kind};
        bool reads = rig_op_reads(op->kind);
        if (!reads)
            mop.value = op->value;
        if (reads && maker->completed && txn->has_reads) {
            const struct rig_read *read = &txn->reads[i];
            mop.read_state = (uint8_t)read->state;
            if (read->state == RIG_READ_SEEN && rig_op_reads_sequence(op->kind))
                place_list(maker, &mop, op->key, txn->elements + read->first_element, read->count);
            else if (read->state == RIG_READ_SEEN)
                mop.value = read->value;
        }
        assert_true(rig_txn_op_vec_add(ops, mop));
    }
}

static uint32_t error_id(struct maker *maker, const char *error)
{
    if (error == NULL)
        return 0;
    struct rig_segment_error out = {.text = error, .length = (uint32_t)strlen(error)};
    assert_true(rig_segment_errors_add(&maker->segment->errors, out));
    return (uint32_t)maker->segment->errors.count;
}

static void add_columns(struct maker *maker, const struct model_txn *txn)
{
    struct rig_column_row row = txn->columns;
    struct rig_columns *columns = &maker->segment->columns;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        if (rig_column_infos[column].type != RIG_COLUMN_NAME || (row.given & RIG_COLUMN_BIT(column)) == 0)
            continue;
        const char *name = model_names[row.at[column]];
        row.at[column] = rig_columns_name(columns, name, strlen(name));
    }
    if (model_spans(txn).count > 0)
        row.at[RIG_COLUMN_TIMES] = rig_columns_spans_add(columns, model_spans(txn));
    assert_true(rig_columns_set_row(columns, maker->segment->txns.count - 1, &row));
}

static void add_txn(struct maker *maker, const struct model_txn *txn, bool completed)
{
    struct rig_segment *segment = maker->segment;
    struct rig_txn_op_vec *ops = completed ? &segment->ops : &segment->open_ops;
    struct rig_txn out = {
        .invoke_ns = txn->invoke_ns,
        .complete_ns = completed ? txn->complete_ns : RIG_NO_TIME,
        .invoke_at = txn->invoke_at,
        .complete_at = completed ? txn->complete_at : RIG_POSITION_NONE,
        .first_op = (uint32_t)ops->count,
        .process = (int32_t)txn->process,
        .error = completed ? error_id(maker, txn->error) : 0,
        .outcome = (uint8_t)(completed ? txn->outcome : RIG_OUTCOME_INFO),
    };
    maker->txn = txn;
    maker->completed = completed;
    add_ops(maker, ops);
    assert_true(rig_txn_vec_add(completed ? &segment->txns : &segment->open, out));
    if (completed)
        add_columns(maker, txn);
}

void model_segment(const struct model *model, uint32_t from, uint32_t to, struct rig_rng *rng,
                   struct rig_segment *segment)
{
    struct maker maker = {.model = model, .rng = rng, .segment = segment};
    bool *open = calloc(model->txn_count + 1, sizeof *open);
    assert_non_null(open);
    for (uint32_t i = 0; i < to; i++) {
        const struct model_event *event = &model->events[i];
        open[event->txn] = !event->is_completion;
        if (event->is_completion && i >= from)
            add_txn(&maker, &model->txns[event->txn], true);
    }
    for (uint32_t i = model->txn_count; i-- > 0;) {
        if (open[i])
            add_txn(&maker, &model->txns[i], false);
    }
    free(open);
}
