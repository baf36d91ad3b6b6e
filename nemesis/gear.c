#include "nemesis/gear.h"

#include "nemesis/ground.h"

/* Jitter and loss have a stream of their own beside those of clients and injections. */
static const uint64_t proxy_stream = UINT64_C(0x70726f7879);

uint64_t rig_gear_needs(const struct rig_nemesis_plan *plan)
{
    uint64_t needs = 0;
    for (uint32_t i = 0; i < plan->entry_count; i++)
        needs |= plan->entries[i].fault->needs;
    return needs;
}

enum rig_rc rig_gear_init(struct rig_gear *gear, const struct rig_nemesis_plan *plan, uint64_t seed,
                          struct rig_err *err)
{
    *gear = (struct rig_gear){.proxy = NULL};
    if ((rig_gear_needs(plan) & RIG_NEED_ROUTES) != 0)
        return rig_proxy_start(seed ^ proxy_stream, &gear->proxy, err);
    return RIG_OK;
}

enum rig_rc rig_gear_fit(struct rig_gear *gear, const struct rig_nemesis_plan *plan,
                         const struct rig_cluster_ops *cluster, void *run, const char *folder, struct rig_err *err)
{
    if ((rig_gear_needs(plan) & RIG_NEED_PRELOAD) == 0)
        return RIG_OK;
    return rig_shims_init(&gear->shims, cluster, run, folder, err);
}

enum rig_rc rig_gear_check(const struct rig_gear *gear, const struct rig_cluster_ops *cluster, void *run,
                           struct rig_err *err)
{
    return rig_shims_check(&gear->shims, cluster, run, err);
}

enum rig_rc rig_gear_shim(const struct rig_fault_site *site, uint32_t node, bool files,
                          struct rig_shim_control **control, struct rig_err *err)
{
    const char *name = rig_fleet_of(site)->names[node];
    const struct rig_shims *shims = &rig_ground_of(site)->gear->shims;
    if (files && site->cluster->data_dir == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: this driver does not say where its data is", name);
    return rig_shim_of(shims, node, name, files ? site->cluster->data_dir(site->run, node) : NULL, control, err);
}

void rig_gear_done(struct rig_gear *gear)
{
    rig_shims_done(&gear->shims);
    rig_proxy_stop(gear->proxy);
    *gear = (struct rig_gear){.proxy = NULL};
}
