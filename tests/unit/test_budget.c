/* The decisions of a check in windows as memory gets short. */
#include "tests/unit/cmocka_first.h"

#include "checker/judge/stream/budget.h"

enum { MIB = 1 << 20 };

static void without_a_limit_there_is_room_for_all(void **state)
{
    (void)state;
    struct rig_budget budget;
    rig_budget_init(&budget, 0, 1000);
    assert_true(rig_budget_bytes(&budget) == SIZE_MAX);
    assert_false(rig_budget_is_spent(&budget, SIZE_MAX / 8, SIZE_MAX / 8, SIZE_MAX / 8));
    assert_true(rig_budget_left(&budget, SIZE_MAX / 8, 0) == SIZE_MAX);
    assert_false(rig_budget_is_crowded(&budget, 128 * (size_t)MIB)); /* without the data on keys */
    assert_true(rig_budget_is_crowded(&budget, 129 * (size_t)MIB));
    assert_false(rig_budget_lower_idle(&budget, SIZE_MAX / 8));
    assert_int_equal(budget.least_idle, 1000);
}

/* 100 MiB for windows: 5 MiB and a sixteenth are the program's, the rest the source's. */
static struct rig_budget hundred(void)
{
    struct rig_budget budget;
    rig_budget_init(&budget, 128 * (size_t)MIB, 16384);
    assert_int_equal(rig_budget_bytes(&budget), 115 * (size_t)MIB);
    rig_budget_take(&budget, 15 * (size_t)MIB);
    assert_int_equal(rig_budget_bytes(&budget), 100 * (size_t)MIB);
    return budget;
}

static void memory_for_judging_counts(void **state)
{
    (void)state;
    struct rig_budget budget = hundred();
    /* A window may prove not to be clean, and then needs more than the last one. */
    rig_budget_measure(&budget, 10 * (size_t)MIB, 20 * (size_t)MIB);
    assert_false(rig_budget_is_spent(&budget, 20 * (size_t)MIB, 20 * (size_t)MIB, 0));
    assert_true(rig_budget_is_spent(&budget, 20 * (size_t)MIB, 20 * (size_t)MIB, 20 * (size_t)MIB));
    assert_true(rig_budget_is_spent(&budget, 30 * (size_t)MIB, 30 * (size_t)MIB, 0));
    /* A quarter of the rest is for searching, beside the arena. */
    assert_in_range(rig_budget_left(&budget, 50 * (size_t)MIB, 10 * (size_t)MIB), 30 * MIB - 3, 30 * MIB + 1);
    assert_int_equal(rig_budget_left(&budget, 90 * (size_t)MIB, 10 * (size_t)MIB), 1);
    /* The unfilled part needs no memory for judging. */
    assert_false(rig_budget_is_spent(&budget, 30 * (size_t)MIB, 10 * (size_t)MIB, 0));
    rig_budget_measure(&budget, 200 * (size_t)MIB, 20 * (size_t)MIB);
    assert_true(rig_budget_is_spent(&budget, 10 * (size_t)MIB, 10 * (size_t)MIB, 0));
}

static void memory_of_the_source_is_subtracted(void **state)
{
    (void)state;
    struct rig_budget budget = hundred();
    assert_false(rig_budget_is_spent(&budget, 20 * (size_t)MIB, 20 * (size_t)MIB, 0));
    rig_budget_take(&budget, 65 * (size_t)MIB);
    assert_true(rig_budget_is_spent(&budget, 20 * (size_t)MIB, 20 * (size_t)MIB, 0));
    rig_budget_take(&budget, 500 * (size_t)MIB);
    assert_int_equal(rig_budget_bytes(&budget), 1);
}

static void too_many_keys_are_a_crowd(void **state)
{
    (void)state;
    struct rig_budget budget = hundred();
    assert_false(rig_budget_is_crowded(&budget, 39 * (size_t)MIB));
    assert_true(rig_budget_is_crowded(&budget, 41 * (size_t)MIB));
}

static void keys_are_left_sooner_as_much_is_kept(void **state)
{
    (void)state;
    struct rig_budget budget = hundred();
    assert_false(rig_budget_lower_idle(&budget, 11 * (size_t)MIB));
    assert_int_equal(budget.least_idle, 16384);
    assert_true(rig_budget_lower_idle(&budget, 12 * (size_t)MIB));
    assert_int_equal(budget.least_idle, 4096);
    while (rig_budget_lower_idle(&budget, 50 * (size_t)MIB))
        ;
    assert_int_equal(budget.least_idle, 2);
    assert_int_equal(budget.idle, 16384);
}

/* The named limit has space for the window, for the memory of its judging, and for the rest. */
static void the_limit_wanted_is_enough(void **state)
{
    (void)state;
    struct rig_budget budget = hundred();
    rig_budget_measure(&budget, 60 * (size_t)MIB, 100 * (size_t)MIB);
    size_t wanted = rig_budget_wanted(&budget, 100 * (size_t)MIB, 10 * (size_t)MIB, true);
    struct rig_budget enough;
    rig_budget_init(&enough, wanted, 16384);
    rig_budget_take(&enough, 15 * (size_t)MIB);
    assert_true(rig_budget_left(&enough, 100 * (size_t)MIB, 10 * (size_t)MIB) >= 60 * (size_t)MIB);
    assert_true(wanted < 280 * (size_t)MIB);
    assert_true(rig_budget_wanted(&budget, 100 * (size_t)MIB, 10 * (size_t)MIB, false) > wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_there_is_room_for_all), cmocka_unit_test(memory_for_judging_counts),
        cmocka_unit_test(memory_of_the_source_is_subtracted),    cmocka_unit_test(too_many_keys_are_a_crowd),
        cmocka_unit_test(keys_are_left_sooner_as_much_is_kept),  cmocka_unit_test(the_limit_wanted_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
