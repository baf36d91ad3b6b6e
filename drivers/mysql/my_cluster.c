#include "drivers/mysql/my_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/plural.h"
#include "drivers/mysql/my_fault.h"
#include "drivers/mysql/my_galera.h"
#include "drivers/sql/sql_cluster.h"

/*
 * A primary and its replicas: replication by global transaction ids, with all logs kept, so that a server which has
 * never run can follow from the beginning.
 *
 * A follower counts as caught up when its connection to the primary is accepted and it has applied a position of the
 * primary. The position alone would not do: positions compare by number, also those of a server that diverged, while
 * the primary refuses a follower whose last transaction it does not have (gtid_strict_mode).
 *
 * Threads: main, then the nemesis's.
 */

#define SECOND_NS   INT64_C(1000000000)
#define STATUS_NS   SECOND_NS
#define CATCH_UP_NS (8 * SECOND_NS) /* after this time a follower counts as diverged */

/* 1 where both threads of a replica work. */
#define FOLLOWS_SQL                                                                                                    \
    "SELECT COUNT(DISTINCT COMMAND) = 2 FROM information_schema.PROCESSLIST WHERE (COMMAND = 'Slave_IO' AND (STATE "   \
    "LIKE 'Waiting for master to send%' OR STATE LIKE 'Queueing%')) OR COMMAND = 'Slave_SQL'"

static struct rig_my_node *primary_of(struct rig_my_cluster *cluster)
{
    return &cluster->nodes[atomic_load(&cluster->primary)];
}

static bool is_semi_sync(const struct rig_my_cluster *cluster)
{
    return cluster->site.options->sql.replication == RIG_MY_SEMI_SYNC;
}

/* ---- roles ---- */

static uint32_t primary(const struct rig_sql_run *run)
{
    const struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    return rig_my_site_is_galera(&cluster->site) ? UINT32_MAX : atomic_load(&cluster->primary);
}

static enum rig_rc follow(struct rig_my_cluster *cluster, struct rig_my_node *node, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.local.env->core;
    const struct rig_my_node *primary = primary_of(cluster);
    uint16_t port = rig_my_node_port(primary, RIG_MY_PORT_SQL);
    char sql[512];
    enum rig_rc rc = RIG_OK;
    if (core->routed != NULL && core->routed())
        rc = core->route(node->local.name, primary->local.name, "127.0.0.1", port, &port, err);
    if (rc != RIG_OK)
        return rc;
    atomic_store(&node->writable, false);
    (void)snprintf(
        sql, sizeof sql,
        "STOP SLAVE; SET GLOBAL read_only = 1; CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %u, "
        "MASTER_USER = '" RIG_MY_CLIENT "', MASTER_PASSWORD = '%s', MASTER_USE_GTID = current_pos, "
        "MASTER_CONNECT_RETRY = 1, MASTER_HEARTBEAT_PERIOD = 1; START SLAVE",
        (unsigned)port, cluster->site.password);
    return rig_my_node_ask(node, sql, 5 * SECOND_NS, NULL, err);
}

static enum rig_rc lead(struct rig_my_cluster *cluster, struct rig_my_node *node, struct rig_err *err)
{
    atomic_store(&node->writable, true);
    atomic_store(&cluster->primary, node->index);
    return rig_my_node_ask(node, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0", 5 * SECOND_NS, NULL, err);
}

/* The primary waits for replicas once it has some: from now on, and when it starts again. */
static enum rig_rc wait_for_replicas(struct rig_my_cluster *cluster, struct rig_err *err)
{
    struct rig_my_node *primary = primary_of(cluster);
    if (!is_semi_sync(cluster))
        return RIG_OK;
    primary->semi_sync = true;
    return rig_my_node_ask(primary, "SET GLOBAL rpl_semi_sync_master_enabled = ON", STATUS_NS, NULL, err);
}

static enum rig_rc position_of(const struct rig_my_node *node, char position[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    return rig_my_node_ask(node, "SELECT @@gtid_binlog_pos", STATUS_NS, position, err);
}

static bool has_applied(const struct rig_my_node *node, const char *position)
{
    char sql[RIG_MY_ANSWER_BYTES + 64];
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql, "SELECT MASTER_GTID_WAIT('%s', 0.2)", position);
    return rig_my_node_ask(node, FOLLOWS_SQL, STATUS_NS, answer, &ignored) == RIG_OK && answer[0] == '1' &&
           rig_my_node_ask(node, sql, STATUS_NS, answer, &ignored) == RIG_OK && strcmp(answer, "0") == 0;
}

static bool catches_up(const struct rig_my_cluster *cluster, const struct rig_my_node *node, const char *position,
                       int64_t deadline_ns)
{
    const struct rig_core *core = cluster->site.local.env->core;
    while (!has_applied(node, position)) {
        if (core->now_ns() > deadline_ns || !rig_local_node_runs(&node->local))
            return false;
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS);
    }
    return true;
}

enum rig_rc rig_my_replication_await(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    char position[RIG_MY_ANSWER_BYTES];
    enum rig_rc rc = position_of(primary_of(cluster), position, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        const struct rig_my_node *node = &cluster->nodes[i];
        if (node != primary_of(cluster) && !catches_up(cluster, node, position, deadline_ns))
            rc = rig_fail(err, RIG_E_CLUSTER, "%s does not follow the primary within start-timeout", node->local.name);
    }
    return rc;
}

/* ---- starting ---- */

/* Starts all nodes of a new cluster, the first as the primary. */
static enum rig_rc my_replication_start(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 1; rc == RIG_OK && i < cluster->sql.count; i++) {
        rc = rig_my_node_start(&cluster->nodes[i], false, deadline_ns, err);
        if (rc == RIG_OK)
            rc = follow(cluster, &cluster->nodes[i], err);
    }
    if (rc == RIG_OK)
        rc = rig_my_replication_await(cluster, deadline_ns, err);
    return rc == RIG_OK ? wait_for_replicas(cluster, err) : rc;
}

/* Starts a node that is down, in its role. */
static enum rig_rc my_replication_start_node(struct rig_my_cluster *cluster, uint32_t index, int64_t deadline_ns,
                                             struct rig_err *err)
{
    struct rig_my_node *node = &cluster->nodes[index];
    const bool ran = rig_local_node_runs(&node->local);
    enum rig_rc rc = rig_my_node_start(node, true, deadline_ns, err);
    /* A primary that was replaced starts as such: only restore() makes it a follower. */
    return rc == RIG_OK && !ran && !atomic_load(&node->writable) ? follow(cluster, node, err) : rc;
}

/* ---- promoting ---- */

static bool has_read_all(const struct rig_my_node *node)
{
    static const char sql[] =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Slave_SQL' AND STATE "
        "LIKE 'Slave has read all relay log%'";
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    return rig_my_node_ask(node, sql, STATUS_NS, answer, &ignored) == RIG_OK && answer[0] == '1';
}

static enum rig_rc my_replication_promote(struct rig_my_cluster *cluster, uint32_t index, int64_t deadline_ns,
                                          struct rig_err *err)
{
    const struct rig_core *core = cluster->site.local.env->core;
    struct rig_my_node *node = &cluster->nodes[index];
    const struct rig_my_node *before = primary_of(cluster);
    if (node == before)
        return RIG_OK;
    enum rig_rc rc = rig_my_node_ask(node, "STOP SLAVE IO_THREAD", 5 * SECOND_NS, NULL, err);
    while (rc == RIG_OK && !has_read_all(node)) {
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "%s has not applied its relay log within start-timeout",
                            node->local.name);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 10 * RIG_NS_PER_MS);
    }
    if (rc == RIG_OK)
        rc = lead(cluster, node, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        struct rig_my_node *other = &cluster->nodes[i];
        struct rig_err ignored = {.rc = RIG_OK};
        if (other != node && other != before && rig_local_node_runs(&other->local) &&
            follow(cluster, other, &ignored) != RIG_OK)
            core->log(1, "mysql", "%s", ignored.text);
    }
    return rc == RIG_OK ? wait_for_replicas(cluster, err) : rc;
}

/* ---- restoring ---- */

/* Gives the node the data of a server that has never run; it follows from the beginning of the logs. */
static enum rig_rc create_again(struct rig_my_cluster *cluster, struct rig_my_node *node, int64_t deadline_ns,
                                struct rig_err *err)
{
    cluster->site.local.env->core->log(2, "mysql", "%s has transactions that the primary lacks: it is created again",
                                       node->local.name);
    enum rig_rc rc = rig_my_cluster_empty(cluster, node, err);
    /* A server skips events with its own number: as the one that wrote them it would stay empty. */
    node->generation++;
    if (rc == RIG_OK)
        rc = rig_my_node_start(node, true, deadline_ns, err);
    return rc == RIG_OK ? follow(cluster, node, err) : rc;
}

static enum rig_rc reunite(struct rig_my_cluster *cluster, struct rig_my_node *node, int64_t deadline_ns,
                           struct rig_err *err)
{
    const struct rig_core *core = cluster->site.local.env->core;
    char position[RIG_MY_ANSWER_BYTES];
    atomic_store(&node->writable, false);
    node->semi_sync = false;
    enum rig_rc rc = rig_my_node_start(node, true, deadline_ns, err);
    if (rc == RIG_OK)
        rc = follow(cluster, node, err);
    if (rc == RIG_OK)
        rc = position_of(primary_of(cluster), position, err);
    if (rc != RIG_OK || catches_up(cluster, node, position, core->now_ns() + CATCH_UP_NS))
        return rc;
    rc = create_again(cluster, node, deadline_ns, err);
    if (rc == RIG_OK && !catches_up(cluster, node, position, deadline_ns))
        core->log(1, "mysql", "%s was created again, but does not follow the primary", node->local.name);
    return rc;
}

static enum rig_rc my_replication_restore(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_node *primary = primary_of(cluster);
    enum rig_rc rc = rig_my_node_start(primary, true, deadline_ns, err);
    if (rc == RIG_OK)
        rc = lead(cluster, primary, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        if (&cluster->nodes[i] != primary)
            rc = reunite(cluster, &cluster->nodes[i], deadline_ns, err);
    }
    return rc == RIG_OK ? wait_for_replicas(cluster, err) : rc;
}

/* ---- health ---- */

/* Fills in role and health of a node that answers. */
static void my_replication_judge(struct rig_my_cluster *cluster, uint32_t index, struct rig_node_status *status)
{
    const struct rig_my_node *node = &cluster->nodes[index];
    const bool should_lead = index == atomic_load(&cluster->primary);
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_my_node_ask(node, "SELECT @@global.read_only", STATUS_NS, answer, &ignored) != RIG_OK)
        return;
    const bool leads = answer[0] == '0';
    (void)snprintf(status->role, sizeof status->role, "%s", leads ? "primary" : "replica");
    if (leads != should_lead)
        (void)snprintf(status->detail, sizeof status->detail, "%s",
                       leads ? "it is a primary beside the promoted one" : "the primary is read-only");
    else if (!leads && (rig_my_node_ask(node, FOLLOWS_SQL, STATUS_NS, answer, &ignored) != RIG_OK || answer[0] != '1'))
        (void)snprintf(status->detail, sizeof status->detail, "it receives nothing from the primary");
    else
        status->healthy = true;
}

void rig_my_cluster_init(struct rig_my_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_my_options *options)
{
    *cluster = (struct rig_my_cluster){.sql = {.nodes = cluster->nodes, .node_bytes = sizeof cluster->nodes[0]}};
    rig_my_site_init(&cluster->site, env, options);
}

static void stop_nodes(struct rig_my_cluster *cluster)
{
    const struct rig_core *core = cluster->site.local.env->core;
    /* Their data are removed with them and need not be durable. */
    for (uint32_t i = 0; i < cluster->sql.count; i++)
        rig_local_node_kill_now(&cluster->nodes[i].local);
    for (uint32_t i = 0; i < cluster->sql.count; i++) {
        struct rig_err err = {.rc = RIG_OK};
        if (rig_my_node_stop(&cluster->nodes[i], RIG_NODE_KILL, &err) != RIG_OK)
            core->log(0, "mysql", "%s", err.text);
    }
    cluster->sql.count = 0;
    rig_my_site_close(&cluster->site);
}

void rig_my_cluster_done(struct rig_my_cluster *cluster)
{
    if (cluster->site.local.env == NULL)
        return;
    stop_nodes(cluster);
    for (uint32_t i = 0; i < RIG_NODES_MOST; i++)
        rig_local_node_done(&cluster->nodes[i].local);
}

static uint16_t node_socket(const struct rig_sql_run *run, uint32_t node, struct rig_sql_endpoint *endpoint)
{
    const struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    rig_my_node_socket(&cluster->nodes[node], endpoint);
    return cluster->site.tcp || cluster->sql.count > 1 ? rig_my_node_port(&cluster->nodes[node], RIG_MY_PORT_SQL) : 0;
}

enum rig_rc rig_my_cluster_endpoint(struct rig_my_cluster *cluster, uint32_t index, struct rig_sql_endpoint *endpoint,
                                    struct rig_err *err)
{
    const struct rig_core *core = cluster->site.local.env->core;
    if (index >= cluster->sql.count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", index + 1);
    const struct rig_my_node *node = &cluster->nodes[index];
    if (!cluster->site.tcp) {
        rig_my_node_socket(node, endpoint);
        return RIG_OK;
    }
    uint16_t port = rig_my_node_port(node, RIG_MY_PORT_SQL);
    enum rig_rc rc = RIG_OK;
    if (core->routed != NULL && core->routed())
        rc = core->route("client", node->local.name, "127.0.0.1", port, &port, err);
    if (rc != RIG_OK)
        return rc;
    *endpoint = (struct rig_sql_endpoint){"127.0.0.1", {0}};
    (void)snprintf(endpoint->port, sizeof endpoint->port, "%u", (unsigned)port);
    return RIG_OK;
}

static int64_t start_deadline_ns(const struct rig_my_cluster *cluster)
{
    return cluster->site.local.env->core->now_ns() + cluster->site.options->sql.start_timeout_ns;
}

/* ---- starting ---- */

/* The data of a server that has never run, one copy for each node; with several the original is kept. */
static enum rig_rc create_data(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_site *site = &cluster->site;
    if (cluster->sql.count == 1)
        return rig_my_site_make_data(site, cluster->nodes[0].local.data, deadline_ns, err);
    rig_local_path(&site->local, "pristine", cluster->pristine);
    enum rig_rc rc = rig_my_site_make_data(site, cluster->pristine, deadline_ns, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++)
        rc = rig_folder_copy(cluster->pristine, cluster->nodes[i].local.data, &site->local.account, err);
    return rc;
}

/* The account of clients may do what a run needs, but not write to a read-only server. */
static enum rig_rc make_account(struct rig_my_cluster *cluster, struct rig_err *err)
{
    static const char *const hosts[] = {"localhost", "127.0.0.1"};
    char sql[2048];
    size_t length = 0;
    for (size_t i = 0; i < 2; i++)
        length += (size_t)snprintf(
            sql + length, sizeof sql - length,
            "CREATE USER '" RIG_MY_CLIENT "'@'%s' IDENTIFIED BY '%s'; GRANT SELECT, INSERT, UPDATE, "
            "DELETE, CREATE, DROP, INDEX, ALTER, PROCESS, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO "
            "'" RIG_MY_CLIENT "'@'%s';",
            hosts[i], cluster->site.password, hosts[i]);
    /* Texts may be any; a server that refuses writes still has to. */
    const bool all = cluster->site.local.env->texts != NULL && cluster->sql.count == 1;
    for (size_t i = 0; i < 2 && cluster->site.local.env->texts != NULL; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "GRANT ALL ON %s TO '" RIG_MY_CLIENT "'@'%s';",
                                   all ? "*.*" : "`rig\\_%`.*", hosts[i]);
    RIG_INVARIANT(length < sizeof sql);
    return rig_my_node_ask(&cluster->nodes[0], sql, 10 * STATUS_NS, NULL, err);
}

static enum rig_rc start_nodes(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    const bool galera = rig_my_site_is_galera(&cluster->site);
    enum rig_rc rc = galera ? rig_my_galera_prepare(cluster, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = rig_my_node_start(&cluster->nodes[0], false, deadline_ns, err);
    if (rc == RIG_OK)
        rc = make_account(cluster, err);
    if (rc != RIG_OK || (cluster->sql.count == 1 && !galera))
        return rc;
    return galera ? rig_my_galera_start(cluster, deadline_ns, err) : my_replication_start(cluster, deadline_ns, err);
}

static enum rig_rc start_cluster(void *run, struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    struct rig_my_site *site = &cluster->site;
    const struct rig_core *core = site->local.env->core;
    const int64_t start_ns = core->now_ns();
    const int64_t deadline_ns = start_deadline_ns(cluster);
    RIG_INVARIANT(cluster->sql.count == 0);
    enum rig_rc rc = rig_my_site_open(site, err);
    if (rc != RIG_OK)
        return rc;
    for (uint32_t i = 0; i < site->node_count; i++)
        rig_my_node_init(&cluster->nodes[i], site, i);
    cluster->sql.count = site->node_count;
    atomic_store(&cluster->primary, 0);
    rc = create_data(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        rc = start_nodes(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        core->log(2, "mysql", "started %s, %u node%s in %s, %lld ms", site->server, cluster->sql.count,
                  rig_plural(cluster->sql.count), site->local.folder,
                  (long long)((core->now_ns() - start_ns) / 1000000));
    return rc;
}

/* ---- stopping ---- */

static void stop_cluster(void *run)
{
    stop_nodes(rig_my_cluster_of(run));
}

/* ---- status ---- */

static enum rig_rc node_status(struct rig_sql_run *run, uint32_t index, struct rig_node_status *status,
                               struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    if (index >= cluster->sql.count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u, or it was not started", index + 1);
    const struct rig_my_node *node = &cluster->nodes[index];
    struct rig_node_status found = {.healthy = false};
    struct rig_err attempt = {.rc = RIG_OK};
    (void)snprintf(found.name, sizeof found.name, "%s", node->local.name);
    if (!rig_local_node_runs(&node->local)) {
        (void)snprintf(found.detail, sizeof found.detail, "its main process has ended");
    } else {
        found.pid = rig_child_pid(&node->local.server);
        found.reachable = rig_my_node_ask(node, "SELECT 1", STATUS_NS, NULL, &attempt) == RIG_OK;
        if (!found.reachable)
            (void)snprintf(found.detail, sizeof found.detail, "%.*s", (int)sizeof found.detail - 1, attempt.text);
        else if (rig_my_site_is_galera(&cluster->site))
            rig_my_galera_judge(cluster, index, &found);
        else
            my_replication_judge(cluster, index, &found);
    }
    *status = found;
    return RIG_OK;
}

/* ---- faults ---- */

static enum rig_rc stop_one(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    RIG_REQUIRE(node < cluster->sql.count);
    return rig_my_node_stop(&cluster->nodes[node], how, err);
}

enum rig_rc rig_my_cluster_empty(struct rig_my_cluster *cluster, struct rig_my_node *node, struct rig_err *err)
{
    RIG_REQUIRE(cluster->sql.count > 1);
    const enum rig_rc rc = rig_my_node_stop(node, RIG_NODE_KILL, err);
    if (rc != RIG_OK)
        return rc;
    rig_folder_remove(node->local.data);
    return rig_folder_copy(cluster->pristine, node->local.data, &cluster->site.local.account, err);
}

static enum rig_rc start_one(void *run, uint32_t node, struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    RIG_REQUIRE(node < cluster->sql.count);
    const int64_t deadline_ns = start_deadline_ns(cluster);
    return rig_my_site_is_galera(&cluster->site) ? rig_my_galera_start_node(cluster, node, deadline_ns, err)
                                                 : my_replication_start_node(cluster, node, deadline_ns, err);
}

static enum rig_rc promote_one(void *run, uint32_t node, struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    RIG_REQUIRE(node < cluster->sql.count);
    if (rig_my_site_is_galera(&cluster->site))
        return rig_fail(err, RIG_E_CLUSTER, "the nodes of a Galera cluster have no roles: leave the fault out");
    return my_replication_promote(cluster, node, start_deadline_ns(cluster), err);
}

static enum rig_rc restore_cluster(void *run, struct rig_err *err)
{
    struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    const int64_t deadline_ns = start_deadline_ns(cluster);
    return rig_my_site_is_galera(&cluster->site) ? rig_my_galera_restore(cluster, deadline_ns, err)
                                                 : my_replication_restore(cluster, deadline_ns, err);
}

const struct rig_sql_nodes rig_my_nodes = {
    .primary = primary,
    .status = node_status,
    .socket = node_socket,
};

static enum rig_rc tell_access(void *run, void (*tell)(void *context, const char *setting), void *context,
                               struct rig_err *err)
{
    const struct rig_my_cluster *cluster = rig_my_cluster_of(run);
    const char *user = cluster->site.options->sql.user;
    const bool own = !rig_sql_given(user) || strcmp(user, RIG_MY_CLIENT) == 0;
    const struct rig_sql_access access = {.user = own ? RIG_MY_CLIENT : NULL,
                                          .password = own ? cluster->site.password : NULL,
                                          .all_write = rig_my_site_is_galera(&cluster->site)};
    return rig_sql_cluster_tell_access(run, &access, tell, context, err);
}

static const struct rig_server_variation varied[] = {
    {.name = "innodb_flush_log_at_trx_commit", .values = "0 1 2"},
    {.name = "log_bin", .values = "binlog"},
    {.name = "innodb_adaptive_hash_index", .values = "ON"},
    {.name = "innodb_buffer_pool_size", .values = "16M"},
    {.name = "innodb_deadlock_detect", .values = "OFF"},
    {.name = "innodb_autoinc_lock_mode", .values = "0 2"},
    {.name = "innodb_rollback_on_timeout", .values = "ON"},
    {.name = "thread_handling", .values = "pool-of-threads"},
    {.name = "table_open_cache", .values = "10"},
    {.name = NULL},
};

const struct rig_cluster_ops rig_my_cluster_ops = {
    .wanted = rig_sql_cluster_wanted,
    .has_version = rig_my_site_has_version,
    .start = start_cluster,
    .stop = stop_cluster,
    .kill_now = rig_sql_cluster_kill_now,
    .node_count = rig_sql_cluster_node_count,
    .status = rig_sql_cluster_status,
    .stop_node = stop_one,
    .start_node = start_one,
    .promote = promote_one,
    .restore = restore_cluster,
    .processes = rig_sql_cluster_processes,
    .data_dir = rig_sql_cluster_data_dir,
    .set_environment = rig_sql_cluster_set_environment,
    .faults = rig_my_faults,
    .address = rig_sql_cluster_address,
    .access = tell_access,
    .varied = varied,
};
