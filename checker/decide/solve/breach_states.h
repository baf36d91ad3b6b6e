/*
 * The graph whose closed walks are those that a rule forbids, and its strongly connected components (Tarjan 1972).
 *
 * A transaction has one state for each set of reads whose rw edges may follow. Such a set holds the reads from a
 * certain one on: the state's port. The edge that arrives decides the port; the highest port, the number of reads,
 * allows none. The graph has edges to the next version only, because ww edges lead on to the later ones, and after a ww
 * edge at least as many edges may follow as after the rw edge to the same version.
 *
 * Real-time order adds one state for each transaction: "invoked from here on". Each component lies between the ends of
 * edges that lead back in the order of the places, and only the transactions there are searched.
 *
 * Time: linear. Space: 12 bytes a state, and 32 a state on the deepest path.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_STATES_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_STATES_H

#include "checker/decide/solve/breach_order.h"

/* Which rw edges may follow the edge that arrives at a transaction. */
enum rig_follow {
    RIG_FOLLOW_ANY,   /* all */
    RIG_FOLLOW_FLOW,  /* all after other edges than rw */
    RIG_FOLLOW_READ,  /* all after wr, process and real-time edges */
    RIG_FOLLOW_LATER, /* after ww and wr edges those of later operations than the one at which they arrive; all after
                       * process and real-time edges */
    RIG_FOLLOW_FROM,  /* as RIG_FOLLOW_LATER, and those of the operation at which they arrive */
};

struct rig_moves {
    bool ww, wr, rw;
    enum rig_follow follow;
};

struct rig_states {
    const struct rig_ordered *ordered;
    struct rig_moves moves;
    const uint8_t *mute; /* per node: it has no rw edges in the graph; NULL: all have theirs */

    uint32_t state_count;
    uint32_t *component_of; /* per state: its component of two or more states, or NONE */
    uint32_t component_count;
    uint32_t *rank; /* per state: edges between components lead to higher ranks; NONE: left out */
};

static inline uint32_t rig_states_read_count(const struct rig_problem *problem, uint32_t node)
{
    return problem->txns.at[node + 1].first_read - problem->txns.at[node].first_read;
}

/* Whether operations count. */
static inline bool rig_follows_operations(enum rig_follow follow)
{
    return follow == RIG_FOLLOW_LATER || follow == RIG_FOLLOW_FROM;
}

/* The first read of operation `op` or a later one. */
uint32_t rig_states_port_from(const struct rig_problem *problem, uint32_t node, uint32_t op);

/* The port by which an edge arrives at `node`. */
static inline uint32_t rig_states_port(const struct rig_problem *problem, enum rig_follow follow, uint32_t node,
                                       enum rig_edge_kind kind, uint32_t to_op)
{
    const uint32_t none = rig_states_read_count(problem, node);
    if (follow == RIG_FOLLOW_ANY)
        return 0;
    if (kind == RIG_EDGE_RW || (kind == RIG_EDGE_WW && follow == RIG_FOLLOW_READ))
        return none;
    if (!rig_follows_operations(follow) || kind == RIG_EDGE_PROCESS || kind == RIG_EDGE_REALTIME)
        return 0;
    return to_op == RIG_ARC_NONE ? none : rig_states_port_from(problem, node, to_op + (follow == RIG_FOLLOW_LATER));
}

static inline uint32_t rig_states_of(const struct rig_problem *problem, enum rig_follow follow, uint32_t node,
                                     uint32_t port)
{
    if (follow == RIG_FOLLOW_ANY)
        return node;
    if (rig_follows_operations(follow))
        return problem->txns.at[node].first_read + node + port;
    return 2 * node + (port == rig_states_read_count(problem, node));
}

/* The follower of `node` in its process after `last` (NONE: the first one); `through`: also those that follow `last`.
 * NONE at the end. */
uint32_t rig_states_follower(const struct rig_ordered *ordered, uint32_t node, uint32_t last, bool through);

/* Memory is the arena's, the stack's is the heap's; false when it runs out. Some components may be missing once the
 * deadline has come. */
bool rig_states_find(struct rig_states *states, const struct rig_ordered *ordered, struct rig_moves moves,
                     const uint8_t *mute, struct rig_arena *arena);

#endif
