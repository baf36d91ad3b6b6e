/*
 * The driver's entry: its table for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_session.h"

static enum rig_rc check(const void *options, enum rig_workload workload, struct rig_err *err)
{
    return rig_pg_options_check(options, workload, err);
}

static enum rig_rc init_endpoints(struct rig_pg_run *run, struct rig_err *err)
{
    const struct rig_text_list *lists[] = {&run->options->hosts, &run->options->read_only_hosts};
    size_t count = lists[0]->count + lists[1]->count;
    if (count == 0)
        return RIG_OK;
    run->endpoints = calloc(count, sizeof *run->endpoints);
    if (run->endpoints == NULL)
        return rig_fail(err, RIG_E_LIMIT, "out of memory for %zu endpoints", count);
    struct rig_pg_endpoint *endpoint = run->endpoints;
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            if (!rig_pg_endpoint_parse(lists[list]->at[i], endpoint++))
                return rig_fail(err, RIG_E_PLAN, "`%s` is no server", lists[list]->at[i]);
        }
    }
    run->host_count = lists[0]->count;
    run->read_only_host_count = lists[1]->count;
    return RIG_OK;
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    run->env = env;
    run->options = env->options;
    rig_pg_wakes_init(&run->wakes);
    rig_pg_cluster_init(&run->cluster, env, run->options);
    if (PQisthreadsafe() == 0)
        return rig_fail(err, RIG_E_DRIVER, "this libpq was built without threads");
    enum rig_rc rc = init_endpoints(run, err);
    return rc != RIG_OK ? rc : rig_pg_schema_init(&run->schema, run->options, env->workload, err);
}

static void done(void *object)
{
    struct rig_pg_run *run = object;
    if (run->env == NULL)
        return;
    rig_pg_schema_done(&run->schema);
    rig_pg_wakes_done(&run->wakes);
    rig_pg_cluster_done(&run->cluster);
    free(run->endpoints);
    run->endpoints = NULL;
    run->env = NULL;
}

/* Connects to the first host for the run's own needs; disconnect it in any case. */
static enum rig_rc connect_for_run(struct rig_pg_run *run, struct rig_pg_connection *connection,
                                   struct rig_pg_waiter *waiter, int64_t *deadline_ns, struct rig_err *err)
{
    *deadline_ns = run->env->core->now_ns() + run->options->connect_timeout_ns;
    struct rig_pg_target target = rig_pg_run_target(run, rig_pg_run_primary(run));
    enum rig_rc rc = rig_pg_connect(connection, &target, waiter, *deadline_ns, err);
    *deadline_ns = run->env->core->now_ns() + run->options->transaction_timeout_ns;
    return rc;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct rig_pg_connection connection;
    struct rig_pg_waiter waiter = {.core = run->env->core};
    int64_t deadline_ns;
    enum rig_rc rc = connect_for_run(run, &connection, &waiter, &deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_schema_create(&run->schema, &connection, deadline_ns, err);
    if (rc == RIG_OK) {
        const char *version = PQparameterStatus(connection.pg, "server_version");
        rig_pg_one_line(run->server_version, sizeof run->server_version, version);
        run->server_version[strcspn(run->server_version, " ")] = '\0';
    }
    rig_pg_disconnect(&connection);
    return rc;
}

static void teardown(void *object)
{
    struct rig_pg_run *run = object;
    /* rig's own cluster goes as a whole. */
    if (run->options->keep_tables || run->options->hosts.count == 0)
        return;
    struct rig_pg_connection connection;
    struct rig_pg_waiter waiter = {.core = run->env->core, .to_the_end = true};
    int64_t deadline_ns;
    struct rig_err err = {.rc = RIG_OK};
    enum rig_rc rc = connect_for_run(run, &connection, &waiter, &deadline_ns, &err);
    if (rc == RIG_OK)
        rc = rig_pg_schema_drop(&run->schema, &connection, deadline_ns, &err);
    rig_pg_disconnect(&connection);
    if (rc != RIG_OK)
        run->env->core->log(1, "postgres", "the run's tables were left behind: %s", err.text);
}

static enum rig_rc open_session(void *session, void *run, uint32_t client, struct rig_err *err)
{
    return rig_pg_session_open(session, run, client, err);
}

static enum rig_outcome transact(void *session, struct rig_transaction *transaction)
{
    return rig_pg_session_transact(session, transaction);
}

static void interrupt(void *session)
{
    rig_pg_session_interrupt(session);
}

static void close_session(void *session, bool last)
{
    (void)last;
    rig_pg_session_close(session);
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_pg_run *run = object;
    (void)snprintf(text, size, "PostgreSQL%s%s", run->server_version[0] == '\0' ? "" : " ", run->server_version);
}

/* ---- cluster ---- */

static bool cluster_wanted(const void *options)
{
    return ((const struct rig_pg_options *)options)->hosts.count == 0;
}

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
    (void)object;
    return 1;
}

static enum rig_rc cluster_status(void *object, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    if (node != 0)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node);
    return rig_pg_cluster_status(&run->cluster, status, err);
}

static const struct rig_cluster_ops cluster_ops = {
    .wanted = cluster_wanted,
    .start = cluster_start,
    .stop = cluster_stop,
    .kill_now = cluster_kill_now,
    .node_count = cluster_node_count,
    .status = cluster_status,
};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "postgres",
    .summary = "PostgreSQL, by libpq: a server that rig starts, or given ones",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_RW_REGISTER),
    .features = RIG_DRIVER_HOLDS,
    .options = rig_pg_option_table,
    .options_size = sizeof(struct rig_pg_options),
    .run_size = sizeof(struct rig_pg_run),
    .session_size = sizeof(struct rig_pg_session),
    .check = check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = teardown,
    .open = open_session,
    .transact = transact,
    .interrupt = interrupt,
    .close = close_session,
    .describe = describe,
    .cluster = &cluster_ops,
};
