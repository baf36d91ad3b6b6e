#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "history/model/segment.h"
#include "tests/history/model_segment.h"

static struct rig_rng rng;

static void a_segment_is_used_again(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = {.txn_count = 400, .channel_count = 5, .key_count = 9, .text_keys = true};
    model_make(&model, &options, &rng);
    struct rig_segment segment;
    rig_segment_init(&segment, 0);
    assert_int_equal(rig_segment_bytes(&segment), 0);
    size_t held = 0;
    for (int round = 0; round < 3; round++) {
        struct rig_rng same = {0};
        rig_rng_init(&same, 7, 0);
        model_segment(&model, 0, model.event_count, &same, &segment);
        assert_true(segment.txns.count > 0 && segment.keys.count > 0 && segment.open.count > 0);
        if (round == 0)
            held = rig_segment_bytes(&segment);
        assert_int_equal(rig_segment_bytes(&segment), held); /* all its memory is reused */
        segment.unordered = segment.keyword_keys = segment.value_keys = true;
        segment.skipped_count = 3;
        rig_segment_reset(&segment);
        assert_int_equal(segment.txns.count + segment.ops.count + segment.keys.count + segment.branches.count, 0);
        assert_int_equal(segment.errors.count + segment.open.count + segment.open_ops.count, 0);
        assert_int_equal(segment.skipped_count, 0);
        assert_false(segment.unordered || segment.keyword_keys || segment.value_keys);
    }
    rig_segment_done(&segment);
    model_done(&model);
}

static void its_lists_are_bounded(void **state)
{
    (void)state;
    struct rig_segment segment;
    rig_segment_init(&segment, 1000);
    struct rig_growing_list list = {0};
    int64_t element = 5;
    uint32_t count = 0;
    while (count < 1000 && rig_growing_list_add(&segment.pool, &list, &element, 1))
        count++;
    assert_in_range(count, 16, 999);
    assert_true(rig_segment_bytes(&segment) <= 1000);
    rig_segment_done(&segment);
}

int main(void)
{
    rig_rng_init(&rng, 20261121, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_is_used_again),
        cmocka_unit_test(its_lists_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
