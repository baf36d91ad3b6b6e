/*
 * Transactions that show long forks: each key is written once, by a transaction of its own, and the keys of a group are
 * read together about the time at which they are written (Jepsen's long-fork; Sovran et al., SOSP 2011).
 *
 * Group g has the keys g * size to g * size + size - 1. Client c's j-th write is that of key j * client_count + c, so
 * that all clients together write each key, once. A transaction at position p is a write exactly when
 * position * (1 - reads), with a phase of the client's own, passes a whole number: so at any position all clients are at
 * about the same key, and a read takes one of the `keys.active` groups around it.
 *
 * Everything follows from the position, and the keys need no pool. Private to generator/.
 */
#ifndef RIG_GENERATOR_FORK_OPS_H
#define RIG_GENERATOR_FORK_OPS_H

#include "generator/generator.h"

/* Writes one transaction; returns the number of operations. */
uint32_t rig_fork_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);

/* The most keys of a transaction. */
uint32_t rig_fork_keys(const struct rig_generator_options *options);

/* The position from which on no client uses the key; UINT64_MAX: there is none. */
uint64_t rig_fork_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key);
/* Every key that transactions before `position` have used is below. */
int64_t rig_fork_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position);

#endif
