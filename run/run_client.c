#include "run/run_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/run_closing.h"
#include "run/run_final.h"
#include "run/run_load.h"

/*
 * X(state, what the client does there, where it may go)
 *
 * GATHER is passed once a phase. A client that cannot connect goes through it without a session after
 * RIG_START_ATTEMPTS failures and keeps trying afterwards.
 */
#define STATE_TABLE(X)                                                                                                 \
    X(OPEN, "opens a session", "GATHER, READY, BACK_OFF")                                                              \
    X(BACK_OFF, "waits before it tries again", "OPEN, GATHER, DONE")                                                   \
    X(GATHER, "waits for the start", "READY, BACK_OFF, CLOSE")                                                         \
    X(READY, "takes its next transaction, at its time", "TRANSACT, CLOSE")                                             \
    X(TRANSACT, "runs it", "READY, RENEW, REPLACE")                                                                    \
    X(RENEW, "closes the session after an info", "OPEN, DONE")                                                         \
    X(REPLACE, "closes the session that was lost", "OPEN, DONE")                                                       \
    X(CLOSE, "closes its last session", "DONE")                                                                        \
    X(DONE, "is past the phase", "")

enum state {
#define STATE_ENUM(name, does, next) CLIENT_##name,
    STATE_TABLE(STATE_ENUM)
#undef STATE_ENUM
};

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_client_init(struct rig_run_client *client, struct rig_run_state *run, uint32_t index,
                                struct rig_err *err)
{
    const struct rig_plan *plan = run->plan;
    size_t most_ops = (size_t)plan->workload.max_operations;
    if (most_ops < RIG_FINAL_KEYS)
        most_ops = RIG_FINAL_KEYS;
    /* Whole cache lines, so that neighbours do not share one. */
    size_t session_bytes = (run->driver->session_size + RIG_CACHE_LINE_BYTES) / RIG_CACHE_LINE_BYTES;
    session_bytes *= RIG_CACHE_LINE_BYTES;
    client->run = run;
    client->index = index;
    client->process = index;
    client->final_chunk = -1;
    client->answered.look = client->written.look = -1;
    client->looked_at = UINT64_MAX;
    RIG_INVARIANT(pthread_mutex_init(&client->session_lock, NULL) == 0);
    client->session = aligned_alloc(RIG_CACHE_LINE_BYTES, session_bytes);
    client->reads = calloc(most_ops, sizeof *client->reads);
    if (client->session == NULL || client->reads == NULL)
        return rig_fail(err, RIG_E_LIMIT, "no memory for client %u", index);
    rig_rng_init(&client->jitter, plan->seed, (UINT64_C(1) << 32) + index);
    client->channel = rig_recorder_channel(run->recorder, index);
    client->transaction = (struct rig_transaction){.client = index, .reads = client->reads, .core_private = client};
    return rig_generator_new(&plan->workload, plan->seed, index, run->client_count, &client->generator, err);
}

void rig_run_client_done(struct rig_run_client *client)
{
    if (client->run == NULL)
        return;
    RIG_INVARIANT(!client->session_live);
    rig_generator_free(client->generator);
    free(client->transaction.elements);
    free(client->reads);
    free(client->session);
    (void)pthread_mutex_destroy(&client->session_lock);
    *client = (struct rig_run_client){0};
}

int64_t rig_run_client_now_ns(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    return run->simulated ? run->driver->now_ns(client->session) : rig_clock_now_ns();
}

/* -- the session --------------------------------------------------------------------------------------------------- */

static void mark_busy(struct rig_run_client *client, int64_t since_ns)
{
    atomic_store_explicit(&client->busy_since_ns, since_ns, memory_order_relaxed);
}

static void set_session_live(struct rig_run_client *client, bool live)
{
    pthread_mutex_lock(&client->session_lock);
    client->session_live = live;
    pthread_mutex_unlock(&client->session_lock);
}

void rig_run_client_interrupt(struct rig_run_client *client)
{
    pthread_mutex_lock(&client->session_lock);
    if (client->session_live)
        client->run->driver->interrupt(client->session);
    pthread_mutex_unlock(&client->session_lock);
}

static void close_session(struct rig_run_client *client, bool last)
{
    mark_busy(client, rig_clock_now_ns());
    client->run->driver->close(client->session, last);
    mark_busy(client, 0);
    set_session_live(client, false);
    client->has_session = false;
    atomic_store(&client->connected, false);
}

static bool has_work(struct rig_run_client *client)
{
    return rig_run_phase(client->run) == RIG_RUN_LOAD ? rig_run_load_has_work(client) : rig_run_final_has_work(client);
}

/* Each later session gets a new process number: the guarantees of a session end with the session. */
static void begin_session(struct rig_run_client *client)
{
    if (rig_run_read(&client->sessions_opened) > 0)
        client->process += client->run->client_count;
    RIG_REQUIRE(client->process <= INT32_MAX);
    rig_run_count(&client->sessions_opened);
    client->has_session = true;
    client->failed_opens = 0;
    atomic_store(&client->connected, true);
}

static bool open_session(struct rig_run_client *client)
{
    const struct rig_driver *driver = client->run->driver;
    struct rig_err err = {0};
    memset(client->session, 0, driver->session_size);
    rig_run_count(&client->open_attempts);
    set_session_live(client, true);
    mark_busy(client, rig_clock_now_ns());
    enum rig_rc rc = driver->open(client->session, client->run->driver_run, client->index, &err);
    mark_busy(client, 0);
    if (rc == RIG_OK) {
        begin_session(client);
        return true;
    }
    rig_run_count(&client->open_failures);
    client->failed_opens++;
    rig_secret_redact(err.text, sizeof err.text);
    rig_printable_line(err.text);
    if (client->open_err.rc == RIG_OK)
        client->open_err = err;
    rig_run_outages_note(&client->run->outages, client->index, err.text, rig_clock_now_ns());
    close_session(client, false);
    return false;
}

/* Doubles from the first pause up to the longest; between half of that and all of it, so that clients spread. */
static bool back_off(struct rig_run_client *client, uint32_t failures)
{
    const struct rig_clients_options *options = &client->run->plan->clients;
    int64_t pause_ns = options->backoff_ns > 0 ? options->backoff_ns : RIG_NS_PER_MS;
    int64_t most_ns = options->max_backoff_ns > pause_ns ? options->max_backoff_ns : pause_ns;
    for (uint32_t i = 1; i < failures && pause_ns < most_ns; i++)
        pause_ns = pause_ns > most_ns / 2 ? most_ns : pause_ns * 2;
    int64_t wait_ns = pause_ns / 2 + (int64_t)rig_rng_below(&client->jitter, (uint64_t)pause_ns / 2 + 1);
    return rig_run_wait_until(client->run, rig_clock_now_ns() + wait_ns);
}

/* -- the start barrier --------------------------------------------------------------------------------------------- */

static void gather(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    pthread_mutex_lock(&run->gate_lock);
    run->gathered++;
    (void)pthread_cond_broadcast(&run->gate_moved);
    while (!run->gate_open)
        (void)pthread_cond_wait(&run->gate_moved, &run->gate_lock);
    pthread_mutex_unlock(&run->gate_lock);
}

/* -- one transaction ----------------------------------------------------------------------------------------------- */

static void count_error(struct rig_run_client *client, enum rig_outcome outcome, const char *code, const char *text)
{
    for (uint32_t i = 0; i < client->error_count; i++) {
        struct rig_run_error *row = &client->errors[i];
        bool last = i + 1 == RIG_RUN_ERROR_ROWS; /* takes whatever finds no row of its own */
        if (last || (row->outcome == outcome && strcmp(row->code, code) == 0)) {
            row->count++;
            return;
        }
    }
    struct rig_run_error *row = &client->errors[client->error_count++];
    *row = (struct rig_run_error){.outcome = outcome, .count = 1};
    bool last = client->error_count == RIG_RUN_ERROR_ROWS;
    (void)snprintf(row->code, sizeof row->code, "%s", last ? "other" : code);
    (void)snprintf(row->text, sizeof row->text, "%s", last ? "kinds that found no row of their own" : text);
}

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
    count_error(client, outcome, code, transaction->error_text);
    (void)snprintf(text, ERROR_BYTES, "%s: %s", code, transaction->error_text);
    return text;
}

static void clear_answer(struct rig_transaction *transaction)
{
    memset(transaction->reads, 0, transaction->op_count * sizeof *transaction->reads);
    transaction->element_count = 0;
    transaction->phase = RIG_PHASE_CONNECT;
    transaction->session_lost = false;
    transaction->columns.given = 0;
    transaction->error_code[0] = '\0';
    transaction->error_text[0] = '\0';
}

/* Keeps the first acknowledged transaction of each look of the monitor: it started before the others. */
static void note_answer(const struct rig_run_client *client, struct rig_run_answered *answered, int64_t start_ns)
{
    const int look = atomic_load_explicit(&client->run->looks, memory_order_relaxed);
    if (look == atomic_load_explicit(&answered->look, memory_order_relaxed))
        return;
    atomic_store_explicit(&answered->from_ns, start_ns, memory_order_relaxed);
    atomic_store_explicit(&answered->look, look, memory_order_release);
}

/* Tells the monitor how the transaction ended. */
static void note_outcome(struct rig_run_client *client, enum rig_outcome outcome, int64_t start_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    rig_run_count(outcome == RIG_OUTCOME_OK     ? &client->ok
                  : outcome == RIG_OUTCOME_FAIL ? &client->fail
                                                : &client->info);
    if (outcome == RIG_OUTCOME_OK)
        note_answer(client, &client->answered, start_ns);
    else if (outcome == RIG_OUTCOME_FAIL && !transaction->session_lost && transaction->phase != RIG_PHASE_CONNECT)
        rig_run_count(&client->refused);
    if (outcome == RIG_OUTCOME_OK && !transaction->read_only)
        note_answer(client, &client->written, start_ns);
    else if (!transaction->read_only)
        rig_run_count(&client->failed_writes);
}

static void measure(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns, int64_t end_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    int kind = transaction->hold.wanted ? 2 : transaction->read_only ? 0 : 1;
    rig_histogram_add(&client->latency[kind], end_ns - start_ns);
    rig_histogram_add(&client->intended_latency, end_ns - intended_ns);
}

/* This is the measured path: nothing here locks, allocates, or writes what another client reads or writes. */
static enum rig_outcome transact(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    struct rig_transaction *transaction = &client->transaction;
    clear_answer(transaction);
    int64_t start_ns = rig_run_client_now_ns(client);
    int64_t intended_ns = client->intended_ns != 0 ? client->intended_ns : start_ns;
    mark_busy(client, run->simulated ? rig_clock_now_ns() : start_ns);
    rig_run_count(&client->invoked);
    rig_channel_invoke(client->channel, client->process, start_ns, intended_ns, transaction->ops,
                       transaction->op_count);
    enum rig_outcome outcome = run->driver->transact(client->session, transaction);
    int64_t end_ns = rig_run_client_now_ns(client);
    char text[ERROR_BYTES];
    const char *error = outcome == RIG_OUTCOME_OK ? NULL : describe_error(client, outcome, text);
    rig_channel_columns(client->channel, &transaction->columns);
    rig_channel_complete(client->channel, end_ns, outcome, transaction->reads, transaction->elements, error);
    mark_busy(client, 0);
    RIG_INVARIANT(end_ns >= start_ns);
    note_outcome(client, outcome, start_ns);
    if (rig_run_phase(run) == RIG_RUN_FINAL) {
        rig_run_final_answer(client, outcome, error);
        return outcome;
    }
    client->last_ns = end_ns;
    if (client->closing)
        rig_run_closing_answer(client, outcome);
    else if (outcome == RIG_OUTCOME_OK)
        measure(client, start_ns, intended_ns, end_ns);
    return outcome;
}

/* -- the machine --------------------------------------------------------------------------------------------------- */

static enum state after_open(struct rig_run_client *client, bool gathered)
{
    if (open_session(client))
        return gathered ? CLIENT_READY : CLIENT_GATHER;
    return CLIENT_BACK_OFF;
}

static enum state after_back_off(struct rig_run_client *client, bool gathered)
{
    if (!gathered && client->failed_opens >= RIG_START_ATTEMPTS)
        return CLIENT_GATHER;
    if (rig_run_phase(client->run) == RIG_RUN_LOAD)
        rig_run_load_release(client);
    if (gathered && !has_work(client))
        return CLIENT_DONE;
    if (!back_off(client, client->failed_opens))
        return gathered ? CLIENT_DONE : CLIENT_GATHER;
    return CLIENT_OPEN;
}

static enum state after_gather(struct rig_run_client *client)
{
    gather(client);
    if (!client->has_session)
        return CLIENT_BACK_OFF;
    return !rig_run_is_ending(client->run) ? CLIENT_READY : CLIENT_CLOSE;
}

static enum state after_ready(struct rig_run_client *client)
{
    const bool loading = rig_run_phase(client->run) == RIG_RUN_LOAD;
    if (!loading && client->final_failures > 0 && !client->run->simulated && has_work(client))
        (void)back_off(client, client->final_failures);
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
    bool last = reason == &client->sessions_ended || !has_work(client);
    rig_run_count(reason);
    if (last)
        rig_run_closing_leave(client);
    else
        rig_run_closing_pause(client);
    close_session(client, last);
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
            state = after_close(client, &client->sessions_renewed);
            break;
        case CLIENT_REPLACE:
            state = after_close(client, &client->sessions_lost);
            break;
        case CLIENT_CLOSE:
            state = after_close(client, &client->sessions_ended);
            break;
        case CLIENT_DONE:
            break;
        }
    }
    rig_run_closing_leave(client);
    (void)atomic_fetch_add(&client->run->finished, 1);
    return NULL;
}
