/* Witnesses over rows in words (sentence.h). */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"
#include "checker/infer/row_versions.h"
#include "history/types/row_ops.h"

static const char *const actions[] = {"inserted", "updated", "deleted", "inserted"};

static void add_condition(const struct rig_history *history, const struct rig_row_where *condition,
                          struct rig_buf *text)
{
    const bool by_id = condition->column == RIG_ROW_BY_ID;
    const int64_t unit = by_id ? RIG_ROW_SERIAL : 1, least = condition->least * unit;
    const char *column = by_id ? "id" : condition->column == RIG_ROW_BY_CLASS ? "class" : "value";
    if (condition->column == RIG_ROW_BY_KEY)
        rig_say(history, text, " at key %d", rig_row_closed_key(least * RIG_ROW_SERIAL));
    else if (condition->column == RIG_ROW_BY_REMAINDER)
        rig_say(history, text, " where value mod %d = %d", condition->most, least);
    else if (condition->most == INT64_MAX)
        rig_say(history, text, " where %s >= %d", column, least);
    else if (condition->most == condition->least && !by_id)
        rig_say(history, text, " where %s = %d", column, least);
    else
        rig_say(history, text, " where %s in %d..%d", column, least, condition->most * unit + unit - 1);
}

static void add_query(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text)
{
    static const char *const did[] = {
        [RIG_ROW_LISTED] = "read", [RIG_ROW_COUNTED] = "counted", [RIG_ROW_SUMMED] = "added up the versions of"};
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    struct rig_row_where condition = rig_row_all();
    const bool has_condition = op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key &&
                               rig_row_condition_of(ops[op - 1].value, &condition);
    rig_say(history, text, "%T %s table %K", txn, did[condition.form], ops[op].key);
    if (has_condition)
        add_condition(history, &condition, text);
    rig_say(history, text, " as %L", txn, op);
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

/* The read does not show a row that was there from the start, or that another transaction made. */
static void add_absent(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->kind == RIG_EDGE_WR)
        rig_say(history, text, ": %Q, without %I, which was there from the start and met the condition until %T %s it.",
                step->to, step->to_op, step->to_value, step->from, actions[rig_row_action(step->from_value)]);
    else if (rig_row_inserts(step->to_value))
        rig_say(history, text, ": %Q, without %I, which %T inserted, and which met the condition from then on.",
                step->from, step->from_op, step->from_value, step->to);
    else
        rig_say(history, text,
                ": %Q, without %I, which %T updated to version %V, and which met the condition from then on.",
                step->from, step->from_op, step->from_value, step->to, step->to_value);
}

/* By the snapshot of the read, which shows a commit that changed whether a row meets the condition, or does not. */
static void add_turn(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const bool later = step->kind == RIG_EDGE_RW;
    const uint32_t txn = later ? step->from : step->to, op = later ? step->from_op : step->to_op;
    const int64_t number = later ? step->to_value : step->from_value, id = later ? step->from_value : step->to_value;
    const struct rig_row_where condition = rig_row_condition_at(rig_txn_ops(history, txn), op);
    rig_say(history, text, ": %Q with a snapshot that %s %T, which %s row %V", txn, op,
            later ? "does not show" : "shows", later ? step->to : step->from, actions[rig_row_action(number)], id);
    if (rig_row_action(number) == RIG_ROWS_UPDATE)
        rig_say(history, text, " to version %V", number);
    rig_say(history, text, ": with this the row %s to meet the condition.",
            rig_row_matches(&condition, id, number) ? "began" : "ceased");
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->by_snapshot)
        add_turn(history, step, text);
    else if (step->absent)
        add_absent(history, step, text);
    else if (step->kind == RIG_EDGE_RW)
        rig_say(history, text, ": %Q, with row %V at version %V, which %T %s.", step->from, step->from_op,
                common_row(history, step), step->from_value, step->to, actions[rig_row_action(step->to_value)]);
    else if (step->kind == RIG_EDGE_WW)
        rig_say(history, text, ": %T %s a row at version %V, which %T wrote.", step->to,
                actions[rig_row_action(step->to_value)], step->from_value, step->from);
    else
        rig_say(history, text, ": %Q, with version %V, which %T wrote.", step->to, step->to_op, step->from_value,
                step->from);
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool missed = w->anomaly == RIG_ANOMALY_PREDICATE_READ_MISS;
    rig_say(history, text, missed ? "%Q, without %I, " : "%Q, %I ", w->txns[0], w->op, w->other_value);
    if (!missed)
        rig_say(history, text, "at version %V, ", w->value);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_PREDICATE_READ_MISS:
        rig_say(history, text,
                "which was there from the start and met the condition at each version that the read could see.");
        return;
    case RIG_ANOMALY_INTERNAL:
        rig_say(history, text, "and not as it had left the row itself.");
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, "with this row twice.");
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, "which no statement wrote.");
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, "which it wrote itself only later.");
        return;
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        rig_say(history, text, "which does not meet the condition.");
        return;
    default:
        break;
    }
    RIG_REQUIRE(w->txn_count == 2);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_say(history, text, "which %T wrote, which failed.", w->txns[1]);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text, "which %T wrote and replaced itself later.", w->txns[1]);
        return;
    default:
        RIG_REQUIRE(w->anomaly == RIG_ANOMALY_LOST_UPDATE);
        rig_say(history, text, "and replaced it, and %T replaced the same version.", w->txns[1]);
    }
}

const struct rig_type_sentences rig_row_sentences = {.write = "statement on table",
                                                     .writes = "statements on tables",
                                                     .add_query = add_query,
                                                     .add_step = add_step,
                                                     .add_noncyclic = add_noncyclic};
