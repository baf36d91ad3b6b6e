/* The order of events of several ascending streams, against one that compares all of them. */
#include "tests/unit/cmocka_first.h"

#include "base/rng.h"
#include "history/merge/time_order.h"

enum { MOST_STREAMS = 14, EVENTS = 60, ROUNDS = 400 };

struct feed {
    int64_t times[EVENTS];
    size_t known, taken, count; /* of the times: known so far, given out, and all of them */
};

static struct rig_time_stream stream_of(const struct feed *feed)
{
    return (struct rig_time_stream){
        .times = feed->times + feed->taken,
        .count = feed->known - feed->taken,
        .then_ns = feed->known < feed->count ? feed->times[feed->known] : INT64_MAX,
    };
}

/* The stream of the first event of all: by time, then starts before ends, then by stream. */
static size_t first_of(const struct feed *feeds, size_t count)
{
    size_t first = SIZE_MAX;
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = kind; i < count; i += 2) {
            if (feeds[i].taken < feeds[i].count &&
                (first == SIZE_MAX || feeds[i].times[feeds[i].taken] < feeds[first].times[feeds[first].taken]))
                first = i;
        }
    }
    return first;
}

/* Makes further events of the stream known that time_order.h names. False: there are none. */
static bool continue_one(struct feed *feeds, const struct rig_time_stream *streams, size_t count, struct rig_rng *rng)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (streams[i].count == 0 && (first == SIZE_MAX || streams[i].then_ns < streams[first].then_ns))
            first = i;
    }
    assert_true(first != SIZE_MAX);
    struct feed *feed = &feeds[first];
    if (feed->known == feed->count)
        return false;
    feed->known += 1 + rig_rng_below(rng, feed->count - feed->known);
    return true;
}

static bool is_known_until(const struct rig_time_stream *streams, size_t count, int64_t until_ns)
{
    for (size_t i = 0; i < count; i++) {
        if ((streams[i].count > 0 ? streams[i].times[0] : streams[i].then_ns) < until_ns)
            return false;
    }
    return true;
}

/* In stretches of `step_ns`; 0: in one. */
static void merge_all(struct rig_rng *rng, size_t count, int64_t spread_ns, size_t most_each, int64_t step_ns)
{
    struct feed feeds[MOST_STREAMS] = {{.count = 0}};
    struct rig_time_stream streams[MOST_STREAMS];
    struct rig_time_order order;
    size_t left = 0;
    int64_t until_ns = step_ns == 0 ? INT64_MAX : -spread_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t at_ns = -spread_ns;
        feeds[i].count = rig_rng_below(rng, EVENTS + 1);
        for (size_t event = 0; event < feeds[i].count; event++)
            feeds[i].times[event] = at_ns += (int64_t)rig_rng_below(rng, (uint64_t)spread_ns);
        left += feeds[i].count;
    }
    assert_true(rig_time_order_init(&order, count));
    for (;;) {
        for (size_t i = 0; i < count; i++)
            streams[i] = stream_of(&feeds[i]);
        if (until_ns != INT64_MAX && is_known_until(streams, count, until_ns)) {
            until_ns = left == 0 ? INT64_MAX : until_ns + step_ns;
            continue;
        }
        assert_true(rig_time_order_next(&order, streams, until_ns, most_each));
        for (size_t i = 0; i < order.events.count; i++) {
            const size_t stream = rig_time_order_stream_of(&order, order.events.at[i]);
            assert_int_equal(stream, first_of(feeds, count));
            assert_true(feeds[stream].taken < feeds[stream].known);
            assert_true(feeds[stream].times[feeds[stream].taken] < until_ns);
            feeds[stream].taken++;
            streams[stream].taken--;
            left--;
        }
        for (size_t i = 0; i < count; i++)
            assert_int_equal(streams[i].taken, 0);
        if (order.events.count == 0 && !continue_one(feeds, streams, count, rng))
            break;
    }
    assert_int_equal(left, 0);
    rig_time_order_done(&order);
}

static void test_random_streams(void **state)
{
    (void)state;
    /* Times of which most are equal; usual ones; and ones that do not fit in one batch. */
    static const int64_t spreads_ns[] = {1, 2, 1000, INT64_C(1) << 54};
    struct rig_rng rng;
    rig_rng_init(&rng, 1, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t count = 2 * (1 + rig_rng_below(&rng, MOST_STREAMS / 2));
        merge_all(&rng, count, spreads_ns[round % 4], 1 + rig_rng_below(&rng, EVENTS),
                  round % 8 < 3 ? 1 + spreads_ns[round % 4] * (int64_t)rig_rng_below(&rng, 20) : 0);
    }
}

static void test_starts_precede_ends(void **state)
{
    (void)state;
    const int64_t times[] = {5, 5};
    struct rig_time_stream streams[] = {
        {.times = times, .count = 1, .then_ns = INT64_MAX},
        {.times = times, .count = 2, .then_ns = INT64_MAX},
        {.times = times, .count = 1, .then_ns = INT64_MAX},
        {.then_ns = 5},
    };
    struct rig_time_order order;
    assert_true(rig_time_order_init(&order, 4));
    assert_true(rig_time_order_next(&order, streams, INT64_MAX, 10));
    assert_int_equal(order.events.count, 0); /* an end of rank 1 may be at the same time, and is not known */
    streams[3].then_ns = 6;
    static const uint32_t expected[] = {0, 2, 1, 1};
    assert_true(rig_time_order_next(&order, streams, INT64_MAX, 10));
    assert_int_equal(order.events.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rig_time_order_stream_of(&order, order.events.at[i]), expected[i]);
    rig_time_order_done(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_streams),
        cmocka_unit_test(test_starts_precede_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
