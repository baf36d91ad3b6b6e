/*
 * The faults that a control group makes: little CPU time, little memory.
 */
#include "base/plural.h"
#include "nemesis/cgroup.h"

/*
 * memory: limits the memory that the processes of nodes allocate from now on, pages of files that they read and write
 * included (by a control group); their earlier memory does not count.
 *
 * The kernel reclaims pages to keep the limit, and when that does not suffice it ends one of the processes; the heal
 * starts a node that ended. Evidence: the kernel's count of the times that the limit was met.
 */

struct memory_options {
    int64_t limit_bytes;
};

static const struct rig_option memory_table[] = {
    {.name = "limit",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct memory_options, limit_bytes),
     .default_text = "512KiB",
     .least = 1 << 16,
     .most = 1e13,
     .help = "additional memory for the node's processes, including pages of files"},
    {.name = NULL},
};

struct target {
    struct rig_cgroup group;
    bool to_start; /* the node may have ended because of it */
};

struct memory_state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t memory_count(const void *context)
{
    const struct rig_cgroup *group = context;
    return group->unified ? rig_cgroup_number(group, "memory.events", "max")
                          : rig_cgroup_number(group, "memory.failcnt", NULL);
}

static enum rig_rc memory_inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                      struct rig_evidence *evidence, struct rig_err *err)
{
    const struct memory_options *options = site->options;
    struct target *target = &((struct memory_state *)private_state)->targets[i];
    struct rig_cgroup *group = &target->group;
    const struct rig_effect effect = {
        .count = memory_count, .context = group, .what = "times that the limit was reached"};
    char text[32];
    uint32_t processes = 0;
    (void)snprintf(text, sizeof text, "%lld", (long long)options->limit_bytes);
    enum rig_rc rc = rig_cgroup_make(site, site->nodes[i], "memory", group, err);
    if (rc == RIG_OK)
        rc = rig_cgroup_set(group, group->unified ? "memory.max" : "memory.limit_in_bytes", text, err);
    target->to_start = rc == RIG_OK;
    if (rc == RIG_OK)
        rc = rig_cgroup_take(site, site->nodes[i], group, &processes, err);
    if (rc == RIG_OK)
        rc = rig_await_effect(site, &effect, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: reached its limit of memory", rig_target_name(site, i));
    return rc;
}

static enum rig_rc memory_heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                    struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct memory_state *)private_state)->targets[i];
    enum rig_rc rc = RIG_OK;
    if (target->group.path[0] != '\0') {
        const unsigned long long times = memory_count(&target->group);
        rc = rig_cgroup_end(site, &target->group, err);
        if (rc == RIG_OK)
            rig_evidence_add(evidence, "%s: %llu time%s", rig_target_name(site, i), times, rig_plural(times));
    }
    const enum rig_rc started = target->to_start ? rig_revive(site, site->nodes[i], false, err) : RIG_OK;
    target->to_start = target->to_start && started != RIG_OK;
    return rc == RIG_OK ? started : rc;
}

static bool memory_available(const void *options, char *why, size_t size)
{
    (void)options;
    return rig_cgroup_is_possible("memory", why, size);
}

const struct rig_fault rig_fault_memory = {
    .name = "memory",
    .summary = "limits the additional memory of nodes, by a control group",
    .needs = RIG_NEED_PROCESSES | RIG_NEED_RESTART | RIG_FAULT_ENDS,
    .options = memory_table,
    .options_size = sizeof(struct memory_options),
    .state_size = sizeof(struct memory_state),
    .available = memory_available,
    .inject_node = memory_inject_node,
    .heal_node = memory_heal_node,
};

/*
 * cpu: limits the processor time of the nodes' processes (a quota of a control group).
 *
 * Evidence: the kernel counts the periods in which the group had used up its quota and had to wait.
 */

struct cpu_options {
    double quota;
};

static const struct rig_option cpu_table[] = {
    {.name = "quota",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct cpu_options, quota),
     .default_text = "10%",
     .least = 0.01,
     .most = 1,
     .help = "share of one processor for all the node's processes together"},
    {.name = NULL},
};

enum { PERIOD_US = 100000 };

struct cpu_state {
    struct rig_cgroup groups[RIG_NODES_MOST];
};

static uint64_t cpu_count(const void *context)
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

static enum rig_rc cpu_inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                   struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_cgroup *group = &((struct cpu_state *)private_state)->groups[i];
    const struct cpu_options *options = site->options;
    const struct rig_effect effect = {
        .count = cpu_count, .context = group, .what = "periods in which it ran out of processor time"};
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

static enum rig_rc cpu_heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                 struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_cgroup *group = &((struct cpu_state *)private_state)->groups[i];
    if (group->path[0] == '\0')
        return RIG_OK;
    const unsigned long long periods = cpu_count(group);
    const enum rig_rc rc = rig_cgroup_end(site, group, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: in %llu period%s", rig_target_name(site, i), periods, rig_plural(periods));
    return rc;
}

static bool cpu_available(const void *options, char *why, size_t size)
{
    (void)options;
    return rig_cgroup_is_possible("cpu", why, size);
}

const struct rig_fault rig_fault_cpu = {
    .name = "cpu",
    .summary = "limits nodes to a share of a processor, by a control group",
    .needs = RIG_NEED_PROCESSES,
    .options = cpu_table,
    .options_size = sizeof(struct cpu_options),
    .state_size = sizeof(struct cpu_state),
    .available = cpu_available,
    .inject_node = cpu_inject_node,
    .heal_node = cpu_heal_node,
};
