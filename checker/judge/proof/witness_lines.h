/*
 * The lines of a proof for a refuted level, from the checker's witness (docs/proof-format.md, "Witnesses").
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_WITNESS_LINES_H
#define RIG_CHECKER_JUDGE_PROOF_WITNESS_LINES_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/model/verdict.h"

/* Adds the lines to `text`. False where the witness has no such form: an order of versions by a third transaction that an
 * assumption makes; `text` is as it was then. */
bool rig_prove_witness(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text);

#endif
