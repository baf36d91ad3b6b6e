/*
 * The lines of a proof for a refuted level, from the checker's witness (docs/proof-format.md, "Witnesses").
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_WITNESS_LINES_H
#define RIG_CHECKER_JUDGE_PROOF_WITNESS_LINES_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/model/verdict.h"

/* Adds the lines to `text`. False where the witness has no such form, and `text` is as it was: an order of versions by
 * a third transaction that an assumption makes; of objects, more operations, or more of unknown outcome, than a replay
 * can be expected to search, or an element that takes of unknown result may have taken. */
bool rig_prove_witness(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text);

#endif
