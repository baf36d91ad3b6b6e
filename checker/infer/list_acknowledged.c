#include "checker/infer/list_acknowledged.h"

#include "base/bug.h"

bool rig_acknowledged_find(struct rig_versions *versions, struct rig_arena *arena)
{
    const struct rig_history *history = versions->history;
    versions->acknowledged = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *versions->acknowledged);
    if (versions->acknowledged == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const uint32_t count = history->txns[txn].outcome == RIG_OUTCOME_OK ? rig_txn_op_count(history, txn) : 0;
        for (uint32_t i = 0; i < count; i++) {
            if (ops[i].read_state != RIG_READ_SEEN || !rig_versions_is_prefix(versions, &ops[i]))
                continue;
            uint32_t *shown = &versions->acknowledged[ops[i].key], shows = rig_txn_op_list(history, &ops[i]).count;
            *shown = shows > *shown ? shows : *shown;
            RIG_INVARIANT(*shown <= versions->keys[ops[i].key].order.count);
        }
    }
    return true;
}

uint32_t rig_acknowledged_before(const struct rig_versions *versions, uint32_t txn, uint32_t key, uint32_t place)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    const uint32_t end = place < versions->acknowledged[key] ? place : versions->acknowledged[key];
    uint32_t last = RIG_VERSION_NONE;
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, txn); i++) {
        if (ops[i].kind != RIG_OP_APPEND || ops[i].key != key)
            continue;
        const uint32_t position = rig_versions_append(versions, key, ops[i].value)->position;
        if (position < end && (last == RIG_VERSION_NONE || position > last))
            last = position;
    }
    return last;
}

bool rig_acknowledged_ww(const struct rig_versions *versions, uint32_t from, uint32_t to)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, to);
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, to); i++) {
        const uint32_t key = ops[i].key;
        if (ops[i].kind != RIG_OP_APPEND || versions->keys[key].contested)
            continue;
        const uint32_t place = rig_versions_append(versions, key, ops[i].value)->position;
        if (place != RIG_VERSION_UNPLACED && rig_acknowledged_before(versions, from, key, place) != RIG_VERSION_NONE)
            return true;
    }
    return false;
}
