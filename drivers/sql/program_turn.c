#include "drivers/sql/program_turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/sql_ops.h"

#define UNCOUNTED "the program does not tell how many rows a statement changed: rig needs that number"

#define CHANGED "a statement changed another number of rows than the transaction then reads"

static struct rig_sql_program_turn *own(struct rig_sql_turn *turn)
{
    return (struct rig_sql_program_turn *)turn;
}

static struct rig_sql_program_connection *connection_of(const struct rig_sql_turn *turn)
{
    return (struct rig_sql_program_connection *)turn->connection;
}

static const struct rig_sql_program_run *run_of(const struct rig_sql_turn *turn)
{
    return rig_sql_program_run_of(turn->session->run);
}

/* ---- requests of a turn ---- */

/* Fails the turn; an error of the database gets the mark of its rule in the place of its SQLSTATE, by which its row is found. */
static void fail_request(struct rig_sql_turn *turn, const struct rig_sql_program_request *request)
{
    const struct rig_sql_dialect_file *dialect = run_of(turn)->dialect;
    if (connection_of(turn)->lost)
        turn->session_lost = true;
    if (!request->refused) {
        /* A request of which nothing left cannot have committed. */
        if (turn->phase == RIG_PHASE_COMMIT && !request->sent)
            turn->phase = RIG_PHASE_OPERATION;
        rig_sql_turn_fail(turn, turn->phase, request->event, request->text);
        return;
    }
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

/* Sends a request whose answer has no rows. A COMMIT with a warning may be on this server alone: its fate is unknown. */
static bool send_request(struct rig_sql_turn *turn, struct rig_json_writer *writer)
{
    struct rig_sql_program_request request;
    bool answered = rig_sql_program_exchange(connection_of(turn), writer, &request);
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

/* A text without values. */
static bool send_text(struct rig_sql_turn *turn, const char *sql)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&connection_of(turn)->link, &writer);
    rig_json_string(&writer, "sql", sql);
    return send_request(turn, &writer);
}

/* A transaction's end by the program's library. */
static bool send_end(struct rig_sql_turn *turn, const char *how)
{
    struct rig_json_writer writer;
    rig_sql_link_begin(&connection_of(turn)->link, &writer);
    rig_json_bool(&writer, how, true);
    return send_request(turn, &writer);
}

/* The values of an operation's statements, by enum rig_sql_said_value; texts where the type is one. */
struct values {
    int64_t numbers[RIG_ROW_VALUES];
    const char *element, *rest;
};

static void write_value(struct rig_json_writer *writer, const struct rig_sql_said *said, uint32_t i,
                        const struct values *values)
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
static void write_literal(struct rig_json_writer *writer, const struct rig_sql_said *said, const struct values *values)
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

/* Runs a statement; NULL, and the turn failed, when there is no answer. */
static json_t *run_said(struct rig_sql_turn *turn, const struct rig_sql_said *said, const struct values *values)
{
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    struct rig_sql_program_connection *connection = connection_of(turn);
    own(turn)->begun = true;
    connection->patience.deadline_ns = turn->deadline_ns;
    rig_sql_link_begin(&connection->link, &writer);
    if (run_of(turn)->dialect->literal) {
        write_literal(&writer, said, values);
    } else {
        rig_json_string(&writer, "sql", said->text);
        rig_json_string(&writer, "types", said->types);
        rig_json_begin_array(&writer, "args");
        for (uint32_t i = 0; i < said->value_count; i++)
            write_value(&writer, said, i, values);
        rig_json_end(&writer);
    }
    if (!rig_sql_program_exchange(connection, &writer, &request))
        fail_request(turn, &request);
    return request.answer;
}

static json_t *say(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which, const struct values *values)
{
    const int64_t key = values->numbers[RIG_SQL_SAID_KEY];
    return run_said(turn, rig_sql_program_schema_say(&run_of(turn)->schema, key, which), values);
}

/* Runs a statement that changes rows, and gives their number. */
static bool change(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which, const struct values *values,
                   int64_t *count)
{
    json_t *answer = say(turn, which, values);
    if (answer == NULL)
        return false;
    const json_t *told = json_object_get(answer, "count");
    *count = json_is_integer(told) ? json_integer_value(told) : -1;
    json_decref(answer);
    if (*count < 0)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, UNCOUNTED);
    return *count >= 0;
}

/* Runs a statement, and where it changed no row the insertion. */
static bool put(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which, enum rig_sql_dialect_statement first,
                const struct values *values)
{
    int64_t count = 0;
    return change(turn, which, values, &count) && (count > 0 || change(turn, first, values, &count));
}

/* Runs a statement that must change one row: a comparison. */
static bool compare(struct rig_sql_turn *turn, enum rig_sql_dialect_statement which, const struct values *values)
{
    int64_t count = 0;
    if (!change(turn, which, values, &count))
        return false;
    if (count == 0)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MISMATCH, NULL);
    return count > 0;
}

/* ---- answers ---- */

/* A cell as a text; NULL for a null, and for what is no text. */
static const char *cell_text(const json_t *row, size_t column, size_t *length)
{
    const json_t *cell = json_array_get(row, column);
    *length = json_string_length(cell);
    return json_string_value(cell);
}

static bool cell_number(const json_t *row, size_t column, int64_t *number)
{
    size_t length = 0;
    const char *text = cell_text(row, column, &length);
    return text != NULL && rig_sql_int_parse(text, length, number);
}

static bool malformed(struct rig_sql_turn *turn)
{
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MALFORMED, NULL);
    return false;
}

/* Each element comes after a comma. */
static bool take_list(struct rig_sql_turn *turn, const char *text, size_t length, struct rig_read *read)
{
    struct rig_transaction *transaction = turn->transaction;
    struct rig_read list = {.state = RIG_READ_SEEN, .first_element = transaction->element_count};
    if (length > 0 && text[0] != ',')
        return malformed(turn);
    if (length > 0 &&
        !rig_sql_turn_take_list(turn, RIG_PHASE_OPERATION, RIG_SQL_LIST_TEXT, text + 1, length - 1, NULL, &list))
        return false;
    *read = list;
    return true;
}

static bool take_value(struct rig_sql_turn *turn, uint32_t op, const json_t *row)
{
    struct rig_read *read = &turn->transaction->reads[op];
    const bool sequence = rig_op_reads_sequence(turn->transaction->ops[op].kind);
    const bool prefilled = turn->session->run->env->prefilled_keys > 0;
    size_t length = 0;
    const json_t *cell = json_array_get(row, 0);
    const char *text = cell_text(row, 0, &length);
    if (json_array_size(row) != 1 || (text == NULL && !(json_is_null(cell) && prefilled)))
        return malformed(turn);
    if (sequence)
        return take_list(turn, text == NULL ? "" : text, length, read);
    if (text == NULL) {
        read->state = RIG_READ_NIL; /* a row without a value */
        return true;
    }
    int64_t value = 0;
    if (!rig_sql_int_parse(text, length, &value))
        return malformed(turn);
    *read = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
    return true;
}

static bool take_read(struct rig_sql_turn *turn, uint32_t op, json_t *answer)
{
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    bool taken = true;
    if (!json_is_array(rows) || json_array_size(rows) > 1) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
        taken = false;
    } else if (json_array_size(rows) == 0) {
        turn->transaction->reads[op].state = RIG_READ_NIL;
    } else {
        taken = take_value(turn, op, json_array_get(rows, 0));
    }
    json_decref(answer);
    return taken;
}

/* Rows of two numbers; of a sum the first one counts as 0. */
static bool take_pairs(struct rig_sql_turn *turn, uint32_t op, bool sums, json_t *answer, size_t *row_count)
{
    struct rig_transaction *transaction = turn->transaction;
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    const size_t count = json_array_size(rows);
    *row_count = count;
    if (json_is_array(rows) && count == 0) {
        transaction->reads[op].state = RIG_READ_NIL;
        json_decref(answer);
        return true;
    }
    int64_t *room = turn->session->run->env->core->elements(transaction, count * 2);
    bool taken = json_is_array(rows) && room != NULL && count <= UINT32_MAX / 2;
    if (!taken)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, room == NULL ? RIG_SQL_LIMIT : RIG_SQL_PROTOCOL, NULL);
    for (size_t i = 0; taken && i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        taken = json_array_size(row) == 2 && cell_number(row, 0, &room[2 * i]) && cell_number(row, 1, &room[2 * i + 1]);
        if (!taken)
            (void)malformed(turn);
        if (taken && sums)
            room[2 * i] = 0;
    }
    json_decref(answer);
    if (!taken)
        return false;
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)(count * 2), .first_element = transaction->element_count};
    transaction->element_count += count * 2;
    return true;
}

/* ---- operations ---- */

/* Takes the first element of a queue, or the last one of a stack: the row counts its changes, so that the one that was looked
 * at is the one that is changed. */
static bool take_element(struct rig_sql_turn *turn, uint32_t op, struct values *values)
{
    const bool queue = turn->session->run->env->workload == RIG_WORKLOAD_QUEUE;
    json_t *answer = say(turn, RIG_SQL_SAYS_LOOK, values);
    const json_t *rows = json_object_get(answer, "rows"), *row = json_array_get(rows, 0);
    size_t length = 0;
    const char *text = cell_text(row, 0, &length);
    bool done = false;
    if (answer == NULL)
        return false;
    if (json_is_array(rows) && (json_array_size(rows) == 0 || (text != NULL && length == 0))) {
        turn->transaction->reads[op].state = RIG_READ_NIL;
        done = true;
    } else if (text == NULL || text[0] != ',' || !cell_number(row, 1, &values->numbers[RIG_SQL_SAID_SEEN])) {
        (void)malformed(turn);
    } else {
        const char *second = strchr(text + 1, ','), *last = strrchr(text, ',');
        const char *taken = queue ? text + 1 : last + 1;
        const size_t taken_length = queue && second != NULL ? (size_t)(second - taken) : strlen(taken);
        char *rest = strndup(queue ? (second == NULL ? "" : second) : text, queue ? length : (size_t)(last - text));
        int64_t value = 0;
        if (rest == NULL || !rig_sql_int_parse(taken, taken_length, &value)) {
            (void)malformed(turn);
        } else {
            values->rest = rest;
            done = compare(turn, RIG_SQL_SAYS_TAKE, values);
            if (done)
                turn->transaction->reads[op] = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
        }
        free(rest);
    }
    json_decref(answer);
    return done;
}

static bool put_of_workload(struct rig_sql_turn *turn, const struct values *values)
{
    const enum rig_workload workload = turn->session->run->env->workload;
    if (workload == RIG_WORKLOAD_MUTEX)
        return put(turn, RIG_SQL_SAYS_ACQUIRE, RIG_SQL_SAYS_WRITE_FIRST, values);
    if (rig_sql_is_row(workload))
        return put(turn, RIG_SQL_SAYS_PUSH, RIG_SQL_SAYS_PUSH_FIRST, values);
    if (rig_sql_is_sum(workload))
        return put(turn, RIG_SQL_SAYS_ADD, RIG_SQL_SAYS_WRITE_FIRST, values);
    if (rig_workload_has_sequences(workload))
        return put(turn, RIG_SQL_SAYS_APPEND, RIG_SQL_SAYS_APPEND_FIRST, values);
    return put(turn, RIG_SQL_SAYS_WRITE, RIG_SQL_SAYS_WRITE_FIRST, values);
}

/* An update or delete gives its rows by the version that it wrote, which no other statement writes. */
static bool change_rows(struct rig_sql_turn *turn, uint32_t op, bool by_id, bool deletes, const struct values *values)
{
    int64_t count = 0, removed = 0;
    size_t rows = 0;
    if (!change(turn, by_id ? RIG_SQL_SAYS_CHANGE_BY_ID : RIG_SQL_SAYS_CHANGE_BY_CLASS, values, &count))
        return false;
    if (!take_pairs(turn, op, false, say(turn, RIG_SQL_SAYS_CHANGED, values), &rows))
        return false;
    if (deletes && !change(turn, RIG_SQL_SAYS_REMOVE, values, &removed))
        return false;
    if (rows == (size_t)count && (!deletes || removed == count))
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, CHANGED);
    return false;
}

static bool run_predicate(struct rig_sql_turn *turn, uint32_t op)
{
    struct rig_sql_numbers numbers;
    const enum rig_sql_predicate which = rig_sql_predicate_of(turn->transaction, op, &numbers);
    struct values values = {.element = ""};
    size_t rows = 0;
    int64_t count = 0;
    if (which == RIG_SQL_PREDICATE_COUNT)
        return true;
    values.numbers[RIG_SQL_SAID_KEY] = numbers.key;
    values.numbers[RIG_SQL_SAID_VALUE] = numbers.value;
    values.numbers[RIG_SQL_SAID_LOW] = numbers.value;
    values.numbers[RIG_SQL_SAID_HIGH] = numbers.expected;
    values.numbers[RIG_SQL_SAID_NUMBER] = numbers.further;
    values.numbers[RIG_SQL_SAID_CLASS] = (which == RIG_SQL_INSERT ? numbers.value : numbers.further) / 10 % 100;
    switch (which) {
    case RIG_SQL_LIST_BY_ID:
        return take_pairs(turn, op, false, say(turn, RIG_SQL_SAYS_LIST_BY_ID, &values), &rows);
    case RIG_SQL_LIST_BY_CLASS:
        return take_pairs(turn, op, false, say(turn, RIG_SQL_SAYS_LIST_BY_CLASS, &values), &rows);
    case RIG_SQL_COUNT_BY_ID:
    case RIG_SQL_SUM_BY_ID:
        return take_pairs(turn, op, which == RIG_SQL_SUM_BY_ID, say(turn, RIG_SQL_SAYS_COUNT_BY_ID, &values), &rows);
    case RIG_SQL_COUNT_BY_CLASS:
    case RIG_SQL_SUM_BY_CLASS:
        return take_pairs(turn, op, which == RIG_SQL_SUM_BY_CLASS, say(turn, RIG_SQL_SAYS_COUNT_BY_CLASS, &values),
                          &rows);
    case RIG_SQL_UPDATE_BY_ID:
    case RIG_SQL_UPDATE_BY_CLASS:
        return change_rows(turn, op, which == RIG_SQL_UPDATE_BY_ID, false, &values);
    case RIG_SQL_DELETE_BY_ID:
    case RIG_SQL_DELETE_BY_CLASS:
        return change_rows(turn, op, which == RIG_SQL_DELETE_BY_ID, true, &values);
    case RIG_SQL_INSERT:
    case RIG_SQL_PREDICATE_COUNT:
        break;
    }
    return change(turn, RIG_SQL_SAYS_INSERT_ROW, &values, &count);
}

static bool run_action(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_sql_program_run *run = run_of(turn);
    const enum rig_workload workload = run->sql.env->workload;
    struct rig_sql_numbers numbers;
    char element[1 + RIG_SQL_INT_BYTES] = ",";
    const enum rig_sql_action action =
        rig_sql_action_of(workload, run->options->sql.lock_reads, turn->transaction, op, &numbers);
    struct values values = {.element = element};
    values.numbers[RIG_SQL_SAID_KEY] = numbers.key;
    values.numbers[RIG_SQL_SAID_VALUE] = numbers.value;
    values.numbers[RIG_SQL_SAID_EXPECTED] = numbers.expected;
    (void)rig_sql_int_print(numbers.value, element + 1);
    switch (action) {
    case RIG_SQL_READ:
        return take_read(turn, op, say(turn, RIG_SQL_SAYS_READ, &values));
    case RIG_SQL_READ_LOCKED:
        return take_read(turn, op, say(turn, RIG_SQL_SAYS_READ_LOCKED, &values));
    case RIG_SQL_PUT:
        return put_of_workload(turn, &values);
    case RIG_SQL_REPLACE:
        return compare(turn, RIG_SQL_SAYS_WRITE, &values);
    case RIG_SQL_COMPARE:
        return compare(turn, workload == RIG_WORKLOAD_MUTEX ? RIG_SQL_SAYS_RELEASE : RIG_SQL_SAYS_COMPARE, &values);
    case RIG_SQL_TAKE:
        return take_element(turn, op, &values);
    case RIG_SQL_EXTEND:
        return put(turn, RIG_SQL_SAYS_EXTEND, RIG_SQL_SAYS_WRITE_FIRST, &values);
    case RIG_SQL_NOTHING:
        break;
    }
    return true;
}

/* Sets the savepoint before the first operation that is undone, and returns to it before the one after the last. */
static bool run_savepoint(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_rollback *rollback = &turn->transaction->rollback;
    const struct rig_sql_dialect_file *dialect = run_of(turn)->dialect;
    if (!rig_rollback_wanted(rollback) || (op != rollback->from && op != rollback->to))
        return true;
    return send_text(turn, op == rollback->from ? dialect->savepoint : dialect->return_to);
}

static bool run_operation(struct rig_sql_turn *turn, uint32_t op)
{
    turn->phase = RIG_PHASE_OPERATION;
    connection_of(turn)->patience.deadline_ns = turn->deadline_ns;
    if (!run_savepoint(turn, op) || !rig_sql_turn_affords(turn, op))
        return false;
    if (turn->session->run->env->workload == RIG_WORKLOAD_PREDICATE)
        return run_predicate(turn, op);
    return run_action(turn, op);
}

/* The program's own times are more exact than those of its lines. */
static void take_times(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_sql_program_connection *connection = connection_of(turn);
    struct rig_transaction *transaction = turn->transaction;
    rig_op_ended(turn->session->run->env->core, transaction, op);
    if (rig_times_count(transaction) != (int64_t)op + 1)
        return;
    int64_t *times = &transaction->times[2 * (size_t)op];
    if (connection->began_ns < times[0] || connection->ended_ns < connection->began_ns ||
        connection->ended_ns > times[1])
        return;
    times[0] = connection->began_ns;
    times[1] = connection->ended_ns;
}

bool rig_sql_program_turn_operate(struct rig_sql_turn *turn, uint32_t op)
{
    connection_of(turn)->began_ns = connection_of(turn)->ended_ns = 0;
    const bool done = run_operation(turn, op);
    take_times(turn, op);
    return done;
}

/* ---- the transaction ---- */

void rig_sql_program_turn_run(struct rig_sql_turn *turn)
{
    if (turn->program != NULL)
        rig_sql_turn_run_program(turn);
    else
        rig_sql_turn_run_statements(turn);
}

bool rig_sql_program_turn_begin(struct rig_sql_turn *turn)
{
    const struct rig_sql_program_run *run = run_of(turn);
    const struct rig_sql_dialect_file *dialect = run->dialect;
    const bool read_only = turn->transaction->read_only && run->options->sql.declare_read_only;
    const char *text = read_only && dialect->begin_read_only != NULL ? dialect->begin_read_only : dialect->begin;
    struct rig_buf sql;
    turn->phase = RIG_PHASE_BEGIN;
    connection_of(turn)->patience.deadline_ns = turn->deadline_ns;
    if (text == NULL)
        return true;
    own(turn)->begun = true;
    rig_buf_init(&sql, 0);
    rig_sql_dialect_add_level(text, run->level, &sql);
    const bool begun = send_text(turn, rig_buf_text(&sql));
    rig_buf_done(&sql);
    return begun;
}

void rig_sql_program_turn_commit(struct rig_sql_turn *turn)
{
    const struct rig_sql_dialect_file *dialect = run_of(turn)->dialect;
    turn->phase = RIG_PHASE_COMMIT;
    turn->may_commit = true;
    connection_of(turn)->patience.deadline_ns = turn->deadline_ns;
    turn->committed = dialect->by_text ? send_text(turn, dialect->commit) : send_end(turn, "commit");
}

void rig_sql_program_turn_settle(struct rig_sql_turn *turn)
{
    const struct rig_sql_dialect_file *dialect = run_of(turn)->dialect;
    static const int64_t patience_ns = INT64_C(2000000000);
    struct rig_sql_program_connection *connection = connection_of(turn);
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    if (turn->session_lost || connection->lost || rig_sql_turn_outcome(turn)->session_lost || !own(turn)->begun) {
        turn->session_lost = turn->session_lost || connection->lost;
        return;
    }
    connection->patience.deadline_ns = connection->patience.core->now_ns() + patience_ns;
    rig_sql_link_begin(&connection->link, &writer);
    if (dialect->by_text)
        rig_json_string(&writer, "sql", dialect->rollback);
    else
        rig_json_bool(&writer, "rollback", true);
    /* A server that has ended the transaction already may refuse the ROLLBACK; a new session is sure to have none open. */
    turn->session_lost = !rig_sql_program_exchange(connection, &writer, &request);
    json_decref(request.answer);
}

/* ---- programs ---- */

static bool take_rows(struct rig_sql_turn *turn, const struct rig_row_table *table, json_t *answer,
                      struct rig_row_answer *rows_of)
{
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    const size_t count = json_array_size(rows);
    bool taken = json_is_array(rows);
    if (!taken)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "a selection was answered without rows");
    if (taken && count * table->column_count > rows_of->cell_capacity) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_LIMIT,
                          "a statement of the program gave more rows than rig takes");
        taken = false;
    }
    for (size_t i = 0; taken && i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        taken = json_array_size(row) == table->column_count;
        for (uint32_t k = 0; taken && k < table->column_count; k++)
            taken = cell_number(row, k, &rows_of->cells[i * table->column_count + k]);
        if (!taken)
            rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MALFORMED,
                              "a row with other cells than the table's numbers");
    }
    rows_of->count = (uint32_t)count;
    json_decref(answer);
    return taken;
}

bool rig_sql_program_turn_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                                  struct rig_row_answer *answer)
{
    const struct rig_sql_program_schema *schema = &run_of(turn)->schema;
    const struct rig_row_schema *rows = schema->env->rows;
    const struct rig_row_statement *described = &rows->statements[index];
    const struct rig_row_table *table = &rows->tables[described->table];
    const struct rig_sql_said *said = &schema->of_rows[2 * (size_t)index];
    struct values given = {.element = ""};
    turn->phase = RIG_PHASE_OPERATION;
    memcpy(given.numbers, values, said->value_count * sizeof *values);
    json_t *told = run_said(turn, said, &given);
    if (described->act == RIG_ROW_SELECT)
        return take_rows(turn, table, told, answer);
    if (told == NULL)
        return false;
    const json_t *count = json_object_get(told, "count");
    answer->count =
        json_is_integer(count) && json_integer_value(count) >= 0 ? (uint32_t)json_integer_value(count) : UINT32_MAX;
    json_decref(told);
    if (answer->count == UINT32_MAX) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, UNCOUNTED);
        return false;
    }
    if (described->act != RIG_ROW_UPDATE || described->counted || answer->count == 0)
        return true;
    /* The conditions are the last values. */
    const uint32_t conditions = described->condition_count, changed = answer->count;
    memmove(given.numbers, given.numbers + said->value_count - conditions, conditions * sizeof given.numbers[0]);
    if (!take_rows(turn, table, run_said(turn, said + 1, &given), answer))
        return false;
    if (answer->count == changed)
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, CHANGED);
    return false;
}
