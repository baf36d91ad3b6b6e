/*
 * The operations of a transaction as statements on a table of keys, and those that depend on the ones before them:
 * increments of what was read, and comparisons.
 *
 * An operation on an object is one statement, which changes one row: it takes effect at once, at any isolation level. A
 * lock holds the number of its holder, from 1, or 0.
 *
 * Pure functions of the transaction's question and of its reads so far (drivers/driver.h, "Increments").
 */
#ifndef RIG_DRIVERS_SQL_SQL_OPS_H
#define RIG_DRIVERS_SQL_SQL_OPS_H

#include "drivers/driver.h"
#include "history/types/sql_forms.h"

/* RIG_STRING_FULL as a text. */
#define RIG_SQL_FULL         RIG_SQL_FULL_OF(RIG_STRING_FULL)
#define RIG_SQL_FULL_OF(n)   RIG_SQL_FULL_TEXT(n)
#define RIG_SQL_FULL_TEXT(n) #n

/* A queue or a stack. */
static inline bool rig_sql_is_row(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK;
}

/* A number that increments change. */
static inline bool rig_sql_is_sum(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_COUNTER || workload == RIG_WORKLOAD_BANK;
}

/* The text of a table's name before its number, such as "rig_list_", or before the name of a program's table. `own`:
 * the place of the tables is the run's own; else their names begin with the run's. */
void rig_sql_table_stem(const struct rig_run_env *env, bool own, char *stem, size_t size);

/* The number of the read that an increment adds to, the last one of its key before it; UINT32_MAX: there is none, or it
 * is another operation. */
uint32_t rig_sql_builds_on(const struct rig_transaction *transaction, uint32_t op);
/* The value after increment `op`, from the read that it builds on and the increments of its key since then, without
 * those that a rollback to a savepoint has undone before it. */
int64_t rig_sql_sum_since(const struct rig_transaction *transaction, uint32_t read, uint32_t op);
/* Whether the operation has no statement of its own: the one after, or before it, does its work. */
static inline bool rig_sql_is_silent(const struct rig_transaction *transaction, uint32_t op)
{
    return rig_sql_ops_are_silent(transaction->ops, op);
}

/* Whether the operation fails where its statement changes no row: the comparison did not hold, or a string is full. */
bool rig_sql_compares(const struct rig_transaction *transaction, uint32_t op);

/*
 * The statement of operation `op`. The reads that increments build on were answered. `lock_reads`: the share of reads
 * that lock, at random, but a function of the transaction alone, so that a seed gives the same requests.
 */
enum rig_sql_action rig_sql_action_of(enum rig_workload workload, double lock_reads,
                                      const struct rig_transaction *transaction, uint32_t op,
                                      struct rig_sql_numbers *numbers);
/* False: the operation would take more from an account of the workload bank than there is. The read that it builds on
 * was answered. */
bool rig_sql_affords(const struct rig_accounts *accounts, const struct rig_transaction *transaction, uint32_t op);

/* ---- predicates ---- */

/*
 * The statements of the workload predicate (history/types/row_ops.h) on tables of rows (k, id, v, c, p): the key, the
 * row's id, its version, its class, and the version before.
 *
 * A read, an update and a delete are one statement each, at the operation that reads: it returns the pairs (id,
 * version) that it saw. The condition before it and the write behind it have none of their own.
 */

/*
 * X(name, SQL before the name of the table, and after it)
 * $1 is the key, $2 and $3 are the bounds, $4 is the number of the statement; of an insert $2.
 */
#define RIG_SQL_PREDICATE_TABLE(X)                                                                                     \
    X(LIST_BY_ID, "SELECT id, v FROM ", " WHERE k = $1 AND id BETWEEN $2 AND $3")                                      \
    X(LIST_BY_CLASS, "SELECT id, v FROM ", " WHERE k = $1 AND c BETWEEN $2 AND $3")                                    \
    X(COUNT_BY_ID, "SELECT count(*), coalesce(sum(v), 0) FROM ", " WHERE k = $1 AND id BETWEEN $2 AND $3")             \
    X(COUNT_BY_CLASS, "SELECT count(*), coalesce(sum(v), 0) FROM ", " WHERE k = $1 AND c BETWEEN $2 AND $3")           \
    X(SUM_BY_ID, "SELECT 0, coalesce(sum(v), 0) FROM ", " WHERE k = $1 AND id BETWEEN $2 AND $3")                      \
    X(SUM_BY_CLASS, "SELECT 0, coalesce(sum(v), 0) FROM ", " WHERE k = $1 AND c BETWEEN $2 AND $3")                    \
    X(UPDATE_BY_ID, "UPDATE ",                                                                                         \
      " SET p = v, v = $4, c = $4 / 10 % 100 WHERE k = $1 AND id BETWEEN $2 AND $3 "                                   \
      "RETURNING id, p")                                                                                               \
    X(UPDATE_BY_CLASS, "UPDATE ",                                                                                      \
      " SET p = v, v = $4, c = $4 / 10 % 100 WHERE k = $1 AND c BETWEEN $2 AND $3 "                                    \
      "RETURNING id, p")                                                                                               \
    X(DELETE_BY_ID, "DELETE FROM ", " WHERE k = $1 AND id BETWEEN $2 AND $3 RETURNING id, v")                          \
    X(DELETE_BY_CLASS, "DELETE FROM ", " WHERE k = $1 AND c BETWEEN $2 AND $3 RETURNING id, v")                        \
    X(INSERT, "INSERT INTO ", " (k, id, v, c) VALUES ($1, $2, $2, $2 / 10 % 100)")

/* The number of the update or delete that the read at `op` belongs to; 0: it only reads. */
int64_t rig_sql_number_behind(const struct rig_transaction *transaction, uint32_t op);

/* The statement of operation `op`, and its numbers; RIG_SQL_PREDICATE_COUNT: it has none of its own. */
enum rig_sql_predicate rig_sql_predicate_of(const struct rig_transaction *transaction, uint32_t op,
                                            struct rig_sql_numbers *numbers);

#endif
