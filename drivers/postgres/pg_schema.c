#include "drivers/postgres/pg_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static const char *const isolation_sql[] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};

static const char *table_stem(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_LIST_APPEND ? "rig_list" : "rig_register";
}

static const char *column_type(const struct rig_pg_schema *schema)
{
    if (schema->workload == RIG_WORKLOAD_RW_REGISTER)
        return "bigint";
    return schema->options->table_schema == RIG_PG_LIST_TEXT ? "text" : "bigint[]";
}

/* What $2 becomes as a stored value, and what an append to the old value is. */
struct value_sql {
    const char *fresh;
    const char *changed; /* in UPDATE, where v is the old value */
    const char *merged;  /* in ON CONFLICT, where t.v is the old and EXCLUDED.v the fresh one */
};

static struct value_sql value_sql(const struct rig_pg_schema *schema)
{
    if (schema->workload == RIG_WORKLOAD_RW_REGISTER)
        return (struct value_sql){"$2::bigint", "$2::bigint", "EXCLUDED.v"};
    if (schema->options->table_schema == RIG_PG_LIST_TEXT)
        return (struct value_sql){"$2::text", "v || ',' || $2::text", "t.v || ',' || EXCLUDED.v"};
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

static void set_statements_of_table(struct rig_pg_schema *schema, size_t table)
{
    const char *stem = table_stem(schema->workload);
    const struct value_sql sql = value_sql(schema);
    size_t first = RIG_PG_FIXED_COUNT + table * RIG_PG_OF_TABLE_COUNT;
    set_statement(schema, first + RIG_PG_READ, 1, "SELECT v FROM %s_%zu WHERE k = $1::bigint", stem, table);
    set_statement(schema, first + RIG_PG_PUT, 2,
                  "INSERT INTO %s_%zu AS t (k, v) VALUES ($1::bigint, %s) ON CONFLICT (k) DO UPDATE SET v = %s", stem,
                  table, sql.fresh, sql.merged);
    set_statement(schema, first + RIG_PG_UPDATE, 2, "UPDATE %s_%zu SET v = %s WHERE k = $1::bigint", stem, table,
                  sql.changed);
    set_statement(schema, first + RIG_PG_INSERT, 2, "INSERT INTO %s_%zu (k, v) VALUES ($1::bigint, %s)", stem, table,
                  sql.fresh);
}

enum rig_rc rig_pg_schema_init(struct rig_pg_schema *schema, const struct rig_pg_options *options,
                               enum rig_workload workload, struct rig_err *err)
{
    RIG_INVARIANT(options->tables >= 1);
    size_t tables = (size_t)options->tables;
    *schema = (struct rig_pg_schema){.options = options, .workload = workload};
    schema->statement_count = RIG_PG_FIXED_COUNT + tables * RIG_PG_OF_TABLE_COUNT;
    schema->statements = calloc(schema->statement_count, sizeof *schema->statements);
    if (schema->statements == NULL)
        return rig_fail(err, RIG_E_LIMIT, "out of memory for %zu statements", schema->statement_count);
    const char *isolation = isolation_sql[options->isolation];
    const char *read_only = !options->declare_read_only ? ""
                            : options->deferrable       ? ", READ ONLY, DEFERRABLE"
                                                        : ", READ ONLY";
    set_statement(schema, RIG_PG_BEGIN, 0, "BEGIN ISOLATION LEVEL %s", isolation);
    set_statement(schema, RIG_PG_BEGIN_READ_ONLY, 0, "BEGIN ISOLATION LEVEL %s%s", isolation, read_only);
    enum rig_pg_isolation most = options->isolation < RIG_PG_REPEATABLE_READ ? (enum rig_pg_isolation)options->isolation
                                                                             : RIG_PG_REPEATABLE_READ;
    set_statement(schema, RIG_PG_BEGIN_STANDBY, 0, "BEGIN ISOLATION LEVEL %s, READ ONLY", isolation_sql[most]);
    set_statement(schema, RIG_PG_COMMIT, 0, "COMMIT");
    set_statement(schema, RIG_PG_ROLLBACK, 0, "ROLLBACK");
    for (size_t table = 0; table < tables; table++)
        set_statements_of_table(schema, table);
    return RIG_OK;
}

void rig_pg_schema_done(struct rig_pg_schema *schema)
{
    free(schema->statements);
    *schema = (struct rig_pg_schema){0};
}

const struct rig_pg_statement *rig_pg_schema_fixed(const struct rig_pg_schema *schema, enum rig_pg_fixed which)
{
    return &schema->statements[which];
}

const struct rig_pg_statement *rig_pg_schema_of_key(const struct rig_pg_schema *schema, int64_t key,
                                                    enum rig_pg_of_table which)
{
    size_t table = (size_t)((uint64_t)key % (uint64_t)schema->options->tables);
    return &schema->statements[RIG_PG_FIXED_COUNT + table * RIG_PG_OF_TABLE_COUNT + (size_t)which];
}

bool rig_pg_schema_uses(const struct rig_pg_schema *schema, size_t statement)
{
    if (statement < RIG_PG_FIXED_COUNT)
        return true;
    bool upsert = schema->options->write == RIG_PG_UPSERT;
    switch ((enum rig_pg_of_table)((statement - RIG_PG_FIXED_COUNT) % RIG_PG_OF_TABLE_COUNT)) {
    case RIG_PG_READ:
        return true;
    case RIG_PG_PUT:
        return upsert;
    case RIG_PG_UPDATE:
    case RIG_PG_INSERT:
        return !upsert;
    case RIG_PG_OF_TABLE_COUNT:
        break;
    }
    return false;
}

void rig_pg_statement_print(const struct rig_pg_statement *statement, int64_t key, int64_t value, char *text,
                            size_t size)
{
    size_t length = 0;
    for (const char *p = statement->text; *p != '\0'; p++) {
        /* Room for a number in quotes and the end. */
        RIG_INVARIANT(length + RIG_PG_INT_BYTES + 3 < size);
        if (p[0] == '$' && (p[1] == '1' || p[1] == '2')) {
            text[length++] = '\'';
            length += rig_pg_int_print(p[1] == '1' ? key : value, text + length);
            text[length++] = '\'';
            p++;
        } else {
            text[length++] = *p;
        }
    }
    text[length] = '\0';
}

/* Drops each table and, when asked to, creates it again. */
static enum rig_rc for_each_table(const struct rig_pg_schema *schema, struct rig_pg_connection *connection, bool create,
                                  int64_t deadline_ns, struct rig_err *err)
{
    for (int64_t table = 0; table < schema->options->tables; table++) {
        char sql[256];
        const char *stem = table_stem(schema->workload);
        (void)snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s_%lld", stem, (long long)table);
        enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, NULL, err);
        if (rc == RIG_OK && create) {
            (void)snprintf(sql, sizeof sql, "CREATE TABLE %s_%lld (k bigint PRIMARY KEY, v %s NOT NULL)", stem,
                           (long long)table, column_type(schema));
            rc = rig_pg_query(connection, sql, deadline_ns, NULL, err);
        }
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

enum rig_rc rig_pg_schema_create(const struct rig_pg_schema *schema, struct rig_pg_connection *connection,
                                 int64_t deadline_ns, struct rig_err *err)
{
    return for_each_table(schema, connection, true, deadline_ns, err);
}

enum rig_rc rig_pg_schema_drop(const struct rig_pg_schema *schema, struct rig_pg_connection *connection,
                               int64_t deadline_ns, struct rig_err *err)
{
    return for_each_table(schema, connection, false, deadline_ns, err);
}
