/*
 * Takes closed walks that a rule forbids, and keeps simple cycles that it forbids.
 *
 * A closed walk that passes a transaction twice is two shorter ones, and the rule forbids one of them (or both). For a
 * rule about the number of edges of a kind or of transactions this is because a part has no more of them; one without
 * any rw edge is forbidden by all. For a rule about what must come before an rw edge, take the two edges that arrive at
 * the transaction, a and b, and those that leave, a' and b', where a' may follow a, and b' follow b; the parts join b
 * to a', and a to b'. A part whose new joint leaves by another edge than rw is forbidden, so let a' and b' both be rw
 * edges. Where only the kind of the edge before counts, both a and b are of an allowed kind, and each may be followed by
 * both. Where operations count, a arrives before that of a', and b before that of b'; if a came not before b' and b not
 * before a', this would be a < a' <= b < b' <= a. (SNAPSHOT: if b and a' are both rw, then a and b' are not.)
 */
#ifndef RIG_CHECKER_SOLVE_BREACH_SINK_H
#define RIG_CHECKER_SOLVE_BREACH_SINK_H

#include "base/arena.h"
#include "base/table.h"
#include "checker/solve/breach.h"

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
/* Likewise, of a cycle of two edges. */
bool rig_breach_sink_take_two(struct rig_breach_sink *sink, struct rig_arc first, struct rig_arc second);

#endif
