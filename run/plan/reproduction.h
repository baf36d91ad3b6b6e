/*
 * The library of known bugs: entries that `rig reproduce` can show again.
 *
 * An entry is a file configs/reproductions/<name>.yaml: the plan that shows the bug, keys of that plan to override, the
 * shape of the anomaly, facts for people, and, where an order of steps shows it every time, the scenario.
 * docs/findings/README.md describes the keys and lists the entries. Files are found as base/data_folder.h says;
 * RIG_CONFIG_PATH names further folders like `configs`.
 *
 * Errors: RIG_E_PLAN with the place for a file that is no entry, or when there is none.
 */
#ifndef RIG_RUN_PLAN_REPRODUCTION_H
#define RIG_RUN_PLAN_REPRODUCTION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"
#include "checker/judge/known_anomaly.h"

struct rig_reproduction {
    const char *name;
    const char *database; /* for people, with the versions that have the bug */
    const char *level;    /* for people: the isolation level asked for */
    const char *shows;
    const char *page; /* relative to docs/findings/ */
    int64_t typical_ns;
    int64_t within_ns;                /* no further run begins after this time */
    const char *plan;                 /* its path */
    const char *scenario;             /* its path: played on the plan's database instead of the plan's load; or NULL */
    struct rig_text_list set;         /* KEY=VALUE */
    struct rig_text_list start, stop; /* commands around the runs, for a cluster that rig does not start; or empty */
    struct rig_known_anomaly expect;
    const char *driver; /* of the runs that have the bug; NULL: of any */
    /* The runs that have the bug have one of these: isolation levels of that driver, and versions of the server, "15"
     * for each 15.x; empty: any. */
    struct rig_text_list isolation, versions;
};

/* From the folder of configurations, or from the file `name` where it has a `/` or ends in `.yaml`. */
enum rig_rc rig_reproduction_load(const char *name, struct rig_arena *arena, struct rig_reproduction *reproduction,
                                  struct rig_err *err);

/* The facts of a run that are known; NULL or empty: not known. */
struct rig_reproduction_run {
    const char *driver, *isolation, *server; /* the server as the driver describes it: "PostgreSQL 15.20" */
};

/*
 * Whether the entry is about such a run. Else `why_not` says what differs. `unsure`: something that the entry names is
 * not known of the run, and counts as right.
 */
bool rig_reproduction_is_about(const struct rig_reproduction *reproduction, const struct rig_reproduction_run *run,
                               bool *unsure, struct rig_buf *why_not);

/* Whether the folder of configurations has an entry of this name. */
bool rig_reproduction_exists(const char *name);

/*
 * Gives the names of all entries, sorted and each once, from `arena`. RIG_E_PLAN when there is no folder of them.
 */
enum rig_rc rig_reproduction_names(struct rig_arena *arena, struct rig_text_list *names, struct rig_err *err);

#endif
