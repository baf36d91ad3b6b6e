/* Witnesses over rows in words (sentence.h). */
#include <inttypes.h>

#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"
#include "history/types/row_ops.h"

static const char *const actions[] = {"inserted", "updated", "deleted", "inserted"};

/* "where class = 3"; "where id from 4000 on". Nothing for all rows. */
static void add_condition(const struct rig_txn_op *ops, uint32_t op, struct rig_buf *text)
{
    struct rig_row_where condition;
    if (op == 0 || ops[op - 1].kind != RIG_OP_ROW || ops[op - 1].key != ops[op].key ||
        !rig_row_condition_of(ops[op - 1].value, &condition))
        return;
    const bool by_id = condition.column == RIG_ROW_BY_ID;
    const int64_t unit = by_id ? RIG_ROW_SERIAL : 1, least = condition.least * unit;
    if (condition.column == RIG_ROW_BY_KEY) {
        rig_buf_printf(text, " at key %" PRId64, rig_row_closed_key(least * RIG_ROW_SERIAL));
        return;
    }
    if (condition.column == RIG_ROW_BY_REMAINDER) {
        rig_buf_printf(text, " where value mod %" PRId64 " = %" PRId64, condition.most, least);
        return;
    }
    rig_buf_printf(text, " where %s ", by_id ? "id" : condition.column == RIG_ROW_BY_CLASS ? "class" : "value");
    if (condition.most == INT64_MAX)
        rig_buf_printf(text, ">= %" PRId64, least);
    else if (condition.most == condition.least && !by_id)
        rig_buf_printf(text, "= %" PRId64, least);
    else
        rig_buf_printf(text, "in %" PRId64 "..%" PRId64, least, condition.most * unit + unit - 1);
}

/* "T4 read table 3 where class = 2 as [..]" */
static void add_reading(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    struct rig_row_where condition;
    const bool known = op > 0 && ops[op - 1].kind == RIG_OP_ROW && rig_row_condition_of(ops[op - 1].value, &condition);
    static const char *const did[] = {
        [RIG_ROW_LISTED] = "read", [RIG_ROW_COUNTED] = "counted", [RIG_ROW_SUMMED] = "added up the versions of"};
    rig_sentence_txn(history, txn, text);
    rig_buf_printf(text, " %s table ", did[known ? condition.form : RIG_ROW_LISTED]);
    rig_sentence_key(history, ops[op].key, text);
    add_condition(ops, op, text);
    rig_say(history, text, " as %A", txn, op);
}

/* The first row that both reads show at the same version. */
static int64_t common_row(const struct rig_history *history, const struct rig_step *step)
{
    const struct rig_read_list a = rig_txn_op_list(history, rig_txn_ops(history, step->from) + step->from_op);
    const struct rig_read_list b = rig_txn_op_list(history, rig_txn_ops(history, step->to) + step->to_op);
    for (uint32_t i = 0; i + 1 < a.count; i += 2) {
        for (uint32_t j = 0; j + 1 < b.count; j += 2) {
            if (rig_read_element(&a, i) == rig_read_element(&b, j) && rig_read_element(&a, i + 1) == step->from_value &&
                rig_read_element(&b, j + 1) == step->from_value)
                return rig_read_element(&a, i);
        }
    }
    return 0;
}

/* "row 1010", and of a history of closed predicates " (key 7)". */
static void add_row(int64_t id, struct rig_buf *text)
{
    rig_buf_printf(text, "row %" PRId64, id);
    if (rig_row_class(id) == RIG_ROW_CLOSED_CLASS)
        rig_buf_printf(text, " (key %" PRId64 ")", rig_row_closed_key(id));
}

/* The read does not show a row that was there from the start. */
static void add_gone(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    add_reading(history, step->to, step->to_op, text);
    rig_buf_add_text(text, ", without ");
    add_row(step->to_value, text);
    rig_buf_add_text(text, ", which was there from the start and met the condition until ");
    rig_sentence_txn(history, step->from, text);
    rig_buf_printf(text, " %s it.", actions[rig_row_action(step->from_value)]);
}

static void add_missed(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const int64_t number = step->to_value;
    add_reading(history, step->from, step->from_op, text);
    rig_buf_add_text(text, ", without ");
    add_row(step->from_value, text);
    rig_buf_add_text(text, ", which ");
    rig_sentence_txn(history, step->to, text);
    if (rig_row_inserts(number))
        rig_buf_add_text(text, " inserted, and which met the condition from then on.");
    else
        rig_buf_printf(text, " updated to version %" PRId64 ", and which met the condition from then on.",
                       step->to_value);
}

/* By the snapshot of the read, which shows a commit that changed whether a row meets the condition, or does not. */
static void add_turn(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const bool behind = step->kind == RIG_EDGE_RW;
    const uint32_t txn = behind ? step->from : step->to, op = behind ? step->from_op : step->to_op;
    const int64_t number = behind ? step->to_value : step->from_value, id = behind ? step->from_value : step->to_value;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    struct rig_row_where condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, &condition);
    add_reading(history, txn, op, text);
    rig_buf_printf(text, " with a snapshot that %s ", behind ? "does not show" : "shows");
    rig_sentence_txn(history, behind ? step->to : step->from, text);
    rig_buf_printf(text, ", which %s row %" PRId64, actions[rig_row_action(number)], id);
    if (rig_row_action(number) == RIG_ROWS_UPDATE)
        rig_buf_printf(text, " to version %" PRId64, number);
    rig_buf_printf(text, ": with this the row %s the condition.",
                   rig_row_matches(&condition, id, number) ? "began to meet" : "ceased to meet");
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    if (step->by_snapshot) {
        add_turn(history, step, text);
        return;
    }
    if (step->absent) {
        (step->kind == RIG_EDGE_WR ? add_gone : add_missed)(history, step, text);
        return;
    }
    if (step->kind == RIG_EDGE_RW) {
        add_reading(history, step->from, step->from_op, text);
        rig_buf_printf(text, ", with row %" PRId64 " at version %" PRId64 ", which ", common_row(history, step),
                       step->from_value);
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, " %s.", actions[rig_row_action(step->to_value)]);
        return;
    }
    if (step->kind == RIG_EDGE_WW) {
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, " %s a row at version %" PRId64 ", which ", actions[rig_row_action(step->to_value)],
                       step->from_value);
        rig_sentence_txn(history, step->from, text);
        rig_buf_add_text(text, " wrote.");
        return;
    }
    add_reading(history, step->to, step->to_op, text);
    rig_buf_printf(text, ", with version %" PRId64 ", which ", step->from_value);
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_text(text, " wrote.");
}

static void add_other(const struct rig_history *history, const struct rig_witness *w, const char *before,
                      const char *after, struct rig_buf *text)
{
    RIG_REQUIRE(w->txn_count == 2);
    rig_buf_add_text(text, before);
    rig_sentence_txn(history, w->txns[1], text);
    rig_buf_add_text(text, after);
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    add_reading(history, w->txns[0], w->op, text);
    if (w->anomaly == RIG_ANOMALY_PREDICATE_READ_MISS) {
        rig_buf_add_text(text, ", without ");
        add_row(w->other_value, text);
        rig_buf_add_text(text,
                         ", which was there from the start and met the condition at each version that the read could "
                         "see.");
        return;
    }
    rig_buf_add_text(text, ", ");
    add_row(w->other_value, text);
    rig_buf_printf(text, " at version %" PRId64 ", ", w->value);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_INTERNAL:
        rig_buf_add_text(text, "and not as it had left the row itself.");
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_buf_add_text(text, "with this row twice.");
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_buf_add_text(text, "which no statement wrote.");
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_buf_add_text(text, "which it wrote itself only later.");
        return;
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        rig_buf_add_text(text, "which does not meet the condition.");
        return;
    case RIG_ANOMALY_G1A:
        add_other(history, w, "which ", " wrote, which failed.", text);
        return;
    case RIG_ANOMALY_G1B:
        add_other(history, w, "which ", " wrote and replaced itself later.", text);
        return;
    case RIG_ANOMALY_LOST_UPDATE:
        add_other(history, w, "and replaced it, and ", " replaced the same version.", text);
        return;
    default:
        break;
    }
    RIG_REQUIRE(false);
}

const struct rig_type_sentences rig_row_sentences = {.write = "statement on table",
                                                     .writes = "statements on tables",
                                                     .add_step = add_step,
                                                     .add_noncyclic = add_noncyclic};
