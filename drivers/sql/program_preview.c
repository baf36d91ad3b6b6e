/* The hook `preview` of drivers whose sessions a program carries, for the workload sql: its statements have no
 * forms. */
#include "drivers/sql/program_client.h"
#include "drivers/sql/program_schema.h"
#include "drivers/sql/random_sql.h"

struct showing {
    void (*show)(void *context, const char *text);
    void *context;
};

static void show_line(const struct showing *showing, struct rig_buf *sql)
{
    rig_buf_add_text(sql, ";\n");
    showing->show(showing->context, rig_buf_text(sql));
    rig_buf_clear(sql);
}

static void show_all(const struct showing *showing, const struct rig_sql_program_schema *schema,
                     const struct rig_sql_dialect_level *level, const struct rig_transaction *transaction)
{
    const struct rig_sql_dialect_file *dialect = schema->dialect;
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    if (dialect->begin != NULL) {
        rig_sql_dialect_add_level(dialect->begin, level, &sql);
        show_line(showing, &sql);
    }
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        const uint32_t parts = rig_sql_random_parts(rig_sql_program_random_dialect(dialect), transaction, op);
        for (uint32_t part = 0; part < parts; part++) {
            rig_sql_program_random_print(schema, transaction, op, part, &sql);
            show_line(showing, &sql);
        }
    }
    if (transaction->rolls_back)
        rig_buf_add_text(&sql, dialect->by_text ? dialect->rollback : "ROLLBACK");
    else
        rig_buf_add_text(&sql, dialect->by_text ? dialect->commit : "COMMIT");
    show_line(showing, &sql);
    showing->show(showing->context, "\n");
    rig_buf_done(&sql);
}

enum rig_rc rig_sql_program_preview(const void *object, enum rig_workload workload,
                                    const struct rig_transaction *transaction,
                                    void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    const struct rig_sql_program_options *options = object;
    const struct rig_run_env env = {.options = options, .workload = workload, .run_name = "rig_run"};
    const struct showing showing = {.show = show, .context = context};
    struct rig_sql_program_schema schema = {.said = NULL};
    const struct rig_sql_dialect_level *level = NULL;
    struct rig_sql_dialect_file *dialect = NULL;
    if (workload != RIG_WORKLOAD_SQL)
        return rig_fail(err, RIG_E_USAGE, "--requests: the statements of this workload have forms");
    enum rig_rc rc = rig_sql_dialect_load(options->dialect, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_find_level(dialect, options->isolation, &level, err);
    if (rc == RIG_OK)
        rc = rig_sql_program_schema_init(&schema, dialect, &env, &options->sql, err);
    if (rc == RIG_OK)
        show_all(&showing, &schema, level, transaction);
    rig_sql_program_schema_done(&schema);
    rig_sql_dialect_free(dialect);
    return rc;
}
