#include "drivers/sql/program_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "drivers/sql/program_turn.h"

static struct rig_sql_program_connection *connection_of(struct rig_sql_session *session)
{
    return (struct rig_sql_program_connection *)session->main;
}

/* ---- answers ---- */

static void take_error(const struct rig_sql_program_run *run, const struct rig_sql_program_connection *connection,
                       const struct rig_sql_program_request *request, struct rig_text_answer *answer)
{
    const struct rig_sql_outcomes *outcomes = &run->dialect->outcomes;
    const struct rig_sql_fault fault = {.state = request->state, .code = request->code, .text = request->text};
    const struct rig_sql_rule *rule = rig_sql_dialect_find_rule(run->dialect, &fault);
    char code[RIG_TEXT_CODE_BYTES];
    if (!request->refused) {
        rig_sql_text_fail(answer, outcomes, request->event, NULL, 0, request->text, true);
        return;
    }
    if (rule != NULL && rule->name != NULL)
        (void)snprintf(code, sizeof code, "%s", rule->name);
    else if (request->state[0] != '\0')
        (void)snprintf(code, sizeof code, "%s", request->state);
    else
        (void)snprintf(code, sizeof code, "%" PRId64, request->code);
    rig_sql_text_fail(answer, outcomes, code, request->state, request->code, request->text, connection->lost);
}

static bool give_row(const json_t *row, struct rig_text_cell *cells, size_t capacity, struct rig_text_answer *answer)
{
    const size_t count = json_array_size(row);
    if (count > capacity)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *cell = json_array_get(row, i);
        const char *text = json_string_value(cell);
        cells[i] = (struct rig_text_cell){
            .kind = text == NULL ? RIG_TEXT_NULL : RIG_TEXT_UNTYPED, .text = text, .length = json_string_length(cell)};
    }
    return answer->row == NULL || answer->row(answer->context, cells, (uint32_t)count);
}

static void take_answer(const json_t *told, const char *sql, struct rig_text_answer *answer)
{
    enum { COLUMNS_MOST = 1024 };
    const json_t *rows = json_object_get(told, "rows"), *count = json_object_get(told, "count");
    if (json_is_array(rows)) {
        struct rig_text_cell *cells = calloc(COLUMNS_MOST, sizeof *cells);
        bool goes_on = cells != NULL;
        answer->has_rows = true;
        if (goes_on && answer->columns != NULL)
            goes_on = answer->columns(answer->context, NULL, (uint32_t)json_array_size(json_array_get(rows, 0)));
        for (size_t i = 0; goes_on && i < json_array_size(rows); i++)
            goes_on = give_row(json_array_get(rows, i), cells, COLUMNS_MOST, answer);
        free(cells);
    } else if (json_is_integer(count) && json_integer_value(count) >= 0 && rig_sql_text_changes_rows(sql)) {
        answer->count = json_integer_value(count);
    }
}

/* ---- requests ---- */

static bool exchange(struct rig_sql_session *session, struct rig_json_writer *writer, const char *sql,
                     struct rig_text_answer *answer)
{
    struct rig_sql_program_connection *connection = connection_of(session);
    struct rig_sql_program_request request;
    if (!rig_sql_program_exchange(connection, writer, &request)) {
        take_error(rig_sql_program_run_of(session->run), connection, &request, answer);
        return false;
    }
    take_answer(request.answer, sql, answer);
    json_decref(request.answer);
    return true;
}

static bool send_text(struct rig_sql_session *session, const char *sql, struct rig_text_answer *answer)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&connection_of(session)->link, &writer);
    rig_json_string(&writer, "sql", sql);
    return exchange(session, &writer, sql, answer);
}

static bool send_end(struct rig_sql_session *session, const char *how, struct rig_text_answer *answer)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&connection_of(session)->link, &writer);
    rig_json_bool(&writer, how, true);
    return exchange(session, &writer, "", answer);
}

/* ---- transactions ---- */

/* The text without blanks at its ends, and without a semicolon, in other letters than `form`'s or not. */
static bool is_form(const char *sql, const char *form)
{
    const size_t length = strlen(form);
    sql += strspn(sql, " \t\r\n");
    return strncasecmp(sql, form, length) == 0 && sql[length + strspn(sql + length, " \t\r\n;")] == '\0';
}

static bool is_plain_begin(const char *sql)
{
    return is_form(sql, "begin") || is_form(sql, "start transaction") || is_form(sql, "begin transaction") ||
           is_form(sql, "begin work");
}

static void execute_text(struct rig_sql_session *session, const char *sql, struct rig_text_answer *answer)
{
    const struct rig_sql_program_run *run = rig_sql_program_run_of(session->run);
    const struct rig_sql_dialect_file *dialect = run->dialect;
    struct rig_buf begin;
    if (!is_plain_begin(sql) || dialect->begin == NULL) {
        (void)send_text(session, sql, answer);
        return;
    }
    rig_buf_init(&begin, 0);
    rig_sql_dialect_add_level(dialect->begin, run->level, &begin);
    (void)send_text(session, rig_buf_text(&begin), answer);
    rig_buf_done(&begin);
}

static void execute_by_library(struct rig_sql_session *session, const char *sql, struct rig_text_answer *answer)
{
    struct rig_sql_program_connection *connection = connection_of(session);
    char word[RIG_SQL_WORD_BYTES];
    rig_sql_text_word(sql, word);
    const bool commits = strcmp(word, "commit") == 0 || is_form(sql, "end");
    if (strcmp(word, "begin") == 0 || strcmp(word, "start") == 0) {
        connection->in_texts = true;
    } else if (commits || is_form(sql, "rollback") || is_form(sql, "rollback work")) {
        connection->in_texts = false;
        (void)send_end(session, commits ? "commit" : "rollback", answer);
    } else if (!connection->in_texts) {
        struct rig_text_answer ended = {.count = -1};
        const bool done = send_text(session, sql, answer);
        if (!connection->lost && !send_end(session, done ? "commit" : "rollback", &ended) && done) {
            rig_sql_text_fail(answer, &rig_sql_program_run_of(session->run)->dialect->outcomes, ended.code, ended.state,
                              ended.native, ended.text, ended.session_lost);
        }
    } else {
        (void)send_text(session, sql, answer);
    }
}

static void execute(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer)
{
    connection_of(session)->patience.deadline_ns = deadline_ns;
    answer->untagged = true;
    if (rig_sql_program_run_of(session->run)->dialect->by_text)
        execute_text(session, sql, answer);
    else
        execute_by_library(session, sql, answer);
}

const struct rig_sql_texts rig_sql_program_texts = {.execute = execute};
