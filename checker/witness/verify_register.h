/*
 * Proving witnesses over registers from the raw history (verify.h). Like it, shares nothing with the inference.
 *
 * A step that rests on an order of versions must show both versions and, for the assumption that it names, what the
 * assumption asks for: wfr, a transaction that read the one and then wrote the other; sequential, a process that left
 * the one and later met the other; linearizable, the same of two transactions of which one completed before the other
 * was invoked.
 * Of cyclic-versions, which names two versions of a cycle and not its edges, only that the transaction wrote one of
 * them is proved.
 */
#ifndef RIG_CHECKER_WITNESS_VERIFY_REGISTER_H
#define RIG_CHECKER_WITNESS_VERIFY_REGISTER_H

#include <stdbool.h>

#include "checker/verdict.h"

/* Marks who committed: acknowledged, or unknown with a value that a committed transaction read. False without memory.
 */
bool rig_verify_register_commits(const struct rig_history *history, bool *committed);
/* What a ww, wr or rw step, or a non-cyclic witness, lacks; NULL when it holds. */
const char *rig_verify_register_step(const struct rig_history *history, const struct rig_step *step);
const char *rig_verify_register_noncyclic(const struct rig_history *history, const bool *committed,
                                          const struct rig_witness *witness);

#endif
