#include "tests/unit/cmocka_first.h"

#include <stdbool.h>

#include "base/rng.h"

/* The first outputs of xoshiro256** from the state 1, 2, 3, 4, computed with a second implementation. */
static void generator_is_xoshiro256(void **state)
{
    (void)state;
    const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240U, 1216172134540287360U};
    struct rig_rng rng = {.state = {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(rig_rng_next(&rng) == expected[i]);
}

/* A recorded seed must reproduce its run: these numbers never change. */
static void seeding_is_fixed(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, expected[3];
    } cases[] = {
        {0, 0, {0xef75d62a19ba94ed, 0x8e9490536375f270, 0xc05630b1c614195d}},
        {1, 0, {0x309714ec38d33b4c, 0x1bc11473d28024a0, 0xaa4f7bbef2a5a194}},
        {42, 7, {0x67aa0d7ad2be547f, 0x12db033556f98c38, 0x17b55f782ae88e5a}},
        {UINT64_MAX, UINT32_MAX, {0xda695a459566006f, 0x742a61401198265c, 0x476b5df2f50ca86e}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_rng rng;
        rig_rng_init(&rng, cases[i].seed, cases[i].stream);
        for (size_t j = 0; j < 3; j++)
            assert_true(rig_rng_next(&rng) == cases[i].expected[j]);
    }
}

static void streams_differ(void **state)
{
    (void)state;
    uint64_t first[256];
    for (uint64_t stream = 0; stream < 256; stream++) {
        struct rig_rng rng;
        rig_rng_init(&rng, 9, stream);
        first[stream] = rig_rng_next(&rng);
        for (uint64_t other = 0; other < stream; other++)
            assert_true(first[other] != first[stream]);
    }
}

/* Chi-squared over 10 classes, 9 degrees of freedom: 40 is passed by chance once in 100,000 seeds; the seed is fixed.
 */
static void bounded_numbers_are_uniform(void **state)
{
    (void)state;
    enum { CLASSES = 10, DRAWS = 100000 };
    struct rig_rng rng;
    rig_rng_init(&rng, 3, 0);
    double squares = 0;
    uint64_t counts[CLASSES] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint64_t number = rig_rng_below(&rng, CLASSES);
        assert_true(number < CLASSES);
        counts[number]++;
    }
    for (int i = 0; i < CLASSES; i++) {
        double off = (double)counts[i] - DRAWS / CLASSES;
        squares += off * off / (DRAWS / CLASSES);
    }
    assert_true(squares < 40);
}

static void bounds_at_the_edges(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 5, 0);
    bool high = false;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rig_rng_below(&rng, 1), 0);
        uint64_t number = rig_rng_below(&rng, UINT64_MAX);
        assert_true(number != UINT64_MAX);
        high = high || number > UINT64_MAX / 2;
    }
    assert_true(high);
}

static void unit_is_half_open_and_even(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 6, 0);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < 100000; i++) {
        double number = rig_rng_unit(&rng);
        assert_true(number >= 0 && number < 1);
        sum += number;
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    assert_true(sum > 49500 && sum < 50500); /* the mean's standard deviation is 0.0009 */
    assert_true(least < 0.001 && most > 0.999);
}

static void fresh_seeds_fit_a_plan_and_differ(void **state)
{
    (void)state;
    uint64_t one = rig_rng_fresh_seed(), other = rig_rng_fresh_seed();
    assert_true(one <= INT64_MAX && other <= INT64_MAX);
    assert_true(one != other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_is_xoshiro256),
        cmocka_unit_test(seeding_is_fixed),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(bounded_numbers_are_uniform),
        cmocka_unit_test(bounds_at_the_edges),
        cmocka_unit_test(unit_is_half_open_and_even),
        cmocka_unit_test(fresh_seeds_fit_a_plan_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
