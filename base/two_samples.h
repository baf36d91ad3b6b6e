/*
 * Whether two observations differ by more than chance explains: p values, two-sided.
 *
 * Counts: the exact conditional test of two Poisson counts (Przyborowski and Wilenski, Biometrika 1940): given their sum, the
 * first is binomial. Samples: the rank test of Mann and Whitney (Annals of Mathematical Statistics 1947), with its normal
 * approximation, corrected for ties and continuity; fewer than 4 values on a side give 1. Several tests at once: the
 * correction of Holm (Scandinavian Journal of Statistics 1979).
 *
 * Pure functions. Time: O(count) for counts, O(n log n) for samples.
 */
#ifndef RIG_BASE_TWO_SAMPLES_H
#define RIG_BASE_TWO_SAMPLES_H

#include <stdint.h>

/* Events `a` in the exposure `of_a`, `b` in `of_b`; 1 where an exposure is 0. */
double rig_two_counts(uint64_t a, double of_a, uint64_t b, double of_b);

enum { RIG_TWO_SAMPLES_MOST = 1024 };
/* Each at most RIG_TWO_SAMPLES_MOST values. */
double rig_two_samples(const double *a, uint32_t count_a, const double *b, uint32_t count_b);

/* Replaces p values by those of all tests together; those below 0 are of no test. */
void rig_two_samples_adjust(double *p, uint32_t count);

#endif
