/*
 * The answers to the sessions of a scenario, as text and as JSON, and a grid of many of them.
 *
 * Pure functions that add to a buffer. Texts from the server lose their control characters.
 */
#ifndef RIG_RUN_SCENARIO_SCENARIO_REPORT_H
#define RIG_RUN_SCENARIO_SCENARIO_REPORT_H

#include "base/buf.h"
#include "base/json_write.h"
#include "run/scenario/play.h"

/* One scenario on one server. */
struct rig_scenario_cell {
    const struct rig_scenario *scenario;
    const struct rig_performance *performance;
    const char *column;     /* "database.isolation=serializable"; NULL: nothing varies */
    const char *server;     /* "PostgreSQL 15.8" */
    bool forbidden;         /* the anomaly is shown, and the plan asks for a level that forbids it */
    uint32_t shown, played; /* numbers of plays; the performance is of one */
};

/* A line a step, and whether the anomaly was shown. */
void rig_scenario_write_text(const struct rig_scenario_cell *cell, struct rig_buf *out);
/* In a word: "shown", or of several plays "3/10"; the code of the error that prevented it, "waits" where a session
 * waited, or "no". */
void rig_scenario_write_word(const struct rig_scenario_cell *cell, struct rig_buf *out);
/* An object. */
void rig_scenario_write_json(const struct rig_scenario_cell *cell, struct rig_json_writer *json);

/* A table of words: a row a scenario, a column a server. */
struct rig_scenario_grid {
    size_t row_count, column_count;
    const char *(*row)(const void *context, size_t row);
    void (*column)(const void *context, size_t column, struct rig_buf *out); /* its title, on a line */
    void (*word)(const void *context, size_t row, size_t column, struct rig_buf *out);
    const void *context;
};
void rig_scenario_write_grid(const struct rig_scenario_grid *grid, struct rig_buf *out);

#endif
