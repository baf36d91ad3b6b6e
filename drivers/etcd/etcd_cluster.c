#include "drivers/etcd/etcd_cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"
#include "base/plural.h"
#include "drivers/etcd/etcd_launch.h"
#include "drivers/etcd/etcd_membership.h"

enum {
    START_TRIES = 4,
    LAG_MOST = 1000, /* entries of the raft log that a healthy member may still have to apply */
};

static const int64_t ns_per_ms = 1000000;
static const int64_t ask_ns = 1000000000;
static const int64_t clear_ns = INT64_C(10000000000);

void rig_etcd_cluster_init(struct rig_etcd_cluster *cluster, const struct rig_run_env *env,
                           const struct rig_etcd_options *options)
{
    *cluster = (struct rig_etcd_cluster){.env = env, .options = options};
    cluster->count = options->nodes > 1 ? (uint32_t)options->nodes : 1;
    for (uint32_t i = 0; i < cluster->count; i++)
        (void)snprintf(cluster->members[i].name, sizeof cluster->members[i].name, "etcd-%u", i + 1);
}

void rig_etcd_cluster_done(struct rig_etcd_cluster *cluster)
{
    if (cluster->env != NULL)
        rig_etcd_cluster_stop(cluster);
}

struct rig_etcd_asked rig_etcd_cluster_ask(const struct rig_etcd_cluster *cluster, uint32_t node, int64_t timeout_ns)
{
    return (struct rig_etcd_asked){
        .core = cluster->env->core, .port = cluster->members[node].client_port, .timeout_ns = timeout_ns};
}

void rig_etcd_peer_url(const struct rig_etcd_member *member, char *url, size_t size)
{
    (void)snprintf(url, size, "http://127.0.0.1:%u", member->announced_port);
}

/* -- what it needs ------------------------------------------------------------------------------------------------- */

static enum rig_rc find_program(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    const char *asked = cluster->options->program;
    const char *path = getenv("PATH");
    if (asked != NULL && asked[0] != '\0') {
        (void)snprintf(cluster->program, sizeof cluster->program, "%s", asked);
        if (asked[0] == '/' && strlen(asked) < sizeof cluster->program && access(asked, X_OK) == 0)
            return RIG_OK;
        return rig_fail(err, RIG_E_CLUSTER,
                        "database.cluster.local.program: `%s` is no absolute path of an executable etcd", asked);
    }
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        (void)snprintf(cluster->program, sizeof cluster->program, "%.*s/etcd", (int)length, path);
        if (path[0] == '/' && access(cluster->program, X_OK) == 0)
            return RIG_OK;
        path += length + (path[length] == ':');
    }
    return rig_fail(err, RIG_E_CLUSTER,
                    "etcd was not found in PATH: install the package etcd-server, or name the program as "
                    "database.cluster.local.program");
}

static enum rig_rc find_account(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    if (rig_account_find(cluster->options->run_as, &cluster->account))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER,
                    "there is no user `%s` to run etcd as: name another as database.cluster.local.run-as",
                    cluster->options->run_as);
}

enum rig_rc rig_etcd_make_folder(const struct rig_etcd_cluster *cluster, const char *path, struct rig_err *err)
{
    if (mkdir(path, 0700) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "cannot make %s: %s", path, strerror(errno));
    if (cluster->account.drop && chown(path, cluster->account.uid, cluster->account.gid) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "cannot give %s to %s: %s", path, cluster->account.name, strerror(errno));
    return RIG_OK;
}

static enum rig_rc make_folders(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    (void)snprintf(cluster->folder, sizeof cluster->folder, "%.900s/etcd", cluster->env->work_dir);
    enum rig_rc rc = rig_etcd_make_folder(cluster, cluster->folder, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        struct rig_etcd_member *member = &cluster->members[i];
        (void)snprintf(member->data, sizeof member->data, "%.900s/etcd/%u", cluster->env->work_dir, i + 1);
        rc = rig_etcd_make_folder(cluster, member->data, err);
    }
    return rc;
}

/* -- ports --------------------------------------------------------------------------------------------------------- */

/* A port that is free now, held by the socket in `*holder` until all are found, so that they differ. */
static enum rig_rc free_port(uint16_t *port, int *holder, struct rig_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*holder < 0 || bind(*holder, (struct sockaddr *)&address, size) != 0 ||
        getsockname(*holder, (struct sockaddr *)&address, &size) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "no free port on 127.0.0.1: %s", strerror(errno));
    *port = ntohs(address.sin_port);
    return RIG_OK;
}

static enum rig_rc find_ports(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    int holders[2 * RIG_ETCD_MEMBERS_MOST];
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < 2 * RIG_ETCD_MEMBERS_MOST; i++)
        holders[i] = -1;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++) {
        struct rig_etcd_member *member = &cluster->members[i];
        rc = free_port(&member->client_port, &holders[2 * i], err);
        if (rc == RIG_OK)
            rc = free_port(&member->peer_port, &holders[2 * i + 1], err);
        member->announced_port = member->peer_port;
    }
    for (size_t i = 0; i < 2 * RIG_ETCD_MEMBERS_MOST; i++) {
        if (holders[i] >= 0)
            (void)close(holders[i]);
    }
    return rc;
}

static pid_t member_pid(void *context, uint32_t member)
{
    const struct rig_etcd_cluster *cluster = context;
    return rig_child_pid(&cluster->members[member].child);
}

/* With faults of the network: every pair of members gets its route, and the switch chooses among them. */
static enum rig_rc make_switch(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    uint16_t announced[RIG_ETCD_MEMBERS_MOST];
    if (!core->routed() || cluster->count < 2)
        return RIG_OK;
    enum rig_rc rc = rig_etcd_switch_new(cluster->count, member_pid, cluster, &cluster->peers, announced, err);
    for (uint32_t to = 0; rc == RIG_OK && to < cluster->count; to++) {
        cluster->members[to].announced_port = announced[to];
        for (uint32_t from = 0; rc == RIG_OK && from < cluster->count; from++) {
            uint16_t via = 0;
            if (from == to)
                continue;
            rc = core->route(cluster->members[from].name, cluster->members[to].name, "127.0.0.1",
                             cluster->members[to].peer_port, &via, err);
            if (rc == RIG_OK)
                rig_etcd_switch_set_route(cluster->peers, from, to, via);
        }
    }
    return rc;
}

/* -- all members --------------------------------------------------------------------------------------------------- */

static void end_member(const struct rig_etcd_cluster *cluster, struct rig_etcd_member *member)
{
    if (!rig_child_clear(&member->child, clear_ns, NULL))
        cluster->env->core->log(1, "etcd", "%s could not be ended: a process of it is stuck", member->name);
}

static enum rig_rc start_all(struct rig_etcd_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = find_ports(cluster, err);
    if (rc == RIG_OK)
        rc = make_switch(cluster, err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_etcd_launch(cluster, &cluster->members[i], err);
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->count; i++)
        rc = rig_etcd_await_member(cluster, i, true, deadline_ns, err);
    return rc;
}

/* Undoes start_all() but for the logs. */
static void end_all(struct rig_etcd_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        end_member(cluster, &cluster->members[i]);
    rig_etcd_switch_free(cluster->peers);
    cluster->peers = NULL;
    if (cluster->folder[0] != '\0')
        rig_folder_remove(cluster->folder);
    cluster->folder[0] = '\0';
}

enum rig_rc rig_etcd_cluster_start(struct rig_etcd_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    const int64_t start_ns = core->now_ns();
    const int64_t deadline_ns = start_ns + cluster->options->start_timeout_ns;
    enum rig_rc rc = find_program(cluster, err);
    if (rc == RIG_OK)
        rc = find_account(cluster, err);
    if (rc == RIG_OK)
        rc = rig_children_new(&cluster->children, err);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {0};
        rc = make_folders(cluster, &attempt);
        if (rc == RIG_OK)
            rc = start_all(cluster, deadline_ns, &attempt);
        if (rc == RIG_OK)
            break;
        end_all(cluster);
        if (tries == START_TRIES || strstr(attempt.text, "address already in use") == NULL)
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    if (rc == RIG_OK)
        core->log(2, "etcd", "started %u member%s of %s in %s, %lld ms", cluster->count, rig_plural(cluster->count),
                  cluster->program, cluster->folder, (long long)((core->now_ns() - start_ns) / ns_per_ms));
    return rc;
}

void rig_etcd_cluster_stop(struct rig_etcd_cluster *cluster)
{
    end_all(cluster);
    rig_children_free(cluster->children);
    cluster->children = NULL;
}

void rig_etcd_cluster_kill_now(struct rig_etcd_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        const pid_t pid = rig_child_pid(&cluster->members[i].child);
        if (pid > 0)
            (void)kill(pid, SIGKILL);
    }
}

/* -- single members ------------------------------------------------------------------------------------------------ */

enum rig_rc rig_etcd_cluster_status(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_node_status *status,
                                    struct rig_err *err)
{
    if (node >= cluster->count)
        return rig_fail(err, RIG_E_CLUSTER, "there is no node %u", node);
    const struct rig_etcd_member *member = &cluster->members[node];
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    struct rig_node_status found = {.pid = rig_child_pid(&member->child)};
    struct rig_etcd_said said = {0};
    struct rig_err attempt = {0};
    (void)snprintf(found.name, sizeof found.name, "%s", member->name);
    if (found.pid == 0 || rig_child_ended(&member->child)) {
        (void)snprintf(found.detail, sizeof found.detail, "%s",
                       atomic_load(&member->left) ? "taken out of the cluster" : "it does not run");
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
    struct rig_etcd_member *member = &cluster->members[node];
    const pid_t pid = rig_child_pid(&member->child);
    if (how == RIG_NODE_FAST && pid > 0) {
        (void)kill(pid, SIGTERM);
        (void)kill(pid, SIGCONT);
        (void)rig_child_await(&member->child, cluster->options->stop_timeout_ns);
    }
    if (!rig_child_clear(&member->child, clear_ns, NULL))
        return rig_fail(err, RIG_E_CLUSTER, "%s could not be ended: a process of it is stuck", member->name);
    return RIG_OK;
}

enum rig_rc rig_etcd_cluster_start_node(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    struct rig_etcd_member *member = &cluster->members[node];
    const int64_t deadline_ns = cluster->env->core->now_ns() + cluster->options->start_timeout_ns;
    if (!rig_child_ended(&member->child))
        return RIG_OK;
    if (!rig_child_clear(&member->child, clear_ns, NULL))
        return rig_fail(err, RIG_E_CLUSTER, "%s could not be ended: a process of it is stuck", member->name);
    enum rig_rc rc = rig_etcd_launch(cluster, member, err);
    return rc == RIG_OK ? rig_etcd_await_member(cluster, node, false, deadline_ns, err) : rc;
}

enum rig_rc rig_etcd_cluster_find(const struct rig_etcd_cluster *cluster, uint32_t but, uint32_t *node,
                                  struct rig_etcd_said *said, struct rig_err *err)
{
    struct rig_err last = {0};
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, i, ask_ns);
        if (i == but || atomic_load(&cluster->members[i].left) || rig_child_ended(&cluster->members[i].child))
            continue;
        last = (struct rig_err){0};
        if (rig_etcd_say(&asked, said, &last) == RIG_OK && said->leader != 0) {
            *node = i;
            return RIG_OK;
        }
    }
    return rig_fail(err, RIG_E_CLUSTER, "no member knows a leader%s%s", last.rc == RIG_OK ? "" : ": ", last.text);
}

/* Asks the leader to hand over. RIG_OK also when there is no leader for now. */
static enum rig_rc ask_leader(struct rig_etcd_cluster *cluster, uint64_t to, struct rig_err *err)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct rig_etcd_said said = {0};
        const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, i, ask_ns);
        const struct rig_etcd_asked patient =
            rig_etcd_cluster_ask(cluster, i, 2 * cluster->options->election_ns + ask_ns);
        if (!rig_child_ended(&cluster->members[i].child) && rig_etcd_say(&asked, &said, NULL) == RIG_OK &&
            said.leader == said.member)
            return rig_etcd_move_leader(&patient, to, err);
    }
    return RIG_OK;
}

/* Only a leader can hand over: where the old one is gone, an election comes first. */
enum rig_rc rig_etcd_cluster_promote(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
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
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was to lead", cluster->members[node].name);
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "no leader hands over to %s%s%s", cluster->members[node].name,
                            rc == RIG_OK ? "" : ": ", last.text);
        rig_etcd_pause();
    }
}

enum rig_rc rig_etcd_cluster_await_healthy(struct rig_etcd_cluster *cluster, int64_t timeout_ns, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
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
    return rc == RIG_OK ? rig_etcd_cluster_await_healthy(cluster, cluster->options->start_timeout_ns, err) : rc;
}
