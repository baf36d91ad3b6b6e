#include "checker/infer/list_inference.h"

#include <string.h>

#include "checker/infer/list_anomalies.h"
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
        rig_links_reach(in->links, txn, from);
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

/* Where one operation stands in its key's order: an append at its position, a read behind what it shows. */
struct stand {
    struct rig_key_places *key;
    uint32_t at;
    uint32_t from;        /* where what the transaction met of the key ends: what it appended itself comes after that */
    uint32_t append, odd; /* 0 or 1 */
};

/*
 * Odd is what may show an anomaly by itself, or needs a look beyond the places: lists and appends beyond the clean
 * part of the order; unknown reads; and whatever does not go on where the transaction's last operation on the key left
 * it. There are no branches on what the operation is (survey.c).
 */
static inline struct stand stand_of(const struct rig_versions *versions, const struct rig_mop *op, uint32_t txn,
                                    bool any_sparse)
{
    struct rig_key_places *key = &versions->key_places[op->key];
    uint32_t append = op->kind == RIG_OP_APPEND, seen = op->read_state == RIG_READ_SEEN;
    uint32_t slot = key->slot_first + (uint32_t)((uint64_t)op->value - (uint64_t)key->lowest);
    if (any_sparse && append && key->shift != 0)
        slot = rig_versions_probe(versions, op->key, op->value);
    slot = rig_pick(append, slot, 0);
    uint32_t at = rig_pick(append, versions->slots[slot].position, op->count & (0u - seen));
    uint32_t again = key->visitor == txn, far = at > key->clean;
    uint32_t odd = far | (seen & op->list >> 31) | (again & (key->start + key->grown != at)) |
                   ((append ^ 1u) & (op->read_state == RIG_READ_UNKNOWN));
    at = rig_pick(far, 0, at);
    uint32_t start = rig_pick(again, key->start, at);
    key->visitor = txn;
    key->start = start;
    key->grown = (uint16_t)(at + append - start);
    return (struct stand){.key = key, .at = at, .from = rig_pick(append, at, start), .append = append, .odd = odd};
}

/*
 * Links a transaction whose operations all stand on plain ground; the rules are those of visit_any(), read off the
 * places. False, with nothing added, when something is odd.
 */
static inline bool visit_plain(struct infer *in, uint32_t txn, bool any_sparse)
{
    const struct rig_versions *versions = in->versions;
    struct rig_links *links = in->links;
    const struct rig_mop *op = in->history->ops + in->history->txns[txn].first_op;
    uint32_t count = in->history->txns[txn + 1].first_op - in->history->txns[txn].first_op;
    uint32_t heads[MOST_PLAIN_OPS], own = in->own_count, chained = links->chained_count, latest = 0;
    uint32_t nobody = links->txn_count;
    uint32_t odd = count > MOST_PLAIN_OPS;
    count = odd ? 0 : count;
    for (uint32_t i = 0; i < count; i++) {
        struct stand stand = stand_of(versions, &op[i], txn, any_sparse);
        const uint32_t *places = versions->places + stand.key->place_first;
        uint32_t before = (places - 1)[stand.from], after = places[stand.at];
        uint32_t writer = before & RIG_PLACE_WRITER, next = after & RIG_PLACE_WRITER;
        uint32_t no_version = before >> 31, superseded = before >> 30 & 1u, own_write = writer == txn;
        uint32_t read = stand.append ^ 1u, has_before = (no_version | own_write) ^ 1u;
        uint32_t has_after = read & (((after >> 31) | (next == txn)) ^ 1u);
        odd |= stand.odd | (superseded & (no_version | read)) | (after >= RIG_PLACE_ODD);
        odd |= read & (no_version ^ 1u) & own_write;
        links->own[own] = rig_edge_of(writer, (enum rig_link)(RIG_LINK_WW + read));
        own += has_before;
        latest = rig_pick(has_before & (latest < writer), writer, latest);
        uint32_t head = rig_pick(has_after, next, nobody);
        links->chained[chained] = (struct rig_chained){rig_edge_of(txn, RIG_LINK_RW), links->head[head]};
        links->head[head] = chained;
        chained += has_after;
        uint32_t *reach = &links->reach[rig_pick(has_after & (next < txn), next, nobody)];
        *reach = rig_pick(*reach < txn, txn, *reach);
        heads[i] = head;
    }
    if (odd) {
        while (count-- > 0) {
            chained -= heads[count] != nobody;
            links->head[heads[count]] = links->chained[chained].next;
        }
        return false;
    }
    in->own_count = own;
    links->chained_count = chained;
    if (txn < latest)
        rig_links_reach(links, txn, latest);
    return true;
}

/* ---- all of them ---- */

static inline bool visit_all(struct infer *in, bool any_sparse, bool plainly)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        in->links->own_first[txn] = in->own_count;
        if (in->versions->committed[txn] && !(plainly && visit_plain(in, txn, any_sparse)) && !visit_any(in, txn))
            return false;
    }
    in->links->own_first[in->history->txn_count] = in->own_count;
    return true;
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
    bool any_sparse = in->versions->slot_values != NULL;
    bool linked = rig_links_init(in->links, arena, history->txn_count, history->op_count + 1,
                                 history->op_count - in->versions->append_count + 1) &&
                  (any_sparse ? visit_all(in, true, plainly) : visit_all(in, false, plainly));
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
