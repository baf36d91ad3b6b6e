#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/clock.h"
#include "nemesis/schedule.h"

static const int64_t second = RIG_NS_PER_S;
static struct rig_nemesis_entry entries[3];
static struct rig_nemesis_plan plan;
static struct rig_planned_schedule planned;
static struct rig_err err;

static int prepare(void **state)
{
    (void)state;
    memset(entries, 0, sizeof entries);
    plan = (struct rig_nemesis_plan){.entries = entries};
    plan.options.quiet_least_ns = 2 * second;
    plan.options.quiet_most_ns = 5 * second;
    err = (struct rig_err){0};
    return 0;
}

static int release(void **state)
{
    (void)state;
    rig_planned_schedule_done(&planned);
    return 0;
}

static void begin(uint32_t entry_count, uint64_t seed)
{
    plan.entry_count = entry_count;
    assert_int_equal(rig_planned_schedule_init(&planned, &plan, seed, &err), RIG_OK);
}

static struct rig_scheduled_fault next(void)
{
    return planned.schedule.ops->next(&planned.schedule);
}

static int64_t take(uint32_t entry, int64_t now_ns)
{
    return planned.schedule.ops->take(&planned.schedule, entry, now_ns);
}

static void assert_next(int64_t at_ns, uint32_t entry)
{
    const struct rig_scheduled_fault fault = next();
    assert_int_equal(fault.at_ns, at_ns);
    assert_null(fault.target);
    if (at_ns != RIG_SCHEDULE_NEVER)
        assert_int_equal(fault.entry, entry);
}

static void times_come_in_order(void **state)
{
    (void)state;
    int64_t at[] = {second, 4 * second};
    entries[0].schedule.for_ns = 7;
    entries[0].at_ns = at;
    entries[0].at_count = 2;
    entries[1].schedule.after_ns = 2 * second;
    entries[2].schedule.every_ns = 3 * second;
    entries[2].schedule.count = 2;
    begin(3, 1);
    assert_next(second, 0);
    assert_int_equal(take(0, second), 7);
    assert_next(2 * second, 1);
    (void)take(1, 2 * second);
    assert_next(3 * second, 2);
    (void)take(2, 3 * second);
    assert_next(4 * second, 0);
    (void)take(0, 4 * second);
    assert_next(6 * second, 2);
    (void)take(2, 6 * second);
    assert_next(RIG_SCHEDULE_NEVER, 0);
}

/* A fault that was skipped while the entry could not happen runs once afterwards, and then the interval goes on. */
static void missed_moments_are_made_up_for_once(void **state)
{
    (void)state;
    entries[0].schedule.after_ns = second;
    entries[0].schedule.every_ns = 2 * second;
    begin(1, 1);
    assert_next(second, 0);
    (void)take(0, 6 * second);
    assert_next(7 * second, 0);
    (void)take(0, 7 * second);
    assert_next(9 * second, 0);
}

static void lengths_vary_to_both_sides(void **state)
{
    (void)state;
    entries[0].schedule.every_ns = second;
    entries[0].schedule.for_ns = second;
    entries[0].schedule.vary = 0.5;
    begin(1, 3);
    int64_t now_ns = 0, shortest_ns = INT64_MAX, longest_ns = 0;
    for (int i = 0; i < 500; i++) {
        const int64_t next_ns = next().at_ns;
        assert_true(next_ns - now_ns >= second / 2 && next_ns - now_ns <= second * 3 / 2);
        now_ns = next_ns;
        const int64_t length_ns = take(0, now_ns);
        shortest_ns = length_ns < shortest_ns ? length_ns : shortest_ns;
        longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
    }
    assert_true(shortest_ns >= second / 2 && shortest_ns < second * 11 / 20);
    assert_true(longest_ns <= second * 3 / 2 && longest_ns > second * 29 / 20);
}

/* Takes `count` random faults of a second each; writes the entries, and checks the quiet periods. */
static void take_random(uint64_t seed, int count, uint32_t *taken, int64_t *times)
{
    begin(2, seed);
    int64_t over_ns = 0;
    for (int i = 0; i < count; i++) {
        times[i] = next().at_ns;
        taken[i] = next().entry;
        assert_true(times[i] >= over_ns + 2 * second && times[i] <= over_ns + 5 * second);
        (void)take(taken[i], times[i]);
        assert_next(RIG_SCHEDULE_NEVER, 0);
        over_ns = times[i] + second;
        planned.schedule.ops->over(&planned.schedule, taken[i], over_ns);
    }
    rig_planned_schedule_done(&planned);
}

static void chance_follows_weights_and_seed(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    static uint32_t first[COUNT], second_time[COUNT], other[COUNT];
    static int64_t first_times[COUNT], second_times[COUNT], other_times[COUNT];
    entries[0].schedule.weight = 3;
    entries[1].schedule.weight = 1;
    take_random(7, COUNT, first, first_times);
    take_random(7, COUNT, second_time, second_times);
    take_random(8, COUNT, other, other_times);
    assert_memory_equal(first, second_time, sizeof first);
    assert_memory_equal(first_times, second_times, sizeof first_times);
    assert_memory_not_equal(first_times, other_times, sizeof first_times);
    int ones = 0;
    for (int i = 0; i < COUNT; i++)
        ones += first[i] == 1 ? 1 : 0;
    assert_true(ones > COUNT / 5 && ones < COUNT * 3 / 10);
}

/* With overlap the quiet period begins with the fault; an entry that has reached its count comes no more. */
static void overlap_and_count(void **state)
{
    (void)state;
    plan.options.overlap = true;
    entries[0].schedule.weight = 1;
    entries[0].schedule.count = 2;
    begin(1, 5);
    const int64_t one_ns = next().at_ns;
    (void)take(0, one_ns);
    const int64_t two_ns = next().at_ns;
    assert_true(two_ns >= one_ns + 2 * second && two_ns <= one_ns + 5 * second);
    (void)take(0, two_ns);
    assert_next(RIG_SCHEDULE_NEVER, 0);
    planned.schedule.ops->over(&planned.schedule, 0, two_ns + second);
    assert_next(RIG_SCHEDULE_NEVER, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_come_in_order, prepare, release),
        cmocka_unit_test_setup_teardown(missed_moments_are_made_up_for_once, prepare, release),
        cmocka_unit_test_setup_teardown(lengths_vary_to_both_sides, prepare, release),
        cmocka_unit_test_setup_teardown(chance_follows_weights_and_seed, prepare, release),
        cmocka_unit_test_setup_teardown(overlap_and_count, prepare, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
