/*
 * How the operations of each workload are drawn: one row a workload.
 *
 * Which operation writes and which one reads, and so what closing and final reads are, is in history/types.h. A workload
 * that draws in a way of its own brings a file with that function.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_GENERATOR_TYPES_H
#define RIG_GENERATOR_GENERATOR_TYPES_H

#include "generator/generator.h"

struct rig_generator_type {
    /* Writes one operation; true when it reads. */
    bool (*draw)(struct rig_generator *generator, struct rig_op *op);
};

extern const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT];

#endif
