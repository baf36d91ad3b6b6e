/*
 * Which runs of a store stay: `keep: {runs: 30, days: 90, failed: all, bytes: 20GiB}`.
 *
 *   runs    the newest N runs of each name stay
 *   days    runs that began more than N days ago are old, too
 *   failed  of the older ones, the newest N of each name that are not `ok` stay, too; or all
 *   bytes   while the store is larger, the oldest runs go that `failed` does not keep
 *
 * The newest run of each name always stays; so does a run that is protected, has no mark or is under way.
 */
#ifndef RIG_JOBS_STORE_RETENTION_H
#define RIG_JOBS_STORE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jobs/store/run_list.h"

#define RIG_RETENTION_ALL INT64_MAX

struct rig_retention {
    bool is_given;                     /* something limits the store */
    int64_t runs, days, failed, bytes; /* RIG_RETENTION_ALL: no limit */
};

void rig_retention_init(struct rig_retention *retention);
/* "runs=30", "days=90", "failed=all", "bytes=20GiB". RIG_E_PLAN without a place. */
enum rig_rc rig_retention_set(struct rig_retention *retention, const char *text, struct rig_err *err);
/* Reads a file with `keep: {...}`. RIG_E_PLAN with the place. */
enum rig_rc rig_retention_load(struct rig_retention *retention, const char *path, struct rig_err *err);

/* Why a run goes; NULL: it stays. `list` is not filtered; `reasons` has a slot for each of its runs. */
void rig_retention_choose(const struct rig_retention *retention, const struct rig_run_list *list, const char **reasons);

#endif
