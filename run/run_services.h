/*
 * The services of the core to drivers (struct rig_core).
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_SERVICES_H
#define RIG_RUN_RUN_SERVICES_H

#include <stdatomic.h>

#include "drivers/driver.h"
#include "history/names.h"

struct rig_run_state;

struct rig_run_services {
    struct rig_names names;   /* of side columns: nodes */
    _Atomic uint32_t holding; /* clients inside a hold */
};

extern const struct rig_core rig_run_core;

/* The run that rig_run_core speaks for; NULL for none. */
void rig_run_services_attach(struct rig_run_state *run);

#endif
