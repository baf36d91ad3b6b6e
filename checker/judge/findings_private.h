/*
 * The pieces of rig_findings_add(): private to findings.c, which decides levels, findings_keep.c, which keeps
 * witnesses, and findings_objects.c.
 */
#ifndef RIG_CHECKER_JUDGE_FINDINGS_PRIVATE_H
#define RIG_CHECKER_JUDGE_FINDINGS_PRIVATE_H

#include "checker/judge/findings.h"
#include "checker/prove/witness/verify.h"

struct rig_findings_adding {
    struct rig_findings *findings;
    const struct rig_judge *judge;
    const struct rig_verifier *verifier;
    struct rig_err *err;
};

enum rig_rc rig_findings_no_memory(struct rig_err *err);

/* Proves the witness and words it; where the window will be freed, keeps its transactions for the final text.
 * `settled`: see rig_levels_refuted_by(). RIG_E_BUG: it is no witness; RIG_E_LIMIT: its proof takes too long. */
enum rig_rc rig_findings_settle(const struct rig_findings_adding *a, bool settled, struct rig_witness *witness);
/* Puts a witness at `place`; drops another one when all places are taken. False when memory runs out. */
bool rig_findings_put(struct rig_findings *findings, struct rig_finding *finding, uint32_t place,
                      const struct rig_witness *witness);

/* Counts the anomalies that the judge has found by their names, and keeps witnesses. */
enum rig_rc rig_findings_keep_named(const struct rig_findings_adding *a);
/* Keeps a witness of the level; of two that concern the same transactions, the one that refutes more. */
enum rig_rc rig_findings_keep_decided(const struct rig_findings_adding *a, enum rig_level level,
                                      struct rig_witness *witness);
/* The levels, as bits, that some finding refutes. */
uint64_t rig_findings_refuted(const struct rig_findings *findings);

/* Decides the objects of the window or history, and whether one order of all operations explains them. */
enum rig_rc rig_findings_decide_objects(const struct rig_findings_adding *a);

#endif
