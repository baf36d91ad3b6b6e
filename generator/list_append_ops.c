/*
 * list-append: appends of unique elements to lists, and reads of whole lists. A read shows the whole version history of
 * its key, which is what makes exact inference cheap (Kingsbury & Alvaro 2020).
 */
#include "generator/workload.h"

bool rig_list_append_op(struct rig_generator *generator, struct rig_op *op)
{
    bool reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    if (reads)
        *op = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = slot->key};
    else
        *op = (struct rig_op){.kind = RIG_OP_APPEND, .key = slot->key, .value = rig_generator_value(generator, slot)};
    return reads;
}
