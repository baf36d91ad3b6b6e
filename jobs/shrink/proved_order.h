/*
 * Where the transactions of a small history read and commit, by the proof of a level that it keeps in real time: of
 * snapshot isolation, else of monotonic snapshot read. A database that reads from snapshots gives the same results when
 * the statements run in this order: each transaction of snapshot isolation runs its operations at its snapshot, and
 * commits later.
 *
 * Time and space: those of a check and its proof (checker/judge/proof/prove.h), within a budget. Threads: one.
 */
#ifndef RIG_JOBS_SHRINK_PROVED_ORDER_H
#define RIG_JOBS_SHRINK_PROVED_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "checker/model/level.h"
#include "history/model/history.h"

enum { RIG_PROVED_ORDER_TXNS_MOST = 64 };

struct rig_proved_order {
    uint32_t
        *events; /* transactions. One stands there once for all of its steps; twice: for its operations, and for its
                       * end; or once for each operation, and for its end */
    size_t count;
};

/* `level`: RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION or RIG_LEVEL_STRONG_MONOTONIC_SNAPSHOT_READ. *found is false where the
 * history does not keep the level, the budget is spent, the order lacks a transaction, or there are more than
 * RIG_PROVED_ORDER_TXNS_MOST. RIG_E_LIMIT when memory runs out. Release with rig_proved_order_done(), also after a
 * failure. */
enum rig_rc rig_proved_order_find(const struct rig_history *history, enum rig_level level,
                                  struct rig_proved_order *order, bool *found, struct rig_err *err);
/* Takes a zeroed one, too. */
void rig_proved_order_done(struct rig_proved_order *order);

#endif
