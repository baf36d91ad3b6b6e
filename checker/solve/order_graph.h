/*
 * What must come before what in one total order of the transactions (arbitration), and the order itself: a topological
 * sort of known edges and of chosen pairs, close to a given rank.
 *
 * Known: wr (but for a rule of writes alone), the pairs of the problem, process and real-time order as far as the rule
 * respects them. Real time takes linear space: behind the transactions there is one node for each invocation, in
 * their order, and the edges go through these (Cobra, OSDI 2020).
 *
 * Time: linear in nodes and edges, times log n for the rank. Space: 16 bytes an edge, 24 a node.
 */
#ifndef RIG_CHECKER_SOLVE_ORDER_GRAPH_H
#define RIG_CHECKER_SOLVE_ORDER_GRAPH_H

#include "checker/levels/rule.h"
#include "checker/solve/problem.h"

struct rig_order_edge {
    uint32_t from, to;
    bool chosen; /* a supposition: `from` before `to` */
};

RIG_VEC(struct rig_order_edge, rig_order_edges)

struct rig_order_graph {
    uint32_t txn_count, node_count; /* nodes from txn_count on are moments of invocation */
    struct rig_order_edges edges;   /* the known ones come first */
    size_t known_count;
    uint32_t *first_out, *out; /* per node, and one more: into `out`; edges */
    uint32_t *missing;         /* per node: edges from nodes that are not placed yet */
    uint32_t *heap, *into;     /* nodes that can come next, by rank; per node of a cycle: its edge */
};

/* False when memory runs out. Borrows nothing. */
bool rig_order_graph_init(struct rig_order_graph *graph, const struct rig_problem *problem,
                          const struct rig_rule *rule);
void rig_order_graph_done(struct rig_order_graph *graph);

/* Forgets the chosen pairs. */
void rig_order_graph_clear(struct rig_order_graph *graph);
bool rig_order_graph_choose(struct rig_order_graph *graph, uint32_t before, uint32_t after);

/*
 * Places all transactions, those of low rank as early as the edges allow. False when memory runs out. When the edges
 * have a cycle, its edges are added to `cycle`, and `place` is not written.
 */
bool rig_order_graph_sort(struct rig_order_graph *graph, const uint32_t *rank, uint32_t *place,
                          struct rig_order_edges *cycle);

#endif
