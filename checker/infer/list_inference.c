#include "checker/infer/list_inference.h"

#include <string.h>

#include "checker/infer/list_anomalies.h"
#include "checker/infer/op_owner.h"
#include "checker/infer/pick.h"
#include "checker/infer/unread.h"

enum { MOST_PLAIN_OPS = 32 };

struct infer {
    const struct rig_history *history;
    const struct rig_versions *versions;
    struct rig_oddities *oddities;
    struct rig_links *links;
    uint32_t own_count; /* in links->own */
    struct rig_unread unread;
};

/* ---- any transaction ---- */

static void link_own(struct infer *in, uint32_t from, uint32_t txn, enum rig_link link)
{
    in->links->own[in->own_count++] = rig_edge_of(from, link);
    if (txn < from)
        in->links->late_before[txn] = 1;
}

/*
 * An append that no read shows although reads show a later one of its transaction to the key, or ought to, did not come
 * last: it was lost.
 */
static bool is_lost(const struct infer *in, uint32_t txn, const struct rig_mop *op)
{
    const struct rig_mop *end = in->history->ops + in->history->txns[txn + 1].first_op;
    for (const struct rig_mop *later = op + 1; later < end; later++) {
        if (later->kind == RIG_OP_APPEND && later->key == op->key &&
            rig_versions_append(in->versions, later->key, later->value)->position != RIG_VERSION_NONE)
            return true;
    }
    return false;
}

/* ww into the writer of an append, from the version before it. */
static bool link_append(struct infer *in, uint32_t txn, const struct rig_mop *op)
{
    struct rig_append *slot = rig_versions_append(in->versions, op->key, op->value);
    if (slot->position == RIG_VERSION_NONE && slot->superseded && is_lost(in, txn, op))
        slot->position = RIG_VERSION_UNPLACED;
    if (slot->position == RIG_VERSION_NONE)
        return rig_unread_add_writer(&in->unread, op->key, txn);
    if (!rig_append_is_placed(slot))
        return true;
    uint32_t before = rig_versions_before(in->versions, op->key, slot->position);
    if (before == RIG_VERSION_NONE)
        return true;
    uint32_t writer = rig_versions_writer(in->versions, op->key, before);
    if (writer != txn)
        link_own(in, writer, txn, RIG_LINK_WW);
    return true;
}

/* wr from the writer of the last element that the transaction did not append itself. */
static void link_writer(struct infer *in, uint32_t txn, const struct rig_mop *op, struct rig_list list)
{
    for (uint32_t i = list.count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(in->versions, op->key, list.at[i]);
        if (slot == NULL || !in->versions->committed[slot->writer] || slot->writer == txn)
            continue; /* garbage and aborted elements are no versions */
        link_own(in, slot->writer, txn, RIG_LINK_WR);
        return;
    }
}

/* rw to the writer of the version after the one that was read. */
static bool link_overwriter(struct infer *in, uint32_t txn, const struct rig_mop *op, struct rig_list list)
{
    uint32_t next = rig_versions_from(in->versions, op->key, list.count);
    if (next == RIG_VERSION_NONE)
        return rig_unread_add_reader(&in->unread, op->key, txn);
    uint32_t writer = rig_versions_writer(in->versions, op->key, next);
    return writer == txn || rig_links_add(in->links, txn, writer, RIG_LINK_RW);
}

static bool link_read(struct infer *in, uint32_t txn, const struct rig_mop *op)
{
    if (op->read_state == RIG_READ_UNKNOWN)
        return true;
    struct rig_list list = rig_mop_list(in->history, op);
    link_writer(in, txn, op, list);
    return !rig_versions_is_prefix(in->versions, op) || link_overwriter(in, txn, op, list);
}

static bool visit_any(struct infer *in, uint32_t txn)
{
    const struct rig_mop *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
        bool linked = ops[i].kind == RIG_OP_APPEND ? link_append(in, txn, &ops[i]) : link_read(in, txn, &ops[i]);
        if (!linked)
            return false;
    }
    return rig_list_anomalies_of_txn(in->versions, txn, in->oddities);
}

/* ---- a transaction that shows nothing odd ---- */

/*
 * Where one operation stands in its key's order: an append at its position, a read behind what it shows; a place that
 * is always there when that is not in the clean part. `from` is where that ends which the transaction met of the key:
 * what it appended itself comes after that.
 *
 * Odd (not 0) is what may show an anomaly by itself, or needs a look beyond the places: lists and appends beyond the
 * clean part of the order, unknown reads, and whatever does not go on where the transaction's last operation on the key
 * left it. There are no branches on what the operation is (survey.c).
 */
struct stand {
    uint32_t at, from, append, odd;
};

static inline struct stand stand_of(const struct rig_versions *versions, const struct rig_mop *op, uint32_t txn,
                                    uint32_t counts, struct rig_key_places *key, bool any_sparse)
{
    uint32_t state = op->read_state, append = rig_mask(op->kind == RIG_OP_APPEND);
    uint32_t seen = rig_mask(state == RIG_READ_SEEN), unknown = rig_mask(state == RIG_READ_UNKNOWN);
    uint32_t slot = key->slot_first + (uint32_t)((uint64_t)op->value - (uint64_t)key->lowest);
    uint32_t needed = append & rig_mask(counts);
    if (any_sparse && (needed & key->shift))
        slot = rig_versions_probe(versions, op->key, op->value);
    uint32_t position = versions->slots[slot & needed].position;
    uint32_t at = (position & append) | (((op->count & seen) | unknown) & ~append);
    uint32_t again = rig_mask(key->visitor == txn), start = key->start, clean = key->clean;
    uint32_t near = rig_mask(at <= clean);
    uint32_t odd = ~near | (op->list & RIG_LIST_WHOLE & seen) | (((start + key->grown) ^ at) & again);
    at &= near;
    start = (start & again) | (at & ~again);
    key->visitor = txn;
    key->start = start;
    key->grown = (uint16_t)(at - append - start);
    return (struct stand){.at = at, .from = (at & append) | (start & ~append), .append = append, .odd = odd};
}

/* A pass over the operations (op_owner.h). */
struct pass {
    uint32_t op, txn; /* the next one; the transaction of the one before it */
};

/* Transactions without operations lie before the one that operation `op` belongs to: *own_first of theirs. */
static uint32_t pass_empty(struct infer *in, uint32_t op, uint32_t txn, uint32_t own)
{
    uint32_t owner = rig_op_owner_search(in->history, op, txn == UINT32_MAX ? 0 : txn);
    for (uint32_t empty = txn + 1; empty < owner; empty++)
        in->links->own_first[empty] = own;
    return owner - 1;
}

/*
 * Links transactions whose operations all stand on plain ground, up to the first one that has an odd one: of that
 * nothing is added. The rules are those of visit_any(), read off the places. That the last element which a read shows
 * is of the transaction itself needs no look: then some operation on the key is odd.
 */
static inline __attribute__((always_inline)) void visit_plain(struct infer *in, struct pass *pass, bool any_sparse)
{
    const struct rig_versions *versions = in->versions;
    const struct rig_mop *ops = in->history->ops;
    struct rig_key_places *keys = versions->key_places;
    const uint32_t *places = versions->places;
    const uint8_t *begins = versions->begins, *committed = versions->committed;
    struct rig_links *links = in->links;
    uint32_t *own = links->own, *own_first = links->own_first, *head = links->head;
    struct rig_chained *chained = links->chained;
    uint8_t *late_before = links->late_before;
    const uint32_t nobody = links->txn_count, op_count = in->history->op_count;
    uint32_t own_count = in->own_count, count = links->chained_count, heads[MOST_PLAIN_OPS + 1];
    uint32_t txn = pass->txn, txn_op = pass->op, txn_own = own_count, txn_chained = count, op;
    for (op = pass->op; op < op_count; op++) {
        uint32_t begun = begins[op];
        if (begun > 1) {
            txn = pass_empty(in, op, txn, own_count);
            begun = 1;
        }
        txn += begun;
        txn_op = rig_pick(begun, op, txn_op);
        txn_own = rig_pick(begun, own_count, txn_own);
        txn_chained = rig_pick(begun, count, txn_chained);
        own_first[txn] = txn_own;
        uint32_t counts = committed[txn];
        struct rig_key_places *key = &keys[ops[op].key];
        struct stand stand = stand_of(versions, &ops[op], txn, counts, key, any_sparse);
        uint32_t before = places[key->place_first - 1 + stand.from], after = places[key->place_first + stand.at];
        uint32_t odd = stand.odd | (after >= RIG_PLACE_ODD) | (before >= RIG_PLACE_ODD) |
                       (before & RIG_PLACE_SUPERSEDED & ~stand.append) | (op - txn_op >= MOST_PLAIN_OPS);
        if ((odd & rig_mask(counts)) != 0)
            break;
        uint32_t writer = before & RIG_PLACE_WRITER, next = after & RIG_PLACE_WRITER, read = ~stand.append;
        uint32_t has_before = counts & (before < RIG_PLACE_NO_VERSION) & (writer != txn);
        uint32_t has_after = counts & read & (after < RIG_PLACE_NO_VERSION) & (next != txn);
        own[own_count] = rig_edge_of(writer, RIG_LINK_WW) | (read & (RIG_LINK_WR - RIG_LINK_WW));
        own_count += has_before;
        if (has_before & (txn < writer))
            late_before[txn] = 1;
        uint32_t to = rig_pick(has_after, next, nobody);
        chained[count] = (struct rig_chained){rig_edge_of(txn, RIG_LINK_RW), head[to]};
        head[to] = count;
        heads[count - txn_chained] = to;
        count += has_after;
        late_before[rig_pick(has_after & (next < txn), next, nobody)] = 1;
    }
    while (op < op_count && count > txn_chained) {
        count--;
        head[heads[count - txn_chained]] = chained[count].next;
    }
    in->own_count = op < op_count ? txn_own : own_count;
    links->chained_count = count;
    pass->op = op;
    pass->txn = txn;
}

/* ---- all of them ---- */

static inline __attribute__((always_inline)) bool visit_quickly(struct infer *in, bool any_sparse)
{
    const struct rig_history *history = in->history;
    struct pass pass = {.op = 0, .txn = UINT32_MAX};
    for (visit_plain(in, &pass, any_sparse); pass.op < history->op_count; visit_plain(in, &pass, any_sparse)) {
        if (!visit_any(in, pass.txn))
            return false;
        pass.op = history->txns[pass.txn + 1].first_op;
    }
    for (uint32_t txn = pass.txn + 1; txn <= history->txn_count; txn++)
        in->links->own_first[txn] = in->own_count;
    return true;
}

static bool visit_fully(struct infer *in)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        in->links->own_first[txn] = in->own_count;
        if (in->versions->committed[txn] && !visit_any(in, txn))
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

static void count_links(struct infer *in)
{
    struct rig_links *links = in->links;
    uint64_t reads = 0;
    for (uint32_t i = 0; i < in->own_count; i++)
        reads += rig_edge_link(in->links->own[i]) == RIG_LINK_WR;
    links->link_count[RIG_LINK_WW] = in->own_count - reads;
    links->link_count[RIG_LINK_WR] = reads;
    links->link_count[RIG_LINK_RW] = links->read_count = links->chained_count;
}

static enum rig_rc link_all(struct infer *in, struct rig_arena *arena, bool plainly, struct rig_err *err)
{
    const struct rig_history *history = in->history;
    bool linked = rig_links_init(in->links, arena, history->txn_count, in->versions->counted_ops + 1,
                                 in->versions->counted_reads + 1) &&
                  visit_all(in, plainly);
    if (linked)
        count_links(in);
    if (!linked || !rig_list_anomalies_of_orders(in->versions, in->oddities) ||
        !rig_unread_link(&in->unread, in->versions, in->links))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the dependencies; raise --max-memory");
    return RIG_OK;
}

static enum rig_rc infer_lists(const struct rig_history *history, uint32_t most_kept, bool plainly,
                               struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    *inference = (struct rig_inference){.history = history, .oddities = {.most_kept = most_kept}};
    enum rig_rc rc = rig_versions_build(history, arena, &inference->versions, err);
    if (rc != RIG_OK)
        return rc;
    struct infer in = {.history = history,
                       .versions = &inference->versions,
                       .oddities = &inference->oddities,
                       .links = &inference->links};
    rc = link_all(&in, arena, plainly, err);
    rig_unread_done(&in.unread);
    inference->committed_count = inference->versions.committed_count;
    inference->unknown_reads = inference->versions.unknown_reads;
    inference->unordered_keys = in.unread.unordered_keys;
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    return rc;
}

enum rig_rc rig_infer_list_append(const struct rig_history *history, uint32_t most_kept, struct rig_arena *arena,
                                  struct rig_inference *inference, struct rig_err *err)
{
    return infer_lists(history, most_kept, true, arena, inference, err);
}

enum rig_rc rig_infer_list_append_in_full(const struct rig_history *history, uint32_t most_kept,
                                          struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    return infer_lists(history, most_kept, false, arena, inference, err);
}
