#include "tests/unit/cmocka_first.h"

#include "drivers/driver.h"
#include "run/load/run_measures.h"

static struct rig_run_latency clients[2];
static struct rig_latency_interval interval;

static void add(int client, bool read_only, bool held, int64_t latency_ns)
{
    const struct rig_transaction transaction = {.read_only = read_only, .hold = {.wanted = held}};
    rig_run_latency_add(&clients[client], &transaction, 1000, 900, 1000 + latency_ns);
}

static const struct rig_histogram *next_interval(void)
{
    rig_latency_interval_begin(&interval);
    for (int i = 0; i < 2; i++)
        rig_latency_interval_add(&interval, &clients[i]);
    return rig_latency_interval_end(&interval);
}

static void an_interval_begins_at_the_last_one(void **state)
{
    (void)state;
    add(0, true, false, 10);
    add(1, false, false, 20);
    assert_int_equal(rig_histogram_count(next_interval()), 2);
    add(0, false, true, 200);
    add(1, true, true, 100); /* a hold counts first */
    const struct rig_histogram *since = next_interval();
    assert_int_equal(rig_histogram_count(since), 2);
    assert_int_equal(rig_histogram_percentile(since, 0), 100);
    assert_int_equal(rig_histogram_percentile(since, 100), 200);
    assert_int_equal(rig_histogram_count(next_interval()), 0);
    assert_int_equal(rig_histogram_percentile(next_interval(), 99), 0);
}

static void kinds_add_up_to_the_intended(void **state)
{
    (void)state;
    struct rig_run_latency all = {0};
    for (int i = 0; i < 2; i++)
        rig_run_latency_merge(&all, &clients[i]);
    assert_int_equal(rig_histogram_count(&all.by_kind[RIG_LATENCY_READ_ONLY]), 1);
    assert_int_equal(rig_histogram_count(&all.by_kind[RIG_LATENCY_WRITING]), 1);
    assert_int_equal(rig_histogram_count(&all.by_kind[RIG_LATENCY_HELD_OPEN]), 2);
    assert_int_equal(rig_run_latency_count(&all), 4);
    assert_int_equal(rig_histogram_count(&all.intended), 4);
    assert_int_equal(rig_histogram_percentile(&all.intended, 0), 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_begins_at_the_last_one),
        cmocka_unit_test(kinds_add_up_to_the_intended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
