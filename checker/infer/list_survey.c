#include "checker/infer/list_survey.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/pick.h"
#include "history/model/value_texts.h"

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

enum { DENSE_FACTOR = 4, DENSE_SLACK = 64, MOST_APPENDS = 1 << 30 /* to one key */ };

/* ---- the table ---- */

static bool is_dense(const struct rig_key_use *k)
{
    uint64_t span = (uint64_t)k->highest - (uint64_t)k->lowest;
    return span < (uint64_t)k->appends * DENSE_FACTOR + DENSE_SLACK;
}

/* The table size, in bits, with at most two of three slots used. */
static uint8_t hash_bits(uint32_t appends)
{
    uint8_t bits = 1;
    while (bits < 31 && (UINT64_C(1) << bits) * 2 < (uint64_t)appends * 3)
        bits++;
    return bits;
}

/* Allots slots to the dense keys, or to the sparse ones; *slot_count grows. */
static bool lay_out_keys(const struct rig_survey *survey, struct rig_versions *versions, bool sparse,
                         uint64_t *slot_count)
{
    for (uint32_t key = 0; key < versions->history->key_count; key++) {
        const struct rig_key_use *seen = &survey->keys[key];
        struct rig_key_versions *k = &versions->keys[key];
        if (seen->appends == 0 || is_dense(seen) == sparse)
            continue;
        versions->key_places[key].slot_first = (uint32_t)*slot_count;
        if (sparse) {
            uint8_t bits = hash_bits(seen->appends);
            k->slot_count = UINT32_C(1) << bits;
            versions->key_places[key].shift = (uint8_t)(64 - bits);
        } else {
            k->slot_count = (uint32_t)((uint64_t)seen->highest - (uint64_t)seen->lowest + 1);
        }
        *slot_count += k->slot_count;
        if (*slot_count >= UINT32_MAX || seen->appends > MOST_APPENDS)
            return false;
    }
    return true;
}

static enum rig_rc lay_out(const struct rig_survey *survey, struct rig_arena *arena, struct rig_versions *versions,
                           struct rig_err *err)
{
    uint64_t slot_count = 1; /* slot 0 belongs to no value */
    for (uint32_t key = 0; key < versions->history->key_count; key++) {
        versions->keys[key] = (struct rig_key_versions){.order_txn = RIG_TXN_NONE};
        versions->key_places[key] =
            (struct rig_key_places){.lowest = survey->keys[key].lowest, .visitor = RIG_TXN_NONE};
    }
    bool fits = lay_out_keys(survey, versions, false, &slot_count);
    versions->sparse_first = (uint32_t)slot_count;
    if (!fits || !lay_out_keys(survey, versions, true, &slot_count))
        return rig_fail(err, RIG_E_LIMIT, "more than 2^32 appended values; check a shorter history");
    uint32_t sparse_count = (uint32_t)slot_count - versions->sparse_first;
    RIG_INVARIANT(versions->sparse_first <= slot_count);
    versions->slot_count = (uint32_t)slot_count;
    versions->slots = rig_arena_room(arena, (size_t)slot_count, sizeof *versions->slots);
    if (sparse_count > 0)
        versions->slot_values = rig_arena_room(arena, sparse_count, sizeof *versions->slot_values);
    if (versions->slots == NULL || (sparse_count > 0 && versions->slot_values == NULL))
        return no_memory(err);
    for (uint64_t i = 0; i < slot_count; i++)
        versions->slots[i] = (struct rig_append){.writer = RIG_TXN_NONE, .position = RIG_VERSION_NONE};
    return RIG_OK;
}

/* ---- writers ---- */

static uint32_t slot_of(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    const struct rig_key_places *places = &versions->key_places[key];
    if (places->shift == 0)
        return places->slot_first + (uint32_t)((uint64_t)value - (uint64_t)places->lowest);
    uint32_t slot = rig_versions_probe(versions, key, value);
    versions->slot_values[slot - versions->sparse_first] = value;
    return slot;
}

/*
 * The key holds the slot of the transaction's latest append to it, which a further append supersedes. True when the
 * slot had a writer before.
 */
static inline bool take_append(const struct rig_versions *versions, const struct rig_txn_op *op, uint32_t txn,
                               bool any_sparse)
{
    struct rig_append *slots = versions->slots;
    struct rig_key_places *places = &versions->key_places[op->key];
    uint32_t slot = places->slot_first + (uint32_t)((uint64_t)op->value - (uint64_t)places->lowest);
    if (any_sparse && places->shift != 0)
        slot = slot_of(versions, op->key, op->value);
    if (places->visitor == txn)
        slots[places->start].superseded = 1;
    bool taken = slots[slot].writer != RIG_TXN_NONE;
    slots[slot].writer = txn;
    places->start = slot;
    places->visitor = txn;
    return taken;
}

static inline __attribute__((always_inline)) bool take_all(const struct rig_versions *versions,
                                                           const struct rig_survey *survey, bool any_sparse)
{
    const struct rig_txn_op *ops = versions->history->ops;
    bool twice = false;
    for (uint32_t i = 0; i < survey->append_count; i++) {
        const struct rig_owned_op append = survey->appends[i];
        twice |= take_append(versions, &ops[append.op], append.txn, any_sparse);
        survey->counted[ops[append.op].key] += survey->committed[append.txn];
    }
    return twice;
}

/* Fails with the name of the first value that is appended twice. Slow. */
static enum rig_rc appended_twice(const struct rig_versions *versions, struct rig_err *err)
{
    const struct rig_history *history = versions->history;
    for (uint32_t i = 0; i < versions->slot_count; i++)
        versions->slots[i].writer = RIG_TXN_NONE;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const struct rig_txn_op *op = &ops[i];
            if (op->kind != RIG_OP_APPEND)
                continue;
            uint32_t slot = slot_of(versions, op->key, op->value);
            uint32_t first = versions->slots[slot].writer;
            versions->slots[slot].writer = txn;
            if (first == RIG_TXN_NONE)
                continue;
            char key[64];
            rig_history_key_name(history, op->key, key, sizeof key);
            return rig_fail(err, RIG_E_INPUT,
                            "transactions %u and %u both append %s to key %s; list-append needs values that are "
                            "unique per key",
                            rig_txn_name(history, first), rig_txn_name(history, txn), RIG_VALUE_SHOWN(op->value), key);
        }
    }
    RIG_INVARIANT(false && "no value is appended twice");
    return RIG_E_BUG;
}

static uint32_t count_writers(const struct rig_versions *versions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < versions->slot_count; i++)
        count += versions->slots[i].writer != RIG_TXN_NONE;
    return count;
}

enum rig_rc rig_appends_list(const struct rig_survey *survey, struct rig_arena *arena, struct rig_versions *versions,
                             struct rig_err *err)
{
    size_t key_count = (size_t)versions->history->key_count + 1;
    versions->keys = rig_arena_room(arena, key_count, sizeof *versions->keys);
    versions->key_places = rig_arena_room(arena, key_count, sizeof *versions->key_places);
    if (versions->keys == NULL || versions->key_places == NULL)
        return no_memory(err);
    enum rig_rc rc = lay_out(survey, arena, versions, err);
    if (rc != RIG_OK)
        return rc;
    bool twice = versions->slot_values != NULL ? take_all(versions, survey, true) : take_all(versions, survey, false);
    RIG_COSTLY(twice || count_writers(versions) == survey->append_count);
    return twice ? appended_twice(versions, err) : RIG_OK;
}
