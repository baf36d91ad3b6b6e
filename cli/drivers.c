#include "cli/drivers.h"

#include <string.h>

#include "cli/cli.h"
#include "drivers/loader.h"

static void take_driver(void *context, const char *name, const struct rig_driver *driver, const char *problem)
{
    struct rig_cli_drivers *drivers = context;
    (void)name;
    if (problem != NULL)
        rig_cli_complain("%s", problem);
    else if (drivers->count < RIG_CLI_DRIVERS_MAX)
        drivers->at[drivers->count++] = driver;
}

void rig_cli_drivers_init(struct rig_cli_drivers *drivers)
{
    *drivers = (struct rig_cli_drivers){.count = 0};
    rig_driver_each(take_driver, drivers);
}

void rig_cli_drivers_leave_out_example(struct rig_cli_drivers *drivers)
{
    size_t kept = 0;
    for (size_t i = 0; i < drivers->count; i++) {
        if (strcmp(drivers->at[i]->name, "skeleton") != 0)
            drivers->at[kept++] = drivers->at[i];
    }
    drivers->at[kept] = NULL;
    drivers->count = kept;
}
