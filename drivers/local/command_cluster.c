#include "drivers/local/command_cluster.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/plural.h"
#include "base/thread.h"
#include "drivers/local/command_launch.h"
#include "drivers/local/local_machine.h"

static bool wanted(const void *options)
{
    return rig_command_options_of(options)->command.count > 0;
}

static enum rig_rc open_site(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const enum rig_rc rc = rig_local_site_open(&cluster->site, cluster->options->run_as, err);
    if (rc == RIG_OK && !rig_command_text_is_plain(cluster->site.folder))
        return rig_fail(err, RIG_E_CLUSTER,
                        "%s: a shell would interpret characters of this path: set TMPDIR to a folder without them",
                        cluster->site.folder);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rig_local_node_init(&cluster->nodes[i].node, &cluster->site, i);
    return rc;
}

static enum rig_rc make_folders(struct rig_command_cluster *cluster, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        struct rig_command_node *of = &cluster->nodes[i];
        char name[RIG_LOCAL_NAME_BYTES + sizeof "/data"];
        (void)snprintf(name, sizeof name, "%s/data", of->node.name);
        rig_local_path(&cluster->site, name, of->data);
        (void)snprintf(name, sizeof name, "%s/log", of->node.name);
        rig_local_path(&cluster->site, name, of->log);
        rc = rig_local_make_folder(&cluster->site, of->node.data, err);
        if (rc == RIG_OK)
            rc = rig_local_make_folder(&cluster->site, of->data, err);
        if (rc == RIG_OK)
            rc = rig_local_write(&cluster->site, of->log, O_CREAT | O_EXCL, "", err);
    }
    return rc;
}

static enum rig_rc find_ports(struct rig_command_cluster *cluster, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        struct rig_command_node *of = &cluster->nodes[i];
        rc = rig_local_free_ports(of->ports, RIG_COMMAND_PORTS_MOST, err);
        of->announced = of->ports[cluster->peer_port];
        of->client = of->ports[0];
        if (rc == RIG_OK && cluster->site.env->core->routed())
            rc = cluster->site.env->core->route("client", of->node.name, "127.0.0.1", of->ports[0], &of->client, err);
    }
    return rc;
}

static const struct rig_child *node_server(void *context, uint32_t node)
{
    const struct rig_command_cluster *cluster = context;
    return &cluster->nodes[node].node.server;
}

/* With faults of the network: every pair of nodes gets its route, and the switch chooses among them. */
static enum rig_rc make_switch(struct rig_command_cluster *cluster, struct rig_err *err)
{
    struct rig_local_peer peers[RIG_NODES_MOST];
    uint16_t announced[RIG_NODES_MOST];
    for (uint32_t i = 0; i < cluster->count; i++)
        peers[i] = (struct rig_local_peer){cluster->nodes[i].node.name, cluster->nodes[i].ports[cluster->peer_port]};
    const struct rig_local_peers all = {peers, cluster->count, node_server, cluster};
    const enum rig_rc rc = rig_local_switch_join(cluster->site.env->core, &all, &cluster->peers, announced, err);
    for (uint32_t i = 0; rc == RIG_OK && cluster->peers != NULL && i < cluster->count; i++) {
        cluster->nodes[i].announced = announced[i];
        if (cluster->peer_port == 0) /* clients that nodes have told of each other */
            rig_local_switch_set_route(cluster->peers, cluster->count, i, cluster->nodes[i].client);
    }
    return rc;
}

static enum rig_rc start_all(struct rig_command_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = find_ports(cluster, err);
    if (rc == RIG_OK)
        rc = make_switch(cluster, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_command_prepare(cluster, i, deadline_ns, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_command_launch(cluster, i, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        rc = rig_command_await(cluster, i, false, deadline_ns, err);
        cluster->nodes[i].wanted = rc == RIG_OK;
    }
    return rc;
}

/* Undoes make_folders() and start_all() except the logs. */
static void end_all(struct rig_command_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct rig_command_node *of = &cluster->nodes[i];
        struct rig_err err = {0};
        of->wanted = false;
        if (rig_local_node_stop(&of->node, RIG_NODE_KILL, 0, &err) != RIG_OK)
            cluster->site.env->core->log(1, cluster->kind.name, "%s", err.text);
        rig_command_keep_log(cluster, i);
        if (of->node.data[0] != '\0')
            rig_folder_remove(of->node.data);
    }
    rig_local_switch_free(cluster->peers);
    cluster->peers = NULL;
}

/* A node's socket can be `{dir}/.s.PGSQL.12345`. */
enum { START_TRIES = 4, SOCKET_NAME_BYTES = sizeof "node-16/.s.PGSQL.65535.lock" };

static enum rig_rc status(void *run, uint32_t node, struct rig_node_status *found, struct rig_err *err)
{
    return rig_command_cluster_status(rig_command_cluster_of(run), node, found, err);
}

/* A server that ends at each start would otherwise fill the report. */
enum { RESTARTS_MOST = 10 };

/* The same with the lock held. `always`: also while the run ends. */
static enum rig_rc command_cluster_start_down(struct rig_command_cluster *cluster, uint32_t node, bool always,
                                              struct rig_err *err)
{
    struct rig_command_node *of = &cluster->nodes[node];
    const int64_t deadline_ns = cluster->site.env->core->now_ns() + cluster->options->start_timeout_ns;
    if (rig_local_node_runs(&of->node))
        return RIG_OK;
    enum rig_rc rc = rig_local_node_stop(&of->node, RIG_NODE_KILL, 0, err); /* its remaining processes */
    if (rc == RIG_OK)
        rc = rig_command_launch(cluster, node, err);
    if (rc == RIG_OK)
        rc = rig_command_await(cluster, node, always, deadline_ns, err);
    of->wanted = rc == RIG_OK;
    return rc;
}

static void start_again(struct rig_command_cluster *cluster, uint32_t node)
{
    const struct rig_core *core = cluster->site.env->core;
    struct rig_command_node *of = &cluster->nodes[node];
    struct rig_err err = {0};
    if (!cluster->options->restart || of->restarts == RESTARTS_MOST || core->stopping())
        return;
    of->restarts++;
    if (command_cluster_start_down(cluster, node, false, &err) == RIG_OK)
        core->log(2, cluster->kind.name, "%s was started again", of->node.name);
    else if (!atomic_load(&cluster->ending))
        core->log(0, cluster->kind.name, "%s cannot be started again: %s", of->node.name, err.text);
}

/* Looks at one node, with the lock held. `restart`: start it again where that is allowed. */
static void command_watch_look(struct rig_command_cluster *cluster, uint32_t node, bool restart)
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

static const int64_t look_ns = 50 * RIG_NS_PER_MS;

static void *watch(void *object)
{
    struct rig_command_cluster *cluster = object;
    while (!atomic_load(&cluster->ending)) {
        (void)pthread_mutex_lock(&cluster->lock);
        for (uint32_t i = 0; i < cluster->count; i++)
            command_watch_look(cluster, i, true);
        (void)pthread_mutex_unlock(&cluster->lock);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + look_ns);
    }
    return NULL;
}

static enum rig_rc command_watch_start(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const int error = rig_thread_start(&cluster->watcher, watch, cluster);
    cluster->watched = error == 0;
    return error == 0 ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "no thread to watch the servers: %s", strerror(error));
}

static const int64_t ns_per_ms = 1000000;

static enum rig_rc command_cluster_start(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t start_ns = core->now_ns();
    const int64_t deadline_ns = start_ns + cluster->options->start_timeout_ns;
    enum rig_rc rc = open_site(cluster, err);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {0};
        rc = make_folders(cluster, &attempt);
        if (rc == RIG_OK)
            rc = start_all(cluster, deadline_ns, &attempt);
        if (rc == RIG_OK)
            break;
        end_all(cluster);
        if (tries == START_TRIES || core->now_ns() > deadline_ns || !rig_local_port_was_taken(&attempt))
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    if (rc == RIG_OK)
        rc = command_watch_start(cluster, err);
    if (rc == RIG_OK)
        core->log(2, cluster->kind.name, "started %u node%s by `%s` in %s, %lld ms", cluster->count,
                  rig_plural(cluster->count), cluster->options->command.at[0], cluster->site.folder,
                  (long long)((core->now_ns() - start_ns) / ns_per_ms));
    return rc;
}

static enum rig_rc start(void *run, struct rig_err *err)
{
    const enum rig_rc rc = command_cluster_start(rig_command_cluster_of(run), err);
    return rc == RIG_OK ? rig_command_cluster_started(run, err) : rc;
}

static void command_cluster_kill_now(struct rig_command_cluster *cluster)
{
    atomic_store(&cluster->ending, true);
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_kill_now(&cluster->nodes[i].node);
}

/* Joins the thread. Safe where there is none. */
static void command_watch_end(struct rig_command_cluster *cluster)
{
    atomic_store(&cluster->ending, true);
    if (cluster->watched)
        (void)pthread_join(cluster->watcher, NULL);
    cluster->watched = false;
}

static void command_cluster_stop(struct rig_command_cluster *cluster)
{
    command_cluster_kill_now(cluster); /* a start that the watcher waits for ends, too */
    command_watch_end(cluster);
    end_all(cluster);
    rig_local_site_close(&cluster->site);
}

static void stop(void *run)
{
    command_cluster_stop(rig_command_cluster_of(run));
}

static void kill_now(void *run)
{
    command_cluster_kill_now(rig_command_cluster_of(run));
}

static uint32_t node_count(const void *run)
{
    return rig_command_cluster_of(run)->count;
}

static enum rig_rc command_cluster_stop_node(struct rig_command_cluster *cluster, uint32_t node, enum rig_node_end how,
                                             struct rig_err *err)
{
    struct rig_command_node *of = &cluster->nodes[node];
    (void)pthread_mutex_lock(&cluster->lock);
    command_watch_look(cluster, node, false);
    of->wanted = false;
    const enum rig_rc rc = rig_local_node_stop(&of->node, how, cluster->options->stop_timeout_ns, err);
    (void)pthread_mutex_unlock(&cluster->lock);
    return rc;
}

static enum rig_rc stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    return command_cluster_stop_node(rig_command_cluster_of(run), node, how, err);
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

/*
 * The thread that sees a server end although rig did not end it.
 *
 * It looks 20 times a second. Each such end goes to core->server_ended() with the log's last lines; where that allows
 * it, the node is started again on its data.
 */

/* ---- making the object ---- */

static enum rig_rc take_environment(struct rig_command_cluster *cluster, struct rig_err *err)
{
    const struct rig_text_list *given = &cluster->options->environment;
    cluster->environment = calloc(given->count + 1, sizeof *cluster->environment);
    if (cluster->environment == NULL)
        return rig_no_memory(err, "an environment");
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < given->count; i++) {
        char name[128];
        const char *text = given->at[i], *equals = strchr(text, '=');
        cluster->environment[i] = text;
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        for (uint32_t node = 0; rc == RIG_OK && node < cluster->count; node++)
            rc = rig_local_node_set_variable(&cluster->nodes[node].node, name, equals + 1, err);
    }
    return rc;
}

static void note_peer_port(struct rig_command_cluster *cluster, const char *text)
{
    struct rig_command_placeholder found;
    for (const char *from = text; from != NULL && rig_command_text_next(from, &found); from = found.at + found.length) {
        const bool is_port = found.word >= RIG_COMMAND_PORT && found.word < RIG_COMMAND_PORT + RIG_COMMAND_PORTS_MOST;
        const uint32_t port = is_port ? (uint32_t)found.word - RIG_COMMAND_PORT : 0;
        if (found.node > 0 && port > cluster->peer_port)
            cluster->peer_port = port;
    }
}

/* The port between nodes: the last of those of which they are told. */
static void find_peer_port(struct rig_command_cluster *cluster)
{
    const struct rig_command_options *options = cluster->options;
    const struct rig_text_list *const lists[] = {&options->command, &options->promote, &options->follow};
    note_peer_port(cluster, options->prepare);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (size_t j = 0; j < lists[i]->count; j++)
            note_peer_port(cluster, lists[i]->at[j]);
    }
}

enum rig_rc rig_command_cluster_init(struct rig_command_cluster *cluster, const char *driver,
                                     const struct rig_run_env *env, const struct rig_command_options *options,
                                     struct rig_err *err)
{
    *cluster = (struct rig_command_cluster){.primary = RIG_NODES_MOST};
    if (options->command.count == 0)
        return RIG_OK;
    cluster->options = options;
    cluster->kind = (struct rig_local_kind){.name = driver,
                                            .node_prefix = "node",
                                            .product = "the server",
                                            .socket_name_bytes = SOCKET_NAME_BYTES,
                                            .fast_signal = rig_command_stop_signal(options)};
    rig_local_site_init(&cluster->site, &cluster->kind, env);
    cluster->count = (uint32_t)options->nodes;
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_init(&cluster->nodes[i].node, &cluster->site, i);
    RIG_INVARIANT(pthread_mutex_init(&cluster->lock, NULL) == 0);
    cluster->has_lock = true;
    find_peer_port(cluster);
    cluster->has_ready =
        options->ready_log != NULL && regcomp(&cluster->ready, options->ready_log, REG_EXTENDED | REG_NOSUB) == 0;
    return take_environment(cluster, err);
}

void rig_command_cluster_done(struct rig_command_cluster *cluster)
{
    if (!cluster->has_lock)
        return;
    command_cluster_stop(cluster);
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_done(&cluster->nodes[i].node);
    if (cluster->has_ready)
        regfree(&cluster->ready);
    free(cluster->environment);
    (void)pthread_mutex_destroy(&cluster->lock);
    *cluster = (struct rig_command_cluster){.has_lock = false};
}

/* ---- folders and ports ---- */

/* ---- all nodes ---- */

/* ---- single nodes ---- */

enum rig_rc rig_command_cluster_start_node(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err)
{
    (void)pthread_mutex_lock(&cluster->lock);
    command_watch_look(cluster, node, false);
    const enum rig_rc rc = command_cluster_start_down(cluster, node, true, err);
    (void)pthread_mutex_unlock(&cluster->lock);
    return rc;
}
