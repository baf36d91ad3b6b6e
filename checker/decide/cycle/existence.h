/*
 * Decides whether a requested anomaly exists (docs/checker/anomalies.md, "Asking for an anomaly") when the ladder's
 * searches for short witnesses found none of its cases.
 *
 * A seed is an edge that certainly lies on a closed walk of the kind in question: an rw edge inside a component; an rw
 * edge whose end is joined to its beginning by a path of the other edges (existence.h); or a transaction that completed
 * before an ancestor was invoked, when the path between them has the rw edges that the kind needs. Without a seed there
 * is no cycle; from a seed, a search without bounds gives the witness. A walk without two adjacent rw edges that passes
 * a transaction twice may split into cycles of other kinds only; then the answer stays open.
 *
 * Time: linear in the core for each form (plain, process, real time) and shape, plus the pairs that existence.h
 * answers. It is spent only on requested anomalies that were not found.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_EXISTENCE_H
#define RIG_CHECKER_DECIDE_CYCLE_EXISTENCE_H

#include "base/err.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/cycle/search.h"

struct rig_existence {
    const struct rig_history *history; /* borrowed, like the rest */
    const struct rig_graph *graph;     /* the core */
    bool unsettled;                    /* a transaction of unknown fate counts as committed, in the core or outside */
    struct rig_collector *collector;   /* witnesses go there */
    struct rig_search *search;
    struct rig_ladder *ladder; /* climbed: with its decisions, and what was found */
};

/* Adds a witness of each anomaly in `asked` that exists and was not found, and fills ladder->undecided. */
enum rig_rc rig_existence_decide(const struct rig_existence *existence, rig_anomaly_set asked, struct rig_err *err);

#endif
