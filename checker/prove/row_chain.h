/*
 * The versions of a row, and the reads that show or miss them, from the raw history (history/types/row_ops.h): all
 * statements that certainly or possibly touched the row are collected, and put in order by the versions that they
 * replaced.
 *
 * Functions that check something give the proof that is missing, about the transaction that reads, or NULL when it
 * holds; "" when memory runs out.
 *
 * Time: linear in the history for each row, and the square of its versions. Space: 24 bytes a version.
 */
#ifndef RIG_CHECKER_PROVE_ROW_CHAIN_H
#define RIG_CHECKER_PROVE_ROW_CHAIN_H

#include "base/vec.h"
#include "checker/prove/commits.h"
#include "history/types/row_parts.h"

/* ---- operations ---- */

/* Whether the operation is a statement that writes rows. */
bool rig_row_op_writes(const struct rig_txn_op *op);
/* The condition of the read at operation `op` of a transaction, without what its clause adds. */
struct rig_row_where rig_row_asked_at(const struct rig_txn_op *ops, uint32_t op);
/* The condition with it. */
struct rig_row_where rig_row_asked_by(const struct rig_history *history, uint32_t txn, uint32_t op);
/* The transaction's read of the table with a known result, or NULL; of rows, unless a count may do. */
const struct rig_txn_op *rig_row_known_read(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key,
                                            bool or_count);
/* How often the read shows the row (any, where `id` is NULL), at the version (any, where `version` is NULL). */
uint32_t rig_row_count_shown(const struct rig_history *history, const struct rig_txn_op *read, const int64_t *id,
                             const int64_t *version);
/* The place of the statement in its transaction, or UINT32_MAX. */
uint32_t rig_row_statement_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t number);
/* The read, at `op`, of an update or delete of that number, whose result is known; NULL: it is none. */
const struct rig_txn_op *rig_row_replacing_read(const struct rig_history *history, uint32_t txn, uint32_t op,
                                                uint32_t key, int64_t number);
/* Row number i that the statement wrote: the one that it inserts, or one that its read shows. False: there is none. */
bool rig_row_written(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t i, int64_t *id);
/* For rig_commits_prove(). */
bool rig_row_follow_reads(struct rig_commits *commits, uint32_t txn);

/* ---- versions ---- */

struct rig_row_touch {
    int64_t version, replaced; /* replaced: 0, by the insert */
    uint32_t txn;
};

RIG_VEC(struct rig_row_touch, rig_row_touches)

/* All versions of the row. */
const char *rig_row_touches_collect(const struct rig_history *history, const bool *committed, uint32_t key, int64_t id,
                                    struct rig_row_touches *all);

/* A walk along the versions of a row, in the order in which they replaced each other. */
struct rig_row_walk {
    const struct rig_history *history;
    uint32_t key;
    const struct rig_row_touches *all;
    size_t taken;
    int64_t version;
    uint32_t contents, txn;
    bool is_final; /* its transaction made no later version: others can see this one */
};

struct rig_row_walk rig_row_walk_along(const struct rig_history *history, uint32_t key,
                                       const struct rig_row_touches *all);
/* The next version. False: that was the last one, or `lacks` says why their order is not known. */
bool rig_row_walk_on(struct rig_row_walk *walk, const char **lacks);

/* The contents of the row at that version; RIG_ROW_CONTENTS_UNKNOWN. Time: its versions times the history. */
uint32_t rig_row_contents_at_version(const struct rig_history *history, uint32_t key, int64_t id, int64_t version);

enum rig_row_met { RIG_ROW_IS_UNMET, RIG_ROW_IS_MET, RIG_ROW_MET_UNKNOWN };

/* Whether the row meets the condition at that version, whose contents are what its statements make of the insert's. */
enum rig_row_met rig_row_meets_at(const struct rig_history *history, const struct rig_row_where *condition,
                                  uint32_t key, int64_t id, int64_t version);

/* Whether `later` is a version of the row after `earlier`, and the order of all its versions is known. */
bool rig_row_is_later(const struct rig_history *history, const bool *committed, uint32_t key, int64_t id,
                      int64_t earlier, int64_t later);
/* Whether `read` shows a row at version `earlier`, and a statement, whose own read is `replaces`, made version `later`
 * of the same row after it. */
bool rig_row_is_overwritten(const struct rig_history *history, const bool *committed, const struct rig_txn_op *read,
                            int64_t earlier, const struct rig_txn_op *replaces, int64_t later);
/* Whether the statement at `op` made version `earlier` of a row of which the other one made version `later` after
 * it. */
bool rig_row_is_rewritten(const struct rig_history *history, const bool *committed, uint32_t txn, uint32_t op,
                          const struct rig_txn_op *replaces, int64_t later);

/* ---- reads that do not show a row ---- */

/* A read that does not show a row. */
struct rig_row_miss {
    const struct rig_history *history;
    const bool *committed;
    uint32_t txn, op, key;
    int64_t id;
};

/* The read certainly does not show the row, which its transaction had not written. */
const char *rig_row_check_absent(const struct rig_row_miss *miss);
/* The same, and the row meets the condition at all versions from this one on, up to one that the reader itself made
 * later: so the read saw an earlier one. */
const char *rig_row_check_before(const struct rig_row_miss *miss, int64_t from);
/* The same of a row that was there from the start, which meets the condition until version `to` (0: at each that the
 * read can have seen): so the read saw that version or a later one. */
const char *rig_row_check_gone(const struct rig_row_miss *miss, int64_t to);
/* Whether the read saw what the transaction committed. */
typedef bool rig_row_is_seen(const void *context, uint32_t txn);
/* The same, and the row meets the condition at each version from that of a transaction that the read saw on, until
 * version `to` by `txn`: so it saw `to` or a later version. */
const char *rig_row_check_stretch(const struct rig_row_miss *miss, rig_row_is_seen *is_seen, const void *context,
                                  uint32_t txn, int64_t to);

#endif
