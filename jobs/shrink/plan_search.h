/*
 * The smallest plan that still shows an anomaly, by running plans: a plan here is a value for each of some dimensions
 * (clients, keys, a duration in ns, 1 or 0 for a fault), and one run of it shows the anomaly or not, by chance.
 *
 *   1. The first plan runs until it has shown the anomaly `shows_wanted` times, in n runs. (shows_wanted - 1) / (n - 1)
 *      is the unbiased estimate of its probability p in a run (Haldane, Biometrika 1945).
 *   2. A candidate has one dimension with a lower value. Its runs decide between two rates, half that of the first plan
 *      and an eighth of it, by Wald's sequential test (Annals of Mathematical Statistics 1945): one that shows the
 *      anomaly half as often as the first plan is missed in at most 5 % of all cases, one that shows it an eighth as
 *      often is kept in at most 10 %. Every candidate is compared with the first plan, so that the rate does not
 *      dwindle from step to step. After `runs_most` runs the likelier of both rates decides, so the errors can be
 *      larger where p is small. Values are found by bisection, each down to a factor of 1.25; the dimensions are gone
 *      through again until none can be lowered.
 *   3. The last plan kept runs again, as often as a candidate that never shows the anomaly, at least `confirmations`
 *      times: these runs took no part in the search, so their rate is not biased by it. A plan that does not show the
 *      anomaly in them, or for which an eighth of the first rate is likelier than half of it, gives way to the one kept
 *      before it.
 *
 * Runs: O(dimensions * log(value) * budget) a pass. Threads: one.
 */
#ifndef RIG_JOBS_SHRINK_PLAN_SEARCH_H
#define RIG_JOBS_SHRINK_PLAN_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_PLAN_DIMENSIONS_MOST = 64, RIG_PLAN_STEPS_MOST = 256 };

enum rig_plan_try {
    RIG_PLAN_SHOWS,
    RIG_PLAN_MISSES,
    RIG_PLAN_REFUSED, /* there is no such plan, or it cannot run: never kept */
    RIG_PLAN_OVER,    /* no time is left, or the user ended it; of the run nothing is known */
};

enum rig_plan_search_phase { RIG_PLAN_FIRST, RIG_PLAN_DESCENT, RIG_PLAN_CONFIRMATION };

struct rig_plan_dimension {
    int64_t value, least; /* at first; the lowest that makes sense */
};

struct rig_plan_candidate {
    uint32_t dimension;
    int64_t value;
    uint32_t runs, shows;  /* judged; of them, with the anomaly */
    enum rig_plan_try how; /* RIG_PLAN_SHOWS: kept */
};

struct rig_plan_search {
    struct rig_plan_dimension dimensions[RIG_PLAN_DIMENSIONS_MOST];
    uint32_t dimension_count;
    uint32_t shows_wanted, runs_most, confirmations;
    /* One run with these values. */
    enum rig_plan_try (*run)(void *context, enum rig_plan_search_phase phase, const int64_t *values);
    /* Whether a lower value makes another plan, beside these values; NULL: always. */
    bool (*matters)(const void *context, uint32_t dimension, const int64_t *values);
    /* After a candidate: the dimension and value that it lowered, and whether it was kept. May be NULL. */
    void (*decided)(void *context, const struct rig_plan_candidate *candidate);
    void *context;
};

struct rig_plan_found {
    int64_t values[RIG_PLAN_DIMENSIONS_MOST];
    uint32_t first_runs, first_shows; /* of the first plan */
    double probability;               /* of it, in a run */
    uint32_t budget;                  /* runs after which a candidate that never showed the anomaly is given up */
    uint32_t candidates, kept, withdrawn;
    uint32_t runs, shows; /* of the confirmation of `values` */
    bool is_complete;     /* no dimension can be lowered; false when it ended early */
};

/* False when the first plan did not show the anomaly (often enough) in `runs_most` runs, or before it was over. */
bool rig_plan_search(const struct rig_plan_search *search, struct rig_plan_found *found);
/* The same for a probability of the first plan. */
uint32_t rig_plan_search_budget(double probability, uint32_t most);

#endif
