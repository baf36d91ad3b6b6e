#include "checker/decide/cycle/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/vec.h"
#include "checker/model/graph.h"

/* An operation of the core on a key: an append at its place, or a read that shows what stands before `place`. */
struct use {
    uint32_t key;
    uint32_t place; /* the order's length for an append that no read shows */
    uint32_t node;
    bool is_read;
    bool unread; /* an append that no read shows */
};

struct new_edge {
    uint32_t to, edge;
};

RIG_VEC(struct use, uses)
RIG_VEC(struct new_edge, new_edges)
RIG_VEC(uint32_t, place_list)

struct weave {
    const struct rig_versions *versions;
    const struct rig_graph *core;
    struct uses uses;
    struct new_edges edges;
    uint32_t node_count;
    bool writes; /* the web of writes */
    bool done;   /* false when memory has run out */
};

static void add_edge(struct weave *w, uint32_t from, uint32_t to, enum rig_link link)
{
    w->done = w->done && (from == to || new_edges_add(&w->edges, (struct new_edge){to, rig_edge_of(from, link)}));
}

/* Adds a relay with an edge from `before`, unless that is none. */
static uint32_t add_relay(struct weave *w, uint32_t before)
{
    uint32_t relay = w->node_count++;
    w->done = w->done && w->node_count < RIG_GRAPH_MAX_NODES;
    if (before != RIG_NODE_NONE)
        add_edge(w, before, relay, RIG_LINK_THROUGH);
    return relay;
}

static void through(struct weave *w, uint32_t relay, uint32_t to)
{
    if (relay != RIG_NODE_NONE)
        add_edge(w, relay, to, RIG_LINK_THROUGH);
}

/* ---- operations of the core's transactions ---- */

/* Notes an append that has a place, or that no read shows. */
static void place_append(const struct weave *w, uint32_t position, struct use *use)
{
    const uint32_t end = w->writes ? w->versions->acknowledged[use->key] : w->versions->keys[use->key].order.count;
    use->unread = position >= end;
    use->place = use->unread ? end : position;
}

static void collect_node(struct weave *w, uint32_t node)
{
    const struct rig_history *history = w->versions->history;
    const uint32_t txn = rig_graph_txn(w->core, node);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count =
        w->writes && history->txns[txn].outcome != RIG_OUTCOME_OK ? 0 : rig_txn_op_count(history, txn);
    for (uint32_t i = 0; w->done && i < count; i++) {
        struct use use = {.key = ops[i].key, .node = node, .is_read = rig_op_reads(ops[i].kind)};
        if (w->versions->keys[use.key].contested || (w->writes && use.is_read))
            continue;
        if (use.is_read) {
            if (ops[i].read_state == RIG_READ_UNKNOWN || !rig_versions_is_prefix(w->versions, &ops[i]) ||
                (w->versions->items_only && rig_list_found_no_row(history, &ops[i])))
                continue;
            use.place = rig_txn_op_list(history, &ops[i]).count;
        } else {
            const struct rig_append *append = rig_versions_append(w->versions, ops[i].key, ops[i].value);
            if (append->position == RIG_VERSION_UNPLACED)
                continue;
            place_append(w, append->position, &use);
        }
        w->done = uses_add(&w->uses, use);
    }
}

/* Groups the uses by key, and keeps their order within a key. */
static bool group_uses(struct weave *w)
{
    const uint32_t key_count = w->versions->history->key_count;
    size_t *next = calloc((size_t)key_count + 1, sizeof *next);
    struct uses grouped = {0};
    bool done = next != NULL && uses_reserve(&grouped, w->uses.count);
    for (size_t i = 0; done && i < w->uses.count; i++)
        next[w->uses.at[i].key + 1]++;
    for (uint32_t key = 0; done && key < key_count; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; done && i < w->uses.count; i++)
        grouped.at[next[w->uses.at[i].key]++] = w->uses.at[i];
    free(next);
    if (!done) {
        uses_done(&grouped);
        return false;
    }
    grouped.count = w->uses.count;
    uses_done(&w->uses);
    w->uses = grouped;
    return true;
}

/* By place, for uses of one key. At equal places reads come first, because they do not show that version. */
static int compare_uses(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->is_read != b->is_read)
        return a->is_read ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* ---- one key ---- */

/* The first append in [begin, end) by the node, from `begin` on; `end` when there is none among the next few. */
static size_t own_append(const struct use *uses, size_t begin, size_t end, uint32_t node)
{
    const size_t last = end - begin > RIG_WEB_PAIRS ? begin + RIG_WEB_PAIRS : end;
    for (size_t i = begin; i < last; i++) {
        if (!uses[i].is_read && uses[i].node == node)
            return i;
    }
    return end;
}

/* Whether another transaction wrote the version after the one read; else the reader overwrote it itself. */
static bool is_overwritten_by_others(const struct weave *w, const struct use *read)
{
    uint32_t next = rig_versions_from(w->versions, read->key, read->place);
    return next == RIG_VERSION_NONE ||
           rig_versions_writer(w->versions, read->key, next) != rig_graph_txn(w->core, read->node);
}

/* The places of a node's appends to the key. */
struct own_places {
    uint32_t lowest, highest; /* lowest UINT32_MAX: it made none */
};

RIG_VEC(struct own_places, own_list)

/* The places that each node of the key wrote first and last, found by binary search among the key's nodes. */
struct nodes {
    struct place_list node;
    struct own_list own;
};

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static struct own_places *own_of(const struct nodes *nodes, uint32_t node)
{
    const uint32_t *found = bsearch(&node, nodes->node.at, nodes->node.count, sizeof *nodes->node.at, compare_numbers);
    RIG_INVARIANT(found != NULL);
    return &nodes->own.at[found - nodes->node.at];
}

static bool note_nodes(const struct use *uses, size_t count, struct nodes *nodes)
{
    bool done = true;
    nodes->node.count = nodes->own.count = 0;
    for (size_t i = 0; done && i < count; i++)
        done = place_list_add(&nodes->node, uses[i].node);
    if (!done)
        return false;
    qsort(nodes->node.at, count, sizeof *nodes->node.at, compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || nodes->node.at[i] != nodes->node.at[kept - 1])
            nodes->node.at[kept++] = nodes->node.at[i];
    }
    nodes->node.count = kept;
    for (size_t i = 0; done && i < kept; i++)
        done = own_list_add(&nodes->own, (struct own_places){.lowest = UINT32_MAX});
    for (size_t i = 0; done && i < count; i++) {
        struct own_places *own = own_of(nodes, uses[i].node);
        if (uses[i].is_read)
            continue;
        own->lowest = uses[i].place < own->lowest ? uses[i].place : own->lowest;
        own->highest = uses[i].place > own->highest ? uses[i].place : own->highest;
    }
    return done;
}

/* The relays to the writers of everything before a place. */
struct before {
    uint32_t ww, wr;
    uint32_t place; /* of the last append in them */
};

RIG_VEC(struct before, before_list)

/* The last entry whose appends all stand before `place`; NULL: none does. */
static const struct before *before_place(const struct before_list *list, uint32_t place)
{
    size_t low = 0, high = list->count;
    while (low < high)
        rig_halve_size(&low, &high, list->at[rig_middle_size(low, high)].place < place);
    return low == 0 ? NULL : &list->at[low - 1];
}

/* Joins the writers before `place` to the node, whose first write is at `lowest`; the writers between one by one. */
static void join_writers(struct weave *w, const struct use *uses, size_t at, const struct before_list *list,
                         uint32_t lowest, enum rig_link link)
{
    const struct use *use = &uses[at];
    const struct before *before = before_place(list, lowest < use->place ? lowest : use->place);
    if (before != NULL)
        through(w, link == RIG_LINK_WW ? before->ww : before->wr, use->node);
    for (size_t i = at, left = RIG_WEB_PAIRS; lowest < use->place && left > 0 && i-- > 0; left--) {
        if (uses[i].place <= lowest)
            break;
        if (!uses[i].is_read && uses[i].place < use->place)
            add_edge(w, uses[i].node, use->node, link);
    }
}

/* Joins a reader that wrote a later version itself to the writers of the versions before that one. */
static void join_overwriters(struct weave *w, const struct use *uses, size_t at, size_t count)
{
    const struct use *read = &uses[at];
    const size_t own = own_append(uses, at + 1, count, read->node);
    for (size_t i = at + 1, left = RIG_WEB_PAIRS; left > 0 && i < count; i++, left--) {
        if (i >= own && !uses[own].unread)
            break;
        if (!uses[i].is_read && uses[i].node != read->node)
            add_edge(w, read->node, uses[i].node, RIG_LINK_RW);
    }
}

static void weave_key(struct weave *w, const struct use *uses, size_t count, struct nodes *nodes,
                      struct before_list *list)
{
    uint32_t readers = RIG_NODE_NONE; /* the relay from all that have read so far and wrote nothing later */
    bool more = false;                /* a reader was added to it after the last append was joined */
    uint32_t latest = RIG_NODE_NONE;  /* the writer of the latest version so far */
    list->count = 0;
    w->done = w->done && note_nodes(uses, count, nodes);
    for (size_t i = 0; w->done && i < count; i++) {
        const struct use *use = &uses[i];
        const struct own_places own = *own_of(nodes, use->node);
        if (use->is_read) {
            join_writers(w, uses, i, list, own.lowest, RIG_LINK_WR);
            if (!is_overwritten_by_others(w, use))
                continue;
            if (own.lowest != UINT32_MAX && own.highest >= use->place) {
                join_overwriters(w, uses, i, count);
                continue;
            }
            readers = more ? readers : add_relay(w, readers);
            more = true;
            add_edge(w, use->node, readers, RIG_LINK_RW);
            continue;
        }
        join_writers(w, uses, i, list, own.lowest, RIG_LINK_WW);
        if (w->writes && latest != RIG_NODE_NONE)
            add_edge(w, latest, use->node, RIG_LINK_WW);
        through(w, readers, use->node);
        more = false;
        if (use->unread)
            continue;
        latest = use->node;
        const struct before *last = list->count > 0 ? &list->at[list->count - 1] : NULL;
        RIG_INVARIANT(last == NULL || last->place < use->place);
        RIG_INVARIANT(rig_versions_writer(w->versions, use->key, use->place) == rig_graph_txn(w->core, use->node));
        struct before next = {.place = use->place};
        next.ww = add_relay(w, last == NULL ? RIG_NODE_NONE : last->ww);
        next.wr = add_relay(w, last == NULL ? RIG_NODE_NONE : last->wr);
        add_edge(w, use->node, next.ww, RIG_LINK_WW);
        add_edge(w, use->node, next.wr, RIG_LINK_WR);
        w->done = w->done && before_list_add(list, next);
    }
}

/* ---- the graph ---- */

/* Packs the core's edges into each node (none for the web of writes), and the new ones after them. */
static bool pack(const struct weave *w, struct rig_web *web)
{
    const struct rig_graph *core = w->core;
    const size_t edge_count = core->first[core->node_count] + w->edges.count;
    if (edge_count >= UINT32_MAX)
        return false;
    web->first = calloc((size_t)w->node_count + 2, sizeof *web->first);
    web->edges = malloc((edge_count + 1) * sizeof *web->edges);
    if (web->first == NULL || web->edges == NULL)
        return false;
    uint32_t *next = web->first + 1; /* per node: the place of its next edge; at the end, the end of its edges */
    for (size_t i = 0; i < w->edges.count; i++)
        next[w->edges.at[i].to + 1]++;
    for (uint32_t node = 0; node < w->node_count; node++) {
        const bool kept = !w->writes && node < core->node_count;
        const uint32_t own = kept ? core->first[node + 1] - core->first[node] : 0;
        next[node + 1] += next[node] + own;
        if (own > 0)
            memcpy(web->edges + next[node], core->edges + core->first[node], own * sizeof *web->edges);
        next[node] += own;
    }
    for (size_t i = 0; i < w->edges.count; i++)
        web->edges[next[w->edges.at[i].to]++] = w->edges.at[i].edge;
    RIG_INVARIANT(w->node_count == 0 || web->first[w->node_count] == (w->writes ? w->edges.count : edge_count));
    return true;
}

static bool keep_unsettled(const struct weave *w, struct rig_web *web)
{
    if (w->core->unsettled == NULL)
        return true;
    web->unsettled = calloc((size_t)w->node_count + 1, 1);
    if (web->unsettled != NULL)
        memcpy(web->unsettled, w->core->unsettled, w->core->node_count);
    return web->unsettled != NULL;
}

static bool make(const struct rig_versions *versions, const struct rig_graph *core, bool writes, struct rig_web *web)
{
    struct weave w = {
        .versions = versions, .core = core, .node_count = core->node_count, .writes = writes, .done = true};
    struct nodes nodes = {0};
    struct before_list list = {0};
    *web = (struct rig_web){0};
    for (uint32_t node = 0; w.done && node < core->txn_count; node++)
        collect_node(&w, node);
    w.done = w.done && group_uses(&w);
    for (size_t begin = 0, end; w.done && begin < w.uses.count; begin = end) {
        for (end = begin + 1; end < w.uses.count && w.uses.at[end].key == w.uses.at[begin].key;)
            end++;
        qsort(w.uses.at + begin, end - begin, sizeof *w.uses.at, compare_uses);
        weave_key(&w, w.uses.at + begin, end - begin, &nodes, &list);
    }
    bool done = w.done && pack(&w, web) && keep_unsettled(&w, web);
    uses_done(&w.uses);
    new_edges_done(&w.edges);
    place_list_done(&nodes.node);
    own_list_done(&nodes.own);
    before_list_done(&list);
    if (!done)
        return false;
    web->graph = *core;
    web->graph.node_count = w.node_count;
    web->graph.first = web->first;
    web->graph.edges = web->edges;
    web->graph.unsettled = web->unsettled;
    RIG_COSTLY(rig_graph_is_sound(&web->graph));
    return true;
}

bool rig_web_make(const struct rig_versions *versions, const struct rig_graph *core, struct rig_web *web)
{
    return make(versions, core, false, web);
}

bool rig_web_make_writes(const struct rig_versions *versions, const struct rig_graph *core, struct rig_web *web)
{
    RIG_REQUIRE(versions->acknowledged != NULL);
    return make(versions, core, true, web);
}

void rig_web_done(struct rig_web *web)
{
    free(web->first);
    free(web->edges);
    free(web->unsettled);
    *web = (struct rig_web){0};
}
