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
#include "drivers/sql/sql_told.h"
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

static void tell_number(struct rig_sql_told *told, const struct rig_my_schema *schema, uint32_t number,
                        enum rig_sql_form form)
{
    uint32_t steps[RIG_MY_STEPS];
    const uint32_t count = rig_my_schema_steps(schema, number, steps);
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_my_statement *statement = &schema->statements[steps[i]];
        if (statement->text != NULL)
            rig_sql_told_add(told, statement->text, '$', statement->order);
    }
    rig_sql_told_end(told, form);
}

static void tell_all(struct rig_sql_told *told, const struct rig_my_schema *schema)
{
    struct rig_buf session;
    rig_buf_init(&session, 0);
    rig_my_schema_session(schema, &session);
    rig_sql_told_say(told, RIG_SQL_FORM_SESSION, rig_buf_text(&session));
    rig_buf_done(&session);
    static const char own[] =
        "-- SET TRANSACTION ISOLATION LEVEL, with the transaction's own level, and START TRANSACTION";
    const bool is_own = rig_sql_given(schema->options->sql.isolation_shares);
    rig_sql_told_say(told, RIG_SQL_FORM_BEGIN, is_own ? own : rig_my_schema_begin(schema, false));
    if (!is_own)
        rig_sql_told_say(told, RIG_SQL_FORM_BEGIN_READ_ONLY, rig_my_schema_begin(schema, true));
    rig_sql_told_usual(told);
    const bool rows = schema->workload == RIG_WORKLOAD_PREDICATE;
    const int first = rows ? RIG_SQL_FORM_LIST_BY_ID : RIG_SQL_FORM_READ;
    const uint32_t count = rows ? (uint32_t)RIG_SQL_PREDICATE_COUNT : (uint32_t)RIG_SQL_NOTHING;
    for (uint32_t i = 0; i < count; i++) {
        if (rows || i != RIG_SQL_READ_LOCKED || schema->options->sql.lock_reads > 0)
            tell_number(told, schema, i, (enum rig_sql_form)(first + (int)i));
    }
}

static enum rig_rc statements(const struct rig_run_env *env, struct rig_statement_texts *texts, struct rig_err *err)
{
    const struct rig_my_options *options = env->options;
    struct rig_my_schema schema = {.statements = NULL};
    struct rig_sql_told told;
    char table[RIG_MY_TABLE_BYTES];
    if (env->rows != NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_my_schema_init(&schema, env, options, err);
    if (rc == RIG_OK) {
        rig_my_schema_table(&schema, 0, table);
        if (rig_sql_told_init(&told, env, &options->sql, table, texts))
            tell_all(&told, &schema);
        rig_sql_told_done(&told);
    }
    rig_my_schema_done(&schema);
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
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROLLBACKS |
                RIG_DRIVER_SUBQUERIES | RIG_DRIVER_JOINS | RIG_DRIVER_PREFILLS,
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
    .statements = statements,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_LEVEL) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) |
               RIG_COLUMN_BIT(RIG_COLUMN_TIMES) | RIG_COLUMN_BIT(RIG_COLUMN_START_TS) |
               RIG_COLUMN_BIT(RIG_COLUMN_COMMIT_TS),
    .settings = settings,
    .cluster = &rig_my_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "binary log",
    .certify = certify,
};
