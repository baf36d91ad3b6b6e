/* Branches that grow, and the lists in two pieces that represent them. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "history/model/growing_list.h"
#include "history/model/read_list.h"

enum { MOST = 40 };

/* A list that has the first `shared` elements of the spine 1, 2, 3 ..., and the tail behind them. */
static struct rig_read_list make(uint32_t shared, const int64_t *tail, uint32_t tail_count)
{
    static const int64_t spine[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                    21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
    return (struct rig_read_list){.at = spine, .tail = tail, .shared = shared, .count = shared + tail_count};
}

static bool take(struct rig_list_pool *pool, struct rig_growing_branch *branch, const struct rig_read_list *list)
{
    if (!rig_growing_branch_agrees(branch, list, list->shared))
        return false;
    assert_true(rig_growing_branch_extend(pool, branch, list));
    return true;
}

static void lists_one_behind_the_other_are_one_branch(void **state)
{
    (void)state;
    struct rig_list_pool pool;
    struct rig_growing_branch branch = {.shared = 3};
    const int64_t first[] = {4, 5}, later[] = {6, 7, 8}, other[] = {9};
    rig_list_pool_init(&pool, 0);
    struct rig_read_list list = make(3, first, 2);
    assert_true(take(&pool, &branch, &list));
    list = make(5, later, 3); /* the spine has grown into the branch */
    assert_true(take(&pool, &branch, &list));
    assert_int_equal(rig_growing_branch_count(&branch), 8);
    list = make(5, later, 1);
    assert_true(take(&pool, &branch, &list)); /* shorter */
    list = make(7, other, 1);
    assert_false(take(&pool, &branch, &list)); /* another one */
    list = make(2, later, 1);
    assert_false(take(&pool, &branch, &list)); /* leaves the spine before the branch does */
    assert_int_equal(rig_growing_branch_count(&branch), 8);
    for (uint32_t i = 0; i < branch.tail.count; i++)
        assert_int_equal(branch.tail.at[i], i + 4);
    rig_list_pool_done(&pool);
}

static void a_branch_that_is_far_back_is_left_alone(void **state)
{
    (void)state;
    struct rig_list_pool pool;
    struct rig_growing_branch branch = {.shared = 3};
    const int64_t value = 100;
    rig_list_pool_init(&pool, 0);
    struct rig_read_list list = make(3 + RIG_BRANCH_REACH + 1, &value, 1);
    assert_false(take(&pool, &branch, &list));
    list = make(3 + RIG_BRANCH_REACH, &value, 1);
    assert_true(take(&pool, &branch, &list)); /* the spine's elements that the branch lacks are added */
    assert_int_equal(branch.tail.count, RIG_BRANCH_REACH + 1);
    assert_int_equal(branch.tail.at[0], 4);
    assert_int_equal(branch.tail.at[RIG_BRANCH_REACH], value);
    rig_list_pool_done(&pool);
}

/* Against the same elements in one piece. */
static void lists_in_two_pieces_read_like_one(void **state)
{
    (void)state;
    struct rig_arena arena;
    struct rig_rng rng;
    rig_arena_init(&arena, 0);
    rig_rng_init(&rng, 1, 1);
    for (int round = 0; round < 2000; round++) {
        int64_t tail[MOST], whole[MOST], copy[MOST], tail_count = 0;
        uint32_t shared = (uint32_t)rig_rng_below(&rng, MOST / 2);
        for (; tail_count < (int64_t)rig_rng_below(&rng, MOST / 2); tail_count++)
            tail[tail_count] = (int64_t)rig_rng_below(&rng, 3) + shared + tail_count;
        struct rig_read_list list = make(shared, tail, (uint32_t)tail_count);
        for (uint32_t i = 0; i < list.count; i++)
            whole[i] = i < shared ? i + 1 : tail[i - shared];
        uint32_t to = (uint32_t)rig_rng_below(&rng, list.count + 1), from = (uint32_t)rig_rng_below(&rng, to + 1);
        rig_read_copy(&list, from, to, copy);
        assert_true(from == to || memcmp(copy, whole + from, (to - from) * sizeof *copy) == 0);
        const int64_t *joined = rig_read_whole(&list, &arena);
        assert_non_null(joined);
        assert_true(list.count == 0 || memcmp(joined, whole, list.count * sizeof *whole) == 0);
        struct rig_read_list flat = rig_read_of((struct rig_list){whole, list.count}, list.count);
        assert_true(rig_read_same(&list, &flat, list.count) && rig_read_same(&flat, &list, list.count));
        if (list.count > 0) {
            whole[rig_rng_below(&rng, list.count)] += 1000;
            assert_false(rig_read_same(&list, &flat, list.count));
        }
        rig_arena_reset(&arena);
    }
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_one_behind_the_other_are_one_branch),
        cmocka_unit_test(a_branch_that_is_far_back_is_left_alone),
        cmocka_unit_test(lists_in_two_pieces_read_like_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
