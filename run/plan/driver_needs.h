/*
 * The features of its driver that a load needs (drivers/driver.h).
 */
#ifndef RIG_RUN_PLAN_DRIVER_NEEDS_H
#define RIG_RUN_PLAN_DRIVER_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/driver.h"
#include "generator/generator.h"

/* Whether the driver cannot run the load. Then the problem is a sentence that begins with the key below `workload`;
 * `size` as for snprintf. */
bool rig_driver_needs_unmet(const struct rig_generator_options *workload, const struct rig_driver *driver,
                            char *problem, size_t size);

#endif
