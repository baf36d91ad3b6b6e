/* rw-register: blind writes of unique values to registers, and reads of them. */
#include "generator/workload.h"

bool rig_rw_register_op(struct rig_generator *generator, struct rig_op *op)
{
    bool reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    if (reads)
        *op = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = slot->key};
    else
        *op = (struct rig_op){.kind = RIG_OP_WRITE, .key = slot->key, .value = rig_generator_value(generator, slot)};
    return reads;
}
