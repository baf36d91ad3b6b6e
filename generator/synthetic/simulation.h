/*
 * Drives sessions of the simulated database and writes their clients' events. Private to generator/synthetic/.
 */
#ifndef RIG_GENERATOR_SYNTHETIC_SIMULATION_H
#define RIG_GENERATOR_SYNTHETIC_SIMULATION_H

#include "generator/synthetic/synthetic_records.h"
#include "generator/synthetic/synthetic.h"

/* Writes all events, in the order of their times. `watch` may be NULL; `counts` starts zeroed and is kept up to date.
 */
enum rig_rc rig_simulation_write(const struct rig_synthetic *synthetic, struct rig_synthetic_records *records,
                                 const struct rig_synthetic_watch *watch, struct rig_synthetic_counts *counts,
                                 struct rig_err *err);

#endif
