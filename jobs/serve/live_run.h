/*
 * A run that is under way, from its folder: its progress (progress.json), what was found, and the end of its log.
 */
#ifndef RIG_JOBS_SERVE_LIVE_RUN_H
#define RIG_JOBS_SERVE_LIVE_RUN_H

#include "base/buf.h"
#include "jobs/store/stored_run.h"

/* The progress of the run in the open folder as a line of HTML: "load, 3.2 s, 12,345 transactions, 4,100 a second". */
void rig_live_run_say(int folder, struct rig_buf *out);
/* The page of a run without a report. `path`: of its folder from the store; `base`, `script`: of the server. */
void rig_live_run_page(int folder, const struct rig_stored_run *run, const char *path, const char *script,
                       struct rig_buf *out);

#endif
