/*
 * How the operations of each workload are drawn: one row a workload.
 *
 * The writing and the reading operation, and so the form of closing and final reads, are in history/types.h. A workload
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
    bool has_rows; /* a write gives the key a value that names it: the rows of an application can be such keys */
};

extern const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT];

#endif
