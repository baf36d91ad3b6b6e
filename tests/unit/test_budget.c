/* What a check in windows does as memory gets short. */
#include "tests/unit/cmocka_first.h"

#include "checker/budget.h"

enum { MIB = 1 << 20 };

static void without_a_limit_there_is_room_for_all(void **state)
{
    (void)state;
    struct rig_budget budget;
    rig_budget_init(&budget, 0, 0, 1000);
    assert_false(rig_budget_is_spent(&budget, SIZE_MAX / 8, SIZE_MAX / 8));
    assert_true(rig_budget_left(&budget, SIZE_MAX / 8, 0) == SIZE_MAX);
    assert_false(rig_budget_gets_bolder(&budget, SIZE_MAX / 8));
    assert_int_equal(budget.bold_idle, 1000);
}

static void what_judging_takes_counts(void **state)
{
    (void)state;
    struct rig_budget budget;
    rig_budget_init(&budget, 126 * (size_t)MIB, 10 * (size_t)MIB, 1000); /* 100 MiB */
    rig_budget_measure(&budget, 10 * (size_t)MIB, 20 * (size_t)MIB);
    assert_false(rig_budget_is_spent(&budget, 40 * (size_t)MIB, 0));
    assert_true(rig_budget_is_spent(&budget, 40 * (size_t)MIB, 20 * (size_t)MIB));
    assert_true(rig_budget_is_spent(&budget, 60 * (size_t)MIB, 0));
    assert_int_equal(rig_budget_left(&budget, 40 * (size_t)MIB, 10 * (size_t)MIB), 50 * (size_t)MIB);
    assert_int_equal(rig_budget_left(&budget, 90 * (size_t)MIB, 10 * (size_t)MIB), 1);
    rig_budget_measure(&budget, 200 * (size_t)MIB, 20 * (size_t)MIB);
    assert_true(rig_budget_is_spent(&budget, 10 * (size_t)MIB, 0));
}

static void keys_are_left_sooner_as_much_is_kept(void **state)
{
    (void)state;
    struct rig_budget budget;
    rig_budget_init(&budget, 116 * (size_t)MIB, 0, 16384);
    rig_budget_measure(&budget, 0, 20 * (size_t)MIB);
    assert_false(rig_budget_gets_bolder(&budget, 20 * (size_t)MIB));
    assert_int_equal(budget.bold_idle, 16384);
    assert_true(rig_budget_gets_bolder(&budget, 50 * (size_t)MIB));
    assert_int_equal(budget.bold_idle, 4096);
    while (rig_budget_gets_bolder(&budget, 50 * (size_t)MIB))
        ;
    assert_int_equal(budget.bold_idle, 256);
    assert_int_equal(budget.idle, 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_there_is_room_for_all),
        cmocka_unit_test(what_judging_takes_counts),
        cmocka_unit_test(keys_are_left_sooner_as_much_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
