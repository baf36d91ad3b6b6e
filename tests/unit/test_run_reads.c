#include "tests/unit/run_stage.h"

/* The recorded facts about one key. */
struct key_story {
    int64_t last_append_ns;    /* completion */
    int64_t last_read_ns;      /* invocation of the last transaction that only read and was acknowledged */
    uint32_t reads_afterwards; /* acknowledged, begun after the last append, by transactions that only read */
};

enum { MOST_KEYS = 4096 };

static struct key_story stories[MOST_KEYS];

static bool only_reads(const struct fake_event *event)
{
    for (uint32_t op = 0; op < event->op_count; op++) {
        if (event->ops[op].kind == RIG_OP_APPEND)
            return false;
    }
    return true;
}

static void note_appends(const struct fake_event *event)
{
    for (uint32_t op = 0; op < event->op_count; op++) {
        assert_in_range(event->ops[op].key, 0, MOST_KEYS - 1);
        struct key_story *story = &stories[event->ops[op].key];
        if (event->ops[op].kind == RIG_OP_APPEND && event->complete_ns > story->last_append_ns)
            story->last_append_ns = event->complete_ns;
    }
}

static void note_reads(const struct fake_event *event)
{
    if (event->outcome != RIG_OUTCOME_OK || !only_reads(event))
        return;
    for (uint32_t op = 0; op < event->op_count; op++) {
        struct key_story *story = &stories[event->ops[op].key];
        if (event->invoke_ns > story->last_read_ns)
            story->last_read_ns = event->invoke_ns;
        story->reads_afterwards += event->invoke_ns >= story->last_append_ns;
    }
}

static void for_each_event(void (*note)(const struct fake_event *))
{
    for (uint32_t c = 0; c < fake_record.channel_count; c++) {
        const struct rig_channel *channel = &fake_record.channels[c];
        for (size_t i = 0; i < channel->count; i++)
            note(&channel->events[i]);
    }
}

/* Returns the number of keys. */
static int64_t tell_stories(void)
{
    memset(stories, 0, sizeof stories);
    for_each_event(note_appends);
    for_each_event(note_reads);
    int64_t count = 0;
    for (int64_t key = 0; key < MOST_KEYS; key++)
        count = stories[key].last_append_ns > 0 ? key + 1 : count;
    return count;
}

static void assert_all_keys_read(void)
{
    int64_t count = tell_stories();
    assert_true(count > 20);
    for (int64_t key = 0; key < count; key++) {
        if (stories[key].last_append_ns > 0 && stories[key].reads_afterwards == 0)
            fail_msg("key %lld has no reader after its last append", (long long)key);
    }
}

static void every_key_is_read_at_the_end(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_ALL;
    fake.info_every = 5; /* sessions that break do not matter */
    assert_ok(run());
    assert_int_equal(recorded(), 2000 + result.final_reads);
    int64_t load_end_ns = 0;
    int64_t count = tell_stories();
    for (int64_t key = 0; key < count; key++)
        load_end_ns = stories[key].last_append_ns > load_end_ns ? stories[key].last_append_ns : load_end_ns;
    assert_all_keys_read();
    for (int64_t key = 0; key < count; key++)
        assert_true(stories[key].last_append_ns == 0 || stories[key].last_read_ns > load_end_ns);
}

static void final_reads_that_fail_are_given_up(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_ALL;
    plan.workload.reads = 0;
    fake.final_fails = true;
    assert_ok(run());
    assert_true(result.final_reads >= 8 * 12); /* the attempts of each client, and its earlier reads */
    assert_int_equal(result.counters.fail, result.final_reads);
    assert_true(result.unread > 0);
    assert_non_null(strstr(result.unread_text, "no-reads"));
}

/* -- closing reads ------------------------------------------------------------------------------------------------- */

/* Keys that rotated away are read once each, while the load goes on. */
static void keys_that_left_are_read_soon(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    plan.workload.reads = 0;
    plan.workload.transactions = 4000;
    fake.in_step = 20;
    assert_ok(run());
    assert_int_equal(recorded(), 4000 + result.final_reads);
    assert_int_equal(rig_histogram_count(&result.latency.intended), 4000);
    int64_t count = tell_stories(), load_end_ns = 0;
    for (int64_t key = 0; key < count; key++)
        load_end_ns = stories[key].last_append_ns > load_end_ns ? stories[key].last_append_ns : load_end_ns;
    assert_all_keys_read();
    int64_t at_the_end = 0;
    for (int64_t key = 0; key < count; key++) {
        assert_true(stories[key].reads_afterwards <= 1);
        at_the_end += stories[key].last_read_ns > load_end_ns;
    }
    assert_true(count > 200);
    assert_true(at_the_end < count / 4);
}

static void closing_reads_bear_breaking_sessions(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    fake.info_every = 5;
    fake.lose_every = 7;
    fake.fail_every = 3;
    assert_ok(run());
    assert_int_equal(recorded(), 2000 + result.final_reads);
    assert_all_keys_read();
}

/* The final phase tries again reads that failed during the load, and gives up in its turn. */
static void closing_reads_that_fail_are_given_up(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    plan.workload.reads = 0;
    fake.final_fails = true;
    fake.in_step = 20;
    assert_ok(run());
    assert_true(result.final_reads > 8 * 5);
    assert_int_equal(result.counters.fail, result.final_reads);
    assert_int_equal(result.counters.ok, 2000);
}

/* Any number of keys may leave while the database refuses to read them: the pauses between attempts grow. */
static void closing_reads_that_fail_back_off(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    plan.workload.reads = 0;
    plan.workload.transactions = 20000;
    plan.workload.appends_per_key = 8;
    fake.final_fails = true;
    assert_ok(run());
    assert_int_equal(result.counters.ok, 20000);
    assert_int_equal(result.effort.acknowledged, 20000);
    assert_true(result.final_reads < 8 * 40);
    assert_true(result.unread > 500); /* keys, four a read */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_key_is_read_at_the_end, prepare),
        cmocka_unit_test_setup(final_reads_that_fail_are_given_up, prepare),
        cmocka_unit_test_setup(keys_that_left_are_read_soon, prepare),
        cmocka_unit_test_setup(closing_reads_bear_breaking_sessions, prepare),
        cmocka_unit_test_setup(closing_reads_that_fail_are_given_up, prepare),
        cmocka_unit_test_setup(closing_reads_that_fail_back_off, prepare),
    };
    return run_stage_tests("run_reads", tests, sizeof tests / sizeof *tests);
}
