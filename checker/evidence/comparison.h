/*
 * The common part of the comparisons of a history with its certificate, for versions of keys (certificate_judge.h,
 * snapshot_judge.h) and of rows (row_judge.h). Each of them finds by itself which commit made a version; from there on
 * the questions about numbers, writers and snapshots are the same.
 */
#ifndef RIG_CHECKER_EVIDENCE_COMPARISON_H
#define RIG_CHECKER_EVIDENCE_COMPARISON_H

#include "checker/evidence/visibility.h"
#include "checker/model/certified.h"

struct rig_comparison {
    const struct rig_history *history; /* borrowed, like the rest */
    struct rig_certified *into;
    struct rig_visibility visibility; /* zeroed without views */
    bool failed;                      /* memory ran out */
};

/* A discrepancy of the operation, so far without a commit, a snapshot or a row. */
struct rig_discrepancy rig_discrepancy_at(enum rig_discrepancy_kind kind, uint32_t txn, uint32_t op);
/* The same of the first operation that read the snapshot, whose transaction is known. */
struct rig_discrepancy rig_discrepancy_of_snapshot(const struct rig_comparison *comparison,
                                                   enum rig_discrepancy_kind kind, uint32_t snapshot);
/* Counts the discrepancy, and keeps it as long as there are few of its kind. */
void rig_comparison_note(struct rig_comparison *comparison, struct rig_discrepancy found);

/* A transaction of unknown outcome that writes: `exact`, a commit has exactly its writes; `cannot`, it certainly did
 * not commit. */
void rig_comparison_resolve(struct rig_comparison *comparison, bool exact, bool cannot);
/* Two successive versions, made by different commits: notes a snapshot that shows only the later one. Without forks.
 * True when there is one. `row`: 0 for versions of keys. */
bool rig_comparison_order(struct rig_comparison *comparison, uint32_t before, uint32_t commit, int64_t row);
/* The operation read a version that `commit` made, and its row names `named` as the writer; `by_writer`: the number
 * that the writer's own statement showed, or 0. A part of a transaction after a savepoint has a number of its own. */
void rig_comparison_writer(struct rig_comparison *comparison, struct rig_discrepancy at, uint64_t named,
                           uint64_t by_writer);
/* Whether the transaction, which made exactly this commit, had another number; with a view only. */
bool rig_comparison_has_other_number(const struct rig_comparison *comparison, uint32_t txn, uint32_t commit);

#endif
