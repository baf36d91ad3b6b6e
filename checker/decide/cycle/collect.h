/*
 * Collecting distinct cycles: counts them by anomaly, keeps the shortest few of each.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_COLLECT_H
#define RIG_CHECKER_DECIDE_CYCLE_COLLECT_H

#include "base/err.h"
#include "base/table.h"
#include "checker/decide/cycle/ladder.h"
#include "checker/decide/cycle/search.h"

/* A cycle longer than this is kept only while it is the shortest. */
enum { RIG_CYCLE_LONG = RIG_WITNESS_WHOLE };

struct rig_collector {
    const struct rig_history *history;     /* borrowed */
    const struct rig_inference *inference; /* borrowed */
    struct rig_ladder *ladder;             /* borrowed */
    struct rig_table seen;                 /* fingerprints of the cycles counted */
    uint32_t most_kept;
};

void rig_collector_init(struct rig_collector *collector, const struct rig_inference *inference,
                        struct rig_ladder *ladder, uint32_t most_kept);
void rig_collector_done(struct rig_collector *collector);
/*
 * Simplifies, turns and classifies the closed walk in `cycle` (which keeps its memory), and counts it when it is new.
 * `anomaly` receives the name of its shape; one that rests on a predicate is counted under the name that says so. False
 * when memory runs out.
 */
bool rig_collector_add(struct rig_collector *collector, struct rig_cycle *cycle, enum rig_anomaly *anomaly);

/* Keeps a copy of the cycle among the shortest; its count has been added. False when memory runs out. */
bool rig_cycles_keep(struct rig_cycles_found *found, const struct rig_cycle *cycle, uint32_t most_kept);

/*
 * Shortens witnesses: searches, for each kind of cycle that was found, for one with fewer transactions.
 *
 * For each transaction of the core in turn it searches for the shortest cycle of the kind through it that is shorter
 * than the shortest so far, until the kind's budget is spent. The budget suffices for small cores, where the first
 * witness of each kind is then a shortest one; in large cores the first witness is short.
 *
 * Time: at most SHORTEST_BUDGET states a kind that has no cycle of two transactions.
 */

/* `graph`: the core. `writes`: for cycles of ww edges alone; NULL: `search`. False when memory runs out. */
bool rig_cycles_shorten(const struct rig_graph *graph, struct rig_search *search, struct rig_search *writes,
                        struct rig_collector *collector);

#endif
