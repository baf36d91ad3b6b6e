#include "checker/judge/proof/prove_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/type_inference.h"
#include "checker/model/orders.h"
#include "checker/infer/list_acknowledged.h"
#include "checker/decide/solve/breach.h"

struct edge {
    uint32_t from, to;
};

RIG_VEC(struct edge, prove_edges)

static const uint32_t hidden = UINT32_MAX; /* a node that does not stand in the order */

struct sorting {
    uint32_t node_count;
    const uint32_t *txn_of; /* per node: its transaction in the history, or `hidden` */
    struct prove_edges edges;
    struct rig_prove_events roots; /* nodes */
    uint32_t *first, *before;      /* per node, and one more: into `before`; predecessors */
};

static void sorting_done(struct sorting *s)
{
    prove_edges_done(&s->edges);
    rig_prove_events_done(&s->roots);
    free(s->first);
    free(s->before);
}

static bool add_edge(struct sorting *s, uint32_t from, uint32_t to)
{
    return from == to || prove_edges_add(&s->edges, (struct edge){from, to});
}

static bool index_edges(struct sorting *s)
{
    s->first = calloc((size_t)s->node_count + 2, sizeof s->first[0]);
    s->before = malloc((s->edges.count + 1) * sizeof s->before[0]);
    if (s->first == NULL || s->before == NULL)
        return false;
    for (size_t e = 0; e < s->edges.count; e++) {
        RIG_INVARIANT(s->edges.at[e].from < s->node_count && s->edges.at[e].to < s->node_count);
        s->first[s->edges.at[e].to + 2]++;
    }
    for (uint32_t node = 0; node < s->node_count; node++)
        s->first[node + 2] += s->first[node + 1];
    for (size_t e = 0; e < s->edges.count; e++)
        s->before[s->first[s->edges.at[e].to + 1]++] = s->edges.at[e].from;
    return true;
}

enum { NEW, ON_PATH, PLACED };

/* Places the node after all of its predecessors. */
static bool place_node(const struct sorting *s, uint32_t node, uint8_t *state, uint32_t *left, uint32_t *path,
                       struct rig_prove_events *events, bool *found)
{
    uint32_t depth = 0;
    path[depth++] = node;
    state[node] = ON_PATH;
    while (depth > 0) {
        const uint32_t top = path[depth - 1];
        if (left[top] == s->first[top + 1]) {
            state[top] = PLACED;
            depth--;
            if (s->txn_of[top] != hidden && !rig_prove_events_add(events, s->txn_of[top]))
                return false;
            continue;
        }
        const uint32_t next = s->before[left[top]++];
        if (state[next] == ON_PATH) {
            *found = false;
            return true;
        }
        if (state[next] == NEW) {
            state[next] = ON_PATH;
            path[depth++] = next;
        }
    }
    return true;
}

static bool sort(struct sorting *s, struct rig_prove_events *events, bool *found)
{
    const size_t nodes = (size_t)s->node_count + 1;
    uint8_t *state = calloc(nodes, 1);
    uint32_t *left = malloc(nodes * sizeof *left), *path = malloc(nodes * sizeof *path);
    bool ok = index_edges(s) && state != NULL && left != NULL && path != NULL;
    *found = true;
    if (ok)
        memcpy(left, s->first, s->node_count * sizeof *left);
    for (size_t i = 0; ok && *found && i < s->roots.count; i++) {
        if (state[s->roots.at[i]] == NEW)
            ok = place_node(s, s->roots.at[i], state, left, path, events, found);
    }
    free(state);
    free(left);
    free(path);
    return ok;
}

/* ---- the edges of a problem ---- */

/* How a form places transactions: the kinds of orders, and the nodes and edges that they take. */
static const struct form {
    const char *kind;
    bool split;      /* a node for the start, and one for the commit */
    bool operations; /* a node for each operation, and one for the commit */
    bool rw;         /* rw edges are kept */
    bool updates;    /* with `rw`: not those out of transactions that write nothing */
    bool ww_starts;  /* ww edges lead to the start, or to the first operation that writes the key */
    bool partial;    /* the level also forbids cycles of edges that the order does not keep */
} forms[RIG_RULE_COUNT] = {
    [RIG_RULE_WRITES] = {.kind = "writes"},
    [RIG_RULE_FLOW] = {.kind = "commits"},
    [RIG_RULE_CURSOR] = {.kind = "commits", .partial = true},
    [RIG_RULE_MONOTONIC_ATOMIC] = {.kind = "commits", .partial = true},
    [RIG_RULE_MONOTONIC_VIEW] = {.kind = "commits", .partial = true},
    [RIG_RULE_MONOTONIC_SNAPSHOT] = {.kind = "operations", .operations = true, .rw = true, .ww_starts = true},
    [RIG_RULE_CONSISTENT] = {.kind = "commits", .partial = true},
    [RIG_RULE_READ_ATOMIC] = {.kind = "commits", .partial = true},
    [RIG_RULE_UPDATE_ATOMIC] = {.kind = "commits", .partial = true},
    [RIG_RULE_CAUSAL] = {.kind = "commits", .partial = true},
    [RIG_RULE_PREFIX] = {.kind = "prefix", .split = true, .rw = true},
    [RIG_RULE_SNAPSHOT] = {.kind = "snapshot", .split = true, .rw = true, .ww_starts = true},
    [RIG_RULE_UPDATES] = {.kind = "commits", .rw = true, .updates = true, .partial = true},
    [RIG_RULE_SERIAL] = {.kind = "serial", .rw = true},
};

const char *rig_prove_kind(enum rig_rule_form form, bool items)
{
    return items && form == RIG_RULE_SERIAL ? "items" : forms[form].kind;
}

struct ordering {
    const struct rig_problem *problem;
    const struct rig_history *history;
    const struct form *form;
    uint32_t *next, *previous; /* per write: that of the next and of the previous version, or RIG_PROBLEM_NONE */
    uint32_t *first_write;     /* per key: of the first version, or RIG_PROBLEM_NONE */
    uint32_t *first_op;        /* per node of the problem, and one more: node of its first operation */
    uint32_t *txn_of;
    struct sorting sorting;
};

/* A transaction without operations has its commit alone. */
static uint32_t node_of_op(const struct ordering *o, uint32_t txn, uint32_t op)
{
    if (o->form->operations)
        return o->first_op[txn] + op < o->first_op[txn + 1] ? o->first_op[txn] + op : txn;
    return o->form->split ? o->problem->txn_count + txn : txn;
}

struct placed {
    uint64_t place;
    uint32_t write;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static void chain_writes(struct ordering *o, uint32_t key, const struct placed *writes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        o->previous[writes[i].write] = i == 0 ? RIG_PROBLEM_NONE : writes[i - 1].write;
        o->next[writes[i].write] = i + 1 < count ? writes[i + 1].write : RIG_PROBLEM_NONE;
    }
    o->first_write[key] = count == 0 ? RIG_PROBLEM_NONE : writes[0].write;
}

/* Orders the versions of each key by the pairs, from the first version on. Versions that no pair places follow all
 * others, in the order of completion. */
static void place_by_pairs(const struct rig_problem *problem, uint32_t *rank)
{
    for (size_t w = 0; w < problem->writes.count; w++)
        rank[w] = 0;
    for (size_t p = 0; p < problem->pairs.count; p++) {
        const struct rig_problem_pair *pair = &problem->pairs.at[p];
        const uint32_t before = rig_problem_write_of(problem, pair->before, pair->key),
                       after = rig_problem_write_of(problem, pair->after, pair->key);
        if (before != RIG_PROBLEM_NONE && after != RIG_PROBLEM_NONE && rank[after] < rank[before] + 1)
            rank[after] = rank[before] + 1; /* lists give the pairs of a key in the order of its versions */
    }
}

static bool order_versions(struct ordering *o, const uint32_t *place)
{
    const struct rig_problem *problem = o->problem;
    struct placed *writes = malloc((problem->writes.count + 1) * sizeof *writes);
    uint32_t *rank = place != NULL ? NULL : malloc((problem->writes.count + 1) * sizeof *rank);
    const bool ok = writes != NULL && (place != NULL || rank != NULL);
    if (ok && place == NULL)
        place_by_pairs(problem, rank);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        const uint32_t first = problem->writer_first[key], count = problem->writer_first[key + 1] - first;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t node = problem->writers[first + i], write = problem->writer_write[first + i];
            const uint64_t at = place != NULL ? place[node] : (uint64_t)rank[write] << 32 | node;
            writes[i] = (struct placed){at, write};
        }
        if (count > 1)
            qsort(writes, count, sizeof writes[0], compare_placed);
        chain_writes(o, key, writes, count);
    }
    free(writes);
    free(rank);
    return ok;
}

/* Each read after the commit of its version's writer, and before the commit of the next version's. */
static bool add_read(struct ordering *o, uint32_t reader, const struct rig_problem_read *read)
{
    const struct rig_problem *problem = o->problem;
    const bool initial = read->writer == RIG_PROBLEM_INITIAL;
    const uint32_t write = initial ? RIG_PROBLEM_NONE : rig_problem_write_of(problem, read->writer, read->key);
    const uint32_t next = write == RIG_PROBLEM_NONE ? o->first_write[read->key] : o->next[write];
    const uint32_t node = node_of_op(o, reader, read->op);
    if (!initial && !add_edge(&o->sorting, read->writer, node))
        return false;
    const uint32_t overwriter = next == RIG_PROBLEM_NONE ? reader : problem->write_txn[next];
    if (o->form->updates && rig_problem_writes_nothing(problem, reader))
        return true;
    return !o->form->rw || overwriter == reader || add_edge(&o->sorting, node, overwriter);
}

static bool add_txn(struct ordering *o, uint32_t txn, bool processes)
{
    const struct rig_problem *problem = o->problem;
    const struct rig_problem_txn *t = &problem->txns.at[txn];
    bool ok = true;
    for (uint32_t read = t->first_read; ok && read < rig_problem_reads_end(problem, txn); read++)
        ok = add_read(o, txn, &problem->reads.at[read]);
    for (uint32_t write = t->first_write; ok && write < rig_problem_writes_end(problem, txn); write++) {
        const uint32_t previous = o->previous[write];
        ok = previous == RIG_PROBLEM_NONE ||
             add_edge(&o->sorting, problem->write_txn[previous],
                      o->form->ww_starts ? node_of_op(o, txn, problem->writes.at[write].first_op) : txn);
    }
    if (ok && processes && t->before != RIG_PROBLEM_NONE)
        ok = add_edge(&o->sorting, t->before, node_of_op(o, txn, 0));
    return ok && (!o->form->split || add_edge(&o->sorting, node_of_op(o, txn, 0), txn));
}

/* Operations of a transaction one after the other, and then its commit. */
static bool number_ops(struct ordering *o)
{
    const struct rig_problem *problem = o->problem;
    uint32_t next = problem->txn_count;
    o->first_op = malloc(((size_t)problem->txn_count + 1) * sizeof o->first_op[0]);
    bool ok = o->first_op != NULL;
    for (uint32_t txn = 0; ok && txn < problem->txn_count; txn++) {
        const uint32_t count = rig_txn_op_count(o->history, problem->txns.at[txn].txn);
        o->first_op[txn] = next;
        for (uint32_t op = 0; ok && op < count; op++)
            ok = add_edge(&o->sorting, next + op, op + 1 < count ? next + op + 1 : txn);
        next += count;
    }
    if (ok)
        o->first_op[problem->txn_count] = next;
    o->sorting.node_count = next;
    return ok;
}

static bool name_nodes(struct ordering *o)
{
    const struct rig_problem *problem = o->problem;
    const uint32_t count = problem->txn_count;
    o->txn_of = malloc(((size_t)o->sorting.node_count + 1) * sizeof o->txn_of[0]);
    o->sorting.txn_of = o->txn_of;
    for (uint32_t txn = 0; o->txn_of != NULL && txn < count; txn++) {
        o->txn_of[txn] = problem->txns.at[txn].txn;
        if (o->form->split)
            o->txn_of[count + txn] = o->txn_of[txn];
        for (uint32_t op = 0; o->form->operations && op < rig_txn_op_count(o->history, o->txn_of[txn]); op++)
            o->txn_of[o->first_op[txn] + op] = o->txn_of[txn];
    }
    return o->txn_of != NULL;
}

/* Those that ended first. */
static bool add_roots(struct ordering *o)
{
    bool ok = true;
    for (int ended = 1; ended >= 0; ended--) {
        for (uint32_t txn = 0; ok && txn < o->problem->txn_count; txn++) {
            const bool is_ended = rig_txn_end(o->history, o->problem->txns.at[txn].txn) != RIG_POSITION_NONE;
            ok = is_ended != (ended == 1) || rig_prove_events_add(&o->sorting.roots, txn);
        }
    }
    return ok;
}

/* A transaction whose start comes directly before its commit stands once. */
static void join_events(struct rig_prove_events *events)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (kept == 0 || events->at[kept - 1] != events->at[i])
            events->at[kept++] = events->at[i];
    }
    events->count = kept;
}

/* Whether the level allows the versions of each key in the order of the transactions. False when memory runs out. */
static bool is_allowed(const struct rig_problem *problem, const struct rig_rule *rule,
                       const struct rig_prove_events *events, bool *allowed)
{
    uint32_t *place = malloc(((size_t)problem->txn_count + 1) * sizeof *place), node = 0;
    const bool ok = place != NULL;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        while (problem->txns.at[node].txn != events->at[i])
            node = node + 1 < problem->txn_count ? node + 1 : 0;
        place[node] = i;
    }
    *allowed = false;
    const bool done = ok && rig_breach_none(problem, rule, place, INT64_MAX, allowed);
    free(place);
    return done;
}

bool rig_prove_order(const struct rig_problem *problem, const struct rig_history *history, const struct rig_rule *rule,
                     const uint32_t *place, struct rig_prove_events *events, bool *found)
{
    const size_t writes = problem->writes.count + 1;
    struct ordering o = {.problem = problem,
                         .history = history,
                         .form = &forms[rule->form],
                         .next = malloc(writes * sizeof *o.next),
                         .previous = malloc(writes * sizeof *o.previous),
                         .first_write = malloc(((size_t)problem->key_count + 1) * sizeof *o.first_write)};
    bool ok = o.next != NULL && o.previous != NULL && o.first_write != NULL && order_versions(&o, place);
    o.sorting.node_count = problem->txn_count * (o.form->split ? 2 : 1);
    if (ok && o.form->operations)
        ok = number_ops(&o);
    ok = ok && name_nodes(&o) && add_roots(&o);
    for (uint32_t txn = 0; ok && txn < problem->txn_count; txn++)
        ok = add_txn(&o, txn, rule->along != RIG_ALONG_PLAIN);
    ok = ok && sort(&o.sorting, events, found);
    if (ok && *found && o.form->partial)
        ok = is_allowed(problem, rule, events, found);
    if (ok && o.form->split)
        join_events(events);
    sorting_done(&o.sorting);
    free(o.next);
    free(o.previous);
    free(o.first_write);
    free(o.first_op);
    free(o.txn_of);
    return ok;
}

/* ---- the edges of an inference ---- */

/* Where a transaction reads. */
static uint32_t start_of(const struct rig_inference *inference, bool split, uint32_t txn)
{
    return split ? inference->links.node_count + txn : txn;
}

/* The link that a node stands for: that of the edges which lead through a relay. */
static enum rig_link link_of(const struct rig_links *links, uint32_t edge)
{
    while (rig_edge_link(edge) == RIG_LINK_THROUGH) {
        struct rig_links_cursor cursor = rig_links_into(links, rig_edge_node(edge));
        const uint32_t before = rig_links_next(links, &cursor);
        if (before == RIG_NODE_NONE)
            return RIG_LINK_THROUGH; /* nothing leads there */
        edge = before;
    }
    return rig_edge_link(edge);
}

/* With starts: ww and wr edges lead from a commit to a start, and rw edges from a start to a commit. */
static bool add_split_link(struct sorting *s, const struct rig_inference *inference, uint32_t edge, uint32_t to)
{
    const struct rig_links *links = &inference->links;
    const bool is_rw = link_of(links, edge) == RIG_LINK_RW;
    uint32_t from = rig_edge_node(edge);
    if (from < links->txn_count && is_rw)
        from = start_of(inference, true, from);
    if (to < links->txn_count && !is_rw)
        to = start_of(inference, true, to);
    return add_edge(s, from, to);
}

static bool add_links(struct sorting *s, const struct rig_inference *inference, unsigned links, bool split)
{
    for (uint32_t node = 0; node < inference->links.node_count; node++) {
        struct rig_links_cursor cursor = rig_links_into(&inference->links, node);
        for (uint32_t edge; (edge = rig_links_next(&inference->links, &cursor)) != RIG_NODE_NONE;) {
            if (rig_link_in(rig_edge_link(edge), links) &&
                !(split ? add_split_link(s, inference, edge, node) : add_edge(s, rig_edge_node(edge), node)))
                return false;
        }
    }
    for (uint32_t txn = 0; split && txn < inference->links.txn_count; txn++) {
        if (!add_edge(s, start_of(inference, true, txn), txn))
            return false;
    }
    return true;
}

/* The writes of lists as acknowledged reads show them: the acknowledged writers of the elements shown, in their order,
 * and then those of the other appends. */
struct shown_writes {
    const struct rig_history *history;
    const struct rig_versions *versions;
    uint32_t *last; /* per key: the last writer that acknowledged reads show, or RIG_TXN_NONE */
};

static bool add_shown_writes(struct sorting *s, const struct shown_writes *of, uint32_t key)
{
    uint32_t *last = &of->last[key];
    *last = RIG_TXN_NONE;
    for (uint32_t i = 0; i < of->versions->acknowledged[key]; i++) {
        const struct rig_append *append = rig_versions_find(of->versions, key, of->versions->keys[key].order.at[i]);
        const uint32_t writer = append == NULL ? RIG_TXN_NONE : append->writer;
        if (writer == RIG_TXN_NONE || of->history->txns[writer].outcome != RIG_OUTCOME_OK)
            continue;
        if (*last != RIG_TXN_NONE && !add_edge(s, *last, writer))
            return false;
        *last = writer;
    }
    return true;
}

static bool add_other_writes(struct sorting *s, const struct shown_writes *of, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(of->history, txn);
    const uint32_t count = of->history->txns[txn].outcome == RIG_OUTCOME_OK ? rig_txn_op_count(of->history, txn) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t key = ops[i].key;
        if (!rig_op_reads(ops[i].kind) && of->last[key] != RIG_TXN_NONE &&
            rig_versions_append(of->versions, key, ops[i].value)->position >= of->versions->acknowledged[key] &&
            !add_edge(s, of->last[key], txn))
            return false;
    }
    return true;
}

/* A transaction of unknown fate may have aborted, so that its reads and writes order nothing. */
static bool add_acknowledged_writes(struct sorting *s, struct rig_inference *inference)
{
    const struct rig_history *history = inference->history;
    uint32_t *last = malloc(((size_t)history->key_count + 1) * sizeof *last);
    const struct shown_writes of = {.history = history, .versions = &inference->versions, .last = last};
    bool ok = last != NULL && (of.versions->acknowledged != NULL ||
                               rig_acknowledged_find(&inference->versions, inference->links.arena));
    for (uint32_t key = 0; ok && key < history->key_count; key++)
        ok = add_shown_writes(s, &of, key);
    for (uint32_t txn = 0; ok && txn < history->txn_count; txn++)
        ok = add_other_writes(s, &of, txn);
    free(last);
    return ok;
}

bool rig_prove_links_order(struct rig_inference *inference, unsigned links, bool acknowledged, bool split,
                           enum rig_along along, struct rig_prove_events *events, bool *found)
{
    const struct rig_history *history = inference->history;
    struct sorting s = {.node_count = inference->links.node_count + (split ? history->txn_count : 0)};
    const size_t nodes = (size_t)s.node_count + 1;
    const bool by_reads = acknowledged && rig_type_inference(history->workload)->has_versions;
    uint32_t *txn_of = malloc(nodes * sizeof *txn_of),
             *before = rig_arena_room(inference->links.arena, nodes, sizeof *before);
    bool ok = txn_of != NULL && before != NULL &&
              rig_process_order(history, inference->committed, inference->links.arena, before) &&
              (by_reads ? add_acknowledged_writes(&s, inference) : add_links(&s, inference, links, split));
    if (ok)
        memset(txn_of, 0xff, nodes * sizeof *txn_of);
    for (int ended = 1; ended >= 0; ended--) {
        for (uint32_t txn = 0; ok && txn < history->txn_count; txn++) {
            const bool is_ended = rig_txn_end(history, txn) != RIG_POSITION_NONE;
            if (!inference->committed[txn] || is_ended != (ended == 1))
                continue;
            if (!acknowledged || is_ended)
                txn_of[txn] = txn_of[start_of(inference, split, txn)] = txn;
            ok = rig_prove_events_add(&s.roots, txn) && (along == RIG_ALONG_PLAIN || before[txn] == RIG_NODE_NONE ||
                                                         add_edge(&s, before[txn], start_of(inference, split, txn)));
        }
    }
    s.txn_of = txn_of;
    ok = ok && sort(&s, events, found);
    if (split)
        join_events(events);
    sorting_done(&s);
    free(txn_of);
    return ok;
}
