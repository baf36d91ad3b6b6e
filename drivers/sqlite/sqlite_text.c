#include "drivers/sqlite/sqlite_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sql/sql_run.h"
#include "drivers/sqlite/sqlite_outcome.h"

enum { NS_PER_MS = 1000000, COLUMNS_MOST = 2000 };

static const int64_t default_busy_ns = INT64_C(5000000000); /* as the table of options says */

uint32_t rig_sqlite_text_busy_ms(const struct rig_sqlite_run *run)
{
    const struct rig_text_env *texts = run->sql.env->texts;
    const int64_t busy_ns = run->options->busy_timeout_ns;
    return (uint32_t)((texts != NULL && busy_ns == default_busy_ns ? texts->lock_wait_ns : busy_ns) / NS_PER_MS);
}

/* ---- the space ---- */

static void add_quoted(struct rig_buf *sql, const char *name)
{
    rig_buf_add_char(sql, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            rig_buf_add_char(sql, '"');
        rig_buf_add_char(sql, *name);
    }
    rig_buf_add_char(sql, '"');
}

static void add_removal(void *context, const char *const *values, uint32_t count)
{
    struct rig_buf *sql = context;
    if (count != 2)
        return;
    rig_buf_printf(sql, "DROP %s IF EXISTS ", values[0]);
    add_quoted(sql, values[1]);
    rig_buf_add_text(sql, "; ");
}

static enum rig_rc clear(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_buf sql;
    rig_buf_init(&sql, 1 << 20);
    rig_buf_add_text(&sql, "PRAGMA foreign_keys = 0; ");
    /* Views first: they name tables. Triggers and indexes go with their tables. */
    enum rig_rc rc = rig_sql_own_query(own,
                                       "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name "
                                       "NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, rowid DESC",
                                       add_removal, &sql, err);
    if (rc == RIG_OK)
        rc = sql.failed ? rig_no_memory(err, "the tables of a scenario")
                        : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

/* ---- answers ---- */

/* Texts of an answer do not end with a NUL: copies of a row's do, one after the other. */
struct row {
    struct rig_buf texts;
    size_t starts[COLUMNS_MOST];
    struct rig_text_cell cells[COLUMNS_MOST];
};

static bool read_row(struct row *row, struct rig_sqlite_cursor *cursor, uint32_t count)
{
    static const enum rig_text_kind kinds[] = {[RIG_SQLITE_NULL] = RIG_TEXT_NULL,
                                               [RIG_SQLITE_INTEGER] = RIG_TEXT_INTEGER,
                                               [RIG_SQLITE_TEXT] = RIG_TEXT_OTHER,
                                               [RIG_SQLITE_REAL] = RIG_TEXT_REAL};
    rig_buf_clear(&row->texts);
    for (uint32_t i = 0; i < count; i++) {
        struct rig_sqlite_cell cell;
        if (!rig_sqlite_next_cell(cursor, &cell))
            return false;
        row->starts[i] = row->texts.size;
        if (cell.kind == RIG_SQLITE_INTEGER)
            rig_buf_add_int(&row->texts, cell.number);
        else if (cell.length > 0)
            rig_buf_add(&row->texts, cell.text, cell.length);
        row->cells[i] = (struct rig_text_cell){.kind = kinds[cell.kind], .length = row->texts.size - row->starts[i]};
        rig_buf_add(&row->texts, "", 1);
    }
    for (uint32_t i = 0; i < count && !row->texts.failed; i++)
        row->cells[i].text = row->cells[i].kind == RIG_TEXT_NULL ? NULL : row->texts.data + row->starts[i];
    return !row->texts.failed;
}

static bool give_rows(const struct rig_sqlite_link *link, struct rig_text_answer *answer)
{
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    struct rig_sqlite_rows rows;
    if (!rig_sqlite_next_rows(&cursor, &rows) || rows.column_count > COLUMNS_MOST)
        return false;
    struct row *row = calloc(1, sizeof *row);
    const char **names = calloc(rows.column_count + 1, sizeof *names);
    bool good = row != NULL && names != NULL, goes_on = true;
    if (row != NULL)
        rig_buf_init(&row->texts, 0);
    answer->has_rows = true;
    good = good && read_row(row, &cursor, rows.column_count);
    for (uint32_t i = 0; good && i < rows.column_count; i++)
        names[i] = row->cells[i].text;
    if (good && answer->columns != NULL)
        goes_on = answer->columns(answer->context, names, rows.column_count);
    for (uint32_t i = 0; good && goes_on && i < rows.row_count; i++) {
        good = read_row(row, &cursor, rows.column_count);
        if (good && answer->row != NULL)
            goes_on = answer->row(answer->context, row->cells, rows.column_count);
    }
    if (row != NULL)
        rig_buf_done(&row->texts);
    free(row);
    free(names);
    return good;
}

static void fail_wait(struct rig_sqlite_link *link, enum rig_sqlite_wait wait, struct rig_text_answer *answer)
{
    static const char *const codes[] = {[RIG_SQLITE_ANSWERED] = RIG_SQL_PROTOCOL,
                                        [RIG_SQLITE_GONE] = RIG_SQL_LOST,
                                        [RIG_SQLITE_LATE] = RIG_SQL_TIMEOUT,
                                        [RIG_SQLITE_WOKEN] = RIG_SQL_INTERRUPTED};
    (void)rig_sqlite_link_give_up(link); /* a wait for a lock ends then */
    rig_sql_text_fail(answer, &rig_sqlite_outcomes, codes[wait], NULL, 0, "no answer that rig could wait for", true);
}

static void execute(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer)
{
    struct rig_sqlite_link *link = rig_sqlite_link_of(session->main);
    const struct rig_sqlite_patience patience = {
        .core = session->run->env->core, .deadline_ns = deadline_ns, .wake = &session->waiter.wake};
    rig_sqlite_link_open_transaction(link);
    rig_sqlite_link_begin(link, RIG_SQLITE_ANY);
    rig_buf_add(&link->question, sql, strlen(sql) + 1);
    const enum rig_sqlite_wait wait = rig_sqlite_link_ask(link, &patience);
    if (wait != RIG_SQLITE_ANSWERED) {
        fail_wait(link, wait, answer);
        return;
    }
    if (link->answer.code != 0) {
        answer->ended = false;
        rig_sql_text_fail(answer, &rig_sqlite_outcomes, rig_sqlite_code_name(link->answer.code), NULL,
                          link->answer.code, link->answer.text, false);
    } else if (link->answer.step_count > 0) {
        if (!give_rows(link, answer))
            fail_wait(link, RIG_SQLITE_ANSWERED, answer);
    } else if (rig_sql_text_changes_rows(sql)) {
        answer->count = link->answer.changed;
    }
}

/* ---- waits ---- */

static bool look(struct rig_sql_session *watch, struct rig_sql_session *const *sessions, uint32_t count,
                 struct rig_text_wait *waits)
{
    (void)watch;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_sqlite_link *link = rig_sqlite_link_of(sessions[i]->main);
        const uint32_t attempts = link->page == NULL ? 0 : atomic_load(&link->page->attempts);
        waits[i] = (struct rig_text_wait){.kind = attempts > 0 ? RIG_TEXT_WAITS : RIG_TEXT_RUNS, .attempts = attempts};
    }
    return true;
}

const struct rig_sql_texts rig_sqlite_texts = {.clear = clear, .execute = execute, .look = look};
