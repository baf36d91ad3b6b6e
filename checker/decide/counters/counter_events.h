/*
 * The events of a history of counters or of a bank: where transactions read, and where their increments commit.
 *
 * The state is the sum of the increments committed so far, for each key. An event is possible where each key that it
 * reads has a known sum, where no other transaction holds a lock on a key that it locks, or increments. It holds its
 * locks until its transaction commits.
 *
 *   form         the events of a transaction
 *   SERIAL       one
 *   ITEMS        one, without the reads that found no row (of repeatable read)
 *   SNAPSHOT     its reads, which lock the keys that it increments; then its increments. One event where it increments
 *                all keys that it reads: no other increment may come between
 *   OPERATIONS   each read, which locks the keys that were incremented before it; then the other increments
 *
 * A counter begins at 0. An account begins with a balance that the first read of it shows. Only acknowledged reads
 * count; a transaction of unknown outcome is one event that may be left out.
 *
 * Space: 40 bytes an event, 16 a term.
 */
#ifndef RIG_CHECKER_DECIDE_COUNTERS_COUNTER_EVENTS_H
#define RIG_CHECKER_DECIDE_COUNTERS_COUNTER_EVENTS_H

#include "base/err.h"
#include "base/vec.h"
#include "checker/model/anomaly.h"
#include "history/model/history.h"

#define RIG_SUM_NONE UINT32_MAX

enum rig_sum_form { RIG_SUM_SERIAL, RIG_SUM_ITEMS, RIG_SUM_SNAPSHOT, RIG_SUM_OPERATIONS };

/* A key, and the sum that a read needs or the amount that is added; of a lock, nothing. */
struct rig_sum_term {
    uint32_t key;
    int64_t value;
};

struct rig_sum_event {
    uint32_t txn;
    uint32_t first_need, first_lock, first_add, end; /* into terms */
    uint32_t after;                                  /* the event that must come before it, or RIG_SUM_NONE */
    uint32_t invoked, completed; /* UINT32_MAX: never. Without real-time order: only a hint of where to look */
    bool optional;               /* its transaction may have aborted */
    bool holds;                  /* its transaction holds locks on the keys that it adds to */
    uint32_t stands;             /* how many times the transaction stands in a proof's order for it */
};

RIG_VEC(struct rig_sum_term, rig_sum_terms)
RIG_VEC(struct rig_sum_event, rig_sum_event_list)

struct rig_sum_events {
    struct rig_sum_event_list list; /* in the order of invocations; those of one transaction in their order */
    struct rig_sum_terms terms;
    uint32_t key_count;
    bool begins_at_zero; /* each key; else the first read of it shows with what it begins */
    bool in_time;        /* an order keeps real time */
    bool in_processes;   /* `after` also has the order of processes */
    bool impossible;     /* two reads of one transaction exclude each other */
};

/* RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_sum_events_make(const struct rig_history *history, enum rig_sum_form form, enum rig_along along,
                                struct rig_sum_events *events, struct rig_err *err);
void rig_sum_events_done(struct rig_sum_events *events);

#endif
