/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/mysql/my_batch.h"
#include "drivers/mysql/my_cluster.h"
#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_fault.h"
#include "drivers/mysql/my_tables.h"
#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_preview.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"

static const int64_t setup_ns = INT64_C(30000000000);

static struct rig_my_connection *connection_of(const struct rig_sql_own *own)
{
    return (struct rig_my_connection *)own->connection;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct rig_sql_run *sql = &run->sql;
    enum rig_rc rc = rig_sql_run_setup(sql, err);
    /* Clients may read from replicas at once. */
    if (rc == RIG_OK && rig_sql_run_is_local(sql) && run->cluster.sql.count > 1 &&
        !rig_my_site_is_galera(&run->cluster.site))
        rc = rig_my_replication_await(&run->cluster, sql->env->core->now_ns() + setup_ns, err);
    for (uint32_t i = 0; rc == RIG_OK && sql->env->prefilled_keys > 0 && i < rig_sql_run_server_count(sql); i++)
        rc = rig_my_tables_await_rows(sql, i, setup_ns, err);
    return rc;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_my_run *run = object;
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, true, err);
    if (rc == RIG_OK)
        rc = rig_my_certificate_drain(&run->certificate, &run->views, &run->schema, run->sql.env, connection_of(&own),
                                      sink, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

/* "10.11.19-MariaDB-0+deb12u1" is MariaDB 10.11.19; other servers give their number alone. */
static void describe(void *object, char *text, size_t size)
{
    const char *version = ((const struct rig_sql_run *)object)->server_version;
    (void)snprintf(text, size, "%s%s%.*s", strstr(version, "MariaDB") != NULL ? "MariaDB" : "MySQL",
                   version[0] == '\0' ? "" : " ", (int)strcspn(version, "-"), version);
}

static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    /* MariaDB tells defaults; elsewhere nothing is told. */
    static const char question[] =
        "SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES WHERE "
        "GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'SQL') AND GLOBAL_VALUE <> DEFAULT_VALUE AND "
        "VARIABLE_TYPE <> 'VARCHAR' ORDER BY 1";
    rig_sql_run_tell_settings(object, question, tell, context);
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_my_run *run = object;
    run->options = env->options;
    rig_my_cluster_init(&run->cluster, env, run->options);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &rig_my_client, env, &run->cluster.sql, err);
    const bool galera = rig_my_site_is_galera(&run->cluster.site);
    if (rc == RIG_OK && env->rolls_back && rig_my_pipelines(run->options) && galera)
        rc = rig_fail(err, RIG_E_PLAN,
                      "database.pipeline: a Galera node can execute the later statements of a request outside of the "
                      "transaction, where no savepoint undoes them: give pipeline: false, or leave out "
                      "workload.savepoints");
    if (rc == RIG_OK && (mysql_server_init(0, NULL, NULL) != 0 || mysql_thread_safe() == 0))
        rc = rig_fail(err, RIG_E_DRIVER, "libmariadb cannot be used with threads here");
    if (rc == RIG_OK && rig_tls_is_required(&run->options->sql.tls))
        rc = rig_my_tls_watch(err);
    if (rc == RIG_OK)
        rc = rig_my_schema_init(&run->schema, env, run->options, err);
    if (rc == RIG_OK && env->certificate != RIG_CERTIFICATE_NONE)
        rc =
            rig_my_certificate_check(&run->schema, run->options, galera, env->certificate == RIG_CERTIFICATE_FULL, err);
    if (rc == RIG_OK && env->certificate == RIG_CERTIFICATE_FULL)
        rc = rig_my_views_init(&run->views, env->client_count, err);
    return rc;
}

static void done(void *object)
{
    struct rig_my_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_my_views_done(&run->views);
    rig_my_schema_done(&run->schema);
    rig_my_cluster_done(&run->cluster);
    rig_sql_run_done(&run->sql);
}

static const struct rig_row_ops row_ops = {
    .load = rig_sql_run_load, .run_program = rig_sql_session_run_program, .query = rig_sql_run_query};

static const struct rig_text_ops text_ops = {.clear = rig_sql_text_clear,
                                             .space = rig_sql_text_space,
                                             .execute = rig_sql_text_execute,
                                             .look = rig_sql_text_look};

static void preview_statement(struct rig_sql_preview *preview, const struct rig_my_schema *schema, uint32_t op)
{
    struct rig_sql_numbers numbers = {.key = 0};
    uint32_t steps[RIG_MY_STEPS];
    const uint32_t count =
        rig_my_schema_steps(schema, rig_my_schema_of_op(schema, &preview->transaction, op, &numbers), steps);
    const int64_t values[] = {numbers.key, numbers.value, numbers.expected, numbers.further};
    for (uint32_t i = 0; i < count; i++) {
        struct rig_buf sql;
        rig_buf_init(&sql, 0);
        rig_my_statement_print(&schema->statements[steps[i]], values, &sql);
        rig_sql_preview_say(preview, rig_buf_text(&sql));
        rig_buf_done(&sql);
    }
}

static enum rig_rc preview(const void *options, enum rig_workload workload, const struct rig_transaction *transaction,
                           void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    const struct rig_run_env env = {.options = options, .workload = workload, .run_name = RIG_SQL_PREVIEW_RUN};
    struct rig_sql_preview preview;
    struct rig_my_schema schema = {.statements = NULL};
    struct rig_buf session;
    rig_buf_init(&session, 0);
    enum rig_rc rc = rig_sql_preview_init(&preview, transaction, show, context, err);
    if (rc == RIG_OK)
        rc = rig_my_schema_init(&schema, &env, options, err);
    if (rc == RIG_OK) {
        rig_my_schema_session(&schema, &session);
        rig_sql_preview_say(&preview, rig_buf_text(&session));
        rig_sql_preview_say(&preview, rig_my_schema_begin(&schema, transaction->read_only));
    }
    for (uint32_t op = 0; rc == RIG_OK && op < transaction->op_count; op++) {
        rig_sql_preview_savepoint(&preview, op);
        preview_statement(&preview, &schema, op);
    }
    if (rc == RIG_OK)
        rig_sql_preview_say(&preview, "COMMIT");
    rig_my_schema_done(&schema);
    rig_sql_preview_done(&preview);
    rig_buf_done(&session);
    return rc;
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "mysql",
    .summary =
        "MariaDB and MySQL, through libmariadb: servers that rig starts, also replicas or Galera, or existing ones",
    .workloads = RIG_SQL_WORKLOADS | RIG_WORKLOAD_BIT(RIG_WORKLOAD_SQL),
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_JOINS |
                RIG_DRIVER_PREFILLS,
    .options = rig_my_option_table,
    .options_size = sizeof(struct rig_my_options),
    .run_size = sizeof(struct rig_my_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = rig_my_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = rig_sql_run_teardown,
    .open = rig_sql_session_open,
    .transact = rig_sql_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = describe,
    .preview = preview,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES) |
               RIG_COLUMN_BIT(RIG_COLUMN_START_TS) | RIG_COLUMN_BIT(RIG_COLUMN_COMMIT_TS),
    .settings = settings,
    .cluster = &rig_my_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "binary log",
    .certify = certify,
};
