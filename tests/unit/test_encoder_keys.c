#include "tests/unit/cmocka_first.h"

#include "history/record/encoder_blocks.h"

static uint32_t use(struct rig_encoder_keys *keys, int64_t key, uint64_t event)
{
    uint32_t index = rig_encoder_keys_find(keys, key);
    if (index == RIG_TABLE_NONE)
        index = rig_encoder_keys_add(keys, key, event);
    keys->entries.at[index].used_at = event;
    keys->entries.at[index].use_count++;
    return index;
}

static void keys_are_found_by_name(void **state)
{
    (void)state;
    struct rig_encoder_keys keys;
    rig_encoder_keys_init(&keys);
    for (int64_t key = -3000; key < 3000; key++) /* more than the recent ones, and some with the same lowest bits */
        assert_int_equal(use(&keys, key, 1), key + 3000);
    for (int64_t key = 2999; key >= -3000; key--)
        assert_int_equal(rig_encoder_keys_find(&keys, key), key + 3000);
    assert_int_equal(rig_encoder_keys_find(&keys, 3000), RIG_TABLE_NONE);
    assert_false(keys.failed);
    rig_encoder_keys_done(&keys);
}

/* Three keys: one in use, one left long ago by its own measure, one that an open transaction holds. */
static void a_block_starts_with_the_keys_in_use(void **state)
{
    (void)state;
    struct rig_encoder_keys keys;
    struct rig_encoder_id_vec kept = {0};
    size_t bytes = 0;
    rig_encoder_keys_init(&keys);
    uint32_t left = 0, held = 0, busy = 0;
    for (uint64_t event = 0; event < 100; event++) {
        left = use(&keys, 7, event);
        held = use(&keys, 8, event);
    }
    keys.entries.at[held].open_count = 1;
    for (uint64_t event = 0; event <= 100000; event += 1000)
        busy = use(&keys, 9, event);
    int64_t elements[] = {1, 2, 3};
    const struct rig_record_read read = {.state = RIG_READ_SEEN, .count = 3, .elements = elements};
    rig_encoder_keys_follow(&keys, &keys.entries.at[left], &read, 0);
    rig_encoder_keys_follow(&keys, &keys.entries.at[busy], &read, 0);
    assert_true(rig_encoder_keys_choose(&keys, 100000, SIZE_MAX, &kept, &bytes));
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept.at[0], held);
    assert_int_equal(kept.at[1], busy);
    rig_encoder_keys_keep(&keys, &kept);
    assert_int_equal(keys.live_count, 2);
    assert_int_equal(keys.spine_elements, 3);
    assert_int_equal(keys.entries.at[held].id, 0);
    assert_int_equal(keys.entries.at[busy].id, 1);
    assert_int_equal(rig_encoder_keys_find(&keys, 7), RIG_TABLE_NONE);
    assert_int_equal(rig_encoder_keys_find(&keys, 9), busy);
    /* A dropped key comes back as new, in the free slot. */
    assert_int_equal(use(&keys, 7, 100001), left);
    assert_int_equal(keys.entries.at[left].id, 2);
    assert_int_equal(keys.entries.at[left].spine.count, 0);
    rig_encoder_id_vec_done(&kept);
    rig_encoder_keys_done(&keys);
}

static void where_all_is_too_much_the_latest_stay(void **state)
{
    (void)state;
    struct rig_encoder_keys keys;
    struct rig_encoder_id_vec kept = {0};
    size_t all = 0, bytes = 0;
    rig_encoder_keys_init(&keys);
    for (int64_t key = 0; key < 500; key++)
        (void)use(&keys, key, (uint64_t)key);
    assert_true(rig_encoder_keys_choose(&keys, 500, SIZE_MAX, NULL, &all));
    assert_true(rig_encoder_keys_choose(&keys, 500, all / 3, &kept, &bytes));
    assert_true(bytes <= all / 3 && kept.count > 0);
    for (size_t i = 0; i < kept.count; i++)
        assert_int_equal(kept.at[i], 500 - kept.count + i);
    rig_encoder_id_vec_done(&kept);
    rig_encoder_keys_done(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_by_name),
        cmocka_unit_test(a_block_starts_with_the_keys_in_use),
        cmocka_unit_test(where_all_is_too_much_the_latest_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
