#include "tests/oracle/prove_witness.h"

#include <string.h>

#include "tests/oracle/oracle.h"

/* The small transaction of the checker's id; positions identify transactions. */
static int small_id(const struct small_history *small, const struct rig_history *history, uint32_t txn)
{
    int name = (int)rig_txn_name(history, txn);
    for (int t = 0; t < small->txn_count; t++) {
        const struct small_txn *candidate = &small->txns[t];
        if (candidate->complete_at == name || (candidate->complete_at == SMALL_NEVER && candidate->invoke_at == name))
            return t;
    }
    return -1;
}

/* The small key of the checker's id. */
static int small_key(const struct rig_history *history, uint32_t key)
{
    return key < history->key_count ? (int)history->keys[key] : -1;
}

static bool wrote(const struct small_history *small, int txn, int key, int64_t value)
{
    int op;
    return small_writer(small, key, (int)value, &op) == txn;
}

static int position_in(const struct small_op *read, int64_t value)
{
    for (int e = 0; e < read->count; e++) {
        if (read->list[e] == value)
            return e;
    }
    return -1;
}

static bool is_known_read(const struct small_txn *txn, int i, int key)
{
    return !txn->ops[i].append && txn->ops[i].known && txn->ops[i].key == key;
}

static uint64_t committed_mask(const struct small_history *small)
{
    return oracle_outcome_mask(small, SMALL_OK) | oracle_observed_infos(small);
}

/* Whether a read of one of the `readers` shows `value` of the key. */
static bool is_shown(const struct small_history *small, uint64_t readers, int key, int64_t value)
{
    for (int t = 0; t < small->txn_count; t++) {
        for (int i = 0; i < small->txns[t].op_count && (readers >> t & 1) != 0; i++) {
            if (is_known_read(&small->txns[t], i, key) && position_in(&small->txns[t].ops[i], value) >= 0)
                return true;
        }
    }
    return false;
}

/*
 * Whether every version order that the readers' reads allow has `first` before `second`: a read shows both in this
 * order, or a read shows the first (-1: nothing) and none shows the second.
 */
static bool is_ordered(const struct small_history *small, uint64_t readers, int key, int64_t first, int64_t second)
{
    for (int t = 0; t < small->txn_count; t++) {
        for (int i = 0; i < small->txns[t].op_count && (readers >> t & 1) != 0; i++) {
            if (!is_known_read(&small->txns[t], i, key))
                continue;
            int a = position_in(&small->txns[t].ops[i], first);
            int b = position_in(&small->txns[t].ops[i], second);
            if (a >= 0 && a < b)
                return true;
        }
    }
    return is_shown(small, readers, key, first) && !is_shown(small, readers, key, second);
}

static const char *judge_wr(const struct small_history *small, const struct rig_step *step, int from, int to, int key)
{
    if (!wrote(small, from, key, step->from_value))
        return "wr: not the writer of the value";
    const struct small_txn *reader = &small->txns[to];
    if (step->to_op >= (uint32_t)reader->op_count || !is_known_read(reader, (int)step->to_op, key))
        return "wr: not a read";
    return position_in(&reader->ops[step->to_op], step->from_value) >= 0 ? NULL
                                                                         : "wr: the read does not show the value";
}

static const char *judge_ww(const struct small_history *small, const struct rig_step *step, int from, int to, int key)
{
    if (!wrote(small, from, key, step->from_value) || !wrote(small, to, key, step->to_value))
        return "ww: not the writers of the values";
    return is_ordered(small, committed_mask(small), key, step->from_value, step->to_value)
               ? NULL
               : "ww: the order is not certain";
}

static const char *judge_rw(const struct small_history *small, const struct rig_step *step, int from, int to, int key)
{
    const struct small_txn *reader = &small->txns[from];
    if (!wrote(small, to, key, step->to_value))
        return "rw: not the writer of the value";
    if (step->from_op >= (uint32_t)reader->op_count || !is_known_read(reader, (int)step->from_op, key))
        return "rw: not a read";
    const struct small_op *read = &reader->ops[step->from_op];
    if (position_in(read, step->to_value) >= 0)
        return "rw: the read shows the value";
    if (read->count > 0 && !is_ordered(small, committed_mask(small), key, read->list[read->count - 1], step->to_value))
        return "rw: the order is not certain";
    return NULL;
}

static const char *judge_step(const struct small_history *small, const struct rig_history *history,
                              const struct rig_step *step)
{
    int from = small_id(small, history, step->from);
    int to = small_id(small, history, step->to);
    if (from < 0 || to < 0)
        return "a transaction that is not there";
    uint64_t committed = committed_mask(small);
    if ((committed >> from & 1) == 0 || (committed >> to & 1) == 0)
        return "a transaction that did not commit, or of which it is not known";
    const struct small_txn *a = &small->txns[from];
    const struct small_txn *b = &small->txns[to];
    bool invoked = b->invoke_at != SMALL_NEVER;
    bool before = a->outcome == SMALL_OK && a->complete_at < (invoked ? b->invoke_at : b->complete_at);
    switch (step->kind) {
    case RIG_EDGE_WW:
        return judge_ww(small, step, from, to, small_key(history, step->key));
    case RIG_EDGE_WR:
        return judge_wr(small, step, from, to, small_key(history, step->key));
    case RIG_EDGE_RW:
        return judge_rw(small, step, from, to, small_key(history, step->key));
    case RIG_EDGE_PROCESS:
        return before && a->process == b->process ? NULL : "process: not the same process, or not before";
    case RIG_EDGE_REALTIME:
        return before && invoked ? NULL : "realtime: not before";
    }
    return "an edge of no kind";
}

/* Whether reads of acknowledged transactions show the order of a ww step. Registers are always ordered by such
 * reads. */
static bool is_acknowledged(const struct small_history *small, const struct rig_history *history,
                            const struct rig_step *step)
{
    const uint64_t readers = oracle_outcome_mask(small, SMALL_OK);
    return step->kind != RIG_EDGE_WW || small->registers ||
           is_ordered(small, readers, small_key(history, step->key), step->from_value, step->to_value);
}

/* The name that the kinds of the steps give the cycle. A cycle of writes alone is G0 only if all its transactions, and
 * the reads that order them, were acknowledged. */
static enum rig_anomaly name_of(const struct small_history *small, const struct rig_history *history,
                                const struct rig_witness *witness)
{
    /* A read of a key without a row is one by a predicate. */
    static const enum rig_anomaly phantoms[3][3] = {
        {RIG_ANOMALY_G_SINGLE_PREDICATE, RIG_ANOMALY_G_NONADJACENT_PREDICATE, RIG_ANOMALY_G2_PREDICATE},
        {RIG_ANOMALY_G_SINGLE_PREDICATE_PROCESS, RIG_ANOMALY_G_NONADJACENT_PREDICATE_PROCESS,
         RIG_ANOMALY_G2_PREDICATE_PROCESS},
        {RIG_ANOMALY_G_SINGLE_PREDICATE_REALTIME, RIG_ANOMALY_G_NONADJACENT_PREDICATE_REALTIME,
         RIG_ANOMALY_G2_PREDICATE_REALTIME}};
    static const enum rig_anomaly names[3][5] = {
        {RIG_ANOMALY_G0, RIG_ANOMALY_G1C, RIG_ANOMALY_G_SINGLE, RIG_ANOMALY_G_NONADJACENT, RIG_ANOMALY_G2_ITEM},
        {RIG_ANOMALY_G0_PROCESS, RIG_ANOMALY_G1C_PROCESS, RIG_ANOMALY_G_SINGLE_PROCESS,
         RIG_ANOMALY_G_NONADJACENT_PROCESS, RIG_ANOMALY_G2_ITEM_PROCESS},
        {RIG_ANOMALY_G0_REALTIME, RIG_ANOMALY_G1C_REALTIME, RIG_ANOMALY_G_SINGLE_REALTIME,
         RIG_ANOMALY_G_NONADJACENT_REALTIME, RIG_ANOMALY_G2_ITEM_REALTIME},
    };
    uint32_t count[5] = {0};
    bool adjacent = false, acknowledged = true, phantom = false;
    for (uint32_t i = 0; i < witness->step_count; i++) {
        acknowledged = acknowledged && history->txns[witness->txns[i]].outcome == RIG_OUTCOME_OK &&
                       is_acknowledged(small, history, &witness->steps[i]);
        const struct rig_step *next = &witness->steps[(i + 1) % witness->step_count];
        count[witness->steps[i].kind]++;
        phantom =
            phantom ||
            (witness->steps[i].kind == RIG_EDGE_RW &&
             small->txns[small_id(small, history, witness->steps[i].from)].ops[witness->steps[i].from_op].count == 0);
        adjacent = adjacent || (witness->steps[i].kind == RIG_EDGE_RW && next->kind == RIG_EDGE_RW);
    }
    int order = count[RIG_EDGE_REALTIME] > 0 ? 2 : count[RIG_EDGE_PROCESS] > 0 ? 1 : 0;
    int base = count[RIG_EDGE_RW] == 0   ? (count[RIG_EDGE_WR] > 0 || !acknowledged ? 1 : 0)
               : count[RIG_EDGE_RW] == 1 ? 2
                                         : 3;
    const int name = base == 3 && adjacent ? 4 : base;
    return phantom ? phantoms[order][name - 2] : names[order][name];
}

const char *prove_witness(const struct small_history *small, const struct rig_history *history,
                          const struct rig_witness *witness)
{
    if (witness->text == NULL || witness->text[0] == '\0')
        return "no text";
    if (witness->txn_count == 0)
        return "no transaction";
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (witness->txns[i] == witness->txns[j])
                return "a transaction twice";
        }
    }
    if (!rig_anomaly_info(witness->anomaly)->cyclic)
        return witness->step_count == 0 ? NULL : "steps, and no cycle";
    if (witness->step_count != witness->txn_count || witness->step_count < 2)
        return "not one step a transaction";
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        if (step->from != witness->txns[i] || step->to != witness->txns[(i + 1) % witness->txn_count])
            return "the steps do not join";
        if (step->text == NULL || step->text[0] == '\0')
            return "a step without text";
        const char *wrong = judge_step(small, history, step);
        if (wrong != NULL)
            return wrong;
    }
    return name_of(small, history, witness) == witness->anomaly ? NULL : "the cycle has another name by its steps";
}
