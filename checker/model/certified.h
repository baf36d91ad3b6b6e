/*
 * The result of checking a history against the certificate of its database (docs/adr/0034-certificates.md).
 *
 * Two witnesses of one run: what the clients saw, and what the database says that it committed. A discrepancy between
 * them is a finding of its own, whatever level was asked for. Where they agree, the certificate resolves transactions
 * of unknown outcome by their content, gives every version its place, and so decides every level.
 */
#ifndef RIG_CHECKER_MODEL_CERTIFIED_H
#define RIG_CHECKER_MODEL_CERTIFIED_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/verdict.h"

/* X(id, name, definition) */
#define RIG_DISCREPANCY_TABLE(X)                                                                                       \
    X(LOST_COMMIT, "lost-commit", "an acknowledged transaction is missing in the database's stream of commits")        \
    X(RESURRECTED_ABORT, "resurrected-abort", "a transaction that failed is in the database's stream of commits")      \
    X(TORN_COMMIT, "torn-commit",                                                                                      \
      "a commit in the database's stream has other changes than the transaction that its client sent")                 \
    X(CERTIFICATE_MISMATCH, "certificate-mismatch",                                                                    \
      "an acknowledged read shows a state that its key never had in the database's stream of commits")                 \
    X(SNAPSHOT_MISMATCH, "snapshot-mismatch",                                                                          \
      "an acknowledged read shows another state than its snapshot and the transaction's own writes give")              \
    X(SNAPSHOT_FORK, "snapshot-fork", "each of two snapshots of a server shows a commit that the other one does not")  \
    X(VERSION_INVERSION, "version-inversion", "a snapshot shows a version of a key, and not the version before it")    \
    X(MISSED_COMMIT, "missed-commit",                                                                                  \
      "a transaction's snapshot lacks a commit that was acknowledged before the transaction began")                    \
    X(UNSEEN_OVERWRITE, "unseen-overwrite", "a transaction overwrote a version that its only snapshot does not show")  \
    X(UNSTEADY_SNAPSHOT, "unsteady-snapshot", "a transaction at an isolation level with one snapshot had several")     \
    X(VERSION_MISMATCH, "version-mismatch",                                                                            \
      "a row names another commit as its writer than the one that made its value")                                     \
    X(UNKNOWN_VERSION, "unknown-version", "a row names a writer that is not in the database's stream of commits")      \
    X(NUMBER_MISMATCH, "number-mismatch",                                                                              \
      "a transaction's own number in the database is not that of the commit with its writes")

enum rig_discrepancy_kind {
#define RIG_DISCREPANCY_ENUM(id, name, definition) RIG_DISCREPANCY_##id,
    RIG_DISCREPANCY_TABLE(RIG_DISCREPANCY_ENUM)
#undef RIG_DISCREPANCY_ENUM
        RIG_DISCREPANCY_COUNT
};

struct rig_discrepancy_info {
    const char *name, *definition;
};
extern const struct rig_discrepancy_info rig_discrepancy_infos[RIG_DISCREPANCY_COUNT];

/* A request for a discrepancy by name is refused with these words. */
#define RIG_DISCREPANCY_NOT_ASKED "is not asked for: each check of a history with a certificate fails on it"
bool rig_discrepancy_is_name(const char *name);

struct rig_discrepancy {
    enum rig_discrepancy_kind kind;
    uint32_t txn;                      /* of the history that was compared */
    uint32_t op;                       /* its operation: a write, or of a mismatch the read */
    uint32_t commit;                   /* into the certificate's, where the discrepancy is with one; else UINT32_MAX */
    uint32_t snapshot, other_snapshot; /* into the certificate's; UINT32_MAX: none */
    uint32_t other_commit;             /* of a fork: what the other snapshot shows; of an inversion: the one before */
    bool of_lost;                      /* `commit` is one of those that a failover lost */
    int64_t row;                       /* of a table: its id; 0: none */
    uint32_t name;                     /* of the transaction in reports */
    char *text;                        /* one or more sentences */
};

enum { RIG_DISCREPANCIES_KEPT = 8 /* of each kind */ };

struct rig_certified {
    const char *source, *ending; /* as in struct rig_certificate */
    bool complete;
    uint64_t commit_count, change_count;
    uint64_t foreign_count;                          /* commits with a value that no transaction of the history wrote */
    uint64_t resolved_ok, resolved_fail, open_count; /* writing transactions of unknown outcome */
    uint64_t
        recovered; /* of these: updates and deletes of rows whose answers did not come, and the certificate has them */
    uint64_t counts[RIG_DISCREPANCY_COUNT];
    struct rig_discrepancy *kept[RIG_DISCREPANCY_COUNT]; /* at most RIG_DISCREPANCIES_KEPT, the first ones */
    uint64_t view_count, snapshot_count, set_aside;      /* views, their comparable snapshots, and those left out */
    uint64_t reads_compared, versions_compared; /* with the state at their snapshot; with the writer of their row */
    uint64_t standby_reads;                     /* by conditions, on standbys: they are not compared with a state */
    enum rig_fate by_snapshots;                 /* of snapshot isolation: held or not refuted; with views */
    bool agrees;                                /* there is no discrepancy */
    bool decides;                               /* the fates of the verdict are those of the certificate */
    enum rig_fate inferred[RIG_LEVEL_COUNT];    /* by the inference from reads alone */
    struct rig_verdict
        *verdict; /* by the versions of the certificate; NULL: see `unjudged`. Registers are lists there */
    char *unjudged;
    struct rig_history *history;     /* of that verdict; owned */
    struct rig_certificate *assumed; /* made of places that transactions have (--assume order); owned, or NULL */
    struct rig_arena arena;
};

/* A place in the database's order as people write it: "0/16B3748", or a number where there are no timelines. */
void rig_certificate_place(const struct rig_certificate *certificate, uint32_t commit, char text[static 64]);
/* The same of a place on a timeline; 0: there is no such thing. */
void rig_certificate_print_place(uint64_t place, uint32_t timeline, char text[static 64]);

#endif
