/*
 * Explanations of one problem at several levels: a total order of its transactions for each of the strongest levels that
 * have one. Unlike decide.h it proves no refusal: a check in windows (stream/explained.h) asks for orders to go on from.
 *
 * Threads: one. Memory: the heap, 4 bytes a transaction for each explanation.
 */
#ifndef RIG_CHECKER_SOLVE_EXPLANATIONS_H
#define RIG_CHECKER_SOLVE_EXPLANATIONS_H

#include "checker/solve/solve.h"

struct rig_explanation {
    enum rig_level level; /* and those below it */
    uint32_t *place;      /* per node, as in struct rig_solution; owned */
};

struct rig_explanations {
    struct rig_explanation at[RIG_LEVEL_COUNT];
    uint32_t count;
    uint64_t explained, denied, spent; /* bits of the levels asked about; together they are all of them */
    uint64_t open_pairs;               /* as in struct rig_decisions */
};

void rig_explanations_done(struct rig_explanations *explanations);

/* `levels`: bits. Release with rig_explanations_done(), also after a failure. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_explanations_find(const struct rig_problem *problem, uint64_t levels, int64_t deadline_ns,
                                  struct rig_explanations *explanations, struct rig_err *err);

#endif
