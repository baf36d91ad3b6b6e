/*
 * The line of a proof for a refuted level of objects (docs/proof-format.md, "Objects"): operations that have no order.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_OBJECT_LINES_H
#define RIG_CHECKER_JUDGE_PROOF_OBJECT_LINES_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/model/verdict.h"

/* Adds the line to `text`. False, and nothing is added: there are more operations, or more of unknown outcome, than a replay can be
 * expected to search; or it is an element that takes of unknown result may have taken. */
bool rig_prove_object_line(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text);

#endif
