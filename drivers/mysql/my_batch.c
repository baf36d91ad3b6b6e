#include "drivers/mysql/my_batch.h"

#include <string.h>

#include "base/bug.h"
#include "drivers/sql/sql_values.h"

/* A request: BEGIN, the statements of operations `from` to `to` - 1, COMMIT. */
struct batch {
    bool begins, commits;
    uint32_t from, to;
};

/* ---- answers ---- */

void rig_my_answer_release(struct rig_my_answer *answer)
{
    mysql_free_result(answer->result);
    if (answer->statement != NULL)
        (void)mysql_stmt_free_result(answer->statement);
    *answer = (struct rig_my_answer){0};
}

enum cell { CELL_NONE, CELL_NULL, CELL_TEXT, CELL_BAD };

static enum cell next_prepared(struct rig_buf *cell, MYSQL_STMT *statement, const char **text, size_t *length)
{
    unsigned long size = 0;
    my_bool null = 0;
    if (mysql_stmt_field_count(statement) != 1)
        return CELL_BAD;
    rig_buf_clear(cell);
    if (rig_buf_reserve(cell, RIG_SQL_INT_BYTES) == NULL)
        return CELL_BAD;
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer = cell->data,
                       .buffer_length = cell->capacity,
                       .length = &size,
                       .is_null = &null};
    if (mysql_stmt_bind_result(statement, &bind) != 0)
        return CELL_BAD;
    const int fetched = mysql_stmt_fetch(statement);
    if (fetched == MYSQL_NO_DATA)
        return CELL_NONE;
    if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED)
        return CELL_BAD;
    if (null)
        return CELL_NULL;
    if (size > bind.buffer_length) {
        if (rig_buf_reserve(cell, size) == NULL)
            return CELL_BAD;
        bind.buffer = cell->data;
        bind.buffer_length = cell->capacity;
        if (mysql_stmt_fetch_column(statement, &bind, 0, 0) != 0)
            return CELL_BAD;
    }
    *text = cell->data;
    *length = size;
    return CELL_TEXT;
}

/* The value of the answer's next row, which has one. */
static enum cell next_cell(struct rig_my_session *session, const struct rig_my_answer *answer, const char **text,
                           size_t *length)
{
    if (answer->statement != NULL)
        return next_prepared(&session->cell, answer->statement, text, length);
    if (answer->result == NULL || mysql_num_fields(answer->result) != 1)
        return CELL_BAD;
    MYSQL_ROW row = mysql_fetch_row(answer->result);
    if (row == NULL)
        return CELL_NONE;
    const unsigned long *lengths = mysql_fetch_lengths(answer->result);
    if (row[0] == NULL || lengths == NULL)
        return CELL_NULL;
    *text = row[0];
    *length = lengths[0];
    return CELL_TEXT;
}

static bool take_text(struct rig_my_turn *turn, struct rig_read *read, const char *text, size_t length)
{
    struct rig_transaction *transaction = turn->transaction;
    const size_t count = rig_sql_list_count(RIG_SQL_LIST_TEXT, text, length);
    int64_t *room = turn->session->run->env->core->elements(transaction, count);
    if (room == NULL || count > UINT32_MAX - read->count) {
        rig_my_turn_fail(turn, turn->phase, RIG_SQL_LIMIT, NULL);
        return false;
    }
    if (!rig_sql_list_parse(RIG_SQL_LIST_TEXT, text, length, room)) {
        rig_my_turn_fail(turn, turn->phase, RIG_SQL_MALFORMED, "a list that this driver cannot have written");
        return false;
    }
    read->count += (uint32_t)count;
    transaction->element_count += count;
    return true;
}

/* The rows of a sequence: one with all of its elements, or one for each. */
static void take_sequence(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    const bool pairs = turn->transaction->ops[op].kind == RIG_OP_READ_WHERE;
    const bool many = pairs || rig_my_schema_has_element_rows(&turn->session->run->schema);
    struct rig_read read = {.state = RIG_READ_NIL, .first_element = turn->transaction->element_count};
    const char *text = NULL;
    size_t length = 0;
    enum cell cell;
    for (uint32_t rows = 0; (cell = next_cell(turn->session, answer, &text, &length)) != CELL_NONE; rows++) {
        if (cell == CELL_NULL && rows == 0 && turn->session->run->schema.prefilled) {
            read.state = RIG_READ_SEEN; /* a list without elements */
            continue;
        }
        if (cell != CELL_TEXT || (rows > 0 && !many)) {
            rig_my_turn_lose_step(turn, "a read needs one row or none as its answer");
            return;
        }
        read.state = RIG_READ_SEEN;
        if ((length > 0 || !pairs) && !take_text(turn, &read, text, length))
            return;
    }
    if (pairs && read.count == 0)
        read.state = RIG_READ_NIL;
    turn->transaction->reads[op] = read;
}

static void take_number(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    struct rig_read *read = &turn->transaction->reads[op];
    const char *text = NULL;
    size_t length = 0;
    int64_t value = 0;
    enum cell cell = next_cell(turn->session, answer, &text, &length);
    if (cell == CELL_NULL && turn->session->run->schema.prefilled) /* a row without a value is the only one, too */
        cell = next_cell(turn->session, answer, &text, &length) == CELL_NONE ? CELL_NONE : CELL_BAD;
    if (cell == CELL_NONE) {
        read->state = RIG_READ_NIL;
        return;
    }
    if (cell == CELL_TEXT && !rig_sql_int_parse(text, length, &value))
        rig_my_turn_fail(turn, turn->phase, RIG_SQL_MALFORMED, "a value that this driver cannot have written");
    else if (cell != CELL_TEXT)
        rig_my_turn_lose_step(turn, "a read needs a value as its answer");
    else if (next_cell(turn->session, answer, &text, &length) != CELL_NONE)
        rig_my_turn_lose_step(turn, "a read needs one row or none as its answer");
    else
        *read = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
}

static void take(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    const enum rig_op_kind kind = turn->transaction->ops[op].kind;
    if (rig_sql_compares(turn->transaction, op) && answer->affected == 0)
        rig_my_turn_fail(turn, turn->phase, RIG_SQL_MISMATCH, NULL);
    if (!rig_op_reads(kind))
        return;
    if (kind == RIG_OP_DEQUEUE || kind == RIG_OP_POP)
        turn->transaction->reads[op] = (struct rig_read){.state = answer->affected == 0 ? RIG_READ_NIL : RIG_READ_SEEN,
                                                         .value = (int64_t)answer->insert_id};
    else if (rig_op_reads_sequence(kind))
        take_sequence(turn, op, answer);
    else
        take_number(turn, op, answer);
}

/* ---- one request of statements as text ---- */

/* An answer to a statement that gives no rows. */
#define NO_ROWS ""
/* An answer to a statement that is not rig's. */
#define ANY_FORM NULL

/* Whether the server reports the state of the transaction that the statement leaves. */
static bool check_state(struct rig_my_turn *turn, enum rig_phase answered, const char *text)
{
    if (answered != RIG_PHASE_COMMIT)
        return rig_my_turn_check_open(turn);
    if ((turn->connection->my->server_status & SERVER_STATUS_IN_TRANS) == 0)
        return true;
    turn->session_lost = true;
    if (text == ANY_FORM) /* a query after the COMMIT has opened one */
        return true;
    rig_my_turn_lose_step(turn, "the transaction is still open after COMMIT");
    return false;
}

/*
 * Takes the next statement's answer; `sent`: the request went out with the first one; `text`: the statement, NO_ROWS or
 * ANY_FORM. Inside the transaction the server must report that one is open. False, and the turn failed, when there is
 * no answer, it does not answer the statement, or it is an error.
 */
static bool next_answer(struct rig_my_turn *turn, bool *sent, enum rig_phase answered, const char *text,
                        struct rig_my_answer *answer)
{
    struct rig_my_connection *connection = turn->connection;
    const struct rig_buf *sql = &turn->session->sql;
    *answer = (struct rig_my_answer){0};
    bool there = !*sent || mysql_more_results(connection->my);
    if (!there) {
        rig_my_turn_lose_step(turn, "the server answered fewer statements than it was sent");
        return false;
    }
    if (!*sent && !rig_my_turn_check_quiet(turn))
        return false;
    there = *sent ? rig_my_next(connection) : rig_my_send(connection, sql->data, sql->size);
    *sent = true;
    if (there)
        there = rig_my_rows(connection, &answer->result);
    if (!there) {
        rig_my_turn_fail_request(turn, answered);
        return false;
    }
    answer->affected = mysql_affected_rows(connection->my);
    answer->insert_id = mysql_insert_id(connection->my);
    if ((text == ANY_FORM || rig_my_turn_check_form(turn, text, answer->result != NULL)) &&
        check_state(turn, answered, text))
        return true;
    rig_my_answer_release(answer);
    return false;
}

static void separate(struct rig_buf *sql)
{
    if (sql->size > 0)
        rig_buf_add_char(sql, ';');
}

/* The statement that sets the savepoint before the first operation that is undone, or returns to it behind the last
 * one; NULL: none stands before operation `op`. */
static const char *savepoint_before(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_rollback *rollback = &transaction->rollback;
    if (!rig_rollback_wanted(rollback))
        return NULL;
    return op == rollback->from ? "SAVEPOINT rig_savepoint"
           : op == rollback->to ? "ROLLBACK TO SAVEPOINT rig_savepoint"
                                : NULL;
}

/* The same in a request of several statements; without them it is a request of its own. */
static const char *savepoint_within(const struct rig_my_turn *turn, uint32_t op)
{
    return rig_my_pipelines(turn->session->run->options) ? savepoint_before(turn->transaction, op) : NULL;
}

static void run_savepoint(struct rig_my_turn *turn, uint32_t op)
{
    const char *savepoint = savepoint_before(turn->transaction, op);
    struct rig_my_answer answer;
    bool sent = false;
    if (savepoint == NULL || rig_my_pipelines(turn->session->run->options))
        return;
    turn->phase = RIG_PHASE_OPERATION;
    rig_buf_clear(&turn->session->sql);
    turn->session->sql.failed = false;
    rig_buf_add_text(&turn->session->sql, savepoint);
    if (next_answer(turn, &sent, RIG_PHASE_OPERATION, NO_ROWS, &answer))
        rig_my_answer_release(&answer);
}

/* Writes the request. False, and the turn failed, when it must not be sent. */
static bool compose(struct rig_my_turn *turn, const struct batch *batch)
{
    struct rig_my_session *session = turn->session;
    const struct rig_my_schema *schema = &session->run->schema;
    struct rig_buf *sql = &session->sql;
    rig_buf_clear(sql);
    sql->failed = false;
    if (batch->begins && turn->xid[0] != '\0')
        rig_buf_printf(sql, "XA START %s", turn->xid);
    else if (batch->begins)
        rig_buf_add_text(sql, rig_my_schema_begin(schema, turn->transaction->read_only));
    for (uint32_t op = batch->from; op < batch->to; op++) {
        struct rig_sql_numbers numbers;
        if (!rig_sql_affords(&session->run->env->accounts, turn->transaction, op)) {
            rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_POOR, NULL);
            return false;
        }
        const uint32_t number = rig_my_schema_of_op(schema, turn->transaction, op, &numbers);
        const char *savepoint = savepoint_within(turn, op);
        if (savepoint != NULL) {
            separate(sql);
            rig_buf_add_text(sql, savepoint);
        }
        if (number == UINT32_MAX)
            continue;
        const int64_t values[] = {numbers.key, numbers.value, numbers.expected, numbers.further};
        uint32_t steps[RIG_MY_STEPS];
        const uint32_t count = rig_my_schema_steps(schema, number, steps);
        for (uint32_t i = 0; i < count; i++) {
            separate(sql);
            rig_my_statement_print(&schema->statements[steps[i]], values, sql);
        }
    }
    if (batch->commits)
        separate(sql);
    if (batch->commits && turn->xid[0] != '\0')
        rig_buf_printf(sql, "XA END %s;XA PREPARE %s", turn->xid, turn->xid);
    else if (batch->commits)
        rig_buf_add_text(sql, "COMMIT");
    if (sql->failed)
        rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_MY_TOO_LONG, NULL);
    return !sql->failed;
}

/* Takes the answers to XA END and XA PREPARE. */
static void take_preparation(struct rig_my_turn *turn, bool *sent)
{
    struct rig_my_answer answer;
    turn->ending = true;
    turn->prepared = next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer) &&
                     next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer);
    turn->ending = false;
    if (turn->prepared)
        (void)atomic_fetch_add(&turn->session->run->two_phase.prepared, 1);
}

/* The second phase. */
static void commit_prepared(struct rig_my_turn *turn)
{
    struct rig_my_answer answer;
    struct rig_buf *sql = &turn->session->sql;
    bool sent = false;
    rig_buf_clear(sql);
    sql->failed = false;
    rig_buf_printf(sql, "XA COMMIT %s", turn->xid);
    turn->phase = RIG_PHASE_COMMIT;
    turn->committed = next_answer(turn, &sent, RIG_PHASE_COMMIT, NO_ROWS, &answer) && !turn->failed;
    if (turn->committed)
        (void)atomic_fetch_add(&turn->session->run->two_phase.committed, 1);
}

/* Takes the answers to an operation's statements; false when no later answer proves anything. */
static bool take_op(struct rig_my_turn *turn, uint32_t op, bool *sent)
{
    const struct rig_my_schema *schema = &turn->session->run->schema;
    struct rig_sql_numbers numbers;
    struct rig_my_answer answer;
    uint32_t steps[RIG_MY_STEPS];
    if (savepoint_within(turn, op) != NULL && !next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer))
        return false;
    const uint32_t count =
        rig_my_schema_steps(schema, rig_my_schema_of_op(schema, turn->transaction, op, &numbers), steps);
    for (uint32_t i = 0; i < count; i++) {
        if (!next_answer(turn, sent, RIG_PHASE_OPERATION, schema->statements[steps[i]].text, &answer))
            return false;
        if (!turn->failed && i + 1 == count)
            take(turn, op, &answer);
        rig_my_answer_release(&answer);
    }
    return !turn->transaction->answers_void;
}

/* Reads all answers, also after one that cannot be taken, so that the fate of a COMMIT behind it is known. */
static void run_texts(struct rig_my_turn *turn, const struct batch *batch)
{
    struct rig_my_answer answer;
    bool sent = false;
    if (!compose(turn, batch) || turn->session->sql.size == 0)
        return;
    const bool decides = batch->commits && turn->xid[0] == '\0';
    turn->executes = turn->executes || batch->commits || batch->to > batch->from;
    turn->phase = decides                                     ? RIG_PHASE_COMMIT
                  : batch->begins && batch->from == batch->to ? RIG_PHASE_BEGIN
                                                              : RIG_PHASE_OPERATION;
    if (batch->begins && !next_answer(turn, &sent, RIG_PHASE_BEGIN, NO_ROWS, &answer))
        return;
    for (uint32_t op = batch->from; op < batch->to; op++) {
        if (!take_op(turn, op, &sent))
            return;
    }
    if (batch->commits && !decides)
        take_preparation(turn, &sent);
    else if (batch->commits && !next_answer(turn, &sent, RIG_PHASE_COMMIT, NO_ROWS, &answer))
        return;
    turn->committed = decides && !turn->failed;
    if (mysql_more_results(turn->connection->my))
        rig_my_turn_lose_step(turn, "the server answered more statements than it was sent");
}

/* ---- prepared statements ---- */

static void bind_values(const struct rig_my_statement *statement, const int64_t *values, MYSQL_BIND *binds)
{
    memset(binds, 0, RIG_MY_VALUES_MOST * sizeof *binds);
    for (uint32_t i = 0; i < statement->value_count; i++) {
        binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
        binds[i].buffer = (void *)(uintptr_t)&values[statement->order[i]]; /* only read */
    }
}

static bool perform_prepared(struct rig_my_turn *turn, uint32_t number, const int64_t *values,
                             struct rig_my_answer *answer)
{
    const struct rig_my_schema *schema = &turn->session->run->schema;
    const struct rig_my_statement *statement = &schema->statements[number];
    MYSQL_BIND binds[RIG_MY_VALUES_MOST];
    MYSQL_STMT *failed = NULL;
    if (!rig_my_turn_check_quiet(turn))
        return false;
    bind_values(statement, values, binds);
    MYSQL_STMT *done =
        rig_my_execute(turn->connection, number, schema->statement_count, statement->text, binds, &failed);
    if (done == NULL && failed != NULL) {
        rig_my_turn_fail_answer(turn, RIG_PHASE_OPERATION, mysql_stmt_errno(failed), mysql_stmt_sqlstate(failed),
                                mysql_stmt_error(failed));
        return false;
    }
    if (done == NULL) {
        rig_my_turn_fail_request(turn, RIG_PHASE_OPERATION);
        return false;
    }
    *answer = (struct rig_my_answer){.affected = mysql_stmt_affected_rows(done),
                                     .insert_id = mysql_stmt_insert_id(done),
                                     .statement = mysql_stmt_field_count(done) > 0 ? done : NULL};
    if (rig_my_turn_check_form(turn, statement->text, answer->statement != NULL) && rig_my_turn_check_open(turn))
        return true;
    rig_my_answer_release(answer);
    return false;
}

bool rig_my_turn_perform(struct rig_my_turn *turn, uint32_t number, const int64_t *values, struct rig_my_answer *answer)
{
    struct rig_my_session *session = turn->session;
    bool sent = false;
    *answer = (struct rig_my_answer){0};
    turn->phase = RIG_PHASE_OPERATION;
    turn->executes = true;
    if (session->run->options->sql.prepared)
        return perform_prepared(turn, number, values, answer);
    rig_buf_clear(&session->sql);
    session->sql.failed = false;
    rig_my_statement_print(&session->run->schema.statements[number], values, &session->sql);
    if (session->sql.failed) {
        rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_MY_TOO_LONG, NULL);
        return false;
    }
    if (next_answer(turn, &sent, RIG_PHASE_OPERATION, session->run->schema.statements[number].text, answer) &&
        !mysql_more_results(turn->connection->my))
        return true;
    if (!turn->failed)
        rig_my_turn_lose_step(turn, "the server answered more statements than it was sent");
    rig_my_answer_release(answer);
    return false;
}

static void run_prepared(struct rig_my_turn *turn, uint32_t op)
{
    struct rig_sql_numbers numbers;
    struct rig_my_answer answer;
    if (!rig_sql_affords(&turn->session->run->env->accounts, turn->transaction, op)) {
        rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_POOR, NULL);
        return;
    }
    const struct rig_my_schema *schema = &turn->session->run->schema;
    const uint32_t number = rig_my_schema_of_op(schema, turn->transaction, op, &numbers);
    const int64_t values[] = {numbers.key, numbers.value, numbers.expected, numbers.further};
    uint32_t steps[RIG_MY_STEPS];
    const uint32_t count = rig_my_schema_steps(schema, number, steps);
    for (uint32_t i = 0; !turn->failed && i < count; i++) {
        if (rig_my_turn_perform(turn, steps[i], values, &answer) && i + 1 == count)
            take(turn, op, &answer);
        rig_my_answer_release(&answer);
    }
}

/* ---- the transaction ---- */

static bool pauses_before(const struct rig_my_turn *turn, uint32_t op)
{
    const struct rig_transaction *transaction = turn->transaction;
    const bool comes_later = turn->xid[0] != '\0' && op == transaction->op_count; /* between the two phases */
    return (transaction->hold.wanted && transaction->hold.before_op == op && !comes_later) ||
           (transaction->delayed && op > 0 && op < transaction->op_count);
}

/* The time of a pause does not count. */
static void move_deadline(struct rig_my_turn *turn, int64_t start_ns)
{
    turn->deadline_ns += turn->session->run->env->core->now_ns() - start_ns;
    turn->connection->deadline_ns = turn->deadline_ns;
}

void rig_my_turn_hold(struct rig_my_turn *turn)
{
    const struct rig_core *core = turn->session->run->env->core;
    const int64_t start_ns = core->now_ns();
    (void)core->hold(turn->transaction);
    move_deadline(turn, start_ns);
}

/* Pauses as the transaction requires. */
static void pause_before(struct rig_my_turn *turn, uint32_t op)
{
    const struct rig_core *core = turn->session->run->env->core;
    const struct rig_transaction *transaction = turn->transaction;
    const int64_t start_ns = core->now_ns();
    if (transaction->delayed && op > 0 && op < transaction->op_count)
        (void)core->delay(turn->transaction);
    move_deadline(turn, start_ns);
    if (transaction->hold.wanted && transaction->hold.before_op == op)
        rig_my_turn_hold(turn);
}

/* Whether the operation depends on a read that the request already has. */
static bool waits(const struct rig_my_turn *turn, const struct batch *batch, uint32_t op)
{
    const uint32_t read = rig_sql_builds_on(turn->transaction, op);
    return read != UINT32_MAX && read >= batch->from;
}

/* Extends the request from its first operation, before which the transaction has paused. */
static void extend(const struct rig_my_turn *turn, struct batch *batch)
{
    const struct rig_transaction *transaction = turn->transaction;
    const uint32_t count = transaction->op_count;
    if (!rig_my_pipelines(turn->session->run->options)) {
        batch->commits = !batch->begins && batch->to == count;
        batch->to += !batch->begins && batch->to < count;
        return;
    }
    bool fresh = batch->begins; /* a pause before the next operation is still to come */
    while (batch->to < count && !(fresh && pauses_before(turn, batch->to)) && !waits(turn, batch, batch->to)) {
        batch->to++;
        fresh = true;
    }
    batch->commits = batch->to == count && !(fresh && pauses_before(turn, count));
}

/* Asks the database for a timestamp of the transaction. Where it gives none the turn failed, unless it has committed. */
static void take_timestamp(struct rig_my_turn *turn, const char *sql, enum rig_column column, enum rig_phase answered)
{
    struct rig_my_answer answer;
    bool sent = false;
    const char *text = NULL;
    size_t length = 0;
    int64_t timestamp = 0;
    if (sql == NULL || sql[0] == '\0')
        return;
    rig_buf_clear(&turn->session->sql);
    turn->session->sql.failed = false;
    rig_buf_add_text(&turn->session->sql, sql);
    if (!next_answer(turn, &sent, answered, ANY_FORM, &answer))
        return;
    if (next_cell(turn->session, &answer, &text, &length) == CELL_TEXT &&
        rig_sql_timestamp_parse(text, length, &timestamp))
        rig_column_give(&turn->transaction->columns, column, timestamp);
    else
        rig_my_turn_fail(turn, turn->phase, RIG_SQL_PROTOCOL, "begin-ts and commit-ts need one number as their answer");
    rig_my_answer_release(&answer);
}

/* ---- views ---- */

/* Asks for one answer; false, and the turn failed unless it has committed, where there is none. */
static bool ask(struct rig_my_turn *turn, const char *sql, enum rig_phase answered, struct rig_my_answer *answer)
{
    bool sent = false;
    rig_buf_clear(&turn->session->sql);
    turn->session->sql.failed = false;
    rig_buf_add_text(&turn->session->sql, sql);
    return next_answer(turn, &sent, answered, ANY_FORM, answer);
}

static bool take_gtid(struct rig_my_turn *turn, const char *sql, enum rig_phase answered, uint64_t *number)
{
    struct rig_my_answer answer;
    const char *text = NULL;
    size_t length = 0;
    if (!ask(turn, sql, answered, &answer))
        return false;
    const bool given =
        next_cell(turn->session, &answer, &text, &length) == CELL_TEXT && rig_my_gtid_parse(text, length, number);
    rig_my_answer_release(&answer);
    return given;
}

/* The last commit before the transaction's own: everything that it read is locked until then. There may be none yet. */
static void take_last_commit(struct rig_my_turn *turn)
{
    turn->has_last = take_gtid(turn, "SELECT @@gtid_binlog_pos", RIG_PHASE_OPERATION, &turn->last) && !turn->failed;
}

/* Behind COMMIT: the transaction's own number, and its view. The variable keeps that of an earlier transaction where this one
 * changed nothing. */
static void take_view(struct rig_my_turn *turn)
{
    struct rig_my_session *session = turn->session;
    uint64_t number = 0;
    if (!turn->committed || !turn->has_last || turn->connection != &session->main)
        return;
    if (!take_gtid(turn, "SELECT @@last_gtid", RIG_PHASE_COMMIT, &number) && turn->session_lost)
        return;
    const bool own = number > session->last_gtid;
    session->last_gtid = own ? number : session->last_gtid;
    rig_my_view_take(&session->run->views, session->client, turn->transaction, turn->last, own ? number : 0);
}

static void take_begin(struct rig_my_turn *turn)
{
    if (!turn->failed)
        take_timestamp(turn, turn->session->run->options->sql.begin_ts, RIG_COLUMN_START_TS, RIG_PHASE_OPERATION);
}

static void take_commit(struct rig_my_turn *turn)
{
    if (turn->committed)
        take_timestamp(turn, turn->session->run->options->sql.commit_ts, RIG_COLUMN_COMMIT_TS, RIG_PHASE_COMMIT);
}

void rig_my_batch_run(struct rig_my_turn *turn)
{
    struct batch batch = {.begins = true};
    if (!rig_my_turn_check_quiet(turn))
        return;
    while (!turn->failed && !batch.commits) {
        batch.from = batch.to;
        if (!batch.begins && pauses_before(turn, batch.from))
            pause_before(turn, batch.from);
        extend(turn, &batch);
        if (batch.to > batch.from)
            run_savepoint(turn, batch.from);
        if (!turn->failed && batch.commits && turn->session->run->views.logs != NULL)
            take_last_commit(turn);
        if (turn->failed)
            return;
        if (turn->session->run->options->sql.prepared && batch.to > batch.from)
            run_prepared(turn, batch.from);
        else
            run_texts(turn, &batch);
        if (batch.begins)
            take_begin(turn);
        batch.begins = false;
    }
    if (turn->prepared && !turn->failed) {
        const struct rig_hold *hold = &turn->transaction->hold;
        if (hold->wanted && hold->before_op == turn->transaction->op_count)
            rig_my_turn_hold(turn);
        commit_prepared(turn);
    }
    take_commit(turn);
    if (turn->session->run->views.logs != NULL)
        take_view(turn);
    if (turn->committed)
        (void)rig_my_turn_check_quiet(turn);
}

bool rig_my_turn_begin(struct rig_my_turn *turn)
{
    run_texts(turn, &(struct batch){.begins = true});
    take_begin(turn);
    return !turn->failed;
}

void rig_my_turn_commit(struct rig_my_turn *turn)
{
    run_texts(turn, &(struct batch){.commits = true});
    if (turn->prepared && !turn->failed)
        commit_prepared(turn);
    take_commit(turn);
    if (turn->committed)
        (void)rig_my_turn_check_quiet(turn);
}

/* Sends a statement that ends a transaction, or a part of it. */
static bool end_by(struct rig_my_turn *turn, const char *statement)
{
    struct rig_my_connection *connection = turn->connection;
    struct rig_buf *sql = &turn->session->sql;
    rig_buf_clear(sql);
    sql->failed = false;
    rig_buf_printf(sql, "%s%s%s", statement, turn->xid[0] != '\0' ? " " : "", turn->xid);
    return connection->reason == NULL && rig_my_send(connection, sql->data, sql->size) &&
           mysql_field_count(connection->my) == 0 && !mysql_more_results(connection->my);
}

bool rig_my_turn_roll_back(struct rig_my_turn *turn)
{
    const bool has_xid = turn->xid[0] != '\0';
    /* It is an error where XA END came before, or the server has rolled back: XA ROLLBACK is still necessary. */
    if (has_xid && !turn->prepared)
        (void)end_by(turn, "XA END");
    return end_by(turn, has_xid ? "XA ROLLBACK" : "ROLLBACK") &&
           (turn->connection->my->server_status & SERVER_STATUS_IN_TRANS) == 0;
}

bool rig_my_turn_is_in_step(struct rig_my_turn *turn)
{
    static const char question[] = "SELECT 'rig asks'";
    struct rig_my_answer answer = {0};
    const char *text = NULL;
    size_t length = 0;
    const bool answered = rig_my_send(turn->connection, question, sizeof question - 1) &&
                          rig_my_rows(turn->connection, &answer.result) &&
                          next_cell(turn->session, &answer, &text, &length) == CELL_TEXT &&
                          length == strlen("rig asks") && memcmp(text, "rig asks", length) == 0;
    rig_my_answer_release(&answer);
    return answered && !mysql_more_results(turn->connection->my) && !rig_my_has_unasked(turn->connection);
}
