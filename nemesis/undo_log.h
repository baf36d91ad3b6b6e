/*
 * Undoes what was not durable when the power failed, from the account that the shim kept (shim_control.h).
 *
 * The result is a state that a disk without a cache of its own may leave: everything that was synced is there, and of
 * the rest only what `keep` lets through. Time and space: those of the logs.
 */
#ifndef RIG_NEMESIS_UNDO_LOG_H
#define RIG_NEMESIS_UNDO_LOG_H

#include "base/rng.h"
#include "drivers/driver.h"

struct rig_undo_count {
    uint64_t changes;  /* that were undone */
    uint64_t survived; /* by `keep` */
    uint64_t files;    /* that were removed and are back */
};

/*
 * `data` and `undo`: the node's folder and the one of the account. No process of the node runs. Each change survives
 * with the chance `keep`. RIG_E_IO; RIG_E_CLUSTER for a damaged log.
 */
enum rig_rc rig_undo_log_apply(const char *data, const char *undo, double keep, struct rig_rng *rng,
                               struct rig_undo_count *count, struct rig_err *err);

#endif
