/*
 * Transactions of one operation on one object (history/types/types.h).
 *
 * Registers get few different values, so that a comparison often holds. A client acquires a lock and releases it in its
 * next transaction; it does not know whether the lock was granted, so the database has to refuse a release by a client
 * that does not hold the lock. A string is digits (drivers/driver.h), which appends and puts repeat. Values that enter a queue or a stack are unique.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_OBJECT_TRANSACTIONS_H
#define RIG_GENERATOR_OBJECT_TRANSACTIONS_H

#include "generator/generator.h"

/* Each writes the operations of a transaction, and returns their number; *reads: it only reads. */
uint32_t rig_register_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads);
uint32_t rig_string_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads);
uint32_t rig_lock_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads);
uint32_t rig_row_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads);

/* The share of transactions that count as a write to their key. */
double rig_object_writes(const struct rig_generator_options *options);

#endif
