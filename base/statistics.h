/*
 * Statistics of observations: intervals of confidence, and tests of two samples.
 */
#ifndef RIG_BASE_STATISTICS_H
#define RIG_BASE_STATISTICS_H

#include <stdint.h>

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

struct rig_interval {
    double least, most;
};

/* That of the probability when k of n trials were successes; [0, 1] for no trial. */
struct rig_interval rig_interval_of_share(uint64_t k, uint64_t n);

/*
 * The highest probability of an event that `trials` without an event allow: with a higher one, there would have been an
 * event with a certainty of 95 % (one-sided; about 3 / trials).
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

/*
 * Whether two observations differ by more than chance explains: p values, two-sided.
 *
 * Counts: the exact conditional test of two Poisson counts (Przyborowski and Wilenski, Biometrika 1940): given their
 * sum, the first is binomial. Samples: the rank test of Mann and Whitney (Annals of Mathematical Statistics 1947), with
 * its normal approximation, corrected for ties and continuity; fewer than 4 values on a side give 1. Several tests at
 * once: the correction of Holm (Scandinavian Journal of Statistics 1979).
 *
 * Pure functions. Time: O(count) for counts, O(n log n) for samples.
 */

/* Events `a` in the exposure `of_a`, `b` in `of_b`; 1 where an exposure is 0. */
double rig_two_counts(uint64_t a, double of_a, uint64_t b, double of_b);

/* Each at most TWO_SAMPLES_MOST values. */
double rig_two_samples(const double *a, uint32_t count_a, const double *b, uint32_t count_b);

/*
 * Student's t test of two samples of normal distributions with one variance, two-sided: for few observations, such as
 * runs. 1 where they are fewer than 3 together or one side has none.
 */
double rig_two_means(const double *a, uint32_t count_a, const double *b, uint32_t count_b);

/* Replaces p values by those of all tests together; those below 0 are of no test. */
void rig_two_samples_adjust(double *p, uint32_t count);

#endif
