#include "drivers/sql/sql_cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"

static const int64_t status_ns = INT64_C(1000000000);

struct rig_local_node *rig_sql_cluster_node(const struct rig_sql_cluster *cluster, uint32_t index)
{
    RIG_REQUIRE(index < RIG_NODES_MOST);
    return (void *)((char *)cluster->nodes + index * cluster->node_bytes);
}

/* A node that was started; NULL: there is none. */
static struct rig_local_node *started_node(const void *run, uint32_t index)
{
    const struct rig_sql_cluster *cluster = ((const struct rig_sql_run *)run)->cluster;
    return index < cluster->count ? rig_sql_cluster_node(cluster, index) : NULL;
}

bool rig_sql_cluster_wanted(const void *options)
{
    return ((const struct rig_sql_options *)options)->hosts.count == 0;
}

uint32_t rig_sql_cluster_node_count(const void *run)
{
    return rig_sql_run_server_count(run);
}

void rig_sql_cluster_kill_now(void *run)
{
    const struct rig_sql_cluster *cluster = ((struct rig_sql_run *)run)->cluster;
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_kill_now(rig_sql_cluster_node(cluster, i));
}

uint32_t rig_sql_cluster_processes(void *run, uint32_t node, pid_t *pids, uint32_t capacity)
{
    struct rig_local_node *found = started_node(run, node);
    return found == NULL ? 0 : rig_child_processes(&found->server, pids, capacity);
}

const char *rig_sql_cluster_data_dir(const void *run, uint32_t node)
{
    const struct rig_local_node *found = started_node(run, node);
    return found == NULL ? NULL : found->data;
}

enum rig_rc rig_sql_cluster_set_environment(void *run, uint32_t node, const char *name, const char *value,
                                            struct rig_err *err)
{
    RIG_REQUIRE(node < rig_sql_run_server_count(run)); /* perhaps before the start */
    const struct rig_sql_cluster *cluster = ((struct rig_sql_run *)run)->cluster;
    return rig_local_node_set_variable(rig_sql_cluster_node(cluster, node), name, value, err);
}

/* ---- status ---- */

enum rig_rc rig_sql_cluster_status(void *object, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    struct rig_sql_run *run = object;
    struct rig_sql_own own;
    struct rig_err attempt = {.rc = RIG_OK};
    struct rig_node_status found = {.healthy = false};
    if (rig_sql_run_is_local(run))
        return run->client->nodes->status(run, node, status, err);
    if (node >= rig_sql_run_server_count(run))
        return rig_fail(err, RIG_E_CLUSTER, "there is no host %u", node + 1);
    (void)snprintf(found.name, sizeof found.name, "%s", rig_sql_run_server_name(run, node));
    const enum rig_rc rc = rig_sql_own_connect_to(&own, run, node, true, status_ns, &attempt);
    found.reachable = found.healthy = rc == RIG_OK;
    if (rc == RIG_OK)
        (void)snprintf(found.role, sizeof found.role, "%s",
                       own.connection->refuses_writes ? run->client->replica : "primary");
    else
        rig_sql_one_line(found.detail, sizeof found.detail, attempt.text);
    rig_sql_own_disconnect(&own);
    *status = found;
    return RIG_OK;
}

/* ---- addresses ---- */

enum rig_rc rig_sql_cluster_address(void *object, uint32_t node, struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_sql_run *run = object;
    const struct rig_sql_client *client = run->client;
    const bool local = rig_sql_run_is_local(run);
    struct rig_sql_endpoint endpoint = {.host = ""};
    struct rig_node_address found = {.host = ""};
    uint16_t port = 0;
    if (node >= (local ? run->cluster->count : rig_sql_run_server_count(run)))
        return rig_fail(err, RIG_E_CLUSTER, "there is no server %u", node + 1);
    if (local)
        port = client->nodes->socket(run, node, &endpoint);
    else
        endpoint = run->hosts.endpoints[node];
    const bool socket = endpoint.host[0] == '/';
    if (socket)
        (void)snprintf(found.socket, sizeof found.socket, "%s", endpoint.host);
    else
        (void)snprintf(found.host, sizeof found.host, "%s", endpoint.host);
    found.port = endpoint.port[0] != '\0' ? (uint16_t)strtoul(endpoint.port, NULL, 10)
                 : socket                 ? client->socket_port
                                          : client->default_port;
    if (port != 0) {
        (void)snprintf(found.host, sizeof found.host, "127.0.0.1");
        found.port = port;
    }
    *address = found;
    return RIG_OK;
}

/* ---- access ---- */

/* Adds the server as `database.cluster.hosts` writes it. */
static enum rig_rc add_host(void *run, uint32_t node, struct rig_buf *list, struct rig_err *err)
{
    struct rig_node_address address;
    const enum rig_rc rc = rig_sql_cluster_address(run, node, &address, err);
    if (rc != RIG_OK)
        return rc;
    if (address.host[0] != '\0')
        address.socket[0] = '\0';
    rig_buf_printf(list, "%s%s", list->size == 0 ? "" : ", ",
                   address.socket[0] != '\0' ? address.socket : address.host);
    if (address.port != 0)
        rig_buf_printf(list, ":%u", address.port);
    return RIG_OK;
}

static void tell_setting(const char *key, const char *before, const char *value, const char *after,
                         void (*tell)(void *context, const char *setting), void *context)
{
    struct rig_buf setting;
    if (value == NULL || value[0] == '\0')
        return;
    rig_buf_init(&setting, 0);
    rig_buf_printf(&setting, "database.%s=%s%s%s", key, before, value, after);
    tell(context, rig_buf_text(&setting));
    rig_buf_done(&setting);
}

enum rig_rc rig_sql_cluster_tell_access(void *object, const struct rig_sql_access *access,
                                        void (*tell)(void *context, const char *setting), void *context,
                                        struct rig_err *err)
{
    struct rig_sql_run *run = object;
    struct rig_buf hosts, readers;
    const uint32_t primary = run->client->nodes->primary(run);
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&hosts, 0);
    rig_buf_init(&readers, 0);
    for (uint32_t node = 0; rc == RIG_OK && node < run->cluster->count; node++)
        rc = add_host(run, node, access->all_write || node == primary ? &hosts : &readers, err);
    if (rc == RIG_OK && (hosts.failed || readers.failed))
        rc = rig_no_memory(err, "the servers' addresses");
    if (rc == RIG_OK) {
        tell_setting("cluster.hosts", "[", rig_buf_text(&hosts), "]", tell, context);
        tell_setting("cluster.read-only-hosts", "[", rig_buf_text(&readers), "]", tell, context);
        tell_setting("user", "", access->user, "", tell, context);
        tell_setting("password", "", access->password, "", tell, context);
        tell_setting("dbname", "", access->dbname, "", tell, context);
    }
    rig_buf_done(&hosts);
    rig_buf_done(&readers);
    return rc;
}
