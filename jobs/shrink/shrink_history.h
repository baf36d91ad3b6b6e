/*
 * From a history with an anomaly to its smallest part that has the same anomaly (delta debugging: Zeller and
 * Hildebrandt, TSE 2002).
 *
 * A part is a set of operations. A write that goes takes its value out of the reads, so an order that explains the
 * history also explains each part of it, and no part shows an anomaly that the history lacks. Each candidate is judged
 * by rig_check(), which proves its witnesses. The search begins with the transactions of a witness, and takes away
 * transactions, then operations, until none can go.
 *
 * Time: about 30 us a candidate of a few transactions, and four or five times the square of their number of candidates;
 * the whole history is judged once. Space: that of the history and its writers.
 */
#ifndef RIG_JOBS_SHRINK_SHRINK_HISTORY_H
#define RIG_JOBS_SHRINK_SHRINK_HISTORY_H

#include "base/arena.h"
#include "checker/judge/check.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

struct rig_shrink_options {
    struct rig_check_options check; /* levels and anomalies that the part may show, 0 and 0: any; the search begins
                                     * with each witness of max_witnesses */
    int64_t budget_ns;              /* of the search; 0: RIG_DEFAULT_BUDGET_NS */
    bool whole_transactions;        /* a transaction stays with all of its operations, or goes */
    bool for_scenario; /* a part that has a scenario (scenario_text.h) comes before a smaller one that has none */
};

/* A read of a sequence whose elements the part has in part alone. */
struct rig_original_read {
    uint32_t op;             /* of the part */
    uint32_t count;          /* elements that the client saw */
    const int64_t *elements; /* in the arena */
};

struct rig_smallest_part {
    struct rig_history *history; /* keeps positions, times, keys and values of the whole */
    struct rig_verdict *verdict; /* of that part; refers to it */
    enum rig_anomaly anomaly;    /* the anomaly that both have */
    enum rig_level level;        /* the level that both refute; RIG_LEVEL_COUNT: none was asked for */
    uint64_t txns, ops;          /* of the whole history; 0: not known */
    uint32_t candidate_count;
    struct rig_original_read *reads; /* in the arena, in the order of the part's operations */
    uint32_t read_count;
    struct rig_arena arena;
    bool minimal; /* no transaction and no operation can go; else the budget was spent */
};

/*
 * Gives the smallest part found; rig_smallest_part_done(). RIG_E_USAGE when the history shows none of what is asked
 * for, or when its values do not name their writers, so that parts cannot be judged; other errors as those of
 * rig_check().
 */
enum rig_rc rig_shrink_history(const struct rig_history *history, const struct rig_shrink_options *options,
                               struct rig_smallest_part *shrunk, struct rig_err *err);
/* The anomaly that rig_shrink_history() would keep, also where the values do not name their writers. RIG_E_USAGE when
 * the history shows none of what is asked for; other errors as those of rig_check(). */
enum rig_rc rig_shrink_goal(const struct rig_history *history, const struct rig_check_options *check,
                            enum rig_anomaly *anomaly, struct rig_err *err);
/* Takes a zeroed one, too. */
void rig_smallest_part_done(struct rig_smallest_part *shrunk);

#endif
