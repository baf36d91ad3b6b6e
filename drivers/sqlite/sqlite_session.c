#include "drivers/sqlite/sqlite_session.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/sqlite_text.h"

enum { NS_PER_MS = 1000000 };
#define NO_OPERATION UINT32_MAX /* in the place of one: a savepoint, or the return to it */

static const struct rig_sqlite_run *sqlite_run(const struct rig_sql_run *run)
{
    return (const struct rig_sqlite_run *)run;
}

struct rig_sqlite_link *rig_sqlite_link_of(struct rig_sql_connection *connection)
{
    return &((struct rig_sqlite_connection *)connection)->link;
}

/* ---- connections ---- */

static enum rig_rc connect_to_server(struct rig_sql_run *sql, uint32_t server, bool for_client,
                                     struct rig_sql_waiter *waiter, int64_t deadline_ns,
                                     struct rig_sql_connection *connection, struct rig_err *err)
{
    const struct rig_sqlite_run *run = sqlite_run(sql);
    struct rig_sqlite_link *link = rig_sqlite_link_of(connection);
    const bool prepares = for_client && sql->env->texts == NULL;
    const struct rig_sqlite_setup setup = {.socket = run->options->embedded ? NULL : run->cluster.socket,
                                           .database = run->cluster.database,
                                           .busy_ms = rig_sqlite_text_busy_ms(run),
                                           .shared_cache = run->options->shared_cache,
                                           .script = rig_buf_text(&run->pragmas),
                                           .statements = prepares ? &run->schema.statements : NULL,
                                           .statement_count = prepares ? run->schema.statement_count : 0};
    const struct rig_sqlite_patience patience = {
        .core = waiter->core, .deadline_ns = deadline_ns, .wake = for_client ? &waiter->wake : NULL};
    (void)server; /* the only one */
    rig_buf_init(&((struct rig_sqlite_connection *)connection)->sent, 0);
    const enum rig_rc rc = rig_sqlite_link_open(link, &setup, &patience, err);
    connection->backend = link->answer.pid;
    return rc;
}

static enum rig_rc prepare_connection(struct rig_sql_session *session, struct rig_sql_connection *connection,
                                      int64_t deadline_ns, struct rig_err *err)
{
    (void)session, (void)connection, (void)deadline_ns, (void)err; /* its statements were prepared with it */
    return RIG_OK;
}

static void disconnect(struct rig_sql_connection *connection)
{
    rig_sqlite_link_close(rig_sqlite_link_of(connection));
    rig_buf_done(&((struct rig_sqlite_connection *)connection)->sent);
}

struct rig_sqlite_patience rig_sqlite_own_patience(const struct rig_sql_own *own)
{
    return (struct rig_sqlite_patience){.core = own->run->env->core, .deadline_ns = own->deadline_ns};
}

enum { QUERY_VALUES = 32, NUMBER_BYTES = 24 };

/* Calls `tell` for a row, with texts that end with a NUL. */
static enum rig_rc tell_row(struct rig_sqlite_cursor *cursor, uint32_t column_count, rig_sql_tell tell, void *context,
                            struct rig_err *err)
{
    struct rig_buf texts;
    size_t starts[QUERY_VALUES];
    const char *values[QUERY_VALUES];
    bool good = column_count <= QUERY_VALUES;
    rig_buf_init(&texts, 0);
    for (uint32_t i = 0; good && i < column_count; i++) {
        struct rig_sqlite_cell cell;
        starts[i] = texts.size;
        good = rig_sqlite_next_cell(cursor, &cell);
        if (good && cell.kind == RIG_SQLITE_INTEGER)
            rig_buf_add_int(&texts, cell.number);
        else if (good && cell.length > 0)
            rig_buf_add(&texts, cell.text, cell.length);
        rig_buf_add(&texts, "", 1);
    }
    good = good && !texts.failed;
    for (uint32_t i = 0; good && i < column_count; i++)
        values[i] = texts.data + starts[i];
    if (good)
        tell(context, values, column_count);
    rig_buf_done(&texts);
    return good ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "SQLite: a malformed answer to a query");
}

static enum rig_rc run_query(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns,
                             rig_sql_tell tell, void *context, struct rig_err *err)
{
    struct rig_sqlite_link *link = rig_sqlite_link_of(connection);
    const struct rig_sqlite_patience patience = {.core = link->core, .deadline_ns = deadline_ns};
    struct rig_sqlite_rows rows = {0};
    enum rig_rc rc = rig_sqlite_link_run(link, sql, &patience, err);
    if (rc != RIG_OK || tell == NULL || link->answer.step_count == 0)
        return rc;
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    if (!rig_sqlite_next_rows(&cursor, &rows))
        rc = rig_fail(err, RIG_E_CLUSTER, "SQLite: a malformed answer to a query");
    for (uint32_t row = 0; rc == RIG_OK && row < rows.row_count; row++)
        rc = tell_row(&cursor, rows.column_count, tell, context, err);
    return rc;
}

/* ---- a transaction under way ---- */

struct turn {
    struct rig_sql_turn sql;
    uint32_t step_count; /* of the message that is being written */
    bool begun;          /* a message with the beginning was answered */
    bool acknowledged;   /* COMMIT was; its results may still contradict that */
};

static struct rig_sqlite_connection *connection_of(const struct turn *turn)
{
    return (struct rig_sqlite_connection *)turn->sql.connection;
}

static struct rig_sqlite_link *link_of(const struct turn *turn)
{
    return &connection_of(turn)->link;
}

static const struct rig_run_env *env_of(const struct turn *turn)
{
    return turn->sql.session->run->env;
}

static void fail(struct turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    rig_sql_turn_fail(&turn->sql, phase, code, text);
}

static void begin_message(struct turn *turn)
{
    const struct rig_sqlite_steps steps = {0};
    rig_sqlite_link_begin(link_of(turn), RIG_SQLITE_STEPS);
    rig_buf_add(&link_of(turn)->question, &steps, sizeof steps);
    rig_buf_clear(&connection_of(turn)->sent);
    turn->step_count = 0;
}

static void add_call(struct turn *turn, const struct rig_sqlite_call *call, uint32_t op)
{
    struct rig_buf *question = &link_of(turn)->question;
    rig_buf_add(question, &call->step, sizeof call->step);
    rig_buf_add(question, call->values, call->step.value_count * sizeof call->values[0]);
    rig_buf_add(&connection_of(turn)->sent, &op, sizeof op);
    turn->step_count++;
}

/* The statement of the workload sql of operation `op`, if it has one of its own. */
static void add_random(struct turn *turn, uint32_t op)
{
    const struct rig_transaction *transaction = turn->sql.transaction;
    struct rig_buf *question = &link_of(turn)->question;
    const struct rig_sqlite_step step = {.statement = RIG_SQLITE_TEXT_STATEMENT};
    const int64_t tables = sqlite_run(turn->sql.session->run)->schema.options->sql.tables;
    char name[32], other[32];
    if (rig_sql_random_parts(RIG_SQL_RANDOM_SQLITE, transaction, op) == 0)
        return;
    (void)snprintf(name, sizeof name, "rig_%llu", (unsigned long long)transaction->ops[op].key % (uint64_t)tables);
    (void)snprintf(other, sizeof other, "rig_%llu",
                   (unsigned long long)rig_sql_random_other_key(transaction, op) % (uint64_t)tables);
    rig_buf_add(question, &step, sizeof step);
    rig_sql_random_print(RIG_SQL_RANDOM_SQLITE, &(struct rig_sql_random_tables){name, other}, transaction, op, 0,
                         question);
    rig_buf_add_char(question, '\0');
    rig_buf_add(&connection_of(turn)->sent, &op, sizeof op);
    turn->step_count++;
}

/* No answer: the transaction is given up, and the page decides what that means. */
static void give_up(struct turn *turn, enum rig_sqlite_wait wait)
{
    static const char *const codes[] = {[RIG_SQLITE_GONE] = RIG_SQL_LOST,
                                        [RIG_SQLITE_LATE] = RIG_SQL_TIMEOUT,
                                        [RIG_SQLITE_WOKEN] = RIG_SQL_INTERRUPTED};
    const bool certain = rig_sqlite_link_give_up(link_of(turn));
    turn->sql.session_lost = true;
    fail(turn, certain ? RIG_PHASE_OPERATION : RIG_PHASE_COMMIT, codes[wait], NULL);
}

/* Sends the message and judges the answer without its results. False when the transaction failed. */
static bool exchange(struct turn *turn, enum rig_sqlite_end end)
{
    struct rig_sqlite_link *link = link_of(turn);
    const uint32_t begin = turn->sql.transaction->read_only ? RIG_SQLITE_BEGIN_READ : RIG_SQLITE_BEGIN;
    const struct rig_sqlite_steps steps = {
        .begin = turn->begun ? 0 : 1 + begin, .end = (uint32_t)end, .step_count = turn->step_count};
    if (!link->question.failed)
        memcpy(link->question.data + sizeof(struct rig_sqlite_head), &steps, sizeof steps);
    const struct rig_sqlite_patience patience = {
        .core = env_of(turn)->core, .deadline_ns = turn->sql.deadline_ns, .wake = &turn->sql.session->waiter.wake};
    const enum rig_sqlite_wait wait = rig_sqlite_link_ask(link, &patience);
    if (wait != RIG_SQLITE_ANSWERED) {
        give_up(turn, wait);
        return false;
    }
    const struct rig_sqlite_answer *answer = &link->answer;
    const bool over = answer->code != 0 || end != RIG_SQLITE_GOES_ON;
    turn->begun = true;
    turn->sql.session_lost = over != (answer->ended != 0);
    if (answer->code != 0)
        fail(turn, answer->committing != 0 ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION, rig_sqlite_code_name(answer->code),
             answer->text);
    else if (end == RIG_SQLITE_COMMITS && answer->ended == 0)
        fail(turn, RIG_PHASE_COMMIT, RIG_SQL_PROTOCOL, "COMMIT succeeded, and the transaction is still open");
    else if (end == RIG_SQLITE_GOES_ON && answer->ended != 0)
        fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "the transaction ended by itself");
    turn->acknowledged = !turn->sql.failed && end == RIG_SQLITE_COMMITS;
    return !turn->sql.failed;
}

/* The phase in which a result that cannot be taken is noticed. */
static enum rig_phase phase_of_results(const struct turn *turn)
{
    return turn->acknowledged ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION;
}

static void take_list(struct turn *turn, struct rig_read *read, const struct rig_sqlite_cell *cell)
{
    struct rig_read list = {.state = RIG_READ_SEEN, .first_element = turn->sql.transaction->element_count};
    if (rig_sql_turn_take_list(&turn->sql, phase_of_results(turn), RIG_SQL_LIST_TEXT, cell->text, cell->length, NULL,
                               &list))
        *read = list;
}

/* Rows of two numbers. */
static void take_pairs(struct turn *turn, uint32_t op, const struct rig_sqlite_rows *rows,
                       struct rig_sqlite_cursor *cursor)
{
    struct rig_transaction *transaction = turn->sql.transaction;
    const size_t count = (size_t)rows->row_count * 2;
    struct rig_sqlite_cell cell;
    int64_t *room = env_of(turn)->core->elements(transaction, count);
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

/* Rows as texts: pairs with commas. */
static void take_texts(struct turn *turn, struct rig_read *read, uint32_t row_count, struct rig_sqlite_cursor *cursor)
{
    struct rig_read list = {.state = RIG_READ_SEEN, .first_element = turn->sql.transaction->element_count};
    struct rig_sqlite_cell cell;
    for (uint32_t row = 0; row < row_count; row++) {
        if (!rig_sqlite_next_cell(cursor, &cell) || cell.kind != RIG_SQLITE_TEXT) {
            fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
            return;
        }
        if (cell.length > 0 && !rig_sql_turn_take_list(&turn->sql, phase_of_results(turn), RIG_SQL_LIST_TEXT, cell.text,
                                                       cell.length, NULL, &list))
            return;
    }
    if (list.count % 2 != 0)
        fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
    else
        *read = list.count > 0 ? list : (struct rig_read){.state = RIG_READ_NIL};
}

static void take_read(struct turn *turn, uint32_t op, const struct rig_sqlite_rows *rows,
                      struct rig_sqlite_cursor *cursor)
{
    struct rig_read *read = &turn->sql.transaction->reads[op];
    struct rig_sqlite_cell cell;
    const bool by_condition = turn->sql.transaction->ops[op].kind == RIG_OP_READ_WHERE;
    if (rows->row_count > 0 && by_condition && rows->column_count == 1)
        take_texts(turn, read, (uint32_t)rows->row_count, cursor);
    else if (rows->row_count > 0 && by_condition)
        take_pairs(turn, op, rows, cursor);
    else if (rows->row_count == 0)
        read->state = RIG_READ_NIL;
    else if (rows->row_count > 1 || rows->column_count != 1 || !rig_sqlite_next_cell(cursor, &cell))
        fail(turn, phase_of_results(turn), RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
    else if (cell.kind == RIG_SQLITE_NULL && env_of(turn)->prefilled_keys > 0) /* a row without a value */
        read->state = rig_op_reads_sequence(turn->sql.transaction->ops[op].kind) ? RIG_READ_SEEN : RIG_READ_NIL;
    else if (rig_op_reads_sequence(turn->sql.transaction->ops[op].kind) && cell.kind == RIG_SQLITE_TEXT)
        take_list(turn, read, &cell);
    else if (!rig_op_reads_sequence(turn->sql.transaction->ops[op].kind) && cell.kind == RIG_SQLITE_INTEGER)
        *read = (struct rig_read){.state = RIG_READ_SEEN, .value = cell.number};
    else
        fail(turn, phase_of_results(turn), RIG_SQL_MALFORMED, NULL);
}

/* When the server ran the step of an operation. */
static void take_times(struct turn *turn, uint32_t op, int64_t began_ns, int64_t ended_ns)
{
    struct rig_transaction *transaction = turn->sql.transaction;
    if (op == NO_OPERATION || turn->sql.program != NULL || transaction->times == NULL ||
        rig_times_count(transaction) != (int64_t)op)
        return;
    transaction->times[2 * (size_t)op] = began_ns;
    transaction->times[2 * (size_t)op + 1] = ended_ns;
    rig_column_give(&transaction->columns, RIG_COLUMN_TIMES, (int64_t)op + 1);
}

/* The operation of a step of the message. */
static uint32_t op_of(const struct turn *turn, uint32_t step)
{
    uint32_t op;
    memcpy(&op, connection_of(turn)->sent.data + step * sizeof op, sizeof op);
    return op;
}

/* The times of the steps that a failed transaction ran. */
static void take_times_of_failed(struct turn *turn)
{
    const struct rig_sqlite_answer *answer = &link_of(turn)->answer;
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link_of(turn));
    struct rig_sqlite_rows rows;
    struct rig_sqlite_cell cell;
    uint32_t step = 0;
    for (; step < answer->step_count && step < turn->step_count && rig_sqlite_next_rows(&cursor, &rows); step++) {
        take_times(turn, op_of(turn, step), rows.began_ns, rows.ended_ns);
        for (uint64_t i = (uint64_t)rows.row_count * rows.column_count; i > 0; i--) {
            if (!rig_sqlite_next_cell(&cursor, &cell))
                return;
        }
    }
    if (step == answer->step_count && step < turn->step_count && answer->ended_ns != 0)
        take_times(turn, op_of(turn, step), answer->began_ns, answer->ended_ns);
}

static void take_result(struct turn *turn, uint32_t op, const struct rig_sqlite_rows *rows,
                        struct rig_sqlite_cursor *cursor)
{
    take_times(turn, op, rows->began_ns, rows->ended_ns);
    if (op != NO_OPERATION && rig_op_reads(turn->sql.transaction->ops[op].kind))
        take_read(turn, op, rows, cursor);
}

/* Takes the results of the steps that were run; those of a transaction that failed are of no further use. */
static void take_results(struct turn *turn)
{
    const struct rig_sqlite_link *link = link_of(turn);
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    for (uint32_t i = 0; !turn->sql.failed && i < turn->step_count; i++) {
        struct rig_sqlite_rows rows;
        const uint32_t op = op_of(turn, i);
        if (i >= link->answer.step_count || !rig_sqlite_next_rows(&cursor, &rows))
            fail(turn, phase_of_results(turn), RIG_SQL_PROTOCOL, "an answer without the results of all steps");
        else
            take_result(turn, op, &rows, &cursor);
    }
}

/* Sends what was written, and takes the answer. */
static bool flush(struct turn *turn, enum rig_sqlite_end end)
{
    if (turn->begun && end == RIG_SQLITE_GOES_ON && turn->step_count == 0)
        return true;
    if (exchange(turn, end))
        take_results(turn);
    else if (!turn->sql.session_lost)
        take_times_of_failed(turn);
    turn->sql.committed = turn->acknowledged && !turn->sql.failed;
    begin_message(turn);
    return !turn->sql.failed;
}

static void roll_back(struct turn *turn)
{
    if (!turn->begun || turn->sql.session_lost || link_of(turn)->answer.ended != 0)
        return;
    begin_message(turn);
    (void)exchange(turn, RIG_SQLITE_ROLLS_BACK);
}

/* ---- the parts of a transaction ---- */

/* Pauses while the transaction is open. */
static bool pause_before(struct turn *turn, uint32_t op)
{
    const bool holds = rig_sql_turn_holds_at(&turn->sql, op), delays = rig_sql_turn_delays_at(&turn->sql, op);
    if ((holds || delays) && !flush(turn, RIG_SQLITE_GOES_ON))
        return false;
    if (holds)
        rig_sql_turn_hold(&turn->sql);
    if (delays)
        rig_sql_turn_delay(&turn->sql);
    return true;
}

static bool add_op(struct turn *turn, uint32_t op)
{
    struct rig_sqlite_call call;
    if (rig_sql_builds_on(turn->sql.transaction, op) != UINT32_MAX) {
        if (!flush(turn, RIG_SQLITE_GOES_ON))
            return false;
        if (!rig_sql_turn_affords(&turn->sql, op))
            return false;
    }
    if (env_of(turn)->workload == RIG_WORKLOAD_SQL)
        add_random(turn, op);
    else if (rig_sqlite_schema_of_op(&sqlite_run(turn->sql.session->run)->schema, turn->sql.transaction, op, &call))
        add_call(turn, &call, op);
    return true;
}

/* Sets the savepoint before the first operation that is undone, and returns to it behind the last one. */
static void add_savepoint(struct turn *turn, uint32_t op)
{
    const struct rig_rollback *rollback = &turn->sql.transaction->rollback;
    if (!rig_rollback_wanted(rollback) || (op != rollback->from && op != rollback->to))
        return;
    const struct rig_sqlite_call call = {
        .step = {.statement = op == rollback->from ? RIG_SQLITE_SAVEPOINT : RIG_SQLITE_ROLLBACK_TO}};
    add_call(turn, &call, NO_OPERATION);
}

static void run_operations(struct turn *turn)
{
    for (uint32_t op = 0; op <= turn->sql.transaction->op_count; op++) {
        if (!pause_before(turn, op))
            return;
        add_savepoint(turn, op);
        if (op < turn->sql.transaction->op_count && !add_op(turn, op))
            return;
    }
    if (!turn->sql.transaction->rolls_back)
        (void)flush(turn, RIG_SQLITE_COMMITS);
    else if (flush(turn, RIG_SQLITE_GOES_ON))
        (void)rig_sql_turn_rolls_back(&turn->sql);
}

/* ---- programs ---- */

/* Copies the rows of an answer; false, and the turn failed, when they are not those of the table. */
static bool take_rows(struct turn *turn, const struct rig_row_table *table, struct rig_row_answer *answer)
{
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link_of(turn));
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

/* The first message has it. */
static bool begin_program(struct rig_sql_turn *turn)
{
    (void)turn;
    return true;
}

static bool execute_statement(struct rig_sql_turn *sql, uint32_t index, const int64_t *values,
                              struct rig_row_answer *answer)
{
    struct turn *turn = (struct turn *)sql;
    const struct rig_sqlite_schema *schema = &sqlite_run(sql->session->run)->schema;
    const struct rig_row_schema *rows = schema->env->rows;
    struct rig_sqlite_call call;
    rig_sqlite_schema_of_row(schema, index, values, &call);
    begin_message(turn);
    add_call(turn, &call, 0);
    const bool taken =
        exchange(turn, RIG_SQLITE_GOES_ON) && take_rows(turn, &rows->tables[rows->statements[index].table], answer);
    begin_message(turn);
    return taken;
}

static void commit_program(struct rig_sql_turn *turn)
{
    turn->committed = exchange((struct turn *)turn, RIG_SQLITE_COMMITS);
}

/* ---- the transaction ---- */

static void run_transaction(struct rig_sql_turn *sql)
{
    struct turn *turn = (struct turn *)sql;
    rig_sqlite_link_open_transaction(link_of(turn));
    begin_message(turn);
    if (sql->program != NULL)
        rig_sql_turn_run_program(sql);
    else
        run_operations(turn);
}

/* After a failure that the client alone knows of the transaction is still open on the server. */
static void settle(struct rig_sql_turn *sql)
{
    if (!rig_sql_turn_outcome(sql)->session_lost)
        roll_back((struct turn *)sql);
}

/* ---- the run's tables ---- */

/* SQLite keeps the journal mode that it had where it cannot change it, and reports that one. */
static enum rig_rc check_journal(const struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_sqlite_run *run = (const struct rig_sqlite_run *)own->run;
    struct rig_sqlite_link *link = rig_sqlite_link_of(own->connection);
    const struct rig_sqlite_patience patience = rig_sqlite_own_patience(own);
    const char *wanted = rig_sqlite_journal_words[run->options->journal];
    const enum rig_rc rc = rig_sqlite_link_run(link, "PRAGMA journal_mode", &patience, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    struct rig_sqlite_rows rows;
    struct rig_sqlite_cell cell = {0};
    if (rig_sqlite_next_rows(&cursor, &rows) && rows.row_count == 1 && rig_sqlite_next_cell(&cursor, &cell) &&
        cell.length == strlen(wanted) && memcmp(cell.text, wanted, cell.length) == 0)
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER, "SQLite: the journal mode is %.*s, not %s: this file system does not allow it",
                    (int)cell.length, cell.length == 0 ? "" : cell.text, wanted);
}

static enum rig_rc create(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_sqlite_run *run = (struct rig_sqlite_run *)own->run;
    struct rig_buf sql;
    (void)snprintf(run->sql.server_version, sizeof run->sql.server_version, "%.31s",
                   rig_sqlite_link_of(own->connection)->answer.text);
    enum rig_rc rc = check_journal(own, err);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&sql, 0);
    rig_sqlite_schema_create(&run->schema, &sql);
    rc = sql.failed ? rig_no_memory(err, "the run's tables")
                    : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    if (rc == RIG_OK && own->run->env->workload == RIG_WORKLOAD_SQL && own->run->env->rows == NULL) {
        rc = rig_sql_random_compare(RIG_SQL_RANDOM_SQLITE, own, "rig_0", err);
        rig_buf_clear(&sql);
        rig_sqlite_schema_index(&run->schema, &sql);
        rc = rc == RIG_OK ? rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err) : rc;
    }
    rig_buf_done(&sql);
    return rc;
}

static const struct rig_sql_tables tables = {.create = create};

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return ((const struct rig_sqlite_run *)run)->schema.dialect;
}

const struct rig_sql_client rig_sqlite_client = {
    .area = "sqlite",
    .product = "SQLite",
    .connection_bytes = sizeof(struct rig_sqlite_connection),
    .turn_bytes = sizeof(struct turn),
    .trusts_single = true,
    .outcomes = &rig_sqlite_outcomes,
    .connect = connect_to_server,
    .prepare = prepare_connection,
    .disconnect = disconnect,
    .query = run_query,
    .run = run_transaction,
    .begin = begin_program,
    .execute = execute_statement,
    .commit = commit_program,
    .settle = settle,
    .nodes = &rig_sqlite_nodes,
    .tables = &tables,
    .texts = &rig_sqlite_texts,
    .dialect = dialect,
};
