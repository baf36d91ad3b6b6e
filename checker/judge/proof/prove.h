/*
 * Writes the proof of a verdict (docs/proof-format.md): for the strongest levels held an order of the committed
 * transactions that a replay confirms, for the weakest levels refuted a witness. rig-verify replays it from the raw
 * history, and shares no code with this.
 *
 * A level whose order or witness has no form in a proof is written as open, with the reason. The history must be in
 * memory as a whole.
 *
 * Time: linear for total orders of versions, else that of the solver once more. Space: about 60 bytes an operation
 * beside that of an inference. Threads: one. Where values repeat, the choices of reads are decided once more
 * (repeated_values.h), within the budget that the verdict has left, and claimed (choice_claims.h).
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_PROVE_H
#define RIG_CHECKER_JUDGE_PROOF_PROVE_H

#include "base/buf.h"
#include "checker/judge/check.h"

/* `verdict`: of rig_check(), without choices, on this history with these options, in the exact lattice. Adds the proof
 * to `text`. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_prove(const struct rig_history *history, const struct rig_verdict *verdict,
                      const struct rig_check_options *options, struct rig_buf *text, struct rig_err *err);

/* Adds claims of the levels (bits), which hold by the verdict, and of those without an order that they are open. */
enum rig_rc rig_prove_held(const struct rig_history *history, const struct rig_verdict *verdict,
                           const struct rig_check_options *options, uint64_t levels, struct rig_buf *text,
                           struct rig_err *err);
/* Adds the lines of a witness that refutes the level by the verdict, up to the full stop; and those of its assumptions,
 * which `assumed` does not have, to that. False: there is none in the form of a proof, or memory ran out. */
bool rig_prove_case(const struct rig_history *history, const struct rig_verdict *verdict,
                    const struct rig_check_options *options, enum rig_level level, struct rig_buf *assumed,
                    struct rig_buf *text);

#endif
