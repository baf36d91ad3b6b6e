#include "checker/decide/solve/order_graph.h"

#include <string.h>

#include "base/bug.h"

static size_t version_count(const struct rig_problem *problem)
{
    return problem->writes.count + problem->key_count;
}

/* Borrows the problem. False when memory runs out. */
static bool serial_plan_init(struct rig_serial_plan *plan, const struct rig_problem *problem)
{
    const size_t versions = version_count(problem) + 1, txns = (size_t)problem->txn_count + 1;
    *plan = (struct rig_serial_plan){.problem = problem,
                                     .version = malloc((problem->reads.count + 1) * sizeof(uint32_t)),
                                     .latest = malloc(((size_t)problem->key_count + 1) * sizeof(uint32_t)),
                                     .to_come = malloc(versions * sizeof(uint32_t)),
                                     .first_waiter = malloc(versions * sizeof(uint32_t)),
                                     .next_waiter = malloc(txns * sizeof(uint32_t)),
                                     .waits_for = malloc(txns * sizeof(uint32_t)),
                                     .released = malloc(txns * sizeof(uint32_t))};
    if (plan->version == NULL || plan->latest == NULL || plan->to_come == NULL || plan->first_waiter == NULL ||
        plan->next_waiter == NULL || plan->waits_for == NULL || plan->released == NULL)
        return false;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        for (uint32_t i = problem->reader_first[version]; i < problem->reader_first[version + 1]; i++)
            plan->version[problem->readers[i]] = version;
    }
    return true;
}

static void serial_plan_done(struct rig_serial_plan *plan)
{
    free(plan->version);
    free(plan->latest);
    free(plan->to_come);
    free(plan->first_waiter);
    free(plan->next_waiter);
    free(plan->waits_for);
    free(plan->released);
    *plan = (struct rig_serial_plan){0};
}

/* Nothing is placed, nothing waits. */
static void serial_plan_reset(struct rig_serial_plan *plan)
{
    const struct rig_problem *problem = plan->problem;
    for (uint32_t key = 0; key < problem->key_count; key++)
        plan->latest[key] = (uint32_t)problem->writes.count + key;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        plan->to_come[version] = problem->reader_first[version + 1] - problem->reader_first[version];
        plan->first_waiter[version] = RIG_PROBLEM_NONE;
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        plan->waits_for[txn] = RIG_PROBLEM_NONE;
    plan->released_count = 0;
}

static void count_reads(struct rig_serial_plan *plan, uint32_t txn, uint32_t by)
{
    const struct rig_problem *problem = plan->problem;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++)
        plan->to_come[plan->version[r]] += by;
}

/* Whether the transaction must wait because readers of a version that it overwrites are still to come; then it
 * waits. */
static bool serial_plan_wait(struct rig_serial_plan *plan, uint32_t txn)
{
    const struct rig_problem *problem = plan->problem;
    uint32_t version = RIG_PROBLEM_NONE;
    count_reads(plan, txn, UINT32_MAX); /* it need not wait for itself: one less each */
    for (uint32_t w = problem->txns.at[txn].first_write;
         version == RIG_PROBLEM_NONE && w < problem->txns.at[txn + 1].first_write; w++) {
        const uint32_t latest = plan->latest[problem->writes.at[w].key];
        if (plan->to_come[latest] > 0)
            version = latest;
    }
    count_reads(plan, txn, 1);
    plan->waits_for[txn] = version;
    if (version == RIG_PROBLEM_NONE)
        return false;
    plan->next_waiter[txn] = plan->first_waiter[version];
    plan->first_waiter[version] = txn;
    return true;
}

static void release(struct rig_serial_plan *plan, uint32_t version)
{
    for (uint32_t txn = plan->first_waiter[version]; txn != RIG_PROBLEM_NONE; txn = plan->next_waiter[txn]) {
        RIG_INVARIANT(plan->released_count < plan->problem->txn_count);
        if (plan->waits_for[txn] == version)
            plan->released[plan->released_count++] = txn;
        plan->waits_for[txn] = plan->waits_for[txn] == version ? RIG_PROBLEM_NONE : plan->waits_for[txn];
    }
    plan->first_waiter[version] = RIG_PROBLEM_NONE;
}

/* Places it, whether it waits or not; `released` gets those that can be tried again. */
static void serial_plan_place(struct rig_serial_plan *plan, uint32_t txn)
{
    const struct rig_problem *problem = plan->problem;
    plan->released_count = 0;
    plan->waits_for[txn] = RIG_PROBLEM_NONE;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++) {
        RIG_INVARIANT(plan->to_come[plan->version[r]] > 0);
        if (--plan->to_come[plan->version[r]] == 0)
            release(plan, plan->version[r]);
    }
    for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
        release(plan, plan->latest[problem->writes.at[w].key]);
        plan->latest[problem->writes.at[w].key] = w;
    }
}

static bool add_edge(struct rig_order_graph *graph, uint32_t from, uint32_t to)
{
    return rig_order_edges_add(&graph->edges, (struct rig_order_edge){from, to, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE});
}

/* Whether paths go through this transaction. */
static bool leads_on(const struct rig_order_graph *graph, uint32_t txn)
{
    return !rig_rule_frame_is_sink(graph->frame, graph->problem, txn);
}

/* Whether the reader goes by its version's relay, if there is one. One that overwrites the version does not where it
 * has one node: the relay would lead back to it. */
static bool uses_relay(const struct rig_order_graph *graph, uint32_t read)
{
    const uint32_t reader = graph->problem->read_txn[read], key = graph->problem->reads.at[read].key;
    return graph->frame->split || rig_problem_write_of(graph->problem, reader, key) == RIG_PROBLEM_NONE;
}

/* Gives the version a relay if several readers use it, and lists the others. */
static bool lay_out_version(struct rig_order_graph *graph, size_t version)
{
    const struct rig_problem *problem = graph->problem;
    const uint32_t begin = problem->reader_first[version], end = problem->reader_first[version + 1];
    uint32_t users = 0, own = graph->own_first[version];
    bool ok = true;
    for (uint32_t i = begin; i < end; i++)
        users += leads_on(graph, problem->read_txn[problem->readers[i]]) && uses_relay(graph, problem->readers[i]);
    const bool relayed = users > 1;
    /* Two updates of one version that have one node each refute all: further ones need no edges. */
    const uint32_t most = graph->frame->split ? UINT32_MAX : 3;
    graph->relay[version] = relayed ? graph->node_count++ : RIG_PROBLEM_NONE;
    for (uint32_t i = begin; ok && i < end; i++) {
        const uint32_t reader = problem->read_txn[problem->readers[i]];
        if (!leads_on(graph, reader))
            continue;
        if (relayed && uses_relay(graph, problem->readers[i]))
            ok = add_edge(graph, rig_rule_frame_start(graph->frame, reader), graph->relay[version]);
        else if (own - graph->own_first[version] < most)
            graph->own[own++] = reader;
    }
    RIG_INVARIANT(own <= problem->reads.count);
    graph->own_first[version + 1] = own;
    return ok;
}

static bool lay_out_versions(struct rig_order_graph *graph)
{
    const size_t versions = version_count(graph->problem);
    graph->node_count = graph->frame->node_count;
    if (!graph->frame->rw_path)
        return true;
    graph->relay = malloc((versions + 1) * sizeof graph->relay[0]);
    graph->own_first = calloc(versions + 1, sizeof graph->own_first[0]);
    graph->own = malloc((graph->problem->reads.count + 1) * sizeof graph->own[0]);
    bool ok = graph->relay != NULL && graph->own_first != NULL && graph->own != NULL;
    for (size_t version = 0; ok && version < versions; version++)
        ok = lay_out_version(graph, version);
    return ok;
}

/* From the readers of a version to the writer of a later one; the edges rest on `edge`. */
static bool add_rw(struct rig_order_graph *graph, uint32_t version, struct rig_order_edge edge)
{
    RIG_REQUIRE(version < version_count(graph->problem));
    bool ok = true;
    if (graph->relay[version] != RIG_PROBLEM_NONE) {
        edge.from = graph->relay[version];
        ok = rig_order_edges_add(&graph->edges, edge);
    }
    for (uint32_t i = graph->own_first[version]; ok && i < graph->own_first[version + 1]; i++) {
        edge.from = rig_rule_frame_start(graph->frame, graph->own[i]);
        ok = graph->own[i] == edge.to || rig_order_edges_add(&graph->edges, edge);
    }
    return ok;
}

/* The initial state precedes all versions. */
static bool add_initial(struct rig_order_graph *graph, uint32_t key)
{
    const struct rig_problem *problem = graph->problem;
    const uint32_t version = (uint32_t)problem->writes.count + key;
    bool ok = true;
    if (problem->reader_first[version] == problem->reader_first[version + 1])
        return true;
    for (uint32_t i = problem->writer_first[key]; ok && i < problem->writer_first[key + 1]; i++)
        ok = add_rw(
            graph, version,
            (struct rig_order_edge){.to = problem->writers[i], .before = RIG_PROBLEM_NONE, .after = RIG_PROBLEM_NONE});
    return ok;
}

static bool add_reads(struct rig_order_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    bool ok = true;
    for (size_t r = 0; ok && r < problem->reads.count; r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        const uint32_t start = rig_rule_frame_start(graph->frame, problem->read_txn[r]);
        ok = read->writer == RIG_PROBLEM_INITIAL || add_edge(graph, read->writer, start);
    }
    for (uint32_t key = 0; ok && graph->frame->rw_path && key < problem->key_count; key++)
        ok = add_initial(graph, key);
    return ok;
}

static bool add_times(struct rig_order_graph *graph)
{
    const struct rig_rule_frame *frame = graph->frame;
    bool ok = true;
    for (uint32_t node = frame->first_moment; ok && node < frame->node_count; node++) {
        ok = add_edge(graph, node, rig_rule_frame_start(frame, frame->moment_txn[node - frame->first_moment])) &&
             (node + 1 == frame->node_count || add_edge(graph, node, node + 1));
    }
    for (uint32_t txn = 0; ok && frame->next_moment != NULL && txn < frame->txn_count; txn++)
        ok = frame->next_moment[txn] == RIG_PROBLEM_NONE || !leads_on(graph, txn) ||
             add_edge(graph, txn, frame->next_moment[txn]);
    for (uint32_t txn = 0; ok && frame->process && txn < frame->txn_count; txn++) {
        const uint32_t before = frame->lead[txn];
        ok = before == RIG_PROBLEM_NONE || add_edge(graph, before, rig_rule_frame_start(frame, txn));
    }
    for (uint32_t txn = 0; ok && frame->split && txn < frame->txn_count; txn++)
        ok = add_edge(graph, rig_rule_frame_start(frame, txn), txn);
    return ok;
}

bool rig_order_graph_init(struct rig_order_graph *graph, const struct rig_problem *problem,
                          const struct rig_rule_frame *frame)
{
    *graph = (struct rig_order_graph){
        .problem = problem, .frame = frame, .ww_before = RIG_PROBLEM_NONE, .ww_after = RIG_PROBLEM_NONE};
    bool ok = lay_out_versions(graph);
    const size_t nodes = (size_t)graph->node_count + 2;
    graph->first_out = malloc(nodes * sizeof graph->first_out[0]);
    graph->missing = malloc(nodes * sizeof graph->missing[0]);
    graph->heap = malloc(nodes * sizeof graph->heap[0]);
    graph->into = malloc(nodes * sizeof graph->into[0]);
    graph->sequence = malloc(nodes * sizeof graph->sequence[0]);
    graph->overdue = malloc(nodes * sizeof graph->overdue[0]);
    graph->is_overdue = calloc(nodes, sizeof graph->is_overdue[0]);
    ok = ok && graph->first_out != NULL && graph->missing != NULL && graph->heap != NULL && graph->into != NULL &&
         graph->sequence != NULL && graph->overdue != NULL && graph->is_overdue != NULL &&
         serial_plan_init(&graph->plan, problem) && (!frame->reads_order || add_reads(graph)) && add_times(graph);
    for (size_t p = 0; ok && p < problem->pairs.count; p++) {
        const struct rig_problem_pair *pair = &problem->pairs.at[p];
        ok = rig_order_graph_add(graph, pair->key, pair->before, pair->after);
    }
    rig_order_graph_keep(graph);
    return ok;
}

void rig_order_graph_done(struct rig_order_graph *graph)
{
    rig_order_edges_done(&graph->edges);
    free(graph->relay);
    free(graph->own_first);
    free(graph->own);
    free(graph->first_out);
    free(graph->out);
    free(graph->missing);
    free(graph->heap);
    free(graph->into);
    free(graph->sequence);
    free(graph->overdue);
    free(graph->is_overdue);
    serial_plan_done(&graph->plan);
    *graph = (struct rig_order_graph){0};
}

void rig_order_graph_keep(struct rig_order_graph *graph)
{
    graph->lasting = graph->edges.count;
}

void rig_order_graph_forget(struct rig_order_graph *graph)
{
    RIG_REQUIRE(graph->lasting <= graph->edges.count);
    graph->edges.count = graph->lasting;
    graph->ww_before = graph->ww_after = RIG_PROBLEM_NONE;
}

/* One edge for pairs of the same transactions that follow each other, one for each key. */
static bool add_ww(struct rig_order_graph *graph, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before != after);
    if (graph->ww_before == before && graph->ww_after == after)
        return true;
    graph->ww_before = before;
    graph->ww_after = after;
    const uint32_t to = graph->frame->ww_starts ? rig_rule_frame_start(graph->frame, after) : after;
    return rig_order_edges_add(&graph->edges, (struct rig_order_edge){before, to, before, after});
}

bool rig_order_graph_add(struct rig_order_graph *graph, uint32_t key, uint32_t before, uint32_t after)
{
    const struct rig_order_edge edge = {.to = after, .before = before, .after = after};
    return add_ww(graph, before, after) &&
           (!graph->frame->rw_path || add_rw(graph, rig_problem_write_of(graph->problem, before, key), edge));
}

bool rig_order_graph_choose(struct rig_order_graph *graph, uint32_t before, uint32_t after)
{
    const struct rig_problem *problem = graph->problem;
    bool ok = add_ww(graph, before, after);
    for (uint32_t w = problem->txns.at[before].first_write;
         ok && graph->frame->rw_path && w < problem->txns.at[before + 1].first_write; w++) {
        if (rig_problem_write_of(problem, after, problem->writes.at[w].key) != RIG_PROBLEM_NONE)
            ok = add_rw(graph, w, (struct rig_order_edge){.to = after, .before = before, .after = after});
    }
    return ok;
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
    RIG_INVARIANT(graph->first_out[0] == 0 && graph->first_out[graph->node_count] == graph->edges.count);
    return true;
}

/* A binary heap of nodes, below their ranks; moments and starts come as soon as they can. */
struct waiting {
    uint64_t *at;
    uint32_t count;
    const struct rig_rule_frame *frame;
    const uint32_t *rank;
};

static void push(struct waiting *waiting, uint32_t node)
{
    const uint64_t rank = node < waiting->frame->txn_count ? (uint64_t)waiting->rank[node] + 1 : 0;
    const uint64_t pushed = rank << 32 | node;
    uint32_t i = waiting->count++;
    for (; i > 0 && waiting->at[(i - 1) / 2] > pushed; i = (i - 1) / 2)
        waiting->at[i] = waiting->at[(i - 1) / 2];
    waiting->at[i] = pushed;
}

static uint32_t pop(struct waiting *waiting)
{
    RIG_REQUIRE(waiting->count > 0);
    const uint64_t first = waiting->at[0], moved = waiting->at[--waiting->count];
    uint32_t i = 0;
    for (uint32_t child = 1; child < waiting->count; child = 2 * i + 1) {
        child += child + 1 < waiting->count && waiting->at[child + 1] < waiting->at[child];
        if (waiting->at[child] >= moved)
            break;
        waiting->at[i] = waiting->at[child];
        i = child;
    }
    waiting->at[i] = moved;
    return (uint32_t)first;
}

static bool add_cycle(const struct rig_order_graph *graph, uint32_t start, struct rig_order_cycles *cycles)
{
    uint32_t node = start;
    do {
        const struct rig_order_edge edge = graph->edges.at[graph->into[node]];
        if (!rig_order_edges_add(&cycles->edges, edge))
            return false;
        node = edge.from;
    } while (node != start);
    return rig_order_ends_add(&cycles->ends, cycles->edges.count);
}

/*
 * Each node that is not placed has an edge from another such node. Going back along one such edge a node, each walk
 * ends in a cycle, a new one or one that an earlier walk has found.
 */
static bool find_cycles(struct rig_order_graph *graph, struct rig_order_cycles *cycles)
{
    uint32_t *walk = (uint32_t *)graph->heap; /* per node: the walk that came to it, plus one; the heap is empty */
    bool ok = true;
    memset(walk, 0, ((size_t)graph->node_count + 1) * sizeof walk[0]);
    for (size_t e = 0; e < graph->edges.count; e++) {
        const struct rig_order_edge *edge = &graph->edges.at[e];
        if (graph->missing[edge->from] != 0 && graph->missing[edge->to] != 0)
            graph->into[edge->to] = (uint32_t)e;
    }
    for (uint32_t start = 0; ok && start < graph->node_count; start++) {
        if (graph->missing[start] == 0 || walk[start] != 0)
            continue;
        uint32_t node = start;
        for (; walk[node] == 0; node = graph->edges.at[graph->into[node]].from)
            walk[node] = start + 1;
        ok = walk[node] != start + 1 || add_cycle(graph, node, cycles);
    }
    RIG_INVARIANT(!ok || cycles->ends.count > 0);
    return ok;
}

/* A sort under way. */
struct sorting {
    struct rig_order_graph *graph;
    struct waiting ready, overdue; /* overdue: it waits, or has waited */
    uint32_t sorted;               /* nodes that are in the order so far */
    uint32_t in_frame;             /* of `sorted`, those that are no relays */
};

static void place_node(struct sorting *sorting, uint32_t node)
{
    struct rig_order_graph *graph = sorting->graph;
    sorting->sorted++;
    if (node < graph->frame->node_count)
        graph->sequence[sorting->in_frame++] = node;
    if (node < graph->frame->txn_count) {
        serial_plan_place(&graph->plan, node);
        for (uint32_t i = 0; i < graph->plan.released_count; i++)
            push(&sorting->ready, graph->plan.released[i]);
    }
    for (uint32_t i = graph->first_out[node]; i < graph->first_out[node + 1]; i++) {
        const uint32_t next = graph->edges.at[graph->out[i]].to;
        RIG_INVARIANT(graph->missing[next] > 0);
        if (--graph->missing[next] == 0)
            push(&sorting->ready, next);
    }
}

static void try_node(struct sorting *sorting, uint32_t node)
{
    struct rig_order_graph *graph = sorting->graph;
    if (node >= graph->frame->txn_count || graph->frame->reads == RIG_RULE_FRAME_READS_NONE ||
        !serial_plan_wait(&graph->plan, node)) {
        place_node(sorting, node);
    } else if (!graph->is_overdue[node]) {
        graph->is_overdue[node] = true;
        push(&sorting->overdue, node);
    }
}

/* Nothing else is ready: the first that waits goes on. */
static void give_way(struct sorting *sorting)
{
    const uint32_t node = pop(&sorting->overdue);
    RIG_INVARIANT(sorting->graph->is_overdue[node]);
    sorting->graph->is_overdue[node] = false;
    if (sorting->graph->plan.waits_for[node] != RIG_PROBLEM_NONE)
        place_node(sorting, node);
}

bool rig_order_graph_sort(struct rig_order_graph *graph, const uint32_t *rank, uint32_t *place,
                          struct rig_order_cycles *cycles)
{
    if (!index_edges(graph))
        return false;
    struct sorting sorting = {
        graph, {graph->heap, 0, graph->frame, rank}, {graph->overdue, 0, graph->frame, rank}, 0, 0};
    serial_plan_reset(&graph->plan);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->missing[node] == 0)
            push(&sorting.ready, node);
    }
    while (sorting.ready.count > 0 || sorting.overdue.count > 0) {
        if (sorting.ready.count > 0)
            try_node(&sorting, pop(&sorting.ready));
        else
            give_way(&sorting);
    }
    if (sorting.sorted < graph->node_count)
        return find_cycles(graph, cycles);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < sorting.in_frame; i++) {
        if (graph->sequence[i] < graph->frame->txn_count)
            place[graph->sequence[i]] = placed++;
    }
    RIG_INVARIANT(sorting.in_frame == graph->frame->node_count && placed == graph->frame->txn_count);
    return true;
}

bool rig_order_graph_in_turn(const struct rig_problem *problem)
{
    uint32_t switches = 0;
    for (uint32_t txn = 1; txn < problem->txn_count; txn++)
        switches += problem->txns.at[txn].session != problem->txns.at[txn - 1].session;
    return switches < 2 * problem->session_count;
}

void rig_order_graph_rank(const struct rig_problem *problem, uint32_t *rank)
{
    const bool in_turn = rig_order_graph_in_turn(problem);
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        const uint32_t before = problem->txns.at[txn].before;
        RIG_INVARIANT(before == RIG_PROBLEM_NONE || before < txn);
        rank[txn] = !in_turn ? txn : before == RIG_PROBLEM_NONE ? 0 : rank[before] + 1;
    }
}
