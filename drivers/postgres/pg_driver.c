/*
 * The driver's entry: its table for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_fault.h"
#include "drivers/postgres/pg_session.h"
#include "drivers/postgres/pg_title.h"
#include "drivers/postgres/pg_settings.h"
#include "drivers/postgres/pg_tables.h"

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    run->env = env;
    run->options = env->options;
    rig_pg_cluster_init(&run->cluster, env, run->options);
    if (env->certificate != RIG_CERTIFICATE_NONE && run->options->sql.hosts.count > 1)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: a certificate has the commits of one server; give one host, or use "
                        "certificate: none");
    if (PQisthreadsafe() == 0)
        return rig_fail(err, RIG_E_DRIVER, "this libpq was built without threads");
    enum rig_rc rc = rig_wakes_init(&run->wakes, env->client_count, err);
    if (rc == RIG_OK)
        rc = rig_pg_servers_init(&run->servers, env, run->options, &run->cluster, err);
    if (rc == RIG_OK)
        rc = rig_pg_schema_init(&run->schema, env, run->options, err);
    rig_pg_timelines_init(&run->certificate.timelines, env);
    if (env->certificate != RIG_CERTIFICATE_NONE)
        rig_pg_timelines_watch(&run->certificate.timelines, &run->cluster);
    if (rc == RIG_OK && env->certificate == RIG_CERTIFICATE_FULL)
        rc = rig_pg_views_init(&run->views, env->client_count, err);
    return rc != RIG_OK ? rc : rig_pg_rows_init(&run->rows, env->rows, &run->schema.place, err);
}

static void done(void *object)
{
    struct rig_pg_run *run = object;
    if (run->env == NULL)
        return;
    rig_pg_rows_done(&run->rows);
    rig_pg_views_done(&run->views);
    rig_pg_timelines_done(&run->certificate.timelines);
    rig_pg_schema_done(&run->schema);
    rig_wakes_done(&run->wakes);
    rig_pg_cluster_done(&run->cluster);
    rig_pg_servers_done(&run->servers);
    run->env = NULL;
}

/* The run's own connection to the server that takes writes. */
struct own_connection {
    struct rig_pg_run *run;
    struct rig_sql_waiter waiter;
    struct rig_pg_connection connection;
    int64_t deadline_ns; /* the purpose of the connection, for errors */
};

static enum rig_rc open_own(void *context, struct rig_pg_connection *connection, uint32_t server, int64_t deadline_ns,
                            struct rig_err *err)
{
    struct own_connection *own = context;
    struct rig_sql_endpoint endpoint;
    struct rig_pg_target target;
    enum rig_rc rc = rig_pg_servers_target(&own->run->servers, server, &endpoint, &target, err);
    if (rc == RIG_OK)
        rc = rig_pg_connect(connection, &target, &own->waiter, deadline_ns, err);
    if (rc == RIG_OK)
        connection->standby = rig_pg_in_recovery(connection, deadline_ns);
    return rc;
}

/* Disconnect it in any case. */
static enum rig_rc connect_own(struct own_connection *own, struct rig_pg_run *run, bool to_the_end, struct rig_err *err)
{
    uint32_t server;
    *own = (struct own_connection){.run = run, .waiter = {.core = run->env->core, .to_the_end = to_the_end}};
    enum rig_rc rc = rig_pg_servers_open_writer(&run->servers, 0, open_own, own, &own->connection, &server, err);
    own->deadline_ns = rig_sql_own_deadline_ns(run->env->core, run->options->sql.transaction_timeout_ns);
    return rc;
}

static bool cluster_wanted(const void *options)
{
    return ((const struct rig_pg_options *)options)->sql.hosts.count == 0;
}

/* For the case that rig is killed before it can remove its tables. */
static void remind(struct rig_pg_run *run, const struct rig_pg_connection *connection)
{
    char remedy[RIG_PG_REMEDY_BYTES], prepared[256] = "";
    char text[RIG_ERR_TEXT_BYTES];
    rig_pg_tables_remedy(&run->schema, run->env, remedy, sizeof remedy);
    if (run->options->sql.two_phase > 0)
        (void)snprintf(prepared, sizeof prepared,
                       ", after `SELECT format('ROLLBACK PREPARED %%L', gid) FROM pg_prepared_xacts WHERE "
                       "starts_with(gid, '%s.') \\gexec` in psql",
                       run->env->run_name);
    (void)snprintf(text, sizeof text,
                   "tables of a run are on PostgreSQL at %.200s:%.6s, database %.63s: %s removes them%s",
                   PQhost(connection->pg), PQport(connection->pg), PQdb(connection->pg), remedy, prepared);
    run->reminder = run->env->core->remind(text);
}

static enum rig_rc create_tables(struct rig_pg_run *run, struct own_connection *own, struct rig_err *err)
{
    const bool given = !cluster_wanted(run->options);
    if (given)
        remind(run, &own->connection);
    run->created = true;
    const enum rig_rc rc = rig_pg_tables_create(&run->schema, run->env, &own->connection, own->deadline_ns, err);
    /* They are made in one transaction: an error that the server answered leaves nothing. */
    if (rc != RIG_OK && own->connection.query_code[0] != '\0') {
        run->created = false;
        run->env->core->forget(run->reminder);
        run->reminder = 0;
    }
    return rc;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK && !cluster_wanted(run->options))
        rig_pg_tables_tell_others(run->env, &own.connection, own.deadline_ns);
    if (rc == RIG_OK && run->options->sql.two_phase > 0)
        rc = rig_pg_two_phase_check(&own.connection, own.deadline_ns, err);
    if (rc == RIG_OK)
        rc = create_tables(run, &own, err);
    if (rc == RIG_OK && run->env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_pg_certificate_begin(&run->certificate, &run->schema, run->env,
                                      cluster_wanted(run->options) ? rig_pg_cluster_primary(&run->cluster) : UINT32_MAX,
                                      &own.connection, own.deadline_ns, err);
    if (rc == RIG_OK) {
        const char *version = PQparameterStatus(own.connection.pg, "server_version");
        rig_pg_one_line(run->server_version, sizeof run->server_version, version);
        run->server_version[strcspn(run->server_version, " ")] = '\0';
    }
    rig_pg_disconnect(&own.connection);
    return rc;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct own_connection own;
    for (uint32_t node = 0; node < run->cluster.count; node++) {
        if (node != rig_pg_cluster_primary(&run->cluster))
            rig_pg_cluster_read_former(&run->cluster, node);
    }
    enum rig_rc rc = connect_own(&own, run, true, err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_drain(&run->certificate, &run->views, &run->schema, run->env, &own.connection, sink,
                                      err);
    rig_pg_disconnect(&own.connection);
    return rc;
}

/* They would block the removal of the tables. */
static void remove_prepared(struct rig_pg_run *run)
{
    struct own_connection own;
    struct rig_err err = {.rc = RIG_OK};
    if (run->options->sql.two_phase <= 0)
        return;
    enum rig_rc rc = connect_own(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_two_phase_resolve(&run->two_phase, run->env, UINT32_MAX, &own.connection, own.deadline_ns, &err);
    rig_pg_disconnect(&own.connection);
    if (rc != RIG_OK)
        run->env->core->log(
            0, "postgres",
            "transactions whose names begin with %s. may stay prepared on the server (pg_prepared_xacts): "
            "%s; ROLLBACK PREPARED removes each",
            run->env->run_name, err.text);
}

static void log_shares(const struct rig_pg_run *run)
{
    const struct rig_core *core = run->env->core;
    const struct rig_pg_two_phase *numbers = &run->two_phase;
    if (run->options->sql.two_phase > 0)
        core->log(
            2, "postgres",
            "two-phase: %llu transactions were prepared, %llu of them answered as committed, %llu rolled back later",
            (unsigned long long)atomic_load(&numbers->prepared), (unsigned long long)atomic_load(&numbers->committed),
            (unsigned long long)atomic_load(&numbers->rolled_back));
    if (run->options->deferrable > 0)
        core->log(2, "postgres", "%llu transactions began READ ONLY DEFERRABLE",
                  (unsigned long long)atomic_load(&run->deferrable_count));
}

/* Also where the tables are kept: a slot would fill the server's disk. */
static void remove_slot(struct rig_pg_run *run)
{
    const struct rig_core *core = run->env->core;
    struct own_connection own;
    struct rig_err err = {.rc = RIG_OK};
    if (!run->certificate.made)
        return;
    enum rig_rc rc = connect_own(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_end(run->env, &own.connection, own.deadline_ns, &err);
    rig_pg_disconnect(&own.connection);
    if (rc == RIG_OK)
        core->forget(run->certificate.reminder);
    else
        core->log(0, "postgres",
                  "the run's replication slot remains on the server and keeps its log: %s; `SELECT "
                  "pg_drop_replication_slot('%s')` and `DROP PUBLICATION %s` remove it",
                  err.text, run->env->run_name, run->env->run_name);
}

static void teardown(void *object)
{
    struct rig_pg_run *run = object;
    const struct rig_core *core = run->env->core;
    char remedy[RIG_PG_REMEDY_BYTES];
    if (run->created && cluster_wanted(run->options))
        log_shares(run);
    /* rig's own cluster is removed as a whole. */
    if (cluster_wanted(run->options) || !run->created)
        return;
    remove_prepared(run);
    log_shares(run);
    remove_slot(run);
    rig_pg_tables_remedy(&run->schema, run->env, remedy, sizeof remedy);
    if (run->options->sql.keep_tables) {
        core->log(2, "postgres", "the run's tables are kept; %s removes them", remedy);
        core->forget(run->reminder);
        return;
    }
    struct own_connection own;
    struct rig_err err = {.rc = RIG_OK};
    enum rig_rc rc = connect_own(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_tables_drop(&run->schema, run->env, &own.connection, own.deadline_ns, &err);
    rig_pg_disconnect(&own.connection);
    if (rc == RIG_OK)
        core->forget(run->reminder);
    else
        core->log(0, "postgres", "the run's tables remain on the server: %s; %s removes them", err.text, remedy);
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_pg_run *run = object;
    (void)snprintf(text, size, "PostgreSQL%s%s", run->server_version[0] == '\0' ? "" : " ", run->server_version);
}

static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    struct rig_pg_run *run = object;
    struct own_connection own;
    struct rig_err ignored = {.rc = RIG_OK};
    if (connect_own(&own, run, false, &ignored) == RIG_OK)
        rig_pg_settings_tell(&own.connection, own.deadline_ns, tell, context);
    rig_pg_disconnect(&own.connection);
}

/* ---- programs ---- */

static enum rig_rc load_rows(void *object, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK)
        rc = rig_pg_rows_load(&run->rows, &own.connection, own.deadline_ns, table, cells, row_count, err);
    rig_pg_disconnect(&own.connection);
    return rc;
}

static enum rig_rc query_rows(void *object, const char *sql,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK)
        rc = rig_pg_rows_query(&run->rows, &own.connection, own.deadline_ns, sql, tell, context, err);
    rig_pg_disconnect(&own.connection);
    return rc;
}

static const struct rig_row_ops row_ops = {
    .load = load_rows, .run_program = rig_pg_session_run_program, .query = query_rows};

/* ---- cluster ---- */

static enum rig_rc cluster_start(void *object, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_cluster_start(&run->cluster, err);
}

static void cluster_stop(void *object)
{
    struct rig_pg_run *run = object;
    rig_pg_cluster_stop(&run->cluster);
}

static void cluster_kill_now(void *object)
{
    struct rig_pg_run *run = object;
    rig_pg_cluster_kill_now(&run->cluster);
}

static uint32_t cluster_node_count(const void *object)
{
    const struct rig_pg_run *run = object;
    return rig_pg_servers_count(&run->servers);
}

static enum rig_rc cluster_status(void *object, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_servers_status(&run->servers, node, status, err);
}

static enum rig_rc cluster_stop_node(void *object, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_cluster_stop_node(&run->cluster, node, how, err);
}

static enum rig_rc cluster_start_node(void *object, uint32_t node, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_cluster_start_node(&run->cluster, node, err);
}

static enum rig_rc cluster_promote(void *object, uint32_t node, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_cluster_promote(&run->cluster, node, err);
}

static enum rig_rc cluster_restore(void *object, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    return rig_pg_cluster_restore(&run->cluster, err);
}

static uint32_t cluster_processes(void *object, uint32_t node, pid_t *pids, uint32_t capacity)
{
    const struct rig_pg_run *run = object;
    return node < run->cluster.count ? rig_child_processes(&run->cluster.nodes[node].local.server, pids, capacity) : 0;
}

static const char *cluster_data_dir(const void *object, uint32_t node)
{
    const struct rig_pg_run *run = object;
    return node < run->cluster.count ? run->cluster.nodes[node].local.data : NULL;
}

static enum rig_rc cluster_address(void *object, uint32_t node, struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_pg_run *run = object;
    return rig_pg_servers_address(&run->servers, node, address, err);
}

static enum rig_rc cluster_set_environment(void *object, uint32_t node, const char *name, const char *value,
                                           struct rig_err *err)
{
    struct rig_pg_run *run = object;
    RIG_REQUIRE(node < rig_pg_cluster_count(&run->cluster)); /* perhaps before the start */
    return rig_local_node_set_variable(&run->cluster.nodes[node].local, name, value, err);
}

static const struct rig_cluster_ops cluster_ops = {
    .wanted = cluster_wanted,
    .start = cluster_start,
    .stop = cluster_stop,
    .kill_now = cluster_kill_now,
    .node_count = cluster_node_count,
    .status = cluster_status,
    .stop_node = cluster_stop_node,
    .start_node = cluster_start_node,
    .promote = cluster_promote,
    .restore = cluster_restore,
    .processes = cluster_processes,
    .is_session = rig_pg_process_is_session,
    .data_dir = cluster_data_dir,
    .set_environment = cluster_set_environment,
    .faults = rig_pg_faults,
    .address = cluster_address,
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
    .session_size = sizeof(struct rig_pg_session),
    .check = rig_pg_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = teardown,
    .open = rig_pg_session_open,
    .transact = rig_pg_session_transact,
    .interrupt = rig_pg_session_interrupt,
    .close = rig_pg_session_close,
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
