#include "tests/unit/cmocka_first.h"

#include "base/rng.h"
#include "base/table.h"

static void absent_keys_read_as_none(void **state)
{
    (void)state;
    struct rig_table table;
    rig_table_init(&table);
    assert_int_equal(rig_table_get(&table, 0), RIG_TABLE_NONE);
    uint32_t *value = rig_table_put(&table, UINT64_MAX);
    assert_non_null(value);
    assert_int_equal(*value, RIG_TABLE_NONE);
    *value = 7;
    assert_int_equal(rig_table_get(&table, UINT64_MAX), 7);
    assert_int_equal(rig_table_get(&table, 0), RIG_TABLE_NONE);
    rig_table_done(&table);
    assert_int_equal(rig_table_get(&table, UINT64_MAX), RIG_TABLE_NONE);
}

static void put_finds_what_is_there(void **state)
{
    (void)state;
    struct rig_table table;
    rig_table_init(&table);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < 50; key++) {
            uint32_t *value = rig_table_put(&table, key);
            assert_int_equal(*value, round == 0 ? RIG_TABLE_NONE : (uint32_t)key + round - 1);
            *value = (uint32_t)key + round;
        }
    }
    assert_int_equal(table.used, 50);
    rig_table_done(&table);
}

/* A key that is put and left absent takes no room for good. */
static void absent_puts_do_not_fill_it(void **state)
{
    (void)state;
    struct rig_table table;
    rig_table_init(&table);
    for (uint64_t key = 0; key < 100000; key++)
        assert_non_null(rig_table_put(&table, key % 3));
    assert_int_equal(rig_table_get(&table, 1), RIG_TABLE_NONE);
    rig_table_done(&table);
}

/* Against a plain array: dense keys, keys that differ in high bits only, and random ones. */
static void agrees_with_an_array(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    const uint64_t seed = 4;
    print_message("seed %d\n", (int)seed);
    struct rig_rng rng;
    struct rig_table table;
    static uint64_t keys[COUNT];
    rig_rng_init(&rng, seed, 0);
    rig_table_init(&table);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 48 | i : rig_rng_next(&rng);
        *rig_table_put(&table, keys[i]) = i;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(rig_table_get(&table, keys[i]), i);
        assert_int_equal(rig_table_get(&table, ~keys[i]), RIG_TABLE_NONE);
    }
    assert_int_equal(table.used, COUNT);
    assert_true(table.used * 8 <= table.slot_count * 7);
    rig_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_keys_read_as_none),
        cmocka_unit_test(put_finds_what_is_there),
        cmocka_unit_test(absent_puts_do_not_fill_it),
        cmocka_unit_test(agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
