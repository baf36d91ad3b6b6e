#include "tests/unit/cmocka_first.h"

#include "base/vec.h"

struct pair {
    uint64_t key;
    char name[24];
};

RIG_VEC(uint32_t, u32s)
RIG_VEC(struct pair, pairs)

static void growth_keeps_the_items(void **state)
{
    (void)state;
    struct u32s numbers = {0};
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(u32s_add(&numbers, i * 3));
    assert_int_equal(numbers.count, 100000);
    assert_true(numbers.capacity < 2 * numbers.count);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(numbers.at[i], i * 3);
    u32s_done(&numbers);
    assert_int_equal(numbers.count, 0);
    assert_true(u32s_add(&numbers, 1));
    u32s_done(&numbers);
}

static void items_may_be_structures(void **state)
{
    (void)state;
    struct pairs all = {0};
    for (uint64_t i = 0; i < 100; i++)
        assert_true(pairs_add(&all, (struct pair){.key = i, .name = "name"}));
    assert_int_equal(all.at[99].key, 99);
    assert_string_equal(all.at[17].name, "name");
    pairs_done(&all);
}

static void reserve_gives_room_and_no_items(void **state)
{
    (void)state;
    struct u32s numbers = {0};
    assert_true(u32s_reserve(&numbers, 1000));
    assert_true(numbers.capacity >= 1000);
    assert_int_equal(numbers.count, 0);
    const uint32_t *at = numbers.at;
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(u32s_add(&numbers, i));
    assert_ptr_equal(numbers.at, at);
    assert_true(u32s_reserve(&numbers, 10));
    assert_ptr_equal(numbers.at, at);
    u32s_done(&numbers);
}

static void widening_goes_no_further(void **state)
{
    (void)state;
    struct u32s numbers = {0};
    assert_true(u32s_add(&numbers, 7));
    assert_true(u32s_widen(&numbers, 1001));
    assert_int_equal(numbers.capacity, 1001);
    assert_true(u32s_widen(&numbers, 1000));
    assert_int_equal(numbers.capacity, 1001);
    assert_int_equal(numbers.at[0], 7);
    assert_false(u32s_widen(&numbers, SIZE_MAX / 2));
    assert_int_equal(numbers.count, 1);
    u32s_done(&numbers);
}

static void impossible_sizes_are_refused_and_lose_nothing(void **state)
{
    (void)state;
    struct pairs all = {0};
    assert_true(pairs_add(&all, (struct pair){.key = 5}));
    assert_false(pairs_reserve(&all, SIZE_MAX / 2));
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at == NULL ? 0 : all.at[0].key, 5);
    pairs_done(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_keeps_the_items),
        cmocka_unit_test(items_may_be_structures),
        cmocka_unit_test(reserve_gives_room_and_no_items),
        cmocka_unit_test(widening_goes_no_further),
        cmocka_unit_test(impossible_sizes_are_refused_and_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
