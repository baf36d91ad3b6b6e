#include "checker/infer/list_inference.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/list_anomalies.h"
#include "checker/infer/list_lost.h"
#include "checker/infer/pick.h"

enum { MOST_PLAIN_OPS = UINT16_MAX /* rig_key_places.grown counts them */ };

struct infer {
    const struct rig_history *history;
    const struct rig_versions *versions;
    struct rig_noncyclic_findings *noncyclic;
    struct rig_links *links;
    uint32_t own_count;     /* in links->own */
    uint64_t unknown_reads; /* of acknowledged transactions */
    bool again;             /* a second pass: anomalies were noted in the first */
    const uint8_t *among;   /* only these transactions; NULL: all */
    struct rig_unread unread;
    struct rig_own_ops own; /* of the transaction that is visited, unless it is plain */
};

/* ---- any transaction ---- */

static void link_own(struct infer *in, uint32_t from, uint32_t txn, enum rig_link link)
{
    in->links->own[in->own_count++] = rig_edge_of(from, link);
    if (txn < from)
        in->links->late_before[txn] = 1;
}

/*
 * An unread append was lost when reads show, or have to show, a later append of its transaction to the key: it cannot
 * come after all that were read. Lost appends have no place.
 */
static void mark_lost(const struct infer *in, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = rig_txn_op_count(in->history, txn); i-- > 0;) {
        if (ops[i].kind != RIG_OP_APPEND)
            continue;
        struct rig_append *slot = rig_versions_append(in->versions, ops[i].key, ops[i].value);
        if (slot->position != RIG_VERSION_NONE || !slot->superseded)
            continue;
        uint32_t next = in->own.at[i].next;
        while (next != RIG_OWN_NONE && ops[next].kind != RIG_OP_APPEND)
            next = in->own.at[next].next;
        RIG_INVARIANT(next != RIG_OWN_NONE);
        if (rig_versions_append(in->versions, ops[next].key, ops[next].value)->position != RIG_VERSION_NONE)
            slot->position = RIG_VERSION_UNPLACED;
    }
}

/* Links the writer of an append with the writer of the version before: ww. */
static bool link_append(struct infer *in, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_append *slot = rig_versions_append(in->versions, op->key, op->value);
    if (slot->position == RIG_VERSION_NONE)
        return rig_unread_add_writer(&in->unread, op->key, txn);
    if (!rig_append_is_placed(slot) || in->versions->keys[op->key].contested)
        return true;
    uint32_t before = rig_versions_before(in->versions, op->key, slot->position);
    if (before == RIG_VERSION_NONE)
        return true;
    uint32_t writer = rig_versions_writer(in->versions, op->key, before);
    if (writer != txn)
        link_own(in, writer, txn, RIG_LINK_WW);
    return true;
}

/* Links a reader with the writer of the last element that it did not append itself: wr. */
static void link_writer(struct infer *in, uint32_t txn, const struct rig_txn_op *op, const struct rig_read_list *list)
{
    for (uint32_t i = list->count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(in->versions, op->key, rig_read_element(list, i));
        if (slot == NULL || !in->versions->committed[slot->writer] || slot->writer == txn)
            continue; /* garbage and aborted elements are no versions */
        link_own(in, slot->writer, txn, RIG_LINK_WR);
        return;
    }
}

/* Links a reader with the writer of the version after the one that it read: rw. */
static bool link_overwriter(struct infer *in, uint32_t txn, const struct rig_txn_op *op)
{
    if (in->versions->items_only && rig_list_found_no_row(in->versions->history, op))
        return true;
    uint32_t next = rig_versions_from(in->versions, op->key, op->read_state == RIG_READ_SEEN ? op->count : 0);
    if (next == RIG_VERSION_NONE)
        return rig_unread_add_reader(&in->unread, op->key, txn);
    uint32_t writer = rig_versions_writer(in->versions, op->key, next);
    return writer == txn || rig_links_add(in->links, txn, writer, RIG_LINK_RW);
}

static bool link_read(struct infer *in, uint32_t txn, const struct rig_txn_op *op)
{
    if (op->read_state == RIG_READ_UNKNOWN) {
        in->unknown_reads += in->history->txns[txn].outcome == RIG_OUTCOME_OK;
        return true;
    }
    struct rig_read_list list = rig_txn_op_list(in->history, op);
    link_writer(in, txn, op, &list);
    bool ordered = !in->versions->keys[op->key].contested && rig_versions_is_prefix(in->versions, op);
    return !ordered || link_overwriter(in, txn, op);
}

static bool visit_any(struct infer *in, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    if (!rig_own_ops_take(&in->own, in->versions, txn))
        return false;
    mark_lost(in, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
        bool linked = ops[i].kind == RIG_OP_APPEND ? link_append(in, txn, &ops[i]) : link_read(in, txn, &ops[i]);
        if (!linked)
            return false;
    }
    return in->again || rig_list_anomalies_of_txn(in->versions, txn, in->own.at, in->noncyclic);
}

/* ---- plain transactions ---- */

/* State of a pass over plain transactions: its inputs, and its additions so far. */
struct plain {
    const struct rig_versions *versions;
    const struct rig_append *slots;
    const uint32_t *places;
    struct rig_key_places *keys;
    uint32_t *own, *head;
    struct rig_chained *chained;
    uint8_t *late_before;
    uint32_t own_count, chained_count;
    uint32_t absent; /* one slot past the last transaction, the target of absent edges */
    uint32_t txn;
    uint32_t late; /* 1 when an edge into `txn` comes from a transaction that completed later */
};

/*
 * Places an operation at position `at` of its key's order: an append at its own position, a read after the elements
 * that it shows. False when that is beyond the clean part of the order, or does not continue the transaction's last
 * operation on the key. *from: the number of elements before the transaction's own appends.
 */
static inline bool stand_at(struct plain *p, struct rig_key_places *key, uint32_t at, uint32_t append, uint32_t *from)
{
    *from = at;
    if (key->visitor != p->txn) {
        key->visitor = p->txn;
        key->start = at;
        key->grown = (uint16_t)append;
        return at <= key->clean;
    }
    bool goes_on = at == key->start + key->grown;
    *from = append ? at : key->start;
    key->grown = (uint16_t)(key->grown + append);
    return goes_on & (at <= key->clean);
}

/* The writer at a place; a negative number at one that holds no version. */
static inline int32_t writer_at(uint32_t place)
{
    return (int32_t)(place & ~RIG_PLACE_SUPERSEDED);
}

/* Adds the edge from the writer of the version before, for a read (`read` 1) or an append (0). */
static inline void link_before(struct plain *p, uint32_t place, uint32_t read)
{
    int32_t writer = writer_at(place), txn = (int32_t)p->txn;
    p->own[p->own_count] = place << 2 | read;
    p->own_count += (writer ^ txn) > 0;
    p->late |= writer > txn;
}

/* Adds the edge to the writer of the version after. For an append that writer is the transaction itself: no edge. */
static inline void link_after(struct plain *p, uint32_t place)
{
    uint32_t linked = (writer_at(place) ^ (int32_t)p->txn) > 0;
    uint32_t to = rig_pick(linked, place & RIG_PLACE_WRITER, p->absent);
    p->chained[p->chained_count] = (struct rig_chained){rig_edge_of(p->txn, RIG_LINK_RW), p->head[to]};
    p->head[to] = p->chained_count;
    p->chained_count += linked;
    p->late_before[to] |= to < p->txn;
}

/* Undoes link_after() for the latest of the operations taken. */
static void unlink_after(struct plain *p, const struct rig_txn_op *op)
{
    if (op->kind == RIG_OP_APPEND)
        return;
    uint32_t at = op->read_state == RIG_READ_SEEN ? op->count : 0;
    uint32_t place = p->places[p->keys[op->key].place_first + at];
    if ((writer_at(place) ^ (int32_t)p->txn) > 0)
        p->head[place & RIG_PLACE_WRITER] = p->chained[--p->chained_count].next;
}

_Static_assert(RIG_OP_APPEND == 0 && RIG_OP_READ_LIST == 1 && RIG_LINK_WW == 0 && RIG_LINK_WR == 1 &&
                   RIG_READ_UNKNOWN == 0 && RIG_READ_SEEN == 2,
               "take_op() relies on these numbers");

/* There is no branch on the kind of the operation: it would be mispredicted every other time. */
static inline bool take_op(struct plain *p, const struct rig_txn_op *op, bool any_sparse)
{
    struct rig_key_places *key = &p->keys[op->key];
    const uint32_t read = op->kind, reads = rig_mask(read), seen = rig_mask(op->read_state >> 1);
    uint32_t slot = key->slot_first + (uint32_t)((uint64_t)op->value - (uint64_t)key->lowest), from;
    if (any_sparse && key->shift != 0 && !read)
        slot = rig_versions_probe(p->versions, op->key, op->value);
    /* A read that shows a branch, or whose result is unknown, gets a place beyond every order. */
    uint32_t behind = ((op->list & seen) | (op->read_state - 1U)) & RIG_LIST_BRANCH;
    uint32_t at = (p->slots[slot & ~reads].position & ~reads) | (((op->count & seen) | behind) & reads);
    if (!stand_at(p, key, at, read ^ 1, &from))
        return false;
    uint32_t before = p->places[key->place_first - 1 + from], after = p->places[key->place_first + at];
    /* A neighbour is no version, or a read shows a version that its writer superseded. */
    if (RIG_PLACE_SUPERSEDED & ((before & (before >> 1 | reads)) | (after & after >> 1)))
        return false;
    link_before(p, before, read);
    link_after(p, after);
    return true;
}

/*
 * Links a transaction if all its operations are plain; else it adds nothing and returns false. An operation is not
 * plain when it may show an anomaly by itself or needs facts other than places: a list or an append beyond the clean
 * part of an order, an unknown read, or one that does not continue the transaction's last operation on the key. The
 * rules are those of visit_any(), applied to places. A read whose last element is the transaction's own needs no test:
 * then some operation on the key is not plain.
 */
static inline __attribute__((always_inline)) bool visit_plain(struct plain *p, const struct rig_txn_op *op,
                                                              const struct rig_txn_op *end, bool any_sparse)
{
    const uint32_t own_count = p->own_count, chained_count = p->chained_count;
    if (end - op > MOST_PLAIN_OPS)
        return false;
    p->late = 0;
    while (op < end && take_op(p, op, any_sparse))
        op++;
    if (op == end) {
        p->late_before[p->txn] |= (uint8_t)p->late;
        return true;
    }
    p->own_count = own_count;
    while (p->chained_count > chained_count)
        unlink_after(p, --op);
    return false;
}

static void begin_plain(const struct infer *in, struct plain *p)
{
    const struct rig_links *links = in->links;
    p->versions = in->versions;
    p->slots = in->versions->slots;
    p->places = in->versions->places;
    p->keys = in->versions->key_places;
    p->own = links->own;
    p->head = links->head;
    p->chained = links->chained;
    p->late_before = links->late_before;
    p->absent = links->txn_count;
    p->own_count = in->own_count;
    p->chained_count = links->chained_count;
}

/* ---- all of them ---- */

static inline __attribute__((always_inline)) bool visit_quickly(struct infer *in, bool any_sparse)
{
    const struct rig_history *history = in->history;
    const uint8_t *committed = in->versions->committed;
    uint32_t *own_first = in->links->own_first;
    struct plain plain;
    begin_plain(in, &plain);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        own_first[txn] = plain.own_count;
        plain.txn = txn;
        if (!committed[txn] ||
            visit_plain(&plain, history->ops + t->first_op, history->ops + t[1].first_op, any_sparse))
            continue;
        in->own_count = plain.own_count;
        in->links->chained_count = plain.chained_count;
        if (!visit_any(in, txn))
            return false;
        begin_plain(in, &plain);
    }
    own_first[history->txn_count] = in->own_count = plain.own_count;
    in->links->chained_count = plain.chained_count;
    return true;
}

static bool visit_fully(struct infer *in)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        in->links->own_first[txn] = in->own_count;
        const bool counts = in->versions->committed[txn] && (in->among == NULL || in->among[txn]);
        if (counts && !visit_any(in, txn))
            return false;
    }
    in->links->own_first[in->history->txn_count] = in->own_count;
    return true;
}

static bool visit_all(struct infer *in, bool plainly)
{
    if (!plainly)
        return visit_fully(in);
    return in->versions->slot_values != NULL ? visit_quickly(in, true) : visit_quickly(in, false);
}

/*
 * A fractured-append is found only when its transaction is visited. Edges of its key may have been linked before, so
 * all edges are linked again, without those of that key.
 */
static bool visit_again(struct infer *in, bool plainly)
{
    rig_links_clear(in->links);
    in->unread.writers.count = in->unread.readers.count = 0;
    in->own_count = 0;
    in->unknown_reads = 0;
    in->again = true;
    return visit_all(in, plainly);
}

static void count_links(struct infer *in)
{
    struct rig_links *links = in->links;
    RIG_INVARIANT(in->own_count <= in->versions->counted_ops && links->own_first[links->txn_count] == in->own_count);
    RIG_INVARIANT(links->chained_count <= links->chained_room && links->node_count == links->txn_count);
    uint32_t reads = 0;
    for (uint32_t i = 0; i < in->own_count; i++)
        reads += rig_edge_link(in->links->own[i]) == RIG_LINK_WR;
    links->link_count[RIG_LINK_WW] = in->own_count - reads;
    links->link_count[RIG_LINK_WR] = reads;
    links->link_count[RIG_LINK_RW] = links->read_count = links->chained_count;
}

/* An estimate: one edge for each read and each unread append, and half an edge more for the relays (bundle.h). */
static uint32_t chained_room(const struct rig_versions *versions)
{
    uint64_t placed = 0, appends = versions->counted_ops - versions->counted_reads;
    for (uint32_t key = 0; key < versions->history->key_count; key++)
        placed += versions->keys[key].order.count;
    uint64_t room = versions->counted_reads + 1 + (placed < appends ? (appends - placed) * 3 / 2 : 0);
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX - 1;
}

static enum rig_rc link_all(struct infer *in, struct rig_arena *arena, bool plainly, struct rig_err *err)
{
    const struct rig_history *history = in->history;
    bool linked = rig_links_init(in->links, arena, history->txn_count, in->versions->counted_ops + 1,
                                 chained_room(in->versions)) &&
                  visit_all(in, plainly);
    if (linked && in->noncyclic->count[RIG_ANOMALY_FRACTURED_APPEND] > 0)
        linked = visit_again(in, plainly);
    if (linked)
        count_links(in);
    if (!linked || (!in->versions->items_only && !rig_list_anomalies_of_orders(in->versions, in->noncyclic)) ||
        !rig_unread_link(&in->unread, in->versions, in->links))
        return rig_memory_limit(err, "the dependencies");
    return RIG_OK;
}

static enum rig_rc infer_lists(const struct rig_history *history, struct rig_assumptions assumptions,
                               uint32_t most_kept, bool plainly, struct rig_arena *arena,
                               struct rig_inference *inference, struct rig_err *err)
{
    *inference = (struct rig_inference){.history = history,
                                        .noncyclic = {.most_kept = most_kept},
                                        .prefilled = (assumptions.made & RIG_ASSUMES_PREFILLED) != 0};
    enum rig_rc rc = rig_versions_build(history, arena, &inference->versions, err);
    if (rc != RIG_OK)
        return rc;
    inference->versions.prefilled = inference->prefilled;
    struct infer in = {.history = history,
                       .versions = &inference->versions,
                       .noncyclic = &inference->noncyclic,
                       .links = &inference->links};
    rc = link_all(&in, arena, plainly, err);
    RIG_INVARIANT(rc != RIG_OK || in.unread.unordered_keys <= history->key_count);
    rig_unread_done(&in.unread);
    rig_own_ops_done(&in.own);
    inference->committed = inference->versions.committed;
    inference->committed_count = inference->versions.committed_count;
    inference->ok_count = inference->versions.ok_count;
    inference->fail_count = inference->versions.fail_count;
    inference->unknown_reads = in.unknown_reads;
    inference->unordered_keys = in.unread.unordered_keys;
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    return rc;
}

enum rig_rc rig_infer_list_append(const struct rig_history *history, struct rig_assumptions assumptions,
                                  uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                  struct rig_err *err)
{
    return infer_lists(history, assumptions, most_kept, true, arena, inference, err);
}

bool rig_infer_list_rest(struct rig_inference *inference, bool cyclic, bool realtime)
{
    const struct rig_versions *versions = &inference->versions;
    struct rig_noncyclic_findings *noncyclic = &inference->noncyclic;
    const bool contradicted =
        noncyclic->count[RIG_ANOMALY_INCOMPATIBLE_ORDER] > 0 || noncyclic->count[RIG_ANOMALY_DUPLICATE_ELEMENTS] > 0 ||
        noncyclic->count[RIG_ANOMALY_FRACTURED_APPEND] > 0 || noncyclic->count[RIG_ANOMALY_FUTURE_READ] > 0;
    return (!(cyclic || contradicted) || rig_list_lost_updates(versions, noncyclic)) &&
           (!(realtime || contradicted) || rig_list_lost_appends(versions, noncyclic, &inference->lost));
}

bool rig_infer_items_of_lists(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items)
{
    struct rig_noncyclic_findings none = {0};
    struct rig_err err = {0};
    rig_inference_for_items(inference, items);
    items->versions.items_only = true;
    struct infer in = {.history = inference->history,
                       .versions = &items->versions,
                       .noncyclic = &none,
                       .links = &items->links,
                       .again = true,
                       .among = among};
    const enum rig_rc rc = link_all(&in, inference->links.arena, false, &err);
    rig_unread_done(&in.unread);
    rig_own_ops_done(&in.own);
    memcpy(items->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    return rc == RIG_OK;
}

bool rig_infer_list_any_order(struct rig_inference *inference)
{
    return rig_unread_link_any_order(&inference->versions, &inference->links);
}

enum rig_rc rig_infer_list_append_in_full(const struct rig_history *history, struct rig_assumptions assumptions,
                                          uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                          struct rig_err *err)
{
    return infer_lists(history, assumptions, most_kept, false, arena, inference, err);
}
