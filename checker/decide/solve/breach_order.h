/*
 * A problem whose versions have an order: what comes next, as the searches for forbidden cycles need it.
 *
 * A version is named by its write (index into problem->writes), or by writes.count + key for the initial state of a key.
 *
 * Time: linear, and sorting for real time. Space: 4 bytes for each transaction, 4 for each read, 8 for each write and
 * key; process order 12 and real time 20 more for each transaction.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_ORDER_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_ORDER_H

#include "base/arena.h"
#include "checker/decide/rule.h"
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
    const uint32_t *lead;    /* per node: the nearest one before it that is not left out, or NONE */

    /* Real time, NULL where it does not count. */
    const uint32_t *invoked; /* the nodes in the order of their invocations */
    const uint32_t *after;   /* per node: the first index into `invoked` that was invoked after its end, or txn_count */
    const uint32_t *latest;  /* per place: behind the last index into `invoked` of the nodes up to there */
};

/* `place`: a permutation of the nodes. Borrows all but the arena. Memory is the arena's; false when it runs out. */
bool rig_ordered_init(struct rig_ordered *ordered, const struct rig_problem *problem, enum rig_along along,
                      const uint32_t *place, struct rig_deadline *deadline, struct rig_arena *arena);

/* Fills lead, where process order counts. `left_out`, per node: paths do not go through it; NULL: through all. False when
 * memory runs out. */
bool rig_ordered_leave_out(struct rig_ordered *ordered, const uint8_t *left_out, struct rig_arena *arena);

/* The edges: from the writer of a version to that of a later one, from a writer to a read, from a read to the writer of
 * a later version than it returned, and process or real-time order. */
struct rig_arc rig_ordered_ww(const struct rig_problem *problem, uint32_t earlier_write, uint32_t later_write);
struct rig_arc rig_ordered_wr(const struct rig_problem *problem, uint32_t read);
struct rig_arc rig_ordered_rw(const struct rig_problem *problem, uint32_t read, uint32_t later_write);
struct rig_arc rig_ordered_arc(uint32_t from, uint32_t to, enum rig_edge_kind kind);

#endif
