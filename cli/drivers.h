/*
 * The drivers that this rig can use, as an array.
 */
#ifndef RIG_CLI_DRIVERS_H
#define RIG_CLI_DRIVERS_H

#include <stddef.h>

#include "drivers/driver.h"

enum { RIG_CLI_DRIVERS_MAX = 64 };

struct rig_cli_drivers {
    const struct rig_driver *at[RIG_CLI_DRIVERS_MAX + 1]; /* NULL-ended, by name; they stay loaded */
    size_t count;
};

/* Complains of files that look like drivers and cannot be used; they are left out. */
void rig_cli_drivers_init(struct rig_cli_drivers *drivers);
/* The example of the driver guide lies beside the binary in a build folder, and is no part of rig. */
void rig_cli_drivers_leave_out_example(struct rig_cli_drivers *drivers);

#endif
