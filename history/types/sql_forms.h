/*
 * The forms of the statements that a database of SQL gets for a transaction: which one an operation takes, and with
 * which numbers. Drivers send them, records keep their texts (history/types/sent_sql.h), and both find the form of an
 * operation here.
 *
 * Pure functions of a transaction's operations; drivers use this header, too.
 */
#ifndef RIG_HISTORY_TYPES_SQL_FORMS_H
#define RIG_HISTORY_TYPES_SQL_FORMS_H

#include "history/model/transaction.h"
#include "history/types/row_ops.h"

/* X(identifier, word in records) */
#define RIG_SQL_FRAME_TABLE(X)                                                                                         \
    X(SESSION, "session")                                                                                              \
    X(BEGIN, "begin")                                                                                                  \
    X(BEGIN_READ_ONLY, "begin-read-only")                                                                              \
    X(SAVEPOINT, "savepoint")                                                                                          \
    X(ROLLBACK_TO, "rollback-to")                                                                                      \
    X(COMMIT, "commit")

/* Operations on a table of keys. A lock is put by an acquisition and compared by its release. */
#define RIG_SQL_ACTION_TABLE(X)                                                                                        \
    X(READ, "read")                                                                                                    \
    X(READ_LOCKED, "read-locked") /* of transactions that also write */                                                \
    X(PUT, "put")                 /* the upsert; of a lock: only where it is free */                                   \
    X(REPLACE, "replace")         /* the row's number, by a sum of what was read and an increment */                   \
    X(COMPARE, "compare")         /* a write that changes no row unless the value is as expected */                    \
    X(TAKE, "take")               /* queues and stacks */                                                              \
    X(EXTEND, "extend")           /* an append to a string; changes no row where the string is full */

/* Statements on rows by a condition: the workload predicate. */
#define RIG_SQL_ROWS_TABLE(X)                                                                                          \
    X(LIST_BY_ID, "list-by-id")                                                                                        \
    X(LIST_BY_CLASS, "list-by-class")                                                                                  \
    X(COUNT_BY_ID, "count-by-id")                                                                                      \
    X(COUNT_BY_CLASS, "count-by-class")                                                                                \
    X(SUM_BY_ID, "sum-by-id")                                                                                          \
    X(SUM_BY_CLASS, "sum-by-class")                                                                                    \
    X(UPDATE_BY_ID, "update-by-id")                                                                                    \
    X(UPDATE_BY_CLASS, "update-by-class")                                                                              \
    X(DELETE_BY_ID, "delete-by-id")                                                                                    \
    X(DELETE_BY_CLASS, "delete-by-class")                                                                              \
    X(INSERT, "insert")

enum rig_sql_form {
#define RIG_SQL_FORM_ENUM(name, word) RIG_SQL_FORM_##name,
    RIG_SQL_FRAME_TABLE(RIG_SQL_FORM_ENUM) RIG_SQL_ACTION_TABLE(RIG_SQL_FORM_ENUM) RIG_SQL_ROWS_TABLE(RIG_SQL_FORM_ENUM)
#undef RIG_SQL_FORM_ENUM
        RIG_SQL_FORM_COUNT
};

#define RIG_SQL_ENUM(name, word) RIG_SQL_##name,
enum rig_sql_action {
    RIG_SQL_ACTION_TABLE(RIG_SQL_ENUM) RIG_SQL_NOTHING, /* none of its own, because the write after it compares */
};
enum rig_sql_predicate { RIG_SQL_ROWS_TABLE(RIG_SQL_ENUM) RIG_SQL_PREDICATE_COUNT };
#undef RIG_SQL_ENUM

/* The numbers of a statement. */
struct rig_sql_numbers {
    int64_t key, value, expected; /* of rows: value and expected are the bounds of the condition */
    int64_t further;              /* of rows: the number of the update or delete */
};

/* Placeholders in the text of a form: $1 to $4 are these numbers in their order, $5 is the number of the key's table,
 * the key modulo the number of tables, $6 is the class of the row that is written. */
enum { RIG_SQL_PLACES = 6 };

/* The read that increment `op` adds to: the last one of its key before it; UINT32_MAX: none, or another operation. */
static inline uint32_t rig_sql_ops_build_on(const struct rig_op *ops, uint32_t op)
{
    uint32_t at = ops[op].kind == RIG_OP_INCREMENT ? op : 0;
    while (at > 0 && (ops[at - 1].key != ops[op].key || !rig_op_reads(ops[at - 1].kind)))
        at--;
    return at - 1; /* UINT32_MAX below 0 */
}

/* Whether the operation fails where its statement changes no row: the comparison did not hold, or a string is full. */
static inline bool rig_sql_ops_compare(const struct rig_op *ops, uint32_t op)
{
    return ops[op].kind == RIG_OP_EXTEND || (op > 0 && ops[op - 1].kind == RIG_OP_EXPECT);
}

/*
 * The form of operation `op` on a table of keys, never RIG_SQL_READ_LOCKED. `has_read`: the read that an increment
 * builds on showed a value; then `numbers->value` is still the increment.
 */
static inline enum rig_sql_action rig_sql_ops_action(enum rig_workload workload, const struct rig_op *ops, uint32_t op,
                                                     uint32_t client, bool has_read, struct rig_sql_numbers *numbers)
{
    const struct rig_op *of = &ops[op];
    *numbers = (struct rig_sql_numbers){.key = of->key, .value = of->value};
    if (of->kind == RIG_OP_EXPECT)
        return RIG_SQL_NOTHING;
    if (workload == RIG_WORKLOAD_MUTEX) {
        numbers->value = 1 + (int64_t)client;
        return of->value == 1 ? RIG_SQL_PUT : RIG_SQL_COMPARE;
    }
    if (of->kind == RIG_OP_EXTEND)
        return RIG_SQL_EXTEND;
    if (rig_sql_ops_compare(ops, op)) {
        numbers->expected = ops[op - 1].value;
        return RIG_SQL_COMPARE;
    }
    if (of->kind == RIG_OP_DEQUEUE || of->kind == RIG_OP_POP)
        return RIG_SQL_TAKE;
    if (has_read)
        return RIG_SQL_REPLACE;
    return rig_op_reads(of->kind) ? RIG_SQL_READ : RIG_SQL_PUT;
}

/* Whether the operation has no statement of its own: the one after, or before it, does its work. */
static inline bool rig_sql_ops_are_silent(const struct rig_op *ops, uint32_t op)
{
    return ops[op].kind == RIG_OP_EXPECT ||
           (ops[op].kind == RIG_OP_ROW &&
            (ops[op].value <= 0 || !rig_row_inserts(ops[op].value) || rig_row_has_source(ops[op].value)));
}

/* The number of the update or delete that the read at `op` belongs to; 0: it only reads. */
static inline int64_t rig_sql_ops_behind(const struct rig_op *ops, uint32_t op_count, uint32_t op)
{
    const bool writes = op + 1 < op_count && ops[op + 1].kind == RIG_OP_ROW && ops[op + 1].key == ops[op].key &&
                        ops[op + 1].value > 0 && !rig_row_inserts(ops[op + 1].value);
    return writes ? ops[op + 1].value : 0;
}

/* The form of operation `op` on rows; RIG_SQL_PREDICATE_COUNT: it has no statement of its own. */
static inline enum rig_sql_predicate rig_sql_ops_predicate(const struct rig_op *ops, uint32_t op_count, uint32_t op,
                                                           struct rig_sql_numbers *numbers)
{
    const struct rig_op *of = &ops[op];
    struct rig_row_where condition = rig_row_all();
    *numbers = (struct rig_sql_numbers){.key = of->key, .value = of->value};
    if (rig_sql_ops_are_silent(ops, op))
        return RIG_SQL_PREDICATE_COUNT;
    if (of->kind == RIG_OP_ROW)
        return RIG_SQL_INSERT;
    if (op > 0 && of[-1].kind == RIG_OP_ROW && of[-1].key == of->key)
        (void)rig_row_condition_of(of[-1].value, &condition);
    const bool by_id = condition.column == RIG_ROW_BY_ID, endless = condition.most == INT64_MAX;
    numbers->value = by_id ? condition.least * RIG_ROW_SERIAL : condition.least;
    numbers->expected = by_id && !endless ? condition.most * RIG_ROW_SERIAL + RIG_ROW_SERIAL - 1 : condition.most;
    numbers->further = rig_sql_ops_behind(ops, op_count, op);
    if (condition.form == RIG_ROW_SUMMED)
        return by_id ? RIG_SQL_SUM_BY_ID : RIG_SQL_SUM_BY_CLASS;
    if (condition.form == RIG_ROW_COUNTED)
        return by_id ? RIG_SQL_COUNT_BY_ID : RIG_SQL_COUNT_BY_CLASS;
    if (numbers->further == 0)
        return by_id ? RIG_SQL_LIST_BY_ID : RIG_SQL_LIST_BY_CLASS;
    if (rig_row_action(numbers->further) == RIG_ROWS_UPDATE)
        return by_id ? RIG_SQL_UPDATE_BY_ID : RIG_SQL_UPDATE_BY_CLASS;
    return by_id ? RIG_SQL_DELETE_BY_ID : RIG_SQL_DELETE_BY_CLASS;
}

#endif
