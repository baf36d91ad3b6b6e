/*
 * A scenario as a script that needs no rig: for psql, for the client of MySQL and MariaDB, and for a shell that a
 * dialect names, as shell scripts with a process a session; and as a specification of PostgreSQL's isolationtester.
 *
 * A shell script sends each statement to its session, and goes on when the session has answered, or after 250 ms (its
 * variable PATIENCE_MS) when it waits for another one. Pure functions that add to a buffer.
 */
#ifndef RIG_RUN_SCENARIO_SCRIPT_H
#define RIG_RUN_SCENARIO_SCRIPT_H

#include "base/buf.h"
#include "drivers/driver.h"
#include "run/scenario/scenario.h"

enum rig_script_form {
    RIG_SCRIPT_PSQL,
    RIG_SCRIPT_MYSQL,
    RIG_SCRIPT_ISOLATIONTESTER,
    RIG_SCRIPT_SHELL,
    RIG_SCRIPT_FORM_COUNT
};

/* The names of the forms, by enum rig_script_form, and NULL. */
extern const char *const rig_script_form_names[RIG_SCRIPT_FORM_COUNT + 1];

/* Any form but RIG_SCRIPT_SHELL. `isolation`: as SQL names it, "REPEATABLE READ". */
void rig_scenario_write_script(const struct rig_scenario *scenario, enum rig_script_form form, const char *isolation,
                               struct rig_buf *out);
/* The same for the database's own shell, by its driver's hook. RIG_E_PLAN: the driver, or its dialect, knows none. */
enum rig_rc rig_scenario_write_shell(const struct rig_scenario *scenario, const struct rig_driver *driver,
                                     const void *options, struct rig_buf *out, struct rig_err *err);

#endif
