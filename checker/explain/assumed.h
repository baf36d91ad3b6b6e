/*
 * The assumptions that a witness rests on: those that order two versions in one of its steps. A level that only such
 * witnesses refute is refuted under these assumptions.
 */
#ifndef RIG_CHECKER_EXPLAIN_ASSUMED_H
#define RIG_CHECKER_EXPLAIN_ASSUMED_H

#include "base/buf.h"
#include "checker/model/verdict.h"

/* RIG_ASSUMPTION_BIT()s. Time: linear in its steps. */
unsigned rig_witness_assumed(const struct rig_witness *witness);

/* "assuming wfr-keys and sequential-keys"; nothing for no assumptions. */
void rig_assumed_text(unsigned assumptions, struct rig_buf *text);

#endif
