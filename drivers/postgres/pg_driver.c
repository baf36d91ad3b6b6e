/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"
#include "drivers/postgres/pg_tables.h"
#include "drivers/postgres/pg_title.h"
#include "drivers/postgres/pg_turn.h"
#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_run.h"

/* ---- the run ---- */

static struct rig_pg_connection *connection_of(const struct rig_sql_own *own)
{
    return (struct rig_pg_connection *)own->connection;
}

static enum rig_rc created(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_pg_run *run = (struct rig_pg_run *)own->run;
    enum rig_rc rc = RIG_OK;
    if (run->sql.env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_pg_certificate_begin(&run->certificate, &run->schema, run->sql.env,
                                      rig_sql_run_is_local(&run->sql) ? rig_pg_cluster_primary(&run->sql) : UINT32_MAX,
                                      connection_of(own), own->deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    rig_pg_one_line(run->sql.server_version, sizeof run->sql.server_version,
                    PQparameterStatus(connection_of(own)->pg, "server_version"));
    run->sql.server_version[strcspn(run->sql.server_version, " ")] = '\0';
    return RIG_OK;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct rig_sql_own own;
    for (uint32_t node = 0; node < run->cluster.sql.count; node++) {
        if (node != rig_pg_cluster_primary(&run->sql))
            rig_pg_cluster_read_former(&run->cluster, node);
    }
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, true, err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_drain(&run->certificate, &run->views, &run->schema, run->sql.env, connection_of(&own),
                                      sink, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

/* The slot would fill the server's disk. */
static void remove_slot(struct rig_pg_run *run)
{
    const struct rig_run_env *env = run->sql.env;
    struct rig_sql_own own;
    struct rig_err err = {.rc = RIG_OK};
    if (!run->certificate.made)
        return;
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_end(env, connection_of(&own), own.deadline_ns, &err);
    rig_sql_own_disconnect(&own);
    if (rc == RIG_OK)
        env->core->forget(run->certificate.reminder);
    else
        env->core->log(0, "postgres",
                       "the run's replication slot remains on the server and keeps its log: %s; `SELECT "
                       "pg_drop_replication_slot('%s')` and `DROP PUBLICATION %s` remove it",
                       err.text, env->run_name, env->run_name);
}

static void release(struct rig_sql_run *sql)
{
    struct rig_pg_run *run = (struct rig_pg_run *)sql;
    if (run->options->deferrable > 0)
        sql->env->core->log(2, "postgres", "%llu transactions began READ ONLY DEFERRABLE",
                            (unsigned long long)atomic_load(&run->deferrable_count));
    if (!rig_sql_run_is_local(sql))
        remove_slot(run);
}

static void describe(void *object, char *text, size_t size)
{
    const char *version = ((const struct rig_sql_run *)object)->server_version;
    (void)snprintf(text, size, "PostgreSQL%s%s", version[0] == '\0' ? "" : " ", version);
}

static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    /* Settings of the session come from rig and its account, paths from the server's location. */
    static const char question[] =
        "SELECT name, CASE WHEN unit IS NULL THEN setting ELSE current_setting(name) END"
        " FROM pg_settings"
        " WHERE source NOT IN ('default', 'override', 'client', 'session', 'environment variable')"
        " ORDER BY name";
    rig_sql_run_tell_settings(object, question, tell, context);
}

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return ((const struct rig_pg_run *)run)->rows.dialect;
}

static const struct rig_sql_client client = {
    .area = "postgres",
    .product = "PostgreSQL",
    .replica = "standby",
    .connection_bytes = sizeof(struct rig_pg_connection),
    .share_stream = UINT64_C(0x7067) << 40,
    .default_port = 5432, /* libpq's, unless PGPORT is set */
    .socket_port = 5432,
    .trusts_single = true,
    .outcomes = &rig_pg_outcomes,
    .connect = rig_pg_session_connect,
    .prepare = rig_pg_session_prepare,
    .disconnect = rig_pg_session_disconnect,
    .query = rig_pg_session_query,
    .name = rig_pg_tables_name,
    .run = rig_pg_session_run,
    .begin = rig_pg_statements_begin,
    .execute = rig_pg_statements_execute,
    .commit = rig_pg_statements_commit,
    .settle = rig_pg_session_settle,
    .rest = rig_pg_session_rest,
    .primary = rig_pg_cluster_primary,
    .holds_back = rig_pg_cluster_holds_back,
    .node_status = rig_pg_cluster_status,
    .node_socket = rig_pg_cluster_socket,
    .tell_others = rig_pg_tables_tell_others,
    .check_two_phase = rig_pg_tables_check_two_phase,
    .remind = rig_pg_tables_remind,
    .create = rig_pg_tables_create,
    .left_nothing = rig_pg_tables_left_nothing,
    .created = created,
    .remove_prepared = rig_pg_tables_remove_prepared,
    .release = release,
    .drop = rig_pg_tables_drop,
    .remedy = rig_pg_tables_remedy,
    .dialect = dialect,
};

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    run->options = env->options;
    rig_pg_cluster_init(&run->cluster, env, run->options);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &client, env, &run->cluster.sql, err);
    rig_pg_timelines_init(&run->certificate.timelines, env);
    if (env->certificate != RIG_CERTIFICATE_NONE)
        rig_pg_timelines_watch(&run->certificate.timelines, &run->cluster);
    if (rc == RIG_OK && env->certificate != RIG_CERTIFICATE_NONE && run->options->sql.hosts.count > 1)
        rc = rig_fail(err, RIG_E_PLAN,
                      "database.certificate: a certificate has the commits of one server; give one host, or use "
                      "certificate: none");
    if (rc == RIG_OK && PQisthreadsafe() == 0)
        rc = rig_fail(err, RIG_E_DRIVER, "this libpq was built without threads");
    if (rc == RIG_OK)
        rc = rig_pg_schema_init(&run->schema, env, run->options, err);
    if (rc == RIG_OK && env->certificate == RIG_CERTIFICATE_FULL)
        rc = rig_pg_views_init(&run->views, env->client_count, err);
    return rc != RIG_OK ? rc : rig_pg_rows_init(&run->rows, env->rows, &run->schema.place, err);
}

static void done(void *object)
{
    struct rig_pg_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_pg_rows_done(&run->rows);
    rig_pg_views_done(&run->views);
    rig_pg_timelines_done(&run->certificate.timelines);
    rig_pg_schema_done(&run->schema);
    rig_pg_cluster_done(&run->cluster);
    rig_sql_run_done(&run->sql);
}

static const struct rig_row_ops row_ops = {
    .load = rig_sql_run_load, .run_program = rig_pg_session_run_program, .query = rig_sql_run_query};

static const struct rig_cluster_ops cluster_ops = {
    .wanted = rig_sql_cluster_wanted,
    .start = rig_pg_cluster_start,
    .stop = rig_pg_cluster_stop,
    .kill_now = rig_pg_cluster_kill_now,
    .node_count = rig_sql_cluster_node_count,
    .status = rig_sql_cluster_status,
    .stop_node = rig_pg_cluster_stop_node,
    .start_node = rig_pg_cluster_start_node,
    .promote = rig_pg_cluster_promote,
    .restore = rig_pg_cluster_restore,
    .processes = rig_sql_cluster_processes,
    .is_session = rig_pg_process_is_session,
    .data_dir = rig_sql_cluster_data_dir,
    .set_environment = rig_sql_cluster_set_environment,
    .faults = rig_pg_faults,
    .address = rig_sql_cluster_address,
};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "postgres",
    .summary = "PostgreSQL, through libpq: a server or a cluster that rig starts, or existing servers",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_PREDICATE),
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_JOINS |
                RIG_DRIVER_PREFILLS,
    .options = rig_pg_option_table,
    .options_size = sizeof(struct rig_pg_options),
    .run_size = sizeof(struct rig_pg_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = rig_pg_options_check,
    .init = init,
    .done = done,
    .setup = rig_sql_run_setup,
    .teardown = rig_sql_run_teardown,
    .open = rig_sql_session_open,
    .transact = rig_pg_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) |
               RIG_COLUMN_BIT(RIG_COLUMN_START_TS) | RIG_COLUMN_BIT(RIG_COLUMN_COMMIT_TS),
    .settings = settings,
    .cluster = &cluster_ops,
    .rows = &row_ops,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "pgoutput",
    .certify = certify,
};
