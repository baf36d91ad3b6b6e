#include "checker/decide/solve/case_edges.h"

#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/table.h"

enum { ARCS_UNCHECKED = 1 << 12 };

/* ---- adding ---- */

/* The kind of what shows a known order: evidence of one kind serves as well as another of that kind. */
static uint32_t kind_of_known(const struct rig_problem *problem, uint32_t known)
{
    if (known == RIG_CASE_NONE)
        return 0;
    RIG_REQUIRE(known < problem->pairs.count + problem->reads.count);
    return known >= problem->pairs.count ? 1 : 2 + (uint32_t)problem->pairs.at[known].source;
}

/* Sorting, with the first of equals first. */
struct sorted_arc {
    const struct rig_case_graph *graph;
    uint32_t at;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Arcs that stand for each other in all cycles: parallel, of the same pair or evidence. Cursor stability asks for the
 * key, and where operations count, the arcs differ by theirs. */
static int compare_arcs(const struct rig_case_graph *graph, const struct rig_case_arc *a, const struct rig_case_arc *b)
{
    const enum rig_rule_form form = graph->rule->form;
    const bool ops =
        form == RIG_RULE_MONOTONIC_ATOMIC || form == RIG_RULE_MONOTONIC_VIEW || form == RIG_RULE_MONOTONIC_SNAPSHOT;
    const uint32_t left[] = {a->arc.from,
                             a->arc.to,
                             a->arc.kind,
                             a->pair,
                             a->value,
                             kind_of_known(graph->problem, a->known),
                             form == RIG_RULE_CURSOR ? a->arc.key : 0,
                             ops ? a->arc.from_op : 0,
                             ops ? a->arc.to_op : 0};
    const uint32_t right[] = {b->arc.from,
                              b->arc.to,
                              b->arc.kind,
                              b->pair,
                              b->value,
                              kind_of_known(graph->problem, b->known),
                              form == RIG_RULE_CURSOR ? b->arc.key : 0,
                              ops ? b->arc.from_op : 0,
                              ops ? b->arc.to_op : 0};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        if (left[i] != right[i])
            return compare_numbers(left[i], right[i]);
    }
    return 0;
}

static int compare_sorted(const void *left, const void *right)
{
    const struct sorted_arc *a = left, *b = right;
    const struct rig_case_arc *arcs = a->graph->arcs.at;
    const int order = compare_arcs(a->graph, &arcs[a->at], &arcs[b->at]);
    return order != 0 ? order : compare_numbers(a->at, b->at);
}

/* Drops arcs that others stand for; the others keep their order. False when memory runs out. */
static bool drop_parallel(struct rig_case_graph *graph)
{
    const size_t count = graph->arcs.count;
    struct sorted_arc *sorted = malloc((count + 1) * sizeof sorted[0]);
    bool *dropped = calloc(count + 1, sizeof dropped[0]);
    const bool room = sorted != NULL && dropped != NULL;
    for (size_t i = 0; room && i < count; i++)
        sorted[i] = (struct sorted_arc){graph, (uint32_t)i};
    if (room && count > 1)
        qsort(sorted, count, sizeof sorted[0], compare_sorted);
    for (size_t i = 1; room && i < count; i++) {
        const struct rig_case_arc *arcs = graph->arcs.at;
        dropped[sorted[i].at] = compare_arcs(graph, &arcs[sorted[i - 1].at], &arcs[sorted[i].at]) == 0;
    }
    size_t kept = 0;
    for (size_t i = 0; room && i < count; i++) {
        if (!dropped[i])
            graph->arcs.at[kept++] = graph->arcs.at[i];
    }
    RIG_INVARIANT(!room || (kept <= count && (kept > 0 || count == 0)));
    if (room)
        graph->arcs.count = kept;
    free(sorted);
    free(dropped);
    return room;
}

/* Before there are too many arcs, those that others stand for go. */
static bool add_case_arc(struct rig_case_graph *graph, const struct rig_case_arc *arc)
{
    if (graph->arcs.count >= graph->arcs_checked) {
        if (!drop_parallel(graph))
            return false;
        graph->arcs_checked = 2 * graph->arcs.count < ARCS_UNCHECKED ? ARCS_UNCHECKED : 2 * graph->arcs.count;
        graph->too_large |= graph->arcs.count >= graph->arcs_most;
    }
    return graph->too_large || rig_case_arcs_add(&graph->arcs, *arc);
}

static uint64_t pair_number(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

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
    while (low < high)
        rig_halve(&low, &high, order->writers[rig_middle(low, high)] < node);
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
    struct rig_table *pairs; /* two writers -> their pair */
};

static bool add_arc(struct making *m, struct rig_arc arc, uint32_t pair, enum rig_case_value value, uint32_t known)
{
    RIG_REQUIRE(arc.from != arc.to && (pair == RIG_CASE_NONE) == (value == RIG_CASE_OPEN));
    const struct rig_case_arc added = {.arc = arc, .pair = pair, .value = value, .known = known};
    return add_case_arc(m->graph, &added);
}

/* The pair of two writers, which another key may have made. */
static bool find_pair(struct making *m, uint32_t a, uint32_t b, uint32_t *pair)
{
    RIG_REQUIRE(a < b);
    uint32_t *slot = rig_table_put(m->pairs, pair_number(a, b));
    if (slot == NULL)
        return false;
    if (*slot == RIG_TABLE_NONE) {
        *slot = (uint32_t)m->graph->pairs.count;
        if (!rig_case_pairs_add(&m->graph->pairs, (struct rig_case_pair){a, b, m->key}))
            return false;
        m->graph->too_large |= m->graph->pairs.count > RIG_CASE_PAIRS_MOST;
    }
    RIG_INVARIANT(*slot < m->graph->pairs.count);
    *pair = *slot;
    return true;
}

/* An arc of a ww or rw edge that needs the version of writers[before] to come before that of writers[after]. */
static bool add_ordered(struct making *m, struct rig_arc arc, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before != after && before < m->order.count && after < m->order.count);
    const uint32_t n = m->order.count;
    const uint32_t shown = m->order.shown[before * n + after];
    if (shown != RIG_CASE_NONE)
        return add_arc(m, arc, RIG_CASE_NONE, RIG_CASE_OPEN, shown);
    if (m->order.shown[after * n + before] != RIG_CASE_NONE)
        return true;
    const uint32_t low = before < after ? before : after, high = before < after ? after : before;
    uint32_t pair;
    if (!find_pair(m, m->order.writers[low], m->order.writers[high], &pair))
        return false;
    return add_arc(m, arc, pair, low == before ? RIG_CASE_FORWARD : RIG_CASE_BACKWARD, RIG_CASE_NONE);
}

/* Whether it is known that the reader's own version comes before that of writers[later]: then the ww edge from it
 * forbids whatever an rw edge would. */
static bool overwrites_itself(const struct making *m, uint32_t reader, uint32_t later)
{
    return rig_problem_write_of(m->graph->problem, reader, m->key) != RIG_PROBLEM_NONE &&
           m->order.shown[place_of(&m->order, reader) * m->order.count + later] != RIG_CASE_NONE;
}

/* The edges between writers, and from the readers of a version to later writers. `write`: of writers[at]. */
static bool add_of_version(struct making *m, uint32_t at, uint32_t write)
{
    RIG_REQUIRE(write != RIG_PROBLEM_NONE);
    const struct rig_problem *problem = m->graph->problem;
    for (uint32_t later = 0; later < m->order.count && !m->graph->too_large; later++) {
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
    for (uint32_t i = problem->reader_first[initial]; i < problem->reader_first[initial + 1] && !m->graph->too_large;
         i++) {
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

static bool add_of_key(struct making *m)
{
    const struct rig_problem *problem = m->graph->problem;
    bool ok = true;
    for (uint32_t at = 0; ok && at < m->order.count && !m->graph->too_large; at++)
        ok = add_of_version(m, at, rig_problem_write_of(problem, m->order.writers[at], m->key));
    return ok && add_of_initial(m);
}

static bool add_dependencies(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    struct rig_table pairs;
    bool ok = true;
    rig_table_init(&pairs);
    for (uint32_t key = 0; ok && key < problem->key_count && !graph->too_large; key++) {
        const uint32_t writers = problem->writer_first[key + 1] - problem->writer_first[key];
        struct making m = {.graph = graph, .key = key, .pairs = &pairs};
        graph->too_large |= writers > RIG_CASE_WRITERS_MOST;
        if (writers == 0 || graph->too_large)
            continue;
        ok = order_of_key(problem, key, graph->rule->form != RIG_RULE_WRITES, &m.order) && add_of_key(&m);
        free(m.order.shown);
    }
    rig_table_done(&pairs);
    return ok;
}

/* Whether process order puts `a` before `b`; or real time, where it counts. */
static bool is_earlier(const struct rig_problem *problem, uint32_t a, uint32_t b, bool realtime)
{
    RIG_REQUIRE(a != b);
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

static bool add_order(struct rig_case_graph *graph, uint32_t a, uint32_t b)
{
    const struct rig_problem *problem = graph->problem;
    const bool same = problem->txns.at[a].session == problem->txns.at[b].session;
    const struct rig_case_arc arc = {.arc = {.from = a,
                                             .to = b,
                                             .kind = same ? RIG_EDGE_PROCESS : RIG_EDGE_REALTIME,
                                             .key = RIG_ARC_NONE,
                                             .writer = RIG_ARC_NONE,
                                             .from_op = RIG_ARC_NONE,
                                             .to_op = RIG_ARC_NONE},
                                     .pair = RIG_CASE_NONE,
                                     .known = RIG_CASE_NONE};
    return add_case_arc(graph, &arc);
}

static bool add_orders(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    if (graph->rule->along == RIG_ALONG_PLAIN)
        return true;
    for (uint32_t a = 0; a < problem->txn_count && !graph->too_large; a++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (a == b || !is_earlier(problem, a, b, graph->rule->along == RIG_ALONG_REALTIME))
                continue;
            if (!add_order(graph, a, b))
                return false;
        }
    }
    return true;
}

/* ---- of given pairs only ---- */

static bool add_known(struct making *m, struct rig_arc arc, uint32_t known)
{
    return add_arc(m, arc, RIG_CASE_NONE, RIG_CASE_OPEN, known);
}

/* The ww edge from writer to writer, and the rw edges from the readers of the first version, all of key m->key. */
static bool add_between(struct making *m, uint32_t before, uint32_t after, uint32_t pair, enum rig_case_value value,
                        uint32_t known)
{
    const struct rig_problem *problem = m->graph->problem;
    const uint32_t write = rig_problem_write_of(problem, before, m->key);
    const uint32_t later = rig_problem_write_of(problem, after, m->key);
    RIG_REQUIRE(write != RIG_PROBLEM_NONE && later != RIG_PROBLEM_NONE && "both write the key");
    const uint32_t first_op = problem->writes.at[later].first_op;
    const struct rig_arc ww = {before, after, RIG_EDGE_WW, m->key, before, RIG_ARC_NONE, first_op};
    bool ok = add_arc(m, ww, pair, value, known);
    for (uint32_t i = problem->reader_first[write]; ok && i < problem->reader_first[write + 1]; i++) {
        const uint32_t read = problem->readers[i], reader = problem->read_txn[read];
        const struct rig_arc rw = {reader,      after, RIG_EDGE_RW, m->key, before, problem->reads.at[read].op,
                                   RIG_ARC_NONE};
        if (reader != after)
            ok = add_arc(m, rw, pair, value, known);
    }
    return ok;
}

/* For each key that both write. */
static bool add_pair_arcs(struct making *m, uint32_t pair)
{
    const struct rig_problem *problem = m->graph->problem;
    const struct rig_case_pair *p = &m->graph->pairs.at[pair];
    RIG_REQUIRE(p->a < p->b && p->b < problem->txn_count);
    bool ok = true;
    for (uint32_t w = problem->txns.at[p->a].first_write; ok && w < problem->txns.at[p->a + 1].first_write; w++) {
        m->key = problem->writes.at[w].key;
        if (rig_problem_write_of(problem, p->b, m->key) == RIG_PROBLEM_NONE)
            continue;
        ok = add_between(m, p->a, p->b, pair, RIG_CASE_FORWARD, RIG_CASE_NONE) &&
             add_between(m, p->b, p->a, pair, RIG_CASE_BACKWARD, RIG_CASE_NONE);
    }
    return ok;
}

/* wr edges; a version that a transaction read comes before its own; the initial state before all versions. */
static bool add_of_read(struct making *m, uint32_t read)
{
    const struct rig_problem *problem = m->graph->problem;
    const struct rig_problem_read *r = &problem->reads.at[read];
    const uint32_t reader = problem->read_txn[read];
    bool ok = true;
    m->key = r->key;
    if (r->writer != RIG_PROBLEM_INITIAL) {
        const struct rig_arc wr = {r->writer, reader, RIG_EDGE_WR, r->key, r->writer, RIG_ARC_NONE, r->op};
        ok = add_known(m, wr, RIG_CASE_NONE);
        if (ok && m->graph->rule->form != RIG_RULE_WRITES &&
            rig_problem_write_of(problem, reader, r->key) != RIG_PROBLEM_NONE)
            ok = add_between(m, r->writer, reader, RIG_CASE_NONE, RIG_CASE_OPEN, (uint32_t)problem->pairs.count + read);
        return ok;
    }
    for (uint32_t i = problem->writer_first[r->key]; ok && i < problem->writer_first[r->key + 1]; i++) {
        const struct rig_arc rw = {reader, problem->writers[i], RIG_EDGE_RW, r->key, RIG_ARC_NONE, r->op, RIG_ARC_NONE};
        if (reader != problem->writers[i])
            ok = add_known(m, rw, RIG_CASE_NONE);
    }
    return ok;
}

struct moment {
    uint32_t at, node;
};

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return a->at != b->at ? compare_numbers(a->at, b->at) : compare_numbers(a->node, b->node);
}

/*
 * Real time, without what follows: a precedes b directly if it ended last, or at least not before some transaction was
 * invoked that ended before b was invoked.
 */
static bool add_realtime(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    const uint32_t count = problem->txn_count;
    struct moment *ended = malloc(((size_t)count + 1) * sizeof ended[0]);
    uint32_t *latest = malloc(((size_t)count + 1) * sizeof latest[0]); /* invocation among those ended by then */
    bool ok = ended != NULL && latest != NULL;
    for (uint32_t node = 0; ok && node < count; node++)
        ended[node] = (struct moment){problem->txns.at[node].ended, node};
    if (ok && count > 1)
        qsort(ended, count, sizeof ended[0], compare_moments);
    for (uint32_t i = 0; ok && i < count; i++) {
        const uint32_t invoked = problem->txns.at[ended[i].node].invoked;
        latest[i] = i > 0 && latest[i - 1] > invoked ? latest[i - 1] : invoked;
    }
    for (uint32_t node = 0; ok && node < count; node++) {
        uint32_t low = 0, high = count;
        while (low < high)
            rig_halve(&low, &high, ended[rig_middle(low, high)].at < problem->txns.at[node].invoked);
        for (uint32_t i = low; ok && i-- > 0 && ended[i].at >= latest[low - 1] && !graph->too_large;)
            ok = add_order(graph, ended[i].node, node);
    }
    free(ended);
    free(latest);
    return ok;
}

/* Each order directly only: the rest follows along paths. */
static bool add_direct_orders(struct rig_case_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    bool ok = true;
    for (uint32_t node = 0; ok && node < problem->txn_count && graph->rule->along != RIG_ALONG_PLAIN; node++) {
        if (problem->txns.at[node].before != RIG_PROBLEM_NONE)
            ok = add_order(graph, problem->txns.at[node].before, node);
    }
    return ok && (graph->rule->along != RIG_ALONG_REALTIME || !problem->has_realtime || add_realtime(graph));
}

/* ---- all together ---- */

static void begin(struct rig_case_graph *graph, size_t arcs_most)
{
    graph->arcs_most = arcs_most;
    graph->arcs_checked = arcs_most < ARCS_UNCHECKED ? arcs_most : ARCS_UNCHECKED;
}

static bool finish(struct rig_case_graph *graph)
{
    if (graph->too_large)
        return true;
    const bool ok = drop_parallel(graph);
    graph->too_large = graph->arcs.count > graph->arcs_most;
    return ok;
}

bool rig_case_edges_all(struct rig_case_graph *graph)
{
    RIG_REQUIRE(graph->arcs.count == 0 && graph->pairs.count == 0);
    begin(graph, RIG_CASE_ARCS_MOST);
    return add_dependencies(graph) && add_orders(graph) && finish(graph);
}

bool rig_case_edges_given(struct rig_case_graph *graph)
{
    RIG_REQUIRE(graph->arcs.count == 0);
    const struct rig_problem *problem = graph->problem;
    struct making m = {.graph = graph};
    bool ok = true;
    begin(graph, RIG_CASE_GIVEN_ARCS_MOST);
    for (uint32_t read = 0; ok && read < problem->reads.count; read++)
        ok = add_of_read(&m, read);
    for (size_t p = 0; ok && p < problem->pairs.count; p++) {
        m.key = problem->pairs.at[p].key;
        ok = add_between(&m, problem->pairs.at[p].before, problem->pairs.at[p].after, RIG_CASE_NONE, RIG_CASE_OPEN,
                         (uint32_t)p);
    }
    for (uint32_t pair = 0; ok && pair < graph->pairs.count && !graph->too_large; pair++)
        ok = add_pair_arcs(&m, pair);
    /* Where a cycle has two transactions, a path through others does not stand for the order of its ends. */
    const enum rig_rule_form form = graph->rule->form;
    const bool direct =
        form != RIG_RULE_READ_ATOMIC && form != RIG_RULE_UPDATE_ATOMIC && form != RIG_RULE_MONOTONIC_ATOMIC;
    return ok && (direct ? add_direct_orders(graph) : add_orders(graph)) && finish(graph);
}
