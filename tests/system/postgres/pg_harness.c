#include "tests/system/postgres/pg_harness.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "drivers/postgres/pg_cluster.h"
#include "drivers/postgres/pg_session.h"
#include "drivers/sql/sql_run.h"

extern const struct rig_driver rig_driver;

static atomic_bool run_is_stopping;

/* ---- the core ---- */

RIG_PRINTF(3, 4) static void core_log(int level, const char *area, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%d %s: ", level, area);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

static int64_t *core_elements(struct rig_transaction *transaction, size_t count)
{
    size_t needed = transaction->element_count + count;
    if (needed > (size_t)8 << 20)
        return NULL;
    if (needed > transaction->element_capacity || transaction->elements == NULL) {
        int64_t *elements = realloc(transaction->elements, (needed + 1) * 2 * sizeof *elements);
        assert_non_null(elements);
        transaction->elements = elements;
        transaction->element_capacity = (needed + 1) * 2;
    }
    return transaction->elements + transaction->element_count;
}

static bool core_hold(struct rig_transaction *transaction)
{
    const struct client *client = transaction->core_private;
    if (client->hold != NULL)
        client->hold(client->hold_context);
    return true;
}

static bool core_stopping(void)
{
    return atomic_load(&run_is_stopping);
}

static uint64_t core_remind(const char *text)
{
    (void)text;
    return 0;
}

static void core_forget(uint64_t reminder)
{
    (void)reminder;
}

static int64_t core_name(const char *text)
{
    (void)text;
    return RIG_COLUMN_NONE;
}

static const struct rig_core core = {
    .abi = RIG_DRIVER_ABI,
    .log = core_log,
    .now_ns = rig_clock_now_ns,
    .elements = core_elements,
    .hold = core_hold,
    .stopping = core_stopping,
    .name = core_name,
    .remind = core_remind,
    .forget = core_forget,
};

const struct rig_core *harness_core(void)
{
    return &core;
}

void harness_set_stopping(bool stopping)
{
    atomic_store(&run_is_stopping, stopping);
}

/* ---- runs ---- */

void harness_require_postgres(void)
{
    char folder[RIG_PG_PATH_BYTES];
    struct rig_err err = {.rc = RIG_OK};
    struct rig_account user;
    const struct rig_pg_wish wish = {.version = NULL};
    bool found = rig_pg_binaries_find(&wish, folder, sizeof folder, &err) == RIG_OK;
    if (found && rig_account_find("postgres", &user))
        return;
    (void)printf("skipped: %s\n", found ? "there is no user postgres" : err.text);
    exit(77);
}

void harness_defaults(struct rig_pg_options *options)
{
    *options = (struct rig_pg_options){
        .sql.isolation = RIG_SQL_SERIALIZABLE,
        .sql.tables = 1,
        .sql.prepared = true,
        .pipeline = true,
        .sql.connect_timeout_ns = 10 * RIG_NS_PER_S,
        .sql.transaction_timeout_ns = 30 * RIG_NS_PER_S,
        .sql.run_as = "postgres",
        .synchronous_standbys = 1,
        .sql.start_timeout_ns = 60 * RIG_NS_PER_S,
        .sql.stop_timeout_ns = 10 * RIG_NS_PER_S,
    };
}

void harness_begin(struct harness *harness, const struct rig_pg_options *options, enum rig_workload workload,
                   uint32_t client_count)
{
    struct rig_err err = {.rc = RIG_OK};
    *harness = (struct harness){.started = false};
    const char *parent = getenv("TMPDIR");
    (void)snprintf(harness->folder, sizeof harness->folder, "%s/rig-test-XXXXXX", parent == NULL ? "/tmp" : parent);
    assert_non_null(mkdtemp(harness->folder));
    assert_int_equal(chmod(harness->folder, 0711), 0); /* as the contract promises of a work folder */
    (void)snprintf(harness->run_name, sizeof harness->run_name, "rig_test_%.6s", strrchr(harness->folder, '-') + 1);
    for (char *c = harness->run_name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    harness->options = *options;
    harness->env = (struct rig_run_env){.core = &core,
                                        .options = &harness->options,
                                        .workload = workload,
                                        .client_count = client_count,
                                        .seed = 1,
                                        .work_dir = harness->folder,
                                        .log_dir = harness->folder,
                                        .run_name = harness->run_name};
    harness->run = calloc(1, rig_driver.run_size);
    assert_non_null(harness->run);
    if (rig_driver.check(&harness->options, workload, &err) != RIG_OK ||
        rig_driver.init(harness->run, &harness->env, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void set_up(struct harness *harness)
{
    struct rig_err err = {.rc = RIG_OK};
    if (rig_driver.setup(harness->run, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

void harness_start(struct harness *harness, const struct rig_pg_options *options, enum rig_workload workload,
                   uint32_t client_count)
{
    struct rig_err err = {.rc = RIG_OK};
    harness_begin(harness, options, workload, client_count);
    harness->started = true;
    if (rig_driver.cluster->start(harness->run, &err) != RIG_OK) {
        rig_driver.cluster->stop(harness->run);
        fail_msg("%s", err.text);
    }
    set_up(harness);
}

void harness_attach_without_tables(struct harness *harness, const struct harness *server,
                                   const struct rig_pg_options *options)
{
    struct rig_pg_options adjusted = *options;
    static char host[512];
    static const char *hosts[1] = {host};
    const struct rig_sql_endpoint endpoint = server_endpoint(server);
    (void)snprintf(host, sizeof host, "%s:%s", endpoint.host, endpoint.port);
    if (adjusted.sql.hosts.count == 0)
        adjusted.sql.hosts = (struct rig_text_list){hosts, 1};
    if (adjusted.sql.user == NULL)
        adjusted.sql.user = "postgres";
    adjusted.dbname = "postgres";
    harness_begin(harness, &adjusted, server->env.workload, server->env.client_count);
}

void harness_attach(struct harness *harness, const struct harness *server, const struct rig_pg_options *options)
{
    harness_attach_without_tables(harness, server, options);
    set_up(harness);
}

void harness_stop(struct harness *harness)
{
    if (harness->run == NULL)
        return;
    rig_driver.teardown(harness->run);
    if (harness->started)
        rig_driver.cluster->stop(harness->run);
    rig_driver.done(harness->run);
    free(harness->run);
    harness->run = NULL;
    rig_folder_remove(harness->folder);
}

struct harness harness_server;

int harness_start_server(void **state)
{
    (void)state;
    struct rig_pg_options options;
    harness_defaults(&options);
    harness_start(&harness_server, &options, RIG_WORKLOAD_LIST_APPEND, 4);
    return 0;
}

int harness_stop_server(void **state)
{
    (void)state;
    harness_stop(&harness_server);
    return 0;
}

/* ---- sessions ---- */

enum rig_rc client_try_open(struct client *client, struct harness *harness, struct rig_err *err)
{
    *client = (struct client){.harness = harness, .open = true};
    client->session = calloc(1, rig_driver.session_size);
    assert_non_null(client->session);
    return rig_driver.open(client->session, harness->run, 0, err);
}

void client_open(struct client *client, struct harness *harness)
{
    struct rig_err err = {.rc = RIG_OK};
    if (client_try_open(client, harness, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

void client_close(struct client *client)
{
    if (!client->open)
        return;
    rig_driver.close(client->session, true);
    free(client->session);
    free(client->transaction.elements);
    *client = (struct client){.open = false};
}

void client_begin(struct client *client)
{
    free(client->transaction.elements);
    client->hold = NULL;
    client->transaction =
        (struct rig_transaction){.ops = client->ops, .read_only = true, .reads = client->reads, .core_private = client};
    memset(client->reads, 0, sizeof client->reads);
}

static void add_op(struct client *client, enum rig_op_kind kind, int64_t key, int64_t value)
{
    assert_true(client->transaction.op_count < OPS_MOST);
    client->ops[client->transaction.op_count++] = (struct rig_op){.kind = kind, .key = key, .value = value};
}

void client_append(struct client *client, int64_t key, int64_t value)
{
    bool list = client->harness->env.workload == RIG_WORKLOAD_LIST_APPEND;
    client->transaction.read_only = false;
    add_op(client, list ? RIG_OP_APPEND : RIG_OP_WRITE, key, value);
}

void client_read(struct client *client, int64_t key)
{
    bool list = client->harness->env.workload == RIG_WORKLOAD_LIST_APPEND;
    add_op(client, list ? RIG_OP_READ_LIST : RIG_OP_READ_REGISTER, key, 0);
}

void client_hold(struct client *client, uint32_t before_op, hold_function hold, void *context)
{
    client->transaction.hold = (struct rig_hold){.wanted = true, .before_op = before_op};
    client->hold = hold;
    client->hold_context = context;
}

enum rig_outcome client_run(struct client *client)
{
    return rig_driver.transact(client->session, &client->transaction);
}

static void *run_client(void *object)
{
    struct client *client = object;
    client->outcome = client_run(client);
    return NULL;
}

void client_start(struct client *client)
{
    assert_int_equal(pthread_create(&client->thread, NULL, run_client, client), 0);
}

enum rig_outcome client_join(struct client *client)
{
    assert_int_equal(pthread_join(client->thread, NULL), 0);
    return client->outcome;
}

PGconn *client_connection(const struct client *client)
{
    const struct rig_sql_session *session = client->session;
    return ((const struct rig_pg_connection *)session->main)->pg;
}

int client_backend(const struct client *client)
{
    return PQbackendPID(client_connection(client));
}

const char *client_seen(const struct client *client, uint32_t op)
{
    static char text[4096];
    const struct rig_read *read = &client->reads[op];
    assert_true(op < client->transaction.op_count);
    if (read->state != RIG_READ_SEEN)
        return read->state == RIG_READ_NIL ? "nil" : "unknown";
    if (client->ops[op].kind == RIG_OP_READ_REGISTER) {
        (void)snprintf(text, sizeof text, "%lld", (long long)read->value);
        return text;
    }
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < read->count && length + 24 < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%lld", i == 0 ? "" : ",",
                                   (long long)client->transaction.elements[read->first_element + i]);
    return text;
}

/* ---- SQL ---- */

struct rig_sql_endpoint server_endpoint(const struct harness *harness)
{
    const struct rig_pg_run *run = harness->run;
    struct rig_sql_endpoint endpoint;
    struct rig_err err = {.rc = RIG_OK};
    if (!rig_sql_run_is_local(&run->sql))
        return run->sql.hosts.endpoints[0];
    if (rig_pg_cluster_endpoint(rig_pg_cluster_of(run), 0, &endpoint, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return endpoint;
}

PGconn *sql_connect(const struct harness *harness)
{
    const struct rig_pg_run *run = harness->run;
    const struct rig_sql_endpoint endpoint = server_endpoint(harness);
    struct rig_pg_target target = {.endpoint = &endpoint,
                                   .user = run->options->sql.user,
                                   .dbname = run->options->dbname,
                                   .password = run->options->sql.password};
    if (rig_sql_run_is_local(&run->sql))
        rig_pg_cluster_credentials(rig_pg_cluster_of(run), &target);
    const char *const names[] = {"host", "port", "user", "dbname", "password", "application_name", NULL};
    const char *const values[] = {
        target.endpoint->host, target.endpoint->port, target.user, target.dbname, target.password, "test", NULL};
    PGconn *pg = PQconnectdbParams(names, values, 0);
    if (PQstatus(pg) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(pg));
    (void)sql(pg, "SET search_path = %s, public", harness->run_name);
    return pg;
}

const char *sql(PGconn *pg, const char *format, ...)
{
    static _Thread_local char answer[4096];
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    PGresult *result = PQexec(pg, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        char problem[512];
        (void)snprintf(problem, sizeof problem, "%s", PQerrorMessage(pg));
        PQclear(result);
        fail_msg("%s: %s", text, problem);
    }
    (void)snprintf(answer, sizeof answer, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return answer;
}

void sql_await(PGconn *pg, const char *query, const char *expected)
{
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    /* Within a transaction the server returns the same statistics until its snapshot of them is cleared. */
    while (sql(pg, "SELECT pg_stat_clear_snapshot()"), strcmp(sql(pg, "%s", query), expected) != 0) {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("%s: still %s, not %s", query, sql(pg, "%s", query), expected);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

const char *sql_list(PGconn *pg, int64_t key)
{
    const char *found =
        sql(pg, "SELECT coalesce((SELECT v::text FROM rig_list_0 WHERE k = %lld), 'nil')", (long long)key);
    return found;
}

void sql_await_wait(PGconn *pg, int backend, const char *event)
{
    char query[256];
    (void)snprintf(query, sizeof query, "SELECT wait_event FROM pg_stat_activity WHERE pid = %d AND state = 'active'",
                   backend);
    sql_await(pg, query, event);
}

/* Commits a write; true when the commit waited for a standby; the wait is then cancelled. */
static bool probe_waits(PGconn *pg, PGconn *probe)
{
    char query[128];
    assert_int_equal(PQsendQuery(probe, "SELECT pg_logical_emit_message(true, 'rig', 'probe')"), 1);
    (void)snprintf(query, sizeof query, "SELECT wait_event FROM pg_stat_activity WHERE pid = %d", PQbackendPID(probe));
    bool waits = false;
    while (assert_int_equal(PQconsumeInput(probe), 1), !waits && PQisBusy(probe) != 0)
        waits = strcmp(sql(pg, "%s", query), "SyncRep") == 0;
    if (waits)
        (void)sql(pg, "SELECT pg_cancel_backend(%d)", PQbackendPID(probe));
    PGresult *result;
    while ((result = PQgetResult(probe)) != NULL)
        PQclear(result);
    return waits;
}

void sql_commit_waits(const struct harness *harness, PGconn *pg, bool waits)
{
    (void)sql(pg, "SET synchronous_commit = local");
    (void)sql(pg, "ALTER SYSTEM SET synchronous_standby_names = '%s'", waits ? "absent" : "");
    (void)sql(pg, "SELECT pg_reload_conf()");
    sql_await(pg, "SHOW synchronous_standby_names", waits ? "absent" : "");
    if (!waits)
        return;
    /* The other processes of the server reload asynchronously; the checkpointer has to, too. */
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    PGconn *probe = sql_connect(harness);
    (void)sql(probe, "SET client_min_messages = error");
    while (!probe_waits(pg, probe))
        assert_true(rig_clock_now_ns() < deadline_ns);
    PQfinish(probe);
}

/* ---- expectations ---- */

const char *outcome_name(enum rig_outcome outcome)
{
    return outcome == RIG_OUTCOME_OK ? "ok" : outcome == RIG_OUTCOME_FAIL ? "fail" : "info";
}

void expect_outcome(const struct client *client, enum rig_outcome got, enum rig_outcome expected, const char *code)
{
    const struct rig_transaction *transaction = &client->transaction;
    if (got != expected || strcmp(transaction->error_code, code) != 0)
        fail_msg("%s [%s] %s in phase %d, expected %s [%s]", outcome_name(got), transaction->error_code,
                 transaction->error_text, (int)transaction->phase, outcome_name(expected), code);
}
