/*
 * Decides the fate of each level from the anomalies found, and from their absence.
 *
 * A level is refuted when an anomaly that it forbids was found, or a cycle that its rule forbids. Every level is
 * decided (findings.h), so it is held if it is not refuted, all reads are known and no operation was omitted; a strong
 * form also needs invocations. It stays not refuted where the budget of the solver was spent. In the reference's
 * lattice only the levels that the ladder decides are held, and those that they imply.
 */
#ifndef RIG_CHECKER_JUDGE_FATE_H
#define RIG_CHECKER_JUDGE_FATE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/verdict.h"

/* Fills levels, sets, validity, unknown_reason and summary from scope, findings and edges; texts come from `arena`. */
enum rig_rc rig_fates_decide(struct rig_arena *arena, struct rig_verdict *verdict, struct rig_err *err);

/* Once scope.ranks is known: the reasons of levels held say how well real time is known, those of levels left open
 * which ranks are incomplete. False when memory runs out. */
bool rig_fates_say_ranks(struct rig_arena *arena, struct rig_verdict *verdict);
/* "35 us", rounded up: the bound of scope.ranks. */
enum { RIG_BOUND_TEXT_BYTES = 32 };
void rig_bound_text(int64_t bound_ns, char text[RIG_BOUND_TEXT_BYTES]);

#endif
