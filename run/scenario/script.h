/*
 * A scenario as a script that needs no rig: for psql and for the client of MySQL and MariaDB as shell scripts with a
 * process a session, and as a specification of PostgreSQL's isolationtester.
 *
 * A shell script sends each statement to its session, and goes on when the session has answered, or after 250 ms when
 * it waits for another one. Pure functions that add to a buffer.
 */
#ifndef RIG_RUN_SCENARIO_SCRIPT_H
#define RIG_RUN_SCENARIO_SCRIPT_H

#include "base/buf.h"
#include "run/scenario/scenario.h"

enum rig_script_form { RIG_SCRIPT_PSQL, RIG_SCRIPT_MYSQL, RIG_SCRIPT_ISOLATIONTESTER, RIG_SCRIPT_FORM_COUNT };

/* The names of the forms, by enum rig_script_form, and NULL. */
extern const char *const rig_script_form_names[RIG_SCRIPT_FORM_COUNT + 1];

/* `isolation`: as SQL names it, "REPEATABLE READ". */
void rig_scenario_write_script(const struct rig_scenario *scenario, enum rig_script_form form, const char *isolation,
                               struct rig_buf *out);

#endif
