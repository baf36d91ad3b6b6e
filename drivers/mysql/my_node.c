#include "drivers/mysql/my_node.h"

#include <stdio.h>
#include <string.h>

#include "drivers/local/local_machine.h"

#define SECOND_NS INT64_C(1000000000)

enum { PORT_TRIES = 5, PATH_BYTES = RIG_LOCAL_PATH_BYTES + 64 };

void rig_my_node_init(struct rig_my_node *node, struct rig_my_site *site, uint32_t index)
{
    rig_local_node_init(&node->local, &site->local, index);
    node->site = site;
    node->index = index;
    node->semi_sync = node->bootstraps = false;
    node->generation = 0;
    atomic_store(&node->writable, index == 0 || rig_my_site_is_galera(site));
    for (int i = 0; i < RIG_MY_PORTS; i++)
        atomic_store(&node->ports[i], 0);
}

uint16_t rig_my_node_port(const struct rig_my_node *node, enum rig_my_port which)
{
    return (uint16_t)atomic_load(&node->ports[which]);
}

/* ---- requests ---- */

void rig_my_node_socket(const struct rig_my_node *node, struct rig_sql_endpoint *endpoint)
{
    *endpoint = (struct rig_sql_endpoint){{0}, {0}};
    (void)snprintf(endpoint->host, sizeof endpoint->host, "%s/%s.sock", node->site->local.folder, node->local.name);
}

enum rig_rc rig_my_node_connect(const struct rig_my_node *node, struct rig_my_connection *connection,
                                struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_endpoint endpoint;
    rig_my_node_socket(node, &endpoint);
    const struct rig_my_target target = {.endpoint = &endpoint, .user = "root"};
    return rig_my_connect(connection, &target, waiter, deadline_ns, err);
}

enum rig_rc rig_my_node_ask(const struct rig_my_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    struct rig_my_connection connection;
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
    const int64_t deadline_ns = core->now_ns() + timeout_ns;
    enum rig_rc rc = rig_my_node_connect(node, &connection, &waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_query(&connection, sql, deadline_ns, answer, err);
    rig_my_disconnect(&connection);
    return rc;
}

/* ---- starting ---- */

enum rig_rc rig_my_node_choose_ports(struct rig_my_node *node, bool another, struct rig_err *err)
{
    uint16_t ports[RIG_MY_PORTS];
    if (!another && atomic_load(&node->ports[0]) != 0)
        return RIG_OK;
    enum rig_rc rc = rig_local_free_ports(ports, RIG_MY_PORTS, err);
    for (int i = 0; rc == RIG_OK && i < RIG_MY_PORTS; i++)
        atomic_store(&node->ports[i], ports[i]);
    return rc;
}

enum rig_rc rig_my_node_launch(struct rig_my_node *node, struct rig_err *err)
{
    char path[PATH_BYTES];
    char file[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s.cnf", node->site->local.folder, node->local.name);
    (void)snprintf(file, sizeof file, "--defaults-file=%s", path);
    enum rig_rc rc = rig_my_configuration_write(node, path, err);
    /* MySQL's package has the libraries that it needs. */
    char libraries[RIG_MY_PROGRAM_BYTES + 8];
    (void)snprintf(libraries, sizeof libraries, "%s/lib", node->site->root);
    if (rc == RIG_OK && node->site->root[0] != '\0')
        rc = rig_local_node_set_variable(&node->local, "LD_LIBRARY_PATH", libraries, err);
    const char *const arguments[] = {node->site->server, file, node->bootstraps ? "--wsrep-new-cluster" : NULL, NULL};
    return rc != RIG_OK ? rc : rig_local_node_launch(&node->local, arguments, node->site->local.folder, err);
}

/* A Galera node answers before it has the group's data; statements are refused until then. */
static bool answers(void *context, struct rig_err *why)
{
    const struct rig_my_node *node = context;
    char ready[RIG_MY_ANSWER_BYTES];
    if (!rig_my_site_is_galera(node->site))
        return rig_my_node_ask(node, "SELECT 1", SECOND_NS, NULL, why) == RIG_OK;
    static const char sql[] = "SELECT IF(SUM(VARIABLE_VALUE IN ('ON', 'Synced')) = 2, 'ready', 'not ready') FROM "
                              "information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('wsrep_ready', "
                              "'wsrep_local_state_comment')";
    if (rig_my_node_ask(node, sql, SECOND_NS, ready, why) != RIG_OK)
        return false;
    if (strcmp(ready, "ready") == 0)
        return true;
    (void)rig_fail(why, RIG_E_CLUSTER, "it has not joined the group");
    return false;
}

static enum rig_rc await_answer(struct rig_my_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_local_wait wait = {
        .answers = answers, .context = node, .always = always, .deadline_ns = deadline_ns};
    return rig_local_node_await(&node->local, &wait, err);
}

enum rig_rc rig_my_node_start(struct rig_my_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    if (rig_local_node_runs(&node->local))
        return await_answer(node, always, deadline_ns, err);
    /* Removes the remains of a server that ended by itself. */
    enum rig_rc rc = rig_my_node_stop(node, RIG_NODE_KILL, err);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {.rc = RIG_OK};
        /* The members of a Galera cluster know each other's ports. */
        rc = rig_my_node_choose_ports(node, tries > 1 && !rig_my_site_is_galera(node->site), &attempt);
        if (rc == RIG_OK)
            rc = rig_my_node_launch(node, &attempt);
        if (rc == RIG_OK)
            rc = await_answer(node, always, deadline_ns, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        (void)rig_my_node_stop(node, RIG_NODE_KILL, err);
        if (tries == PORT_TRIES || !rig_local_port_was_taken(&attempt))
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    return rc;
}

enum rig_rc rig_my_node_stop(struct rig_my_node *node, enum rig_node_end how, struct rig_err *err)
{
    return rig_local_node_stop(&node->local, how, node->site->options->sql.stop_timeout_ns, err);
}
