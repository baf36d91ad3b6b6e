/*
 * The generator's insides, shared by its files.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_WORKLOAD_H
#define RIG_GENERATOR_WORKLOAD_H

#include "generator/application.h"
#include "generator/generator.h"
#include "generator/keys.h"
#include "history/types/types.h"

enum { RIG_MOST_TEMPLATES = 64 };

struct rig_generator {
    struct rig_generator_options options;
    const struct rig_data_type *type;
    bool (*draw)(struct rig_generator *generator, struct rig_op *op); /* generator/generator_types.h */
    uint32_t client;
    uint32_t client_count;
    struct rig_rng rng;
    struct rig_app *app; /* NULL: operations are drawn one by one, on keys of the pool */
    struct rig_key_pool keys;
    struct rig_op *ops;                     /* as many as a transaction may have */
    uint64_t position;                      /* transactions so far */
    uint32_t read_chance;                   /* that an operation reads, in 2^-32 */
    bool reads_only;                        /* a chance of 1, for which 2^-32 has no number */
    int64_t first_value, value_step;        /* of the values that this client writes to a key */
    int64_t group_read;                     /* sequential: the group of the reads under way */
    uint64_t templates[RIG_MOST_TEMPLATES]; /* sql: conditions of 56 bits (history/types/row_values.h) */
    struct rig_key_slot *partner; /* pairs, and locks: the slot of the next operation; NULL: it begins a pair */
};

/* The next value that this client writes to the slot's key. */
static inline int64_t rig_generator_value(const struct rig_generator *generator, struct rig_key_slot *slot)
{
    return generator->first_value + slot->written++ * generator->value_step;
}

/* Draws whether an operation reads. */
static inline bool rig_generator_reads(struct rig_generator *generator)
{
    return generator->reads_only | ((uint32_t)(rig_rng_next(&generator->rng) >> 32) < generator->read_chance);
}

/* Reads the slot's key, or writes its next value to it. */
static inline struct rig_op rig_generator_op(const struct rig_generator *generator, struct rig_key_slot *slot,
                                             bool reads)
{
    if (reads)
        return (struct rig_op){.kind = generator->type->read_op, .key = slot->key};
    return (struct rig_op){
        .kind = generator->type->write_op, .key = slot->key, .value = rig_generator_value(generator, slot)};
}

#endif
