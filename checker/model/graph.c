#include "checker/model/graph.h"

#include <string.h>

#include "base/bug.h"
#include "checker/model/graph_audit.h"

/* Whether a chained edge into `node` was found after the own edges of the node. */
static bool comes_after(const struct rig_links *links, uint32_t chained, uint32_t node)
{
    return chained >= links->read_count || rig_edge_node(links->chained[chained].edge) > node;
}

/* The edge with the part's numbers; RIG_NODE_NONE when it leaves the part. */
static uint32_t edge_in(const struct rig_subgraph *part, uint32_t edge)
{
    if (part == NULL)
        return edge;
    uint32_t place = part->place[rig_edge_node(edge)];
    return place == RIG_NODE_NONE ? place : rig_edge_of(place, rig_edge_link(edge));
}

/* Writes the edges into one node, from `at` on; returns their number. A chain begins with the edge added last. */
static uint32_t pack_node(const struct rig_links *links, const struct rig_subgraph *part, uint32_t node, uint32_t *at)
{
    uint32_t before = 0, after = 0, own = 0;
    const uint32_t head = *rig_links_head(links, node);
    for (uint32_t i = head; i != RIG_NODE_NONE; i = links->chained[i].next) {
        if (edge_in(part, links->chained[i].edge) == RIG_NODE_NONE)
            continue;
        if (comes_after(links, i, node))
            after++;
        else
            before++;
    }
    if (links->own_first != NULL && node < links->txn_count) {
        for (uint32_t i = links->own_first[node]; i < links->own_first[node + 1]; i++) {
            uint32_t edge = edge_in(part, links->own[i]);
            if (edge != RIG_NODE_NONE)
                at[before + own++] = edge;
        }
    }
    const uint32_t count = before + own + after, begin_after = before + own;
    uint32_t end = count;
    for (uint32_t i = head; i != RIG_NODE_NONE; i = links->chained[i].next) {
        uint32_t edge = links->chained[i].edge;
        RIG_INVARIANT(rig_edge_node(edge) < links->node_count && rig_edge_node(edge) != node);
        RIG_INVARIANT((rig_edge_node(edge) < links->txn_count) == (rig_edge_link(edge) != RIG_LINK_THROUGH));
        RIG_INVARIANT(links->chained[i].next == RIG_NODE_NONE || links->chained[i].next < i);
        edge = edge_in(part, edge);
        if (edge == RIG_NODE_NONE)
            continue;
        if (comes_after(links, i, node))
            at[--end] = edge;
        else
            at[--before] = edge;
    }
    RIG_INVARIANT(before == 0 && end == begin_after);
    return count;
}

/* An upper bound of the edges into the nodes of the part. */
static uint64_t count_edges(const struct rig_links *links, const struct rig_subgraph *part)
{
    if (part == NULL)
        return (uint64_t)links->chained_count + (links->own_first == NULL ? 0 : links->own_first[links->txn_count]);
    uint64_t count = 0;
    for (uint32_t node = 0; node < part->node_count; node++) {
        struct rig_links_cursor cursor = rig_links_into(links, part->nodes[node]);
        for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;)
            count += part->place[rig_edge_node(edge)] != RIG_NODE_NONE;
    }
    return count;
}

enum rig_rc rig_graph_pack(const struct rig_links *links, const struct rig_subgraph *part, struct rig_arena *arena,
                           struct rig_graph *graph, struct rig_err *err)
{
    RIG_REQUIRE(links->head != NULL && (part == NULL || part->txn_count <= part->node_count));
    const uint64_t edge_count = count_edges(links, part);
    if (edge_count >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "the dependency graph has more than 2^32 edges; check a shorter history");
    struct rig_graph result = {.txn_count = part == NULL ? links->txn_count : part->txn_count,
                               .node_count = part == NULL ? links->node_count : part->node_count,
                               .nodes = part == NULL ? NULL : part->nodes,
                               .place = part == NULL ? NULL : part->place};
    memcpy(result.link_count, links->link_count, sizeof result.link_count);
    result.first = rig_arena_room(arena, (size_t)result.node_count + 1, sizeof *result.first);
    result.edges = rig_arena_room(arena, (size_t)edge_count + 1, sizeof *result.edges);
    if (result.first == NULL || result.edges == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "a graph of %u nodes and %llu edges; raise --max-memory",
                        result.node_count, (unsigned long long)edge_count);
    result.first[0] = 0;
    for (uint32_t node = 0; node < result.node_count; node++) {
        uint32_t *at = result.edges + result.first[node];
        result.first[node + 1] = result.first[node] + pack_node(links, part, rig_graph_txn(&result, node), at);
    }
    RIG_INVARIANT(result.first[result.node_count] == edge_count);
    *graph = result;
    RIG_COSTLY(rig_graph_is_sound(graph));
    return RIG_OK;
}
