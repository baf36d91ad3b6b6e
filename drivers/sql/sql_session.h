/*
 * Sessions and the course of their transactions.
 *
 * A transaction is a turn: the core chooses its connection, draws its shares, calls the client's `run`, and decides the
 * outcome by the client's table. The functions of a turn serve the client while it runs.
 *
 * Threads: the session's; interrupt from any.
 */
#ifndef RIG_DRIVERS_SQL_SQL_SESSION_H
#define RIG_DRIVERS_SQL_SQL_SESSION_H

#include "drivers/sql/sql_client.h"
#include "drivers/sql/sql_values.h"

/* ---- hooks of the driver; `session` is a struct rig_sql_session, `run` a struct rig_sql_run ---- */

enum rig_rc rig_sql_session_open(void *session, void *run, uint32_t client, struct rig_err *err);
void rig_sql_session_interrupt(void *session);
void rig_sql_session_close(void *session, bool last);

enum rig_outcome rig_sql_session_transact(void *session, struct rig_transaction *transaction);
/* Hook of rig_row_ops; `program` NULL: the transaction's operations. */
enum rig_outcome rig_sql_session_run_program(void *session, struct rig_transaction *transaction,
                                             struct rig_row_program *program);

/* ---- errors of a turn ---- */

/* Records the first error; later ones are consequences. `text` becomes one line; NULL or empty: the reason of the
 * table. */
void rig_sql_turn_fail(struct rig_sql_turn *turn, enum rig_phase phase, const char *code, const char *text);
/* The answers do not fit the statements: no answer of the transaction proves anything. */
void rig_sql_turn_lose_step(struct rig_sql_turn *turn, const char *text);
/* The row of the turn's error. */
const struct rig_sql_outcome *rig_sql_turn_outcome(const struct rig_sql_turn *turn);

/* ---- the course of a turn ---- */

/* Whether the plan wants a hold when `at` operations are done; before the second phase of a commit in two, it comes
 * later. */
bool rig_sql_turn_holds_at(const struct rig_sql_turn *turn, uint32_t at);
/* The same of a delay between two operations. */
bool rig_sql_turn_delays_at(const struct rig_sql_turn *turn, uint32_t at);
/* Pauses as the transaction requires; the deadline moves along. */
void rig_sql_turn_hold(struct rig_sql_turn *turn);
void rig_sql_turn_delay(struct rig_sql_turn *turn);
/* Holds between the phases of a commit in two, where the plan wants a hold before the commit. */
void rig_sql_turn_hold_prepared(struct rig_sql_turn *turn);
/* False, and the turn failed: the operation would take more from an account than there is. The read that it builds on
 * was answered. */
bool rig_sql_turn_affords(struct rig_sql_turn *turn, uint32_t op);
/* Gives the transaction a level of its own. */
void rig_sql_turn_take_level(struct rig_sql_turn *turn, int64_t isolation);
/* Ends a turn that is to be rolled back in place of its commit: it fails, and the client's `settle` sends ROLLBACK.
 * False, and nothing is done: it is to be committed. */
bool rig_sql_turn_rolls_back(struct rig_sql_turn *turn);
/* Runs the turn's operations one by one, by the client's begin, operate and commit, with the pauses that the plan
 * wants. */
void rig_sql_turn_run_statements(struct rig_sql_turn *turn);
/* Runs the turn's program by the client's begin, execute and commit. */
void rig_sql_turn_run_program(struct rig_sql_turn *turn);

/* ---- answers ---- */

/* Appends a list's elements to a read; false, and the turn failed with RIG_SQL_LIMIT, or with RIG_SQL_MALFORMED and the
 * text `malformed`. The read is stored by the caller. */
bool rig_sql_turn_take_list(struct rig_sql_turn *turn, enum rig_phase phase, enum rig_sql_list_form form,
                            const char *text, size_t length, const char *malformed, struct rig_read *read);
/* The answer of begin-ts or commit-ts; `text` NULL: it is not one cell. False, and the turn failed: no timestamp. */
bool rig_sql_turn_take_timestamp(struct rig_sql_turn *turn, enum rig_column column, const char *text, size_t length);

/* Copies a text as one line, cut to fit. */
void rig_sql_one_line(char *line, size_t size, const char *text);

#endif
