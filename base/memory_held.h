/*
 * The memory that this program holds now, as the limit of --max-memory counts it: resident pages, without those of files.
 * Threads: any. Time: a few microseconds, for a file of the kernel.
 */
#ifndef RIG_BASE_MEMORY_HELD_H
#define RIG_BASE_MEMORY_HELD_H

#include <stddef.h>

/* 0 when the system does not say. */
size_t rig_memory_held_bytes(void);

#endif
