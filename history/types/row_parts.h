/*
 * The parts of the statements of the workload sql in the operations of a history (history/types/row_ops.h): the clause
 * of a read, and the further read of a statement.
 *
 * `ops`: of a transaction. Pure functions.
 */
#ifndef RIG_HISTORY_TYPES_ROW_PARTS_H
#define RIG_HISTORY_TYPES_ROW_PARTS_H

#include "history/model/history.h"
#include "history/types/row_ops.h"

#define RIG_ROW_NO_PART UINT32_MAX

static inline bool rig_row_is_condition(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ROW && op->value < 0 && !rig_row_is_clause(op->value);
}

/* The clause of the read at `op`. */
static inline struct rig_row_clause rig_row_clause_before(const struct rig_txn_op *ops, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    const bool may = op >= 2 && ops[op].kind == RIG_OP_READ_WHERE && rig_row_is_condition(&ops[op - 1]) &&
                     ops[op - 2].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key && ops[op - 2].key == ops[op].key;
    if (may)
        (void)rig_row_clause_of(ops[op - 2].value, &clause);
    return clause;
}

/* Puts the clause in the place of the insert of each upsert that changed a row. */
static inline void rig_row_settle_upserts(struct rig_txn_op *ops, uint32_t op_count)
{
    for (uint32_t i = 3; i < op_count; i++) {
        if (ops[i].kind == RIG_OP_READ_WHERE && ops[i].read_state == RIG_READ_SEEN && ops[i].count > 0 &&
            ops[i - 3].kind == RIG_OP_ROW && ops[i - 3].key == ops[i].key && ops[i - 3].value > 0 &&
            rig_row_clause_before(ops, i).kind == RIG_ROW_UPSERT)
            ops[i - 3].value = ops[i - 2].value;
    }
}

/* The statement's own read, of a further read at `op`; RIG_ROW_NO_PART: the transaction ends before. */
static inline uint32_t rig_row_own_read(const struct rig_txn_op *ops, uint32_t op_count, uint32_t op)
{
    uint32_t own = op + 1;
    while (own < op_count && ops[own].kind != RIG_OP_READ_WHERE)
        own++;
    return own < op_count ? own : RIG_ROW_NO_PART;
}

/* The further read of the statement whose own read is at `op`, and its clause; RIG_ROW_NO_PART. */
static inline uint32_t rig_row_further_read(const struct rig_txn_op *ops, uint32_t op, struct rig_row_clause *clause)
{
    uint32_t first = op;
    while (first > 0 && ops[first - 1].kind == RIG_OP_ROW && ops[first - 1].value < 0)
        first--;
    if (first == 0 || ops[first - 1].kind != RIG_OP_READ_WHERE ||
        rig_row_is_further(rig_row_clause_before(ops, op).kind))
        return RIG_ROW_NO_PART;
    *clause = rig_row_clause_before(ops, first - 1);
    return rig_row_is_further(clause->kind) ? first - 1 : RIG_ROW_NO_PART;
}

/* The read over whose rows the statement at `op`, which has subqueries, has them; RIG_ROW_NO_PART. */
static inline uint32_t rig_row_source_read(const struct rig_txn_op *ops, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    if (op == 0 || ops[op - 1].kind != RIG_OP_READ_WHERE)
        return RIG_ROW_NO_PART;
    if (rig_row_inserts(ops[op].value))
        return op - 1;
    const uint32_t source = rig_row_further_read(ops, op - 1, &clause);
    return clause.kind == RIG_ROW_SOURCE ? source : RIG_ROW_NO_PART;
}

/* The values of the subqueries of the statement at `op`. False: it has none, or the rows are not known. */
static inline bool rig_row_source_of(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op,
                                     struct rig_row_subqueries *source)
{
    const uint32_t read = rig_row_has_source(ops[op].value) ? rig_row_source_read(ops, op) : RIG_ROW_NO_PART;
    *source = (struct rig_row_subqueries){.count = 0};
    if (read == RIG_ROW_NO_PART || ops[read].read_state == RIG_READ_UNKNOWN)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, &ops[read]);
    for (uint32_t at = 1; at < list.count; at += 2)
        rig_row_source_add(source, rig_read_element(&list, at));
    return true;
}

/* The contents that the statement at `op` leaves, by those before it. */
static inline uint32_t rig_row_contents_left(const struct rig_history *history, const struct rig_txn_op *ops,
                                             uint32_t op, uint32_t before)
{
    struct rig_row_subqueries source;
    const bool known = rig_row_source_of(history, ops, op, &source);
    return rig_row_contents_from(ops[op].value, before, known ? &source : NULL);
}

/* The contents of a row at that version; RIG_ROW_CONTENTS_UNKNOWN. */
typedef uint32_t rig_row_contents_at(const void *context, uint32_t key, int64_t id, int64_t version);

/* Adds the join with the rows that the read at `other` shows. False: the condition needs their values. */
static inline bool rig_row_join_with(const struct rig_txn_op *ops, uint32_t other, uint8_t column,
                                     struct rig_row_where *condition)
{
    const bool known = other != RIG_ROW_NO_PART && ops[other].read_state != RIG_READ_UNKNOWN;
    condition->is_joined = true;
    condition->joined_column = column;
    condition->is_partial = !known;
    return !known;
}

/*
 * The condition of the read at `op`, where its clause does not depend on the values of rows that are shown. False: it
 * does, and rig_row_add_partners() adds it: the read asks for partners of the rows that the read at *own shows; or for
 * the first rows in an order, and *own is `op`.
 */
static inline bool rig_row_condition_alone(const struct rig_history *history, const struct rig_txn_op *ops,
                                           uint32_t op_count, uint32_t op, struct rig_row_where *condition,
                                           uint32_t *own)
{
    const struct rig_row_clause clause = rig_row_clause_before(ops, op);
    struct rig_row_clause further = {.kind = RIG_ROW_NO_CLAUSE};
    *condition = rig_row_all();
    *own = RIG_ROW_NO_PART;
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, condition);
    if (clause.kind == RIG_ROW_LIMIT) {
        condition->is_ordered = true;
        condition->ordered_column = clause.column;
        *own = op;
        return ops[op].read_state == RIG_READ_UNKNOWN ||
               rig_txn_op_list(history, &ops[op]).count / 2 < clause.partner; /* then these are all */
    }
    if (clause.kind == RIG_ROW_NO_CLAUSE || rig_row_may_skip(clause.kind)) {
        *own = rig_row_further_read(ops, op, &further);
        if (further.kind == RIG_ROW_PAIRS)
            return rig_row_join_with(ops, *own, further.column, condition);
        condition->is_partial = rig_row_may_skip(clause.kind) || further.kind == RIG_ROW_ABSENT;
        return true;
    }
    *own = rig_row_own_read(ops, op_count, op);
    const bool unknown = rig_row_join_with(ops, *own, clause.partner, condition);
    if (clause.kind != RIG_ROW_SOURCE)
        return unknown;
    condition->is_joined = !unknown && rig_txn_op_list(history, &ops[*own]).count == 0; /* then it did not happen */
    return true;
}

/* Adds the last row before the limit: of those that the read shows, the one whose place is the limit's. */
static inline void rig_row_add_last(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op,
                                    rig_row_contents_at *contents_at, const void *context,
                                    struct rig_row_where *condition)
{
    struct {
        uint32_t code;
        int64_t id;
    } first[9], row;
    const uint32_t limit = rig_row_clause_before(ops, op).partner;
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    uint32_t count = 0;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        row.id = rig_read_element(&list, at);
        const uint32_t contents = contents_at(context, ops[op].key, row.id, rig_read_element(&list, at + 1));
        if (contents == RIG_ROW_CONTENTS_UNKNOWN) {
            condition->is_partial = true;
            return;
        }
        row.code = rig_row_column_code(contents, condition->ordered_column);
        uint32_t place = count;
        while (place > 0 && (row.code < first[place - 1].code ||
                             (row.code == first[place - 1].code && row.id < first[place - 1].id)))
            place--;
        if (row.code == RIG_ROW_NULL || place == limit)
            continue;
        count += count < limit;
        for (uint32_t i = count - 1; i > place; i--)
            first[i] = first[i - 1];
        first[place] = row;
    }
    if (count < limit)
        return;
    condition->has_last = true;
    condition->last_code = (uint8_t)first[limit - 1].code;
    condition->last_id = first[limit - 1].id;
}

/* Adds what rig_row_condition_alone() left out. */
static inline void rig_row_add_partners(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op,
                                        uint32_t own, rig_row_contents_at *contents_at, const void *context,
                                        struct rig_row_where *condition)
{
    if (own == op) {
        rig_row_add_last(history, ops, op, contents_at, context, condition);
        return;
    }
    const struct rig_row_clause clause = rig_row_clause_before(ops, op);
    const uint32_t column = rig_row_is_further(clause.kind) ? clause.column : rig_row_clause_before(ops, own).partner;
    const struct rig_read_list list = rig_txn_op_list(history, &ops[own]);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const uint32_t contents =
            contents_at(context, ops[own].key, rig_read_element(&list, at), rig_read_element(&list, at + 1));
        if (contents == RIG_ROW_CONTENTS_UNKNOWN) {
            condition->is_partial = true;
            condition->joined_values = UINT32_MAX;
            return;
        }
        condition->joined_values |= UINT32_C(1) << rig_row_column_code(contents, column);
    }
}

#endif
