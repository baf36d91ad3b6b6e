/*
 * The driver's entry: its table for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sqlite/sqlite_fault.h"
#include "drivers/sqlite/sqlite_session.h"

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    run->env = env;
    run->options = env->options;
    rig_sqlite_cluster_init(&run->cluster, env);
    rig_buf_init(&run->pragmas, 0);
    enum rig_rc rc = rig_wakes_init(&run->wakes, env->client_count, err);
    if (rc == RIG_OK)
        rc = rig_sqlite_schema_init(&run->schema, env, err);
    if (rc == RIG_OK)
        rig_sqlite_schema_pragmas(&run->schema, &run->pragmas);
    return rc == RIG_OK && run->pragmas.failed ? rig_no_memory(err, "the pragmas of a run") : rc;
}

static void done(void *object)
{
    struct rig_sqlite_run *run = object;
    if (run->env == NULL)
        return;
    rig_buf_done(&run->pragmas);
    rig_sqlite_schema_done(&run->schema);
    rig_wakes_done(&run->wakes);
    rig_sqlite_cluster_done(&run->cluster);
    run->env = NULL;
}

/* SQLite keeps the journal mode that it had where it cannot change it, and reports that one. */
static enum rig_rc check_journal(struct rig_sqlite_run *run, struct rig_sqlite_link *link,
                                 const struct rig_sqlite_patience *patience, struct rig_err *err)
{
    const char *wanted = rig_sqlite_journal_words[run->options->journal];
    const enum rig_rc rc = rig_sqlite_link_run(link, "PRAGMA journal_mode", patience, err);
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

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    struct rig_sqlite_link link = {0};
    struct rig_sqlite_patience patience;
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    enum rig_rc rc = run->options->embedded ? rig_sqlite_cluster_embed(&run->cluster, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = rig_sqlite_run_open_link(run, &link, &patience, err);
    if (rc == RIG_OK)
        (void)snprintf(run->version, sizeof run->version, "%.31s", link.answer.text);
    if (rc == RIG_OK)
        rc = check_journal(run, &link, &patience, err);
    rig_sqlite_schema_create(&run->schema, &sql);
    if (rc == RIG_OK)
        rc = sql.failed ? rig_no_memory(err, "the run's tables")
                        : rig_sqlite_link_run(&link, rig_buf_text(&sql), &patience, err);
    rig_buf_done(&sql);
    rig_sqlite_link_close(&link);
    return rc;
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_sqlite_run *run = object;
    (void)snprintf(text, size, "SQLite%s%s%s", run->version[0] == '\0' ? "" : " ", run->version,
                   run->options->embedded ? ", embedded" : "");
}

/* ---- programs ---- */

static enum rig_rc load_rows(void *object, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    struct rig_sqlite_link link = {0};
    struct rig_sqlite_patience patience;
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sql_insert_rows(&run->schema.dialect, &run->env->rows->tables[table], cells, row_count, &sql);
    enum rig_rc rc = rig_sqlite_run_open_link(run, &link, &patience, err);
    if (rc == RIG_OK)
        rc = sql.failed ? rig_no_memory(err, "the rows of the program's tables")
                        : rig_sqlite_link_run(&link, rig_buf_text(&sql), &patience, err);
    rig_buf_done(&sql);
    rig_sqlite_link_close(&link);
    return rc;
}

enum { QUERY_VALUES = 32, NUMBER_BYTES = 24 };

/* Calls `tell` for a row, with texts that end with a NUL. */
static enum rig_rc tell_row(struct rig_sqlite_cursor *cursor, uint32_t column_count,
                            void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                            struct rig_err *err)
{
    struct rig_buf texts;
    size_t starts[QUERY_VALUES];
    const char *values[QUERY_VALUES];
    bool good = column_count <= QUERY_VALUES;
    rig_buf_init(&texts, 0);
    for (uint32_t i = 0; good && i < column_count; i++) {
        struct rig_sqlite_cell cell;
        starts[i] = texts.size;
        good = rig_sqlite_next_cell(cursor, &cell);
        if (good && cell.kind == RIG_SQLITE_INTEGER)
            rig_buf_add_int(&texts, cell.number);
        else if (good && cell.length > 0)
            rig_buf_add(&texts, cell.text, cell.length);
        rig_buf_add(&texts, "", 1);
    }
    good = good && !texts.failed;
    for (uint32_t i = 0; good && i < column_count; i++)
        values[i] = texts.data + starts[i];
    if (good)
        tell(context, values, column_count);
    rig_buf_done(&texts);
    return good ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "SQLite: a malformed answer to a query");
}

static enum rig_rc query_rows(void *object, const char *query,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    struct rig_sqlite_link link = {0};
    struct rig_sqlite_patience patience;
    struct rig_sqlite_rows rows = {0};
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sql_query(&run->schema.dialect, query, &sql);
    enum rig_rc rc = rig_sqlite_run_open_link(run, &link, &patience, err);
    if (rc == RIG_OK)
        rc = rig_sqlite_link_run(&link, rig_buf_text(&sql), &patience, err);
    if (rc == RIG_OK && link.answer.step_count > 0) {
        struct rig_sqlite_cursor cursor = rig_sqlite_link_results(&link);
        if (!rig_sqlite_next_rows(&cursor, &rows))
            rc = rig_fail(err, RIG_E_CLUSTER, "SQLite: a malformed answer to a query");
        for (uint32_t row = 0; rc == RIG_OK && row < rows.row_count; row++)
            rc = tell_row(&cursor, rows.column_count, tell, context, err);
    }
    rig_buf_done(&sql);
    rig_sqlite_link_close(&link);
    return rc;
}

static const struct rig_row_ops row_ops = {
    .load = load_rows, .run_program = rig_sqlite_session_run_program, .query = query_rows};

/* ---- cluster ---- */

static bool cluster_wanted(const void *options)
{
    return !((const struct rig_sqlite_options *)options)->embedded; /* a server of rig's own is the only one */
}

static enum rig_rc cluster_start(void *run, struct rig_err *err)
{
    return rig_sqlite_cluster_start(&((struct rig_sqlite_run *)run)->cluster, err);
}

static void cluster_stop(void *run)
{
    rig_sqlite_cluster_stop(&((struct rig_sqlite_run *)run)->cluster);
}

static void cluster_kill_now(void *run)
{
    rig_local_node_kill_now(&((struct rig_sqlite_run *)run)->cluster.node);
}

static uint32_t cluster_node_count(const void *run)
{
    (void)run;
    return 1;
}

static enum rig_rc cluster_status(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    (void)node;
    (void)err;
    return rig_sqlite_cluster_status(&((struct rig_sqlite_run *)run)->cluster, status);
}

static enum rig_rc cluster_stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    (void)node;
    return rig_sqlite_cluster_stop_node(&((struct rig_sqlite_run *)run)->cluster, how, err);
}

static enum rig_rc cluster_start_node(void *run, uint32_t node, struct rig_err *err)
{
    (void)node;
    return rig_sqlite_cluster_start_node(&((struct rig_sqlite_run *)run)->cluster, err);
}

static enum rig_rc cluster_restore(void *run, struct rig_err *err)
{
    return cluster_start_node(run, 0, err);
}

static uint32_t cluster_processes(void *run, uint32_t node, pid_t *pids, uint32_t capacity)
{
    (void)node;
    return rig_child_processes(&((struct rig_sqlite_run *)run)->cluster.node.server, pids, capacity);
}

static const char *cluster_data_dir(const void *run, uint32_t node)
{
    (void)node;
    return ((const struct rig_sqlite_run *)run)->cluster.node.data;
}

static enum rig_rc cluster_set_environment(void *run, uint32_t node, const char *name, const char *value,
                                           struct rig_err *err)
{
    (void)node;
    return rig_local_node_set_variable(&((struct rig_sqlite_run *)run)->cluster.node, name, value, err);
}

static enum rig_rc cluster_address(void *run, uint32_t node, struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_sqlite_cluster *cluster = &((const struct rig_sqlite_run *)run)->cluster;
    if (node != 0 || cluster->socket[0] == '\0')
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: there is no node %u", node + 1);
    *address = (struct rig_node_address){.port = 0};
    (void)snprintf(address->socket, sizeof address->socket, "%s", cluster->socket);
    return RIG_OK;
}

static const struct rig_cluster_ops cluster_ops = {
    .wanted = cluster_wanted,
    .start = cluster_start,
    .stop = cluster_stop,
    .kill_now = cluster_kill_now,
    .node_count = cluster_node_count,
    .status = cluster_status,
    .stop_node = cluster_stop_node,
    .start_node = cluster_start_node,
    .restore = cluster_restore,
    .processes = cluster_processes,
    .is_session = rig_sqlite_process_is_session,
    .data_dir = cluster_data_dir,
    .set_environment = cluster_set_environment,
    .address = cluster_address,
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
    .session_size = sizeof(struct rig_sqlite_session),
    .check = rig_sqlite_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .open = rig_sqlite_session_open,
    .transact = rig_sqlite_session_transact,
    .interrupt = rig_sqlite_session_interrupt,
    .close = rig_sqlite_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND),
    .cluster = &cluster_ops,
    .rows = &row_ops,
};
