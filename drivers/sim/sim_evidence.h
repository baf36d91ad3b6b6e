/*
 * The certificate of the simulated database (drivers/driver.h): its commits with the changes of rows in the order in
 * which they were made, and, if asked for, the snapshot of each statement and the writers of its rows.
 *
 * A transaction gets a number with its first write. A snapshot shows the transactions below `xmax` that are not in
 * progress; one of an earlier commit lists the transactions since then as in progress.
 *
 * Time: a snapshot takes the transactions in progress, and those since its commit. Space: 16 bytes a commit, 24 a
 * change, 24 a view, 16 a row, 32 a snapshot and 8 a transaction in progress, until the end. Threads: one.
 */
#ifndef RIG_DRIVERS_SIM_SIM_EVIDENCE_H
#define RIG_DRIVERS_SIM_SIM_EVIDENCE_H

#include "base/vec.h"
#include "drivers/driver.h"

#define RIG_SIM_NO_SNAPSHOT UINT32_MAX

struct rig_sim_change {
    int64_t key, id, number; /* number 0: the row was removed */
};
struct rig_sim_logged {
    uint64_t number; /* of the transaction */
    size_t first_change;
};
struct rig_sim_snapshot_text {
    uint64_t xmin, xmax;
    size_t first_active;
    uint32_t active_count;
};
struct rig_sim_view_row {
    uint64_t version;
    uint32_t op, snapshot; /* into the snapshots; RIG_SIM_NO_SNAPSHOT */
};
struct rig_sim_view {
    uint64_t id;
    size_t first_row;
    bool single;
};

RIG_VEC(struct rig_sim_change, rig_sim_changes)
RIG_VEC(struct rig_sim_logged, rig_sim_logged_vec)
RIG_VEC(struct rig_sim_snapshot_text, rig_sim_snapshot_texts)
RIG_VEC(struct rig_sim_view_row, rig_sim_view_rows)
RIG_VEC(struct rig_sim_view, rig_sim_views)
RIG_VEC(uint64_t, rig_sim_numbers)

/* The rows of one transaction's statements. */
struct rig_sim_seen_views {
    struct rig_sim_view_rows rows;
    struct rig_sim_snapshot_texts snapshots;
    struct rig_sim_numbers active;
};

struct rig_sim_evidence {
    bool keeps, full;
    uint64_t last_number;
    struct rig_sim_numbers active; /* transactions in progress, ascending */
    struct rig_sim_numbers since;  /* those of each commit of the engine */
    struct rig_sim_logged_vec commits;
    struct rig_sim_changes changes;
    struct rig_sim_views views;
    struct rig_sim_seen_views seen; /* of all views */
};

void rig_sim_evidence_done(struct rig_sim_evidence *evidence);
void rig_sim_seen_views_clear(struct rig_sim_seen_views *seen);
void rig_sim_seen_views_done(struct rig_sim_seen_views *seen);

/* A number for a transaction that is in progress from now on; 0 when memory runs out. */
uint64_t rig_sim_evidence_enter(struct rig_sim_evidence *evidence);
/* It is no longer in progress. */
void rig_sim_evidence_leave(struct rig_sim_evidence *evidence, uint64_t number);
/* The next commit of the engine, with its changes. False when memory runs out: nothing has changed then. */
bool rig_sim_evidence_log(struct rig_sim_evidence *evidence, uint64_t number, const struct rig_sim_changes *changes);

/* Adds the snapshot of the engine's first `commit` commits, for a transaction with the number `own` (0: none); false
 * when memory runs out. */
bool rig_sim_evidence_show(const struct rig_sim_evidence *evidence, uint64_t commit, uint64_t own,
                           struct rig_sim_seen_views *seen);
/* A row of the operation; `shown`: it has the last snapshot. */
bool rig_sim_evidence_row(struct rig_sim_seen_views *seen, uint32_t op, uint64_t version, bool shown);
/* The view of an acknowledged transaction: its number, or 0 where it has none. *failed: memory ran out. */
uint64_t rig_sim_evidence_view(struct rig_sim_evidence *evidence, uint64_t own, bool single,
                               const struct rig_sim_seen_views *seen, bool *failed);

/* Hands everything over. False when the sink gave up. */
bool rig_sim_evidence_give(const struct rig_sim_evidence *evidence, const struct rig_certificate_sink *sink);

#endif
