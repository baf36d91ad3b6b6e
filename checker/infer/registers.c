#include "checker/infer/registers.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/cycle/clean.h"
#include "checker/cycle/components.h"
#include "checker/graph/graph.h"
#include "checker/model/assumption.h"

/* A value of a key, where it stands in the history. */
struct mention {
    int64_t value;
    uint32_t key;
    uint32_t op; /* global index */
};

/*
 * What an acknowledged transaction knows of one key: the version it read first, if any; the one it met, which is that,
 * unless it met the initial state and wrote; and the one it left.
 */
struct touch {
    uint32_t key, txn;
    int32_t process;
    uint32_t read, met, left;
};

/* An invocation or completion of a transaction that touched a key. */
struct event {
    uint32_t key, position, touch;
    bool completes;
};

RIG_VEC(struct mention, mentions)
RIG_VEC(struct touch, touches)
RIG_VEC(struct event, key_events)
RIG_VEC(uint32_t, touch_ids)
RIG_VEC(uint32_t, txn_stack)

struct build {
    const struct rig_history *history;
    struct rig_registers *registers;
    struct rig_oddities *oddities;
    struct rig_arena *arena;
    struct mentions mentions;
    struct touches touches;
    struct rig_version_edges edges;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for the versions of the registers; raise --max-memory");
}

static bool is_write(const struct rig_mop *op)
{
    return op->kind == RIG_OP_WRITE;
}

bool rig_register_is_first_access(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_mop *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < op; i++) {
        if (ops[i].key == ops[op].key)
            return false;
    }
    return true;
}

bool rig_register_is_update(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_mop *ops = rig_txn_ops(history, txn);
    if (is_write(&ops[op]))
        return false;
    for (uint32_t i = 0; i < op; i++) {
        if (ops[i].key == ops[op].key && !is_write(&ops[i]))
            return false;
    }
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == ops[op].key && is_write(&ops[i]))
            return true;
    }
    return false;
}

/* ---- versions ---- */

static int compare_mentions(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

static enum rig_rc collect_mentions(struct build *b)
{
    const struct rig_history *history = b->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_mop *mop = &history->ops[op];
            if (!is_write(mop) && mop->kind != RIG_OP_READ_REGISTER)
                return rig_fail(b->err, RIG_E_INPUT,
                                "transaction %u holds an operation that is neither a write nor a read of a register; "
                                "check it as another workload",
                                rig_txn_name(history, txn));
            if (!is_write(mop) && mop->read_state != RIG_READ_SEEN)
                continue;
            if (!mentions_add(&b->mentions, (struct mention){mop->value, mop->key, op}))
                return no_memory(b->err);
        }
    }
    if (b->mentions.count > 0)
        qsort(b->mentions.at, b->mentions.count, sizeof *b->mentions.at, compare_mentions);
    return RIG_OK;
}

/* Numbers the versions: the initial states first, then the distinct values, and finds each operation's. */
static enum rig_rc number_versions(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    size_t most = (size_t)history->key_count + b->mentions.count + 1;
    r->versions = rig_arena_array(b->arena, most, sizeof *r->versions);
    r->version_of = rig_arena_array(b->arena, (size_t)history->op_count + 1, sizeof *r->version_of);
    if (r->versions == NULL || r->version_of == NULL || most >= RIG_GRAPH_MAX_NODES)
        return no_memory(b->err);
    for (uint32_t key = 0; key < history->key_count; key++)
        r->versions[r->version_count++] = (struct rig_register_version){.key = key, .writer = RIG_REGISTER_NONE};
    for (uint32_t op = 0; op < history->op_count; op++)
        r->version_of[op] = history->ops[op].read_state == RIG_READ_NIL && !is_write(&history->ops[op])
                                ? history->ops[op].key
                                : RIG_REGISTER_NONE;
    for (size_t i = 0; i < b->mentions.count; i++) {
        const struct mention *m = &b->mentions.at[i];
        bool known = i > 0 && m[-1].key == m->key && m[-1].value == m->value;
        if (!known)
            r->versions[r->version_count++] =
                (struct rig_register_version){.value = m->value, .key = m->key, .writer = RIG_REGISTER_NONE};
        r->version_of[m->op] = r->version_count - 1;
    }
    return RIG_OK;
}

static enum rig_rc written_twice(const struct build *b, uint32_t first, uint32_t second, const struct rig_mop *op)
{
    char key[64];
    rig_history_key_text(b->history, op->key, key, sizeof key);
    return rig_fail(
        b->err, RIG_E_INPUT,
        "transactions %u and %u both write %lld to key %s; rw-register needs values that are unique per key",
        rig_txn_name(b->history, first), rig_txn_name(b->history, second), (long long)op->value, key);
}

static enum rig_rc find_writers(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
        for (uint32_t op = first; op < end; op++) {
            if (!is_write(&history->ops[op]))
                continue;
            struct rig_register_version *version = &r->versions[r->version_of[op]];
            if (version->writer != RIG_REGISTER_NONE)
                return written_twice(b, version->writer, txn, &history->ops[op]);
            version->writer = txn;
            for (uint32_t later = op + 1; later < end; later++)
                version->superseded |= is_write(&history->ops[later]) && history->ops[later].key == version->key;
        }
    }
    return RIG_OK;
}

/* Acknowledged, or of unknown fate with a write that a committed transaction read; or found to be so before. */
static enum rig_rc find_committed(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    struct txn_stack fresh = {0};
    bool done = true;
    r->committed = rig_arena_array(b->arena, (size_t)history->txn_count + 1, sizeof *r->committed);
    if (r->committed == NULL)
        return no_memory(b->err);
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK || history->txns[txn].judged == RIG_JUDGED_COMMITTED) {
            r->committed[txn] = 1;
            done = txn_stack_add(&fresh, txn);
        }
    }
    while (done && fresh.count > 0) {
        uint32_t txn = fresh.at[--fresh.count];
        r->committed_count++;
        for (uint32_t op = history->txns[txn].first_op; done && op < history->txns[txn + 1].first_op; op++) {
            uint32_t version = r->version_of[op];
            uint32_t writer = version == RIG_REGISTER_NONE ? RIG_REGISTER_NONE : r->versions[version].writer;
            if (writer == RIG_REGISTER_NONE || r->committed[writer] ||
                history->txns[writer].outcome != RIG_OUTCOME_INFO)
                continue;
            r->committed[writer] = 1;
            done = txn_stack_add(&fresh, writer);
        }
    }
    txn_stack_done(&fresh);
    return done ? RIG_OK : no_memory(b->err);
}

/* ---- what transactions know of keys ---- */

static enum rig_rc collect_touches(struct build *b)
{
    const struct rig_history *history = b->history;
    const struct rig_registers *r = b->registers;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        uint32_t count = rig_txn_op_count(history, txn), first_op = history->txns[txn].first_op;
        for (uint32_t i = 0; i < count; i++) {
            if (!rig_register_is_first_access(history, txn, i))
                continue;
            uint32_t written = RIG_REGISTER_NONE;
            for (uint32_t j = i; j < count; j++) {
                if (ops[j].key == ops[i].key && is_write(&ops[j]))
                    written = r->version_of[first_op + j];
            }
            uint32_t read = is_write(&ops[i]) ? RIG_REGISTER_NONE : r->version_of[first_op + i];
            struct touch touch = {.key = ops[i].key, .txn = txn, .process = history->txns[txn].process};
            touch.read = read;
            touch.left = written != RIG_REGISTER_NONE ? written : read;
            bool met_value = read != RIG_REGISTER_NONE && read >= history->key_count;
            touch.met = met_value ? read : touch.left;
            if (touch.left != RIG_REGISTER_NONE && !touches_add(&b->touches, touch))
                return no_memory(b->err);
        }
    }
    return RIG_OK;
}

/* ---- sources of order ---- */

static bool add_edge(struct rig_version_edges *edges, uint32_t from, uint32_t to, enum rig_order_source source,
                     uint32_t a, uint32_t b)
{
    return from == to || rig_version_edges_add(edges, (struct rig_version_edge){from, to, source, a, b});
}

static bool initial_edges(struct build *b, struct rig_version_edges *edges)
{
    const struct rig_registers *r = b->registers;
    for (uint32_t version = b->history->key_count; version < r->version_count; version++) {
        if (r->versions[version].writer != RIG_REGISTER_NONE &&
            !add_edge(edges, r->versions[version].key, version, RIG_ORDER_INITIAL, RIG_REGISTER_NONE,
                      RIG_REGISTER_NONE))
            return false;
    }
    return true;
}

/* A transaction that read one version of a key and left another one wrote that. */
static bool wfr_edges(struct build *b, struct rig_version_edges *edges)
{
    for (size_t i = 0; i < b->touches.count; i++) {
        const struct touch *t = &b->touches.at[i];
        if (t->read != RIG_REGISTER_NONE && !add_edge(edges, t->read, t->left, RIG_ORDER_WFR, t->txn, t->txn))
            return false;
    }
    return true;
}

static int compare_by_process(const void *left, const void *right)
{
    const struct touch *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static bool is_before(const struct rig_history *history, uint32_t a, uint32_t b)
{
    return !history->has_invocations || history->txns[a].complete_at < history->txns[b].invoke_at;
}

static bool sequential_edges(struct build *b, struct rig_version_edges *edges)
{
    if (b->touches.count > 0)
        qsort(b->touches.at, b->touches.count, sizeof *b->touches.at, compare_by_process);
    for (size_t i = 1; i < b->touches.count; i++) {
        const struct touch *t = &b->touches.at[i - 1], *next = &b->touches.at[i];
        bool follows = t->process == next->process && t->key == next->key && is_before(b->history, t->txn, next->txn);
        if (follows && !add_edge(edges, t->left, next->met, RIG_ORDER_SEQUENTIAL, t->txn, next->txn))
            return false;
    }
    return true;
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static bool list_events(const struct build *b, struct key_events *events)
{
    for (uint32_t i = 0; i < b->touches.count; i++) {
        const struct touch *t = &b->touches.at[i];
        const struct rig_txn *txn = &b->history->txns[t->txn];
        if (!key_events_add(events, (struct event){t->key, txn->invoke_at, i, false}) ||
            !key_events_add(events, (struct event){t->key, txn->complete_at, i, true}))
            return false;
    }
    if (events->count > 0)
        qsort(events->at, events->count, sizeof *events->at, compare_events);
    return true;
}

/*
 * The transitive reduction of real time on each key: an operation follows those that have completed, except those that
 * one of them follows itself.
 */
static bool sweep(struct build *b, const struct key_events *events, struct touch_ids *last,
                  struct rig_version_edges *edges)
{
    const struct rig_txn *txns = b->history->txns;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->at[i];
        const struct touch *t = &b->touches.at[event->touch];
        if (i == 0 || events->at[i - 1].key != event->key)
            last->count = 0;
        if (!event->completes) {
            for (size_t j = 0; j < last->count; j++) {
                const struct touch *before = &b->touches.at[last->at[j]];
                if (!add_edge(edges, before->left, t->met, RIG_ORDER_LINEARIZABLE, before->txn, t->txn))
                    return false;
            }
            continue;
        }
        size_t kept = 0;
        for (size_t j = 0; j < last->count; j++) {
            if (txns[b->touches.at[last->at[j]].txn].complete_at > txns[t->txn].invoke_at)
                last->at[kept++] = last->at[j];
        }
        last->count = kept;
        if (!touch_ids_add(last, event->touch))
            return false;
    }
    return true;
}

static bool linearizable_edges(struct build *b, struct rig_version_edges *edges)
{
    struct key_events events = {0};
    struct touch_ids last = {0};
    bool done = !b->history->has_invocations || (list_events(b, &events) && sweep(b, &events, &last, edges));
    key_events_done(&events);
    touch_ids_done(&last);
    return done;
}

/* ---- adding sources, as long as the orders stay orders ---- */

/*
 * Two versions of a cycle, by its writer who is first in the order of values: the same one, however much of the history
 * is seen beside. False when nobody wrote any.
 */
static bool name_cycle(const struct rig_registers *r, const uint32_t *versions, uint32_t count,
                       struct rig_oddity *oddity)
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
    *oddity = (struct rig_oddity){.anomaly = RIG_ANOMALY_CYCLIC_VERSIONS,
                                  .key = r->versions[written].key,
                                  .txn = r->versions[written].writer,
                                  .op = UINT32_MAX,
                                  .other = UINT32_MAX,
                                  .other_op = UINT32_MAX,
                                  .value = r->versions[written].value,
                                  .other_value = r->versions[other].value};
    return true;
}

/* Notes one cyclic-versions per component of versions; how many there are. */
static enum rig_rc find_cycles(struct build *b, const struct rig_version_edges *more, uint32_t *cycles)
{
    struct rig_links links;
    struct rig_arena scratch;
    struct rig_graph graph;
    struct rig_components components = {0};
    uint32_t count = b->registers->version_count;
    bool clean = false;
    rig_arena_init(&scratch, 0);
    bool linked = rig_links_init(&links, &scratch, count, 0, (uint32_t)(b->edges.count + more->count));
    for (size_t i = 0; linked && i < b->edges.count; i++)
        linked = rig_links_add(&links, b->edges.at[i].from, b->edges.at[i].to, RIG_LINK_WW);
    for (size_t i = 0; linked && i < more->count; i++)
        linked = rig_links_add(&links, more->at[i].from, more->at[i].to, RIG_LINK_WW);
    enum rig_rc rc = linked ? rig_links_clean(&links, NULL, &clean, b->err) : no_memory(b->err);
    if (rc == RIG_OK && !clean)
        rc = rig_graph_pack(&links, NULL, &scratch, &graph, b->err);
    if (rc == RIG_OK && !clean)
        rc = rig_components_find((struct rig_view){.graph = &graph, .links = RIG_LINKS_WW}, &components, b->err);
    *cycles = rc == RIG_OK ? (uint32_t)components.list.count : 0;
    for (uint32_t i = 0; rc == RIG_OK && i < components.list.count; i++) {
        struct rig_component range = components.list.at[i];
        struct rig_oddity oddity;
        if (name_cycle(b->registers, components.order + range.begin, range.end - range.begin, &oddity) &&
            !rig_oddities_note(b->oddities, &oddity))
            rc = no_memory(b->err);
    }
    rig_components_done(&components);
    rig_arena_done(&scratch);
    return rc;
}

typedef bool (*edge_maker)(struct build *b, struct rig_version_edges *edges);

/* `contradicted`: what is known of the source before, and after. */
static enum rig_rc add_source(struct build *b, edge_maker make, bool *contradicted)
{
    struct rig_version_edges more = {0};
    uint32_t cycles = 0;
    enum rig_rc rc = make(b, &more) ? find_cycles(b, &more, &cycles) : no_memory(b->err);
    bool keeps = cycles == 0 && !*contradicted;
    for (size_t i = 0; rc == RIG_OK && keeps && i < more.count; i++) {
        if (!rig_version_edges_add(&b->edges, more.at[i]))
            rc = no_memory(b->err);
    }
    rig_version_edges_done(&more);
    *contradicted = cycles > 0;
    return rc;
}

static enum rig_rc add_sources(struct build *b, struct rig_assumptions assumptions)
{
    static const struct {
        unsigned assumption;
        edge_maker make;
    } sources[] = {{RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS), wfr_edges},
                   {RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS), sequential_edges},
                   {RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS), linearizable_edges}};
    bool contradicted = false;
    enum rig_rc rc = add_source(b, initial_edges, &contradicted);
    for (size_t i = 0; rc == RIG_OK && i < sizeof sources / sizeof sources[0]; i++) {
        unsigned assumption = sources[i].assumption;
        if (!(assumptions.made & assumption))
            continue;
        contradicted = (assumptions.contradicted & assumption) != 0;
        rc = add_source(b, sources[i].make, &contradicted);
        b->registers->contradicted |= contradicted ? assumption : 0;
    }
    return rc;
}

static int compare_edges(const void *left, const void *right)
{
    const struct rig_version_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (int)a->source - (int)b->source;
}

static enum rig_rc keep_edges(struct build *b)
{
    struct rig_registers *r = b->registers;
    r->edges = rig_arena_array(b->arena, b->edges.count + 1, sizeof *r->edges);
    if (r->edges == NULL)
        return no_memory(b->err);
    if (b->edges.count > 0)
        qsort(b->edges.at, b->edges.count, sizeof *b->edges.at, compare_edges);
    for (size_t i = 0; i < b->edges.count; i++) {
        const struct rig_version_edge *edge = &b->edges.at[i];
        if (i == 0 || edge->from != edge[-1].from || edge->to != edge[-1].to)
            r->edges[r->edge_count++] = *edge;
    }
    return RIG_OK;
}

/* The first of them that is not of a key before `key`. */
static uint32_t versions_from(const struct rig_registers *registers, uint32_t key)
{
    uint32_t low = registers->history->key_count, high = registers->version_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (registers->versions[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rig_registers_versions_of(const struct rig_registers *registers, uint32_t key, uint32_t *begin, uint32_t *end)
{
    *begin = versions_from(registers, key);
    *end = versions_from(registers, key + 1);
}

void rig_registers_edges_from(const struct rig_registers *registers, uint32_t version, uint32_t *begin, uint32_t *end)
{
    uint32_t low = 0, high = registers->edge_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (registers->edges[middle].from < version)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = *end = low;
    while (*end < registers->edge_count && registers->edges[*end].from == version)
        ++*end;
}

enum rig_rc rig_registers_build(const struct rig_history *history, struct rig_assumptions assumptions,
                                struct rig_arena *arena, struct rig_registers *registers, struct rig_oddities *oddities,
                                struct rig_err *err)
{
    struct rig_registers result = {.history = history};
    struct build b = {.history = history, .registers = &result, .oddities = oddities, .arena = arena, .err = err};
    enum rig_rc rc = collect_mentions(&b);
    if (rc == RIG_OK)
        rc = number_versions(&b);
    if (rc == RIG_OK)
        rc = find_writers(&b);
    if (rc == RIG_OK)
        rc = find_committed(&b);
    if (rc == RIG_OK)
        rc = collect_touches(&b);
    if (rc == RIG_OK)
        rc = add_sources(&b, assumptions);
    if (rc == RIG_OK)
        rc = keep_edges(&b);
    mentions_done(&b.mentions);
    touches_done(&b.touches);
    rig_version_edges_done(&b.edges);
    if (rc == RIG_OK)
        *registers = result;
    return rc;
}
