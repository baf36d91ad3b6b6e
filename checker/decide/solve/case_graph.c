#include "checker/decide/solve/case_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/case_edges.h"
#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/order_graph.h"

/* One kind of cycle that a rule forbids. */
struct pattern {
    bool ww, rw;             /* such edges may be in it, beside wr and the orders */
    bool wr;                 /* as may wr */
    bool one_rw, one_reader; /* at most one rw edge; at most one transaction that writes nothing */
    bool apart, behind_wr;   /* each rw edge: not after an rw; nor after a ww */
    bool later, from;        /*   after an arrival at an earlier operation; or at its own */
    uint32_t longest;
};

struct search {
    struct rig_case_graph *graph;
    const struct pattern *pattern;
    uint32_t best;   /* length of the shortest cycle so far, or one more than the longest of use */
    uint32_t *cycle; /* NULL: not wanted */
};

/* A walk's last arc, and whether it has used up what the rule allows once. */
struct rig_case_walks {
    uint32_t *came_from; /* per state: the state before; by number, 2 an arc */
    uint32_t *length;    /* per state, valid where `stamp` is the search's */
    uint32_t *stamp;
    uint32_t *queue;
    uint32_t search;
};

/* ---- indexes ---- */

enum bucket { BY_FROM, BY_TO, BY_PAIR };

static uint32_t bucket_of(const struct rig_case_arc *arc, enum bucket by)
{
    return by == BY_PAIR ? arc->pair : by == BY_FROM ? arc->arc.from : arc->arc.to;
}

/* Fills in first[bucket] to first[bucket + 1] of `items`, for the arcs of each bucket. */
static void fill_index(const struct rig_case_graph *graph, enum bucket by, uint32_t buckets, uint32_t *first,
                       uint32_t *items)
{
    uint32_t total = 0;
    for (size_t i = 0; i < graph->arcs.count; i++) {
        const uint32_t bucket = bucket_of(&graph->arcs.at[i], by);
        if (bucket != RIG_CASE_NONE) {
            RIG_INVARIANT(bucket < buckets);
            first[bucket + 1]++;
            total++;
        }
    }
    for (uint32_t i = 0; i < buckets; i++)
        first[i + 1] += first[i];
    for (size_t i = graph->arcs.count; i-- > 0;) {
        const uint32_t bucket = bucket_of(&graph->arcs.at[i], by);
        if (bucket != RIG_CASE_NONE)
            items[--first[bucket + 1]] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < buckets; i++)
        first[i] = first[i + 1];
    first[buckets] = total;
    RIG_INVARIANT(first[0] == 0 || total == 0);
}

static uint32_t *numbers(size_t count)
{
    return calloc(count + 2, sizeof(uint32_t));
}

static bool make_indexes(struct rig_case_graph *graph)
{
    const size_t arcs = graph->arcs.count, pairs = graph->pairs.count, nodes = graph->problem->txn_count;
    struct rig_case_walks *walks = graph->walks = calloc(1, sizeof *walks);
    graph->first_out = numbers(nodes);
    graph->out = numbers(arcs);
    graph->first_in = numbers(nodes);
    graph->in = numbers(arcs);
    graph->first_rest = numbers(pairs);
    graph->rest = numbers(arcs);
    graph->value = calloc(pairs + 1, 1);
    if (walks == NULL || graph->first_out == NULL || graph->out == NULL || graph->first_in == NULL ||
        graph->in == NULL || graph->first_rest == NULL || graph->rest == NULL || graph->value == NULL)
        return false;
    walks->came_from = numbers(2 * arcs);
    walks->length = numbers(2 * arcs);
    walks->stamp = numbers(2 * arcs);
    walks->queue = numbers(2 * arcs);
    return walks->came_from != NULL && walks->length != NULL && walks->stamp != NULL && walks->queue != NULL;
}

/* `done`: the edges are there. */
static bool finish(struct rig_case_graph *graph, bool done)
{
    if (!done || (!graph->too_large && !make_indexes(graph))) {
        rig_case_graph_done(graph);
        return false;
    }
    if (!graph->too_large) {
        const uint32_t nodes = graph->problem->txn_count, pairs = (uint32_t)graph->pairs.count;
        fill_index(graph, BY_FROM, nodes, graph->first_out, graph->out);
        fill_index(graph, BY_TO, nodes, graph->first_in, graph->in);
        fill_index(graph, BY_PAIR, pairs, graph->first_rest, graph->rest);
    }
    return true;
}

bool rig_case_graph_init(struct rig_case_graph *graph, const struct rig_problem *problem, const struct rig_rule *rule,
                         const bool *writes_nothing)
{
    *graph = (struct rig_case_graph){
        .problem = problem, .rule = rule, .writes_nothing = writes_nothing, .deadline_ns = INT64_MAX};
    return finish(graph, rig_case_edges_all(graph));
}

bool rig_case_graph_init_given(struct rig_case_graph *graph, const struct rig_problem *problem,
                               const struct rig_rule *rule, const bool *writes_nothing,
                               const struct rig_case_pairs *pairs)
{
    *graph = (struct rig_case_graph){
        .problem = problem, .rule = rule, .writes_nothing = writes_nothing, .deadline_ns = INT64_MAX};
    bool ok = rig_case_pairs_reserve(&graph->pairs, pairs->count);
    for (size_t i = 0; ok && i < pairs->count; i++)
        ok = rig_case_pairs_add(&graph->pairs, pairs->at[i]);
    return finish(graph, ok && rig_case_edges_given(graph));
}

void rig_case_graph_done(struct rig_case_graph *graph)
{
    rig_case_pairs_done(&graph->pairs);
    rig_case_arcs_done(&graph->arcs);
    free(graph->first_out);
    free(graph->out);
    free(graph->first_in);
    free(graph->in);
    free(graph->first_rest);
    free(graph->rest);
    free(graph->value);
    if (graph->walks != NULL) {
        free(graph->walks->came_from);
        free(graph->walks->length);
        free(graph->walks->stamp);
        free(graph->walks->queue);
    }
    free(graph->walks);
    *graph = (struct rig_case_graph){0};
}

/* ---- what is near ---- */

static bool is_put(const struct rig_case_graph *graph, const struct rig_case_arc *arc)
{
    return arc->pair == RIG_CASE_NONE || graph->value[arc->pair] == arc->value;
}

static void mark_near(const struct rig_case_graph *graph, uint32_t pair, bool forward, bool *marked, uint32_t *queue)
{
    RIG_REQUIRE(pair < graph->pairs.count);
    const uint32_t *first = forward ? graph->first_out : graph->first_in, *items = forward ? graph->out : graph->in;
    uint32_t head = 0, tail = 0;
    memset(marked, 0, graph->problem->txn_count * sizeof marked[0]);
    for (uint32_t i = graph->first_rest[pair]; i < graph->first_rest[pair + 1]; i++) {
        const struct rig_case_arc *arc = &graph->arcs.at[graph->rest[i]];
        const uint32_t node = forward ? arc->arc.to : arc->arc.from;
        if (is_put(graph, arc) && !marked[node])
            queue[tail++] = node;
        marked[node] |= is_put(graph, arc);
    }
    while (head < tail) {
        const uint32_t node = queue[head++];
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            const struct rig_case_arc *arc = &graph->arcs.at[items[i]];
            const uint32_t next = forward ? arc->arc.to : arc->arc.from;
            if (!is_put(graph, arc) || marked[next])
                continue;
            marked[next] = true;
            queue[tail++] = next;
        }
    }
    RIG_INVARIANT(tail <= graph->problem->txn_count);
}

void rig_case_graph_near(const struct rig_case_graph *graph, uint32_t pair, bool *after, bool *before, uint32_t *queue)
{
    mark_near(graph, pair, true, after, queue);
    mark_near(graph, pair, false, before, queue);
}

/* ---- the shortest cycle ---- */

static const struct pattern flow = {.ww = true, .wr = true, .longest = UINT32_MAX};

static const struct pattern patterns[RIG_RULE_COUNT] = {
    [RIG_RULE_WRITES] = {.ww = true, .longest = UINT32_MAX},
    [RIG_RULE_CURSOR] = {.ww = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_MONOTONIC_ATOMIC] = {.wr = true, .rw = true, .one_rw = true, .later = true, .longest = 2},
    [RIG_RULE_MONOTONIC_VIEW] =
        {.ww = true, .wr = true, .rw = true, .one_rw = true, .later = true, .longest = UINT32_MAX},
    [RIG_RULE_MONOTONIC_SNAPSHOT] = {.ww = true, .wr = true, .rw = true, .from = true, .longest = UINT32_MAX},
    [RIG_RULE_CONSISTENT] = {.ww = true, .wr = true, .rw = true, .one_rw = true, .longest = UINT32_MAX},
    [RIG_RULE_READ_ATOMIC] = {.wr = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_UPDATE_ATOMIC] = {.ww = true, .wr = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_CAUSAL] = {.wr = true, .rw = true, .one_rw = true, .longest = UINT32_MAX},
    [RIG_RULE_PREFIX] = {.ww = true, .wr = true, .rw = true, .apart = true, .behind_wr = true, .longest = UINT32_MAX},
    [RIG_RULE_SNAPSHOT] = {.ww = true, .wr = true, .rw = true, .apart = true, .longest = UINT32_MAX},
    [RIG_RULE_UPDATES] = {.ww = true, .wr = true, .rw = true, .one_reader = true, .longest = UINT32_MAX},
    [RIG_RULE_SERIAL] = {.ww = true, .wr = true, .rw = true, .longest = UINT32_MAX},
};

static bool holds(const struct rig_case_graph *graph, const struct pattern *pattern, const struct rig_case_arc *arc)
{
    if (arc->pair != RIG_CASE_NONE && graph->value[arc->pair] != arc->value)
        return false;
    if (graph->plain && arc->known != RIG_CASE_NONE && arc->known >= graph->problem->pairs.count)
        return false;
    switch (arc->arc.kind) {
    case RIG_EDGE_WW:
        return pattern->ww;
    case RIG_EDGE_WR:
        return pattern->wr;
    case RIG_EDGE_RW:
        return pattern->rw;
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        return true;
    }
    return false;
}

/* Whether `next` may follow `arc` in the pattern. */
static bool may_follow(const struct pattern *pattern, const struct rig_arc *arc, const struct rig_arc *next)
{
    if (next->kind != RIG_EDGE_RW)
        return true;
    if (pattern->apart && arc->kind == RIG_EDGE_RW)
        return false;
    if (pattern->behind_wr && arc->kind == RIG_EDGE_WW)
        return false;
    if ((!pattern->later && !pattern->from) || arc->kind == RIG_EDGE_PROCESS || arc->kind == RIG_EDGE_REALTIME)
        return true;
    return arc->kind != RIG_EDGE_RW && arc->to_op != RIG_ARC_NONE && arc->to_op + pattern->later <= next->from_op;
}

/* Whether the arc uses what the pattern allows once. */
static bool uses(const struct search *s, const struct rig_arc *arc)
{
    return (s->pattern->one_rw && arc->kind == RIG_EDGE_RW) ||
           (s->pattern->one_reader && arc->kind == RIG_EDGE_RW && s->graph->writes_nothing[arc->from]);
}

/* A cycle that only two arcs make may lack what the rule asks of both. */
static bool closes(const struct search *s, const struct rig_case_arc *last, const struct rig_case_arc *start)
{
    if (last->arc.to != start->arc.from || !may_follow(s->pattern, &last->arc, &start->arc))
        return false;
    if (s->pattern->longest != 2)
        return true;
    const struct rig_arc both[2] = {start->arc, last->arc};
    const bool nothing[2] = {s->graph->writes_nothing[start->arc.from], s->graph->writes_nothing[last->arc.from]};
    return rig_rule_forbids(s->graph->rule, both, 2, nothing);
}

static bool is_over(struct rig_case_graph *graph)
{
    enum { STEPS_A_CLOCK = 1 << 16 };
    if (!graph->spent && ++graph->steps % STEPS_A_CLOCK == 0)
        graph->spent = rig_clock_now_ns() > graph->deadline_ns;
    return graph->spent;
}

static void take_cycle(struct search *s, uint32_t state)
{
    RIG_REQUIRE(s->graph->walks->length[state] < s->best && state / 2 < s->graph->arcs.count);
    const struct rig_case_walks *walks = s->graph->walks;
    s->best = walks->length[state];
    for (uint32_t i = s->best; s->cycle != NULL && i-- > 0; state = walks->came_from[state])
        s->cycle[i] = state / 2;
}

/* Breadth first over walks that begin with `start`; a state is a walk's last arc and whether it has used what may be
 * there once. */
static void search_from(struct search *s, uint32_t start)
{
    struct rig_case_graph *graph = s->graph;
    struct rig_case_walks *walks = graph->walks;
    const struct rig_case_arc *first = &graph->arcs.at[start];
    uint32_t head = 0, tail = 0;
    const uint32_t search = ++walks->search;
    const uint32_t state = 2 * start + uses(s, &first->arc);
    walks->stamp[state] = search;
    walks->length[state] = 1;
    walks->queue[tail++] = state;
    while (head < tail) {
        const uint32_t at = walks->queue[head++];
        const struct rig_case_arc *last = &graph->arcs.at[at / 2];
        if (walks->length[at] + 1 >= s->best || walks->length[at] >= s->pattern->longest)
            return;
        for (uint32_t i = graph->first_out[last->arc.to]; i < graph->first_out[last->arc.to + 1]; i++) {
            const struct rig_case_arc *next = &graph->arcs.at[graph->out[i]];
            if (is_over(graph))
                return;
            const bool used = (at & 1) != 0, more = uses(s, &next->arc);
            const uint32_t to = 2 * graph->out[i] + (used || more);
            if (!holds(graph, s->pattern, next) || (used && more) || walks->stamp[to] == search ||
                !may_follow(s->pattern, &last->arc, &next->arc))
                continue;
            walks->stamp[to] = search;
            walks->length[to] = walks->length[at] + 1;
            walks->came_from[to] = at;
            walks->queue[tail++] = to;
            if (closes(s, next, first)) {
                take_cycle(s, to);
                return;
            }
        }
    }
}

static void search_pattern(struct search *s, const struct pattern *pattern, uint32_t pair)
{
    RIG_REQUIRE(pair == RIG_CASE_NONE || pair < s->graph->pairs.count);
    const struct rig_case_graph *graph = s->graph;
    const uint32_t begin = pair == RIG_CASE_NONE ? 0 : graph->first_rest[pair];
    const uint32_t end = pair == RIG_CASE_NONE ? (uint32_t)graph->arcs.count : graph->first_rest[pair + 1];
    s->pattern = pattern;
    for (uint32_t i = begin; i < end && !graph->spent; i++) {
        const uint32_t start = pair == RIG_CASE_NONE ? i : graph->rest[i];
        if (holds(graph, pattern, &graph->arcs.at[start]))
            search_from(s, start);
    }
}

uint32_t rig_case_graph_cycle(struct rig_case_graph *graph, uint32_t pair, uint32_t *cycle)
{
    const uint32_t none = graph->problem->txn_count + 1;
    struct search s = {.graph = graph, .best = none, .cycle = cycle};
    RIG_REQUIRE(!graph->too_large);
    if (graph->rule->form != RIG_RULE_WRITES)
        search_pattern(&s, &flow, pair);
    if (graph->rule->form != RIG_RULE_FLOW)
        search_pattern(&s, &patterns[graph->rule->form], pair);
    RIG_INVARIANT(s.best == none || (s.best >= 2 && s.best <= graph->problem->txn_count));
    return s.best == none ? 0 : s.best;
}

enum { CYCLES_A_ROUND = 64 };

/* A set of pairs, with the vector that lists them. */
struct listing {
    struct rig_table known;
    struct rig_case_pairs *pairs;
};

static bool list_pair(struct listing *listing, uint32_t one, uint32_t other, uint32_t key)
{
    RIG_REQUIRE(one != other);
    const struct rig_case_pair pair = {one < other ? one : other, one < other ? other : one, key};
    uint32_t *slot = rig_table_put(&listing->known, (uint64_t)pair.a << 32 | pair.b);
    if (slot == NULL)
        return false;
    if (*slot != RIG_TABLE_NONE)
        return true;
    *slot = 0;
    return rig_case_pairs_add(listing->pairs, pair);
}

static bool open_listing(struct listing *listing, struct rig_case_pairs *pairs)
{
    bool ok = true;
    rig_table_init(&listing->known);
    listing->pairs = pairs;
    for (size_t i = 0; ok && i < pairs->count; i++) {
        uint32_t *slot = rig_table_put(&listing->known, (uint64_t)pairs->at[i].a << 32 | pairs->at[i].b);
        ok = slot != NULL;
        if (ok)
            *slot = 0;
    }
    return ok;
}

/* ---- what reads force ---- */

/* In the order in which they were found: each follows from those before it. */
static bool list_forced(const struct rig_forced *forced, struct rig_case_pairs *pairs)
{
    const struct rig_problem *problem = forced->problem;
    struct listing listing;
    bool ok = open_listing(&listing, pairs);
    for (size_t p = problem->pairs.count; ok && p < forced->pairs.count; p++) {
        const struct rig_forced_pair *pair = &forced->pairs.at[p];
        ok = list_pair(&listing, problem->write_txn[pair->write], pair->after, problem->writes.at[pair->write].key);
    }
    rig_table_done(&listing.known);
    return ok;
}

static bool force(const struct rig_problem *problem, const struct rig_rule_frame *frame,
                  const struct rig_order_graph *graph, int64_t deadline_ns, struct rig_case_pairs *pairs)
{
    struct rig_forced forced;
    bool spent;
    const bool ok = rig_forced_init(&forced, problem, frame, graph->sequence) &&
                    rig_forced_run(&forced, deadline_ns, &spent) && list_forced(&forced, pairs);
    rig_forced_done(&forced);
    return ok;
}

bool rig_case_pairs_forced(const struct rig_problem *problem, const struct rig_rule *rule, int64_t deadline_ns,
                           struct rig_case_pairs *pairs)
{
    struct rig_rule_frame frame = {0};
    struct rig_order_graph graph = {0};
    struct rig_order_cycles cycles = {0};
    uint32_t *rank = malloc(((size_t)problem->txn_count + 1) * sizeof rank[0]);
    uint32_t *place = malloc(((size_t)problem->txn_count + 1) * sizeof place[0]);
    bool ok = rank != NULL && place != NULL && rig_rule_frame_init(&frame, problem, rule) &&
              rig_order_graph_init(&graph, problem, &frame);
    for (uint32_t node = 0; ok && node < problem->txn_count; node++)
        rank[node] = node;
    ok = ok && rig_order_graph_sort(&graph, rank, place, &cycles);
    if (ok && cycles.ends.count == 0) /* else what is known is a cycle already */
        ok = force(problem, &frame, &graph, deadline_ns, pairs);
    rig_order_edges_done(&cycles.edges);
    rig_order_ends_done(&cycles.ends);
    rig_order_graph_done(&graph);
    rig_rule_frame_done(&frame);
    free(rank);
    free(place);
    return ok;
}

/* ---- what is missing ---- */

/* Whether the arc orders transactions in an order that the model allows: rw edges may lead back in it. */
static bool is_ordering(const struct rig_case_graph *graph, const uint8_t *model, const struct rig_case_arc *arc)
{
    if (arc->pair != RIG_CASE_NONE && model[arc->pair] != arc->value)
        return false;
    return arc->arc.kind != RIG_EDGE_RW && (arc->arc.kind != RIG_EDGE_WR || graph->rule->form != RIG_RULE_WRITES);
}

/* A place for each node that keeps these arcs, which have no cycle. */
static bool sort_nodes(const struct rig_case_graph *graph, const uint8_t *model, uint32_t *place)
{
    const uint32_t count = graph->problem->txn_count;
    uint32_t *waits = calloc((size_t)count + 1, sizeof waits[0]);
    uint32_t *queue = calloc((size_t)count + 1, sizeof queue[0]);
    const bool room = waits != NULL && queue != NULL;
    uint32_t begin = 0, end = 0;
    for (size_t i = 0; room && i < graph->arcs.count; i++)
        waits[graph->arcs.at[i].arc.to] += is_ordering(graph, model, &graph->arcs.at[i]);
    for (uint32_t node = 0; room && node < count; node++) {
        if (waits[node] == 0)
            queue[end++] = node;
    }
    for (; begin < end; begin++) {
        const uint32_t node = queue[begin];
        place[node] = begin;
        for (uint32_t i = graph->first_out[node]; i < graph->first_out[node + 1]; i++) {
            const struct rig_case_arc *arc = &graph->arcs.at[graph->out[i]];
            if (is_ordering(graph, model, arc) && --waits[arc->arc.to] == 0)
                queue[end++] = arc->arc.to;
        }
    }
    RIG_INVARIANT(!room || end == count);
    free(waits);
    free(queue);
    return room;
}

static bool list_missing(const struct rig_breaches *found, struct rig_case_pairs *pairs)
{
    struct listing listing;
    bool ok = open_listing(&listing, pairs);
    for (size_t i = 0; ok && i < found->arcs.count; i++) {
        const struct rig_arc *arc = &found->arcs.at[i];
        if (arc->kind == RIG_EDGE_WW)
            ok = list_pair(&listing, arc->from, arc->to, arc->key);
        else if (arc->kind == RIG_EDGE_RW && arc->writer != RIG_ARC_NONE)
            ok = list_pair(&listing, arc->writer, arc->to, arc->key);
    }
    rig_table_done(&listing.known);
    return ok;
}

bool rig_case_pairs_missing(const struct rig_case_graph *graph, const uint8_t *model, int64_t deadline_ns,
                            struct rig_case_pairs *pairs, enum rig_case_pairs_answer *answer)
{
    uint32_t *place = malloc(((size_t)graph->problem->txn_count + 1) * sizeof place[0]);
    struct rig_breaches found = {0};
    const bool ok = place != NULL && sort_nodes(graph, model, place) &&
                    rig_breach_find(graph->problem, graph->rule, place, CYCLES_A_ROUND, deadline_ns, &found) &&
                    list_missing(&found, pairs);
    if (ok && found.ends.count > 0)
        *answer = RIG_CASE_PAIRS_FOUND;
    else if (ok)
        *answer = found.spent ? RIG_CASE_PAIRS_SPENT : RIG_CASE_PAIRS_EXPLAINED;
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    free(place);
    return ok;
}
