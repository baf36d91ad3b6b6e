#include "checker/infer/survey.h"

#include "checker/infer/op_owner.h"
#include "checker/infer/pick.h"

/* What an operation is, beside what its key learns of it; bits. */
enum { WHOLE = 1, UNKNOWN = 2, FOREIGN = 4 };

/* Appends and reads come as they like, so that a branch on the kind would be mispredicted every other time. */
static inline uint32_t survey_op(struct rig_key_survey *k, const struct rig_mop *op, uint32_t txn, uint32_t counts)
{
    uint32_t kind = op->kind, state = op->read_state, list = op->list;
    int64_t value = op->value, lowest = k->lowest, highest = k->highest;
    uint32_t append = kind == RIG_OP_APPEND, seen = state == RIG_READ_SEEN;
    uint32_t whole = seen & list >> 31, longest = k->longest, longest_txn = k->longest_txn;
    uint32_t length = (op->count + 1) & rig_mask(seen & (whole ^ 1u) & counts);
    int64_t low = rig_pick_value(append, value, lowest), high = rig_pick_value(append, value, highest);
    k->lowest = low < lowest ? low : lowest;
    k->highest = high > highest ? high : highest;
    k->appends += append;
    k->counted += append & counts;
    k->longest_txn = length > longest ? txn : longest_txn;
    k->longest = length > longest ? length : longest;
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

static enum rig_rc foreign_operation(const struct rig_history *history, struct rig_err *err)
{
    uint32_t op = 0;
    while (history->ops[op].kind <= RIG_OP_READ_LIST)
        op++;
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither an append nor a read of a list; "
                    "check it as another workload",
                    rig_txn_name(history, rig_op_owner_search(history, op, 0)));
}

/* What is to be known of transactions before their operations are looked at. COUNTS: it has committed; OPEN: it may. */
enum { COUNTS = 1, OPEN = 2 };

static void survey_txns(const struct rig_history *history, struct rig_survey *survey)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        uint32_t counts = (t->outcome == RIG_OUTCOME_OK) | (t->judged == RIG_JUDGED_COMMITTED);
        uint32_t open = rig_survey_is_open(t);
        survey->committed[txn] = (uint8_t)(counts * COUNTS | open * OPEN);
        survey->committed_count += counts;
        survey->open_count += open;
        survey->counted_ops += (t[1].first_op - t->first_op) & rig_mask(counts | open);
        rig_op_owner_note(survey->begins, t);
    }
}

/* What the operations are among them. */
static uint32_t survey_ops(const struct rig_history *history, const struct rig_survey *survey)
{
    uint32_t txn = UINT32_MAX, any = 0;
    for (uint32_t op = 0; op < history->op_count; op++) {
        const struct rig_mop *mop = &history->ops[op];
        txn = rig_op_owner_next(history, survey->begins, op, txn);
        uint32_t standing = survey->committed[txn];
        uint32_t has = survey_op(&survey->keys[mop->key], mop, txn, standing & COUNTS);
        any |= standing == 0 ? has & ~(uint32_t)WHOLE : has;
    }
    return any;
}

static bool make_room(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey)
{
    survey->keys = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *survey->keys);
    survey->committed = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *survey->committed);
    survey->begins = rig_arena_array(arena, (size_t)history->op_count + 1, sizeof *survey->begins);
    if (survey->keys == NULL || survey->committed == NULL || survey->begins == NULL)
        return false;
    for (uint32_t key = 0; key < history->key_count; key++)
        survey->keys[key] = (struct rig_key_survey){.lowest = INT64_MAX, .highest = INT64_MIN};
    return true;
}

enum rig_rc rig_survey_take(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey,
                            struct rig_err *err)
{
    struct rig_survey result = {0};
    if (!make_room(history, arena, &result))
        return rig_fail(err, RIG_E_LIMIT,
                        "not enough memory for the version orders; raise --max-memory or check a shorter history");
    survey_txns(history, &result);
    uint32_t any = survey_ops(history, &result);
    if (any & FOREIGN)
        return foreign_operation(history, err);
    for (uint32_t txn = 0; result.open_count > 0 && txn < history->txn_count; txn++)
        result.committed[txn] &= COUNTS;
    result.any_whole = (any & WHOLE) != 0;
    result.unknown_reads = any & UNKNOWN ? count_unknown_reads(history) : 0;
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
