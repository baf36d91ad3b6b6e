#include "run/load/run_load.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "run/load/run_state.h"

/* How long a client without a part in a phase sleeps between looks for the next one. */
static const int64_t phase_wait_ns = 20 * RIG_NS_PER_MS;

enum {
    LARGEST_BATCH = 16,
    /* How far behind the average one may be before it passes over transactions to catch up. Measured on PostgreSQL:
       after 1250 transactions each, most clients are within 150 of each other. */
    MOST_BEHIND = 32 * LARGEST_BATCH,
};

static struct rig_run_load_phase *phase_of(const struct rig_run_client *client)
{
    return &client->run->load.phases[client->load.phase];
}

static const struct rig_generator_options *workload_of(const struct rig_run_client *client)
{
    return rig_plan_workload(client->run->plan, client->load.phase);
}

/* The clients that take part in the client's phase: the first ones. */
static uint32_t clients_of(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    return run->load.phase_count == 1 ? run->part.all_clients
                                      : (uint32_t)rig_plan_clients(run->plan, client->load.phase)->count;
}

static bool is_part_of(const struct rig_run_client *client)
{
    return client->index < clients_of(client);
}

/* The clients of this process that take part in a phase: its first ones. */
static uint32_t own_clients_in(const struct rig_run_state *run, uint32_t phase)
{
    const uint32_t first = run->part.first_client;
    const uint32_t all =
        run->load.phase_count == 1 ? run->part.all_clients : (uint32_t)rig_plan_clients(run->plan, phase)->count;
    const uint32_t own = all > first ? all - first : 0;
    return own < run->client_count ? own : run->client_count;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

/* With simulated time nothing may depend on which thread comes first: each client gets its share beforehand. */
static void take_share(struct rig_run_client *client)
{
    if (!is_part_of(client))
        return;
    const struct rig_run_load_phase *phase = phase_of(client);
    const int64_t count = clients_of(client);
    const int64_t share = phase->total / count + (client->index < phase->total % count ? 1 : 0);
    RIG_REQUIRE(share <= UINT32_MAX);
    client->load.claims = (uint32_t)share;
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

/* The transactions of a phase that this process's clients issue. */
static int64_t share_of_total(const struct rig_run_state *run, uint32_t phase)
{
    const int64_t total = rig_plan_workload(run->plan, phase)->transactions;
    const uint32_t all =
        run->load.phase_count == 1 ? run->part.all_clients : (uint32_t)rig_plan_clients(run->plan, phase)->count;
    return rig_run_part_share(run, total, all, own_clients_in(run, phase));
}

static void init_phase(struct rig_run_state *run, uint32_t number)
{
    const struct rig_generator_options *workload = rig_plan_workload(run->plan, number);
    struct rig_run_load_phase *phase = &run->load.phases[number];
    RIG_REQUIRE(workload->transactions > 0 || workload->duration_ns > 0);
    atomic_store(&phase->deadline_ns, INT64_MAX);
    phase->total = workload->transactions; /* of all ranks */
    phase->is_divided = run->simulated && phase->total > 0;
    if (phase->is_divided)
        return;
    phase->own_total = share_of_total(run, number);
    const int64_t stock = phase->total > 0 ? phase->own_total : INT64_MAX / 2;
    const int64_t batch = stock / (8 * (int64_t)run->client_count);
    phase->batch = (uint32_t)(batch < 1 ? 1 : batch > LARGEST_BATCH ? LARGEST_BATCH : batch);
    atomic_store(&phase->stock, stock);
}

static void sum_bounds(struct rig_run_state *run)
{
    bool all_counted = true, all_timed = true;
    for (uint32_t i = 0; i < run->load.phase_count; i++) {
        const struct rig_generator_options *workload = rig_plan_workload(run->plan, i);
        all_counted &= workload->transactions > 0;
        all_timed &= workload->duration_ns > 0;
        run->load.total += share_of_total(run, i);
        run->load.duration_ns += workload->duration_ns;
    }
    run->load.total = all_counted ? run->load.total : 0;
    run->load.duration_ns = all_timed ? run->load.duration_ns : 0;
}

enum rig_rc rig_run_load_init(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_run_load *load = &run->load;
    load->phase_count = run->questions->phase_count > 1 ? run->questions->phase_count : 1;
    load->phases = calloc(load->phase_count, sizeof *load->phases);
    if (load->phases == NULL)
        return rig_no_memory(err, "the phases of the load");
    if (claim_streams(run)) {
        atomic_store(&load->phases[0].deadline_ns, INT64_MAX);
        load->phases[0].total = load->total;
        load->phases[0].is_divided = true;
        return RIG_OK;
    }
    for (uint32_t i = 0; i < load->phase_count; i++)
        init_phase(run, i);
    sum_bounds(run);
    for (uint32_t i = 0; i < run->client_count && load->phases[0].is_divided; i++)
        take_share(&run->clients[i]);
    return RIG_OK;
}

void rig_run_load_done(struct rig_run_state *run)
{
    free(run->load.phases);
    run->load.phases = NULL;
}

/* -- phases -------------------------------------------------------------------------------------------------------- */

const char *rig_run_load_phase_name(const struct rig_run_state *run)
{
    return run->plan->phase_count == 0 || run->load.phase_count < run->plan->phase_count
               ? NULL
               : run->plan->phases[atomic_load(&run->load.phase)].name;
}

int64_t rig_run_load_longest_hold_ns(const struct rig_run_state *run)
{
    int64_t longest_ns = 0;
    for (uint32_t i = 0; i < rig_plan_phases(run->plan); i++) {
        const int64_t own_ns = rig_plan_workload(run->plan, i)->long_duration_ns;
        longest_ns = own_ns > longest_ns ? own_ns : longest_ns;
    }
    return longest_ns;
}

/* The event of a phase in the record: like a fault that is injected and healed. Rank 0 alone records its phases. */
static void record_step(struct rig_run_state *run, uint32_t phase, enum rig_fault_step step, int64_t at_ns)
{
    if (run->part.rank > 0)
        return;
    struct rig_fault_event event = {.time_ns = at_ns,
                                    .injection = RIG_PHASE_INJECTION(phase),
                                    .step = (uint8_t)step,
                                    .fault = RIG_PHASE_FAULT,
                                    .targets = run->plan->phases[phase].name,
                                    .text = ""};
    uint64_t now[3];
    rig_run_nemesis_count(run, now);
    if (step == RIG_FAULT_HEALED) {
        event.ok = now[RIG_OUTCOME_OK] - run->load.begun[RIG_OUTCOME_OK];
        event.fail = now[RIG_OUTCOME_FAIL] - run->load.begun[RIG_OUTCOME_FAIL];
        event.info = now[RIG_OUTCOME_INFO] - run->load.begun[RIG_OUTCOME_INFO];
    }
    rig_recorder_fault(run->recorder, &event);
}

/* Lock held. */
static void note_end(struct rig_run_state *run, uint32_t phase, int64_t at_ns)
{
    if (rig_run_load_phase_name(run) == NULL)
        return;
    record_step(run, phase, RIG_FAULT_HEAL, at_ns);
    record_step(run, phase, RIG_FAULT_HEALED, at_ns);
}

/* Lock held. */
static void note_begin(struct rig_run_state *run, uint32_t phase, int64_t at_ns)
{
    if (rig_run_load_phase_name(run) == NULL)
        return;
    rig_log(RIG_LOG_INFO, "run", "phase %s begins", run->plan->phases[phase].name);
    rig_run_nemesis_count(run, run->load.begun);
    record_step(run, phase, RIG_FAULT_INJECT, at_ns);
    record_step(run, phase, RIG_FAULT_INJECTED, at_ns);
}

/* Lock held. Clients that have waited for the phase take part again, before simulated time goes on. */
static void end_rests(struct rig_run_state *run, uint32_t phase, int64_t at_ns)
{
    for (uint32_t i = 0; run->load.phase_count > 1 && i < own_clients_in(run, phase); i++) {
        struct rig_run_client *client = &run->clients[i];
        if (!client->load.rests)
            continue;
        run->driver->rest(client->session.object, false);
        client->load.rests = false;
        client->load.rested_until_ns = at_ns;
    }
}

/* Lock held, or before the clients start. `at_ns` in the recorder's time. */
static void begin_phase(struct rig_run_state *run, uint32_t number, int64_t now_ns, int64_t at_ns)
{
    const int64_t duration_ns = rig_plan_workload(run->plan, number)->duration_ns;
    struct rig_run_load_phase *phase = &run->load.phases[number];
    const bool is_timed = duration_ns > 0 && !run->simulated;
    if (number > 0)
        note_end(run, number - 1, at_ns);
    atomic_store(&phase->start_ns, now_ns);
    atomic_store(&phase->deadline_ns, is_timed ? now_ns + duration_ns : INT64_MAX);
    end_rests(run, number, at_ns);
    atomic_store(&run->load.phase, number);
    note_begin(run, number, at_ns);
}

/* Begins the phase after `phase`, unless it has begun. */
static void leave_phase(struct rig_run_state *run, uint32_t phase, int64_t at_ns)
{
    const int64_t now_ns = rig_clock_now_ns();
    pthread_mutex_lock(&run->faults.lock);
    if (atomic_load(&run->load.phase) == phase && phase + 1 < run->load.phase_count)
        begin_phase(run, phase + 1, now_ns, run->simulated ? at_ns : now_ns);
    pthread_mutex_unlock(&run->faults.lock);
}

void rig_run_load_start(struct rig_run_state *run, int64_t now_ns)
{
    pthread_mutex_lock(&run->faults.lock);
    begin_phase(run, 0, now_ns, run->simulated ? 0 : now_ns);
    atomic_store(&run->load.start_ns, now_ns);
    pthread_mutex_unlock(&run->faults.lock);
}

void rig_run_load_watch(struct rig_run_state *run, int64_t now_ns)
{
    const uint32_t phase = atomic_load(&run->load.phase);
    if (atomic_load(&run->load.start_ns) == 0 || now_ns < atomic_load(&run->load.phases[phase].deadline_ns))
        return;
    if (phase + 1 < run->load.phase_count)
        leave_phase(run, phase, 0);
    else
        rig_run_raise(run, RIG_STOP_LOAD);
}

void rig_run_load_end(struct rig_run_state *run)
{
    if (atomic_load(&run->load.start_ns) == 0)
        return;
    int64_t at_ns = rig_clock_now_ns();
    for (uint32_t i = 0; i < run->client_count && run->simulated; i++)
        at_ns = i == 0 || run->clients[i].load.last_ns > at_ns ? run->clients[i].load.last_ns : at_ns;
    pthread_mutex_lock(&run->faults.lock);
    note_end(run, atomic_load(&run->load.phase), at_ns);
    pthread_mutex_unlock(&run->faults.lock);
}

static bool stock_is_empty(struct rig_run_load_phase *phase)
{
    return atomic_load_explicit(&phase->stock, memory_order_relaxed) <= 0;
}

static void note_exhausted(struct rig_run_state *run)
{
    int64_t never = 0;
    (void)atomic_compare_exchange_strong(&run->load.exhausted_ns, &never, rig_clock_now_ns());
}

/* Goes on to the next phase, or to the present one of a run that is further. */
static void enter(struct rig_run_client *client, uint32_t phase)
{
    client->load.phase = phase;
    client->load.phase_start_ns = client->load.last_ns;
    client->load.claims = 0;
    client->load.known_position = 0;
    client->load.issued_before = client->load.issued;
    client->stream->ops->enter(client->stream, phase);
    if (phase_of(client)->is_divided)
        take_share(client);
}

/* By the time at which the client's last transaction ended; for clients that wait, the monitor ends the phase. */
static bool time_is_over(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    const int64_t duration_ns = workload_of(client)->duration_ns;
    if (run->simulated)
        return duration_ns > 0 && client->load.last_ns - client->load.phase_start_ns >= duration_ns;
    return client->load.last_ns >= atomic_load_explicit(&phase_of(client)->deadline_ns, memory_order_relaxed);
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
    struct rig_run_load_phase *phase = phase_of(client);
    const struct rig_question_stream_ops *stream = client->stream->ops;
    if (stream->skip_to == NULL)
        return;
    uint64_t position = rig_position_in_phase(stream->position(client->stream));
    /* The positions are those of this process's clients. */
    const uint32_t count = own_clients_in(client->run, client->load.phase);
    uint64_t average = atomic_load_explicit(&phase->positions, memory_order_relaxed) / count;
    if (position + MOST_BEHIND < average)
        stream->skip_to(client->stream, rig_phase_position(client->load.phase, average));
    position = rig_position_in_phase(stream->position(client->stream));
    (void)atomic_fetch_add_explicit(&phase->positions, position - client->load.known_position, memory_order_relaxed);
    client->load.known_position = position;
}

/* Takes transactions of the client's phase; false when there are no more. */
static bool claim(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    struct rig_run_load_phase *phase = phase_of(client);
    if (run->simulated && client->load.issued % LARGEST_BATCH == 0)
        rejoin_others(client);
    if (client->load.claims > 0)
        return true;
    if (stock_is_empty(phase))
        return false;
    int64_t before = atomic_fetch_sub_explicit(&phase->stock, phase->batch, memory_order_relaxed);
    if (before <= 0) {
        (void)atomic_fetch_add_explicit(&phase->stock, phase->batch, memory_order_relaxed);
        return false;
    }
    client->load.claims = before < phase->batch ? (uint32_t)before : phase->batch;
    if (client->load.claims < phase->batch)
        (void)atomic_fetch_add_explicit(&phase->stock, phase->batch - client->load.claims, memory_order_relaxed);
    if (!run->simulated)
        rejoin_others(client);
    return true;
}

/* With simulated time that of the others goes on without a client that waits, unless they are further already. */
static void rest(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    pthread_mutex_lock(&run->faults.lock);
    if (run->simulated && !client->load.rests && atomic_load(&run->load.phase) == client->load.phase) {
        client->load.rests = true;
        run->driver->rest(client->session.object, true);
    }
    pthread_mutex_unlock(&run->faults.lock);
}

/* Waits for the end of a phase in which the client does not take part. False: the load ends. */
static bool wait_for_phase(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    rig_run_closing_leave(client);
    rest(client);
    bool goes_on = true;
    while (goes_on && atomic_load(&run->load.phase) == client->load.phase)
        goes_on = rig_run_wait_until(run, rig_clock_now_ns() + phase_wait_ns);
    pthread_mutex_lock(&run->faults.lock);
    client->load.rests &= goes_on; /* else its session may be closed from now on */
    const int64_t until_ns = client->load.rested_until_ns;
    pthread_mutex_unlock(&run->faults.lock);
    client->load.last_ns = until_ns > client->load.last_ns ? until_ns : client->load.last_ns;
    if (!goes_on)
        return false;
    enter(client, run->simulated ? client->load.phase + 1 : atomic_load(&run->load.phase));
    return true;
}

/* Takes a transaction of the present phase, or of the next one when it is over. False: the load is. */
static bool claim_in_phases(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    while (!rig_run_is_ending(run)) {
        const uint32_t furthest = atomic_load_explicit(&run->load.phase, memory_order_relaxed);
        if (!run->simulated && client->load.phase < furthest && client->load.claims == 0) {
            enter(client, furthest);
            continue;
        }
        const bool is_last = client->load.phase + 1 >= run->load.phase_count;
        if (!is_part_of(client)) {
            if (is_last || !wait_for_phase(client))
                return false;
            continue;
        }
        const bool is_over = time_is_over(client);
        if (!is_over && claim(client))
            return true;
        if (is_last) {
            if (!is_over)
                note_exhausted(run);
            return false;
        }
        leave_phase(run, client->load.phase, client->load.last_ns);
        enter(client, run->simulated ? client->load.phase + 1 : atomic_load(&run->load.phase));
    }
    return false;
}

void rig_run_load_release(struct rig_run_client *client)
{
    if (client->run->simulated)
        return;
    rig_run_closing_leave(client);
    if (client->load.claims == 0 || phase_of(client)->is_divided)
        return;
    (void)atomic_fetch_add_explicit(&phase_of(client)->stock, client->load.claims, memory_order_relaxed);
    client->load.claims = 0;
}

bool rig_run_load_has_work(struct rig_run_client *client)
{
    return !rig_run_is_ending(client->run) && (client->load.claims > 0 || !stock_is_empty(phase_of(client)) ||
                                               client->load.phase + 1 < client->run->load.phase_count);
}

/* The time of the client's next transaction, fractions of a nanosecond not accumulated. */
static int64_t scheduled_ns(const struct rig_run_client *client, double rate)
{
    const double clients = (double)clients_of(client);
    double interval_ns = (double)RIG_NS_PER_S * clients / rate;
    double turns = (double)(client->load.issued - client->load.issued_before) + (double)client->index / clients;
    return atomic_load_explicit(&phase_of(client)->start_ns, memory_order_relaxed) + (int64_t)(turns * interval_ns);
}

/* A transaction beyond the limit is not held: one that has written would stall all others together with the rest. */
static void limit_holds(struct rig_run_client *client)
{
    const int64_t most = workload_of(client)->long_most;
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

/* The time of the client's next transaction, monotonic; 0: at once. */
static int64_t next_time_ns(struct rig_run_client *client)
{
    const double rate = rig_plan_clients(client->run->plan, client->load.phase)->rate;
    client->load.intended_ns = 0;
    if (client->run->simulated)
        return 0;
    if (rate <= 0)
        return rig_run_pause_until_ns(client);
    client->load.intended_ns = scheduled_ns(client, rate);
    return client->load.intended_ns;
}

/* Waits for that time. False when its phase is over before. */
static bool wait_for_turn(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    const int64_t at_ns = next_time_ns(client);
    if (at_ns == 0)
        return true;
    const int64_t deadline_ns = atomic_load_explicit(&phase_of(client)->deadline_ns, memory_order_relaxed);
    if (at_ns < deadline_ns)
        return rig_run_wait_until(run, at_ns);
    if (client->load.phase + 1 < run->load.phase_count)
        (void)rig_run_wait_until(run, deadline_ns);
    client->load.last_ns = deadline_ns;
    client->load.claims = 0;
    return false;
}

bool rig_run_load_next(struct rig_run_client *client)
{
    for (;;) {
        if (!claim_in_phases(client))
            return false;
        if (!rig_run_closing_advance(client)) {
            client->load.claims = 0;
            continue;
        }
        if (rig_run_closing_next(client))
            return true;
        if (wait_for_turn(client))
            break;
    }
    client->stream->ops->next(client->stream, &client->transaction);
    client->transaction.delayed = workload_of(client)->delay_ns > 0;
    limit_holds(client);
    client->load.claims--;
    client->load.issued++;
    return true;
}

/* The share of the present phase. Whichever comes first of its count and its duration ends it: the larger share
 * counts. */
static double share_of_phase(const struct rig_run_state *run, uint64_t carried_out)
{
    const uint32_t number = atomic_load(&run->load.phase);
    const struct rig_generator_options *workload = rig_plan_workload(run->plan, number);
    const struct rig_run_load_phase *phase = &run->load.phases[number];
    const int64_t end_ns = atomic_load(&run->ending.load_end_ns);
    const int64_t start_ns = atomic_load(&phase->start_ns);
    const int64_t took_ns = run->simulated ? run->load.took_ns : start_ns == 0 ? 0 : end_ns - start_ns;
    double share = 0;
    if (run->load.phase_count > 1 && phase->total > 0)
        share = 1 - (phase->own_total == 0 ? 0 : (double)atomic_load(&phase->stock) / (double)phase->own_total);
    else if (run->load.total > 0)
        share = (double)carried_out / (double)run->load.total;
    if (workload->duration_ns > 0 && (double)took_ns / (double)workload->duration_ns > share)
        share = (double)took_ns / (double)workload->duration_ns;
    return share > 1 ? 1 : share;
}

/* Each phase counts alike. */
static double share_of_load(const struct rig_run_state *run, uint64_t carried_out)
{
    return (atomic_load(&run->load.phase) + share_of_phase(run, carried_out)) / run->load.phase_count;
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
