#include "generator/pair_ops.h"

#include "generator/workload.h"

bool rig_pair_op(struct rig_generator *generator, struct rig_op *op)
{
    struct rig_key_slot *slot = generator->partner;
    if (slot == NULL) {
        slot = rig_key_pool_draw(&generator->keys, &generator->rng);
        generator->partner = generator->keys.slots + ((size_t)(slot - generator->keys.slots) ^ 1);
        *op = rig_generator_op(generator, slot, true);
        return true;
    }
    generator->partner = NULL;
    const bool reads = rig_generator_reads(generator);
    *op = rig_generator_op(generator, slot, reads);
    return reads;
}

double rig_pair_writes(const struct rig_generator_options *options)
{
    double pairs = 0;
    for (int64_t count = options->min_operations; count <= options->max_operations; count++)
        pairs += (double)(count / 2);
    return pairs / (double)(options->max_operations - options->min_operations + 1) * (1 - options->reads) *
           (1 - options->read_only);
}
