#include "checker/decide/cycle/pairs.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/model/orders.h"

/* Offers cycles of two transactions to the collector. */
struct offers {
    const struct rig_history *history;
    const struct rig_graph *graph;
    struct rig_collector *collector;
    bool only_wanted;       /* those of `wanted`, once each; else all */
    rig_anomaly_set wanted; /* bits of anomalies */
    struct rig_cycle cycle; /* scratch */
};

struct pairs {
    struct offers offers;
    uint8_t *late_before; /* per node: whether an edge leads to it from a later transaction */
};

static enum rig_edge_kind kind_of(uint32_t edge)
{
    static const enum rig_edge_kind kinds[] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW};
    RIG_INVARIANT(rig_edge_link(edge) != RIG_LINK_THROUGH);
    return kinds[rig_edge_link(edge)];
}

/* The cycle of the edge from `from` to `to` and one back. */
static bool offer(struct offers *o, uint32_t from, enum rig_edge_kind out, uint32_t to, enum rig_edge_kind back)
{
    enum rig_anomaly anomaly;
    o->cycle.count = 0;
    if (!rig_cycle_add(&o->cycle, (struct rig_hop){rig_graph_txn(o->graph, from), out}) ||
        !rig_cycle_add(&o->cycle, (struct rig_hop){rig_graph_txn(o->graph, to), back}))
        return false;
    if (o->only_wanted) {
        const rig_anomaly_set bit =
            RIG_ANOMALY_BIT(rig_cycle_anomaly(o->history, &o->collector->inference->versions, &o->cycle));
        if ((o->wanted & bit) == 0)
            return true;
        o->wanted &= ~bit;
    }
    if (!rig_collector_add(o->collector, &o->cycle, &anomaly))
        return false;
    RIG_INVARIANT(o->cycle.count == 2);
    return true;
}

/*
 * Checks an edge of `kind` from `from` to `to` against process order and real time, in which `to` may precede `from`.
 * Nodes are numbered in completion order, so most pairs need no check.
 */
static bool check_orders(struct offers *o, uint32_t from, enum rig_edge_kind kind, uint32_t to)
{
    if (from < to)
        return true;
    const uint32_t second = rig_graph_txn(o->graph, from), first = rig_graph_txn(o->graph, to);
    const struct rig_txn *txns = o->history->txns;
    if (txns[second].invoke_at != RIG_POSITION_NONE && rig_txn_end(o->history, first) < txns[second].invoke_at &&
        !offer(o, from, kind, to, RIG_EDGE_REALTIME))
        return false;
    const bool in_process =
        txns[first].process == txns[second].process && rig_process_precedes(o->history, first, second);
    return !in_process || offer(o, from, kind, to, RIG_EDGE_PROCESS);
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
    const struct rig_graph *graph = p->offers.graph;
    RIG_INVARIANT(from != to);
    if (!check_orders(&p->offers, from, kind, to))
        return false;
    if (from < to && !p->late_before[from])
        return true;
    uint32_t from_degree = in_degree(graph, from), to_degree = in_degree(graph, to);
    if (from_degree > to_degree || (from_degree == to_degree && from > to))
        return true;
    for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++) {
        uint32_t edge = graph->edges[i];
        bool back = rig_edge_node(edge) == to && rig_edge_link(edge) != RIG_LINK_THROUGH;
        if (back && !offer(&p->offers, from, kind, to, kind_of(edge)))
            return false;
    }
    return true;
}

/* A transaction that completed later than another one, and its edge to that. */
struct late {
    uint32_t node;
    enum rig_edge_kind kind;
};

static bool note_late(struct pairs *p)
{
    const struct rig_graph *graph = p->offers.graph;
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
    struct pairs p = {.offers = {.history = history, .graph = graph, .collector = collector}};
    bool done = note_late(&p);
    for (uint32_t to = 0; done && to < graph->txn_count; to++) {
        for (uint32_t i = graph->first[to]; done && i < graph->first[to + 1]; i++) {
            uint32_t from = rig_edge_node(graph->edges[i]);
            if (from < graph->txn_count)
                done = check_edge(&p, from, kind_of(graph->edges[i]), to);
        }
    }
    rig_cycle_done(&p.offers.cycle);
    free(p.late_before);
    return done;
}

enum { DISTANT_EDGES = 64 };

RIG_VEC(uint32_t, open_list)
RIG_VEC(struct late, late_list)

struct distant {
    struct offers offers;
    const struct rig_graph *graph;
    rig_anomaly_set plain;  /* those without process and real-time order */
    uint32_t *highest;      /* per node: the highest transaction that leads to it, through relays too, plus 1 */
    uint32_t *walked;       /* per node: the last walk that met it */
    uint32_t walk;          /* its number */
    uint64_t budget;        /* edges that the walks may still pass */
    struct open_list open;  /* scratch, like all that follow */
    struct late_list late;  /* of the earlier transaction */
    struct late_list after; /* of the later one: transactions with an edge to it, from the earlier one on */
};

/* ---- walks ---- */

static bool raise_highest(struct distant *d, uint32_t node)
{
    const struct rig_graph *graph = d->graph;
    uint32_t highest = d->highest[node];
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t from = rig_edge_node(graph->edges[i]);
        uint32_t other = from < graph->txn_count ? from + 1 : d->highest[from];
        highest = other > highest ? other : highest;
    }
    bool raised = highest > d->highest[node];
    d->highest[node] = highest;
    return raised;
}

/* Chains of relays ascend or descend in their numbers, so one pass in each direction suffices. */
static void find_highest(struct distant *d)
{
    const struct rig_graph *graph = d->graph;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t node = graph->txn_count; node < graph->node_count; node++)
            again |= raise_highest(d, node);
        for (uint32_t node = graph->node_count; again && node > graph->txn_count; node--)
            (void)raise_highest(d, node - 1);
    }
    for (uint32_t node = 0; node < graph->txn_count; node++)
        (void)raise_highest(d, node);
}

/* The edges into one node of a walk: lists the relays to walk, and the transactions from `lowest` on. */
static bool pass_edges(struct distant *d, uint32_t at, uint32_t lowest, struct late_list *late)
{
    const struct rig_graph *graph = d->graph;
    bool done = true;
    for (uint32_t i = graph->first[at]; done && i < graph->first[at + 1]; i++) {
        uint32_t from = rig_edge_node(graph->edges[i]);
        enum rig_link link = rig_edge_link(graph->edges[i]);
        RIG_INVARIANT((from < graph->txn_count) == (link != RIG_LINK_THROUGH));
        if (from < graph->txn_count) {
            done = from < lowest || late_list_add(late, (struct late){from, kind_of(graph->edges[i])});
        } else if (d->highest[from] > lowest && d->walked[from] != d->walk) {
            d->walked[from] = d->walk;
            done = open_list_add(&d->open, from);
        }
    }
    return done;
}

/* The edges to a transaction from those numbered `lowest` or higher, through relays too. */
static bool find_late(struct distant *d, uint32_t node, uint32_t lowest, struct late_list *late)
{
    const uint32_t *first = d->graph->first;
    RIG_INVARIANT(d->walk < UINT32_MAX);
    d->walk++;
    late->count = d->open.count = 0;
    bool done = open_list_add(&d->open, node);
    while (done && d->open.count > 0 && d->budget > 0) {
        const uint32_t at = d->open.at[--d->open.count];
        const uint64_t cost = (uint64_t)(first[at + 1] - first[at]) + 1;
        d->budget -= cost < d->budget ? cost : d->budget;
        done = pass_edges(d, at, lowest, late);
    }
    return done;
}

/* ---- cycles ---- */

static bool try_edges(struct distant *d, struct late late, uint32_t early)
{
    if (d->highest[late.node] <= early || (d->offers.wanted & d->plain) == 0)
        return true;
    bool done = find_late(d, late.node, early, &d->after);
    for (size_t i = 0; done && i < d->after.count; i++)
        done = d->after.at[i].node != early || offer(&d->offers, late.node, late.kind, early, d->after.at[i].kind);
    return done;
}

static bool try_node(struct distant *d, uint32_t early)
{
    if (d->highest[early] <= early + 1)
        return true;
    bool done = find_late(d, early, early + 1, &d->late);
    for (size_t i = 0; done && i < d->late.count && d->offers.wanted != 0; i++)
        done = check_orders(&d->offers, d->late.at[i].node, d->late.at[i].kind, early) &&
               try_edges(d, d->late.at[i], early);
    return done;
}

/* The kinds that two edges can form, that the rungs leave possible, and that have no known cycle of two. */
static rig_anomaly_set wanted_kinds(const struct rig_ladder *ladder, bool writes)
{
    rig_anomaly_set wanted = 0;
    for (unsigned shape = 0; shape < (writes ? RIG_SHAPE_G0 + 1u : RIG_SHAPE_COUNT); shape++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            enum rig_anomaly anomaly = rig_anomaly_of_cycle((enum rig_shape)shape, (enum rig_along)order);
            bool can_be = shape != RIG_SHAPE_NONADJACENT && (shape != RIG_SHAPE_G2 || order == RIG_ALONG_PLAIN);
            bool is_known = rig_ladder_shortest(ladder, anomaly) == 2;
            if (can_be && !is_known && ladder->cyclic[rig_rung_of((enum rig_shape)shape)][order])
                wanted |= RIG_ANOMALY_BIT(anomaly);
        }
    }
    return wanted;
}

bool rig_cycle_distant_pairs(const struct rig_graph *graph, bool writes, struct rig_collector *collector)
{
    struct distant d = {.offers = {.history = collector->history,
                                   .graph = graph,
                                   .collector = collector,
                                   .only_wanted = true,
                                   .wanted = wanted_kinds(collector->ladder, writes)},
                        .graph = graph};
    if (d.offers.wanted == 0)
        return true;
    for (unsigned shape = 0; shape < RIG_SHAPE_COUNT; shape++)
        d.plain |= RIG_ANOMALY_BIT(rig_anomaly_of_cycle((enum rig_shape)shape, RIG_ALONG_PLAIN));
    const uint64_t most = DISTANT_EDGES * ((uint64_t)graph->first[graph->node_count] + graph->txn_count);
    d.budget = most < UINT32_MAX ? most : UINT32_MAX; /* walks are numbered in 32 bits */
    d.highest = calloc((size_t)graph->node_count + 1, sizeof *d.highest);
    d.walked = calloc((size_t)graph->node_count + 1, sizeof *d.walked);
    bool done = d.highest != NULL && d.walked != NULL;
    if (done)
        find_highest(&d);
    for (uint32_t node = 0; done && node < graph->txn_count && d.offers.wanted != 0 && d.budget > 0; node++)
        done = try_node(&d, node);
    free(d.highest);
    free(d.walked);
    open_list_done(&d.open);
    late_list_done(&d.late);
    late_list_done(&d.after);
    rig_cycle_done(&d.offers.cycle);
    return done;
}
