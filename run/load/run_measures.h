/*
 * The numbers that a run collects: counters, latencies, the course over time, errors, and the share of time with
 * answers.
 */
#ifndef RIG_RUN_LOAD_RUN_MEASURES_H
#define RIG_RUN_LOAD_RUN_MEASURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "drivers/driver.h"

struct rig_transaction;

/*
 * Counters with one writer, their client, that the monitor reads while they grow.
 */

/* A client's transactions, closing and final reads included. */
struct rig_run_counts {
    _Atomic uint64_t invoked;
    _Atomic uint64_t ok, fail, info;
    _Atomic uint64_t refused;       /* of `fail`: the session was kept */
    _Atomic uint64_t failed_writes; /* transactions that write, of fail and info */
};

static inline void rig_run_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline uint64_t rig_run_read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/*
 * How a load went over time: what had completed, and how slow it was, at moments of equal distance.
 *
 * At most RIG_TIMELINE_MOST moments: when there are more, every other goes and the distance doubles, so that a run of
 * any length fits. Threads: one.
 */

enum { RIG_TIMELINE_MOST = 400 };

struct rig_run_moment {
    int64_t at_ns;           /* since the start of the load */
    uint64_t ok, fail, info; /* completed until then */
    int64_t p99_ns;          /* latency of what completed since the moment before; 0: nothing did */
};

struct rig_run_timeline {
    struct rig_run_moment at[RIG_TIMELINE_MOST];
    uint32_t count;
    int64_t distance_ns; /* 0: before the first */
};

/* Whether a moment is due `at_ns` after the start. */
bool rig_run_timeline_is_due(const struct rig_run_timeline *timeline, int64_t at_ns);
void rig_run_timeline_add(struct rig_run_timeline *timeline, const struct rig_run_moment *moment);

/*
 * The errors that clients met, by code and outcome, with how often.
 *
 * Space: RIG_RUN_ERROR_ROWS rows; the last one counts the kinds that found no row of their own. Threads: one.
 */

enum { RIG_RUN_ERROR_ROWS = 32 };

/* One kind of error. */
struct rig_run_error {
    char code[RIG_ERROR_CODE_BYTES];
    char text[RIG_ERROR_TEXT_BYTES]; /* of the first */
    enum rig_outcome outcome;
    uint64_t count;
};

/* A zeroed one is empty. */
struct rig_run_errors {
    struct rig_run_error rows[RIG_RUN_ERROR_ROWS];
    uint32_t count;
};

/* One more error; texts are cut to fit. Returns its row. */
uint32_t rig_run_errors_add(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code,
                            const char *text);
/* Adds what `more` counted. */
void rig_run_errors_merge(struct rig_run_errors *errors, const struct rig_run_errors *more);
/* Most frequent first. */
void rig_run_errors_sort(struct rig_run_errors *errors);
/* The errors of a client as the monitor may see them: rows do not change once they are published. */
struct rig_run_live_errors {
    _Atomic uint32_t row_count;
    _Atomic uint64_t counts[RIG_RUN_ERROR_ROWS]; /* of these rows */
};
/* How many errors there were. */
uint64_t rig_run_errors_total(const struct rig_run_errors *errors);

/*
 * During which share of a load the database answered.
 *
 * The monitor looks at the clients again and again. Time is answered when a transaction was under way that was then
 * acknowledged, however long it took; and when no client wanted anything, as long as the last answer was one. All other
 * time is silent: no session, no completion, errors. A database that answers reads and fails every write is silent as
 * well: when writing transactions failed in RIG_ANSWERS_FAILURES looks and none was acknowledged, only an acknowledged
 * write is an answer. A load without writes is measured by its reads.
 *
 * Three kinds of silence do not count: that while a fault is in
 * effect; that after a fault until the next answer, up to ANSWERS_RECOVERY_NS; and up to ANSWERS_CALM_NS in a
 * row in which nothing worse happens than that transactions wait, or are refused by a database that keeps their
 * sessions (conflicts: they mean that others commit). Silence after a fault that no answer ends counts whole.
 *
 * Space: constant. Threads: one.
 */

enum { RIG_ANSWERS_PENDING_MOST = 256, RIG_ANSWERS_FAILURES = 3 };

/* Observations since the look before. Times are monotonic. */
struct rig_run_look {
    int64_t at_ns;
    int64_t answered_from_ns; /* earliest start of a transaction acknowledged since; 0: none was */
    int64_t written_from_ns;  /* the same of transactions that write */
    bool write_failed;        /* some that write did not end as acknowledged */
    bool refused;             /* some failed with their sessions kept */
    bool unanswered;          /* some completed in any other way, or could not get a session */
    bool waiting;             /* now a client is inside the driver, or has no session */
    bool under_fault;         /* now, or at some time since */
    bool over;                /* the load is: what is still under way may show answers, but no time passes */
};

/* A stretch of silence that an answer may still explain. */
struct rig_run_silence {
    int64_t from_ns, to_ns;
    bool after_fault;
    bool all_healed; /* nothing worse than refusals */
};

struct rig_run_answers {
    int64_t seen_ns;             /* of the look before */
    int64_t total_ns, silent_ns; /* without faults in effect, and without recoveries */
    bool silent;                 /* the last that was heard of the database was no answer */
    bool after_fault;            /* a fault was in effect since the last answer */
    uint32_t failures;           /* looks with failed writes since the last acknowledged one */
    struct rig_run_silence pending[RIG_ANSWERS_PENDING_MOST]; /* in order */
    uint32_t pending_count;
};

void rig_run_answers_begin(struct rig_run_answers *answers, int64_t start_ns);
void rig_run_answers_look(struct rig_run_answers *answers, const struct rig_run_look *look);
/* From 0 to 1; 1 where no time counted. Pending silence counts as silence. */
double rig_run_answers_share(const struct rig_run_answers *answers);

/*
 * How long acknowledged transactions took: a client's histograms, the run's, and the difference between two moments.
 *
 * Threads: one writer, its client; the monitor merges while they grow.
 */

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
