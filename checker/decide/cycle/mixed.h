/*
 * Cycles in a history whose transactions have levels of their own: those of Adya's mixed serialization graph (Adya99
 * 5.5; model/own_level.h), which has the edges that are obligatory for the level of the transaction that they concern.
 *
 * The graph is made anew from the links. A relay stands there three times, once for each kind of the edges that lead
 * into it, because the kind decides which of the edges out of it count.
 *
 * Time: linear, and searches for short cycles with a bound; whether there is a cycle never depends on these. Space: 8
 * bytes an edge, in the arena.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_MIXED_H
#define RIG_CHECKER_DECIDE_CYCLE_MIXED_H

#include "checker/decide/cycle/ladder.h"

struct rig_mixed_question {
    const struct rig_history *history;
    const struct rig_links *all;
    const struct rig_links *items; /* without the rw edges by predicates; NULL: no rw edge is by a predicate */
    const uint8_t *selected;       /* per transaction; NULL: all */
    uint32_t most_kept;
};

/*
 * Finds cycles among the selected transactions: one of each strongly connected component, the shortest first. Release
 * with rig_mixed_done(), also after a failure. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_mixed_find(const struct rig_mixed_question *question, struct rig_arena *arena,
                           struct rig_cycles_found *found, struct rig_err *err);
void rig_mixed_done(struct rig_cycles_found *found);

/* Whether some transaction counts rw edges of items, and none by predicates. */
bool rig_mixed_needs_items(const struct rig_history *history);

#endif
