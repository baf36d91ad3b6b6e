/*
 * Tests of two observations: p values against those of other programs (R: binom.test, wilcox.test, p.adjust) and under
 * chance.
 */
#include "tests/unit/cmocka_first.h"

#include <math.h>

#include "base/rng.h"
#include "base/statistics.h"

static void near(double value, double expected, double off)
{
    if (fabs(value - expected) > off)
        print_error("%.9g is not %.9g\n", value, expected);
    assert_true(fabs(value - expected) <= off);
}

static void counts_are_compared_exactly(void **state)
{
    (void)state;
    /* binomial tails of 0 of 10, 10 of 10 and 3 of 10 at 1/2, doubled */
    near(rig_two_counts(0, 1, 10, 1), 2 / 1024.0, 1e-12);
    near(rig_two_counts(10, 1, 0, 1), 2 / 1024.0, 1e-12);
    near(rig_two_counts(3, 1, 7, 1), 2 * 176 / 1024.0, 1e-12);
    near(rig_two_counts(5, 1, 5, 1), 1, 0);
    /* twice the exposure explains twice the events */
    near(rig_two_counts(200, 2, 100, 1), 1, 0.05);
    assert_true(rig_two_counts(200, 1, 100, 1) < 1e-8);
    /* a tail far out keeps its digits */
    assert_true(rig_two_counts(0, 1, 200, 1) > 0 && rig_two_counts(0, 1, 200, 1) < 1e-59);
    /* nothing was seen, or nothing was looked at */
    near(rig_two_counts(0, 5, 0, 5), 1, 0);
    near(rig_two_counts(7, 5, 0, 0), 1, 0);
}

static void samples_are_compared_by_rank(void **state)
{
    (void)state;
    const double low[] = {1, 2, 3, 4, 5, 6, 7, 8}, high[] = {11, 12, 13, 14, 15, 16, 17, 18}, same[] = {5, 5, 5, 5, 5};
    /* U = 0, mean 32, variance 90.67: z = 31.5 / 9.522 */
    near(rig_two_samples(low, 8, high, 8), erfc(31.5 / sqrt(2 * 64 * 17 / 12.0)), 1e-12);
    near(rig_two_samples(high, 8, low, 8), rig_two_samples(low, 8, high, 8), 1e-15);
    near(rig_two_samples(low, 8, low, 8), 1, 0.06);
    near(rig_two_samples(same, 5, same, 5), 1, 0);
    near(rig_two_samples(low, 3, high, 8), 1, 0); /* too few */
    /* ties: 1 1 2 2 against 2 2 3 3: U = 2, mean 8, variance 16/12 (9 - (6 + 60 + 6) / 56) */
    const double tied_a[] = {1, 1, 2, 2}, tied_b[] = {2, 2, 3, 3};
    near(rig_two_samples(tied_a, 4, tied_b, 4), erfc(5.5 / sqrt(2 * (16 / 12.0) * (9 - 72 / 56.0))), 1e-12);
}

/* About 5 % of pairs of samples from one source differ at 0.05. */
static void chance_is_seldom_significant(void **state)
{
    (void)state;
    struct rig_rng rng;
    unsigned by_rank = 0, by_count = 0;
    rig_rng_init(&rng, 7, 0);
    for (unsigned round = 0; round < 2000; round++) {
        double a[20], b[20];
        uint64_t left = 0;
        for (unsigned i = 0; i < 20; i++) {
            a[i] = (double)rig_rng_below(&rng, 1000000);
            b[i] = (double)rig_rng_below(&rng, 1000000);
        }
        for (unsigned i = 0; i < 100; i++)
            left += rig_rng_below(&rng, 2);
        by_rank += rig_two_samples(a, 20, b, 20) < 0.05;
        by_count += rig_two_counts(left, 1, 100 - left, 1) < 0.05;
    }
    assert_in_range(by_rank, 50, 140);
    assert_in_range(by_count, 20, 120); /* exact tests err on the safe side */
}

static void several_tests_are_adjusted(void **state)
{
    (void)state;
    double p[] = {0.01, -1, 0.04, 0.03, 0.005}; /* p.adjust(c(.01, .04, .03, .005), "holm") */
    rig_two_samples_adjust(p, 5);
    near(p[0], 0.03, 1e-12);
    near(p[1], -1, 0);
    near(p[2], 0.06, 1e-12);
    near(p[3], 0.06, 1e-12);
    near(p[4], 0.02, 1e-12);
}

static void no_event_bounds_the_probability(void **state)
{
    (void)state;
    near(rig_interval_most_of_none(1500000), 2.0e-6, 0.01e-6);
    near(rig_interval_most_of_none(1), 0.95, 1e-12);
    near(rig_interval_most_of_none(0), 1, 0);
    /* with the bound as probability, none in 59 trials has a chance of 5 % */
    near(pow(1 - rig_interval_most_of_none(59), 59), 0.05, 1e-12);
}

/* Against the quantiles of Student's t for 5 %, of 1, 2, 3 and 7 degrees of freedom. */
static void means_are_those_of_the_tables(void **state)
{
    (void)state;
    static const double two[] = {-1, 1}, three[] = {-1, 0, 1}, many[] = {-1, 1, -1, 1, -1, 1, -1, 1},
                        same[] = {5, 5, 5};
    static const double t[] = {12.7062, 4.30265, 3.18245, 2.36462};
    const double a[] = {t[0] * sqrt(3), t[1] * sqrt(4 / 3.0), t[2] * sqrt(5 / 3.0), t[3] * sqrt(9 / 7.0)};
    near(rig_two_means(&a[0], 1, two, 2), 0.05, 1e-6);
    near(rig_two_means(&a[1], 1, three, 3), 0.05, 1e-6);
    near(rig_two_means(&a[2], 1, many, 4), 0.05, 1e-6);
    near(rig_two_means(&a[3], 1, many, 8), 0.05, 1e-6);
    near(rig_two_means(many, 8, &a[3], 1), 0.05, 1e-6);
    near(rig_two_means(many, 8, many, 4), 1, 0);
    near(rig_two_means(same, 3, same, 1), 1, 0);
    near(rig_two_means(same, 3, many, 1), 0, 0); /* no variance */
    near(rig_two_means(same, 1, many, 1), 1, 0); /* too few */
    near(rig_two_means(same, 0, many, 8), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_compared_exactly),     cmocka_unit_test(samples_are_compared_by_rank),
        cmocka_unit_test(chance_is_seldom_significant),    cmocka_unit_test(several_tests_are_adjusted),
        cmocka_unit_test(no_event_bounds_the_probability), cmocka_unit_test(means_are_those_of_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
