/*
 * The load: which transaction a client issues next, and when.
 *
 * The plan's total is a stock that clients claim in batches; with simulated time it is divided beforehand, so that
 * nothing depends on which thread comes first. Streams of questions that end (generator/question_stream.h) are issued
 * whole instead. Under a rate each client has a schedule of its own: its k-th transaction
 * is meant to start at start + (k + client / client_count) * interval, late or not (open loop, wrk2's way).
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_LOAD_H
#define RIG_RUN_RUN_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"

struct rig_run_client;
struct rig_run_state;

/* The state that the clients share. */
struct rig_run_load {
    _Atomic int64_t start_ns;     /* of the load, monotonic; 0 before */
    _Atomic int64_t deadline_ns;  /* monotonic; INT64_MAX: none */
    _Atomic int64_t stock;        /* transactions that no client has claimed; below 0: none */
    _Atomic int64_t exhausted_ns; /* when the stock was first found empty; 0 before */
    uint32_t batch;               /* how many a client claims at once */
    bool is_divided;              /* each client has its claims from the start, and the stock is empty */
    int64_t total;                /* transactions to issue; 0: no such bound */
    _Atomic int64_t held;         /* transactions to be held open that are under way; only counted under a limit */
    _Atomic uint64_t positions;   /* sum of the clients' positions in their streams */
    /* measured afterwards */
    double share;    /* how much of the planned load was carried out */
    uint64_t ok;     /* acknowledged, without closing reads */
    int64_t took_ns; /* until its last completion */
    uint64_t invoked;
};

/* One client's part. */
struct rig_run_client_load {
    uint64_t known_position; /* as last added to the sum of all */
    uint32_t claims;         /* transactions taken from the common stock and not yet issued */
    uint64_t issued;
    enum rig_error_class failing; /* the class of its last transactions of the load, and */
    uint32_t failures;            /* their number in a row; 0: the last one did not fail */
    bool holds;                   /* its transaction is one of those of rig_run_load.held */
    int64_t intended_ns;          /* monotonic; under a rate */
    int64_t last_ns;              /* latest completion of the load, in the recorder's time */
};

/* Before the clients start. */
void rig_run_load_init(struct rig_run_state *run);
/* At the start barrier, with the time at which it opens. */
void rig_run_load_start(struct rig_run_state *run, int64_t now_ns);
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
