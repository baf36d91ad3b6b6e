#include "drivers/sql/sql_told.h"

#include <string.h>

bool rig_sql_told_init(struct rig_sql_told *told, const struct rig_run_env *env, const struct rig_sql_options *options,
                       const char *table, struct rig_statement_texts *texts)
{
    *told = (struct rig_sql_told){.texts = texts, .table = table};
    rig_buf_init(&told->text, 0);
    if (env->rows != NULL || env->texts != NULL || env->workload == RIG_WORKLOAD_SQL)
        return false;
    texts->table_count = options->tables;
    texts->locks_some = options->lock_reads > 0 && options->lock_reads < 1;
    return true;
}

void rig_sql_told_done(struct rig_sql_told *told)
{
    rig_buf_done(&told->text);
}

void rig_sql_told_say(const struct rig_sql_told *told, enum rig_sql_form form, const char *text)
{
    told->texts->tell(told->texts->context, form, text);
}

void rig_sql_told_add(struct rig_sql_told *told, const char *sql, char mark, const uint8_t *order)
{
    const size_t name = strlen(told->table);
    if (told->text.size > 0)
        rig_buf_add_char(&told->text, '\n');
    while (*sql != '\0') {
        if (strncmp(sql, told->table, name) == 0) {
            rig_buf_add(&told->text, told->table, name - 1);
            rig_buf_add_text(&told->text, "$5");
            sql += name;
        } else if (order != NULL && *sql == '?') {
            rig_buf_printf(&told->text, "$%d", *order++ + 1);
            sql++;
        } else if (*sql == mark && sql[1] >= '1' && sql[1] <= '0' + RIG_SQL_PLACES) {
            rig_buf_add_char(&told->text, '$');
            sql++;
        } else {
            rig_buf_add_char(&told->text, *sql++);
        }
    }
}

void rig_sql_told_add_fallback(struct rig_sql_told *told)
{
    rig_buf_add_text(&told->text, "\n-- and where that changed no row:");
}

void rig_sql_told_end(struct rig_sql_told *told, enum rig_sql_form form)
{
    if (told->text.size > 0)
        rig_sql_told_say(told, form, rig_buf_text(&told->text));
    rig_buf_clear(&told->text);
}

void rig_sql_told_usual(const struct rig_sql_told *told)
{
    rig_sql_told_say(told, RIG_SQL_FORM_SAVEPOINT, "SAVEPOINT rig_savepoint");
    rig_sql_told_say(told, RIG_SQL_FORM_ROLLBACK_TO, "ROLLBACK TO SAVEPOINT rig_savepoint");
    rig_sql_told_say(told, RIG_SQL_FORM_COMMIT, "COMMIT");
}
