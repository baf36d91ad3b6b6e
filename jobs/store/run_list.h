/*
 * All runs of a store, the cells of its matrices as runs of their own, and everything else that lies where runs should
 * be: nothing is skipped.
 *
 * Space: a few KiB a run. Time: the sizes of all results.json, and a look at each file for its size.
 */
#ifndef RIG_JOBS_STORE_RUN_LIST_H
#define RIG_JOBS_STORE_RUN_LIST_H

#include "base/arena.h"
#include "jobs/store/stored_run.h"

/* Zeroed: empty. */
struct rig_run_list {
    struct rig_arena arena;
    struct rig_stored_run *runs; /* by name, then the newest first */
    size_t count, capacity;
    int store; /* the open folder; -1 */
};

/* A filter for lists; NULL or 0 where it is not set. */
struct rig_run_filter {
    const char *name;          /* a pattern of the shell (fnmatch) */
    const char *driver;        /* a pattern of the shell */
    uint32_t states;           /* bits of rig_stored_state; 0: all */
    rig_anomaly_set anomalies; /* bits of rig_anomaly: it has one of them; 0: any run */
    const char *since;         /* as rig_run_list_since() gives it */
};

/* `list` is empty. RIG_E_INPUT when `store` is no readable folder; release the list in any case. */
enum rig_rc rig_run_list_read(const char *store, struct rig_run_list *list, struct rig_err *err);
void rig_run_list_done(struct rig_run_list *list);
enum { RIG_RUN_LIST_SINCE_BYTES = 32 };

/*
 * Reads a UTC time or its beginning, from the year on: `2026`, `20261101`, `2026-11-01`, `20261101T1530`,
 * `2026-11-01T15:30:05.250Z`. Gives it in the form of the times that name runs. False: it is none.
 */
bool rig_run_list_since(const char *text, char since[RIG_RUN_LIST_SINCE_BYTES]);
/* Drops the runs that do not match. */
void rig_run_list_filter(struct rig_run_list *list, const struct rig_run_filter *filter);
/* Leaves the folders that can be removed: cells go with their matrix. */
void rig_run_list_drop_cells(struct rig_run_list *list);
/* The run with these names, or NULL. */
const struct rig_stored_run *rig_run_list_find(const struct rig_run_list *list, const char *name, const char *time);

#endif
