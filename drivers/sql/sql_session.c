#include "drivers/sql/sql_session.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_text.h"

/* ---- opening and closing ---- */

static enum rig_rc open_connection(void *context, struct rig_sql_connection *connection, uint32_t server,
                                   int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_session *session = context;
    struct rig_sql_run *run = session->run;
    enum rig_rc rc = run->client->connect(run, server, true, &session->waiter, deadline_ns, connection, err);
    if (rc != RIG_OK)
        return rc;
    connection->node = run->env->core->name(rig_sql_run_server_name(run, server));
    rc = run->client->prepare(session, connection, deadline_ns, err);
    connection->open = rc == RIG_OK;
    return rc;
}

static void disconnect(const struct rig_sql_session *session, struct rig_sql_connection *connection)
{
    session->run->client->disconnect(connection);
    connection->open = false;
}

static bool make_connections(struct rig_sql_session *session)
{
    const size_t size = session->run->client->connection_bytes;
    session->main = calloc(1, size);
    session->reader = calloc(1, size);
    session->visit = calloc(1, size);
    return session->main != NULL && session->reader != NULL && session->visit != NULL;
}

/* A session of texts has one connection, to the node that it names, or to the server that takes writes. */
static enum rig_rc open_for_texts(struct rig_sql_session *session, struct rig_err *err)
{
    struct rig_sql_run *run = session->run;
    const struct rig_text_env *texts = run->env->texts;
    const char *node = texts->nodes == NULL ? NULL : texts->nodes[session->client];
    const struct rig_sql_opening main = {open_connection, session, session->main};
    if (node == NULL)
        return rig_sql_run_open_writer(run, session->client, &main, &session->main_server, err);
    const enum rig_rc rc = rig_sql_text_server(run, node, &session->main_server, err);
    const int64_t deadline_ns = run->env->core->now_ns() + run->options->connect_timeout_ns;
    return rc != RIG_OK ? rc : open_connection(session, session->main, session->main_server, deadline_ns, err);
}

enum rig_rc rig_sql_session_open(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct rig_sql_session *session = object;
    struct rig_sql_run *run = run_object;
    session->run = run;
    session->client = client;
    rig_rng_init(&session->rng, run->env->seed, run->client->share_stream + client);
    session->waiter.core = run->env->core;
    rig_wake_arm(&session->waiter.wake, &run->wakes, client);
    if (!make_connections(session))
        return rig_no_memory(err, "the connections of a client");
    if (run->env->texts != NULL)
        return open_for_texts(session, err);
    const struct rig_sql_opening main = {open_connection, session, session->main};
    const struct rig_sql_opening reader = {open_connection, session, session->reader};
    enum rig_rc rc = rig_sql_run_open_writer(run, client, &main, &session->main_server, err);
    if (rc == RIG_OK)
        rc = rig_sql_run_open_reader(run, client, session->main_server, &reader, &session->reader_server, err);
    return rc;
}

void rig_sql_session_interrupt(void *session)
{
    rig_wake_raise(&((struct rig_sql_session *)session)->waiter.wake);
}

void rig_sql_session_close(void *object, bool last)
{
    struct rig_sql_session *session = object;
    struct rig_sql_connection **const connections[] = {&session->main, &session->reader, &session->visit};
    (void)last;
    for (size_t i = 0; i < sizeof connections / sizeof connections[0]; i++) {
        if (*connections[i] != NULL)
            disconnect(session, *connections[i]);
        free(*connections[i]);
        *connections[i] = NULL;
    }
}

/* The connection to the transaction's requested node; NULL when there is none. */
static struct rig_sql_connection *connect_to_node(struct rig_sql_session *session, uint32_t server, int64_t deadline_ns,
                                                  struct rig_err *err)
{
    const struct rig_sql_run *run = session->run;
    if (server == session->main_server)
        return session->main;
    if (server == session->reader_server && session->reader->open)
        return session->reader;
    if (session->visit->open && server == session->visit_server)
        return session->visit;
    disconnect(session, session->visit);
    session->visit_server = server;
    int64_t connected_ns = run->env->core->now_ns() + run->options->connect_timeout_ns;
    if (connected_ns > deadline_ns)
        connected_ns = deadline_ns;
    if (server < rig_sql_run_server_count(run) &&
        open_connection(session, session->visit, server, connected_ns, err) == RIG_OK)
        return session->visit;
    disconnect(session, session->visit);
    return NULL;
}

/* ---- errors of a turn ---- */

void rig_sql_one_line(char *line, size_t size, const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0' && length + 1 < size; length++)
        line[length] = (unsigned char)text[length] < ' ' || text[length] == 0x7f ? ' ' : text[length];
    line[length] = '\0';
}

static void record_error(struct rig_transaction *transaction, const char *code, const char *text)
{
    rig_sql_one_line(transaction->error_code, sizeof transaction->error_code, code);
    rig_sql_one_line(transaction->error_text, sizeof transaction->error_text, text);
}

void rig_sql_turn_fail(struct rig_sql_turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    if (turn->failed || turn->committed)
        return;
    turn->failed = true;
    turn->phase = phase;
    if (text == NULL || text[0] == '\0')
        text = rig_sql_outcome_find(turn->session->run->client->outcomes, phase, code, turn->state)->reason;
    record_error(turn->transaction, code, text);
}

/* Replaces the error, and an acknowledgement: they prove nothing, and the session ends. The outcome is unknown once a
 * statement that could commit may have left. */
static void sql_turn_overrule(struct rig_sql_turn *turn, const char *code, const char *text)
{
    turn->failed = turn->committed = false;
    rig_sql_turn_fail(turn, turn->may_commit ? RIG_PHASE_COMMIT : turn->phase, code, text);
    turn->session_lost = true;
}

void rig_sql_turn_lose_step(struct rig_sql_turn *turn, const char *text)
{
    turn->transaction->answers_void = true;
    sql_turn_overrule(turn, RIG_SQL_PROTOCOL, text);
}

const struct rig_sql_outcome *rig_sql_turn_outcome(const struct rig_sql_turn *turn)
{
    return rig_sql_outcome_find(turn->session->run->client->outcomes, turn->phase, turn->transaction->error_code,
                                turn->state);
}

/* ---- the course of a turn ---- */

bool rig_sql_turn_holds_at(const struct rig_sql_turn *turn, uint32_t at)
{
    const struct rig_hold *hold = &turn->transaction->hold;
    const bool comes_later = turn->name[0] != '\0' && at == turn->transaction->op_count;
    return hold->wanted && hold->before_op == at && !comes_later;
}

bool rig_sql_turn_delays_at(const struct rig_sql_turn *turn, uint32_t at)
{
    return turn->transaction->delayed && at > 0 && at < turn->transaction->op_count;
}

/* Its time does not count. */
static void pause_turn(struct rig_sql_turn *turn, bool (*wait)(struct rig_transaction *transaction))
{
    const struct rig_core *core = turn->session->run->env->core;
    const int64_t start_ns = core->now_ns();
    (void)wait(turn->transaction);
    turn->deadline_ns += core->now_ns() - start_ns;
}

void rig_sql_turn_hold(struct rig_sql_turn *turn)
{
    pause_turn(turn, turn->session->run->env->core->hold);
}

void rig_sql_turn_delay(struct rig_sql_turn *turn)
{
    pause_turn(turn, turn->session->run->env->core->delay);
}

void rig_sql_turn_hold_prepared(struct rig_sql_turn *turn)
{
    const struct rig_hold *hold = &turn->transaction->hold;
    /* That of a program has come before. */
    if (turn->program == NULL && hold->wanted && hold->before_op == turn->transaction->op_count)
        rig_sql_turn_hold(turn);
}

bool rig_sql_turn_affords(struct rig_sql_turn *turn, uint32_t op)
{
    if (rig_sql_affords(&turn->session->run->env->accounts, turn->transaction, op))
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_POOR, NULL);
    return false;
}

/* An operation that fails has an end, too: it may have waited. */
static bool operate(struct rig_sql_turn *turn, uint32_t op)
{
    const struct rig_core *core = turn->session->run->env->core;
    rig_op_began(core, turn->transaction, op);
    const bool done = turn->session->run->client->operate(turn, op);
    rig_op_ended(core, turn->transaction, op);
    return done;
}

bool rig_sql_turn_rolls_back(struct rig_sql_turn *turn)
{
    if (turn->transaction->rolls_back)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_ROLLED_BACK_CODE, NULL);
    return turn->transaction->rolls_back;
}

void rig_sql_turn_run_statements(struct rig_sql_turn *turn)
{
    const struct rig_sql_client *client = turn->session->run->client;
    const uint32_t op_count = turn->transaction->op_count;
    if (!client->begin(turn))
        return;
    for (uint32_t i = 0; i <= op_count; i++) {
        if (rig_sql_turn_holds_at(turn, i))
            rig_sql_turn_hold(turn);
        if (rig_sql_turn_delays_at(turn, i))
            rig_sql_turn_delay(turn);
        if (i < op_count && !operate(turn, i))
            return;
    }
    if (!rig_sql_turn_rolls_back(turn))
        client->commit(turn);
}

/* ---- programs ---- */

/* The turn as the program's transaction. */
struct open_rows {
    struct rig_rows rows; /* first */
    struct rig_sql_turn *turn;
};

static bool execute(struct rig_rows *object, uint32_t index, const int64_t *values, struct rig_row_answer *answer)
{
    struct rig_sql_turn *turn = ((struct open_rows *)object)->turn;
    const struct rig_sql_run *run = turn->session->run;
    RIG_REQUIRE(!turn->failed && index < run->env->rows->statement_count);
    return run->client->execute(turn, index, values, answer);
}

static void hold(struct rig_rows *object)
{
    rig_sql_turn_hold(((struct open_rows *)object)->turn);
}

void rig_sql_turn_run_program(struct rig_sql_turn *turn)
{
    const struct rig_sql_client *client = turn->session->run->client;
    struct rig_row_program *program = turn->program;
    struct open_rows open = {.rows = {.execute = execute, .hold = hold}, .turn = turn};
    if (!client->begin(turn))
        return;
    const bool commits = program->body(program, &open.rows);
    if (turn->failed)
        return;
    if (commits) {
        program->committing(program);
        client->commit(turn);
    } else {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_ROWS_ROLLED_BACK, "the program rolled its transaction back");
    }
}

/* ---- answers ---- */

bool rig_sql_turn_take_list(struct rig_sql_turn *turn, enum rig_phase phase, enum rig_sql_list_form form,
                            const char *text, size_t length, const char *malformed, struct rig_read *read)
{
    struct rig_transaction *transaction = turn->transaction;
    const size_t count = rig_sql_list_count(form, text, length);
    int64_t *room = turn->session->run->env->core->elements(transaction, count);
    if (room == NULL || count > UINT32_MAX - read->count) {
        rig_sql_turn_fail(turn, phase, RIG_SQL_LIMIT, NULL);
        return false;
    }
    if (!rig_sql_list_parse(form, text, length, room)) {
        rig_sql_turn_fail(turn, phase, RIG_SQL_MALFORMED, malformed);
        return false;
    }
    read->count += (uint32_t)count;
    transaction->element_count += count;
    return true;
}

bool rig_sql_turn_take_timestamp(struct rig_sql_turn *turn, enum rig_column column, const char *text, size_t length)
{
    int64_t timestamp = 0;
    if (text != NULL && rig_sql_timestamp_parse(text, length, &timestamp)) {
        rig_column_give(&turn->transaction->columns, column, timestamp);
        return true;
    }
    rig_sql_turn_fail(turn, turn->phase, RIG_SQL_PROTOCOL, "begin-ts and commit-ts need one number as their answer");
    return false;
}

/* ---- the transaction ---- */

/* Outcome and state of the session after a turn that failed. */
static enum rig_outcome conclude(struct rig_sql_turn *turn)
{
    struct rig_transaction *transaction = turn->transaction;
    const struct rig_sql_client *client = turn->session->run->client;
    /* The next session rolls back what stays prepared. An error that ends a COMMIT without effect does not end a
     * prepared transaction: its request may still come. */
    const bool is_in_doubt = turn->prepared && turn->phase == RIG_PHASE_COMMIT;
    client->settle(turn);
    const struct rig_sql_outcome *row = rig_sql_turn_outcome(turn);
    turn->session_lost = turn->session_lost || row->session_lost;
    transaction->phase = turn->phase;
    transaction->error_class = rig_sql_error_class(client->outcomes, transaction->error_code);
    transaction->session_lost = turn->session_lost;
    return is_in_doubt ? RIG_OUTCOME_INFO : row->outcome;
}

/* Nothing was sent: the session is as it was. */
static enum rig_outcome unreachable(struct rig_sql_session *session, struct rig_transaction *transaction,
                                    const struct rig_err *err)
{
    const char *code = rig_wake_is_raised(&session->waiter.wake) ? RIG_SQL_INTERRUPTED : RIG_SQL_UNREACHABLE;
    const struct rig_sql_outcome *row =
        rig_sql_outcome_find(session->run->client->outcomes, RIG_PHASE_CONNECT, code, "");
    transaction->phase = RIG_PHASE_CONNECT;
    transaction->session_lost = row->session_lost;
    record_error(transaction, code, err->text);
    return row->outcome;
}

/* For every outcome: a transaction of unknown outcome went to this server as well. */
static void give_columns(const struct rig_sql_connection *connection, struct rig_transaction *transaction)
{
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, connection->node);
    if (connection->backend != 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_BACKEND, connection->backend);
}

static void draw_two_phase(struct rig_sql_turn *turn)
{
    struct rig_sql_session *session = turn->session;
    struct rig_sql_run *run = session->run;
    const double share = run->options->two_phase;
    if (share > 0 && !turn->transaction->read_only && !turn->transaction->rolls_back &&
        rig_rng_unit(&session->rng) < share)
        run->client->tables->name(run->env, session->client, atomic_fetch_add(&run->two_phase.begun, 1), turn->name);
}

void rig_sql_turn_take_level(struct rig_sql_turn *turn, int64_t isolation)
{
    turn->isolation = isolation;
    rig_column_give(&turn->transaction->columns, RIG_COLUMN_LEVEL, turn->session->run->level_names[isolation]);
}

static void draw_level(struct rig_sql_turn *turn)
{
    const struct rig_sql_run *run = turn->session->run;
    int64_t level = 0;
    turn->isolation = run->options->isolation;
    if (!rig_sql_given(run->options->isolation_shares))
        return;
    const double drawn = rig_rng_unit(&turn->session->rng);
    while (level + 1 < RIG_SQL_ISOLATION_COUNT && drawn >= run->level_up_to[level])
        level++;
    rig_sql_turn_take_level(turn, level);
}

static void run_turn(struct rig_sql_turn *turn)
{
    draw_two_phase(turn);
    draw_level(turn);
    give_columns(turn->connection, turn->transaction);
    if (rig_wake_is_raised(&turn->session->waiter.wake))
        rig_sql_turn_fail(turn, RIG_PHASE_CONNECT, RIG_SQL_INTERRUPTED, NULL);
    else
        turn->session->run->client->run(turn);
    if (turn->session->run->env->workload == RIG_WORKLOAD_SQL)
        rig_sql_random_split(turn->transaction);
    RIG_INVARIANT(turn->failed != turn->committed);
}

enum rig_outcome rig_sql_session_transact(void *session, struct rig_transaction *transaction)
{
    return rig_sql_session_run_program(session, transaction, NULL);
}

enum rig_outcome rig_sql_session_run_program(void *object, struct rig_transaction *transaction,
                                             struct rig_row_program *program)
{
    struct rig_sql_session *session = object;
    const struct rig_sql_run *run = session->run;
    _Alignas(max_align_t) unsigned char room[RIG_SQL_TURN_BYTES];
    struct rig_sql_turn *turn = (void *)room;
    RIG_REQUIRE(run->client->turn_bytes <= sizeof room);
    memset(room, 0, run->client->turn_bytes);
    struct rig_err err = {.rc = RIG_OK};
    enum rig_outcome outcome = RIG_OUTCOME_OK;
    turn->session = session;
    turn->connection = session->main;
    turn->transaction = transaction;
    turn->program = program;
    turn->deadline_ns = run->env->core->now_ns() + run->options->transaction_timeout_ns;
    turn->phase = RIG_PHASE_CONNECT;
    if (transaction->node > 0 && transaction->read_only)
        turn->connection = connect_to_node(session, transaction->node - 1, turn->deadline_ns, &err);
    else if (transaction->read_only && session->reader->open)
        turn->connection = session->reader;
    if (turn->connection == NULL)
        return unreachable(session, transaction, &err);
    RIG_INVARIANT(turn->connection->open);
    run_turn(turn);
    transaction->phase = RIG_PHASE_COMMIT;
    transaction->session_lost = turn->session_lost;
    if (turn->failed)
        outcome = conclude(turn);
    if (!transaction->session_lost && run->client->rest != NULL)
        transaction->session_lost = !run->client->rest(turn);
    /* A failed node session does not end the client's session. */
    if (turn->connection == session->visit && transaction->session_lost && !rig_wake_is_raised(&session->waiter.wake)) {
        disconnect(session, session->visit);
        transaction->session_lost = false;
    }
    return outcome;
}
