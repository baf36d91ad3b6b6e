#include "drivers/etcd/etcd_cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"
#include "base/plural.h"
#include "drivers/etcd/etcd_launch.h"
#include "drivers/local/local_machine.h"

static const int64_t ask_ns = 1000000000;

/*
 * Removes a member, or adds the one with the URL. etcd refuses either until all members have been connected for five
 * seconds; then this waits and tries again.
 */
static enum rig_rc change_members(const struct rig_etcd_cluster *cluster, const struct rig_etcd_asked *asked,
                                  uint64_t remove, const char *add_url, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t deadline_ns = core->now_ns() + cluster->options->start_timeout_ns;
    for (;;) {
        uint64_t number = 0;
        struct rig_err attempt = {0};
        const enum rig_rc rc = add_url == NULL ? rig_etcd_remove_member(asked, remove, &attempt)
                                               : rig_etcd_add_member(asked, add_url, &number, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        const bool refused = strstr(attempt.text, "unhealthy cluster") != NULL;
        if (!refused || core->now_ns() > deadline_ns || (add_url == NULL && core->stopping()))
            return rig_fail(err, rc, "%s", attempt.text);
        rig_etcd_pause();
    }
}

/* A member that knows a leader, other than `but` (UINT32_MAX: any). RIG_E_CLUSTER when there is none. */
static enum rig_rc etcd_cluster_find(const struct rig_etcd_cluster *cluster, uint32_t but, uint32_t *node,
                                     struct rig_etcd_said *said, struct rig_err *err)
{
    struct rig_err last = {0};
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, i, ask_ns);
        if (i == but || atomic_load(&cluster->members[i].left) || !rig_local_node_runs(&cluster->members[i].node))
            continue;
        last = (struct rig_err){0};
        if (rig_etcd_say(&asked, said, &last) == RIG_OK && said->leader != 0) {
            *node = i;
            return RIG_OK;
        }
    }
    return rig_fail(err, RIG_E_CLUSTER, "no member knows a leader%s%s", last.rc == RIG_OK ? "" : ": ", last.text);
}

/*
 * A member other than `node` that knows a leader. During an election there is none, so this asks until the deadline;
 * unless `always`, the end of the load ends it.
 */
static enum rig_rc await_helper(const struct rig_etcd_cluster *cluster, uint32_t node, bool always, uint32_t *helper,
                                struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t deadline_ns = core->now_ns() + cluster->options->start_timeout_ns;
    for (;;) {
        struct rig_etcd_said said = {0};
        struct rig_err attempt = {0};
        const enum rig_rc rc = etcd_cluster_find(cluster, node, helper, &said, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        if (core->now_ns() > deadline_ns || (!always && core->stopping()))
            return rig_fail(err, rc, "%s", attempt.text);
        rig_etcd_pause();
    }
}

enum rig_rc rig_etcd_expel(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    struct rig_etcd_member *member = &cluster->members[node];
    struct rig_etcd_said self = {0};
    uint32_t helper = 0;
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    enum rig_rc rc = rig_etcd_say(&asked, &self, err);
    if (rc == RIG_OK)
        rc = await_helper(cluster, node, false, &helper, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_etcd_asked helping =
        rig_etcd_cluster_ask(cluster, helper, 5 * cluster->options->election_ns + ask_ns);
    atomic_store(&member->left, true); /* also when the answer is lost: readmit finds out */
    rc = change_members(cluster, &helping, self.member, NULL, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_etcd_cluster_stop_node(cluster, node, RIG_NODE_KILL, err);
    if (rc == RIG_OK)
        rig_folder_remove(member->node.data);
    return rc;
}

/* The member's number in the cluster, as the other members have it, by its peer URL; 0: it is not among them. */
static enum rig_rc find_member(const struct rig_etcd_asked *asked, const char *url, bool *found, struct rig_err *err)
{
    json_t *answer = NULL;
    size_t i;
    json_t *entry;
    const enum rig_rc rc = rig_etcd_call(asked, "/v3/cluster/member/list", "{}", &answer, err);
    if (rc != RIG_OK)
        return rc;
    *found = false;
    json_array_foreach(json_object_get(answer, "members"), i, entry)
    {
        const char *has = json_string_value(json_array_get(json_object_get(entry, "peerURLs"), 0));
        *found = *found || (has != NULL && strcmp(has, url) == 0);
    }
    json_decref(answer);
    return RIG_OK;
}

/* The member's address for other members. */
static void etcd_peer_url(const struct rig_etcd_member *member, char *url, size_t size)
{
    (void)snprintf(url, size, "http://127.0.0.1:%u", member->announced_port);
}

enum rig_rc rig_etcd_readmit(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    struct rig_etcd_member *member = &cluster->members[node];
    const int64_t deadline_ns = cluster->site.env->core->now_ns() + cluster->options->start_timeout_ns;
    uint32_t helper = 0;
    char url[64];
    bool known = false;
    if (!atomic_load(&member->left))
        return RIG_OK;
    enum rig_rc rc = await_helper(cluster, node, true, &helper, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_etcd_asked helping =
        rig_etcd_cluster_ask(cluster, helper, 5 * cluster->options->election_ns + ask_ns);
    etcd_peer_url(member, url, sizeof url);
    rc = find_member(&helping, url, &known, err);
    if (rc == RIG_OK && !known) {
        /* A new member, so all state of the old one is dropped. */
        rc = rig_etcd_cluster_stop_node(cluster, node, RIG_NODE_KILL, err);
        if (rc == RIG_OK) {
            rig_folder_remove(member->node.data);
            rc = rig_local_make_folder(&cluster->site, member->node.data, err);
        }
        if (rc == RIG_OK)
            rc = change_members(cluster, &helping, 0, url, err);
    }
    if (rc != RIG_OK)
        return rc;
    member->joins = true;
    if (!rig_local_node_runs(&member->node))
        rc = rig_etcd_launch(cluster, member, err);
    if (rc == RIG_OK)
        rc = rig_etcd_await_member(cluster, node, true, true, deadline_ns, err);
    if (rc == RIG_OK)
        atomic_store(&member->left, false);
    return rc;
}

enum {
    START_TRIES = 4,
    LAG_MOST = 1000, /* entries of the raft log that a healthy member may still have to apply */
};

static const int64_t ns_per_ms = 1000000;

static const struct rig_local_kind kind = {
    .name = "etcd", .node_prefix = "etcd", .product = "etcd", .fast_signal = SIGTERM};

void rig_etcd_cluster_init(struct rig_etcd_cluster *cluster, const struct rig_run_env *env,
                           const struct rig_etcd_options *options)
{
    *cluster = (struct rig_etcd_cluster){.options = options};
    rig_local_site_init(&cluster->site, &kind, env);
    cluster->count = options->nodes > 1 ? (uint32_t)options->nodes : 1;
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_init(&cluster->members[i].node, &cluster->site, i);
}

void rig_etcd_cluster_done(struct rig_etcd_cluster *cluster)
{
    if (cluster->site.env != NULL)
        rig_etcd_cluster_stop(cluster);
}

struct rig_etcd_asked rig_etcd_cluster_ask(const struct rig_etcd_cluster *cluster, uint32_t node, int64_t timeout_ns)
{
    return (struct rig_etcd_asked){
        .core = cluster->site.env->core, .port = cluster->members[node].client_port, .timeout_ns = timeout_ns};
}

/* ---- programs ---- */

static enum rig_rc find_program(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    static const char *const programs[] = {"etcd", NULL};
    const char *asked = cluster->options->program;
    char folder[RIG_ETCD_PATH_BYTES - sizeof "/etcd"];
    if (asked != NULL && asked[0] != '\0') {
        (void)snprintf(cluster->program, sizeof cluster->program, "%s", asked);
        if (asked[0] == '/' && strlen(asked) < sizeof cluster->program && access(asked, X_OK) == 0)
            return RIG_OK;
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.program: `%s` is not the absolute path of an executable etcd", asked);
    }
    if (rig_local_find_programs(programs, NULL, folder, sizeof folder)) {
        (void)snprintf(cluster->program, sizeof cluster->program, "%s/etcd", folder);
        return RIG_OK;
    }
    return rig_fail(err, RIG_E_PLAN,
                    "etcd was not found in PATH: install the package etcd-server, or name the program as "
                    "database.cluster.local.program");
}

static enum rig_rc make_data(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_local_make_folder(&cluster->site, cluster->members[i].node.data, err);
    return rc;
}

/* -- ports --------------------------------------------------------------------------------------------------------- */

static enum rig_rc find_ports(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    uint16_t ports[2 * RIG_ETCD_MEMBERS_MOST];
    const enum rig_rc rc = rig_local_free_ports(ports, (size_t)2 * cluster->count, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        struct rig_etcd_member *member = &cluster->members[i];
        member->client_port = ports[2 * i];
        member->peer_port = member->announced_port = ports[2 * i + 1];
    }
    return rc;
}

static const struct rig_child *member_server(void *context, uint32_t member)
{
    const struct rig_etcd_cluster *cluster = context;
    return &cluster->members[member].node.server;
}

/* With faults of the network: every pair of members gets its route, and the switch chooses among them. */
static enum rig_rc make_switch(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    struct rig_local_peer peers[RIG_ETCD_MEMBERS_MOST];
    uint16_t announced[RIG_NODES_MOST];
    for (uint32_t i = 0; i < cluster->count; i++)
        peers[i] = (struct rig_local_peer){cluster->members[i].node.name, cluster->members[i].peer_port};
    const struct rig_local_peers all = {peers, cluster->count, member_server, cluster};
    const enum rig_rc rc = rig_local_switch_join(cluster->site.env->core, &all, &cluster->peers, announced, err);
    for (uint32_t i = 0; rc == RIG_OK && cluster->peers != NULL && i < cluster->count; i++)
        cluster->members[i].announced_port = announced[i];
    return rc;
}

/* -- all members --------------------------------------------------------------------------------------------------- */

static enum rig_rc start_all(struct rig_etcd_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = find_ports(cluster, err);
    if (rc == RIG_OK)
        rc = make_switch(cluster, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_etcd_launch(cluster, &cluster->members[i], err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_etcd_await_member(cluster, i, true, false, deadline_ns, err);
    return rc;
}

/* Undoes make_data() and start_all() except the logs. */
static void end_all(struct rig_etcd_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct rig_local_node *node = &cluster->members[i].node;
        struct rig_err err = {0};
        if (rig_local_node_stop(node, RIG_NODE_KILL, 0, &err) != RIG_OK)
            cluster->site.env->core->log(1, "etcd", "%s", err.text);
        if (node->data[0] != '\0')
            rig_folder_remove(node->data);
    }
    rig_local_switch_free(cluster->peers);
    cluster->peers = NULL;
}

enum rig_rc rig_etcd_cluster_start(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t start_ns = core->now_ns();
    const int64_t deadline_ns = start_ns + cluster->options->start_timeout_ns;
    enum rig_rc rc = find_program(cluster, err);
    if (rc == RIG_OK)
        rc = rig_local_site_open(&cluster->site, cluster->options->run_as, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rig_local_node_init(&cluster->members[i].node, &cluster->site, i);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {0};
        rc = make_data(cluster, &attempt);
        if (rc == RIG_OK)
            rc = start_all(cluster, deadline_ns, &attempt);
        if (rc == RIG_OK)
            break;
        end_all(cluster);
        if (tries == START_TRIES || !rig_local_port_was_taken(&attempt))
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    if (rc == RIG_OK)
        core->log(2, "etcd", "started %u member%s of %s in %s, %lld ms", cluster->count, rig_plural(cluster->count),
                  cluster->program, cluster->site.folder, (long long)((core->now_ns() - start_ns) / ns_per_ms));
    return rc;
}

void rig_etcd_cluster_stop(struct rig_etcd_cluster *cluster)
{
    end_all(cluster);
    rig_local_site_close(&cluster->site);
}

void rig_etcd_cluster_kill_now(struct rig_etcd_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        rig_local_node_kill_now(&cluster->members[i].node);
}

/* -- single members ------------------------------------------------------------------------------------------------ */

enum rig_rc rig_etcd_cluster_status(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_node_status *status,
                                    struct rig_err *err)
{
    if (node >= cluster->count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node);
    const struct rig_etcd_member *member = &cluster->members[node];
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    struct rig_node_status found = {.pid = rig_child_pid(&member->node.server)};
    struct rig_etcd_said said = {0};
    struct rig_err attempt = {0};
    (void)snprintf(found.name, sizeof found.name, "%s", member->node.name);
    if (found.pid == 0 || !rig_local_node_runs(&member->node)) {
        (void)snprintf(found.detail, sizeof found.detail, "%s",
                       atomic_load(&member->left) ? "removed from the cluster" : "it does not run");
    } else if (rig_etcd_say(&asked, &said, &attempt) != RIG_OK) {
        (void)snprintf(found.detail, sizeof found.detail, "%.120s", attempt.text);
    } else {
        found.reachable = true;
        found.healthy = said.leader != 0 && said.raft_index - said.applied_index < LAG_MOST;
        (void)snprintf(found.role, sizeof found.role, "%s",
                       said.leader == 0             ? ""
                       : said.leader == said.member ? "leader"
                                                    : "follower");
        (void)snprintf(found.detail, sizeof found.detail, "revision %lld%s", (long long)said.revision,
                       said.leader == 0 ? ", without a leader" : "");
    }
    *status = found;
    return RIG_OK;
}

enum rig_rc rig_etcd_cluster_stop_node(struct rig_etcd_cluster *cluster, uint32_t node, enum rig_node_end how,
                                       struct rig_err *err)
{
    return rig_local_node_stop(&cluster->members[node].node, how, cluster->options->stop_timeout_ns, err);
}

enum rig_rc rig_etcd_cluster_start_node(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    struct rig_etcd_member *member = &cluster->members[node];
    const int64_t deadline_ns = cluster->site.env->core->now_ns() + cluster->options->start_timeout_ns;
    if (rig_local_node_runs(&member->node))
        return RIG_OK;
    enum rig_rc rc = rig_local_node_stop(&member->node, RIG_NODE_KILL, 0, err); /* its remaining processes */
    if (rc == RIG_OK)
        rc = rig_etcd_launch(cluster, member, err);
    return rc == RIG_OK ? rig_etcd_await_member(cluster, node, false, true, deadline_ns, err) : rc;
}

/* Asks the leader to transfer the leadership. RIG_OK also when there is no leader for now. */
static enum rig_rc ask_leader(struct rig_etcd_cluster *cluster, uint64_t to, struct rig_err *err)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct rig_etcd_said said = {0};
        const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, i, ask_ns);
        const struct rig_etcd_asked patient =
            rig_etcd_cluster_ask(cluster, i, 2 * cluster->options->election_ns + ask_ns);
        if (rig_local_node_runs(&cluster->members[i].node) && rig_etcd_say(&asked, &said, NULL) == RIG_OK &&
            said.leader == said.member)
            return rig_etcd_move_leader(&patient, to, err);
    }
    return RIG_OK;
}

/* Only a leader can transfer the leadership: when the old one is gone, an election comes first. */
enum rig_rc rig_etcd_cluster_promote(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t deadline_ns = core->now_ns() + 10 * cluster->options->election_ns;
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    for (;;) {
        struct rig_etcd_said wanted = {0};
        struct rig_err last = {0};
        enum rig_rc rc = rig_etcd_say(&asked, &wanted, &last);
        if (rc == RIG_OK && wanted.leader == wanted.member)
            return RIG_OK;
        if (rc == RIG_OK)
            rc = ask_leader(cluster, wanted.member, &last);
        if (core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s should become the leader",
                            cluster->members[node].node.name);
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "no leader transfers the leadership to %s%s%s",
                            cluster->members[node].node.name, rc == RIG_OK ? "" : ": ", last.text);
        rig_etcd_pause();
    }
}

/* Waits until all members answer, know a leader and have caught up. */
static enum rig_rc await_healthy(struct rig_etcd_cluster *cluster, int64_t timeout_ns, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.env->core;
    const int64_t deadline_ns = core->now_ns() + timeout_ns;
    for (;;) {
        uint32_t healthy = 0;
        struct rig_node_status status = {.name = ""};
        for (; healthy < cluster->count; healthy++) {
            if (rig_etcd_cluster_status(cluster, healthy, &status, err) != RIG_OK || !status.healthy)
                break;
        }
        if (healthy == cluster->count)
            return RIG_OK;
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "%s is not healthy in time: %s", status.name, status.detail);
        rig_etcd_pause();
    }
}

enum rig_rc rig_etcd_cluster_restore(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < cluster->count; i++) {
        enum rig_rc one =
            atomic_load(&cluster->members[i].left) ? RIG_OK : rig_etcd_cluster_start_node(cluster, i, err);
        rc = rc == RIG_OK ? one : rc;
    }
    for (uint32_t i = 0; i < cluster->count; i++) {
        enum rig_rc one = rig_etcd_readmit(cluster, i, err);
        rc = rc == RIG_OK ? one : rc;
    }
    return rc == RIG_OK ? await_healthy(cluster, cluster->options->start_timeout_ns, err) : rc;
}
