#include "drivers/postgres/pg_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "drivers/postgres/pg_tables.h"
#include "drivers/postgres/pg_view.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_ops.h"

static bool is_number(enum rig_workload workload)
{
    return !rig_workload_has_sequences(workload) && !rig_sql_is_row(workload);
}

static bool is_table(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_PREDICATE;
}

/* Whether a set has a row for each of its elements. */
static bool has_element_rows(const struct rig_pg_schema *schema)
{
    return schema->workload == RIG_WORKLOAD_SET && schema->options->table_schema == RIG_SQL_LIST_ROWS;
}

void rig_pg_place_find(const struct rig_run_env *env, const struct rig_pg_options *options, struct rig_pg_place *place)
{
    bool own = options->schema == NULL || options->schema[0] == '\0';
    *place = (struct rig_pg_place){.own = own};
    RIG_INVARIANT(env->run_name != NULL && strlen(env->run_name) <= RIG_PG_RUN_NAME_MOST);
    (void)snprintf(place->schema, sizeof place->schema, "%s", own ? env->run_name : options->schema);
    rig_sql_table_stem(env, own, place->stem, sizeof place->stem);
}

void rig_pg_place_table(const struct rig_pg_place *place, int64_t number, char name[static RIG_PG_TABLE_BYTES])
{
    /* A run's name needs no quotes. */
    (void)snprintf(name, RIG_PG_TABLE_BYTES, place->own ? "%s.%s%lld" : "\"%s\".%s%lld", place->schema, place->stem,
                   (long long)number);
}

void rig_pg_place_prefix(const struct rig_pg_place *place, char prefix[static RIG_PG_TABLE_BYTES])
{
    (void)snprintf(prefix, RIG_PG_TABLE_BYTES, place->own ? "%s.%s" : "\"%s\".%s", place->schema, place->stem);
}

uint32_t rig_pg_schema_table_count(const struct rig_pg_schema *schema)
{
    return schema->rows != NULL ? schema->rows->table_count : (uint32_t)schema->options->sql.tables;
}

void rig_pg_schema_table(const struct rig_pg_schema *schema, uint32_t table, char name[static RIG_PG_TABLE_BYTES])
{
    if (schema->rows == NULL) {
        rig_pg_place_table(&schema->place, table, name);
        return;
    }
    char prefix[RIG_PG_TABLE_BYTES];
    rig_pg_place_prefix(&schema->place, prefix);
    const int length = snprintf(name, RIG_PG_TABLE_BYTES, "%s%s", prefix, schema->rows->tables[table].name);
    RIG_INVARIANT(length > 0 && length < RIG_PG_TABLE_BYTES);
}

const char *rig_pg_schema_columns(const struct rig_pg_schema *schema)
{
    if (has_element_rows(schema))
        return "k bigint, v bigint, n bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (k, v)";
    if (rig_sql_is_row(schema->workload))
        return "k bigint PRIMARY KEY, v bigint[] NOT NULL, taken bigint";
    if (schema->workload == RIG_WORKLOAD_SQL)
        return rig_sql_random_columns(RIG_SQL_RANDOM_POSTGRES, schema->clauses);
    if (is_table(schema->workload)) {
        static const char *const tables[] = {
            [RIG_PG_ROWS_NO_INDEX] = "k bigint, id bigint, v bigint, c bigint, p bigint",
            [RIG_PG_ROWS_INDEX] = "k bigint, id bigint, v bigint, c bigint, p bigint, PRIMARY KEY (k, id)",
            [RIG_PG_ROWS_COVERING] =
                "k bigint, id bigint, v bigint, c bigint, p bigint, PRIMARY KEY (k, id) INCLUDE (v)"};
        return tables[schema->options->row_index];
    }
    /* By the type of the value: a number, a text, an array; then whether the index of the keys has it, too. */
    static const char *const columns[][2] = {
        {"k bigint PRIMARY KEY, v bigint NOT NULL", "k bigint, v bigint NOT NULL, PRIMARY KEY (k) INCLUDE (v)"},
        {"k bigint PRIMARY KEY, v text NOT NULL", "k bigint, v text NOT NULL, PRIMARY KEY (k) INCLUDE (v)"},
        {"k bigint PRIMARY KEY, v bigint[] NOT NULL", "k bigint, v bigint[] NOT NULL, PRIMARY KEY (k) INCLUDE (v)"}};
    const size_t type = is_number(schema->workload) ? 0 : schema->options->table_schema == RIG_SQL_LIST_TEXT ? 1 : 2;
    return columns[type][schema->options->covering_index];
}

const char *rig_pg_schema_index(const struct rig_pg_schema *schema)
{
    static const char *const indexes[] = {[RIG_PG_ROWS_NO_INDEX] = NULL,
                                          [RIG_PG_ROWS_INDEX] = "(k, c)",
                                          [RIG_PG_ROWS_COVERING] = "(k, c) INCLUDE (id, v)"};
    return schema->rows == NULL && is_table(schema->workload) ? indexes[schema->options->row_index] : NULL;
}

/* The expressions for $2 as a stored value, and for an append to the old value. */
struct value_sql {
    const char *fresh;
    const char *changed; /* in UPDATE, where v is the old value */
    const char *merged;  /* in ON CONFLICT, where t.v is the old and EXCLUDED.v the fresh one */
};

static struct value_sql value_sql(const struct rig_pg_schema *schema)
{
    if (rig_sql_is_sum(schema->workload))
        return (struct value_sql){"$2::bigint", "v + $2::bigint", "t.v + EXCLUDED.v"};
    if (is_number(schema->workload))
        return (struct value_sql){"$2::bigint", "$2::bigint", "EXCLUDED.v"};
    if (schema->options->table_schema == RIG_SQL_LIST_TEXT && !rig_sql_is_row(schema->workload))
        return (struct value_sql){"$2::text", "concat_ws(',', v, $2::text)", "concat_ws(',', t.v, EXCLUDED.v)"};
    return (struct value_sql){"ARRAY[$2::bigint]", "v || $2::bigint", "t.v || EXCLUDED.v"};
}

static void set_statement(struct rig_pg_schema *schema, size_t index, int parameter_count, const char *format, ...)
    RIG_PRINTF(4, 5);

static void set_statement(struct rig_pg_schema *schema, size_t index, int parameter_count, const char *format, ...)
{
    RIG_INVARIANT(index < schema->statement_count);
    struct rig_pg_statement *statement = &schema->statements[index];
    statement->parameter_count = parameter_count;
    (void)snprintf(statement->name, sizeof statement->name, "rig_%zu", index);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(statement->text, sizeof statement->text, format, arguments);
    va_end(arguments);
    RIG_INVARIANT(length > 0 && (size_t)length < sizeof statement->text);
}

static void set_statements_of_rows(struct rig_pg_schema *schema, size_t first, const char *table)
{
    set_statement(schema, first + RIG_PG_READ, 1,
                  "SELECT string_agg(v::text, ',' ORDER BY n) FROM %s WHERE k = $1::bigint", table);
    set_statement(schema, first + RIG_PG_PUT, 2, "INSERT INTO %s (k, v) VALUES ($1::bigint, $2::bigint)", table);
}

/* In place of those of other types, or beside them. */
static void set_statements_of_objects(struct rig_pg_schema *schema, size_t first, const char *table)
{
    if (schema->workload == RIG_WORKLOAD_CAS_REGISTER)
        set_statement(schema, first + RIG_PG_COMPARE, 3,
                      "UPDATE %s SET v = $2::bigint WHERE k = $1::bigint AND v = $3::bigint", table);
    if (schema->workload == RIG_WORKLOAD_MUTEX) {
        set_statement(schema, first + RIG_PG_PUT, 2,
                      "INSERT INTO %s AS t (k, v) VALUES ($1::bigint, $2::bigint) ON CONFLICT (k) DO UPDATE"
                      " SET v = EXCLUDED.v WHERE t.v = 0",
                      table);
        set_statement(schema, first + RIG_PG_COMPARE, 2, "UPDATE %s SET v = 0 WHERE k = $1::bigint AND v = $2::bigint",
                      table);
    }
    if (schema->workload == RIG_WORKLOAD_APPEND_REGISTER)
        set_statement(schema, first + RIG_PG_EXTEND, 2,
                      "INSERT INTO %s AS t (k, v) VALUES ($1::bigint, $2::bigint) ON CONFLICT (k) DO UPDATE"
                      " SET v = t.v * 10 + EXCLUDED.v WHERE t.v < " RIG_SQL_FULL,
                      table);
    if (rig_sql_is_row(schema->workload)) {
        const bool queue = schema->workload == RIG_WORKLOAD_QUEUE;
        set_statement(schema, first + RIG_PG_TAKE, 1,
                      "UPDATE %s SET taken = v[%s], v = %s WHERE k = $1::bigint AND cardinality(v) > 0 RETURNING taken",
                      table, queue ? "1" : "cardinality(v)", queue ? "v[2:]" : "v[:cardinality(v) - 1]");
    }
}

/* Behind a write of one row. */
static const char *view_of_write(const struct rig_pg_schema *schema)
{
    if (!schema->views)
        return "";
    return schema->options->sql.isolation < RIG_SQL_REPEATABLE_READ ? RIG_PG_VIEW_OF_WRITE
                                                                    : RIG_PG_VIEW_OF_SINGLE_WRITE;
}

/* The end of a statement on rows, where views are kept. */
static void print_behind(const struct rig_pg_schema *schema, size_t statement, char *text, size_t size)
{
    const bool deletes = statement == RIG_SQL_DELETE_BY_ID || statement == RIG_SQL_DELETE_BY_CLASS;
    const int length = !schema->views ? snprintf(text, size, "%s", "")
                       : deletes      ? snprintf(text, size, "%s%s%s", RIG_PG_ROW_VIEW_MARK_BEFORE, schema->run_name,
                                                 RIG_PG_ROW_VIEW_MARK_AFTER)
                                 : snprintf(text, size, "%s", statement == RIG_SQL_INSERT ? view_of_write(schema) : "");
    RIG_INVARIANT(length >= 0 && (size_t)length < size);
}

/* Behind the name of the table. */
static const char *joined(const struct rig_pg_schema *schema, size_t statement)
{
    const bool reads = statement <= RIG_SQL_SUM_BY_CLASS;
    return reads && schema->options->row_join != RIG_PG_JOIN_NONE ? RIG_PG_JOIN_VIEW : "";
}

/* With the types of the numbers, which the simple protocol sends as texts. */
static void set_statements_of_predicates(struct rig_pg_schema *schema, size_t first, const char *table)
{
    static const char *const sql[][2] = {
#define SQL_OF(name, before, after) [RIG_SQL_##name] = {before, after},
        RIG_SQL_PREDICATE_TABLE(SQL_OF)};
    static const char *const with_views[][2] = {RIG_PG_ROW_VIEW_TABLE(SQL_OF)};
#undef SQL_OF
    for (size_t i = 0; i < RIG_SQL_PREDICATE_COUNT; i++) {
        char text[RIG_PG_STATEMENT_TEXT_BYTES], typed[RIG_PG_STATEMENT_TEXT_BYTES];
        char behind[RIG_PG_STATEMENT_TEXT_BYTES];
        size_t length = 0;
        int most = 0;
        const char *const *parts = schema->views ? with_views[i] : sql[i];
        print_behind(schema, i, behind, sizeof behind);
        RIG_INVARIANT((size_t)snprintf(text, sizeof text, "%s%s%s%s%s", parts[0], table, joined(schema, i), parts[1],
                                       behind) < sizeof text);
        for (const char *p = text; *p != '\0'; p++) {
            RIG_INVARIANT(length + sizeof "::bigint" < sizeof typed);
            typed[length++] = *p;
            if (p[0] != '$')
                continue;
            most = p[1] - '0' > most ? p[1] - '0' : most;
            typed[length++] = *++p;
            length += (size_t)snprintf(typed + length, sizeof typed - length, "::bigint");
        }
        typed[length] = '\0';
        set_statement(schema, first + i, most, "%s", typed);
    }
}

static void set_statements_of_table(struct rig_pg_schema *schema, size_t table)
{
    char name[RIG_PG_TABLE_BYTES];
    const struct value_sql sql = value_sql(schema);
    size_t first = RIG_PG_FIXED_COUNT + table * RIG_PG_OF_TABLE_COUNT;
    rig_pg_place_table(&schema->place, (int64_t)table, name);
    if (schema->workload == RIG_WORKLOAD_SQL)
        return; /* its statements are texts of their own */
    if (has_element_rows(schema)) {
        set_statements_of_rows(schema, first, name);
        return;
    }
    if (is_table(schema->workload)) {
        set_statements_of_predicates(schema, first + RIG_PG_ROWS, name);
        return;
    }
    /* A read with its snapshot has a row even where there is none in the table. */
    const char *of_write = view_of_write(schema);
    set_statement(schema, first + RIG_PG_READ, 1,
                  schema->views ? "SELECT t.v, " RIG_PG_VIEW_OF_READ
                                  " FROM (SELECT) AS one LEFT JOIN %s AS t ON t.k = $1::bigint"
                                : "SELECT v FROM %s WHERE k = $1::bigint",
                  name);
    const bool shared = schema->options->sql.lock_mode == RIG_SQL_LOCK_SHARE;
    set_statement(schema, first + RIG_PG_READ_LOCKED, 1, "SELECT t.v%s FROM %s AS t WHERE t.k = $1::bigint FOR %s",
                  schema->views ? ", " RIG_PG_VIEW_OF_READ : "", name, shared ? "SHARE" : "UPDATE");
    set_statement(schema, first + RIG_PG_REPLACE, 2, "UPDATE %s SET v = $2::bigint WHERE k = $1::bigint", name);
    set_statement(schema, first + RIG_PG_PUT, 2,
                  "INSERT INTO %s AS t (k, v) VALUES ($1::bigint, %s) ON CONFLICT (k) DO UPDATE SET v = %s%s", name,
                  sql.fresh, sql.merged, of_write);
    set_statement(schema, first + RIG_PG_UPDATE, 2, "UPDATE %s SET v = %s WHERE k = $1::bigint%s", name, sql.changed,
                  of_write);
    set_statement(schema, first + RIG_PG_INSERT, 2, "INSERT INTO %s (k, v) VALUES ($1::bigint, %s)%s", name, sql.fresh,
                  of_write);
    set_statements_of_objects(schema, first, name);
}

/* The four statements that begin a transaction, from `first` on. */
static void set_begin(struct rig_pg_schema *schema, size_t first, int64_t level)
{
    const char *isolation = rig_sql_isolation_sql[level];
    const char *read_only = schema->options->sql.declare_read_only ? ", READ ONLY" : "";
    const int64_t most = level < RIG_SQL_REPEATABLE_READ ? level : RIG_SQL_REPEATABLE_READ;
    set_statement(schema, first + RIG_PG_BEGIN, 0, "BEGIN ISOLATION LEVEL %s", isolation);
    set_statement(schema, first + RIG_PG_BEGIN_READ_ONLY, 0, "BEGIN ISOLATION LEVEL %s%s", isolation, read_only);
    set_statement(schema, first + RIG_PG_BEGIN_DEFERRABLE, 0, "BEGIN ISOLATION LEVEL %s, READ ONLY, DEFERRABLE",
                  isolation);
    set_statement(schema, first + RIG_PG_BEGIN_STANDBY, 0, "BEGIN ISOLATION LEVEL %s, READ ONLY",
                  rig_sql_isolation_sql[most]);
}

enum rig_rc rig_pg_schema_init(struct rig_pg_schema *schema, const struct rig_run_env *env,
                               const struct rig_pg_options *options, struct rig_err *err)
{
    RIG_INVARIANT(options->sql.tables >= 1);
    const size_t tables = env->rows != NULL ? 0 : (size_t)options->sql.tables;
    if (env->rows != NULL && options->sql.row_padding_bytes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.row-padding: the tables of programs have columns of their own; leave it out");
    *schema = (struct rig_pg_schema){.options = options, .workload = env->workload, .rows = env->rows};
    schema->views = env->certificate == RIG_CERTIFICATE_FULL;
    schema->run_name = env->run_name;
    schema->clauses = env->clauses;
    rig_pg_place_find(env, options, &schema->place);
    schema->statement_count = RIG_PG_FIXED_COUNT + tables * RIG_PG_OF_TABLE_COUNT;
    schema->statements = calloc(schema->statement_count, sizeof *schema->statements);
    if (schema->statements == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%zu statement%s", schema->statement_count,
                        rig_plural(schema->statement_count));
    set_begin(schema, RIG_PG_BEGIN, options->sql.isolation);
    for (int64_t level = 0; level < RIG_SQL_ISOLATION_COUNT && rig_sql_given(options->sql.isolation_shares); level++)
        set_begin(schema, RIG_PG_OF_LEVEL + RIG_PG_COMMIT * (size_t)level, level);
    set_statement(schema, RIG_PG_COMMIT, 0, "COMMIT");
    set_statement(schema, RIG_PG_ROLLBACK, 0, "ROLLBACK");
    set_statement(schema, RIG_PG_SAVEPOINT, 0, "SAVEPOINT rig_savepoint");
    set_statement(schema, RIG_PG_ROLLBACK_TO, 0, "ROLLBACK TO SAVEPOINT rig_savepoint");
    for (size_t table = 0; table < tables; table++)
        set_statements_of_table(schema, table);
    return RIG_OK;
}

void rig_pg_schema_done(struct rig_pg_schema *schema)
{
    free(schema->statements);
    *schema = (struct rig_pg_schema){0};
}

const struct rig_pg_statement *rig_pg_schema_begin(const struct rig_pg_schema *schema, enum rig_pg_fixed which,
                                                   int64_t isolation)
{
    RIG_REQUIRE(which < RIG_PG_COMMIT);
    const bool is_own = rig_sql_given(schema->options->sql.isolation_shares);
    return &schema->statements[is_own ? RIG_PG_OF_LEVEL + RIG_PG_COMMIT * (size_t)isolation + which : which];
}

const struct rig_pg_statement *rig_pg_schema_fixed(const struct rig_pg_schema *schema, enum rig_pg_fixed which)
{
    return &schema->statements[which];
}

const struct rig_pg_statement *rig_pg_schema_before_op(const struct rig_pg_schema *schema,
                                                       const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_rollback *rollback = &transaction->rollback;
    if (!rig_rollback_wanted(rollback) || (op != rollback->from && op != rollback->to))
        return NULL;
    return rig_pg_schema_fixed(schema, op == rollback->from ? RIG_PG_SAVEPOINT : RIG_PG_ROLLBACK_TO);
}

const struct rig_pg_statement *rig_pg_schema_of_key(const struct rig_pg_schema *schema, int64_t key,
                                                    enum rig_pg_of_table which)
{
    size_t table = (size_t)((uint64_t)key % (uint64_t)schema->options->sql.tables);
    return &schema->statements[RIG_PG_FIXED_COUNT + table * RIG_PG_OF_TABLE_COUNT + (size_t)which];
}

const struct rig_pg_statement *rig_pg_schema_of_op(const struct rig_pg_schema *schema,
                                                   const struct rig_transaction *transaction, uint32_t op,
                                                   struct rig_sql_numbers *numbers)
{
    static const enum rig_pg_of_table statements[] = {
        [RIG_SQL_READ] = RIG_PG_READ,       [RIG_SQL_READ_LOCKED] = RIG_PG_READ_LOCKED, [RIG_SQL_PUT] = RIG_PG_PUT,
        [RIG_SQL_REPLACE] = RIG_PG_REPLACE, [RIG_SQL_COMPARE] = RIG_PG_COMPARE,         [RIG_SQL_TAKE] = RIG_PG_TAKE,
        [RIG_SQL_EXTEND] = RIG_PG_EXTEND,
    };
    if (is_table(schema->workload)) {
        const enum rig_sql_predicate which = rig_sql_predicate_of(transaction, op, numbers);
        return which == RIG_SQL_PREDICATE_COUNT
                   ? NULL
                   : rig_pg_schema_of_key(schema, numbers->key, (enum rig_pg_of_table)(RIG_PG_ROWS + (int)which));
    }
    const enum rig_sql_action action =
        rig_sql_action_of(schema->workload, schema->options->sql.lock_reads, transaction, op, numbers);
    return action == RIG_SQL_NOTHING ? NULL : rig_pg_schema_of_key(schema, numbers->key, statements[action]);
}

bool rig_pg_schema_uses(const struct rig_pg_schema *schema, size_t statement)
{
    if (statement < RIG_PG_FIXED_COUNT)
        return statement < RIG_PG_OF_LEVEL || rig_sql_given(schema->options->sql.isolation_shares);
    if (schema->workload == RIG_WORKLOAD_SQL)
        return false;
    if (is_table(schema->workload))
        return (statement - RIG_PG_FIXED_COUNT) % RIG_PG_OF_TABLE_COUNT >= RIG_PG_ROWS;
    bool upsert = schema->options->write == RIG_PG_UPSERT || schema->workload == RIG_WORKLOAD_MUTEX;
    switch ((enum rig_pg_of_table)((statement - RIG_PG_FIXED_COUNT) % RIG_PG_OF_TABLE_COUNT)) {
    case RIG_PG_READ:
        return true;
    case RIG_PG_READ_LOCKED:
        return schema->options->sql.lock_reads > 0;
    case RIG_PG_REPLACE:
        return rig_sql_is_sum(schema->workload);
    case RIG_PG_PUT:
        return upsert;
    case RIG_PG_UPDATE:
    case RIG_PG_INSERT:
        return !upsert;
    case RIG_PG_COMPARE:
        return schema->workload == RIG_WORKLOAD_CAS_REGISTER || schema->workload == RIG_WORKLOAD_MUTEX;
    case RIG_PG_TAKE:
        return rig_sql_is_row(schema->workload);
    case RIG_PG_EXTEND:
        return schema->workload == RIG_WORKLOAD_APPEND_REGISTER;
    case RIG_PG_ROWS:
    case RIG_PG_OF_TABLE_COUNT:
        break;
    }
    return false;
}

void rig_pg_texts_print(struct rig_pg_texts *texts, const struct rig_sql_numbers *numbers)
{
    const int64_t at[RIG_PG_NUMBERS] = {numbers->key, numbers->value, numbers->expected, numbers->further};
    for (size_t i = 0; i < RIG_PG_NUMBERS; i++) {
        (void)rig_sql_int_print(at[i], texts->at[i]);
        texts->values[i] = texts->at[i];
    }
}

void rig_pg_statement_print(const struct rig_pg_statement *statement, const struct rig_sql_numbers *numbers, char *text,
                            size_t size)
{
    const int64_t at[RIG_PG_NUMBERS] = {numbers->key, numbers->value, numbers->expected, numbers->further};
    size_t length = 0;
    for (const char *p = statement->text; *p != '\0'; p++) {
        /* Space for a number in quotes and the end. */
        RIG_INVARIANT(length + RIG_SQL_INT_BYTES + 3 < size);
        if (p[0] == '$' && p[1] >= '1' && p[1] <= '4') {
            text[length++] = '\'';
            length += rig_sql_int_print(at[p[1] - '1'], text + length);
            text[length++] = '\'';
            p++;
        } else {
            text[length++] = *p;
        }
    }
    text[length] = '\0';
}

/* ---- statements of programs ---- */

enum rig_rc rig_pg_rows_init(struct rig_pg_rows *rows, const struct rig_row_schema *schema,
                             const struct rig_pg_place *place, struct rig_err *err)
{
    if (schema == NULL)
        return RIG_OK;
    rig_pg_place_prefix(place, rows->prefix);
    rows->dialect =
        (struct rig_sql_dialect){.prefix = rows->prefix, .numbered = true, .returning = true, .for_update = true};
    rows->statements = calloc(schema->statement_count, sizeof *rows->statements);
    if (rows->statements == NULL)
        return rig_no_memory(err, "the statements of the program");
    rows->schema = schema;
    for (uint32_t i = 0; i < schema->statement_count; i++) {
        const struct rig_row_statement *described = &schema->statements[i];
        struct rig_pg_rows_statement *statement = &rows->statements[i];
        struct rig_buf sql;
        rig_buf_init(&sql, 0);
        rig_sql_statement(&rows->dialect, schema, described, &sql);
        (void)snprintf(statement->name, sizeof statement->name, "rig_program_%u", i);
        statement->parameter_count = (int)rig_row_value_count(described, &schema->tables[described->table]);
        statement->text = sql.failed ? NULL : sql.data;
        if (statement->text == NULL) {
            rig_buf_done(&sql);
            return rig_no_memory(err, "the statements of the program");
        }
    }
    return RIG_OK;
}

void rig_pg_rows_done(struct rig_pg_rows *rows)
{
    for (uint32_t i = 0; rows->schema != NULL && i < rows->schema->statement_count; i++)
        free(rows->statements[i].text);
    free(rows->statements);
    *rows = (struct rig_pg_rows){0};
}
