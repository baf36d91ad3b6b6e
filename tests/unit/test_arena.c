#include "tests/unit/cmocka_first.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (size_t size = 1; size < 5000; size = size * 3 + 1) {
        unsigned char *memory = rig_arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
    }
    rig_arena_done(&arena);
}

static void limit_is_kept(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 1000);
    assert_non_null(rig_arena_alloc(&arena, 900));
    assert_null(rig_arena_alloc(&arena, 200));
    rig_arena_done(&arena);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    assert_null(rig_arena_array(&arena, SIZE_MAX / 2, 16));
    assert_null(rig_arena_alloc(&arena, SIZE_MAX - 3));
    rig_arena_done(&arena);
}

static void done_leaves_it_usable(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    assert_non_null(rig_arena_alloc(&arena, (size_t)1 << 20));
    rig_arena_done(&arena);
    assert_int_equal(arena.held_bytes, 0);
    assert_string_equal(rig_arena_text(&arena, "abcd", 3), "abc");
    rig_arena_done(&arena);
}

static void reset_keeps_the_memory_and_zeroes_it_again(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 1000; size < 4000000; size *= 2) {
            unsigned char *memory = rig_arena_alloc(&arena, size);
            assert_non_null(memory);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(memory[i], 0);
            memset(memory, 0xff, size);
            void *room = rig_arena_room(&arena, size, 1);
            assert_non_null(room);
            memset(room, 0xee, size);
        }
        size_t held_bytes = arena.held_bytes;
        rig_arena_reset(&arena);
        assert_int_equal(arena.used_bytes, 0);
        assert_int_equal(arena.held_bytes, held_bytes);
    }
    rig_arena_done(&arena);
}

/* Memory kept by a reset counts towards the limit, but makes no allocation fail. */
static void spare_blocks_give_way_to_larger_ones(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 1 << 20);
    for (unsigned i = 0; i < 8; i++)
        assert_non_null(rig_arena_alloc(&arena, 100000));
    rig_arena_reset(&arena);
    assert_non_null(rig_arena_alloc(&arena, 1 << 19));
    assert_non_null(rig_arena_alloc(&arena, 1 << 18));
    assert_true(arena.held_bytes <= 1 << 20);
    assert_null(rig_arena_alloc(&arena, 1 << 19));
    rig_arena_done(&arena);
}

/* The number of resident pages among those that lie wholly in it. */
static size_t resident_pages(const unsigned char *at, size_t size, size_t page_bytes)
{
    static unsigned char pages[4096];
    const unsigned char *first = at + (page_bytes - (uintptr_t)at % page_bytes) % page_bytes;
    const size_t count = (size_t)(at + size - first) / page_bytes;
    size_t resident = 0;
    assert_true(count <= sizeof pages);
    assert_int_equal(mincore((void *)(uintptr_t)first, count * page_bytes, pages), 0);
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1u;
    return resident;
}

static void only_abandoned_memory_is_given_back(void **state)
{
    (void)state;
    enum { SIZE = 5000000, ROOM = 8192 };
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (unsigned round = 0; round < 2; round++) {
        assert_non_null(rig_arena_room(&arena, 1, 6 << 20)); /* later allocations are in one block */
        unsigned char *before = rig_arena_room(&arena, ROOM, 1), *large = rig_arena_room(&arena, SIZE, 1);
        unsigned char *behind = rig_arena_room(&arena, ROOM, 1);
        assert_true(large == before + ROOM && behind >= large + SIZE && behind < large + SIZE + 16);
        memset(before, 1, ROOM);
        memset(large, 2, SIZE);
        memset(behind, 3, ROOM);
        assert_true(resident_pages(large, SIZE, page_bytes) + 1 >= SIZE / page_bytes);
        rig_arena_abandon(large, SIZE);
        assert_int_equal(resident_pages(large, SIZE, page_bytes), 0);
        rig_arena_abandon(before, ROOM); /* little is kept */
        for (size_t i = 0; i < ROOM; i++)
            assert_true(before[i] == 1 && behind[i] == 3);
        rig_arena_reset(&arena);
    }
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(limit_is_kept),
        cmocka_unit_test(spare_blocks_give_way_to_larger_ones),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(done_leaves_it_usable),
        cmocka_unit_test(reset_keeps_the_memory_and_zeroes_it_again),
        cmocka_unit_test(only_abandoned_memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
