#include "checker/infer/whole_lists.h"

#include "checker/infer/repetition.h"

/* Only counts them where reads->at is NULL. */
static void collect_reads(const struct rig_versions *versions, struct rig_whole_reads *reads)
{
    const struct rig_history *history = versions->history;
    reads->count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!versions->committed[txn])
            continue;
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (ops[i].read_state != RIG_READ_SEEN || !rig_mop_is_whole(&ops[i]))
                continue;
            struct rig_whole_read read = {ops[i].key, txn, i, rig_whole_list_of(&ops[i]), ops[i].count};
            reads->count++;
            if (reads->at == NULL)
                continue;
            reads->at[reads->count - 1] = read;
            if (versions->wholes[read.list].count < read.count)
                versions->wholes[read.list].count = read.count;
        }
    }
}

bool rig_whole_lists_collect(struct rig_arena *arena, struct rig_versions *versions, struct rig_whole_reads *reads)
{
    const struct rig_history *history = versions->history;
    reads->at = NULL;
    collect_reads(versions, reads);
    reads->at = rig_arena_room(arena, (size_t)reads->count + 1, sizeof *reads->at);
    versions->wholes = rig_arena_array(arena, (size_t)history->list_count + 1, sizeof *versions->wholes);
    struct rig_marks marks = {.at = rig_arena_array(arena, versions->slot_count, sizeof *marks.at)};
    if (reads->at == NULL || versions->wholes == NULL || marks.at == NULL)
        return false;
    collect_reads(versions, reads);
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct rig_whole_read *read = &reads->at[i];
        struct rig_whole_list *list = &versions->wholes[read->list];
        if (list->unique > 0 || list->count == 0)
            continue;
        struct rig_list elements = {history->lists[read->list].at, list->count};
        if (!rig_unique_prefix(versions, read->key, elements, &marks, &list->unique))
            return false;
    }
    return true;
}

static void inspect(const struct rig_versions *versions, uint32_t key, const int64_t *at, struct rig_whole_list *list)
{
    const struct rig_key_versions *k = &versions->keys[key];
    list->aborted = list->garbage = UINT32_MAX;
    list->agrees = 0;
    while (list->agrees < list->count && list->agrees < k->order.count && at[list->agrees] == k->order.at[list->agrees])
        list->agrees++;
    for (uint32_t i = list->count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(versions, key, at[i]);
        if (slot == NULL)
            list->garbage = i;
        else if (versions->history->txns[slot->writer].outcome == RIG_OUTCOME_FAIL)
            list->aborted = i;
    }
}

void rig_mark_unplaced(const struct rig_versions *versions, uint32_t key, struct rig_list list)
{
    for (uint32_t i = 0; i < list.count; i++) {
        struct rig_append *slot = rig_versions_find(versions, key, list.at[i]);
        if (slot != NULL && slot->position == RIG_VERSION_NONE)
            slot->position = RIG_VERSION_UNPLACED;
    }
}

void rig_whole_lists_inspect(struct rig_versions *versions, const struct rig_whole_reads *reads)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct rig_whole_read *read = &reads->at[i];
        struct rig_whole_list *list = &versions->wholes[read->list];
        const int64_t *at = versions->history->lists[read->list].at;
        bool done = list->garbage != 0 || list->aborted != 0; /* both are not 0 at once */
        if (done || list->count == 0)
            continue;
        inspect(versions, read->key, at, list);
        rig_mark_unplaced(versions, read->key, (struct rig_list){at, list->count});
    }
}
