/* The last uses of keys. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/stream/stream_full.h"
#include "tests/model/cut_history.h"

static struct rig_census *census_of(const struct rig_history *history, uint32_t txns_per_segment)
{
    struct rig_census *census = rig_census_new();
    struct cut_history cut;
    const struct rig_segment *segment;
    cut_history_init(&cut, history, txns_per_segment);
    while ((segment = cut_history_next(&cut)) != NULL)
        assert_true(rig_census_note(census, segment));
    cut_history_done(&cut);
    return census;
}

/* The number of transactions that must be complete before the key of this name is finished; 1000 for a key that never
 * is. */
static unsigned uses_end(const struct rig_census *census, const struct rig_history *history, int64_t name)
{
    unsigned count = 0;
    uint32_t key = 0;
    while (history->keys[key] != name)
        key++;
    while (count < 1000 && rig_census_is_used_after(census, history, key, count))
        count++;
    return count;
}

static void the_last_use_counts(void **state)
{
    (void)state;
    struct rig_history *history =
        given("ok 0 0-1: ax1 ay1; ok 1 2-3: rx[1]; fail 0 4-5: ay2; ok 1 6-7: rz[]; info 2 8-9: ax2; ok 1 10-11: rz[]");
    struct rig_census *census = census_of(history, 1);
    assert_int_equal(uses_end(census, history, 0), 5);
    assert_int_equal(uses_end(census, history, 1), 3);
    assert_int_equal(uses_end(census, history, 2), 6);
    rig_census_free(census);
    census = census_of(history, 4);
    assert_int_equal(uses_end(census, history, 0), 6); /* known by segments */
    assert_int_equal(uses_end(census, history, 1), 4);
    rig_census_free(census);
    rig_history_free(history);
}

/* y is used while a transaction is open, and finished when that completes; z is used by one that never does. */
static void keys_of_open_transactions_are_never_finished(void **state)
{
    (void)state;
    struct rig_history *history =
        given("info 5 0-: az1; ok 1 2-3: rx[]; ok 0 4-9: ay1; ok 1 6-7: rx[]; ok 1 10-11: rz[]; ok 1 12-13: rx[]");
    struct rig_census *census = census_of(history, 1);
    assert_int_equal(uses_end(census, history, 0), 5);
    assert_int_equal(uses_end(census, history, 1), 3);
    assert_int_equal(uses_end(census, history, 2), 1000);
    rig_census_free(census);
    rig_history_free(history);
}

/* Numbers near each other, far from each other, below zero; texts. */
static void keys_may_be_anything(void **state)
{
    (void)state;
    int64_t numbers[] = {0, 7, 8, -1, -8, INT64_MAX, INT64_MIN, 1000000007};
    char *texts[] = {"a", "b", "", "key", "key2", "long key with blanks", "c", "d"};
    enum { COUNT = 8 };
    struct rig_census *of_numbers = rig_census_new(), *of_texts = rig_census_new();
    struct rig_history history = {.keys = numbers};
    int64_t ids[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        struct rig_segment segment;
        ids[i] = i;
        rig_segment_init(&segment, 0);
        assert_true(rig_txn_vec_add(&segment.txns, (struct rig_txn){0}));
        struct rig_segment_key key = {.key = numbers[i]};
        assert_true(rig_segment_keys_add(&segment.keys, key));
        assert_true(rig_census_note(of_numbers, &segment));
        segment.keys.at[0].text = texts[i];
        segment.keys.at[0].text_length = (uint32_t)strlen(texts[i]);
        assert_true(rig_census_note(of_texts, &segment));
        rig_segment_done(&segment);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(uses_end(of_numbers, &history, numbers[i]), i + 1);
    history.keys = ids;
    history.key_texts = texts;
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(uses_end(of_texts, &history, i), i + 1);
    rig_census_free(of_numbers);
    rig_census_free(of_texts);
}

static void an_unknown_key_may_be_used(void **state)
{
    (void)state;
    int64_t numbers[] = {3, 300};
    const struct rig_history history = {.keys = numbers};
    struct rig_history *other = given("ok 0 0-1: ax1");
    struct rig_census *census = census_of(other, 1); /* x is key 0 */
    assert_true(rig_census_is_used_after(census, &history, 0, 100));
    assert_true(rig_census_is_used_after(census, &history, 1, 100));
    rig_census_free(census);
    rig_history_free(other);
}

/* A few bytes a key, as documented in the header. */
static void it_is_small(void **state)
{
    (void)state;
    struct rig_census *census = rig_census_new();
    struct rig_segment segment;
    rig_segment_init(&segment, 0);
    for (int64_t key = 0; key < 1000000; key++) {
        struct rig_segment_key named = {.key = key};
        assert_true(rig_segment_keys_add(&segment.keys, named));
    }
    assert_true(rig_census_note(census, &segment));
    assert_true(rig_census_bytes(census) < 11 * 1000000);
    rig_segment_done(&segment);
    rig_census_free(census);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_use_counts),  cmocka_unit_test(keys_of_open_transactions_are_never_finished),
        cmocka_unit_test(keys_may_be_anything), cmocka_unit_test(an_unknown_key_may_be_used),
        cmocka_unit_test(it_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
