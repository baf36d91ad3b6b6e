/*
 * The faults that only SQLite has.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_FAULT_H
#define RIG_DRIVERS_SQLITE_SQLITE_FAULT_H

#include "drivers/fault.h"

/* Ended by NULL. The `run` of their site is a struct rig_sqlite_run. */
extern const struct rig_fault *const rig_sqlite_faults[];

#endif
