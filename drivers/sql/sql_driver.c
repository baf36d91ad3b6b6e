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

static const struct rig_row_ops row_ops = {.load = rig_sql_run_load,
                                           .run_program = rig_sql_session_run_program,
                                           .query = rig_sql_run_query,
                                           .shell = rig_sql_program_shell};

static const struct rig_text_ops text_ops = {.space = rig_sql_text_space, .execute = rig_sql_text_execute};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "sql",
    .summary = "any SQL database, through a program that carries its client library (JDBC, Python, Perl, Node, ...)",
    .workloads = RIG_SQL_WORKLOADS,
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_PREFILLS,
    .options = option_table,
    .options_size = sizeof(struct rig_sql_program_options),
    .run_size = sizeof(struct rig_sql_program_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = rig_sql_program_check,
    .init = init,
    .done = rig_sql_program_done,
    .setup = rig_sql_run_setup,
    .teardown = rig_sql_run_teardown,
    .open = rig_sql_session_open,
    .transact = rig_sql_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = rig_sql_program_describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES),
    .cluster = &rig_command_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
};
