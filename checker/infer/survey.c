#include "checker/infer/survey.h"

#include "checker/infer/pick.h"

static enum rig_rc foreign_operation(const struct rig_history *history, struct rig_err *err)
{
    uint32_t op = 0, txn = 0;
    while (history->ops[op].kind <= RIG_OP_READ_LIST)
        op++;
    while (history->txns[txn + 1].first_op <= op)
        txn++;
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither an append nor a read of a list; "
                    "check it as another workload",
                    rig_txn_name(history, txn));
}

/* What there is among the operations, each in some of the bits. */
struct seen {
    uint32_t kinds; /* above RIG_OP_READ_LIST: foreign ones */
    uint32_t lists; /* RIG_LIST_WHOLE: such lists were read by those who have or may have committed */
};

/*
 * One operation: a read may be its key's longest, an append goes on the list of appends. Both come as they like, so
 * that a branch on the kind would be mispredicted every other time. `counts`, `may`: all bits where the transaction has
 * committed, or may have.
 */
static inline void survey_op(struct rig_survey *survey, const struct rig_mop *mop, struct rig_append_op place,
                             uint32_t counts, uint32_t may, struct seen *seen)
{
    uint32_t read = rig_mask(mop->read_state == RIG_READ_SEEN), list = mop->list & read & may;
    uint32_t length = (mop->count + 1) & read & counts & ~(uint32_t)((int32_t)list >> 31);
    struct rig_key_survey *k = &survey->keys[mop->key];
    uint32_t longest = k->longest, longest_txn = k->longest_txn;
    k->longest = length > longest ? length : longest;
    k->longest_txn = length > longest ? place.txn : longest_txn;
    survey->appends[survey->append_count] = place;
    survey->append_count += mop->kind == RIG_OP_APPEND;
    seen->kinds |= mop->kind;
    seen->lists |= list;
}

static struct seen survey_txns(const struct rig_history *history, struct rig_survey *result)
{
    struct rig_survey survey = *result; /* the compiler knows that nothing else writes to it */
    struct seen seen = {0};
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        uint32_t open = rig_survey_is_open(t);
        uint32_t ok = t->outcome == RIG_OUTCOME_OK, counts = ok | (t->judged == RIG_JUDGED_COMMITTED);
        survey.ok_count += ok;
        survey.fail_count += t->outcome == RIG_OUTCOME_FAIL;
        survey.committed[txn] = (uint8_t)counts;
        survey.committed_count += counts;
        survey.open_count += open;
        survey.counted_ops += (t[1].first_op - t->first_op) & rig_mask(counts | open);
        for (uint32_t op = t->first_op; op < t[1].first_op; op++)
            survey_op(&survey, &history->ops[op], (struct rig_append_op){op, txn}, rig_mask(counts),
                      rig_mask(counts | open), &seen);
    }
    *result = survey;
    return seen;
}

/* What the appends to each key are. */
static void survey_appends(const struct rig_history *history, struct rig_survey *survey)
{
    for (uint32_t i = 0; i < survey->append_count; i++) {
        const struct rig_append_op append = survey->appends[i];
        const struct rig_mop *mop = &history->ops[append.op];
        struct rig_key_survey *k = &survey->keys[mop->key];
        k->lowest = mop->value < k->lowest ? mop->value : k->lowest;
        k->highest = mop->value > k->highest ? mop->value : k->highest;
        k->appends++;
        k->counted += survey->committed[append.txn];
    }
}

static bool make_room(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey)
{
    survey->keys = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *survey->keys);
    survey->committed = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *survey->committed);
    survey->appends = rig_arena_room(arena, (size_t)history->op_count + 1, sizeof *survey->appends);
    if (survey->keys == NULL || survey->committed == NULL || survey->appends == NULL)
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
    const struct seen seen = survey_txns(history, &result);
    if (seen.kinds > RIG_OP_READ_LIST)
        return foreign_operation(history, err);
    survey_appends(history, &result);
    result.any_whole = (seen.lists & RIG_LIST_WHOLE) != 0;
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
