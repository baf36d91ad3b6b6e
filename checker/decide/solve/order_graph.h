/*
 * A total order of the transactions that keeps what is known, and what is chosen: a topological sort of the frame's
 * graph (frame.h), close to a given rank. Transactions wait for the readers of versions that they overwrite
 * (order_graph.h), if that leads anywhere. An order of two versions comes with the rw edges of those that read the
 * earlier one, where the frame has such paths. These go by a relay, a node of its own, from the readers of a version to
 * the writers of later ones, so that edges are as many as the readers and the writers, and not as their product.
 *
 * Time: linear in nodes and edges, times log n for the rank. Space: 24 bytes an edge, 32 a node, 8 a version, 4
 * a read.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_ORDER_GRAPH_H
#define RIG_CHECKER_DECIDE_SOLVE_ORDER_GRAPH_H

#include "checker/decide/solve/frame.h"
#include "checker/model/problem.h"

/*
 * A serial execution in the making: which version of each key is the latest one, and which of its readers are still to
 * come. A transaction that would overwrite a version too early waits, so that most orders found need no repair.
 *
 * Time: linear in the operations of a transaction, each time it is asked for. Space: 4 bytes a read, 8 a version, 16 a
 * transaction.
 */

/* Versions are writes, and from the number of writes on the initial states of the keys. */
struct rig_serial_plan {
    const struct rig_problem *problem;
    uint32_t *version;                  /* per read: the version that it returned */
    uint32_t *latest;                   /* per key */
    uint32_t *to_come;                  /* per version: reads that are not placed yet */
    uint32_t *first_waiter;             /* per version: transactions that wait for its readers, a list */
    uint32_t *next_waiter;              /* per transaction */
    uint32_t *waits_for;                /* per transaction: a version, or RIG_PROBLEM_NONE */
    uint32_t *released, released_count; /* transactions that need not wait longer for what they waited for */
};

struct rig_order_edge {
    uint32_t from, to;      /* nodes of the frame, or relays */
    uint32_t before, after; /* transactions: the edge rests on their order; RIG_PROBLEM_NONE: it is known */
};

RIG_VEC(struct rig_order_edge, rig_order_edges)
RIG_VEC(size_t, rig_order_ends)

/* Cycles one after the other. */
struct rig_order_cycles {
    struct rig_order_edges edges;
    struct rig_order_ends ends; /* per cycle: where it ends in edges */
};

struct rig_order_graph {
    const struct rig_problem *problem;
    const struct rig_rule_frame *frame;
    uint32_t node_count; /* those of the frame, then relays */
    uint32_t *relay;     /* per version (as in problem->reader_first): its relay, or RIG_PROBLEM_NONE */
    uint32_t *own_first,
        *own; /* per version, and one more: into `own`; transactions that read it, with edges of their own */
    struct rig_order_edges edges; /* the lasting ones come first */
    size_t lasting;
    uint32_t ww_before, ww_after; /* of the ww edge that was added last */
    uint32_t *first_out, *out;    /* per node, and one more: into `out`; edges */
    uint32_t *missing;            /* per node: edges from nodes that are not placed yet */
    uint64_t *heap;               /* ranks and nodes that can come next */
    uint32_t *into;               /* per node of a cycle: its edge */
    struct rig_serial_plan plan;
    uint64_t *overdue;  /* a heap of ranks and transactions that waited */
    bool *is_overdue;   /* per transaction: in the heap */
    uint32_t *sequence; /* of all nodes of the frame, by the last sort */
};

/* Borrows problem and frame. False when memory runs out. */
bool rig_order_graph_init(struct rig_order_graph *graph, const struct rig_problem *problem,
                          const struct rig_rule_frame *frame);
void rig_order_graph_done(struct rig_order_graph *graph);

/* The version of `key` by `before` comes before that by `after`. */
bool rig_order_graph_add(struct rig_order_graph *graph, uint32_t key, uint32_t before, uint32_t after);
/* The same, of all keys that both write. */
bool rig_order_graph_choose(struct rig_order_graph *graph, uint32_t before, uint32_t after);
/* The edges so far last; `forget` drops those added since. */
void rig_order_graph_keep(struct rig_order_graph *graph);
void rig_order_graph_forget(struct rig_order_graph *graph);

/* Whether the problem has one session after the other, as without times: then its order says nothing. */
bool rig_order_graph_in_turn(const struct rig_problem *problem);
/* A rank for the first sort: the order of completion; where the problem has one session after the other, as without
 * times, the places in these. */
void rig_order_graph_rank(const struct rig_problem *problem, uint32_t *rank);

/*
 * Places all transactions (their commits), those of low rank as early as the edges allow. False when memory runs out.
 * When the edges have cycles, some of them without common nodes are added to `cycles`, and `place` is not written.
 */
bool rig_order_graph_sort(struct rig_order_graph *graph, const uint32_t *rank, uint32_t *place,
                          struct rig_order_cycles *cycles);

#endif
