/*
 * The load: which transaction a client issues next, and when.
 *
 * The load has one or several phases. The total of a phase is a stock that clients claim in batches; with simulated
 * time it is divided beforehand, so that nothing depends on which thread comes first. Streams of questions that end
 * (generator/question_stream.h) are issued whole instead. Under a rate each client has a schedule of its own: its k-th
 * transaction of a phase is meant to start at start + (k + client / client_count) * interval, late or not (open loop,
 * wrk2's way).
 *
 * A phase begins when a client, or the monitor, finds that the one before it is over. The others follow with their next
 * transaction, so that no client waits at the border; only transactions under way then overlap it. Clients beyond the
 * number of a phase keep their sessions and wait for the next one. With simulated time each client goes on by itself,
 * after its share of the transactions or its own time, and time passes without those that wait (rig_driver.rest).
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_LOAD_H
#define RIG_RUN_LOAD_RUN_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drivers/driver.h"

struct rig_run_client;
struct rig_run_state;

/* One phase, shared by the clients. */
struct rig_run_load_phase {
    _Atomic int64_t start_ns;    /* monotonic; 0 before */
    _Atomic int64_t deadline_ns; /* monotonic; INT64_MAX: none */
    _Atomic int64_t stock;       /* transactions that no client has claimed; below 0: none */
    uint32_t batch;              /* how many a client claims at once */
    bool is_divided;             /* each client has its claims from its start, and the stock is empty */
    int64_t total;               /* transactions to issue, by all ranks; 0: no such bound */
    int64_t own_total;           /* of `total`, those of this process, unless they are divided */
    _Atomic uint64_t positions;  /* sum of the clients' positions in their streams */
};

/* The state that the clients share. */
struct rig_run_load {
    struct rig_run_load_phase *phases;
    uint32_t phase_count;
    _Atomic uint32_t phase;       /* the present one; with simulated time the furthest; changes under faults.lock */
    uint64_t begun[3];            /* by outcome, when it began; under the same lock */
    _Atomic int64_t start_ns;     /* of the load, monotonic; 0 before */
    _Atomic int64_t exhausted_ns; /* when the last stock was first found empty; 0 before */
    int64_t total;                /* transactions to issue in all phases; 0: no such bound */
    int64_t duration_ns;          /* of all phases; 0: no such bound */
    _Atomic int64_t held;         /* transactions to be held open that are under way; only counted under a limit */
    /* measured afterwards */
    double share;    /* how much of the planned load was carried out */
    uint64_t ok;     /* acknowledged, without closing reads */
    int64_t took_ns; /* until its last completion */
    uint64_t invoked;
};

/* One client's part. */
struct rig_run_client_load {
    uint32_t phase;
    int64_t phase_start_ns;       /* when it came to it, in the recorder's time; only with simulated time */
    uint64_t known_position;      /* in the phase, as last added to the sum of all */
    uint32_t claims;              /* transactions taken from the common stock and not yet issued */
    uint64_t issued;              /* over all phases */
    uint64_t issued_before;       /* of them, before this phase */
    enum rig_error_class failing; /* the class of its last transactions of the load */
    uint32_t failures;            /* in a row, with this class; 0: the last one did not fail */
    bool holds;                   /* its transaction is one of those of rig_run_load.held */
    bool rests;                   /* rig_driver.rest is under way; under faults.lock */
    int64_t rested_until_ns;      /* when a rest ended last, in the recorder's time; under faults.lock */
    int64_t intended_ns;          /* monotonic; under a rate */
    int64_t last_ns;              /* latest completion of the load, in the recorder's time */
};

/* Before the clients start. RIG_E_LIMIT. */
enum rig_rc rig_run_load_init(struct rig_run_state *run, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed state. */
void rig_run_load_done(struct rig_run_state *run);
/* At the start barrier, with the time at which it opens. */
void rig_run_load_start(struct rig_run_state *run, int64_t now_ns);
/* When the time of the present phase is over: begins the next one, or ends the load. From the monitor. */
void rig_run_load_watch(struct rig_run_state *run, int64_t now_ns);
/* After the load: the last phase has ended. */
void rig_run_load_end(struct rig_run_state *run);
/* The present phase's name, or NULL when the load has no phases. */
const char *rig_run_load_phase_name(const struct rig_run_state *run);
/* The longest time for which a transaction of a phase is held open. */
int64_t rig_run_load_longest_hold_ns(const struct rig_run_state *run);
/* Writes the next transaction's question into the client's transaction; waits for its time. False: no more. */
bool rig_run_load_next(struct rig_run_client *client);
/* The transaction that rig_run_load_next() gave has ended. */
void rig_run_load_ended(struct rig_run_client *client, enum rig_outcome outcome);
/* The first pause that the plan wants before the client's next transaction; 0: none. */
int64_t rig_run_load_pause_ns(const struct rig_run_client *client);
/* After the load, before the final reads: how long it took, and how much of it was carried out. `by_itself`: nothing
 * ended it before its time. */
void rig_run_load_measure(struct rig_run_state *run, bool by_itself);
/* A client that lost its session returns what it had claimed, so that others may issue it. */
void rig_run_load_release(struct rig_run_client *client);
/* True while a client without a session has reason to get one. */
bool rig_run_load_has_work(struct rig_run_client *client);

#endif
