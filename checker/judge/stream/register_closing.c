/* The closing set of registers (closing.h): transactions of unknown fate. */
#include "checker/judge/stream/closing_private.h"

/* Marks the versions that `txn` read. Keys stay alive whose transactions would count as committed with it. */
static void mark_reads(struct rig_closing_search *s, uint32_t txn, bool *marked)
{
    const struct rig_registers *registers = s->registers;
    const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(s->history, txn); i++) {
        uint32_t version = registers->version_of[s->history->txns[txn].first_op + i];
        if (version == RIG_REGISTER_NONE || ops[i].kind != RIG_OP_READ_REGISTER || s->out->alive[ops[i].key])
            continue;
        uint32_t writer = registers->versions[version].writer;
        if (writer == txn)
            continue;
        /* With this read, the key may turn out to have begun with another value. */
        const bool unwritten = writer == RIG_REGISTER_NONE && registers->initial != NULL;
        if (unwritten || (writer != RIG_REGISTER_NONE && !s->committed[writer] &&
                          s->history->txns[writer].outcome == RIG_OUTCOME_INFO)) {
            s->out->alive[ops[i].key] = 1;
            s->again = true;
            s->first = 0;
        }
        s->read_by_unknown[version] = 1;
        *marked = true;
    }
}

static bool updates_marked(const struct rig_closing_search *s, uint32_t txn)
{
    uint32_t first_op = s->history->txns[txn].first_op;
    bool marked = false;
    for (uint32_t i = 0; !marked && i < rig_txn_op_count(s->history, txn); i++) {
        uint32_t version = s->registers->version_of[first_op + i];
        marked =
            version != RIG_REGISTER_NONE && s->read_by_unknown[version] && rig_register_is_update(s->history, txn, i);
    }
    return marked;
}

/*
 * A transaction of unknown fate orders no versions. If it turns out to count, its read precedes the later versions, so
 * their writers wait. Transactions that updated the version that it read wait as well, because both would be a lost
 * update; so does the writer of that version, if its own fate depends on this transaction.
 */
void rig_register_wait_for_unknown(struct rig_closing_search *s)
{
    const struct rig_registers *registers = s->registers;
    bool marked = false;
    for (uint32_t txn = s->first; txn < s->history->txn_count; txn++) {
        if (!rig_closing_is_unknown(s, txn))
            continue;
        if (s->read_by_unknown == NULL)
            s->read_by_unknown = rig_arena_array(s->arena, (size_t)registers->version_count + 1, 1);
        if (s->read_by_unknown == NULL) {
            s->no_memory = true;
            return;
        }
        mark_reads(s, txn, &marked);
    }
    for (uint32_t i = 0; marked && i < registers->edge_count; i++) {
        uint32_t writer = registers->versions[registers->edges[i].to].writer;
        if (s->read_by_unknown[registers->edges[i].from] && writer != RIG_REGISTER_NONE && s->committed[writer])
            rig_closing_wait_again(s, writer);
    }
    for (uint32_t txn = 0; marked && txn < s->history->txn_count; txn++) {
        if (s->committed[txn] && updates_marked(s, txn))
            rig_closing_wait_again(s, txn);
    }
}
