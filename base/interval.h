/*
 * Intervals of 95 % confidence: of shares (k of n trials) and of rates (events in a time).
 *
 * Shares: Clopper and Pearson (Biometrika 1934), exact. Rates: events come in clusters, so the counts of several runs
 * vary more than those of a Poisson process; the interval is that of a Poisson count (Garwood 1936; above 100 by the
 * approximation of Wilson and Hilferty 1931) with the counts divided by their dispersion, if that is above 1 (McCullagh
 * and Nelder 1989, section 6.2).
 *
 * Pure functions. Time: O(n) a share, O(1) a count, O(observations) a rate.
 */
#ifndef RIG_BASE_INTERVAL_H
#define RIG_BASE_INTERVAL_H

#include <stdint.h>

struct rig_interval {
    double least, most;
};

/* That of the probability when k of n trials were successes; [0, 1] for no trial. */
struct rig_interval rig_interval_of_share(uint64_t k, uint64_t n);
/* The probability of at most k successes in n trials. */
double rig_interval_at_most(uint64_t k, uint64_t n, double probability);
/*
 * The probability that no event in so many trials rules out: with a higher one, there would have been an event with a
 * certainty of 95 % (one-sided; about 3 / trials).
 */
double rig_interval_most_of_none(uint64_t trials);
/* That of the mean of a Poisson process that gave `count` events. */
struct rig_interval rig_interval_of_count(double count);

/* Events in a time, as one of several observations. */
struct rig_observed {
    uint64_t events;
    double time;
};

/* That of the events in a unit of the time; `*rate` gets the estimate. [0, infinity) and 0 without any time. */
struct rig_interval rig_interval_of_rate(const struct rig_observed *observed, uint32_t count, double *rate);

/* The trials after which events of the probability would have been missed by chance in 5 % of all cases only. At least
 * 1; `most` for a probability too small for fewer. */
uint32_t rig_interval_trials(double probability, uint32_t most);

#endif
