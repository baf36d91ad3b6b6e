/* The closing set of lists (closing.h): transactions of unknown fate. */
#include "checker/judge/stream/closing_private.h"

/* Makes the writers of unread appends to the key wait. */
static void wait_unread(struct rig_closing_search *s, uint32_t key)
{
    const struct rig_versions *versions = s->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        if (slots[i].writer != RIG_TXN_NONE && slots[i].position == RIG_VERSION_NONE && s->committed[slots[i].writer])
            rig_closing_wait_again(s, slots[i].writer);
    }
}

static void wait_behind_read(struct rig_closing_search *s, const struct rig_txn_op *read)
{
    if (!rig_versions_is_prefix(s->versions, read)) {
        s->out->alive[read->key] = 1;
        s->again = true;
        s->first = 0;
        return;
    }
    uint32_t next = rig_versions_from(s->versions, read->key, read->read_state == RIG_READ_SEEN ? read->count : 0);
    if (next == RIG_VERSION_NONE)
        wait_unread(s, read->key);
    else
        rig_closing_wait_again(s, rig_versions_writer(s->versions, read->key, next));
}

/*
 * A transaction of unknown fate counts as soon as a read shows one of its writes, which may happen later. Then its read
 * precedes the next write, so that writer waits, too; or its read changes the order of the key, so the key stays alive.
 * (Its appends come after all others in either case, and so precede nothing.)
 */
void rig_list_wait_for_unknown(struct rig_closing_search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = s->first; txn < history->txn_count; txn++) {
        if (!rig_closing_is_unknown(s, txn))
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            bool known = ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state != RIG_READ_UNKNOWN;
            if (known && !s->out->alive[ops[i].key])
                wait_behind_read(s, &ops[i]);
        }
    }
}
