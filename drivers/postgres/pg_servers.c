#include "drivers/postgres/pg_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

#define STATUS_NS INT64_C(1000000000)

enum { DEFAULT_PORT = 5432 }; /* libpq's, unless PGPORT is set */

enum rig_rc rig_pg_servers_init(struct rig_pg_servers *servers, const struct rig_run_env *env,
                                const struct rig_pg_options *options, struct rig_pg_cluster *cluster,
                                struct rig_err *err)
{
    *servers = (struct rig_pg_servers){.env = env, .options = options, .cluster = cluster};
    const enum rig_rc rc = rig_tls_options_find_files(&options->sql.tls, err);
    return rc != RIG_OK ? rc
                        : rig_sql_hosts_init(&servers->hosts, &options->sql.hosts, &options->sql.read_only_hosts, err);
}

void rig_pg_servers_done(struct rig_pg_servers *servers)
{
    rig_sql_hosts_done(&servers->hosts);
}

static bool is_local(const struct rig_pg_servers *servers)
{
    return rig_sql_hosts_count(&servers->hosts) == 0;
}

uint32_t rig_pg_servers_count(const struct rig_pg_servers *servers)
{
    return is_local(servers) ? rig_pg_cluster_count(servers->cluster) : rig_sql_hosts_count(&servers->hosts);
}

enum rig_rc rig_pg_servers_target(const struct rig_pg_servers *servers, uint32_t server,
                                  struct rig_sql_endpoint *endpoint, struct rig_pg_target *target, struct rig_err *err)
{
    const struct rig_pg_options *options = servers->options;
    enum rig_rc rc = RIG_OK;
    if (is_local(servers))
        rc = rig_pg_cluster_endpoint(servers->cluster, server, endpoint, err);
    else
        *endpoint = servers->hosts.endpoints[server];
    *target = (struct rig_pg_target){.endpoint = endpoint,
                                     .user = options->sql.user,
                                     .dbname = options->dbname,
                                     .password = options->sql.password,
                                     .conninfo = options->conninfo,
                                     .tls = rig_tls_is_required(&options->sql.tls) ? &options->sql.tls : NULL};
    if (is_local(servers))
        rig_pg_cluster_credentials(servers->cluster, target);
    return rc;
}

bool rig_pg_servers_are_own(const struct rig_pg_servers *servers, const struct rig_pg_target *target)
{
    return is_local(servers) && strcmp(target->user, RIG_PG_SUPERUSER) == 0;
}

const char *rig_pg_servers_name(const struct rig_pg_servers *servers, uint32_t server)
{
    RIG_REQUIRE(server < rig_pg_servers_count(servers));
    return is_local(servers) ? servers->cluster->nodes[server].local.name : rig_sql_hosts_name(&servers->hosts, server);
}

/* ---- choosing ---- */

/* The connection of a search. */
struct opening {
    const struct rig_pg_servers *servers;
    rig_pg_open_function open;
    void *context;
    struct rig_pg_connection *connection;
};

static enum rig_rc open_server(void *context, uint32_t server, int64_t deadline_ns, bool *refuses_writes,
                               struct rig_err *err)
{
    const struct opening *opening = context;
    const enum rig_rc rc = opening->open(opening->context, opening->connection, server, deadline_ns, err);
    const struct rig_pg_servers *servers = opening->servers;
    /* Asked once the connection knows its role: a session that is opened in between is refused. */
    *refuses_writes =
        opening->connection->standby || (is_local(servers) && rig_pg_cluster_holds_back(servers->cluster, server));
    return rc;
}

static void drop(void *context)
{
    rig_pg_disconnect(((const struct opening *)context)->connection);
}

static const char *name_of(void *context, uint32_t server)
{
    return rig_pg_servers_name(((const struct opening *)context)->servers, server);
}

static struct rig_sql_search search_with(struct opening *opening)
{
    return (struct rig_sql_search){.open = open_server, .drop = drop, .name = name_of, .context = opening};
}

enum rig_rc rig_pg_servers_open_writer(const struct rig_pg_servers *servers, uint32_t client, rig_pg_open_function open,
                                       void *context, struct rig_pg_connection *connection, uint32_t *server,
                                       struct rig_err *err)
{
    struct opening opening = {servers, open, context, connection};
    struct rig_sql_search search = search_with(&opening);
    search.count = is_local(servers) ? rig_pg_servers_count(servers) : (uint32_t)servers->options->sql.hosts.count;
    search.first = is_local(servers) ? rig_pg_cluster_primary(servers->cluster) : client % search.count;
    search.any_role = search.count == 1; /* there is no other: it rejects unsuitable transactions itself */
    return rig_sql_search_run(&search, servers->env->core, servers->options->sql.connect_timeout_ns, server, err);
}

enum rig_rc rig_pg_servers_open_reader(const struct rig_pg_servers *servers, uint32_t client, uint32_t writer,
                                       rig_pg_open_function open, void *context, struct rig_pg_connection *connection,
                                       uint32_t *server, struct rig_err *err)
{
    struct opening opening = {servers, open, context, connection};
    struct rig_sql_search search = search_with(&opening);
    const enum rig_sql_reads_from from = (enum rig_sql_reads_from)servers->options->sql.reads_from;
    *server = writer;
    if (!rig_sql_search_readers(&search, from, &servers->hosts, rig_pg_servers_count(servers), client, writer))
        return RIG_OK;
    return rig_sql_search_run(&search, servers->env->core, servers->options->sql.connect_timeout_ns, server, err);
}

/* ---- status ---- */

static enum rig_rc host_status(const struct rig_pg_servers *servers, uint32_t server, struct rig_node_status *status)
{
    const struct rig_core *core = servers->env->core;
    struct rig_sql_endpoint endpoint;
    struct rig_pg_target target;
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
    struct rig_err err = {.rc = RIG_OK};
    int64_t deadline_ns = core->now_ns() + STATUS_NS;
    enum rig_rc rc = rig_pg_servers_target(servers, server, &endpoint, &target, &err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_pg_connect(&connection, &target, &waiter, deadline_ns, &err);
    status->reachable = status->healthy = rc == RIG_OK;
    if (rc == RIG_OK)
        (void)snprintf(status->role, sizeof status->role, "%s",
                       rig_pg_in_recovery(&connection, deadline_ns) ? "standby" : "primary");
    else
        rig_pg_one_line(status->detail, sizeof status->detail, err.text);
    rig_pg_disconnect(&connection);
    return RIG_OK;
}

enum rig_rc rig_pg_servers_status(const struct rig_pg_servers *servers, uint32_t server, struct rig_node_status *status,
                                  struct rig_err *err)
{
    if (is_local(servers))
        return rig_pg_cluster_status(servers->cluster, server, status, err);
    if (server >= rig_pg_servers_count(servers))
        return rig_fail(err, RIG_E_CLUSTER, "there is no host %u", server + 1);
    struct rig_node_status found = {.healthy = false};
    (void)snprintf(found.name, sizeof found.name, "%s", rig_pg_servers_name(servers, server));
    enum rig_rc rc = host_status(servers, server, &found);
    if (rc == RIG_OK)
        *status = found;
    return rc;
}

/* ---- addresses ---- */

static struct rig_node_address address_of(const struct rig_sql_endpoint *endpoint)
{
    struct rig_node_address address = {.host = ""};
    if (endpoint->host[0] == '/')
        (void)snprintf(address.socket, sizeof address.socket, "%s", endpoint->host);
    else
        (void)snprintf(address.host, sizeof address.host, "%s", endpoint->host);
    address.port = endpoint->port[0] == '\0' ? DEFAULT_PORT : (uint16_t)strtoul(endpoint->port, NULL, 10);
    return address;
}

enum rig_rc rig_pg_servers_address(const struct rig_pg_servers *servers, uint32_t server,
                                   struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_pg_cluster *cluster = servers->cluster;
    if (server >= (is_local(servers) ? cluster->count : rig_pg_servers_count(servers)))
        return rig_fail(err, RIG_E_CLUSTER, "there is no server %u", server + 1);
    if (!is_local(servers)) {
        *address = address_of(&servers->hosts.endpoints[server]);
        return RIG_OK;
    }
    struct rig_sql_endpoint endpoint;
    rig_pg_node_socket(&cluster->nodes[server], &endpoint);
    struct rig_node_address found = address_of(&endpoint);
    if (cluster->site.tcp)
        (void)snprintf(found.host, sizeof found.host, "127.0.0.1");
    *address = found;
    return RIG_OK;
}
