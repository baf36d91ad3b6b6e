/*
 * A problem whose versions have an order: what comes next, as the searches for forbidden cycles need it.
 *
 * A version is named by its write (index into problem->writes), or by writes.count + key for the initial state of a
 * key.
 *
 * Time: linear, and sorting for real time. Space: 4 bytes for each transaction, 4 for each read, 8 for each write and
 * key; process order 12 and real time 20 more for each transaction.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_ORDER_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_ORDER_H

#include "base/arena.h"
#include "base/table.h"
#include "checker/decide/rule.h"
#include "checker/decide/solve/breach.h"
#include "checker/model/deadline.h"
#include "checker/model/problem.h"

struct rig_ordered {
    const struct rig_problem *problem;
    struct rig_deadline *deadline; /* of all searches; once it has come, their results are incomplete */
    const uint32_t *place;         /* per node */
    const uint32_t *at;            /* per place: the node there */
    const uint32_t *next;          /* per version: the write of the next version of its key, or NONE */
    const uint32_t *prev;          /* per write: the version before it */
    const uint32_t *version;       /* per read: the version that it returned */

    /* Process order, NULL where it does not count: the transactions that follow a node directly, as lists. */
    const uint32_t *child;   /* per node: the first of them, or NONE */
    const uint32_t *sibling; /* per node: the next one that follows the same node, or NONE */
    const uint32_t *lead;    /* per node: the one before it, or NONE */

    /* Real time, NULL where it does not count. */
    const uint32_t *invoked; /* the nodes in the order of their invocations */
    const uint32_t *after;   /* per node: the first index into `invoked` that was invoked after its end, or txn_count */
    const uint32_t *latest;  /* per place: after the last index into `invoked` of the nodes up to there */
};

/* `place`: a permutation of the nodes. Borrows all but the arena. Memory is the arena's; false when it runs out. */
bool rig_ordered_init(struct rig_ordered *ordered, const struct rig_problem *problem, enum rig_along along,
                      const uint32_t *place, struct rig_deadline *deadline, struct rig_arena *arena);

/* The edges: from the writer of a version to that of a later one, from a writer to a read, from a read to the writer of
 * a later version than it returned, and process or real-time order. */
struct rig_arc rig_ordered_ww(const struct rig_problem *problem, uint32_t earlier_write, uint32_t later_write);
struct rig_arc rig_ordered_wr(const struct rig_problem *problem, uint32_t read);
struct rig_arc rig_ordered_rw(const struct rig_problem *problem, uint32_t read, uint32_t later_write);
struct rig_arc rig_ordered_arc(uint32_t from, uint32_t to, enum rig_edge_kind kind);

/*
 * Takes closed walks that a rule forbids, and keeps simple cycles that it forbids.
 *
 * A closed walk that passes a transaction twice consists of two shorter ones, and the rule forbids at least one of
 * them:
 *  - A rule that counts edges or transactions of a kind: a part has no more of them, and each rule forbids a part
 *    without rw edges.
 *  - A rule about the edge before each rw edge: let edges a and b arrive at the transaction, with a' after a and b'
 *    after b. The parts join b to a', and a to b'. A part whose joint leaves by another edge than rw is forbidden. If
 *    a' and b' are both rw edges and only the kind of the edge before counts, a and b are both of an allowed kind. If
 *    operations count, a arrives before the operation of a', and b before that of b'. Were neither joint in order, then
 *    a < a' <= b < b' <= a. Where an edge may also arrive at the operation itself: a <= a' < b <= b' < a.
 */

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
