/*
 * The constraints of the workload sql in the simulated database (history/types/row_values.h): u is unique in its table,
 * and r refers to the u of a row of the same table.
 *
 * A commit checks them for the rows that it inserts and removes, on the newest rows and its own; the commit that would
 * break one fails. A bug checks references on the rows as they were when the transaction began. CHECK and NOT NULL hold
 * for each row that it leaves; a bug checks an update on the row as it was.
 *
 * Time: the rows of a table, for each such row. Threads: one.
 */
#ifndef RIG_DRIVERS_SIM_SIM_CONSTRAINTS_H
#define RIG_DRIVERS_SIM_SIM_CONSTRAINTS_H

#include "drivers/sim/sim_predicates.h"

/* Whether the work may commit. `begun`: the last commit before its transaction began. */
bool rig_sim_keeps_constraints(struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work,
                               uint64_t begun);

#endif
