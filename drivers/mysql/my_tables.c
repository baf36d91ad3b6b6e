#include "drivers/mysql/my_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "drivers/sql/key_rows.h"

#define MARK "rig run " /* the beginning of every run's mark; the run's name follows */

enum { SCRIPT_MOST = 16 << 20 };

/* ---- creating ---- */

/* The program's table, with the storage engine and the mark in place of its first semicolon. */
static void add_program_table(const struct rig_my_schema *schema, const struct rig_run_env *env, uint32_t table,
                              struct rig_buf *sql)
{
    const struct rig_sql_dialect dialect = rig_my_schema_dialect(schema);
    struct rig_buf creation;
    rig_buf_init(&creation, SCRIPT_MOST);
    rig_sql_create_table(&dialect, &schema->rows->tables[table], &creation);
    const char *text = rig_buf_text(&creation);
    const char *end = strchr(text, ';');
    sql->failed = sql->failed || creation.failed || end == NULL;
    if (end != NULL) {
        rig_buf_add(sql, text, (size_t)(end - text));
        rig_buf_printf(sql, " ENGINE = InnoDB COMMENT = '" MARK "%s'", env->run_name);
        /* The last semicolon ends the whole. */
        const size_t rest = creation.size - (size_t)(end - text);
        rig_buf_add(sql, end, rest > 2 ? rest - 2 : 0);
    }
    rig_buf_done(&creation);
}

/* Padding is in the row itself, because it is short. */
static void add_table(const struct rig_my_schema *schema, const struct rig_run_env *env, const char *name,
                      struct rig_buf *sql)
{
    const int64_t padding = schema->options->sql.row_padding_bytes;
    rig_buf_printf(sql, "CREATE TABLE %s (%s", name, rig_my_schema_columns(schema));
    if (padding > 0) {
        rig_buf_printf(sql, ", padding varchar(%lld) CHARACTER SET latin1 NOT NULL DEFAULT '", (long long)padding);
        for (int64_t i = 0; i < padding; i++)
            rig_buf_add_char(sql, 'x');
        rig_buf_add_char(sql, '\'');
    }
    rig_buf_printf(sql, ") ENGINE = InnoDB COMMENT = '" MARK "%s'", env->run_name);
}

static void write_creation(const struct rig_my_schema *schema, const struct rig_run_env *env, struct rig_buf *sql)
{
    /* Names of a user's own objects are compared as they are written. */
    rig_buf_add_text(sql, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'; ");
    if (schema->place.own)
        rig_buf_printf(sql, "CREATE DATABASE `%s`; ", schema->place.database);
    const struct rig_sql_key_tables key_tables = {.env = env, .table_count = schema->options->sql.tables};
    for (uint32_t table = 0; table < rig_my_schema_table_count(schema); table++) {
        char name[RIG_MY_TABLE_BYTES];
        rig_my_schema_table(schema, table, name);
        if (schema->rows != NULL)
            add_program_table(schema, env, table, sql);
        else
            add_table(schema, env, name, sql);
        rig_buf_add_text(sql, "; ");
        rig_sql_add_key_rows(&key_tables, table, name, sql);
    }
}

enum rig_rc rig_my_tables_create(const struct rig_my_schema *schema, const struct rig_run_env *env,
                                 struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_buf sql;
    struct rig_err problem = {.rc = RIG_OK};
    rig_buf_init(&sql, SCRIPT_MOST);
    write_creation(schema, env, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(&problem, "the run's tables")
                                : rig_my_query(connection, rig_buf_text(&sql), deadline_ns, NULL, &problem);
    rig_buf_done(&sql);
    if (rc == RIG_OK)
        return RIG_OK;
    const unsigned number = mysql_errno(connection->my);
    const bool denied = number == 1044 || number == 1142;
    if (denied && schema->place.own)
        return rig_fail(
            err, rc,
            "%.500s: the run creates its own database; GRANT CREATE, and all on databases named `rig\\_%%`, "
            "or name a database in which the user may create tables as database.dbname",
            problem.text);
    return rig_fail(err, rc, "%.900s", problem.text);
}

/* The row that is made last is there. */
static bool has_last_row(const struct rig_my_schema *schema, const struct rig_run_env *env,
                         struct rig_my_connection *connection, int64_t deadline_ns)
{
    const struct rig_sql_key_tables tables = {.env = env, .table_count = schema->options->sql.tables};
    char name[RIG_MY_TABLE_BYTES], sql[RIG_MY_TABLE_BYTES + 64], answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    uint32_t table = rig_my_schema_table_count(schema) - 1;
    while (table > 0 && rig_sql_last_key_row(&tables, table) < 0)
        table--;
    rig_my_schema_table(schema, table, name);
    (void)snprintf(sql, sizeof sql, "SELECT k FROM %s WHERE k = %lld", name,
                   (long long)rig_sql_last_key_row(&tables, table));
    return rig_my_query(connection, sql, deadline_ns, answer, &ignored) == RIG_OK && answer[0] != '\0';
}

enum rig_rc rig_my_tables_await_rows(const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     const struct rig_my_servers *servers, uint32_t server, int64_t deadline_ns,
                                     struct rig_err *err)
{
    struct rig_sql_waiter waiter = {.core = env->core};
    struct rig_my_connection connection;
    enum rig_rc rc = rig_my_servers_connect(servers, server, &waiter, deadline_ns, &connection, err);
    while (rc == RIG_OK && !has_last_row(schema, env, &connection, deadline_ns)) {
        if (env->core->stopping() || env->core->now_ns() > deadline_ns)
            rc = rig_fail(
                err, RIG_E_CLUSTER,
                "MySQL at %.250s does not have the rows of `workload.keys.prefill`: see whether it follows the "
                "server that takes writes",
                rig_my_servers_name(servers, server));
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 10 * RIG_NS_PER_MS);
    }
    rig_my_disconnect(&connection);
    return rc;
}

/* ---- removing ---- */

static enum rig_rc count(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns, long long *number,
                         struct rig_err *err)
{
    char answer[RIG_MY_ANSWER_BYTES];
    const enum rig_rc rc = rig_my_query(connection, sql, deadline_ns, answer, err);
    if (rc == RIG_OK)
        *number = strtoll(answer, NULL, 10);
    return rc;
}

/* The number of the run's tables that exist with its mark. */
static enum rig_rc count_marked(const struct rig_my_schema *schema, const struct rig_run_env *env,
                                struct rig_my_connection *connection, int64_t deadline_ns, long long *marked,
                                struct rig_err *err)
{
    char sql[512];
    (void)snprintf(sql, sizeof sql,
                   "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s' AND TABLE_COMMENT = '" MARK
                   "%s'",
                   schema->place.database, env->run_name);
    return count(connection, sql, deadline_ns, marked, err);
}

static void add_name(void *context, const char *const *values, uint32_t columns)
{
    struct rig_buf *sql = context;
    if (columns == 1)
        rig_buf_printf(sql, "%s`%s`", sql->size == 0 ? "DROP TABLE " : ", ", values[0]);
}

/* Those with the mark, and no other ones: a creation that failed has made some of them. */
static enum rig_rc drop_marked(const struct rig_my_schema *schema, const struct rig_run_env *env,
                               struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    char select[512];
    struct rig_buf sql;
    rig_buf_init(&sql, SCRIPT_MOST);
    (void)snprintf(select, sizeof select,
                   "SELECT CONCAT(TABLE_SCHEMA, '`.`', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                   "'%s' AND TABLE_COMMENT = '" MARK "%s'",
                   schema->place.database, env->run_name);
    enum rig_rc rc = rig_my_query_rows(connection, select, deadline_ns, add_name, &sql, err);
    if (rc == RIG_OK && sql.size > 0)
        rc = sql.failed ? rig_no_memory(err, "the run's tables")
                        : rig_my_query(connection, rig_buf_text(&sql), deadline_ns, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

/* Only an empty database: DROP DATABASE removes what is in it. */
static enum rig_rc drop_database(const struct rig_my_schema *schema, struct rig_my_connection *connection,
                                 int64_t deadline_ns, struct rig_err *err)
{
    const char *database = schema->place.database;
    char sql[1024];
    long long others = 0;
    (void)snprintf(
        sql, sizeof sql,
        "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s') + (SELECT COUNT(*) "
        "FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '%s') + (SELECT COUNT(*) FROM "
        "information_schema.EVENTS WHERE EVENT_SCHEMA = '%s')",
        database, database, database);
    enum rig_rc rc = count(connection, sql, deadline_ns, &others, err);
    if (rc == RIG_OK && others > 0)
        return rig_fail(err, RIG_E_CLUSTER, "MySQL: the database `%s` has %lld objects that are not the run's",
                        database, others);
    (void)snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`", database);
    return rc != RIG_OK ? rc : rig_my_query(connection, sql, deadline_ns, NULL, err);
}

enum rig_rc rig_my_tables_drop(const struct rig_my_schema *schema, const struct rig_run_env *env,
                               struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    const enum rig_rc rc = drop_marked(schema, env, connection, deadline_ns, err);
    /* Its name is the run's, which no other run has; a run whose creation failed may have nothing in it. */
    return rc == RIG_OK && schema->place.own ? drop_database(schema, connection, deadline_ns, err) : rc;
}

/* ---- reporting ---- */

void rig_my_tables_remedy(const struct rig_my_schema *schema, const struct rig_run_env *env, char *text, size_t size)
{
    const struct rig_my_place *place = &schema->place;
    if (place->own)
        (void)snprintf(text, size, "DROP DATABASE `%s`", place->database);
    else
        (void)snprintf(text, size,
                       "SET SESSION group_concat_max_len = 1000000; SELECT CONCAT('DROP TABLE ', GROUP_CONCAT('`', "
                       "TABLE_SCHEMA, '`.`', TABLE_NAME, '`')) INTO @rig FROM information_schema.TABLES WHERE "
                       "TABLE_COMMENT = '" MARK "%s'; PREPARE rig FROM @rig; EXECUTE rig",
                       env->run_name);
}

bool rig_my_tables_remain(const struct rig_my_schema *schema, const struct rig_run_env *env,
                          struct rig_my_connection *connection, int64_t deadline_ns)
{
    char sql[512];
    long long databases = 0, marked = 0;
    struct rig_err ignored = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '%s'",
                   schema->place.database);
    enum rig_rc rc = schema->place.own ? count(connection, sql, deadline_ns, &databases, &ignored) : RIG_OK;
    if (rc == RIG_OK)
        rc = count_marked(schema, env, connection, deadline_ns, &marked, &ignored);
    return rc != RIG_OK || databases > 0 || marked > 0;
}

void rig_my_tables_tell_others(const struct rig_run_env *env, struct rig_my_connection *connection, int64_t deadline_ns)
{
    static const char sql[] = "SELECT GROUP_CONCAT(DISTINCT TABLE_SCHEMA ORDER BY TABLE_SCHEMA SEPARATOR ', ') FROM "
                              "information_schema.TABLES WHERE TABLE_COMMENT LIKE '" MARK "%'";
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_my_query(connection, sql, deadline_ns, answer, &ignored) == RIG_OK && answer[0] != '\0')
        env->core->log(1, "mysql", "other runs of rig have tables in these databases of the server: %s", answer);
}
