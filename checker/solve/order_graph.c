#include "checker/solve/order_graph.h"

#include <string.h>

#include "base/bug.h"

static bool add_edge(struct rig_order_graph *graph, uint32_t from, uint32_t to, bool chosen)
{
    return rig_order_edges_add(&graph->edges, (struct rig_order_edge){from, to, chosen});
}

static int compare_invoked(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first of `count` ascending moments whose position is later than `ended`. */
static uint32_t first_later(const uint64_t *moments, uint32_t count, uint32_t ended)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (moments[middle] >> 32 > ended)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool add_realtime(struct rig_order_graph *graph, const struct rig_problem *problem)
{
    const uint32_t count = problem->txn_count;
    uint64_t *moments = malloc((count + 1) * sizeof moments[0]);
    bool ok = moments != NULL;
    for (uint32_t txn = 0; ok && txn < count; txn++)
        moments[txn] = (uint64_t)problem->txns.at[txn].invoked << 32 | txn;
    if (ok)
        qsort(moments, count, sizeof moments[0], compare_invoked);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = add_edge(graph, count + i, (uint32_t)moments[i], false) &&
             (i == 0 || add_edge(graph, count + i - 1, count + i, false));
    }
    for (uint32_t txn = 0; ok && txn < count; txn++) {
        const uint32_t later = first_later(moments, count, problem->txns.at[txn].ended);
        ok = later == count || add_edge(graph, txn, count + later, false);
    }
    free(moments);
    return ok;
}

static bool add_known(struct rig_order_graph *graph, const struct rig_problem *problem, const struct rig_rule *rule)
{
    bool ok = true;
    for (size_t r = 0; ok && r < problem->reads.count && rule->form != RIG_RULE_WRITES; r++) {
        const uint32_t writer = problem->reads.at[r].writer;
        ok = writer == RIG_PROBLEM_INITIAL || add_edge(graph, writer, problem->read_txn[r], false);
    }
    for (size_t p = 0; ok && p < problem->pairs.count; p++)
        ok = add_edge(graph, problem->pairs.at[p].before, problem->pairs.at[p].after, false);
    for (uint32_t txn = 0; ok && txn < problem->txn_count && rule->along != RIG_ALONG_PLAIN; txn++) {
        const uint32_t before = problem->txns.at[txn].before;
        ok = before == RIG_PROBLEM_NONE || add_edge(graph, before, txn, false);
    }
    if (ok && rule->along == RIG_ALONG_REALTIME && problem->has_realtime)
        ok = add_realtime(graph, problem);
    graph->known_count = graph->edges.count;
    return ok;
}

bool rig_order_graph_init(struct rig_order_graph *graph, const struct rig_problem *problem, const struct rig_rule *rule)
{
    *graph = (struct rig_order_graph){.txn_count = problem->txn_count, .node_count = problem->txn_count};
    if (rule->along == RIG_ALONG_REALTIME && problem->has_realtime)
        graph->node_count *= 2;
    const size_t nodes = (size_t)graph->node_count + 2;
    graph->first_out = malloc(nodes * sizeof graph->first_out[0]);
    graph->missing = malloc(nodes * sizeof graph->missing[0]);
    graph->heap = malloc(nodes * sizeof graph->heap[0]);
    graph->into = malloc(nodes * sizeof graph->into[0]);
    return graph->first_out != NULL && graph->missing != NULL && graph->heap != NULL && graph->into != NULL &&
           add_known(graph, problem, rule);
}

void rig_order_graph_done(struct rig_order_graph *graph)
{
    rig_order_edges_done(&graph->edges);
    free(graph->first_out);
    free(graph->out);
    free(graph->missing);
    free(graph->heap);
    free(graph->into);
    *graph = (struct rig_order_graph){0};
}

void rig_order_graph_clear(struct rig_order_graph *graph)
{
    graph->edges.count = graph->known_count;
}

bool rig_order_graph_choose(struct rig_order_graph *graph, uint32_t before, uint32_t after)
{
    return add_edge(graph, before, after, true);
}

static bool index_edges(struct rig_order_graph *graph)
{
    uint32_t *out = realloc(graph->out, (graph->edges.count + 1) * sizeof out[0]);
    if (out == NULL)
        return false;
    graph->out = out;
    memset(graph->first_out, 0, ((size_t)graph->node_count + 2) * sizeof graph->first_out[0]);
    memset(graph->missing, 0, ((size_t)graph->node_count + 1) * sizeof graph->missing[0]);
    for (size_t e = 0; e < graph->edges.count; e++) {
        graph->first_out[graph->edges.at[e].from + 2]++;
        graph->missing[graph->edges.at[e].to]++;
    }
    for (size_t node = 0; node < graph->node_count; node++)
        graph->first_out[node + 2] += graph->first_out[node + 1];
    for (size_t e = 0; e < graph->edges.count; e++)
        out[graph->first_out[graph->edges.at[e].from + 1]++] = (uint32_t)e;
    return true;
}

/* A binary heap of nodes; moments come as soon as they can. */
struct waiting {
    uint32_t *nodes, count, txn_count;
    const uint32_t *rank;
};

static uint32_t rank_of(const struct waiting *waiting, uint32_t node)
{
    return node < waiting->txn_count ? waiting->rank[node] + 1 : 0;
}

static void push(struct waiting *waiting, uint32_t node)
{
    uint32_t i = waiting->count++;
    for (; i > 0 && rank_of(waiting, waiting->nodes[(i - 1) / 2]) > rank_of(waiting, node); i = (i - 1) / 2)
        waiting->nodes[i] = waiting->nodes[(i - 1) / 2];
    waiting->nodes[i] = node;
}

static uint32_t pop(struct waiting *waiting)
{
    const uint32_t first = waiting->nodes[0], moved = waiting->nodes[--waiting->count];
    uint32_t i = 0;
    for (uint32_t child = 1; child < waiting->count; child = 2 * i + 1) {
        if (child + 1 < waiting->count &&
            rank_of(waiting, waiting->nodes[child + 1]) < rank_of(waiting, waiting->nodes[child]))
            child++;
        if (rank_of(waiting, waiting->nodes[child]) >= rank_of(waiting, moved))
            break;
        waiting->nodes[i] = waiting->nodes[child];
        i = child;
    }
    waiting->nodes[i] = moved;
    return first;
}

/* Each node that is not placed has an edge from another such node: going back leads into a cycle. */
static bool find_cycle(struct rig_order_graph *graph, struct rig_order_edges *cycle)
{
    uint32_t node = RIG_PROBLEM_NONE;
    for (size_t e = 0; e < graph->edges.count; e++) {
        const struct rig_order_edge *edge = &graph->edges.at[e];
        if (graph->missing[edge->from] != 0 && graph->missing[edge->to] != 0) {
            graph->into[edge->to] = (uint32_t)e;
            node = edge->to;
        }
    }
    RIG_INVARIANT(node != RIG_PROBLEM_NONE);
    for (uint32_t i = 0; i < graph->node_count; i++)
        node = graph->edges.at[graph->into[node]].from;
    const uint32_t start = node;
    do {
        const struct rig_order_edge edge = graph->edges.at[graph->into[node]];
        if (!rig_order_edges_add(cycle, edge))
            return false;
        node = edge.from;
    } while (node != start);
    return true;
}

bool rig_order_graph_sort(struct rig_order_graph *graph, const uint32_t *rank, uint32_t *place,
                          struct rig_order_edges *cycle)
{
    if (!index_edges(graph))
        return false;
    struct waiting waiting = {graph->heap, 0, graph->txn_count, rank};
    uint32_t placed = 0, sorted = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->missing[node] == 0)
            push(&waiting, node);
    }
    uint32_t *sequence = graph->into; /* nothing else needs it before a cycle is found */
    for (; waiting.count > 0; sorted++) {
        const uint32_t node = pop(&waiting);
        if (node < graph->txn_count)
            sequence[placed++] = node;
        for (uint32_t i = graph->first_out[node]; i < graph->first_out[node + 1]; i++) {
            const uint32_t next = graph->edges.at[graph->out[i]].to;
            if (--graph->missing[next] == 0)
                push(&waiting, next);
        }
    }
    if (sorted < graph->node_count)
        return find_cycle(graph, cycle);
    for (uint32_t i = 0; i < placed; i++)
        place[sequence[i]] = i;
    return true;
}
