/*
 * The files that repeat an anomaly: the smallest part of a history, its witness in words, the plan, and, of a part that
 * can be played, its scenario and scripts for the clients of the database. Nothing is run.
 */
#ifndef RIG_CLI_REPRODUCE_FILES_H
#define RIG_CLI_REPRODUCE_FILES_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/stage.h"
#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"
#include "run/plan/plan.h"
#include "run/scenario/scenario.h"

/*
 * The smallest part of a history as a script of requests (rig_driver.script), and its plays on the plan's database.
 *
 * Threads: one caller.
 */

/* Witnesses with which the search for a part begins where --max-witnesses is not given: not each leads to a part with a
 * scenario. */
enum { RIG_CLI_PLAYED_WITNESSES = 32 };

struct rig_cli_request_plays {
    const char *script; /* its path */
    uint32_t repeat;
    const atomic_int *interrupts;
    uint32_t plays, shown; /* result: plays that were completed, and those of them that went as described */
    char server[RIG_STAGE_SERVER_BYTES]; /* result: the driver's words for the server */
    char unplayed[RIG_ERR_TEXT_BYTES];   /* result: why the last play was not completed; else empty */
};

/* The cluster of the plan comes and goes as in a run. Errors as those of rig_run(). */
enum rig_rc rig_cli_requests_play(struct rig_cli_request_plays *plays, const struct rig_plan *plan,
                                  struct rig_err *err);

struct rig_cli_reproduce_files {
    const char *folder;                   /* that holds them */
    const struct rig_plan *plan;          /* NULL: no plan and no scenario is written */
    const struct rig_smallest_part *part; /* borrowed, as the others */
    const struct rig_interleaving *interleaving;
    struct rig_scenario *scenario; /* out; rig_scenario_free(). NULL: none, because of `unplayed` */
    bool has_requests;             /* out: there is a script of requests, RIG_RUN_SCRIPT_HTTP, in its place */
    char unplayed[RIG_ERR_TEXT_BYTES];
};

/* Replaces a file of that name in the folder. RIG_E_IO. */
enum rig_rc rig_cli_reproduce_save(const char *folder, const char *name, bool is_script, const struct rig_buf *text,
                                   struct rig_err *err);
/* part.jsonl, witness.txt, plan.yaml; scenario.yaml, and scripts of databases that have clients for them. */
enum rig_rc rig_cli_reproduce_write(struct rig_cli_reproduce_files *files, struct rig_err *err);

#endif
