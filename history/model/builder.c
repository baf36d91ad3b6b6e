#include "history/model/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/shared_value.h"
#include "history/model/history_order.h"
#include "history/source/source.h"
#include "history/model/window_private.h"

/* A window to which transactions are added one at a time, in any order. */
struct rig_history_builder {
    struct rig_window *window;
    char *meta;
};

struct rig_history_builder *rig_history_builder_new(enum rig_workload workload, size_t limit_bytes)
{
    struct rig_history_builder *builder = calloc(1, sizeof *builder);
    if (builder != NULL)
        builder->window = rig_window_new(workload, limit_bytes);
    if (builder != NULL && builder->window != NULL)
        return builder;
    free(builder);
    return NULL;
}

void rig_history_builder_free(struct rig_history_builder *builder)
{
    if (builder == NULL)
        return;
    rig_window_free(builder->window);
    free(builder->meta);
    free(builder);
}

enum rig_rc rig_history_builder_text_key(struct rig_history_builder *builder, const char *text, size_t length,
                                         int64_t *key, struct rig_err *err)
{
    return rig_window_text_key(builder->window, text, length, key, err);
}

void rig_history_builder_keyword_keys(struct rig_history_builder *builder)
{
    builder->window->keyword_keys = true;
}

enum rig_rc rig_history_builder_meta(struct rig_history_builder *builder, const char *meta, size_t length,
                                     struct rig_err *err)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return rig_window_no_room(builder->window, err);
    if (length > 0)
        memcpy(copy, meta, length);
    copy[length] = '\0';
    free(builder->meta);
    builder->meta = copy;
    return RIG_OK;
}

/* ---- transactions ---- */

static bool add_list(struct rig_history_builder *builder, const struct rig_txn_input *txn, uint32_t index,
                     struct rig_txn_op *mop)
{
    const struct rig_read *read = &txn->reads[index];
    struct rig_list list = {.count = read->count};
    if (txn->lists != NULL && txn->lists[index] != NULL)
        list.at = txn->lists[index];
    else if (read->count > 0)
        list.at = txn->elements + read->first_element;
    struct rig_list_place place = {.key = mop->key};
    struct rig_read_list all = rig_read_of(list, list.count);
    if (!rig_window_place_list(builder->window, &all, 0, txn->outcome == RIG_OUTCOME_FAIL ? 0 : list.count, &place))
        return false;
    mop->count = list.count;
    mop->list = list.count <= place.agreed ? mop->key : RIG_LIST_BRANCH | place.branch;
    return true;
}

static bool add_op(struct rig_history_builder *builder, const struct rig_txn_input *txn, uint32_t index)
{
    const struct rig_op *op = &txn->ops[index];
    struct rig_txn_op mop = {.key = rig_window_key_id(builder->window, op->key), .kind = (uint8_t)op->kind};
    bool fits = mop.key != RIG_WINDOW_NONE;
    RIG_REQUIRE(op->kind < RIG_OP_KIND_COUNT);
    if (!rig_op_reads(op->kind)) {
        mop.value = op->value;
    } else if (fits && txn->reads != NULL) {
        const struct rig_read *read = &txn->reads[index];
        mop.read_state = (uint8_t)read->state;
        if (read->state == RIG_READ_SEEN && rig_op_reads_sequence(op->kind))
            fits = add_list(builder, txn, index, &mop);
        else if (read->state == RIG_READ_SEEN || (read->state == RIG_READ_UNKNOWN && rig_value_is_shared(read->value)))
            mop.value = read->value;
    }
    return fits && rig_txn_op_vec_add(&builder->window->ops, mop);
}

static uint32_t error_id(struct rig_history_builder *builder, const char *error, size_t length)
{
    if (error == NULL)
        return 0;
    uint32_t id = rig_text_table_put(&builder->window->errors, error, length == 0 ? strlen(error) : length);
    return id == RIG_TABLE_NONE ? UINT32_MAX : id + 1;
}

static bool add_columns(struct rig_history_builder *builder, const struct rig_txn_input *txn)
{
    struct rig_columns *columns = &builder->window->columns;
    struct rig_column_row row = txn->columns == NULL ? (struct rig_column_row){0} : *txn->columns;
    for (uint32_t left = row.given; left != 0; left &= left - 1) {
        const int column = __builtin_ctz(left);
        RIG_REQUIRE(column < RIG_COLUMN_COUNT);
        if (rig_column_infos[column].type != RIG_COLUMN_NAME || row.at[column] == RIG_COLUMN_NONE)
            continue;
        const char *name = txn->names[row.at[column]];
        row.at[column] = rig_columns_name(columns, name, strlen(name));
        if (row.at[column] == RIG_COLUMN_NONE)
            return false;
    }
    row.given &= ~RIG_COLUMN_BIT(RIG_COLUMN_TIMES);
    if (txn->spans.count > 0) {
        const int64_t place = rig_columns_spans_add(columns, txn->spans);
        if (place == RIG_COLUMN_NONE)
            return false;
        rig_column_give(&row, RIG_COLUMN_TIMES, place);
    }
    return rig_columns_set_row(columns, builder->window->txns.count, &row);
}

static enum rig_rc check_txn(struct rig_history_builder *builder, const struct rig_txn_input *txn, struct rig_err *err)
{
    const struct rig_window *window = builder->window;
    RIG_REQUIRE(txn->invoke_at != RIG_POSITION_NONE || txn->complete_at != RIG_POSITION_NONE);
    RIG_REQUIRE(txn->complete_at != RIG_POSITION_NONE || txn->outcome == RIG_OUTCOME_INFO);
    if (window->failed)
        return rig_fail(err, RIG_E_LIMIT, "the history could not be built");
    if (txn->process < INT32_MIN || txn->process > INT32_MAX)
        return rig_fail(err, RIG_E_INPUT, "process %lld does not fit 32 bits; renumber the processes",
                        (long long)txn->process);
    if (window->ops.count + txn->op_count >= UINT32_MAX || window->txns.count + 1 >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 transactions or operations; split the history");
    return RIG_OK;
}

enum rig_rc rig_history_builder_add(struct rig_history_builder *builder, const struct rig_txn_input *txn,
                                    struct rig_err *err)
{
    struct rig_window *window = builder->window;
    enum rig_rc rc = check_txn(builder, txn, err);
    window->failed |= rc != RIG_OK;
    if (rc != RIG_OK)
        return rc;
    struct rig_txn out = {
        .invoke_ns = txn->invoke_ns,
        .complete_ns = txn->complete_ns,
        .invoke_at = txn->invoke_at,
        .complete_at = txn->complete_at,
        .first_op = (uint32_t)window->ops.count,
        .process = (int32_t)txn->process,
        .error = error_id(builder, txn->error, txn->error_length),
        .outcome = (uint8_t)txn->outcome,
    };
    bool fits = out.error != UINT32_MAX && add_columns(builder, txn);
    for (uint32_t i = 0; fits && i < txn->op_count; i++)
        fits = add_op(builder, txn, i);
    if (!fits || !rig_txn_vec_add(&window->txns, out) || rig_window_bytes(window) > window->limit_bytes)
        return rig_window_no_room(window, err);
    window->added_count++;
    window->with_invocation += txn->invoke_at != RIG_POSITION_NONE;
    return RIG_OK;
}

enum rig_rc rig_history_builder_add_like(struct rig_history_builder *builder, const struct rig_history *history,
                                         uint32_t txn, const struct rig_txn_input *content, struct rig_err *err)
{
    const struct rig_txn *like = &history->txns[txn];
    struct rig_column_row row;
    struct rig_txn_input input = {.invoke_ns = like->invoke_ns,
                                  .complete_ns = like->complete_ns,
                                  .invoke_at = like->invoke_at,
                                  .complete_at = like->complete_at,
                                  .process = like->process,
                                  .outcome = (enum rig_outcome)like->outcome,
                                  .ops = content->ops,
                                  .reads = content->reads,
                                  .lists = content->lists,
                                  .op_count = content->op_count,
                                  .error = like->error == 0 ? NULL : history->errors[like->error - 1]};
    if (history->columns != NULL) {
        row = rig_columns_row(history->columns, txn);
        input.columns = &row;
        input.names = (const char *const *)history->columns->names.texts;
        input.spans = content->spans;
    }
    return rig_history_builder_add(builder, &input, err);
}

enum rig_rc rig_history_builder_finish(struct rig_history_builder *builder, struct rig_history **history,
                                       struct rig_err *err)
{
    struct rig_source_facts facts = {.meta = builder->meta};
    struct rig_history *out = NULL;
    enum rig_rc rc = rig_window_give(builder->window, &facts, &out, err);
    builder->window = NULL;
    if (rc == RIG_OK)
        rc = rig_history_order_by_position(out, err);
    if (rc == RIG_OK)
        *history = out;
    else
        rig_history_free(out);
    rig_history_builder_free(builder);
    return rc;
}
