/*
 * The dependency graph, or a part of it: nodes are transactions, edges point to predecessors.
 *
 * Node ids below txn_count are transactions (uncommitted ones have no edges), in completion order; those above are
 * relays: helper nodes that stand for a complete bipartite set of edges, whose pairs would be quadratic. An edge from a
 * relay has the kind RIG_LINK_THROUGH and continues the edge that led into the relay, with its kind.
 *
 * Space: 4 bytes an edge, 4 a node, 4 a transaction for the process order. Real-time order takes no edges
 * (cycle/realtime.h).
 */
#ifndef RIG_CHECKER_MODEL_GRAPH_H
#define RIG_CHECKER_MODEL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/links.h"

/* Bits for sets of links; edges from relays belong to every set. */
#define RIG_LINKS_WW  1u
#define RIG_LINKS_WR  2u
#define RIG_LINKS_RW  4u
#define RIG_LINKS_ALL (RIG_LINKS_WW | RIG_LINKS_WR | RIG_LINKS_RW)

/* Some nodes of a graph, numbered anew in the same order. */
struct rig_subgraph {
    uint32_t txn_count;
    uint32_t node_count;
    uint32_t *nodes; /* per node: its number in the whole */
    uint32_t *place; /* per node of the whole: its number in the part, or RIG_NODE_NONE */
};

struct rig_graph {
    uint32_t txn_count;
    uint32_t node_count;
    const uint32_t *nodes;    /* of a part: rig_subgraph.nodes; NULL: the graph is the whole */
    const uint32_t *place;    /* of a part: rig_subgraph.place; NULL: the graph is the whole */
    uint32_t *first;          /* node_count + 1 offsets into edges */
    uint32_t *edges;          /* predecessor << 2 | enum rig_link */
    uint8_t *unsettled;       /* per node: 1 for a transaction of unknown fate; NULL when there is none */
    uint32_t *process_before; /* per transaction: the committed one before it in its process, or RIG_NODE_NONE */
    uint64_t link_count[3];   /* ww, wr, rw */
};

/* The transaction of the history that a node stands for; for a relay, its number in the whole graph. */
static inline uint32_t rig_graph_txn(const struct rig_graph *graph, uint32_t node)
{
    return graph->nodes == NULL ? node : graph->nodes[node];
}

/* The node that stands for a transaction, or RIG_NODE_NONE. */
static inline uint32_t rig_graph_node(const struct rig_graph *graph, uint32_t txn)
{
    return graph->place == NULL ? txn : graph->place[txn];
}

static inline bool rig_link_in(enum rig_link link, unsigned links)
{
    return link == RIG_LINK_THROUGH || (links >> link & 1u);
}

/*
 * Makes the graph of the links, or of those between the nodes of `part` (NULL: all; borrowed), without process order.
 * The edges into a transaction stand in the order of the transactions that showed them, its own among them; those that
 * were added later follow. Time: linear.
 */
enum rig_rc rig_graph_pack(const struct rig_links *links, const struct rig_subgraph *part, struct rig_arena *arena,
                           struct rig_graph *graph, struct rig_err *err);

/*
 * Full checks of the properties that searches for cycles rest on: for RIG_COSTLY(), and tests.
 *
 * Time: linear in nodes and edges. Space: 28 bytes a relay, from the heap. They pass when memory runs out.
 */

/*
 * Checks links after all were added. Edges join different existing nodes, and committed transactions only (`committed`
 * NULL: any). An edge from a transaction into a relay has a kind; an edge from a relay has none; relays form no cycle.
 * Chains descend, and so do the transactions in the part that was chained while transactions were visited. Each
 * transaction with an edge from a later one, also through relays, is marked in late_before.
 */
bool rig_links_are_sound(const struct rig_links *links, const uint8_t *committed);

/* Checks a packed graph: rows ascend, edges join different existing nodes, relays are as above, and the numbers of
 * transactions in a part and in the whole are inverse to each other and ascend. */
bool rig_graph_is_sound(const struct rig_graph *graph);

#endif
