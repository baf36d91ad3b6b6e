#include "drivers/sql/program_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_write.h"
#include "drivers/sql/sql_ops.h"
#include "history/types/row_ops.h"

enum { LAST_OF_RUN = 8 };

static bool has_texts(enum rig_workload workload)
{
    return rig_workload_has_sequences(workload) || rig_sql_is_row(workload);
}

void rig_sql_program_schema_table(const struct rig_sql_program_schema *schema, int64_t number,
                                  char name[static RIG_SQL_PROGRAM_TABLE_BYTES])
{
    (void)snprintf(name, RIG_SQL_PROGRAM_TABLE_BYTES, "%s%" PRId64, schema->stem, number);
}

/* The run's name in the names of tables, as far as the database allows. */
static void find_stem(struct rig_sql_program_schema *schema)
{
    const struct rig_run_env *env = schema->env;
    const size_t length = strlen(env->run_name);
    rig_sql_table_stem(env, false, schema->stem, sizeof schema->stem);
    if (schema->dialect->longest_name < (int64_t)sizeof schema->stem && length > LAST_OF_RUN) {
        char rest[sizeof schema->stem];
        (void)snprintf(rest, sizeof rest, "%s", schema->stem + length);
        (void)snprintf(schema->stem, sizeof schema->stem, "r%s%.40s", env->run_name + length - LAST_OF_RUN, rest);
    }
}

/* ---- statements ---- */

static bool find_value(const char *name, size_t length, uint8_t *value, char *type)
{
    static const struct {
        const char *name;
        char type;
    } values[] = {
#define VALUE(identifier, key, type) {key, type},
        RIG_SQL_SAID_VALUES(VALUE)
#undef VALUE
    };
    for (uint8_t i = 0; i < RIG_SQL_SAID_COUNT; i++) {
        if (strlen(values[i].name) == length && memcmp(values[i].name, name, length) == 0) {
            *value = i;
            *type = values[i].type;
            return true;
        }
    }
    return false;
}

/* Adds what stands for a name in braces. */
static enum rig_rc add_name(const struct rig_sql_program_schema *schema, const char *table, const char *name,
                            size_t length, struct rig_sql_said *said, struct rig_buf *sql, struct rig_err *err)
{
    uint8_t value;
    char type;
    if (length == 5 && memcmp(name, "table", 5) == 0) {
        rig_buf_add_text(sql, table);
    } else if (length == 4 && memcmp(name, "lock", 4) == 0) {
        rig_buf_add_text(sql, schema->dialect->lock == NULL ? "" : schema->dialect->lock);
    } else if (length == 4 && memcmp(name, "full", 4) == 0) {
        rig_buf_add_text(sql, RIG_SQL_FULL);
    } else if (find_value(name, length, &value, &type) && said->value_count < RIG_SQL_SAID_MOST) {
        rig_buf_add_char(sql, '?');
        said->values[said->value_count] = value;
        said->types[said->value_count++] = type;
    } else {
        return rig_fail(
            err, RIG_E_PLAN,
            "the dialect %s: a statement has `{%.*s}`; expected {table}, {lock}, {full}, or one of the values "
            "{key}, {value}, {expected}, {element}, {rest}, {seen}, {low}, {high}, {number}, {class}",
            schema->dialect->name, (int)(length < 40 ? length : 40), name);
    }
    return RIG_OK;
}

static enum rig_rc keep(struct rig_buf *sql, struct rig_sql_said *said, struct rig_err *err)
{
    struct rig_buf quoted;
    rig_buf_init(&quoted, 0);
    rig_json_quote(&quoted, rig_buf_text(sql), sql->size);
    said->text = sql->failed ? NULL : strdup(rig_buf_text(sql));
    said->quoted = quoted.failed ? NULL : strdup(rig_buf_text(&quoted));
    rig_buf_done(&quoted);
    rig_buf_done(sql);
    return said->text == NULL || said->quoted == NULL ? rig_no_memory(err, "the statements of the workload") : RIG_OK;
}

static enum rig_rc compile(const struct rig_sql_program_schema *schema, const char *table, const char *template,
                           struct rig_sql_said *said, struct rig_err *err)
{
    struct rig_buf sql;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&sql, 0);
    while (rc == RIG_OK && *template != '\0') {
        const size_t plain = strcspn(template, "{");
        rig_buf_add(&sql, template, plain);
        template += plain;
        if (*template == '\0')
            break;
        const size_t length = strcspn(template + 1, "}");
        rc = add_name(schema, table, template + 1, length, said, &sql, err);
        template += 1 + length + (template[1 + length] == '}');
    }
    if (rc == RIG_OK)
        return keep(&sql, said, err);
    rig_buf_done(&sql);
    return rc;
}

static enum rig_rc compile_tables(struct rig_sql_program_schema *schema, struct rig_err *err)
{
    const uint32_t tables = (uint32_t)schema->options->tables;
    schema->said = calloc((size_t)tables * RIG_SQL_DIALECT_STATEMENT_COUNT, sizeof *schema->said);
    if (schema->said == NULL)
        return rig_no_memory(err, "the statements of the workload");
    schema->said_count = tables * RIG_SQL_DIALECT_STATEMENT_COUNT;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < schema->said_count; i++) {
        char name[RIG_SQL_PROGRAM_TABLE_BYTES];
        rig_sql_program_schema_table(schema, i / RIG_SQL_DIALECT_STATEMENT_COUNT, name);
        rc = compile(schema, name, schema->dialect->statements[i % RIG_SQL_DIALECT_STATEMENT_COUNT], &schema->said[i],
                     err);
    }
    return rc;
}

/* A program's statement; its values come in their order. */
static enum rig_rc compile_row(const struct rig_sql_program_schema *schema, const struct rig_row_statement *described,
                               struct rig_sql_said *said, struct rig_err *err)
{
    const struct rig_sql_dialect dialect = rig_sql_program_schema_dialect(schema);
    const struct rig_row_schema *rows = schema->env->rows;
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sql_statement(&dialect, rows, described, &sql);
    said->value_count = rig_row_value_count(described, &rows->tables[described->table]);
    for (uint32_t i = 0; i < said->value_count; i++) {
        said->values[i] = (uint8_t)i;
        said->types[i] = 'i';
    }
    return keep(&sql, said, err);
}

/* An update that gives its rows is followed by a selection by the same conditions. */
static enum rig_rc compile_rows(struct rig_sql_program_schema *schema, struct rig_err *err)
{
    const struct rig_row_schema *rows = schema->env->rows;
    schema->of_rows = calloc(2 * (size_t)rows->statement_count, sizeof *schema->of_rows);
    if (schema->of_rows == NULL)
        return rig_no_memory(err, "the statements of a program");
    schema->row_count = 2 * rows->statement_count;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < rows->statement_count; i++) {
        const struct rig_row_statement *described = &rows->statements[i];
        struct rig_row_statement selection = {.act = RIG_ROW_SELECT,
                                              .table = described->table,
                                              .condition_count = described->condition_count,
                                              .for_update = schema->dialect->lock != NULL};
        memcpy(selection.conditions, described->conditions, sizeof selection.conditions);
        rc = compile_row(schema, described, &schema->of_rows[2 * i], err);
        if (rc == RIG_OK && described->act == RIG_ROW_UPDATE && !described->counted)
            rc = compile_row(schema, &selection, &schema->of_rows[2 * i + 1], err);
    }
    return rc;
}

static enum rig_rc check_lacks(const struct rig_sql_program_schema *schema, struct rig_err *err)
{
    const struct rig_run_env *env = schema->env;
    const char *const *lacks = schema->dialect->lacks;
    const char *product = schema->dialect->product;
    if (env->rolls_back && lacks[RIG_SQL_LACKS_SAVEPOINTS] != NULL)
        return rig_fail(err, RIG_E_PLAN, "workload.savepoints: %s has none: %s", product,
                        lacks[RIG_SQL_LACKS_SAVEPOINTS]);
    const bool has_rows = env->workload == RIG_WORKLOAD_PREDICATE || env->workload == RIG_WORKLOAD_SQL;
    if (has_rows && lacks[RIG_SQL_LACKS_PREDICATES] != NULL)
        return rig_fail(err, RIG_E_PLAN, "workload.type: %s cannot run %s: %s", product,
                        env->workload == RIG_WORKLOAD_SQL ? "sql" : "predicate", lacks[RIG_SQL_LACKS_PREDICATES]);
    if (env->rows != NULL && lacks[RIG_SQL_LACKS_PROGRAMS] != NULL)
        return rig_fail(err, RIG_E_PLAN, "%s cannot run programs and scenarios: %s", product,
                        lacks[RIG_SQL_LACKS_PROGRAMS]);
    if (env->workload == RIG_WORKLOAD_SQL && (env->clauses >> RIG_ROW_LIMIT & 1) != 0 &&
        strncmp(schema->dialect->limit, "FETCH FIRST", 11) != 0)
        return rig_fail(err, RIG_E_PLAN,
                        "workload.statements.limits: random SQL has FETCH FIRST, and the dialect of %s has the `limit` "
                        "`%s`; set the share to 0%%",
                        product, schema->dialect->limit);
    static const struct {
        int bit;
        const char *share, *what;
    } parts[] = {{RIG_ROW_UPSERT, "upserts", "standard SQL has no upsert that shows the row"},
                 {RIG_ROW_HAS_CHECKS, "checks", "its tables are declared without CHECKs"},
                 {RIG_ROW_HAS_MOVES, "key-updates", "its tables have primary keys that do not change"}};
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if ((env->clauses >> parts[i].bit & 1) != 0)
            return rig_fail(
                err, RIG_E_PLAN,
                "workload.statements.%s: random SQL through a dialect is standard SQL, and %s; set the share "
                "to 0%%",
                parts[i].share, parts[i].what);
    }
    if (schema->options->lock_reads > 0 && schema->dialect->lock == NULL)
        return rig_fail(err, RIG_E_PLAN, "database.lock-reads: %s has no reads that lock: %s", product,
                        lacks[RIG_SQL_LACKS_LOCKING_READS] != NULL ? lacks[RIG_SQL_LACKS_LOCKING_READS]
                                                                   : "the dialect gives no `lock`");
    return RIG_OK;
}

enum rig_rc rig_sql_program_schema_init(struct rig_sql_program_schema *schema,
                                        const struct rig_sql_dialect_file *dialect, const struct rig_run_env *env,
                                        const struct rig_sql_options *options, struct rig_err *err)
{
    *schema = (struct rig_sql_program_schema){.dialect = dialect, .env = env, .options = options};
    find_stem(schema);
    const enum rig_rc rc = check_lacks(schema, err);
    if (rc != RIG_OK)
        return rc;
    return env->rows != NULL ? compile_rows(schema, err) : compile_tables(schema, err);
}

static void free_statements(struct rig_sql_said *said, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(said[i].text);
        free(said[i].quoted);
    }
    free(said);
}

void rig_sql_program_schema_done(struct rig_sql_program_schema *schema)
{
    free_statements(schema->said, schema->said_count);
    free_statements(schema->of_rows, schema->row_count);
    *schema = (struct rig_sql_program_schema){.dialect = NULL};
}

const struct rig_sql_said *rig_sql_program_schema_say(const struct rig_sql_program_schema *schema, int64_t key,
                                                      enum rig_sql_dialect_statement which)
{
    const uint64_t table = (uint64_t)key % (uint64_t)schema->options->tables;
    const size_t at = table * RIG_SQL_DIALECT_STATEMENT_COUNT + which;
    RIG_REQUIRE(at < schema->said_count);
    return &schema->said[at];
}

struct rig_sql_dialect rig_sql_program_schema_dialect(const struct rig_sql_program_schema *schema)
{
    return (struct rig_sql_dialect){.prefix = schema->env->rows != NULL ? schema->stem : "",
                                    .integer = schema->dialect->integer,
                                    .limit = schema->dialect->limit,
                                    .lock = schema->dialect->lock,
                                    .single_rows = !schema->dialect->multiple_rows,
                                    .quoted = schema->dialect->quote != 0,
                                    .upper = schema->dialect->quote == 2,
                                    .for_update = schema->dialect->lock != NULL,
                                    .index_prefix = schema->env->rows != NULL ? schema->stem : "",
                                    .named_indexes = true};
}

/* ---- tables ---- */

static void add_columns(const struct rig_sql_program_schema *schema, const char *table, struct rig_buf *sql)
{
    const enum rig_workload workload = schema->env->workload;
    const char *integer = schema->dialect->integer;
    if (workload == RIG_WORKLOAD_SQL) {
        rig_buf_add_text(sql,
                         rig_sql_random_columns(rig_sql_program_random_dialect(schema->dialect), schema->env->clauses));
        rig_buf_printf(sql, ", FOREIGN KEY (r) REFERENCES %s (u)", table);
        return;
    }
    if (workload == RIG_WORKLOAD_PREDICATE) {
        rig_buf_printf(sql, "k %s NOT NULL, id %s NOT NULL, v %s NOT NULL, c %s NOT NULL, p %s, PRIMARY KEY (k, id)",
                       integer, integer, integer, integer, integer);
        return;
    }
    rig_buf_printf(sql, "k %s NOT NULL PRIMARY KEY, v %s", integer,
                   has_texts(workload) ? schema->dialect->text : integer);
    if (workload == RIG_WORKLOAD_CAS_REGISTER || rig_sql_is_row(workload))
        rig_buf_printf(sql, ", n %s DEFAULT 0", integer);
}

void rig_sql_program_schema_create(const struct rig_sql_program_schema *schema, struct rig_buf *sql)
{
    const struct rig_run_env *env = schema->env;
    const struct rig_sql_dialect dialect = rig_sql_program_schema_dialect(schema);
    const struct rig_sql_key_tables key_tables = {
        .env = env, .table_count = schema->options->tables, .empty = has_texts(env->workload) ? "''" : NULL};
    char name[RIG_SQL_PROGRAM_TABLE_BYTES];
    for (uint32_t i = 0; env->rows != NULL && i < env->rows->table_count; i++)
        rig_sql_create_table(&dialect, &env->rows->tables[i], sql);
    for (int64_t table = 0; env->rows == NULL && table < schema->options->tables; table++) {
        rig_sql_program_schema_table(schema, table, name);
        rig_buf_printf(sql, "CREATE TABLE %s (", name);
        add_columns(schema, name, sql);
        rig_buf_add_text(sql, "); ");
        if (env->workload == RIG_WORKLOAD_PREDICATE)
            rig_buf_printf(sql, "CREATE INDEX %s_c ON %s (k, c); ", name, name);
        rig_sql_add_key_rows(&key_tables, table, name, sql);
    }
}

void rig_sql_program_schema_drop(const struct rig_sql_program_schema *schema, struct rig_buf *sql)
{
    const struct rig_run_env *env = schema->env;
    char name[RIG_SQL_PROGRAM_TABLE_BYTES];
    for (uint32_t i = 0; env->rows != NULL && i < env->rows->table_count; i++)
        rig_buf_printf(sql, "DROP TABLE %s%s; ", schema->stem, env->rows->tables[i].name);
    for (int64_t table = 0; env->rows == NULL && table < schema->options->tables; table++) {
        rig_sql_program_schema_table(schema, table, name);
        rig_buf_printf(sql, "DROP TABLE %s; ", name);
    }
}

/* ---- scripts without rig ---- */

/* Lines from a text in which "; " separates them. */
static void add_lines(const char *text, struct rig_buf *out)
{
    if (text[0] == '\0')
        return;
    for (const char *at = text; *at != '\0'; at++) {
        rig_buf_add_char(out, *at);
        if (at[0] == ';' && at[1] == ' ') {
            rig_buf_add_char(out, '\n');
            at++;
        }
    }
    rig_buf_add_text(out, ";\n");
}

void rig_sql_program_schema_shell(const struct rig_sql_dialect_file *dialect, const struct rig_sql_dialect_level *level,
                                  const struct rig_row_schema *rows, struct rig_row_shell *shell)
{
    const struct rig_run_env env = {.rows = rows};
    const struct rig_sql_program_schema schema = {.dialect = dialect, .env = &env};
    const struct rig_sql_dialect words = rig_sql_program_schema_dialect(&schema);
    struct rig_buf begin;
    rig_buf_init(&begin, 0);
    if (dialect->shell.begin == NULL && dialect->level_statement != NULL) {
        rig_sql_dialect_add_level(dialect->level_statement, level, &begin);
        rig_buf_add_text(&begin, "; ");
    }
    if (dialect->shell.begin != NULL)
        rig_sql_dialect_add_level(dialect->shell.begin, level, &begin);
    else if (dialect->begin != NULL)
        rig_sql_dialect_add_level(dialect->begin, level, &begin);
    add_lines(rig_buf_text(&begin), &shell->begin);
    rig_buf_done(&begin);
    add_lines(dialect->shell.setup, &shell->setup);
    rig_buf_add_text(&shell->run, dialect->shell.run);
    rig_buf_add_text(&shell->server, dialect->shell.server);
    rig_buf_add_text(&shell->mark, dialect->shell.mark);
    rig_buf_add_text(&shell->commit, dialect->by_text ? dialect->commit : "COMMIT WORK");
    rig_buf_add_text(&shell->rollback, dialect->by_text ? dialect->rollback : "ROLLBACK WORK");
    for (uint32_t i = 0; i < rows->table_count; i++)
        rig_sql_create_table(&words, &rows->tables[i], &shell->create);
    for (uint32_t i = 0; i < rows->statement_count; i++)
        rig_sql_statement(&words, rows, &rows->statements[i], &shell->statements[i]);
}
