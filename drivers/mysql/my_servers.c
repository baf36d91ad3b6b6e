#include "drivers/mysql/my_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

#define STATUS_NS INT64_C(1000000000)

enum { DEFAULT_PORT = 3306 };

enum rig_rc rig_my_servers_init(struct rig_my_servers *servers, const struct rig_run_env *env,
                                const struct rig_my_options *options, struct rig_my_cluster *cluster,
                                struct rig_err *err)
{
    const struct rig_text_list *lists[] = {&options->hosts, &options->read_only_hosts};
    const size_t count = lists[0]->count + lists[1]->count;
    *servers = (struct rig_my_servers){.env = env, .options = options, .cluster = cluster};
    if (count == 0)
        return RIG_OK;
    servers->endpoints = calloc(count, sizeof *servers->endpoints);
    if (servers->endpoints == NULL)
        return rig_no_memory(err, "the hosts");
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

void rig_my_servers_done(struct rig_my_servers *servers)
{
    free(servers->endpoints);
    servers->endpoints = NULL;
}

static bool is_local(const struct rig_my_servers *servers)
{
    return servers->host_count == 0;
}

uint32_t rig_my_servers_count(const struct rig_my_servers *servers)
{
    return is_local(servers) ? rig_my_cluster_count(servers->cluster)
                             : servers->host_count + servers->read_only_host_count;
}

const char *rig_my_servers_name(const struct rig_my_servers *servers, uint32_t server)
{
    const struct rig_my_options *options = servers->options;
    RIG_REQUIRE(server < rig_my_servers_count(servers));
    if (is_local(servers))
        return servers->cluster->nodes[server].local.name;
    return server < servers->host_count ? options->hosts.at[server]
                                        : options->read_only_hosts.at[server - servers->host_count];
}

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

enum rig_rc rig_my_servers_connect(const struct rig_my_servers *servers, uint32_t server, struct rig_sql_waiter *waiter,
                                   int64_t deadline_ns, struct rig_my_connection *connection, struct rig_err *err)
{
    const struct rig_my_options *options = servers->options;
    struct rig_sql_endpoint endpoint;
    struct rig_my_target target = {.endpoint = &endpoint,
                                   .user = given(options->user) ? options->user : "root",
                                   .password = options->password,
                                   .tls = options->tls,
                                   .max_answer_bytes = options->max_answer_bytes,
                                   .found_rows = servers->env->rows != NULL};
    enum rig_rc rc = RIG_OK;
    char answer[RIG_MY_ANSWER_BYTES];
    *connection = (struct rig_my_connection){.my = NULL};
    if (is_local(servers)) {
        /* Its password is rig's own, also where the plan names it. */
        const bool own = !given(options->user) || strcmp(options->user, RIG_MY_CLIENT) == 0;
        target.user = own ? RIG_MY_CLIENT : options->user;
        target.password = own ? servers->cluster->site.password : options->password;
        target.tls = false;
        rc = rig_my_cluster_endpoint(servers->cluster, server, &endpoint, err);
    } else {
        endpoint = servers->endpoints[server];
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

/* A search over servers `first`, first + 1, ... in a circle of `count` from `base`. */
struct search {
    const struct rig_my_servers *servers;
    uint32_t base;
    uint32_t count;
    uint32_t first;
    bool want_read_only;
    bool any_role;
    rig_my_open_function open;
    void *context;
};

/* `misfit`: it answers, in another role than the requested one. */
static enum rig_rc try_server(const struct search *search, uint32_t server, int64_t deadline_ns,
                              struct rig_my_connection *connection, struct rig_err *misfit, struct rig_err *err)
{
    enum rig_rc rc = search->open(search->context, connection, server, deadline_ns, err);
    if (rc == RIG_OK && !search->any_role && connection->read_only != search->want_read_only)
        rc = rig_fail(misfit, RIG_E_CLUSTER, "%s %s", rig_my_servers_name(search->servers, server),
                      connection->read_only ? "is read-only" : "is not a replica");
    if (rc != RIG_OK)
        rig_my_disconnect(connection);
    return rc;
}

static enum rig_rc find_server(const struct search *search, struct rig_my_connection *connection, uint32_t *server,
                               struct rig_err *err)
{
    const struct rig_core *core = search->servers->env->core;
    const int64_t deadline_ns = core->now_ns() + search->servers->options->connect_timeout_ns;
    struct rig_err problem = {.rc = RIG_OK};
    struct rig_err misfit = {.rc = RIG_OK};
    for (uint32_t i = 0; i < search->count; i++) {
        const uint32_t candidate = search->base + (search->first + i) % search->count;
        /* A server that does not answer uses up its own share of the time, not that of the others. */
        const int64_t now_ns = core->now_ns();
        const int64_t share_ns = (deadline_ns - now_ns) / (int64_t)(search->count - i);
        if (try_server(search, candidate, now_ns + share_ns, connection, &misfit, &problem) == RIG_OK) {
            *server = candidate;
            return RIG_OK;
        }
        if (core->stopping())
            break;
    }
    /* The first of many reasons; a wrong role counts least. */
    const struct rig_err *why = problem.rc != RIG_OK ? &problem : &misfit;
    return rig_fail(err, RIG_E_CLUSTER, "%s%s", why->text, search->count > 1 ? "; no other server fits either" : "");
}

enum rig_rc rig_my_servers_open_writer(const struct rig_my_servers *servers, uint32_t client, rig_my_open_function open,
                                       void *context, struct rig_my_connection *connection, uint32_t *server,
                                       struct rig_err *err)
{
    const bool local = is_local(servers);
    const bool equal = !local || rig_my_site_is_galera(&servers->cluster->site);
    struct search search = {.servers = servers,
                            .count = local ? rig_my_servers_count(servers) : servers->host_count,
                            .open = open,
                            .context = context};
    search.first = equal ? client % search.count : rig_my_cluster_primary(servers->cluster);
    return find_server(&search, connection, server, err);
}

enum rig_rc rig_my_servers_open_reader(const struct rig_my_servers *servers, uint32_t client, uint32_t writer,
                                       rig_my_open_function open, void *context, struct rig_my_connection *connection,
                                       uint32_t *server, struct rig_err *err)
{
    struct search search = {.servers = servers, .open = open, .context = context, .want_read_only = true};
    const enum rig_my_reads_from from = (enum rig_my_reads_from)servers->options->reads_from;
    *server = writer;
    if (from == RIG_MY_READS_AUTO && servers->read_only_host_count > 0) {
        search.base = servers->host_count;
        search.count = servers->read_only_host_count;
        search.any_role = true;
    } else if (from == RIG_MY_READS_REPLICA || from == RIG_MY_READS_ANY) {
        search.count = rig_my_servers_count(servers);
        search.any_role = from == RIG_MY_READS_ANY;
    } else {
        return RIG_OK;
    }
    search.first = client % search.count;
    if (from == RIG_MY_READS_ANY && search.first == writer)
        return RIG_OK;
    return find_server(&search, connection, server, err);
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
        endpoint = servers->endpoints[server];
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
