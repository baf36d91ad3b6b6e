/*
 * The driver sql: any SQL database, through a program that carries its client library.
 */
#include "drivers/sql/program_client.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"

static const struct rig_option option_table[] = {
    {.name = "command",
     .type = RIG_OPTION_COMMAND,
     RIG_SQL_PROGRAM_AT(command),
     .required = true,
     .help = "the program that carries sessions, and its arguments, run in the folder in which rig was started"},
    {.name = "dialect",
     .type = RIG_OPTION_TEXT,
     RIG_SQL_PROGRAM_AT(dialect),
     .default_text = "generic",
     .help = "the database's SQL: the path of a dialect, or the name of an installed one"},
    {.name = "connection",
     .type = RIG_OPTION_SECRET,
     RIG_SQL_PROGRAM_AT(connection),
     .help = "what the program connects to, in its own form, such as a JDBC URL"},
    {.name = "processes",
     .type = RIG_OPTION_CHOICE,
     RIG_SQL_PROGRAM_AT(processes),
     .default_text = "each",
     .choices = rig_sql_processes_words,
     .help = "whether each session has a process of the program, or one process carries all of them"},
    RIG_SQL_PROGRAM_OPTIONS,
    {0},
};

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    const struct rig_sql_program_options *options = env->options;
    return rig_sql_program_init(object, env, &options->command, NULL, err);
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    RIG_SQL_PROGRAM_HOOKS,
    .name = "sql",
    .summary = "any SQL database, through a program that carries its client library (JDBC, Python, Perl, Node, ...)",
    .options = option_table,
    .run_size = sizeof(struct rig_sql_program_run),
    .check = rig_sql_program_check,
    .init = init,
};
