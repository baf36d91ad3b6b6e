/* Retired lists that are used again (retired.h): cuts their judged parts off a segment's lists. */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/judge/stream/retired_private.h"

/* The greatest length of an admissible read of this list; 0: no read can be admitted that has to show something. */
static uint32_t limit_of(const struct retired_key *key, const struct rig_read_list *list)
{
    if (list->count < key->count || rig_retired_hash_on(rig_retired_empty_hash, list, key->count) != key->hash)
        return 0;
    uint32_t limit = key->count;
    while (limit < list->count && !rig_retired_holds(key, rig_read_element(list, limit)))
        limit++;
    return limit;
}

static bool keep_prefix(struct rig_retired *retired, struct retired_key *key, const struct rig_read_list *list)
{
    if (key->prefix != NULL || key->cut == 0)
        return true;
    key->prefix = malloc(key->cut * sizeof *key->prefix);
    if (key->prefix == NULL)
        return false;
    retired->owned_bytes += key->cut * sizeof *key->prefix;
    rig_read_copy(list, 0, key->cut, key->prefix);
    return true;
}

/* Whether the list begins with the judged part; *limit: the greatest length of a read of it. */
static bool continues(const struct retired_key *key, const struct rig_read_list *list, uint32_t *limit)
{
    *limit = limit_of(key, list);
    return list->count >= key->count && (*limit > 0 || key->count == 0);
}

/* Leaves `count` elements after the first `from`. */
static struct rig_growing_list cut_from(const struct rig_growing_list *list, uint32_t from, uint32_t count)
{
    return (struct rig_growing_list){.at = list->at == NULL ? NULL : list->at + from, .count = count};
}

/* Cuts the judged part off a spine. A spine that does not begin with it becomes empty, and loses its reads. */
static bool cut_spine(struct rig_retired *retired, uint32_t number, struct rig_growing_list *spine, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {.at = spine->at, .shared = spine->count, .count = spine->count};
    if (!continues(key, &all, limit)) {
        *spine = (struct rig_growing_list){0};
        return true;
    }
    RIG_INVARIANT(key->cut <= spine->count);
    *spine = cut_from(spine, key->cut, spine->count - key->cut);
    return keep_prefix(retired, key, &all);
}

/*
 * The same for a branch of `from`, the spine before it was cut. The judged part may end in the tail. If the spine
 * became empty although the branch begins with the judged part, their common elements are judged as well, and stay.
 */
static bool cut_branch(struct rig_retired *retired, uint32_t number, const struct rig_growing_list *from,
                       struct rig_growing_list *spine, struct rig_growing_branch *branch, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {
        .at = from->at, .tail = branch->tail.at, .shared = branch->shared, .count = rig_growing_branch_count(branch)};
    if (!continues(key, &all, limit)) {
        branch->shared = 0;
        branch->tail = (struct rig_growing_list){0};
        return true;
    }
    uint32_t off_tail = key->cut > branch->shared ? key->cut - branch->shared : 0;
    RIG_INVARIANT(off_tail <= branch->tail.count && key->cut - off_tail <= branch->shared);
    branch->shared -= key->cut - off_tail;
    branch->tail = cut_from(&branch->tail, off_tail, branch->tail.count - off_tail);
    if (spine->count < branch->shared)
        *spine = cut_from(from, key->cut, branch->shared);
    return keep_prefix(retired, key, &all);
}

/* Cuts the judged parts off the lists of the copy. False when memory runs out. */
static bool cut_lists(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!list_limits_reserve(&retired->spine_limits, segment->keys.count + 1) ||
        !list_limits_reserve(&retired->branch_limits, segment->branches.count + 1))
        return false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        uint32_t number = retired->numbers.at[i];
        if (number == RIG_RETIRED_NONE)
            continue;
        cleaned->keys.at[i].had_row = retired->keys.at[number].cut > 0;
        if (!cut_spine(retired, number, &cleaned->keys.at[i].spine, &retired->spine_limits.at[i]))
            return false;
    }
    for (size_t i = 0; i < segment->branches.count; i++) {
        uint32_t key = segment->branches.at[i].key, number = retired->numbers.at[key];
        if (number != RIG_RETIRED_NONE &&
            !cut_branch(retired, number, &segment->keys.at[key].spine, &cleaned->keys.at[key].spine,
                        &cleaned->branches.at[i], &retired->branch_limits.at[i]))
            return false;
    }
    return true;
}

static void admit_read(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome,
                       struct rig_txn_op *op)
{
    struct rig_retired *retired = a->retired;
    uint32_t count = op->read_state == RIG_READ_SEEN ? op->count : 0, limit = key->count;
    if (op->read_state == RIG_READ_SEEN)
        limit = rig_txn_op_is_branch(op) ? retired->branch_limits.at[rig_txn_op_branch(op)]
                                         : retired->spine_limits.at[op->key];
    bool fits = count >= key->count && count <= limit;
    if (outcome == RIG_OUTCOME_FAIL) {
        /* Reads of aborted transactions cause no conflict. */
        if (op->read_state == RIG_READ_SEEN && (!fits || count < key->cut))
            *op = (struct rig_txn_op){.key = op->key, .kind = op->kind, .read_state = RIG_READ_UNKNOWN};
        else if (op->read_state == RIG_READ_SEEN)
            op->count -= key->cut;
        return;
    }
    if (key->anomalous || key->many_unread || !fits) {
        a->conflict = key->anomalous     ? "a key with an anomaly is read again after a long time"
                      : key->many_unread ? "appends to a key are read for the first time after a long time"
                                         : "a read shows a much older state of its key, or contradicts it";
        return;
    }
    if (outcome == RIG_OUTCOME_OK) {
        RIG_INVARIANT(retired->unordered >= key->unordered);
        retired->unordered -= key->unordered;
        key->unordered = key->unconfirmed = 0;
    }
    RIG_INVARIANT(key->cut <= key->count);
    RIG_INVARIANT(op->read_state != RIG_READ_SEEN || key->cut <= op->count);
    if (op->read_state == RIG_READ_SEEN)
        op->count -= key->cut;
}

static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (op->kind == RIG_OP_READ_LIST && op->read_state != RIG_READ_UNKNOWN)
        admit_read(a, key, outcome, op);
}

bool rig_list_admit(struct rig_admission *a)
{
    if (!cut_lists(a->retired, a->segment))
        return false;
    rig_admission_walk(a, admit_op);
    return true;
}
