#include "drivers/postgres/pg_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/plural.h"
#include "drivers/postgres/pg_options.h"
#include "drivers/postgres/pg_session.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_run.h"

/*
 * A second table beside each table of the workload predicate, for reads that join two tables (the option row-join).
 *
 * The second table has each row's key, id, version and class. A trigger keeps it in step, as part of each statement
 * that writes. Reads are of a view that joins both tables and takes the class from the second one; a row whose versions
 * differ has the version 0 there, which no statement writes. Updates and deletes, and the stream of commits, are of the
 * first table.
 *
 * Pure functions that add text; names are as SQL writes them.
 */

/* Behind a table's name: the second table, and the view. */
#define SECOND "_class"

#define VIEW RIG_PG_JOIN_VIEW
#define KEEP "_keep" /* behind a table's name: the function of its trigger */

/* Each behind the creation, or before and behind the removal, of the tables; with a semicolon. */
static void pg_join_create(const char *table, const char *columns, const char *index, struct rig_buf *sql)
{
    rig_buf_printf(sql, "CREATE TABLE %s" SECOND " (%s); ", table, columns);
    if (index != NULL)
        rig_buf_printf(sql, "CREATE INDEX ON %s" SECOND " %s; ", table, index);
    rig_buf_printf(sql,
                   "CREATE FUNCTION %s" KEEP "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
                   "IF TG_OP = 'INSERT' THEN"
                   " INSERT INTO %s" SECOND " (k, id, v, c) VALUES (NEW.k, NEW.id, NEW.v, NEW.c);"
                   " ELSIF TG_OP = 'UPDATE' THEN"
                   " UPDATE %s" SECOND " SET v = NEW.v, c = NEW.c WHERE k = NEW.k AND id = NEW.id;"
                   " ELSE DELETE FROM %s" SECOND " WHERE k = OLD.k AND id = OLD.id; "
                   "END IF; RETURN NULL; END$$; ",
                   table, table, table, table);
    rig_buf_printf(
        sql, "CREATE TRIGGER keep AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE PROCEDURE %s" KEEP "(); ",
        table, table);
    rig_buf_printf(sql,
                   "CREATE VIEW %s" VIEW " AS SELECT r.k, r.id, CASE WHEN r.v = s.v THEN r.v ELSE 0 END AS v, s.c,"
                   " r.xmin FROM %s AS r JOIN %s" SECOND " AS s ON s.k = r.k AND s.id = r.id; ",
                   table, table, table);
}

static void pg_join_drop_view(const char *table, struct rig_buf *sql)
{
    rig_buf_printf(sql, "DROP VIEW %s" VIEW "; ", table);
}

static void pg_join_drop_trigger(const char *table, struct rig_buf *sql)
{
    rig_buf_printf(sql, "DROP FUNCTION %s" KEEP "(); ", table);
}

const char *rig_pg_join_settings(int join)
{
    static const char *const settings[] = {
        [RIG_PG_JOIN_NONE] = "",
        [RIG_PG_JOIN_ANY] = "",
        [RIG_PG_JOIN_NESTED] = "SET enable_hashjoin = off; SET enable_mergejoin = off;",
        [RIG_PG_JOIN_HASH] = "SET enable_nestloop = off; SET enable_mergejoin = off;",
        [RIG_PG_JOIN_MERGE] = "SET enable_nestloop = off; SET enable_hashjoin = off;"};
    RIG_INVARIANT(join >= 0 && (size_t)join < sizeof settings / sizeof settings[0]);
    return settings[join];
}

enum { NAME_MOST = 80 }; /* of a name of a commit in two phases */

#define MARK "rig run " /* the beginning of every run's mark; the run's name follows */

enum { SCRIPT_MOST = 1 << 20 };

static const char *no_memory(void)
{
    return "PostgreSQL: " RIG_NO_MEMORY "the run's tables";
}

/* The parts of a run's own connection that the functions below use. */
static const struct rig_pg_schema *schema_of(const struct rig_sql_own *own)
{
    return &((const struct rig_pg_run *)own->run)->schema;
}

static struct rig_pg_connection *connection_of(const struct rig_sql_own *own)
{
    return (struct rig_pg_connection *)own->connection;
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
            pg_join_create(name, rig_pg_schema_columns(schema), rig_pg_schema_index(schema), sql);
        if (env->prefilled_keys > 0)
            rig_buf_printf(sql, "ALTER TABLE %s ALTER v DROP NOT NULL; ", name);
        rig_sql_add_key_rows(&key_tables, table, name, sql);
        if (place->own)
            continue;
        add_mark(sql, "TABLE", name, "", env->run_name);
        if (is_joined(schema))
            add_mark(sql, "TABLE", name, SECOND, env->run_name);
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

static void name_table(const struct rig_sql_own *own, uint32_t table, char name[static RIG_SQL_RANDOM_TABLE_BYTES])
{
    _Static_assert((int)RIG_SQL_RANDOM_TABLE_BYTES >= (int)RIG_PG_TABLE_BYTES, "a name fits");
    rig_pg_schema_table(schema_of(own), table, name);
}

static enum rig_rc create_tables(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_buf sql;
    struct rig_err problem = {.rc = RIG_OK};
    rig_buf_init(&sql, SCRIPT_MOST);
    write_creation(schema_of(own), own->run->env, &sql);
    enum rig_rc rc = sql.failed ? rig_fail(&problem, RIG_E_LIMIT, "%s", no_memory())
                                : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, &problem);
    rig_buf_done(&sql);
    if (rc != RIG_OK)
        return explain(schema_of(own), connection_of(own), &problem, err);
    return schema_of(own)->workload == RIG_WORKLOAD_SQL && schema_of(own)->rows == NULL
               ? rig_sql_random_prepare(RIG_SQL_RANDOM_POSTGRES, own, rig_pg_schema_table_count(schema_of(own)),
                                        name_table, err)
               : RIG_OK;
}

static bool left_nothing(struct rig_sql_own *own)
{
    return connection_of(own)->query_code[0] != '\0';
}

/* ---- removing ---- */

/* The number of the run's objects that exist with its mark. */
static enum rig_rc count_marked(const struct rig_sql_own *own, int64_t *count, struct rig_err *err)
{
    const struct rig_pg_place *place = &schema_of(own)->place;
    const struct rig_run_env *env = own->run->env;
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
    enum rig_rc rc = rig_pg_query(connection_of(own), sql, own->deadline_ns, &result, err);
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
            pg_join_drop_view(name, sql);
        rig_buf_printf(sql, "DROP TABLE %s; ", name);
        if (is_joined(schema)) {
            rig_buf_printf(sql, "DROP TABLE %s" SECOND "; ", name);
            pg_join_drop_trigger(name, sql);
        }
    }
    if (schema->place.own)
        rig_buf_printf(sql, "DROP SCHEMA %s", schema->place.schema);
}

static enum rig_rc drop_tables(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_pg_schema *schema = schema_of(own);
    int64_t marked = 0;
    enum rig_rc rc = count_marked(own, &marked, err);
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
                    : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

/* ---- reporting ---- */

static void write_remedy(const struct rig_sql_run *run, char *text, size_t size)
{
    const struct rig_pg_place *place = &((const struct rig_pg_run *)run)->schema.place;
    if (place->own)
        (void)snprintf(text, size, "`DROP SCHEMA %s CASCADE`", place->schema);
    else
        (void)snprintf(text, size,
                       "`DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND "
                       "obj_description(oid, 'pg_class') = '" MARK
                       "%s' LOOP EXECUTE 'DROP TABLE ' || t || ' CASCADE'; END "
                       "LOOP; END $$`",
                       run->env->run_name);
}

static void remind(struct rig_sql_own *own, char *text, size_t size)
{
    const struct rig_sql_run *run = own->run;
    const PGconn *pg = connection_of(own)->pg;
    char remedy[RIG_SQL_REMEDY_BYTES], prepared[256] = "";
    write_remedy(run, remedy, sizeof remedy);
    if (run->options->two_phase > 0)
        (void)snprintf(prepared, sizeof prepared,
                       ", after `SELECT format('ROLLBACK PREPARED %%L', gid) FROM pg_prepared_xacts WHERE "
                       "starts_with(gid, '%s.') \\gexec` in psql",
                       run->env->run_name);
    (void)snprintf(text, size, "tables of a run are on PostgreSQL at %.200s:%.6s, database %.63s: %s removes them%s",
                   PQhost(pg), PQport(pg), PQdb(pg), remedy, prepared);
}

static void tell_others(struct rig_sql_own *own)
{
    static const char sql[] = "SELECT string_agg(name, ', ' ORDER BY name) FROM"
                              " (SELECT 'SCHEMA ' || quote_ident(nspname) AS name FROM pg_namespace"
                              " WHERE obj_description(oid, 'pg_namespace') LIKE '" MARK "%'"
                              " UNION ALL SELECT 'TABLE ' || c.oid::regclass FROM pg_class c"
                              " WHERE c.relkind = 'r' AND obj_description(c.oid, 'pg_class') LIKE '" MARK "%') others";
    PGresult *result = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_pg_query(connection_of(own), sql, own->deadline_ns, &result, &ignored) == RIG_OK &&
        PQntuples(result) == 1 && PQgetlength(result, 0, 0) > 0)
        own->run->env->core->log(
            1, "postgres",
            "other runs of rig have on this server: %.900s; if such a run has ended, DROP ... CASCADE "
            "removes its remains",
            PQgetvalue(result, 0, 0));
    PQclear(result);
}

/* ---- commits in two phases ---- */

static void print_name(const struct rig_run_env *env, uint32_t client, uint64_t number,
                       char name[static RIG_SQL_NAME_BYTES])
{
    (void)snprintf(name, RIG_SQL_NAME_BYTES, "%s.%u.%llu", env->run_name, client, (unsigned long long)number);
}

static enum rig_rc check_two_phase(struct rig_sql_own *own, struct rig_err *err)
{
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection_of(own), "SHOW max_prepared_transactions", own->deadline_ns, &result, err);
    if (rc == RIG_OK && (PQntuples(result) != 1 || strcmp(PQgetvalue(result, 0, 0), "0") == 0))
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "PostgreSQL: database.two-phase needs max_prepared_transactions above 0 on the server");
    PQclear(result);
    return rc;
}

/* True when it is gone. One that is busy has a request under way. */
static bool roll_back(struct rig_pg_connection *connection, const char *gid, int64_t deadline_ns, struct rig_err *err)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql, "ROLLBACK PREPARED '%.*s'", NAME_MOST, gid);
    return rig_pg_query(connection, sql, deadline_ns, NULL, err) == RIG_OK;
}

enum rig_rc rig_pg_tables_resolve_prepared(struct rig_sql_run *run, uint32_t client,
                                           struct rig_pg_connection *connection, int64_t deadline_ns,
                                           struct rig_err *err)
{
    const struct rig_run_env *env = run->env;
    char sql[256];
    char start[NAME_MOST];
    int length = snprintf(start, sizeof start, "%s.", env->run_name);
    if (client != UINT32_MAX)
        length = snprintf(start, sizeof start, "%s.%u.", env->run_name, client);
    (void)snprintf(sql, sizeof sql,
                   "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND left(gid, %d) = '%s'",
                   length, start);
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, &result, err);
    for (int i = 0; rc == RIG_OK && i < PQntuples(result); i++) {
        const char *gid = PQgetvalue(result, i, 0);
        struct rig_err own = {.rc = RIG_OK};
        if (roll_back(connection, gid, deadline_ns, &own)) {
            (void)atomic_fetch_add(&run->two_phase.rolled_back, 1);
            env->core->log(3, "postgres", "rolled back %s, which was left prepared", gid);
        } else {
            env->core->log(1, "postgres", "the transaction %s stays prepared: %s", gid, own.text);
        }
    }
    PQclear(result);
    return rc;
}

static void remove_prepared(struct rig_sql_run *run)
{
    struct rig_sql_own own;
    struct rig_err err = {.rc = RIG_OK};
    enum rig_rc rc = rig_sql_own_connect(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_tables_resolve_prepared(run, UINT32_MAX, connection_of(&own), own.deadline_ns, &err);
    rig_sql_own_disconnect(&own);
    if (rc != RIG_OK)
        run->env->core->log(
            0, "postgres",
            "transactions whose names begin with %s. may stay prepared on the server (pg_prepared_xacts): "
            "%s; ROLLBACK PREPARED removes each",
            run->env->run_name, err.text);
}

/* ---- the rest of a run on the server ---- */

static enum rig_rc created(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_pg_run *run = (struct rig_pg_run *)own->run;
    enum rig_rc rc = RIG_OK;
    if (run->sql.env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_pg_certificate_begin(&run->certificate, &run->schema, run->sql.env,
                                      rig_sql_run_is_local(&run->sql) ? rig_pg_nodes.primary(&run->sql) : UINT32_MAX,
                                      connection_of(own), own->deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    rig_pg_one_line(run->sql.server_version, sizeof run->sql.server_version,
                    PQparameterStatus(connection_of(own)->pg, "server_version"));
    run->sql.server_version[strcspn(run->sql.server_version, " ")] = '\0';
    return RIG_OK;
}

/* The slot would fill the server's disk. */
static void remove_slot(struct rig_pg_run *run)
{
    const struct rig_run_env *env = run->sql.env;
    struct rig_sql_own own;
    struct rig_err err = {.rc = RIG_OK};
    if (!run->certificate.made)
        return;
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, true, &err);
    if (rc == RIG_OK)
        rc = rig_pg_certificate_end(env, connection_of(&own), own.deadline_ns, &err);
    rig_sql_own_disconnect(&own);
    if (rc == RIG_OK)
        env->core->forget(run->certificate.reminder);
    else
        env->core->log(0, "postgres",
                       "the run's replication slot remains on the server and keeps its log: %s; `SELECT "
                       "pg_drop_replication_slot('%s')` and `DROP PUBLICATION %s` remove it",
                       err.text, env->run_name, env->run_name);
}

static void release(struct rig_sql_run *sql)
{
    struct rig_pg_run *run = (struct rig_pg_run *)sql;
    if (run->options->deferrable > 0)
        sql->env->core->log(2, "postgres", "%llu transactions began READ ONLY DEFERRABLE",
                            (unsigned long long)atomic_load(&run->deferrable_count));
    if (!rig_sql_run_is_local(sql))
        remove_slot(run);
}

const struct rig_sql_tables rig_pg_tables = {
    .tell_others = tell_others,
    .check_two_phase = check_two_phase,
    .remind = remind,
    .create = create_tables,
    .left_nothing = left_nothing,
    .created = created,
    .remove_prepared = remove_prepared,
    .release = release,
    .drop = drop_tables,
    .remedy = write_remedy,
    .name = print_name,
};
