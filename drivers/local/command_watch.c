#include "drivers/local/command_watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/thread.h"
#include "drivers/local/command_hooks.h"
#include "drivers/local/command_launch.h"

/* A server that ends at each start would otherwise fill the report. */
enum { RESTARTS_MOST = 10 };

static const int64_t look_ns = 50 * RIG_NS_PER_MS;

static void start_again(struct rig_command_cluster *cluster, uint32_t node)
{
    const struct rig_core *core = cluster->site.env->core;
    struct rig_command_node *of = &cluster->nodes[node];
    struct rig_err err = {0};
    if (!cluster->options->restart || of->restarts == RESTARTS_MOST || core->stopping())
        return;
    of->restarts++;
    if (rig_command_cluster_start_down(cluster, node, false, &err) == RIG_OK)
        core->log(2, cluster->kind.name, "%s was started again", of->node.name);
    else if (!atomic_load(&cluster->ending))
        core->log(0, cluster->kind.name, "%s cannot be started again: %s", of->node.name, err.text);
}

void rig_command_watch_look(struct rig_command_cluster *cluster, uint32_t node, bool restart)
{
    struct rig_command_node *of = &cluster->nodes[node];
    const struct rig_core *core = cluster->site.env->core;
    if (!of->wanted || rig_local_node_runs(&of->node) || atomic_load(&cluster->ending))
        return;
    struct rig_server_end end = {.node = of->node.name};
    char tail[RIG_LOCAL_TAIL_BYTES];
    int status = 0;
    of->wanted = false;
    (void)rig_child_clear(&of->node.server, RIG_LOCAL_CLEAR_NS, &status);
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    rig_command_keep_log(cluster, node);
    rig_command_log_tail(cluster, node, tail);
    end.log_tail = tail;
    if (core->server_ended(&end) && restart)
        start_again(cluster, node);
}

static void *watch(void *object)
{
    struct rig_command_cluster *cluster = object;
    while (!atomic_load(&cluster->ending)) {
        (void)pthread_mutex_lock(&cluster->lock);
        for (uint32_t i = 0; i < cluster->count; i++)
            rig_command_watch_look(cluster, i, true);
        (void)pthread_mutex_unlock(&cluster->lock);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + look_ns);
    }
    return NULL;
}

enum rig_rc rig_command_watch_start(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const int error = rig_thread_start(&cluster->watcher, watch, cluster);
    cluster->watched = error == 0;
    return error == 0 ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "no thread to watch the servers: %s", strerror(error));
}

void rig_command_watch_end(struct rig_command_cluster *cluster)
{
    atomic_store(&cluster->ending, true);
    if (cluster->watched)
        (void)pthread_join(cluster->watcher, NULL);
    cluster->watched = false;
}
