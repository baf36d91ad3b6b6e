/*
 * The play of an interleaving as text and as JSON, and whether it went as the file says.
 *
 * Pure functions that add to a buffer.
 */
#ifndef RIG_RUN_SCENARIO_SQL_SCENARIO_REPORT_H
#define RIG_RUN_SCENARIO_SQL_SCENARIO_REPORT_H

#include "base/json_write.h"
#include "run/scenario/sql_scenario_play.h"

/* One interleaving on one server. */
struct rig_sql_scenario_cell {
    const struct rig_sql_scenario *interleaving;
    const struct rig_sql_scenario_performance *performance; /* NULL: not played */
    const struct rig_expected_outcome *outcome;             /* of the server and level; NULL: the file has none */
    const char *column;                                     /* the settings that vary; NULL: none do */
    const char *server;                                     /* "PostgreSQL 15.18" */
    const char *level;                                      /* "read committed"; empty: not known */
    uint32_t played, as_expected;                           /* numbers of plays; the performance is of one */
};

/* Whether the file says anything of this server and level that can be compared: of an outcome that is unstable it does
 * not. */
bool rig_sql_scenario_expects(const struct rig_sql_scenario_cell *cell);
/* Whether each step, wait and table is as the file says. */
bool rig_sql_scenario_is_as_expected(const struct rig_sql_scenario_cell *cell);

void rig_sql_scenario_write_text(const struct rig_sql_scenario_cell *cell, struct rig_buf *out);
/* In a word: "as said", "step 4" or "final 1" for the first difference, "setup", or "played" where nothing is expected.
 * */
void rig_sql_scenario_write_word(const struct rig_sql_scenario_cell *cell, struct rig_buf *out);
/* An object. */
void rig_sql_scenario_write_json(const struct rig_sql_scenario_cell *cell, struct rig_json_writer *json);

#endif
