/*
 * How the operations of each workload are drawn: one row a workload.
 *
 * The writing and the reading operation, and so the form of closing and final reads, are in history/types/types.h. A
 * workload that draws in a way of its own brings a file with that function.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_GENERATOR_TYPES_H
#define RIG_GENERATOR_GENERATOR_TYPES_H

#include "generator/generator.h"

struct rig_key_slot;

/*
 * Operations that write a value which no other operation writes to the key, and reads of all of a key: for lists, where
 * a read shows the whole version history of its key, and for registers, which are written blindly (Kingsbury & Alvaro
 * 2020).
 */

/* Writes one operation; true when it reads. */
bool rig_unique_op(struct rig_generator *generator, struct rig_op *op);

struct rig_generator_type {
    /* Optional: draws what the load has from its start. */
    void (*begin)(struct rig_generator *generator, uint64_t seed);
    /* Writes one operation; true when it reads. NULL: transactions are drawn as a whole, by */
    bool (*draw)(struct rig_generator *generator, struct rig_op *op);
    /*   this, which writes the operations of one and returns their number, at most most_operations. */
    uint32_t (*draw_transaction)(struct rig_generator *generator, struct rig_op *ops, bool *reads);
    uint32_t most_operations, most_keys;
    /* An operation on the slot's key, between a savepoint and the rollback to it. NULL: without savepoints. */
    struct rig_op (*draw_on)(struct rig_generator *generator, struct rig_key_slot *slot, bool reads);
    double (*writes)(
        const struct rig_generator_options *options); /* writes to keys of such a transaction, on average */
    uint32_t (*keys)(const struct rig_generator_options *options); /* the most of a transaction; NULL: most_keys */
    bool stays; /* the keys of the load are 0 to keys() - 1, and none leaves */
    /* Keys that are in use at a position only (generator/load_schedule.h), without a pool. NULL: there is a pool. */
    uint64_t (*leaves_at)(const struct rig_generator_options *options, uint32_t client_count, int64_t key);
    int64_t (*key_bound)(const struct rig_generator_options *options, uint32_t client_count, uint64_t position);
    bool no_final_reads; /* they would show nothing */
    bool drains;         /* a read takes what it shows: it is repeated until it shows nothing */
    bool has_rows;       /* a write gives the key a value that names it: the rows of an application can be such keys */
};

extern const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT];

/* Whether rig generates transactions of the workload. */
static inline bool rig_generator_has(int64_t workload)
{
    const struct rig_generator_type *type = &rig_generator_types[workload];
    return type->draw != NULL || type->draw_transaction != NULL;
}

/* Where clients share one stream: the operations of a lock, and of a model that names its clients, are those of this
 * one. */
void rig_generator_give_owner(const struct rig_generator_options *options, struct rig_op *ops, uint32_t count,
                              uint32_t client);

#endif
