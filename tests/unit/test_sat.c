/* Clauses over pairs: solutions, cores, and the memory that they are counted with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checker/decide/solve/sat.h"

/* Adds the clause of one or two literals; 0: none. */
static void add(struct rig_sat *sat, int first, int second)
{
    assert_true(rig_sat_add(sat, first));
    if (second != 0)
        assert_true(rig_sat_add(sat, second));
    assert_true(rig_sat_close(sat));
}

static void test_solution(void **state)
{
    struct rig_sat sat;
    (void)state;
    assert_true(rig_sat_init(&sat, &(struct rig_solve_budget){.deadline_ns = INT64_MAX}));
    const int first = rig_sat_literal(&sat, 1, 2), second = rig_sat_literal(&sat, 4, 3);
    assert_int_equal(rig_sat_literal(&sat, 2, 1), -first);
    add(&sat, -first, 0);
    add(&sat, first, second);
    assert_int_equal(rig_sat_solve(&sat), RIG_ANSWER_YES);
    assert_int_equal(rig_sat_chosen(&sat, 0).before, 2);
    assert_int_equal(rig_sat_chosen(&sat, 0).after, 1);
    assert_int_equal(rig_sat_chosen(&sat, 1).before, 4);
    rig_sat_done(&sat);
}

/* (a or b), (a or c), not a, (b or c), not b: the first, third and fifth have no solution. */
static void refute(struct rig_sat *sat)
{
    assert_true(rig_sat_init(sat, &(struct rig_solve_budget){.deadline_ns = INT64_MAX}));
    const int a = rig_sat_literal(sat, 1, 2), b = rig_sat_literal(sat, 2, 3), c = rig_sat_literal(sat, 3, 4);
    add(sat, a, b);
    add(sat, a, c);
    add(sat, -a, 0);
    add(sat, b, c);
    add(sat, -b, 0);
    assert_int_equal(rig_sat_solve(sat), RIG_ANSWER_NO);
}

static void test_core(void **state)
{
    static const uint32_t expected[] = {0, 2, 4};
    struct rig_sat_clauses core = {0};
    struct rig_sat sat;
    (void)state;
    refute(&sat);
    assert_true(rig_sat_core(&sat, &core));
    assert_int_equal(core.count, 3);
    assert_memory_equal(core.at, expected, sizeof expected);
    rig_sat_clauses_done(&core);
    rig_sat_done(&sat);
}

/* The switches of the core are counted: where only the first solver fits, all clauses are the core. */
static void test_memory_of_core(void **state)
{
    struct rig_sat sat;
    (void)state;
    refute(&sat);
    const size_t first = rig_sat_bytes(&sat);
    rig_sat_done(&sat);
    size_t second = 0;
    for (int round = 0; round < 2; round++) {
        struct rig_sat_clauses core = {0};
        refute(&sat);
        sat.budget.limit_bytes = round == 0 ? first : second;
        assert_true(rig_sat_core(&sat, &core));
        second = rig_sat_bytes(&sat);
        assert_true(second > first);
        assert_int_equal(core.count, round == 0 ? 5 : 3);
        rig_sat_clauses_done(&core);
        rig_sat_done(&sat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solution),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_memory_of_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
