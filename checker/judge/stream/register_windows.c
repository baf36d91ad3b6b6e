/* The memory of finished registers (retired.h), and the later uses that are allowed. */
#include "checker/judge/stream/closing_private.h"
#include "checker/judge/stream/retired_private.h"

/* The closing set of registers (closing.h): transactions of unknown fate. */

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

/* Remembers all values that any transaction wrote or read, and an anomaly: a later read may show that a write was not
 * lost. */
static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    const struct rig_registers *registers = &r->inference->registers;
    uint32_t begin, end;
    rig_registers_versions_of(registers, key, &begin, &end);
    /* A read of the initial state of a key that was never written comes before all later writes of it. */
    if (begin == end)
        return true;
    const struct rig_retired_values values = {.lowest = registers->versions[begin].value,
                                              .highest = registers->versions[end - 1].value,
                                              .count = end - begin};
    struct retired_key *kept = rig_retired_put(r->retired, r->inference->history, key);
    if (kept == NULL || !rig_retired_widen(r->retired, kept, &values))
        return false;
    kept->anomalous |= r->anomalous != NULL && r->anomalous[key];
    for (uint32_t i = begin; kept->bits != NULL && i < end; i++)
        rig_retired_set_bit(kept, registers->versions[i].value);
    return !dropped || rig_retired_rest(r->retired, kept);
}

/* Reads of aborted transactions cause no conflict. */
static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    bool old = op->read_state == RIG_READ_NIL || (op->read_state == RIG_READ_SEEN && rig_retired_holds(key, op->value));
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (outcome != RIG_OUTCOME_FAIL && key->anomalous && op->read_state != RIG_READ_UNKNOWN)
        a->conflict = "a register with an anomaly is read again after a long time";
    else if (outcome != RIG_OUTCOME_FAIL && old)
        a->conflict = "a register is read after a long time, with its old value";
}

static bool admit(struct rig_admission *a)
{
    rig_admission_walk(a, admit_op);
    return true;
}

/* Never settled: a read of a remembered value is a conflict. */
const struct rig_type_retired rig_register_retired = {.remember = remember, .admit = admit};
