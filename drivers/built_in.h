/*
 * The drivers that are part of the binary: they need no server and no library.
 */
#ifndef RIG_DRIVERS_BUILT_IN_H
#define RIG_DRIVERS_BUILT_IN_H

#include "drivers/driver.h"

/* Answers ok and does nothing, to measure a run without a database. */
extern const struct rig_driver rig_driver_null;

/* The simulated database. */
extern const struct rig_driver rig_driver_sim;

#endif
