/*
 * The order of the versions of registers, from the sources of registers.h. Each source is added to those before it
 * unless it makes a cycle.
 *
 * Time: linear in operations and edges. With linearizable keys, each operation has edges from up to as many operations
 * as ran on the key at the same time. Space: 16 bytes an operation, 24 an edge, 12 a version.
 */
#ifndef RIG_CHECKER_INFER_REGISTER_ORDERS_H
#define RIG_CHECKER_INFER_REGISTER_ORDERS_H

#include "checker/infer/registers.h"

/* Fills in edges, edge_first and contradicted of registers whose versions are known. Errors as rig_registers_build().
 */
enum rig_rc rig_register_orders_find(struct rig_registers *registers, struct rig_assumptions assumptions,
                                     struct rig_arena *arena, struct rig_noncyclic_findings *noncyclic,
                                     struct rig_err *err);

#endif
