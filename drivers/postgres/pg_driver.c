/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"
#include "drivers/postgres/pg_tables.h"
#include "drivers/postgres/pg_title.h"
#include "drivers/postgres/pg_turn.h"
#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_told.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"

/* ---- the run ---- */

static struct rig_pg_connection *connection_of(const struct rig_sql_own *own)
{
    return (struct rig_pg_connection *)own->connection;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    struct rig_sql_own own;
    for (uint32_t node = 0; node < run->cluster.sql.count; node++) {
        if (node != rig_pg_nodes.primary(&run->sql))
            rig_pg_cluster_read_former(&run->cluster, node);
    }
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, true, err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_drain(&run->certificate, &run->views, &run->schema, run->sql.env, connection_of(&own),
                                      sink, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

static void describe(void *object, char *text, size_t size)
{
    const char *version = ((const struct rig_sql_run *)object)->server_version;
    (void)snprintf(text, size, "PostgreSQL%s%s", version[0] == '\0' ? "" : " ", version);
}

static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    /* Settings of the session come from rig and its account, paths from the server's location. */
    static const char question[] =
        "SELECT name, CASE WHEN unit IS NULL THEN setting ELSE current_setting(name) END"
        " FROM pg_settings"
        " WHERE source NOT IN ('default', 'override', 'client', 'session', 'environment variable')"
        " ORDER BY name";
    rig_sql_run_tell_settings(object, question, tell, context);
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_pg_run *run = object;
    run->options = env->options;
    rig_pg_cluster_init(&run->cluster, env, run->options);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &rig_pg_client, env, &run->cluster.sql, err);
    rig_pg_timelines_init(&run->certificate.timelines, env);
    if (env->certificate != RIG_CERTIFICATE_NONE)
        rig_pg_timelines_watch(&run->certificate.timelines, &run->cluster);
    if (rc == RIG_OK && env->certificate != RIG_CERTIFICATE_NONE && run->options->sql.hosts.count > 1)
        rc = rig_fail(err, RIG_E_PLAN,
                      "database.certificate: a certificate has the commits of one server; give one host, or use "
                      "certificate: none");
    if (rc == RIG_OK && PQisthreadsafe() == 0)
        rc = rig_fail(err, RIG_E_DRIVER, "this libpq was built without threads");
    if (rc == RIG_OK)
        rc = rig_pg_schema_init(&run->schema, env, run->options, err);
    if (rc == RIG_OK && env->certificate == RIG_CERTIFICATE_FULL)
        rc = rig_pg_views_init(&run->views, env->client_count, err);
    return rc != RIG_OK ? rc : rig_pg_rows_init(&run->rows, env->rows, &run->schema.place, err);
}

static void done(void *object)
{
    struct rig_pg_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_pg_rows_done(&run->rows);
    rig_pg_views_done(&run->views);
    rig_pg_timelines_done(&run->certificate.timelines);
    rig_pg_schema_done(&run->schema);
    rig_pg_cluster_done(&run->cluster);
    rig_sql_run_done(&run->sql);
}

static const struct rig_row_ops row_ops = {
    .load = rig_sql_run_load, .run_program = rig_sql_session_run_program, .query = rig_sql_run_query};

static const struct rig_text_ops text_ops = {.clear = rig_sql_text_clear,
                                             .space = rig_sql_text_space,
                                             .execute = rig_sql_text_execute,
                                             .look = rig_sql_text_look};

static void tell_actions(struct rig_sql_told *told, const struct rig_pg_schema *schema)
{
    static const enum rig_pg_of_table statements[] = {RIG_PG_READ,    RIG_PG_READ_LOCKED, RIG_PG_PUT,   RIG_PG_REPLACE,
                                                      RIG_PG_COMPARE, RIG_PG_TAKE,        RIG_PG_EXTEND};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (!rig_pg_schema_uses(schema, RIG_PG_FIXED_COUNT + (size_t)statements[i]))
            continue;
        rig_sql_told_add(told, rig_pg_schema_of_key(schema, 0, statements[i])->text, '$', NULL);
        rig_sql_told_end(told, (enum rig_sql_form)(RIG_SQL_FORM_READ + (int)i));
    }
    if (!rig_pg_schema_uses(schema, RIG_PG_FIXED_COUNT + RIG_PG_UPDATE))
        return;
    rig_sql_told_add(told, rig_pg_schema_of_key(schema, 0, RIG_PG_UPDATE)->text, '$', NULL);
    rig_sql_told_add_fallback(told);
    rig_sql_told_add(told, rig_pg_schema_of_key(schema, 0, RIG_PG_INSERT)->text, '$', NULL);
    rig_sql_told_end(told, RIG_SQL_FORM_PUT);
}

static void tell_all(struct rig_sql_told *told, const struct rig_pg_schema *schema)
{
    static const char own[] = "-- BEGIN ISOLATION LEVEL, with the transaction's own level";
    const bool is_own = rig_sql_given(schema->options->sql.isolation_shares);
    rig_sql_told_say(told, RIG_SQL_FORM_BEGIN, is_own ? own : rig_pg_schema_fixed(schema, RIG_PG_BEGIN)->text);
    if (!is_own)
        rig_sql_told_say(told, RIG_SQL_FORM_BEGIN_READ_ONLY, rig_pg_schema_fixed(schema, RIG_PG_BEGIN_READ_ONLY)->text);
    rig_sql_told_usual(told);
    if (schema->workload != RIG_WORKLOAD_PREDICATE) {
        tell_actions(told, schema);
        return;
    }
    for (int i = 0; i < RIG_SQL_PREDICATE_COUNT; i++) {
        const enum rig_pg_of_table which = (enum rig_pg_of_table)(RIG_PG_ROWS + i);
        rig_sql_told_add(told, rig_pg_schema_of_key(schema, 0, which)->text, '$', NULL);
        rig_sql_told_end(told, (enum rig_sql_form)(RIG_SQL_FORM_LIST_BY_ID + i));
    }
}

static enum rig_rc statements(const struct rig_run_env *env, struct rig_statement_texts *texts, struct rig_err *err)
{
    const struct rig_pg_options *options = env->options;
    struct rig_pg_schema schema = {.statements = NULL};
    struct rig_sql_told told;
    char table[RIG_PG_TABLE_BYTES];
    if (env->rows != NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_pg_schema_init(&schema, env, options, err);
    if (rc == RIG_OK) {
        rig_pg_schema_table(&schema, 0, table);
        if (rig_sql_told_init(&told, env, &options->sql, table, texts))
            tell_all(&told, &schema);
        rig_sql_told_done(&told);
    }
    rig_pg_schema_done(&schema);
    return rc;
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "postgres",
    .summary = "PostgreSQL, through libpq: a server or a cluster that rig starts, or existing servers",
    .workloads = RIG_SQL_WORKLOADS | RIG_WORKLOAD_BIT(RIG_WORKLOAD_SQL),
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROLLBACKS |
                RIG_DRIVER_SUBQUERIES | RIG_DRIVER_JOINS | RIG_DRIVER_PREFILLS,
    .options = rig_pg_option_table,
    .options_size = sizeof(struct rig_pg_options),
    .run_size = sizeof(struct rig_pg_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = rig_pg_options_check,
    .init = init,
    .done = done,
    .setup = rig_sql_run_setup,
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
    .cluster = &rig_pg_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "pgoutput",
    .certify = certify,
};
