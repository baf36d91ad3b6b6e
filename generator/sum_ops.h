/*
 * Operations on numbers that increments change: counters, and the accounts of a bank.
 *
 * An increment adds 1 to `amount.most`, or with the chance `amount.negative` subtracts it. A transfer reads two
 * accounts, takes an amount from the first and adds it to the second; other transactions of a bank read all accounts
 * (Jepsen's bank). The accounts are the keys of a pool that no key leaves.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_SUM_OPS_H
#define RIG_GENERATOR_SUM_OPS_H

#include "generator/generator.h"

struct rig_key_slot;

enum { RIG_TRANSFER_OPERATIONS = 4 };

/* Writes one operation on a counter; true when it reads. */
bool rig_counter_op(struct rig_generator *generator, struct rig_op *op);
/* The same on the slot's key. */
struct rig_op rig_counter_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads);
/* A read of the slot's account, or one side of a transfer: only where it is undone, since it changes the total. */
struct rig_op rig_bank_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads);
/* Writes a transfer, or a read of all balances; returns the number of operations. */
uint32_t rig_bank_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);
/* The most keys of a transaction. */
uint32_t rig_bank_keys(const struct rig_generator_options *options);

#endif
