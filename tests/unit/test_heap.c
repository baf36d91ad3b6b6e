#include "tests/unit/cmocka_first.h"

#include "base/heap.h"
#include "base/rng.h"

static void comes_out_in_order(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    const uint64_t seed = 3;
    struct rig_rng rng;
    struct rig_heap heap = {0};
    rig_rng_init(&rng, seed, 0);
    assert_null(rig_heap_first(&heap));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(rig_heap_push(&heap, (int64_t)rig_rng_below(&rng, 100) - 50, i));
    struct rig_due last = {.when = INT64_MIN};
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct rig_due *first = rig_heap_first(&heap);
        assert_non_null(first);
        uint32_t id = first == NULL ? UINT32_MAX : first->id;
        struct rig_due due = rig_heap_pop(&heap);
        assert_int_equal(id, due.id);
        assert_true(last.when < due.when || (last.when == due.when && last.id < due.id));
        last = due;
    }
    assert_int_equal(heap.count, 0);
    rig_heap_done(&heap);
}

/* Whichever elements are taken out of the middle, the rest still comes in order. */
static void entries_can_be_taken_out(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    for (uint32_t gone = 0; gone < COUNT; gone++) {
        struct rig_heap heap = {0};
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(rig_heap_push(&heap, (i * 37) % 61, i));
        assert_true(rig_heap_remove(&heap, gone));
        assert_false(rig_heap_remove(&heap, gone));
        int64_t last = -1;
        for (uint32_t i = 1; i < COUNT; i++) {
            struct rig_due due = rig_heap_pop(&heap);
            assert_true(due.id != gone && due.when > last);
            last = due.when;
        }
        rig_heap_done(&heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_in_order),
        cmocka_unit_test(entries_can_be_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
