/*
 * A shortest closed walk from one edge of a transaction, by the moves that a rule allows. Its edges lead to any later
 * version, adjacent or not.
 *
 * The caller can keep a walk to one component of the states and to a range of ranks. The versions of each key ascend in
 * rank.
 *
 * Time of a walk: linear in the edges of the transactions that it reaches, and in the versions of their keys up to the
 * last rank. Space: 20 bytes a transaction, 8 a write, 24 a transaction that is reached.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_WALK_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_WALK_H

#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_states.h"

/* The edges of a transaction by which a walk may begin. */
enum rig_departure {
    RIG_DEPART_MISSED,   /* from read `index` to the writers of later versions */
    RIG_DEPART_READ,     /* from the writer of the version that read `index` returned to this reader */
    RIG_DEPART_PROCESS,  /* from the transaction before node `index` in its process to this node */
    RIG_DEPART_REALTIME, /* from node `index` to those invoked after its end */
};

struct rig_start {
    enum rig_departure departure;
    uint32_t index;
};

struct rig_visit {
    uint32_t node, port;
    uint32_t from;         /* the visit before, or NONE */
    uint32_t cause, later; /* of the edge, by kind. ww: two writes; wr: read; rw: read, write; else: node */
    enum rig_edge_kind kind;
};

RIG_VEC(struct rig_visit, rig_visits)

struct rig_walker {
    const struct rig_ordered *ordered;
    struct rig_moves moves;
    const uint32_t *rank;            /* per node; that of nodes that are left out does not matter */
    const struct rig_states *states; /* of at least these moves, for `component` */
    const uint8_t *mute;             /* per node: the walk leaves it by no rw edge; NULL: by all */

    /* set before each walk */
    uint32_t component; /* to stay in; NONE: anywhere */
    uint32_t low, high; /* ranks */

    uint32_t round;                /* marks of earlier rounds do not count */
    uint32_t *seen, *port;         /* per node: round of the last visit, its lowest port */
    uint32_t *opened, *missed_end; /* per node: round in which it was expanded, its first read that was */
    uint32_t *overwritten;         /* per write: round in which ww edges reached it */
    uint32_t *missed;              /* per write: round in which rw edges reached it */
    uint32_t *followed;            /* per node: round in which process order reached it */
    uint32_t invoked_from;         /* real time has reached the transactions from here on */
    struct rig_visits visits;
    uint64_t steps; /* taken so far, by all walks */

    /* of this round */
    uint32_t target, target_port; /* arrive here, by a port not higher */
    uint32_t found;               /* visit */
    bool failed;                  /* memory ran out */
};

/* Memory is the arena's; that of the visits is the heap's. Release with rig_walker_done(), also after a failure. */
bool rig_walker_init(struct rig_walker *walker, const struct rig_ordered *ordered, struct rig_moves moves,
                     const uint32_t *rank, struct rig_arena *arena);
void rig_walker_done(struct rig_walker *walker);

/*
 * Appends the arcs of a shortest closed walk that begins with `start` to `arcs`; none if there is none, or the
 * deadline comes first. A walk can pass
 * a transaction twice. False when memory runs out.
 */
bool rig_walker_close(struct rig_walker *walker, struct rig_start start, struct rig_arcs *arcs);

/*
 * The cycles of a rule about reachability: in each component of its states, a short one from each edge that leads back
 * in the order of the transactions, within a number of steps.
 *
 * Time: linear, for the components and one cycle in each of them; the steps for further cycles are linear in the
 * problem.
 */

/* Which edges closed walks of the form have; for a form with one rw edge, those of the walks that have at least one. */
struct rig_moves rig_breach_moves(enum rig_rule_form form);

/* The steps that searches for further cycles may take. */
uint64_t rig_breach_most_steps(const struct rig_problem *problem);

/* Finds the components without the rw edges of the transactions of `mute` (NULL: with all), and a
 * cycle in each of them at least. False when memory runs out. */
bool rig_breach_find_closed(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *mute,
                            struct rig_breach_sink *sink, struct rig_states *states, struct rig_arena *arena);

#endif
