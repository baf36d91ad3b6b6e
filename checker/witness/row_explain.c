/* The operations that prove edges between transactions on rows (explain.h). */
#include "checker/infer/row_inference.h"
#include "checker/witness/explain.h"

/* Whether a listing read shows the row at that version; any row, where `id` is NULL. */
static bool shows(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op, const int64_t *id,
                  int64_t version)
{
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    if (!rig_row_is_read(&ops[op]) || rig_row_condition_at(ops, op).form != RIG_ROW_LISTED)
        return false;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at + 1) == version && (id == NULL || rig_read_element(&list, at) == *id))
            return true;
    }
    return false;
}

/* Whether the read is that of an update or delete. */
static bool is_of_write(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return op + 1 < rig_txn_op_count(history, txn) && rig_row_writes(&ops[op + 1]) && ops[op + 1].key == ops[op].key &&
           rig_row_action(ops[op + 1].value) != RIG_ROWS_INSERT;
}

/* wr, and ww where `by_write`: a read of `to`, of a statement that writes, shows a version of `from`. */
static bool explain_shown(const struct rig_inference *inference, struct rig_step *step, bool by_write)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from), *to = rig_txn_ops(history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(history, step->from); i++) {
        if (!rig_row_writes(&from[i]))
            continue;
        for (uint32_t j = 0; j < rig_txn_op_count(history, step->to); j++) {
            if (to[j].key != from[i].key || !shows(history, to, j, NULL, from[i].value) ||
                (by_write && !is_of_write(history, step->to, j)))
                continue;
            step->key = from[i].key;
            step->from_op = by_write ? i : UINT32_MAX;
            step->to_op = j;
            step->from_value = from[i].value;
            step->to_value = by_write ? to[j + 1].value : 0;
            return true;
        }
    }
    return false;
}

/* rw of an item: a read of `from` shows a row at a version that a statement of `to` replaced. */
static bool explain_replaced(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from), *to = rig_txn_ops(history, step->to);
    const struct rig_read_list list = rig_txn_op_list(history, &from[read]);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), version = rig_read_element(&list, at + 1);
        for (uint32_t j = 0; j < rig_txn_op_count(history, step->to); j++) {
            if (to[j].key != from[read].key || !is_of_write(history, step->to, j) ||
                !shows(history, to, j, &id, version))
                continue;
            step->key = from[read].key;
            step->from_op = read;
            step->to_op = j;
            step->from_value = version;
            step->to_value = to[j + 1].value;
            return true;
        }
    }
    return false;
}

static bool reads_row(const struct rig_history *history, const struct rig_txn_op *read, int64_t id)
{
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id)
            return true;
    }
    return false;
}

/* rw by a predicate: `read` does not show a row that a statement of `to` made meet its condition for good. */
static bool explain_missed(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    const struct rig_history *history = inference->history;
    const struct rig_row_chains *rows = inference->rows;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from);
    const struct rig_row_where condition = rig_row_condition_at(from, read);
    const uint32_t key = from[read].key;
    for (uint32_t i = rows->insert_first[key]; i < rows->insert_first[key + 1]; i++) {
        const struct rig_row_write *row = &rows->statements[rows->inserts[i]];
        const struct rig_row_span span = rig_row_span_of(rows, rows->inserts[i], &condition);
        if (!span.known || span.last == row->last || reads_row(history, &from[read], row->number))
            continue;
        const uint32_t change = span.last == RIG_ROW_NONE ? row->first_version : rows->versions[span.last].next;
        const struct rig_row_write *by = &rows->statements[rows->versions[change].statement];
        if (by->txn != step->to)
            continue;
        step->key = key;
        step->from_op = read;
        step->to_op = by->op;
        step->from_value = row->number;
        step->to_value = by->number;
        step->by_predicate = true;
        return true;
    }
    return false;
}

/* Whether the read says of each row whether it saw it. */
static bool tells_rows(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op)
{
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    return rig_row_is_read(&ops[op]) && (rig_row_condition_at(ops, op).form == RIG_ROW_LISTED ||
                                         (list.count == 2 && rig_read_element(&list, 0) == 0));
}

bool rig_row_explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from);
    if (step->kind != RIG_EDGE_RW)
        return explain_shown(inference, step, step->kind == RIG_EDGE_WW);
    for (unsigned by_predicate = 0; by_predicate < 2; by_predicate++) {
        for (uint32_t i = 0; i < rig_txn_op_count(history, step->from); i++) {
            const bool counted = rig_row_condition_at(from, i).form == RIG_ROW_COUNTED;
            if (from[i].kind != RIG_OP_READ_WHERE || !tells_rows(history, from, i))
                continue;
            if (by_predicate == 1 ? explain_missed(inference, step, i)
                                  : !counted && explain_replaced(inference, step, i))
                return true;
        }
    }
    return false;
}
