#include "checker/infer/survey.h"

#include "checker/infer/pick.h"

/* What the operations of one transaction have among them; bits. */
enum { WHOLE = 1, UNKNOWN = 2, FOREIGN = 4 };

/* Appends and reads come as they like, so that a branch on the kind would be mispredicted every other time. */
static inline uint32_t survey_op(struct rig_key_survey *k, const struct rig_mop *op, uint32_t txn, uint32_t counts)
{
    uint32_t kind = op->kind, state = op->read_state, list = op->list;
    int64_t value = op->value;
    uint32_t append = kind == RIG_OP_APPEND, seen = state == RIG_READ_SEEN;
    uint32_t whole = seen & list >> 31;
    uint32_t length = (op->count + 1) & (0u - (seen & (whole ^ 1u) & counts));
    int64_t low = rig_pick_value(append, value, INT64_MAX), high = rig_pick_value(append, value, INT64_MIN);
    k->lowest = rig_pick_value(low < k->lowest, low, k->lowest);
    k->highest = rig_pick_value(high > k->highest, high, k->highest);
    k->appends += append;
    k->counted += append & counts;
    uint32_t longer = length > k->longest;
    k->longest_txn = rig_pick(longer, txn, k->longest_txn);
    k->longest = rig_pick(longer, length, k->longest);
    uint32_t unknown = (append ^ 1u) & (state == RIG_READ_UNKNOWN);
    return whole * WHOLE | unknown * UNKNOWN | (kind > RIG_OP_READ_LIST) * (uint32_t)FOREIGN;
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

static enum rig_rc foreign_operation(const struct rig_history *history, uint32_t txn, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither an append nor a read of a list; "
                    "check it as another workload",
                    rig_txn_name(history, txn));
}

enum rig_rc rig_survey_take(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey,
                            struct rig_err *err)
{
    struct rig_survey result = {0};
    struct rig_key_survey *keys = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *keys);
    uint8_t *committed = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *committed);
    if (keys == NULL || committed == NULL)
        return rig_fail(err, RIG_E_LIMIT,
                        "not enough memory for the version orders; raise --max-memory or check a shorter history");
    for (uint32_t key = 0; key < history->key_count; key++)
        keys[key] = (struct rig_key_survey){.lowest = INT64_MAX, .highest = INT64_MIN};
    const struct rig_mop *op = history->ops;
    uint32_t any = 0, any_whole = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const struct rig_mop *end = history->ops + t[1].first_op;
        uint32_t counts = (t->outcome == RIG_OUTCOME_OK) | (t->judged == RIG_JUDGED_COMMITTED);
        uint32_t has = 0;
        committed[txn] = (uint8_t)counts;
        result.committed_count += counts;
        result.open_count += rig_survey_is_open(t);
        for (; op < end; op++)
            has |= survey_op(&keys[op->key], op, txn, counts);
        any_whole |= has & (counts | rig_survey_is_open(t));
        any |= has;
        if (has & FOREIGN)
            return foreign_operation(history, txn, err);
    }
    result.any_whole = any_whole & WHOLE;
    result.unknown_reads = any & UNKNOWN ? count_unknown_reads(history) : 0;
    result.keys = keys;
    result.committed = committed;
    *survey = result;
    return RIG_OK;
}

void rig_survey_commit(const struct rig_history *history, uint32_t txn, struct rig_survey *survey)
{
    const struct rig_mop *ops = rig_txn_ops(history, txn);
    survey->committed[txn] = 1;
    survey->committed_count++;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        struct rig_key_survey *k = &survey->keys[ops[i].key];
        k->counted += ops[i].kind == RIG_OP_APPEND;
        if (ops[i].read_state != RIG_READ_SEEN || rig_mop_is_whole(&ops[i]))
            continue;
        uint32_t length = ops[i].count + 1;
        if (length > k->longest || (length == k->longest && txn < k->longest_txn)) {
            k->longest = length;
            k->longest_txn = txn;
        }
    }
}
