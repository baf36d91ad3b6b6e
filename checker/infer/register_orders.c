#include "checker/infer/register_orders.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/table.h"
#include "checker/model/components.h"
#include "checker/model/graph.h"

enum { NEAR = 8, AHEAD = 16 };

/* In a touch: the value read is no version of the key, so the transaction has no known place. */
#define NO_VERSION (RIG_REGISTER_NONE - 1)

/*
 * The versions of one key that an acknowledged transaction shows: `read` is the one it read first, if any; `left` is
 * its last write, or else `read`. The order of the key has it between the version that it met, met_by(), and `left`.
 */
struct touch {
    uint32_t key, txn;
    uint32_t read, left;
};

struct orders {
    const struct rig_history *history;
    struct rig_registers *registers;
    struct rig_noncyclic_findings *noncyclic;
    struct rig_arena *arena;
    struct touch *touches; /* by key, then in completion order */
    uint32_t touch_count;
    uint32_t *key_begin;            /* per key: the begin of its touches before the gaps are closed */
    struct rig_version_edge *edges; /* NULL: they are only counted */
    uint32_t edge_room;
    uint32_t edge_count;
    uint32_t *first;     /* per version, and one more: of the edges by `from` */
    uint32_t *by_from;   /* edges */
    uint32_t *in_degree; /* per version */
    uint32_t *ready;     /* versions */
    bool no_memory;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the versions of the registers");
}

/* ---- touches ---- */

/* Per key, while transactions are visited. */
struct touching {
    uint32_t end;     /* of its touches */
    uint32_t visitor; /* transaction */
};

/* A failed transaction's write has no place in an order. A value that no transaction wrote may have one. */
static bool is_version(const struct orders *o, uint32_t version)
{
    uint32_t writer = o->registers->versions[version].writer;
    return writer == RIG_REGISTER_NONE || o->history->txns[writer].outcome != RIG_OUTCOME_FAIL;
}

static void touch_keys_of(const struct orders *o, uint32_t txn, struct touching *keys)
{
    const struct rig_history *history = o->history;
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *mop = &history->ops[op];
        struct touching *key = &keys[mop->key];
        bool writes = mop->kind == RIG_OP_WRITE;
        uint32_t version = o->registers->version_of[op];
        if (key->visitor == txn) {
            struct touch *known = &o->touches[key->end - 1];
            known->left = writes ? version : known->left;
            continue;
        }
        key->visitor = txn;
        uint32_t read = writes || version == RIG_REGISTER_NONE ? RIG_REGISTER_NONE
                        : is_version(o, version)               ? version
                                                               : NO_VERSION;
        o->touches[key->end++] = (struct touch){.key = mop->key, .txn = txn, .read = read, .left = version};
    }
}

/* The begin of each key's touches, with room for one touch an operation. */
static struct touching *place_keys(const struct orders *o)
{
    const struct rig_history *history = o->history;
    struct touching *keys = rig_arena_array(o->arena, (size_t)history->key_count + 1, sizeof *keys);
    if (keys == NULL)
        return NULL;
    for (uint32_t op = 0; op < history->op_count; op++)
        keys[history->ops[op].key + 1].end++;
    for (uint32_t key = 0; key < history->key_count; key++) {
        keys[key + 1].end += keys[key].end;
        keys[key].visitor = RIG_REGISTER_NONE;
    }
    return keys;
}

/* Keeps the touches that order versions, without gaps: `left` is known, and `read` is not NO_VERSION. */
static void close_gaps(struct orders *o, const struct touching *keys, uint32_t op_count)
{
    for (uint32_t key = 0, begin = 0; key < o->history->key_count; key++) {
        uint32_t end = keys[key].end;
        for (; begin < end; begin++) {
            const struct touch touch = o->touches[begin];
            o->touches[o->touch_count] = touch;
            o->touch_count += touch.left != RIG_REGISTER_NONE && touch.read != NO_VERSION;
        }
        begin = key + 1 < o->history->key_count ? o->key_begin[key + 1] : op_count;
    }
}

static bool find_touches(struct orders *o)
{
    const struct rig_history *history = o->history;
    struct touching *keys = place_keys(o);
    o->touches = rig_arena_room(o->arena, (size_t)history->op_count + 1, sizeof *o->touches);
    o->key_begin = rig_arena_room(o->arena, (size_t)history->key_count + 1, sizeof *o->key_begin);
    if (keys == NULL || o->touches == NULL || o->key_begin == NULL)
        return false;
    for (uint32_t key = 0; key < history->key_count; key++)
        o->key_begin[key] = keys[key].end;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            touch_keys_of(o, txn, keys);
    }
    close_gaps(o, keys, history->op_count);
    return true;
}

/* The version read; `left` without a read, or when the initial state was read. */
static uint32_t met_by(const struct orders *o, const struct touch *t)
{
    bool met_value = t->read != RIG_REGISTER_NONE && t->read >= o->history->key_count;
    return met_value ? t->read : t->left;
}

/* ---- sources ---- */

static inline void add_edge(struct orders *o, uint32_t from, uint32_t to, enum rig_order_source source, uint32_t a,
                            uint32_t b)
{
    if (from == to)
        return;
    if (o->edges != NULL)
        o->edges[o->edge_count] = (struct rig_version_edge){from, to, source, a, b};
    o->edge_count++;
}

static void initial_edges(struct orders *o)
{
    const struct rig_registers *r = o->registers;
    for (uint32_t version = o->history->key_count; version < r->version_count; version++) {
        if (r->versions[version].writer != RIG_REGISTER_NONE && is_version(o, version))
            add_edge(o, r->versions[version].key, version, RIG_ORDER_INITIAL, RIG_REGISTER_NONE, RIG_REGISTER_NONE);
    }
}

/* A transaction that read one version of a key and left another one has written the latter. */
static void wfr_edges(struct orders *o)
{
    for (uint32_t i = 0; i < o->touch_count; i++) {
        const struct touch *t = &o->touches[i];
        if (t->read != RIG_REGISTER_NONE)
            add_edge(o, t->read, t->left, RIG_ORDER_WFR, t->txn, t->txn);
    }
}

static bool is_before(const struct rig_history *history, uint32_t a, uint32_t b)
{
    return !history->has_invocations || history->in_turn || history->txns[a].complete_at < history->txns[b].invoke_at;
}

/* From each touch to the next one of the same process and key. */
static void sequential_edges(struct orders *o)
{
    struct rig_table last; /* process -> its latest touch of any key */
    rig_table_init(&last);
    for (uint32_t i = 0; i < o->touch_count && !o->no_memory; i++) {
        const struct touch *t = &o->touches[i];
        uint32_t *place = rig_table_put(&last, (uint32_t)o->history->txns[t->txn].process);
        o->no_memory = place == NULL;
        if (place == NULL)
            break;
        const struct touch *before = *place == RIG_TABLE_NONE ? NULL : &o->touches[*place];
        if (before != NULL && before->key == t->key && is_before(o->history, before->txn, t->txn))
            add_edge(o, before->left, met_by(o, t), RIG_ORDER_SEQUENTIAL, before->txn, t->txn);
        *place = i;
    }
    rig_table_done(&last);
}

/* The first touch from `begin` on that had not completed when the touch at `at` was invoked. */
static uint32_t first_concurrent(const struct orders *o, uint32_t begin, uint32_t at, uint32_t invoke_at)
{
    const struct rig_txn *txns = o->history->txns;
    uint32_t low = begin, high = at;
    for (unsigned i = 0; i < NEAR && high > low; i++, high--) {
        if (txns[o->touches[high - 1].txn].complete_at < invoke_at)
            return high;
    }
    while (low < high)
        rig_halve(&low, &high, txns[o->touches[rig_middle(low, high)].txn].complete_at < invoke_at);
    return low;
}

/*
 * The transitive reduction of real time on each key: an operation follows those that have completed, except those that
 * one of them follows itself, which completed before the latest invocation among them. `invoked` is per touch.
 */
static void order_by_time(struct orders *o, uint32_t *invoked)
{
    const struct rig_txn *txns = o->history->txns;
    for (uint32_t i = 0, begin = 0; i < o->touch_count; i++) {
        const struct touch *t = &o->touches[i];
        __builtin_prefetch(&txns[o->touches[i + AHEAD < o->touch_count ? i + AHEAD : i].txn]); /* they lie far apart */
        begin = i > 0 && t[-1].key == t->key ? begin : i;
        uint32_t invoke_at = txns[t->txn].invoke_at;
        invoked[i] = i > begin && invoked[i - 1] > invoke_at ? invoked[i - 1] : invoke_at;
        uint32_t before = first_concurrent(o, begin, i, invoke_at), met = met_by(o, t);
        uint32_t latest = before > begin ? invoked[before - 1] : 0;
        for (; before > begin && txns[o->touches[before - 1].txn].complete_at > latest; before--)
            add_edge(o, o->touches[before - 1].left, met, RIG_ORDER_LINEARIZABLE, o->touches[before - 1].txn, t->txn);
    }
}

static void linearizable_edges(struct orders *o)
{
    uint32_t *invoked = rig_arena_room(o->arena, (size_t)o->touch_count + 1, sizeof *invoked);
    o->no_memory |= invoked == NULL;
    if (invoked != NULL && o->history->has_invocations)
        order_by_time(o, invoked);
}

/* ---- adding sources while the orders stay acyclic ---- */

/* Lists the edges by `from`, in the order in which they were added. */
static void list_by_from(struct orders *o)
{
    uint32_t count = o->registers->version_count;
    RIG_INVARIANT(o->edge_count <= o->edge_room);
    memset(o->first, 0, ((size_t)count + 2) * sizeof *o->first);
    for (uint32_t i = 0; i < o->edge_count; i++)
        o->first[o->edges[i].from + 2]++;
    for (uint32_t version = 0; version < count; version++)
        o->first[version + 2] += o->first[version + 1];
    for (uint32_t i = 0; i < o->edge_count; i++)
        o->by_from[o->first[o->edges[i].from + 1]++] = i;
    RIG_INVARIANT(o->first[count] == o->edge_count);
}

/* Removes versions without predecessors repeatedly (Kahn 1962); those on a cycle remain. */
static bool is_acyclic(const struct orders *o)
{
    uint32_t count = o->registers->version_count, ready_count = 0;
    memset(o->in_degree, 0, (size_t)count * sizeof *o->in_degree);
    for (uint32_t i = 0; i < o->edge_count; i++)
        o->in_degree[o->edges[i].to]++;
    for (uint32_t version = 0; version < count; version++) {
        o->ready[ready_count] = version;
        ready_count += o->in_degree[version] == 0;
    }
    for (uint32_t next = 0; next < ready_count; next++) {
        uint32_t version = o->ready[next];
        for (uint32_t i = o->first[version]; i < o->first[version + 1]; i++) {
            uint32_t to = o->edges[o->by_from[i]].to;
            o->ready[ready_count] = to;
            ready_count += --o->in_degree[to] == 0;
        }
    }
    RIG_INVARIANT(ready_count <= count);
    return ready_count == count;
}

/*
 * Names a cycle by two of its versions: the writer of the version that is first in the order of values, which does not
 * depend on the rest of the history. False when no transaction wrote any of them.
 */
static bool name_cycle(const struct rig_registers *r, const uint32_t *versions, uint32_t count,
                       struct rig_noncyclic *found)
{
    uint32_t written = RIG_REGISTER_NONE, other = RIG_REGISTER_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (r->versions[versions[i]].writer != RIG_REGISTER_NONE && versions[i] < written)
            written = versions[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (versions[i] != written && versions[i] < other)
            other = versions[i];
    }
    if (written == RIG_REGISTER_NONE)
        return false;
    RIG_INVARIANT(count >= 2 && other != RIG_REGISTER_NONE && r->versions[other].key == r->versions[written].key);
    *found = (struct rig_noncyclic){.anomaly = RIG_ANOMALY_CYCLIC_VERSIONS,
                                    .key = r->versions[written].key,
                                    .txn = r->versions[written].writer,
                                    .op = UINT32_MAX,
                                    .other = UINT32_MAX,
                                    .other_op = UINT32_MAX,
                                    .value = r->versions[written].value,
                                    .other_value = r->versions[other].value};
    return true;
}

/* Notes one cyclic-versions per component of versions. */
static enum rig_rc note_cycles(struct orders *o)
{
    struct rig_links links;
    struct rig_arena scratch;
    struct rig_graph graph;
    struct rig_components components = {0};
    rig_arena_init(&scratch, 0);
    bool linked = rig_links_init(&links, &scratch, o->registers->version_count, 0, o->edge_count);
    for (uint32_t i = 0; linked && i < o->edge_count; i++)
        linked = rig_links_add(&links, o->edges[i].from, o->edges[i].to, RIG_LINK_WW);
    enum rig_rc rc = linked ? rig_graph_pack(&links, NULL, &scratch, &graph, o->err) : no_memory(o->err);
    if (rc == RIG_OK)
        rc = rig_components_find((struct rig_view){.graph = &graph, .links = RIG_LINKS_WW}, &components, o->err);
    for (uint32_t i = 0; rc == RIG_OK && i < components.list.count; i++) {
        struct rig_component range = components.list.at[i];
        struct rig_noncyclic found;
        if (name_cycle(o->registers, components.order + range.begin, range.end - range.begin, &found) &&
            !rig_noncyclic_note(o->noncyclic, &found))
            rc = no_memory(o->err);
    }
    rig_components_done(&components);
    rig_arena_done(&scratch);
    return rc;
}

typedef void (*edge_maker)(struct orders *o);

/* *contradicted: whether the source is known to be contradicted, before and after. */
static enum rig_rc add_source(struct orders *o, edge_maker make, bool *contradicted)
{
    uint32_t before = o->edge_count;
    make(o);
    if (o->no_memory)
        return no_memory(o->err);
    list_by_from(o);
    bool acyclic = is_acyclic(o);
    enum rig_rc rc = acyclic ? RIG_OK : note_cycles(o);
    if (!acyclic || *contradicted) {
        o->edge_count = before;
        list_by_from(o);
    }
    *contradicted = !acyclic;
    return rc;
}

/* Makes room for the edges of all sources, by counting them; those of processes are bounded instead. */
static bool make_room(struct orders *o, struct rig_assumptions assumptions)
{
    size_t version_count = o->registers->version_count;
    initial_edges(o);
    if (assumptions.made & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS))
        wfr_edges(o);
    if (assumptions.made & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS))
        linearizable_edges(o);
    uint64_t most = o->edge_count;
    if (assumptions.made & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS))
        most += o->touch_count;
    o->edge_count = 0;
    if (o->no_memory || most >= UINT32_MAX)
        return false;
    o->edge_room = (uint32_t)most;
    o->edges = rig_arena_room(o->arena, (size_t)most + 1, sizeof *o->edges);
    o->first = rig_arena_room(o->arena, version_count + 2, sizeof *o->first);
    o->by_from = rig_arena_room(o->arena, (size_t)most + 1, sizeof *o->by_from);
    o->in_degree = rig_arena_room(o->arena, version_count + 1, sizeof *o->in_degree);
    o->ready = rig_arena_room(o->arena, version_count + 1, sizeof *o->ready);
    return o->edges != NULL && o->first != NULL && o->by_from != NULL && o->in_degree != NULL && o->ready != NULL;
}

static const struct source {
    unsigned assumption;
    edge_maker make;
} sources[] = {{RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS), wfr_edges},
               {RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS), sequential_edges},
               {RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS), linearizable_edges}};
static const size_t source_count = sizeof sources / sizeof sources[0];

/* Adds them all; *acyclic: no source puts versions on a cycle, the usual case. */
static enum rig_rc add_at_once(struct orders *o, struct rig_assumptions assumptions, bool *acyclic)
{
    initial_edges(o);
    for (size_t i = 0; i < source_count; i++) {
        if (assumptions.made & sources[i].assumption)
            sources[i].make(o);
    }
    if (o->no_memory)
        return no_memory(o->err);
    list_by_from(o);
    *acyclic = (assumptions.made & RIG_ASSUMPTIONS_OF_VERSIONS) == 0 || is_acyclic(o);
    return RIG_OK;
}

/* The initial state alone makes no cycle: it precedes all versions and follows none. */
static enum rig_rc add_one_by_one(struct orders *o, struct rig_assumptions assumptions)
{
    enum rig_rc rc = RIG_OK;
    o->edge_count = 0;
    initial_edges(o);
    for (size_t i = 0; rc == RIG_OK && i < source_count; i++) {
        if (!(assumptions.made & sources[i].assumption))
            continue;
        bool contradicted = (assumptions.contradicted & sources[i].assumption) != 0;
        rc = add_source(o, sources[i].make, &contradicted);
        o->registers->contradicted |= contradicted ? sources[i].assumption : 0;
    }
    return rc;
}

static enum rig_rc add_sources(struct orders *o, struct rig_assumptions assumptions)
{
    bool acyclic = false;
    enum rig_rc rc = RIG_OK;
    if ((assumptions.made & assumptions.contradicted) == 0)
        rc = add_at_once(o, assumptions, &acyclic);
    return rc != RIG_OK || acyclic ? rc : add_one_by_one(o, assumptions);
}

/* ---- in order ---- */

/* By version, then by source, which is the order in which they were added. */
static int compare_edges(const void *left, const void *right, void *context)
{
    const struct rig_version_edge *edges = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (edges[a].to != edges[b].to)
        return edges[a].to < edges[b].to ? -1 : 1;
    return (a > b) - (a < b);
}

/* Most rows have one or two edges, and the row of an initial state is sorted already. */
static void sort_row(struct rig_version_edge *edges, uint32_t *row, uint32_t count)
{
    uint32_t sorted = 1;
    while (sorted < count && compare_edges(&row[sorted - 1], &row[sorted], edges) < 0)
        sorted++;
    if (sorted < count)
        qsort_r(row, count, sizeof *row, compare_edges, edges);
}

/* By from, then to, then source. */
static void keep_edges(struct orders *o)
{
    struct rig_registers *r = o->registers;
    for (uint32_t version = 0; version < r->version_count; version++)
        sort_row(o->edges, o->by_from + o->first[version], o->first[version + 1] - o->first[version]);
    r->edges = o->edges;
    r->edge_count = o->edge_count;
    r->edge_first = o->first;
    r->edges_from = o->by_from;
}

enum rig_rc rig_register_orders_find(struct rig_registers *registers, struct rig_assumptions assumptions,
                                     struct rig_arena *arena, struct rig_noncyclic_findings *noncyclic,
                                     struct rig_err *err)
{
    struct orders o = {
        .history = registers->history, .registers = registers, .noncyclic = noncyclic, .arena = arena, .err = err};
    bool fits =
        ((assumptions.made & RIG_ASSUMPTIONS_OF_VERSIONS) == 0 || find_touches(&o)) && make_room(&o, assumptions);
    enum rig_rc rc = fits ? add_sources(&o, assumptions) : no_memory(err);
    if (rc == RIG_OK)
        keep_edges(&o);
    return rc;
}
