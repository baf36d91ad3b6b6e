#include "checker/infer/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* When reads->at is NULL, it only counts them. */
static void collect_reads(const struct rig_versions *versions, struct rig_branch_reads *reads)
{
    const struct rig_history *history = versions->history;
    reads->count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!versions->committed[txn])
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (ops[i].read_state != RIG_READ_SEEN || !rig_txn_op_is_branch(&ops[i]))
                continue;
            struct rig_branch_read read = {ops[i].key, txn, i, rig_txn_op_branch(&ops[i]), ops[i].count};
            reads->count++;
            if (reads->at == NULL)
                continue;
            reads->at[reads->count - 1] = read;
            if (versions->branches[read.branch].count < read.count)
                versions->branches[read.branch].count = read.count;
        }
    }
}

bool rig_branches_collect(struct rig_arena *arena, struct rig_versions *versions, struct rig_branch_reads *reads)
{
    const struct rig_history *history = versions->history;
    reads->at = NULL;
    collect_reads(versions, reads);
    reads->at = rig_arena_room(arena, (size_t)reads->count + 1, sizeof *reads->at);
    versions->branches = rig_arena_array(arena, (size_t)history->branch_count + 1, sizeof *versions->branches);
    struct rig_marks marks = {.at = rig_arena_array(arena, versions->slot_count, sizeof *marks.at)};
    if (reads->at == NULL || versions->branches == NULL || marks.at == NULL)
        return false;
    const uint32_t counted = reads->count;
    collect_reads(versions, reads);
    RIG_INVARIANT(reads->count == counted);
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct rig_branch_read *read = &reads->at[i];
        struct rig_branch_facts *facts = &versions->branches[read->branch];
        if (facts->unique > 0 || facts->count == 0)
            continue;
        struct rig_read_list list = rig_read_of_branch(history, read->branch, facts->count);
        if (!rig_unique_prefix(versions, read->key, &list, &marks, &facts->unique))
            return false;
        RIG_INVARIANT(facts->unique > 0 && facts->unique <= facts->count);
    }
    return true;
}

static void inspect(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                    struct rig_branch_facts *facts)
{
    const struct rig_list *order = &versions->keys[key].order;
    uint32_t common = list->count < order->count ? list->count : order->count;
    facts->aborted = facts->garbage = UINT32_MAX;
    facts->agrees = 0;
    while (facts->agrees < common && rig_read_element(list, facts->agrees) == order->at[facts->agrees])
        facts->agrees++;
    for (uint32_t i = list->count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(versions, key, rig_read_element(list, i));
        if (slot == NULL)
            facts->garbage = i;
        else if (versions->history->txns[slot->writer].outcome == RIG_OUTCOME_FAIL)
            facts->aborted = i;
    }
}

void rig_mark_unplaced(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct rig_append *slot = rig_versions_find(versions, key, rig_read_element(list, i));
        if (slot != NULL && slot->position == RIG_VERSION_NONE)
            slot->position = RIG_VERSION_UNPLACED;
    }
}

void rig_branches_inspect(struct rig_versions *versions, const struct rig_branch_reads *reads)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct rig_branch_read *read = &reads->at[i];
        struct rig_branch_facts *facts = &versions->branches[read->branch];
        bool done = facts->garbage != 0 || facts->aborted != 0; /* once inspected, at most one is 0 */
        if (done || facts->count == 0)
            continue;
        struct rig_read_list list = rig_read_of_branch(versions->history, read->branch, facts->count);
        inspect(versions, read->key, &list, facts);
        RIG_INVARIANT(facts->agrees <= facts->count && (facts->garbage != 0 || facts->aborted != 0));
        rig_mark_unplaced(versions, read->key, &list);
    }
}

enum { SMALL = 16, STACK_BITS = 4096 };

struct place {
    int64_t value;
    uint32_t index;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool unique_by_sorting(const struct rig_read_list *list, uint32_t *unique)
{
    struct place *places = malloc(((size_t)list->count + 1) * sizeof *places);
    if (places == NULL)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        places[i] = (struct place){rig_read_element(list, i), i};
    qsort(places, list->count, sizeof *places, compare_places);
    *unique = list->count;
    for (uint32_t i = 1; i < list->count; i++) {
        if (places[i].value == places[i - 1].value && places[i].index < *unique)
            *unique = places[i].index;
    }
    free(places);
    return true;
}

static uint32_t unique_by_comparing(const struct rig_read_list *list)
{
    for (uint32_t i = 1; i < list->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (rig_read_element(list, i) == rig_read_element(list, j))
                return i;
        }
    }
    return list->count;
}

/* One bit a slot of the key. Returns false when a value lies outside the slots, or there are too many of them. */
static bool unique_by_slots(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                            uint32_t *unique)
{
    const struct rig_key_versions *k = &versions->keys[key];
    int64_t lowest = versions->key_places[key].lowest;
    uint64_t seen[STACK_BITS / 64] = {0};
    if (versions->key_places[key].shift != 0 || k->slot_count > STACK_BITS)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t slot = (uint64_t)rig_read_element(list, i) - (uint64_t)lowest;
        if (slot >= k->slot_count)
            return false;
        uint64_t bit = UINT64_C(1) << (slot % 64);
        if (seen[slot / 64] & bit) {
            *unique = i;
            return true;
        }
        seen[slot / 64] |= bit;
    }
    *unique = list->count;
    return true;
}

/* Every list marks its slots with its own number. Returns false for a value that no transaction appended. */
static bool unique_by_marks(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                            struct rig_marks *marks, uint32_t *unique)
{
    uint32_t mark = ++marks->latest;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rig_append *slot = rig_versions_find(versions, key, rig_read_element(list, i));
        if (slot == NULL)
            return false;
        uint32_t *at = &marks->at[slot - versions->slots];
        if (*at == mark) {
            *unique = i;
            return true;
        }
        *at = mark;
    }
    *unique = list->count;
    return true;
}

bool rig_unique_prefix(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                       struct rig_marks *marks, uint32_t *unique)
{
    if (list->count <= SMALL) {
        *unique = unique_by_comparing(list);
        return true;
    }
    if (marks->at != NULL && unique_by_marks(versions, key, list, marks, unique))
        return true;
    return unique_by_slots(versions, key, list, unique) || unique_by_sorting(list, unique);
}
