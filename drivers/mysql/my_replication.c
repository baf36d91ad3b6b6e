#include "drivers/mysql/my_replication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

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

enum rig_rc rig_my_replication_start(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
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

enum rig_rc rig_my_replication_start_node(struct rig_my_cluster *cluster, uint32_t index, int64_t deadline_ns,
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

enum rig_rc rig_my_replication_promote(struct rig_my_cluster *cluster, uint32_t index, int64_t deadline_ns,
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

enum rig_rc rig_my_replication_restore(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
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

void rig_my_replication_judge(struct rig_my_cluster *cluster, uint32_t index, struct rig_node_status *status)
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
