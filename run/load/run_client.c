#include "run/load/run_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/load/run_state.h"

/*
 * The session of one client: opened, interrupted, closed, and counted.
 *
 * A session has a process number of its own in the record, because a database's promises to a session end with it.
 *
 * Threads: the client's; rig_run_session_interrupt() from the monitor's, which also reads what is
 * atomic.
 */

/* The driver's call that begins or, with 0, is over. */
static inline void run_session_mark_busy(struct rig_run_session *session, int64_t since_ns)
{
    atomic_store_explicit(&session->busy_since_ns, since_ns, memory_order_relaxed);
}

/* RIG_E_LIMIT. Safe for run_session_done() then. */
static enum rig_rc run_session_init(struct rig_run_session *session, const struct rig_run_state *run, uint32_t client,
                                    struct rig_err *err)
{
    /* Whole cache lines, so that neighbours do not share one. */
    const size_t lines = (run->driver->session_size + RIG_CACHE_LINE_BYTES) / RIG_CACHE_LINE_BYTES;
    session->process = client;
    RIG_INVARIANT(pthread_mutex_init(&session->lock, NULL) == 0);
    session->object = aligned_alloc(RIG_CACHE_LINE_BYTES, lines * RIG_CACHE_LINE_BYTES);
    return session->object != NULL ? RIG_OK : rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "client %u", client);
}

static void run_session_done(struct rig_run_session *session)
{
    RIG_INVARIANT(!session->is_live);
    free(session->object);
    (void)pthread_mutex_destroy(&session->lock);
}

static void set_live(struct rig_run_session *session, bool live)
{
    pthread_mutex_lock(&session->lock);
    session->is_live = live;
    pthread_mutex_unlock(&session->lock);
}

void rig_run_session_interrupt(struct rig_run_client *client)
{
    struct rig_run_session *session = &client->session;
    pthread_mutex_lock(&session->lock);
    if (session->is_live)
        client->run->driver->interrupt(session->object);
    pthread_mutex_unlock(&session->lock);
}

/* `last`: the client opens no further one in this phase. */
static void run_session_close(struct rig_run_client *client, bool last)
{
    struct rig_run_session *session = &client->session;
    run_session_mark_busy(session, rig_clock_now_ns());
    client->run->driver->close(session->object, last);
    run_session_mark_busy(session, 0);
    set_live(session, false);
    session->is_open = false;
    atomic_store(&session->connected, false);
}

static void begin(struct rig_run_session *session, uint32_t client_count)
{
    if (rig_run_read(&session->opened) > 0)
        session->process += client_count;
    RIG_REQUIRE(session->process <= INT32_MAX);
    rig_run_count(&session->opened);
    session->is_open = true;
    session->failed_in_a_row = 0;
    atomic_store(&session->connected, true);
}

/* False when the client cannot connect; the reason is logged. */
static bool run_session_open(struct rig_run_client *client)
{
    const struct rig_driver *driver = client->run->driver;
    struct rig_run_session *session = &client->session;
    struct rig_err err = {0};
    memset(session->object, 0, driver->session_size);
    rig_run_count(&session->attempts);
    set_live(session, true);
    run_session_mark_busy(session, rig_clock_now_ns());
    enum rig_rc rc = driver->open(session->object, client->run->driver_run, client->index, &err);
    run_session_mark_busy(session, 0);
    if (rc == RIG_OK) {
        begin(session, client->run->part.all_clients);
        return true;
    }
    rig_run_count(&session->failures);
    session->failed_in_a_row++;
    rig_secret_redact(err.text, sizeof err.text);
    rig_printable_line(err.text);
    if (session->first_err.rc == RIG_OK)
        session->first_err = err;
    rig_run_outages_note(&client->run->outages, client->index, err.text, rig_clock_now_ns());
    run_session_close(client, false);
    return false;
}

/*
 * Transactions that roll back to a savepoint, as they are recorded.
 *
 * The writes that a transaction rolls back are a transaction of their own, which failed: rig records it just before
 * the rest, under the same process, with the side column `savepoint`. So a read of such a write is an aborted read
 * wherever it is, and the record has the writer before any read could show its value. It is certain that these writes
 * never commit, whatever comes of the rest: the driver sends no COMMIT without the rollback. A read among them stays
 * with the rest: none of them has written its key before it.
 *
 * Threads: the client's.
 */

bool rig_run_rolls_back(const struct rig_plan *plan)
{
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        if (rig_plan_workload(plan, i)->rollback_share > 0)
            return true;
    }
    return false;
}

/* Copies the operations that the transaction undoes, or the others; returns their number. */
static uint32_t pick(const struct rig_transaction *transaction, bool undone, struct rig_op *to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (rig_rollback_undoes(&transaction->rollback, transaction->ops, i) == undone)
            to[count++] = transaction->ops[i];
    }
    return count;
}

/* Records the writes that the client's transaction rolls back, and then the invocation of the other operations. */
static void run_rollback_invoke(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    struct rig_column_row columns = {0};
    RIG_REQUIRE(rig_rollback_wanted(&transaction->rollback) && transaction->rollback.to < transaction->op_count);
    uint32_t count = pick(transaction, true, client->kept_ops);
    RIG_REQUIRE(count > 0);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, client->kept_ops, count);
    rig_column_give(&columns, RIG_COLUMN_SAVEPOINT, transaction->rollback.from);
    rig_channel_columns(client->channel, &columns, NULL);
    rig_channel_complete(client->channel, start_ns, RIG_OUTCOME_FAIL, transaction->reads, NULL,
                         "savepoint: the process's next transaction rolled these operations back");
    count = pick(transaction, false, client->kept_ops);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, client->kept_ops, count);
}

/* The times of the operations that were not rolled back. */
static void keep_times(struct rig_transaction *transaction)
{
    const int64_t count = rig_times_count(transaction);
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (rig_rollback_undoes(&transaction->rollback, transaction->ops, (uint32_t)i))
            continue;
        transaction->times[2 * kept] = transaction->times[2 * i];
        transaction->times[2 * kept + 1] = transaction->times[2 * i + 1];
        kept++;
    }
    rig_column_give(&transaction->columns, RIG_COLUMN_TIMES, kept);
    if (kept == 0)
        transaction->columns.given &= ~RIG_COLUMN_BIT(RIG_COLUMN_TIMES);
}

/* Drops the places of the writes that were rolled back from the answer, and numbers a hold by the other operations. */
static void run_rollback_answer(struct rig_transaction *transaction)
{
    const struct rig_rollback *rollback = &transaction->rollback;
    int64_t *before = &transaction->columns.at[RIG_COLUMN_HELD_BEFORE];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (!rig_rollback_undoes(rollback, transaction->ops, i))
            transaction->reads[kept++] = transaction->reads[i];
    }
    keep_times(transaction);
    if ((transaction->columns.given & RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE)) != 0)
        *before = rig_rollback_number(rollback, transaction->ops, (uint32_t)*before);
}

/*
 * X(state, what the client does there, where it may go)
 *
 * GATHER is passed once a phase. A client that cannot connect goes through it without a session after
 * START_ATTEMPTS failures and keeps trying afterwards.
 */
#define STATE_TABLE(X)                                                                                                 \
    X(OPEN, "opens a session", "GATHER, READY, BACK_OFF")                                                              \
    X(BACK_OFF, "waits before its next attempt", "OPEN, GATHER, DONE")                                                 \
    X(GATHER, "waits for the start", "READY, BACK_OFF, CLOSE")                                                         \
    X(READY, "takes its next transaction at its time", "TRANSACT, CLOSE")                                              \
    X(TRANSACT, "runs it", "READY, RENEW, REPLACE")                                                                    \
    X(RENEW, "closes the session after an info", "OPEN, DONE")                                                         \
    X(REPLACE, "closes the session that was lost", "OPEN, DONE")                                                       \
    X(CLOSE, "closes its last session", "DONE")                                                                        \
    X(DONE, "has finished the phase", "")

/* Failures in a row after which a client no longer holds up the start. */
enum { START_ATTEMPTS = 3 };

enum state {
#define STATE_ENUM(name, does, next) CLIENT_##name,
    STATE_TABLE(STATE_ENUM)
#undef STATE_ENUM
};

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_client_init(struct rig_run_client *client, struct rig_run_state *run, uint32_t index,
                                struct rig_err *err)
{
    size_t most_ops = run->questions->most_operations;
    if (most_ops < RIG_MOST_KEYS_A_READ)
        most_ops = RIG_MOST_KEYS_A_READ;
    client->run = run;
    client->index = index;
    client->final.chunk = -1;
    client->answered.any.look = client->answered.writing.look = -1;
    client->closing.looked_at = UINT64_MAX;
    enum rig_rc rc = run_session_init(&client->session, run, index, err);
    if (rc != RIG_OK)
        return rc;
    client->reads = calloc(most_ops, sizeof *client->reads);
    client->kept_ops = calloc(most_ops, sizeof *client->kept_ops);
    client->times = calloc(most_ops, 2 * sizeof *client->times);
    if (client->reads == NULL || client->kept_ops == NULL || client->times == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "client %u", index);
    rig_rng_init(&client->jitter, run->plan->seed, (UINT64_C(1) << 32) + index);
    client->channel = rig_recorder_channel(run->recorder, index - run->part.first_client);
    client->transaction = (struct rig_transaction){
        .client = index, .reads = client->reads, .times = client->times, .core_private = client};
    rc = run->questions->open(run->questions, index, run->part.all_clients, &client->stream, err);
    if (rc == RIG_OK)
        rig_run_client_program_init(client);
    return rc;
}

void rig_run_client_done(struct rig_run_client *client)
{
    if (client->run == NULL)
        return;
    rig_run_client_program_done(client);
    if (client->stream != NULL)
        client->stream->ops->free(client->stream);
    free(client->transaction.elements);
    free(client->reads);
    free(client->kept_ops);
    free(client->times);
    run_session_done(&client->session);
    *client = (struct rig_run_client){0};
}

/* The time that is recorded: the session's own, or the monotonic clock. */
static int64_t client_now_ns(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    return run->simulated ? run->driver->now_ns(client->session.object) : rig_clock_now_ns();
}

static bool has_work(struct rig_run_client *client)
{
    return rig_run_phase(client->run) == RIG_RUN_LOAD ? rig_run_load_has_work(client) : rig_run_final_has_work(client);
}

/* Doubles from the first pause up to the longest; between half of that and all of it, so that clients spread. */
static bool pause_for(struct rig_run_client *client, int64_t pause_ns, int64_t most_ns, uint32_t failures)
{
    if (most_ns < pause_ns)
        most_ns = pause_ns;
    for (uint32_t i = 1; i < failures && pause_ns < most_ns; i++)
        pause_ns = pause_ns > most_ns / 2 ? most_ns : pause_ns * 2;
    int64_t wait_ns = pause_ns / 2 + (int64_t)rig_rng_below(&client->jitter, (uint64_t)pause_ns / 2 + 1);
    return rig_run_wait_until(client->run, rig_clock_now_ns() + wait_ns);
}

static bool back_off(struct rig_run_client *client, uint32_t failures)
{
    const struct rig_clients_options *options = &client->run->plan->clients;
    return pause_for(client, options->backoff_ns > 0 ? options->backoff_ns : RIG_NS_PER_MS, options->max_backoff_ns,
                     failures);
}

/* Gives the server time to recover, and other clients the transactions that this one had claimed. */
static void back_off_from_load(struct rig_run_client *client)
{
    const int64_t pause_ns = client->load.failures == 0 || client->run->simulated ? 0 : rig_run_load_pause_ns(client);
    if (pause_ns == 0)
        return;
    rig_run_load_release(client);
    (void)pause_for(client, pause_ns, client->run->plan->clients.max_pause_ns, client->load.failures);
}

/* -- one transaction ----------------------------------------------------------------------------------------------- */

enum { ERROR_BYTES = RIG_ERROR_CODE_BYTES + RIG_ERROR_TEXT_BYTES + 2 };

/* "code: text" as it is recorded: one printable line, without secrets. */
static const char *describe_error(struct rig_run_client *client, enum rig_outcome outcome, char text[ERROR_BYTES])
{
    struct rig_transaction *transaction = &client->transaction;
    transaction->error_code[RIG_ERROR_CODE_BYTES - 1] = '\0';
    transaction->error_text[RIG_ERROR_TEXT_BYTES - 1] = '\0';
    rig_secret_redact(transaction->error_text, RIG_ERROR_TEXT_BYTES);
    rig_printable_line(transaction->error_code);
    rig_printable_line(transaction->error_text);
    const char *code = transaction->error_code[0] == '\0' ? "unknown" : transaction->error_code;
    const uint32_t row = rig_run_errors_add(&client->errors, outcome, code, transaction->error_text);
    atomic_store_explicit(&client->live_errors.counts[row], client->errors.rows[row].count, memory_order_relaxed);
    atomic_store_explicit(&client->live_errors.row_count, client->errors.count, memory_order_release);
    (void)snprintf(text, ERROR_BYTES, "%s: %s", code, transaction->error_text);
    return text;
}

static void clear_answer(struct rig_transaction *transaction)
{
    memset(transaction->reads, 0, transaction->op_count * sizeof *transaction->reads);
    transaction->element_count = 0;
    transaction->phase = RIG_PHASE_CONNECT;
    transaction->session_lost = transaction->answers_void = false;
    transaction->error_class = RIG_ERROR_OTHER;
    transaction->columns.given = 0;
    transaction->error_code[0] = '\0';
    transaction->error_text[0] = '\0';
}

/* Out of step an answer may be that of another request. */
static void void_reads(struct rig_run_client *client)
{
    const struct rig_program_call *call = client->program.call;
    if (call != NULL)
        memset(call->reads, 0, call->op_count * sizeof *call->reads);
    else
        memset(client->transaction.reads, 0, client->transaction.op_count * sizeof *client->transaction.reads);
}

/* Keeps the first acknowledged transaction of each look of the monitor: it started before the others. */
static void note_answer(const struct rig_run_client *client, struct rig_run_answered *answered, int64_t start_ns)
{
    const int look = atomic_load_explicit(&client->run->seen.looks, memory_order_relaxed);
    if (look == atomic_load_explicit(&answered->look, memory_order_relaxed))
        return;
    atomic_store_explicit(&answered->from_ns, start_ns, memory_order_relaxed);
    atomic_store_explicit(&answered->look, look, memory_order_release);
}

/* Whether the transaction was rolled back because the load wanted that. It says nothing of the database's answers. */
static bool is_deliberate(const struct rig_transaction *transaction, enum rig_outcome outcome)
{
    return transaction->rolls_back && outcome == RIG_OUTCOME_FAIL &&
           strcmp(transaction->error_code, RIG_ROLLED_BACK_CODE) == 0;
}

/* Tells the monitor how the transaction ended. */
static void note_outcome(struct rig_run_client *client, enum rig_outcome outcome, int64_t start_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    struct rig_run_counts *counts = &client->counts;
    rig_run_count(outcome == RIG_OUTCOME_OK     ? &counts->ok
                  : outcome == RIG_OUTCOME_FAIL ? &counts->fail
                                                : &counts->info);
    if (is_deliberate(transaction, outcome))
        return;
    if (outcome == RIG_OUTCOME_OK)
        note_answer(client, &client->answered.any, start_ns);
    else if (outcome == RIG_OUTCOME_FAIL && !transaction->session_lost && transaction->phase != RIG_PHASE_CONNECT)
        rig_run_count(&counts->refused);
    if (outcome == RIG_OUTCOME_OK && !transaction->read_only)
        note_answer(client, &client->answered.writing, start_ns);
    else if (!transaction->read_only)
        rig_run_count(&counts->failed_writes);
}

/* Records the invocation and runs the transaction. */
static enum rig_outcome perform(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns)
{
    struct rig_transaction *transaction = &client->transaction;
    if (client->program.call != NULL)
        return rig_run_program(client, start_ns, intended_ns);
    if (rig_rollback_wanted(&transaction->rollback))
        run_rollback_invoke(client, start_ns, intended_ns);
    else
        rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, transaction->ops,
                           transaction->op_count);
    return client->run->driver->transact(client->session.object, transaction);
}

/* This is the measured path: nothing here locks, allocates, or writes what another client reads or writes. */
static enum rig_outcome transact(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    struct rig_transaction *transaction = &client->transaction;
    const struct rig_program_call *call = client->program.call;
    clear_answer(transaction);
    if (call != NULL)
        rig_channel_begin(client->channel);
    int64_t start_ns = client_now_ns(client);
    int64_t intended_ns = client->load.intended_ns != 0 ? client->load.intended_ns : start_ns;
    run_session_mark_busy(&client->session, run->simulated ? rig_clock_now_ns() : start_ns);
    rig_run_count(&client->counts.invoked);
    enum rig_outcome outcome = perform(client, start_ns, intended_ns);
    int64_t end_ns = client_now_ns(client);
    char text[ERROR_BYTES];
    const char *error = outcome == RIG_OUTCOME_OK ? NULL : describe_error(client, outcome, text);
    if (transaction->answers_void)
        void_reads(client);
    if (rig_rollback_wanted(&transaction->rollback))
        run_rollback_answer(transaction);
    rig_channel_columns(client->channel, &transaction->columns, transaction->times);
    rig_channel_complete(client->channel, end_ns, outcome, call != NULL ? call->reads : transaction->reads,
                         transaction->elements, error);
    if (call != NULL)
        rig_run_program_note(client, outcome);
    run_session_mark_busy(&client->session, 0);
    RIG_INVARIANT(end_ns >= start_ns);
    note_outcome(client, outcome, start_ns);
    if (rig_run_phase(run) == RIG_RUN_FINAL) {
        rig_run_final_answer(client, outcome, error);
        return outcome;
    }
    client->load.last_ns = end_ns;
    rig_run_load_ended(client, outcome);
    if (client->closing.is_under_way)
        rig_run_closing_answer(client, outcome);
    else if (outcome == RIG_OUTCOME_OK)
        rig_run_latency_add(&client->latency, transaction, start_ns, intended_ns, end_ns);
    return outcome;
}

/* -- the machine --------------------------------------------------------------------------------------------------- */

static enum state after_open(struct rig_run_client *client, bool gathered)
{
    if (run_session_open(client))
        return gathered ? CLIENT_READY : CLIENT_GATHER;
    return CLIENT_BACK_OFF;
}

static enum state after_back_off(struct rig_run_client *client, bool gathered)
{
    if (!gathered && client->session.failed_in_a_row >= START_ATTEMPTS)
        return CLIENT_GATHER;
    if (rig_run_phase(client->run) == RIG_RUN_LOAD)
        rig_run_load_release(client);
    if (gathered && !has_work(client))
        return CLIENT_DONE;
    if (!back_off(client, client->session.failed_in_a_row))
        return gathered ? CLIENT_DONE : CLIENT_GATHER;
    return CLIENT_OPEN;
}

static enum state after_gather(struct rig_run_client *client)
{
    rig_run_gate_pass(&client->run->gate);
    if (!client->session.is_open)
        return CLIENT_BACK_OFF;
    return !rig_run_is_ending(client->run) ? CLIENT_READY : CLIENT_CLOSE;
}

static enum state after_ready(struct rig_run_client *client)
{
    const bool loading = rig_run_phase(client->run) == RIG_RUN_LOAD;
    if (!loading && client->final.failures > 0 && !client->run->simulated && has_work(client))
        (void)back_off(client, client->final.failures);
    if (loading)
        back_off_from_load(client);
    const bool more = loading ? rig_run_load_next(client) : rig_run_final_next(client);
    return more ? CLIENT_TRANSACT : CLIENT_CLOSE;
}

static enum state after_transact(struct rig_run_client *client)
{
    if (transact(client) == RIG_OUTCOME_INFO)
        return CLIENT_RENEW;
    return client->transaction.session_lost ? CLIENT_REPLACE : CLIENT_READY;
}

static enum state after_close(struct rig_run_client *client, _Atomic uint64_t *reason)
{
    bool last = reason == &client->session.ended || !has_work(client);
    rig_run_count(reason);
    if (last)
        rig_run_closing_leave(client);
    else
        rig_run_closing_pause(client);
    run_session_close(client, last);
    return last ? CLIENT_DONE : CLIENT_OPEN;
}

void *rig_run_client_main(void *argument)
{
    struct rig_run_client *client = argument;
    enum state state = CLIENT_OPEN;
    bool gathered = false;
    while (state != CLIENT_DONE) {
        switch (state) {
        case CLIENT_OPEN:
            state = after_open(client, gathered);
            break;
        case CLIENT_BACK_OFF:
            state = after_back_off(client, gathered);
            break;
        case CLIENT_GATHER:
            state = after_gather(client);
            gathered = true;
            break;
        case CLIENT_READY:
            state = after_ready(client);
            break;
        case CLIENT_TRANSACT:
            state = after_transact(client);
            break;
        case CLIENT_RENEW:
            state = after_close(client, &client->session.renewed);
            break;
        case CLIENT_REPLACE:
            state = after_close(client, &client->session.lost);
            break;
        case CLIENT_CLOSE:
            state = after_close(client, &client->session.ended);
            break;
        case CLIENT_DONE:
            break;
        }
    }
    rig_run_closing_leave(client);
    rig_run_gate_finish(&client->run->gate);
    return NULL;
}
