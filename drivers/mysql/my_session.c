#include "drivers/mysql/my_session.h"

#include <errmsg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/mysql/my_batch.h"
#include "drivers/mysql/my_rows.h"

/* ---- opening ---- */

static const uint64_t shares_stream = UINT64_C(1) << 48;
static const int64_t patience_ns = 200000000; /* for the end of the client's last session on the server */

/* Rolls back transactions that the client's last session left prepared. Where one stays, a later session or the end of the run tries again. */
static enum rig_rc settle(const struct rig_my_session *session, struct rig_my_connection *connection,
                          int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_run *run = session->run;
    uint32_t left = 0;
    const enum rig_rc rc = rig_my_two_phase_settle(&run->two_phase, run->env, session->client, connection, patience_ns,
                                                   deadline_ns, &left, err);
    if (left > 0)
        run->env->core->log(1, "mysql", "%u transactions of client %u stay prepared for now", left, session->client);
    return rc;
}

static enum rig_rc open_connection(void *context, struct rig_my_connection *connection, uint32_t server,
                                   int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_session *session = context;
    struct rig_my_run *run = session->run;
    enum rig_rc rc = rig_my_servers_connect(&run->servers, server, &session->waiter, deadline_ns, connection, err);
    if (rc != RIG_OK)
        return rc;
    connection->node = run->env->core->name(rig_my_servers_name(&run->servers, server));
    rig_buf_clear(&session->sql);
    rig_my_schema_session(&run->schema, &session->sql);
    if (session->sql.failed)
        return rig_no_memory(err, "a session's settings");
    rc = rig_my_query(connection, rig_buf_text(&session->sql), deadline_ns, NULL, err);
    if (rc == RIG_OK && run->options->sql.two_phase > 0 && !connection->read_only)
        rc = settle(session, connection, deadline_ns, err);
    return rc;
}

enum rig_rc rig_my_session_open(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct rig_my_session *session = object;
    struct rig_my_run *run = run_object;
    session->run = run;
    session->client = client;
    rig_rng_init(&session->rng, run->env->seed, shares_stream + client);
    session->waiter.core = run->env->core;
    rig_buf_init(&session->sql, RIG_MY_REQUEST_MOST);
    rig_buf_init(&session->cell, 0);
    rig_wake_arm(&session->waiter.wake, &run->wakes, client);
    enum rig_rc rc = rig_my_servers_open_writer(&run->servers, client, open_connection, session, &session->main,
                                                &session->main_server, err);
    if (rc == RIG_OK)
        rc = rig_my_servers_open_reader(&run->servers, client, session->main_server, open_connection, session,
                                        &session->reader, &session->reader_server, err);
    return rc;
}

/* The connection to the transaction's requested node; NULL when there is none. */
static struct rig_my_connection *connect_to_node(struct rig_my_session *session, uint32_t server, int64_t deadline_ns,
                                                 struct rig_err *err)
{
    const struct rig_my_run *run = session->run;
    if (server == session->main_server)
        return &session->main;
    if (server == session->reader_server && session->reader.my != NULL)
        return &session->reader;
    if (session->visit.my != NULL && server == session->visit_server)
        return &session->visit;
    rig_my_disconnect(&session->visit);
    session->visit_server = server;
    int64_t connected_ns = run->env->core->now_ns() + run->options->sql.connect_timeout_ns;
    if (connected_ns > deadline_ns)
        connected_ns = deadline_ns;
    if (server < rig_my_servers_count(&run->servers) &&
        open_connection(session, &session->visit, server, connected_ns, err) == RIG_OK)
        return &session->visit;
    rig_my_disconnect(&session->visit);
    return NULL;
}

void rig_my_session_interrupt(void *session)
{
    rig_wake_raise(&((struct rig_my_session *)session)->waiter.wake);
}

void rig_my_session_close(void *object, bool last)
{
    struct rig_my_session *session = object;
    (void)last;
    rig_my_disconnect(&session->main);
    rig_my_disconnect(&session->reader);
    rig_my_disconnect(&session->visit);
    rig_buf_done(&session->sql);
    rig_buf_done(&session->cell);
}

/* ---- errors ---- */

/* As one line, cut to fit. */
static void set_line(char *line, size_t size, const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0' && length + 1 < size; length++)
        line[length] = (unsigned char)text[length] < ' ' || text[length] == 0x7f ? ' ' : text[length];
    line[length] = '\0';
}

void rig_my_turn_fail(struct rig_my_turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    if (turn->failed || turn->committed)
        return;
    turn->failed = true;
    turn->phase = phase;
    struct rig_transaction *transaction = turn->transaction;
    set_line(transaction->error_code, sizeof transaction->error_code, code);
    if (text == NULL || text[0] == '\0')
        text = rig_sql_outcome_find(&rig_my_outcomes, phase, code, turn->sqlstate)->reason;
    set_line(transaction->error_text, sizeof transaction->error_text, text);
}

void rig_my_turn_lose_step(struct rig_my_turn *turn, const char *text)
{
    turn->failed = turn->committed = false;
    rig_my_turn_fail(turn, turn->executes ? RIG_PHASE_COMMIT : turn->phase, RIG_SQL_PROTOCOL, text);
    turn->session_lost = turn->transaction->answers_void = true;
}

bool rig_my_turn_check_quiet(struct rig_my_turn *turn)
{
    if (!rig_my_has_unasked(turn->connection))
        return true;
    rig_my_turn_lose_step(turn, "the server sent more than the answers");
    return false;
}

bool rig_my_turn_check_open(struct rig_my_turn *turn)
{
    if (turn->ending || (turn->connection->my->server_status & SERVER_STATUS_IN_TRANS) != 0)
        return true;
    rig_my_turn_lose_step(turn, "the server has ended the transaction");
    return false;
}

bool rig_my_turn_check_form(struct rig_my_turn *turn, const char *sql, bool has_rows)
{
    if (has_rows == (strncmp(sql, "SELECT ", 7) == 0))
        return true;
    rig_my_turn_lose_step(turn, has_rows ? "rows are the answer to a statement that gives none"
                                         : "a statement that gives rows was answered without any");
    return false;
}

void rig_my_turn_fail_answer(struct rig_my_turn *turn, enum rig_phase answered, unsigned number, const char *sqlstate,
                             const char *text)
{
    const char *reason = turn->connection->reason;
    char code[16];
    if (reason != NULL || number == 0) {
        turn->session_lost = true;
        if (reason != NULL)
            rig_my_turn_fail(turn, turn->phase, reason, NULL);
        else
            rig_my_turn_lose_step(turn, "an answer that is neither a result nor an error");
        return;
    }
    if (number == CR_COMMANDS_OUT_OF_SYNC || number == CR_MALFORMED_PACKET)
        turn->transaction->answers_void = true;
    if (number == 1317)
        (void)atomic_fetch_add(&turn->session->run->interrupted, 1);
    /* A proxy that lost its server answers with a connection error; a Galera node's refusal is its own answer. */
    const bool refused = number == 1047;
    const bool lost = rig_my_is_client_error(number) || (strncmp(sqlstate, "08", 2) == 0 && !refused);
    if (!turn->failed)
        (void)snprintf(turn->sqlstate, sizeof turn->sqlstate, "%s", sqlstate);
    (void)snprintf(code, sizeof code, "%u", number);
    rig_my_turn_fail(turn, lost ? turn->phase : answered, code, text);
}

void rig_my_turn_fail_request(struct rig_my_turn *turn, enum rig_phase answered)
{
    MYSQL *my = turn->connection->my;
    rig_my_turn_fail_answer(turn, answered, mysql_errno(my), mysql_sqlstate(my), mysql_error(my));
}

/* ---- the transaction ---- */

/* The server closes the connection after it, or refuses further statements. */
static bool ends_session(const char *code)
{
    return strcmp(code, "1047") == 0 || strcmp(code, "1053") == 0 || strcmp(code, "1927") == 0;
}

/* Rolls back, and asks the server whether all of its answers were read; false: the session cannot be used any longer. */
static bool confirm_failure(struct rig_my_turn *turn)
{
    return turn->connection->reason == NULL && rig_my_turn_roll_back(turn) && rig_my_turn_is_in_step(turn);
}

/*
 * Outcome and state of the session after a turn that failed. An error is certain only if it was the answer to its
 * statement: else the transaction had ended before, and the server may have executed a statement outside of it. So the
 * server has to confirm that it has no further answer.
 */
static enum rig_outcome conclude(struct rig_my_turn *turn)
{
    struct rig_transaction *transaction = turn->transaction;
    const struct rig_sql_outcome *row =
        rig_sql_outcome_find(&rig_my_outcomes, turn->phase, transaction->error_code, turn->sqlstate);
    /* The next session rolls back what stays prepared. An error that ends a COMMIT without effect does not end a prepared
     * transaction: its request may still come. */
    const bool is_in_doubt = turn->prepared && turn->phase == RIG_PHASE_COMMIT;
    if (is_in_doubt || ends_session(transaction->error_code)) {
        turn->session_lost = true;
    } else if (!turn->session_lost && row->outcome == RIG_OUTCOME_FAIL && !confirm_failure(turn)) {
        rig_my_turn_lose_step(turn, "after an error the server did not confirm that nothing was committed");
        row = rig_sql_outcome_find(&rig_my_outcomes, turn->phase, transaction->error_code, turn->sqlstate);
    }
    turn->session_lost = turn->session_lost || row->session_lost;
    transaction->phase = turn->phase;
    transaction->error_class = rig_sql_error_class(&rig_my_outcomes, transaction->error_code);
    transaction->session_lost = turn->session_lost;
    return is_in_doubt ? RIG_OUTCOME_INFO : row->outcome;
}

/* Nothing was sent: the session is as it was. */
static enum rig_outcome unreachable(struct rig_my_session *session, struct rig_transaction *transaction,
                                    const struct rig_err *err)
{
    const char *code = rig_wake_is_raised(&session->waiter.wake) ? RIG_SQL_INTERRUPTED : RIG_SQL_UNREACHABLE;
    const struct rig_sql_outcome *row = rig_sql_outcome_find(&rig_my_outcomes, RIG_PHASE_CONNECT, code, "");
    transaction->phase = RIG_PHASE_CONNECT;
    transaction->session_lost = row->session_lost;
    set_line(transaction->error_code, sizeof transaction->error_code, code);
    set_line(transaction->error_text, sizeof transaction->error_text, err->text);
    return row->outcome;
}

/* For every outcome: a transaction of unknown outcome went to this server as well. */
static void give_columns(const struct rig_my_connection *connection, struct rig_transaction *transaction)
{
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, connection->node);
    if (connection->backend != 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_BACKEND, connection->backend);
}

static void draw_shares(struct rig_my_turn *turn)
{
    struct rig_my_session *session = turn->session;
    const double share = session->run->options->sql.two_phase;
    if (share > 0 && !turn->transaction->read_only && rig_rng_unit(&session->rng) < share)
        rig_my_two_phase_name(&session->run->two_phase, session->run->env, session->client, turn->xid);
}

enum rig_outcome rig_my_session_transact(void *object, struct rig_transaction *transaction)
{
    return rig_my_session_run_program(object, transaction, NULL);
}

enum rig_outcome rig_my_session_run_program(void *object, struct rig_transaction *transaction,
                                            struct rig_row_program *program)
{
    struct rig_my_session *session = object;
    const struct rig_my_run *run = session->run;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_my_connection *connection = &session->main;
    const int64_t deadline_ns = run->env->core->now_ns() + run->options->sql.transaction_timeout_ns;
    if (transaction->node > 0 && transaction->read_only)
        connection = connect_to_node(session, transaction->node - 1, deadline_ns, &err);
    else if (transaction->read_only && session->reader.my != NULL)
        connection = &session->reader;
    if (connection == NULL)
        return unreachable(session, transaction, &err);
    struct rig_my_turn turn = {.session = session,
                               .connection = connection,
                               .transaction = transaction,
                               .deadline_ns = deadline_ns,
                               .phase = RIG_PHASE_CONNECT};
    RIG_INVARIANT(connection->my != NULL);
    connection->deadline_ns = deadline_ns;
    draw_shares(&turn);
    give_columns(connection, transaction);
    if (rig_wake_is_raised(&session->waiter.wake))
        rig_my_turn_fail(&turn, RIG_PHASE_CONNECT, RIG_SQL_INTERRUPTED, NULL);
    else if (program != NULL)
        rig_my_rows_run(&turn, program);
    else
        rig_my_batch_run(&turn);
    RIG_INVARIANT(turn.failed != turn.committed);
    enum rig_outcome outcome = RIG_OUTCOME_OK;
    transaction->phase = RIG_PHASE_COMMIT;
    transaction->session_lost = turn.session_lost;
    if (turn.failed)
        outcome = conclude(&turn);
    /* A failed node session does not end the client's session. */
    if (connection == &session->visit && transaction->session_lost && !rig_wake_is_raised(&session->waiter.wake)) {
        rig_my_disconnect(&session->visit);
        transaction->session_lost = false;
    }
    return outcome;
}
