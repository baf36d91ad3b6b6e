/*
 * What a plan's faults need in place before the cluster starts: the proxy that connections go through.
 *
 * Made before the driver's `init` when a fault of the plan asks for it (RIG_NEED_ROUTES), freed when the cluster is
 * down. Faults find it in struct rig_ground.
 */
#ifndef RIG_NEMESIS_GEAR_H
#define RIG_NEMESIS_GEAR_H

#include "drivers/driver.h"
#include "nemesis/nemesis_options.h"
#include "nemesis/proxy.h"

struct rig_gear {
    struct rig_proxy *proxy; /* NULL: no fault of the plan is one of the network */
};

/* What the faults of the plan need, all of them together. */
uint64_t rig_gear_needs(const struct rig_nemesis_plan *plan);

/* Leaves `gear` safe for rig_gear_done() also when it fails. */
enum rig_rc rig_gear_init(struct rig_gear *gear, const struct rig_nemesis_plan *plan, uint64_t seed,
                          struct rig_err *err);
void rig_gear_done(struct rig_gear *gear);

#endif
