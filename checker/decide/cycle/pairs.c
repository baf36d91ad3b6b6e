#include "checker/decide/cycle/pairs.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/model/orders.h"

struct pairs {
    const struct rig_history *history;
    const struct rig_graph *graph;
    struct rig_collector *collector;
    uint8_t *late_before;   /* per node: whether an edge leads to it from a later transaction */
    struct rig_cycle cycle; /* scratch */
};

static enum rig_edge_kind kind_of(uint32_t edge)
{
    static const enum rig_edge_kind kinds[] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW};
    RIG_INVARIANT(rig_edge_link(edge) != RIG_LINK_THROUGH);
    return kinds[rig_edge_link(edge)];
}

static bool add(struct pairs *p, uint32_t from, enum rig_edge_kind out, uint32_t to, enum rig_edge_kind back)
{
    enum rig_anomaly anomaly;
    p->cycle.count = 0;
    if (!rig_cycle_add(&p->cycle, (struct rig_hop){rig_graph_txn(p->graph, from), out}) ||
        !rig_cycle_add(&p->cycle, (struct rig_hop){rig_graph_txn(p->graph, to), back}) ||
        !rig_collector_add(p->collector, &p->cycle, &anomaly))
        return false;
    RIG_INVARIANT(p->cycle.count == 2);
    return true;
}

/*
 * Checks an edge of `kind` from `from` to `to` against process order and real time, in which `to` may precede `from`.
 * Nodes are numbered in completion order, so most pairs need no check.
 */
static bool check_orders(struct pairs *p, uint32_t from, enum rig_edge_kind kind, uint32_t to)
{
    if (from < to)
        return true;
    const struct rig_txn *source = &p->history->txns[rig_graph_txn(p->graph, from)];
    uint32_t target = rig_graph_txn(p->graph, to);
    bool known = source->invoke_at != RIG_POSITION_NONE;
    if (known && rig_txn_end(p->history, target) < source->invoke_at && !add(p, from, kind, to, RIG_EDGE_REALTIME))
        return false;
    bool same_process = source->process == p->history->txns[target].process;
    bool before = rig_process_precedes(p->history, target, rig_graph_txn(p->graph, from));
    return !same_process || !before || add(p, from, kind, to, RIG_EDGE_PROCESS);
}

static uint32_t in_degree(const struct rig_graph *graph, uint32_t node)
{
    return graph->first[node + 1] - graph->first[node];
}

/*
 * Looks for the edges back. One of the two edges leads from the later transaction to the earlier one, as few edges do.
 * The search reads the edges into the end that has fewer of them, so that the edges of a transaction with a million
 * readers are not read for each reader.
 */
static bool check_edge(struct pairs *p, uint32_t from, enum rig_edge_kind kind, uint32_t to)
{
    const struct rig_graph *graph = p->graph;
    RIG_INVARIANT(from != to);
    if (!check_orders(p, from, kind, to))
        return false;
    if (from < to && !p->late_before[from])
        return true;
    uint32_t from_degree = in_degree(graph, from), to_degree = in_degree(graph, to);
    if (from_degree > to_degree || (from_degree == to_degree && from > to))
        return true;
    for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++) {
        uint32_t edge = graph->edges[i];
        bool back = rig_edge_node(edge) == to && rig_edge_link(edge) != RIG_LINK_THROUGH;
        if (back && !add(p, from, kind, to, kind_of(edge)))
            return false;
    }
    return true;
}

static bool note_late(struct pairs *p)
{
    const struct rig_graph *graph = p->graph;
    p->late_before = malloc((size_t)graph->txn_count + 1);
    for (uint32_t node = 0; p->late_before != NULL && node < graph->txn_count; node++) {
        bool late = false;
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            uint32_t from = rig_edge_node(graph->edges[i]);
            late |= (node < from) & (from < graph->txn_count);
        }
        p->late_before[node] = late;
    }
    return p->late_before != NULL;
}

bool rig_cycle_pairs(const struct rig_history *history, const struct rig_graph *graph, struct rig_collector *collector)
{
    struct pairs p = {.history = history, .graph = graph, .collector = collector};
    bool done = note_late(&p);
    for (uint32_t to = 0; done && to < graph->txn_count; to++) {
        for (uint32_t i = graph->first[to]; done && i < graph->first[to + 1]; i++) {
            uint32_t from = rig_edge_node(graph->edges[i]);
            if (from < graph->txn_count)
                done = check_edge(&p, from, kind_of(graph->edges[i]), to);
        }
    }
    rig_cycle_done(&p.cycle);
    free(p.late_before);
    return done;
}
