/*
 * Finding drivers: built in, or `rig-driver-<name>.so` beside the binary, in the folders of RIG_DRIVER_PATH (colon
 * separated), in the library folder.
 *
 * Loaded drivers stay until the process ends. Errors: RIG_E_DRIVER, naming every place searched, the ABI numbers, or
 * the missing hook.
 */
#ifndef RIG_DRIVERS_LOADER_H
#define RIG_DRIVERS_LOADER_H

#include "drivers/driver.h"

enum rig_rc rig_driver_load(const char *name, const struct rig_driver **driver, struct rig_err *err);
/* Rejects a driver with a wrong ABI or size, or without a required hook. */
enum rig_rc rig_driver_validate(const struct rig_driver *driver, const char *where, struct rig_err *err);
/* Whether this rig comes with a package rig-driver-<name> of its own for the driver. */
bool rig_driver_has_package(const char *name);
/* Calls `visit` with every driver that is found, by name; `problem` non-NULL for files that cannot be used. */
void rig_driver_each(void (*visit)(void *context, const char *name, const struct rig_driver *driver,
                                   const char *problem),
                     void *context);

#endif
