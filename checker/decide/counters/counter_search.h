/*
 * A search for an order of the events of a history of counters or of a bank (counter_events.h): depth first, along real
 * time.
 *
 * An event may come next if it was invoked before the first completion among the rest. A read that changes nothing, and
 * fixes no balance, takes effect as soon as the state allows it. Only the first to complete is tried of equal
 * increments that nothing else binds (not where the order of processes binds them). The state follows from the set of
 * events done and the balances fixed, so that a set that led nowhere is not tried again.
 *
 * Backjumping: a dead end rests on some keys, those that the events in question need, lock or change. Each event of the
 * time in question that changes one of these keys has all of its own keys among them, so that no other event matters.
 * After a move that concerns none of these keys, no other move there avoids the dead end. Not where the order of
 * processes binds events.
 *
 * Without real time any event may come next. The search then looks a bounded number of positions ahead, and its failure
 * means nothing, unless `ahead` is RIG_SUM_NONE.
 *
 * Time: for each step the events in progress. In the worst case exponential in these; a deadline stops it. Space: 40
 * bytes an event, 24 a step, and 40 for each set that led nowhere, within a limit. Threads: one.
 */
#ifndef RIG_CHECKER_DECIDE_COUNTERS_COUNTER_SEARCH_H
#define RIG_CHECKER_DECIDE_COUNTERS_COUNTER_SEARCH_H

#include "checker/decide/counters/counter_events.h"

enum rig_sum_answer {
    RIG_SUM_FOUND,  /* an order explains all reads */
    RIG_SUM_FAILED, /* none does, of those that were looked for */
    RIG_SUM_SPENT,  /* the time or the memory is spent */
};

struct rig_sum_limits {
    int64_t deadline_ns; /* rig_clock_now_ns(); INT64_MAX: none */
    size_t bytes;        /* that the search may hold; 0: no limit */
    uint64_t steps;      /* 0: no limit */
    uint32_t ahead;      /* positions that it looks ahead beyond the first completion; RIG_SUM_NONE: any */
};

RIG_VEC(uint32_t, rig_sum_order)

/* *order: the events, once found. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_sum_search(const struct rig_sum_events *events, const struct rig_sum_limits *limits,
                           enum rig_sum_answer *answer, struct rig_sum_order *order, struct rig_err *err);

#endif
