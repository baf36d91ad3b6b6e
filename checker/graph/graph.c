#include "checker/graph/graph.h"

#include <string.h>

#include "base/bug.h"

/* Whether a chained edge into `node` was found after the node's own ones. */
static bool comes_after(const struct rig_links *links, uint32_t chained, uint32_t node)
{
    return chained >= links->read_count || rig_edge_node(links->chained[chained].edge) > node;
}

/* The edges into one node. A chain starts with what was added last. */
static void pack_node(const struct rig_links *links, uint32_t node, struct rig_graph *graph)
{
    uint32_t before = 0, after = 0, own = 0;
    const uint32_t head = *rig_links_head(links, node);
    const uint32_t *own_edges = NULL;
    for (uint32_t i = head; i != RIG_NODE_NONE; i = links->chained[i].next) {
        if (comes_after(links, i, node))
            after++;
        else
            before++;
    }
    uint32_t *at = graph->edges + graph->first[node];
    if (links->own_first != NULL && node < links->txn_count) {
        own = links->own_first[node + 1] - links->own_first[node];
        own_edges = links->own + links->own_first[node];
    }
    for (uint32_t i = 0; i < own; i++)
        at[before + i] = own_edges[i];
    graph->first[node + 1] = graph->first[node] + before + own + after;
    for (uint32_t i = head; i != RIG_NODE_NONE; i = links->chained[i].next) {
        uint32_t edge = links->chained[i].edge;
        RIG_INVARIANT(rig_edge_node(edge) < links->node_count && rig_edge_node(edge) != node);
        if (comes_after(links, i, node))
            at[before + own + --after] = edge;
        else
            at[--before] = edge;
    }
}

enum rig_rc rig_graph_pack(const struct rig_links *links, struct rig_arena *arena, struct rig_graph *graph,
                           struct rig_err *err)
{
    uint32_t own_count = links->own_first == NULL ? 0 : links->own_first[links->txn_count];
    uint64_t edge_count = (uint64_t)own_count + links->chained_count;
    if (edge_count >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "the dependency graph has more than 2^32 edges; check a shorter history");
    struct rig_graph result = {.txn_count = links->txn_count, .node_count = links->node_count};
    memcpy(result.link_count, links->link_count, sizeof result.link_count);
    result.first = rig_arena_room(arena, (size_t)links->node_count + 1, sizeof *result.first);
    result.edges = rig_arena_room(arena, (size_t)edge_count + 1, sizeof *result.edges);
    if (result.first == NULL || result.edges == NULL)
        return rig_fail(err, RIG_E_LIMIT,
                        "not enough memory for a graph of %u nodes and %llu edges; raise --max-memory",
                        links->node_count, (unsigned long long)edge_count);
    result.first[0] = 0;
    for (uint32_t node = 0; node < links->node_count; node++)
        pack_node(links, node, &result);
    RIG_INVARIANT(result.first[links->node_count] == edge_count);
    *graph = result;
    return RIG_OK;
}
