#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "run/ranks/clock_offsets.h"

/* Two clocks: `ahead_ns` is rank 0's minus this one's, and drifts by `ppm` of this one's time. */
struct clocks {
    int64_t now_ns, ahead_ns;
    int64_t ppm;
    struct rig_rng rng;
    struct rig_clock_offsets offsets;
    uint32_t steps_told;
};

static int64_t rank_0_ns(const struct clocks *clocks)
{
    return clocks->now_ns + clocks->ahead_ns + clocks->now_ns / 1000000 * clocks->ppm;
}

/* A round trip whose two ways take different times, now and then very long ones. */
static void round_trip(struct clocks *clocks)
{
    const uint64_t longest = rig_rng_below(&clocks->rng, 10) == 0 ? 20000000 : 50000;
    const int64_t t0_ns = clocks->now_ns;
    clocks->now_ns += 1 + (int64_t)rig_rng_below(&clocks->rng, longest);
    const int64_t there_ns = rank_0_ns(clocks);
    clocks->now_ns += 1 + (int64_t)rig_rng_below(&clocks->rng, longest);
    clocks->steps_told += rig_clock_offsets_note(&clocks->offsets, t0_ns, there_ns, clocks->now_ns);
    clocks->now_ns += 50 * RIG_NS_PER_MS;
}

static void check_samples(const struct clocks *clocks)
{
    assert_true(clocks->offsets.count > 0);
    for (uint32_t i = 0; i < clocks->offsets.count; i++) {
        const struct rig_offset_sample *sample = &clocks->offsets.samples[i];
        const int64_t right_ns = clocks->ahead_ns + sample->local_ns / 1000000 * clocks->ppm;
        /* The true offset at the time of the sample, without the drift within its round trip. */
        const int64_t away_ns =
            sample->offset_ns > right_ns ? sample->offset_ns - right_ns : right_ns - sample->offset_ns;
        assert_true(away_ns <= (int64_t)sample->error_ns + 1000 * 500);
        assert_true(i == 0 || sample->local_ns > clocks->offsets.samples[i - 1].local_ns);
    }
}

static void the_offset_is_within_its_error(void **state)
{
    (void)state;
    static const int64_t aheads[] = {0, 5 * RIG_NS_PER_S, -5 * RIG_NS_PER_S, INT64_C(-1000000) * RIG_NS_PER_S};
    for (size_t i = 0; i < sizeof aheads / sizeof aheads[0]; i++) {
        for (int64_t ppm = -200; ppm <= 200; ppm += 100) {
            static struct clocks clocks;
            clocks = (struct clocks){.now_ns = RIG_NS_PER_S, .ahead_ns = aheads[i], .ppm = ppm};
            rig_rng_init(&clocks.rng, 7, i);
            for (int trip = 0; trip < 2000; trip++)
                round_trip(&clocks);
            check_samples(&clocks);
            assert_int_equal(clocks.offsets.steps, 0);
            assert_int_equal(clocks.steps_told, 0);
        }
    }
}

static void the_shortest_round_trip_of_an_interval_is_kept(void **state)
{
    (void)state;
    static struct rig_clock_offsets offsets;
    offsets = (struct rig_clock_offsets){.count = 0};
    (void)rig_clock_offsets_note(&offsets, 1000, 900000, 801000);
    (void)rig_clock_offsets_note(&offsets, 2000000, 2000050, 2000100);
    (void)rig_clock_offsets_note(&offsets, 3000000, 3400000, 3900000);
    (void)rig_clock_offsets_settle(&offsets);
    assert_int_equal(offsets.count, 1);
    assert_int_equal(offsets.samples[0].local_ns, 2000100);
    assert_int_equal(offsets.samples[0].offset_ns, 0);
    assert_int_equal(offsets.samples[0].error_ns, 51);
}

static void a_step_is_noticed(void **state)
{
    (void)state;
    static const int64_t steps[] = {5 * RIG_NS_PER_S, -5 * RIG_NS_PER_S, 100 * RIG_NS_PER_MS, -100 * RIG_NS_PER_MS};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        static struct clocks clocks;
        clocks = (struct clocks){.now_ns = RIG_NS_PER_S};
        rig_rng_init(&clocks.rng, 11, i);
        for (int trip = 0; trip < 200; trip++) {
            if (trip == 100)
                clocks.ahead_ns += steps[i];
            round_trip(&clocks);
        }
        (void)rig_clock_offsets_settle(&clocks.offsets);
        assert_int_equal(clocks.offsets.steps, 1);
        assert_int_equal(clocks.steps_told, 1);
        const int64_t away_ns = clocks.offsets.largest_step_ns - steps[i];
        assert_true(away_ns > -RIG_NS_PER_MS && away_ns < RIG_NS_PER_MS);
    }
}

static void samples_fit_a_run_of_any_length(void **state)
{
    (void)state;
    static struct clocks clocks;
    clocks = (struct clocks){.now_ns = RIG_NS_PER_S, .ahead_ns = 3, .ppm = 10};
    rig_rng_init(&clocks.rng, 13, 0);
    for (int trip = 0; trip < 100000; trip++)
        round_trip(&clocks);
    (void)rig_clock_offsets_settle(&clocks.offsets);
    assert_true(clocks.offsets.count <= RIG_CLOCK_OFFSETS_MOST && clocks.offsets.count > RIG_CLOCK_OFFSETS_MOST / 4);
    assert_true(clocks.offsets.samples[0].local_ns < 2 * RIG_NS_PER_S);
    check_samples(&clocks);
    assert_int_equal(clocks.offsets.steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_offset_is_within_its_error),
        cmocka_unit_test(the_shortest_round_trip_of_an_interval_is_kept),
        cmocka_unit_test(a_step_is_noticed),
        cmocka_unit_test(samples_fit_a_run_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
