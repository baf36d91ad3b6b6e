#include "checker/infer/list_inference.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/list_anomalies.h"
#include "checker/infer/unread.h"

struct infer {
    const struct rig_history *history;
    const struct rig_versions *versions;
    struct rig_oddities *oddities;
    struct rig_links *links;
    struct rig_unread unread;
};

/* ww into the writer of an append, from the version before it. */
static bool link_append(struct infer *in, uint32_t txn, const struct rig_mop *op)
{
    const struct rig_append *slot = rig_versions_find(in->versions, op->key, op->value);
    RIG_INVARIANT(slot != NULL);
    if (slot->position == RIG_VERSION_NONE)
        return rig_unread_add_writer(&in->unread, op->key, txn);
    if (!rig_append_is_placed(slot))
        return true;
    uint32_t before = rig_versions_before(in->versions, op->key, slot->position);
    if (before == RIG_VERSION_NONE)
        return true;
    uint32_t writer = rig_versions_writer(in->versions, op->key, before);
    return writer == txn || rig_links_add(in->links, writer, txn, RIG_LINK_WW);
}

/* wr from the writer of the last element that the transaction did not append itself. */
static bool link_writer(struct infer *in, uint32_t txn, const struct rig_mop *op, struct rig_list list)
{
    for (uint32_t i = list.count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(in->versions, op->key, list.at[i]);
        if (slot == NULL || !in->versions->committed[slot->writer])
            continue; /* garbage and aborted elements are no versions */
        if (slot->writer != txn)
            return rig_links_add(in->links, slot->writer, txn, RIG_LINK_WR);
    }
    return true;
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
    if (!link_writer(in, txn, op, list))
        return false;
    return !rig_versions_is_prefix(in->versions, op) || link_overwriter(in, txn, op, list);
}

static bool link_txn(struct infer *in, uint32_t txn)
{
    const struct rig_mop *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
        bool linked = ops[i].kind == RIG_OP_APPEND ? link_append(in, txn, &ops[i]) : link_read(in, txn, &ops[i]);
        if (!linked)
            return false;
    }
    return true;
}

static enum rig_rc link_all(struct infer *in, struct rig_arena *arena, struct rig_inference *inference,
                            struct rig_err *err)
{
    const struct rig_history *history = in->history;
    if (!rig_links_init(in->links, arena, history->txn_count, 0, history->op_count))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the dependencies; raise --max-memory");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!in->versions->committed[txn])
            continue;
        if (!link_txn(in, txn) || !rig_list_anomalies_of_txn(in->versions, txn, in->oddities))
            return rig_fail(err, RIG_E_LIMIT, "not enough memory for the dependencies; raise --max-memory");
    }
    if (!rig_list_anomalies_of_orders(in->versions, in->oddities))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the anomalies; raise --max-memory");
    if (!rig_unread_link(&in->unread, in->versions, in->links))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the dependencies; raise --max-memory");
    inference->unordered_keys = in->unread.unordered_keys;
    memcpy(inference->graph.link_count, in->links->link_count, sizeof in->links->link_count);
    return RIG_OK;
}

static uint64_t count_unknown_reads(const struct rig_history *history)
{
    uint64_t count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
            count += ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state == RIG_READ_UNKNOWN;
    }
    return count;
}

enum rig_rc rig_infer_list_append(const struct rig_history *history, uint32_t most_kept, struct rig_arena *arena,
                                  struct rig_inference *inference, struct rig_err *err)
{
    *inference = (struct rig_inference){.history = history, .oddities = {.most_kept = most_kept}};
    enum rig_rc rc = rig_versions_build(history, arena, &inference->versions, err);
    if (rc != RIG_OK)
        return rc;
    inference->committed_count = inference->versions.committed_count;
    struct infer in = {.history = history,
                       .versions = &inference->versions,
                       .oddities = &inference->oddities,
                       .links = &inference->links};
    rc = link_all(&in, arena, inference, err);
    rig_unread_done(&in.unread);
    inference->unknown_reads = count_unknown_reads(history);
    return rc;
}
