#include "drivers/mysql/my_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/random_sql.h"

enum { TEXT_MOST = 4096 };

/* Statements of a table, in the order of enum rig_sql_action; of the workload predicate, in that of enum
 * rig_sql_predicate, and those that stand before and behind an update or delete. */
enum { CLEAR_ROWS = RIG_SQL_PREDICATE_COUNT, TAKE_ROWS, REMOVE_BY_ID, REMOVE_BY_CLASS, OF_PREDICATE_COUNT };

static uint32_t statements_of_table(const struct rig_my_schema *schema)
{
    return schema->workload == RIG_WORKLOAD_PREDICATE ? (uint32_t)OF_PREDICATE_COUNT : (uint32_t)RIG_SQL_NOTHING;
}

/* ---- the place ---- */

static bool is_text(enum rig_workload workload)
{
    return rig_workload_has_sequences(workload) || rig_sql_is_row(workload);
}

bool rig_my_schema_has_element_rows(const struct rig_my_schema *schema)
{
    return schema->workload == RIG_WORKLOAD_SET && schema->options->table_schema == RIG_MY_LIST_ROWS;
}

static void find_place(struct rig_my_schema *schema, const struct rig_run_env *env)
{
    const char *named = schema->options->dbname;
    struct rig_my_place *place = &schema->place;
    place->own = named == NULL || named[0] == '\0';
    (void)snprintf(place->database, sizeof place->database, "%s", place->own ? env->run_name : named);
    rig_sql_table_stem(env, place->own, place->stem, sizeof place->stem);
    (void)snprintf(schema->prefix, sizeof schema->prefix, "`%s`.%s", place->database, place->stem);
}

uint32_t rig_my_schema_table_count(const struct rig_my_schema *schema)
{
    return schema->rows != NULL ? schema->rows->table_count : (uint32_t)schema->options->sql.tables;
}

void rig_my_schema_table(const struct rig_my_schema *schema, uint32_t table, char name[static RIG_MY_TABLE_BYTES])
{
    const int length = schema->rows != NULL ? snprintf(name, RIG_MY_TABLE_BYTES, "%s%s", schema->prefix,
                                                       schema->rows->tables[table].name)
                                            : snprintf(name, RIG_MY_TABLE_BYTES, "%s%u", schema->prefix, table);
    RIG_INVARIANT(length > 0 && length < RIG_MY_TABLE_BYTES);
}

const char *rig_my_schema_columns(const struct rig_my_schema *schema)
{
    if (rig_my_schema_has_element_rows(schema))
        return "k bigint NOT NULL, v bigint NOT NULL, n bigint NOT NULL AUTO_INCREMENT, PRIMARY KEY (k, v), KEY (n)";
    if (schema->workload == RIG_WORKLOAD_SQL)
        return rig_sql_random_columns(RIG_SQL_RANDOM_MYSQL, schema->clauses);
    if (schema->workload == RIG_WORKLOAD_PREDICATE)
        return "k bigint NOT NULL, id bigint NOT NULL, v bigint NOT NULL, c bigint NOT NULL, "
               "p bigint NOT NULL DEFAULT 0, PRIMARY KEY (k, id), KEY (k, c)";
    if (rig_sql_is_row(schema->workload))
        return "k bigint NOT NULL PRIMARY KEY, v longtext CHARACTER SET latin1 NOT NULL, taken bigint NOT NULL DEFAULT "
               "0";
    if (is_text(schema->workload))
        return schema->prefilled ? "k bigint NOT NULL PRIMARY KEY, v longtext CHARACTER SET latin1"
                                 : "k bigint NOT NULL PRIMARY KEY, v longtext CHARACTER SET latin1 NOT NULL";
    if (schema->prefilled)
        return "k bigint NOT NULL PRIMARY KEY, v bigint, n bigint NOT NULL DEFAULT 0";
    return "k bigint NOT NULL PRIMARY KEY, v bigint NOT NULL, n bigint NOT NULL DEFAULT 0";
}

struct rig_sql_dialect rig_my_schema_dialect(const struct rig_my_schema *schema)
{
    return (struct rig_sql_dialect){.prefix = schema->prefix, .for_update = true, .named_indexes = true};
}

/* ---- statements ---- */

/* Replaces $1 to $4 by `?`, and keeps their order; a text that has `?` already takes its values in order. */
static bool set_statement(struct rig_my_statement *statement, const char *text)
{
    const size_t length = strlen(text);
    statement->text = malloc(length + 1);
    if (statement->text == NULL)
        return false;
    char *to = statement->text;
    for (const char *from = text; *from != '\0'; from++) {
        const bool numbered = from[0] == '$' && from[1] >= '1' && from[1] <= '4';
        if (numbered || *from == '?') {
            RIG_INVARIANT(statement->value_count < RIG_MY_VALUES_MOST);
            const uint32_t number = numbered ? (uint32_t)(from[1] - '1') : statement->value_count;
            statement->order[statement->value_count++] = (uint8_t)number;
        }
        *to++ = numbered ? '?' : *from;
        from += numbered;
    }
    *to = '\0';
    return true;
}

static bool set_text(struct rig_my_statement *statement, const char *format, ...) RIG_PRINTF(2, 3);

static bool set_text(struct rig_my_statement *statement, const char *format, ...)
{
    char text[TEXT_MOST];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    RIG_INVARIANT(length > 0 && (size_t)length < sizeof text);
    return set_statement(statement, text);
}

static bool set_reads(struct rig_my_schema *schema, struct rig_my_statement *of, const char *name)
{
    const bool shared = schema->options->sql.lock_mode == RIG_SQL_LOCK_SHARE;
    const char *order = rig_my_schema_has_element_rows(schema) ? " ORDER BY n" : "";
    return set_text(&of[RIG_SQL_READ], "SELECT v FROM %s WHERE k = $1%s", name, order) &&
           set_text(&of[RIG_SQL_READ_LOCKED], "SELECT v FROM %s WHERE k = $1%s %s", name, order,
                    shared ? "LOCK IN SHARE MODE" : "FOR UPDATE");
}

static bool set_writes(struct rig_my_schema *schema, struct rig_my_statement *of, const char *name)
{
    if (rig_my_schema_has_element_rows(schema))
        return set_text(&of[RIG_SQL_PUT], "INSERT INTO %s (k, v) VALUES ($1, $2)", name);
    const char *changed = "$2";
    if (rig_sql_is_row(schema->workload))
        changed = "IF(v = '', $2, CONCAT(v, ',', $2))";
    else if (is_text(schema->workload))
        changed = "CONCAT_WS(',', v, $2)";
    else if (rig_sql_is_sum(schema->workload))
        changed = "v + $2";
    else if (schema->workload == RIG_WORKLOAD_MUTEX)
        changed = "IF(v = 0, $2, v)";
    return set_text(&of[RIG_SQL_PUT], "INSERT INTO %s (k, v) VALUES ($1, $2) ON DUPLICATE KEY UPDATE v = %s", name,
                    changed);
}

/* Takes the first element, or the last one: its text, and the rest. */
static bool set_take(struct rig_my_schema *schema, struct rig_my_statement *of, const char *name)
{
    const bool queue = schema->workload == RIG_WORKLOAD_QUEUE;
    return set_text(&of[RIG_SQL_TAKE],
                    "UPDATE %s SET taken = LAST_INSERT_ID(CAST(SUBSTRING_INDEX(v, ',', %s) AS SIGNED)),"
                    " v = IF(LOCATE(',', v) = 0, '', %s) WHERE k = $1 AND v <> ''",
                    name, queue ? "1" : "-1",
                    queue ? "SUBSTRING(v, LOCATE(',', v) + 1)"
                          : "LEFT(v, LENGTH(v) - LENGTH(SUBSTRING_INDEX(v, ',', -1)) - 1)");
}

/* The bounds of a condition on the column. */
#define BETWEEN(column) "WHERE k = $1 AND " column " BETWEEN $2 AND $3"
/* Gives the rows of a condition the version $4, and collects them in @rig: ids, and the versions before. */
#define CHANGE(more, column)                                                                                           \
    "UPDATE %s SET p = v, v = $4 + 0 * LENGTH(@rig := CONCAT(@rig, IF(@rig = '', '', ','), id, ',', p))" more          \
    " " BETWEEN(column)

/* The same without a version, which reads of what is not committed would show: the number is in p. */
#define MARK(column)                                                                                                   \
    "UPDATE %s SET p = $4 + 0 * LENGTH(@rig := CONCAT(@rig, IF(@rig = '', '', ','), id, ',', v)) " BETWEEN(column)

/*
 * Each has one column, as a text. The server has no UPDATE that returns rows: a variable collects them, in the
 * evaluation of the assignments, which is once for each row that the statement changes. A SELECT behind it could see
 * other rows, or lock more of them. A delete first marks its rows, and then removes those that it marked, by the
 * same condition.
 */
static bool set_statements_of_predicates(struct rig_my_schema *schema, uint32_t table)
{
    const uint32_t first = table * (uint32_t)OF_PREDICATE_COUNT;
    struct rig_my_statement *of = &schema->statements[first];
    char name[RIG_MY_TABLE_BYTES];
    rig_my_schema_table(schema, table, name);
    const bool set =
        set_text(&of[RIG_SQL_LIST_BY_ID], "SELECT CONCAT(id, ',', v) FROM %s " BETWEEN("id"), name) &&
        set_text(&of[RIG_SQL_LIST_BY_CLASS], "SELECT CONCAT(id, ',', v) FROM %s " BETWEEN("c"), name) &&
        set_text(&of[RIG_SQL_COUNT_BY_ID], "SELECT CONCAT(COUNT(*), ',', COALESCE(SUM(v), 0)) FROM %s " BETWEEN("id"),
                 name) &&
        set_text(&of[RIG_SQL_COUNT_BY_CLASS], "SELECT CONCAT(COUNT(*), ',', COALESCE(SUM(v), 0)) FROM %s " BETWEEN("c"),
                 name) &&
        set_text(&of[RIG_SQL_SUM_BY_ID], "SELECT CONCAT(0, ',', COALESCE(SUM(v), 0)) FROM %s " BETWEEN("id"), name) &&
        set_text(&of[RIG_SQL_SUM_BY_CLASS], "SELECT CONCAT(0, ',', COALESCE(SUM(v), 0)) FROM %s " BETWEEN("c"), name) &&
        set_text(&of[RIG_SQL_UPDATE_BY_ID], CHANGE(", c = $4 DIV 10 MOD 100", "id"), name) &&
        set_text(&of[RIG_SQL_UPDATE_BY_CLASS], CHANGE(", c = $4 DIV 10 MOD 100", "c"), name) &&
        set_text(&of[RIG_SQL_DELETE_BY_ID], MARK("id"), name) &&
        set_text(&of[RIG_SQL_DELETE_BY_CLASS], MARK("c"), name) &&
        set_text(&of[RIG_SQL_INSERT], "INSERT INTO %s (k, id, v, c) VALUES ($1, $2, $2, $2 DIV 10 MOD 100)", name) &&
        set_text(&of[CLEAR_ROWS], "SET @rig = ''") && set_text(&of[TAKE_ROWS], "SELECT @rig") &&
        set_text(&of[REMOVE_BY_ID], "DELETE FROM %s " BETWEEN("id") " AND p = $4", name) &&
        set_text(&of[REMOVE_BY_CLASS], "DELETE FROM %s " BETWEEN("c") " AND p = $4", name);
    of[RIG_SQL_UPDATE_BY_ID].next = of[RIG_SQL_UPDATE_BY_CLASS].next = first + TAKE_ROWS;
    of[RIG_SQL_DELETE_BY_ID].next = first + REMOVE_BY_ID;
    of[RIG_SQL_DELETE_BY_CLASS].next = first + REMOVE_BY_CLASS;
    of[REMOVE_BY_ID].next = of[REMOVE_BY_CLASS].next = first + TAKE_ROWS;
    return set;
}

static bool set_statements_of_table(struct rig_my_schema *schema, uint32_t table)
{
    if (schema->workload == RIG_WORKLOAD_SQL)
        return true; /* its statements are texts of their own */
    if (schema->workload == RIG_WORKLOAD_PREDICATE)
        return set_statements_of_predicates(schema, table);
    struct rig_my_statement *of = &schema->statements[table * statements_of_table(schema)];
    char name[RIG_MY_TABLE_BYTES];
    rig_my_schema_table(schema, table, name);
    bool set = set_reads(schema, of, name) && set_writes(schema, of, name);
    if (set && rig_sql_is_sum(schema->workload))
        set = set_text(&of[RIG_SQL_REPLACE], "UPDATE %s SET v = $2 WHERE k = $1", name);
    if (set && schema->workload == RIG_WORKLOAD_CAS_REGISTER)
        set = set_text(&of[RIG_SQL_COMPARE], "UPDATE %s SET v = $2, n = n + 1 WHERE k = $1 AND v = $3", name);
    if (set && schema->workload == RIG_WORKLOAD_MUTEX)
        set = set_text(&of[RIG_SQL_COMPARE], "UPDATE %s SET v = 0 WHERE k = $1 AND v = $2", name);
    if (set && schema->workload == RIG_WORKLOAD_APPEND_REGISTER)
        set = set_text(&of[RIG_SQL_EXTEND],
                       "INSERT INTO %s (k, v) VALUES ($1, $2) ON DUPLICATE KEY UPDATE v = IF(v < " RIG_SQL_FULL
                       ", v * 10 + $2, v)",
                       name);
    if (set && rig_sql_is_row(schema->workload))
        set = set_take(schema, of, name);
    return set;
}

static bool set_generated(struct rig_my_schema *schema, uint32_t number, const struct rig_row_statement *described)
{
    const struct rig_sql_dialect dialect = rig_my_schema_dialect(schema);
    struct rig_buf sql;
    rig_buf_init(&sql, TEXT_MOST);
    rig_sql_statement(&dialect, schema->rows, described, &sql);
    const bool set = !sql.failed && set_statement(&schema->statements[number], rig_buf_text(&sql));
    rig_buf_done(&sql);
    return set;
}

/* Whether the conditions are the table's whole key, which the statement does not change. */
static bool is_by_key(const struct rig_row_schema *rows, const struct rig_row_statement *statement)
{
    const struct rig_row_table *table = &rows->tables[statement->table];
    uint32_t found = 0;
    for (uint32_t i = 0; i < statement->condition_count; i++) {
        if (statement->conditions[i].column < table->key_count && statement->conditions[i].test == RIG_ROW_EQUAL)
            found |= UINT32_C(1) << statement->conditions[i].column;
    }
    for (uint32_t i = 0; i < statement->assignment_count; i++) {
        if (statement->assignments[i].column < table->key_count)
            return false;
    }
    return found == (UINT32_C(1) << table->key_count) - 1;
}

/* The server has no UPDATE that returns rows: a locking selection by the same conditions follows. */
static bool set_statements_of_program(struct rig_my_schema *schema)
{
    const struct rig_row_schema *rows = schema->rows;
    uint32_t number = 0;
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_statement *described = &rows->statements[i];
        schema->row_statements[i] = (struct rig_my_row_statement){
            .number = number, .selection = number + 1, .by_key = is_by_key(rows, described)};
        if (!set_generated(schema, number, described))
            return false;
        struct rig_row_statement selection = {.act = RIG_ROW_SELECT,
                                              .table = described->table,
                                              .condition_count = described->condition_count,
                                              .for_update = true};
        memcpy(selection.conditions, described->conditions, sizeof selection.conditions);
        if (described->act == RIG_ROW_UPDATE && !set_generated(schema, number + 1, &selection))
            return false;
        number += 2;
    }
    return true;
}

enum rig_rc rig_my_schema_init(struct rig_my_schema *schema, const struct rig_run_env *env,
                               const struct rig_my_options *options, struct rig_err *err)
{
    if (env->rows != NULL && options->sql.row_padding_bytes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.row-padding: the tables of programs have columns of their own; leave it out");
    *schema = (struct rig_my_schema){.options = options,
                                     .workload = env->workload,
                                     .rows = env->rows,
                                     .prefilled = env->prefilled_keys > 0,
                                     .clauses = env->clauses};
    find_place(schema, env);
    const uint32_t count = env->rows != NULL ? 2 * env->rows->statement_count
                                             : (uint32_t)options->sql.tables * statements_of_table(schema);
    schema->statements = calloc(count + 1, sizeof *schema->statements);
    schema->row_statements = calloc(count + 1, sizeof *schema->row_statements);
    bool set = schema->statements != NULL && schema->row_statements != NULL;
    schema->statement_count = schema->statements == NULL ? 0 : count;
    if (set && env->rows != NULL)
        set = set_statements_of_program(schema);
    for (uint32_t table = 0; set && env->rows == NULL && table < (uint32_t)options->sql.tables; table++)
        set = set_statements_of_table(schema, table);
    return set ? RIG_OK : rig_no_memory(err, "the statements of the workload");
}

void rig_my_schema_done(struct rig_my_schema *schema)
{
    for (uint32_t i = 0; i < schema->statement_count; i++)
        free(schema->statements[i].text);
    free(schema->statements);
    free(schema->row_statements);
    *schema = (struct rig_my_schema){0};
}

uint32_t rig_my_schema_of_op(const struct rig_my_schema *schema, const struct rig_transaction *transaction, uint32_t op,
                             struct rig_sql_numbers *numbers)
{
    const uint32_t table = (uint32_t)((uint64_t)transaction->ops[op].key % (uint64_t)schema->options->sql.tables);
    const uint32_t first = table * statements_of_table(schema);
    if (schema->workload == RIG_WORKLOAD_PREDICATE) {
        const enum rig_sql_predicate which = rig_sql_predicate_of(transaction, op, numbers);
        return which == RIG_SQL_PREDICATE_COUNT ? UINT32_MAX : first + (uint32_t)which;
    }
    const enum rig_sql_action action =
        rig_sql_action_of(schema->workload, schema->options->sql.lock_reads, transaction, op, numbers);
    return action == RIG_SQL_NOTHING ? UINT32_MAX : first + (uint32_t)action;
}

uint32_t rig_my_schema_steps(const struct rig_my_schema *schema, uint32_t number, uint32_t steps[static RIG_MY_STEPS])
{
    const uint32_t first = schema->workload == RIG_WORKLOAD_PREDICATE ? number - number % OF_PREDICATE_COUNT : 0;
    uint32_t count = 0;
    if (number == UINT32_MAX)
        return 0;
    if (schema->statements[number].next != 0)
        steps[count++] = first + CLEAR_ROWS;
    do {
        RIG_INVARIANT(count < RIG_MY_STEPS);
        steps[count++] = number;
        number = schema->statements[number].next;
    } while (number != 0);
    return count;
}

void rig_my_statement_print(const struct rig_my_statement *statement, const int64_t *values, struct rig_buf *sql)
{
    uint32_t next = 0;
    for (const char *from = statement->text; *from != '\0';) {
        const size_t plain = strcspn(from, "?");
        rig_buf_add(sql, from, plain);
        from += plain;
        if (*from == '\0')
            break;
        rig_buf_add_int(sql, values[statement->order[next++]]);
        from++;
    }
}

/* ---- sessions ---- */

const char *rig_my_schema_begin(const struct rig_my_schema *schema, bool read_only)
{
    static const char *const texts[2][2] = {
        {"START TRANSACTION", "START TRANSACTION READ ONLY"},
        {"START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"}};
    return texts[schema->options->consistent_snapshot][read_only && schema->options->sql.declare_read_only];
}

void rig_my_schema_settings(const struct rig_my_options *options, struct rig_buf *sql)
{
    if (options->snapshot_isolation != RIG_MY_SERVER_DEFAULT)
        rig_buf_printf(sql, ", SESSION innodb_snapshot_isolation = %d", options->snapshot_isolation == RIG_MY_ON);
    if (options->causal_reads > 0)
        rig_buf_printf(sql, ", SESSION wsrep_sync_wait = %lld", (long long)options->causal_reads);
    if (options->sql.statement_timeout_ns > 0)
        rig_buf_printf(sql, ", SESSION max_statement_time = %.6f", (double)options->sql.statement_timeout_ns / 1e9);
}

void rig_my_schema_session(const struct rig_my_schema *schema, struct rig_buf *sql)
{
    const struct rig_my_options *options = schema->options;
    rig_buf_printf(sql, "SET SESSION TRANSACTION ISOLATION LEVEL %s", rig_sql_isolation_sql[options->sql.isolation]);
    /* Without the strict mode a value that does not fit would be cut. */
    rig_buf_add_text(sql,
                     "; SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'");
    rig_my_schema_settings(options, sql);
    if (options->sql.lock_timeout_ns > 0)
        rig_buf_printf(sql, ", SESSION innodb_lock_wait_timeout = %lld",
                       (long long)((options->sql.lock_timeout_ns + 999999999) / 1000000000));
}
