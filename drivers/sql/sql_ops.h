/*
 * Operations of a transaction that depend on the ones before them: increments of what was read, and comparisons.
 *
 * Pure functions of the transaction's question and of its reads so far (drivers/driver.h, "Increments").
 */
#ifndef RIG_DRIVERS_SQL_SQL_OPS_H
#define RIG_DRIVERS_SQL_SQL_OPS_H

#include "drivers/driver.h"

/* The number of the read that an increment adds to, the last one of its key before it; UINT32_MAX: there is none, or it
 * is another operation. */
uint32_t rig_sql_builds_on(const struct rig_transaction *transaction, uint32_t op);
/* The value after increment `op`, from the read that it builds on and the increments of its key since then. */
int64_t rig_sql_sum_since(const struct rig_transaction *transaction, uint32_t read, uint32_t op);
/* Whether the operation fails where its statement changes no row: the comparison did not hold. */
bool rig_sql_compares(const struct rig_transaction *transaction, uint32_t op);

#endif
