#include "run/load/run_closing.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "history/types/types.h"
#include "run/load/run_state.h"

enum {
    FINAL_ATTEMPTS = 12, /* failures in a row after which a client gives up its final reads */
    FINAL_GRACES = 3,    /* this many times clients.stop-grace without any answer end them for all clients */
};

/* The operation that reads a key in this run's workload. */
static enum rig_op_kind run_read_kind(const struct rig_run_state *run)
{
    return rig_data_types[run->plan->workload.type].read_op;
}

/* Makes `ops`, which stay in place until it is answered, the question of the client's transaction. */
static void run_ask_reads(struct rig_run_client *client, const struct rig_op *ops, uint32_t count)
{
    RIG_INVARIANT(count > 0 && count <= RIG_MOST_KEYS_A_READ);
    client->transaction.ops = ops;
    client->transaction.op_count = count;
    client->transaction.read_only = !rig_generator_drains(&client->run->plan->workload);
    client->transaction.node = 0;
    client->transaction.hold = (struct rig_hold){0};
    client->transaction.rollback = (struct rig_rollback){0};
    client->transaction.rolls_back = false;
    client->transaction.delayed = false;
    client->load.intended_ns = 0;
}

/* After an acknowledged closing or final read: whether the same one follows, because it took something. */
static bool run_drain_goes_on(struct rig_run_client *client)
{
    const struct rig_generator_options *workload = &client->run->plan->workload;
    const bool took =
        rig_generator_drains_on(workload, client->transaction.reads[0].state, client->transaction.reads[0].count);
    client->drained = took && client->drained < rig_generator_most_drained(workload) ? client->drained + 1 : 0;
    return client->drained > 0;
}

static bool was_used(const struct rig_run_state *run, int64_t key)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_question_stream *stream = run->clients[i].stream;
        if (stream->ops->used == NULL || stream->ops->used(stream, key))
            return true;
    }
    return false;
}

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

/*
 * Afterwards: adds the keys that were used and are not yet read. RIG_E_LIMIT when memory runs out.
 */
static enum rig_rc run_closing_rest(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err)
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

/*
 * With one phase every key below `bound` was active once. Behind a closing read nothing comes as long as the cluster
 * and the ranks are whole; a fault may have taken from a node what was read before, and a lost rank had keys to read,
 * so then each key is read again.
 */
static enum rig_rc list_keys(struct rig_run_state *run, int64_t bound, struct rig_key_numbers *keys,
                             struct rig_err *err)
{
    if (run->programs.program != NULL)
        return rig_run_programs_rows(run, keys, err);
    if (rig_generator_final_reads(&run->plan->workload) == RIG_FINAL_CLOSING && rig_run_part_is_whole(run) &&
        rig_run_closing_is_on(run))
        return run_closing_rest(run, keys, err);
    for (int64_t key = 0; key < bound; key++) {
        if (was_used(run, key) && !rig_key_numbers_add(keys, key))
            return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the %lld key%s of the final reads", (long long)bound,
                            rig_plural((uint64_t)bound));
    }
    return RIG_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Each key once. */
static enum rig_rc add_keys_of_others(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_key_numbers *keys = &run->final.keys;
    const struct rig_key_numbers *more = &run->part.keys;
    if (more->count == 0)
        return RIG_OK;
    for (size_t i = 0; i < more->count; i++) {
        if (!rig_key_numbers_add(keys, more->at[i]))
            return rig_no_memory(err, "the keys of the final reads");
    }
    qsort(keys->at, keys->count, sizeof *keys->at, compare_keys);
    size_t kept = 1;
    for (size_t i = 1; i < keys->count; i++) {
        if (keys->at[i] != keys->at[kept - 1])
            keys->at[kept++] = keys->at[i];
    }
    keys->count = kept;
    return RIG_OK;
}

/* After faults each node is asked: what one of them lost, the others may still show. 0: whichever answers. */
static uint32_t count_nodes(const struct rig_run_state *run)
{
    const struct rig_driver *driver = run->driver;
    const bool asks = run->faults.nemesis != NULL && (driver->features & RIG_DRIVER_NODES) != 0 &&
                      driver->cluster != NULL && driver->cluster->node_count != NULL;
    const uint32_t count = asks ? driver->cluster->node_count(run->driver_run) : 0;
    return count > 1 ? count : 0;
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

/* The clients have stopped: this rank promises nothing any more. */
static void run_closing_end(struct rig_run_state *run)
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

enum rig_rc rig_run_final_list(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err)
{
    int64_t bound = 0;
    uint64_t position = 0;
    run_closing_end(run);
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_question_stream *stream = run->clients[i].stream;
        const bool used = rig_run_read(&run->clients[i].counts.invoked) > 0;
        if (used && stream->ops->key_bound(stream) > bound)
            bound = stream->ops->key_bound(stream);
        if (used && stream->ops->position(stream) > position)
            position = stream->ops->position(stream);
    }
    return position == 0 ? RIG_OK : list_keys(run, bound, keys, err);
}

enum rig_rc rig_run_final_init(struct rig_run_state *run, struct rig_err *err)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        /* With simulated time the chunks are dealt out beforehand: client, client + client_count, ... */
        run->clients[i].final.chunk = run->simulated ? (int64_t)i - (int64_t)run->client_count : -1;
    }
    enum rig_rc rc = rig_run_final_list(run, &run->final.keys, err);
    if (rc == RIG_OK)
        rc = add_keys_of_others(run, err);
    run->final.key_chunks = (int64_t)((run->final.keys.count + run->final.keys_a_read - 1) / run->final.keys_a_read);
    run->final.nodes = count_nodes(run);
    run->final.chunk_count = run->final.key_chunks * (run->final.nodes > 0 ? run->final.nodes : 1);
    atomic_store(&run->final.next_chunk, 0);
    atomic_store(&run->final.answered_ns, rig_clock_now_ns());
    return rc;
}

void rig_run_final_done(struct rig_run_state *run)
{
    rig_key_numbers_done(&run->final.keys);
}

int64_t rig_run_final_ends_ns(const struct rig_run_state *run)
{
    return run->simulated ? INT64_MAX
                          : atomic_load_explicit(&run->final.answered_ns, memory_order_relaxed) +
                                FINAL_GRACES * run->plan->clients.stop_grace_ns;
}

static bool gives_up(const struct rig_run_client *client)
{
    return rig_run_is_ending(client->run) || rig_clock_now_ns() >= rig_run_final_ends_ns(client->run) ||
           client->final.failures >= FINAL_ATTEMPTS;
}

/* The chunk to read next: the one that failed, or that is not empty, again; or a new one. */
static bool take_chunk(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (client->final.failures > 0 || client->final.goes_on)
        return true;
    if (run->simulated)
        client->final.chunk += run->client_count;
    else
        client->final.chunk = atomic_fetch_add_explicit(&run->final.next_chunk, 1, memory_order_relaxed);
    return client->final.chunk < run->final.chunk_count;
}

bool rig_run_final_next(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (gives_up(client) || !take_chunk(client))
        return false;
    enum rig_op_kind kind = run_read_kind(run);
    size_t first = (size_t)(client->final.chunk % run->final.key_chunks) * run->final.keys_a_read;
    uint32_t count = 0;
    while (count < run->final.keys_a_read && first + count < run->final.keys.count) {
        client->final.ops[count] = (struct rig_op){.kind = kind, .key = run->final.keys.at[first + count]};
        count++;
    }
    run_ask_reads(client, client->final.ops, count);
    if (run->final.nodes > 0)
        client->transaction.node = 1 + (uint32_t)(client->final.chunk / run->final.key_chunks);
    return true;
}

void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome, const char *error)
{
    if (outcome == RIG_OUTCOME_OK)
        atomic_store_explicit(&client->run->final.answered_ns, rig_clock_now_ns(), memory_order_relaxed);
    client->final.failures = outcome == RIG_OUTCOME_OK ? 0 : client->final.failures + 1;
    client->final.goes_on = outcome == RIG_OUTCOME_OK && run_drain_goes_on(client);
    client->final.done_count += outcome == RIG_OUTCOME_OK && !client->final.goes_on;
    if (outcome != RIG_OUTCOME_OK)
        (void)snprintf(client->final.error, sizeof client->final.error, "%s", error);
}

bool rig_run_final_has_work(struct rig_run_client *client)
{
    return !gives_up(client) && client->session.failed_in_a_row < FINAL_ATTEMPTS;
}

enum { CLOSING_ATTEMPTS = 5 }; /* failures in a row after which a client leaves a closing read to the final ones */

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
    enum rig_op_kind kind = run_read_kind(run);
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
    run_ask_reads(client, client->closing.ops, client->closing.count);
    client->closing.is_under_way = true;
    return true;
}

void rig_run_closing_answer(struct rig_run_client *client, enum rig_outcome outcome)
{
    client->closing.is_under_way = false;
    rig_run_count(&client->closing.reads);
    if (outcome == RIG_OUTCOME_OK) {
        rig_run_count(&client->closing.ok);
        client->closing.count = run_drain_goes_on(client) ? client->closing.count : 0;
        client->closing.failures = 0;
        client->closing.pause_ns = 0;
        return;
    }
    client->closing.failures++;
    pause_after_failure(client);
    if (client->closing.failures >= CLOSING_ATTEMPTS)
        rig_run_closing_leave(client);
}

/* -- the end ------------------------------------------------------------------------------------------------------- */
