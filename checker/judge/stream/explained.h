/*
 * The orders of versions that explain a window, for types whose reads leave the order open (registers). A window is
 * released along these orders: what no edge leads to, in any of them, is decided (docs/checker/windows.md, "Registers
 * in windows", has the proof).
 *
 * The question is that of the transactions that were not judged before: versions of judged transactions come before all
 * others, so a read of one counts as a read of the initial state.
 *
 * Time: that of the solver; the extension of a closing set is linear in the operations for each explanation. Space:
 * that of the problem, 4 bytes a transaction and 4 bytes a write for each explanation. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_EXPLAINED_H
#define RIG_CHECKER_JUDGE_STREAM_EXPLAINED_H

#include "checker/infer/inference.h"
#include "checker/decide/solve/explanations.h"

struct rig_explained {
    struct rig_problem problem; /* of the transactions not judged before */
    struct rig_explanations orders;
};

/* Explains the window at `levels` (bits). Release with rig_explained_done(), also after a failure. RIG_E_LIMIT when
 * memory runs out. */
enum rig_rc rig_explained_find(const struct rig_inference *inference, uint64_t levels,
                               const struct rig_solve_budget *budget, struct rig_explained *explained,
                               struct rig_err *err);
/* The same of all that the window shows, judged before or not: what is denied there is denied for good. */
enum rig_rc rig_explained_find_whole(const struct rig_inference *inference, uint64_t levels,
                                     const struct rig_solve_budget *budget, struct rig_explained *explained,
                                     struct rig_err *err);
void rig_explained_done(struct rig_explained *explained);

/*
 * Adds to `waits` (per transaction) all that ww and rw edges of an explanation put after a waiting transaction, and
 * what an unknown fate could put there. Tells in *more whether there was any: then the edges that are known (closing.h)
 * may add further ones, and so on. False when memory runs out.
 */
bool rig_explained_extend(const struct rig_explained *explained, const struct rig_inference *inference,
                          struct rig_arena *arena, uint8_t *waits, bool *more);

#endif
