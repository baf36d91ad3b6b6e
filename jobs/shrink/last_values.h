/*
 * Whether a small history of lists has its anomaly also where a read shows only the last element of a list, as a row of a
 * table does that has the last version alone.
 *
 * A lost append, for example, shows in the list and not in its last element. A scenario of rows (scenario_text.h) would
 * give the same answers on a database without the anomaly.
 *
 * The lists become registers, whose transactions have the times of the interleaving, and rig_check() judges them. Threads: any.
 */
#ifndef RIG_JOBS_SHRINK_LAST_VALUES_H
#define RIG_JOBS_SHRINK_LAST_VALUES_H

#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"

/* Gives whether the registers refute the level of the part, or where none was asked for, one of the weakest that it refutes.
 * Errors as those of rig_check(). */
enum rig_rc rig_last_values_refute(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                                   bool *refute, struct rig_err *err);

#endif
