/*
 * Interleavings of any SQL on the database of a plan: its cluster and driver come and go as in a run (a task of
 * run/load/run.h), and each play has an empty space.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_TEXT_STAGE_H
#define RIG_CLI_TEXT_STAGE_H

#include "cli/stage.h"
#include "run/scenario/sql_scenario_play.h"

struct rig_cli_text_stage {
    struct rig_sql_scenario *const *interleavings;
    uint32_t count, repeat; /* plays of each */
    uint32_t patience_ms;   /* 0: as rig_sql_scenario_play() */
    const atomic_int *interrupts;
    /* Takes each performance, from calloc(); `is_whole`: the play came to its end. `server` is there. */
    void (*keep)(void *context, uint32_t interleaving, bool is_whole, struct rig_sql_scenario_performance *played);
    void *context;
    char server[RIG_STAGE_SERVER_BYTES]; /* gets what the driver says of the server */
};

/* RIG_E_PLAN when the plan's driver sends no texts. The plan needs two clients more than an interleaving has sessions. Other
 * errors as those of rig_run() and rig_sql_scenario_play(). */
enum rig_rc rig_cli_text_stage_play(struct rig_cli_text_stage *stage, const struct rig_plan *plan, struct rig_err *err);

/* The level of the plan's sessions, as `outcome` names it: "read committed"; of SQLite its journal and the beginning of
 * transactions, "wal, deferred". */
void rig_cli_text_stage_level(const struct rig_plan *plan, char *level, size_t size);

#endif
