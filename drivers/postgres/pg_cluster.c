#include "drivers/postgres/pg_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"
#include "base/plural.h"
#include "drivers/postgres/pg_fault.h"
#include "drivers/postgres/pg_replication.h"
#include "drivers/postgres/pg_title.h"
#include "drivers/sql/sql_cluster.h"

#define SECOND_NS   INT64_C(1000000000)
#define STATUS_NS   SECOND_NS
#define PROMOTE_NS  (20 * SECOND_NS)
#define CATCH_UP_NS (5 * SECOND_NS)    /* after this time a follower counts as diverged */
#define LAG_MOST    "16 * 1024 * 1024" /* maximum lag in bytes of a standby without an effect of a fault */

void rig_pg_cluster_init(struct rig_pg_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_pg_options *options)
{
    *cluster = (struct rig_pg_cluster){.sql = {.nodes = cluster->nodes, .node_bytes = sizeof cluster->nodes[0]}};
    rig_pg_site_init(&cluster->site, env, options);
    rig_pg_routes_init(&cluster->routes);
}

static void stop_nodes(struct rig_pg_cluster *cluster)
{
    const struct rig_core *core = cluster->site.local.env->core;
    /* Their data are removed with them and need not be durable: all at once, without a checkpoint. */
    for (uint32_t i = 0; i < cluster->sql.count; i++)
        rig_local_node_kill_now(&cluster->nodes[i].local);
    for (uint32_t i = 0; i < cluster->sql.count; i++) {
        struct rig_err err = {.rc = RIG_OK};
        if (rig_pg_node_stop(&cluster->nodes[i], RIG_NODE_IMMEDIATE, &err) != RIG_OK)
            core->log(0, "postgres", "%s", err.text);
    }
    cluster->sql.count = 0;
    rig_pg_site_close(&cluster->site);
}

void rig_pg_cluster_done(struct rig_pg_cluster *cluster)
{
    if (cluster->site.local.env == NULL)
        return;
    stop_nodes(cluster);
    for (uint32_t i = 0; i < RIG_NODES_MOST; i++)
        rig_local_node_done(&cluster->nodes[i].local);
    rig_local_node_done(&cluster->aside.local);
    rig_pg_routes_done(&cluster->routes);
}

static uint32_t primary(const struct rig_sql_run *run)
{
    return atomic_load(&rig_pg_cluster_of(run)->primary);
}

static bool holds_back(const struct rig_sql_run *run, uint32_t node)
{
    return atomic_load(&rig_pg_cluster_of(run)->held_back) == node + 1;
}

static uint16_t node_socket(const struct rig_sql_run *run, uint32_t node, struct rig_sql_endpoint *endpoint)
{
    const struct rig_pg_cluster *cluster = rig_pg_cluster_of(run);
    rig_pg_node_socket(&cluster->nodes[node], endpoint);
    return cluster->site.tcp ? (uint16_t)atomic_load(&cluster->nodes[node].port) : 0;
}

enum rig_rc rig_pg_cluster_endpoint(struct rig_pg_cluster *cluster, uint32_t node, struct rig_sql_endpoint *endpoint,
                                    struct rig_err *err)
{
    if (node >= cluster->sql.count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node + 1);
    return rig_pg_routes_find(&cluster->routes, NULL, &cluster->nodes[node], endpoint, err);
}

void rig_pg_cluster_credentials(const struct rig_pg_cluster *cluster, struct rig_pg_target *target)
{
    /* Its password is rig's own, also where the plan names it. */
    if (target->user == NULL || target->user[0] == '\0' || strcmp(target->user, RIG_PG_SUPERUSER) == 0) {
        target->user = RIG_PG_SUPERUSER;
        target->password = cluster->site.password;
    }
    if (target->dbname == NULL || target->dbname[0] == '\0')
        target->dbname = RIG_PG_SUPERUSER;
}

static struct rig_pg_node *primary_of(struct rig_pg_cluster *cluster)
{
    return &cluster->nodes[atomic_load(&cluster->primary)];
}

static int64_t start_deadline_ns(const struct rig_pg_cluster *cluster)
{
    return cluster->site.local.env->core->now_ns() + cluster->site.options->sql.start_timeout_ns;
}

/* ---- former primaries ---- */

void rig_pg_cluster_read_former(struct rig_pg_cluster *cluster, uint32_t index)
{
    struct rig_pg_node *node = &cluster->nodes[index], *aside = &cluster->aside;
    struct rig_err err = {.rc = RIG_OK}, ignored = {.rc = RIG_OK};
    if (cluster->roles.promoted == NULL || !cluster->roles.wanted(cluster->roles.context, index))
        return;
    enum rig_rc rc = rig_pg_node_stop(node, RIG_NODE_IMMEDIATE, &err);
    if (rc == RIG_OK && rig_pg_node_is_standby(node))
        rc = rig_fail(&err, RIG_E_CLUSTER, "%s became a standby before its commits were read", node->local.name);
    if (rc == RIG_OK) {
        rig_pg_node_init_aside(aside, node);
        rc = rig_pg_node_start(aside, true, start_deadline_ns(cluster), &err);
    }
    cluster->roles.read_former(cluster->roles.context, index, rc == RIG_OK ? aside : NULL, err.text);
    if (rc == RIG_OK)
        (void)rig_pg_node_stop(aside, RIG_NODE_FAST, &ignored);
}

/* Gives a node the primary's data. */
static enum rig_rc rejoin(struct rig_pg_cluster *cluster, struct rig_pg_node *node, bool anew, int64_t deadline_ns,
                          struct rig_err *err)
{
    rig_pg_cluster_read_former(cluster, node->index);
    return rig_pg_rejoin(node, primary_of(cluster), &cluster->routes, anew, deadline_ns, err);
}

/* ---- starting ---- */

/* The data of a server that has never run, one copy for each node. */
static enum rig_rc create_data(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_pg_site *site = &cluster->site;
    enum rig_rc rc = rig_pg_site_make_data(site, cluster->nodes[0].local.data, deadline_ns, err);
    for (uint32_t i = 1; rc == RIG_OK && i < cluster->sql.count; i++) {
        rc = rig_folder_copy(cluster->nodes[0].local.data, cluster->nodes[i].local.data, &site->local.account, err);
        if (rc == RIG_OK)
            rc = rig_pg_node_make_standby(&cluster->nodes[i], err);
    }
    return rc;
}

static enum rig_rc set_password(const struct rig_pg_node *primary, struct rig_err *err)
{
    char sql[256];
    /* No standby is up yet that could confirm it. */
    (void)snprintf(sql, sizeof sql, "SET synchronous_commit = local; ALTER ROLE " RIG_PG_SUPERUSER " PASSWORD '%s'",
                   primary->site->password);
    return rig_pg_node_ask(primary, sql, primary->site->options->sql.start_timeout_ns, NULL, err);
}

static enum rig_rc start_in_role(struct rig_pg_cluster *cluster, struct rig_pg_node *node, bool always,
                                 int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = rig_pg_follow(node, primary_of(cluster), &cluster->routes, err);
    return rc != RIG_OK ? rc : rig_pg_node_start(node, always, deadline_ns, err);
}

/* Waits until every follower shows all that the primary has written so far. */
static enum rig_rc await_followers(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    char position[RIG_PG_ANSWER_BYTES];
    const struct rig_pg_node *primary = primary_of(cluster);
    enum rig_rc rc = rig_pg_node_ask(primary, "SELECT pg_current_wal_lsn()", STATUS_NS, position, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        if (&cluster->nodes[i] != primary)
            rc = rig_pg_await_caught_up(&cluster->nodes[i], position, &cluster->line, deadline_ns, err);
    }
    return rc;
}

static enum rig_rc start_primary(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_pg_node *primary = primary_of(cluster);
    enum rig_rc rc = start_in_role(cluster, primary, false, deadline_ns, err);
    if (rc == RIG_OK)
        rc = set_password(primary, err);
    if (rc == RIG_OK)
        rc = rig_pg_find_line(primary, &cluster->line, err);
    atomic_store(&cluster->timeline, cluster->line.timeline);
    return rc;
}

static enum rig_rc start_standby(struct rig_pg_cluster *cluster, struct rig_pg_node *node, int64_t deadline_ns,
                                 struct rig_err *err)
{
    struct rig_err attempt = {.rc = RIG_OK};
    enum rig_rc rc = start_in_role(cluster, node, false, deadline_ns, &attempt);
    if (rc == RIG_OK || cluster->site.local.env->core->stopping())
        return rc == RIG_OK ? rc : rig_fail(err, rc, "%s", attempt.text);
    /* The template's log begins with the default settings, and a standby must not have lower ones than its primary. */
    cluster->site.local.env->core->log(2, "postgres", "%s", attempt.text);
    return rejoin(cluster, node, true, deadline_ns, err);
}

static enum rig_rc start_nodes(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = start_primary(cluster, deadline_ns, err);
    for (uint32_t i = 1; rc == RIG_OK && i < cluster->sql.count; i++)
        rc = start_standby(cluster, &cluster->nodes[i], deadline_ns, err);
    return rc != RIG_OK || cluster->sql.count == 1 ? rc : await_followers(cluster, deadline_ns, err);
}

static enum rig_rc start_cluster(void *run, struct rig_err *err)
{
    struct rig_pg_cluster *cluster = rig_pg_cluster_of(run);
    struct rig_pg_site *site = &cluster->site;
    const struct rig_core *core = site->local.env->core;
    int64_t start_ns = core->now_ns();
    int64_t deadline_ns = start_deadline_ns(cluster);
    RIG_INVARIANT(cluster->sql.count == 0);
    enum rig_rc rc = rig_pg_site_open(site, err);
    if (rc != RIG_OK)
        return rc;
    for (uint32_t i = 0; i < site->node_count; i++)
        rig_pg_node_init(&cluster->nodes[i], site, i);
    cluster->sql.count = site->node_count;
    rc = create_data(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        rc = start_nodes(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        core->log(2, "postgres", "started %s/postgres, %u node%s in %s, %lld ms", site->bin_dir, cluster->sql.count,
                  rig_plural(cluster->sql.count), site->local.folder,
                  (long long)((core->now_ns() - start_ns) / 1000000));
    return rc;
}

/* ---- stopping ---- */

static void stop_cluster(void *run)
{
    stop_nodes(rig_pg_cluster_of(run));
}

static void kill_cluster(void *run)
{
    rig_sql_cluster_kill_now(run);
    rig_local_node_kill_now(&rig_pg_cluster_of(run)->aside.local);
}

/* ---- status ---- */

static const char status_sql[] =
    "SELECT concat_ws(' ', CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END, coalesce(r.status, 'none'),"
    " coalesce(r.received_tli, 0), coalesce(pg_wal_lsn_diff(r.latest_end_lsn, pg_last_wal_replay_lsn()), 0) "
    "<= " LAG_MOST ") FROM (SELECT 1) o LEFT JOIN pg_stat_wal_receiver r ON true";

/* Reads the answer to status_sql: role, the receiver's state and timeline, whether it is close behind. */
static void judge(const struct rig_pg_cluster *cluster, uint32_t node, char *answer, struct rig_node_status *status)
{
    char *rest = NULL;
    const char *role = strtok_r(answer, " ", &rest);
    const char *receiver = strtok_r(NULL, " ", &rest);
    const char *timeline = strtok_r(NULL, " ", &rest);
    const char *close_behind = strtok_r(NULL, " ", &rest);
    if (role == NULL || receiver == NULL || timeline == NULL || close_behind == NULL)
        return;
    bool is_primary = strcmp(role, "primary") == 0;
    bool should_be = node == atomic_load(&cluster->primary);
    (void)snprintf(status->role, sizeof status->role, "%s", role);
    if (is_primary != should_be)
        (void)snprintf(status->detail, sizeof status->detail, "%s",
                       is_primary ? "it is a primary beside the promoted one" : "the primary is in recovery");
    else if (!is_primary && strcmp(receiver, "streaming") != 0)
        (void)snprintf(status->detail, sizeof status->detail, "it receives nothing from the primary");
    else if (!is_primary && strtol(timeline, NULL, 10) != atomic_load(&cluster->timeline))
        (void)snprintf(status->detail, sizeof status->detail, "it follows another timeline than the primary's");
    else if (!is_primary && close_behind[0] != 't')
        (void)snprintf(status->detail, sizeof status->detail, "it is far behind");
    else
        status->healthy = true;
}

static enum rig_rc node_status(struct rig_sql_run *run, uint32_t index, struct rig_node_status *status,
                               struct rig_err *err)
{
    struct rig_pg_cluster *cluster = rig_pg_cluster_of(run);
    if (index >= cluster->sql.count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u, or it was not started", index + 1);
    const struct rig_pg_node *node = &cluster->nodes[index];
    struct rig_node_status found = {.healthy = false};
    struct rig_err attempt = {.rc = RIG_OK};
    char answer[RIG_PG_ANSWER_BYTES];
    (void)snprintf(found.name, sizeof found.name, "%s", node->local.name);
    if (!rig_local_node_runs(&node->local)) {
        (void)snprintf(found.detail, sizeof found.detail, "its main process has ended");
    } else {
        found.pid = rig_child_pid(&node->local.server);
        found.reachable = rig_pg_node_ask(node, status_sql, STATUS_NS, answer, &attempt) == RIG_OK;
        if (found.reachable)
            judge(cluster, index, answer, &found);
        else
            rig_pg_one_line(found.detail, sizeof found.detail, attempt.text);
    }
    *status = found;
    return RIG_OK;
}

/* ---- faults ---- */

static enum rig_rc stop_one(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    struct rig_pg_cluster *cluster = rig_pg_cluster_of(run);
    RIG_REQUIRE(node < cluster->sql.count);
    return rig_pg_node_stop(&cluster->nodes[node], how, err);
}

/* Points each running node at the primary, except `except`. */
static enum rig_rc point_followers(struct rig_pg_cluster *cluster, const struct rig_pg_node *except,
                                   struct rig_err *err)
{
    struct rig_pg_node *primary = primary_of(cluster);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < cluster->sql.count; i++) {
        struct rig_pg_node *node = &cluster->nodes[i];
        if (node == primary || node == except || !rig_local_node_runs(&node->local))
            continue;
        enum rig_rc one = rig_pg_follow(node, primary, &cluster->routes, err);
        rc = rc == RIG_OK ? one : rc;
    }
    return rc;
}

static enum rig_rc start_node(struct rig_pg_cluster *cluster, uint32_t index, struct rig_err *err)
{
    RIG_REQUIRE(index < cluster->sql.count);
    struct rig_pg_node *node = &cluster->nodes[index];
    if (rig_local_node_runs(&node->local))
        return RIG_OK;
    int port = atomic_load(&node->port);
    enum rig_rc rc = start_in_role(cluster, node, true, start_deadline_ns(cluster), err);
    if (rc == RIG_OK && node == primary_of(cluster) && port != atomic_load(&node->port))
        rc = point_followers(cluster, NULL, err);
    return rc;
}

static enum rig_rc start_one(void *run, uint32_t node, struct rig_err *err)
{
    return start_node(rig_pg_cluster_of(run), node, err);
}

static enum rig_rc promote(struct rig_pg_cluster *cluster, uint32_t index, struct rig_err *err)
{
    RIG_REQUIRE(index < cluster->sql.count);
    struct rig_pg_node *node = &cluster->nodes[index];
    const struct rig_pg_node *old = primary_of(cluster);
    if (!rig_local_node_runs(&node->local))
        return rig_fail(err, RIG_E_CLUSTER, "%s cannot be promoted: it is down", node->local.name);
    if (!rig_pg_node_is_standby(node))
        return node == old ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s is already a primary", node->local.name);
    if (cluster->roles.promoted != NULL)
        atomic_store(&cluster->held_back, index + 1);
    enum rig_rc rc = rig_pg_promote(node, PROMOTE_NS, &cluster->line, err);
    if (rc == RIG_OK && cluster->roles.promoted != NULL)
        cluster->roles.promoted(cluster->roles.context, node, &cluster->line);
    atomic_store(&cluster->held_back, 0);
    if (rc != RIG_OK)
        return rc;
    atomic_store(&cluster->timeline, cluster->line.timeline);
    atomic_store(&cluster->primary, index);
    cluster->site.local.env->core->log(2, "postgres", "%s is the primary now, timeline %d", node->local.name,
                                       cluster->line.timeline);
    return point_followers(cluster, old, err);
}

static enum rig_rc promote_one(void *run, uint32_t node, struct rig_err *err)
{
    return promote(rig_pg_cluster_of(run), node, err);
}

/* ---- restoring ---- */

/* Makes sure that the primary runs and is one. */
static enum rig_rc restore_primary(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_pg_node *primary = primary_of(cluster);
    enum rig_rc rc = RIG_OK;
    if (!rig_local_node_runs(&primary->local))
        rc = start_node(cluster, primary->index, err);
    else
        rc = rig_pg_node_start(primary, true, deadline_ns, err); /* it may be recovering from a crash */
    if (rc == RIG_OK && rig_pg_node_is_standby(primary))
        rc = promote(cluster, primary->index, err);
    return rc;
}

/* Whether the standby has log that its primary lacks: of another timeline, or lost there when the power failed. */
static bool is_ahead(struct rig_pg_cluster *cluster, const struct rig_pg_node *node)
{
    char position[RIG_PG_ANSWER_BYTES];
    char sql[RIG_PG_ANSWER_BYTES + 64];
    char answer[RIG_PG_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_pg_node_ask(node, "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())", STATUS_NS,
                        position, &ignored) != RIG_OK)
        return false;
    (void)snprintf(sql, sizeof sql, "SELECT pg_current_wal_insert_lsn() < '%s'", position);
    return rig_pg_node_ask(primary_of(cluster), sql, STATUS_NS, answer, &ignored) == RIG_OK && answer[0] == 't';
}

/* The state of a follower that restore() finds, and the steps done. */
struct return_state {
    bool starts; /* over its own data */
    bool ahead;
    bool cut; /* it has no connection to the primary, and cannot follow now */
    bool rejoined;
};

/* Starts the followers that can start; checks each before their start moves the primary's log on. */
static void start_followers(struct rig_pg_cluster *cluster, struct return_state *states, int64_t deadline_ns)
{
    for (uint32_t i = 0; i < cluster->sql.count; i++) {
        struct rig_pg_node *node = &cluster->nodes[i];
        struct rig_err attempt = {.rc = RIG_OK};
        states[i] = (struct return_state){.starts = false};
        if (node == primary_of(cluster))
            continue;
        states[i].cut = !rig_pg_has_line(node, primary_of(cluster), &cluster->routes);
        if (!rig_pg_node_is_standby(node))
            continue;
        states[i].starts = start_in_role(cluster, node, true, deadline_ns, &attempt) == RIG_OK;
        states[i].ahead = states[i].starts && is_ahead(cluster, node);
    }
}

/* Gives the primary's data to followers that cannot follow with their own. */
static enum rig_rc convert_followers(struct rig_pg_cluster *cluster, struct return_state *states, int64_t deadline_ns,
                                     struct rig_err *err)
{
    struct rig_pg_node *primary = primary_of(cluster);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        struct rig_pg_node *node = &cluster->nodes[i];
        if (node == primary || (states[i].starts && !states[i].ahead))
            continue;
        if (states[i].ahead)
            cluster->site.local.env->core->log(2, "postgres", "%s is ahead of the primary: it is created again",
                                               node->local.name);
        states[i].rejoined = true;
        /* Only a base backup starts without more of the primary's log. */
        rc = rejoin(cluster, node, states[i].ahead || states[i].cut, deadline_ns, err);
    }
    return rc;
}

static bool catches_up(struct rig_pg_cluster *cluster, const struct rig_pg_node *node, const char *position)
{
    const struct rig_core *core = cluster->site.local.env->core;
    struct rig_err attempt = {.rc = RIG_OK};
    if (rig_pg_await_caught_up(node, position, &cluster->line, core->now_ns() + CATCH_UP_NS, &attempt) == RIG_OK)
        return true;
    core->log(2, "postgres", "%s", attempt.text);
    return false;
}

/*
 * Waits for the follower; one that does not catch up has diverged, and gets the primary's data: by pg_rewind, and where
 * that sees no difference (a primary that lost data it had flushed) by a base backup.
 */
static enum rig_rc reunite(struct rig_pg_cluster *cluster, struct rig_pg_node *node, bool rejoined,
                           const char *position, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int anew = rejoined ? 1 : 0; rc == RIG_OK && anew <= 1; anew++) {
        if (catches_up(cluster, node, position))
            return RIG_OK;
        rc = rejoin(cluster, node, anew == 1, deadline_ns, err);
    }
    if (rc == RIG_OK && !catches_up(cluster, node, position))
        cluster->site.local.env->core->log(1, "postgres", "%s has the primary's data, but does not follow it",
                                           node->local.name);
    return rc;
}

/* Followers with a cut link are not awaited: they count as not healthy until the link is restored. */
static enum rig_rc reunite_all(struct rig_pg_cluster *cluster, const struct return_state *states, const char *position,
                               int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        struct rig_pg_node *node = &cluster->nodes[i];
        if (node == primary_of(cluster))
            continue;
        if (states[i].cut)
            cluster->site.local.env->core->log(2, "postgres", "%s has no connection to the primary at present",
                                               node->local.name);
        else
            rc = reunite(cluster, node, states[i].rejoined, position, deadline_ns, err);
    }
    return rc;
}

static enum rig_rc restore_cluster(void *run, struct rig_err *err)
{
    struct rig_pg_cluster *cluster = rig_pg_cluster_of(run);
    char position[RIG_PG_ANSWER_BYTES];
    struct return_state states[RIG_NODES_MOST];
    int64_t deadline_ns = start_deadline_ns(cluster);
    enum rig_rc rc = restore_primary(cluster, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_pg_node *primary = primary_of(cluster);
    start_followers(cluster, states, deadline_ns);
    rc = convert_followers(cluster, states, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_node_ask(primary, "SELECT pg_current_wal_lsn()", STATUS_NS, position, err);
    return rc != RIG_OK ? rc : reunite_all(cluster, states, position, deadline_ns, err);
}

const struct rig_sql_nodes rig_pg_nodes = {
    .primary = primary,
    .holds_back = holds_back,
    .status = node_status,
    .socket = node_socket,
};

static enum rig_rc tell_access(void *object, void (*tell)(void *context, const char *setting), void *context,
                               struct rig_err *err)
{
    const struct rig_pg_cluster *cluster = rig_pg_cluster_of(object);
    const struct rig_pg_options *options = cluster->site.options;
    struct rig_pg_target target = {.user = options->sql.user, .dbname = options->dbname};
    rig_pg_cluster_credentials(cluster, &target);
    const struct rig_sql_access access = {.user = target.user, .password = target.password, .dbname = target.dbname};
    return rig_sql_cluster_tell_access(object, &access, tell, context, err);
}

static const struct rig_server_variation varied[] = {
    {.name = "synchronous_commit", .values = "off local"},
    {.name = "autovacuum_naptime", .values = "1s"},
    {.name = "plan_cache_mode", .values = "force_generic_plan force_custom_plan"},
    {.name = "enable_seqscan", .values = "off"},
    {.name = "enable_indexscan", .values = "off"},
    {.name = "enable_bitmapscan", .values = "off"},
    {.name = "max_pred_locks_per_transaction", .values = "10"},
    {.name = "max_pred_locks_per_page", .values = "0 8"},
    {.name = "max_pred_locks_per_relation", .values = "0 8"},
    {.name = "track_commit_timestamp", .values = "on"},
    {.name = "commit_delay", .values = "1000"},
    {.name = "shared_buffers", .values = "256kB"},
    {.name = "wal_level", .values = "logical"},
    {.name = NULL},
};

const struct rig_cluster_ops rig_pg_cluster_ops = {
    .wanted = rig_sql_cluster_wanted,
    .has_version = rig_pg_site_has_version,
    .start = start_cluster,
    .stop = stop_cluster,
    .kill_now = kill_cluster,
    .node_count = rig_sql_cluster_node_count,
    .status = rig_sql_cluster_status,
    .stop_node = stop_one,
    .start_node = start_one,
    .promote = promote_one,
    .restore = restore_cluster,
    .processes = rig_sql_cluster_processes,
    .is_session = rig_pg_process_is_session,
    .data_dir = rig_sql_cluster_data_dir,
    .set_environment = rig_sql_cluster_set_environment,
    .faults = rig_pg_faults,
    .address = rig_sql_cluster_address,
    .access = tell_access,
    .varied = varied,
};
