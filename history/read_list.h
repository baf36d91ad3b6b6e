/*
 * What can be done with the lists that reads show: rig_txn_op_list() of history.h, which are in two pieces where they
 * part from their key's spine.
 */
#ifndef RIG_HISTORY_READ_LIST_H
#define RIG_HISTORY_READ_LIST_H

#include "base/arena.h"
#include "history/history.h"

/* Copies the elements from index `from` to behind `to` - 1. */
void rig_read_copy(const struct rig_read_list *list, uint32_t from, uint32_t to, int64_t *elements);
/*
 * All elements in one piece: the list's own where it is one, else a copy out of `arena`. Never NULL but when memory
 * runs out.
 */
const int64_t *rig_read_whole(const struct rig_read_list *list, struct rig_arena *arena);
/* Whether the first `count` elements of both, which have so many, are the same. */
bool rig_read_same(const struct rig_read_list *left, const struct rig_read_list *right, uint32_t count);

#endif
