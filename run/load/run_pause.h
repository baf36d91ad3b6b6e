/*
 * Pauses of clients: between transactions (think time), between bursts, and between the operations of a transaction.
 *
 * Private to run/load/. Threads: the client's.
 */
#ifndef RIG_RUN_LOAD_RUN_PAUSE_H
#define RIG_RUN_LOAD_RUN_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "generator/generator.h"

struct rig_run_client;

/* A duration with the mean; an exponential one is at most 20 times as long. */
int64_t rig_run_pause_draw(enum rig_pause_distribution distribution, int64_t mean_ns, struct rig_rng *rng);
/* The monotonic time before which the client's next transaction of the load is not to start: after its think time, and
 * in a burst. 0: at once. */
int64_t rig_run_pause_until_ns(struct rig_run_client *client);
/* Waits between two operations of the client's transaction; returns early, with false, when the run is ending. */
bool rig_run_pause_between(struct rig_run_client *client);

#endif
