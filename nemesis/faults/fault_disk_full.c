/*
 * disk-full: no file of the nodes can grow any more (ENOSPC); writes over existing bytes still work.
 *
 * The shim refuses the writes, so no disk has to be filled. A node that ended because of it is started when the disk
 * has space again. Evidence: writes that were refused.
 */
#include "base/plural.h"
#include "nemesis/fault_setup.h"
#include "nemesis/fault_context.h"

struct target {
    struct rig_shim_control *control; /* the orders of the node */
    uint64_t before;
    bool to_start; /* the node may have ended because of it */
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->grows) - target->before;
}

static enum rig_rc fill(const struct rig_fault_site *site, uint32_t node, void *private_target, struct rig_err *err)
{
    struct target *target = private_target;
    const char *name = rig_fleet_of(site)->names[node];
    struct rig_shim_control *control = NULL;
    const enum rig_rc rc = rig_fault_setup_shim(site, node, true, &control, err);
    if (rc != RIG_OK)
        return rc;
    target->before = atomic_load(&control->grows);
    if (atomic_exchange(&control->full, 1) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: its disk is already full: faults of a disk must not overlap", name);
    target->control = control;
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    static const struct rig_strike each = {fill, count, sizeof(struct target),
                                           "writes through rig's shim that make a file grow", "a write was refused"};
    return rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    if (target->control != NULL) {
        atomic_store(&target->control->full, 0);
        const unsigned long long refused = count(target);
        rig_evidence_add(evidence, "%s: %llu write%s %s refused", rig_target_name(site, i), refused,
                         rig_plural(refused), rig_was_were(refused));
        *target = (struct target){.to_start = true};
    }
    const enum rig_rc rc = target->to_start ? rig_revive(site, site->nodes[i], false, err) : RIG_OK;
    target->to_start = target->to_start && rc != RIG_OK;
    return rc;
}

const struct rig_fault rig_fault_disk_full = {
    .name = "disk-full",
    .summary = "lets no file of nodes grow, as on a full disk",
    .needs = RIG_NEED_PRELOAD | RIG_NEED_RESTART | RIG_FAULT_ENDS,
    .state_size = sizeof(struct state),
    .available = rig_shims_are_there,
    .inject = inject,
    .heal_node = heal_node,
};
