/*
 * All lost appends or writes of a verdict (anomaly.h), beyond the few that have a witness: one row each, independent of the
 * history, of which windows are freed.
 *
 * Space: 64 bytes each and the texts of keys; at most RIG_LOST_MOST rows are kept, the first ones in the order of
 * acknowledgement within each window.
 */
#ifndef RIG_CHECKER_MODEL_LOST_H
#define RIG_CHECKER_MODEL_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "history/model/history.h"

enum { RIG_LOST_MOST = 1 << 20 };

struct rig_lost {
    uint32_t txn,
        reader;      /* names (rig_txn_name()): the transaction of the append or write, and the read that misses it */
    int32_t process; /* of `txn` */
    int64_t acknowledged_ns,
        read_ns; /* times of the completion, and of the reader's invocation; RIG_NO_TIME: unknown */
    int64_t value;
    const char *key;
};

struct rig_lost_rows {
    struct rig_lost *at; /* in an arena */
    size_t count, room;
};

/* The append or write of `value` to `key` by `txn`, missing for `reader`. False when memory runs out. */
bool rig_lost_add(struct rig_lost_rows *rows, const struct rig_history *history, uint32_t txn, uint32_t reader,
                  uint32_t key, int64_t value, struct rig_arena *arena);

#endif
