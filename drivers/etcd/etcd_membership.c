#include "drivers/etcd/etcd_membership.h"

#include <string.h>

#include "base/folder.h"
#include "drivers/etcd/etcd_launch.h"

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
        const enum rig_rc rc = rig_etcd_cluster_find(cluster, node, helper, &said, &attempt);
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
    rig_etcd_peer_url(member, url, sizeof url);
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
