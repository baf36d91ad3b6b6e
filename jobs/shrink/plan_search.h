/*
 * The smallest plan that still shows an anomaly, by running plans: a plan here is a value for each of some dimensions
 * (clients, keys, a duration in ns, 1 or 0 for a fault), and one run of it shows the anomaly or not, by chance.
 *
 *   1. The first plan runs until it has shown the anomaly `shows_wanted` times, in n runs. (shows_wanted - 1) / (n - 1)
 *      is the unbiased estimate of its probability p in a run (Haldane, Biometrika 1945).
 *   2. A candidate has one dimension with a lower value. It is kept when the anomaly appears within as many runs as
 *      would show it at least once with a probability of 95 % if the candidate showed it half as often as the first
 *      plan: ln 0.05 / ln (1 - p / 2) runs, at most `runs_most`. So a candidate that is as good as half the first plan
 *      is missed in at most 5 % of all cases, and a rate does not dwindle from step to step unseen. Values are found by
 *      bisection, each down to a factor of 1.25; the dimensions are gone through again until none can be lowered.
 *   3. The last plan kept runs again, as often as a candidate, at least `confirmations` times: these runs took no part
 *      in the search, so their rate is not biased by it. A plan that does not show the anomaly in them gives way to the
 *      one kept before it.
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

struct rig_plan_search {
    struct rig_plan_dimension dimensions[RIG_PLAN_DIMENSIONS_MOST];
    uint32_t dimension_count;
    uint32_t shows_wanted, runs_most, confirmations;
    /* One run with these values. */
    enum rig_plan_try (*run)(void *context, enum rig_plan_search_phase phase, const int64_t *values);
    /* Whether a lower value makes another plan, beside these values; NULL: always. */
    bool (*matters)(const void *context, uint32_t dimension, const int64_t *values);
    /* After a candidate: the dimension and value that it lowered, and whether it was kept. May be NULL. */
    void (*decided)(void *context, uint32_t dimension, int64_t value, uint32_t runs, enum rig_plan_try how);
    void *context;
};

struct rig_plan_found {
    int64_t values[RIG_PLAN_DIMENSIONS_MOST];
    uint32_t first_runs, first_shows; /* of the first plan */
    double probability;               /* of it, in a run */
    uint32_t budget;                  /* runs of a candidate */
    uint32_t candidates, kept, withdrawn;
    uint32_t runs, shows; /* of the confirmation of `values` */
    bool is_complete;     /* no dimension can be lowered; false when it ended early */
};

/* False when the first plan did not show the anomaly (often enough) in `runs_most` runs, or before it was over. */
bool rig_plan_search(const struct rig_plan_search *search, struct rig_plan_found *found);
/* The runs of a candidate for a probability of the first plan. */
uint32_t rig_plan_search_budget(double probability, uint32_t most);

#endif
