/*
 * Decides which of many pairs of nodes are joined by a path, exactly and in any graph.
 *
 * The sources are numbered in the topological order of the view's components. A batch of them is carried along that
 * order at once, one bit each, over the stretch between the first source and the last target of the batch.
 *
 * Time: (pairs with different sources / RIG_REACH_LANES) passes over the stretches of the batches, which are short
 * where pairs are close to each other. Space: 16 bytes a pair, 8 a state of the view, and RIG_REACH_LANES / 8 a state
 * of the longest stretch.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_REACH_H
#define RIG_CHECKER_DECIDE_CYCLE_REACH_H

#include "checker/model/components.h"

enum { RIG_REACH_LANES = 256 };

struct rig_pair {
    uint32_t from, to; /* nodes of a view that is not split */
    uint32_t place;    /* scratch */
    bool joined;       /* answered: a path of the view leads from `from` to `to`; both may be one node */
};

RIG_VEC(struct rig_pair, rig_pairs)

/* Answers all pairs, and may reorder them. `view`: the components of a view that is not split. */
enum rig_rc rig_reach(const struct rig_components *view, struct rig_pairs *pairs, struct rig_err *err);

#endif
