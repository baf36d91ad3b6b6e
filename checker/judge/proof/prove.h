/*
 * Writes the proof of a verdict (docs/proof-format.md): for the strongest levels held an order of the committed
 * transactions that a replay confirms, for the weakest levels refuted a witness. rig-verify replays it from the raw
 * history, and shares no code with this.
 *
 * A level whose order or witness has no form in a proof is written as open, with the reason. The history must be in
 * memory as a whole, and its values be unique.
 *
 * Time: linear for total orders of versions, else that of the solver once more. Space: about 60 bytes an operation
 * beside that of an inference. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_PROVE_H
#define RIG_CHECKER_JUDGE_PROOF_PROVE_H

#include "base/buf.h"
#include "checker/judge/check.h"

/* `verdict`: of rig_check() on this history with these options, in the exact lattice. Adds the proof to `text`.
 * RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_prove(const struct rig_history *history, const struct rig_verdict *verdict,
                      const struct rig_check_options *options, struct rig_buf *text, struct rig_err *err);

#endif
