#include "generator/generator_types.h"

#include "generator/unique_ops.h"

const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {.draw = rig_unique_op, .has_rows = true},
    [RIG_WORKLOAD_RW_REGISTER] = {.draw = rig_unique_op, .has_rows = true},
    [RIG_WORKLOAD_SET] = {.draw = rig_unique_op},
};
