#include "drivers/sqlite/sqlite_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_values.h"

/* The statements of each table, behind those of every run. */
enum of_table {
    READ,
    PUT,     /* the upsert, or an insertion where elements are rows */
    REPLACE, /* the number, by a sum of what was read and an increment */
    COMPARE, /* changes no row unless the value is as expected; a lock is released by it */
    TAKE,    /* of queues and stacks */
    EXTEND,  /* appends to a string, and changes no row where it is full */
    OF_TABLE_COUNT,
};

/* The statements of the workload predicate, in the order of enum rig_sql_predicate. */
static const struct {
    const char *before, *after;
} predicates[] = {
#define PREDICATE_SQL(name, before, after) [RIG_SQL_##name] = {before, after},
    RIG_SQL_PREDICATE_TABLE(PREDICATE_SQL)
#undef PREDICATE_SQL
};

static bool has_conditions(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_PREDICATE;
}

static uint32_t statements_of_table(const struct rig_sqlite_schema *schema)
{
    return has_conditions(schema->env->workload) ? RIG_SQL_PREDICATE_COUNT : OF_TABLE_COUNT;
}

/* ---- statements ---- */

static void add(struct rig_sqlite_schema *schema, const char *format, ...) RIG_PRINTF(2, 3);

static void add(struct rig_sqlite_schema *schema, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    RIG_INVARIANT(length > 0 && (size_t)length < sizeof text);
    rig_buf_add(&schema->statements, text, (size_t)length + 1);
    schema->statement_count++;
}

static void add_statements_of_rows(struct rig_sqlite_schema *schema, int64_t table)
{
    const bool queue = schema->env->workload == RIG_WORKLOAD_QUEUE;
    add(schema, "SELECT v FROM rig_%" PRId64 " WHERE k = ?1", table);
    add(schema, "INSERT INTO rig_%" PRId64 " (k, v) VALUES (?1, ?2)", table);
    add(schema, "SELECT 1");
    add(schema, "SELECT 1");
    add(schema, "DELETE FROM rig_%" PRId64 " WHERE n = (SELECT %s(n) FROM rig_%" PRId64 " WHERE k = ?1) RETURNING v",
        table, queue ? "min" : "max", table);
    add(schema, "SELECT 1");
}

/* $1 is ?1 here. */
static void add_statements_of_predicates(struct rig_sqlite_schema *schema, int64_t table)
{
    for (size_t i = 0; i < RIG_SQL_PREDICATE_COUNT; i++) {
        const size_t from = schema->statements.size;
        add(schema, "%srig_%" PRId64 "%s", predicates[i].before, table, predicates[i].after);
        for (size_t at = from; !schema->statements.failed && at < schema->statements.size; at++)
            schema->statements.data[at] = schema->statements.data[at] == '$' ? '?' : schema->statements.data[at];
    }
}

static void add_statements_of_table(struct rig_sqlite_schema *schema, int64_t table)
{
    const enum rig_workload workload = schema->env->workload;
    if (workload == RIG_WORKLOAD_SQL)
        return; /* its statements are texts of their own */
    if (has_conditions(workload)) {
        add_statements_of_predicates(schema, table);
        return;
    }
    if (rig_sql_is_row(workload)) {
        add_statements_of_rows(schema, table);
        return;
    }
    const bool lock = workload == RIG_WORKLOAD_MUTEX;
    const char *merged = rig_sql_is_sum(workload)               ? "t.v + excluded.v"
                         : rig_workload_has_sequences(workload) ? "coalesce(t.v || ',', '') || excluded.v"
                                                                : "excluded.v";
    add(schema, "SELECT v FROM rig_%" PRId64 " WHERE k = ?1", table);
    add(schema, "INSERT INTO rig_%" PRId64 " AS t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = %s%s", table,
        merged, lock ? " WHERE t.v = 0" : "");
    add(schema, "UPDATE rig_%" PRId64 " SET v = ?2 WHERE k = ?1", table);
    if (lock)
        add(schema, "UPDATE rig_%" PRId64 " SET v = 0 WHERE k = ?1 AND v = ?2", table);
    else
        add(schema, "UPDATE rig_%" PRId64 " SET v = ?2 WHERE k = ?1 AND v = ?3", table);
    add(schema, "SELECT 1");
    add(schema,
        "INSERT INTO rig_%" PRId64
        " AS t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = t.v * 10 + excluded.v"
        " WHERE t.v < " RIG_SQL_FULL,
        table);
}

static void add_statements_of_program(struct rig_sqlite_schema *schema)
{
    const struct rig_row_schema *rows = schema->env->rows;
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        struct rig_buf sql;
        rig_buf_init(&sql, 0);
        rig_sql_statement(&schema->dialect, rows, &rows->statements[i], &sql);
        rig_buf_add(&schema->statements, rig_buf_text(&sql), sql.size + 1);
        schema->statements.failed = schema->statements.failed || sql.failed;
        schema->statement_count++;
        rig_buf_done(&sql);
    }
}

enum rig_rc rig_sqlite_schema_init(struct rig_sqlite_schema *schema, const struct rig_run_env *env, struct rig_err *err)
{
    const struct rig_sqlite_options *options = env->options;
    if (env->rows != NULL && options->sql.row_padding_bytes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.row-padding: the tables of programs have columns of their own; leave it out");
    *schema = (struct rig_sqlite_schema){
        .env = env, .options = options, .dialect = {.prefix = "", .returning = true, .named_indexes = true}};
    rig_buf_init(&schema->statements, 0);
    add(schema, "BEGIN %s", rig_sqlite_begin_words[options->begin]);
    add(schema, "BEGIN DEFERRED");
    add(schema, "COMMIT");
    add(schema, "ROLLBACK");
    add(schema, "SAVEPOINT rig_savepoint");
    add(schema, "ROLLBACK TO rig_savepoint");
    RIG_INVARIANT(schema->statement_count == RIG_SQLITE_FIXED_COUNT);
    for (int64_t table = 0; env->rows == NULL && table < options->sql.tables; table++)
        add_statements_of_table(schema, table);
    if (env->rows != NULL)
        add_statements_of_program(schema);
    return schema->statements.failed ? rig_no_memory(err, "the statements of a run") : RIG_OK;
}

void rig_sqlite_schema_done(struct rig_sqlite_schema *schema)
{
    if (schema->env != NULL)
        rig_buf_done(&schema->statements);
    *schema = (struct rig_sqlite_schema){0};
}

/* ---- scripts ---- */

static const char *columns_of(const struct rig_run_env *env)
{
    const enum rig_workload workload = env->workload;
    if (workload == RIG_WORKLOAD_SQL)
        return rig_sql_random_columns(RIG_SQL_RANDOM_SQLITE, env->clauses);
    if (has_conditions(workload))
        return "k INTEGER NOT NULL, id INTEGER NOT NULL, v INTEGER NOT NULL, c INTEGER NOT NULL, p INTEGER, "
               "PRIMARY KEY (k, id)";
    if (rig_sql_is_row(workload))
        return "n INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER NOT NULL, v INTEGER NOT NULL";
    if (env->prefilled_keys > 0) /* a row without a value has NULL */
        return rig_workload_has_sequences(workload) ? "k INTEGER PRIMARY KEY, v TEXT"
                                                    : "k INTEGER PRIMARY KEY, v INTEGER";
    return rig_workload_has_sequences(workload) ? "k INTEGER PRIMARY KEY, v TEXT NOT NULL"
                                                : "k INTEGER PRIMARY KEY, v INTEGER NOT NULL";
}

static void add_padding(const struct rig_sqlite_schema *schema, int64_t table, struct rig_buf *sql)
{
    rig_buf_printf(sql, "ALTER TABLE rig_%" PRId64 " ADD padding TEXT NOT NULL DEFAULT '", table);
    for (int64_t i = 0; i < schema->options->sql.row_padding_bytes; i++)
        rig_buf_add_char(sql, 'x');
    rig_buf_add_text(sql, "'; ");
}

void rig_sqlite_schema_create(const struct rig_sqlite_schema *schema, struct rig_buf *sql)
{
    const struct rig_run_env *env = schema->env;
    const struct rig_sql_key_tables key_tables = {.env = env, .table_count = schema->options->sql.tables};
    char name[sizeof "rig_" + RIG_SQL_INT_BYTES];
    for (uint32_t i = 0; env->rows != NULL && i < env->rows->table_count; i++)
        rig_sql_create_table(&schema->dialect, &env->rows->tables[i], sql);
    for (int64_t table = 0; env->rows == NULL && table < schema->options->sql.tables; table++) {
        rig_buf_printf(sql, "CREATE TABLE rig_%" PRId64 " (%s", table, columns_of(env));
        if (env->workload == RIG_WORKLOAD_SQL)
            rig_buf_printf(sql, ", FOREIGN KEY (k, r) REFERENCES rig_%" PRId64 " (k, u)", table);
        rig_buf_add_text(sql, "); ");
        if (schema->options->sql.row_padding_bytes > 0)
            add_padding(schema, table, sql);
        if (rig_sql_is_row(env->workload))
            rig_buf_printf(sql, "CREATE INDEX rig_%" PRId64 "_index ON rig_%" PRId64 " (k, n); ", table, table);
        if (has_conditions(env->workload))
            rig_buf_printf(sql, "CREATE INDEX rig_%" PRId64 "_index ON rig_%" PRId64 " (k, c); ", table, table);
        (void)snprintf(name, sizeof name, "rig_%" PRId64, table);
        rig_sql_add_key_rows(&key_tables, table, name, sql);
    }
}

void rig_sqlite_schema_index(const struct rig_sqlite_schema *schema, struct rig_buf *sql)
{
    char name[sizeof "rig_" + RIG_SQL_INT_BYTES];
    for (int64_t table = 0; table < schema->options->sql.tables; table++) {
        (void)snprintf(name, sizeof name, "rig_%" PRId64, table);
        rig_sql_random_indexes(RIG_SQL_RANDOM_SQLITE, schema->env->seed, (uint32_t)table, name, name, sql);
    }
    rig_buf_add_text(sql, "SELECT 1");
}

/* SQLite checks foreign keys where it is told to. */
static bool has_references(const struct rig_run_env *env)
{
    bool has = env->texts != NULL || env->workload == RIG_WORKLOAD_SQL;
    for (uint32_t i = 0; env->rows != NULL && i < env->rows->table_count; i++)
        has = has || env->rows->tables[i].refers != 0;
    return has;
}

void rig_sqlite_schema_pragmas(const struct rig_sqlite_schema *schema, struct rig_buf *sql)
{
    const struct rig_sqlite_options *options = schema->options;
    rig_buf_printf(sql, "PRAGMA journal_mode=%s; PRAGMA synchronous=%s; ", rig_sqlite_journal_words[options->journal],
                   rig_sqlite_synchronous_words[options->synchronous]);
    if (options->read_uncommitted)
        rig_buf_add_text(sql, "PRAGMA read_uncommitted=1; ");
    if (has_references(schema->env))
        rig_buf_add_text(sql, "PRAGMA foreign_keys=1; ");
    for (size_t i = 0; i < options->pragmas.count; i++)
        rig_buf_printf(sql, "PRAGMA %s; ", options->pragmas.at[i]);
}

/* ---- words of the shell ---- */

/* Some pragmas print a number, which is no row. */
static void add_shell_setup(const struct rig_sqlite_schema *schema, struct rig_buf *out)
{
    rig_buf_add_text(out, ".output /dev/null\n");
    rig_sqlite_schema_pragmas(schema, out);
    rig_buf_add_text(out, "\n.output stdout\n");
}

enum rig_rc rig_sqlite_schema_shell(const struct rig_sqlite_options *options, const struct rig_row_schema *rows,
                                    struct rig_row_shell *shell, struct rig_err *err)
{
    const struct rig_run_env env = {.options = options, .rows = rows};
    struct rig_sqlite_schema schema;
    if (options->shared_cache)
        return rig_fail(err, RIG_E_PLAN,
                        "`shared-cache` needs one process for all sessions, and a script has one for each session");
    const enum rig_rc rc = rig_sqlite_schema_init(&schema, &env, err);
    if (rc != RIG_OK)
        return rc;
    const char *text = rig_buf_text(&schema.statements);
    rig_buf_printf(&shell->run, "stdbuf -oL sqlite3 -batch -cmd '.timeout %" PRId64 "' \"${DATABASE:-reproduce.db}\"",
                   options->busy_timeout_ns / 1000000);
    rig_buf_add_text(&shell->server, "DATABASE is its file; reproduce.db in this folder when not given");
    add_shell_setup(&schema, &shell->setup);
    rig_buf_printf(&shell->begin, "BEGIN %s;\n", rig_sqlite_begin_words[options->begin]);
    rig_buf_add_text(&shell->commit, "COMMIT");
    rig_buf_add_text(&shell->rollback, "ROLLBACK");
    rig_buf_add_text(&shell->mark, "SELECT 'st' || 'ep {n}';");
    rig_sqlite_schema_create(&schema, &shell->create);
    for (uint32_t i = 0; i < RIG_SQLITE_FIXED_COUNT + rows->statement_count; i++) {
        if (i >= RIG_SQLITE_FIXED_COUNT)
            rig_buf_add_text(&shell->statements[i - RIG_SQLITE_FIXED_COUNT], text);
        text += strlen(text) + 1;
    }
    rig_sqlite_schema_done(&schema);
    return RIG_OK;
}

/* ---- calls ---- */

static uint32_t table_of(const struct rig_sqlite_schema *schema, int64_t key)
{
    const uint64_t table = (uint64_t)key % (uint64_t)schema->options->sql.tables;
    return RIG_SQLITE_FIXED_COUNT + (uint32_t)table * statements_of_table(schema);
}

static bool call_of_predicate(const struct rig_sqlite_schema *schema, const struct rig_transaction *transaction,
                              uint32_t op, struct rig_sqlite_call *call)
{
    struct rig_sql_numbers numbers;
    const enum rig_sql_predicate which = rig_sql_predicate_of(transaction, op, &numbers);
    if (which == RIG_SQL_PREDICATE_COUNT)
        return false;
    const bool updates = which == RIG_SQL_UPDATE_BY_ID || which == RIG_SQL_UPDATE_BY_CLASS;
    *call = (struct rig_sqlite_call){.step = {.statement = table_of(schema, numbers.key) + (uint32_t)which,
                                              .value_count = which == RIG_SQL_INSERT ? 2
                                                             : updates               ? 4
                                                                                     : 3},
                                     .values = {numbers.key, numbers.value, numbers.expected, numbers.further}};
    return true;
}

bool rig_sqlite_schema_of_op(const struct rig_sqlite_schema *schema, const struct rig_transaction *transaction,
                             uint32_t op, struct rig_sqlite_call *call)
{
    static const struct {
        enum of_table which;
        uint32_t value_count;
    } statements[] = {[RIG_SQL_READ] = {READ, 1},       [RIG_SQL_READ_LOCKED] = {READ, 1}, [RIG_SQL_PUT] = {PUT, 2},
                      [RIG_SQL_REPLACE] = {REPLACE, 2}, [RIG_SQL_COMPARE] = {COMPARE, 3},  [RIG_SQL_TAKE] = {TAKE, 1},
                      [RIG_SQL_EXTEND] = {EXTEND, 2}};
    const enum rig_workload workload = schema->env->workload;
    struct rig_sql_numbers numbers;
    if (has_conditions(workload))
        return call_of_predicate(schema, transaction, op, call);
    const enum rig_sql_action action = rig_sql_action_of(workload, 0, transaction, op, &numbers);
    if (action == RIG_SQL_NOTHING)
        return false;
    *call = (struct rig_sqlite_call){
        .step = {.statement = table_of(schema, numbers.key) + statements[action].which,
                 .value_count = workload == RIG_WORKLOAD_MUTEX ? 2 : statements[action].value_count,
                 .compares = rig_sql_compares(transaction, op)},
        .values = {numbers.key, numbers.value, numbers.expected}};
    return true;
}

void rig_sqlite_schema_of_row(const struct rig_sqlite_schema *schema, uint32_t statement, const int64_t *values,
                              struct rig_sqlite_call *call)
{
    const struct rig_row_schema *rows = schema->env->rows;
    RIG_REQUIRE(statement < rows->statement_count);
    const struct rig_row_statement *described = &rows->statements[statement];
    *call = (struct rig_sqlite_call){
        .step = {.statement = RIG_SQLITE_FIXED_COUNT + statement,
                 .value_count = rig_row_value_count(described, &rows->tables[described->table])}};
    memcpy(call->values, values, call->step.value_count * sizeof *values);
}
