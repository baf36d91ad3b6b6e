#include "drivers/sqlite/sqlite_session.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_values.h"
#include "drivers/sql/sql_wait.h"
#include "drivers/sqlite/sqlite_outcome.h"

enum { NS_PER_MS = 1000000 };
#define NO_OPERATION UINT32_MAX /* in the place of one: a savepoint, or the return to it */

/* ---- opening and closing ---- */

static struct rig_sqlite_setup setup_of(const struct rig_sqlite_run *run)
{
    return (struct rig_sqlite_setup){.socket = run->options->embedded ? NULL : run->cluster.socket,
                                     .database = run->cluster.database,
                                     .busy_ms = (uint32_t)(run->options->busy_timeout_ns / NS_PER_MS),
                                     .shared_cache = run->options->shared_cache,
                                     .script = rig_buf_text(&run->pragmas)};
}

enum rig_rc rig_sqlite_run_open_link(struct rig_sqlite_run *run, struct rig_sqlite_link *link,
                                     struct rig_sqlite_patience *patience, struct rig_err *err)
{
    const struct rig_sqlite_setup setup = setup_of(run);
    const struct rig_core *core = run->env->core;
    *patience = (struct rig_sqlite_patience){
        .core = core, .deadline_ns = rig_sql_own_deadline_ns(core, run->options->sql.transaction_timeout_ns)};
    return rig_sqlite_link_open(link, &setup, patience, err);
}

enum rig_rc rig_sqlite_session_open(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct rig_sqlite_session *session = object;
    struct rig_sqlite_run *run = run_object;
    const struct rig_core *core = run->env->core;
    struct rig_sqlite_setup setup = setup_of(run);
    setup.statements = &run->schema.statements;
    setup.statement_count = run->schema.statement_count;
    session->run = run;
    rig_buf_init(&session->sent, 0);
    rig_wake_arm(&session->wake, &run->wakes, client);
    session->node = core->name(run->cluster.node.name);
    const struct rig_sqlite_patience patience = {
        .core = core, .deadline_ns = core->now_ns() + run->options->sql.connect_timeout_ns, .wake = &session->wake};
    const enum rig_rc rc = rig_sqlite_link_open(&session->link, &setup, &patience, err);
    session->backend = session->link.answer.pid;
    return rc;
}

void rig_sqlite_session_interrupt(void *session)
{
    rig_wake_raise(&((struct rig_sqlite_session *)session)->wake);
}

void rig_sqlite_session_close(void *object, bool last)
{
    struct rig_sqlite_session *session = object;
    (void)last;
    if (session->run == NULL)
        return;
    rig_sqlite_link_close(&session->link);
    rig_buf_done(&session->sent);
    session->run = NULL;
}

/* ---- a transaction under way ---- */

struct turn {
    struct rig_sqlite_session *session;
    struct rig_transaction *transaction;
    struct rig_sqlite_patience patience;
    uint32_t step_count; /* of the message that is being written */
    bool begun;          /* a message with the beginning was answered */
    bool failed;
    bool committed;
    bool session_lost;
    enum rig_phase phase; /* of the failure */
};

static void fail(struct turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    struct rig_transaction *transaction = turn->transaction;
    if (turn->failed)
        return;
    turn->failed = true;
    turn->committed = false;
    turn->phase = phase;
    if (text == NULL || text[0] == '\0')
        text = rig_sql_outcome_find(&rig_sqlite_outcomes, phase, code, "")->reason;
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", text);
    for (char *p = transaction->error_text; *p != '\0'; p++)
        *p = (unsigned char)*p < ' ' ? ' ' : *p;
}

static void begin_message(struct turn *turn)
{
    const struct rig_sqlite_steps steps = {0};
    rig_sqlite_link_begin(&turn->session->link, RIG_SQLITE_STEPS);
    rig_buf_add(&turn->session->link.question, &steps, sizeof steps);
    rig_buf_clear(&turn->session->sent);
    turn->step_count = 0;
}

static void add_call(struct turn *turn, const struct rig_sqlite_call *call, uint32_t op)
{
    struct rig_buf *question = &turn->session->link.question;
    rig_buf_add(question, &call->step, sizeof call->step);
    rig_buf_add(question, call->values, call->step.value_count * sizeof call->values[0]);
    rig_buf_add(&turn->session->sent, &op, sizeof op);
    turn->step_count++;
}

/* No answer: the transaction is given up, and the page decides what that means. */
static void give_up(struct turn *turn, enum rig_sqlite_wait wait)
{
    static const char *const codes[] = {[RIG_SQLITE_GONE] = RIG_SQL_LOST,
                                        [RIG_SQLITE_LATE] = RIG_SQL_TIMEOUT,
                                        [RIG_SQLITE_WOKEN] = RIG_SQL_INTERRUPTED};
    const bool certain = rig_sqlite_link_give_up(&turn->session->link);
    turn->session_lost = true;
    fail(turn, certain ? RIG_PHASE_OPERATION : RIG_PHASE_COMMIT, codes[wait], NULL);
}

/* Sends the message and judges the answer, but for its results. False when the transaction failed. */
static bool exchange(struct turn *turn, enum rig_sqlite_end end)
{
    struct rig_sqlite_link *link = &turn->session->link;
    const uint32_t begin = turn->transaction->read_only ? RIG_SQLITE_BEGIN_READ : RIG_SQLITE_BEGIN;
    const struct rig_sqlite_steps steps = {
        .begin = turn->begun ? 0 : 1 + begin, .end = (uint32_t)end, .step_count = turn->step_count};
    if (!link->question.failed)
        memcpy(link->question.data + sizeof(struct rig_sqlite_head), &steps, sizeof steps);
    const enum rig_sqlite_wait wait = rig_sqlite_link_ask(link, &turn->patience);
    if (wait != RIG_SQLITE_ANSWERED) {
        give_up(turn, wait);
        return false;
    }
    const struct rig_sqlite_answer *answer = &link->answer;
    const bool over = answer->code != 0 || end != RIG_SQLITE_GOES_ON;
    turn->begun = true;
    turn->session_lost = over != (answer->ended != 0);
    if (answer->code != 0)
        fail(turn, answer->committing != 0 ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION, rig_sqlite_code_name(answer->code),
             answer->text);
    else if (end == RIG_SQLITE_COMMITS && answer->ended == 0)
        fail(turn, RIG_PHASE_COMMIT, RIG_SQL_PROTOCOL, "COMMIT succeeded, and the transaction is still open");
    else if (end == RIG_SQLITE_GOES_ON && answer->ended != 0)
        fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "the transaction ended by itself");
    turn->committed = !turn->failed && end == RIG_SQLITE_COMMITS;
    return !turn->failed;
}

/* The phase in which a result that cannot be taken is noticed. */
static enum rig_phase phase_of_results(const struct turn *turn)
{
    return turn->committed ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION;
}

static void take_list(struct turn *turn, uint32_t op, const struct rig_sqlite_cell *cell)
{
    struct rig_transaction *transaction = turn->transaction;
    const size_t count = rig_sql_list_count(RIG_SQL_LIST_TEXT, cell->text, cell->length);
    int64_t *room = turn->session->run->env->core->elements(transaction, count);
    if (room == NULL || count > UINT32_MAX) {
        fail(turn, phase_of_results(turn), RIG_SQL_LIMIT, NULL);
    } else if (!rig_sql_list_parse(RIG_SQL_LIST_TEXT, cell->text, cell->length, room)) {
        fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
    } else {
        transaction->reads[op] = (struct rig_read){
            .state = RIG_READ_SEEN, .count = (uint32_t)count, .first_element = transaction->element_count};
        transaction->element_count += count;
    }
}

/* Rows of two numbers. */
static void take_pairs(struct turn *turn, uint32_t op, const struct rig_sqlite_rows *rows,
                       struct rig_sqlite_cursor *cursor)
{
    struct rig_transaction *transaction = turn->transaction;
    const size_t count = (size_t)rows->row_count * 2;
    struct rig_sqlite_cell cell;
    int64_t *room = turn->session->run->env->core->elements(transaction, count);
    if (room == NULL || count > UINT32_MAX || rows->column_count != 2) {
        fail(turn, phase_of_results(turn), room == NULL ? RIG_SQL_LIMIT : RIG_SQL_PROTOCOL, NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!rig_sqlite_next_cell(cursor, &cell) || cell.kind != RIG_SQLITE_INTEGER) {
            fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
            return;
        }
        room[i] = cell.number;
    }
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)count, .first_element = transaction->element_count};
    transaction->element_count += count;
}

static void take_read(struct turn *turn, uint32_t op, const struct rig_sqlite_rows *rows,
                      struct rig_sqlite_cursor *cursor)
{
    struct rig_read *read = &turn->transaction->reads[op];
    struct rig_sqlite_cell cell;
    if (rows->row_count > 0 && turn->transaction->ops[op].kind == RIG_OP_READ_WHERE)
        take_pairs(turn, op, rows, cursor);
    else if (rows->row_count == 0)
        read->state = RIG_READ_NIL;
    else if (rows->row_count > 1 || rows->column_count != 1 || !rig_sqlite_next_cell(cursor, &cell))
        fail(turn, phase_of_results(turn), RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
    else if (cell.kind == RIG_SQLITE_NULL && turn->session->run->env->prefilled_keys > 0) /* a row without a value */
        read->state = rig_op_reads_sequence(turn->transaction->ops[op].kind) ? RIG_READ_SEEN : RIG_READ_NIL;
    else if (rig_op_reads_sequence(turn->transaction->ops[op].kind) && cell.kind == RIG_SQLITE_TEXT)
        take_list(turn, op, &cell);
    else if (!rig_op_reads_sequence(turn->transaction->ops[op].kind) && cell.kind == RIG_SQLITE_INTEGER)
        *read = (struct rig_read){.state = RIG_READ_SEEN, .value = cell.number};
    else
        fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
}

/* Takes the results of the steps that were run; those of a transaction that failed are of no further use. */
static void take_results(struct turn *turn)
{
    const struct rig_sqlite_link *link = &turn->session->link;
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    for (uint32_t i = 0; !turn->failed && i < turn->step_count; i++) {
        struct rig_sqlite_rows rows;
        uint32_t op;
        memcpy(&op, turn->session->sent.data + i * sizeof op, sizeof op);
        if (i >= link->answer.step_count || !rig_sqlite_next_rows(&cursor, &rows))
            fail(turn, phase_of_results(turn), RIG_SQL_PROTOCOL, "an answer without the results of all steps");
        else if (op != NO_OPERATION && rig_op_reads(turn->transaction->ops[op].kind))
            take_read(turn, op, &rows, &cursor);
    }
}

/* Sends what was written, and takes the answer. */
static bool flush(struct turn *turn, enum rig_sqlite_end end)
{
    if (turn->begun && end == RIG_SQLITE_GOES_ON && turn->step_count == 0)
        return true;
    if (exchange(turn, end))
        take_results(turn);
    begin_message(turn);
    return !turn->failed;
}

/* After a failure that the client alone knows of: the transaction is still open on the server. */
static void roll_back(struct turn *turn)
{
    if (!turn->begun || turn->session_lost || turn->session->link.answer.ended != 0)
        return;
    begin_message(turn);
    (void)exchange(turn, RIG_SQLITE_ROLLS_BACK);
}

/* ---- the parts of a transaction ---- */

/* Runs a wait of the core's while the transaction is open; its time does not count. */
static bool pause_in(struct turn *turn, bool (*wait)(struct rig_transaction *transaction))
{
    const struct rig_core *core = turn->session->run->env->core;
    if (!flush(turn, RIG_SQLITE_GOES_ON))
        return false;
    const int64_t start_ns = core->now_ns();
    (void)wait(turn->transaction);
    turn->patience.deadline_ns += core->now_ns() - start_ns;
    return true;
}

static bool pause_before(struct turn *turn, uint32_t op)
{
    const struct rig_transaction *transaction = turn->transaction;
    const struct rig_core *core = turn->session->run->env->core;
    if (transaction->hold.wanted && transaction->hold.before_op == op && !pause_in(turn, core->hold))
        return false;
    return !transaction->delayed || op == 0 || op >= transaction->op_count || pause_in(turn, core->delay);
}

static bool add_op(struct turn *turn, uint32_t op)
{
    struct rig_sqlite_call call;
    if (rig_sql_builds_on(turn->transaction, op) != UINT32_MAX) {
        if (!flush(turn, RIG_SQLITE_GOES_ON))
            return false;
        if (!rig_sql_affords(&turn->session->run->env->accounts, turn->transaction, op)) {
            fail(turn, RIG_PHASE_OPERATION, RIG_SQL_POOR, NULL);
            return false;
        }
    }
    if (rig_sqlite_schema_of_op(&turn->session->run->schema, turn->transaction, op, &call))
        add_call(turn, &call, op);
    return true;
}

/* Sets the savepoint before the first operation that is undone, and returns to it behind the last one. */
static void add_savepoint(struct turn *turn, uint32_t op)
{
    const struct rig_rollback *rollback = &turn->transaction->rollback;
    if (!rig_rollback_wanted(rollback) || (op != rollback->from && op != rollback->to))
        return;
    const struct rig_sqlite_call call = {
        .step = {.statement = op == rollback->from ? RIG_SQLITE_SAVEPOINT : RIG_SQLITE_ROLLBACK_TO}};
    add_call(turn, &call, NO_OPERATION);
}

static void run_operations(struct turn *turn)
{
    for (uint32_t op = 0; op <= turn->transaction->op_count; op++) {
        if (!pause_before(turn, op))
            return;
        add_savepoint(turn, op);
        if (op < turn->transaction->op_count && !add_op(turn, op))
            return;
    }
    (void)flush(turn, RIG_SQLITE_COMMITS);
}

/* ---- programs ---- */

/* The turn as the program's transaction. */
struct open_rows {
    struct rig_rows rows; /* first */
    struct turn *turn;
};

/* Copies the rows of an answer; false, and the turn failed, when they are not those of the table. */
static bool take_rows(struct turn *turn, const struct rig_row_table *table, struct rig_row_answer *answer)
{
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(&turn->session->link);
    struct rig_sqlite_rows rows;
    struct rig_sqlite_cell cell;
    if (!rig_sqlite_next_rows(&cursor, &rows) || (rows.row_count > 0 && rows.column_count != table->column_count)) {
        fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "the rows have other columns than the table");
        return false;
    }
    const size_t cells = (size_t)rows.row_count * rows.column_count;
    if (cells > answer->cell_capacity) {
        fail(turn, RIG_PHASE_OPERATION, RIG_SQL_LIMIT, "a statement of the program gave more rows than rig takes");
        return false;
    }
    for (size_t i = 0; i < cells; i++) {
        if (!rig_sqlite_next_cell(&cursor, &cell) || cell.kind != RIG_SQLITE_INTEGER) {
            fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MALFORMED, "a cell that is not a number");
            return false;
        }
        answer->cells[i] = cell.number;
    }
    answer->count = rows.column_count == 0 ? rows.changed : rows.row_count;
    return true;
}

static bool execute(struct rig_rows *object, uint32_t index, const int64_t *values, struct rig_row_answer *answer)
{
    struct turn *turn = ((struct open_rows *)object)->turn;
    const struct rig_sqlite_schema *schema = &turn->session->run->schema;
    const struct rig_row_schema *rows = schema->env->rows;
    struct rig_sqlite_call call;
    RIG_REQUIRE(!turn->failed);
    rig_sqlite_schema_of_row(schema, index, values, &call);
    begin_message(turn);
    add_call(turn, &call, 0);
    const bool taken =
        exchange(turn, RIG_SQLITE_GOES_ON) && take_rows(turn, &rows->tables[rows->statements[index].table], answer);
    begin_message(turn);
    return taken;
}

static void run_body(struct turn *turn, struct rig_row_program *program)
{
    struct open_rows open = {.rows = {.execute = execute}, .turn = turn};
    const bool commits = program->body(program, &open.rows);
    if (turn->failed)
        return;
    if (commits) {
        program->committing(program);
        (void)exchange(turn, RIG_SQLITE_COMMITS);
    } else {
        fail(turn, RIG_PHASE_OPERATION, RIG_ROWS_ROLLED_BACK, NULL);
    }
}

/* ---- the transaction ---- */

static enum rig_outcome conclude(struct turn *turn)
{
    struct rig_transaction *transaction = turn->transaction;
    const struct rig_sql_outcome *row =
        rig_sql_outcome_find(&rig_sqlite_outcomes, turn->phase, transaction->error_code, "");
    if (!row->session_lost)
        roll_back(turn);
    transaction->phase = turn->phase;
    transaction->error_class = rig_sql_error_class(&rig_sqlite_outcomes, transaction->error_code);
    transaction->session_lost = turn->session_lost || row->session_lost;
    return row->outcome;
}

enum rig_outcome rig_sqlite_session_run_program(void *object, struct rig_transaction *transaction,
                                                struct rig_row_program *program)
{
    struct rig_sqlite_session *session = object;
    const struct rig_sqlite_run *run = session->run;
    struct turn turn = {.session = session,
                        .transaction = transaction,
                        .patience = {.core = run->env->core,
                                     .deadline_ns = run->env->core->now_ns() + run->options->sql.transaction_timeout_ns,
                                     .wake = &session->wake}};
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, session->node);
    rig_column_give(&transaction->columns, RIG_COLUMN_BACKEND, session->backend);
    rig_sqlite_link_open_transaction(&session->link);
    begin_message(&turn);
    if (rig_wake_is_raised(&session->wake))
        fail(&turn, RIG_PHASE_CONNECT, RIG_SQL_INTERRUPTED, NULL);
    else if (program != NULL)
        run_body(&turn, program);
    else
        run_operations(&turn);
    RIG_INVARIANT(turn.failed != turn.committed);
    if (turn.failed)
        return conclude(&turn);
    transaction->phase = RIG_PHASE_COMMIT;
    transaction->session_lost = turn.session_lost;
    return RIG_OUTCOME_OK;
}

enum rig_outcome rig_sqlite_session_transact(void *session, struct rig_transaction *transaction)
{
    return rig_sqlite_session_run_program(session, transaction, NULL);
}
