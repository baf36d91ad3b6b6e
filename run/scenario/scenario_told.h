/*
 * Plays a scenario whose statements rig understands, and those that it does not, as SQL in its own words: an error ends
 * what it ends in that database, a session may have several transactions, and any statement may stand between those
 * that rig reads as rows.
 *
 * The table is made by plain SQL, in the run's space. A session without a `begin` begins its transactions itself,
 * before their first step; one that has some commits each statement outside of them. After an error that ended its
 * transaction a session rolls back, and sends nothing until the written end of that transaction.
 *
 * Memory and threads: as rig_sql_scenario_play().
 */
#ifndef RIG_RUN_SCENARIO_SCENARIO_TOLD_H
#define RIG_RUN_SCENARIO_SCENARIO_TOLD_H

#include "run/scenario/play.h"
#include "run/scenario/sql_scenario_play.h"

/* `begin`: the statement that begins a transaction as the plan wants it; it stands for a plain `begin` in the file,
 * too. */
enum rig_rc rig_scenario_play_texts(const struct rig_scenario *scenario, const struct rig_driver *driver,
                                    void *driver_run, const struct rig_sql_scenario_options *options, const char *begin,
                                    struct rig_performance *performance, struct rig_err *err);

#endif
