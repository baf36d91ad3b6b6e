/*
 * One run and its clients: each part is a struct of the file that it belongs to.
 *
 * Private to run/load/.
 *
 * Threads: the main thread starts and joins the client threads, phase by phase, and one monitor thread that watches
 * them (interrupts, time-outs, progress). Data that several threads touch is atomic or guarded by the lock named beside
 * it; a counter has one writer, its client, and the monitor reads it relaxed. Clients share nothing that they write on
 * the way through a transaction. Lock order: there is never more than one lock held.
 */
#ifndef RIG_RUN_LOAD_RUN_STATE_H
#define RIG_RUN_LOAD_RUN_STATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "generator/generated_questions.h"
#include "history/record/recorder.h"
#include "run/load/remote_driver.h"
#include "run/load/run.h"
#include "run/load/run_certificate.h"
#include "run/load/run_client.h"
#include "run/load/run_closing.h"
#include "run/load/run_folder.h"
#include "run/load/run_load.h"
#include "run/load/run_measures.h"
#include "run/load/run_monitor.h"
#include "run/load/run_nemesis.h"
#include "run/load/run_part.h"
#include "run/load/run_phase.h"
#include "run/load/run_programs.h"
#include "run/load/run_services.h"

enum { RIG_CACHE_LINE_BYTES = 64 };

enum rig_run_phase { RIG_RUN_LOAD, RIG_RUN_FINAL };

struct rig_run_client {
    /* written by the client, read by the monitor */
    alignas(RIG_CACHE_LINE_BYTES) struct rig_run_counts counts;
    struct rig_run_latency latency;
    struct rig_run_client_answered answered;

    /* the client's own; only atomic and locked members of these are shared */
    alignas(RIG_CACHE_LINE_BYTES) struct rig_run_state *run;
    uint32_t index; /* over all ranks (run_part.h) */
    pthread_t thread;
    struct rig_run_session session;
    struct rig_channel *channel;
    struct rig_question_stream *stream;
    struct rig_rng jitter;
    struct rig_transaction transaction;
    struct rig_read *reads;
    int64_t *times;          /* of the operations of a transaction: two each */
    struct rig_op *kept_ops; /* of a transaction with a rollback, without those */
    struct rig_run_client_load load;
    struct rig_run_client_closing closing;
    struct rig_run_client_final final;
    uint32_t drained; /* closing or final reads in a row that took something from the key */
    struct rig_run_client_program program;
    struct rig_run_errors errors;
    struct rig_run_live_errors live_errors;
};

struct rig_run_state {
    const struct rig_plan *plan;
    const struct rig_run_options *options;
    const struct rig_driver *driver;
    struct rig_run_env env;
    struct rig_model_calls calls; /* of a model: the env's */
    void *driver_run;
    char name[RIG_RUN_NAME_BYTES]; /* on servers */
    bool simulated;                /* the driver has its own clock: nothing may depend on real time */
    struct rig_run_folder folder;
    const struct rig_generator_options *phases[RIG_PLAN_PHASES_MOST]; /* of the plan */
    uint32_t phase_clients[RIG_PLAN_PHASES_MOST];
    struct rig_generated_questions generated; /* those of the plan */
    const struct rig_questions *questions;    /* in use: `generated`, or those of the options */
    struct rig_recorder *recorder;
    struct rig_run_certificate certificate;
    struct rig_online *online; /* NULL: no check while the run goes on */
    struct rig_run_client *clients;
    uint32_t client_count; /* of this process */
    struct rig_run_part part;
    struct rig_served_list served; /* rank 0: sessions of other ranks */
    _Atomic int phase;             /* enum rig_run_phase; changes while there are no client threads */
    struct rig_run_ending ending;
    struct rig_run_gate gate;
    struct rig_run_services services;
    struct rig_run_programs programs;
    struct rig_run_faults faults;
    struct rig_run_outages outages;
    struct rig_run_crashes crashes;
    struct rig_run_load load;
    struct rig_run_closing closing;
    struct rig_run_final final;
    struct rig_run_seen seen;
};

static inline enum rig_run_phase rig_run_phase(const struct rig_run_state *run)
{
    return (enum rig_run_phase)atomic_load_explicit(&run->phase, memory_order_relaxed);
}

static inline enum rig_run_stop rig_run_stopped(const struct rig_run_state *run)
{
    return (enum rig_run_stop)atomic_load_explicit(&run->ending.stop, memory_order_acquire);
}

/* How often the user has asked the run to end. */
static inline int rig_run_interrupts(const struct rig_run_state *run)
{
    return run->options->interrupts == NULL ? 0 : atomic_load(run->options->interrupts);
}

/* True when the present phase is to begin nothing more. */
static inline bool rig_run_is_ending(const struct rig_run_state *run)
{
    return rig_run_stopped(run) >= (rig_run_phase(run) == RIG_RUN_LOAD ? RIG_STOP_LOAD : RIG_STOP_END);
}

#endif
