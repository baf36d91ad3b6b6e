/*
 * Levels of histories of rows whose reads leave open which versions they saw: held where a guess at these versions
 * (infer/row_guess.h) makes a graph without a cycle that the level forbids.
 *
 * Time: that of a judgement for each guess; later guesses only while some level is open, and the deadline has not come.
 * Memory: that of two judgements, at most the limit.
 */
#ifndef RIG_CHECKER_JUDGE_ROW_LEVELS_H
#define RIG_CHECKER_JUDGE_ROW_LEVELS_H

#include "checker/judge/judge.h"

/* `levels`, bits: those that nothing refutes. *held: those of them that are held, and what they imply. A limit of memory
 * that is too low leaves levels open. */
enum rig_rc rig_rows_explain(const struct rig_history *history, const struct rig_judge *judge, uint64_t levels,
                             int64_t deadline_ns, uint64_t *held, struct rig_err *err);

#endif
