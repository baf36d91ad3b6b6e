/* Sets of forgotten keys: ranges of neighbours, and the precision lost where there would be too many ranges. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "checker/judge/stream/key_set.h"

static bool has(const struct rig_key_set *set, int64_t number)
{
    return rig_key_set_has(set, number, NULL, 0);
}

static void add(struct rig_key_set *set, int64_t number)
{
    assert_true(rig_key_set_add(set, number, NULL, 0));
}

static void neighbours_take_one_range(void **state)
{
    (void)state;
    struct rig_key_set set = {0};
    for (int64_t i = 0; i < 100000; i += 2)
        add(&set, i);
    for (int64_t i = 99999; i > 0; i -= 2)
        add(&set, i);
    assert_true(rig_key_set_settle(&set));
    assert_int_equal(set.ranges.count, 1);
    assert_in_range(rig_key_set_bytes(&set), 1, 256);
    assert_true(has(&set, 0) && has(&set, 99999));
    assert_false(has(&set, -1) || has(&set, 100000));
    rig_key_set_done(&set);
}

static void the_ends_of_all_numbers_are_no_neighbours(void **state)
{
    (void)state;
    struct rig_key_set set = {0};
    const int64_t ends[] = {INT64_MAX, INT64_MIN, 0, -1};
    assert_true(rig_key_set_settle(&set));
    assert_false(has(&set, 0));
    for (unsigned i = 0; i < 4; i++)
        add(&set, ends[i]);
    assert_true(rig_key_set_settle(&set));
    for (unsigned i = 0; i < 4; i++)
        assert_true(has(&set, ends[i]));
    assert_false(has(&set, 1) || has(&set, -2) || has(&set, INT64_MAX - 1) || has(&set, INT64_MIN + 1));
    rig_key_set_done(&set);
}

static void too_many_ranges_lose_their_gaps(void **state)
{
    (void)state;
    struct rig_key_set set = {.most_bytes = 100 * sizeof(struct rig_key_range)};
    for (int64_t i = 1; i <= 1000; i++) {
        add(&set, i * i);
        assert_true(i % 10 != 0 || rig_key_set_settle(&set));
    }
    assert_true(set.ranges.count <= 100);
    for (int64_t i = 1; i <= 1000; i++)
        assert_true(has(&set, i * i));
    assert_true(has(&set, 3)); /* in a small gap; but not a key outside the ranges' ends */
    assert_false(has(&set, 0) || has(&set, 1000001));
    rig_key_set_done(&set);
}

static void texts_are_known_by_their_hash(void **state)
{
    (void)state;
    struct rig_key_set set = {0};
    assert_true(rig_key_set_add(&set, 0, "apples", strlen("apples")));
    assert_true(rig_key_set_settle(&set));
    assert_true(rig_key_set_has(&set, 0, "apples", strlen("apples")));
    assert_false(rig_key_set_has(&set, 0, "pears", strlen("pears")));
    rig_key_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_take_one_range),
        cmocka_unit_test(the_ends_of_all_numbers_are_no_neighbours),
        cmocka_unit_test(too_many_ranges_lose_their_gaps),
        cmocka_unit_test(texts_are_known_by_their_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
