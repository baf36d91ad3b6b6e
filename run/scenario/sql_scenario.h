/*
 * Interleavings: sessions that send any SQL in a written order, and the outcomes that are expected of engines and
 * levels.
 *
 *   name: two-counters
 *   setup:
 *     - create table counter (id int primary key, n int)
 *     - insert into counter values (1, 5)
 *   steps:
 *     1: {A: begin}
 *     2: {A: update counter set n = n + 1}
 *     3: {B: {postgresql: "select n from counter for share", mariadb: "select n from counter lock in share mode"}}
 *     4: {A: commit}
 *   final: [select * from counter]
 *   outcome:
 *     postgresql-15:
 *       - levels: ["read committed"]
 *         steps: {2: {count: 1}, 3: {waits: true, returns_after: 4, rows: [[6]]}}
 *         final: [[[1, 6]]]
 *
 * A statement that is a map gives each engine its own text; an engine that it does not name has no such step. In
 * `outcome` a step without an entry is `ok`: it returns at once, without rows, count or error. `steps` may be a list,
 * too, whose entries have expectations of their own, for every engine and level: `- {A: commit, error: "40001"}`.
 * Engines are products with or without a version: `mariadb` fits each MariaDB.
 *
 * A paste is text as bug trackers have it (tracker_paste.h), read into the same object.
 *
 * Memory: an arena. Threads: constant after loading.
 */
#ifndef RIG_RUN_SCENARIO_SQL_SCENARIO_H
#define RIG_RUN_SCENARIO_SQL_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/yaml_tree.h"

enum {
    RIG_SQL_SCENARIO_SESSIONS_MOST = 16,
    RIG_SQL_SCENARIO_STEPS_MOST = 256,
    RIG_SQL_SCENARIO_FINALS_MOST = 32,
};

/* In the place of the number of a step. */
enum { RIG_AFTER_NOTHING = 0, RIG_AFTER_THE_END = UINT16_MAX };

struct rig_engine_text {
    const char *engine; /* NULL: every one */
    const char *text;
};
struct rig_engine_texts {
    struct rig_engine_text *at;
    uint32_t count;
};

/* The answer and the wait that are expected of a statement. */
struct rig_expected {
    bool given;
    bool strict;                      /* nothing else may happen */
    const struct rig_yaml_node *rows; /* a list of lists; NULL: not given */
    bool has_count;
    int64_t count;
    const char *error; /* SQLSTATE, the engine's number or name, or a part of the text; NULL: not given */
    bool rolled_back, stuck;
    bool has_wait, waits;
    bool has_after;        /* `after` is given */
    uint32_t after;        /* it returned after this step began; RIG_AFTER_...: it never returned, or at the end */
    uint32_t starts_after; /* its session was busy: it was sent after this step; RIG_AFTER_NOTHING: at once */
    bool has_start;
};

enum rig_sql_scenario_act { RIG_STEP_TEXT, RIG_STEP_UNTIL };

struct rig_sql_scenario_step {
    uint32_t number; /* as the file has it */
    enum rig_sql_scenario_act act;
    uint32_t session; /* of RIG_STEP_UNTIL: the one that is waited for */
    struct rig_engine_texts texts;
    struct rig_expected expected; /* of every engine and level */
};

/* The outcome that is expected of an engine at some levels. */
struct rig_expected_outcome {
    const char *engine;
    const char **levels;
    uint32_t level_count;
    bool unstable;           /* it differed from play to play */
    const char *setup_error; /* NULL: none is expected */
    struct rig_expected *steps;
    const struct rig_yaml_node *final; /* a list, an entry a query; NULL: not given */
};

struct rig_sql_scenario {
    const char *name, *title; /* "": none */
    const char *source;       /* NULL: none */
    struct rig_engine_texts *setup;
    uint32_t setup_count;
    const char *sessions[RIG_SQL_SCENARIO_SESSIONS_MOST];
    const char *nodes[RIG_SQL_SCENARIO_SESSIONS_MOST]; /* NULL: the one that takes writes */
    uint32_t session_count;
    struct rig_sql_scenario_step *steps;
    uint32_t step_count;
    struct rig_engine_texts *final;
    uint32_t final_count;
    const struct rig_yaml_node *final_rows; /* of every engine and level; NULL: not given */
    struct rig_expected_outcome *outcomes;
    uint32_t outcome_count;
    struct rig_arena arena;
};

/* Whether the text of a file is YAML of this form: it has `setup` or `outcome`. */
bool rig_sql_scenario_is_one(const char *name, const char *text, size_t size);
/* From memory; `name` stands for the file in errors. RIG_E_PLAN with the place and what was expected. */
enum rig_rc rig_sql_scenario_parse(const char *name, const char *text, size_t size,
                                   struct rig_sql_scenario **interleaving, struct rig_err *err);
/* Takes NULL. */
void rig_sql_scenario_free(struct rig_sql_scenario *interleaving);

/* ---- for readers ---- */

/* The number of the session called `key`, "T1" or "T1@pg-2", a new one if need be. UINT32_MAX: `fault` says why not. */
uint32_t rig_sql_scenario_session(struct rig_sql_scenario *interleaving, const char *key, const char **fault);

/* ---- engines ---- */

/* How well the name of an engine fits what a server says of itself: "mariadb-10.11", "MariaDB 10.11.19". 0: not; 1:
 * another version; 2: the name has no version; 3: the version fits. */
unsigned rig_engine_fit(const char *engine, const char *server);
/* The text for the server; NULL: there is none. */
const char *rig_engine_text_for(const struct rig_engine_texts *texts, const char *server);
/* The outcome for a server and a level, "read committed", in any case and with any of ` -_` between words. `level` NULL
 * or empty: that of the only group. NULL: there is none. */
const struct rig_expected_outcome *rig_sql_scenario_outcome(const struct rig_sql_scenario *interleaving,
                                                            const char *server, const char *level);

#endif
