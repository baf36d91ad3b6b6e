/*
 * memory: limits the memory that the processes of nodes allocate from now on, pages of files that they read and write
 * included (by a control group); their earlier memory does not count.
 *
 * The kernel reclaims pages to keep the limit, and when that does not suffice it ends one of the processes; the heal
 * starts a node that ended. Evidence: the kernel's count of the times that the limit was met.
 */
#include "nemesis/cgroup.h"

#include "base/plural.h"

struct options {
    int64_t limit_bytes;
};

static const struct rig_option table[] = {
    {.name = "limit",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct options, limit_bytes),
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

struct state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    const struct rig_cgroup *group = context;
    return group->unified ? rig_cgroup_number(group, "memory.events", "max")
                          : rig_cgroup_number(group, "memory.failcnt", NULL);
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct target *target = &((struct state *)private_state)->targets[i];
    struct rig_cgroup *group = &target->group;
    const struct rig_effect effect = {.count = count, .context = group, .what = "times that the limit was reached"};
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

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    enum rig_rc rc = RIG_OK;
    if (target->group.path[0] != '\0') {
        const unsigned long long times = count(&target->group);
        rc = rig_cgroup_end(site, &target->group, err);
        if (rc == RIG_OK)
            rig_evidence_add(evidence, "%s: %llu time%s", rig_target_name(site, i), times, rig_plural(times));
    }
    const enum rig_rc started = target->to_start ? rig_revive(site, site->nodes[i], false, err) : RIG_OK;
    target->to_start = target->to_start && started != RIG_OK;
    return rc == RIG_OK ? started : rc;
}

static bool available(const void *options, char *why, size_t size)
{
    (void)options;
    return rig_cgroup_is_possible("memory", why, size);
}

const struct rig_fault rig_fault_memory = {
    .name = "memory",
    .summary = "limits the additional memory of nodes, by a control group",
    .needs = RIG_NEED_PROCESSES | RIG_NEED_RESTART,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject_node = inject_node,
    .heal_node = heal_node,
};
