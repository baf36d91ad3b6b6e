#include "nemesis/gear.h"

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

void rig_gear_done(struct rig_gear *gear)
{
    rig_proxy_stop(gear->proxy);
    *gear = (struct rig_gear){.proxy = NULL};
}
