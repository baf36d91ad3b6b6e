/*
 * The interleavings among the files of `rig scenario`: reading, playing, and their part of the result.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_SCENARIO_TEXTS_H
#define RIG_CLI_SCENARIO_TEXTS_H

#include "cli/arguments.h"
#include "cli/stage.h"
#include "run/scenario/sql_scenario_report.h"

enum { RIG_SCENARIO_LEVEL_BYTES = 64 };

/* Zeroed: none. */
struct rig_cli_texts {
    struct rig_sql_scenario *at[RIG_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t repeat, patience_ms;
    const atomic_int *interrupts;
    size_t column_count, column; /* the databases, and the one that is under way */
    char (*levels)[RIG_SCENARIO_LEVEL_BYTES];
    char (*servers)[RIG_STAGE_SERVER_BYTES];
    struct rig_sql_scenario_performance **performances; /* by interleaving, then by column: the first one that is not as
                                                         * expected, else the last; NULL: not played */
    uint32_t *as_expected;                              /* the same: numbers of plays */
};

/* Takes the file if it is an interleaving or a paste; `*taken` says so. RIG_E_PLAN with the place; RIG_E_IO. */
enum rig_rc rig_cli_texts_load(struct rig_cli_texts *texts, const char *file, bool *taken, struct rig_err *err);
/* The clients that a plan needs; 0: there are no interleavings. */
uint32_t rig_cli_texts_clients(const struct rig_cli_texts *texts);
/* Before the first play. RIG_E_LIMIT. */
enum rig_rc rig_cli_texts_begin(struct rig_cli_texts *texts, size_t column_count, struct rig_err *err);
/* Plays all of them on the database of one column, each in an empty space. RIG_E_PLAN when the plan's driver sends no
 * texts. Other errors as those of rig_run() and rig_sql_scenario_play(). */
enum rig_rc rig_cli_texts_play(struct rig_cli_texts *texts, size_t column, const struct rig_plan *plan,
                               struct rig_err *err);
void rig_cli_texts_free(struct rig_cli_texts *texts);

/* One of them on one database; the settings that vary are `name`, NULL where nothing does. */
struct rig_sql_scenario_cell rig_cli_texts_cell(const struct rig_cli_texts *texts, size_t index, size_t column,
                                                const char *name);
/* The exit status that the plays ask for: an anomaly where one is not as its file says, undecided where a file has
 * outcomes and none for the server and level. */
int rig_cli_texts_status(const struct rig_cli_texts *texts);

#endif
