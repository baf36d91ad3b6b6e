/* The hook `preview` of drivers whose sessions a program carries: a dialect's statements with their values. */
#include <inttypes.h>
#include <string.h>

#include "drivers/sql/program_statement.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_preview.h"

/* One value in the place of each ?; a text between quotes. */
static void show_said(struct rig_sql_preview *preview, const struct rig_sql_said *said,
                      const struct rig_sql_values *values)
{
    struct rig_buf sql;
    uint32_t number = 0;
    rig_buf_init(&sql, 0);
    for (const char *at = said->text; *at != '\0'; at++) {
        if (*at != '?' || number == said->value_count) {
            rig_buf_add_char(&sql, *at);
            continue;
        }
        if (said->types[number] != 't')
            rig_buf_add_int(&sql, values->numbers[said->values[number]]);
        else
            rig_buf_printf(&sql, "'%s'", said->values[number] == RIG_SQL_SAID_ELEMENT ? values->element : "");
        number++;
    }
    rig_sql_preview_say(preview, rig_buf_text(&sql));
    rig_buf_done(&sql);
}

/* A write that changes no row is followed by an insertion. */
static void show_put(struct rig_sql_preview *preview, const struct rig_sql_program_schema *schema,
                     enum rig_sql_dialect_statement which, enum rig_sql_dialect_statement first,
                     const struct rig_sql_values *values)
{
    const int64_t key = values->numbers[RIG_SQL_SAID_KEY];
    show_said(preview, rig_sql_program_schema_say(schema, key, which), values);
    preview->show(preview->context, "-- and where that changed no row:\n");
    show_said(preview, rig_sql_program_schema_say(schema, key, first), values);
}

static void show_random(struct rig_sql_preview *preview, const struct rig_sql_program_schema *schema, uint32_t op)
{
    const enum rig_sql_random_dialect dialect = rig_sql_program_random_dialect(schema->dialect);
    const uint32_t parts = rig_sql_random_parts(dialect, &preview->transaction, op);
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    for (uint32_t part = 0; part < parts; part++) {
        rig_buf_clear(&sql);
        rig_sql_program_random_print(schema, &preview->transaction, op, part, &sql);
        rig_sql_preview_say(preview, rig_buf_text(&sql));
    }
    rig_buf_done(&sql);
}

static void show_operation(struct rig_sql_preview *preview, const struct rig_sql_program_schema *schema, uint32_t op)
{
    const enum rig_workload workload = schema->env->workload;
    enum rig_sql_dialect_statement which = RIG_SQL_SAYS_READ, first = RIG_SQL_SAYS_WRITE_FIRST;
    char element[1 + RIG_SQL_INT_BYTES] = ",";
    struct rig_sql_numbers numbers;
    struct rig_sql_values values = {.element = element};
    if (workload == RIG_WORKLOAD_SQL) {
        show_random(preview, schema, op);
        return;
    }
    const enum rig_sql_action action =
        rig_sql_action_of(workload, schema->options->lock_reads, &preview->transaction, op, &numbers);
    (void)rig_sql_int_print(numbers.value, element + 1);
    values.numbers[RIG_SQL_SAID_KEY] = numbers.key;
    values.numbers[RIG_SQL_SAID_VALUE] = numbers.value;
    values.numbers[RIG_SQL_SAID_EXPECTED] = numbers.expected;
    if (action == RIG_SQL_NOTHING)
        return;
    if (action == RIG_SQL_PUT) {
        rig_sql_program_put_of(workload, &which, &first);
        show_put(preview, schema, which, first, &values);
        return;
    }
    if (action == RIG_SQL_EXTEND) {
        show_put(preview, schema, RIG_SQL_SAYS_EXTEND, first, &values);
        return;
    }
    static const enum rig_sql_dialect_statement of[] = {[RIG_SQL_READ] = RIG_SQL_SAYS_READ,
                                                        [RIG_SQL_READ_LOCKED] = RIG_SQL_SAYS_READ_LOCKED,
                                                        [RIG_SQL_REPLACE] = RIG_SQL_SAYS_WRITE,
                                                        [RIG_SQL_COMPARE] = RIG_SQL_SAYS_COMPARE,
                                                        [RIG_SQL_TAKE] = RIG_SQL_SAYS_LOOK};
    which = action == RIG_SQL_COMPARE ? rig_sql_program_compare_of(workload) : of[action];
    show_said(preview, rig_sql_program_schema_say(schema, numbers.key, which), &values);
}

static enum rig_rc show_all(struct rig_sql_preview *preview, const struct rig_sql_dialect_file *dialect,
                            const struct rig_run_env *env, const struct rig_sql_program_options *options,
                            struct rig_err *err)
{
    struct rig_sql_program_schema schema = {.said = NULL};
    const struct rig_sql_dialect_level *level = NULL;
    struct rig_buf begin;
    rig_buf_init(&begin, 0);
    enum rig_rc rc = rig_sql_dialect_find_level(dialect, options->isolation, &level, err);
    if (rc == RIG_OK)
        rc = rig_sql_program_schema_init(&schema, dialect, env, &options->sql, err);
    if (rc == RIG_OK && dialect->begin != NULL) {
        rig_sql_dialect_add_level(dialect->begin, level, &begin);
        rig_sql_preview_say(preview, rig_buf_text(&begin));
    }
    for (uint32_t op = 0; rc == RIG_OK && op < preview->transaction.op_count; op++)
        show_operation(preview, &schema, op);
    if (rc == RIG_OK)
        rig_sql_preview_say(preview, dialect->by_text ? dialect->commit : "COMMIT");
    rig_sql_program_schema_done(&schema);
    rig_buf_done(&begin);
    return rc;
}

enum rig_rc rig_sql_program_preview(const void *object, enum rig_workload workload,
                                    const struct rig_transaction *transaction,
                                    void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    const struct rig_sql_program_options *options = object;
    const struct rig_run_env env = {.options = options, .workload = workload, .run_name = RIG_SQL_PREVIEW_RUN};
    struct rig_sql_dialect_file *dialect = NULL;
    struct rig_sql_preview preview;
    if (workload == RIG_WORKLOAD_PREDICATE)
        return rig_fail(err, RIG_E_USAGE,
                        "--requests: statements of the workload predicate depend on answers in this driver");
    enum rig_rc rc = rig_sql_preview_init(&preview, transaction, show, context, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_load(options->dialect, &dialect, err);
    if (rc == RIG_OK)
        rc = show_all(&preview, dialect, &env, options, err);
    rig_sql_dialect_free(dialect);
    rig_sql_preview_done(&preview);
    return rc;
}
