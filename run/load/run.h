/*
 * The life of one run: cluster up, load, record, final reads, cluster down. Checking and reporting come after it, in
 * the caller; only a check during the run (online.h) is part of it.
 *
 * Everything started is stopped on every way out. When the user asks once, the load ends and the record is complete;
 * when the user asks twice, the clients are interrupted and the run ends at once, and the record is closed all the
 * same. After either there are no further final reads.
 *
 * Several runs can be under way in a process, each with a plan object, a folder and options of its own: see
 * docs/adr/0018-runs-in-one-process.md for what they share.
 */
#ifndef RIG_RUN_LOAD_RUN_H
#define RIG_RUN_LOAD_RUN_H

#include <stdatomic.h>

#include "base/err.h"
#include "checker/model/verdict.h"
#include "run/load/online.h"
#include "run/load/run_measures.h"
#include "run/load/run_nemesis.h"
#include "run/load/run_progress.h"
#include "run/plan/plan.h"

/*
 * The counts of all clients, final reads included. Accounting identities, asserted at the end of a run:
 *     invoked == ok + fail + info
 *     sessions_opened == sessions_renewed + sessions_lost + sessions_ended
 *     reconnect_attempts == sessions_opened + reconnect_failures
 *     info == sessions_renewed
 */
struct rig_run_counters {
    uint64_t invoked, ok, fail, info;
    uint64_t sessions_opened;
    uint64_t sessions_renewed;                       /* closed after an info */
    uint64_t sessions_lost;                          /* closed because the driver said so, after ok or fail */
    uint64_t sessions_ended;                         /* closed because a phase of the run was over */
    uint64_t reconnect_attempts, reconnect_failures; /* attempts to open a session, the first of each client included */
};

enum { RIG_RUN_SETTINGS_MOST = 256 };
/* A setting of the server, without secrets. */
struct rig_run_setting {
    char name[64];
    char value[256];
};

/* A condition of a run's program, checked on its tables after the load and the final reads. */
enum { RIG_RUN_CONDITIONS_MOST = 16, RIG_RUN_CONDITION_TEXT_BYTES = 256 };

struct rig_run_condition {
    const char *name, *text, *source;
    uint64_t guaranteed_by;
    char problem[RIG_RUN_CONDITION_TEXT_BYTES]; /* empty: it was checked */
    uint64_t broken;
    char rows[RIG_CONDITION_ROWS][RIG_RUN_CONDITION_TEXT_BYTES];
};

struct rig_run_result { /* some 190 KiB: not for the stack of a thread */
    struct rig_run_counters counters;
    struct rig_run_latency latency;   /* of acknowledged transactions of the load */
    struct rig_run_errors errors;     /* most frequent first */
    int64_t load_ns;                  /* from the start barrier to the last completion of the load */
    struct rig_run_timeline timeline; /* of the load; empty where time is simulated */
    uint64_t final_reads;             /* transactions that only read once more: closing reads and the final phase */
    uint64_t unread;                  /* final reads that were given up, or that an interruption prevented */
    char unread_text[RIG_ERROR_CODE_BYTES + RIG_ERROR_TEXT_BYTES + 2]; /* the last error of a final read; or empty */
    struct rig_effort effort;                                          /* `known` once clients were there */
    bool interrupted;
    bool stopped_by_anomaly; /* the load ended because of check.stop-on; interrupted or not afterwards */
    enum rig_anomaly stopped_by;
    struct rig_online *online; /* of a run that went well, with check.online: the record is complete. The caller's to
                                  free */
    char server[128];          /* what the driver says of the server */
    struct rig_run_setting settings[RIG_RUN_SETTINGS_MOST]; /* of the server, that differ from its defaults */
    uint32_t setting_count;
    char started_utc[32];
    struct rig_run_condition conditions[RIG_RUN_CONDITIONS_MOST]; /* of the plan's program, after the load */
    uint32_t condition_count;
    struct rig_run_crash crashes[RIG_RUN_CRASHES_MOST]; /* of servers that rig started; at_ns is since the load began */
    uint32_t crash_count;
};

struct rig_questions;
struct rig_run_ranks;
struct rig_schedule;
struct rig_shims;

/* Work for a database that was set up with these tables, in place of a load: without clients, record or final reads. */
struct rig_run_task {
    const struct rig_row_schema *rows;
    const struct rig_text_env *texts; /* sessions send texts, and `rows` has no tables; NULL: they do not */
    uint64_t needs; /* RIG_NEED_PRELOAD: rig's shim in the processes of the nodes, which rig starts; or 0 */
    /* `shims` (nemesis/fault_setup.h) are of no node where none are needed. */
    enum rig_rc (*run)(void *context, const struct rig_driver *driver, void *driver_run, const struct rig_shims *shims,
                       struct rig_err *err);
    void *context;
};

struct rig_run_options {
    /* How often the user has asked the run to end, so far: once ends the load, twice interrupts the clients. May rise
       at any time, from a signal handler too. NULL: never. Borrowed; of a run that failed because a client did not come
       back (RIG_E_DRIVER), for good. */
    const atomic_int *interrupts;
    const char *folder;                /* existing; history.rig and the logs go there */
    struct rig_progress_look progress; /* on stderr */
    /* Where the transactions come from; NULL: the plan's generator. The number of transactions in streams that end
       takes the place of the plan's. Borrowed. */
    const struct rig_questions *questions;
    /* When the plan's faults come (nemesis/schedule.h); NULL: as the plan says. Borrowed, and used up. */
    struct rig_schedule *schedule;
    const struct rig_run_task *task; /* NULL: the plan's load */
    struct rig_run_ranks *ranks; /* this process does a part of the run (run/load/run_ranks.h); NULL: all. Borrowed */
};

/* Whether the plan can be run with this driver on this machine; every fault that cannot happen here is named with the
 * remedy. Starts nothing. RIG_E_PLAN. */
enum rig_rc rig_run_check(const struct rig_plan *plan, struct rig_err *err);

/*
 * RIG_OK also when interrupted once the load had begun. On an error what was recorded so far is closed and readable,
 * and `result` holds what is known of it. RIG_E_LIMIT when too many runs are under way in this process. From any
 * thread, as often as needed, also at the same time.
 */
enum rig_rc rig_run(const struct rig_plan *plan, const struct rig_run_options *options, struct rig_run_result *result,
                    struct rig_err *err);

#endif
