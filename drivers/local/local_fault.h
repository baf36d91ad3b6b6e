/*
 * Common parts of the faults of single databases.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_FAULT_H
#define RIG_DRIVERS_LOCAL_LOCAL_FAULT_H

#include "drivers/fault.h"

/* Appends to the evidence, with "; " in between. */
void rig_local_say(struct rig_evidence *evidence, const char *format, ...) RIG_PRINTF(2, 3);

#endif
