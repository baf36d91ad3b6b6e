#include "nemesis/fault_setup.h"

#include "nemesis/fault_context.h"

/* Jitter and loss have a stream of their own beside those of clients and injections. */
static const uint64_t proxy_stream = UINT64_C(0x70726f7879);

/* The union of the needs of all faults in the plan. */
static uint64_t needs_of(const struct rig_nemesis_plan *plan)
{
    uint64_t needs = 0;
    for (uint32_t i = 0; i < plan->entry_count; i++)
        needs |= plan->entries[i].fault->needs;
    return needs;
}

enum rig_rc rig_fault_setup_init(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t seed,
                                 struct rig_err *err)
{
    *setup = (struct rig_fault_setup){.proxy = NULL};
    if ((needs_of(plan) & RIG_NEED_ROUTES) != 0)
        return rig_proxy_start(seed ^ proxy_stream, &setup->proxy, err);
    return RIG_OK;
}

enum rig_rc rig_fault_setup_fit(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t more_needs,
                                const struct rig_cluster_ops *cluster, void *run, const char *folder,
                                struct rig_err *err)
{
    if (((needs_of(plan) | more_needs) & RIG_NEED_PRELOAD) == 0)
        return RIG_OK;
    return rig_shims_init(&setup->shims, cluster, run, folder, err);
}

enum rig_rc rig_fault_setup_check(const struct rig_fault_setup *setup, const struct rig_cluster_ops *cluster, void *run,
                                  struct rig_err *err)
{
    return rig_shims_check(&setup->shims, cluster, run, err);
}

enum rig_rc rig_fault_setup_shim(const struct rig_fault_site *site, uint32_t node, bool files,
                                 struct rig_shim_control **control, struct rig_err *err)
{
    const char *name = rig_fleet_of(site)->names[node];
    const struct rig_shims *shims = &rig_fault_context_of(site)->setup->shims;
    if (files && site->cluster->data_dir == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: this driver does not give its data folder", name);
    return rig_shim_of(shims, node, name, files ? site->cluster->data_dir(site->run, node) : NULL, control, err);
}

void rig_fault_setup_done(struct rig_fault_setup *setup)
{
    rig_shims_done(&setup->shims);
    rig_proxy_stop(setup->proxy);
    *setup = (struct rig_fault_setup){.proxy = NULL};
}
