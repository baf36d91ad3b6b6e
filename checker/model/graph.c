#include "checker/model/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

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

/* The latest transaction that leads to a relay, through others too; of relays on the path and relays not seen yet: */
#define LATEST_ON_PATH UINT32_MAX
#define LATEST_UNKNOWN (UINT32_MAX - 1)

struct frame {
    uint32_t relay;
    struct rig_links_cursor cursor;
    uint32_t latest; /* so far, plus 1; 0: none */
};

/* Whether an edge may lead from one node to the other, by their numbers. */
static bool is_edge(uint32_t edge, uint32_t to, uint32_t txn_count, uint32_t node_count)
{
    const uint32_t from = rig_edge_node(edge);
    const bool from_relay = from >= txn_count;
    return from < node_count && from != to && from_relay == (rig_edge_link(edge) == RIG_LINK_THROUGH);
}

static bool chain_descends(const struct rig_links *links, uint32_t node)
{
    bool descends = true;
    for (uint32_t i = *rig_links_head(links, node), next; i != RIG_NODE_NONE && descends; i = next) {
        next = links->chained[i].next;
        descends = i < links->chained_count && (next == RIG_NODE_NONE || next < i);
        if (descends && i < links->read_count && next != RIG_NODE_NONE)
            descends = rig_edge_node(links->chained[next].edge) <= rig_edge_node(links->chained[i].edge);
    }
    return descends;
}

static bool edges_are_sound(const struct rig_links *links, const uint8_t *committed, uint32_t node)
{
    struct rig_links_cursor cursor = rig_links_into(links, node);
    bool sound = cursor.own <= cursor.own_end;
    for (uint32_t edge; sound && (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;) {
        const uint32_t from = rig_edge_node(edge);
        sound = is_edge(edge, node, links->txn_count, links->node_count);
        if (sound && committed != NULL)
            sound = (from >= links->txn_count || committed[from]) && (node >= links->txn_count || committed[node]);
    }
    return sound;
}

/* Fills `latest` for the relay and all that lead to it; false at a cycle. */
static bool follow_relays(const struct rig_links *links, uint32_t relay, uint32_t *latest, struct frame *path)
{
    const uint32_t first = links->txn_count;
    uint32_t depth = 0;
    path[depth++] = (struct frame){.relay = relay, .cursor = rig_links_into(links, relay)};
    latest[relay - first] = LATEST_ON_PATH;
    while (depth > 0) {
        struct frame *top = &path[depth - 1];
        const uint32_t edge = rig_links_next(links, &top->cursor);
        uint32_t met = 0;
        if (edge == RIG_NODE_NONE) {
            latest[top->relay - first] = met = top->latest;
            if (--depth == 0)
                break;
            top = &path[depth - 1];
        } else if (rig_edge_node(edge) < first) {
            met = rig_edge_node(edge) + 1;
        } else {
            const uint32_t from = rig_edge_node(edge);
            met = latest[from - first];
            if (met == LATEST_ON_PATH)
                return false;
            if (met == LATEST_UNKNOWN) {
                latest[from - first] = LATEST_ON_PATH;
                path[depth++] = (struct frame){.relay = from, .cursor = rig_links_into(links, from)};
                continue;
            }
        }
        top->latest = met > top->latest ? met : top->latest;
    }
    return true;
}

static bool is_marked(const struct rig_links *links, const uint32_t *latest, uint32_t txn)
{
    struct rig_links_cursor cursor = rig_links_into(links, txn);
    bool late = false;
    for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE && !late;) {
        const uint32_t from = rig_edge_node(edge);
        late = from < links->txn_count ? from > txn : latest[from - links->txn_count] > txn + 1;
    }
    return !late || links->late_before[txn];
}

bool rig_links_are_sound(const struct rig_links *links, const uint8_t *committed)
{
    const uint32_t relays = links->node_count - links->txn_count;
    uint32_t *latest = malloc(((size_t)relays + 1) * sizeof *latest);
    struct frame *path = malloc(((size_t)relays + 1) * sizeof *path);
    bool sound = true, room = latest != NULL && path != NULL;
    for (uint32_t i = 0; room && i < relays; i++)
        latest[i] = LATEST_UNKNOWN;
    for (uint32_t node = 0; room && sound && node < links->node_count; node++)
        sound = edges_are_sound(links, committed, node) && chain_descends(links, node);
    for (uint32_t i = 0; room && sound && i < relays; i++)
        sound = latest[i] != LATEST_UNKNOWN || follow_relays(links, links->txn_count + i, latest, path);
    for (uint32_t txn = 0; room && sound && txn < links->txn_count; txn++)
        sound = is_marked(links, latest, txn);
    free(latest);
    free(path);
    return sound;
}

/* ---- graphs ---- */

static bool numbers_are_sound(const struct rig_graph *graph)
{
    bool sound = (graph->nodes == NULL) == (graph->place == NULL);
    for (uint32_t node = 0; sound && graph->nodes != NULL && node < graph->txn_count; node++)
        sound = graph->place[graph->nodes[node]] == node && (node == 0 || graph->nodes[node - 1] < graph->nodes[node]);
    return sound;
}

/* Removes relays without an edge from another relay, until none is left: then relays form no cycle. */
static bool relays_are_acyclic(const struct rig_graph *graph)
{
    const uint32_t first = graph->txn_count, relays = graph->node_count - first;
    uint32_t *left = calloc((size_t)relays + 1, sizeof *left); /* per relay: others that it leads to */
    uint32_t *ready = malloc(((size_t)relays + 1) * sizeof *ready);
    uint32_t count = 0, done = 0;
    if (left == NULL || ready == NULL) {
        free(left);
        free(ready);
        return true;
    }
    for (uint32_t i = graph->first[first]; i < graph->first[graph->node_count]; i++) {
        if (rig_edge_node(graph->edges[i]) >= first)
            left[rig_edge_node(graph->edges[i]) - first]++;
    }
    for (uint32_t relay = 0; relay < relays; relay++) {
        if (left[relay] == 0)
            ready[count++] = relay;
    }
    for (; done < count; done++) {
        const uint32_t node = first + ready[done];
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            const uint32_t from = rig_edge_node(graph->edges[i]);
            if (from >= first && --left[from - first] == 0)
                ready[count++] = from - first;
        }
    }
    free(left);
    free(ready);
    return done == relays;
}

bool rig_graph_is_sound(const struct rig_graph *graph)
{
    bool sound = graph->txn_count <= graph->node_count && graph->first[0] == 0 && numbers_are_sound(graph);
    for (uint32_t node = 0; sound && node < graph->node_count; node++) {
        sound = graph->first[node] <= graph->first[node + 1];
        for (uint32_t i = graph->first[node]; sound && i < graph->first[node + 1]; i++)
            sound = is_edge(graph->edges[i], node, graph->txn_count, graph->node_count);
    }
    return sound && relays_are_acyclic(graph);
}
