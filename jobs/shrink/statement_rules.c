#include "jobs/shrink/statement_rules.h"

#include "history/types/row_ops.h"
#include "history/types/types.h"

static uint32_t step_of(const struct rig_history *history, uint32_t op)
{
    return op + 2 * rig_history_txn_of(history, op) + 1;
}

static void add_before(struct rig_statement_rules *rules, uint32_t from, uint32_t to, enum rig_before_rule rule)
{
    if (!rig_before_vec_add(&rules->befores, (struct rig_before){from, to, rule}))
        rules->full = true;
}

/* ---- rules ---- */

static void add_order_of_times(struct rig_statement_rules *rules)
{
    const struct rig_history *history = rules->history;
    for (uint32_t a = 0; a < history->txn_count; a++) {
        for (uint32_t step = rig_statement_begin_of(history, a); step < rig_statement_end_of(history, a); step++)
            add_before(rules, step, step + 1, RIG_BEFORE_ALWAYS);
        for (uint32_t b = 0; b < history->txn_count; b++) {
            const uint32_t invoked = history->txns[b].invoke_at;
            if (a != b && invoked != RIG_POSITION_NONE && rig_txn_end(history, a) < invoked)
                add_before(rules, rig_statement_end_of(history, a), rig_statement_begin_of(history, b),
                           RIG_BEFORE_ALWAYS);
        }
    }
}

static bool commits(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].outcome != RIG_OUTCOME_FAIL;
}

/* The first step of the statement that reads: that of the condition before it, where it has one. */
static uint32_t statement_of(const struct rig_history *history, uint32_t read)
{
    const bool has_condition = rig_op_reads_rows(history->ops[read].kind) &&
                               read > history->txns[rig_history_txn_of(history, read)].first_op &&
                               !rig_op_reads(history->ops[read - 1].kind) && history->ops[read - 1].value < 0;
    return step_of(history, read) - has_condition;
}

/* A read shows what operation `write` wrote. */
static void add_shown(struct rig_statement_rules *rules, uint32_t read, uint32_t write)
{
    const struct rig_history *history = rules->history;
    const uint32_t writer = rig_history_txn_of(history, write);
    if (writer == rig_history_txn_of(history, read))
        return;
    add_before(rules, step_of(history, write), statement_of(history, read), RIG_BEFORE_SHOWN);
    if (commits(history, writer))
        add_before(rules, rig_statement_end_of(history, writer), statement_of(history, read),
                   RIG_BEFORE_SHOWN_COMMITTED);
    else
        add_before(rules, step_of(history, read), rig_statement_end_of(history, writer), RIG_BEFORE_SHOWN_ABORTED);
}

/* A read came, perhaps, before the version that operation `write` made. */
static void add_unseen(struct rig_statement_rules *rules, uint32_t read, uint32_t write, enum rig_before_rule rule)
{
    const struct rig_history *history = rules->history;
    const uint32_t writer = rig_history_txn_of(history, write);
    if (writer == rig_history_txn_of(history, read) || !commits(history, writer))
        return;
    add_before(rules, step_of(history, read), rig_statement_end_of(history, writer), rule);
    if (rule != RIG_BEFORE_UNSEEN)
        return;
    uint32_t first = history->txns[rig_history_txn_of(history, read)].first_op;
    while (!rig_op_reads(history->ops[first].kind))
        first++;
    add_before(rules, step_of(history, first), rig_statement_end_of(history, writer), RIG_BEFORE_UNSEEN_SNAPSHOT);
}

static void add_written(struct rig_statement_rules *rules, uint32_t first, uint32_t second)
{
    const struct rig_history *history = rules->history;
    const uint32_t writer = rig_history_txn_of(history, first), other = rig_history_txn_of(history, second);
    if (writer == other || !commits(history, writer) || !commits(history, other))
        return;
    add_before(rules, step_of(history, first), step_of(history, second), RIG_BEFORE_WRITTEN);
    add_before(rules, rig_statement_end_of(history, writer), step_of(history, second), RIG_BEFORE_LOCKED);
}

static bool shows(const struct rig_read_list *list, int64_t value)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (rig_read_element(list, i) == value)
            return true;
    }
    return false;
}

/* Reads of sequences show each write that they saw; the others came later. */
static void add_read_of_many(struct rig_statement_rules *rules, uint32_t read)
{
    const struct rig_history *history = rules->history;
    const struct rig_txn_op *op = &history->ops[read];
    const struct rig_read_list list = rig_txn_op_list(history, op);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *write = &history->ops[i];
        if (rig_op_reads(write->kind) || write->key != op->key)
            continue;
        if (shows(&list, write->value))
            add_shown(rules, read, i);
        else
            add_unseen(rules, read, i, RIG_BEFORE_UNSEEN);
    }
}

/* Whether the transaction of operation `write` read the same as operation `read` before it wrote. */
static bool replaces(const struct rig_history *history, uint32_t write, const struct rig_txn_op *read)
{
    for (uint32_t i = history->txns[rig_history_txn_of(history, write)].first_op; i < write; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (op->kind == read->kind && op->key == read->key && op->read_state == read->read_state &&
            (op->read_state == RIG_READ_NIL || op->value == read->value))
            return true;
    }
    return false;
}

/* ---- rows ---- */

/* Whether the operation is a statement of the workload predicate that writes rows. */
static bool writes_rows(const struct rig_txn_op *op)
{
    return !rig_op_reads(op->kind) && op->value > 0 && !rig_row_is_of_sql(op->value);
}

/* The rows that the statement of an update or a delete met: the read before it has them. */
static struct rig_read_list met_by(const struct rig_history *history, uint32_t write)
{
    const uint32_t first = history->txns[rig_history_txn_of(history, write)].first_op;
    const bool has = write > first && rig_op_reads(history->ops[write - 1].kind) &&
                     history->ops[write - 1].key == history->ops[write].key &&
                     history->ops[write - 1].read_state == RIG_READ_SEEN && !rig_row_inserts(history->ops[write].value);
    return has ? rig_txn_op_list(history, &history->ops[write - 1]) : (struct rig_read_list){0};
}

/* The version of a row in a list of rows; 0: the row is not there. */
static int64_t version_in(const struct rig_read_list *rows, int64_t id)
{
    for (uint32_t i = 0; i + 1 < rows->count; i += 2) {
        if (rig_read_element(rows, i) == id)
            return rig_read_element(rows, i + 1);
    }
    return 0;
}

/* Whether another statement replaced or removed this version of a row. */
static bool is_replaced(const struct rig_history *history, uint32_t key, int64_t id, int64_t version)
{
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].key != key || !writes_rows(&history->ops[i]))
            continue;
        const struct rig_read_list met = met_by(history, i);
        if (version_in(&met, id) == version)
            return true;
    }
    return false;
}

/* A read of rows, its condition, and what it shows. */
struct row_read {
    uint32_t op;
    struct rig_row_where where;
    struct rig_read_list rows;
};

/* Statement `write` made a version of a row. A read whose condition it meets comes before it if it does not show the
 * row, unless another statement replaced the version. */
static void add_version(struct rig_statement_rules *rules, const struct row_read *read, uint32_t write, int64_t id)
{
    const struct rig_txn_op *op = &rules->history->ops[write];
    const int64_t shown = version_in(&read->rows, id);
    if (shown == op->value)
        add_shown(rules, read->op, write);
    else if (shown == 0 && rig_row_matches(&read->where, id, op->value))
        add_unseen(rules, read->op, write,
                   is_replaced(rules->history, op->key, id, op->value) ? RIG_BEFORE_MAYBE_UNSEEN : RIG_BEFORE_UNSEEN);
}

/* Statement `write` replaced or removed a version of a row. A read that shows it came before; one that misses it came
 * after, if the row was there when the reader began. */
static void add_replaced(struct rig_statement_rules *rules, const struct row_read *read, uint32_t write, int64_t id,
                         int64_t version)
{
    const struct rig_history *history = rules->history;
    const int64_t shown = version_in(&read->rows, id);
    if (shown == version) {
        add_unseen(rules, read->op, write, RIG_BEFORE_UNSEEN);
        return;
    }
    const uint32_t maker = rig_value_writer(&rules->writers, history->ops[write].key, version);
    const uint32_t began = history->txns[rig_history_txn_of(history, read->op)].invoke_at;
    if (shown == 0 && rig_row_matches(&read->where, id, version) && maker != UINT32_MAX && began != RIG_POSITION_NONE &&
        rig_txn_end(history, rig_history_txn_of(history, maker)) < began)
        add_shown(rules, read->op, write);
}

static void add_read_of_rows(struct rig_statement_rules *rules, uint32_t op)
{
    const struct rig_history *history = rules->history;
    const uint32_t first = history->txns[rig_history_txn_of(history, op)].first_op;
    struct row_read read = {.op = op, .where = rig_row_all(), .rows = rig_txn_op_list(history, &history->ops[op])};
    if (op > first && !rig_op_reads(history->ops[op - 1].kind) && history->ops[op - 1].value < 0)
        (void)rig_row_condition_of(history->ops[op - 1].value, &read.where);
    const bool is_none =
        read.rows.count == 2 && rig_row_total_is_none(rig_read_element(&read.rows, 0), rig_read_element(&read.rows, 1));
    if (read.where.form != RIG_ROW_LISTED && read.rows.count > 0 && !is_none)
        return; /* a number of rows says nothing of a single one */
    if (read.where.form != RIG_ROW_LISTED)
        read.rows.count = 0;
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].key != history->ops[op].key || !writes_rows(&history->ops[i]))
            continue;
        const struct rig_read_list met = met_by(history, i);
        if (rig_row_inserts(history->ops[i].value))
            add_version(rules, &read, i, history->ops[i].value);
        for (uint32_t row = 0; row + 1 < met.count; row += 2) {
            const int64_t id = rig_read_element(&met, row);
            if (rig_row_action(history->ops[i].value) == RIG_ROWS_UPDATE)
                add_version(rules, &read, i, id);
            add_replaced(rules, &read, i, id, rig_read_element(&met, row + 1));
        }
    }
}

/* Whether the history is of the workload predicate. */
static bool has_plain_rows(const struct rig_history *history)
{
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (writes_rows(&history->ops[i]))
            return rig_data_types[history->workload].shape == RIG_RESULT_ROWS;
    }
    return false;
}

/* ---- single values ---- */

/* A read of one value shows one write. Later are all writes of a key that was read in its initial state, and those of
 * transactions that read the same. */
static void add_read_of_one(struct rig_statement_rules *rules, uint32_t read)
{
    const struct rig_history *history = rules->history;
    const struct rig_txn_op *op = &history->ops[read];
    const uint32_t began = history->txns[rig_history_txn_of(history, read)].invoke_at;
    const uint32_t shown =
        op->read_state == RIG_READ_SEEN ? rig_value_writer(&rules->writers, op->key, op->value) : UINT32_MAX;
    if (shown != UINT32_MAX)
        add_shown(rules, read, shown);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *write = &history->ops[i];
        if (i == shown || rig_op_reads(write->kind) || write->key != op->key)
            continue;
        if (op->read_state == RIG_READ_NIL || replaces(history, i, op))
            add_unseen(rules, read, i, RIG_BEFORE_UNSEEN);
        else if (began == RIG_POSITION_NONE || rig_txn_end(history, rig_history_txn_of(history, i)) > began)
            add_unseen(rules, read, i, RIG_BEFORE_MAYBE_UNSEEN);
    }
}

/* Neighbours in the longest list of each key. */
static void add_spines(struct rig_statement_rules *rules)
{
    const struct rig_history *history = rules->history;
    if (!rig_workload_has_sequences(history->workload) || rig_data_types[history->workload].shape != RIG_RESULT_LIST)
        return;
    for (uint32_t key = 0; key < history->key_count; key++) {
        uint32_t last = UINT32_MAX;
        for (uint32_t i = 0; i < history->spines[key].count; i++) {
            const uint32_t write = rig_value_writer(&rules->writers, key, history->spines[key].at[i]);
            if (last != UINT32_MAX && write != UINT32_MAX)
                add_written(rules, last, write);
            last = write;
        }
    }
}

/* The orders of versions that a witness shows. */
static void add_witness(struct rig_statement_rules *rules, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        if (step->kind != RIG_EDGE_WW && step->kind != RIG_EDGE_RW)
            continue;
        const uint32_t later = rig_value_writer(&rules->writers, step->key, step->to_value);
        if (later == UINT32_MAX)
            continue;
        if (step->kind == RIG_EDGE_RW && step->from_op != UINT32_MAX) {
            add_unseen(rules, rules->history->txns[step->from].first_op + step->from_op, later, RIG_BEFORE_UNSEEN);
            continue;
        }
        const uint32_t earlier = rig_value_writer(&rules->writers, step->key, step->from_value);
        if (step->kind == RIG_EDGE_WW && earlier != UINT32_MAX)
            add_written(rules, earlier, later);
    }
}

/* Two concurrent transactions that together break a constraint each write before the other one ends: one after the
 * other, a database sees the first one's row. */
static void add_constraint(struct rig_statement_rules *rules, const struct rig_witness *witness)
{
    const struct rig_history *history = rules->history;
    if (witness->txn_count != 2)
        return;
    const uint32_t a = witness->txns[0], b = witness->txns[1];
    if (witness->op >= rig_txn_op_count(history, a) || witness->other_op >= rig_txn_op_count(history, b) ||
        rig_txn_end(history, a) < history->txns[b].invoke_at || rig_txn_end(history, b) < history->txns[a].invoke_at)
        return;
    add_before(rules, step_of(history, history->txns[a].first_op + witness->op), rig_statement_end_of(history, b),
               RIG_BEFORE_ALWAYS);
    add_before(rules, step_of(history, history->txns[b].first_op + witness->other_op), rig_statement_end_of(history, a),
               RIG_BEFORE_ALWAYS);
}

void rig_statement_rules_add(struct rig_statement_rules *rules, const struct rig_verdict *verdict)
{
    const struct rig_history *history = rules->history;
    rules->plain_rows = has_plain_rows(history);
    add_order_of_times(rules);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!rig_op_reads(op->kind) || op->read_state == RIG_READ_UNKNOWN)
            continue;
        if (rules->plain_rows)
            add_read_of_rows(rules, i);
        else if (rig_op_reads_sequence(op->kind))
            add_read_of_many(rules, i);
        else
            add_read_of_one(rules, i);
    }
    add_spines(rules);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t i = 0; i < verdict->findings[anomaly].witness_count; i++) {
            add_witness(rules, &verdict->findings[anomaly].witnesses[i]);
            if (anomaly == RIG_ANOMALY_BROKEN_UNIQUE || anomaly == RIG_ANOMALY_BROKEN_REFERENCE)
                add_constraint(rules, &verdict->findings[anomaly].witnesses[i]);
        }
    }
}

enum rig_rc rig_statement_rules_init(struct rig_statement_rules *rules, const struct rig_history *history,
                                     struct rig_err *err)
{
    *rules = (struct rig_statement_rules){.history = history};
    return rig_value_writers_init(&rules->writers, history, err);
}

void rig_statement_rules_done(struct rig_statement_rules *rules)
{
    rig_value_writers_done(&rules->writers);
    rig_before_vec_done(&rules->befores);
}
