#include "drivers/etcd/etcd_faults.h"

#include <stdio.h>

#include "base/plural.h"
#include "drivers/etcd/etcd_cluster.h"
#include "drivers/etcd/etcd_run.h"

static const int64_t ask_ns = 2000000000;

static struct rig_etcd_cluster *cluster_of(const struct rig_fault_site *site)
{
    return &((struct rig_etcd_run *)site->run)->cluster;
}

/* -- compact ------------------------------------------------------------------------------------------------------- */

struct compact_options {
    int64_t keep;
    int64_t timeout_ns;
};

static const struct rig_option compact_table[] = {
    {.name = "keep",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct compact_options, keep),
     .default_text = "0",
     .least = 0,
     .most = 1e9,
     .help = "number of latest revisions that are kept"},
    {.name = "timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct compact_options, timeout_ns),
     .default_text = "30s",
     .least = 1e8,
     .most = 6e11,
     .help = "time limit"},
    {0},
};

static enum rig_rc compact(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                           struct rig_err *err)
{
    const struct compact_options *options = site->options;
    struct rig_etcd_cluster *cluster = cluster_of(site);
    const uint32_t node = site->nodes[0];
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    const struct rig_etcd_asked patient = rig_etcd_cluster_ask(cluster, node, options->timeout_ns);
    struct rig_etcd_said said = {0};
    (void)state;
    enum rig_rc rc = rig_etcd_say(&asked, &said, err);
    const int64_t revision = said.revision - options->keep;
    if (rc == RIG_OK && revision < 1)
        return rig_fail(err, RIG_E_CLUSTER, "there is nothing to compact: the cluster is at revision %lld",
                        (long long)said.revision);
    if (rc == RIG_OK)
        rc = rig_etcd_compact(&patient, revision, err);
    if (rc == RIG_OK)
        (void)snprintf(evidence->text, sizeof evidence->text, "%s compacted the history before revision %lld of %lld",
                       cluster->members[node].node.name, (long long)revision, (long long)said.revision);
    return rc;
}

/* -- defragment ---------------------------------------------------------------------------------------------------- */

struct defragment_options {
    int64_t timeout_ns;
};

static const struct rig_option defragment_table[] = {
    {.name = "timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct defragment_options, timeout_ns),
     .default_text = "30s",
     .least = 1e8,
     .most = 6e11,
     .help = "time limit for each member"},
    {0},
};

static enum rig_rc defragment(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                              struct rig_err *err)
{
    const struct defragment_options *options = site->options;
    struct rig_etcd_cluster *cluster = cluster_of(site);
    const int64_t start_ns = site->core->now_ns();
    (void)state;
    for (uint32_t i = 0; i < site->node_count; i++) {
        const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, site->nodes[i], options->timeout_ns);
        const enum rig_rc rc = rig_etcd_defragment(&asked, err);
        if (rc != RIG_OK)
            return rc;
    }
    (void)snprintf(evidence->text, sizeof evidence->text, "%u member%s rewrote %s in %lld ms", site->node_count,
                   rig_plural(site->node_count), site->node_count == 1 ? "its file" : "their files",
                   (long long)((site->core->now_ns() - start_ns) / 1000000));
    return RIG_OK;
}

/* -- replace-member ------------------------------------------------------------------------------------------------ */

struct replace_state {
    uint32_t count; /* for each of the site's nodes: begun */
};

static enum rig_rc expel(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                         struct rig_err *err)
{
    struct rig_etcd_cluster *cluster = cluster_of(site);
    struct replace_state *state = object;
    if (cluster->count < 3 || site->node_count * 2 >= cluster->count)
        return rig_fail(err, RIG_E_CLUSTER,
                        "replace-member: without %u of %u member%s there is no majority; start more, or target fewer",
                        site->node_count, cluster->count, rig_plural(cluster->count));
    size_t length = 0;
    for (; state->count < site->node_count; state->count++) {
        const uint32_t node = site->nodes[state->count];
        const enum rig_rc rc = rig_etcd_expel(cluster, node, err);
        if (rc != RIG_OK) {
            state->count++; /* heal reads it as well */
            return rc;
        }
        length += (size_t)snprintf(evidence->text + length, sizeof evidence->text - length, "%s%s",
                                   length == 0 ? "" : ", ", cluster->members[node].node.name);
    }
    (void)snprintf(evidence->text + length, sizeof evidence->text - length, " left the cluster, its data is removed");
    return RIG_OK;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *object, struct rig_evidence *evidence,
                             struct rig_err *err)
{
    const struct replace_state *state = object;
    (void)evidence;
    return i < state->count ? rig_etcd_readmit(cluster_of(site), site->nodes[i], err) : RIG_OK;
}

static const struct rig_fault faults[] = {
    {.name = "compact",
     .summary = "compacts etcd's history up to the present revision",
     .needs = RIG_NEED_PROCESSES,
     .options = compact_table,
     .options_size = sizeof(struct compact_options),
     .inject = compact},
    {.name = "defragment",
     .summary = "makes a member rewrite its file; it serves no requests meanwhile",
     .needs = RIG_NEED_PROCESSES,
     .options = defragment_table,
     .options_size = sizeof(struct defragment_options),
     .inject = defragment},
    {.name = "replace-member",
     .summary = "removes a member from the cluster, with its data; healed by a new member in its place",
     .needs = RIG_NEED_PROCESSES,
     .state_size = sizeof(struct replace_state),
     .inject = expel,
     .heal_node = heal_node},
};

const struct rig_fault *const rig_etcd_faults[] = {&faults[0], &faults[1], &faults[2], NULL};
