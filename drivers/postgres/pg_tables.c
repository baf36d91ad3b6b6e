#include "drivers/postgres/pg_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/plural.h"
#include "drivers/postgres/pg_join.h"
#include "drivers/sql/key_rows.h"
#include "drivers/sql/row_sql.h"

#define MARK "rig run " /* the beginning of every run's mark; the run's name follows */

enum { SCRIPT_MOST = 1 << 20 };

static const char *no_memory(void)
{
    return "PostgreSQL: " RIG_NO_MEMORY "the run's tables";
}

/* ---- creating ---- */

static void add_mark(struct rig_buf *sql, const char *kind, const char *name, const char *suffix, const char *run_name)
{
    rig_buf_printf(sql, "COMMENT ON %s %s%s IS '" MARK "%s'; ", kind, name, suffix, run_name);
}

/* Whether each table has a second one beside it. */
static bool is_joined(const struct rig_pg_schema *schema)
{
    return schema->options->row_join != RIG_PG_JOIN_NONE;
}

/* One transaction: the server runs the statements of one request as such. */
static void write_creation(const struct rig_pg_schema *schema, const struct rig_run_env *env, struct rig_buf *sql)
{
    const struct rig_pg_place *place = &schema->place;
    if (place->own) {
        rig_buf_printf(sql, "CREATE SCHEMA %s; ", place->schema);
        add_mark(sql, "SCHEMA", place->schema, "", env->run_name);
    }
    char prefix[RIG_PG_TABLE_BYTES];
    rig_pg_place_prefix(place, prefix);
    const struct rig_sql_dialect dialect = {.prefix = prefix};
    const struct rig_sql_key_tables key_tables = {.env = env, .table_count = schema->options->sql.tables};
    for (uint32_t table = 0; table < rig_pg_schema_table_count(schema); table++) {
        char name[RIG_PG_TABLE_BYTES];
        rig_pg_schema_table(schema, table, name);
        if (schema->rows != NULL)
            rig_sql_create_table(&dialect, &schema->rows->tables[table], sql);
        else
            rig_buf_printf(sql, "CREATE TABLE %s (%s); ", name, rig_pg_schema_columns(schema));
        if (schema->options->sql.row_padding_bytes > 0) /* in the row itself, because it is short */
            rig_buf_printf(sql, "ALTER TABLE %s ADD padding text NOT NULL DEFAULT repeat('x', %" PRId64 "); ", name,
                           schema->options->sql.row_padding_bytes);
        if (env->certificate != RIG_CERTIFICATE_NONE && schema->rows == NULL &&
            schema->workload == RIG_WORKLOAD_PREDICATE && schema->options->row_index == RIG_PG_ROWS_NO_INDEX)
            rig_buf_printf(sql, "ALTER TABLE %s REPLICA IDENTITY FULL; ",
                           name); /* no key names the rows in the stream */
        if (rig_pg_schema_index(schema) != NULL)
            rig_buf_printf(sql, "CREATE INDEX ON %s %s; ", name, rig_pg_schema_index(schema));
        if (is_joined(schema))
            rig_pg_join_create(name, rig_pg_schema_columns(schema), rig_pg_schema_index(schema), sql);
        if (env->prefilled_keys > 0)
            rig_buf_printf(sql, "ALTER TABLE %s ALTER v DROP NOT NULL; ", name);
        rig_sql_add_key_rows(&key_tables, table, name, sql);
        if (place->own)
            continue;
        add_mark(sql, "TABLE", name, "", env->run_name);
        if (is_joined(schema))
            add_mark(sql, "TABLE", name, RIG_PG_JOIN_SECOND, env->run_name);
    }
}

/* The remedy for the error that prevented the tables. */
static enum rig_rc explain(const struct rig_pg_schema *schema, const struct rig_pg_connection *connection,
                           const struct rig_err *why, struct rig_err *err)
{
    const struct rig_pg_place *place = &schema->place;
    const char *user = PQuser(connection->pg);
    const char *database = PQdb(connection->pg);
    bool denied = strcmp(connection->query_code, "42501") == 0;
    if (denied && place->own)
        return rig_fail(err, why->rc,
                        "%.500s: the run creates its own schema; `GRANT CREATE ON DATABASE \"%.63s\" TO \"%.63s\"` "
                        "allows that, or name a schema in which the user may create tables as database.schema",
                        why->text, database, user);
    if (denied)
        return rig_fail(err, why->rc, "%.500s: `GRANT USAGE, CREATE ON SCHEMA \"%s\" TO \"%.63s\"` allows it",
                        why->text, place->schema, user);
    if (!place->own && strcmp(connection->query_code, "3F000") == 0)
        return rig_fail(err, why->rc, "%.500s: create it, or leave out database.schema, and the run creates one",
                        why->text);
    return rig_fail(err, why->rc, "%.900s", why->text);
}

enum rig_rc rig_pg_tables_create(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                 struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_buf sql;
    struct rig_err problem = {.rc = RIG_OK};
    rig_buf_init(&sql, SCRIPT_MOST);
    write_creation(schema, env, &sql);
    enum rig_rc rc = sql.failed ? rig_fail(&problem, RIG_E_LIMIT, "%s", no_memory())
                                : rig_pg_query(connection, rig_buf_text(&sql), deadline_ns, NULL, &problem);
    rig_buf_done(&sql);
    return rc == RIG_OK ? RIG_OK : explain(schema, connection, &problem, err);
}

/* ---- removing ---- */

/* The number of the run's objects that exist with its mark. */
static enum rig_rc count_marked(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                struct rig_pg_connection *connection, int64_t deadline_ns, int64_t *count,
                                struct rig_err *err)
{
    const struct rig_pg_place *place = &schema->place;
    char sql[1024];
    PGresult *result = NULL;
    if (place->own)
        (void)snprintf(sql, sizeof sql,
                       "SELECT count(*) FROM pg_namespace WHERE nspname = '%s' AND"
                       " obj_description(oid, 'pg_namespace') = '" MARK "%s'",
                       place->schema, env->run_name);
    else
        (void)snprintf(sql, sizeof sql,
                       "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE"
                       " n.nspname = '%s' AND c.relkind = 'r' AND starts_with(c.relname, '%s') AND"
                       " obj_description(c.oid, 'pg_class') = '" MARK "%s'",
                       place->schema, place->stem, env->run_name);
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, &result, err);
    if (rc == RIG_OK && (PQntuples(result) != 1 ||
                         !rig_sql_int_parse(PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0), count)))
        rc = rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: `%.120s`: the result is not a number", sql);
    PQclear(result);
    return rc;
}

static void write_removal(const struct rig_pg_schema *schema, struct rig_buf *sql)
{
    for (uint32_t table = 0; table < rig_pg_schema_table_count(schema); table++) {
        char name[RIG_PG_TABLE_BYTES];
        rig_pg_schema_table(schema, table, name);
        if (is_joined(schema))
            rig_pg_join_drop_view(name, sql);
        rig_buf_printf(sql, "DROP TABLE %s; ", name);
        if (is_joined(schema)) {
            rig_buf_printf(sql, "DROP TABLE %s" RIG_PG_JOIN_SECOND "; ", name);
            rig_pg_join_drop_trigger(name, sql);
        }
    }
    if (schema->place.own)
        rig_buf_printf(sql, "DROP SCHEMA %s", schema->place.schema);
}

enum rig_rc rig_pg_tables_drop(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                               struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    int64_t marked = 0;
    enum rig_rc rc = count_marked(schema, env, connection, deadline_ns, &marked, err);
    if (rc != RIG_OK || marked == 0)
        return rc;
    const uint32_t tables = rig_pg_schema_table_count(schema) * (is_joined(schema) ? 2 : 1);
    if (marked != (schema->place.own ? 1 : (int64_t)tables))
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: only %lld of the run's %u table%s carry its mark",
                        (long long)marked, tables, rig_plural(tables));
    struct rig_buf sql;
    rig_buf_init(&sql, SCRIPT_MOST);
    write_removal(schema, &sql);
    rc = sql.failed ? rig_fail(err, RIG_E_LIMIT, "%s", no_memory())
                    : rig_pg_query(connection, rig_buf_text(&sql), deadline_ns, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

/* ---- reporting ---- */

void rig_pg_tables_remedy(const struct rig_pg_schema *schema, const struct rig_run_env *env, char *text, size_t size)
{
    const struct rig_pg_place *place = &schema->place;
    if (place->own)
        (void)snprintf(text, size, "`DROP SCHEMA %s CASCADE`", place->schema);
    else
        (void)snprintf(text, size,
                       "`DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND "
                       "obj_description(oid, 'pg_class') = '" MARK
                       "%s' LOOP EXECUTE 'DROP TABLE ' || t || ' CASCADE'; END "
                       "LOOP; END $$`",
                       env->run_name);
}

void rig_pg_tables_tell_others(const struct rig_run_env *env, struct rig_pg_connection *connection, int64_t deadline_ns)
{
    static const char sql[] = "SELECT string_agg(name, ', ' ORDER BY name) FROM"
                              " (SELECT 'SCHEMA ' || quote_ident(nspname) AS name FROM pg_namespace"
                              " WHERE obj_description(oid, 'pg_namespace') LIKE '" MARK "%'"
                              " UNION ALL SELECT 'TABLE ' || c.oid::regclass FROM pg_class c"
                              " WHERE c.relkind = 'r' AND obj_description(c.oid, 'pg_class') LIKE '" MARK "%') others";
    PGresult *result = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_pg_query(connection, sql, deadline_ns, &result, &ignored) == RIG_OK && PQntuples(result) == 1 &&
        PQgetlength(result, 0, 0) > 0)
        env->core->log(1, "postgres",
                       "other runs of rig have on this server: %.900s; if such a run has ended, DROP ... CASCADE "
                       "removes its remains",
                       PQgetvalue(result, 0, 0));
    PQclear(result);
}
