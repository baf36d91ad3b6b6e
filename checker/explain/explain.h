/*
 * Turns a cycle, or a non-cyclic anomaly, into a witness: the operations that prove each step, as data and as text.
 *
 * Each step is a sentence about operations of the history, so that a person can check it by hand; verify.h checks it
 * mechanically.
 */
#ifndef RIG_CHECKER_EXPLAIN_EXPLAIN_H
#define RIG_CHECKER_EXPLAIN_EXPLAIN_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/decide/cycle/cycle.h"
#include "checker/infer/inference.h"
#include "checker/model/verdict.h"

/* The witness has no texts yet (sentence.h), and does not say what it refutes (refutes.h). Everything in it is
 * allocated from `arena`. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_explain_cycle(const struct rig_inference *inference, const struct rig_cycle *cycle,
                              struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err);
/* Whether the cycle has an rw edge that only a read without a row, or a condition, gives (struct rig_inference). */
bool rig_cycle_is_by_predicate(const struct rig_inference *inference, const struct rig_cycle *cycle);
/* A cycle whose keys and reading operations are chosen, with transactions, keys and operations of the history. */
enum rig_rc rig_explain_arcs(const struct rig_inference *inference, const struct rig_arc *arcs, uint32_t count,
                             struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err);
enum rig_rc rig_explain_noncyclic(const struct rig_noncyclic *found, struct rig_arena *arena,
                                  struct rig_witness *witness, struct rig_err *err);

#endif
