#include "drivers/mysql/my_session.h"

#include <errmsg.h>
#include <stdio.h>
#include <string.h>

#include "drivers/mysql/my_batch.h"
#include "drivers/mysql/my_tables.h"
#include "drivers/mysql/my_text.h"
#include "drivers/sql/sql_run.h"

static const int64_t patience_ns = 200000000; /* for the end of the client's last session on the server */

static const struct rig_my_run *my_run(const struct rig_sql_run *run)
{
    return (const struct rig_my_run *)run;
}

static struct rig_my_connection *my_connection(struct rig_sql_connection *connection)
{
    return (struct rig_my_connection *)connection;
}

/* ---- connections ---- */

/* The account of clients; the endpoint's host and port are filled. */
static enum rig_rc find_target(struct rig_sql_run *run, uint32_t server, struct rig_sql_endpoint *endpoint,
                               struct rig_my_target *target, struct rig_err *err)
{
    const struct rig_sql_options *options = run->options;
    *target = (struct rig_my_target){.endpoint = endpoint,
                                     .user = rig_sql_given(options->user) ? options->user : "root",
                                     .password = options->password,
                                     .tls = rig_tls_is_required(&options->tls) ? &options->tls : NULL,
                                     .max_answer_bytes = options->max_answer_bytes,
                                     .found_rows = run->env->rows != NULL && run->env->texts == NULL};
    if (!rig_sql_run_is_local(run)) {
        *endpoint = run->hosts.endpoints[server];
        if (endpoint->host[0] != '/' && endpoint->port[0] == '\0')
            (void)snprintf(endpoint->port, sizeof endpoint->port, "%d", RIG_MY_DEFAULT_PORT);
        return RIG_OK;
    }
    /* Its password is rig's own, also where the plan names it. */
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    const bool own = !rig_sql_given(options->user) || strcmp(options->user, RIG_MY_CLIENT) == 0;
    target->user = own ? RIG_MY_CLIENT : options->user;
    target->password = own ? cluster->site.password : options->password;
    target->tls = NULL;
    return rig_my_cluster_endpoint(cluster, server, endpoint, err);
}

static enum rig_rc connect_to_server(struct rig_sql_run *run, uint32_t server, bool for_client,
                                     struct rig_sql_waiter *waiter, int64_t deadline_ns,
                                     struct rig_sql_connection *connection, struct rig_err *err)
{
    struct rig_my_connection *own = my_connection(connection);
    struct rig_sql_endpoint endpoint;
    struct rig_my_target target;
    char answer[RIG_MY_ANSWER_BYTES];
    (void)for_client;
    *own = (struct rig_my_connection){.my = NULL};
    enum rig_rc rc = find_target(run, server, &endpoint, &target, err);
    if (rc == RIG_OK)
        rc = rig_my_connect(own, &target, waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_query(own, "SELECT @@global.read_only", deadline_ns, answer, err);
    if (rc == RIG_OK)
        connection->refuses_writes = strcmp(answer, "0") != 0;
    return rc;
}

/* Rolls back transactions that the client's last session left prepared. Where one stays, a later session or the end of
 * the run tries again. */
static enum rig_rc resolve_prepared(struct rig_sql_session *session, struct rig_my_connection *connection,
                                    int64_t deadline_ns, struct rig_err *err)
{
    uint32_t left = 0;
    const enum rig_rc rc =
        rig_my_tables_resolve_prepared(session->run, session->client, connection, patience_ns, deadline_ns, &left, err);
    if (left > 0)
        session->run->env->core->log(1, "mysql", "%u transactions of client %u stay prepared for now", left,
                                     session->client);
    return rc;
}

static enum rig_rc prepare_connection(struct rig_sql_session *session, struct rig_sql_connection *connection,
                                      int64_t deadline_ns, struct rig_err *err)
{
    struct rig_buf *request = &my_connection(connection)->request;
    if (session->run->env->texts != NULL)
        return rig_my_text_prepare(my_run(session->run), my_connection(connection), deadline_ns, err);
    rig_buf_init(request, RIG_MY_REQUEST_MOST);
    rig_buf_init(&my_connection(connection)->cell, 0);
    rig_my_schema_session(&my_run(session->run)->schema, request);
    if (request->failed)
        return rig_no_memory(err, "a session's settings");
    enum rig_rc rc = rig_my_query(my_connection(connection), rig_buf_text(request), deadline_ns, NULL, err);
    if (rc == RIG_OK && session->run->options->two_phase > 0 && !connection->refuses_writes)
        rc = resolve_prepared(session, my_connection(connection), deadline_ns, err);
    return rc;
}

static void disconnect(struct rig_sql_connection *connection)
{
    rig_buf_done(&my_connection(connection)->request);
    rig_buf_done(&my_connection(connection)->cell);
    rig_my_disconnect(my_connection(connection));
}

static enum rig_rc run_query(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns,
                             rig_sql_tell tell, void *context, struct rig_err *err)
{
    return tell == NULL ? rig_my_query(my_connection(connection), sql, deadline_ns, NULL, err)
                        : rig_my_query_rows(my_connection(connection), sql, deadline_ns, tell, context, err);
}

/* ---- errors ---- */

bool rig_my_turn_check_quiet(struct rig_my_turn *turn)
{
    if (!rig_my_has_unasked(rig_my_connection_of(turn)))
        return true;
    rig_sql_turn_lose_step(&turn->sql, "the server sent more than the answers");
    return false;
}

bool rig_my_turn_check_open(struct rig_my_turn *turn)
{
    if (turn->ending || (rig_my_connection_of(turn)->my->server_status & SERVER_STATUS_IN_TRANS) != 0)
        return true;
    rig_sql_turn_lose_step(&turn->sql, "the server has ended the transaction");
    return false;
}

bool rig_my_turn_check_form(struct rig_my_turn *turn, const char *sql, bool has_rows)
{
    if (has_rows == (strncmp(sql, "SELECT ", 7) == 0))
        return true;
    rig_sql_turn_lose_step(&turn->sql, has_rows ? "rows are the answer to a statement that gives none"
                                                : "a statement that gives rows was answered without any");
    return false;
}

void rig_my_turn_fail_answer(struct rig_my_turn *turn, enum rig_phase answered, unsigned number, const char *sqlstate,
                             const char *text)
{
    const char *reason = rig_my_connection_of(turn)->reason;
    char code[16];
    if (reason != NULL || number == 0) {
        turn->sql.session_lost = true;
        if (reason != NULL)
            rig_sql_turn_fail(&turn->sql, turn->sql.phase, reason, NULL);
        else
            rig_sql_turn_lose_step(&turn->sql, "an answer that is neither a result nor an error");
        return;
    }
    if (number == CR_COMMANDS_OUT_OF_SYNC || number == CR_MALFORMED_PACKET)
        turn->sql.transaction->answers_void = true;
    if (number == 1317)
        (void)atomic_fetch_add(&rig_my_run_of(turn)->interrupted, 1);
    /* A proxy that lost its server answers with a connection error; a Galera node's refusal is its own answer. */
    const bool refused = number == 1047;
    const bool lost = rig_my_is_client_error(number) || (strncmp(sqlstate, "08", 2) == 0 && !refused);
    if (!turn->sql.failed)
        (void)snprintf(turn->sql.state, sizeof turn->sql.state, "%s", sqlstate);
    (void)snprintf(code, sizeof code, "%u", number);
    rig_sql_turn_fail(&turn->sql, lost ? turn->sql.phase : answered, code, text);
}

void rig_my_turn_fail_request(struct rig_my_turn *turn, enum rig_phase answered)
{
    MYSQL *my = rig_my_connection_of(turn)->my;
    rig_my_turn_fail_answer(turn, answered, mysql_errno(my), mysql_sqlstate(my), mysql_error(my));
}

/* ---- transactions ---- */

/* The server closes the connection after it, or refuses further statements. */
static bool ends_session(const char *code)
{
    return strcmp(code, "1047") == 0 || strcmp(code, "1053") == 0 || strcmp(code, "1927") == 0;
}

/* Rolls back, and asks the server whether all of its answers were read; false: the session cannot be used any longer.
 * */
static bool confirm_failure(struct rig_my_turn *turn)
{
    return rig_my_connection_of(turn)->reason == NULL && rig_my_turn_roll_back(turn) && rig_my_turn_is_in_step(turn);
}

/*
 * An error is certain only if it was the answer to its statement: else the transaction had ended before, and the server
 * may have executed a statement outside of it. So the server has to confirm that it has no further answer. An error
 * that ends a COMMIT without effect does not end a prepared transaction.
 */
static void settle(struct rig_sql_turn *sql)
{
    struct rig_my_turn *turn = (struct rig_my_turn *)sql;
    const bool is_in_doubt = sql->prepared && sql->phase == RIG_PHASE_COMMIT;
    if (is_in_doubt || ends_session(sql->transaction->error_code))
        sql->session_lost = true;
    else if (!sql->session_lost && rig_sql_turn_outcome(sql)->outcome == RIG_OUTCOME_FAIL && !confirm_failure(turn))
        rig_sql_turn_lose_step(sql, "after an error the server did not confirm that nothing was committed");
}

static void run_transaction(struct rig_sql_turn *turn)
{
    if (turn->program != NULL)
        rig_sql_turn_run_program(turn);
    else
        rig_my_batch_run((struct rig_my_turn *)turn);
}

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return rig_my_schema_dialect(&((const struct rig_my_run *)run)->schema);
}

const struct rig_sql_client rig_my_client = {
    .area = "mysql",
    .product = "MySQL",
    .replica = "replica",
    .connection_bytes = sizeof(struct rig_my_connection),
    .turn_bytes = sizeof(struct rig_my_turn),
    .share_stream = UINT64_C(1) << 48,
    .default_port = RIG_MY_DEFAULT_PORT,
    .outcomes = &rig_my_outcomes,
    .connect = connect_to_server,
    .prepare = prepare_connection,
    .disconnect = disconnect,
    .query = run_query,
    .run = run_transaction,
    .begin = rig_my_batch_begin,
    .execute = rig_my_batch_execute,
    .commit = rig_my_batch_commit,
    .settle = settle,
    .nodes = &rig_my_nodes,
    .tables = &rig_my_tables,
    .texts = &rig_my_texts,
    .dialect = dialect,
};
