/*
 * The commits that each snapshot of a certificate shows: for whatever compares reads with states
 * (docs/certificates.md, docs/adr/0041-snapshots.md).
 *
 *   snapshot = rig_visibility_snapshot(&visibility, txn, op)   the snapshot that an operation read
 *   rig_visibility_sees(&visibility, snapshot, commit)         whether it shows a commit of the certificate
 *   rig_visibility_prefix(&visibility, snapshot)               p: it shows exactly the first p commits in `order`
 *
 * The order of visibility is not that of the stream: a commit waits between its place in the log and the moment from
 * which snapshots show it. Snapshots of one server form a chain; commits are ordered by the first snapshot that shows
 * them, then by their place in the stream. A transaction's own writes come on top of its snapshot: its number is in no
 * snapshot of its own, so here a snapshot never shows its own transaction.
 *
 * Left out (`usable` false): snapshots of transactions that are not ok, of standbys, which omit transactions in
 * progress (rig_visibility_bounds() has what is known of these), and snapshots that show a commit whose transaction
 * began after theirs had completed: a server that crashed uses numbers again.
 *
 * Time: O(n log n) in commits and snapshots; a question O(log(transactions in progress)). Space: 40 bytes a commit, 28
 * a snapshot, 4 a transaction and a transaction in progress. Source: Clark et al., EuroSys 2024.
 */
#ifndef RIG_CHECKER_EVIDENCE_VISIBILITY_H
#define RIG_CHECKER_EVIDENCE_VISIBILITY_H

#include "base/arena.h"
#include "history/model/history.h"

#define RIG_VIEW_NONE   UINT32_MAX
#define RIG_COMMIT_NONE UINT32_MAX

/* By ranks: the place of a commit by its transaction's number. */
struct rig_shown {
    uint32_t limit;                  /* shows no rank from here on */
    uint32_t first_hole, hole_count; /* of the ranks below `limit` that it does not show; into holes */
    uint32_t txn;                    /* whose snapshot it is; RIG_VIEW_NONE: none of the history */
    bool usable;
};

struct rig_visibility {
    const struct rig_history *history; /* borrowed */
    uint32_t *view_of;                 /* per transaction: into the views; RIG_VIEW_NONE */
    uint32_t *ranks;                   /* per commit */
    uint32_t *by_rank;                 /* the commits by rank */
    uint64_t *ids;                     /* the numbers of the commits, in ascending order */
    uint32_t *steps;                   /* per 2^step_bits numbers from the first one on: the rank that they begin at */
    uint64_t step_count;
    unsigned step_bits;
    struct rig_shown *shown; /* per snapshot */
    uint32_t *holes;
    uint32_t *chain; /* the usable snapshots, by the number of commits that they show */
    uint32_t chain_count;
    uint32_t forks;   /* neighbours in `chain` where the first shows a commit that the second does not */
    uint32_t fork_at; /* the first of `forks` */
    uint32_t *order;  /* commits in the order of visibility; NULL with a fork */
    uint32_t *places; /* per commit: its place in `order` */
    uint32_t *first;  /* per commit: the first place in `chain` whose snapshot shows it; chain_count: none */
    uint64_t *least_after, *most_until; /* per commit: the least number from it on, and the greatest up to it */
    uint64_t set_aside;                 /* snapshots of ok transactions at the primary that are not usable */
};

/*
 * Everything is in the arena. `writers`: per commit the transaction of the history that made it, or RIG_VIEW_NONE.
 * False when memory runs out. Without views, or with commits that have no number or repeat one, no snapshot is usable.
 */
bool rig_visibility_build(const struct rig_history *history, const uint32_t *writers, struct rig_arena *arena,
                          struct rig_visibility *visibility);
/* The rows of an operation; `*count` is 0 without a view. */
const struct rig_txn_view_row *rig_visibility_rows(const struct rig_visibility *visibility, uint32_t txn, uint32_t op,
                                                   uint32_t *count);
/* The snapshot that the operation read, at whatever server; RIG_SNAPSHOT_NONE. */
uint32_t rig_visibility_snapshot(const struct rig_visibility *visibility, uint32_t txn, uint32_t op);
/* Whether the snapshot, which is usable, shows the commit. Its own transaction's it does not. */
bool rig_visibility_sees(const struct rig_visibility *visibility, uint32_t snapshot, uint32_t commit);
/* The number of commits that the snapshot, which is usable, shows; without forks the first ones of `order`. */
uint32_t rig_visibility_prefix(const struct rig_visibility *visibility, uint32_t snapshot);
/* A commit that usable snapshot `a` shows and `b` does not, or RIG_COMMIT_NONE. */
uint32_t rig_visibility_difference(const struct rig_visibility *visibility, uint32_t a, uint32_t b);
/* The commit of the transaction with this number, or RIG_COMMIT_NONE. */
uint32_t rig_visibility_find(const struct rig_visibility *visibility, uint64_t id);
/* At a standby: the first `*least` to `*most` commits of the stream. False where no prefix fits. */
bool rig_visibility_bounds(const struct rig_visibility *visibility, uint32_t snapshot, uint32_t *least, uint32_t *most);

#endif
