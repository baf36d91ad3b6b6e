/*
 * The statements of the workload predicate (history/types/row_ops.h) on tables of rows (k, id, v, c, p): the key, the row's id,
 * its version, its class, and the version before.
 *
 * A read, an update and a delete are one statement each, at the operation that reads: it returns the pairs (id, version)
 * that it saw. The condition before it and the write behind it have none of their own.
 *
 * Pure functions of the transaction's question.
 */
#ifndef RIG_DRIVERS_SQL_SQL_PREDICATE_H
#define RIG_DRIVERS_SQL_SQL_PREDICATE_H

#include "drivers/driver.h"
#include "drivers/sql/sql_ops.h"

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

enum rig_sql_predicate {
#define RIG_SQL_PREDICATE_ENUM(name, ...) RIG_SQL_##name,
    RIG_SQL_PREDICATE_TABLE(RIG_SQL_PREDICATE_ENUM)
#undef RIG_SQL_PREDICATE_ENUM
        RIG_SQL_PREDICATE_COUNT
};

/* The statement of operation `op`, and its numbers; RIG_SQL_PREDICATE_COUNT: it has none of its own. */
enum rig_sql_predicate rig_sql_predicate_of(const struct rig_transaction *transaction, uint32_t op,
                                            struct rig_sql_numbers *numbers);

#endif
