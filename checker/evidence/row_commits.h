/*
 * The commits of a certificate and the transactions on rows (history/types/row_ops.h) that made them, by content.
 *
 * A certificate has for each change of a row its id and its new version, or the id and 0 where the row was removed. An
 * insert and an update name their statement by the version. A removal names none: it is of the transaction that has the
 * other changes of the commit, or of one whose delete shows the row, first of one that has exactly the commit's rows.
 * The mark of a delete (history/types/row_ops.h) names its transaction, too, and is no change of a row.
 *
 * A transaction made a commit exactly if the commit has the rows of each of its statements, statement by statement, and
 * each update or delete shows the version that the row had in the certificate before.
 *
 * Time: O(changes + versions), and a search for each. Space: 32 bytes a change, 8 a version. Threads: one.
 */
#ifndef RIG_CHECKER_EVIDENCE_ROW_COMMITS_H
#define RIG_CHECKER_EVIDENCE_ROW_COMMITS_H

#include "checker/infer/row_versions.h"
#include "history/model/certificate.h"

/* A change of a row. */
struct rig_row_change {
    int64_t id, version; /* version 0: removed; equal, and of a delete: its mark */
    uint32_t key, row;   /* `row`: the statement that inserts it, or RIG_ROW_NONE */
    uint32_t statement;  /* that made it; RIG_ROW_NONE: none is known */
    uint32_t made;       /* into the versions of the history; RIG_ROW_NONE */
    uint32_t before;     /* the row's change before; RIG_ROW_NONE */
    uint32_t commit;
    uint32_t op; /* of the statement in the transaction that made exactly this commit; else RIG_ROW_NONE */
};

/* The transaction of a commit. */
enum rig_row_match {
    RIG_ROW_COMMIT_FOREIGN, /* none */
    RIG_ROW_COMMIT_OPEN,    /* perhaps one whose delete has an unknown result */
    RIG_ROW_COMMIT_PARTLY,  /* one that has some of the changes, or has others, too */
    RIG_ROW_COMMIT_EXACT,   /* one that made exactly these, as far as its results are known */
};

struct rig_row_commits {
    const struct rig_row_chains *rows;         /* borrowed */
    const struct rig_certificate *certificate; /* borrowed */
    struct rig_row_change *changes;            /* in the order of the certificate */
    uint32_t *first;                           /* per commit, and one more: into changes */
    uint32_t *writers;                         /* per commit: the transaction; UINT32_MAX */
    uint8_t *matches;                          /* per commit: enum rig_row_match */
    uint32_t *commit_of;                       /* per transaction: its first commit; UINT32_MAX */
    /* Per transaction that made its first commit exactly: a later one that removes its rows again; UINT32_MAX. */
    uint32_t *again_of;
    uint32_t *change_of;      /* per version: its change; RIG_ROW_NONE */
    uint32_t *last;           /* per statement that inserts: the row's last change; RIG_ROW_NONE */
    uint8_t *is_partly_known; /* per transaction: some statement's rows are not known */
    uint32_t *deletes,
        *more; /* per statement that inserts: the last version that deletes the row; per version: the one before
                               * it; RIG_ROW_NONE */
};

/* Everything is in the arena. Each change of the certificate has two elements. False when memory runs out. */
bool rig_row_commits_build(const struct rig_row_chains *rows, const struct rig_certificate *certificate,
                           struct rig_arena *arena, struct rig_row_commits *commits);

/* How often the commits removed the row that statement `insert` inserted. */
uint32_t rig_row_commits_removals(const struct rig_row_commits *commits, uint32_t insert);
/* The deletes that show this row: of acknowledged transactions, or of all that did not fail. */
uint32_t rig_row_commits_removers(const struct rig_row_commits *commits, uint32_t insert, bool acknowledged);

#endif
