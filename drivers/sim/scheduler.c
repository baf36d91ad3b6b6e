#include "drivers/sim/scheduler.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "base/rng.h"

/* Other streams of the seed are numbered by client. */
static const uint64_t turns_stream = UINT64_C(0x7475) << 40;

struct client {
    pthread_cond_t answered;
    bool takes_part;
    bool waits; /* its transaction is open in the engine */
    bool interrupted;
};

struct rig_sim_scheduler {
    const struct rig_core *core;
    int64_t patience_ns;
    pthread_mutex_t mutex; /* guards all members below */
    struct rig_sim_engine *engine;
    struct client *clients;
    uint32_t client_count;
    uint32_t taking_part_count;
    uint32_t waiting_count;
    uint64_t completions;
    bool has_lost_patience;
    struct rig_rng rng; /* of turns */
    bool gives_turns;   /* clients wait for turns, not for transactions of the engine */
    int64_t turns;
};

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
}

struct rig_sim_scheduler *rig_sim_scheduler_new(const struct rig_run_env *env)
{
    const struct rig_sim_options *options = env->options;
    const uint32_t client_count = env->client_count;
    RIG_REQUIRE(client_count > 0 && env->core != NULL);
    struct rig_sim_scheduler *scheduler = calloc(1, sizeof *scheduler);
    if (scheduler == NULL)
        return NULL;
    if (pthread_mutex_init(&scheduler->mutex, NULL) != 0) {
        free(scheduler);
        return NULL;
    }
    scheduler->core = env->core;
    scheduler->patience_ns = options->patience_ns;
    scheduler->gives_turns = env->rows != NULL;
    rig_rng_init(&scheduler->rng, env->seed, turns_stream);
    scheduler->engine = rig_sim_engine_new(options, env->workload, env->seed, client_count);
    if (scheduler->engine != NULL) {
        rig_sim_engine_open_accounts(scheduler->engine, &env->accounts);
        rig_sim_engine_prefill(scheduler->engine, env->prefilled_keys);
        rig_sim_engine_take_model(scheduler->engine, env->calls);
    }
    if (scheduler->engine != NULL && env->certificate != RIG_CERTIFICATE_NONE)
        rig_sim_engine_certify(scheduler->engine, env->certificate == RIG_CERTIFICATE_FULL);
    scheduler->clients = calloc(client_count, sizeof *scheduler->clients);
    bool made = scheduler->engine != NULL && scheduler->clients != NULL;
    while (made && scheduler->client_count < client_count) {
        made = init_condition(&scheduler->clients[scheduler->client_count].answered);
        if (made)
            scheduler->clients[scheduler->client_count++].takes_part = true;
    }
    if (!made) {
        rig_sim_scheduler_free(scheduler);
        return NULL;
    }
    scheduler->taking_part_count = client_count;
    return scheduler;
}

void rig_sim_scheduler_free(struct rig_sim_scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    for (uint32_t i = 0; i < scheduler->client_count; i++)
        (void)pthread_cond_destroy(&scheduler->clients[i].answered);
    free(scheduler->clients);
    rig_sim_engine_free(scheduler->engine);
    (void)pthread_mutex_destroy(&scheduler->mutex);
    free(scheduler);
}

bool rig_sim_scheduler_give_certificate(const struct rig_sim_scheduler *scheduler,
                                        const struct rig_certificate_sink *sink)
{
    return rig_sim_engine_give_certificate(scheduler->engine, sink);
}

/* Lock held. The client's transaction is complete: it no longer waits. */
static void note_completion(struct rig_sim_scheduler *scheduler, uint32_t client)
{
    RIG_INVARIANT(scheduler->clients[client].waits && scheduler->waiting_count > 0);
    scheduler->clients[client].waits = false;
    scheduler->waiting_count--;
    scheduler->completions++;
}

/* Lock held. One of the clients that wait, each of them alike. */
static uint32_t choose_waiting(struct rig_sim_scheduler *scheduler)
{
    uint32_t rank = (uint32_t)rig_rng_below(&scheduler->rng, scheduler->waiting_count), client = 0;
    for (;; client++) {
        if (scheduler->clients[client].waits && rank-- == 0)
            return client;
    }
}

/* Lock held. Runs steps until a transaction completes, and wakes its owner. */
static void run_until_completion(struct rig_sim_scheduler *scheduler)
{
    uint32_t client = scheduler->gives_turns ? choose_waiting(scheduler) : RIG_SIM_NONE;
    while (client == RIG_SIM_NONE)
        client = rig_sim_engine_step(scheduler->engine);
    note_completion(scheduler, client);
    (void)pthread_cond_signal(&scheduler->clients[client].answered);
}

/* Lock held. True when all participating clients wait, and there is one. */
static bool all_are_waiting(const struct rig_sim_scheduler *scheduler)
{
    return scheduler->waiting_count > 0 && scheduler->waiting_count >= scheduler->taking_part_count;
}

/* Lock held; released while waiting. True when `patience` passed without a completion. */
static bool wait_in_vain(struct rig_sim_scheduler *scheduler, struct client *client)
{
    uint64_t completions = scheduler->completions;
    int64_t deadline_ns = rig_clock_now_ns() + scheduler->patience_ns;
    const struct timespec deadline = {.tv_sec = deadline_ns / RIG_NS_PER_S, .tv_nsec = deadline_ns % RIG_NS_PER_S};
    int result = pthread_cond_timedwait(&client->answered, &scheduler->mutex, &deadline);
    return result == ETIMEDOUT && completions == scheduler->completions;
}

/* Lock held. */
static void lose_patience(struct rig_sim_scheduler *scheduler)
{
    if (!scheduler->has_lost_patience)
        scheduler->core->log(1, "sim",
                             "%u of %u client%s sent no request for %lld ms: the others continue without them, and "
                             "this run no longer depends on its seed alone",
                             scheduler->taking_part_count - scheduler->waiting_count, scheduler->taking_part_count,
                             rig_plural(scheduler->taking_part_count),
                             (long long)(scheduler->patience_ns / RIG_NS_PER_MS));
    scheduler->has_lost_patience = true;
    run_until_completion(scheduler);
}

/* Lock held; released while waiting. */
static void wait_for_completion(struct rig_sim_scheduler *scheduler, struct client *client)
{
    client->waits = true;
    scheduler->waiting_count++;
    while (client->waits && !client->interrupted) {
        if (all_are_waiting(scheduler))
            run_until_completion(scheduler);
        else if (wait_in_vain(scheduler, client) && client->waits && !client->interrupted)
            lose_patience(scheduler);
    }
}

bool rig_sim_scheduler_turn(struct rig_sim_scheduler *scheduler, uint32_t client, int64_t *now_ns)
{
    RIG_REQUIRE(client < scheduler->client_count && scheduler->gives_turns);
    struct client *c = &scheduler->clients[client];
    (void)pthread_mutex_lock(&scheduler->mutex);
    RIG_REQUIRE(!c->waits && c->takes_part);
    wait_for_completion(scheduler, c);
    const bool has_turn = !c->waits;
    if (!has_turn)
        note_completion(scheduler, client);
    *now_ns = ++scheduler->turns * RIG_SIM_TICK_NS;
    (void)pthread_mutex_unlock(&scheduler->mutex);
    return has_turn;
}

void rig_sim_scheduler_transact(struct rig_sim_scheduler *scheduler, uint32_t client,
                                const struct rig_transaction *transaction, struct rig_sim_answer *answer,
                                int64_t *next_ns)
{
    RIG_REQUIRE(client < scheduler->client_count);
    struct client *c = &scheduler->clients[client];
    (void)pthread_mutex_lock(&scheduler->mutex);
    RIG_REQUIRE(!c->waits && c->takes_part);
    rig_sim_engine_begin(scheduler->engine, client, transaction->ops, transaction->op_count, &transaction->hold);
    if (rig_rollback_wanted(&transaction->rollback))
        rig_sim_engine_roll_back_within(scheduler->engine, client, &transaction->rollback);
    if (transaction->rolls_back)
        rig_sim_engine_roll_back_at_end(scheduler->engine, client);
    wait_for_completion(scheduler, c);
    if (c->waits) {
        /* A commit is one step, so an open transaction has not committed: fail is certain. */
        rig_sim_engine_cancel(scheduler->engine, client);
        note_completion(scheduler, client);
    }
    rig_sim_engine_answer(scheduler->engine, client, answer);
    *next_ns = rig_sim_engine_invoke_ns(scheduler->engine, client);
    (void)pthread_mutex_unlock(&scheduler->mutex);
}

int64_t rig_sim_scheduler_enter(struct rig_sim_scheduler *scheduler, uint32_t client)
{
    RIG_REQUIRE(client < scheduler->client_count);
    (void)pthread_mutex_lock(&scheduler->mutex);
    struct client *c = &scheduler->clients[client];
    c->interrupted = false;
    if (!c->takes_part) {
        c->takes_part = true;
        scheduler->taking_part_count++;
        rig_sim_engine_catch_up(scheduler->engine, client);
    }
    const int64_t next_ns = scheduler->gives_turns ? scheduler->turns * RIG_SIM_TICK_NS + 1 + client
                                                   : rig_sim_engine_invoke_ns(scheduler->engine, client);
    (void)pthread_mutex_unlock(&scheduler->mutex);
    return next_ns;
}

void rig_sim_scheduler_leave(struct rig_sim_scheduler *scheduler, uint32_t client)
{
    RIG_REQUIRE(client < scheduler->client_count);
    (void)pthread_mutex_lock(&scheduler->mutex);
    struct client *c = &scheduler->clients[client];
    RIG_REQUIRE(!c->waits);
    if (c->takes_part) {
        c->takes_part = false;
        scheduler->taking_part_count--;
        /* All others may be waiting for this client only. */
        if (all_are_waiting(scheduler))
            run_until_completion(scheduler);
    }
    (void)pthread_mutex_unlock(&scheduler->mutex);
}

void rig_sim_scheduler_interrupt(struct rig_sim_scheduler *scheduler, uint32_t client)
{
    RIG_REQUIRE(client < scheduler->client_count);
    (void)pthread_mutex_lock(&scheduler->mutex);
    scheduler->clients[client].interrupted = true;
    (void)pthread_cond_signal(&scheduler->clients[client].answered);
    (void)pthread_mutex_unlock(&scheduler->mutex);
}
