/*
 * Runs of a plan that were made before: in its store, by `rig reproduce` and by `rig shrink --plan`. They are evidence
 * of how often an anomaly comes back, so that nothing has to run twice to learn it.
 *
 * Two runs are of the same plan when their plans say the same, apart from the sections name, seed, report, store and
 * check. Runs without a result of a load are none. Space: the texts of the plans, of RIG_EARLIER_RUNS_MOST runs.
 * Threads: one caller.
 */
#ifndef RIG_CLI_EARLIER_RUNS_H
#define RIG_CLI_EARLIER_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "checker/model/anomaly.h"
#include "cli/input_path.h"
#include "cli/saved_run.h"

enum { RIG_EARLIER_RUNS_MOST = 4096 };

struct rig_earlier_runs;

/*
 * Finds the runs with the name of the run in `folder`, the oldest first, and those that reproductions and shrunk plans
 * of this name made: in the store that the folder lies in, and in the one that its plan names. The run itself is left
 * out.
 */
enum rig_rc rig_cli_earlier_runs_find(const char *folder, const struct rig_cli_saved_run *saved,
                                      struct rig_earlier_runs **runs, struct rig_err *err);
/* Takes NULL. */
void rig_cli_earlier_runs_free(struct rig_earlier_runs *runs);
/* Adds the runs 0001, 0002, ... of a folder. */
enum rig_rc rig_cli_earlier_runs_add(struct rig_earlier_runs *runs, const char *folder, struct rig_err *err);
/* The folder of the next run of this plan, each one once; NULL: there are no more. `plan`: as the plan of a run is
 * stored. */
const char *rig_cli_earlier_runs_next(struct rig_earlier_runs *runs, const char *plan);

/* The name and the start of a run, as a store has them: "pg-serializable/20260131T235959.123Z". */
enum { RIG_CLI_RUN_NAME_BYTES = 320 };
void rig_cli_run_name(const struct rig_cli_saved_run *saved, char name[RIG_CLI_RUN_NAME_BYTES]);

/* How often an anomaly came back. */
struct rig_cli_repeats {
    uint64_t plays, plays_shown;       /* of the scenario or the requests of this run's smallest part */
    uint64_t runs, runs_shown;         /* of the same plan on the same server, without the run itself */
    char smallest[RIG_CLI_PATH_BYTES]; /* the newest smallest plan that shows it; "": none */
    uint64_t smallest_runs, smallest_shown;
};

/* `folder` is that of the run, whose results are `saved`, or of its reproduction. */
enum rig_rc rig_cli_repeats_find(const char *folder, const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly,
                                 struct rig_cli_repeats *repeats, struct rig_err *err);
/* The same as paragraphs of Markdown. */
void rig_cli_repeats_write(const struct rig_cli_repeats *repeats, struct rig_buf *out);

#endif
