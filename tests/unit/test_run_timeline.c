#include "tests/unit/cmocka_first.h"

#include "run/load/run_measures.h"

static const int64_t distance_ns = 200000000;

static void moments_keep_their_distance(void **state)
{
    (void)state;
    struct rig_run_timeline timeline = {.count = 0};
    assert_false(rig_run_timeline_is_due(&timeline, distance_ns - 1));
    assert_true(rig_run_timeline_is_due(&timeline, distance_ns));
    rig_run_timeline_add(&timeline, &(struct rig_run_moment){.at_ns = distance_ns});
    assert_false(rig_run_timeline_is_due(&timeline, 2 * distance_ns - 1));
    assert_true(rig_run_timeline_is_due(&timeline, 2 * distance_ns));
}

/* For a run of any length the sums are right, the worst latency is kept, and the whole length is covered evenly. */
static void a_long_run_is_thinned_out(void **state)
{
    (void)state;
    struct rig_run_timeline timeline = {.count = 0};
    const int64_t end_ns = 40 * RIG_TIMELINE_MOST * distance_ns;
    const int64_t worst_ns = 5000000;
    uint64_t added = 0;
    for (int64_t at_ns = 0; at_ns < end_ns; at_ns += distance_ns / 4) {
        if (!rig_run_timeline_is_due(&timeline, at_ns))
            continue;
        added++;
        const struct rig_run_moment moment = {
            .at_ns = at_ns, .ok = (uint64_t)(at_ns / distance_ns), .p99_ns = added == 100 ? worst_ns : 1000};
        rig_run_timeline_add(&timeline, &moment);
    }
    assert_true(timeline.count > RIG_TIMELINE_MOST / 2 && timeline.count <= RIG_TIMELINE_MOST);
    assert_true(timeline.at[timeline.count - 1].at_ns >= end_ns - 2 * timeline.distance_ns);
    int64_t found_ns = 0;
    for (uint32_t i = 0; i < timeline.count; i++) {
        assert_int_equal(timeline.at[i].ok, timeline.at[i].at_ns / distance_ns);
        if (i > 0)
            assert_true(timeline.at[i].at_ns - timeline.at[i - 1].at_ns <= 2 * timeline.distance_ns);
        found_ns = timeline.at[i].p99_ns > found_ns ? timeline.at[i].p99_ns : found_ns;
    }
    assert_int_equal(found_ns, worst_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_keep_their_distance),
        cmocka_unit_test(a_long_run_is_thinned_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
