#include "run/plan/driver_needs.h"

#include <stdio.h>

bool rig_driver_needs_unmet(const struct rig_generator_options *workload, const struct rig_driver *driver,
                            char *problem, size_t size)
{
    const bool simulates_time = driver->now_ns != NULL, holds = (driver->features & RIG_DRIVER_HOLDS) != 0;
    const struct {
        bool applies;
        const char *before, *after; /* of the name of the driver; NULL: it is not named */
    } problems[] = {
        {workload->long_share > 0 && !holds, "`long-transactions.share`: the driver ",
         " cannot hold a transaction open"},
        {workload->rollback_share > 0 && (driver->features & RIG_DRIVER_SAVEPOINTS) == 0,
         "`savepoints.share`: the driver ", " has no savepoints"},
        {workload->rollbacks > 0 && (driver->features & RIG_DRIVER_ROLLBACKS) == 0, "`rollbacks`: the driver ",
         " cannot roll back a transaction on purpose"},
        {workload->prefill && (driver->features & RIG_DRIVER_PREFILLS) == 0, "`keys.prefill`: the driver ",
         " makes no rows before the load"},
        {(workload->lock_kind != RIG_LOCK_OWNER || workload->lock_lease_ns > 0) &&
             (driver->features & RIG_DRIVER_LOCK_KINDS) == 0,
         "`lock`: the locks of the driver ",
         " have one owner, which holds them once and without a lease; remove `kind` and `lease`"},
        {workload->subqueries > 0 && (driver->features & RIG_DRIVER_SUBQUERIES) == 0,
         "`statements.subqueries`: the driver ", " has no subqueries that show their rows"},
        {workload->program && driver->rows == NULL, "`program`: the driver ", " does not run programs"},
        {workload->program && workload->long_share > 0 && simulates_time, NULL,
         "`long-transactions.share` of programs depends on real time, which the driver simulates"},
        {workload->long_most > 0 && simulates_time, NULL,
         "`long-transactions.at-most` depends on real time, which the driver simulates"},
        {workload->delay_ns > 0 && simulates_time, NULL,
         "`operations.delay` depends on real time, which the driver simulates"},
        {workload->delay_ns > 0 && workload->program, NULL,
         "`operations.delay`: a program cannot pause between operations"},
        {workload->delay_ns > 0 && !holds, "`operations.delay`: the driver ", " cannot pause between operations"},
    };
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        if (!problems[i].applies)
            continue;
        (void)snprintf(problem, size, "%s%s%s", problems[i].before == NULL ? "" : problems[i].before,
                       problems[i].before == NULL ? "" : driver->name, problems[i].after);
        return true;
    }
    return false;
}
