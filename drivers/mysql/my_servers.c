#include "drivers/mysql/my_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/mysql/my_tls.h"

#define STATUS_NS INT64_C(1000000000)

enum { DEFAULT_PORT = 3306 };

enum rig_rc rig_my_servers_init(struct rig_my_servers *servers, const struct rig_run_env *env,
                                const struct rig_my_options *options, struct rig_my_cluster *cluster,
                                struct rig_err *err)
{
    *servers = (struct rig_my_servers){.env = env, .options = options, .cluster = cluster};
    enum rig_rc rc = rig_tls_options_find_files(&options->sql.tls, err);
    if (rc == RIG_OK && rig_tls_is_required(&options->sql.tls))
        rc = rig_my_tls_watch(err);
    return rc != RIG_OK ? rc
                        : rig_sql_hosts_init(&servers->hosts, &options->sql.hosts, &options->sql.read_only_hosts, err);
}

void rig_my_servers_done(struct rig_my_servers *servers)
{
    rig_sql_hosts_done(&servers->hosts);
}

static bool is_local(const struct rig_my_servers *servers)
{
    return rig_sql_hosts_count(&servers->hosts) == 0;
}

uint32_t rig_my_servers_count(const struct rig_my_servers *servers)
{
    return is_local(servers) ? rig_my_cluster_count(servers->cluster) : rig_sql_hosts_count(&servers->hosts);
}

const char *rig_my_servers_name(const struct rig_my_servers *servers, uint32_t server)
{
    RIG_REQUIRE(server < rig_my_servers_count(servers));
    return is_local(servers) ? servers->cluster->nodes[server].local.name : rig_sql_hosts_name(&servers->hosts, server);
}

enum rig_rc rig_my_servers_connect(const struct rig_my_servers *servers, uint32_t server, struct rig_sql_waiter *waiter,
                                   int64_t deadline_ns, struct rig_my_connection *connection, struct rig_err *err)
{
    const struct rig_my_options *options = servers->options;
    struct rig_sql_endpoint endpoint;
    struct rig_my_target target = {.endpoint = &endpoint,
                                   .user = rig_sql_given(options->sql.user) ? options->sql.user : "root",
                                   .password = options->sql.password,
                                   .tls = rig_tls_is_required(&options->sql.tls) ? &options->sql.tls : NULL,
                                   .max_answer_bytes = options->sql.max_answer_bytes,
                                   .found_rows = servers->env->rows != NULL};
    enum rig_rc rc = RIG_OK;
    char answer[RIG_MY_ANSWER_BYTES];
    *connection = (struct rig_my_connection){.my = NULL};
    if (is_local(servers)) {
        /* Its password is rig's own, also where the plan names it. */
        const bool own = !rig_sql_given(options->sql.user) || strcmp(options->sql.user, RIG_MY_CLIENT) == 0;
        target.user = own ? RIG_MY_CLIENT : options->sql.user;
        target.password = own ? servers->cluster->site.password : options->sql.password;
        target.tls = NULL;
        rc = rig_my_cluster_endpoint(servers->cluster, server, &endpoint, err);
    } else {
        endpoint = servers->hosts.endpoints[server];
        if (endpoint.host[0] != '/' && endpoint.port[0] == '\0')
            (void)snprintf(endpoint.port, sizeof endpoint.port, "%d", DEFAULT_PORT);
    }
    if (rc == RIG_OK)
        rc = rig_my_connect(connection, &target, waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_query(connection, "SELECT @@global.read_only", deadline_ns, answer, err);
    if (rc == RIG_OK)
        connection->read_only = strcmp(answer, "0") != 0;
    return rc;
}

/* ---- choosing ---- */

/* The connection of a search. */
struct opening {
    const struct rig_my_servers *servers;
    rig_my_open_function open;
    void *context;
    struct rig_my_connection *connection;
};

static enum rig_rc open_server(void *context, uint32_t server, int64_t deadline_ns, bool *refuses_writes,
                               struct rig_err *err)
{
    const struct opening *opening = context;
    const enum rig_rc rc = opening->open(opening->context, opening->connection, server, deadline_ns, err);
    *refuses_writes = opening->connection->read_only;
    return rc;
}

static void drop(void *context)
{
    rig_my_disconnect(((const struct opening *)context)->connection);
}

static const char *name_of(void *context, uint32_t server)
{
    return rig_my_servers_name(((const struct opening *)context)->servers, server);
}

static struct rig_sql_search search_with(struct opening *opening)
{
    return (struct rig_sql_search){.open = open_server, .drop = drop, .name = name_of, .context = opening};
}

enum rig_rc rig_my_servers_open_writer(const struct rig_my_servers *servers, uint32_t client, rig_my_open_function open,
                                       void *context, struct rig_my_connection *connection, uint32_t *server,
                                       struct rig_err *err)
{
    const bool local = is_local(servers);
    const bool equal = !local || rig_my_site_is_galera(&servers->cluster->site);
    struct opening opening = {servers, open, context, connection};
    struct rig_sql_search search = search_with(&opening);
    search.count = local ? rig_my_servers_count(servers) : (uint32_t)servers->options->sql.hosts.count;
    search.first = equal ? client % search.count : rig_my_cluster_primary(servers->cluster);
    return rig_sql_search_run(&search, servers->env->core, servers->options->sql.connect_timeout_ns, server, err);
}

enum rig_rc rig_my_servers_open_reader(const struct rig_my_servers *servers, uint32_t client, uint32_t writer,
                                       rig_my_open_function open, void *context, struct rig_my_connection *connection,
                                       uint32_t *server, struct rig_err *err)
{
    struct opening opening = {servers, open, context, connection};
    struct rig_sql_search search = search_with(&opening);
    const enum rig_sql_reads_from from = (enum rig_sql_reads_from)servers->options->sql.reads_from;
    *server = writer;
    if (!rig_sql_search_readers(&search, from, &servers->hosts, rig_my_servers_count(servers), client, writer))
        return RIG_OK;
    return rig_sql_search_run(&search, servers->env->core, servers->options->sql.connect_timeout_ns, server, err);
}

/* ---- status ---- */

enum rig_rc rig_my_servers_status(const struct rig_my_servers *servers, uint32_t server, struct rig_node_status *status,
                                  struct rig_err *err)
{
    if (is_local(servers))
        return rig_my_cluster_status(servers->cluster, server, status, err);
    if (server >= rig_my_servers_count(servers))
        return rig_fail(err, RIG_E_CLUSTER, "there is no host %u", server + 1);
    const struct rig_core *core = servers->env->core;
    struct rig_node_status found = {.healthy = false};
    struct rig_my_connection connection;
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
    struct rig_err attempt = {.rc = RIG_OK};
    (void)snprintf(found.name, sizeof found.name, "%s", rig_my_servers_name(servers, server));
    const enum rig_rc rc =
        rig_my_servers_connect(servers, server, &waiter, core->now_ns() + STATUS_NS, &connection, &attempt);
    found.reachable = found.healthy = rc == RIG_OK;
    if (rc == RIG_OK)
        (void)snprintf(found.role, sizeof found.role, "%s", connection.read_only ? "replica" : "primary");
    else
        (void)snprintf(found.detail, sizeof found.detail, "%.*s", (int)sizeof found.detail - 1, attempt.text);
    rig_my_disconnect(&connection);
    *status = found;
    return RIG_OK;
}

/* ---- addresses ---- */

enum rig_rc rig_my_servers_address(const struct rig_my_servers *servers, uint32_t server,
                                   struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_my_cluster *cluster = servers->cluster;
    struct rig_node_address found = {.host = ""};
    struct rig_sql_endpoint endpoint;
    if (server >= (is_local(servers) ? cluster->count : rig_my_servers_count(servers)))
        return rig_fail(err, RIG_E_CLUSTER, "there is no server %u", server + 1);
    if (is_local(servers))
        rig_my_node_socket(&cluster->nodes[server], &endpoint);
    else
        endpoint = servers->hosts.endpoints[server];
    if (endpoint.host[0] == '/') {
        (void)snprintf(found.socket, sizeof found.socket, "%s", endpoint.host);
    } else {
        (void)snprintf(found.host, sizeof found.host, "%s", endpoint.host);
        found.port = endpoint.port[0] == '\0' ? DEFAULT_PORT : (uint16_t)strtoul(endpoint.port, NULL, 10);
    }
    if (is_local(servers) && (cluster->site.tcp || cluster->count > 1)) {
        (void)snprintf(found.host, sizeof found.host, "127.0.0.1");
        found.port = rig_my_node_port(&cluster->nodes[server], RIG_MY_PORT_SQL);
    }
    *address = found;
    return RIG_OK;
}
