#include "checker/object/object_replay.h"

#include <stdlib.h>

/* Whether the order has each operation as often as it must, and keeps the real-time order. */
static bool keeps_order(const struct rig_object_op *ops, uint32_t count, const uint32_t *order, size_t length,
                        uint8_t *seen)
{
    uint32_t first_end = RIG_POSITION_NONE; /* of the operations behind */
    for (size_t i = length; i-- > 0;) {
        const uint32_t op = order[i];
        if (op >= count || seen[op] || first_end < ops[op].invoke)
            return false;
        seen[op] = 1;
        first_end = ops[op].end < first_end ? ops[op].end : first_end;
    }
    for (uint32_t op = 0; op < count; op++) {
        if (!seen[op] && ops[op].end != RIG_POSITION_NONE)
            return false;
    }
    return true;
}

bool rig_object_replay(struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const uint32_t *order, size_t length, bool *explains)
{
    uint8_t *seen = calloc((size_t)count + 1, 1);
    bool done = seen != NULL;
    uint32_t state = RIG_OBJECT_INITIAL;
    *explains = done && keeps_order(ops, count, order, length, seen);
    free(seen);
    for (size_t i = 0; done && *explains && i < length; i++) {
        done = rig_object_step(model, state, ops[order[i]].class, &state);
        *explains = state != RIG_OBJECT_NONE;
    }
    return done;
}
