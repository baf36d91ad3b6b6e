/*
 * Strongly connected components of a view of the dependency graph (Tarjan 1972, on predecessors, with an explicit
 * stack).
 *
 * A view chooses the kinds of edges, process order or not, and whether the graph is split. In the split graph each node
 * stands twice, as (node, came by rw) = 2 * node + 1 and (node, came otherwise) = 2 * node, and an rw edge leaves only
 * the latter: its cycles are the closed walks without two adjacent rw edges, so it is acyclic exactly when snapshot
 * isolation's graph is (Cerone & Gotsman 2018, theorem 4.1).
 *
 * Time: linear in nodes and edges. Nodes are visited in completion order, so the predecessors of most nodes are done
 * before them. Space: 8 bytes a node of the view; 24 a node and 4 an edge on the deepest path.
 */
#ifndef RIG_CHECKER_MODEL_COMPONENTS_H
#define RIG_CHECKER_MODEL_COMPONENTS_H

#include "base/err.h"
#include "base/vec.h"
#include "checker/model/graph.h"

struct rig_view {
    const struct rig_graph *graph;
    unsigned links; /* RIG_LINKS_* */
    bool process;   /* with process order */
    bool settled;   /* without transactions of unknown fate */
    bool split;
};

/* A component of two or more nodes: places [begin, end) of the order. */
struct rig_component {
    uint32_t begin, end;
};

RIG_VEC(struct rig_component, rig_component_list)

struct rig_components {
    struct rig_view view;
    uint32_t state_count;   /* nodes of the view */
    uint32_t *order;        /* all of them, predecessors before successors, components together */
    uint32_t *component_of; /* index into list, or UINT32_MAX for a node alone */
    struct rig_component_list list;
};

/* RIG_E_LIMIT when memory runs out. Release with rig_components_done(), also after a failure. */
enum rig_rc rig_components_find(struct rig_view view, struct rig_components *components, struct rig_err *err);
void rig_components_done(struct rig_components *components);

/* A full check, for RIG_COSTLY() and tests: every state stands in the order once, after all its predecessors that are
 * not in its component; members of a component stand together, and each has a predecessor among them. Time: linear.
 * Passes when memory runs out. */
bool rig_components_are_sound(const struct rig_components *components);

static inline uint32_t rig_view_node(const struct rig_view *view, uint32_t state)
{
    return view->split ? state / 2 : state;
}

/* A view without split nodes and with all transactions: predecessors follow from the links and the process order. */
static inline bool rig_view_is_plain(const struct rig_view *view)
{
    return !view->split && (!view->settled || view->graph->unsettled == NULL);
}

/* The node before `node` in its process, in a plain view; or RIG_NODE_NONE. */
static inline uint32_t rig_view_process(const struct rig_view *view, uint32_t node)
{
    bool known = view->process && node < view->graph->txn_count;
    return known ? view->graph->process_before[node] : RIG_NODE_NONE;
}

/* Walks over the predecessors of one state. Start with a zeroed cursor; RIG_NODE_NONE ends it. */
struct rig_cursor {
    uint32_t edge; /* edges done */
    uint32_t twin; /* the second state of the same edge is due */
};

static inline uint32_t rig_view_next(const struct rig_view *view, uint32_t state, struct rig_cursor *cursor)
{
    const struct rig_graph *graph = view->graph;
    uint32_t node = rig_view_node(view, state);
    bool came_by_rw = view->split && (state & 1u);
    const uint8_t *left_out = view->settled ? graph->unsettled : NULL;
    if (left_out != NULL && left_out[node])
        return RIG_NODE_NONE;
    uint32_t degree = graph->first[node + 1] - graph->first[node];
    while (cursor->edge < degree) {
        uint32_t edge = graph->edges[graph->first[node] + cursor->edge];
        uint32_t from = rig_edge_node(edge);
        enum rig_link link = rig_edge_link(edge);
        if (!view->split) {
            cursor->edge++;
            if (rig_link_in(link, view->links) && (left_out == NULL || !left_out[from]))
                return from;
            continue;
        }
        if (link == RIG_LINK_THROUGH) {
            cursor->edge++;
            return from * 2 + came_by_rw;
        }
        bool usable = rig_link_in(link, view->links) && (link == RIG_LINK_RW) == came_by_rw;
        if (usable && link != RIG_LINK_RW && cursor->twin == 0) {
            cursor->twin = 1;
            return from * 2 + 1;
        }
        cursor->edge++;
        cursor->twin = 0;
        if (usable)
            return from * 2;
    }
    bool has_process = view->process && !came_by_rw && node < graph->txn_count && cursor->edge == degree &&
                       graph->process_before[node] != RIG_NODE_NONE;
    if (!has_process || (left_out != NULL && left_out[graph->process_before[node]]))
        return RIG_NODE_NONE;
    if (view->split && cursor->twin == 0) {
        cursor->twin = 1;
        return graph->process_before[node] * 2 + 1;
    }
    cursor->edge++;
    return graph->process_before[node] * (view->split ? 2u : 1u);
}

#endif
