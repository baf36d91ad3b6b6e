/*
 * One statement of an interleaving and its answer: sending it, keeping the answer, and comparing it with what was
 * expected.
 *
 * Threads: rig_told_execute() from a session's own; the rest are pure functions.
 */
#ifndef RIG_RUN_SCENARIO_TOLD_H
#define RIG_RUN_SCENARIO_TOLD_H

#include <pthread.h>

#include "base/buf.h"
#include "run/scenario/sql_scenario_play.h"

/* Sends the statement and waits for its answer, whose texts are in `arena`, which `lock` guards (NULL: nothing else
 * uses it). */
void rig_told_execute(const struct rig_driver *driver, void *session, const char *sql, struct rig_arena *arena,
                      pthread_mutex_t *lock, struct rig_told *told);
/* The step was answered while `last` was the number of the step whose turn had come last. Keeps what is known of its
 * wait. */
void rig_told_take(struct rig_told *told, const struct rig_told *answer, uint32_t last);

/* Whether the statement orders its rows; others are compared in any order. */
bool rig_told_is_ordered(const char *sql);
/* Sorts the rows of an answer that has no order: nulls last, then by type and value. */
void rig_told_sort(struct rig_told *told);

/*
 * Compares; adds "expected ..., not ..." for each difference, separated by "; ". True: none.
 *
 * Rows: integers and real numbers by value, booleans as true and false, all others as text; dates and times with or
 * without zeros that mean nothing. Where the client gives no types (RIG_TEXT_UNTYPED) a text is also equal to the
 * number that it spells.
 */
bool rig_told_compare(const struct rig_told *told, const struct rig_expected *expected, struct rig_buf *out);
/* A query of `final` with its entry: a list of rows, or a map as for steps. */
bool rig_told_compare_final(const struct rig_told *told, const struct rig_yaml_node *expected, struct rig_buf *out);

/* The error is the one that is expected: by SQLSTATE, the database's number, rig's name for it with or without the
 * product's prefix (SQLITE_BUSY), or, where the expectation has several words, a part of the text. */
bool rig_told_is_error(const struct rig_told *told, const char *error);

/* A line: "(1, 'a') (2, null)", "2 rows changed", "40001: ...", "ok". */
void rig_told_write(const struct rig_told *told, struct rig_buf *out);

#endif
