/*
 * The start and the end of a phase: all clients gather, start together, and are counted as they finish.
 *
 * Private to run/load/. Threads: the main thread resets and opens; clients gather and finish.
 */
#ifndef RIG_RUN_LOAD_RUN_GATE_H
#define RIG_RUN_LOAD_RUN_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rig_run_gate {
    pthread_mutex_t lock; /* guards `gathered` and `is_open` */
    pthread_cond_t moved;
    uint32_t gathered;
    bool is_open;
    _Atomic uint32_t finished; /* clients past the phase */
};

void rig_run_gate_init(struct rig_run_gate *gate);
void rig_run_gate_done(struct rig_run_gate *gate);
/* Before a phase, while there are no client threads. */
void rig_run_gate_close(struct rig_run_gate *gate);
/* Waits until `count` clients are at the gate, or `abandoned` is true. */
void rig_run_gate_await(struct rig_run_gate *gate, uint32_t count, const atomic_bool *abandoned);
/* Lets the clients go. */
void rig_run_gate_open(struct rig_run_gate *gate);
/* A client is at the gate, and waits until it opens. */
void rig_run_gate_pass(struct rig_run_gate *gate);
/* A client is past the phase. */
void rig_run_gate_finish(struct rig_run_gate *gate);

#endif
