/*
 * Plays an interleaving on a database whose driver sends texts (drivers/texts.h): each session in a thread of its own,
 * the steps in their written order.
 *
 * A step that has not returned after `patience_ms` waits if the database says so: then, and after each step that
 * follows, sessions that wait have that long to return before the next step is sent. A statement that works, or two
 * sessions that wait for each other, are given the time that they need. Where the database cannot be asked, the time
 * alone decides. A step that is sent while the script waits for a session is not said to wait. A session that waits
 * holds up its own steps only, which are sent as soon as it returns. All steps are sent, also after an error.
 *
 * Memory: an arena with the answers. Threads: the caller's, and one a session.
 */
#ifndef RIG_RUN_SCENARIO_SQL_SCENARIO_PLAY_H
#define RIG_RUN_SCENARIO_SQL_SCENARIO_PLAY_H

#include <stdatomic.h>

#include "drivers/driver.h"
#include "run/scenario/sql_scenario.h"

/* Clients of a play: the sessions, then one for `setup` and `final`, and one that asks which sessions wait. */
enum { RIG_SQL_SCENARIO_CLIENTS_MOST = RIG_SQL_SCENARIO_SESSIONS_MOST + 2 };

/* The answer to a statement. */
struct rig_told {
    bool sent, returned;
    bool skipped; /* the engine has no such step */
    bool has_rows;
    const char **columns; /* NULL: not told */
    uint32_t column_count;
    struct rig_text_cell *cells; /* row by row */
    size_t row_count, cell_capacity;
    int64_t count; /* -1: none */
    bool untagged, rolled_back, failed, ended, conflict, lost, cut;
    char code[RIG_TEXT_CODE_BYTES], state[6];
    int64_t native;
    char text[RIG_TEXT_MESSAGE_BYTES];
    bool waits;
    bool stuck;            /* it did not return, and was interrupted */
    uint32_t after;        /* with `waits`: the step that had begun last when it returned, by its number */
    uint32_t starts_after; /* by its number; RIG_AFTER_NOTHING: its session was idle */
    const char *statement; /* as it was sent */
};

struct rig_sql_scenario_performance {
    struct rig_told *setup; /* `setup_count` */
    uint32_t setup_count;   /* of those that were sent; the last one may have failed */
    struct rig_told *steps;
    struct rig_told *final;
    uint32_t final_count; /* of those that the engine has */
    bool asked;           /* the database told which sessions wait */
    struct rig_arena arena;
};

struct rig_sql_scenario_options {
    const char *server;   /* as the driver describes it */
    uint32_t patience_ms; /* 0: 300 */
    uint32_t stuck_ms;    /* a step that waits longer at the end, or an `until`, is given up; 0: 10 s */
    bool
        stops; /* after an error that ended a transaction its session rolls back, and sends nothing until the written end */
    const atomic_int *interrupts;
    const char **nodes; /* rig_text_env.nodes, with RIG_SQL_SCENARIO_CLIENTS_MOST entries: set for the play */
};

/*
 * Clears the space before. RIG_E_DRIVER or RIG_E_CLUSTER where a session cannot be opened, RIG_E_PLAN where a node does
 * not exist, RIG_E_INTERRUPTED; rig_sql_scenario_performance_done() in any case. A setup that fails ends the play: the
 * error is in `setup`.
 */
enum rig_rc rig_sql_scenario_play(const struct rig_sql_scenario *interleaving, const struct rig_driver *driver,
                                  void *driver_run, const struct rig_sql_scenario_options *options,
                                  struct rig_sql_scenario_performance *performance, struct rig_err *err);
/* Takes a zeroed one, too. */
void rig_sql_scenario_performance_done(struct rig_sql_scenario_performance *performance);

#endif
