/*
 * Requests to a program and their answers, scripts of the run's own, and the check before the load (program_turn.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sql/program_turn.h"

enum { ROW_VALUES = 64, SHORT_TEXT_BYTES = 4000, LONG_TEXT_BYTES = 1000000 };

/* ---- one request ---- */

static void note_event(struct rig_sql_program_connection *connection, enum rig_line_end end,
                       struct rig_sql_program_request *request)
{
    static const char *const events[] = {[RIG_LINE_DONE] = RIG_SQL_PROTOCOL,
                                         [RIG_LINE_ENDED] = RIG_SQL_LOST,
                                         [RIG_LINE_TIMEOUT] = RIG_SQL_TIMEOUT,
                                         [RIG_LINE_INTERRUPTED] = RIG_SQL_INTERRUPTED,
                                         [RIG_LINE_TOO_LARGE] = RIG_SQL_PROTOCOL};
    (void)snprintf(request->event, sizeof request->event, "%s", events[end]);
    if (end == RIG_LINE_ENDED || end == RIG_LINE_TOO_LARGE)
        rig_sql_link_tell_end(&connection->link, request->text, sizeof request->text);
    else
        (void)snprintf(request->text, sizeof request->text, "%s",
                       end == RIG_LINE_TIMEOUT ? "the program did not answer in time" : "the run is ending");
    /* A request of which nothing was sent leaves the session as it was. */
    connection->lost = connection->lost || request->sent || end == RIG_LINE_ENDED || end == RIG_LINE_TOO_LARGE;
}

static void note_error(struct rig_sql_program_connection *connection, const json_t *answer, const json_t *error,
                       struct rig_sql_program_request *request)
{
    const char *state = json_string_value(json_object_get(error, "state"));
    const char *text = json_string_value(json_object_get(error, "text"));
    const json_t *code = json_object_get(error, "code");
    request->refused = true;
    rig_sql_one_line(request->state, sizeof request->state, state == NULL ? "" : state);
    rig_sql_one_line(request->text, sizeof request->text, text == NULL ? "an error without a text" : text);
    request->code = json_is_integer(code) ? json_integer_value(code) : 0;
    connection->lost = connection->lost || json_is_false(json_object_get(answer, "alive"));
}

static void note_times(struct rig_sql_program_connection *connection, const json_t *answer)
{
    const int64_t start_ns = json_integer_value(json_object_get(answer, "start"));
    const int64_t end_ns = json_integer_value(json_object_get(answer, "end"));
    if (json_is_true(json_object_get(answer, "skipped")))
        return;
    if (connection->began_ns == 0)
        connection->began_ns = start_ns;
    connection->ended_ns = end_ns;
}

bool rig_sql_program_send(struct rig_sql_program_connection *connection, struct rig_json_writer *writer,
                          struct rig_sql_program_request *request)
{
    *request = (struct rig_sql_program_request){.answer = NULL};
    const enum rig_line_end end = rig_sql_link_send(&connection->link, writer, &connection->patience, &request->sent);
    if (end != RIG_LINE_DONE)
        note_event(connection, end, request);
    return end == RIG_LINE_DONE;
}

bool rig_sql_program_take(struct rig_sql_program_connection *connection, struct rig_sql_program_request *request)
{
    json_t *answer = NULL;
    *request = (struct rig_sql_program_request){.sent = true};
    const enum rig_line_end end = rig_sql_link_take(&connection->link, &connection->patience, &answer);
    if (end != RIG_LINE_DONE) {
        note_event(connection, end, request);
        return false;
    }
    note_times(connection, answer);
    const json_t *error = json_object_get(answer, "error");
    if (error == NULL) {
        request->answer = answer;
        return true;
    }
    note_error(connection, answer, error, request);
    json_decref(answer);
    return false;
}

bool rig_sql_program_exchange(struct rig_sql_program_connection *connection, struct rig_json_writer *writer,
                              struct rig_sql_program_request *request)
{
    return rig_sql_program_send(connection, writer, request) && rig_sql_program_take(connection, request);
}

/* ---- scripts ---- */

static enum rig_rc refuse(const struct rig_sql_dialect_file *dialect, const struct rig_sql_program_request *request,
                          const char *sql, size_t length, struct rig_err *err)
{
    return rig_fail(err, RIG_E_CLUSTER, "%s: `%.*s`: %s%s%s", dialect->product, (int)(length < 200 ? length : 200), sql,
                    request->state, request->state[0] == '\0' ? "" : " ", request->text);
}

static enum rig_rc tell_rows(const json_t *rows, rig_sql_tell tell, void *context, struct rig_err *err)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *values[ROW_VALUES];
        const size_t count = json_array_size(row);
        if (!json_is_array(row) || count > ROW_VALUES)
            return rig_fail(err, RIG_E_CLUSTER, "a program's answer has a row of more than %d cells, or no row",
                            (int)ROW_VALUES);
        for (size_t k = 0; k < count; k++)
            values[k] = json_string_value(json_array_get(row, k));
        tell(context, values, (uint32_t)count);
    }
    return RIG_OK;
}

static enum rig_rc run_one(struct rig_sql_program_connection *connection, const struct rig_sql_dialect_file *dialect,
                           const char *sql, size_t length, rig_sql_tell tell, void *context, struct rig_err *err)
{
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    char *text = strndup(sql, length);
    if (text == NULL)
        return rig_no_memory(err, "a statement");
    rig_sql_link_begin(&connection->link, &writer);
    rig_json_string(&writer, "sql", text);
    free(text);
    if (!rig_sql_program_exchange(connection, &writer, &request))
        return refuse(dialect, &request, sql, length, err);
    const json_t *rows = json_object_get(request.answer, "rows");
    const enum rig_rc rc = tell == NULL || rows == NULL ? RIG_OK : tell_rows(rows, tell, context, err);
    json_decref(request.answer);
    return rc;
}

/* Ends the transaction that a library has opened. */
static enum rig_rc end_library(struct rig_sql_program_connection *connection,
                               const struct rig_sql_dialect_file *dialect, const char *how, struct rig_err *err)
{
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    if (dialect->by_text)
        return RIG_OK;
    rig_sql_link_begin(&connection->link, &writer);
    rig_json_bool(&writer, how, true);
    if (!rig_sql_program_exchange(connection, &writer, &request))
        return refuse(dialect, &request, how, strlen(how), err);
    json_decref(request.answer);
    return RIG_OK;
}

enum rig_rc rig_sql_program_script(struct rig_sql_program_connection *connection,
                                   const struct rig_sql_dialect_file *dialect, const char *script, rig_sql_tell tell,
                                   void *context, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK) {
        script += strspn(script, " ;");
        const size_t length = strcspn(script, ";");
        if (length == 0)
            break;
        rc = run_one(connection, dialect, script, length, tell, context, err);
        if (rc == RIG_OK)
            rc = end_library(connection, dialect, "commit", err);
        script += length;
    }
    if (rc != RIG_OK && !connection->lost) {
        struct rig_err ignored = {0};
        (void)end_library(connection, dialect, "rollback", &ignored);
    }
    return rc;
}

/* ---- the check before the load ---- */

struct canary {
    const struct rig_sql_program_run *run;
    struct rig_sql_program_connection *connection;
    char table[96];
};

/* A statement with values as those of the load. */
static enum rig_rc run_bound(const struct canary *canary, const char *format, const char *types,
                             const char *const *values, json_t **rows, struct rig_err *err)
{
    const struct rig_sql_dialect_file *dialect = canary->run->dialect;
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    struct rig_buf sql;
    uint32_t next = 0;
    rig_buf_init(&sql, 0);
    for (const char *at = format; *at != '\0'; at++) {
        if (*at == '@')
            rig_buf_add_text(&sql, canary->table);
        else if (*at == '?' && dialect->literal && values[next] != NULL)
            rig_buf_printf(&sql, types[next] == 't' ? "'%s'" : "%s", values[next]), next++;
        else if (*at == '?' && dialect->literal)
            rig_buf_add_text(&sql, "NULL"), next++;
        else
            rig_buf_add_char(&sql, *at);
    }
    rig_sql_link_begin(&canary->connection->link, &writer);
    rig_json_string(&writer, "sql", rig_buf_text(&sql));
    if (!dialect->literal && types[0] != '\0') {
        rig_json_string(&writer, "types", types);
        rig_json_begin_array(&writer, "args");
        for (uint32_t i = 0; types[i] != '\0'; i++)
            rig_json_text(&writer, NULL, values[i]);
        rig_json_end(&writer);
    }
    enum rig_rc rc = RIG_OK;
    if (rig_sql_program_exchange(canary->connection, &writer, &request))
        *rows = json_incref(json_object_get(request.answer, "rows"));
    else
        rc = refuse(dialect, &request, rig_buf_text(&sql), sql.size, err);
    json_decref(request.answer);
    rig_buf_done(&sql);
    return rc;
}

/* Writes a value into a row of its own, and reads it back. */
static enum rig_rc check_value(const struct canary *canary, const char *column, char type, const char *key,
                               const char *value, struct rig_err *err)
{
    const char *const values[] = {key, value};
    const char types[] = {'i', type, '\0'};
    char insert[96], read[96];
    json_t *rows = NULL;
    (void)snprintf(insert, sizeof insert, "INSERT INTO @ (k, %s) VALUES (?, ?)", column);
    (void)snprintf(read, sizeof read, "SELECT %s FROM @ WHERE k = ?", column);
    enum rig_rc rc = run_bound(canary, insert, types, values, &rows, err);
    json_decref(rows);
    rows = NULL;
    if (rc == RIG_OK)
        rc = run_bound(canary, read, "i", &key, &rows, err);
    const json_t *cell = json_array_get(json_array_get(rows, 0), 0);
    const char *got = json_string_value(cell);
    const bool same =
        json_array_size(rows) == 1 && (value == NULL ? json_is_null(cell) : got != NULL && strcmp(got, value) == 0);
    if (rc == RIG_OK && !same)
        rc = rig_fail(
            err, RIG_E_CLUSTER,
            "%s does not give back what was written: %.40s (%zu characters) came back as %.40s; the library or its "
            "driver changes values%s",
            canary->run->dialect->product, value == NULL ? "NULL" : value, value == NULL ? 0 : strlen(value),
            got != NULL                  ? got
            : json_array_size(rows) == 0 ? "no row"
            : json_is_null(cell)         ? "NULL"
                                         : "what is no text",
            canary->run->dialect->literal ? "" : "; `values: literal` in the dialect writes them into the statements");
    json_decref(rows);
    return rc;
}

/* A type with a length may take no more, nor a statement with the text in it. */
static size_t long_text_bytes(const struct canary *canary)
{
    const struct rig_sql_dialect_file *dialect = canary->run->dialect;
    const bool takes_long = strchr(dialect->text, '(') == NULL && !dialect->literal;
    return takes_long && canary->run->options->sql.max_answer_bytes > 2 * LONG_TEXT_BYTES ? LONG_TEXT_BYTES
                                                                                          : SHORT_TEXT_BYTES;
}

static enum rig_rc check_values(const struct canary *canary, struct rig_err *err)
{
    const size_t length = long_text_bytes(canary);
    char *text = malloc(length + 1);
    if (text == NULL)
        return rig_no_memory(err, "a text");
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(i % 5 == 0 ? ',' : '0' + (int)(i % 10));
    text[length] = '\0';
    enum rig_rc rc = check_value(canary, "v", 'i', "1", "9007199254740993", err);
    if (rc == RIG_OK)
        rc = check_value(canary, "v", 'i', "2", "9223372036854775807", err);
    if (rc == RIG_OK)
        rc = check_value(canary, "v", 'i', "3", "-9223372036854775807", err);
    if (rc == RIG_OK)
        rc = check_value(canary, "v", 'i', "4", NULL, err);
    if (rc == RIG_OK)
        rc = check_value(canary, "x", 't', "5", ",7,-12", err);
    if (rc == RIG_OK)
        rc = check_value(canary, "x", 't', "6", text, err);
    free(text);
    return rc;
}

/* A row that is rolled back is gone, and a row that is changed is counted. */
static enum rig_rc check_rollback(const struct canary *canary, struct rig_err *err)
{
    const struct rig_sql_dialect_file *dialect = canary->run->dialect;
    const char *const values[] = {"7", "7"};
    json_t *rows = NULL;
    struct rig_buf begin;
    rig_buf_init(&begin, 0);
    enum rig_rc rc = RIG_OK;
    if (dialect->by_text) {
        rig_sql_dialect_add_level(dialect->begin, canary->run->level, &begin);
        rc = run_bound(canary, rig_buf_text(&begin), "", NULL, &rows, err);
    }
    rig_buf_done(&begin);
    json_decref(rows);
    rows = NULL;
    if (rc == RIG_OK)
        rc = run_bound(canary, "INSERT INTO @ (k, v) VALUES (?, ?)", "ii", values, &rows, err);
    json_decref(rows);
    rows = NULL;
    if (rc == RIG_OK && dialect->by_text)
        rc = run_bound(canary, dialect->rollback, "", NULL, &rows, err);
    else if (rc == RIG_OK)
        rc = end_library(canary->connection, dialect, "rollback", err);
    json_decref(rows);
    rows = NULL;
    if (rc == RIG_OK)
        rc = run_bound(canary, "SELECT k FROM @ WHERE k = ?", "i", values, &rows, err);
    if (rc == RIG_OK && json_array_size(rows) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "%s kept a row after ROLLBACK: the session commits each statement, or the table's engine has no "
                      "transactions",
                      dialect->product);
    json_decref(rows);
    return rc == RIG_OK ? end_library(canary->connection, dialect, "rollback", err) : rc;
}

enum rig_rc rig_sql_program_canary(const struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                                   struct rig_err *err)
{
    const struct rig_sql_dialect_file *dialect = run->dialect;
    struct canary canary = {.run = run, .connection = connection};
    char sql[512];
    const size_t length = strlen(run->sql.env->run_name);
    (void)snprintf(canary.table, sizeof canary.table, "r%s_check",
                   run->sql.env->run_name + (length > 8 ? length - 8 : 0));
    (void)snprintf(sql, sizeof sql, "CREATE TABLE %s (k %s NOT NULL PRIMARY KEY, v %s, x %s)", canary.table,
                   dialect->integer, dialect->integer, dialect->text);
    enum rig_rc rc = rig_sql_program_script(connection, dialect, sql, NULL, NULL, err);
    if (rc != RIG_OK)
        return rc;
    rc = check_values(&canary, err);
    if (rc == RIG_OK)
        rc = end_library(connection, dialect, "commit", err);
    if (rc == RIG_OK)
        rc = check_rollback(&canary, err);
    struct rig_err ignored = {0};
    if (rc != RIG_OK && !connection->lost)
        (void)end_library(connection, dialect, "rollback", &ignored);
    (void)snprintf(sql, sizeof sql, "DROP TABLE %s", canary.table);
    if (!connection->lost)
        (void)rig_sql_program_script(connection, dialect, sql, NULL, NULL, rc == RIG_OK ? err : &ignored);
    return rc;
}
