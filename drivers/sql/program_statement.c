#include "drivers/sql/program_statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

/* ---- requests ---- */

/* Fails the turn; an error of the database gets the mark of its rule in the place of its SQLSTATE, by which its row is
 * found. */
static void fail_request(struct rig_sql_turn *turn, const struct rig_sql_program_request *request)
{
    const struct rig_sql_dialect_file *dialect = rig_sql_turn_run(turn)->dialect;
    if (rig_sql_turn_connection(turn)->lost)
        turn->session_lost = true;
    if (!request->refused) {
        /* A request of which nothing left cannot have committed. */
        if (turn->phase == RIG_PHASE_COMMIT && !request->sent)
            turn->phase = RIG_PHASE_OPERATION;
        rig_sql_turn_fail(turn, turn->phase, request->event, request->text);
        return;
    }
    rig_sql_turn_own(turn)->refused = true;
    const struct rig_sql_fault fault = {.state = request->state, .code = request->code, .text = request->text};
    const struct rig_sql_rule *rule = rig_sql_dialect_find_rule(dialect, &fault);
    char code[24];
    (void)snprintf(code, sizeof code, "%" PRId64, request->code);
    if (!turn->failed && rule != NULL)
        rig_sql_rule_mark(dialect, rule, turn->state);
    const bool by_code = rule != NULL && rule->state == NULL && rule->code != 0;
    rig_sql_turn_fail(turn, turn->phase,
                      rule != NULL && rule->name != NULL ? rule->name
                      : by_code                          ? code
                      : request->state[0] != '\0'        ? request->state
                      : request->code != 0               ? code
                                                         : "error",
                      request->text);
}

/* Takes an answer that has no rows. A COMMIT with a warning may be on this server alone: its fate is unknown. */
bool rig_sql_turn_take_done(struct rig_sql_turn *turn)
{
    struct rig_sql_program_request request;
    bool answered = rig_sql_program_take(rig_sql_turn_connection(turn), &request);
    if (!answered)
        fail_request(turn, &request);
    const char *warning = json_string_value(json_object_get(request.answer, "warning"));
    if (turn->phase == RIG_PHASE_COMMIT && warning != NULL && warning[0] != '\0') {
        rig_sql_turn_fail(turn, RIG_PHASE_COMMIT, "warning", warning);
        answered = false;
    }
    json_decref(request.answer);
    return answered;
}

bool rig_sql_turn_send_out(struct rig_sql_turn *turn, struct rig_json_writer *writer)
{
    struct rig_sql_program_request request;
    if (rig_sql_program_send(rig_sql_turn_connection(turn), writer, &request))
        return true;
    fail_request(turn, &request);
    return false;
}

static bool send_request(struct rig_sql_turn *turn, struct rig_json_writer *writer)
{
    return rig_sql_turn_send_out(turn, writer) && rig_sql_turn_take_done(turn);
}

/* A text without values. */
bool rig_sql_turn_send_text(struct rig_sql_turn *turn, const char *sql)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&rig_sql_turn_connection(turn)->link, &writer);
    rig_json_string(&writer, "sql", sql);
    return send_request(turn, &writer);
}

/* A transaction's end by the program's library. */
bool rig_sql_turn_send_end(struct rig_sql_turn *turn, const char *how)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&rig_sql_turn_connection(turn)->link, &writer);
    rig_json_bool(&writer, how, true);
    return send_request(turn, &writer);
}

static void write_value(struct rig_json_writer *writer, const struct rig_sql_said *said, uint32_t i,
                        const struct rig_sql_values *values)
{
    char number[RIG_SQL_INT_BYTES];
    if (said->types[i] == 't') {
        rig_json_string(writer, NULL, said->values[i] == RIG_SQL_SAID_REST ? values->rest : values->element);
        return;
    }
    (void)rig_sql_int_print(values->numbers[said->values[i]], number);
    rig_json_string(writer, NULL, number);
}

/* Some parsers refuse `v + -1`, and some the lowest number. */
static void write_literal_number(struct rig_buf *sql, int64_t number)
{
    if (number == INT64_MIN)
        rig_buf_printf(sql, "(-%" PRId64 " - 1)", INT64_MAX);
    else
        rig_buf_printf(sql, number < 0 ? "(%" PRId64 ")" : "%" PRId64, number);
}

/* The statement with its values written in. Texts consist of digits, signs and commas. */
static void write_literal(struct rig_json_writer *writer, const struct rig_sql_said *said,
                          const struct rig_sql_values *values)
{
    struct rig_buf sql;
    uint32_t next = 0;
    rig_buf_init(&sql, 0);
    for (const char *at = said->text; *at != '\0'; at++) {
        if (*at != '?') {
            rig_buf_add_char(&sql, *at);
            continue;
        }
        RIG_INVARIANT(next < said->value_count);
        const uint8_t value = said->values[next];
        if (said->types[next] == 't')
            rig_buf_printf(&sql, "'%s'", value == RIG_SQL_SAID_REST ? values->rest : values->element);
        else
            write_literal_number(&sql, values->numbers[value]);
        next++;
    }
    rig_json_string(writer, "sql", rig_buf_text(&sql));
    rig_buf_done(&sql);
}

void rig_sql_turn_write_said(const struct rig_sql_turn *turn, struct rig_json_writer *writer,
                             const struct rig_sql_said *said, const struct rig_sql_values *values)
{
    if (rig_sql_turn_run(turn)->dialect->literal || said->quoted == NULL) {
        write_literal(writer, said, values);
        return;
    }
    rig_json_plain(writer, "sql", said->quoted);
    rig_json_string(writer, "types", said->types);
    rig_json_begin_array(writer, "args");
    for (uint32_t i = 0; i < said->value_count; i++)
        write_value(writer, said, i, values);
    rig_json_end(writer);
}

/* Runs a statement, or takes the answer of one that was sent ahead; NULL, and the turn failed, when there is no answer.
 * */
json_t *rig_sql_turn_run_said(struct rig_sql_turn *turn, const struct rig_sql_said *said,
                              const struct rig_sql_values *values)
{
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    struct rig_sql_program_connection *connection = rig_sql_turn_connection(turn);
    bool answered = false;
    if (rig_sql_turn_own(turn)->ahead) {
        answered = rig_sql_program_take(connection, &request);
    } else {
        rig_sql_turn_own(turn)->begun = true;
        connection->patience.deadline_ns = turn->deadline_ns;
        rig_sql_link_begin(&connection->link, &writer);
        rig_sql_turn_write_said(turn, &writer, said, values);
        answered = rig_sql_program_exchange(connection, &writer, &request);
    }
    if (!answered)
        fail_request(turn, &request);
    return request.answer;
}

const struct rig_sql_said *rig_sql_turn_said_of(const struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                                                const struct rig_sql_values *values)
{
    return rig_sql_program_schema_say(&rig_sql_turn_run(turn)->schema, values->numbers[RIG_SQL_SAID_KEY], which);
}

json_t *rig_sql_turn_say(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                         const struct rig_sql_values *values)
{
    return rig_sql_turn_run_said(turn, rig_sql_turn_said_of(turn, which, values), values);
}

/* Runs a statement that changes rows, and gives their number. */
bool rig_sql_turn_change(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                         const struct rig_sql_values *values, int64_t *count)
{
    return rig_sql_turn_take_count(turn, rig_sql_turn_say(turn, which, values), count);
}

/* Runs a statement, and where it changed no row the insertion. */
bool rig_sql_turn_put(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                      enum rig_sql_dialect_statement first, const struct rig_sql_values *values)
{
    int64_t count = 0;
    if (!rig_sql_turn_change(turn, which, values, &count))
        return false;
    if (count > 0)
        return !rig_sql_turn_own(turn)->ahead ||
               rig_sql_turn_take_done(turn); /* sent ahead, the insertion was skipped */
    return rig_sql_turn_change(turn, first, values, &count);
}

/* Runs a statement that must change one row: a comparison. */
bool rig_sql_turn_compare(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which,
                          const struct rig_sql_values *values)
{
    int64_t count = 0;
    if (!rig_sql_turn_change(turn, which, values, &count))
        return false;
    if (count == 0)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MISMATCH, NULL);
    return count > 0;
}
