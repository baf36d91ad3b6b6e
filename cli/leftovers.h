/*
 * Undoes what killed rigs have left, from their journals (nemesis/journal.h).
 */
#ifndef RIG_CLI_LEFTOVERS_H
#define RIG_CLI_LEFTOVERS_H

#include "run/plan/plan.h"

/* Undoes it, and tells on stderr and in the log what was found. For the start of a run of the plan. An entry that cannot be
 * undone is told once, to a run with one of its servers, and is no reason not to go on: it makes no verdict wrong. */
void rig_cli_heal_leftovers(const struct rig_plan *plan);

#endif
