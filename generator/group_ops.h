/*
 * Transactions on groups of registers, for the classic invariants.
 *
 *   monotonic       a read of one key of a group and a write of it, or a read of the whole group
 *   multi-key-acid  reads of some keys of a group and then writes of some of these, or only the reads
 *   dirty-reads     a read of all keys of a group and then a write of one value to all, or a read of all
 *   unique-ids      a read of a fresh key and then a write of it, by RIG_CLAIMS transactions at about the same time
 *   sequential      a write of the next key of the client's own group; or, `group` times in a row and in reverse order,
 *                   a read of a key of a group that is written now
 *
 * Everything follows from the position, and the keys need no pool. The first three have `keys.active` groups for a
 * stretch of positions, in which a key gets `keys.appends-per-key` writes on average, and then fresh ones.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_GROUP_OPS_H
#define RIG_GENERATOR_GROUP_OPS_H

#include "generator/generator.h"

enum {
    RIG_GROUP_OPERATIONS = 128, /* the most of a transaction: reads and writes of the largest group */
    RIG_CLAIMS = 3,
};

/* Each writes one transaction; returns the number of operations. */
uint32_t rig_monotonic_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);
uint32_t rig_multi_key_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);
uint32_t rig_whole_group_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);
uint32_t rig_claim_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);
uint32_t rig_sequence_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only);

/* As in struct rig_generator_type: writes to keys of a transaction, on average. */
double rig_monotonic_writes(const struct rig_generator_options *options);
double rig_multi_key_writes(const struct rig_generator_options *options);
double rig_whole_group_writes(const struct rig_generator_options *options);
/* As in struct rig_generator_type: the keys of groups, of claims and of sequences. */
uint32_t rig_group_keys(const struct rig_generator_options *options);
uint64_t rig_group_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key);
int64_t rig_group_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position);
uint64_t rig_claim_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key);
int64_t rig_claim_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position);
uint64_t rig_sequence_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key);
int64_t rig_sequence_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position);

#endif
