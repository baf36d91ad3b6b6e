#include "run/run_load.h"

#include "base/bug.h"
#include "base/clock.h"
#include "run/run_state.h"

enum {
    LARGEST_BATCH = 16,
    /* How far behind the average one may be before it passes over transactions to catch up. Measured on PostgreSQL:
       after 1250 transactions each, most clients are within 150 of each other. */
    MOST_BEHIND = 32 * LARGEST_BATCH,
};

/* With simulated time nothing may depend on which thread comes first: each client gets its share beforehand. */
static void divide(struct rig_run_state *run, int64_t total)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        int64_t share = total / run->client_count + (i < total % run->client_count ? 1 : 0);
        RIG_REQUIRE(share <= UINT32_MAX);
        run->clients[i].load.claims = (uint32_t)share;
    }
}

/* Streams that end are issued whole, each by its own client. */
static bool claim_streams(struct rig_run_state *run)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        struct rig_run_client *client = &run->clients[i];
        const uint64_t left = client->stream->ops->left(client->stream);
        if (left == RIG_QUESTIONS_ENDLESS && i == 0)
            return false;
        RIG_REQUIRE(left <= UINT32_MAX);
        client->load.claims = (uint32_t)left;
        run->load.total += (int64_t)left;
    }
    return true;
}

void rig_run_load_init(struct rig_run_state *run)
{
    const struct rig_generator_options *workload = &run->plan->workload;
    struct rig_run_load *load = &run->load;
    RIG_REQUIRE(workload->transactions > 0 || workload->duration_ns > 0);
    load->is_divided = true;
    if (claim_streams(run))
        return;
    load->total = workload->transactions;
    load->is_divided = run->simulated && load->total > 0;
    if (load->is_divided) {
        divide(run, load->total);
        return;
    }
    const int64_t stock = load->total > 0 ? load->total : INT64_MAX / 2;
    const int64_t batch = stock / (8 * (int64_t)run->client_count);
    load->batch = (uint32_t)(batch < 1 ? 1 : batch > LARGEST_BATCH ? LARGEST_BATCH : batch);
    atomic_store(&load->stock, stock);
}

void rig_run_load_start(struct rig_run_state *run, int64_t now_ns)
{
    int64_t duration_ns = run->plan->workload.duration_ns;
    atomic_store(&run->load.start_ns, now_ns);
    atomic_store(&run->load.deadline_ns, duration_ns > 0 && !run->simulated ? now_ns + duration_ns : INT64_MAX);
}

static bool stock_is_empty(struct rig_run_state *run)
{
    return atomic_load_explicit(&run->load.stock, memory_order_relaxed) <= 0;
}

static void note_exhausted(struct rig_run_state *run)
{
    int64_t never = 0;
    (void)atomic_compare_exchange_strong(&run->load.exhausted_ns, &never, rig_clock_now_ns());
}

/*
 * Clients at the same position use the same keys. A client that fell behind (a slow node, a reconnect) would go on
 * alone with keys that no other client uses any more, so it rejoins the others at their average position and skips the
 * transactions between. The average and not the furthest: else one client that is ahead for a moment would drag all
 * others along.
 *
 * Simulated clients do so too, and a run still depends on its seed alone: once each has issued its first transaction,
 * the simulation lets one client at a time go on (drivers/sim/scheduler.h), so that the others' positions are no matter
 * of timing; before that no client is behind.
 */
static void rejoin_others(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    const struct rig_question_stream_ops *stream = client->stream->ops;
    if (stream->skip_to == NULL)
        return;
    uint64_t position = stream->position(client->stream);
    uint64_t average = atomic_load_explicit(&run->load.positions, memory_order_relaxed) / run->client_count;
    if (position + MOST_BEHIND < average)
        stream->skip_to(client->stream, average);
    position = stream->position(client->stream);
    (void)atomic_fetch_add_explicit(&run->load.positions, position - client->load.known_position, memory_order_relaxed);
    client->load.known_position = position;
}

static bool claim(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (run->simulated && client->load.issued % LARGEST_BATCH == 0)
        rejoin_others(client);
    if (client->load.claims > 0)
        return true;
    if (stock_is_empty(run)) {
        note_exhausted(run);
        return false;
    }
    int64_t before = atomic_fetch_sub_explicit(&run->load.stock, run->load.batch, memory_order_relaxed);
    if (before <= 0) {
        (void)atomic_fetch_add_explicit(&run->load.stock, run->load.batch, memory_order_relaxed);
        note_exhausted(run);
        return false;
    }
    client->load.claims = before < run->load.batch ? (uint32_t)before : run->load.batch;
    if (client->load.claims < run->load.batch)
        (void)atomic_fetch_add_explicit(&run->load.stock, run->load.batch - client->load.claims, memory_order_relaxed);
    if (!run->simulated)
        rejoin_others(client);
    return true;
}

void rig_run_load_release(struct rig_run_client *client)
{
    if (client->run->simulated)
        return;
    rig_run_closing_leave(client);
    if (client->load.claims == 0 || client->run->load.is_divided)
        return;
    (void)atomic_fetch_add_explicit(&client->run->load.stock, client->load.claims, memory_order_relaxed);
    client->load.claims = 0;
}

bool rig_run_load_has_work(struct rig_run_client *client)
{
    return !rig_run_is_ending(client->run) && (client->load.claims > 0 || !stock_is_empty(client->run));
}

/* The time of the client's next transaction, fractions of a nanosecond not accumulated. */
static int64_t scheduled_ns(const struct rig_run_client *client, double rate)
{
    const struct rig_run_state *run = client->run;
    double interval_ns = (double)RIG_NS_PER_S * run->client_count / rate;
    double turns = (double)client->load.issued + (double)client->index / run->client_count;
    return atomic_load_explicit(&run->load.start_ns, memory_order_relaxed) + (int64_t)(turns * interval_ns);
}

/* By the time at which the client's last transaction ended; for clients that wait, the monitor ends the load. */
static bool time_is_over(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    int64_t duration_ns = run->plan->workload.duration_ns;
    if (run->simulated)
        return duration_ns > 0 && client->load.last_ns >= duration_ns;
    return client->load.last_ns >= atomic_load_explicit(&run->load.deadline_ns, memory_order_relaxed);
}

/* A transaction beyond the limit is not held: one that has written would stall all others together with the rest. */
static void limit_holds(struct rig_run_client *client)
{
    const int64_t most = client->run->plan->workload.long_most;
    if (most == 0 || !client->transaction.hold.wanted)
        return;
    if (atomic_fetch_add_explicit(&client->run->load.held, 1, memory_order_relaxed) < most) {
        client->load.holds = true;
        return;
    }
    (void)atomic_fetch_sub_explicit(&client->run->load.held, 1, memory_order_relaxed);
    client->transaction.hold = (struct rig_hold){0};
}

static void note_failure(struct rig_run_client *client, enum rig_outcome outcome)
{
    const enum rig_error_class failing = outcome == RIG_OUTCOME_OK ? RIG_ERROR_OTHER : client->transaction.error_class;
    client->load.failures = failing == RIG_ERROR_OTHER        ? 0
                            : failing == client->load.failing ? client->load.failures + 1
                                                              : 1;
    client->load.failing = failing;
}

int64_t rig_run_load_pause_ns(const struct rig_run_client *client)
{
    const struct rig_clients_options *options = &client->run->plan->clients;
    switch (client->load.failing) {
    case RIG_ERROR_CONFLICT:
        return options->conflict_pause_ns;
    case RIG_ERROR_RESOURCES:
        return options->resources_pause_ns;
    case RIG_ERROR_OTHER:
    case RIG_ERROR_CLASS_COUNT:
        break;
    }
    return 0;
}

void rig_run_load_ended(struct rig_run_client *client, enum rig_outcome outcome)
{
    note_failure(client, outcome);
    if (!client->load.holds)
        return;
    client->load.holds = false;
    (void)atomic_fetch_sub_explicit(&client->run->load.held, 1, memory_order_relaxed);
}

bool rig_run_load_next(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (rig_run_is_ending(run) || time_is_over(client) || !claim(client))
        return false;
    rig_run_closing_advance(client);
    if (rig_run_closing_next(client))
        return true;
    double rate = run->plan->clients.rate;
    client->load.intended_ns = 0;
    if (rate > 0 && !run->simulated) {
        client->load.intended_ns = scheduled_ns(client, rate);
        if (client->load.intended_ns >= atomic_load_explicit(&run->load.deadline_ns, memory_order_relaxed) ||
            !rig_run_wait_until(run, client->load.intended_ns))
            return false;
    }
    client->stream->ops->next(client->stream, &client->transaction);
    limit_holds(client);
    client->load.claims--;
    client->load.issued++;
    return true;
}

/* Whichever comes first of the plan's count and its duration ends a load: the larger share counts. */
static double share_of_load(const struct rig_run_state *run, uint64_t carried_out)
{
    const struct rig_generator_options *workload = &run->plan->workload;
    const int64_t end_ns = atomic_load(&run->ending.load_end_ns);
    const int64_t start_ns = atomic_load(&run->load.start_ns);
    const int64_t took_ns = run->simulated ? run->load.took_ns : start_ns == 0 ? 0 : end_ns - start_ns;
    double share = 0;
    if (run->load.total > 0)
        share = (double)carried_out / (double)run->load.total;
    if (workload->duration_ns > 0 && (double)took_ns / (double)workload->duration_ns > share)
        share = (double)took_ns / (double)workload->duration_ns;
    return share > 1 ? 1 : share;
}

void rig_run_load_measure(struct rig_run_state *run, bool by_itself)
{
    uint64_t closing_reads = 0;
    int64_t start_ns = run->simulated ? 0 : atomic_load(&run->load.start_ns);
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        if (client->load.last_ns - start_ns > run->load.took_ns)
            run->load.took_ns = client->load.last_ns - start_ns;
        run->load.invoked += rig_run_read(&client->counts.invoked);
        run->load.ok += rig_run_read(&client->counts.ok) - rig_run_read(&client->closing.ok);
        closing_reads += rig_run_read(&client->closing.reads);
    }
    run->load.share = by_itself ? 1 : share_of_load(run, run->load.invoked - closing_reads);
}
