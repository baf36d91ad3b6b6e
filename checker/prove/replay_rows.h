/*
 * The rows of a history of predicates (history/types/row_ops.h) while an order of its transactions is executed: which
 * rows there are, and the versions that were committed of each so far, with their contents (of the workload sql).
 *
 * Written from the format of histories alone, without the checker's chains of versions. Space: 68 bytes a row, 24 a
 * committed version. Threads: one.
 */
#ifndef RIG_CHECKER_PROVE_REPLAY_ROWS_H
#define RIG_CHECKER_PROVE_REPLAY_ROWS_H

#include "base/vec.h"
#include "checker/prove/replay_private.h"
#include "history/types/row_parts.h"

struct rig_replayed_row {
    int64_t id, version; /* version: the one committed last; 0: the row is not there yet. That of a deleted row is its
                            delete's number */
    int64_t own;         /* the version that the executed transaction gave it */
    uint32_t own_mark;   /* the execution in which it did; 0: none */
    uint32_t shown;      /* the read that shows it: one more than its place in the history */
    uint32_t event;      /* of the last commit: one more than its place in the order; 0: none */
    uint32_t past;       /* one more than the place of that commit in `past` */
    uint32_t key;
    uint32_t live_at;                /* its place among the rows of the table that are there */
    uint32_t contents, own_contents; /* of `version` and `own`; RIG_ROW_CONTENTS_UNKNOWN */
};

struct rig_replayed_version {
    int64_t version;
    uint32_t event, before; /* its place in the order; as `past` of the row */
    uint32_t contents;
};

RIG_VEC(struct rig_replayed_version, rig_replayed_past)
RIG_VEC(uint32_t, rig_replayed_own)

struct rig_replayed_rows {
    const struct rig_facts *facts;
    struct rig_replayed_row *rows; /* by key, then id */
    uint32_t *first;               /* per key, and one more: into rows, and into live */
    uint32_t *live, *live_count;   /* rows that are there; per key how many */
    uint32_t *unborn;              /* per key: rows that are there from the start, and not committed yet */
    struct rig_replayed_past past;
    struct rig_replayed_own own; /* rows that the executed transaction wrote */
    uint32_t mark;               /* of the execution */
};

/* Release with rig_replayed_rows_done(), also after a failure. */
enum rig_rc rig_replayed_rows_init(struct rig_replayed_rows *rows, const struct rig_facts *facts, struct rig_err *err);
void rig_replayed_rows_done(struct rig_replayed_rows *rows);

/* The row of that id, or NULL: no statement inserts it. Logarithmic. */
struct rig_replayed_row *rig_replayed_row_find(const struct rig_replayed_rows *rows, uint32_t key, int64_t id);
/* The rows that a condition on ids asks for: of `rows`, the first and *end. Another condition asks for all rows of the
 * table. */
uint32_t rig_replayed_rows_asked(const struct rig_replayed_rows *rows, uint32_t key,
                                 const struct rig_row_where *condition, uint32_t *end);

/* The version of a row for the executed transaction: its own one, else the one committed last; 0: it is not there yet.
 * `missed`, per event: the read did not see its commit; NULL: it saw all. */
int64_t rig_replayed_version(const struct rig_replayed_rows *rows, const struct rig_replayed_row *row,
                             const bool *missed);
/* The contents of a version of the row: the own one, or one that was committed; else RIG_ROW_CONTENTS_UNKNOWN. */
uint32_t rig_replayed_contents(const struct rig_replayed_rows *rows, const struct rig_replayed_row *row,
                               int64_t version);
/* Forgets what the last executed transaction wrote. */
void rig_replayed_rows_begin(struct rig_replayed_rows *rows);
/* The executed transaction writes the row with the statement at `op` of the history, in place of the version
 * `replaced`; 0: it inserts it. False when memory runs out. */
bool rig_replayed_row_write(struct rig_replayed_rows *rows, struct rig_replayed_row *row, uint32_t txn, uint32_t op,
                            int64_t replaced);
/* Commits a row that the executed transaction wrote, at that event. False when memory runs out. */
bool rig_replayed_row_commit(struct rig_replayed_rows *rows, struct rig_replayed_row *row, uint32_t event);

#endif
