/*
 * How long acknowledged transactions took: a client's histograms, the run's, and the difference between two moments.
 *
 * Threads: one writer, its client; the monitor merges while they grow.
 */
#ifndef RIG_RUN_LOAD_RUN_LATENCY_H
#define RIG_RUN_LOAD_RUN_LATENCY_H

#include <stdbool.h>

#include "base/histogram.h"

struct rig_transaction;

enum rig_latency_kind { RIG_LATENCY_READ_ONLY, RIG_LATENCY_WRITING, RIG_LATENCY_HELD_OPEN, RIG_LATENCY_KINDS };

struct rig_run_latency {
    struct rig_histogram by_kind[RIG_LATENCY_KINDS]; /* from the actual start */
    struct rig_histogram intended; /* all kinds, from the intended start (== actual in a closed loop) */
};

void rig_run_latency_add(struct rig_run_latency *latency, const struct rig_transaction *transaction, int64_t start_ns,
                         int64_t intended_ns, int64_t end_ns);
void rig_run_latency_merge(struct rig_run_latency *latency, const struct rig_run_latency *more);
/* Over all kinds. */
uint64_t rig_run_latency_count(const struct rig_run_latency *latency);

/* Over all kinds and clients, from one moment to the next. A zeroed one starts at the run's begin. */
struct rig_latency_interval {
    struct rig_histogram now, before, since;
};

/* Ends the interval and begins the next: add each client's latency in between. Private to run/load/. */
void rig_latency_interval_begin(struct rig_latency_interval *interval);
void rig_latency_interval_add(struct rig_latency_interval *interval, const struct rig_run_latency *latency);
/* The latencies since the interval before; valid until the next begin. */
const struct rig_histogram *rig_latency_interval_end(struct rig_latency_interval *interval);

#endif
