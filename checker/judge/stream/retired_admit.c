#include <string.h>

#include "checker/judge/stream/retired_private.h"

/* Finds the retired keys of the segment, and unpacks them. False when memory runs out. */
static bool find_all(struct rig_retired *retired, const struct rig_segment *segment, bool *any)
{
    *any = false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        uint64_t name =
            key->text == NULL ? (uint64_t)key->key : rig_text_table_get(&retired->texts, key->text, key->text_length);
        bool is_known = key->text == NULL || name != RIG_TABLE_NONE;
        retired->numbers.at[i] = RIG_RETIRED_NONE;
        if (is_known && !rig_retired_wake(retired, name, &retired->numbers.at[i]))
            return false;
        *any |= retired->numbers.at[i] != RIG_RETIRED_NONE;
    }
    return true;
}

static bool uses_forgotten(const struct rig_retired *retired, const struct rig_segment *segment)
{
    bool any = false;
    for (size_t i = 0; i < segment->keys.count && !any; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        any = rig_key_set_has(&retired->forgotten, key->key, key->text, key->text_length);
    }
    return any;
}

static bool copy_segment(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!rig_segment_keys_reserve(&cleaned->keys, segment->keys.count + 1) ||
        !rig_growing_branches_reserve(&cleaned->branches, segment->branches.count + 1) ||
        !rig_txn_op_vec_reserve(&cleaned->ops, segment->ops.count + 1))
        return false;
    memcpy(cleaned->keys.at, segment->keys.at, segment->keys.count * sizeof *segment->keys.at);
    if (segment->branches.count > 0)
        memcpy(cleaned->branches.at, segment->branches.at, segment->branches.count * sizeof *segment->branches.at);
    if (segment->ops.count > 0)
        memcpy(cleaned->ops.at, segment->ops.at, segment->ops.count * sizeof *segment->ops.at);
    cleaned->keys.count = segment->keys.count;
    cleaned->branches.count = segment->branches.count;
    return true;
}

void rig_admission_write(struct rig_admission *a, const struct retired_key *key, int64_t value)
{
    if (key->anomalous)
        a->conflict = "a key with an anomaly is used again after a long time";
    else if (rig_retired_holds(key, value))
        a->conflict = "a value of a finished key may have been written twice";
}

void rig_admission_walk(struct rig_admission *a, rig_admit_op *admit)
{
    struct rig_retired *retired = a->retired;
    const struct rig_segment *segment = a->segment;
    struct rig_txn_op *ops = retired->cleaned.ops.at;
    for (size_t txn = 0; txn < segment->txns.count && a->conflict == NULL; txn++) {
        const struct rig_txn *t = &segment->txns.at[txn];
        size_t end = txn + 1 < segment->txns.count ? t[1].first_op : segment->ops.count;
        for (size_t i = t->first_op; i < end && a->conflict == NULL; i++) {
            uint32_t number = retired->numbers.at[ops[i].key];
            if (number != RIG_RETIRED_NONE)
                admit(a, &retired->keys.at[number], (enum rig_outcome)t->outcome, &ops[i]);
        }
    }
    for (size_t i = 0; i < segment->open_ops.count && a->conflict == NULL; i++) {
        struct rig_txn_op op = segment->open_ops.at[i];
        uint32_t number = retired->numbers.at[op.key];
        if (number != RIG_RETIRED_NONE && !rig_op_reads(op.kind))
            admit(a, &retired->keys.at[number], RIG_OUTCOME_INFO, &op);
    }
}

enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err)
{
    *cleaned = segment;
    *conflict = NULL;
    if (retired->any_forgotten && uses_forgotten(retired, segment)) {
        *conflict = "a key is used again that was forgotten to save memory";
        return RIG_OK;
    }
    if (retired->keys.count == 0 && retired->resting.pages.count == 0)
        return RIG_OK;
    bool any = false;
    if (!key_numbers_reserve(&retired->numbers, segment->keys.count + 1) || !find_all(retired, segment, &any))
        return rig_retired_no_memory(err);
    if (!any)
        return RIG_OK;
    struct rig_segment *copy = &retired->cleaned;
    struct rig_admission a = {.retired = retired, .segment = segment};
    if (!copy_segment(retired, segment) || !retired->type->admit(&a))
        return rig_retired_no_memory(err);
    *conflict = a.conflict;
    /* All but keys, operations and branches is the segment's own. */
    struct rig_segment borrowed = *segment;
    borrowed.keys = copy->keys;
    borrowed.branches = copy->branches;
    borrowed.ops = copy->ops;
    borrowed.ops.count = segment->ops.count;
    borrowed.note = (struct rig_segment_note){0};
    borrowed.owned = false; /* operations were replaced */
    *copy = borrowed;
    *cleaned = copy;
    return RIG_OK;
}
