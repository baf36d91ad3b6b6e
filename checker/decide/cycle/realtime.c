#include "checker/decide/cycle/realtime.h"

#include <stdlib.h>

#include "base/bug.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

struct pass {
    const struct rig_components *components;
    uint32_t *latest;
    uint32_t *ended; /* per transaction of the graph */
    struct rig_node_list *violations;
};

/*
 * Notes the invocation and the end of every transaction, in the order of the history, because the pass has no such
 * locality. An unknown invocation is 0, as are those of relays.
 */
static void note_times(const struct rig_history *history, struct pass *p)
{
    const struct rig_graph *graph = p->components->view.graph;
    const uint32_t twins = p->components->view.split ? 2 : 1;
    for (uint32_t node = 0; node < graph->txn_count; node++) {
        const uint32_t txn = rig_graph_txn(graph, node), invoked = history->txns[txn].invoke_at;
        p->ended[node] = rig_txn_end(history, txn);
        for (uint32_t twin = 0; twin < twins; twin++)
            p->latest[node * twins + twin] = invoked == RIG_POSITION_NONE ? 0 : invoked;
    }
}

static uint32_t masked(uint32_t value, bool counts)
{
    return value & (0u - (uint32_t)counts);
}

/* For a plain view. */
static uint32_t latest_before_node(const struct pass *p, uint32_t node)
{
    const struct rig_view *view = &p->components->view;
    const struct rig_graph *graph = view->graph;
    const unsigned links = view->links | 1u << RIG_LINK_THROUGH;
    uint32_t most = 0;
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t edge = graph->edges[i];
        most = larger(most, masked(p->latest[rig_edge_node(edge)], links >> rig_edge_link(edge) & 1u));
    }
    uint32_t before = rig_view_process(view, node);
    return before == RIG_NODE_NONE ? most : larger(most, p->latest[before]);
}

/* For a split view without process order. */
static uint32_t latest_before_half(const struct pass *p, uint32_t state)
{
    const struct rig_graph *graph = p->components->view.graph;
    const uint32_t node = state / 2, by_rw = state & 1u;
    const unsigned links = p->components->view.links, flow = by_rw ? 0 : links & ~RIG_LINKS_RW;
    const unsigned first = (by_rw ? links & RIG_LINKS_RW : flow);
    uint32_t most = 0;
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        enum rig_link link = rig_edge_link(graph->edges[i]);
        const uint32_t *latest = &p->latest[2 * rig_edge_node(graph->edges[i])];
        bool through = link == RIG_LINK_THROUGH;
        most = larger(most, masked(latest[through & by_rw], through || (first >> link & 1u)));
        most = larger(most, masked(latest[1], flow >> link & 1u));
    }
    return most;
}

/* The latest known invocation among the ancestors of a state. */
static uint32_t latest_before(const struct pass *p, uint32_t state)
{
    const struct rig_view *view = &p->components->view;
    if (rig_view_is_plain(view))
        return latest_before_node(p, state);
    if (view->split && !view->process)
        return latest_before_half(p, state);
    struct rig_cursor cursor = {0};
    uint32_t most = 0;
    for (uint32_t from; (from = rig_view_next(view, state, &cursor)) != RIG_NODE_NONE;)
        most = larger(most, p->latest[from]);
    return most;
}

static bool note_violation(struct pass *p, uint32_t state, uint32_t latest)
{
    const struct rig_graph *graph = p->components->view.graph;
    uint32_t node = rig_view_node(&p->components->view, state);
    if (node >= graph->txn_count || p->ended[node] >= latest)
        return true;
    struct rig_node_list *violations = p->violations;
    bool noted = violations->count > 0 && violations->at[violations->count - 1] == node;
    return noted || rig_node_list_add(violations, node);
}

/* Members of a component are ancestors of each other, so they share one maximum, which includes their invocations. */
static bool pass_group(struct pass *p, uint32_t begin, uint32_t end)
{
    const uint32_t *order = p->components->order;
    uint32_t most = 0;
    for (uint32_t i = begin; i < end; i++)
        most = larger(most, latest_before(p, order[i]));
    for (uint32_t i = begin; i < end; i++) {
        p->latest[order[i]] = larger(most, p->latest[order[i]]);
        if (!note_violation(p, order[i], most))
            return false;
    }
    return true;
}

/* No state has an earlier `latest` than a predecessor, and the members of a component share theirs. */
static bool latest_is_passed_on(const struct rig_components *components, const uint32_t *latest)
{
    bool sound = true;
    for (uint32_t state = 0; sound && state < components->state_count; state++) {
        struct rig_cursor cursor = {0};
        for (uint32_t from; (from = rig_view_next(&components->view, state, &cursor)) != RIG_NODE_NONE;)
            sound &= latest[from] <= latest[state];
    }
    return sound;
}

enum rig_rc rig_realtime_find(const struct rig_history *history, const struct rig_components *components,
                              struct rig_realtime *realtime, struct rig_err *err)
{
    *realtime = (struct rig_realtime){0};
    if (!history->has_invocations)
        return RIG_OK;
    realtime->latest = calloc((size_t)components->state_count + 1, sizeof *realtime->latest);
    struct pass pass = {components, realtime->latest, NULL, &realtime->violations};
    pass.ended = malloc(((size_t)components->view.graph->txn_count + 1) * sizeof *pass.ended);
    bool done = pass.latest != NULL && pass.ended != NULL;
    if (done)
        note_times(history, &pass);
    for (uint32_t begin = 0, end; done && begin < components->state_count; begin = end) {
        uint32_t component = components->component_of[components->order[begin]];
        end = component == UINT32_MAX ? begin + 1 : components->list.at[component].end;
        RIG_INVARIANT(component == UINT32_MAX || components->list.at[component].begin == begin);
        done = pass_group(&pass, begin, end);
    }
    free(pass.ended);
    RIG_COSTLY(!done || latest_is_passed_on(components, realtime->latest));
    return done ? RIG_OK : rig_memory_limit(err, "the real-time order");
}

void rig_realtime_done(struct rig_realtime *realtime)
{
    free(realtime->latest);
    rig_node_list_done(&realtime->violations);
    realtime->latest = NULL;
}
