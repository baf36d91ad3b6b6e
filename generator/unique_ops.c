#include "generator/unique_ops.h"

#include "generator/workload.h"

struct rig_op rig_unique_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return rig_generator_op(generator, slot, reads);
}

bool rig_unique_op(struct rig_generator *generator, struct rig_op *op)
{
    const bool reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    *op = rig_generator_op(generator, slot, reads);
    return reads;
}
