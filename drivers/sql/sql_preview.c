#include "drivers/sql/sql_preview.h"

#include <stdlib.h>

enum rig_rc rig_sql_preview_init(struct rig_sql_preview *preview, const struct rig_transaction *transaction,
                                 void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    *preview = (struct rig_sql_preview){.transaction = *transaction, .show = show, .context = context};
    rig_buf_init(&preview->line, 0);
    preview->reads = calloc((size_t)transaction->op_count + 1, sizeof *preview->reads);
    if (preview->reads == NULL)
        return rig_no_memory(err, "the requests");
    for (uint32_t op = 0; op < transaction->op_count; op++)
        preview->reads[op].state = RIG_READ_NIL;
    preview->transaction.reads = preview->reads;
    return RIG_OK;
}

void rig_sql_preview_done(struct rig_sql_preview *preview)
{
    preview->show(preview->context, "\n");
    free(preview->reads);
    rig_buf_done(&preview->line);
}

static void show_line(struct rig_sql_preview *preview)
{
    rig_buf_add_text(&preview->line, ";\n");
    preview->show(preview->context, rig_buf_text(&preview->line));
    rig_buf_clear(&preview->line);
}

void rig_sql_preview_say(struct rig_sql_preview *preview, const char *sql)
{
    rig_buf_add_text(&preview->line, sql);
    show_line(preview);
}

void rig_sql_preview_bound(struct rig_sql_preview *preview, const char *sql, const int64_t *values, uint32_t count)
{
    for (const char *at = sql; *at != '\0'; at++) {
        const uint32_t number = at[0] == '?' && at[1] >= '1' && at[1] <= '9' ? (uint32_t)(at[1] - '0') : 0;
        if (number == 0 || number > count) {
            rig_buf_add_char(&preview->line, *at);
            continue;
        }
        rig_buf_add_int(&preview->line, values[number - 1]);
        at++;
    }
    show_line(preview);
}

void rig_sql_preview_savepoint(struct rig_sql_preview *preview, uint32_t op)
{
    const struct rig_rollback *rollback = &preview->transaction.rollback;
    if (!rig_rollback_wanted(rollback))
        return;
    if (op == rollback->from)
        rig_sql_preview_say(preview, "SAVEPOINT rig_savepoint");
    else if (op == rollback->to)
        rig_sql_preview_say(preview, "ROLLBACK TO SAVEPOINT rig_savepoint");
}
