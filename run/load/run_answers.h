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
 * effect; that after a fault until the next answer, up to RIG_ANSWERS_RECOVERY_NS; and up to RIG_ANSWERS_CALM_NS in a
 * row in which nothing worse happens than that transactions wait, or are refused by a database that keeps their
 * sessions (conflicts: they mean that others commit). Silence after a fault that no answer ends counts whole.
 *
 * Space: constant. Threads: one.
 */
#ifndef RIG_RUN_LOAD_RUN_ANSWERS_H
#define RIG_RUN_LOAD_RUN_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_ANSWERS_PENDING_MOST = 256, RIG_ANSWERS_FAILURES = 3 };
#define RIG_ANSWERS_RECOVERY_NS INT64_C(10000000000)
#define RIG_ANSWERS_CALM_NS     INT64_C(2000000000)

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

#endif
