/* Intervals of confidence: known values, and how often they cover the truth. */
#include "tests/unit/cmocka_first.h"

#include <math.h>

#include "base/rng.h"
#include "base/statistics.h"

static void near(double value, double expected, double within)
{
    if (fabs(value - expected) > within)
        fail_msg("%g is not %g", value, expected);
}

static void shares_are_those_of_the_tables(void **state)
{
    (void)state;
    struct rig_interval share = rig_interval_of_share(0, 10);
    near(share.least, 0, 0);
    near(share.most, 0.3085, 1e-4);
    share = rig_interval_of_share(10, 10);
    near(share.least, 0.6915, 1e-4);
    near(share.most, 1, 0);
    share = rig_interval_of_share(3, 10);
    near(share.least, 0.0667, 1e-4);
    near(share.most, 0.6525, 1e-4);
    share = rig_interval_of_share(500, 1000);
    near(share.least, 0.4685, 1e-4);
    near(share.most, 0.5315, 1e-4);
    share = rig_interval_of_share(0, 0);
    near(share.least, 0, 0);
    near(share.most, 1, 0);
}

static void counts_are_those_of_the_tables(void **state)
{
    (void)state;
    struct rig_interval count = rig_interval_of_count(0);
    near(count.least, 0, 0);
    near(count.most, 3.689, 0.001);
    count = rig_interval_of_count(1);
    near(count.least, 0.0253, 0.0001);
    near(count.most, 5.572, 0.001);
    count = rig_interval_of_count(10);
    near(count.least, 4.795, 0.001);
    near(count.most, 18.39, 0.01);
    count = rig_interval_of_count(1000);
    near(count.least, 938.97, 0.1);
    near(count.most, 1063.96, 0.1);
}

static void rates_of_even_runs_are_poisson(void **state)
{
    (void)state;
    const struct rig_observed even[] = {{5, 1}, {5, 1}};
    double rate;
    const struct rig_interval interval = rig_interval_of_rate(even, 2, &rate);
    near(rate, 5, 1e-9);
    near(interval.least, 4.795 / 2, 0.01);
    near(interval.most, 18.39 / 2, 0.03);
}

static void clusters_widen_the_interval(void **state)
{
    (void)state;
    const struct rig_observed even[] = {{50, 1}, {50, 1}, {50, 1}, {50, 1}};
    const struct rig_observed uneven[] = {{0, 1}, {0, 1}, {200, 1}, {0, 1}};
    double rate;
    const struct rig_interval narrow = rig_interval_of_rate(even, 4, &rate),
                              wide = rig_interval_of_rate(uneven, 4, &rate);
    near(rate, 50, 1e-9);
    assert_true(wide.least < narrow.least / 10 && wide.most > narrow.most * 3);
}

static void nothing_observed_excludes_nothing(void **state)
{
    (void)state;
    double rate;
    const struct rig_interval none = rig_interval_of_rate(NULL, 0, &rate);
    assert_true(rate == 0 && none.least == 0 && isinf(none.most));
    const struct rig_observed quiet = {0, 2};
    near(rig_interval_of_rate(&quiet, 1, &rate).most, 3.689 / 2, 0.001);
}

static void shares_cover_the_truth(void **state)
{
    (void)state;
    struct rig_rng rng;
    unsigned covered = 0;
    rig_rng_init(&rng, 1, 1);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned k = 0;
        for (unsigned i = 0; i < 20; i++)
            k += rig_rng_next(&rng) % 10 < 3;
        const struct rig_interval share = rig_interval_of_share(k, 20);
        covered += share.least <= 0.3 && 0.3 <= share.most;
    }
    assert_true(covered >= 1900);
}

static void trials_leave_five_percent(void **state)
{
    (void)state;
    assert_int_equal(rig_interval_trials(1, 100), 1);
    assert_int_equal(rig_interval_trials(0.95, 100), 1);
    assert_int_equal(rig_interval_trials(0.5, 100), 5); /* 0.5^5 = 3 % */
    assert_int_equal(rig_interval_trials(0.1, 100), 29);
    assert_int_equal(rig_interval_trials(0.001, 100), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_tables),    cmocka_unit_test(counts_are_those_of_the_tables),
        cmocka_unit_test(rates_of_even_runs_are_poisson),    cmocka_unit_test(clusters_widen_the_interval),
        cmocka_unit_test(nothing_observed_excludes_nothing), cmocka_unit_test(shares_cover_the_truth),
        cmocka_unit_test(trials_leave_five_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
