/*
 * Functions on the lists that rig_txn_op_list() (history.h) gives. Such a list is in two pieces if it leaves its key's
 * spine.
 */
#ifndef RIG_HISTORY_MODEL_READ_LIST_H
#define RIG_HISTORY_MODEL_READ_LIST_H

#include "base/arena.h"
#include "history/model/history.h"

/* Copies the elements with indices in [from, to). */
void rig_read_copy(const struct rig_read_list *list, uint32_t from, uint32_t to, int64_t *elements);
/*
 * All elements in one piece: the list's own if it is contiguous, else a copy in `arena`. NULL only when memory runs
 * out.
 */
const int64_t *rig_read_whole(const struct rig_read_list *list, struct rig_arena *arena);
/* Whether the first `count` elements of both, which have at least that many, are equal. */
bool rig_read_same(const struct rig_read_list *left, const struct rig_read_list *right, uint32_t count);

#endif
