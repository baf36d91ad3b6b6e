/*
 * Statements of a turn over a program, and their answers (docs/sql-programs.md). Each function that fails has failed
 * the turn.
 *
 * Where the turn's operations were sent ahead (struct rig_sql_program_turn), those that run a statement only take its
 * answer.
 */
#ifndef RIG_DRIVERS_SQL_PROGRAM_STATEMENT_H
#define RIG_DRIVERS_SQL_PROGRAM_STATEMENT_H

#include "drivers/sql/program_turn.h"

#define RIG_SQL_CHANGED   "a statement changed another number of rows than the transaction then reads"
#define RIG_SQL_UNCOUNTED "the program does not tell how many rows a statement changed: rig needs that number"

/* The values of an operation's statements, by enum rig_sql_said_value; texts where the type is one. */
struct rig_sql_values {
    int64_t numbers[RIG_ROW_VALUES];
    const char *element, *rest;
};

/* The core's objects as this client extends them. */
static inline struct rig_sql_program_turn *rig_sql_turn_own(struct rig_sql_turn *turn)
{
    return (struct rig_sql_program_turn *)turn;
}

static inline struct rig_sql_program_connection *rig_sql_turn_connection(const struct rig_sql_turn *turn)
{
    return (struct rig_sql_program_connection *)turn->connection;
}

static inline const struct rig_sql_program_run *rig_sql_turn_run(const struct rig_sql_turn *turn)
{
    return rig_sql_program_run_of(turn->session->run);
}

/* ---- requests ---- */

/* Sends a request, or a sequence. */
bool rig_sql_turn_send_out(struct rig_sql_turn *turn, struct rig_json_writer *writer);
/* Takes an answer that has no rows. A COMMIT with a warning may be on this server alone: its fate is unknown. */
bool rig_sql_turn_take_done(struct rig_sql_turn *turn);
/* A text without values. */
bool rig_sql_turn_send_text(struct rig_sql_turn *turn, const char *sql);
/* A transaction's end by the program's library. */
bool rig_sql_turn_send_end(struct rig_sql_turn *turn, const char *how);
/* Adds a statement and its values to a request; without values where it has no `quoted`. */
void rig_sql_turn_write_said(const struct rig_sql_turn *turn, struct rig_json_writer *writer,
                             const struct rig_sql_said *said, const struct rig_sql_values *values);
/* Runs a statement; NULL: there is no answer. */
json_t *rig_sql_turn_run_said(struct rig_sql_turn *turn, const struct rig_sql_said *said,
                              const struct rig_sql_values *values);
/* The statement for the table of the values' key. */
const struct rig_sql_said *rig_sql_turn_said_of(const struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                                                const struct rig_sql_values *values);
json_t *rig_sql_turn_say(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                         const struct rig_sql_values *values);
/* Runs a statement that changes rows, and gives their number. */
bool rig_sql_turn_change(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                         const struct rig_sql_values *values, int64_t *count);
/* Runs operation `op` of the workload sql. */
bool rig_sql_turn_run_random(struct rig_sql_turn *turn, uint32_t op);
/* Runs a statement, and where it changed no row the insertion. */
bool rig_sql_turn_put(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                      enum rig_sql_dialect_statement first, const struct rig_sql_values *values);
/* Runs a statement that must change one row: a comparison. */
bool rig_sql_turn_compare(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                          const struct rig_sql_values *values);

/* ---- answers; each takes it, NULL: the turn has failed already ---- */

/* A cell as a text; NULL for a null, and for what is no text. */
const char *rig_sql_cell_text(const json_t *row, size_t column, size_t *length);
bool rig_sql_cell_number(const json_t *row, size_t column, int64_t *number);
/* Fails the turn. Returns false. */
bool rig_sql_turn_malformed(struct rig_sql_turn *turn);
bool rig_sql_turn_take_read(struct rig_sql_turn *turn, uint32_t op, json_t *answer);
/* The number of rows that a statement changed. */
bool rig_sql_turn_take_count(struct rig_sql_turn *turn, json_t *answer, int64_t *count);
/* Rows of two numbers; of a sum the first one counts as 0. */
bool rig_sql_turn_take_pairs(struct rig_sql_turn *turn, uint32_t op, bool sums, json_t *answer, size_t *row_count);
/* A selection of a program. */
bool rig_sql_turn_take_rows(struct rig_sql_turn *turn, const struct rig_row_table *table, json_t *answer,
                            struct rig_row_answer *rows_of);

#endif
