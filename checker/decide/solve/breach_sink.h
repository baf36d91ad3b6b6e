/*
 * Takes closed walks that a rule forbids, and keeps simple cycles that it forbids.
 *
 * A closed walk that passes a transaction twice consists of two shorter ones, and the rule forbids at least one of
 * them:
 *  - A rule that counts edges or transactions of a kind: a part has no more of them, and each rule forbids a part
 *    without rw edges.
 *  - A rule about the edge before each rw edge: let edges a and b arrive at the transaction, with a' behind a and b'
 *    behind b. The parts join b to a', and a to b'. A part whose joint leaves by another edge than rw is forbidden. If a'
 *    and b' are both rw edges and only the kind of the edge before counts, a and b are both of an allowed kind. If
 *    operations count, a arrives before the operation of a', and b before that of b'. Were neither joint in order, then
 *    a < a' <= b < b' <= a. Where an edge may also arrive at the operation itself: a <= a' < b <= b' < a.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_SINK_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_SINK_H

#include "base/arena.h"
#include "base/table.h"
#include "checker/decide/solve/breach.h"

struct rig_breach_sink {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    struct rig_breaches *found;
    uint32_t count, most;
    struct rig_table known; /* hash of the transactions of each cycle */
    uint32_t *where;        /* per node: 1 + its place in the walk at hand, or 0 */
    bool *writes_nothing;   /* room for the walk at hand */
    size_t room;
    struct rig_arcs walk; /* the caller fills it for rig_breach_sink_take() */
};

/* Memory is the arena's and the heap's; release with rig_breach_sink_done(), also after a failure. */
bool rig_breach_sink_init(struct rig_breach_sink *sink, const struct rig_problem *problem, const struct rig_rule *rule,
                          uint32_t most, struct rig_breaches *found, struct rig_arena *arena);
void rig_breach_sink_done(struct rig_breach_sink *sink);

static inline bool rig_breach_sink_is_full(const struct rig_breach_sink *sink)
{
    return sink->count >= sink->most;
}

/* Keeps a cycle of the closed walk in sink->walk, if there is one and its transactions are new, and empties the walk.
 * `kept` may be NULL. False when memory runs out. */
bool rig_breach_sink_take(struct rig_breach_sink *sink, bool *kept);
/* Keeps a cycle of two edges, if its transactions are new. */
bool rig_breach_sink_take_two(struct rig_breach_sink *sink, struct rig_arc first, struct rig_arc second);

#endif
