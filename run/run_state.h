/*
 * What `run/`'s files share: one run and its clients.
 *
 * Private to run/.
 *
 * Threads: the main thread starts and joins the client threads, phase by phase, and one monitor thread that watches
 * them (signals, time-outs, progress). What several threads touch is atomic or guarded by the lock named beside it;
 * what is counted has one writer, its client, and is read relaxed by the monitor. Clients share nothing that they write
 * on the way through a transaction. Lock order: there is never more than one lock held.
 */
#ifndef RIG_RUN_RUN_STATE_H
#define RIG_RUN_RUN_STATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "base/vec.h"
#include "generator/keys.h"
#include "history/record/recorder.h"
#include "nemesis/fault_setup.h"
#include "nemesis/journal.h"
#include "nemesis/nemesis.h"
#include "run/run.h"
#include "run/run_answers.h"
#include "run/run_name.h"
#include "run/run_outages.h"

enum {
    RIG_CACHE_LINE_BYTES = 64,
    RIG_FINAL_KEYS = 4,        /* keys that one transaction of the final reads covers */
    RIG_FINAL_ATTEMPTS = 12,   /* failures in a row after which a client gives up its final reads */
    RIG_CLOSING_ATTEMPTS = 5,  /* and after which it leaves a closing read to the final ones */
    RIG_UNDER_FAULT_MOST = 64, /* injections that can be under way together */
    RIG_START_ATTEMPTS = 3,    /* failures in a row after which a client no longer holds up the start */
};

/* How urgently the run is to end. Only ever rises. */
enum rig_run_stop {
    RIG_STOP_NONE,  /* go on */
    RIG_STOP_LOAD,  /* the load's time is over: finish what is under way; final reads may follow */
    RIG_STOP_END,   /* finish what is under way, begin nothing, no final reads */
    RIG_STOP_ABORT, /* sessions are being interrupted */
};

enum rig_run_phase { RIG_RUN_LOAD, RIG_RUN_FINAL };

#define RIG_NO_POSITION UINT64_MAX

RIG_VEC(int64_t, rig_key_numbers)

struct rig_run_state;

/* The latest look of the monitor in which a transaction was acknowledged. */
struct rig_run_answered {
    _Atomic int look;        /* -1: none was */
    _Atomic int64_t from_ns; /* when the first of that look had started */
};

struct rig_run_client {
    /* written by the client, read by the monitor */
    alignas(RIG_CACHE_LINE_BYTES) _Atomic uint64_t invoked;
    _Atomic uint64_t ok, fail, info;
    _Atomic uint64_t sessions_opened, sessions_renewed, sessions_lost, sessions_ended;
    _Atomic uint64_t open_attempts, open_failures;
    _Atomic int64_t busy_since_ns; /* monotonic start of the driver's call that is under way; 0: none */
    _Atomic bool connected;
    _Atomic uint64_t closing_reads;   /* transactions */
    _Atomic uint64_t closing_ok;      /* of them */
    _Atomic uint64_t refused;         /* of `fail`: the session was kept */
    _Atomic uint64_t failed_writes;   /* transactions that write, of fail and info */
    struct rig_run_answered answered; /* any transaction */
    struct rig_run_answered written;  /* one that writes */
    _Atomic uint64_t position; /* of the stream: what comes before is complete; RIG_NO_POSITION: issues nothing now */
    struct rig_histogram latency[3]; /* as in rig_run_result */
    struct rig_histogram intended_latency;

    alignas(RIG_CACHE_LINE_BYTES) pthread_mutex_t session_lock; /* guards session_live against interrupts */
    bool session_live;                                          /* between the start of open and the end of close */

    /* the client's own */
    alignas(RIG_CACHE_LINE_BYTES) struct rig_run_state *run;
    pthread_t thread;
    uint32_t index;
    void *session;
    bool has_session;
    struct rig_channel *channel;
    struct rig_generator *generator;
    struct rig_rng jitter;
    struct rig_transaction transaction;
    struct rig_read *reads;
    int64_t process;
    uint32_t failed_opens;   /* in a row */
    struct rig_err open_err; /* the first failure to connect */
    /* load */
    uint64_t known_position; /* as last added to the sum of all */
    uint32_t claims;         /* transactions taken from the common stock and not yet issued */
    uint64_t issued;
    int64_t intended_ns; /* monotonic; under a rate */
    int64_t last_ns;     /* latest completion of the load, in the recorder's time */
    /* closing reads */
    bool closing;              /* the present transaction is one */
    uint32_t closing_count;    /* keys in hand, in final_ops */
    uint32_t closing_failures; /* in a row */
    int64_t closing_pause_ns;  /* before the next attempt after a failure; 0: none failed */
    int64_t closing_again_ns;  /* monotonic: not before */
    uint64_t looked_at;        /* `issued` when this client last looked for keys */
    /* final reads */
    struct rig_op final_ops[RIG_FINAL_KEYS];
    int64_t final_chunk;                                               /* being read, or -1 */
    uint32_t final_failures;                                           /* in a row */
    uint64_t final_done;                                               /* chunks that were read */
    char final_error[RIG_ERROR_CODE_BYTES + RIG_ERROR_TEXT_BYTES + 2]; /* why the last attempt failed */
    /* errors */
    struct rig_run_error errors[RIG_RUN_ERROR_ROWS];
    uint32_t error_count;
};

/* See run_closing.h. */
struct rig_run_closing {
    _Atomic bool due; /* there are keys to read */
    uint32_t stride;
    bool has_lock;
    pthread_mutex_t lock;           /* guards what follows */
    struct rig_key_pool pool;       /* as it is at the horizon */
    uint64_t horizon;               /* no client is before this position, nor will be */
    struct rig_key_numbers waiting; /* keys that have left; those before `taken` were given to a client */
    size_t taken;
    uint64_t oldest_position;      /* since when there are keys waiting */
    struct rig_key_numbers unread; /* whose closing read failed */
    bool lost_keys;                /* no memory for one of them */
};

/* What had completed when an injection began, and when it took effect, by outcome. */
struct rig_run_under_fault {
    uint64_t injection;
    uint64_t begun[3], in_effect[3];
};

struct rig_run_state {
    const struct rig_plan *plan;
    const struct rig_run_options *options;
    const struct rig_driver *driver;
    struct rig_run_env env;
    void *driver_run;
    char name[RIG_RUN_NAME_BYTES]; /* on servers */
    char work_dir[256];
    struct rig_journal *journal; /* of what the next start undoes when this rig is killed; NULL: it cannot be kept */
    uint64_t work_dir_token;     /* of its entry there */
    struct rig_recorder *recorder;
    struct rig_online *online;    /* NULL: no check while the run goes on */
    struct rig_fault_setup setup; /* of the plan's faults; from before the driver's init until its done */
    struct rig_run_under_fault under_fault[RIG_UNDER_FAULT_MOST]; /* by injection; the nemesis's own */
    struct rig_nemesis *nemesis;                                  /* NULL: the plan has no faults */
    struct rig_names names;                                       /* of side columns: nodes */
    struct rig_run_outages outages;
    struct rig_run_client *clients;
    uint32_t client_count;
    uint32_t keys_a_read; /* of a closing or final read: RIG_FINAL_KEYS, or as few as the driver takes */
    bool simulated;       /* the driver has its own clock: nothing may depend on real time */
    _Atomic int phase;    /* enum rig_run_phase; changes while there are no client threads */

    _Atomic int stop;            /* enum rig_run_stop */
    _Atomic bool interrupted;    /* by a signal */
    _Atomic int stopped_by;      /* enum rig_anomaly that ended the load; RIG_ANOMALY_COUNT: none */
    _Atomic int64_t end_ns;      /* when `stop` rose last; 0 before */
    _Atomic int64_t start_ns;    /* of the load, monotonic; 0 before */
    _Atomic int64_t deadline_ns; /* monotonic; INT64_MAX: none */
    _Atomic int64_t load_end_ns; /* when something first ended the load; 0: nothing did, it ended by itself */
    _Atomic int looks;           /* of the monitor at the clients' answers */

    /* start barrier */
    pthread_mutex_t gate_lock;
    pthread_cond_t gate_moved;
    uint32_t gathered; /* gate_lock */
    bool gate_open;    /* gate_lock */

    /* load */
    _Atomic int64_t stock;        /* transactions that nobody has claimed; below 0: none */
    _Atomic int64_t exhausted_ns; /* when the stock was first found empty; 0 before */
    uint32_t batch;               /* how many a client claims at once */
    _Atomic uint64_t positions;   /* sum of the clients' positions in their streams */
    _Atomic uint32_t holding;     /* clients inside a hold */
    _Atomic uint32_t finished;    /* clients past the phase */

    struct rig_run_timeline timeline; /* the monitor's; read when it was joined */
    struct rig_run_answers answers;   /* likewise */
    double load_share;                /* how much of the planned load was carried out */
    uint64_t load_ok;                 /* acknowledged, without closing reads */
    int64_t load_ns;                  /* until its last completion */
    uint64_t load_invoked;

    struct rig_run_closing closing;

    /* final reads */
    struct rig_key_numbers final_keys;
    int64_t key_chunks;   /* so many transactions read all of them */
    uint32_t final_nodes; /* each is asked for all of them; 0: whichever answers, once */
    int64_t chunk_count;
    _Atomic int64_t next_chunk;

    /* set by the monitor */
    _Atomic bool abandoned; /* a client does not come back from the driver */
    struct rig_err failure; /* why the run failed midway; read after the monitor was joined */
};

static inline void rig_run_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline uint64_t rig_run_read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline enum rig_run_phase rig_run_phase(const struct rig_run_state *run)
{
    return (enum rig_run_phase)atomic_load_explicit(&run->phase, memory_order_relaxed);
}

static inline enum rig_run_stop rig_run_stopped(const struct rig_run_state *run)
{
    return (enum rig_run_stop)atomic_load_explicit(&run->stop, memory_order_acquire);
}

/* True when the present phase is to begin nothing more. */
static inline bool rig_run_is_ending(const struct rig_run_state *run)
{
    return rig_run_stopped(run) >= (rig_run_phase(run) == RIG_RUN_LOAD ? RIG_STOP_LOAD : RIG_STOP_END);
}

/* Raises `stop` to at least `stop`. From any thread. */
void rig_run_raise(struct rig_run_state *run, enum rig_run_stop stop);
/* Sleeps until the monotonic time, in slices, and looks between them whether to end. False when it is. */
bool rig_run_wait_until(struct rig_run_state *run, int64_t deadline_ns);

#endif
