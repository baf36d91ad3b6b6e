/*
 * The smallest part of a history as a script of requests (rig_driver.script), and its plays on the plan's database.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_REPRODUCE_REQUESTS_H
#define RIG_CLI_REPRODUCE_REQUESTS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "cli/stage.h"
#include "run/plan/plan.h"
#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"

/* RIG_E_USAGE for data other than lists and registers; else the driver's errors. */
enum rig_rc rig_cli_requests_write(const struct rig_plan *plan, const struct rig_smallest_part *part,
                                   const struct rig_interleaving *interleaving, struct rig_buf *script,
                                   struct rig_err *err);

struct rig_cli_request_plays {
    const char *script; /* its path */
    uint32_t repeat;
    const atomic_int *interrupts;
    uint32_t plays, shown;               /* gets those that came to their end, and those that went as described */
    char server[RIG_STAGE_SERVER_BYTES]; /* gets what the driver says of the server */
    char unplayed[RIG_ERR_TEXT_BYTES]; /* gets why a play did not come to its end, which is the last one; else empty */
};

/* The cluster of the plan comes and goes as in a run. Errors as those of rig_run(). */
enum rig_rc rig_cli_requests_play(struct rig_cli_request_plays *plays, const struct rig_plan *plan,
                                  struct rig_err *err);

#endif
