#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_turn.h"
#include "drivers/sql/sql_ops.h"

static const struct rig_sql_numbers no_numbers;

static bool send_statement(struct rig_pg_turn *turn, const struct rig_pg_statement *statement,
                           const struct rig_sql_numbers *numbers)
{
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    if (statement->name[0] == '\0')
        return PQsendQuery(pg, statement->text) == 1;
    if (rig_pg_run_of(turn)->options->sql.prepared) {
        struct rig_pg_texts texts;
        rig_pg_texts_print(&texts, numbers);
        return PQsendQueryPrepared(pg, statement->name, statement->parameter_count, texts.values, NULL, NULL, 0) == 1;
    }
    char sql[2 * RIG_PG_STATEMENT_TEXT_BYTES];
    rig_pg_statement_print(statement, numbers, sql, sizeof sql);
    return PQsendQuery(pg, sql) == 1;
}

static bool succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/*
 * Waits for the end of the statement that was sent. `*result`, the caller's to clear, is its first result, also when
 * that is an error; NULL when the connection broke. Returns NULL, RIG_SQL_TIMEOUT or RIG_SQL_INTERRUPTED.
 */
static const char *await_statement(struct rig_pg_turn *turn, PGresult **result)
{
    struct rig_pg_connection *connection = rig_pg_connection_of(turn);
    const char *reason = rig_pg_flush(connection, turn->sql.deadline_ns);
    if (reason == NULL)
        reason = rig_pg_next(connection, turn->sql.deadline_ns, result);
    bool twice = false;
    while (reason == NULL) {
        PGresult *further = NULL;
        reason = rig_pg_next(connection, turn->sql.deadline_ns, &further);
        if (reason == NULL && further == NULL)
            break;
        twice = twice || PQresultStatus(further) != PGRES_FATAL_ERROR ||
                PQresultErrorField(further, PG_DIAG_SQLSTATE) != NULL;
        PQclear(further);
        if (twice || PQstatus(connection->pg) == CONNECTION_BAD)
            break;
    }
    if (twice || (*result != NULL && reason != NULL && strcmp(reason, RIG_SQL_PROTOCOL) == 0))
        rig_sql_turn_lose_step(&turn->sql, "a statement was answered twice");
    if (*result == NULL || (reason == NULL && PQstatus(connection->pg) != CONNECTION_BAD))
        return reason;
    /* An error counts, and COMMIT, even when the expected end of the answer did not come. After another answer nothing
     * more can be sent: the transaction ends here. */
    turn->sql.session_lost = true;
    if (turn->sql.phase == RIG_PHASE_COMMIT || !succeeded(*result))
        return NULL;
    PQclear(*result);
    *result = NULL;
    return reason;
}

static const char *run_statement(struct rig_pg_turn *turn, const struct rig_pg_statement *statement,
                                 const struct rig_sql_numbers *numbers, PGresult **result)
{
    *result = NULL;
    return send_statement(turn, statement, numbers) ? await_statement(turn, result) : NULL;
}

/* Whether a statement succeeded, and was answered in step; false, and the turn failed, when not. */
static bool check_statement(struct rig_pg_turn *turn, const char *sql, const char *reason, PGresult **result)
{
    const bool answered = reason == NULL && succeeded(*result);
    if (answered && !turn->sql.failed && rig_pg_turn_check_tag(turn, sql, *result) &&
        rig_pg_turn_check_status(turn, rig_pg_ends_transaction(sql) ? PQTRANS_IDLE : PQTRANS_INTRANS))
        return true;
    if (answered)
        RIG_INVARIANT(turn->sql.failed);
    else if (reason != NULL)
        rig_pg_turn_fail(turn, turn->sql.phase, reason, NULL);
    else
        rig_pg_turn_fail_result(turn, turn->sql.phase, *result);
    PQclear(*result);
    *result = NULL;
    return false;
}

/* Runs one statement of the transaction; false, and the turn failed, when it did not succeed. */
static bool perform(struct rig_pg_turn *turn, const struct rig_pg_statement *statement,
                    const struct rig_sql_numbers *numbers, PGresult **result)
{
    return check_statement(turn, statement->text, run_statement(turn, statement, numbers, result), result);
}

static bool perform_statement(struct rig_pg_turn *turn, const char *name, const char *text, int value_count,
                              const char *const *values, PGresult **result)
{
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    *result = NULL;
    const int sent = rig_pg_run_of(turn)->options->sql.prepared
                         ? PQsendQueryPrepared(pg, name, value_count, values, NULL, NULL, 0)
                         : PQsendQueryParams(pg, text, value_count, NULL, values, NULL, NULL, 0);
    return check_statement(turn, text, sent == 1 ? await_statement(turn, result) : NULL, result);
}

/* `*result` is the caller's. */
static bool perform_text(struct rig_pg_turn *turn, const char *text, PGresult **result)
{
    *result = NULL;
    const int sent = PQsendQuery(rig_pg_connection_of(turn)->pg, text);
    return check_statement(turn, text, sent == 1 ? await_statement(turn, result) : NULL, result);
}

static bool perform_savepoint(struct rig_pg_turn *turn, const char *text)
{
    PGresult *result = NULL;
    const bool done = perform_text(turn, text, &result);
    PQclear(result);
    return done;
}

/* UPDATE; without a row, INSERT inside a savepoint; when another client was faster, UPDATE again. */
static bool update_or_insert(struct rig_pg_turn *turn, uint32_t op, const struct rig_sql_numbers *numbers)
{
    const struct rig_pg_schema *schema = &rig_pg_run_of(turn)->schema;
    const struct rig_pg_statement *update = rig_pg_schema_of_key(schema, numbers->key, RIG_PG_UPDATE);
    PGresult *result = NULL;
    if (!perform(turn, update, numbers, &result))
        return false;
    bool done = rig_pg_affected_a_row(result);
    rig_pg_turn_take_view(turn, op, result);
    PQclear(result);
    if (done)
        return true;
    if (!perform_savepoint(turn, "SAVEPOINT rig_insert"))
        return false;
    const struct rig_pg_statement *insert = rig_pg_schema_of_key(schema, numbers->key, RIG_PG_INSERT);
    const char *reason = run_statement(turn, insert, numbers, &result);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool beaten = reason == NULL && !turn->sql.failed && code != NULL && strcmp(code, "23505") == 0;
    if (!beaten) {
        const bool inserted = check_statement(turn, insert->text, reason, &result);
        if (inserted)
            rig_pg_turn_take_view(turn, op, result);
        PQclear(result);
        return inserted && perform_savepoint(turn, "RELEASE SAVEPOINT rig_insert");
    }
    PQclear(result);
    rig_pg_count_error(rig_pg_connection_of(turn));
    if (!perform_savepoint(turn, "ROLLBACK TO SAVEPOINT rig_insert") || !perform(turn, update, numbers, &result))
        return false;
    done = rig_pg_affected_a_row(result);
    rig_pg_turn_take_view(turn, op, result);
    PQclear(result);
    /* The other client's row exists (otherwise no violation) but this transaction's snapshot may not show it. */
    if (!done)
        rig_pg_turn_fail(turn, turn->sql.phase, "23505", "another client inserted the key, invisible to this snapshot");
    return done;
}

bool rig_pg_statements_operate(struct rig_sql_turn *sql, uint32_t i)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    const struct rig_pg_run *run = rig_pg_run_of(turn);
    struct rig_sql_numbers numbers;
    struct rig_pg_statement random;
    PGresult *result = NULL;
    const struct rig_pg_statement *before = rig_pg_schema_before_op(&run->schema, turn->sql.transaction, i);
    if (before != NULL && !perform(turn, before, &no_numbers, &result))
        return false;
    PQclear(result);
    const struct rig_pg_statement *statement = rig_pg_turn_statement(turn, i, &random, &numbers);
    if (statement == NULL)
        return true;
    if (!rig_sql_turn_affords(&turn->sql, i))
        return false;
    const bool puts = statement == rig_pg_schema_of_key(&run->schema, numbers.key, RIG_PG_PUT);
    if (run->options->write == RIG_PG_INSERT_THEN_UPDATE && puts && !rig_sql_compares(turn->sql.transaction, i))
        return update_or_insert(turn, i, &numbers);
    if (!perform(turn, statement, &numbers, &result))
        return false;
    rig_pg_turn_take(turn, i, RIG_PHASE_OPERATION, result);
    PQclear(result);
    return !turn->sql.failed;
}

/* Asks the database for a timestamp of the transaction; false, and the turn failed, where it gives none. */
static bool take_timestamp(struct rig_pg_turn *turn, const char *sql, enum rig_column column)
{
    PGresult *result = NULL;
    if (sql == NULL || sql[0] == '\0')
        return true;
    if (!perform_text(turn, sql, &result))
        return false;
    const bool one = PQntuples(result) == 1 && PQnfields(result) == 1 && PQgetisnull(result, 0, 0) == 0;
    const bool given = rig_sql_turn_take_timestamp(&turn->sql, column, one ? PQgetvalue(result, 0, 0) : NULL,
                                                   one ? (size_t)PQgetlength(result, 0, 0) : 0);
    PQclear(result);
    return given;
}

bool rig_pg_statements_begin(struct rig_sql_turn *sql)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    PGresult *result = NULL;
    turn->sql.phase = RIG_PHASE_BEGIN;
    if (!perform(turn, rig_pg_turn_begin_statement(turn), &no_numbers, &result))
        return false;
    PQclear(result);
    turn->sql.phase = RIG_PHASE_OPERATION;
    return take_timestamp(turn, rig_pg_run_of(turn)->options->sql.begin_ts, RIG_COLUMN_START_TS);
}

static bool perform_ending(struct rig_pg_turn *turn, const char *statement, PGresult **result)
{
    char sql[RIG_PG_ENDING_BYTES];
    rig_pg_turn_print_ending(turn, statement, sql);
    return perform_text(turn, sql, result);
}

/* The first phase. */
static bool prepare(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    if (perform_ending(turn, "PREPARE TRANSACTION", &result))
        rig_pg_turn_take_prepare(turn, result);
    PQclear(result);
    if (turn->sql.failed)
        return false;
    rig_sql_turn_hold_prepared(&turn->sql);
    return true;
}

void rig_pg_statements_commit(struct rig_sql_turn *sql)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    PGresult *result = NULL;
    const bool in_two_phases = turn->sql.name[0] != '\0';
    if (!take_timestamp(turn, rig_pg_run_of(turn)->options->sql.commit_ts, RIG_COLUMN_COMMIT_TS) ||
        (in_two_phases && !prepare(turn)))
        return;
    turn->sql.phase = RIG_PHASE_COMMIT;
    turn->sql.may_commit = true;
    turn->aborted = PQtransactionStatus(rig_pg_connection_of(turn)->pg) == PQTRANS_INERROR;
    rig_pg_connection_of(turn)->awaiting_commit = true;
    const bool answered =
        in_two_phases
            ? perform_ending(turn, "COMMIT PREPARED", &result)
            : perform(turn, rig_pg_schema_fixed(&rig_pg_run_of(turn)->schema, RIG_PG_COMMIT), &no_numbers, &result);
    rig_pg_connection_of(turn)->awaiting_commit = false;
    if (answered)
        rig_pg_turn_take_commit(turn, result);
    PQclear(result);
}

bool rig_pg_statements_roll_back(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    const char *reason =
        run_statement(turn, rig_pg_schema_fixed(&rig_pg_run_of(turn)->schema, RIG_PG_ROLLBACK), &no_numbers, &result);
    const bool ended = reason == NULL && succeeded(result) && strcmp(PQcmdStatus(result), "ROLLBACK") == 0 &&
                       PQtransactionStatus(rig_pg_connection_of(turn)->pg) == PQTRANS_IDLE;
    PQclear(result);
    return ended && !turn->sql.session_lost;
}

/* ---- programs ---- */

/* Copies the rows of a result; false, and the turn failed, when they are not those of the table. */
static bool take_rows(struct rig_pg_turn *turn, const struct rig_row_table *table, const PGresult *result,
                      struct rig_row_answer *answer)
{
    const size_t rows = (size_t)PQntuples(result), columns = (size_t)PQnfields(result);
    if (rows > 0 && columns != table->column_count) {
        rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_PROTOCOL, "the rows have other columns than the table");
        return false;
    }
    if (rows * columns > answer->cell_capacity) {
        rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_LIMIT,
                         "a statement of the program gave more rows than rig takes");
        return false;
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            const char *text = PQgetvalue(result, (int)row, (int)column);
            if (!rig_sql_int_parse(text, (size_t)PQgetlength(result, (int)row, (int)column),
                                   &answer->cells[row * columns + column])) {
                rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_MALFORMED, text);
                return false;
            }
        }
    }
    answer->count = (uint32_t)rows;
    return true;
}

bool rig_pg_statements_execute(struct rig_sql_turn *sql, uint32_t index, const int64_t *values,
                               struct rig_row_answer *answer)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    const struct rig_pg_rows *rows = &rig_pg_run_of(turn)->rows;
    const struct rig_row_statement *described = &rows->schema->statements[index];
    const struct rig_pg_rows_statement *statement = &rows->statements[index];
    char texts[RIG_ROW_VALUES][RIG_SQL_INT_BYTES];
    const char *pointers[RIG_ROW_VALUES];
    for (int i = 0; i < statement->parameter_count; i++) {
        (void)rig_sql_int_print(values[i], texts[i]);
        pointers[i] = texts[i];
    }
    PGresult *result = NULL;
    if (!perform_statement(turn, statement->name, statement->text, statement->parameter_count, pointers, &result))
        return false;
    bool taken = true;
    if (rig_row_gives_rows(described))
        taken = take_rows(turn, &rows->schema->tables[described->table], result, answer);
    else
        answer->count = (uint32_t)strtoul(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    return taken;
}
