#include "drivers/postgres/pg_turn.h"

#include <string.h>

#include "base/bug.h"
#include "drivers/sql/sql_ops.h"

/* A queued statement: an operation's index, or one of these. */
enum { OF_BEGIN = -1, OF_COMMIT = -2, OF_SAVEPOINT = -3, OF_PREPARE = -4, OF_NOTHING = -5 };

static const struct rig_sql_numbers no_numbers;

enum rig_rc rig_pg_pipeline_enter(struct rig_pg_connection *connection, struct rig_err *err)
{
    if (PQenterPipelineMode(connection->pg) != 1)
        return rig_fail(err, RIG_E_DRIVER, "libpq refuses pipeline mode: %s", PQerrorMessage(connection->pg));
    return RIG_OK;
}

/* Gives one statement to libpq, which may send it at once; false (and the turn failed) when libpq did not take it. */
static bool queue(struct rig_pg_turn *turn, const struct rig_pg_statement *statement,
                  const struct rig_sql_numbers *numbers)
{
    struct rig_pg_texts texts;
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    rig_pg_texts_print(&texts, numbers);
    int queued =
        rig_pg_run_of(turn)->options->sql.prepared && statement->name[0] != '\0'
            ? PQsendQueryPrepared(pg, statement->name, statement->parameter_count, texts.values, NULL, NULL, 0)
            : PQsendQueryParams(pg, statement->text, statement->parameter_count, NULL, texts.values, NULL, NULL, 0);
    if (queued == 0)
        rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_LOST, PQerrorMessage(pg));
    return queued != 0;
}

static bool queue_operations(struct rig_pg_turn *turn, uint32_t from, uint32_t to)
{
    const struct rig_pg_schema *schema = &rig_pg_run_of(turn)->schema;
    turn->sql.phase = RIG_PHASE_OPERATION;
    for (uint32_t i = from; i < to; i++) { /* before anything is queued that would have to be answered */
        if (!rig_sql_turn_affords(&turn->sql, i))
            return false;
    }
    for (uint32_t i = from; i < to; i++) {
        struct rig_sql_numbers numbers;
        struct rig_pg_statement random;
        const struct rig_pg_statement *before = rig_pg_schema_before_op(schema, turn->sql.transaction, i);
        if (before != NULL && !queue(turn, before, &no_numbers))
            return false;
        const struct rig_pg_statement *statement = rig_pg_turn_statement(turn, i, &random, &numbers);
        if (statement != NULL && !queue(turn, statement, &numbers))
            return false;
    }
    return true;
}

/* Flushes; false (and the turn failed) when it ended in a time-out or an interruption. */
static bool flush(struct rig_pg_turn *turn)
{
    const char *reason = rig_pg_flush(rig_pg_connection_of(turn), turn->sql.deadline_ns);
    if (reason != NULL)
        rig_pg_turn_fail(turn, turn->sql.phase, reason, NULL);
    return reason == NULL;
}

/* The next result; false (and the turn failed, in the phase that the sending has reached) when none will come. */
static bool next(struct rig_pg_turn *turn, PGresult **result)
{
    const char *reason = rig_pg_next(rig_pg_connection_of(turn), turn->sql.deadline_ns, result);
    if (reason != NULL) {
        rig_pg_turn_fail(turn, turn->sql.phase, reason, NULL);
        turn->sql.session_lost = true;
    }
    return reason == NULL;
}

static enum rig_phase phase_of(int which)
{
    return which == OF_BEGIN ? RIG_PHASE_BEGIN : which == OF_COMMIT ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION;
}

/*
 * Whether an error is the server's own answer to the current statement, after which it skips the following statements.
 * Without an SQLSTATE the connection broke. A pooler that loses its server answers with an error of its own that ends
 * the session; by then the server may have executed the whole pipeline. Such an error names no routine, PostgreSQL's
 * does.
 */
static bool answers_statement(const PGresult *result)
{
    const char *code = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = code == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (code == NULL)
        return false;
    const bool of_statement = severity != NULL && strcmp(severity, "ERROR") == 0 && strncmp(code, "08", 2) != 0;
    return of_statement || PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION) != NULL;
}

/* A statement that ends a pipeline, as far as its answer depends on it. */
static const char *ending_sql(const struct rig_pg_turn *turn, int last)
{
    if (last == OF_COMMIT)
        return turn->sql.name[0] != '\0' ? "COMMIT PREPARED" : "COMMIT";
    return last == OF_PREPARE ? "PREPARE TRANSACTION" : "";
}

/* Takes an error, or another result that is no answer; false when no later answer proves anything. */
static bool take_error(struct rig_pg_turn *turn, int which, const PGresult *result)
{
    const bool answers = answers_statement(result);
    rig_pg_turn_fail_result(turn, answers ? phase_of(which) : turn->sql.phase, result);
    turn->refused = turn->refused || PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL;
    turn->skips = turn->skips || (answers && !turn->sql.session_lost);
    return !turn->sql.transaction->answers_void;
}

/* Takes the NULL that ends the results of a statement. */
static bool take_end(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    if (!next(turn, &result))
        return false;
    if (result == NULL)
        return true;
    if (PQstatus(rig_pg_connection_of(turn)->pg) == CONNECTION_BAD)
        rig_pg_turn_fail_result(turn, turn->sql.phase, NULL);
    else
        rig_sql_turn_lose_step(&turn->sql, "a statement was answered twice");
    PQclear(result);
    return false;
}

/* Takes an answer that is no error; false when it does not answer the statement. */
static bool take_answer(struct rig_pg_turn *turn, int which, const char *sql, const PGresult *result)
{
    if (!rig_pg_turn_check_tag(turn, sql, result))
        return false;
    if (which == OF_COMMIT)
        rig_pg_turn_take_commit(turn, result);
    else if (which == OF_PREPARE)
        rig_pg_turn_take_prepare(turn, result);
    else if (which >= 0)
        rig_pg_turn_take(turn, (uint32_t)which, turn->sql.may_commit ? RIG_PHASE_COMMIT : phase_of(which), result);
    return !turn->sql.transaction->answers_void;
}

/*
 * Takes the answer to one statement; false when no later answer proves anything: the connection broke, or it is out of
 * step.
 */
static bool take(struct rig_pg_turn *turn, int which, const char *sql)
{
    PGresult *result = NULL;
    rig_pg_connection_of(turn)->awaiting_commit = which == OF_COMMIT;
    bool more = next(turn, &result);
    rig_pg_connection_of(turn)->awaiting_commit = false;
    if (!more)
        return false;
    const ExecStatusType status = result == NULL ? PGRES_FATAL_ERROR : PQresultStatus(result);
    const bool is_broken = PQstatus(rig_pg_connection_of(turn)->pg) == CONNECTION_BAD;
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        more = take_answer(turn, which, sql, result);
    else if (status != PGRES_PIPELINE_ABORTED || !turn->sql.failed) /* skipped statements follow one that failed */
        more = take_error(turn, which, result);
    PQclear(result);
    turn->sql.session_lost = turn->sql.session_lost || is_broken;
    /* The results received before the break are still available; an error means that there are none. */
    return more && (!is_broken || status != PGRES_FATAL_ERROR) && take_end(turn);
}

/* Takes the answer to the Sync, the end of the pipeline. False: there is none. */
static bool take_sync(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    if (!next(turn, &result))
        return false;
    const bool synced = result != NULL && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (!synced && PQstatus(rig_pg_connection_of(turn)->pg) == CONNECTION_BAD)
        rig_pg_turn_fail_result(turn, turn->sql.phase, NULL);
    else if (!synced)
        rig_sql_turn_lose_step(&turn->sql,
                               "the server answered a statement that it has to skip, or one that was not sent");
    turn->sql.session_lost = turn->sql.session_lost || !synced;
    PQclear(result);
    return synced;
}

/*
 * Compares the state of the transaction after the Sync with the answers. After an error in the transaction the server
 * skips a COMMIT, so the transaction is still there, and failed.
 */
static void check_end(struct rig_pg_turn *turn, const char *last)
{
    if (!turn->refused)
        (void)rig_pg_turn_check_status(turn, rig_pg_ends_transaction(last) ? PQTRANS_IDLE : PQTRANS_INTRANS);
    else if (turn->sql.may_commit && turn->sql.phase == RIG_PHASE_OPERATION)
        (void)rig_pg_turn_check_status(turn, PQTRANS_INERROR);
}

static bool take_range(struct rig_pg_turn *turn, bool with_begin, uint32_t from, uint32_t to)
{
    const struct rig_pg_schema *schema = &rig_pg_run_of(turn)->schema;
    if (with_begin && !take(turn, OF_BEGIN, rig_pg_turn_begin_statement(turn)->text))
        return false;
    for (uint32_t i = from; i < to; i++) {
        struct rig_sql_numbers numbers;
        struct rig_pg_statement random;
        const struct rig_pg_statement *before = rig_pg_schema_before_op(schema, turn->sql.transaction, i);
        if (before != NULL && !take(turn, OF_SAVEPOINT, before->text))
            return false;
        const struct rig_pg_statement *statement = rig_pg_turn_statement(turn, i, &random, &numbers);
        if (statement != NULL && !take(turn, (int)i, statement->text))
            return false;
    }
    return true;
}

/*
 * The answers end before the Sync's. Which statements they belong to is not sure then, and neither is an error after
 * which a COMMIT would have been skipped: the server confirms that with the Sync, unless the error ended the session.
 */
static void end_early(struct rig_pg_turn *turn, uint32_t from, uint32_t to)
{
    if (turn->sql.committed || turn->sql.transaction->answers_void)
        return;
    memset(turn->sql.transaction->reads + from, 0, (to - from) * sizeof *turn->sql.transaction->reads);
    if (turn->skips && turn->sql.may_commit && turn->sql.phase != RIG_PHASE_COMMIT)
        rig_sql_turn_lose_step(&turn->sql, "after an error the server did not confirm that it skipped the COMMIT");
}

/* Ends the pipeline with a Sync, sends it and takes the answers, also that of its last statement; false when it broke
 * off. */
static bool synchronize(struct rig_pg_turn *turn, bool with_begin, uint32_t from, uint32_t to, int last)
{
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    const char *sql = ending_sql(turn, last);
    if (PQpipelineSync(pg) != 1) {
        rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_LOST, PQerrorMessage(pg));
        return false;
    }
    if (!flush(turn) || !take_range(turn, with_begin, from, to) || (last != OF_NOTHING && !take(turn, last, sql)) ||
        !take_sync(turn)) {
        end_early(turn, from, to);
        return false;
    }
    check_end(turn, sql);
    return !turn->sql.session_lost;
}

/* Sends operations, and takes their answers. */
static bool run_part(struct rig_pg_turn *turn, bool with_begin, uint32_t from, uint32_t to)
{
    return queue_operations(turn, from, to) && synchronize(turn, with_begin, from, to, OF_NOTHING) && !turn->sql.failed;
}

/* Whether the operation needs the answer to a read from `from` on. */
static bool waits(const struct rig_pg_turn *turn, uint32_t op, uint32_t from)
{
    const uint32_t read =
        op < turn->sql.transaction->op_count ? rig_sql_builds_on(turn->sql.transaction, op) : UINT32_MAX;
    return read != UINT32_MAX && read >= from;
}

static void pause_as_wanted(struct rig_pg_turn *turn, uint32_t at)
{
    if (rig_sql_turn_holds_at(&turn->sql, at))
        rig_sql_turn_hold(&turn->sql);
    if (rig_sql_turn_delays_at(&turn->sql, at))
        rig_sql_turn_delay(&turn->sql);
}

static bool queue_ending(struct rig_pg_turn *turn, const char *statement)
{
    char sql[RIG_PG_ENDING_BYTES];
    rig_pg_turn_print_ending(turn, statement, sql);
    const bool queued = PQsendQueryParams(rig_pg_connection_of(turn)->pg, sql, 0, NULL, NULL, NULL, NULL, 0) == 1;
    if (!queued)
        rig_pg_turn_fail(turn, turn->sql.phase, RIG_SQL_LOST, PQerrorMessage(rig_pg_connection_of(turn)->pg));
    return queued;
}

/* The commit comes in a round trip of its own, when the transaction is prepared. */
static void end_in_two_phases(struct rig_pg_turn *turn, bool with_begin, uint32_t from)
{
    const struct rig_transaction *transaction = turn->sql.transaction;
    if (!queue_ending(turn, "PREPARE TRANSACTION") ||
        !synchronize(turn, with_begin, from, transaction->op_count, OF_PREPARE) || turn->sql.failed)
        return;
    rig_sql_turn_hold_prepared(&turn->sql);
    turn->sql.phase = RIG_PHASE_COMMIT;
    turn->sql.may_commit = true;
    if (queue_ending(turn, "COMMIT PREPARED"))
        (void)synchronize(turn, false, transaction->op_count, transaction->op_count, OF_COMMIT);
}

/* In one round trip. The parts before an operation that needs an answer, and before a hold or a delay, have round trips
 * of their own: the server counts the session as idle in a transaction meanwhile. */
void rig_pg_pipeline_run(struct rig_pg_turn *turn)
{
    const struct rig_transaction *transaction = turn->sql.transaction;
    const uint32_t op_count = transaction->op_count;
    uint32_t from = 0; /* operations before it are answered */
    bool with_begin = true;
    RIG_INVARIANT(!transaction->hold.wanted || transaction->hold.before_op <= op_count);
    turn->sql.phase = RIG_PHASE_BEGIN;
    if (!queue(turn, rig_pg_turn_begin_statement(turn), &no_numbers))
        return;
    for (uint32_t i = 0; i <= op_count; i++) {
        if (!rig_sql_turn_holds_at(&turn->sql, i) && !rig_sql_turn_delays_at(&turn->sql, i) && !waits(turn, i, from))
            continue;
        if (!run_part(turn, with_begin, from, i))
            return;
        with_begin = false;
        from = i;
        pause_as_wanted(turn, i);
    }
    if (transaction->rolls_back) {
        if (run_part(turn, with_begin, from, op_count))
            (void)rig_sql_turn_rolls_back(&turn->sql);
        return;
    }
    if (!queue_operations(turn, from, op_count))
        return;
    if (turn->sql.name[0] != '\0') {
        end_in_two_phases(turn, with_begin, from);
        return;
    }
    turn->sql.phase = RIG_PHASE_COMMIT;
    turn->sql.may_commit = true;
    if (queue(turn, rig_pg_schema_fixed(&rig_pg_run_of(turn)->schema, RIG_PG_COMMIT), &no_numbers))
        (void)synchronize(turn, with_begin, from, op_count, OF_COMMIT);
}

bool rig_pg_pipeline_rollback(struct rig_pg_turn *turn)
{
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    if (!queue(turn, rig_pg_schema_fixed(&rig_pg_run_of(turn)->schema, RIG_PG_ROLLBACK), &no_numbers) ||
        PQpipelineSync(pg) != 1 || !flush(turn))
        return false;
    PGresult *result = NULL;
    if (!next(turn, &result))
        return false;
    const bool ended =
        result != NULL && PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "ROLLBACK") == 0;
    PQclear(result);
    return ended && take_end(turn) && take_sync(turn) && PQtransactionStatus(pg) == PQTRANS_IDLE &&
           !turn->sql.session_lost;
}
