#include "drivers/local/command_hooks.h"

#include <stdio.h>

#include "base/bug.h"

static bool wanted(const void *options)
{
    return rig_command_options_of(options)->command.count > 0;
}

static enum rig_rc start(void *run, struct rig_err *err)
{
    const enum rig_rc rc = rig_command_cluster_start(rig_command_cluster_of(run), err);
    return rc == RIG_OK ? rig_command_cluster_started(run, err) : rc;
}

static void stop(void *run)
{
    rig_command_cluster_stop(rig_command_cluster_of(run));
}

static void kill_now(void *run)
{
    rig_command_cluster_kill_now(rig_command_cluster_of(run));
}

static uint32_t node_count(const void *run)
{
    return rig_command_cluster_of(run)->count;
}

static enum rig_rc status(void *run, uint32_t node, struct rig_node_status *found, struct rig_err *err)
{
    return rig_command_cluster_status(rig_command_cluster_of(run), node, found, err);
}

static enum rig_rc stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    return rig_command_cluster_stop_node(rig_command_cluster_of(run), node, how, err);
}

static enum rig_rc start_node(void *run, uint32_t node, struct rig_err *err)
{
    return rig_command_cluster_start_node(rig_command_cluster_of(run), node, err);
}

static enum rig_rc promote(void *run, uint32_t node, struct rig_err *err)
{
    return rig_command_cluster_promote(rig_command_cluster_of(run), node, err);
}

static enum rig_rc restore(void *run, struct rig_err *err)
{
    return rig_command_cluster_restore(rig_command_cluster_of(run), err);
}

static uint32_t processes(void *run, uint32_t node, pid_t *pids, uint32_t capacity)
{
    const struct rig_command_cluster *cluster = rig_command_cluster_of(run);
    return node < cluster->count ? rig_child_processes(&cluster->nodes[node].node.server, pids, capacity) : 0;
}

static const char *data_dir(const void *run, uint32_t node)
{
    const struct rig_command_cluster *cluster = rig_command_cluster_of(run);
    return node < cluster->count ? cluster->nodes[node].data : NULL;
}

static enum rig_rc set_environment(void *run, uint32_t node, const char *name, const char *value, struct rig_err *err)
{
    struct rig_command_cluster *cluster = rig_command_cluster_of(run);
    RIG_REQUIRE(node < cluster->count);
    return rig_local_node_set_variable(&cluster->nodes[node].node, name, value, err);
}

static enum rig_rc address(void *run, uint32_t node, struct rig_node_address *found, struct rig_err *err)
{
    const struct rig_command_cluster *cluster = rig_command_cluster_of(run);
    if (node >= cluster->count || cluster->nodes[node].ports[0] == 0)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node + 1);
    *found = (struct rig_node_address){.host = "127.0.0.1", .port = cluster->nodes[node].ports[0]};
    return RIG_OK;
}

static uint64_t lacks(const void *options)
{
    const bool started = wanted(options);
    return (started && rig_command_cluster_is_routed(options) ? 0 : RIG_NEED_ROUTES) |
           (started && rig_command_options_of(options)->promote.count == 0 ? RIG_NEED_PROMOTE : 0);
}

const struct rig_cluster_ops rig_command_cluster_ops = {
    .wanted = wanted,
    .start = start,
    .stop = stop,
    .kill_now = kill_now,
    .node_count = node_count,
    .status = status,
    .stop_node = stop_node,
    .start_node = start_node,
    .promote = promote,
    .restore = restore,
    .processes = processes,
    .data_dir = data_dir,
    .set_environment = set_environment,
    .address = address,
    .lacks = lacks,
};
