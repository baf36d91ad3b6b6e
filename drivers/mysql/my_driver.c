/*
 * The driver's entry: its table for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/mysql/my_certificate.h"
#include "drivers/mysql/my_fault.h"
#include "drivers/mysql/my_replication.h"
#include "drivers/mysql/my_rows.h"
#include "drivers/mysql/my_session.h"
#include "drivers/mysql/my_tables.h"

#define SETUP_NS  INT64_C(30000000000)
#define SETTLE_NS INT64_C(5000000000)

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_my_run *run = object;
    run->env = env;
    run->options = env->options;
    rig_my_cluster_init(&run->cluster, env, run->options);
    if (env->rolls_back && rig_my_pipelines(run->options) && rig_my_site_is_galera(&run->cluster.site))
        return rig_fail(err, RIG_E_PLAN,
                        "database.pipeline: a Galera node can execute the later statements of a request outside of the "
                        "transaction, where no savepoint undoes them: give pipeline: false, or leave out "
                        "workload.savepoints");
    if (mysql_server_init(0, NULL, NULL) != 0 || mysql_thread_safe() == 0)
        return rig_fail(err, RIG_E_DRIVER, "libmariadb cannot be used with threads here");
    enum rig_rc rc = rig_wakes_init(&run->wakes, env->client_count, err);
    if (rc == RIG_OK)
        rc = rig_my_servers_init(&run->servers, env, run->options, &run->cluster, err);
    if (rc == RIG_OK)
        rc = rig_my_schema_init(&run->schema, env, run->options, err);
    if (rc == RIG_OK && env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_my_certificate_check(&run->schema, run->options, rig_my_site_is_galera(&run->cluster.site),
                                      env->certificate == RIG_CERTIFICATE_FULL, err);
    if (rc == RIG_OK && env->certificate == RIG_CERTIFICATE_FULL)
        rc = rig_my_views_init(&run->views, env->client_count, err);
    return rc;
}

static void done(void *object)
{
    struct rig_my_run *run = object;
    if (run->env == NULL)
        return;
    rig_my_views_done(&run->views);
    rig_my_schema_done(&run->schema);
    rig_wakes_done(&run->wakes);
    rig_my_cluster_done(&run->cluster);
    rig_my_servers_done(&run->servers);
    run->env = NULL;
}

/* The run's own connection to the server that takes writes. */
struct own_connection {
    struct rig_my_run *run;
    struct rig_sql_waiter waiter;
    struct rig_my_connection connection;
    int64_t deadline_ns; /* the purpose of the connection, for errors */
};

static enum rig_rc open_own(void *context, struct rig_my_connection *connection, uint32_t server, int64_t deadline_ns,
                            struct rig_err *err)
{
    struct own_connection *own = context;
    return rig_my_servers_connect(&own->run->servers, server, &own->waiter, deadline_ns, connection, err);
}

/* Disconnect it in any case. */
static enum rig_rc connect_own(struct own_connection *own, struct rig_my_run *run, bool to_the_end, struct rig_err *err)
{
    uint32_t server;
    *own = (struct own_connection){.run = run, .waiter = {.core = run->env->core, .to_the_end = to_the_end}};
    enum rig_rc rc = rig_my_servers_open_writer(&run->servers, 0, open_own, own, &own->connection, &server, err);
    own->deadline_ns = rig_sql_own_deadline_ns(run->env->core, run->options->sql.transaction_timeout_ns);
    return rc;
}

static bool cluster_wanted(const void *options)
{
    return ((const struct rig_my_options *)options)->sql.hosts.count == 0;
}

/* For the case that rig is killed before it can remove its tables. */
static void remind(struct rig_my_run *run)
{
    char remedy[RIG_MY_REMEDY_BYTES];
    char text[RIG_ERR_TEXT_BYTES];
    rig_my_tables_remedy(&run->schema, run->env, remedy, sizeof remedy);
    (void)snprintf(text, sizeof text, "tables of a run are on MySQL at %.250s: %s removes them%s",
                   rig_my_servers_name(&run->servers, 0), remedy,
                   run->options->sql.two_phase <= 0
                       ? ""
                       : ", after XA ROLLBACK for each of its transactions in XA RECOVER FORMAT='SQL'");
    run->reminder = run->env->core->remind(text);
}

static enum rig_rc create_tables(struct rig_my_run *run, struct own_connection *own, struct rig_err *err)
{
    const bool given = !cluster_wanted(run->options);
    if (given)
        remind(run);
    run->created = true;
    const enum rig_rc rc = rig_my_tables_create(&run->schema, run->env, &own->connection, own->deadline_ns, err);
    /* Each statement is a transaction, so some of them may have been executed, or none. */
    if (rc != RIG_OK && given && !rig_my_tables_remain(&run->schema, run->env, &own->connection, own->deadline_ns)) {
        run->created = false;
        run->env->core->forget(run->reminder);
        run->reminder = 0;
    }
    return rc;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK && !cluster_wanted(run->options))
        rig_my_tables_tell_others(run->env, &own.connection, own.deadline_ns);
    if (rc == RIG_OK && run->options->sql.two_phase > 0)
        rc = rig_my_two_phase_check(&own.connection, own.deadline_ns, err);
    if (rc == RIG_OK)
        rc = create_tables(run, &own, err);
    if (rc == RIG_OK && run->env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_my_certificate_begin(&run->certificate, &own.connection, own.deadline_ns, err);
    if (rc == RIG_OK)
        (void)snprintf(run->server_version, sizeof run->server_version, "%s", mysql_get_server_info(own.connection.my));
    rig_my_disconnect(&own.connection);
    /* Clients may read from replicas at once. */
    if (rc == RIG_OK && cluster_wanted(run->options) && run->cluster.count > 1 &&
        !rig_my_site_is_galera(&run->cluster.site))
        rc = rig_my_replication_await(&run->cluster, run->env->core->now_ns() + SETUP_NS, err);
    for (uint32_t i = 0; rc == RIG_OK && run->env->prefilled_keys > 0 && i < rig_my_servers_count(&run->servers); i++)
        rc = rig_my_tables_await_rows(&run->schema, run->env, &run->servers, i, run->env->core->now_ns() + SETUP_NS,
                                      err);
    return rc;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, true, err);
    if (rc == RIG_OK)
        rc = rig_my_certificate_drain(&run->certificate, &run->views, &run->schema, run->env, &own.connection, sink,
                                      err);
    rig_my_disconnect(&own.connection);
    return rc;
}

static void log_two_phase(const struct rig_my_run *run)
{
    const struct rig_my_two_phase *numbers = &run->two_phase;
    if (run->options->sql.two_phase > 0)
        run->env->core->log(
            2, "mysql",
            "two-phase: %llu transactions were prepared, %llu of them answered as committed, %llu rolled back later",
            (unsigned long long)atomic_load(&numbers->prepared), (unsigned long long)atomic_load(&numbers->committed),
            (unsigned long long)atomic_load(&numbers->rolled_back));
}

/* They would block the removal of the tables. */
static void remove_prepared(struct rig_my_run *run)
{
    struct own_connection own;
    struct rig_err err = {.rc = RIG_OK};
    if (run->options->sql.two_phase <= 0)
        return;
    uint32_t left = 0;
    enum rig_rc rc = connect_own(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_my_two_phase_settle(&run->two_phase, run->env, UINT32_MAX, &own.connection, SETTLE_NS, own.deadline_ns,
                                     &left, &err);
    rig_my_disconnect(&own.connection);
    if (rc != RIG_OK || left > 0)
        run->env->core->log(
            0, "mysql",
            "transactions whose identifiers begin with %s may stay prepared on the server: %s; XA ROLLBACK "
            "ends each",
            run->env->run_name, rc != RIG_OK ? err.text : "their sessions have not ended");
}

static void teardown(void *object)
{
    struct rig_my_run *run = object;
    const struct rig_core *core = run->env->core;
    char remedy[RIG_MY_REMEDY_BYTES];
    if (!cluster_wanted(run->options) && run->created)
        remove_prepared(run);
    log_two_phase(run);
    /* rig's own cluster is removed as a whole. */
    if (cluster_wanted(run->options) || !run->created)
        return;
    rig_my_tables_remedy(&run->schema, run->env, remedy, sizeof remedy);
    if (run->options->sql.keep_tables) {
        core->log(2, "mysql", "the run's tables are kept; %s removes them", remedy);
        core->forget(run->reminder);
        return;
    }
    struct own_connection own;
    struct rig_err err = {.rc = RIG_OK};
    enum rig_rc rc = connect_own(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_my_tables_drop(&run->schema, run->env, &own.connection, own.deadline_ns, &err);
    rig_my_disconnect(&own.connection);
    if (rc == RIG_OK)
        core->forget(run->reminder);
    else
        core->log(0, "mysql", "the run's tables remain on the server: %s; %s removes them", err.text, remedy);
}

/* "10.11.19-MariaDB-0+deb12u1" is MariaDB 10.11.19; other servers give their number alone. */
static void describe(void *object, char *text, size_t size)
{
    const struct rig_my_run *run = object;
    const char *version = run->server_version;
    (void)snprintf(text, size, "%s%s%.*s", strstr(version, "MariaDB") != NULL ? "MariaDB" : "MySQL",
                   version[0] == '\0' ? "" : " ", (int)strcspn(version, "-"), version);
}

struct told {
    void (*tell)(void *context, const char *name, const char *value);
    void *context;
};

static void tell_row(void *context, const char *const *values, uint32_t value_count)
{
    const struct told *told = context;
    if (value_count == 2)
        told->tell(told->context, values[0], values[1]);
}

static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    /* MariaDB tells defaults; elsewhere nothing is told. */
    static const char sql[] =
        "SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES WHERE "
        "GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'SQL') AND GLOBAL_VALUE <> DEFAULT_VALUE AND "
        "VARIABLE_TYPE <> 'VARCHAR' ORDER BY 1";
    struct rig_my_run *run = object;
    struct own_connection own;
    struct rig_err ignored = {.rc = RIG_OK};
    struct told told = {.tell = tell, .context = context};
    if (connect_own(&own, run, false, &ignored) == RIG_OK)
        (void)rig_my_query_rows(&own.connection, sql, own.deadline_ns, tell_row, &told, &ignored);
    rig_my_disconnect(&own.connection);
}

/* ---- programs ---- */

static enum rig_rc load_rows(void *object, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK)
        rc = rig_my_rows_load(&run->schema, &own.connection, own.deadline_ns, table, cells, row_count, err);
    rig_my_disconnect(&own.connection);
    return rc;
}

static enum rig_rc query_rows(void *object, const char *sql,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct own_connection own;
    enum rig_rc rc = connect_own(&own, run, false, err);
    if (rc == RIG_OK)
        rc = rig_my_rows_query(&run->schema, &own.connection, own.deadline_ns, sql, tell, context, err);
    rig_my_disconnect(&own.connection);
    return rc;
}

static const struct rig_row_ops row_ops = {
    .load = load_rows, .run_program = rig_my_session_run_program, .query = query_rows};

/* ---- cluster ---- */

static struct rig_my_cluster *cluster_of(void *object)
{
    return &((struct rig_my_run *)object)->cluster;
}

static enum rig_rc cluster_start(void *object, struct rig_err *err)
{
    return rig_my_cluster_start(cluster_of(object), err);
}

static void cluster_stop(void *object)
{
    rig_my_cluster_stop(cluster_of(object));
}

static void cluster_kill_now(void *object)
{
    rig_my_cluster_kill_now(cluster_of(object));
}

static uint32_t cluster_node_count(const void *object)
{
    return rig_my_servers_count(&((const struct rig_my_run *)object)->servers);
}

static enum rig_rc cluster_status(void *object, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    return rig_my_servers_status(&((struct rig_my_run *)object)->servers, node, status, err);
}

static enum rig_rc cluster_stop_node(void *object, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    return rig_my_cluster_stop_node(cluster_of(object), node, how, err);
}

static enum rig_rc cluster_start_node(void *object, uint32_t node, struct rig_err *err)
{
    return rig_my_cluster_start_node(cluster_of(object), node, err);
}

static enum rig_rc cluster_promote(void *object, uint32_t node, struct rig_err *err)
{
    return rig_my_cluster_promote(cluster_of(object), node, err);
}

static enum rig_rc cluster_restore(void *object, struct rig_err *err)
{
    return rig_my_cluster_restore(cluster_of(object), err);
}

static uint32_t cluster_processes(void *object, uint32_t node, pid_t *pids, uint32_t capacity)
{
    const struct rig_my_cluster *cluster = cluster_of(object);
    return node < cluster->count ? rig_child_processes(&cluster->nodes[node].local.server, pids, capacity) : 0;
}

static const char *cluster_data_dir(const void *object, uint32_t node)
{
    const struct rig_my_cluster *cluster = &((const struct rig_my_run *)object)->cluster;
    return node < cluster->count ? cluster->nodes[node].local.data : NULL;
}

static enum rig_rc cluster_address(void *object, uint32_t node, struct rig_node_address *address, struct rig_err *err)
{
    return rig_my_servers_address(&((struct rig_my_run *)object)->servers, node, address, err);
}

static enum rig_rc cluster_set_environment(void *object, uint32_t node, const char *name, const char *value,
                                           struct rig_err *err)
{
    struct rig_my_cluster *cluster = cluster_of(object);
    RIG_REQUIRE(node < rig_my_cluster_count(cluster)); /* perhaps before the start */
    return rig_local_node_set_variable(&cluster->nodes[node].local, name, value, err);
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
    .data_dir = cluster_data_dir,
    .set_environment = cluster_set_environment,
    .faults = rig_my_faults,
    .address = cluster_address,
};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "mysql",
    .summary =
        "MariaDB and MySQL, through libmariadb: servers that rig starts, also replicas or Galera, or existing ones",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_PREDICATE),
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_JOINS |
                RIG_DRIVER_PREFILLS,
    .options = rig_my_option_table,
    .options_size = sizeof(struct rig_my_options),
    .run_size = sizeof(struct rig_my_run),
    .session_size = sizeof(struct rig_my_session),
    .check = rig_my_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = teardown,
    .open = rig_my_session_open,
    .transact = rig_my_session_transact,
    .interrupt = rig_my_session_interrupt,
    .close = rig_my_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) |
               RIG_COLUMN_BIT(RIG_COLUMN_START_TS) | RIG_COLUMN_BIT(RIG_COLUMN_COMMIT_TS),
    .settings = settings,
    .cluster = &cluster_ops,
    .rows = &row_ops,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "binary log",
    .certify = certify,
};
