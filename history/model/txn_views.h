/*
 * The views of a certificate: what the database showed to the statements of transactions (docs/adr/0041-snapshots.md).
 *
 * A view belongs to the transaction whose side column `view` has its number. It has the transaction's number in the
 * database, and for its statements the snapshot that a statement read, and the writer of each row that it returned or
 * wrote. Numbers of transactions have 64 bits; where a database shows 32 of them, its driver extends them.
 *
 * Space: 40 bytes a view, 24 a row of a statement, 32 a snapshot, 8 a transaction in progress. Threads: one writer or
 * many readers.
 */
#ifndef RIG_HISTORY_MODEL_TXN_VIEWS_H
#define RIG_HISTORY_MODEL_TXN_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define RIG_SNAPSHOT_NONE UINT32_MAX

/*
 * A snapshot shows the commits of transactions below `xmax` that are not in `active`, and the transaction's own writes.
 * The database does not list a transaction's own number: of these commits, its own is the one that a snapshot does not
 * show to others.
 */
struct rig_snapshot {
    uint64_t xmin;         /* every transaction below had ended */
    uint64_t xmax;         /* no transaction from this number on is visible */
    uint32_t first_active; /* into views.active: those in progress, ascending */
    uint32_t active_count;
    uint32_t view; /* of the transaction that read it */
};

/* A row of a statement, or a statement without a row. The rows of a statement follow one another, in its order. */
struct rig_txn_view_row {
    uint64_t version;  /* number of the transaction (or of its part) that wrote the row; 0: no row */
    uint32_t op;       /* operation of the transaction, as the history numbers them */
    uint32_t snapshot; /* into views.snapshots; RIG_SNAPSHOT_NONE: not known, or it does not decide what is read */
};

struct rig_txn_view {
    uint64_t number; /* the side column of its transaction; ascends */
    uint64_t id;     /* the transaction's own number in the database; 0: it had none, or none was seen */
    uint32_t first_row;
    bool single;  /* one snapshot serves all statements: repeatable read and stronger */
    bool standby; /* read at a standby, whose snapshots omit transactions in progress */
};

RIG_VEC(struct rig_snapshot, rig_snapshot_vec)
RIG_VEC(struct rig_txn_view_row, rig_txn_view_row_vec)
RIG_VEC(struct rig_txn_view, rig_txn_view_vec)
RIG_VEC(uint64_t, rig_id_vec)

struct rig_txn_views {
    struct rig_txn_view_vec views;
    struct rig_txn_view_row_vec rows;
    struct rig_snapshot_vec snapshots;
    struct rig_id_vec active;
};

void rig_txn_views_done(struct rig_txn_views *views);
uint32_t rig_txn_view_row_count(const struct rig_txn_views *views, uint32_t view);
static inline const struct rig_txn_view_row *rig_txn_view_rows(const struct rig_txn_views *views, uint32_t view)
{
    return views->rows.at + views->views.at[view].first_row;
}

/* ---- building: a view, then its rows; a new snapshot before the first row that has it ---- */

/* False when memory runs out, or for a number that does not ascend. */
bool rig_txn_views_add(struct rig_txn_views *views, const struct rig_txn_view *view);
/* A snapshot of the last view; `active` ascends, from xmin to below xmax. */
bool rig_txn_views_add_snapshot(struct rig_txn_views *views, uint64_t xmin, uint64_t xmax, const uint64_t *active,
                                uint32_t count);
/* A row of the last view, with its last snapshot (`with_snapshot`) or none. Operations ascend. */
bool rig_txn_views_add_row(struct rig_txn_views *views, uint32_t op, uint64_t version, bool with_snapshot);

#endif
