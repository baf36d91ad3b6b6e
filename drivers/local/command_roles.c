/*
 * Roles of nodes by commands of the plan: what a node is, and how another one becomes the primary.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "drivers/local/command_cluster.h"
#include "drivers/local/command_launch.h"

/* A command is a process, or several, which a busy machine starts slowly. */
static const int64_t ask_ns = 2 * RIG_NS_PER_S;
static const int64_t step_ns = 20 * RIG_NS_PER_MS;

static bool is_primary(const char *role)
{
    return strcmp(role, "primary") == 0 || strcmp(role, "master") == 0 || strcmp(role, "leader") == 0;
}

/* The word that its command prints; empty when it does not answer. */
static void ask_role(struct rig_command_cluster *cluster, uint32_t node, int64_t deadline_ns, char *role, size_t size,
                     struct rig_err *why)
{
    char line[128] = "";
    role[0] = '\0';
    if (rig_command_ask(cluster, node, &cluster->options->roles, deadline_ns, line, sizeof line, why) != RIG_OK)
        return;
    const size_t skipped = strspn(line, " \t");
    const size_t length = strcspn(line + skipped, " \t");
    (void)snprintf(role, size, "%.*s", (int)length, line + skipped);
}

enum rig_rc rig_command_cluster_status(struct rig_command_cluster *cluster, uint32_t node,
                                       struct rig_node_status *status, struct rig_err *err)
{
    if (node >= cluster->count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node + 1);
    const struct rig_command_node *of = &cluster->nodes[node];
    const bool has_roles = cluster->options->roles.count > 0;
    const int64_t deadline_ns = cluster->site.env->core->now_ns() + ask_ns;
    struct rig_node_status found = {.pid = rig_child_pid(&of->node.server)};
    struct rig_err why = {0};
    (void)snprintf(found.name, sizeof found.name, "%s", of->node.name);
    if (found.pid == 0 || !rig_local_node_runs(&of->node)) {
        (void)rig_fail(&why, RIG_E_CLUSTER, "it does not run");
    } else if (rig_command_answers(cluster, node, deadline_ns, &why)) {
        if (has_roles)
            ask_role(cluster, node, deadline_ns, found.role, sizeof found.role, &why);
        found.reachable = found.healthy = !has_roles || found.role[0] != '\0';
    }
    (void)snprintf(found.detail, sizeof found.detail, "%.120s", why.text);
    *status = found;
    return RIG_OK;
}

/* Whether a fault has stopped its main process (SIGSTOP): it keeps its role, and answers once it is resumed. */
static bool is_stopped(const struct rig_command_cluster *cluster, uint32_t node)
{
    struct rig_process process;
    const pid_t pid = rig_child_pid(&cluster->nodes[node].node.server);
    return pid > 0 && rig_process_find(pid, &process) && rig_process_state(&process) == 'T';
}

/* Makes all answering nodes but the primary its replicas. */
static enum rig_rc follow_all(struct rig_command_cluster *cluster, uint32_t primary, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < cluster->count && cluster->options->follow.count > 0; i++) {
        struct rig_node_status status = {.reachable = false};
        struct rig_err own = {0};
        if (i != primary && !is_stopped(cluster, i))
            (void)rig_command_cluster_status(cluster, i, &status, NULL);
        if (!status.reachable)
            continue;
        const enum rig_rc one = rig_command_ask(cluster, i, &cluster->options->follow,
                                                core->now_ns() + cluster->options->command_timeout_ns, NULL, 0, &own);
        if (one != RIG_OK && rc == RIG_OK)
            rc = rig_fail(err, one, "`cluster.local.follow` of %s: %s", cluster->nodes[i].node.name, own.text);
    }
    return rc;
}

enum rig_rc rig_command_cluster_promote(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    struct rig_err own = {0};
    if (cluster->options->promote.count == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "promote: the plan has no command for this: give database.cluster.local.promote");
    (void)pthread_mutex_lock(&cluster->lock);
    enum rig_rc rc = rig_command_ask(cluster, node, &cluster->options->promote,
                                     core->now_ns() + cluster->options->command_timeout_ns, NULL, 0, &own);
    if (rc == RIG_OK) {
        atomic_store(&cluster->primary, node);
        rc = follow_all(cluster, node, err);
    } else {
        rc = rig_fail(err, rc, "`cluster.local.promote` of %s: %s", cluster->nodes[node].node.name, own.text);
    }
    (void)pthread_mutex_unlock(&cluster->lock);
    return rc;
}

/* The node that was promoted last, if it still is the primary; else the only one with this role. */
static void find_primary(struct rig_command_cluster *cluster)
{
    const uint32_t last = atomic_load(&cluster->primary);
    uint32_t found = RIG_NODES_MOST;
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct rig_node_status status;
        if (i == last && is_stopped(cluster, i))
            return;
        (void)rig_command_cluster_status(cluster, i, &status, NULL);
        if (!is_primary(status.role))
            continue;
        if (i == last)
            return;
        found = i;
    }
    atomic_store(&cluster->primary, found);
}

static enum rig_rc await_healthy(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t deadline_ns = core->now_ns() + cluster->options->start_timeout_ns;
    for (uint32_t i = 0; i < cluster->count;) {
        struct rig_node_status status = {.healthy = true};
        if (!is_stopped(cluster, i))
            (void)rig_command_cluster_status(cluster, i, &status, NULL);
        if (status.healthy) {
            i++;
            continue;
        }
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "%s is not healthy in time: %s", status.name, status.detail);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
    return RIG_OK;
}

enum rig_rc rig_command_cluster_restore(struct rig_command_cluster *cluster, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const enum rig_rc one = rig_command_cluster_start_node(cluster, i, err);
        rc = rc == RIG_OK ? one : rc;
    }
    if (rc == RIG_OK && cluster->options->roles.count > 0 && cluster->options->follow.count > 0) {
        find_primary(cluster);
        const uint32_t primary = atomic_load(&cluster->primary);
        if (primary < cluster->count)
            rc = follow_all(cluster, primary, err);
    }
    return rc == RIG_OK ? await_healthy(cluster, err) : rc;
}
