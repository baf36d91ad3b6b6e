#include "drivers/sql/row_sql.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"

static void add_name(const struct rig_sql_dialect *dialect, const char *name, struct rig_buf *sql)
{
    rig_buf_add_text(sql, dialect->prefix);
    rig_buf_add_text(sql, name);
}

static void add_column(const struct rig_sql_dialect *dialect, const char *name, struct rig_buf *sql)
{
    if (!dialect->quoted) {
        rig_buf_add_text(sql, name);
        return;
    }
    rig_buf_add_char(sql, '"');
    for (; *name != '\0'; name++)
        rig_buf_add_char(sql, dialect->upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name);
    rig_buf_add_char(sql, '"');
}

static void add_columns(const struct rig_sql_dialect *dialect, const struct rig_row_table *table, uint32_t count,
                        struct rig_buf *sql)
{
    for (uint32_t i = 0; i < count; i++) {
        rig_buf_add_text(sql, i == 0 ? "" : ", ");
        add_column(dialect, table->columns[i], sql);
    }
}

static void add_constraints(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                            struct rig_buf *sql)
{
    if (table->unique == 0)
        return;
    rig_buf_add_text(sql, ", UNIQUE (");
    add_column(dialect, table->columns[table->unique], sql);
    rig_buf_add_char(sql, ')');
    if (table->refers == 0)
        return;
    rig_buf_add_text(sql, ", FOREIGN KEY (");
    add_column(dialect, table->columns[table->refers], sql);
    rig_buf_add_text(sql, ") REFERENCES ");
    add_name(dialect, table->name, sql);
    rig_buf_add_text(sql, " (");
    add_column(dialect, table->columns[table->unique], sql);
    rig_buf_add_char(sql, ')');
}

void rig_sql_create_table(const struct rig_sql_dialect *dialect, const struct rig_row_table *table, struct rig_buf *sql)
{
    rig_buf_add_text(sql, "CREATE TABLE ");
    add_name(dialect, table->name, sql);
    rig_buf_add_text(sql, " (");
    for (uint32_t i = 0; i < table->column_count; i++) {
        add_column(dialect, table->columns[i], sql);
        rig_buf_printf(sql, " %s NOT NULL, ", dialect->integer == NULL ? "bigint" : dialect->integer);
    }
    if (table->filler_bytes > 0)
        rig_buf_printf(sql, "filler varchar(%u) DEFAULT '%0*d', ", table->filler_bytes, (int)table->filler_bytes, 0);
    rig_buf_add_text(sql, "PRIMARY KEY (");
    add_columns(dialect, table, table->key_count, sql);
    rig_buf_add_char(sql, ')');
    add_constraints(dialect, table, sql);
    rig_buf_add_text(sql, "); ");
    if (table->index_count == 0)
        return;
    rig_buf_add_text(sql, "CREATE INDEX ");
    if (dialect->named_indexes)
        rig_buf_printf(sql, "%s%s_index ", dialect->index_prefix == NULL ? "" : dialect->index_prefix, table->name);
    rig_buf_add_text(sql, "ON ");
    add_name(dialect, table->name, sql);
    for (uint32_t i = 0; i < table->index_count; i++) {
        rig_buf_add_text(sql, i == 0 ? " (" : ", ");
        add_column(dialect, table->columns[table->index[i]], sql);
    }
    rig_buf_add_text(sql, "); ");
}

/* The next value. */
static void add_value(const struct rig_sql_dialect *dialect, uint32_t *value, struct rig_buf *sql)
{
    ++*value;
    if (dialect->numbered)
        rig_buf_printf(sql, "$%u::bigint", *value);
    else
        rig_buf_add_char(sql, '?');
}

static void add_assignments(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                            const struct rig_row_statement *statement, uint32_t *value, struct rig_buf *sql)
{
    for (uint32_t i = 0; i < statement->assignment_count; i++) {
        const struct rig_row_assignment *assignment = &statement->assignments[i];
        const char *column = table->columns[assignment->column];
        rig_buf_add_text(sql, i == 0 ? " SET " : ", ");
        add_column(dialect, column, sql);
        rig_buf_add_text(sql, " = ");
        switch ((enum rig_row_source)assignment->source) {
        case RIG_ROW_COPY:
            add_column(dialect, table->columns[assignment->from], sql);
            break;
        case RIG_ROW_SUM:
            add_column(dialect, column, sql);
            rig_buf_add_text(sql, " + ");
            add_value(dialect, value, sql);
            break;
        case RIG_ROW_VALUE:
            add_value(dialect, value, sql);
            break;
        }
    }
}

static void add_conditions(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                           const struct rig_row_statement *statement, uint32_t *value, struct rig_buf *sql)
{
    static const char *const tests[] = {[RIG_ROW_EQUAL] = "=", [RIG_ROW_AT_LEAST] = ">=", [RIG_ROW_BELOW] = "<"};
    for (uint32_t i = 0; i < statement->condition_count; i++) {
        const struct rig_row_condition *condition = &statement->conditions[i];
        rig_buf_add_text(sql, i == 0 ? " WHERE " : " AND ");
        add_column(dialect, table->columns[condition->column], sql);
        rig_buf_printf(sql, " %s ", tests[condition->test]);
        add_value(dialect, value, sql);
    }
}

static bool limits_first(const struct rig_sql_dialect *dialect)
{
    return dialect->limit != NULL && strncmp(dialect->limit, "TOP ", 4) == 0;
}

static void add_limit(const struct rig_sql_dialect *dialect, uint32_t limit, struct rig_buf *sql)
{
    const char *form = dialect->limit == NULL ? "LIMIT {n}" : dialect->limit;
    const char *mark = strstr(form, "{n}");
    const size_t before = mark == NULL ? strlen(form) : (size_t)(mark - form);
    rig_buf_printf(sql, " %.*s%u%s", (int)before, form, limit, mark == NULL ? "" : mark + 3);
}

static void add_selection_end(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                              const struct rig_row_statement *statement, struct rig_buf *sql)
{
    if (statement->ordered) {
        rig_buf_add_text(sql, " ORDER BY ");
        add_column(dialect, table->columns[statement->order], sql);
        rig_buf_add_text(sql, statement->descending ? " DESC" : "");
    }
    if (statement->limit > 0 && !limits_first(dialect))
        add_limit(dialect, statement->limit, sql);
    if (statement->for_update && dialect->for_update)
        rig_buf_printf(sql, " %s", dialect->lock == NULL ? "FOR UPDATE" : dialect->lock);
}

static void add_insertion(const struct rig_sql_dialect *dialect, const struct rig_row_table *table, uint32_t *value,
                          struct rig_buf *sql)
{
    rig_buf_add_text(sql, " (");
    add_columns(dialect, table, table->column_count, sql);
    rig_buf_add_text(sql, ") VALUES (");
    for (uint32_t i = 0; i < table->column_count; i++) {
        rig_buf_add_text(sql, i == 0 ? "" : ", ");
        add_value(dialect, value, sql);
    }
    rig_buf_add_char(sql, ')');
}

void rig_sql_statement(const struct rig_sql_dialect *dialect, const struct rig_row_schema *schema,
                       const struct rig_row_statement *statement, struct rig_buf *sql)
{
    RIG_REQUIRE(statement->table < schema->table_count);
    const struct rig_row_table *table = &schema->tables[statement->table];
    uint32_t value = 0;
    switch (statement->act) {
    case RIG_ROW_SELECT:
        rig_buf_add_text(sql, "SELECT");
        if (statement->limit > 0 && limits_first(dialect))
            add_limit(dialect, statement->limit, sql);
        rig_buf_add_char(sql, ' ');
        add_columns(dialect, table, table->column_count, sql);
        rig_buf_add_text(sql, " FROM ");
        add_name(dialect, table->name, sql);
        add_conditions(dialect, table, statement, &value, sql);
        add_selection_end(dialect, table, statement, sql);
        break;
    case RIG_ROW_INSERT:
        rig_buf_add_text(sql, "INSERT INTO ");
        add_name(dialect, table->name, sql);
        add_insertion(dialect, table, &value, sql);
        break;
    case RIG_ROW_UPDATE:
        rig_buf_add_text(sql, "UPDATE ");
        add_name(dialect, table->name, sql);
        add_assignments(dialect, table, statement, &value, sql);
        add_conditions(dialect, table, statement, &value, sql);
        if (!dialect->returning || statement->counted)
            break;
        rig_buf_add_text(sql, " RETURNING ");
        add_columns(dialect, table, table->column_count, sql);
        break;
    case RIG_ROW_DELETE:
        rig_buf_add_text(sql, "DELETE FROM ");
        add_name(dialect, table->name, sql);
        add_conditions(dialect, table, statement, &value, sql);
        break;
    }
    RIG_INVARIANT(value == rig_row_value_count(statement, table));
}

static void add_insertion_head(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                               const char *before, struct rig_buf *sql)
{
    rig_buf_printf(sql, "%sINSERT INTO ", before);
    add_name(dialect, table->name, sql);
    rig_buf_add_text(sql, " (");
    add_columns(dialect, table, table->column_count, sql);
    rig_buf_add_text(sql, ") VALUES ");
}

void rig_sql_insert_rows(const struct rig_sql_dialect *dialect, const struct rig_row_table *table, const int64_t *cells,
                         uint32_t row_count, struct rig_buf *sql)
{
    for (uint32_t row = 0; row < row_count; row++) {
        if (row == 0 || dialect->single_rows)
            add_insertion_head(dialect, table, row == 0 ? "" : "; ", sql);
        rig_buf_add_text(sql, row == 0 || dialect->single_rows ? "(" : ", (");
        for (uint32_t i = 0; i < table->column_count; i++) {
            rig_buf_add_text(sql, i == 0 ? "" : ",");
            rig_buf_add_int(sql, *cells++);
        }
        rig_buf_add_char(sql, ')');
    }
}

void rig_sql_query(const struct rig_sql_dialect *dialect, const char *query, struct rig_buf *sql)
{
    for (const char *end; *query != '\0'; query = end) {
        const bool is_name = *query == '{';
        query += is_name;
        end = query + strcspn(query, is_name ? "}" : "{");
        if (is_name)
            rig_buf_add_text(sql, dialect->prefix);
        rig_buf_add(sql, query, (size_t)(end - query));
        end += *end == '}';
    }
}

/* ---- rows of keys ---- */

/* Keys below this have rows. */
static int64_t key_count(const struct rig_run_env *env)
{
    return env->accounts.count > env->prefilled_keys ? env->accounts.count : env->prefilled_keys;
}

int64_t rig_sql_last_key_row(const struct rig_sql_key_tables *tables, int64_t number)
{
    const int64_t below = key_count(tables->env) - 1 - number;
    return below < 0 ? -1 : number + below - below % tables->table_count;
}

void rig_sql_add_key_rows(const struct rig_sql_key_tables *tables, int64_t number, const char *name,
                          struct rig_buf *sql)
{
    const struct rig_accounts *accounts = &tables->env->accounts;
    const int64_t last = rig_sql_last_key_row(tables, number);
    if (last < 0)
        return;
    rig_buf_printf(sql, "INSERT INTO %s (k, v) VALUES (%" PRId64 ", ", name, number);
    if (accounts->count > 0)
        rig_buf_add_int(sql, accounts->balance);
    else
        rig_buf_add_text(sql, tables->empty == NULL ? "NULL" : tables->empty);
    rig_buf_add_text(sql, "); ");
    /* Each statement adds as many rows as there are. */
    for (int64_t distance = tables->table_count; number + distance <= last; distance *= 2)
        rig_buf_printf(sql,
                       "INSERT INTO %s (k, v) SELECT k + %" PRId64 ", v FROM %s WHERE k + %" PRId64 " <= %" PRId64 "; ",
                       name, distance, name, distance, last);
}
