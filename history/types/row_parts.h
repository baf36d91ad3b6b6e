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

/*
 * The condition of the read at `op`, where its clause does not depend on what another read shows. False: it does, and
 * rig_row_join() adds it: the read asks for partners of the rows that the read at *own shows.
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
    if (clause.kind == RIG_ROW_NO_CLAUSE || clause.kind == RIG_ROW_SKIPS) {
        (void)rig_row_further_read(ops, op, &further);
        condition->is_partial = clause.kind == RIG_ROW_SKIPS || further.kind == RIG_ROW_ABSENT;
        return true;
    }
    *own = rig_row_own_read(ops, op_count, op);
    const bool known = *own != RIG_ROW_NO_PART && ops[*own].read_state != RIG_READ_UNKNOWN;
    condition->is_joined = true;
    condition->joined_column = clause.partner;
    condition->is_partial = !known;
    if (clause.kind != RIG_ROW_SOURCE)
        return !known;
    condition->is_joined = known && rig_txn_op_list(history, &ops[*own]).count == 0; /* then the read did not happen */
    return true;
}

/* Adds the values of the rows that the read at `own` shows to the condition of its further read at `op`. */
static inline void rig_row_add_partners(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op,
                                        uint32_t own, rig_row_contents_at *contents_at, const void *context,
                                        struct rig_row_where *condition)
{
    const struct rig_row_clause clause = rig_row_clause_before(ops, op);
    const struct rig_read_list list = rig_txn_op_list(history, &ops[own]);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const uint32_t contents =
            contents_at(context, ops[own].key, rig_read_element(&list, at), rig_read_element(&list, at + 1));
        if (contents == RIG_ROW_CONTENTS_UNKNOWN) {
            condition->is_partial = true;
            condition->joined_values = UINT32_MAX;
            return;
        }
        condition->joined_values |= UINT32_C(1) << rig_row_column_code(contents, clause.column);
    }
}

#endif
