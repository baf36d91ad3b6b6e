#include "checker/solve/case_graph.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

/* A walk's last arc, and whether it has used up what the rule allows once. */
struct rig_case_walks {
    uint32_t *came_from; /* per state: the state before; by number, 2 an arc */
    uint32_t *length;    /* per state, valid where `stamp` is the search's */
    uint32_t *stamp;
    uint32_t *queue;
    uint32_t search;
};

/* ---- the order that is known ---- */

/* For the writers of one key. */
struct key_order {
    const uint32_t *writers;
    uint32_t count;
    uint32_t *shown; /* count squared: what shows [before][after], as rig_case_arc.known */
};

static uint32_t place_of(const struct key_order *order, uint32_t node)
{
    uint32_t low = 0, high = order->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (order->writers[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    RIG_INVARIANT(low < order->count && order->writers[low] == node);
    return low;
}

static bool is_list_pair(const struct rig_problem *problem, uint32_t pair)
{
    return pair < problem->pairs.count && problem->pairs.at[pair].source == RIG_ORDER_LIST;
}

/* Pairs that reads of lists show follow from each other: the reads that show the first and the last version show all
 * between. Assumptions about registers name their evidence, and stay as they are. */
static void close_order(const struct rig_problem *problem, struct key_order *order)
{
    const uint32_t n = order->count;
    for (uint32_t via = 0; via < n; via++) {
        for (uint32_t a = 0; a < n; a++) {
            if (!is_list_pair(problem, order->shown[a * n + via]))
                continue;
            for (uint32_t b = 0; b < n; b++) {
                if (is_list_pair(problem, order->shown[via * n + b]) && order->shown[a * n + b] == RIG_CASE_NONE)
                    order->shown[a * n + b] = order->shown[a * n + via];
            }
        }
    }
}

/* A version that a transaction read comes before its own: the reverse is a cycle of a ww and a wr edge. */
static void add_updates(const struct rig_problem *problem, uint32_t key, struct key_order *order)
{
    for (uint32_t at = 0; at < order->count; at++) {
        const uint32_t write = rig_problem_write_of(problem, order->writers[at], key);
        for (uint32_t i = problem->reader_first[write]; i < problem->reader_first[write + 1]; i++) {
            const uint32_t read = problem->readers[i], reader = problem->read_txn[read];
            if (rig_problem_write_of(problem, reader, key) == RIG_PROBLEM_NONE)
                continue;
            uint32_t *shown = &order->shown[at * order->count + place_of(order, reader)];
            if (*shown == RIG_CASE_NONE)
                *shown = (uint32_t)problem->pairs.count + read;
        }
    }
}

/* `reads`: wr edges count, so that what a transaction read comes before what it wrote. */
static bool order_of_key(const struct rig_problem *problem, uint32_t key, bool reads, struct key_order *order)
{
    order->writers = problem->writers + problem->writer_first[key];
    order->count = problem->writer_first[key + 1] - problem->writer_first[key];
    const size_t size = (size_t)order->count * order->count;
    order->shown = malloc((size + 1) * sizeof order->shown[0]);
    if (order->shown == NULL)
        return false;
    memset(order->shown, 0xff, size * sizeof order->shown[0]);
    for (size_t p = 0; p < problem->pairs.count; p++) {
        const struct rig_problem_pair *pair = &problem->pairs.at[p];
        if (pair->key == key)
            order->shown[place_of(order, pair->before) * order->count + place_of(order, pair->after)] = (uint32_t)p;
    }
    close_order(problem, order);
    if (reads)
        add_updates(problem, key, order);
    return true;
}

/* ---- making the edges ---- */

struct making {
    struct rig_case_graph *graph;
    struct key_order order;
    uint32_t key;
    uint32_t *pair_of; /* per two writers of the key: their pair */
};

static bool add_arc(struct making *m, struct rig_arc arc, uint32_t pair, enum rig_case_value value, uint32_t known)
{
    return rig_case_arcs_add(&m->graph->arcs,
                             (struct rig_case_arc){.arc = arc, .pair = pair, .value = value, .known = known});
}

static uint32_t find_pair(const struct rig_case_graph *graph, uint32_t a, uint32_t b)
{
    for (size_t i = graph->pairs.count; i-- > 0;) {
        if (graph->pairs.at[i].a == a && graph->pairs.at[i].b == b)
            return (uint32_t)i;
    }
    return RIG_CASE_NONE;
}

/* An arc of a ww or rw edge that needs the version of writers[before] to come before that of writers[after]. */
static bool add_ordered(struct making *m, struct rig_arc arc, uint32_t before, uint32_t after)
{
    const uint32_t n = m->order.count;
    const uint32_t shown = m->order.shown[before * n + after];
    if (shown != RIG_CASE_NONE)
        return add_arc(m, arc, RIG_CASE_NONE, RIG_CASE_OPEN, shown);
    if (m->order.shown[after * n + before] != RIG_CASE_NONE)
        return true;
    const uint32_t low = before < after ? before : after, high = before < after ? after : before;
    uint32_t *pair = &m->pair_of[low * n + high];
    if (*pair == RIG_CASE_NONE) {
        const uint32_t a = m->order.writers[low], b = m->order.writers[high];
        *pair = find_pair(m->graph, a, b);
        if (*pair == RIG_CASE_NONE) {
            *pair = (uint32_t)m->graph->pairs.count;
            if (!rig_case_pairs_add(&m->graph->pairs, (struct rig_case_pair){a, b, m->key}))
                return false;
        }
    }
    return add_arc(m, arc, *pair, low == before ? RIG_CASE_FORWARD : RIG_CASE_BACKWARD, RIG_CASE_NONE);
}

/* Whether it is known that the reader's own version comes before that of writers[later]: then the ww edge from it forbids
 * whatever an rw edge would. */
static bool overwrites_itself(const struct making *m, uint32_t reader, uint32_t later)
{
    return rig_problem_write_of(m->graph->problem, reader, m->key) != RIG_PROBLEM_NONE &&
           m->order.shown[place_of(&m->order, reader) * m->order.count + later] != RIG_CASE_NONE;
}

/* The edges between writers, and from the readers of a version to later writers. `write`: of writers[at]. */
static bool add_of_version(struct making *m, uint32_t at, uint32_t write)
{
    const struct rig_problem *problem = m->graph->problem;
    for (uint32_t later = 0; later < m->order.count; later++) {
        const uint32_t from = m->order.writers[at], to = m->order.writers[later];
        if (later == at)
            continue;
        const uint32_t first_op = problem->writes.at[rig_problem_write_of(problem, to, m->key)].first_op;
        const struct rig_arc ww = {from, to, RIG_EDGE_WW, m->key, from, RIG_ARC_NONE, first_op};
        if (!add_ordered(m, ww, at, later))
            return false;
        for (uint32_t i = problem->reader_first[write]; i < problem->reader_first[write + 1]; i++) {
            const uint32_t read = problem->readers[i], reader = problem->read_txn[read];
            const struct rig_arc rw = {reader, to, RIG_EDGE_RW, m->key, from, problem->reads.at[read].op, RIG_ARC_NONE};
            if (reader != to && !overwrites_itself(m, reader, later) && !add_ordered(m, rw, at, later))
                return false;
        }
    }
    for (uint32_t i = problem->reader_first[write]; i < problem->reader_first[write + 1]; i++) {
        const uint32_t read = problem->readers[i];
        const struct rig_arc wr = {
            m->order.writers[at], problem->read_txn[read],   RIG_EDGE_WR, m->key, m->order.writers[at],
            RIG_ARC_NONE,         problem->reads.at[read].op};
        if (!add_arc(m, wr, RIG_CASE_NONE, RIG_CASE_OPEN, RIG_CASE_NONE))
            return false;
    }
    return true;
}

/* From the readers of the initial state to the writers. */
static bool add_of_initial(struct making *m)
{
    const struct rig_problem *problem = m->graph->problem;
    const size_t initial = problem->writes.count + m->key;
    for (uint32_t i = problem->reader_first[initial]; i < problem->reader_first[initial + 1]; i++) {
        const uint32_t read = problem->readers[i], reader = problem->read_txn[read];
        for (uint32_t later = 0; later < m->order.count; later++) {
            const struct rig_arc rw = {reader,       m->order.writers[later],    RIG_EDGE_RW, m->key,
                                       RIG_ARC_NONE, problem->reads.at[read].op, RIG_ARC_NONE};
            if (reader != m->order.writers[later] && !overwrites_itself(m, reader, later) &&
                !add_arc(m, rw, RIG_CASE_NONE, RIG_CASE_OPEN, RIG_CASE_NONE))
                return false;
        }
    }
    return true;
}

static bool is_too_large(const struct rig_case_graph *graph)
{
    return graph->too_large || graph->arcs.count > RIG_CASE_ARCS_MOST || graph->pairs.count > RIG_CASE_PAIRS_MOST;
}

static bool add_of_key(struct making *m)
{
    const struct rig_problem *problem = m->graph->problem;
    const size_t size = (size_t)m->order.count * m->order.count;
    m->pair_of = malloc((size + 1) * sizeof m->pair_of[0]);
    bool ok = m->pair_of != NULL;
    if (ok)
        memset(m->pair_of, 0xff, size * sizeof m->pair_of[0]);
    for (uint32_t at = 0; ok && at < m->order.count && !is_too_large(m->graph); at++)
        ok = add_of_version(m, at, rig_problem_write_of(problem, m->order.writers[at], m->key));
    free(m->pair_of);
    return ok && add_of_initial(m);
}

static bool add_dependencies(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    bool ok = true;
    for (uint32_t key = 0; ok && key < problem->key_count && !is_too_large(graph); key++) {
        const uint32_t writers = problem->writer_first[key + 1] - problem->writer_first[key];
        struct making m = {.graph = graph, .key = key};
        graph->too_large |= writers > RIG_CASE_WRITERS_MOST;
        if (writers == 0 || graph->too_large)
            continue;
        ok = order_of_key(problem, key, graph->rule->form != RIG_RULE_WRITES, &m.order) && add_of_key(&m);
        free(m.order.shown);
    }
    return ok;
}

/* Whether process order puts `a` before `b`; or real time, where it counts. */
static bool is_earlier(const struct rig_problem *problem, uint32_t a, uint32_t b, bool realtime)
{
    const struct rig_problem_txn *first = &problem->txns.at[a], *second = &problem->txns.at[b];
    if (problem->has_realtime && first->ended < second->invoked)
        return realtime || first->session == second->session;
    if (first->session != second->session)
        return false;
    uint32_t before = second->before;
    while (before != RIG_PROBLEM_NONE && before != a)
        before = problem->txns.at[before].before;
    return before == a;
}

static bool add_orders(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    if (graph->rule->along == RIG_ALONG_PLAIN)
        return true;
    for (uint32_t a = 0; a < problem->txn_count && !is_too_large(graph); a++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (a == b || !is_earlier(problem, a, b, graph->rule->along == RIG_ALONG_REALTIME))
                continue;
            const bool same = problem->txns.at[a].session == problem->txns.at[b].session;
            const struct rig_arc arc = {.from = a,
                                        .to = b,
                                        .kind = same ? RIG_EDGE_PROCESS : RIG_EDGE_REALTIME,
                                        .key = RIG_ARC_NONE,
                                        .writer = RIG_ARC_NONE,
                                        .from_op = RIG_ARC_NONE,
                                        .to_op = RIG_ARC_NONE};
            if (!rig_case_arcs_add(&graph->arcs,
                                   (struct rig_case_arc){.arc = arc, .pair = RIG_CASE_NONE, .known = RIG_CASE_NONE}))
                return false;
        }
    }
    return true;
}

/* ---- indexes ---- */

/* Fills in first[bucket] to first[bucket + 1] of `items`, for the arcs of each bucket. */
static void fill_index(const struct rig_case_graph *graph, bool by_pair, uint32_t buckets, uint32_t *first,
                       uint32_t *items)
{
    uint32_t total = 0;
    for (size_t i = 0; i < graph->arcs.count; i++) {
        const uint32_t bucket = by_pair ? graph->arcs.at[i].pair : graph->arcs.at[i].arc.from;
        if (bucket != RIG_CASE_NONE) {
            first[bucket + 1]++;
            total++;
        }
    }
    for (uint32_t i = 0; i < buckets; i++)
        first[i + 1] += first[i];
    for (size_t i = graph->arcs.count; i-- > 0;) {
        const uint32_t bucket = by_pair ? graph->arcs.at[i].pair : graph->arcs.at[i].arc.from;
        if (bucket != RIG_CASE_NONE)
            items[--first[bucket + 1]] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < buckets; i++)
        first[i] = first[i + 1];
    first[buckets] = total;
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
    graph->first_rest = numbers(pairs);
    graph->rest = numbers(arcs);
    graph->value = calloc(pairs + 1, 1);
    if (walks == NULL || graph->first_out == NULL || graph->out == NULL || graph->first_rest == NULL ||
        graph->rest == NULL || graph->value == NULL)
        return false;
    walks->came_from = numbers(2 * arcs);
    walks->length = numbers(2 * arcs);
    walks->stamp = numbers(2 * arcs);
    walks->queue = numbers(2 * arcs);
    return walks->came_from != NULL && walks->length != NULL && walks->stamp != NULL && walks->queue != NULL;
}

bool rig_case_graph_init(struct rig_case_graph *graph, const struct rig_problem *problem, const struct rig_rule *rule,
                         const bool *writes_nothing)
{
    *graph = (struct rig_case_graph){
        .problem = problem, .rule = rule, .writes_nothing = writes_nothing, .deadline_ns = INT64_MAX};
    bool ok = add_dependencies(graph) && add_orders(graph);
    graph->too_large = is_too_large(graph);
    if (ok && !graph->too_large)
        ok = make_indexes(graph);
    if (!ok) {
        rig_case_graph_done(graph);
        return false;
    }
    if (!graph->too_large) {
        const uint32_t nodes = problem->txn_count, pairs = (uint32_t)graph->pairs.count;
        fill_index(graph, false, nodes, graph->first_out, graph->out);
        fill_index(graph, true, pairs, graph->first_rest, graph->rest);
    }
    return true;
}

void rig_case_graph_done(struct rig_case_graph *graph)
{
    rig_case_pairs_done(&graph->pairs);
    rig_case_arcs_done(&graph->arcs);
    free(graph->first_out);
    free(graph->out);
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

/* ---- the shortest cycle ---- */

/* One kind of cycle that a rule forbids. */
struct pattern {
    bool ww, rw;                  /* such edges may be in it, beside wr and the orders */
    bool wr;                      /* as may wr */
    bool one_rw, one_reader;      /* at most one rw edge; at most one transaction that writes nothing */
    bool apart, behind_wr, later; /* each rw edge: not behind an rw; nor behind a ww; behind an arrival at an
                                   * earlier operation */
    uint32_t longest;
};

static const struct pattern flow = {.ww = true, .wr = true, .longest = UINT32_MAX};

static const struct pattern patterns[RIG_RULE_COUNT] = {
    [RIG_RULE_WRITES] = {.ww = true, .longest = UINT32_MAX},
    [RIG_RULE_CURSOR] = {.ww = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_MONOTONIC_ATOMIC] = {.wr = true, .rw = true, .one_rw = true, .later = true, .longest = 2},
    [RIG_RULE_MONOTONIC_VIEW] =
        {.ww = true, .wr = true, .rw = true, .one_rw = true, .later = true, .longest = UINT32_MAX},
    [RIG_RULE_MONOTONIC_SNAPSHOT] = {.ww = true, .wr = true, .rw = true, .later = true, .longest = UINT32_MAX},
    [RIG_RULE_CONSISTENT] = {.ww = true, .wr = true, .rw = true, .one_rw = true, .longest = UINT32_MAX},
    [RIG_RULE_READ_ATOMIC] = {.wr = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_UPDATE_ATOMIC] = {.ww = true, .wr = true, .rw = true, .one_rw = true, .longest = 2},
    [RIG_RULE_CAUSAL] = {.wr = true, .rw = true, .one_rw = true, .longest = UINT32_MAX},
    [RIG_RULE_PREFIX] = {.ww = true, .wr = true, .rw = true, .apart = true, .behind_wr = true, .longest = UINT32_MAX},
    [RIG_RULE_SNAPSHOT] = {.ww = true, .wr = true, .rw = true, .apart = true, .longest = UINT32_MAX},
    [RIG_RULE_UPDATES] = {.ww = true, .wr = true, .rw = true, .one_reader = true, .longest = UINT32_MAX},
    [RIG_RULE_SERIAL] = {.ww = true, .wr = true, .rw = true, .longest = UINT32_MAX},
};

struct search {
    struct rig_case_graph *graph;
    const struct pattern *pattern;
    uint32_t best;   /* length of the shortest cycle so far, or one more than the longest of use */
    uint32_t *cycle; /* NULL: not wanted */
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
    return !pattern->later || (arc->kind != RIG_EDGE_RW && arc->to_op != RIG_ARC_NONE && arc->to_op < next->from_op);
}

/* Whether the arc uses what the pattern allows once. */
static bool uses(const struct search *s, const struct rig_arc *arc)
{
    return (s->pattern->one_rw && arc->kind == RIG_EDGE_RW) ||
           (s->pattern->one_reader && s->graph->writes_nothing[arc->from]);
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
    return s.best == none ? 0 : s.best;
}
