/*
 * Claims of a proof about levels that choices of ambiguous reads decide (docs/proof-format.md, "Repeated values").
 *
 * Time: a check of the history for each case, and for each set of choices with which levels hold. Space: that of a
 * check, and a copy of the operations. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_CHOICE_CLAIMS_H
#define RIG_CHECKER_JUDGE_PROOF_CHOICE_CLAIMS_H

#include "base/buf.h"
#include "checker/judge/repeated_values.h"

/* `levels`, bits: those that the record decides so. Adds a claim for the weakest refuted and the strongest held levels;
 * of those without a proof, that they are open. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_choice_claims_refuted(const struct rig_history *history, const struct rig_check_options *options,
                                      const struct rig_choice_record *record, uint64_t levels, struct rig_buf *text,
                                      struct rig_err *err);
enum rig_rc rig_choice_claims_held(const struct rig_history *history, const struct rig_check_options *options,
                                   const struct rig_choice_record *record, uint64_t levels, struct rig_buf *text,
                                   struct rig_err *err);

#endif
