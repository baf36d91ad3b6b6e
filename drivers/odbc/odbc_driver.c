/*
 * The driver odbc: any database with an ODBC driver. Each session is a process of rig's own program (odbc_program.c),
 * because no ODBC driver can interrupt a COMMIT, and some end the process in which they run.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/sql/program_client.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"

static const struct rig_option option_table[] = {
    {.name = "dsn", .type = RIG_OPTION_TEXT, RIG_SQL_PROGRAM_AT(dsn), .help = "name of a data source in odbc.ini"},
    {.name = "connection",
     .type = RIG_OPTION_SECRET,
     RIG_SQL_PROGRAM_AT(connection),
     .help =
         "an ODBC connection string, such as `Driver=PostgreSQL Unicode;Server=db1;Database=test`, in place of `dsn`"},
    {.name = "dialect",
     .type = RIG_OPTION_TEXT,
     RIG_SQL_PROGRAM_AT(dialect),
     .default_text = "generic",
     .help = "the database's SQL: the path of a dialect, or the name of an installed one"},
    RIG_SQL_PROGRAM_OPTIONS,
    {0},
};

static enum rig_rc check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_sql_program_options *options = object;
    if (rig_sql_given(options->dsn) == rig_sql_given(options->connection))
        return rig_fail(err, RIG_E_PLAN, "database: driver odbc needs either `dsn` or `connection`");
    return rig_sql_program_check(object, workload, err);
}

struct run {
    struct rig_sql_program_run program; /* first */
    const char *arguments[1];
    char path[4096];
};

/* The path of rig's own program, which is beside the driver in a build folder and where rig is installed. */
static bool find_program(char *path, size_t size)
{
    Dl_info driver;
    if (dladdr(&option_table, &driver) == 0 || driver.dli_fname == NULL)
        return false;
    const char *slash = strrchr(driver.dli_fname, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - driver.dli_fname) + 1;
    (void)snprintf(path, size, "%.*srig-odbc-client", folder, driver.dli_fname);
    return access(path, X_OK) == 0;
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct run *run = object;
    const struct rig_sql_program_options *options = env->options;
    const struct rig_text_list command = {.at = run->arguments, .count = 1};
    if (!find_program(run->path, sizeof run->path))
        return rig_fail(
            err, RIG_E_DRIVER,
            "rig was built or installed without rig-odbc-client: install unixODBC (package unixodbc-dev), and "
            "build rig again");
    run->arguments[0] = run->path;
    return rig_sql_program_init(&run->program, env, &command, options->dsn, err);
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    RIG_SQL_PROGRAM_HOOKS,
    .name = "odbc",
    .summary = "any database with an ODBC driver, in a dialect of SQL that a file gives",
    .options = option_table,
    .run_size = sizeof(struct run),
    .check = check,
    .init = init,
};
