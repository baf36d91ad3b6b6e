/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sqlite/sqlite_fault.h"
#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/sqlite_session.h"

/* SQLite keeps the journal mode that it had where it cannot change it, and reports that one. */
static enum rig_rc check_journal(const struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_sqlite_run *run = (const struct rig_sqlite_run *)own->run;
    struct rig_sqlite_link *link = rig_sqlite_link_of(own->connection);
    const struct rig_sqlite_patience patience = rig_sqlite_own_patience(own);
    const char *wanted = rig_sqlite_journal_words[run->options->journal];
    const enum rig_rc rc = rig_sqlite_link_run(link, "PRAGMA journal_mode", &patience, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    struct rig_sqlite_rows rows;
    struct rig_sqlite_cell cell = {0};
    if (rig_sqlite_next_rows(&cursor, &rows) && rows.row_count == 1 && rig_sqlite_next_cell(&cursor, &cell) &&
        cell.length == strlen(wanted) && memcmp(cell.text, wanted, cell.length) == 0)
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER, "SQLite: the journal mode is %.*s, not %s: this file system does not allow it",
                    (int)cell.length, cell.length == 0 ? "" : cell.text, wanted);
}

static enum rig_rc create(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_sqlite_run *run = (struct rig_sqlite_run *)own->run;
    struct rig_buf sql;
    (void)snprintf(run->sql.server_version, sizeof run->sql.server_version, "%.31s",
                   rig_sqlite_link_of(own->connection)->answer.text);
    enum rig_rc rc = check_journal(own, err);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&sql, 0);
    rig_sqlite_schema_create(&run->schema, &sql);
    rc = sql.failed ? rig_no_memory(err, "the run's tables")
                    : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

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

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return ((const struct rig_sqlite_run *)run)->schema.dialect;
}

static const struct rig_sql_client client = {
    .area = "sqlite",
    .product = "SQLite",
    .connection_bytes = sizeof(struct rig_sqlite_connection),
    .trusts_single = true,
    .outcomes = &rig_sqlite_outcomes,
    .connect = rig_sqlite_session_connect,
    .prepare = rig_sqlite_session_prepare,
    .disconnect = rig_sqlite_session_disconnect,
    .query = rig_sqlite_session_query,
    .run = rig_sqlite_session_run,
    .begin = rig_sqlite_session_begin,
    .execute = rig_sqlite_session_execute,
    .commit = rig_sqlite_session_commit,
    .settle = rig_sqlite_session_settle,
    .primary = rig_sqlite_cluster_primary,
    .node_status = rig_sqlite_cluster_status,
    .node_socket = rig_sqlite_cluster_socket,
    .create = create,
    .dialect = dialect,
};

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    run->options = env->options;
    rig_sqlite_cluster_init(&run->cluster, env);
    rig_buf_init(&run->pragmas, 0);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &client, env, &run->cluster.sql, err);
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
    .load = rig_sql_run_load, .run_program = rig_sqlite_session_run_program, .query = rig_sql_run_query};

static bool cluster_wanted(const void *options)
{
    return !((const struct rig_sqlite_options *)options)->embedded; /* a server of rig's own is the only one */
}

static const struct rig_cluster_ops cluster_ops = {
    .wanted = cluster_wanted,
    .start = rig_sqlite_cluster_start,
    .stop = rig_sqlite_cluster_stop,
    .kill_now = rig_sql_cluster_kill_now,
    .node_count = rig_sql_cluster_node_count,
    .status = rig_sql_cluster_status,
    .stop_node = rig_sqlite_cluster_stop_node,
    .start_node = rig_sqlite_cluster_start_node,
    .restore = rig_sqlite_cluster_restore,
    .processes = rig_sql_cluster_processes,
    .is_session = rig_sqlite_process_is_session,
    .data_dir = rig_sql_cluster_data_dir,
    .set_environment = rig_sql_cluster_set_environment,
    .address = rig_sql_cluster_address,
    .faults = rig_sqlite_faults,
};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "sqlite",
    .summary = "SQLite: a database file of rig's own, with a process for each client or embedded in rig",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_PREDICATE),
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
    .transact = rig_sqlite_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND),
    .cluster = &cluster_ops,
    .rows = &row_ops,
};
