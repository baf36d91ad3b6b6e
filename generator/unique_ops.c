#include "generator/unique_ops.h"

#include "generator/workload.h"

bool rig_unique_op(struct rig_generator *generator, struct rig_op *op)
{
    const struct rig_data_type *type = generator->type;
    const bool reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    if (reads)
        *op = (struct rig_op){.kind = type->read_op, .key = slot->key};
    else
        *op = (struct rig_op){.kind = type->write_op, .key = slot->key, .value = rig_generator_value(generator, slot)};
    return reads;
}
