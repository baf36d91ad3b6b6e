/*
 * Decides the fate of each level from the anomalies found, and from their absence.
 *
 * A level is refuted when an anomaly that it forbids was found. It is held when the inference left nothing open: the
 * levels that the ladder decides exactly (read uncommitted, read committed, repeatable read, serializable, in plain,
 * session and strong forms) whenever they are not refuted, because every order consistent with the graph extends to one
 * that explains all reads; the snapshot levels when, besides, every version order is total; and whatever a held level
 * implies. Else it is not refuted.
 */
#ifndef RIG_CHECKER_FATE_H
#define RIG_CHECKER_FATE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/verdict.h"

/* Fills levels, sets, validity, unknown_reason and summary from scope, findings and edges; texts come from `arena`. */
enum rig_rc rig_fates_decide(struct rig_arena *arena, struct rig_verdict *verdict, struct rig_err *err);

#endif
