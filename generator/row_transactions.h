/*
 * Transactions of the workload predicate: statements on the rows of tables (history/types/row_ops.h).
 *
 * A statement that writes inserts a row, or updates or deletes those that meet a condition. Conditions ask
 * for a class, for some classes, for a range of ids among the latest, or for all ids from one of them on, where rows are
 * inserted: so inserts and updates meet reads that do not show them.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_ROW_TRANSACTIONS_H
#define RIG_GENERATOR_ROW_TRANSACTIONS_H

#include "generator/generator.h"

/* Writes one transaction; returns the number of operations. */
uint32_t rig_rows_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);

/* The most operations of a transaction, three for a statement; and the writes of one, on average. */
uint32_t rig_rows_operations(const struct rig_generator_options *options);
double rig_rows_writes(const struct rig_generator_options *options);

#endif
