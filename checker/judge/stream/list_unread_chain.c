#include "checker/judge/stream/list_unread_chain.h"

struct writers {
    uint32_t txns[RIG_UNREAD_MOST]; /* by completion: transactions are numbered so */
    uint32_t count;
};

/* Adds the writer at its place in completion order, once. False when there are too many. */
static bool add_writer(struct writers *writers, uint32_t txn)
{
    uint32_t place = writers->count;
    while (place > 0 && writers->txns[place - 1] > txn)
        place--;
    if (place > 0 && writers->txns[place - 1] == txn)
        return true;
    if (writers->count == RIG_UNREAD_MOST)
        return false;
    for (uint32_t i = writers->count; i > place; i--)
        writers->txns[i] = writers->txns[i - 1];
    writers->txns[place] = txn;
    writers->count++;
    return true;
}

static bool find_writers(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                         struct writers *writers)
{
    const struct rig_versions *versions = &inference->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    writers->count = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        uint32_t txn = slots[i].writer;
        if (txn == RIG_TXN_NONE || slots[i].position != RIG_VERSION_NONE || (judged != NULL && !judged[txn]) ||
            inference->history->txns[txn].outcome == RIG_OUTCOME_FAIL)
            continue;
        if (inference->history->txns[txn].outcome != RIG_OUTCOME_OK || !add_writer(writers, txn))
            return false;
    }
    return true;
}

/* The values of the writer's unread appends to the key. */
static bool add_values(const struct rig_inference *inference, uint32_t key, uint32_t txn,
                       struct rig_unread_chain *chain)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    for (; op < end; op++) {
        if (op->kind != RIG_OP_APPEND || op->key != key ||
            rig_versions_append(&inference->versions, key, op->value)->position != RIG_VERSION_NONE)
            continue;
        if (chain->count == RIG_UNREAD_MOST)
            return false;
        chain->values[chain->count++] = op->value;
    }
    return true;
}

bool rig_unread_chain_find(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                           struct rig_unread_chain *chain)
{
    const struct rig_history *history = inference->history;
    struct writers writers;
    chain->count = 0;
    if (!history->has_invocations || !find_writers(inference, key, judged, &writers))
        return false;
    for (uint32_t i = 0; i < writers.count; i++) {
        uint32_t txn = writers.txns[i];
        if (i > 0 && history->txns[writers.txns[i - 1]].complete_at >= history->txns[txn].invoke_at)
            return false;
        if (!add_values(inference, key, txn, chain))
            return false;
    }
    return true;
}
