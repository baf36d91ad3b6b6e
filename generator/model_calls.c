#include "generator/model_calls.h"

#include <string.h>

#include "history/types/object_specification.h"

static bool execute(const void *specification, const struct rig_op *ops, uint32_t count, uint64_t random,
                    const int64_t *from, size_t from_count, int64_t *to, size_t room, size_t *to_count,
                    struct rig_read *result)
{
    struct rig_model_numbers after = {0};
    const enum rig_model_answer answer =
        rig_specification_simulate(specification, ops, count, random, from, from_count, &after, result);
    const bool fits = answer == RIG_MODEL_POSSIBLE && after.count <= room;
    if (fits) {
        memcpy(to, after.at, after.count * sizeof *to);
        *to_count = after.count;
    }
    rig_model_numbers_done(&after);
    return fits;
}

struct rig_model_calls rig_model_calls_of(const struct rig_specification *specification)
{
    return (struct rig_model_calls){.specification = specification,
                                    .write = rig_model_value_write,
                                    .read = rig_model_value_read,
                                    .execute = execute};
}
