/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"
#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/sqlite_session.h"

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    const enum rig_rc rc = run->options->embedded ? rig_sqlite_cluster_embed(&run->cluster, err) : RIG_OK;
    return rc == RIG_OK ? rig_sql_run_setup(object, err) : rc;
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_sqlite_run *run = object;
    const char *version = run->sql.server_version;
    (void)snprintf(text, size, "SQLite%s%s%s", version[0] == '\0' ? "" : " ", version,
                   run->options->embedded ? ", embedded" : "");
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    run->options = env->options;
    rig_sqlite_cluster_init(&run->cluster, env);
    rig_buf_init(&run->pragmas, 0);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &rig_sqlite_client, env, &run->cluster.sql, err);
    if (rc == RIG_OK)
        rc = rig_sqlite_schema_init(&run->schema, env, err);
    if (rc == RIG_OK)
        rig_sqlite_schema_pragmas(&run->schema, &run->pragmas);
    return rc == RIG_OK && run->pragmas.failed ? rig_no_memory(err, "the pragmas of a run") : rc;
}

static void done(void *object)
{
    struct rig_sqlite_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_buf_done(&run->pragmas);
    rig_sqlite_schema_done(&run->schema);
    rig_sqlite_cluster_done(&run->cluster);
    rig_sql_run_done(&run->sql);
}

static const struct rig_row_ops row_ops = {
    .load = rig_sql_run_load, .run_program = rig_sql_session_run_program, .query = rig_sql_run_query};

static const struct rig_text_ops text_ops = {.clear = rig_sql_text_clear,
                                             .space = rig_sql_text_space,
                                             .execute = rig_sql_text_execute,
                                             .look = rig_sql_text_look,
                                             .looks_at_once = true};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "sqlite",
    .summary = "SQLite: a database file of rig's own, with a process for each client or embedded in rig",
    .workloads = RIG_SQL_WORKLOADS,
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_PREFILLS,
    .options = rig_sqlite_option_table,
    .options_size = sizeof(struct rig_sqlite_options),
    .run_size = sizeof(struct rig_sqlite_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = rig_sqlite_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .open = rig_sql_session_open,
    .transact = rig_sql_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES),
    .cluster = &rig_sqlite_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
};
