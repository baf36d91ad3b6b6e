#include "checker/model/verdict.h"

#include <string.h>

enum { LOST_MOST = 1 << 20 };

static bool make_room(struct rig_lost_rows *rows, struct rig_arena *arena)
{
    if (rows->count < rows->room)
        return true;
    const size_t room = rows->room == 0 ? 16 : rows->room * 2;
    struct rig_lost *at = rig_arena_array(arena, room, sizeof *at);
    if (at == NULL)
        return false;
    if (rows->count > 0)
        memcpy(at, rows->at, rows->count * sizeof *at);
    rows->at = at;
    rows->room = room;
    return true;
}

bool rig_lost_add(struct rig_lost_rows *rows, const struct rig_history *history, uint32_t txn, uint32_t reader,
                  uint32_t key, int64_t value, struct rig_arena *arena)
{
    char name[256];
    const char *node = rig_history_column_name(history, txn, RIG_COLUMN_NODE);
    if (rows->count == LOST_MOST)
        return true;
    rig_history_key_name(history, key, name, sizeof name);
    char *copy = rig_arena_text(arena, name, strlen(name));
    const char *node_copy = node == NULL ? NULL : rig_arena_text(arena, node, strlen(node));
    if (copy == NULL || (node != NULL && node_copy == NULL) || !make_room(rows, arena))
        return false;
    rows->at[rows->count++] = (struct rig_lost){.txn = rig_txn_name(history, txn),
                                                .reader = rig_txn_name(history, reader),
                                                .process = history->txns[txn].process,
                                                .acknowledged_ns = history->txns[txn].complete_ns,
                                                .read_ns = history->txns[reader].invoke_ns,
                                                .value = value,
                                                .key = copy,
                                                .node = node_copy};
    return true;
}
