/*
 * Statements of the workload sql (history/types/row_values.h): what a seed draws before the load, and what each
 * statement draws.
 *
 * The conditions of a load are few templates, the same for all clients, so that a server can keep their plans. A
 * statement takes one, and draws its constants. The assignments of updates are drawn for each.
 *
 * Private to generator/. Time: constant.
 */
#ifndef RIG_GENERATOR_SQL_STATEMENTS_H
#define RIG_GENERATOR_SQL_STATEMENTS_H

#include "generator/workload.h"

void rig_sql_templates_draw(struct rig_generator *generator, uint64_t seed);
enum { RIG_SQL_OPS_A_STATEMENT = 6 };

/* Returns the number of operations, at most that; *reads is false when it writes or locks. */
uint32_t rig_sql_statement_draw(struct rig_generator *generator, struct rig_op *ops, bool *reads);

#endif
