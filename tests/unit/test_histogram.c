#include "tests/unit/cmocka_first.h"

#include <stdlib.h>

#include "base/histogram.h"
#include "base/rng.h"

static struct rig_histogram one, other;

static int clear(void **state)
{
    (void)state;
    rig_histogram_init(&one);
    rig_histogram_init(&other);
    return 0;
}

static void an_empty_one_answers_zero(void **state)
{
    (void)state;
    assert_int_equal(rig_histogram_count(&one), 0);
    assert_int_equal(rig_histogram_percentile(&one, 99), 0);
    assert_int_equal(rig_histogram_max(&one), 0);
    assert_true(rig_histogram_mean(&one) <= 0);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    for (int64_t value = 1; value <= 200; value++)
        rig_histogram_add(&one, value);
    for (int percent = 1; percent <= 100; percent++)
        assert_int_equal(rig_histogram_percentile(&one, percent), 2 * percent);
    assert_int_equal(rig_histogram_percentile(&one, 0), 1);
    assert_true(rig_histogram_mean(&one) > 100.49 && rig_histogram_mean(&one) < 100.51);
}

/* Every value from 1 ns to 1 h comes back within 1/256, at each boundary of buckets and between. */
static void single_values_keep_the_bound(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 7, 0);
    for (int64_t power = 1; power <= INT64_C(3600000000000); power *= 2) {
        for (int i = -2; i < 60; i++) {
            int64_t value = i < 3 ? power + i : power + (int64_t)rig_rng_below(&rng, (uint64_t)power);
            if (value < 0)
                continue;
            rig_histogram_init(&one);
            rig_histogram_add(&one, value);
            rig_histogram_add(&one, (INT64_C(1) << 42) - 1); /* so that the percentile is not simply the maximum */
            int64_t seen = rig_histogram_percentile(&one, 50);
            int64_t error = llabs(seen - value);
            if (error * 256 > value)
                fail_msg("%lld came back as %lld", (long long)value, (long long)seen);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void percentiles_match_sorted_values(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static int64_t values[COUNT];
    const uint64_t seed = 20260131;
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 1);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (int64_t)rig_rng_below(&rng, UINT64_C(1) << (8 + rig_rng_below(&rng, 33)));
        rig_histogram_add(i % 2 == 0 ? &one : &other, values[i]);
    }
    rig_histogram_merge(&one, &other);
    assert_int_equal(rig_histogram_count(&one), COUNT);
    qsort(values, COUNT, sizeof values[0], ascending);
    const double percents[] = {0.1, 1, 10, 50, 90, 99, 99.9, 99.99};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        size_t rank = (size_t)(percents[i] * COUNT / 100 + 0.999);
        int64_t expected = values[rank - 1];
        int64_t seen = rig_histogram_percentile(&one, percents[i]);
        if (llabs(seen - expected) * 256 > expected)
            fail_msg("seed %llu: p%g is %lld, expected %lld", (unsigned long long)seed, percents[i], (long long)seen,
                     (long long)expected);
    }
    assert_int_equal(rig_histogram_max(&one), values[COUNT - 1]);
    assert_int_equal(rig_histogram_percentile(&one, 100), values[COUNT - 1]);
}

static void values_outside_the_range_are_kept_at_its_ends(void **state)
{
    (void)state;
    rig_histogram_add(&one, -5);
    rig_histogram_add(&one, INT64_C(1) << 50);
    assert_int_equal(rig_histogram_count(&one), 2);
    assert_int_equal(rig_histogram_percentile(&one, 50), 0);
    assert_int_equal(rig_histogram_max(&one), INT64_C(1) << 50);
}

static void subtracting_leaves_later_additions(void **state)
{
    (void)state;
    for (int64_t value = 1; value <= 100; value++)
        rig_histogram_add(&one, value);
    rig_histogram_merge(&other, &one);
    for (int64_t value = 101; value <= 110; value++)
        rig_histogram_add(&one, value);
    rig_histogram_subtract(&one, &other);
    assert_int_equal(rig_histogram_count(&one), 10);
    assert_int_equal(rig_histogram_percentile(&one, 10), 101);
    assert_int_equal(rig_histogram_percentile(&one, 50), 105);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_empty_one_answers_zero, clear),
        cmocka_unit_test_setup(small_values_are_exact, clear),
        cmocka_unit_test_setup(single_values_keep_the_bound, clear),
        cmocka_unit_test_setup(percentiles_match_sorted_values, clear),
        cmocka_unit_test_setup(values_outside_the_range_are_kept_at_its_ends, clear),
        cmocka_unit_test_setup(subtracting_leaves_later_additions, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
