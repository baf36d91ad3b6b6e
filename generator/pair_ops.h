/*
 * Operations in pairs: a read of one key, then a write of another key, whose own readers write the first one. Two
 * transactions that do so from both sides at a time are a write skew (Berenson et al. 1995): each misses the write of the
 * other. Every isolation level below serializability allows it, and a serializable one has to abort one of the two.
 *
 * Two neighbouring slots of the key pool are a pair, so that the number of active keys is even. With many pairs a key is
 * written seldom, and the transactions of other pairs have no conflict with these two.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_PAIR_OPS_H
#define RIG_GENERATOR_PAIR_OPS_H

#include "generator/generator.h"

/* Writes one operation; true when it reads. The first, third, ... of a transaction reads a key; the one behind it writes
 * the other key of that pair or, with the chance `reads`, reads it. */
bool rig_pair_op(struct rig_generator *generator, struct rig_op *op);

/* Writing operations of a transaction, on average. */
double rig_pair_writes(const struct rig_generator_options *options);

#endif
