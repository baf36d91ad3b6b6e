#include "checker/graph/graph.h"

#include "base/bug.h"

enum rig_rc rig_graph_pack(const struct rig_arcs *arcs, uint32_t txn_count, uint32_t node_count,
                           struct rig_arena *arena, struct rig_graph *graph, struct rig_err *err)
{
    if (node_count > RIG_GRAPH_MAX_NODES || arcs->count >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT,
                        "the dependency graph has more than 2^30 nodes or 2^32 edges; check a shorter history");
    struct rig_graph result = {.txn_count = txn_count, .node_count = node_count};
    result.first = rig_arena_array(arena, (size_t)node_count + 2, sizeof *result.first);
    result.edges = rig_arena_array(arena, arcs->count + 1, sizeof *result.edges);
    if (result.first == NULL || result.edges == NULL)
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for a graph of %u nodes and %zu edges; raise --max-memory",
                        node_count, arcs->count);
    /* Counted two places up, so that filling moves each entry to its own start. */
    for (size_t i = 0; i < arcs->count; i++)
        result.first[arcs->at[i].to + 2]++;
    for (uint32_t node = 0; node < node_count; node++)
        result.first[node + 1] += result.first[node];
    for (size_t i = 0; i < arcs->count; i++) {
        struct rig_arc arc = arcs->at[i];
        RIG_INVARIANT(arc.to < node_count && rig_edge_node(arc.edge) < node_count && rig_edge_node(arc.edge) != arc.to);
        result.edges[result.first[arc.to + 1]++] = arc.edge;
        if (rig_edge_link(arc.edge) != RIG_LINK_THROUGH)
            result.link_count[rig_edge_link(arc.edge)]++;
    }
    *graph = result;
    return RIG_OK;
}
