#include "checker/infer/branches.h"

#include "base/bug.h"
#include "checker/infer/repetition.h"

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
