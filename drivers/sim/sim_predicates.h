/*
 * The workloads predicate and sql (history/types/row_ops.h) in the simulated database: tables of rows with all their
 * versions.
 *
 * A transaction keeps its writes to itself until it commits, all at once; no statement waits for another transaction.
 *
 *   serializable         reads a snapshot; commits when no row that it wrote, and no result of any of its reads, has
 *                        changed, not even for a while
 *   repeatable-read      the same, but rows may have appeared: no row that a read showed or added up has changed
 *   snapshot-isolation   reads a snapshot; commits when no row that it wrote has changed
 *   read-committed       each statement sees the latest commits; commits when no row that it wrote has changed
 *   read-uncommitted     the same
 *
 * Updates and deletes are reads, too, and take effect where their condition is read.
 *
 * Time: a statement takes the rows of its table, a commit the changes of its tables since its snapshot. Space: 24 bytes
 * a row, 40 a version, 16 a change, until the table is forgotten. Source: Kung & Robinson, TODS 1981 (validation).
 * Threads: one.
 */
#ifndef RIG_DRIVERS_SIM_SIM_PREDICATES_H
#define RIG_DRIVERS_SIM_SIM_PREDICATES_H

#include "base/table.h"
#include "drivers/sim/sim_evidence.h"
#include "history/types/row_ops.h"

struct rig_sim_engine;
struct rig_sim_session;

struct rig_sim_stored_version {
    int64_t number; /* of its statement; 0: removed */
    uint64_t commit, writer;
    uint32_t older;    /* UINT32_MAX: the row's first one */
    uint32_t contents; /* of the workload sql */
    uint32_t lost;     /* 1 + the column whose index lost it, by a bug; 0: none */
};
struct rig_sim_stored_row {
    int64_t id;
    uint32_t newest;
};
struct rig_sim_stored_change {
    uint64_t commit;
    uint32_t row, version;
};

RIG_VEC(struct rig_sim_stored_version, rig_sim_stored_versions)
RIG_VEC(struct rig_sim_stored_row, rig_sim_stored_rows)
RIG_VEC(struct rig_sim_stored_change, rig_sim_stored_changes)

struct rig_sim_stored_table {
    struct rig_sim_stored_rows rows;
    struct rig_sim_stored_versions versions;
    struct rig_sim_stored_changes changes;
};

/* The version of the row that commits up to `commit` show; UINT32_MAX: it was not inserted yet. */
static inline uint32_t rig_sim_version_at(const struct rig_sim_stored_table *table, uint32_t row, uint64_t commit)
{
    uint32_t version = table->rows.at[row].newest;
    while (version != UINT32_MAX && table->versions.at[version].commit > commit)
        version = table->versions.at[version].older;
    return version;
}

/* A row as its transaction leaves it. */
struct rig_sim_left_row {
    uint32_t table, row; /* row UINT32_MAX: it inserted it */
    uint32_t base;       /* the version that it saw first */
    int64_t id, number;  /* number 0: removed */
    uint32_t contents;
};
struct rig_sim_where {
    uint32_t table;
    uint64_t commit; /* the last one that it saw */
    struct rig_row_where condition;
};

RIG_VEC(struct rig_sim_stored_table, rig_sim_stored_tables)
RIG_VEC(struct rig_sim_left_row, rig_sim_left_rows)
RIG_VEC(struct rig_sim_where, rig_sim_wheres)
RIG_VEC(int64_t, rig_sim_shown_rows)

struct rig_sim_predicates {
    struct rig_table by_key;
    struct rig_sim_stored_tables tables;
    struct rig_sim_numbers unused; /* tables that were forgotten */
    struct rig_sim_evidence evidence;
};

/* A transaction's part. */
struct rig_sim_predicate_work {
    uint64_t number; /* 0: it wrote nothing */
    bool aged;       /* its snapshot was old when it was taken */
    struct rig_sim_left_rows left;
    struct rig_sim_changes written; /* in the order of its statements */
    struct rig_sim_wheres reads;
    struct rig_sim_shown_rows shown; /* the elements of all results */
    struct rig_sim_seen_views seen;
    uint64_t view; /* number of its view once it is acknowledged; 0: none */
};

void rig_sim_predicates_init(struct rig_sim_predicates *predicates);
void rig_sim_predicates_done(struct rig_sim_predicates *predicates);
void rig_sim_predicates_forget(struct rig_sim_predicates *predicates, int64_t key);
void rig_sim_predicate_work_clear(struct rig_sim_predicate_work *work);
void rig_sim_predicate_work_done(struct rig_sim_predicate_work *work);

#endif
