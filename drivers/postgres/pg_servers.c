#include "drivers/postgres/pg_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"

#define STATUS_NS INT64_C(1000000000)

enum { DEFAULT_PORT = 5432 }; /* libpq's, unless PGPORT is set */

enum rig_rc rig_pg_servers_init(struct rig_pg_servers *servers, const struct rig_run_env *env,
                                const struct rig_pg_options *options, struct rig_pg_cluster *cluster,
                                struct rig_err *err)
{
    const struct rig_text_list *lists[] = {&options->hosts, &options->read_only_hosts};
    size_t count = lists[0]->count + lists[1]->count;
    *servers = (struct rig_pg_servers){.env = env, .options = options, .cluster = cluster};
    if (count == 0)
        return RIG_OK;
    servers->endpoints = calloc(count, sizeof *servers->endpoints);
    if (servers->endpoints == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%zu endpoint%s", count, rig_plural(count));
    struct rig_sql_endpoint *endpoint = servers->endpoints;
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            if (!rig_sql_endpoint_parse(lists[list]->at[i], endpoint++))
                return rig_fail(err, RIG_E_PLAN, "`%s` is not a server", lists[list]->at[i]);
        }
    }
    servers->host_count = (uint32_t)lists[0]->count;
    servers->read_only_host_count = (uint32_t)lists[1]->count;
    return RIG_OK;
}

void rig_pg_servers_done(struct rig_pg_servers *servers)
{
    free(servers->endpoints);
    servers->endpoints = NULL;
}

static bool is_local(const struct rig_pg_servers *servers)
{
    return servers->host_count == 0;
}

uint32_t rig_pg_servers_count(const struct rig_pg_servers *servers)
{
    return is_local(servers) ? rig_pg_cluster_count(servers->cluster)
                             : servers->host_count + servers->read_only_host_count;
}

enum rig_rc rig_pg_servers_target(const struct rig_pg_servers *servers, uint32_t server,
                                  struct rig_sql_endpoint *endpoint, struct rig_pg_target *target, struct rig_err *err)
{
    const struct rig_pg_options *options = servers->options;
    enum rig_rc rc = RIG_OK;
    if (is_local(servers))
        rc = rig_pg_cluster_endpoint(servers->cluster, server, endpoint, err);
    else
        *endpoint = servers->endpoints[server];
    *target = (struct rig_pg_target){.endpoint = endpoint,
                                     .user = options->user,
                                     .dbname = options->dbname,
                                     .password = options->password,
                                     .conninfo = options->conninfo};
    if (is_local(servers))
        rig_pg_cluster_credentials(servers->cluster, target);
    return rc;
}

const char *rig_pg_servers_name(const struct rig_pg_servers *servers, uint32_t server)
{
    const struct rig_pg_options *options = servers->options;
    RIG_REQUIRE(server < rig_pg_servers_count(servers));
    if (is_local(servers))
        return servers->cluster->nodes[server].local.name;
    return server < servers->host_count ? options->hosts.at[server]
                                        : options->read_only_hosts.at[server - servers->host_count];
}

/* ---- choosing ---- */

/* A search over servers `first`, first + 1, ... in a circle of `count` from `base`. */
struct search {
    const struct rig_pg_servers *servers;
    uint32_t base;
    uint32_t count;
    uint32_t first;
    bool want_standby;
    bool any_role;
    rig_pg_open_function open;
    void *context;
};

/* `misfit`: it answers, in another role than the requested one. */
static enum rig_rc try_server(const struct search *search, uint32_t server, int64_t deadline_ns,
                              struct rig_pg_connection *connection, struct rig_err *misfit, struct rig_err *err)
{
    enum rig_rc rc = search->open(search->context, connection, server, deadline_ns, err);
    if (rc == RIG_OK && !search->any_role && connection->standby != search->want_standby)
        rc =
            rig_fail(misfit, RIG_E_CLUSTER, "PostgreSQL at %s:%s is %s", PQhost(connection->pg), PQport(connection->pg),
                     connection->standby ? "a standby, which refuses writes" : "not a standby");
    if (rc != RIG_OK)
        rig_pg_disconnect(connection);
    return rc;
}

static enum rig_rc find_server(const struct search *search, struct rig_pg_connection *connection, uint32_t *server,
                               struct rig_err *err)
{
    const struct rig_core *core = search->servers->env->core;
    int64_t deadline_ns = core->now_ns() + search->servers->options->connect_timeout_ns;
    struct rig_err problem = {.rc = RIG_OK};
    struct rig_err misfit = {.rc = RIG_OK};
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t candidate = search->base + (search->first + i) % search->count;
        /* A server that does not answer uses up its own share of the time, not that of the others. */
        int64_t now_ns = core->now_ns();
        int64_t share_ns = (deadline_ns - now_ns) / (int64_t)(search->count - i);
        enum rig_rc rc = try_server(search, candidate, now_ns + share_ns, connection, &misfit, &problem);
        if (rc == RIG_OK) {
            *server = candidate;
            return RIG_OK;
        }
        if (core->stopping())
            break;
    }
    /* The first of many reasons; a wrong role counts least. */
    const struct rig_err *why = problem.rc != RIG_OK ? &problem : &misfit;
    return rig_fail(err, why->rc, "%s", why->text);
}

enum rig_rc rig_pg_servers_open_writer(const struct rig_pg_servers *servers, uint32_t client, rig_pg_open_function open,
                                       void *context, struct rig_pg_connection *connection, uint32_t *server,
                                       struct rig_err *err)
{
    uint32_t count = is_local(servers) ? rig_pg_servers_count(servers) : servers->host_count;
    const struct search search = {
        .servers = servers,
        .count = count,
        .first = is_local(servers) ? rig_pg_cluster_primary(servers->cluster) : client % count,
        .any_role = count == 1, /* there is no other: it rejects unsuitable transactions itself */
        .open = open,
        .context = context,
    };
    return find_server(&search, connection, server, err);
}

enum rig_rc rig_pg_servers_open_reader(const struct rig_pg_servers *servers, uint32_t client, uint32_t writer,
                                       rig_pg_open_function open, void *context, struct rig_pg_connection *connection,
                                       uint32_t *server, struct rig_err *err)
{
    struct search search = {.servers = servers, .open = open, .context = context, .want_standby = true};
    enum rig_pg_reads_from from = (enum rig_pg_reads_from)servers->options->reads_from;
    *server = writer;
    if (from == RIG_PG_READS_AUTO && servers->read_only_host_count > 0) {
        search.base = servers->host_count;
        search.count = servers->read_only_host_count;
        search.any_role = true;
    } else if (from == RIG_PG_READS_STANDBY || from == RIG_PG_READS_ANY) {
        search.count = rig_pg_servers_count(servers);
        search.any_role = from == RIG_PG_READS_ANY;
    } else {
        return RIG_OK;
    }
    search.first = client % search.count;
    if (from == RIG_PG_READS_ANY && search.first == writer)
        return RIG_OK;
    return find_server(&search, connection, server, err);
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
        *address = address_of(&servers->endpoints[server]);
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
