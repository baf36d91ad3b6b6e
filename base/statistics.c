#include "base/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bug.h"

enum { HALVINGS = 60, EXACT_MOST = 100 /* above, the approximation is within 0.1 % */ };

static const double beyond = 0.025, /* on each side */
    deviation = 1.959963984540054;  /* of the normal distribution, for that */

/* The probability of at most k successes in n trials. */
static double interval_at_most(uint64_t k, uint64_t n, double probability)
{
    if (probability <= 0 || k >= n)
        return 1;
    if (probability >= 1)
        return 0;
    double sum = 0;
    for (uint64_t i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                   (double)i * log(probability) + (double)(n - i) * log1p(-probability));
    return sum < 1 ? sum : 1;
}

/* The probability for which at most k successes in n trials are as likely as `likely`. */
static double solve(uint64_t k, uint64_t n, double likely)
{
    double low = 0, high = 1;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (interval_at_most(k, n, middle) > likely)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct rig_interval rig_interval_of_share(uint64_t k, uint64_t n)
{
    RIG_REQUIRE(k <= n);
    return (struct rig_interval){.least = k == 0 ? 0 : solve(k - 1, n, 1 - beyond),
                                 .most = k == n ? 1 : solve(k, n, beyond)};
}

/* The probability of at most x of the gamma distribution of shape a: a series of positive terms. */
static double gamma_at_most(double a, double x)
{
    if (x <= 0)
        return 0;
    double term = exp(a * log(x) - x - lgamma(a + 1)), sum = 0;
    for (unsigned i = 1; term > sum * 1e-15 || i < x; i++) {
        sum += term;
        term *= x / (a + i);
    }
    return sum < 1 ? sum : 1;
}

/* The value that the gamma distribution of shape a exceeds with probability 1 - likely. */
static double gamma_quantile(double a, double likely, double deviations)
{
    if (a > EXACT_MOST) {
        const double cube = 1 - 1 / (9 * a) + deviations / (3 * sqrt(a));
        return a * cube * cube * cube;
    }
    double low = 0, high = 2 * a + 20;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (gamma_at_most(a, middle) < likely)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct rig_interval rig_interval_of_count(double count)
{
    return (struct rig_interval){.least = count <= 0 ? 0 : gamma_quantile(count, beyond, -deviation),
                                 .most = gamma_quantile(count + 1, 1 - beyond, deviation)};
}

struct rig_interval rig_interval_of_rate(const struct rig_observed *observed, uint32_t count, double *rate)
{
    double events = 0, time = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        events += (double)observed[i].events;
        time += observed[i].time;
    }
    *rate = time > 0 ? events / time : 0;
    if (time <= 0)
        return (struct rig_interval){0, INFINITY};
    for (uint32_t i = 0; i < count && events > 0; i++) {
        const double expected = *rate * observed[i].time, off = (double)observed[i].events - expected;
        squares += expected > 0 ? off * off / expected : 0;
    }
    const double estimated = count > 1 ? squares / (count - 1) : 1, dispersion = estimated > 1 ? estimated : 1;
    const struct rig_interval counted = rig_interval_of_count(events / dispersion);
    return (struct rig_interval){counted.least * dispersion / time, counted.most * dispersion / time};
}

uint32_t rig_interval_trials(double probability, uint32_t most)
{
    RIG_REQUIRE(probability > 0 && most > 0);
    if (probability >= 1)
        return 1;
    const double trials = ceil(log(2 * beyond) / log1p(-probability) - 1e-9);
    return trials < 1 ? 1 : trials > most ? most : (uint32_t)trials;
}

double rig_interval_most_of_none(uint64_t trials)
{
    return trials == 0 ? 1 : -expm1(log(2 * beyond) / (double)trials);
}

enum { TWO_SAMPLES_MOST = 1024 };

double rig_two_counts(uint64_t a, double of_a, uint64_t b, double of_b)
{
    if (of_a <= 0 || of_b <= 0 || a + b == 0)
        return 1;
    const uint64_t n = a + b;
    const double share = of_a / (of_a + of_b);
    const double below = interval_at_most(a, n, share);
    const double above = interval_at_most(b, n, 1 - share);
    const double p = 2 * (below < above ? below : above);
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

struct ranked {
    double value;
    bool is_first;
};

static int compare(const void *a, const void *b)
{
    const double left = ((const struct ranked *)a)->value, right = ((const struct ranked *)b)->value;
    return (left > right) - (left < right);
}

double rig_two_samples(const double *a, uint32_t count_a, const double *b, uint32_t count_b)
{
    struct ranked all[2 * TWO_SAMPLES_MOST];
    const uint32_t count = count_a + count_b;
    RIG_REQUIRE(count_a <= TWO_SAMPLES_MOST && count_b <= TWO_SAMPLES_MOST);
    if (count_a < 4 || count_b < 4)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < count_a ? (struct ranked){a[i], true} : (struct ranked){b[i - count_a], false};
    qsort(all, count, sizeof all[0], compare);
    double ranks = 0, ties = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i, firsts = 0;
        while (end < count && all[end].value <= all[i].value)
            firsts += all[end++].is_first;
        const double equal = end - i;
        ranks += firsts * ((double)i + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        i = end;
    }
    const double n = count, mean = (double)count_a * count_b / 2;
    const double u = ranks - (double)count_a * (count_a + 1) / 2;
    const double variance = mean / 6 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0)
        return 1;
    const double off = fabs(u - mean) - 0.5;
    return off <= 0 ? 1 : erfc(off / sqrt(2 * variance));
}

/*
 * The probability that Student's t is beyond `t` on either side, with `freedom` degrees: finite sums (Abramowitz and
 * Stegun 1964, 26.7.3 and 26.7.4).
 */
static double beyond_t(double t, uint32_t freedom)
{
    const double angle = atan(fabs(t) / sqrt(freedom)), cosine = cos(angle), sine = sin(angle);
    const bool is_odd = freedom % 2 == 1;
    double term = is_odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
    for (uint32_t i = is_odd ? 3 : 2; i + 2 <= freedom; i += 2) {
        term *= cosine * cosine * (i - 1) / i;
        sum += term;
    }
    const double within = is_odd ? 2 / acos(-1) * (angle + sine * sum) : sine * sum;
    return within > 1 ? 0 : 1 - within;
}

static double mean_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static double squares_of(const double *values, uint32_t count, double mean)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

double rig_two_means(const double *a, uint32_t count_a, const double *b, uint32_t count_b)
{
    if (count_a == 0 || count_b == 0 || count_a + count_b < 3)
        return 1;
    const uint32_t freedom = count_a + count_b - 2;
    const double mean_a = mean_of(a, count_a), mean_b = mean_of(b, count_b);
    const double variance = (squares_of(a, count_a, mean_a) + squares_of(b, count_b, mean_b)) / freedom;
    if (variance <= 0)
        return mean_a < mean_b || mean_a > mean_b ? 0 : 1;
    return beyond_t((mean_a - mean_b) / sqrt(variance * (1.0 / count_a + 1.0 / count_b)), freedom);
}

void rig_two_samples_adjust(double *p, uint32_t count)
{
    uint32_t tests = 0;
    double least = 0; /* adjusted values do not fall */
    for (uint32_t i = 0; i < count; i++)
        tests += p[i] >= 0;
    bool done[TWO_SAMPLES_MOST] = {false};
    RIG_REQUIRE(count <= TWO_SAMPLES_MOST);
    for (uint32_t step = 0; step < tests; step++) {
        uint32_t smallest = count;
        for (uint32_t i = 0; i < count; i++) {
            if (!done[i] && p[i] >= 0 && (smallest == count || p[i] < p[smallest]))
                smallest = i;
        }
        const double adjusted = p[smallest] * (tests - step);
        least = adjusted > least ? adjusted : least;
        p[smallest] = least > 1 ? 1 : least;
        done[smallest] = true;
    }
}
