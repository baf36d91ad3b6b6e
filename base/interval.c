#include "base/interval.h"

#include <math.h>

#include "base/bug.h"

enum { HALVINGS = 60, EXACT_MOST = 100 /* above, the approximation is within 0.1 % */ };

static const double beyond = 0.025, /* on each side */
    deviation = 1.959963984540054;  /* of the normal distribution, for that */

double rig_interval_at_most(uint64_t k, uint64_t n, double probability)
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
        if (rig_interval_at_most(k, n, middle) > likely)
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
