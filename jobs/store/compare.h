/*
 * Two runs side by side: verdicts, levels, anomalies, throughput and latency, each difference with the test that says
 * whether chance explains it (base/statistics.h).
 *
 * Anomalies and unknown outcomes: as counts in acknowledged transactions. Throughput and latency: the load of each run
 * is cut into at most 30 equal parts (batch means), because neighbouring moments are not independent; the ranks of the
 * parts are compared. A difference counts when its p value, corrected for all tests of the comparison, is below 0.05.
 */
#ifndef RIG_JOBS_STORE_COMPARE_H
#define RIG_JOBS_STORE_COMPARE_H

#include "base/buf.h"
#include "jobs/store/stored_run.h"

/* X(id, name for JSON, words, 1: durations) */
#define RIG_MEASURE_TABLE(X)                                                                                           \
    X(ANOMALIES, "anomalies", "anomalies a million", false)                                                            \
    X(UNKNOWN, "unknown", "unknown outcomes a million", false)                                                         \
    X(THROUGHPUT, "throughput", "acknowledged a second", false)                                                        \
    X(MEDIAN, "p50", "median latency", true)                                                                           \
    X(TAIL, "p99", "99 % latency", true)

enum rig_measure {
#define RIG_MEASURE_ENUM(id, name, words, is_duration) RIG_MEASURE_##id,
    RIG_MEASURE_TABLE(RIG_MEASURE_ENUM)
#undef RIG_MEASURE_ENUM
        RIG_MEASURE_COUNT
};

struct rig_compared {
    double a, b; /* anomalies and outcomes a million, transactions a second, or ns */
    double p;    /* corrected; below 0: not tested, because a run lacks the data */
};

struct rig_run_comparison {
    const struct rig_stored_run *a, *b;
    struct rig_compared measures[RIG_MEASURE_COUNT];
};

void rig_compare_runs(const struct rig_stored_run *a, const struct rig_stored_run *b,
                      struct rig_run_comparison *comparison);
void rig_compare_text(const struct rig_run_comparison *comparison, struct rig_buf *out);
/* A page; `base` as for rig_index_page_write(). */
void rig_compare_page(const struct rig_run_comparison *comparison, const char *base, struct rig_buf *out);
void rig_compare_json(const struct rig_run_comparison *comparison, struct rig_buf *out);

#endif
