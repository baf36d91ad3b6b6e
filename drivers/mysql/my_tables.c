#include "drivers/mysql/my_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "drivers/mysql/my_session.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_run.h"

#define MARK "rig run " /* the beginning of every run's mark; the run's name follows */

enum {
    SCRIPT_MOST = 16 << 20,
    LIST_MOST = 1 << 20,
    XID_FORMAT = 0x726967, /* "rig" */
};

/* The parts of a run's own connection that the functions below use. */
static const struct rig_my_schema *schema_of(const struct rig_sql_own *own)
{
    return &((const struct rig_my_run *)own->run)->schema;
}

static struct rig_my_connection *connection_of(const struct rig_sql_own *own)
{
    return (struct rig_my_connection *)own->connection;
}

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

static void name_table(const struct rig_sql_own *own, uint32_t table, char name[static RIG_SQL_RANDOM_TABLE_BYTES])
{
    _Static_assert((int)RIG_SQL_RANDOM_TABLE_BYTES >= (int)RIG_MY_TABLE_BYTES, "a name fits");
    rig_my_schema_table(schema_of(own), table, name);
}

static enum rig_rc create_tables(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_my_schema *schema = schema_of(own);
    struct rig_buf sql;
    struct rig_err problem = {.rc = RIG_OK};
    rig_buf_init(&sql, SCRIPT_MOST);
    write_creation(schema, own->run->env, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(&problem, "the run's tables")
                                : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, &problem);
    rig_buf_done(&sql);
    if (rc == RIG_OK)
        return schema->workload == RIG_WORKLOAD_SQL && schema->rows == NULL
                   ? rig_sql_random_prepare(RIG_SQL_RANDOM_MYSQL, own, rig_my_schema_table_count(schema_of(own)),
                                            name_table, err)
                   : RIG_OK;
    const unsigned number = mysql_errno(connection_of(own)->my);
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
static bool has_last_row(struct rig_sql_own *own)
{
    const struct rig_my_schema *schema = schema_of(own);
    const struct rig_sql_key_tables tables = {.env = own->run->env, .table_count = schema->options->sql.tables};
    char name[RIG_MY_TABLE_BYTES], sql[RIG_MY_TABLE_BYTES + 64], answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    uint32_t table = rig_my_schema_table_count(schema) - 1;
    while (table > 0 && rig_sql_last_key_row(&tables, table) < 0)
        table--;
    rig_my_schema_table(schema, table, name);
    (void)snprintf(sql, sizeof sql, "SELECT k FROM %s WHERE k = %lld", name,
                   (long long)rig_sql_last_key_row(&tables, table));
    return rig_my_query(connection_of(own), sql, own->deadline_ns, answer, &ignored) == RIG_OK && answer[0] != '\0';
}

enum rig_rc rig_my_tables_await_rows(struct rig_sql_run *run, uint32_t server, int64_t timeout_ns, struct rig_err *err)
{
    const struct rig_core *core = run->env->core;
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect_to(&own, run, server, false, timeout_ns, err);
    while (rc == RIG_OK && !has_last_row(&own)) {
        if (core->stopping() || core->now_ns() > own.deadline_ns)
            rc = rig_fail(
                err, RIG_E_CLUSTER,
                "MySQL at %.250s does not have the rows of `workload.keys.prefill`: see whether it follows the "
                "server that takes writes",
                rig_sql_run_server_name(run, server));
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 10 * RIG_NS_PER_MS);
    }
    rig_sql_own_disconnect(&own);
    return rc;
}

/* ---- removing ---- */

static enum rig_rc count(struct rig_sql_own *own, const char *sql, long long *number, struct rig_err *err)
{
    char answer[RIG_MY_ANSWER_BYTES];
    const enum rig_rc rc = rig_my_query(connection_of(own), sql, own->deadline_ns, answer, err);
    if (rc == RIG_OK)
        *number = strtoll(answer, NULL, 10);
    return rc;
}

/* The number of the run's tables that exist with its mark. */
static enum rig_rc count_marked(struct rig_sql_own *own, long long *marked, struct rig_err *err)
{
    char sql[512];
    (void)snprintf(sql, sizeof sql,
                   "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s' AND TABLE_COMMENT = '" MARK
                   "%s'",
                   schema_of(own)->place.database, own->run->env->run_name);
    return count(own, sql, marked, err);
}

static void add_name(void *context, const char *const *values, uint32_t columns)
{
    struct rig_buf *sql = context;
    if (columns == 1)
        rig_buf_printf(sql, "%s`%s`", sql->size == 0 ? "DROP TABLE " : ", ", values[0]);
}

/* Those with the mark, and no other ones: a creation that failed has made some of them. */
static enum rig_rc drop_marked(struct rig_sql_own *own, struct rig_err *err)
{
    char select[512];
    struct rig_buf sql;
    rig_buf_init(&sql, SCRIPT_MOST);
    (void)snprintf(select, sizeof select,
                   "SELECT CONCAT(TABLE_SCHEMA, '`.`', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                   "'%s' AND TABLE_COMMENT = '" MARK "%s'",
                   schema_of(own)->place.database, own->run->env->run_name);
    enum rig_rc rc = rig_sql_own_query(own, select, add_name, &sql, err);
    if (rc == RIG_OK && sql.size > 0)
        rc = sql.failed ? rig_no_memory(err, "the run's tables")
                        : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

/* Only an empty database: DROP DATABASE removes what is in it. */
static enum rig_rc drop_database(struct rig_sql_own *own, struct rig_err *err)
{
    const char *database = schema_of(own)->place.database;
    char sql[1024];
    long long others = 0;
    (void)snprintf(
        sql, sizeof sql,
        "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s') + (SELECT COUNT(*) "
        "FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '%s') + (SELECT COUNT(*) FROM "
        "information_schema.EVENTS WHERE EVENT_SCHEMA = '%s')",
        database, database, database);
    enum rig_rc rc = count(own, sql, &others, err);
    if (rc == RIG_OK && others > 0)
        return rig_fail(err, RIG_E_CLUSTER, "MySQL: the database `%s` has %lld objects that are not the run's",
                        database, others);
    (void)snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`", database);
    return rc != RIG_OK ? rc : rig_sql_own_query(own, sql, NULL, NULL, err);
}

static enum rig_rc drop_tables(struct rig_sql_own *own, struct rig_err *err)
{
    const enum rig_rc rc = drop_marked(own, err);
    /* Its name is the run's, which no other run has; a run whose creation failed may have nothing in it. */
    return rc == RIG_OK && schema_of(own)->place.own ? drop_database(own, err) : rc;
}

/* ---- reporting ---- */

static void write_remedy(const struct rig_sql_run *run, char *text, size_t size)
{
    const struct rig_my_place *place = &((const struct rig_my_run *)run)->schema.place;
    if (place->own)
        (void)snprintf(text, size, "DROP DATABASE `%s`", place->database);
    else
        (void)snprintf(text, size,
                       "SET SESSION group_concat_max_len = 1000000; SELECT CONCAT('DROP TABLE ', GROUP_CONCAT('`', "
                       "TABLE_SCHEMA, '`.`', TABLE_NAME, '`')) INTO @rig FROM information_schema.TABLES WHERE "
                       "TABLE_COMMENT = '" MARK "%s'; PREPARE rig FROM @rig; EXECUTE rig",
                       run->env->run_name);
}

static void remind(struct rig_sql_own *own, char *text, size_t size)
{
    const struct rig_sql_run *run = own->run;
    char remedy[RIG_SQL_REMEDY_BYTES];
    write_remedy(run, remedy, sizeof remedy);
    (void)snprintf(text, size, "tables of a run are on MySQL at %.250s: %s removes them%s",
                   rig_sql_run_server_name(run, 0), remedy,
                   run->options->two_phase <= 0
                       ? ""
                       : ", after XA ROLLBACK for each of its transactions in XA RECOVER FORMAT='SQL'");
}

/* Each statement is a transaction, so some of them may have been executed, or none; the server may not tell. */
static bool left_nothing(struct rig_sql_own *own)
{
    const struct rig_my_place *place = &schema_of(own)->place;
    char sql[512];
    long long databases = 0, marked = 0;
    struct rig_err ignored = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '%s'",
                   place->database);
    enum rig_rc rc = place->own ? count(own, sql, &databases, &ignored) : RIG_OK;
    if (rc == RIG_OK)
        rc = count_marked(own, &marked, &ignored);
    return rc == RIG_OK && databases == 0 && marked == 0;
}

static void tell_others(struct rig_sql_own *own)
{
    static const char sql[] = "SELECT GROUP_CONCAT(DISTINCT TABLE_SCHEMA ORDER BY TABLE_SCHEMA SEPARATOR ', ') FROM "
                              "information_schema.TABLES WHERE TABLE_COMMENT LIKE '" MARK "%'";
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_my_query(connection_of(own), sql, own->deadline_ns, answer, &ignored) == RIG_OK && answer[0] != '\0')
        own->run->env->core->log(1, "mysql", "other runs of rig have tables in these databases of the server: %s",
                                 answer);
}

/* ---- commits in two phases ---- */

/* As SQL: 'run','client.number',format. */
static void print_name(const struct rig_run_env *env, uint32_t client, uint64_t number,
                       char name[static RIG_SQL_NAME_BYTES])
{
    (void)snprintf(name, RIG_SQL_NAME_BYTES, "'%s','%u.%llu',%d", env->run_name, client, (unsigned long long)number,
                   XID_FORMAT);
}

/* The run's prepared transactions, each as the second part of its identifier and a line feed. */
struct found {
    const char *run;
    char client[16]; /* "3."; empty: of any */
    struct rig_buf parts;
};

/* A row of XA RECOVER: format, lengths of the two parts of the identifier, both parts. */
static void take_row(void *context, const char *const *values, uint32_t count)
{
    struct found *found = context;
    if (count != 4 || values[0] == NULL || values[1] == NULL || values[2] == NULL || values[3] == NULL)
        return;
    const size_t run_length = strlen(found->run), length = strtoul(values[2], NULL, 10);
    const char *part = values[3] + run_length;
    if (strtol(values[0], NULL, 10) != XID_FORMAT || strtoul(values[1], NULL, 10) != run_length ||
        strlen(values[3]) != run_length + length || strncmp(values[3], found->run, run_length) != 0 ||
        strncmp(part, found->client, strlen(found->client)) != 0 || strspn(part, "0123456789.") != length)
        return;
    rig_buf_add(&found->parts, part, length);
    rig_buf_add_char(&found->parts, '\n');
}

static enum rig_rc list(struct found *found, struct rig_my_connection *connection, int64_t deadline_ns,
                        struct rig_err *err)
{
    rig_buf_clear(&found->parts);
    const enum rig_rc rc = rig_my_query_rows(connection, "XA RECOVER", deadline_ns, take_row, found, err);
    return rc == RIG_OK && found->parts.failed ? rig_no_memory(err, "the list of prepared transactions") : rc;
}

/* Rolls back each transaction of the list; returns the number of those that stay. */
static uint32_t roll_back(struct rig_sql_run *run, const struct found *found, struct rig_my_connection *connection,
                          int64_t deadline_ns)
{
    const struct rig_run_env *env = run->env;
    uint32_t left = 0;
    for (const char *part = rig_buf_text(&found->parts); *part != '\0'; part += strcspn(part, "\n") + 1) {
        const int length = (int)strcspn(part, "\n");
        char sql[256];
        struct rig_err own = {.rc = RIG_OK};
        (void)snprintf(sql, sizeof sql, "XA ROLLBACK '%s','%.*s',%d", env->run_name, length, part, XID_FORMAT);
        if (rig_my_query(connection, sql, deadline_ns, NULL, &own) == RIG_OK) {
            (void)atomic_fetch_add(&run->two_phase.rolled_back, 1);
            env->core->log(3, "mysql", "rolled back the transaction %.*s, which was left prepared", length, part);
        } else {
            env->core->log(3, "mysql", "the transaction %.*s stays prepared: %s", length, part, own.text);
            left++;
        }
    }
    return left;
}

enum rig_rc rig_my_tables_resolve_prepared(struct rig_sql_run *run, uint32_t client,
                                           struct rig_my_connection *connection, int64_t patience_ns,
                                           int64_t deadline_ns, uint32_t *left, struct rig_err *err)
{
    static const int64_t pause_ns = 5000000;
    const struct rig_run_env *env = run->env;
    const int64_t end_ns = env->core->now_ns() + patience_ns;
    struct found found = {.run = env->run_name};
    enum rig_rc rc = RIG_OK;
    if (client != UINT32_MAX)
        (void)snprintf(found.client, sizeof found.client, "%u.", client);
    rig_buf_init(&found.parts, LIST_MOST);
    do {
        if (*left > 0)
            rig_clock_sleep_until_ns(rig_clock_now_ns() + pause_ns);
        rc = list(&found, connection, deadline_ns, err);
        *left = rc == RIG_OK ? roll_back(run, &found, connection, deadline_ns) : 0;
    } while (*left > 0 && env->core->now_ns() < end_ns);
    rig_buf_done(&found.parts);
    return rc;
}

static void take_switch(void *context, const char *const *values, uint32_t count)
{
    bool *on = context;
    *on |= count == 2 && values[1] != NULL && (strcmp(values[1], "ON") == 0 || strcmp(values[1], "1") == 0);
}

static enum rig_rc check_two_phase(struct rig_sql_own *own, struct rig_err *err)
{
    bool galera = false;
    struct rig_err problem = {.rc = RIG_OK};
    enum rig_rc rc = rig_sql_own_query(own, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", take_switch, &galera, err);
    if (rc != RIG_OK)
        return rc;
    if (galera)
        return rig_fail(err, RIG_E_CLUSTER,
                        "database.two-phase: a Galera node certifies a transaction when it commits, so it has no "
                        "prepared ones; leave it out");
    rc = rig_sql_own_query(own, "XA RECOVER", NULL, NULL, &problem);
    if (rc != RIG_OK)
        return rig_fail(err, rc,
                        "database.two-phase: rig must see prepared transactions to roll back what a lost session left: "
                        "%.300s; GRANT XA_RECOVER_ADMIN to the user, or leave it out",
                        problem.text);
    return RIG_OK;
}

static void remove_prepared(struct rig_sql_run *run)
{
    static const int64_t patience_ns = INT64_C(5000000000);
    struct rig_sql_own own;
    struct rig_err err = {.rc = RIG_OK};
    uint32_t left = 0;
    enum rig_rc rc = rig_sql_own_connect(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = rig_my_tables_resolve_prepared(run, UINT32_MAX, connection_of(&own), patience_ns, own.deadline_ns, &left,
                                            &err);
    rig_sql_own_disconnect(&own);
    if (rc != RIG_OK || left > 0)
        run->env->core->log(
            0, "mysql",
            "transactions whose identifiers begin with %s may stay prepared on the server: %s; XA ROLLBACK "
            "ends each",
            run->env->run_name, rc != RIG_OK ? err.text : "their sessions have not ended");
}

/* ---- the rest of a run on the server ---- */

static enum rig_rc created(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_my_run *run = (struct rig_my_run *)own->run;
    enum rig_rc rc = RIG_OK;
    if (run->sql.env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_my_certificate_begin(&run->certificate, connection_of(own), own->deadline_ns, err);
    if (rc == RIG_OK)
        (void)snprintf(run->sql.server_version, sizeof run->sql.server_version, "%s",
                       mysql_get_server_info(connection_of(own)->my));
    return rc;
}

const struct rig_sql_tables rig_my_tables = {
    .tell_others = tell_others,
    .check_two_phase = check_two_phase,
    .remind = remind,
    .create = create_tables,
    .left_nothing = left_nothing,
    .created = created,
    .remove_prepared = remove_prepared,
    .drop = drop_tables,
    .remedy = write_remedy,
    .name = print_name,
};
