/*
 * Findings so far: counts, and the most telling witnesses, proved; added up over the judgements of a history
 * (judge.h), one for a history in memory, one a window otherwise.
 *
 * The witnesses kept do not depend on how the history was cut: of cycles the shortest, then the earliest; of other
 * anomalies the first, those that refute more levels before the rest.
 */
#ifndef RIG_CHECKER_FINDINGS_H
#define RIG_CHECKER_FINDINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/stream/witness_txns.h"
#include "checker/judge.h"
#include "checker/verdict.h"

struct rig_findings {
    uint32_t most_kept;
    struct rig_arena *arena;           /* borrowed: for the witnesses */
    struct rig_witness_txns *evidence; /* borrowed; NULL: witnesses refer to the history that was judged */
    const struct rig_retired *gone;    /* borrowed, beside evidence */
    struct rig_finding of[RIG_ANOMALY_COUNT];
    uint64_t undecided; /* bits of anomalies asked for, found or not, that some judgement left open */
    bool cyclic[RIG_RUNG_COUNT][RIG_ALONG_COUNT];
};

/* Adds what the judge has found. RIG_E_BUG for a witness that cannot be proved. */
enum rig_rc rig_findings_add(struct rig_findings *findings, const struct rig_judge *judge, struct rig_err *err);

#endif
