#include "drivers/sqlite/sqlite_cluster.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "drivers/sql/sql_cluster.h"

#define PROGRAM "rig-sqlite-server"

static const int64_t ask_ns = RIG_NS_PER_S;

static const struct rig_local_kind kind = {.name = "sqlite",
                                           .node_prefix = "sqlite",
                                           .product = "SQLite",
                                           .socket_name_bytes = sizeof "s",
                                           .fast_signal = SIGTERM};

void rig_sqlite_cluster_init(struct rig_sqlite_cluster *cluster, const struct rig_run_env *env)
{
    *cluster = (struct rig_sqlite_cluster){.sql = {.nodes = &cluster->node, .node_bytes = sizeof cluster->node},
                                           .options = env->options};
    rig_local_site_init(&cluster->site, &kind, env);
    rig_local_node_init(&cluster->node, &cluster->site, 0);
}

static void stop(struct rig_sqlite_cluster *cluster)
{
    struct rig_err err = {0};
    if (rig_local_node_stop(&cluster->node, RIG_NODE_KILL, 0, &err) != RIG_OK)
        cluster->site.env->core->log(1, "sqlite", "%s", err.text);
    cluster->sql.count = 0;
    rig_local_site_close(&cluster->site);
}

void rig_sqlite_cluster_done(struct rig_sqlite_cluster *cluster)
{
    if (cluster->site.env == NULL)
        return;
    stop(cluster);
    rig_local_node_done(&cluster->node);
}

/* ---- the program ---- */

static bool copy_file(const char *from, const char *to)
{
    char bytes[16384];
    ssize_t got = -1;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    while (out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0 && write(out, bytes, (size_t)got) == got)
        continue;
    const bool copied = out >= 0 && got == 0 && fchmod(out, 0755) == 0;
    const int error = errno;
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    errno = error;
    return copied;
}

/* Beside the driver. Another account may not reach it there: it gets a copy. */
static enum rig_rc find_program(struct rig_sqlite_cluster *cluster, struct rig_err *err)
{
    Dl_info info;
    char copy[RIG_LOCAL_PATH_BYTES];
    const char *slash = dladdr(&kind, &info) != 0 && info.dli_fname != NULL ? strrchr(info.dli_fname, '/') : NULL;
    const int length = slash == NULL ? 0 : (int)(slash - info.dli_fname);
    (void)snprintf(cluster->program, sizeof cluster->program, "%.*s/" PROGRAM, slash == NULL ? 1 : length,
                   slash == NULL ? "." : info.dli_fname);
    if (access(cluster->program, X_OK) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: %.900s: %s: install it beside the driver", cluster->program,
                        strerror(errno));
    rig_local_path(&cluster->site, PROGRAM, copy);
    if (!copy_file(cluster->program, copy))
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: %.400s cannot be copied to %s: %s", cluster->program, copy,
                        strerror(errno));
    (void)snprintf(cluster->program, sizeof cluster->program, "%s", copy);
    return RIG_OK;
}

/* ---- the node ---- */

/* Whether a session can open the database; it makes the file, if there is none. */
static bool answers(void *context, struct rig_err *why)
{
    const struct rig_sqlite_cluster *cluster = context;
    const struct rig_core *core = cluster->site.env->core;
    const struct rig_sqlite_patience patience = {.core = core, .deadline_ns = core->now_ns() + ask_ns};
    const struct rig_sqlite_setup setup = {.socket = cluster->socket,
                                           .shared_cache = cluster->options->shared_cache,
                                           .busy_ms = 500,
                                           .script = "SELECT 1 FROM sqlite_schema"};
    struct rig_sqlite_link link = {0};
    const enum rig_rc rc = rig_sqlite_link_open(&link, &setup, &patience, why);
    rig_sqlite_link_close(&link);
    return rc == RIG_OK;
}

static enum rig_rc launch(struct rig_sqlite_cluster *cluster, bool always, struct rig_err *err)
{
    const char *const arguments[] = {cluster->program, cluster->database, cluster->socket,
                                     cluster->options->shared_cache ? "threads" : "processes", NULL};
    enum rig_rc rc = rig_local_node_launch(&cluster->node, arguments, cluster->node.data, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_local_wait wait = {.answers = answers,
                                        .context = cluster,
                                        .always = always,
                                        .deadline_ns =
                                            cluster->site.env->core->now_ns() + cluster->options->sql.start_timeout_ns};
    return rig_local_node_await(&cluster->node, &wait, err);
}

enum rig_rc rig_sqlite_cluster_embed(struct rig_sqlite_cluster *cluster, struct rig_err *err)
{
    const enum rig_rc rc = rig_local_site_open(&cluster->site, cluster->options->sql.run_as, err);
    if (rc != RIG_OK)
        return rc;
    rig_local_node_init(&cluster->node, &cluster->site, 0);
    (void)snprintf(cluster->database, sizeof cluster->database, "%s/rig.db", cluster->node.data);
    return rig_local_make_folder(&cluster->site, cluster->node.data, err);
}

static enum rig_rc start_cluster(void *run, struct rig_err *err)
{
    struct rig_sqlite_cluster *cluster = rig_sqlite_cluster_of(run);
    enum rig_rc rc = rig_sqlite_cluster_embed(cluster, err);
    if (rc != RIG_OK)
        return rc;
    cluster->sql.count = 1;
    rig_local_path(&cluster->site, "s", cluster->socket);
    rc = find_program(cluster, err);
    return rc == RIG_OK ? launch(cluster, false, err) : rc;
}

static void stop_cluster(void *run)
{
    stop(rig_sqlite_cluster_of(run));
}

static enum rig_rc stop_one(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    struct rig_sqlite_cluster *cluster = rig_sqlite_cluster_of(run);
    (void)node; /* the only one */
    return rig_local_node_stop(&cluster->node, how, cluster->options->sql.stop_timeout_ns, err);
}

static enum rig_rc start_one(void *run, uint32_t node, struct rig_err *err)
{
    struct rig_sqlite_cluster *cluster = rig_sqlite_cluster_of(run);
    (void)node;
    if (rig_local_node_runs(&cluster->node))
        return RIG_OK;
    /* The sessions of a server that ended go with it. */
    const enum rig_rc rc = rig_local_node_stop(&cluster->node, RIG_NODE_KILL, 0, err);
    return rc == RIG_OK ? launch(cluster, true, err) : rc;
}

static enum rig_rc restore_cluster(void *run, struct rig_err *err)
{
    return start_one(run, 0, err);
}

static enum rig_rc node_status(struct rig_sql_run *run, uint32_t node, struct rig_node_status *status,
                               struct rig_err *err)
{
    struct rig_sqlite_cluster *cluster = rig_sqlite_cluster_of(run);
    (void)node, (void)err;
    struct rig_err why = {0};
    *status = (struct rig_node_status){.role = "primary", .pid = rig_child_pid(&cluster->node.server)};
    (void)snprintf(status->name, sizeof status->name, "%s", cluster->node.name);
    status->reachable = rig_local_node_runs(&cluster->node) && answers(cluster, &why);
    status->healthy = status->reachable;
    (void)snprintf(status->detail, sizeof status->detail, "%.120s", why.text);
    return RIG_OK;
}

static uint32_t primary(const struct rig_sql_run *run)
{
    (void)run;
    return 0;
}

static uint16_t node_socket(const struct rig_sql_run *run, uint32_t node, struct rig_sql_endpoint *endpoint)
{
    (void)node;
    (void)snprintf(endpoint->host, sizeof endpoint->host, "%s", rig_sqlite_cluster_of(run)->socket);
    return 0;
}

/* Whether the process is one of a session, by its name. */
static bool sqlite_process_is_session(pid_t pid)
{
    char path[64];
    char name[32] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, name, sizeof name - 1);
    (void)close(fd);
    return got > 0 && strcmp(name, "rig-sqlite-ses\n") == 0;
}

const struct rig_sql_nodes rig_sqlite_nodes = {
    .primary = primary,
    .status = node_status,
    .socket = node_socket,
};

static bool cluster_wanted(const void *options)
{
    return !((const struct rig_sqlite_options *)options)->embedded; /* a server of rig's own is the only one */
}

const struct rig_cluster_ops rig_sqlite_cluster_ops = {
    .wanted = cluster_wanted,
    .start = start_cluster,
    .stop = stop_cluster,
    .kill_now = rig_sql_cluster_kill_now,
    .node_count = rig_sql_cluster_node_count,
    .status = rig_sql_cluster_status,
    .stop_node = stop_one,
    .start_node = start_one,
    .restore = restore_cluster,
    .processes = rig_sql_cluster_processes,
    .is_session = sqlite_process_is_session,
    .data_dir = rig_sql_cluster_data_dir,
    .set_environment = rig_sql_cluster_set_environment,
    .address = rig_sql_cluster_address,
    .faults = rig_sqlite_faults,
};
