#include "drivers/postgres/pg_session.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_answer.h"
#include "drivers/postgres/pg_pipeline.h"
#include "drivers/postgres/pg_quiet.h"
#include "drivers/postgres/pg_preparation.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_predicate.h"

/* Other streams of the seed are numbered by client. */
static const uint64_t shares_stream = UINT64_C(0x7067) << 40;

/* ---- opening ---- */

/* Programs wait for each answer. */
static bool is_pipelined(const struct rig_pg_run *run)
{
    return run->options->pipeline && run->rows.schema == NULL;
}

static enum rig_rc open_connection(void *context, struct rig_pg_connection *connection, uint32_t server,
                                   int64_t deadline_ns, struct rig_err *err)
{
    struct rig_pg_session *session = context;
    struct rig_pg_run *run = session->run;
    const struct rig_pg_options *options = run->options;
    struct rig_sql_endpoint endpoint;
    struct rig_pg_target target;
    enum rig_rc rc = rig_pg_servers_target(&run->servers, server, &endpoint, &target, err);
    if (rc == RIG_OK)
        rc = rig_pg_connect(connection, &target, &session->waiter, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    connection->node = run->env->core->name(rig_pg_servers_name(&run->servers, server));
    connection->backend = PQbackendPID(connection->pg);
    rig_pg_quiet_init(connection, options, rig_pg_servers_are_own(&run->servers, &target));
    /* A single server is used without checking its role. */
    connection->standby = rig_pg_servers_count(&run->servers) > 1 && rig_pg_in_recovery(connection, deadline_ns);
    rc = rig_pg_preparation_set(connection, options, deadline_ns, err);
    if (rc == RIG_OK && options->sql.two_phase > 0 && !connection->standby)
        rc = rig_pg_two_phase_resolve(&run->two_phase, run->env, session->client, connection, deadline_ns, err);
    if (rc == RIG_OK && options->sql.prepared)
        rc = rig_pg_preparation_statements(connection, run, deadline_ns, err);
    if (rc == RIG_OK && is_pipelined(run))
        rc = rig_pg_pipeline_enter(connection, err);
    return rc;
}

enum rig_rc rig_pg_session_open(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct rig_pg_session *session = object;
    struct rig_pg_run *run = run_object;
    session->run = run;
    session->client = client;
    rig_rng_init(&session->rng, run->env->seed, shares_stream + client);
    session->waiter.core = run->env->core;
    rig_wake_arm(&session->waiter.wake, &run->wakes, client);
    enum rig_rc rc = rig_pg_servers_open_writer(&run->servers, client, open_connection, session, &session->main,
                                                &session->main_server, err);
    if (rc == RIG_OK)
        rc = rig_pg_servers_open_reader(&run->servers, client, session->main_server, open_connection, session,
                                        &session->reader, &session->reader_server, err);
    return rc;
}

/* The connection to the transaction's requested node; NULL when there is none. */
static struct rig_pg_connection *connect_to_node(struct rig_pg_session *session, uint32_t server, int64_t deadline_ns,
                                                 struct rig_err *err)
{
    const struct rig_pg_run *run = session->run;
    if (server == session->main_server)
        return &session->main;
    if (server == session->reader_server && session->reader.pg != NULL)
        return &session->reader;
    if (session->visit.pg != NULL && server == session->visit_server)
        return &session->visit;
    rig_pg_disconnect(&session->visit);
    session->visit_server = server;
    int64_t connected_ns = run->env->core->now_ns() + run->options->sql.connect_timeout_ns;
    if (connected_ns > deadline_ns)
        connected_ns = deadline_ns;
    if (server < rig_pg_servers_count(&run->servers) &&
        open_connection(session, &session->visit, server, connected_ns, err) == RIG_OK)
        return &session->visit;
    rig_pg_disconnect(&session->visit);
    return NULL;
}

void rig_pg_session_interrupt(void *session)
{
    rig_wake_raise(&((struct rig_pg_session *)session)->waiter.wake);
}

void rig_pg_session_close(void *object, bool last)
{
    struct rig_pg_session *session = object;
    (void)last;
    rig_pg_disconnect(&session->main);
    rig_pg_disconnect(&session->reader);
    rig_pg_disconnect(&session->visit);
}

/* ---- common to both ways of running a transaction ---- */

void rig_pg_turn_fail(struct rig_pg_turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    if (turn->failed || turn->committed)
        return;
    turn->failed = true;
    turn->phase = phase;
    struct rig_transaction *transaction = turn->transaction;
    rig_pg_one_line(transaction->error_code, sizeof transaction->error_code, code);
    if (text == NULL || text[0] == '\0')
        text = rig_sql_outcome_find(&rig_pg_outcomes, phase, code, "")->reason;
    rig_pg_one_line(transaction->error_text, sizeof transaction->error_text, text);
}

void rig_pg_turn_overrule(struct rig_pg_turn *turn, const char *code, const char *text)
{
    turn->failed = turn->committed = false;
    rig_pg_turn_fail(turn, turn->committing ? RIG_PHASE_COMMIT : turn->phase, code, text);
    turn->session_lost = true;
}

void rig_pg_turn_lose_step(struct rig_pg_turn *turn, const char *text)
{
    turn->transaction->answers_void = true;
    rig_pg_turn_overrule(turn, RIG_SQL_PROTOCOL, text);
}

/* The server reports that no transaction is open, in the middle of one: it may have committed what it has executed. */
static void lose_transaction(struct rig_pg_turn *turn)
{
    turn->committing = true;
    rig_pg_turn_lose_step(turn, "the server reports another state of the transaction than it is in");
}

bool rig_pg_turn_check_status(struct rig_pg_turn *turn, PGTransactionStatusType expected)
{
    PGconn *pg = turn->connection->pg;
    if (PQstatus(pg) == CONNECTION_BAD || PQtransactionStatus(pg) == PQTRANS_ACTIVE) /* there is no report */
        return true;
    if (PQtransactionStatus(pg) != expected)
        lose_transaction(turn);
    else if (rig_pg_has_unasked(turn->connection))
        rig_pg_turn_lose_step(turn, "the server sent more than the answers");
    else
        return true;
    return false;
}

bool rig_pg_turn_check_tag(struct rig_pg_turn *turn, const char *sql, const PGresult *result)
{
    const int rows = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : -1;
    char text[RIG_ERROR_TEXT_BYTES];
    /* PQcmdStatus() takes a non-const result that it does not change. */
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (rig_pg_tag_fits(sql, tag, rows))
        return true;
    (void)snprintf(text, sizeof text, "not the answer to `%.80s`: %.64s, %d rows", sql, tag, rows < 0 ? 0 : rows);
    rig_pg_turn_lose_step(turn, text);
    return false;
}

void rig_pg_turn_fail_result(struct rig_pg_turn *turn, enum rig_phase phase, const PGresult *result)
{
    const struct rig_pg_connection *connection = turn->connection;
    const char *code = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (code == NULL && PQstatus(connection->pg) != CONNECTION_BAD) {
        rig_pg_turn_lose_step(turn, result == NULL ? "a statement was not answered" : PQresultErrorMessage(result));
        return;
    }
    if (code == NULL) {
        /* A server that is shut down at once, or crashes, sends the reason in a notice before it breaks the
         * connection. */
        bool farewell = connection->farewell_code[0] != '\0';
        rig_pg_turn_fail(turn, phase, farewell ? connection->farewell_code : RIG_SQL_LOST,
                         farewell ? connection->farewell_text : PQerrorMessage(connection->pg));
        turn->session_lost = true;
        return;
    }
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != NULL && strcmp(severity, "ERROR") != 0)
        turn->session_lost = true; /* FATAL or PANIC */
    rig_pg_turn_fail(turn, phase, code, PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

static bool affected_a_row(const PGresult *result)
{
    return strcmp(PQcmdTuples((PGresult *)(uintptr_t)result), "0") != 0; /* does not change it */
}

static void take_list(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const char *text, size_t length)
{
    struct rig_transaction *transaction = turn->transaction;
    enum rig_sql_list_form form = (enum rig_sql_list_form)turn->session->run->options->table_schema;
    size_t count = rig_sql_list_count(form, text, length);
    int64_t *room = turn->session->run->env->core->elements(transaction, count);
    if (room == NULL || count > UINT32_MAX) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_LIMIT, NULL);
        return;
    }
    if (!rig_sql_list_parse(form, text, length, room)) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, text);
        return;
    }
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)count, .first_element = transaction->element_count};
    transaction->element_count += count;
}

/* At read committed a locking read, an update and a delete see the newest version, which their snapshot need not have. */
static bool reads_past_snapshot(const struct rig_pg_turn *turn, uint32_t op)
{
    const struct rig_pg_run *run = turn->session->run;
    struct rig_sql_numbers numbers;
    if (turn->transaction->ops[op].kind == RIG_OP_READ_WHERE) {
        (void)rig_sql_predicate_of(turn->transaction, op, &numbers);
        return run->options->sql.isolation < RIG_SQL_REPEATABLE_READ && numbers.further != 0;
    }
    return run->options->sql.lock_reads > 0 && run->options->sql.isolation < RIG_SQL_REPEATABLE_READ &&
           rig_sql_action_of(run->schema.workload, run->options->sql.lock_reads, turn->transaction, op, &numbers) ==
               RIG_SQL_READ_LOCKED;
}

static void take_view(struct rig_pg_turn *turn, uint32_t op, const PGresult *result)
{
    struct rig_pg_session *session = turn->session;
    if (session->run->views.logs != NULL)
        rig_pg_view_take(&session->run->views, session->client, turn->transaction, op, reads_past_snapshot(turn, op),
                         result);
}

/* The rows of a read by condition: pairs of numbers. */
static void take_rows(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result)
{
    struct rig_transaction *transaction = turn->transaction;
    const bool views = turn->session->run->views.logs != NULL; /* there is a row then where none meets the condition */
    if (PQresultStatus(result) != PGRES_TUPLES_OK || (views ? PQnfields(result) < 2 : PQnfields(result) != 2)) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_PROTOCOL, "a read of rows needs pairs of numbers as its answer");
        return;
    }
    const bool none = views && PQntuples(result) == 1 && PQgetisnull(result, 0, 0);
    const size_t count = none ? 0 : (size_t)PQntuples(result) * 2;
    if (count == 0) {
        transaction->reads[op].state = RIG_READ_NIL;
        return;
    }
    int64_t *room = count > UINT32_MAX ? NULL : turn->session->run->env->core->elements(transaction, count);
    if (room == NULL) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_LIMIT, NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const int row = (int)(i / 2), column = (int)(i % 2);
        if (!rig_sql_int_parse(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), &room[i])) {
            rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, PQgetvalue(result, row, column));
            return;
        }
    }
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)count, .first_element = transaction->element_count};
    transaction->element_count += count;
}

void rig_pg_turn_take(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result)
{
    struct rig_transaction *transaction = turn->transaction;
    enum rig_op_kind kind = transaction->ops[op].kind;
    take_view(turn, op, result);
    if (rig_sql_compares(transaction, op) && !affected_a_row(result))
        rig_pg_turn_fail(turn, phase, RIG_SQL_MISMATCH, NULL);
    if (!rig_op_reads(kind))
        return;
    if (kind == RIG_OP_READ_WHERE) {
        take_rows(turn, op, phase, result);
        return;
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) > 1) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
        return;
    }
    if (PQntuples(result) == 0 || PQgetisnull(result, 0, 0)) {
        /* NULL: an aggregate of no rows, a view of none, or a row that was made before the load */
        const struct rig_pg_run *run = turn->session->run;
        const bool has_row = PQntuples(result) == 1 && run->env->prefilled_keys > 0 && run->views.logs == NULL;
        transaction->reads[op].state = has_row && rig_op_reads_sequence(kind) ? RIG_READ_SEEN : RIG_READ_NIL;
        return;
    }
    const char *text = PQgetvalue(result, 0, 0);
    size_t length = (size_t)PQgetlength(result, 0, 0);
    int64_t value = 0;
    if (rig_op_reads_sequence(kind))
        take_list(turn, op, phase, text, length);
    else if (rig_sql_int_parse(text, length, &value))
        transaction->reads[op] = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
    else
        rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, text);
}

void rig_pg_turn_take_commit(struct rig_pg_turn *turn, const PGresult *result)
{
    const struct rig_pg_connection *connection = turn->connection;
    /* PQcmdStatus() takes a non-const result that it does not change. */
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (strcmp(tag, "ROLLBACK") == 0 && turn->aborted)
        rig_pg_turn_fail(turn, RIG_PHASE_COMMIT, RIG_PG_ROLLED_BACK, NULL);
    else if (strcmp(tag, "ROLLBACK") == 0)
        rig_pg_turn_lose_step(turn, "COMMIT was answered with ROLLBACK, and no statement had failed");
    else if (strcmp(tag, turn->gid[0] != '\0' ? "COMMIT PREPARED" : "COMMIT") != 0)
        rig_pg_turn_lose_step(turn, tag);
    else if (connection->commit_warned)
        rig_pg_turn_fail(turn, RIG_PHASE_COMMIT, RIG_PG_COMMIT_WARNING, connection->warning_text);
    turn->committed = !turn->failed;
    if (turn->committed && turn->gid[0] != '\0')
        (void)atomic_fetch_add(&turn->session->run->two_phase.committed, 1);
}

void rig_pg_turn_take_prepare(struct rig_pg_turn *turn, const PGresult *result)
{
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (strcmp(tag, "ROLLBACK") == 0)
        rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_PG_ROLLED_BACK, NULL);
    else if (strcmp(tag, "PREPARE TRANSACTION") != 0)
        rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, tag);
    else
        turn->prepared = true;
    if (turn->prepared)
        (void)atomic_fetch_add(&turn->session->run->two_phase.prepared, 1);
}

void rig_pg_turn_print_ending(const struct rig_pg_turn *turn, const char *statement,
                              char sql[static RIG_PG_ENDING_BYTES])
{
    (void)snprintf(sql, RIG_PG_ENDING_BYTES, "%s '%s'", statement, turn->gid);
}

bool rig_pg_turn_holds_at(const struct rig_pg_turn *turn, uint32_t at)
{
    const struct rig_hold *hold = &turn->transaction->hold;
    const bool comes_later = turn->gid[0] != '\0' && at == turn->transaction->op_count;
    return hold->wanted && hold->before_op == at && !comes_later;
}

void rig_pg_turn_hold(struct rig_pg_turn *turn)
{
    const struct rig_core *core = turn->session->run->env->core;
    int64_t start_ns = core->now_ns();
    (void)core->hold(turn->transaction);
    turn->deadline_ns += core->now_ns() - start_ns;
}

bool rig_pg_turn_affords(struct rig_pg_turn *turn, uint32_t op)
{
    if (rig_sql_affords(&turn->session->run->env->accounts, turn->transaction, op))
        return true;
    rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_POOR, NULL);
    return false;
}

void rig_pg_turn_delay(struct rig_pg_turn *turn)
{
    const struct rig_core *core = turn->session->run->env->core;
    const int64_t start_ns = core->now_ns();
    (void)core->delay(turn->transaction);
    turn->deadline_ns += core->now_ns() - start_ns;
}

const struct rig_pg_statement *rig_pg_turn_begin_statement(const struct rig_pg_turn *turn)
{
    enum rig_pg_fixed which = !turn->transaction->read_only ? RIG_PG_BEGIN
                              : turn->connection->standby   ? RIG_PG_BEGIN_STANDBY
                              : turn->deferrable            ? RIG_PG_BEGIN_DEFERRABLE
                                                            : RIG_PG_BEGIN_READ_ONLY;
    return rig_pg_schema_fixed(&turn->session->run->schema, which);
}

/* ---- statement by statement ---- */

static const struct rig_sql_numbers no_numbers;

static bool send_statement(struct rig_pg_turn *turn, const struct rig_pg_statement *statement,
                           const struct rig_sql_numbers *numbers)
{
    PGconn *pg = turn->connection->pg;
    if (turn->session->run->options->sql.prepared) {
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
 * Waits for the end of the statement that was sent. `*result`, the caller's to clear, is its first result, also when that is an
 * error; NULL when the connection broke. Returns NULL, RIG_SQL_TIMEOUT or RIG_SQL_INTERRUPTED.
 */
static const char *await_statement(struct rig_pg_turn *turn, PGresult **result)
{
    struct rig_pg_connection *connection = turn->connection;
    const char *reason = rig_pg_flush(connection, turn->deadline_ns);
    if (reason == NULL)
        reason = rig_pg_next(connection, turn->deadline_ns, result);
    bool twice = false;
    while (reason == NULL) {
        PGresult *further = NULL;
        reason = rig_pg_next(connection, turn->deadline_ns, &further);
        if (reason == NULL && further == NULL)
            break;
        twice = twice || PQresultStatus(further) != PGRES_FATAL_ERROR ||
                PQresultErrorField(further, PG_DIAG_SQLSTATE) != NULL;
        PQclear(further);
        if (twice || PQstatus(connection->pg) == CONNECTION_BAD)
            break;
    }
    if (twice || (*result != NULL && reason != NULL && strcmp(reason, RIG_SQL_PROTOCOL) == 0))
        rig_pg_turn_lose_step(turn, "a statement was answered twice");
    if (*result == NULL || (reason == NULL && PQstatus(connection->pg) != CONNECTION_BAD))
        return reason;
    /* An error counts, and COMMIT, even when the expected end of the answer did not come. After another answer nothing
     * more can be sent: the transaction ends here. */
    turn->session_lost = true;
    if (turn->phase == RIG_PHASE_COMMIT || !succeeded(*result))
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
    if (answered && !turn->failed && rig_pg_turn_check_tag(turn, sql, *result) &&
        rig_pg_turn_check_status(turn, rig_pg_ends_transaction(sql) ? PQTRANS_IDLE : PQTRANS_INTRANS))
        return true;
    if (answered)
        RIG_INVARIANT(turn->failed);
    else if (reason != NULL)
        rig_pg_turn_fail(turn, turn->phase, reason, NULL);
    else
        rig_pg_turn_fail_result(turn, turn->phase, *result);
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

bool rig_pg_turn_perform(struct rig_pg_turn *turn, const char *name, const char *text, int value_count,
                         const char *const *values, PGresult **result)
{
    PGconn *pg = turn->connection->pg;
    *result = NULL;
    const int sent = turn->session->run->options->sql.prepared
                         ? PQsendQueryPrepared(pg, name, value_count, values, NULL, NULL, 0)
                         : PQsendQueryParams(pg, text, value_count, NULL, values, NULL, NULL, 0);
    return check_statement(turn, text, sent == 1 ? await_statement(turn, result) : NULL, result);
}

/* `*result` is the caller's. */
static bool perform_text(struct rig_pg_turn *turn, const char *text, PGresult **result)
{
    *result = NULL;
    const int sent = PQsendQuery(turn->connection->pg, text);
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
    const struct rig_pg_schema *schema = &turn->session->run->schema;
    const struct rig_pg_statement *update = rig_pg_schema_of_key(schema, numbers->key, RIG_PG_UPDATE);
    PGresult *result = NULL;
    if (!perform(turn, update, numbers, &result))
        return false;
    bool done = affected_a_row(result);
    take_view(turn, op, result);
    PQclear(result);
    if (done)
        return true;
    if (!perform_savepoint(turn, "SAVEPOINT rig_insert"))
        return false;
    const struct rig_pg_statement *insert = rig_pg_schema_of_key(schema, numbers->key, RIG_PG_INSERT);
    const char *reason = run_statement(turn, insert, numbers, &result);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool beaten = reason == NULL && !turn->failed && code != NULL && strcmp(code, "23505") == 0;
    if (!beaten) {
        const bool inserted = check_statement(turn, insert->text, reason, &result);
        if (inserted)
            take_view(turn, op, result);
        PQclear(result);
        return inserted && perform_savepoint(turn, "RELEASE SAVEPOINT rig_insert");
    }
    PQclear(result);
    rig_pg_quiet_count(turn->connection);
    if (!perform_savepoint(turn, "ROLLBACK TO SAVEPOINT rig_insert") || !perform(turn, update, numbers, &result))
        return false;
    done = affected_a_row(result);
    take_view(turn, op, result);
    PQclear(result);
    /* The other client's row exists (otherwise no violation) but this transaction's snapshot may not show it. */
    if (!done)
        rig_pg_turn_fail(turn, turn->phase, "23505", "another client inserted the key, invisible to this snapshot");
    return done;
}

static bool perform_op(struct rig_pg_turn *turn, uint32_t i)
{
    const struct rig_pg_run *run = turn->session->run;
    struct rig_sql_numbers numbers;
    PGresult *result = NULL;
    const struct rig_pg_statement *before = rig_pg_schema_before_op(&run->schema, turn->transaction, i);
    if (before != NULL && !perform(turn, before, &no_numbers, &result))
        return false;
    PQclear(result);
    const struct rig_pg_statement *statement = rig_pg_schema_of_op(&run->schema, turn->transaction, i, &numbers);
    if (statement == NULL)
        return true;
    if (!rig_pg_turn_affords(turn, i))
        return false;
    const bool puts = statement == rig_pg_schema_of_key(&run->schema, numbers.key, RIG_PG_PUT);
    if (run->options->write == RIG_PG_INSERT_THEN_UPDATE && puts && !rig_sql_compares(turn->transaction, i))
        return update_or_insert(turn, i, &numbers);
    if (!perform(turn, statement, &numbers, &result))
        return false;
    rig_pg_turn_take(turn, i, RIG_PHASE_OPERATION, result);
    PQclear(result);
    return !turn->failed;
}

/* Asks the database for a timestamp of the transaction; false, and the turn failed, where it gives none. */
static bool take_timestamp(struct rig_pg_turn *turn, const char *sql, enum rig_column column)
{
    PGresult *result = NULL;
    int64_t timestamp = 0;
    if (sql == NULL || sql[0] == '\0')
        return true;
    if (!perform_text(turn, sql, &result))
        return false;
    const bool given = PQntuples(result) == 1 && PQnfields(result) == 1 && PQgetisnull(result, 0, 0) == 0 &&
                       rig_sql_timestamp_parse(PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0), &timestamp);
    if (given)
        rig_column_give(&turn->transaction->columns, column, timestamp);
    else
        rig_pg_turn_fail(turn, turn->phase, RIG_SQL_PROTOCOL, "begin-ts and commit-ts need one number as their answer");
    PQclear(result);
    return given;
}

bool rig_pg_turn_begin(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    turn->phase = RIG_PHASE_BEGIN;
    if (!perform(turn, rig_pg_turn_begin_statement(turn), &no_numbers, &result))
        return false;
    PQclear(result);
    turn->phase = RIG_PHASE_OPERATION;
    return take_timestamp(turn, turn->session->run->options->sql.begin_ts, RIG_COLUMN_START_TS);
}

static bool perform_ending(struct rig_pg_turn *turn, const char *statement, PGresult **result)
{
    char sql[RIG_PG_ENDING_BYTES];
    rig_pg_turn_print_ending(turn, statement, sql);
    return perform_text(turn, sql, result);
}

/* The first phase. A program's hold has come before. */
static bool prepare(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    if (perform_ending(turn, "PREPARE TRANSACTION", &result))
        rig_pg_turn_take_prepare(turn, result);
    PQclear(result);
    if (turn->failed)
        return false;
    const struct rig_hold *hold = &turn->transaction->hold;
    if (turn->program == NULL && hold->wanted && hold->before_op == turn->transaction->op_count)
        rig_pg_turn_hold(turn);
    return true;
}

void rig_pg_turn_commit(struct rig_pg_turn *turn)
{
    PGresult *result = NULL;
    const bool in_two_phases = turn->gid[0] != '\0';
    if (!take_timestamp(turn, turn->session->run->options->sql.commit_ts, RIG_COLUMN_COMMIT_TS) ||
        (in_two_phases && !prepare(turn)))
        return;
    turn->phase = RIG_PHASE_COMMIT;
    turn->committing = true;
    turn->aborted = PQtransactionStatus(turn->connection->pg) == PQTRANS_INERROR;
    turn->connection->awaiting_commit = true;
    const bool answered = in_two_phases ? perform_ending(turn, "COMMIT PREPARED", &result)
                                        : perform(turn, rig_pg_schema_fixed(&turn->session->run->schema, RIG_PG_COMMIT),
                                                  &no_numbers, &result);
    turn->connection->awaiting_commit = false;
    if (answered)
        rig_pg_turn_take_commit(turn, result);
    PQclear(result);
}

static void run_by_statements(struct rig_pg_turn *turn)
{
    const struct rig_transaction *transaction = turn->transaction;
    if (!rig_pg_turn_begin(turn))
        return;
    for (uint32_t i = 0; i <= transaction->op_count; i++) {
        if (rig_pg_turn_holds_at(turn, i))
            rig_pg_turn_hold(turn);
        if (transaction->delayed && i > 0 && i < transaction->op_count)
            rig_pg_turn_delay(turn);
        if (i < transaction->op_count && !perform_op(turn, i))
            return;
    }
    rig_pg_turn_commit(turn);
}

static bool roll_back(struct rig_pg_turn *turn)
{
    if (is_pipelined(turn->session->run))
        return rig_pg_pipeline_rollback(turn);
    PGresult *result = NULL;
    const char *reason =
        run_statement(turn, rig_pg_schema_fixed(&turn->session->run->schema, RIG_PG_ROLLBACK), &no_numbers, &result);
    const bool ended = reason == NULL && succeeded(result) && strcmp(PQcmdStatus(result), "ROLLBACK") == 0 &&
                       PQtransactionStatus(turn->connection->pg) == PQTRANS_IDLE;
    PQclear(result);
    return ended && !turn->session_lost;
}

/* ---- the transaction ---- */

/* The server has logged enough errors of the session. False when it can no longer be used. */
static bool make_quiet(struct rig_pg_turn *turn)
{
    struct rig_pg_connection *connection = turn->connection;
    const struct rig_pg_run *run = turn->session->run;
    const int64_t deadline_ns = run->env->core->now_ns() + run->options->sql.connect_timeout_ns;
    struct rig_err ignored = {.rc = RIG_OK};
    if (is_pipelined(run) && PQexitPipelineMode(connection->pg) != 1)
        return false;
    return rig_pg_quiet_begin(connection, deadline_ns) &&
           (!is_pipelined(run) || rig_pg_pipeline_enter(connection, &ignored) == RIG_OK);
}

/* Outcome and state of the session after a turn that failed. */
static enum rig_outcome conclude(struct rig_pg_turn *turn)
{
    struct rig_transaction *transaction = turn->transaction;
    const struct rig_sql_outcome *row =
        rig_sql_outcome_find(&rig_pg_outcomes, turn->phase, transaction->error_code, "");
    transaction->phase = turn->phase;
    transaction->error_class = rig_sql_error_class(&rig_pg_outcomes, transaction->error_code);
    /* The next session rolls back what stays prepared. */
    turn->session_lost = turn->session_lost || row->session_lost || turn->prepared;
    /* After an error answered to COMMIT the server has ended the transaction itself. */
    if (!turn->session_lost && turn->phase != RIG_PHASE_COMMIT)
        turn->session_lost = !roll_back(turn);
    rig_pg_quiet_count(turn->connection);
    transaction->session_lost = turn->session_lost;
    /* An error that ends a COMMIT without effect does not end a prepared transaction: its request may still come. */
    return turn->prepared && turn->phase == RIG_PHASE_COMMIT ? RIG_OUTCOME_INFO : row->outcome;
}

/* Nothing was sent: the session is as it was. */
static enum rig_outcome unreachable(struct rig_pg_session *session, struct rig_transaction *transaction,
                                    const struct rig_err *err)
{
    bool interrupted = rig_wake_is_raised(&session->waiter.wake);
    const char *code = interrupted ? RIG_SQL_INTERRUPTED : RIG_SQL_UNREACHABLE;
    const struct rig_sql_outcome *row = rig_sql_outcome_find(&rig_pg_outcomes, RIG_PHASE_CONNECT, code, "");
    transaction->phase = RIG_PHASE_CONNECT;
    transaction->session_lost = row->session_lost;
    rig_pg_one_line(transaction->error_code, sizeof transaction->error_code, code);
    rig_pg_one_line(transaction->error_text, sizeof transaction->error_text, err->text);
    return row->outcome;
}

static void run_turn(struct rig_pg_turn *turn)
{
    turn->connection->farewell_code[0] = '\0';
    turn->connection->commit_warned = false;
    turn->connection->answer_bytes = turn->connection->value_bytes = 0;
    turn->connection->answer_most = turn->session->run->options->sql.max_answer_bytes;
    if (rig_wake_is_raised(&turn->session->waiter.wake))
        rig_pg_turn_fail(turn, RIG_PHASE_CONNECT, RIG_SQL_INTERRUPTED, NULL);
    else if (rig_pg_has_unasked(turn->connection))
        rig_pg_turn_lose_step(turn, "the server sent an answer that no statement waits for");
    else if (turn->program != NULL)
        rig_pg_rows_run(turn, turn->program);
    else if (is_pipelined(turn->session->run))
        rig_pg_pipeline_run(turn);
    else
        run_by_statements(turn);
}

/* For every outcome: a transaction of unknown outcome went to this server as well. */
static void give_columns(const struct rig_pg_connection *connection, struct rig_transaction *transaction)
{
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, connection->node);
    if (connection->backend != 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_BACKEND, connection->backend);
}

static bool draws(struct rig_pg_session *session, double share)
{
    return share > 0 && rig_rng_unit(&session->rng) < share;
}

static void draw_shares(struct rig_pg_turn *turn)
{
    struct rig_pg_session *session = turn->session;
    struct rig_pg_run *run = session->run;
    if (!turn->transaction->read_only && draws(session, run->options->sql.two_phase))
        rig_pg_two_phase_name(&run->two_phase, run->env, session->client, turn->gid);
    turn->deferrable =
        turn->transaction->read_only && !turn->connection->standby && draws(session, run->options->deferrable);
    if (turn->deferrable)
        (void)atomic_fetch_add(&run->deferrable_count, 1);
}

enum rig_outcome rig_pg_session_transact(void *object, struct rig_transaction *transaction)
{
    return rig_pg_session_run_program(object, transaction, NULL);
}

enum rig_outcome rig_pg_session_run_program(void *object, struct rig_transaction *transaction,
                                            struct rig_row_program *program)
{
    struct rig_pg_session *session = object;
    const struct rig_pg_run *run = session->run;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_connection *connection = &session->main;
    const int64_t deadline_ns = run->env->core->now_ns() + run->options->sql.transaction_timeout_ns;
    if (transaction->node > 0 && transaction->read_only)
        connection = connect_to_node(session, transaction->node - 1, deadline_ns, &err);
    else if (transaction->read_only && session->reader.pg != NULL)
        connection = &session->reader;
    if (connection == NULL)
        return unreachable(session, transaction, &err);
    struct rig_pg_turn turn = {
        .session = session,
        .connection = connection,
        .transaction = transaction,
        .program = program,
        .deadline_ns = deadline_ns,
        .phase = RIG_PHASE_CONNECT,
    };
    RIG_INVARIANT(turn.connection->pg != NULL);
    draw_shares(&turn);
    give_columns(connection, transaction);
    rig_pg_view_begin(&session->run->views, session->client);
    run_turn(&turn);
    rig_pg_view_end(&session->run->views, session->client, transaction,
                    run->options->sql.isolation >= RIG_SQL_REPEATABLE_READ, connection->standby);
    RIG_INVARIANT(turn.failed != turn.committed);
    enum rig_outcome outcome = RIG_OUTCOME_OK;
    transaction->phase = RIG_PHASE_COMMIT;
    transaction->session_lost = turn.session_lost;
    if (turn.failed)
        outcome = conclude(&turn);
    if (!transaction->session_lost && rig_pg_quiet_is_due(connection))
        transaction->session_lost = !make_quiet(&turn);
    /* A failed node session does not end the client's session. */
    if (connection == &session->visit && transaction->session_lost && !rig_wake_is_raised(&session->waiter.wake)) {
        rig_pg_disconnect(&session->visit);
        transaction->session_lost = false;
    }
    return outcome;
}
