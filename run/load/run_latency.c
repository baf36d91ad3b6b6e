#include "run/load/run_latency.h"

#include "drivers/driver.h"

void rig_run_latency_add(struct rig_run_latency *latency, const struct rig_transaction *transaction, int64_t start_ns,
                         int64_t intended_ns, int64_t end_ns)
{
    const enum rig_latency_kind kind = transaction->hold.wanted ? RIG_LATENCY_HELD_OPEN
                                       : transaction->read_only ? RIG_LATENCY_READ_ONLY
                                                                : RIG_LATENCY_WRITING;
    rig_histogram_add(&latency->by_kind[kind], end_ns - start_ns);
    rig_histogram_add(&latency->intended, end_ns - intended_ns);
}

void rig_run_latency_merge(struct rig_run_latency *latency, const struct rig_run_latency *more)
{
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        rig_histogram_merge(&latency->by_kind[kind], &more->by_kind[kind]);
    rig_histogram_merge(&latency->intended, &more->intended);
}

uint64_t rig_run_latency_count(const struct rig_run_latency *latency)
{
    uint64_t count = 0;
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        count += rig_histogram_count(&latency->by_kind[kind]);
    return count;
}

void rig_latency_interval_begin(struct rig_latency_interval *interval)
{
    rig_histogram_init(&interval->now);
}

void rig_latency_interval_add(struct rig_latency_interval *interval, const struct rig_run_latency *latency)
{
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        rig_histogram_merge(&interval->now, &latency->by_kind[kind]);
}

const struct rig_histogram *rig_latency_interval_end(struct rig_latency_interval *interval)
{
    rig_histogram_init(&interval->since);
    rig_histogram_merge(&interval->since, &interval->now);
    rig_histogram_subtract(&interval->since, &interval->before);
    rig_histogram_init(&interval->before);
    rig_histogram_merge(&interval->before, &interval->now);
    return &interval->since;
}
