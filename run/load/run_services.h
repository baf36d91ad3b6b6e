/*
 * The services of the core to drivers (struct rig_core), and the clusters that a bug in rig would leave behind.
 *
 * The functions of struct rig_core have no argument for their run, and any thread of a driver may call them. So each
 * run that is under way takes one of RIG_RUNS_MOST slots, and each slot has functions of its own
 * (docs/adr/0018-runs-in-one-process.md).
 *
 * Private to run/load/. Threads: any.
 */
#ifndef RIG_RUN_LOAD_RUN_SERVICES_H
#define RIG_RUN_LOAD_RUN_SERVICES_H

#include <stdatomic.h>

#include "base/log.h"
#include "drivers/driver.h"
#include "history/model/names.h"

struct rig_run_state;

enum { RIG_RUNS_MOST = 16 }; /* at once, in a process */

struct rig_run_services {
    const struct rig_core *core; /* of this run; NULL: it has no slot */
    uint32_t slot;
    struct rig_log_file *log; /* of the thread that started the run; NULL: none */
    struct rig_names names;   /* of side columns: nodes */
    _Atomic uint32_t holding; /* clients inside a hold */
};

/* Takes a slot for the run and sets `core`. RIG_E_LIMIT when there is none. */
enum rig_rc rig_run_services_init(struct rig_run_state *run, struct rig_err *err);
/* No thread calls the services of this run any longer. Safe after a failed init. */
void rig_run_services_done(struct rig_run_state *run);

/* From now on rig_bug() kills the run's cluster, until rig_run_services_forget_cluster(). */
void rig_run_services_note_cluster(const struct rig_run_state *run);
void rig_run_services_forget_cluster(const struct rig_run_state *run);

#endif
