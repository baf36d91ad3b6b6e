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

static void put_finds_an_existing_key(void **state)
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

/* A key that is put and left absent uses no slot permanently. */
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

/* Removing and putting back in turn, compared with a plain array: remaining keys must be found past every gap. */
static void removed_keys_are_absent(void **state)
{
    (void)state;
    enum { COUNT = 500, ROUNDS = 200000 };
    static uint32_t expected[COUNT];
    const uint64_t seed = 5;
    struct rig_rng rng;
    struct rig_table table;
    rig_rng_init(&rng, seed, 0);
    rig_table_init(&table);
    rig_table_remove(&table, 3);
    size_t used = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        expected[i] = RIG_TABLE_NONE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t key = rig_rng_below(&rng, COUNT);
        bool put = rig_rng_below(&rng, 2) == 0;
        used += put && expected[key] == RIG_TABLE_NONE ? 1 : 0;
        used -= !put && expected[key] != RIG_TABLE_NONE ? 1 : 0;
        expected[key] = put ? round : RIG_TABLE_NONE;
        if (put)
            *rig_table_put(&table, key) = round;
        else
            rig_table_remove(&table, key);
        uint64_t asked = rig_rng_below(&rng, COUNT);
        assert_int_equal(rig_table_get(&table, asked), expected[asked]);
        assert_int_equal(table.used, used);
    }
    for (uint64_t key = 0; key < COUNT; key++)
        assert_int_equal(rig_table_get(&table, key), expected[key]);
    assert_true(table.slot_count <= 1024);
    rig_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_keys_read_as_none),   cmocka_unit_test(put_finds_an_existing_key),
        cmocka_unit_test(absent_puts_do_not_fill_it), cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(removed_keys_are_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
