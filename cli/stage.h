/*
 * Scenarios on the database of a plan: its cluster, driver and tables come and go as in a run (a task of
 * run/load/run.h), and each play has a table of its own.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_STAGE_H
#define RIG_CLI_STAGE_H

#include <stdatomic.h>

#include "run/plan/plan.h"
#include "run/load/run.h"
#include "run/scenario/play.h"

enum { RIG_STAGE_PLAYS_MOST = 1000, RIG_STAGE_SERVER_BYTES = 128 };

struct rig_cli_stage {
    struct rig_scenario *const *scenarios;
    uint32_t scenario_count, repeat; /* plays of each, at most RIG_STAGE_PLAYS_MOST */
    uint32_t patience_ms;            /* 0: as rig_scenario_play() */
    /* Scenarios are played as SQL where the driver can; the plan has two clients more than sessions. */
    bool sends_texts;
    const atomic_int *interrupts;
    /* Takes each performance, from calloc(); `is_whole`: the play came to its end. */
    void (*keep)(void *context, uint32_t scenario, bool is_whole, struct rig_performance *performance);
    void *context;
    char server[RIG_STAGE_SERVER_BYTES]; /* gets what the driver says of the server */
};

/* RIG_E_PLAN when the plan's driver plays no scenarios. */
enum rig_rc rig_cli_stage_check(const struct rig_driver *driver, struct rig_err *err);
/* RIG_E_PLAN when the plan sends reads elsewhere: a session of a scenario is one connection. */
enum rig_rc rig_cli_stage_check_reads(const struct rig_plan *plan, struct rig_err *err);
/* The plan needs as many clients as a scenario has sessions. Errors as those of rig_run() and rig_scenario_play(). */
enum rig_rc rig_cli_stage_play(struct rig_cli_stage *stage, const struct rig_plan *plan, struct rig_err *err);
/* Work on the plan's database in place of its load. Errors as those of rig_run(). */
enum rig_rc rig_cli_stage_task(const struct rig_plan *plan, const struct rig_run_task *task,
                               const atomic_int *interrupts, struct rig_err *err);

/* The database of a plan while it is there. */
struct rig_cli_database {
    const struct rig_driver *driver;
    void *driver_run;
    const struct rig_shims *shims; /* of no node where none are needed */
    const char **nodes;            /* for rig_sql_scenario_options */
};

/* Plays, one after the other, on the database of a plan. */
struct rig_cli_plays {
    uint32_t count;
    const struct rig_row_schema *rows; /* NULL: the sessions send texts, and each play finds an empty space */
    uint64_t needs;                    /* rig_run_task.needs */
    const atomic_int *interrupts;
    /* Plays one of them and keeps its result; an error ends the visit. */
    enum rig_rc (*play)(void *context, uint32_t number, const struct rig_cli_database *on, struct rig_err *err);
    void *context;
    char *server; /* RIG_STAGE_SERVER_BYTES; gets what the driver says of the server, before the first play */
};

/* Errors as those of rig_run(), and those of `play`. */
enum rig_rc rig_cli_stage_visit(const struct rig_plan *plan, const struct rig_cli_plays *plays, struct rig_err *err);

/* Takes NULL. */
void rig_cli_stage_free_performance(struct rig_performance *performance);

/* The isolation of the plan as SQL names it: "REPEATABLE READ". */
void rig_cli_stage_isolation(const struct rig_plan *plan, struct rig_buf *out);

#endif
