#include "drivers/postgres/pg_session.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_tables.h"
#include "drivers/postgres/pg_text.h"
#include "drivers/postgres/pg_turn.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"

static const struct rig_pg_run *pg_run(const struct rig_sql_run *run)
{
    return (const struct rig_pg_run *)run;
}

static struct rig_pg_connection *pg_connection(struct rig_sql_connection *connection)
{
    return (struct rig_pg_connection *)connection;
}

/* Programs wait for each answer. */
static bool is_pipelined(const struct rig_pg_run *run)
{
    return run->options->pipeline && run->rows.schema == NULL;
}

/* ---- connections ---- */

/* The server to connect to and the account; `endpoint` is filled, and borrowed by `target`. */
static enum rig_rc find_target(struct rig_sql_run *run, uint32_t server, struct rig_sql_endpoint *endpoint,
                               struct rig_pg_target *target, struct rig_err *err)
{
    const struct rig_pg_options *options = pg_run(run)->options;
    struct rig_pg_cluster *cluster = (struct rig_pg_cluster *)run->cluster;
    *target = (struct rig_pg_target){.endpoint = endpoint,
                                     .user = options->sql.user,
                                     .dbname = options->dbname,
                                     .password = options->sql.password,
                                     .conninfo = options->conninfo,
                                     .tls = rig_tls_is_required(&options->sql.tls) ? &options->sql.tls : NULL};
    if (!rig_sql_run_is_local(run)) {
        *endpoint = run->hosts.endpoints[server];
        return RIG_OK;
    }
    rig_pg_cluster_credentials(cluster, target);
    return rig_pg_cluster_endpoint(cluster, server, endpoint, err);
}

static enum rig_rc connect_to_server(struct rig_sql_run *run, uint32_t server, bool for_client,
                                     struct rig_sql_waiter *waiter, int64_t deadline_ns,
                                     struct rig_sql_connection *connection, struct rig_err *err)
{
    struct rig_pg_connection *own = pg_connection(connection);
    struct rig_sql_endpoint endpoint;
    struct rig_pg_target target;
    enum rig_rc rc = find_target(run, server, &endpoint, &target, err);
    if (rc == RIG_OK)
        rc = rig_pg_connect(own, &target, waiter, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    connection->backend = PQbackendPID(own->pg);
    /* A client uses a single server without asking for its role. */
    connection->refuses_writes =
        (!for_client || rig_sql_run_server_count(run) > 1) && rig_pg_in_recovery(own, deadline_ns);
    return RIG_OK;
}

static void disconnect(struct rig_sql_connection *connection)
{
    rig_pg_disconnect(pg_connection(connection));
}

enum { QUERY_VALUES = 32 };

static enum rig_rc run_query(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns,
                             rig_sql_tell tell, void *context, struct rig_err *err)
{
    PGresult *result = NULL;
    const enum rig_rc rc =
        rig_pg_query(pg_connection(connection), sql, deadline_ns, tell == NULL ? NULL : &result, err);
    const int columns = PQnfields(result), rows = rc == RIG_OK && tell != NULL ? PQntuples(result) : 0;
    RIG_REQUIRE(columns <= QUERY_VALUES);
    for (int row = 0; row < rows; row++) {
        const char *values[QUERY_VALUES];
        for (int column = 0; column < columns; column++)
            values[column] = PQgetvalue(result, row, column);
        tell(context, values, (uint32_t)columns);
    }
    PQclear(result);
    return rc;
}

/* ---- errors in the server's log ---- */

static bool sets_it_itself(const struct rig_text_list *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        char name[64];
        const char *value;
        if (rig_sql_setting_split(settings->at[i], name, sizeof name, &value) && strcmp(name, "log_min_messages") == 0)
            return true;
    }
    return false;
}

static void begin_counting(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                           bool is_own_superuser)
{
    const bool counts =
        is_own_superuser && !sets_it_itself(&options->sql.settings) && !sets_it_itself(&options->standby_settings);
    connection->counts_errors = counts;
    connection->errors = 0;
}

void rig_pg_count_error(struct rig_pg_connection *connection)
{
    connection->errors += connection->counts_errors;
}

/* Asks the server for silence, once: not in pipeline mode. False when the connection can no longer be used. */
static bool ask_for_silence(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    struct rig_err ignored = {.rc = RIG_OK};
    connection->counts_errors = false;
    connection->errors = 0;
    return rig_pg_query(connection, "SET log_min_messages = log", deadline_ns, NULL, &ignored) == RIG_OK;
}

/* ---- the preparation of a fresh connection ---- */

/*
 * The server notices within a second that rig has closed the connection, also while a statement waits: else the session
 * of a transaction that timed out would keep its locks until its statement ends. Not on every platform.
 */
static void end_with_client(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    struct rig_err ignored = {.rc = RIG_OK};
    if (PQserverVersion(connection->pg) >= 140000)
        (void)rig_pg_query(connection, "SET client_connection_check_interval = 1000", deadline_ns, NULL, &ignored);
}

/* Sends SET for the session's options; one round trip, none when there are none. RIG_E_CLUSTER. */
static enum rig_rc set_options(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                               int64_t deadline_ns, struct rig_err *err)
{
    static const char *const scans[] = {
        [RIG_PG_SCAN_SEQUENTIAL] =
            "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_INDEX] = "SET enable_seqscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_INDEX_ONLY] = "SET enable_seqscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_BITMAP] = "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;"};
    char sql[768];
    size_t length = 0;
    sql[0] = '\0';
    end_with_client(connection, deadline_ns);
    if (options->sql.statement_timeout_ns > 0)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET statement_timeout = %lld;",
                                   (long long)(options->sql.statement_timeout_ns + 999999) / 1000000);
    if (options->sql.lock_timeout_ns > 0)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET lock_timeout = %lld;",
                                   (long long)(options->sql.lock_timeout_ns + 999999) / 1000000);
    if (options->synchronous_commit != RIG_PG_SYNC_SERVER_DEFAULT)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET synchronous_commit = %s;",
                                   rig_pg_synchronous_commit_words[options->synchronous_commit]);
    if (options->row_scan != RIG_PG_SCAN_ANY)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "%s", scans[options->row_scan]);
    length += (size_t)snprintf(sql + length, sizeof sql - length, "%s", rig_pg_join_settings((int)options->row_join));
    /* A plan that has to use what these settings avoid looks costly, and would be compiled for each statement. */
    const bool steered = options->row_scan != RIG_PG_SCAN_ANY || options->row_join > RIG_PG_JOIN_ANY;
    if (steered && PQserverVersion(connection->pg) >= 110000)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET jit = off;");
    RIG_INVARIANT(length < sizeof sql);
    return length == 0 ? RIG_OK : rig_pg_query(connection, sql, deadline_ns, NULL, err);
}

/* Waits for the results of one prepared statement, or of the Sync, in pipeline mode. */
static enum rig_rc take_prepared(struct rig_pg_connection *connection, ExecStatusType expected, int64_t deadline_ns,
                                 struct rig_err *err)
{
    PGresult *result = NULL;
    const char *reason = rig_pg_next(connection, deadline_ns, &result);
    ExecStatusType status = result == NULL ? PGRES_FATAL_ERROR : PQresultStatus(result);
    if (reason != NULL || status != expected) {
        char line[512];
        rig_pg_one_line(line, sizeof line,
                        reason != NULL   ? reason
                        : result != NULL ? PQresultErrorMessage(result)
                                         : PQerrorMessage(connection->pg));
        (void)rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", line);
    }
    PQclear(result);
    if (reason != NULL || status != expected)
        return RIG_E_CLUSTER;
    /* The results of a statement end with NULL, those of a Sync do not. */
    if (expected == PGRES_COMMAND_OK && rig_pg_next(connection, deadline_ns, &result) != NULL)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: no answer");
    return RIG_OK;
}

/* Prepares all statements in one round trip; leaves the connection out of pipeline mode. RIG_E_CLUSTER. */
static enum rig_rc prepare_statements(struct rig_pg_connection *connection, const struct rig_pg_run *run,
                                      int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_pg_schema *schema = &run->schema;
    PGconn *pg = connection->pg;
    size_t count = 0;
    bool sent = PQenterPipelineMode(pg) == 1;
    for (size_t i = 0; sent && i < schema->statement_count; i++) {
        if (!rig_pg_schema_uses(schema, i))
            continue;
        sent = PQsendPrepare(pg, schema->statements[i].name, schema->statements[i].text, 0, NULL) == 1;
        count++;
    }
    for (uint32_t i = 0; sent && run->rows.schema != NULL && i < run->rows.schema->statement_count; i++) {
        sent = PQsendPrepare(pg, run->rows.statements[i].name, run->rows.statements[i].text, 0, NULL) == 1;
        count++;
    }
    if (!sent || PQpipelineSync(pg) != 1)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", PQerrorMessage(pg));
    const char *reason = rig_pg_flush(connection, deadline_ns);
    if (reason != NULL)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", reason);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < count; i++)
        rc = take_prepared(connection, PGRES_COMMAND_OK, deadline_ns, err);
    if (rc == RIG_OK)
        rc = take_prepared(connection, PGRES_PIPELINE_SYNC, deadline_ns, err);
    if (rc == RIG_OK && PQexitPipelineMode(pg) != 1)
        rc = rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", PQerrorMessage(pg));
    return rc;
}

/* The account is the superuser of a server that rig started. */
static bool is_own_superuser(const struct rig_sql_run *run)
{
    const char *user = run->options->user;
    return rig_sql_run_is_local(run) && (!rig_sql_given(user) || strcmp(user, RIG_PG_SUPERUSER) == 0);
}

static enum rig_rc prepare_connection(struct rig_sql_session *session, struct rig_sql_connection *connection,
                                      int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_pg_run *run = pg_run(session->run);
    struct rig_pg_connection *own = pg_connection(connection);
    begin_counting(own, run->options, is_own_superuser(session->run));
    enum rig_rc rc = set_options(own, run->options, deadline_ns, err);
    if (rc == RIG_OK && run->sql.env->texts != NULL)
        return rig_pg_text_prepare(run, own, deadline_ns, err);
    if (rc == RIG_OK && run->sql.options->two_phase > 0 && !connection->refuses_writes)
        rc = rig_pg_tables_resolve_prepared(session->run, session->client, own, deadline_ns, err);
    if (rc == RIG_OK && run->sql.options->prepared)
        rc = prepare_statements(own, run, deadline_ns, err);
    if (rc == RIG_OK && is_pipelined(run))
        rc = rig_pg_pipeline_enter(own, err);
    return rc;
}

/* ---- transactions ---- */

static void draw_deferrable(struct rig_pg_turn *turn)
{
    struct rig_pg_run *run = rig_pg_run_of(turn);
    const double share = run->options->deferrable;
    turn->deferrable = share > 0 && turn->sql.transaction->read_only && !turn->sql.connection->refuses_writes &&
                       rig_rng_unit(&turn->sql.session->rng) < share;
    if (turn->deferrable)
        (void)atomic_fetch_add(&run->deferrable_count, 1);
}

static void run_turn(struct rig_pg_turn *turn)
{
    const struct rig_pg_run *run = rig_pg_run_of(turn);
    struct rig_pg_connection *connection = rig_pg_connection_of(turn);
    connection->farewell_code[0] = '\0';
    connection->commit_warned = false;
    connection->answer_bytes = connection->value_bytes = 0;
    connection->answer_most = run->sql.options->max_answer_bytes;
    if (rig_pg_has_unasked(connection))
        rig_sql_turn_lose_step(&turn->sql, "the server sent an answer that no statement waits for");
    else if (turn->sql.program != NULL)
        rig_sql_turn_run_program(&turn->sql);
    else if (is_pipelined(run))
        rig_pg_pipeline_run(turn);
    else
        rig_sql_turn_run_statements(&turn->sql);
}

static void run_transaction(struct rig_sql_turn *sql)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    struct rig_pg_run *run = rig_pg_run_of(turn);
    draw_deferrable(turn);
    /* A standby has no transactions of a higher level. */
    if (rig_sql_given(run->options->sql.isolation_shares) && sql->connection->refuses_writes &&
        sql->isolation > RIG_SQL_REPEATABLE_READ)
        rig_sql_turn_take_level(sql, RIG_SQL_REPEATABLE_READ);
    rig_pg_view_begin(&run->views, sql->session->client);
    run_turn(turn);
    rig_pg_view_end(&run->views, sql->session->client, sql->transaction, sql->isolation >= RIG_SQL_REPEATABLE_READ,
                    sql->connection->refuses_writes);
}

static void settle(struct rig_sql_turn *sql)
{
    struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    sql->session_lost = sql->session_lost || rig_sql_turn_outcome(sql)->session_lost || sql->prepared;
    /* After an error answered to COMMIT the server has ended the transaction itself. */
    if (!sql->session_lost && sql->phase != RIG_PHASE_COMMIT)
        sql->session_lost =
            !(is_pipelined(rig_pg_run_of(turn)) ? rig_pg_pipeline_rollback(turn) : rig_pg_statements_roll_back(turn));
    rig_pg_count_error(rig_pg_connection_of(turn));
}

/* The server may have logged enough errors of the session. */
static bool rest(struct rig_sql_turn *sql)
{
    const struct rig_pg_turn *turn = (struct rig_pg_turn *)sql;
    struct rig_pg_connection *connection = rig_pg_connection_of(turn);
    const struct rig_pg_run *run = rig_pg_run_of(turn);
    struct rig_err ignored = {.rc = RIG_OK};
    if (connection->errors < RIG_PG_ERRORS_LOGGED)
        return true;
    const int64_t deadline_ns = run->sql.env->core->now_ns() + run->sql.options->connect_timeout_ns;
    if (is_pipelined(run) && PQexitPipelineMode(connection->pg) != 1)
        return false;
    return ask_for_silence(connection, deadline_ns) &&
           (!is_pipelined(run) || rig_pg_pipeline_enter(connection, &ignored) == RIG_OK);
}

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return ((const struct rig_pg_run *)run)->rows.dialect;
}

const struct rig_sql_client rig_pg_client = {
    .area = "postgres",
    .product = "PostgreSQL",
    .replica = "standby",
    .connection_bytes = sizeof(struct rig_pg_connection),
    .turn_bytes = sizeof(struct rig_pg_turn),
    .share_stream = UINT64_C(0x7067) << 40,
    .default_port = 5432, /* libpq's, unless PGPORT is set */
    .socket_port = 5432,
    .trusts_single = true,
    .outcomes = &rig_pg_outcomes,
    .connect = connect_to_server,
    .prepare = prepare_connection,
    .disconnect = disconnect,
    .query = run_query,
    .run = run_transaction,
    .begin = rig_pg_statements_begin,
    .operate = rig_pg_statements_operate,
    .execute = rig_pg_statements_execute,
    .commit = rig_pg_statements_commit,
    .settle = settle,
    .rest = rest,
    .nodes = &rig_pg_nodes,
    .tables = &rig_pg_tables,
    .texts = &rig_pg_texts,
    .dialect = dialect,
};
