/*
 * Which levels a history of counters or of a bank keeps: by orders that explain all its reads (counter_search.h).
 *
 * Decided are the levels that forbid all cycles (serializable, repeatable read), and snapshot isolation, with their
 * session and strong forms. The levels below snapshot isolation allow updates to be lost, which the sum of all
 * increments does not; they are held where a stronger level is, or where each read by itself shows the sum at some time
 * before its transaction commits (monotonic snapshot reads and read committed), and never refuted here.
 *
 * A level is refuted only by a search that was complete: along real time, or of a history so small that all orders were
 * searched.
 */
#ifndef RIG_CHECKER_DECIDE_COUNTERS_COUNTER_LEVELS_H
#define RIG_CHECKER_DECIDE_COUNTERS_COUNTER_LEVELS_H

#include "base/err.h"
#include "checker/decide/counters/counter_search.h"
#include "checker/model/level.h"

struct rig_sum_decided {
    uint64_t held;    /* bits of levels, with those that they imply */
    uint64_t refuted; /* those of the first three forms for which a complete search found no order */
    uint64_t open;    /* those for which a search that was not complete found none */
};

/* `levels`, bits: those that nothing refutes so far. `limits`: a deadline and bytes alone. RIG_E_LIMIT when memory runs
 * out. */
enum rig_rc rig_sums_decide(const struct rig_history *history, uint64_t levels, const struct rig_sum_limits *limits,
                            struct rig_sum_decided *decided, struct rig_err *err);

/* An order that proves the level, as a proof lists it: transactions, in places of their events. *found: there is
 * one. Limits as above. */
enum rig_rc rig_sums_order(const struct rig_history *history, enum rig_level level, const struct rig_sum_limits *limits,
                           enum rig_sum_form *form, struct rig_sum_order *txns, bool *found, struct rig_err *err);

#endif
