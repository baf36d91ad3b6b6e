/*
 * The machine that rig runs on. Threads: any.
 */
#ifndef RIG_BASE_MACHINE_H
#define RIG_BASE_MACHINE_H

#include <stddef.h>

/* The memory that this process may use at most: the machine's, or less where its control group or a resource limit
 * says so. */
size_t rig_machine_memory_bytes(void);

#endif
