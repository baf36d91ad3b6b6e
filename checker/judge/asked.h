/*
 * Answers requests for anomalies by name. Each one was found, itself or as a special case; or certainly does not exist;
 * or is open, which makes the verdict undecided (docs/checker/anomalies.md, "Asking for an anomaly").
 */
#ifndef RIG_CHECKER_JUDGE_ASKED_H
#define RIG_CHECKER_JUDGE_ASKED_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/verdict.h"

/*
 * RIG_E_USAGE, with the name, when one of `anomalies` (bits) cannot be in any history of the workload, so that its
 * absence would say nothing. A member of a group (rig_anomaly_group()) is exempt where another member of the group is
 * possible. Claims of a database (evidence/claims.h) and workloads without a checker are left to their own messages.
 */
enum rig_rc rig_asked_require_possible(enum rig_workload workload, rig_anomaly_set anomalies, struct rig_err *err);

/* Why the reads of some key give its versions no order, as a clause; NULL: reads of each key agree. */
const char *rig_asked_why_contested(const struct rig_verdict *verdict);

/*
 * Completes validity, undecided_anomalies and unknown_reason of a verdict whose levels are decided. `open`: bits of
 * the requested anomalies that some judgement could not decide.
 */
enum rig_rc rig_asked_decide(struct rig_arena *arena, struct rig_verdict *verdict, rig_anomaly_set open,
                             struct rig_err *err);

#endif
