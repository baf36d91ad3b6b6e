/*
 * Account of the changes that are not durable yet, so that rig can undo it when the power fails (shim_control.h,
 * "durable").
 *
 * Each call keeps errno and does nothing without orders. A change that is not saved counts as durable: the disk may
 * have written it by chance. Files that are mapped into memory, renamed, or copied by the kernel are such changes.
 */
#ifndef RIG_NEMESIS_SHIM_SHIM_UNDO_H
#define RIG_NEMESIS_SHIM_SHIM_UNDO_H

#include <stddef.h>

#include "nemesis/shim/shim.h"

enum { RIG_SHIM_AT_POSITION = -1 }; /* the offset of a write without one */

void rig_shim_before_write(int fd, int64_t offset, size_t size);
void rig_shim_before_truncate(int fd, int64_t size);
void rig_shim_before_unlink(const char *path);
/* After a sync that has succeeded. */
void rig_shim_after_sync(int fd);
/* Whether the descriptor is of a file or folder below the node's own folder. */
bool rig_shim_is_meant(const struct rig_shim_control *orders, int fd);

#endif
