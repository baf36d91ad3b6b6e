#include "checker/infer/list_survey.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/pick.h"

static enum rig_rc foreign_operation(const struct rig_history *history, struct rig_err *err)
{
    uint32_t op = 0;
    while (history->ops[op].kind <= RIG_OP_READ_LIST)
        op++;
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither an append nor a read of a list; "
                    "check it as another workload",
                    rig_txn_name(history, rig_history_txn_of(history, op)));
}

static void survey_txns(const struct rig_history *history, struct rig_survey *survey)
{
    uint32_t committed_count = 0, ok_count = 0, fail_count = 0, open_count = 0, counted_ops = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        uint32_t ok = t->outcome == RIG_OUTCOME_OK, counts = rig_txn_is_committed(t);
        uint32_t open = rig_txn_is_undecided(t);
        survey->committed[txn] = (uint8_t)counts;
        ok_count += ok;
        fail_count += t->outcome == RIG_OUTCOME_FAIL;
        committed_count += counts;
        open_count += open;
        counted_ops += (t[1].first_op - t->first_op) & rig_mask(counts | open);
    }
    RIG_INVARIANT(ok_count <= committed_count && committed_count + fail_count + open_count <= history->txn_count);
    RIG_INVARIANT(counted_ops <= history->op_count);
    survey->ok_count = ok_count;
    survey->fail_count = fail_count;
    survey->committed_count = committed_count;
    survey->open_count = open_count;
    survey->counted_ops = counted_ops;
}

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the version orders");
}

/* ---- full scan ---- */

struct look {
    struct rig_key_use *keys;
    struct rig_owned_op *appends;
    uint32_t append_count;
    uint32_t kinds; /* of all operations, or-ed; above RIG_OP_READ_LIST: foreign ones */
    uint32_t lists; /* or-ed list ids of reads by transactions that have or may have committed */
};

static void look_at(struct look *look, const struct rig_txn_op *mop, struct rig_owned_op place, bool counts, bool may)
{
    struct rig_key_use *k = &look->keys[mop->key];
    look->kinds |= mop->kind;
    k->first_op = place.op < k->first_op ? place.op : k->first_op;
    if (mop->kind == RIG_OP_APPEND) {
        look->appends[look->append_count++] = place;
        k->lowest = mop->value < k->lowest ? mop->value : k->lowest;
        k->highest = mop->value > k->highest ? mop->value : k->highest;
        k->appends++;
    } else if (mop->read_state == RIG_READ_SEEN) {
        look->lists |= may ? mop->list : 0;
        if (counts && !rig_txn_op_is_branch(mop) && mop->count + 1 > k->longest) {
            k->longest = mop->count + 1;
            k->longest_txn = place.txn;
        }
    }
}

static enum rig_rc look_at_all(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey,
                               struct rig_err *err)
{
    struct look look = {.keys = survey->keys,
                        .appends = rig_arena_room(arena, (size_t)history->op_count + 1, sizeof *look.appends)};
    if (look.appends == NULL)
        return no_memory(err);
    for (uint32_t key = 0; key < history->key_count; key++)
        survey->keys[key] = rig_key_use_none();
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        bool counts = survey->committed[txn] != 0, may = counts || rig_txn_is_undecided(t);
        for (uint32_t op = t->first_op; op < t[1].first_op; op++)
            look_at(&look, &history->ops[op], (struct rig_owned_op){op, txn}, counts, may);
    }
    if (look.kinds > RIG_OP_READ_LIST)
        return foreign_operation(history, err);
    survey->appends = survey->own_appends = look.appends;
    survey->append_count = look.append_count;
    survey->any_branch = (look.lists & RIG_LIST_BRANCH) != 0;
    return RIG_OK;
}

/* ---- from the summary of a window ---- */

static enum rig_rc take_summary(const struct rig_history *history, struct rig_survey *survey, struct rig_err *err)
{
    const struct rig_op_summary *summary = history->summary;
    if (summary->any_foreign)
        return foreign_operation(history, err);
    if (history->key_count > 0)
        memcpy(survey->keys, summary->keys, history->key_count * sizeof *survey->keys);
    survey->appends = summary->appends;
    survey->append_count = summary->append_count;
    survey->any_branch = summary->any_branch;
    return RIG_OK;
}

enum rig_rc rig_survey_take(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey,
                            struct rig_err *err)
{
    struct rig_survey result = {.keys = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *result.keys),
                                .counted = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof(uint32_t)),
                                .committed = rig_arena_room(arena, (size_t)history->txn_count + 1, 1)};
    if (result.keys == NULL || result.counted == NULL || result.committed == NULL)
        return no_memory(err);
    survey_txns(history, &result);
    enum rig_rc rc =
        history->summary != NULL ? take_summary(history, &result, err) : look_at_all(history, arena, &result, err);
    RIG_INVARIANT(rc != RIG_OK || result.append_count <= history->op_count);
    if (rc == RIG_OK)
        *survey = result;
    return rc;
}

void rig_survey_end(struct rig_survey *survey)
{
    if (survey->own_appends != NULL)
        rig_arena_abandon(survey->own_appends, survey->append_count * sizeof *survey->own_appends);
    survey->appends = survey->own_appends = NULL;
}

void rig_survey_commit(const struct rig_history *history, uint32_t txn, struct rig_survey *survey)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    RIG_REQUIRE(!survey->committed[txn] && history->txns[txn].outcome == RIG_OUTCOME_INFO);
    survey->committed[txn] = 1;
    survey->committed_count++;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        struct rig_key_use *k = &survey->keys[ops[i].key];
        survey->counted[ops[i].key] += ops[i].kind == RIG_OP_APPEND;
        if (ops[i].read_state != RIG_READ_SEEN || rig_txn_op_is_branch(&ops[i]))
            continue;
        uint32_t length = ops[i].count + 1;
        if (length > k->longest || (length == k->longest && txn < k->longest_txn)) {
            k->longest = length;
            k->longest_txn = txn;
        }
    }
}
