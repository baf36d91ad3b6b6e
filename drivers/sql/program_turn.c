#include "drivers/sql/program_turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sql/program_statement.h"
#include "drivers/sql/sql_ops.h"

/* ---- operations ---- */

/* Takes the first element of a queue, or the last one of a stack: the row counts its changes, so that the one that was
 * looked at is the one that is changed. */
static bool take_element(struct rig_sql_turn *turn, uint32_t op, struct rig_sql_values *values)
{
    const bool queue = turn->session->run->env->workload == RIG_WORKLOAD_QUEUE;
    json_t *answer = rig_sql_turn_say(turn, RIG_SQL_SAYS_LOOK, values);
    const json_t *rows = json_object_get(answer, "rows"), *row = json_array_get(rows, 0);
    size_t length = 0;
    const char *text = rig_sql_cell_text(row, 0, &length);
    bool done = false;
    if (answer == NULL)
        return false;
    if (json_is_array(rows) && (json_array_size(rows) == 0 || (text != NULL && length == 0))) {
        turn->transaction->reads[op].state = RIG_READ_NIL;
        done = true;
    } else if (text == NULL || text[0] != ',' || !rig_sql_cell_number(row, 1, &values->numbers[RIG_SQL_SAID_SEEN])) {
        (void)rig_sql_turn_malformed(turn);
    } else {
        const char *second = strchr(text + 1, ','), *last = strrchr(text, ',');
        const char *taken = queue ? text + 1 : last + 1;
        const size_t taken_length = queue && second != NULL ? (size_t)(second - taken) : strlen(taken);
        char *rest = strndup(queue ? (second == NULL ? "" : second) : text, queue ? length : (size_t)(last - text));
        int64_t value = 0;
        if (rest == NULL || !rig_sql_int_parse(taken, taken_length, &value)) {
            (void)rig_sql_turn_malformed(turn);
        } else {
            values->rest = rest;
            done = rig_sql_turn_compare(turn, RIG_SQL_SAYS_TAKE, values);
            if (done)
                turn->transaction->reads[op] = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
        }
        free(rest);
    }
    json_decref(answer);
    return done;
}

void rig_sql_program_put_of(enum rig_workload workload, enum rig_sql_dialect_statement *which,
                            enum rig_sql_dialect_statement *first)
{
    *first = RIG_SQL_SAYS_WRITE_FIRST;
    *which = RIG_SQL_SAYS_WRITE;
    if (workload == RIG_WORKLOAD_MUTEX) {
        *which = RIG_SQL_SAYS_ACQUIRE;
    } else if (rig_sql_is_row(workload)) {
        *which = RIG_SQL_SAYS_PUSH;
        *first = RIG_SQL_SAYS_PUSH_FIRST;
    } else if (rig_sql_is_sum(workload)) {
        *which = RIG_SQL_SAYS_ADD;
    } else if (rig_workload_has_sequences(workload)) {
        *which = RIG_SQL_SAYS_APPEND;
        *first = RIG_SQL_SAYS_APPEND_FIRST;
    }
}

/* An update gives its rows by the version that it wrote, which no other statement writes. A delete marks its rows in
 * another column: reads of what is not committed show versions. */
static bool change_rows(struct rig_sql_turn *turn, uint32_t op, bool by_id, bool deletes,
                        const struct rig_sql_values *values)
{
    const enum rig_sql_dialect_statement change = deletes ? by_id ? RIG_SQL_SAYS_MARK_BY_ID : RIG_SQL_SAYS_MARK_BY_CLASS
                                                  : by_id ? RIG_SQL_SAYS_CHANGE_BY_ID
                                                          : RIG_SQL_SAYS_CHANGE_BY_CLASS;
    const enum rig_sql_dialect_statement changed = deletes ? RIG_SQL_SAYS_MARKED : RIG_SQL_SAYS_CHANGED;
    int64_t count = 0, removed = 0;
    size_t rows = 0;
    if (!rig_sql_turn_change(turn, change, values, &count))
        return false;
    if (!rig_sql_turn_take_pairs(turn, op, false, rig_sql_turn_say(turn, changed, values), &rows))
        return false;
    if (deletes && !rig_sql_turn_change(turn, RIG_SQL_SAYS_REMOVE, values, &removed))
        return false;
    if (rows == (size_t)count && (!deletes || removed == count))
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, RIG_SQL_CHANGED);
    return false;
}

static bool run_predicate(struct rig_sql_turn *turn, uint32_t op)
{
    struct rig_sql_numbers numbers;
    const enum rig_sql_predicate which = rig_sql_predicate_of(turn->transaction, op, &numbers);
    struct rig_sql_values values = {.element = ""};
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
        return rig_sql_turn_take_pairs(turn, op, false, rig_sql_turn_say(turn, RIG_SQL_SAYS_LIST_BY_ID, &values),
                                       &rows);
    case RIG_SQL_LIST_BY_CLASS:
        return rig_sql_turn_take_pairs(turn, op, false, rig_sql_turn_say(turn, RIG_SQL_SAYS_LIST_BY_CLASS, &values),
                                       &rows);
    case RIG_SQL_COUNT_BY_ID:
    case RIG_SQL_SUM_BY_ID:
        return rig_sql_turn_take_pairs(turn, op, which == RIG_SQL_SUM_BY_ID,
                                       rig_sql_turn_say(turn, RIG_SQL_SAYS_COUNT_BY_ID, &values), &rows);
    case RIG_SQL_COUNT_BY_CLASS:
    case RIG_SQL_SUM_BY_CLASS:
        return rig_sql_turn_take_pairs(turn, op, which == RIG_SQL_SUM_BY_CLASS,
                                       rig_sql_turn_say(turn, RIG_SQL_SAYS_COUNT_BY_CLASS, &values), &rows);
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
    return rig_sql_turn_change(turn, RIG_SQL_SAYS_INSERT_ROW, &values, &count);
}

static enum rig_sql_action find_action(const struct rig_sql_turn *turn, uint32_t op, struct rig_sql_values *values,
                                       char element[static 1 + RIG_SQL_INT_BYTES])
{
    const struct rig_sql_program_run *run = rig_sql_turn_run(turn);
    struct rig_sql_numbers numbers;
    const enum rig_sql_action action =
        rig_sql_action_of(run->sql.env->workload, run->options->sql.lock_reads, turn->transaction, op, &numbers);
    element[0] = ',';
    (void)rig_sql_int_print(numbers.value, element + 1);
    *values = (struct rig_sql_values){.element = element};
    values->numbers[RIG_SQL_SAID_KEY] = numbers.key;
    values->numbers[RIG_SQL_SAID_VALUE] = numbers.value;
    values->numbers[RIG_SQL_SAID_EXPECTED] = numbers.expected;
    return action;
}

enum rig_sql_dialect_statement rig_sql_program_compare_of(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_MUTEX ? RIG_SQL_SAYS_RELEASE : RIG_SQL_SAYS_COMPARE;
}

static bool run_action(struct rig_sql_turn *turn, uint32_t op)
{
    const enum rig_workload workload = rig_sql_turn_run(turn)->sql.env->workload;
    enum rig_sql_dialect_statement which, first;
    char element[1 + RIG_SQL_INT_BYTES];
    struct rig_sql_values values;
    switch (find_action(turn, op, &values, element)) {
    case RIG_SQL_READ:
        return rig_sql_turn_take_read(turn, op, rig_sql_turn_say(turn, RIG_SQL_SAYS_READ, &values));
    case RIG_SQL_READ_LOCKED:
        return rig_sql_turn_take_read(turn, op, rig_sql_turn_say(turn, RIG_SQL_SAYS_READ_LOCKED, &values));
    case RIG_SQL_PUT:
        rig_sql_program_put_of(workload, &which, &first);
        return rig_sql_turn_put(turn, which, first, &values);
    case RIG_SQL_REPLACE:
        return rig_sql_turn_compare(turn, RIG_SQL_SAYS_WRITE, &values);
    case RIG_SQL_COMPARE:
        return rig_sql_turn_compare(turn, rig_sql_program_compare_of(workload), &values);
    case RIG_SQL_TAKE:
        return take_element(turn, op, &values);
    case RIG_SQL_EXTEND:
        return rig_sql_turn_put(turn, RIG_SQL_SAYS_EXTEND, RIG_SQL_SAYS_WRITE_FIRST, &values);
    case RIG_SQL_NOTHING:
        break;
    }
    return true;
}

/* Sets the savepoint before the first operation that is undone, and returns to it before the one after the last. */
static bool run_savepoint(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_rollback *rollback = &turn->transaction->rollback;
    const struct rig_sql_dialect_file *dialect = rig_sql_turn_run(turn)->dialect;
    if (!rig_rollback_wanted(rollback) || (op != rollback->from && op != rollback->to))
        return true;
    return rig_sql_turn_send_text(turn, op == rollback->from ? dialect->savepoint : dialect->return_to);
}

static bool run_operation(struct rig_sql_turn *turn, uint32_t op)
{
    turn->phase = RIG_PHASE_OPERATION;
    rig_sql_turn_connection(turn)->patience.deadline_ns = turn->deadline_ns;
    if (!run_savepoint(turn, op) || !rig_sql_turn_affords(turn, op))
        return false;
    if (turn->session->run->env->workload == RIG_WORKLOAD_PREDICATE)
        return run_predicate(turn, op);
    if (turn->session->run->env->workload == RIG_WORKLOAD_SQL)
        return rig_sql_turn_run_random(turn, op);
    return run_action(turn, op);
}

/* ---- operations sent ahead ---- */

enum { AHEAD_MOST = 64 }; /* statements, so that a message fits the buffers of the program's input */

/*
 * Whether all operations can be sent with the begin: the program performs one after the other, each only after the
 * success of the one before, so that the database gets the same statements at the same points; only rig and its program
 * exchange fewer messages. Not where a statement depends on what another read or changed, or where the plan wants
 * pauses or savepoints.
 *
 * COMMIT goes with them where the program also tells how far it came: rig can then tell after a time limit, or after
 * the program's end, that COMMIT was not begun. Else it is sent alone, when all answers were good.
 */
static bool goes_ahead(const struct rig_sql_turn *turn)
{
    const enum rig_workload workload = rig_sql_turn_run(turn)->sql.env->workload;
    const struct rig_transaction *transaction = turn->transaction;
    const uint32_t count = transaction->op_count;
    const bool pauses =
        (transaction->delayed && count > 1) || (transaction->hold.wanted && transaction->hold.before_op < count);
    if (!rig_sql_link_takes_sequences(&rig_sql_turn_connection(turn)->link) || turn->program != NULL || pauses ||
        count < 2 || count > AHEAD_MOST / 2 || rig_rollback_wanted(&transaction->rollback) ||
        workload == RIG_WORKLOAD_PREDICATE || workload == RIG_WORKLOAD_SQL)
        return false;
    for (uint32_t op = 0; op < count; op++) {
        char element[1 + RIG_SQL_INT_BYTES];
        struct rig_sql_values values;
        const enum rig_sql_action action = find_action(turn, op, &values, element);
        if ((action != RIG_SQL_READ && action != RIG_SQL_READ_LOCKED && action != RIG_SQL_PUT) ||
            rig_sql_builds_on(transaction, op) != UINT32_MAX)
            return false;
    }
    return true;
}

/* Begins the request, as the first of the message or as one that needs the success of those before. */
static void begin_ahead(struct rig_sql_turn *turn, struct rig_json_writer *writer, bool *is_first,
                        const char *condition)
{
    if (*is_first)
        rig_sql_link_begin(&rig_sql_turn_connection(turn)->link, writer);
    else
        rig_sql_link_follow(&rig_sql_turn_connection(turn)->link, writer, condition);
    *is_first = false;
}

static void write_commit(const struct rig_sql_turn *turn, struct rig_json_writer *writer)
{
    const struct rig_sql_dialect_file *dialect = rig_sql_turn_run(turn)->dialect;
    if (dialect->by_text)
        rig_json_string(writer, "sql", dialect->commit);
    else
        rig_json_bool(writer, "commit", true);
}

/* Sends the begin (NULL: there is none), all operations, and COMMIT where it may go with them. */
static bool send_ahead(struct rig_sql_turn *turn, const char *begin)
{
    struct rig_json_writer writer;
    bool is_first = true;
    if (begin != NULL) {
        begin_ahead(turn, &writer, &is_first, "ok");
        rig_json_string(&writer, "sql", begin);
    }
    for (uint32_t op = 0; op < turn->transaction->op_count; op++) {
        enum rig_sql_dialect_statement which = RIG_SQL_SAYS_READ, first = RIG_SQL_SAYS_WRITE_FIRST;
        char element[1 + RIG_SQL_INT_BYTES];
        struct rig_sql_values values;
        const enum rig_sql_action action = find_action(turn, op, &values, element);
        if (action == RIG_SQL_READ_LOCKED)
            which = RIG_SQL_SAYS_READ_LOCKED;
        else if (action == RIG_SQL_PUT)
            rig_sql_program_put_of(rig_sql_turn_run(turn)->sql.env->workload, &which, &first);
        begin_ahead(turn, &writer, &is_first, "ok");
        rig_sql_turn_write_said(turn, &writer, rig_sql_turn_said_of(turn, which, &values), &values);
        if (action == RIG_SQL_PUT) {
            begin_ahead(turn, &writer, &is_first, "none");
            rig_sql_turn_write_said(turn, &writer, rig_sql_turn_said_of(turn, first, &values), &values);
        }
    }
    if (rig_sql_link_takes_commits(&rig_sql_turn_connection(turn)->link) && !turn->transaction->rolls_back &&
        !rig_sql_turn_holds_at(turn, turn->transaction->op_count)) {
        begin_ahead(turn, &writer, &is_first, "ok");
        write_commit(turn, &writer);
        rig_sql_turn_own(turn)->commit = rig_sql_turn_connection(turn)->link.request;
    }
    rig_sql_turn_own(turn)->ahead = true;
    rig_sql_turn_own(turn)->begun = true;
    rig_sql_turn_own(turn)->sent_ns = rig_sql_turn_connection(turn)->patience.core->now_ns();
    return rig_sql_turn_send_out(turn, &writer) && (begin == NULL || rig_sql_turn_take_done(turn));
}

/* Takes the answers that nothing waits for any longer. */
static bool drain(struct rig_sql_program_connection *connection)
{
    while (!connection->lost && !rig_sql_link_is_answered(&connection->link)) {
        struct rig_sql_program_request request;
        (void)rig_sql_program_take(connection, &request);
        json_decref(request.answer);
    }
    return !connection->lost;
}

/* ---- one operation ---- */

/* The program's own times are more exact than those of its lines. */
static void take_times(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_sql_program_connection *connection = rig_sql_turn_connection(turn);
    struct rig_transaction *transaction = turn->transaction;
    rig_op_ended(turn->session->run->env->core, transaction, op);
    if (rig_times_count(transaction) != (int64_t)op + 1)
        return;
    int64_t *times = &transaction->times[2 * (size_t)op];
    if (rig_sql_turn_own(turn)->ahead)
        times[0] = op == 0 ? rig_sql_turn_own(turn)->sent_ns : times[-1];
    if (connection->began_ns < times[0] || connection->ended_ns < connection->began_ns ||
        connection->ended_ns > times[1])
        return;
    times[0] = connection->began_ns;
    times[1] = connection->ended_ns;
}

bool rig_sql_program_turn_operate(struct rig_sql_turn *turn, uint32_t op)
{
    rig_sql_turn_connection(turn)->began_ns = rig_sql_turn_connection(turn)->ended_ns = 0;
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
    const struct rig_sql_program_run *run = rig_sql_turn_run(turn);
    const struct rig_sql_dialect_file *dialect = run->dialect;
    const bool read_only = turn->transaction->read_only && run->options->sql.declare_read_only;
    const char *text = read_only && dialect->begin_read_only != NULL ? dialect->begin_read_only : dialect->begin;
    struct rig_buf sql;
    turn->phase = RIG_PHASE_BEGIN;
    rig_sql_turn_connection(turn)->patience.deadline_ns = turn->deadline_ns;
    const bool ahead = goes_ahead(turn);
    if (text == NULL)
        return !ahead || send_ahead(turn, NULL);
    rig_sql_turn_own(turn)->begun = true;
    rig_buf_init(&sql, 0);
    rig_sql_dialect_add_level(text, run->level, &sql);
    const bool begun = ahead ? send_ahead(turn, rig_buf_text(&sql)) : rig_sql_turn_send_text(turn, rig_buf_text(&sql));
    rig_buf_done(&sql);
    return begun;
}

void rig_sql_program_turn_commit(struct rig_sql_turn *turn)
{
    const struct rig_sql_dialect_file *dialect = rig_sql_turn_run(turn)->dialect;
    turn->phase = RIG_PHASE_COMMIT;
    turn->may_commit = true;
    rig_sql_turn_connection(turn)->patience.deadline_ns = turn->deadline_ns;
    if (rig_sql_turn_own(turn)->commit != 0)
        turn->committed = rig_sql_turn_take_done(turn);
    else
        turn->committed =
            dialect->by_text ? rig_sql_turn_send_text(turn, dialect->commit) : rig_sql_turn_send_end(turn, "commit");
}

/* A COMMIT that was sent with the operations is skipped after an error of the database. After any other end of the
 * turn, the program may have begun it. */
static void find_phase(struct rig_sql_turn *turn)
{
    const struct rig_sql_program_turn *own = rig_sql_turn_own(turn);
    struct rig_sql_program_connection *connection = rig_sql_turn_connection(turn);
    if (own->commit == 0 || own->refused || turn->phase == RIG_PHASE_COMMIT)
        return;
    if (!connection->lost || rig_sql_link_may_have_begun(&connection->link, own->commit))
        turn->phase = RIG_PHASE_COMMIT;
}

void rig_sql_program_turn_settle(struct rig_sql_turn *turn)
{
    const struct rig_sql_dialect_file *dialect = rig_sql_turn_run(turn)->dialect;
    static const int64_t patience_ns = INT64_C(2000000000);
    struct rig_sql_program_connection *connection = rig_sql_turn_connection(turn);
    struct rig_sql_program_request request;
    struct rig_json_writer writer;
    find_phase(turn);
    if (turn->session_lost || connection->lost || rig_sql_turn_outcome(turn)->session_lost ||
        !rig_sql_turn_own(turn)->begun) {
        turn->session_lost = turn->session_lost || connection->lost;
        return;
    }
    connection->patience.deadline_ns = connection->patience.core->now_ns() + patience_ns;
    if (!drain(connection)) {
        turn->session_lost = true;
        return;
    }
    rig_sql_link_begin(&connection->link, &writer);
    if (dialect->by_text)
        rig_json_string(&writer, "sql", dialect->rollback);
    else
        rig_json_bool(&writer, "rollback", true);
    /* A server that has ended the transaction already may refuse the ROLLBACK; a new session is sure to have none open.
     * */
    turn->session_lost = !rig_sql_program_exchange(connection, &writer, &request);
    json_decref(request.answer);
}

/* ---- programs ---- */

bool rig_sql_program_turn_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                                  struct rig_row_answer *answer)
{
    const struct rig_sql_program_schema *schema = &rig_sql_turn_run(turn)->schema;
    const struct rig_row_schema *rows = schema->env->rows;
    const struct rig_row_statement *described = &rows->statements[index];
    const struct rig_row_table *table = &rows->tables[described->table];
    const struct rig_sql_said *said = &schema->of_rows[2 * (size_t)index];
    struct rig_sql_values given = {.element = ""};
    turn->phase = RIG_PHASE_OPERATION;
    memcpy(given.numbers, values, said->value_count * sizeof *values);
    json_t *told = rig_sql_turn_run_said(turn, said, &given);
    if (described->act == RIG_ROW_SELECT)
        return rig_sql_turn_take_rows(turn, table, told, answer);
    if (told == NULL)
        return false;
    const json_t *count = json_object_get(told, "count");
    answer->count =
        json_is_integer(count) && json_integer_value(count) >= 0 ? (uint32_t)json_integer_value(count) : UINT32_MAX;
    json_decref(told);
    if (answer->count == UINT32_MAX) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, RIG_SQL_UNCOUNTED);
        return false;
    }
    if (described->act != RIG_ROW_UPDATE || described->counted || answer->count == 0)
        return true;
    /* The conditions are the last values. */
    const uint32_t conditions = described->condition_count, changed = answer->count;
    memmove(given.numbers, given.numbers + said->value_count - conditions, conditions * sizeof given.numbers[0]);
    if (!rig_sql_turn_take_rows(turn, table, rig_sql_turn_run_said(turn, said + 1, &given), answer))
        return false;
    if (answer->count == changed)
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, RIG_SQL_CHANGED);
    return false;
}
