/* The hook `statements` of drivers whose sessions a program carries: a dialect's statements. */
#include "drivers/sql/program_statement.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_told.h"

/* A text of what stands for each value; {rest} and {seen} are what an earlier statement of the same operation gave. */
static void add_said(struct rig_sql_told *told, const struct rig_sql_program_schema *schema,
                     enum rig_sql_dialect_statement which)
{
    static const char *const places[] = {
        [RIG_SQL_SAID_KEY] = "$1",       [RIG_SQL_SAID_VALUE] = "$2", [RIG_SQL_SAID_EXPECTED] = "$3",
        [RIG_SQL_SAID_LOW] = "$2",       [RIG_SQL_SAID_HIGH] = "$3",  [RIG_SQL_SAID_NUMBER] = "$4",
        [RIG_SQL_SAID_CLASS] = "$6",     [RIG_SQL_SAID_REST] = "?",   [RIG_SQL_SAID_SEEN] = "?",
        [RIG_SQL_SAID_ELEMENT] = "',$2'"};
    const struct rig_sql_said *said = rig_sql_program_schema_say(schema, 0, which);
    struct rig_buf sql;
    uint32_t number = 0;
    rig_buf_init(&sql, 0);
    for (const char *at = said->text; *at != '\0'; at++) {
        if (*at == '?' && number < said->value_count)
            rig_buf_add_text(&sql, places[said->values[number++]]);
        else
            rig_buf_add_char(&sql, *at);
    }
    rig_sql_told_add(told, rig_buf_text(&sql), '$', NULL);
    rig_buf_done(&sql);
}

static void tell_said(struct rig_sql_told *told, const struct rig_sql_program_schema *schema, enum rig_sql_form form,
                      enum rig_sql_dialect_statement which)
{
    add_said(told, schema, which);
    rig_sql_told_end(told, form);
}

/* A write that changes no row is followed by an insertion. */
static void tell_put(struct rig_sql_told *told, const struct rig_sql_program_schema *schema, enum rig_sql_form form,
                     enum rig_sql_dialect_statement which, enum rig_sql_dialect_statement first)
{
    add_said(told, schema, which);
    rig_sql_told_add_fallback(told);
    add_said(told, schema, first);
    rig_sql_told_end(told, form);
}

static void tell_actions(struct rig_sql_told *told, const struct rig_sql_program_schema *schema)
{
    const enum rig_workload workload = schema->env->workload;
    enum rig_sql_dialect_statement which, first;
    tell_said(told, schema, RIG_SQL_FORM_READ, RIG_SQL_SAYS_READ);
    if (schema->options->lock_reads > 0)
        tell_said(told, schema, RIG_SQL_FORM_READ_LOCKED, RIG_SQL_SAYS_READ_LOCKED);
    rig_sql_program_put_of(workload, &which, &first);
    tell_put(told, schema, RIG_SQL_FORM_PUT, which, first);
    if (rig_sql_is_sum(workload))
        tell_said(told, schema, RIG_SQL_FORM_REPLACE, RIG_SQL_SAYS_WRITE);
    if (workload == RIG_WORKLOAD_CAS_REGISTER || workload == RIG_WORKLOAD_MUTEX)
        tell_said(told, schema, RIG_SQL_FORM_COMPARE, rig_sql_program_compare_of(workload));
    if (workload == RIG_WORKLOAD_APPEND_REGISTER)
        tell_put(told, schema, RIG_SQL_FORM_EXTEND, RIG_SQL_SAYS_EXTEND, first);
    if (!rig_sql_is_row(workload))
        return;
    add_said(told, schema, RIG_SQL_SAYS_LOOK);
    add_said(told, schema, RIG_SQL_SAYS_TAKE);
    rig_sql_told_end(told, RIG_SQL_FORM_TAKE);
}

static void tell_rows(struct rig_sql_told *told, const struct rig_sql_program_schema *schema)
{
    tell_said(told, schema, RIG_SQL_FORM_LIST_BY_ID, RIG_SQL_SAYS_LIST_BY_ID);
    tell_said(told, schema, RIG_SQL_FORM_LIST_BY_CLASS, RIG_SQL_SAYS_LIST_BY_CLASS);
    tell_said(told, schema, RIG_SQL_FORM_COUNT_BY_ID, RIG_SQL_SAYS_COUNT_BY_ID);
    tell_said(told, schema, RIG_SQL_FORM_COUNT_BY_CLASS, RIG_SQL_SAYS_COUNT_BY_CLASS);
    tell_said(told, schema, RIG_SQL_FORM_SUM_BY_ID, RIG_SQL_SAYS_COUNT_BY_ID);
    tell_said(told, schema, RIG_SQL_FORM_SUM_BY_CLASS, RIG_SQL_SAYS_COUNT_BY_CLASS);
    for (int deletes = 0; deletes < 2; deletes++) {
        for (int by_class = 0; by_class < 2; by_class++) {
            const enum rig_sql_form form = deletes ? RIG_SQL_FORM_DELETE_BY_ID : RIG_SQL_FORM_UPDATE_BY_ID;
            const enum rig_sql_dialect_statement change = deletes ? RIG_SQL_SAYS_MARK_BY_ID : RIG_SQL_SAYS_CHANGE_BY_ID;
            add_said(told, schema, (enum rig_sql_dialect_statement)((int)change + by_class));
            add_said(told, schema, deletes ? RIG_SQL_SAYS_MARKED : RIG_SQL_SAYS_CHANGED);
            if (deletes)
                add_said(told, schema, RIG_SQL_SAYS_REMOVE);
            rig_sql_told_end(told, (enum rig_sql_form)((int)form + by_class));
        }
    }
    tell_said(told, schema, RIG_SQL_FORM_INSERT, RIG_SQL_SAYS_INSERT_ROW);
}

static void tell_all(struct rig_sql_told *told, const struct rig_sql_program_schema *schema,
                     const struct rig_sql_dialect_file *dialect, const struct rig_sql_dialect_level *level)
{
    if (dialect->begin != NULL) {
        struct rig_buf begin;
        rig_buf_init(&begin, 0);
        rig_sql_dialect_add_level(dialect->begin, level, &begin);
        rig_sql_told_say(told, RIG_SQL_FORM_BEGIN, rig_buf_text(&begin));
        rig_buf_done(&begin);
    }
    if (dialect->savepoint != NULL) {
        rig_sql_told_say(told, RIG_SQL_FORM_SAVEPOINT, dialect->savepoint);
        rig_sql_told_say(told, RIG_SQL_FORM_ROLLBACK_TO, dialect->return_to);
    }
    rig_sql_told_say(told, RIG_SQL_FORM_COMMIT, dialect->by_text ? dialect->commit : "COMMIT");
    if (schema->env->workload == RIG_WORKLOAD_PREDICATE)
        tell_rows(told, schema);
    else
        tell_actions(told, schema);
}

enum rig_rc rig_sql_program_statements(const struct rig_run_env *env, struct rig_statement_texts *texts,
                                       struct rig_err *err)
{
    const struct rig_sql_program_options *options = env->options;
    struct rig_sql_program_schema schema = {.said = NULL};
    const struct rig_sql_dialect_level *level = NULL;
    struct rig_sql_dialect_file *dialect = NULL;
    struct rig_sql_told told;
    char table[RIG_SQL_PROGRAM_TABLE_BYTES];
    enum rig_rc rc = rig_sql_dialect_load(options->dialect, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_find_level(dialect, options->isolation, &level, err);
    if (rc == RIG_OK)
        rc = rig_sql_program_schema_init(&schema, dialect, env, &options->sql, err);
    if (rc == RIG_OK) {
        rig_sql_program_schema_table(&schema, 0, table);
        if (rig_sql_told_init(&told, env, &options->sql, table, texts))
            tell_all(&told, &schema, dialect, level);
        rig_sql_told_done(&told);
    }
    rig_sql_program_schema_done(&schema);
    rig_sql_dialect_free(dialect);
    return rc;
}
