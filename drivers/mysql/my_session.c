#include "drivers/mysql/my_session.h"

#include <errmsg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/my_batch.h"
#include "drivers/mysql/my_tables.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_text.h"

/*
 * Texts of any SQL on MariaDB and MySQL (drivers/sql/sql_text.h), in a database of the run's name.
 *
 * Threads: those of the hooks.
 */

enum { COLUMNS_MOST = 4096 }; /* of a table or a list of MariaDB */

static struct rig_my_connection *connection_of(struct rig_sql_connection *connection)
{
    return (struct rig_my_connection *)connection;
}

/* ---- the space ---- */

static const char *space(const struct rig_sql_run *run)
{
    return ((const struct rig_my_run *)run)->schema.place.database;
}

enum { TRANSACTION_NAMES_MOST = 64, TRANSACTION_NAME_BYTES = 160 };

struct prepared {
    char names[TRANSACTION_NAMES_MOST][TRANSACTION_NAME_BYTES];
    uint32_t count;
};

/* A row of XA RECOVER: the format, the lengths of both parts, the parts. */
static void take_prepared(void *context, const char *const *values, uint32_t count)
{
    struct prepared *prepared = context;
    if (count == 4 && strcmp(values[2], "0") == 0 && prepared->count < TRANSACTION_NAMES_MOST &&
        strchr(values[3], '\'') == NULL)
        (void)snprintf(prepared->names[prepared->count++], TRANSACTION_NAME_BYTES, "%s", values[3]);
}

/* A transaction that a play left prepared holds its locks. On a server of others it may be one of theirs. */
static enum rig_rc roll_prepared_back(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_my_connection *connection = connection_of(own->connection);
    struct prepared *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return rig_no_memory(err, "the names of prepared transactions");
    enum rig_rc rc = rig_sql_run_is_local(own->run)
                         ? rig_my_query_rows(connection, "XA RECOVER", own->deadline_ns, take_prepared, prepared, err)
                         : RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < prepared->count; i++) {
        char sql[TRANSACTION_NAME_BYTES + 32];
        struct rig_err ignored = {.rc = RIG_OK}; /* it may have ended meanwhile */
        (void)snprintf(sql, sizeof sql, "XA ROLLBACK '%s'", prepared->names[i]);
        (void)rig_my_query(connection, sql, own->deadline_ns, NULL, &ignored);
    }
    free(prepared);
    return rc;
}

static enum rig_rc clear(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_my_schema *schema = &((const struct rig_my_run *)own->run)->schema;
    const char *database = schema->place.database;
    char sql[2 * RIG_MY_DATABASE_BYTES + 96];
    if (!schema->place.own)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.dbname: a scenario needs a database of its own, which rig makes and drops; leave it out");
    (void)snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`; CREATE DATABASE `%s` CHARACTER SET utf8mb4",
                   database, database);
    const enum rig_rc rc = roll_prepared_back(own, err);
    return rc != RIG_OK ? rc : rig_my_query(connection_of(own->connection), sql, own->deadline_ns, NULL, err);
}

static long long seconds_of(int64_t ns)
{
    return (long long)((ns + 999999999) / 1000000000);
}

enum { MY_REQUEST_MOST = 8 << 20, MY_DEFAULT_PORT = 3306 };

/* The settings of a session of texts; the server's own sql_mode stays. RIG_E_CLUSTER. */
static enum rig_rc my_text_prepare(const struct rig_my_run *run, struct rig_my_connection *connection,
                                   int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_my_options *options = run->options;
    const int64_t lock_ns =
        options->sql.lock_timeout_ns > 0 ? options->sql.lock_timeout_ns : run->sql.env->texts->lock_wait_ns;
    struct rig_buf *sql = &connection->request;
    rig_buf_init(sql, MY_REQUEST_MOST);
    rig_buf_init(&connection->cell, 0);
    rig_buf_printf(sql, "USE `%s`; SET NAMES utf8mb4; SET SESSION TRANSACTION ISOLATION LEVEL %s; SET ",
                   run->schema.place.database, rig_sql_isolation_sql[options->sql.isolation]);
    rig_buf_printf(sql, "SESSION innodb_lock_wait_timeout = %lld, SESSION lock_wait_timeout = %lld",
                   seconds_of(lock_ns), seconds_of(lock_ns));
    rig_my_schema_settings(options, sql);
    return sql->failed ? rig_no_memory(err, "a session's settings")
                       : rig_my_query(connection, rig_buf_text(sql), deadline_ns, NULL, err);
}

/* ---- answers ---- */

static enum rig_text_kind kind_of(const MYSQL_FIELD *field)
{
    switch ((int)field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return RIG_TEXT_INTEGER;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return RIG_TEXT_REAL;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
        return RIG_TEXT_DECIMAL;
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
        return RIG_TEXT_MOMENT;
    default:
        return RIG_TEXT_OTHER;
    }
}

static void give_row(const MYSQL_FIELD *fields, unsigned columns, MYSQL_RES *result, MYSQL_ROW row,
                     struct rig_text_cell *cells)
{
    const unsigned long *lengths = mysql_fetch_lengths(result);
    for (unsigned i = 0; i < columns; i++)
        cells[i] = row[i] == NULL
                       ? (struct rig_text_cell){.kind = RIG_TEXT_NULL}
                       : (struct rig_text_cell){.kind = kind_of(&fields[i]), .text = row[i], .length = lengths[i]};
}

static void give_rows(MYSQL_RES *result, struct rig_text_answer *answer)
{
    const unsigned all = mysql_num_fields(result), columns = all < COLUMNS_MOST ? all : COLUMNS_MOST;
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    const char **names = calloc(columns + 1, sizeof *names);
    struct rig_text_cell *cells = calloc(columns + 1, sizeof *cells);
    bool goes_on = names != NULL && cells != NULL;
    answer->has_rows = true;
    for (unsigned i = 0; goes_on && i < columns; i++)
        names[i] = fields[i].name;
    if (goes_on && answer->columns != NULL)
        goes_on = answer->columns(answer->context, names, columns);
    for (MYSQL_ROW row; goes_on && answer->row != NULL && (row = mysql_fetch_row(result)) != NULL;) {
        give_row(fields, columns, result, row, cells);
        goes_on = answer->row(answer->context, cells, columns);
    }
    free(names);
    free(cells);
}

/* After these the server has rolled the transaction back: a deadlock, a changed record, an XA branch, too many locks.
 * */
static bool ends_transaction(unsigned number)
{
    return number == 1213 || number == 1020 || number == 1613 || number == 1614 || number == 1206;
}

static void take_error(const struct rig_my_connection *connection, struct rig_text_answer *answer)
{
    const unsigned number = mysql_errno(connection->my);
    const bool lost =
        connection->reason != NULL || number == 0 || rig_my_is_client_error(number) || number == 1053 || number == 1927;
    char code[16];
    (void)snprintf(code, sizeof code, "%u", number);
    answer->ended = ends_transaction(number);
    if (connection->reason != NULL)
        rig_sql_text_fail(answer, &rig_my_outcomes, connection->reason, NULL, 0, "the wait was ended", true);
    else
        rig_sql_text_fail(answer, &rig_my_outcomes, number == 0 ? RIG_SQL_PROTOCOL : code,
                          mysql_sqlstate(connection->my), (int64_t)number, mysql_error(connection->my), lost);
}

static void execute(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer)
{
    struct rig_my_connection *connection = connection_of(session->main);
    connection->deadline_ns = deadline_ns;
    bool going = rig_my_send(connection, sql, strlen(sql));
    while (going) {
        MYSQL_RES *result = NULL;
        going = rig_my_rows(connection, &result);
        if (result != NULL)
            give_rows(result, answer);
        else if (going && rig_sql_text_changes_rows(sql))
            answer->count = (int64_t)mysql_affected_rows(connection->my);
        mysql_free_result(result);
        if (!going || !mysql_more_results(connection->my))
            break;
        going = rig_my_next(connection);
    }
    if (answer->has_rows)
        answer->count = -1;
    if (!going)
        take_error(connection, answer);
}

/* ---- waits ---- */

struct asked {
    struct rig_sql_session *const *sessions;
    uint32_t count;
    struct rig_text_wait *waits;
};

static void take_wait(void *context, const char *const *values, uint32_t count)
{
    const struct asked *asked = context;
    const uint32_t of = count == 2 ? rig_sql_text_session_of(asked->sessions, asked->count, values[0]) : UINT32_MAX;
    if (of != UINT32_MAX)
        asked->waits[of].kind = strcmp(values[1], "1") == 0 ? RIG_TEXT_WAITS : RIG_TEXT_RUNS;
}

static bool look(struct rig_sql_session *watch, struct rig_sql_session *const *sessions, uint32_t count,
                 struct rig_text_wait *waits)
{
    const int64_t deadline_ns = watch->run->env->core->now_ns() + watch->run->options->connect_timeout_ns;
    struct asked asked = {sessions, count, waits};
    char list[1536], sql[2560];
    struct rig_err ignored = {.rc = RIG_OK};
    rig_sql_text_backends(sessions, count, list, sizeof list);
    (void)snprintf(sql, sizeof sql,
                   "SELECT p.ID, p.COMMAND <> 'Sleep' AND (IFNULL(t.trx_state, '') = 'LOCK WAIT' OR p.STATE LIKE "
                   "'Waiting for %%' OR p.STATE IN ('User lock', 'User sleep')) FROM information_schema.PROCESSLIST p "
                   "LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID WHERE p.ID IN (%s)",
                   list);
    return rig_my_query_rows(connection_of(watch->main), sql, deadline_ns, take_wait, &asked, &ignored) == RIG_OK;
}

static const struct rig_sql_texts my_texts = {.clear = clear, .space = space, .execute = execute, .look = look};

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
            (void)snprintf(endpoint->port, sizeof endpoint->port, "%d", MY_DEFAULT_PORT);
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
        return my_text_prepare(my_run(session->run), my_connection(connection), deadline_ns, err);
    rig_buf_init(request, MY_REQUEST_MOST);
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
    .default_port = MY_DEFAULT_PORT,
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
    .texts = &my_texts,
    .dialect = dialect,
};
