/*
 * cpu: limits the processor time of the nodes' processes (a quota of a control group).
 *
 * Evidence: the kernel counts the periods in which the group had used up its quota and had to wait.
 */
#include "nemesis/cgroup.h"

#include "base/plural.h"

struct options {
    double quota;
};

static const struct rig_option table[] = {
    {.name = "quota",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, quota),
     .default_text = "10%",
     .least = 0.01,
     .most = 1,
     .help = "share of one processor for all the node's processes together"},
    {.name = NULL},
};

enum { PERIOD_US = 100000 };

struct state {
    struct rig_cgroup groups[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    return rig_cgroup_number(context, "cpu.stat", "nr_throttled");
}

static enum rig_rc set_quota(const struct rig_cgroup *group, double quota, struct rig_err *err)
{
    char text[64];
    const unsigned us = (unsigned)(quota * PERIOD_US);
    if (group->unified) {
        (void)snprintf(text, sizeof text, "%u %d", us, PERIOD_US);
        return rig_cgroup_set(group, "cpu.max", text, err);
    }
    (void)snprintf(text, sizeof text, "%d", PERIOD_US);
    const enum rig_rc rc = rig_cgroup_set(group, "cpu.cfs_period_us", text, err);
    (void)snprintf(text, sizeof text, "%u", us);
    return rc == RIG_OK ? rig_cgroup_set(group, "cpu.cfs_quota_us", text, err) : rc;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_cgroup *group = &((struct state *)private_state)->groups[i];
    const struct options *options = site->options;
    const struct rig_effect effect = {
        .count = count, .context = group, .what = "periods in which it ran out of processor time"};
    uint32_t processes = 0;
    enum rig_rc rc = rig_cgroup_make(site, site->nodes[i], "cpu", group, err);
    if (rc == RIG_OK)
        rc = set_quota(group, options->quota, err);
    if (rc == RIG_OK)
        rc = rig_cgroup_take(site, site->nodes[i], group, &processes, err);
    if (rc == RIG_OK)
        rc = rig_await_effect(site, &effect, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: %u process%s ran out of processor time", rig_target_name(site, i), processes,
                         processes == 1 ? "" : "es");
    return rc;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_cgroup *group = &((struct state *)private_state)->groups[i];
    if (group->path[0] == '\0')
        return RIG_OK;
    const unsigned long long periods = count(group);
    const enum rig_rc rc = rig_cgroup_end(site, group, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: in %llu period%s", rig_target_name(site, i), periods, rig_plural(periods));
    return rc;
}

static bool available(const void *options, char *why, size_t size)
{
    (void)options;
    return rig_cgroup_is_possible("cpu", why, size);
}

const struct rig_fault rig_fault_cpu = {
    .name = "cpu",
    .summary = "limits nodes to a share of a processor, by a control group",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject_node = inject_node,
    .heal_node = heal_node,
};
