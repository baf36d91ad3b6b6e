/*
 * The runs of a hunt: chooses points, runs each by a rig of its own (cli/rerun.h), and confirms, explains, keeps and
 * tells what breaks a promise.
 *
 * A folder of the store has everything: memory.jsonl, a folder below `finds` for each find, and `runs` with the runs
 * under way; runs without a find are removed.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_HUNTER_H
#define RIG_CLI_HUNTER_H

#include <stdatomic.h>

#include "cli/hunt_target.h"
#include "jobs/hunt/hunt_report.h"

/* Borrowed, with all that it refers to. */
struct rig_hunt_request {
    const struct rig_hunt_target *target;
    const struct rig_hunt_other *against; /* NULL: finds run on the target alone */
    const struct rig_hunt_others *bisect; /* the oldest first; fewer than two: none are searched */
    const char *store;                    /* NULL: that of the target */
    int64_t time_ns, run_ns;              /* of the hunt; of the load of a run */
    uint32_t finds_most;                  /* new finds after which it ends; 0: no limit */
    uint64_t runs_most;                   /* the same of runs; 0: no limit */
    uint64_t seed;
    const atomic_int *interrupts;
    bool is_text, is_quiet; /* tells finds on standard output; nothing of its progress on standard error */
};

struct rig_hunter;

/* Opens the memory. Errors: those of rig_hunt_memory_open(). */
enum rig_rc rig_cli_hunter_new(const struct rig_hunt_request *request, struct rig_hunter **hunter, struct rig_err *err);
/* Takes NULL. */
void rig_cli_hunter_free(struct rig_hunter *hunter);
/* Until the time is over, there were enough finds or runs, or a signal came; all of these are RIG_OK. RIG_E_CLUSTER
 * where no point can run. */
enum rig_rc rig_cli_hunter_hunt(struct rig_hunter *hunter, struct rig_err *err);
/* For its report; borrows the hunter. */
struct rig_hunt_facts rig_cli_hunter_facts(const struct rig_hunter *hunter);
/* Runs with a verdict, in this hunt. */
uint64_t rig_cli_hunter_judged(const struct rig_hunter *hunter);

#endif
