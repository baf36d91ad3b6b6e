#include "drivers/mysql/my_batch.h"

#include <string.h>

#include "base/bug.h"
#include "drivers/mysql/my_answer.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_ops.h"

/* A request: BEGIN, the statements of operations `from` to `to` - 1, COMMIT. The last one of a transaction that is to
 * be rolled back has no COMMIT. */
struct batch {
    bool begins, commits, is_last;
    uint32_t from, to;
};

/* ---- one request of statements as text ---- */

/* An answer to a statement that gives no rows. */
#define NO_ROWS ""
/* An answer to a statement that is not rig's. */
#define ANY_FORM NULL

/* Whether the server reports the state of the transaction that the statement leaves. */
static bool check_state(struct rig_my_turn *turn, enum rig_phase answered, const char *text)
{
    if (answered == RIG_PHASE_CONNECT)
        return true;
    if (answered != RIG_PHASE_COMMIT)
        return rig_my_turn_check_open(turn);
    if ((rig_my_connection_of(turn)->my->server_status & SERVER_STATUS_IN_TRANS) == 0)
        return true;
    turn->sql.session_lost = true;
    if (text == ANY_FORM) /* a query after the COMMIT has opened one */
        return true;
    rig_sql_turn_lose_step(&turn->sql, "the transaction is still open after COMMIT");
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
    struct rig_my_connection *connection = rig_my_connection_of(turn);
    const struct rig_buf *sql = &rig_my_connection_of(turn)->request;
    *answer = (struct rig_my_answer){0};
    bool there = !*sent || mysql_more_results(connection->my);
    if (!there) {
        rig_sql_turn_lose_step(&turn->sql, "the server answered fewer statements than it was sent");
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
    return rig_my_pipelines(rig_my_run_of(turn)->options) ? savepoint_before(turn->sql.transaction, op) : NULL;
}

static void run_savepoint(struct rig_my_turn *turn, uint32_t op)
{
    const char *savepoint = savepoint_before(turn->sql.transaction, op);
    struct rig_my_answer answer;
    bool sent = false;
    if (savepoint == NULL || rig_my_pipelines(rig_my_run_of(turn)->options))
        return;
    turn->sql.phase = RIG_PHASE_OPERATION;
    rig_buf_clear(&rig_my_connection_of(turn)->request);
    rig_my_connection_of(turn)->request.failed = false;
    rig_buf_add_text(&rig_my_connection_of(turn)->request, savepoint);
    if (next_answer(turn, &sent, RIG_PHASE_OPERATION, NO_ROWS, &answer))
        rig_my_answer_release(&answer);
}

/* The statements of the workload sql of operation `op`. */
static void compose_random(const struct rig_my_turn *turn, uint32_t op, struct rig_buf *sql)
{
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    const struct rig_transaction *transaction = turn->sql.transaction;
    const uint64_t tables = (uint64_t)schema->options->sql.tables;
    char table[RIG_MY_TABLE_BYTES], other[RIG_MY_TABLE_BYTES];
    rig_my_schema_table(schema, (uint32_t)((uint64_t)transaction->ops[op].key % tables), table);
    rig_my_schema_table(schema, (uint32_t)((uint64_t)rig_sql_random_other_key(transaction, op) % tables), other);
    const uint32_t count = rig_sql_random_parts(RIG_SQL_RANDOM_MYSQL, transaction, op);
    for (uint32_t part = 0; part < count; part++) {
        separate(sql);
        rig_sql_random_print(RIG_SQL_RANDOM_MYSQL, &(struct rig_sql_random_tables){table, other}, transaction, op, part,
                             sql);
    }
}

static bool has_own_level(const struct rig_my_turn *turn)
{
    return rig_sql_given(rig_my_run_of(turn)->options->sql.isolation_shares);
}

/* Writes the request. False, and the turn failed, when it must not be sent. */
static bool compose(struct rig_my_turn *turn, const struct batch *batch)
{
    struct rig_my_connection *connection = rig_my_connection_of(turn);
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    struct rig_buf *sql = &connection->request;
    rig_buf_clear(sql);
    sql->failed = false;
    if (batch->begins && has_own_level(turn))
        rig_buf_printf(sql, "SET TRANSACTION ISOLATION LEVEL %s;", rig_sql_isolation_sql[turn->sql.isolation]);
    if (batch->begins && turn->sql.name[0] != '\0')
        rig_buf_printf(sql, "XA START %s", turn->sql.name);
    else if (batch->begins)
        rig_buf_add_text(sql, rig_my_schema_begin(schema, turn->sql.transaction->read_only));
    for (uint32_t op = batch->from; op < batch->to; op++) {
        struct rig_sql_numbers numbers;
        if (schema->workload == RIG_WORKLOAD_SQL) {
            compose_random(turn, op, sql);
            continue;
        }
        if (!rig_sql_turn_affords(&turn->sql, op))
            return false;
        const uint32_t number = rig_my_schema_of_op(schema, turn->sql.transaction, op, &numbers);
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
    if (batch->commits && turn->sql.name[0] != '\0')
        rig_buf_printf(sql, "XA END %s;XA PREPARE %s", turn->sql.name, turn->sql.name);
    else if (batch->commits)
        rig_buf_add_text(sql, "COMMIT");
    if (sql->failed)
        rig_sql_turn_fail(&turn->sql, RIG_PHASE_OPERATION, RIG_MY_TOO_LONG, NULL);
    return !sql->failed;
}

/* Takes the answers to XA END and XA PREPARE. */
static void take_preparation(struct rig_my_turn *turn, bool *sent)
{
    struct rig_my_answer answer;
    turn->ending = true;
    turn->sql.prepared = next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer) &&
                         next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer);
    turn->ending = false;
    if (turn->sql.prepared)
        (void)atomic_fetch_add(&turn->sql.session->run->two_phase.prepared, 1);
}

/* The second phase. */
static void commit_prepared(struct rig_my_turn *turn)
{
    struct rig_my_answer answer;
    struct rig_buf *sql = &rig_my_connection_of(turn)->request;
    bool sent = false;
    rig_buf_clear(sql);
    sql->failed = false;
    rig_buf_printf(sql, "XA COMMIT %s", turn->sql.name);
    turn->sql.phase = RIG_PHASE_COMMIT;
    turn->sql.committed = next_answer(turn, &sent, RIG_PHASE_COMMIT, NO_ROWS, &answer) && !turn->sql.failed;
    if (turn->sql.committed)
        (void)atomic_fetch_add(&turn->sql.session->run->two_phase.committed, 1);
}

/* The same for the workload sql: the last statement of a read, an update or a delete gives the rows. */
static bool take_random(struct rig_my_turn *turn, uint32_t op, bool *sent)
{
    struct rig_my_answer answer;
    const uint32_t count = rig_sql_random_parts(RIG_SQL_RANDOM_MYSQL, turn->sql.transaction, op);
    for (uint32_t part = 0; part < count; part++) {
        const bool gives_rows = part + 1 == count && rig_op_reads(turn->sql.transaction->ops[op].kind);
        if (!next_answer(turn, sent, RIG_PHASE_OPERATION, gives_rows ? "SELECT " : NO_ROWS, &answer))
            return false;
        if (!turn->sql.failed && part + 1 == count)
            rig_my_answer_take(turn, op, &answer);
        rig_my_answer_release(&answer);
    }
    return !turn->sql.transaction->answers_void;
}

/* Takes the answers to an operation's statements; false when no later answer proves anything. */
static bool take_op(struct rig_my_turn *turn, uint32_t op, bool *sent)
{
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    struct rig_sql_numbers numbers;
    struct rig_my_answer answer;
    uint32_t steps[RIG_MY_STEPS];
    if (savepoint_within(turn, op) != NULL && !next_answer(turn, sent, RIG_PHASE_OPERATION, NO_ROWS, &answer))
        return false;
    const uint32_t count =
        rig_my_schema_steps(schema, rig_my_schema_of_op(schema, turn->sql.transaction, op, &numbers), steps);
    for (uint32_t i = 0; i < count; i++) {
        if (!next_answer(turn, sent, RIG_PHASE_OPERATION, schema->statements[steps[i]].text, &answer))
            return false;
        if (!turn->sql.failed && i + 1 == count)
            rig_my_answer_take(turn, op, &answer);
        rig_my_answer_release(&answer);
    }
    return !turn->sql.transaction->answers_void;
}

/* Reads all answers, also after one that cannot be taken, so that the fate of a COMMIT behind it is known. */
static void run_texts(struct rig_my_turn *turn, const struct batch *batch)
{
    struct rig_my_answer answer;
    bool sent = false;
    if (!compose(turn, batch) || rig_my_connection_of(turn)->request.size == 0)
        return;
    const bool of_sql = rig_my_run_of(turn)->schema.workload == RIG_WORKLOAD_SQL;
    const bool decides = batch->commits && turn->sql.name[0] == '\0';
    turn->sql.may_commit = turn->sql.may_commit || batch->commits || batch->to > batch->from;
    turn->sql.phase = decides                                     ? RIG_PHASE_COMMIT
                      : batch->begins && batch->from == batch->to ? RIG_PHASE_BEGIN
                                                                  : RIG_PHASE_OPERATION;
    /* The level is set before the transaction is there. */
    if (batch->begins && has_own_level(turn) && !next_answer(turn, &sent, RIG_PHASE_CONNECT, NO_ROWS, &answer))
        return;
    if (batch->begins && !next_answer(turn, &sent, RIG_PHASE_BEGIN, NO_ROWS, &answer))
        return;
    for (uint32_t op = batch->from; op < batch->to; op++) {
        if (!(of_sql ? take_random : take_op)(turn, op, &sent))
            return;
    }
    if (batch->commits && !decides)
        take_preparation(turn, &sent);
    else if (batch->commits && !next_answer(turn, &sent, RIG_PHASE_COMMIT, NO_ROWS, &answer))
        return;
    turn->sql.committed = decides && !turn->sql.failed;
    if (mysql_more_results(rig_my_connection_of(turn)->my))
        rig_sql_turn_lose_step(&turn->sql, "the server answered more statements than it was sent");
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
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    const struct rig_my_statement *statement = &schema->statements[number];
    MYSQL_BIND binds[RIG_MY_VALUES_MOST];
    MYSQL_STMT *failed = NULL;
    if (!rig_my_turn_check_quiet(turn))
        return false;
    bind_values(statement, values, binds);
    MYSQL_STMT *done =
        rig_my_execute(rig_my_connection_of(turn), number, schema->statement_count, statement->text, binds, &failed);
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

/* Runs statement `number` of the schema with its values; false, and the turn failed, on an error. Release the answer.
 * */
static bool perform(struct rig_my_turn *turn, uint32_t number, const int64_t *values, struct rig_my_answer *answer)
{
    struct rig_my_connection *connection = rig_my_connection_of(turn);
    bool sent = false;
    *answer = (struct rig_my_answer){0};
    turn->sql.phase = RIG_PHASE_OPERATION;
    turn->sql.may_commit = true;
    if (rig_my_run_of(turn)->options->sql.prepared)
        return perform_prepared(turn, number, values, answer);
    rig_buf_clear(&connection->request);
    connection->request.failed = false;
    rig_my_statement_print(&rig_my_run_of(turn)->schema.statements[number], values, &connection->request);
    if (connection->request.failed) {
        rig_sql_turn_fail(&turn->sql, RIG_PHASE_OPERATION, RIG_MY_TOO_LONG, NULL);
        return false;
    }
    if (next_answer(turn, &sent, RIG_PHASE_OPERATION, rig_my_run_of(turn)->schema.statements[number].text, answer) &&
        !mysql_more_results(rig_my_connection_of(turn)->my))
        return true;
    if (!turn->sql.failed)
        rig_sql_turn_lose_step(&turn->sql, "the server answered more statements than it was sent");
    rig_my_answer_release(answer);
    return false;
}

static void run_prepared(struct rig_my_turn *turn, uint32_t op)
{
    struct rig_sql_numbers numbers;
    struct rig_my_answer answer;
    if (!rig_sql_turn_affords(&turn->sql, op))
        return;
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    const uint32_t number = rig_my_schema_of_op(schema, turn->sql.transaction, op, &numbers);
    const int64_t values[] = {numbers.key, numbers.value, numbers.expected, numbers.further};
    uint32_t steps[RIG_MY_STEPS];
    const uint32_t count = rig_my_schema_steps(schema, number, steps);
    for (uint32_t i = 0; !turn->sql.failed && i < count; i++) {
        if (perform(turn, steps[i], values, &answer) && i + 1 == count)
            rig_my_answer_take(turn, op, &answer);
        rig_my_answer_release(&answer);
    }
}

/* ---- the transaction ---- */

static bool pauses_before(const struct rig_my_turn *turn, uint32_t op)
{
    return rig_sql_turn_holds_at(&turn->sql, op) || rig_sql_turn_delays_at(&turn->sql, op);
}

/* Pauses as the transaction requires. */
static void pause_before(struct rig_my_turn *turn, uint32_t op)
{
    if (rig_sql_turn_delays_at(&turn->sql, op))
        rig_sql_turn_delay(&turn->sql);
    if (rig_sql_turn_holds_at(&turn->sql, op))
        rig_sql_turn_hold(&turn->sql);
}

/* Whether the operation depends on a read that the request already has. */
static bool waits(const struct rig_my_turn *turn, const struct batch *batch, uint32_t op)
{
    const uint32_t read = rig_sql_builds_on(turn->sql.transaction, op);
    return read != UINT32_MAX && read >= batch->from;
}

/* Extends the request from its first operation, before which the transaction has paused. */
static void extend(const struct rig_my_turn *turn, struct batch *batch)
{
    const struct rig_transaction *transaction = turn->sql.transaction;
    const uint32_t count = transaction->op_count;
    if (!rig_my_pipelines(rig_my_run_of(turn)->options)) {
        batch->is_last = !batch->begins && batch->to == count;
        batch->to += !batch->begins && batch->to < count;
        batch->commits = batch->is_last && !transaction->rolls_back;
        return;
    }
    bool fresh = batch->begins; /* a pause before the next operation is still to come */
    while (batch->to < count && !(fresh && pauses_before(turn, batch->to)) && !waits(turn, batch, batch->to)) {
        batch->to++;
        fresh = true;
    }
    batch->is_last = batch->to == count && !(fresh && pauses_before(turn, count));
    batch->commits = batch->is_last && !transaction->rolls_back;
}

/* Asks the database for a timestamp of the transaction. Where it gives none the turn failed, unless it has committed.
 * */
static void take_timestamp(struct rig_my_turn *turn, const char *sql, enum rig_column column, enum rig_phase answered)
{
    struct rig_my_answer answer;
    bool sent = false;
    const char *text = NULL;
    size_t length = 0;
    if (sql == NULL || sql[0] == '\0')
        return;
    rig_buf_clear(&rig_my_connection_of(turn)->request);
    rig_my_connection_of(turn)->request.failed = false;
    rig_buf_add_text(&rig_my_connection_of(turn)->request, sql);
    if (!next_answer(turn, &sent, answered, ANY_FORM, &answer))
        return;
    const bool one = rig_my_answer_cell(rig_my_connection_of(turn), &answer, &text, &length) == RIG_MY_CELL_TEXT;
    (void)rig_sql_turn_take_timestamp(&turn->sql, column, one ? text : NULL, length);
    rig_my_answer_release(&answer);
}

/* ---- views ---- */

/* Asks for one answer; false, and the turn failed unless it has committed, where there is none. */
static bool ask(struct rig_my_turn *turn, const char *sql, enum rig_phase answered, struct rig_my_answer *answer)
{
    bool sent = false;
    rig_buf_clear(&rig_my_connection_of(turn)->request);
    rig_my_connection_of(turn)->request.failed = false;
    rig_buf_add_text(&rig_my_connection_of(turn)->request, sql);
    return next_answer(turn, &sent, answered, ANY_FORM, answer);
}

static bool take_gtid(struct rig_my_turn *turn, const char *sql, enum rig_phase answered, uint64_t *number)
{
    struct rig_my_answer answer;
    const char *text = NULL;
    size_t length = 0;
    if (!ask(turn, sql, answered, &answer))
        return false;
    const bool given = rig_my_answer_cell(rig_my_connection_of(turn), &answer, &text, &length) == RIG_MY_CELL_TEXT &&
                       rig_my_gtid_parse(text, length, number);
    rig_my_answer_release(&answer);
    return given;
}

/* The last commit before the transaction's own: everything that it read is locked until then. There may be none yet. */
static void take_last_commit(struct rig_my_turn *turn)
{
    turn->has_last = take_gtid(turn, "SELECT @@gtid_binlog_pos", RIG_PHASE_OPERATION, &turn->last) && !turn->sql.failed;
}

/* Behind COMMIT: the transaction's own number, and its view. The variable keeps that of an earlier transaction where
 * this one changed nothing. */
static void take_view(struct rig_my_turn *turn)
{
    struct rig_my_connection *connection = rig_my_connection_of(turn);
    uint64_t number = 0;
    if (!turn->sql.committed || !turn->has_last || turn->sql.connection != turn->sql.session->main)
        return;
    if (!take_gtid(turn, "SELECT @@last_gtid", RIG_PHASE_COMMIT, &number) && turn->sql.session_lost)
        return;
    const bool own = number > connection->last_gtid;
    connection->last_gtid = own ? number : connection->last_gtid;
    rig_my_view_take(&rig_my_run_of(turn)->views, turn->sql.session->client, turn->sql.transaction, turn->last,
                     own ? number : 0);
}

static void take_begin(struct rig_my_turn *turn)
{
    if (!turn->sql.failed)
        take_timestamp(turn, rig_my_run_of(turn)->options->sql.begin_ts, RIG_COLUMN_START_TS, RIG_PHASE_OPERATION);
}

static void take_commit(struct rig_my_turn *turn)
{
    if (turn->sql.committed)
        take_timestamp(turn, rig_my_run_of(turn)->options->sql.commit_ts, RIG_COLUMN_COMMIT_TS, RIG_PHASE_COMMIT);
}

/* A request of one operation has its times. */
static void run_request(struct rig_my_turn *turn, const struct batch *batch)
{
    const struct rig_core *core = turn->sql.session->run->env->core;
    const bool is_one = batch->to == batch->from + 1 && !batch->begins && !batch->commits;
    if (is_one)
        rig_op_began(core, turn->sql.transaction, batch->from);
    if (rig_my_run_of(turn)->options->sql.prepared && batch->to > batch->from)
        run_prepared(turn, batch->from);
    else
        run_texts(turn, batch);
    if (is_one)
        rig_op_ended(core, turn->sql.transaction, batch->from);
}

void rig_my_batch_run(struct rig_my_turn *turn)
{
    struct batch batch = {.begins = true};
    if (!rig_my_turn_check_quiet(turn))
        return;
    while (!turn->sql.failed && !batch.is_last) {
        batch.from = batch.to;
        if (!batch.begins && pauses_before(turn, batch.from))
            pause_before(turn, batch.from);
        extend(turn, &batch);
        if (batch.to > batch.from)
            run_savepoint(turn, batch.from);
        if (!turn->sql.failed && batch.commits && rig_my_run_of(turn)->views.logs != NULL)
            take_last_commit(turn);
        if (turn->sql.failed)
            return;
        run_request(turn, &batch);
        if (batch.begins)
            take_begin(turn);
        batch.begins = false;
    }
    if (!turn->sql.failed && rig_sql_turn_rolls_back(&turn->sql))
        return;
    if (turn->sql.prepared && !turn->sql.failed) {
        rig_sql_turn_hold_prepared(&turn->sql);
        commit_prepared(turn);
    }
    take_commit(turn);
    if (rig_my_run_of(turn)->views.logs != NULL)
        take_view(turn);
    if (turn->sql.committed)
        (void)rig_my_turn_check_quiet(turn);
}

bool rig_my_batch_begin(struct rig_sql_turn *sql)
{
    struct rig_my_turn *turn = (struct rig_my_turn *)sql;
    run_texts(turn, &(struct batch){.begins = true});
    take_begin(turn);
    return !turn->sql.failed;
}

void rig_my_batch_commit(struct rig_sql_turn *sql)
{
    struct rig_my_turn *turn = (struct rig_my_turn *)sql;
    run_texts(turn, &(struct batch){.commits = true});
    if (turn->sql.prepared && !turn->sql.failed)
        commit_prepared(turn);
    take_commit(turn);
    if (turn->sql.committed)
        (void)rig_my_turn_check_quiet(turn);
}

/* ---- programs ---- */

/* The rows that an update changed, as they are now. */
static bool select_updated(struct rig_my_turn *turn, uint32_t statement, const int64_t *values, uint64_t changed,
                           struct rig_row_answer *answer)
{
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    const struct rig_row_statement *described = &schema->rows->statements[statement];
    const struct rig_row_table *table = &schema->rows->tables[described->table];
    const uint32_t assigned = rig_row_value_count(described, table) - described->condition_count;
    struct rig_my_answer found;
    if (changed == 0) {
        answer->count = 0;
        return true;
    }
    bool taken = perform(turn, schema->row_statements[statement].selection, values + assigned, &found);
    taken = taken && rig_my_answer_take_rows(turn, table, &found, answer);
    rig_my_answer_release(&found);
    if (!taken || answer->count == changed)
        return taken;
    rig_sql_turn_fail(&turn->sql, RIG_PHASE_OPERATION, RIG_MY_CHANGED, NULL);
    return false;
}

bool rig_my_batch_execute(struct rig_sql_turn *sql, uint32_t index, const int64_t *values,
                          struct rig_row_answer *answer)
{
    struct rig_my_turn *turn = (struct rig_my_turn *)sql;
    const struct rig_my_schema *schema = &rig_my_run_of(turn)->schema;
    const struct rig_row_statement *described = &schema->rows->statements[index];
    struct rig_my_answer done;
    bool taken = perform(turn, schema->row_statements[index].number, values, &done);
    const uint64_t affected = done.affected;
    if (taken && described->act == RIG_ROW_SELECT)
        taken = rig_my_answer_take_rows(turn, &schema->rows->tables[described->table], &done, answer);
    rig_my_answer_release(&done);
    if (!taken || described->act == RIG_ROW_SELECT)
        return taken;
    if (rig_row_gives_rows(described))
        return select_updated(turn, index, values, affected, answer);
    answer->count = (uint32_t)affected;
    return true;
}

/* ---- after an error ---- */

/* Sends a statement that ends a transaction, or a part of it. */
static bool end_by(struct rig_my_turn *turn, const char *statement)
{
    struct rig_my_connection *connection = rig_my_connection_of(turn);
    struct rig_buf *sql = &rig_my_connection_of(turn)->request;
    rig_buf_clear(sql);
    sql->failed = false;
    rig_buf_printf(sql, "%s%s%s", statement, turn->sql.name[0] != '\0' ? " " : "", turn->sql.name);
    return connection->reason == NULL && rig_my_send(connection, sql->data, sql->size) &&
           mysql_field_count(connection->my) == 0 && !mysql_more_results(connection->my);
}

bool rig_my_turn_roll_back(struct rig_my_turn *turn)
{
    const bool has_xid = turn->sql.name[0] != '\0';
    /* It is an error where XA END came before, or the server has rolled back: XA ROLLBACK is still necessary. */
    if (has_xid && !turn->sql.prepared)
        (void)end_by(turn, "XA END");
    return end_by(turn, has_xid ? "XA ROLLBACK" : "ROLLBACK") &&
           (rig_my_connection_of(turn)->my->server_status & SERVER_STATUS_IN_TRANS) == 0;
}

bool rig_my_turn_is_in_step(struct rig_my_turn *turn)
{
    static const char question[] = "SELECT 'rig asks'";
    struct rig_my_answer answer = {0};
    const char *text = NULL;
    size_t length = 0;
    const bool answered = rig_my_send(rig_my_connection_of(turn), question, sizeof question - 1) &&
                          rig_my_rows(rig_my_connection_of(turn), &answer.result) &&
                          rig_my_answer_cell(rig_my_connection_of(turn), &answer, &text, &length) == RIG_MY_CELL_TEXT &&
                          length == strlen("rig asks") && memcmp(text, "rig asks", length) == 0;
    rig_my_answer_release(&answer);
    return answered && !mysql_more_results(rig_my_connection_of(turn)->my) &&
           !rig_my_has_unasked(rig_my_connection_of(turn));
}
