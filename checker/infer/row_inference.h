/*
 * Inference for the workload predicate (history/types/row_ops.h): version orders of rows, and what reads by condition
 * say of the rows that they do not show.
 *
 * - ww: from the writer of a version to the writer of the next one, which shows it. wr: from the writer of a version to
 *   a read that shows it. rw: from that read to the writer of the next version.
 * - A read that does not show a row saw one of its versions that do not meet the condition, or no version. These span
 *   from `first` to `last` in the row's chain (struct rig_row_span); in every interpretation the read precedes each
 *   version after `last` that changes whether the row meets the condition. Only the first of these needs an edge, and
 *   only where all versions after `last` meet the condition: so it is the writer of the version after `last`. The read
 *   saw no version that its transaction made later, and none after that. Only the last version that a transaction made
 *   counts: no other one can see an earlier one.
 * - The read also follows what led to `first`. That is the time before the insert of most rows, which needs no edge. A
 *   row that was there from the start (RIG_ROWS_INITIAL) has no such time: `first` is its first version that does not
 *   meet the condition, and there is a wr edge from that version's writer, which changed what the read would have
 *   shown. Where each version meets the condition, the read cannot be (predicate-read-miss).
 * - Which version of such a row the read saw is a choice where one between `first` and `last` meets the condition. That
 *   it was the first is always possible, and has only rw edges by a predicate more than the graph: so levels that do
 *   not count these edges do not depend on the choice (missing_reads of struct rig_inference).
 * - A read of one row by its key (RIG_ROW_BY_KEY) is a read of an item, also where it does not show the row.
 *
 * - A read whose rows only a commit shows (RIG_PLACE_LOST) has edges for the rows that it changed, and none for others.
 * - With the snapshots of a certificate (struct rig_read_places) a read saw one version of each row. It follows the
 *   last version up to this one that changed what the read shows of the row, and precedes the first one after it that
 *   does (struct rig_row_turns). A list has its shown rows as items, so this is whether the row meets the condition: wr
 *   and rw by a predicate. A total changes with each version that it adds up: it reads these rows as items, and rw to
 *   the version that replaced one is of an item. Changes before and after these follow by ww.
 * Updates and deletes are reads, too. Only rw edges by a predicate are left out for repeatable read (PL-2.99): those to
 * rows that a read does not show, and those that rest on a snapshot. Every other level above read committed has them
 * (Adya, Liskov & O'Neil 2000, 4.4.3).
 *
 *   Most of these edges are made for all reads at once (row_sweep.h).
 *
 * Time: for each read, the rows that were ever in its table, and the rows that it shows times the statements of its own
 * transaction; with places that of row_sweep.h. Space: 8 bytes an edge.
 */
#ifndef RIG_CHECKER_INFER_ROW_INFERENCE_H
#define RIG_CHECKER_INFER_ROW_INFERENCE_H

#include "checker/infer/inference.h"
#include "checker/infer/row_versions.h"
#include "checker/model/assumption.h"

/* The versions that a read which does not show a row may have seen of it: RIG_ROW_NONE is the time before the
 * insert. */
struct rig_row_span {
    bool known; /* false: any, so that nothing follows */
    uint32_t first, last;
    uint32_t end; /* the last version that any read of its place may have seen, whatever its condition */
};

/* The span of a read by that condition, of the row that statement `insert` inserted. `own`: the first version of the
 * row that the read's transaction made after it, or RIG_ROW_NONE. */
struct rig_row_span rig_row_span_of(const struct rig_row_chains *rows, uint32_t insert,
                                    const struct rig_row_where *condition, uint32_t own);
/* That version. */
uint32_t rig_row_later_version(const struct rig_row_chains *rows, uint32_t txn, uint32_t op, int64_t id);

/* The versions of a row that changed what a read shows of it: the last one that the read saw, and the first one that it
 * did not; RIG_ROW_NONE: there is none. Such a version changes whether the row meets the condition. For counts and sums
 * each version that meets the condition is one, too, since both show versions. Before its insert the row does not meet
 * it. Only the last version that a transaction made of the row counts: no other transaction can see an earlier one. */
struct rig_row_turns {
    bool known;   /* false: the versions are not all known */
    bool is_item; /* the read counted the version that `missed` replaced: rw of an item */
    uint32_t seen, missed;
};

/* Whether a read by that condition adds up versions, of which it shows the total. */
static inline bool rig_row_adds(const struct rig_row_where *condition)
{
    return condition->form != RIG_ROW_LISTED;
}
/* For a read by that condition that saw the commits with places below `seen`; the history has places. */
struct rig_row_turns rig_row_turns_of(const struct rig_row_chains *rows, uint32_t insert,
                                      const struct rig_row_where *condition, uint32_t seen);
/* The place of the version's commit, and whether the row's next version is of the same commit: then no other
 * transaction can see this one. */
static inline uint32_t rig_row_place(const struct rig_row_chains *rows, uint32_t version)
{
    return rows->history->places->of_txn[rig_rows_writer(rows, version)];
}
static inline bool rig_row_is_replaced_at_once(const struct rig_row_chains *rows, uint32_t version)
{
    const uint32_t next = rows->versions[version].next;
    return next != RIG_ROW_NONE && rig_row_place(rows, next) == rig_row_place(rows, version);
}
/* The number of commits that the read saw; RIG_PLACE_NONE: not known. */
uint32_t rig_row_seen(const struct rig_history *history, uint32_t txn, uint32_t op);
/* The version of the row that the transaction made itself before operation `op`, and the operation of its statement
 * (where not NULL); RIG_ROW_NONE. */
uint32_t rig_row_own_version(const struct rig_row_chains *rows, uint32_t txn, uint32_t op, int64_t id,
                             uint32_t *own_op);

/* See struct rig_type_inference. */
enum rig_rc rig_infer_rows(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);
bool rig_infer_items_of_rows(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items);

#endif
