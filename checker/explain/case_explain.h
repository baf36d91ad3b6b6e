/*
 * From a proof that no order of the versions explains some transactions (solve/proof.h) to a witness.
 *
 * A proof of one line is a plain cycle and gets the usual name, unless it rests on "a transaction's version comes after
 * the one that it read", which holds from read committed on. Else the anomaly is no-version-order, and the witness has
 * the proof. Either way it refutes each level that forbids all of its cycles, and each stronger one.
 */
#ifndef RIG_CHECKER_EXPLAIN_CASE_EXPLAIN_H
#define RIG_CHECKER_EXPLAIN_CASE_EXPLAIN_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/decide/solve/proof.h"
#include "checker/model/verdict.h"

/* The witness has no texts yet (sentence.h). Everything in it is allocated from `arena`. RIG_E_LIMIT when memory runs
 * out. */
enum rig_rc rig_explain_proof(const struct rig_inference *inference, const struct rig_case_proof *proof,
                              struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err);

#endif
