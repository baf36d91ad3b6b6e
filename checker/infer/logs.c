#include "checker/infer/logs.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the records of the logs");
}

bool rig_log_acknowledges(const struct rig_txn_op *ops, uint32_t op)
{
    return op > 0 && ops[op].kind == RIG_OP_POLL && ops[op - 1].kind == RIG_OP_SEND && ops[op - 1].key == ops[op].key;
}

/* ---- offsets ---- */

/* An acknowledgement shows what was sent, or nothing. */
static enum rig_rc check_acknowledged(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_err *err)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    if (list.count == 0 || (list.count == 2 && rig_read_element(&list, 1) == ops[op - 1].value))
        return RIG_OK;
    char key[64];
    rig_history_key_name(history, ops[op].key, key, sizeof key);
    return rig_fail(
        err, RIG_E_INPUT,
        "transaction %u polls key %s directly after a send to it: that poll acknowledges the send and shows "
        "its record alone; put an empty poll between the two",
        rig_txn_name(history, txn), key);
}

/* The record at this place of the list is at its offset, as far as is known. */
static void show(struct rig_logs *logs, const struct rig_read_list *list, uint32_t at, uint32_t txn, uint32_t op)
{
    const struct rig_history *history = logs->values.history;
    const struct rig_txn_op *poll = rig_txn_ops(history, txn) + op;
    const uint32_t number = rig_sets_find(&logs->values, poll->key, rig_read_element(list, at + 1));
    if (number == RIG_SET_NONE)
        return;
    struct rig_log_record *record = &logs->records[number];
    const int64_t offset = rig_read_element(list, at);
    record->polled |= !rig_log_acknowledges(rig_txn_ops(history, txn), op);
    if (record->offset == RIG_LOG_NO_OFFSET) {
        record->offset = offset;
        record->shown_txn = txn;
        record->shown_op = op;
    }
    record->contested |= record->offset != offset;
}

static enum rig_rc find_offsets(struct rig_logs *logs, struct rig_err *err)
{
    const struct rig_history *history = logs->values.history;
    for (uint32_t record = 0; record < logs->values.element_count; record++)
        logs->records[record] = (struct rig_log_record){.offset = RIG_LOG_NO_OFFSET, .place = RIG_LOG_NO_PLACE};
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; history->txns[txn].outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            if (ops[i].kind != RIG_OP_POLL || ops[i].read_state != RIG_READ_SEEN)
                continue;
            const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
            const enum rig_rc rc = rig_log_acknowledges(ops, i) ? check_acknowledged(history, txn, i, err) : RIG_OK;
            if (rc != RIG_OK)
                return rc;
            for (uint32_t at = 0; at + 1 < list.count; at += 2)
                show(logs, &list, at, txn, i);
        }
    }
    return RIG_OK;
}

/* ---- the order of a log ---- */

struct placed {
    int64_t offset;
    uint32_t record;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

/* The key's records with an offset, in its order. Values mostly ascend with it. */
static uint32_t gather(const struct rig_logs *logs, uint32_t key, struct placed *placed)
{
    uint32_t count = 0;
    bool sorted = true;
    for (uint32_t record = logs->values.key_first[key]; record < logs->values.key_first[key + 1]; record++) {
        if (logs->records[record].offset == RIG_LOG_NO_OFFSET || logs->records[record].contested)
            continue;
        placed[count] = (struct placed){logs->records[record].offset, record};
        sorted &= count == 0 || placed[count - 1].offset < placed[count].offset;
        count++;
    }
    if (!sorted)
        qsort(placed, count, sizeof *placed, compare_placed);
    return count;
}

static bool order_key(struct rig_logs *logs, uint32_t key, struct placed *placed,
                      bool (*clash)(void *context, const struct rig_log_clash *found), void *context)
{
    const uint32_t count = gather(logs, key, placed);
    for (uint32_t i = 1; i < count; i++) {
        const struct rig_log_clash found = {placed[i - 1].record, placed[i].record};
        if (placed[i - 1].offset != placed[i].offset)
            continue;
        logs->records[found.first].contested = logs->records[found.second].contested = true;
        if (!clash(context, &found))
            return false;
    }
    uint32_t end = logs->order_first[key];
    for (uint32_t i = 0; i < count; i++) {
        struct rig_log_record *record = &logs->records[placed[i].record];
        if (record->contested || !logs->values.committed[rig_log_sent(logs, placed[i].record)->writer])
            continue;
        record->place = end;
        logs->order[end++] = placed[i].record;
    }
    logs->order_first[key + 1] = end;
    return true;
}

enum rig_rc rig_logs_build(const struct rig_history *history, struct rig_arena *arena, struct rig_logs *logs,
                           bool (*clash)(void *context, const struct rig_log_clash *found), void *context,
                           struct rig_err *err)
{
    *logs = (struct rig_logs){0};
    enum rig_rc rc = rig_sets_build(history, arena, &logs->values, err);
    if (rc != RIG_OK)
        return rc;
    const size_t room = (size_t)logs->values.element_count + 1;
    logs->records = rig_arena_room(arena, room, sizeof *logs->records);
    logs->order = rig_arena_room(arena, room, sizeof *logs->order);
    logs->order_first = rig_arena_array(arena, (size_t)history->key_count + 2, sizeof *logs->order_first);
    struct placed *placed = rig_arena_room(arena, room, sizeof *placed);
    if (logs->records == NULL || logs->order == NULL || logs->order_first == NULL || placed == NULL)
        return no_memory(err);
    rc = find_offsets(logs, err);
    for (uint32_t key = 0; rc == RIG_OK && key < history->key_count; key++)
        rc = order_key(logs, key, placed, clash, context) ? RIG_OK : no_memory(err);
    return rc;
}

uint32_t rig_logs_above(const struct rig_logs *logs, uint32_t key, int64_t offset)
{
    uint32_t low = logs->order_first[key], high = logs->order_first[key + 1];
    RIG_INVARIANT(low <= high);
    while (low < high)
        rig_halve(&low, &high, rig_log_at(logs, rig_middle(low, high))->offset <= offset);
    return low;
}
