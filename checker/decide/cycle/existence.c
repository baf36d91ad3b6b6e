#include "checker/decide/cycle/existence.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/decide/cycle/realtime.h"
#include "checker/model/components.h"

/*
 * Decides which of many pairs of nodes are joined by a path, exactly and in any graph.
 *
 * The sources are numbered in the topological order of the view's components. A batch of them is carried along that
 * order at once, one bit each, over the stretch between the first source and the last target of the batch.
 *
 * Time: (pairs with different sources / REACH_LANES) passes over the stretches of the batches, which are short
 * where pairs are close to each other. Space: 16 bytes a pair, 8 a state of the view, and REACH_LANES / 8 a state
 * of the longest stretch.
 */

enum { REACH_LANES = 256 };

struct rig_pair {
    uint32_t from, to; /* nodes of a view that is not split */
    uint32_t place;    /* scratch */
    bool joined;       /* answered: a path of the view leads from `from` to `to`; both may be one node */
};

RIG_VEC(struct rig_pair, rig_pairs)

enum { WORDS = REACH_LANES / 64 };

struct reach {
    const struct rig_components *view;
    uint32_t *rank;          /* per node: its place in the view's order */
    uint64_t (*bits)[WORDS]; /* per rank of the stretch: which sources of the batch are ancestors */
    size_t room;
};

/* All members of a component count as one place: that of the first of them. */
static uint32_t place_of(const struct reach *r, uint32_t node)
{
    RIG_REQUIRE(node < r->view->state_count);
    uint32_t component = r->view->component_of[node];
    return component == UINT32_MAX ? r->rank[node] : r->view->list.at[component].begin;
}

static uint32_t end_of(const struct reach *r, uint32_t place)
{
    RIG_REQUIRE(place < r->view->state_count);
    uint32_t component = r->view->component_of[r->view->order[place]];
    return component == UINT32_MAX ? place + 1 : r->view->list.at[component].end;
}

/* By the places of their sources. */
static int compare_pairs(const void *left, const void *right)
{
    const struct rig_pair *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static void set_bit(uint64_t bits[WORDS], unsigned lane)
{
    RIG_REQUIRE(lane < REACH_LANES);
    bits[lane / 64] |= UINT64_C(1) << lane % 64;
}

/* Spreads the sources to their descendants at the places [begin, end); groups begin at both. */
static void spread(struct reach *r, uint32_t begin, uint32_t end)
{
    for (uint32_t group = begin, next; group < end; group = next) {
        uint64_t bits[WORDS];
        memcpy(bits, r->bits[group - begin], sizeof bits); /* of sources that stand here */
        next = end_of(r, group);
        RIG_INVARIANT(next > group && next <= end);
        for (uint32_t rank = group; rank < next; rank++) {
            struct rig_cursor cursor = {0};
            uint32_t node = r->view->order[rank];
            for (uint32_t from; (from = rig_view_next(&r->view->view, node, &cursor)) != RIG_NODE_NONE;) {
                uint32_t place = r->rank[from];
                for (unsigned word = 0; word < WORDS && place >= begin && place < group; word++)
                    bits[word] |= r->bits[place - begin][word];
            }
        }
        for (uint32_t rank = group; rank < next; rank++)
            memcpy(r->bits[rank - begin], bits, sizeof bits);
    }
}

static bool answer_batch(struct reach *r, struct rig_pair *pairs, size_t count)
{
    const uint32_t begin = pairs[0].place;
    uint32_t last = begin;
    for (size_t i = 0; i < count; i++)
        last = place_of(r, pairs[i].to) > last ? place_of(r, pairs[i].to) : last;
    const uint32_t end = end_of(r, last);
    RIG_INVARIANT(begin < end && end <= r->view->state_count);
    if (end - begin > r->room) {
        free(r->bits);
        r->room = end - begin;
        r->bits = malloc(r->room * sizeof *r->bits);
        if (r->bits == NULL)
            return false;
    }
    memset(r->bits, 0, (end - begin) * sizeof *r->bits);
    unsigned lane = 0;
    for (size_t i = 0; i < count; i++) {
        RIG_INVARIANT(i == 0 || pairs[i - 1].place <= pairs[i].place);
        lane += i > 0 && pairs[i].place != pairs[i - 1].place;
        RIG_INVARIANT(lane < REACH_LANES);
        if (pairs[i].place < end)
            set_bit(r->bits[pairs[i].place - begin], lane);
    }
    spread(r, begin, end);
    lane = 0;
    for (size_t i = 0; i < count; i++) {
        lane += i > 0 && pairs[i].place != pairs[i - 1].place;
        uint32_t place = place_of(r, pairs[i].to);
        pairs[i].joined = place >= begin && (r->bits[place - begin][lane / 64] >> lane % 64 & 1) != 0;
    }
    return true;
}

static bool answer_all(struct reach *r, struct rig_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        RIG_REQUIRE(pairs->at[i].from < r->view->state_count && pairs->at[i].to < r->view->state_count);
        pairs->at[i].place = place_of(r, pairs->at[i].from);
    }
    if (pairs->count > 0)
        qsort(pairs->at, pairs->count, sizeof *pairs->at, compare_pairs);
    for (size_t begin = 0, end; begin < pairs->count; begin = end) {
        unsigned sources = 1;
        for (end = begin + 1; end < pairs->count; end++) {
            sources += pairs->at[end].place != pairs->at[end - 1].place;
            if (sources > REACH_LANES)
                break;
        }
        if (!answer_batch(r, pairs->at + begin, end - begin))
            return false;
    }
    return true;
}

/* Answers all pairs, and may reorder them. `view`: the components of a view that is not split. */
static enum rig_rc rig_reach(const struct rig_components *view, struct rig_pairs *pairs, struct rig_err *err)
{
    RIG_REQUIRE(!view->view.split);
    struct reach r = {.view = view, .rank = malloc(((size_t)view->state_count + 1) * sizeof *r.rank)};
    for (uint32_t i = 0; r.rank != NULL && i < view->state_count; i++)
        r.rank[view->order[i]] = i;
    bool done = r.rank != NULL && answer_all(&r, pairs);
    free(r.rank);
    free(r.bits);
    return done ? RIG_OK : rig_memory_limit(err, "the search for cycles");
}

enum { MOST_SEEDS = 4096 /* of a walk that may split into other cycles */ };

/* One shape in one form. */
struct existence_search {
    const struct rig_existence *given;
    enum rig_shape shape;
    enum rig_along order;
    rig_anomaly_set cases; /* any of these answers it */
    bool seeded;           /* a closed walk of the kind exists */
    bool done;             /* a cycle was found */
    struct rig_cycle *cycle;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the search for cycles");
}

static bool is_found(const struct rig_ladder *ladder, rig_anomaly_set cases)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((cases & RIG_ANOMALY_BIT(anomaly)) != 0 && rig_ladder_count(ladder, (enum rig_anomaly)anomaly) > 0)
            return true;
    }
    return false;
}

static struct rig_view view_of(const struct existence_search *q, unsigned links, bool split)
{
    return (struct rig_view){
        .graph = q->given->graph, .links = links, .process = q->order != RIG_ALONG_PLAIN, .split = split};
}

/* A cycle of the shape or of a special case of it. */
static struct rig_path_rule rule_of(const struct existence_search *q)
{
    return (struct rig_path_rule){.links = RIG_LINKS_ALL,
                                  .process = q->order != RIG_ALONG_PLAIN,
                                  .fewest_rw = 1,
                                  .most_rw = q->shape == RIG_SHAPE_SINGLE ? 1 : RIG_ANY_RW,
                                  .nonadjacent = q->shape == RIG_SHAPE_NONADJACENT};
}

/* Searches without bounds; q->done when the cycle found is one of the cases. */
static enum rig_rc follow(struct existence_search *q, struct rig_seed seed, struct rig_region region)
{
    const struct rig_path_rule rule = rule_of(q);
    enum rig_anomaly anomaly;
    RIG_INVARIANT(seed.kind == RIG_EDGE_RW || (seed.kind == RIG_EDGE_REALTIME && q->order == RIG_ALONG_REALTIME));
    q->seeded = true;
    enum rig_found found = rig_search_cycle(q->given->search, &rule, seed, region, 0, 0, q->cycle);
    if (found == RIG_FOUND_NO_MEMORY ||
        (found == RIG_FOUND && !rig_collector_add(q->given->collector, q->cycle, &anomaly)))
        return no_memory(q->err);
    RIG_INVARIANT(found == RIG_FOUND); /* a seed is on a closed walk, and the search has no bounds */
    q->done |= (q->cases & RIG_ANOMALY_BIT(anomaly)) != 0;
    return RIG_OK;
}

/* ---- rw edges inside components ---- */

/* Nonadjacent and G2: an rw edge inside a component, of the split graph or of all edges. */
static enum rig_rc try_components(struct existence_search *q, const struct rig_components *components)
{
    const uint32_t txn_count = q->given->graph->txn_count;
    struct rig_seeds seeds = {0};
    enum rig_rc rc = RIG_OK;
    size_t tried = 0;
    for (uint32_t to = 0; rc == RIG_OK && !q->done && to < txn_count && tried < MOST_SEEDS; to++) {
        const uint32_t component = components->component_of[components->view.split ? 2 * to + 1 : to];
        seeds.count = 0;
        if (component == UINT32_MAX)
            continue;
        RIG_INVARIANT(component < components->list.count);
        if (!rig_seeds_into(components, component, to, RIG_EDGE_RW, SIZE_MAX, &seeds))
            rc = no_memory(q->err);
        for (size_t i = 0; rc == RIG_OK && !q->done && i < seeds.count && tried < MOST_SEEDS; i++, tried++)
            rc = follow(q, seeds.at[i], (struct rig_region){.components = components, .component = component});
    }
    rig_seeds_done(&seeds);
    return rc;
}

/* ---- exactly one rw edge ---- */

/* Collects the rw edges of the core whose ends may be joined: those within one component of all edges. */
static bool ask_pairs(const struct rig_components *all, struct rig_pairs *pairs)
{
    struct rig_seeds seeds = {0};
    bool done = true;
    for (uint32_t to = 0; done && to < all->view.graph->txn_count; to++) {
        seeds.count = 0;
        done = all->component_of[to] == UINT32_MAX ||
               rig_seeds_into(all, all->component_of[to], to, RIG_EDGE_RW, SIZE_MAX, &seeds);
        for (size_t i = 0; done && i < seeds.count; i++)
            done = rig_pairs_add(pairs, (struct rig_pair){.from = to, .to = seeds.at[i].from});
    }
    rig_seeds_done(&seeds);
    return done;
}

static enum rig_rc try_pairs(struct existence_search *q, const struct rig_components *flow)
{
    struct rig_components all = {0};
    struct rig_pairs pairs = {0};
    enum rig_rc rc = rig_components_find(view_of(q, RIG_LINKS_ALL, false), &all, q->err);
    if (rc == RIG_OK && !ask_pairs(&all, &pairs))
        rc = no_memory(q->err);
    if (rc == RIG_OK)
        rc = rig_reach(flow, &pairs, q->err);
    for (size_t i = 0; rc == RIG_OK && !q->done && i < pairs.count; i++) {
        const struct rig_pair pair = pairs.at[i];
        if (pair.joined)
            rc = follow(q, (struct rig_seed){pair.to, pair.from, RIG_EDGE_RW},
                        (struct rig_region){.components = &all, .component = all.component_of[pair.to]});
    }
    rig_components_done(&all);
    rig_pairs_done(&pairs);
    return rc;
}

/* ---- real time ---- */

/* The latest invocations that a pass along the order of a view carries. */
struct times {
    const struct rig_components *components;
    const uint32_t *latest; /* per state: the latest invocation among itself and its ancestors */
    uint32_t *behind_rw;    /* the same among the ancestors with an rw edge on a path from them */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* All predecessors of a state that was reached over rw have an rw edge on the path. */
static uint32_t split_behind_rw(const struct times *t, uint32_t state)
{
    struct rig_cursor cursor = {0};
    uint32_t most = 0;
    for (uint32_t from; (from = rig_view_next(&t->components->view, state, &cursor)) != RIG_NODE_NONE;)
        most = larger(most, state & 1u ? t->latest[from] : t->behind_rw[from]);
    return most;
}

static uint32_t plain_behind_rw(const struct times *t, uint32_t node)
{
    const struct rig_view *view = &t->components->view;
    const struct rig_graph *graph = view->graph;
    uint32_t most = 0, before = rig_view_process(view, node);
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t from = rig_edge_node(graph->edges[i]);
        most = larger(most, rig_edge_link(graph->edges[i]) == RIG_LINK_RW ? t->latest[from] : t->behind_rw[from]);
    }
    return before == RIG_NODE_NONE ? most : larger(most, t->behind_rw[before]);
}

/* No component has an rw edge inside, which would be a seed. So its members share one maximum. */
static void spread_behind_rw(struct times *t)
{
    const struct rig_components *components = t->components;
    for (uint32_t begin = 0, end; begin < components->state_count; begin = end) {
        uint32_t component = components->component_of[components->order[begin]], most = 0;
        end = component == UINT32_MAX ? begin + 1 : components->list.at[component].end;
        RIG_INVARIANT(begin < end && end <= components->state_count);
        for (uint32_t i = begin; i < end; i++) {
            uint32_t state = components->order[i];
            most = larger(most, components->view.split ? split_behind_rw(t, state) : plain_behind_rw(t, state));
        }
        for (uint32_t i = begin; i < end; i++) {
            RIG_INVARIANT(most <= t->latest[components->order[i]]);
            t->behind_rw[components->order[i]] = most;
        }
    }
}

/* Nonadjacent and G2: a transaction that completed before an ancestor was invoked, with an rw edge on the path. */
static enum rig_rc try_violations(struct existence_search *q, const struct rig_components *components)
{
    const struct rig_existence *e = q->given;
    struct rig_realtime realtime;
    enum rig_rc rc = rig_realtime_find(e->history, components, &realtime, q->err);
    struct times t = {.components = components, .latest = realtime.latest};
    if (rc == RIG_OK)
        t.behind_rw = calloc((size_t)components->state_count + 1, sizeof *t.behind_rw);
    if (rc == RIG_OK && t.behind_rw == NULL)
        rc = no_memory(q->err);
    if (rc == RIG_OK)
        spread_behind_rw(&t);
    const uint32_t twins = components->view.split ? 2 : 1;
    size_t tried = 0;
    for (uint32_t node = 0; rc == RIG_OK && !q->done && node < e->graph->txn_count && tried < MOST_SEEDS; node++) {
        uint32_t ended = rig_txn_end(e->history, rig_graph_txn(e->graph, node));
        uint32_t behind = larger(t.behind_rw[node * twins], t.behind_rw[node * twins + twins - 1]);
        if (ended >= behind)
            continue;
        rc = follow(q, (struct rig_seed){node, RIG_NODE_NONE, RIG_EDGE_REALTIME},
                    (struct rig_region){.components = components, .latest = realtime.latest, .after = ended});
        tried++;
    }
    free(t.behind_rw);
    rig_realtime_done(&realtime);
    return rc;
}

/* For each node, the first end among the node and its descendants over ww, wr and process order. */
static bool find_first_ended(const struct existence_search *q, const struct rig_components *flow, uint32_t *first_ended)
{
    RIG_REQUIRE(flow->state_count == q->given->graph->node_count);
    const struct rig_existence *e = q->given;
    const uint32_t count = e->graph->node_count;
    uint32_t *ended = malloc(((size_t)count + 1) * sizeof *ended);
    if (ended == NULL)
        return false;
    for (uint32_t node = 0; node < count; node++) {
        first_ended[node] = node;
        ended[node] = node < e->graph->txn_count ? rig_txn_end(e->history, rig_graph_txn(e->graph, node)) : UINT32_MAX;
    }
    for (uint32_t end = count, begin; end > 0; end = begin) {
        uint32_t component = flow->component_of[flow->order[end - 1]], first = flow->order[end - 1];
        begin = component == UINT32_MAX ? end - 1 : flow->list.at[component].begin;
        RIG_INVARIANT(begin < end);
        for (uint32_t i = begin; i < end; i++)
            first = ended[flow->order[i]] < ended[first] ? flow->order[i] : first;
        const struct {
            uint32_t node, at;
        } least = {first_ended[first], ended[first]};
        for (uint32_t i = begin; i < end; i++) {
            first_ended[flow->order[i]] = least.node;
            ended[flow->order[i]] = least.at;
        }
        for (uint32_t i = begin; i < end; i++) {
            struct rig_cursor cursor = {0};
            for (uint32_t from; (from = rig_view_next(&flow->view, flow->order[i], &cursor)) != RIG_NODE_NONE;) {
                if (ended[from] > least.at) {
                    ended[from] = least.at;
                    first_ended[from] = least.node;
                }
            }
        }
    }
    free(ended);
    return true;
}

/*
 * G-single: an rw edge a -> b where a descendant of b completed before an ancestor of a was invoked, both over ww, wr
 * and process order. The latest of these invocations is carried through relays.
 */
static enum rig_rc try_skewed_times(struct existence_search *q, const struct rig_components *flow)
{
    const struct rig_existence *e = q->given;
    const struct rig_graph *graph = e->graph;
    struct rig_realtime realtime;
    enum rig_rc rc = rig_realtime_find(e->history, flow, &realtime, q->err);
    uint32_t *first_ended = malloc(((size_t)graph->node_count + 1) * sizeof *first_ended);
    uint32_t *behind_rw = calloc((size_t)graph->node_count + 1, sizeof *behind_rw);
    if (rc == RIG_OK && (first_ended == NULL || behind_rw == NULL || !find_first_ended(q, flow, first_ended)))
        rc = no_memory(q->err);
    for (uint32_t i = 0; rc == RIG_OK && !q->done && i < flow->state_count; i++) {
        uint32_t node = flow->order[i];
        for (uint32_t j = graph->first[node]; j < graph->first[node + 1]; j++) {
            uint32_t from = rig_edge_node(graph->edges[j]);
            enum rig_link link = rig_edge_link(graph->edges[j]);
            if (link == RIG_LINK_RW || link == RIG_LINK_THROUGH)
                behind_rw[node] =
                    larger(behind_rw[node], link == RIG_LINK_RW ? realtime.latest[from] : behind_rw[from]);
        }
        if (node >= graph->txn_count)
            continue;
        uint32_t first = first_ended[node];
        RIG_INVARIANT(first < graph->node_count);
        if (first < graph->txn_count && rig_txn_end(e->history, rig_graph_txn(graph, first)) < behind_rw[node])
            rc = follow(q, (struct rig_seed){first, RIG_NODE_NONE, RIG_EDGE_REALTIME}, (struct rig_region){0});
    }
    free(first_ended);
    free(behind_rw);
    rig_realtime_done(&realtime);
    return rc;
}

/* ---- one shape in one form ---- */

/* Cycles with real time and without any are both cases of the real-time form. */
static enum rig_rc try_single(struct existence_search *q)
{
    struct rig_components flow;
    enum rig_rc rc = rig_components_find(view_of(q, RIG_LINKS_WW | RIG_LINKS_WR, false), &flow, q->err);
    if (rc == RIG_OK)
        rc = try_pairs(q, &flow);
    if (rc == RIG_OK && !q->done && q->order == RIG_ALONG_REALTIME && q->given->history->has_invocations)
        rc = try_skewed_times(q, &flow);
    rig_components_done(&flow);
    return rc;
}

static enum rig_rc try_several(struct existence_search *q)
{
    struct rig_components components;
    enum rig_rc rc =
        rig_components_find(view_of(q, RIG_LINKS_ALL, q->shape == RIG_SHAPE_NONADJACENT), &components, q->err);
    if (rc == RIG_OK)
        rc = try_components(q, &components);
    if (rc == RIG_OK && !q->seeded && q->order == RIG_ALONG_REALTIME && q->given->history->has_invocations)
        rc = try_violations(q, &components);
    rig_components_done(&components);
    return rc;
}

/* A cycle of ww edges that is not certain at read uncommitted, or a real-time violation over such edges. */
static enum rig_rc try_open_writes(struct existence_search *q)
{
    struct rig_components components;
    struct rig_realtime realtime = {0};
    enum rig_rc rc = rig_components_find(view_of(q, RIG_LINKS_WW, false), &components, q->err);
    if (rc == RIG_OK && components.list.count == 0 && q->order == RIG_ALONG_REALTIME)
        rc = rig_realtime_find(q->given->history, &components, &realtime, q->err);
    q->seeded = rc == RIG_OK && (components.list.count > 0 || realtime.violations.count > 0);
    rig_realtime_done(&realtime);
    rig_components_done(&components);
    return rc;
}

static enum rig_rc answer(struct existence_search *q)
{
    switch (q->shape) {
    case RIG_SHAPE_G0:
        return q->given->unsettled ? try_open_writes(q) : RIG_OK;
    case RIG_SHAPE_G1C: /* the ladder decided it, with a witness */
        return RIG_OK;
    case RIG_SHAPE_SINGLE:
        return try_single(q);
    case RIG_SHAPE_NONADJACENT:
    case RIG_SHAPE_G2:
    case RIG_SHAPE_COUNT:
        break;
    }
    return try_several(q);
}

enum rig_rc rig_existence_decide(const struct rig_existence *existence, rig_anomaly_set asked, struct rig_err *err)
{
    RIG_REQUIRE(existence->search != NULL && existence->collector->ladder == existence->ladder);
    struct rig_cycle cycle = {0};
    enum rig_rc rc = RIG_OK;
    for (unsigned shape = 0; rc == RIG_OK && shape < RIG_SHAPE_COUNT; shape++) {
        for (unsigned order = 0; rc == RIG_OK && order < RIG_ALONG_COUNT; order++) {
            enum rig_anomaly anomaly = rig_anomaly_of_cycle((enum rig_shape)shape, (enum rig_along)order);
            struct existence_search q = {.given = existence,
                                         .shape = (enum rig_shape)shape,
                                         .order = (enum rig_along)order,
                                         .cases = rig_anomaly_cases(anomaly),
                                         .cycle = &cycle,
                                         .err = err};
            if ((asked & RIG_ANOMALY_BIT(anomaly)) == 0 || is_found(existence->ladder, q.cases))
                continue;
            rc = answer(&q);
            RIG_INVARIANT(rc != RIG_OK || q.done == q.seeded || shape == RIG_SHAPE_NONADJACENT ||
                          shape == RIG_SHAPE_G0);
            if (q.seeded && !q.done)
                existence->ladder->undecided |= RIG_ANOMALY_BIT(anomaly);
        }
    }
    rig_cycle_done(&cycle);
    return rc;
}
