#include "drivers/postgres/pg_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"

static const char *const isolation_sql[] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};

void rig_pg_place_find(const struct rig_run_env *env, const struct rig_pg_options *options, struct rig_pg_place *place)
{
    bool own = options->schema == NULL || options->schema[0] == '\0';
    *place = (struct rig_pg_place){.own = own};
    RIG_INVARIANT(env->run_name != NULL && strlen(env->run_name) <= RIG_PG_RUN_NAME_MOST);
    (void)snprintf(place->schema, sizeof place->schema, "%s", own ? env->run_name : options->schema);
    (void)snprintf(place->stem, sizeof place->stem, "%s_%s_", own ? "rig" : env->run_name,
                   env->workload == RIG_WORKLOAD_LIST_APPEND ? "list" : "register");
}

void rig_pg_place_table(const struct rig_pg_place *place, int64_t number, char name[static RIG_PG_TABLE_BYTES])
{
    /* A run's name needs no quotes. */
    (void)snprintf(name, RIG_PG_TABLE_BYTES, place->own ? "%s.%s%lld" : "\"%s\".%s%lld", place->schema, place->stem,
                   (long long)number);
}

const char *rig_pg_schema_value_type(const struct rig_pg_schema *schema)
{
    if (schema->workload == RIG_WORKLOAD_RW_REGISTER)
        return "bigint";
    return schema->options->table_schema == RIG_PG_LIST_TEXT ? "text" : "bigint[]";
}

/* The expressions for $2 as a stored value, and for an append to the old value. */
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
    char name[RIG_PG_TABLE_BYTES];
    const struct value_sql sql = value_sql(schema);
    size_t first = RIG_PG_FIXED_COUNT + table * RIG_PG_OF_TABLE_COUNT;
    rig_pg_place_table(&schema->place, (int64_t)table, name);
    set_statement(schema, first + RIG_PG_READ, 1, "SELECT v FROM %s WHERE k = $1::bigint", name);
    set_statement(schema, first + RIG_PG_PUT, 2,
                  "INSERT INTO %s AS t (k, v) VALUES ($1::bigint, %s) ON CONFLICT (k) DO UPDATE SET v = %s", name,
                  sql.fresh, sql.merged);
    set_statement(schema, first + RIG_PG_UPDATE, 2, "UPDATE %s SET v = %s WHERE k = $1::bigint", name, sql.changed);
    set_statement(schema, first + RIG_PG_INSERT, 2, "INSERT INTO %s (k, v) VALUES ($1::bigint, %s)", name, sql.fresh);
}

enum rig_rc rig_pg_schema_init(struct rig_pg_schema *schema, const struct rig_run_env *env,
                               const struct rig_pg_options *options, struct rig_err *err)
{
    RIG_INVARIANT(options->tables >= 1);
    size_t tables = (size_t)options->tables;
    *schema = (struct rig_pg_schema){.options = options, .workload = env->workload};
    rig_pg_place_find(env, options, &schema->place);
    schema->statement_count = RIG_PG_FIXED_COUNT + tables * RIG_PG_OF_TABLE_COUNT;
    schema->statements = calloc(schema->statement_count, sizeof *schema->statements);
    if (schema->statements == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%zu statement%s", schema->statement_count,
                        rig_plural(schema->statement_count));
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
        /* Space for a number in quotes and the end. */
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
