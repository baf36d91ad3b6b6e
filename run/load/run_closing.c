#include "run/load/run_closing.h"

#include "base/bug.h"
#include "base/clock.h"
#include "run/load/run_state.h"

enum {
    LEAST_STRIDE = 16, /* transactions of a client between two looks for keys that have left */
    /* Keys that wait for company wait this many transactions, over all clients: far fewer than a window of a check. */
    LONGEST_WAIT = 1024,
};

/* Also before all keys are read at the end: a check during the run can then be done with them, until they come back. */
bool rig_run_closing_is_on(const struct rig_run_state *run)
{
    /* With simulated time the clients of a rank must not depend on when messages arrive. */
    return !(run->simulated && run->part.rank_count > 1) &&
           rig_generator_final_reads(&run->plan->workload) != RIG_FINAL_NONE && run->questions->key_schedule != NULL;
}

enum rig_rc rig_run_closing_init(struct rig_run_state *run, struct rig_err *err)
{
    if (!rig_run_closing_is_on(run))
        return RIG_OK;
    struct rig_run_closing *closing = &run->closing;
    RIG_INVARIANT(pthread_mutex_init(&closing->lock, NULL) == 0);
    closing->has_lock = true;
    closing->stride = run->client_count < LEAST_STRIDE ? LEAST_STRIDE : run->client_count;
    if (run->part.rank_count == 1)
        closing->others = (struct rig_run_horizon){RIG_NO_POSITION, RIG_NO_POSITION};
    return run->questions->key_schedule(run->questions, run->part.all_clients, &closing->keys, err);
}

void rig_run_closing_done(struct rig_run_state *run)
{
    struct rig_run_closing *closing = &run->closing;
    rig_load_schedule_done(&closing->keys);
    rig_key_numbers_done(&closing->waiting);
    rig_key_numbers_done(&closing->unread);
    if (closing->has_lock)
        (void)pthread_mutex_destroy(&closing->lock);
    closing->has_lock = false;
}

/* -- positions ----------------------------------------------------------------------------------------------------- */

/* A client that comes back must not use a key again that the others have seen closed meanwhile, nor a phase that all of
 * them have left. */
static bool come_back(struct rig_run_client *client)
{
    struct rig_run_closing *closing = &client->run->closing;
    pthread_mutex_lock(&closing->lock);
    const bool is_in_time = rig_position_phase(closing->promised) <= client->load.phase;
    if (is_in_time) {
        client->stream->ops->skip_to(client->stream, closing->promised);
        atomic_store(&client->closing.position, client->stream->ops->position(client->stream));
    }
    pthread_mutex_unlock(&closing->lock);
    return is_in_time;
}

bool rig_run_closing_advance(struct rig_run_client *client)
{
    if (!rig_run_closing_is_on(client->run))
        return true;
    if (atomic_load_explicit(&client->closing.position, memory_order_relaxed) == RIG_NO_POSITION)
        return come_back(client);
    atomic_store_explicit(&client->closing.position, client->stream->ops->position(client->stream),
                          memory_order_release);
    return true;
}

void rig_run_closing_pause(struct rig_run_client *client)
{
    /* The simulator connects at once, and there streams are never cut short. */
    if (rig_run_closing_is_on(client->run) && !client->run->simulated)
        atomic_store(&client->closing.position, RIG_NO_POSITION);
}

void rig_run_closing_leave(struct rig_run_client *client)
{
    struct rig_run_closing *closing = &client->run->closing;
    if (!rig_run_closing_is_on(client->run))
        return;
    if (client->closing.count > 0) {
        pthread_mutex_lock(&closing->lock);
        for (uint32_t i = 0; i < client->closing.count; i++)
            closing->lost_keys |= !rig_key_numbers_add(&closing->unread, client->closing.ops[i].key);
        pthread_mutex_unlock(&closing->lock);
    }
    client->closing.count = 0;
    client->closing.failures = 0;
    atomic_store(&client->closing.position, RIG_NO_POSITION);
}

/* -- keys that have left ------------------------------------------------------------------------------------------- */

/* Lock held. */
static uint64_t least_position(const struct rig_run_state *run)
{
    uint64_t least = RIG_NO_POSITION;
    for (uint32_t i = 0; i < run->client_count; i++) {
        uint64_t position = atomic_load(&run->clients[i].closing.position);
        least = position < least ? position : least;
    }
    return least;
}

/* Lock held. Fewer keys than fill a transaction wait for company, but not long. */
static void decide_due(struct rig_run_state *run)
{
    struct rig_run_closing *closing = &run->closing;
    size_t count = closing->waiting.count - closing->taken;
    uint64_t waited = (closing->horizon - closing->oldest_position) * run->client_count;
    bool due = count >= run->final.keys_a_read || (count > 0 && waited >= LONGEST_WAIT);
    atomic_store_explicit(&closing->due, due, memory_order_relaxed);
}

/* Lock held. */
static void drop_taken(struct rig_run_closing *closing)
{
    size_t left = closing->waiting.count - closing->taken;
    for (size_t i = 0; i < left; i++)
        closing->waiting.at[i] = closing->waiting.at[closing->taken + i];
    closing->waiting.count = left;
    closing->taken = 0;
}

/* Lock held. The position of this rank's first client, which it may promise from now on; RIG_NO_POSITION: all are
 * away. */
static uint64_t promise(struct rig_run_state *run)
{
    struct rig_run_closing *closing = &run->closing;
    const uint64_t least = least_position(run);
    const uint64_t floor = least == RIG_NO_POSITION ? closing->others.active : least;
    RIG_INVARIANT(least >= closing->promised);
    if (floor != RIG_NO_POSITION && floor > closing->promised)
        closing->promised = floor;
    return least;
}

void rig_run_closing_meet(struct rig_run_state *run, const struct rig_run_horizon *others, uint64_t ended,
                          struct rig_run_horizon *own)
{
    struct rig_run_closing *closing = &run->closing;
    pthread_mutex_lock(&closing->lock);
    closing->others = *others;
    closing->ended = ended;
    own->active = promise(run) == RIG_NO_POSITION ? RIG_NO_POSITION : closing->promised;
    own->promised = closing->is_over ? RIG_NO_POSITION : closing->promised;
    pthread_mutex_unlock(&closing->lock);
}

static bool is_own(const struct rig_run_state *run, int64_t key)
{
    const uint32_t rank = (uint32_t)((uint64_t)key % run->part.rank_count);
    const bool has_ended = run->part.rank == 0 && (run->closing.ended >> rank & 1) != 0;
    return rank == run->part.rank || has_ended || run->closing.is_over;
}

/* Lock held. Keys that have left by this position wait, if this rank reads them. */
static void collect_keys(struct rig_run_state *run, uint64_t least)
{
    struct rig_run_closing *closing = &run->closing;
    drop_taken(closing);
    RIG_INVARIANT(least >= closing->horizon);
    closing->horizon = least;
    rig_load_schedule_reach(&closing->keys, least);
    while (rig_load_schedule_next(&closing->keys) <= closing->horizon) {
        if (!rig_key_numbers_reserve(&closing->waiting, closing->waiting.count + 1))
            break; /* they are taken when there is memory, or at the end */
        const uint64_t position = rig_load_schedule_next(&closing->keys);
        const int64_t key = rig_load_schedule_leave(&closing->keys);
        if (!is_own(run, key))
            continue;
        if (closing->waiting.count == 0)
            closing->oldest_position = position;
        (void)rig_key_numbers_add(&closing->waiting, key);
    }
}

static void look_for_keys(struct rig_run_state *run)
{
    struct rig_run_closing *closing = &run->closing;
    pthread_mutex_lock(&closing->lock);
    (void)promise(run);
    collect_keys(run, closing->others.promised < closing->promised ? closing->others.promised : closing->promised);
    decide_due(run);
    pthread_mutex_unlock(&closing->lock);
}

static bool is_my_turn(struct rig_run_client *client)
{
    const struct rig_run_closing *closing = &client->run->closing;
    if (client->load.issued == client->closing.looked_at ||
        (client->load.issued + client->index) % closing->stride != 0)
        return false;
    client->closing.looked_at = client->load.issued;
    return true;
}

static void take_keys(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    struct rig_run_closing *closing = &run->closing;
    enum rig_op_kind kind = rig_run_read_kind(run);
    pthread_mutex_lock(&closing->lock);
    while (client->closing.count < run->final.keys_a_read && closing->taken < closing->waiting.count) {
        int64_t key = closing->waiting.at[closing->taken++];
        client->closing.ops[client->closing.count++] = (struct rig_op){.kind = kind, .key = key};
    }
    closing->oldest_position = closing->horizon;
    decide_due(run);
    pthread_mutex_unlock(&closing->lock);
}

/* -- one closing read ---------------------------------------------------------------------------------------------- */

/* A database that could not answer is not asked again at once: the load goes on meanwhile. */
static void pause_after_failure(struct rig_run_client *client)
{
    const struct rig_clients_options *options = &client->run->plan->clients;
    const int64_t doubled_ns = client->closing.pause_ns * 2;
    client->closing.pause_ns = doubled_ns == 0                        ? options->backoff_ns
                               : doubled_ns < options->max_backoff_ns ? doubled_ns
                                                                      : options->max_backoff_ns;
    client->closing.again_ns = rig_clock_now_ns() + client->closing.pause_ns;
}

static bool is_pausing(const struct rig_run_client *client)
{
    return client->closing.pause_ns > 0 && !client->run->simulated && rig_clock_now_ns() < client->closing.again_ns;
}

bool rig_run_closing_next(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (!rig_run_closing_is_on(run) || is_pausing(client))
        return false;
    if (client->closing.count == 0 && is_my_turn(client))
        look_for_keys(run);
    if (client->closing.count == 0 && atomic_load_explicit(&run->closing.due, memory_order_relaxed))
        take_keys(client);
    if (client->closing.count == 0)
        return false;
    rig_run_ask_reads(client, client->closing.ops, client->closing.count);
    client->closing.is_under_way = true;
    return true;
}

void rig_run_closing_answer(struct rig_run_client *client, enum rig_outcome outcome)
{
    client->closing.is_under_way = false;
    rig_run_count(&client->closing.reads);
    if (outcome == RIG_OUTCOME_OK) {
        rig_run_count(&client->closing.ok);
        client->closing.count = rig_run_drain_goes_on(client) ? client->closing.count : 0;
        client->closing.failures = 0;
        client->closing.pause_ns = 0;
        return;
    }
    client->closing.failures++;
    pause_after_failure(client);
    if (client->closing.failures >= RIG_CLOSING_ATTEMPTS)
        rig_run_closing_leave(client);
}

/* -- the end ------------------------------------------------------------------------------------------------------- */

/* The most transactions of a phase that a client has issued or skipped. */
static uint64_t furthest(const struct rig_run_state *run, uint32_t phase)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_question_stream *stream = run->clients[i].stream;
        const bool used = rig_run_read(&run->clients[i].counts.invoked) > 0;
        const uint64_t behind = !used ? 0 : stream->ops->behind(stream, phase);
        most = behind > most ? behind : most;
    }
    return most;
}

void rig_run_closing_end(struct rig_run_state *run)
{
    struct rig_run_closing *closing = &run->closing;
    if (!rig_run_closing_is_on(run))
        return;
    pthread_mutex_lock(&closing->lock);
    /* Others leave keys of this rank to it that have left by its promise, and may not have promised as much
     * themselves. */
    closing->is_over = true;
    collect_keys(run, closing->promised);
    pthread_mutex_unlock(&closing->lock);
}

enum rig_rc rig_run_closing_rest(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err)
{
    struct rig_run_closing *closing = &run->closing;
    bool kept = !closing->lost_keys;
    for (size_t i = 0; i < closing->unread.count && kept; i++)
        kept = rig_key_numbers_add(keys, closing->unread.at[i]);
    for (; closing->taken < closing->waiting.count && kept; closing->taken++)
        kept = rig_key_numbers_add(keys, closing->waiting.at[closing->taken]);
    for (uint32_t phase = 0; phase < closing->keys.phase_count && kept; phase++) {
        const uint64_t behind = furthest(run, phase);
        for (int64_t key; kept && rig_load_schedule_rest(&closing->keys, phase, behind, &key);)
            kept = rig_key_numbers_add(keys, key);
    }
    return kept ? RIG_OK : rig_no_memory(err, "the keys of the final reads");
}
