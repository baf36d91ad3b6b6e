/*
 * Scenarios: a few sessions whose statements run in a written order, and the answers that show an anomaly.
 *
 *   name: g-single
 *   title: read skew
 *   anomaly: G-single
 *   level: consistent-view
 *   source: "Kleppmann, Hermitage, 2014: G-single"
 *   table: {name: test, columns: [id, value], rows: [[1, 10], [2, 20]]}
 *   steps:
 *     - T1: select * from test where id = 1
 *     - T2: update test set value = 18 where id = 2
 *     - T2: commit
 *     - T1: select * from test where id = 2
 *     - T1: commit
 *   shows:
 *     - {committed: [T1, T2], answers: {1: [[1, 10]], 4: [[2, 18]]}}
 *
 * The first column of a table is its primary key. A session's transactions begin with their first step; one that has a
 * `begin` commits the statements outside of them at once. A session may name its node (T1@pg-2); `until: T1` waits
 * until it has returned. Steps that rig understands are `select * from`, `insert into ... values`, `update ... set`,
 * `delete from`, `commit` and `rollback`, in the part of SQL that drivers know as struct rig_row_statement; cells are
 * whole numbers. Others are sent as they are. `commit held` is a commit that others can see, and that the server holds
 * before it releases its locks, until the session's `release`. The scenario shows the anomaly if each of the
 * transactions named committed, and each of the answers named (by its step, from 1) has these rows in any order; one
 * entry of `shows` is enough.
 *
 * Memory: an arena. Threads: constant after loading.
 */
#ifndef RIG_RUN_SCENARIO_SCENARIO_H
#define RIG_RUN_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "drivers/rows.h"

enum {
    RIG_SCENARIO_SESSIONS_MOST = 16,
    RIG_SCENARIO_STEPS_MOST = 128,
    RIG_SCENARIO_ROWS_MOST = 256, /* of a table, and of an answer */
};

enum rig_scenario_act {
    RIG_SCENARIO_STATEMENT,
    RIG_SCENARIO_COMMIT,
    RIG_SCENARIO_COMMIT_HELD,
    RIG_SCENARIO_RELEASE, /* of the commit that is held: one at a time */
    RIG_SCENARIO_ROLLBACK,
    RIG_SCENARIO_BEGIN,
    RIG_SCENARIO_TEXT,  /* any other statement, which rig does not understand */
    RIG_SCENARIO_UNTIL, /* wait until the session has returned */
};

struct rig_scenario_step {
    uint32_t session;
    enum rig_scenario_act act;
    uint32_t statement; /* into `statements` */
    int64_t values[RIG_ROW_VALUES];
    const char *text; /* as in the file */
};

/* Rows of the scenario's table, a row after the other, in ascending order. */
struct rig_scenario_rows {
    int64_t *cells;
    uint32_t count;
};

struct rig_scenario_answer {
    uint32_t step;
    struct rig_scenario_rows rows;
};

/* Signs that together show the anomaly. */
struct rig_scenario_sign {
    uint32_t committed; /* a bit a session */
    struct rig_scenario_answer *answers;
    uint32_t answer_count;
};

struct rig_scenario {
    const char *name, *title;
    const char *anomaly; /* its name in the source */
    const char *level;   /* the weakest level that forbids it */
    const char *source;  /* NULL: not given */
    const char *sessions[RIG_SCENARIO_SESSIONS_MOST];
    const char *nodes[RIG_SCENARIO_SESSIONS_MOST]; /* by session; NULL: the one that takes writes */
    uint32_t session_count;
    struct rig_row_table table;
    struct rig_scenario_rows rows; /* before the first step */
    struct rig_row_statement statements[RIG_SCENARIO_STEPS_MOST];
    uint32_t statement_count;
    struct rig_scenario_step steps[RIG_SCENARIO_STEPS_MOST];
    uint32_t step_count;
    bool holds_commits; /* a step holds one */
    bool needs_texts;   /* it has steps, sessions or transactions that only scenario_told.h plays */
    struct rig_scenario_sign *signs;
    uint32_t sign_count;
    struct rig_arena arena;
};

/* RIG_E_PLAN with the place and what was expected; RIG_E_IO. Freed with rig_scenario_free(). */
enum rig_rc rig_scenario_load(const char *path, struct rig_scenario **scenario, struct rig_err *err);
/* From memory; `name` stands for the file in errors. */
enum rig_rc rig_scenario_parse(const char *name, const char *text, size_t size, struct rig_scenario **scenario,
                               struct rig_err *err);
void rig_scenario_free(struct rig_scenario *scenario);

/* The tables and statements of several scenarios, so that one server runs all of them: table i belongs to scenario
 * i. */
struct rig_scenario_schema {
    struct rig_row_schema schema;
    uint32_t *first_statement; /* of each scenario */
    struct rig_arena arena;
};

/* Borrows the scenarios. rig_scenario_schema_done() in any case. */
enum rig_rc rig_scenario_schema_init(struct rig_scenario_schema *joined, struct rig_scenario *const *scenarios,
                                     uint32_t count, struct rig_err *err);
void rig_scenario_schema_done(struct rig_scenario_schema *joined);

/* Puts rows of `column_count` cells into ascending order. */
void rig_scenario_sort(struct rig_scenario_rows *rows, uint32_t column_count);

#endif
