#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "run/load/run_measures.h"

static void kinds_are_distinguished_by_code_and_outcome(void **state)
{
    (void)state;
    struct rig_run_errors errors = {.count = 0};
    rig_run_errors_add(&errors, RIG_OUTCOME_FAIL, "40001", "the first text");
    rig_run_errors_add(&errors, RIG_OUTCOME_INFO, "40001", "another outcome");
    rig_run_errors_add(&errors, RIG_OUTCOME_INFO, "40001", "a later text");
    rig_run_errors_sort(&errors);
    assert_int_equal(errors.count, 2);
    assert_int_equal(errors.rows[0].outcome, RIG_OUTCOME_INFO);
    assert_int_equal(errors.rows[0].count, 2);
    assert_string_equal(errors.rows[0].text, "another outcome");
    assert_string_equal(errors.rows[1].text, "the first text");
    assert_int_equal(rig_run_errors_total(&errors), 3);
}

static void add_codes(struct rig_run_errors *errors, int first, int count)
{
    char code[RIG_ERROR_CODE_BYTES];
    for (int i = first; i < first + count; i++) {
        (void)snprintf(code, sizeof code, "E%d", i);
        rig_run_errors_add(errors, RIG_OUTCOME_FAIL, code, "text");
    }
}

/* No error is lost, for any number of kinds and of clients. */
static void the_last_row_takes_the_rest(void **state)
{
    (void)state;
    struct rig_run_errors all = {.count = 0}, one = {.count = 0}, other = {.count = 0};
    add_codes(&one, 0, 40);
    add_codes(&one, 39, 1);
    assert_int_equal(one.count, RIG_RUN_ERROR_ROWS);
    assert_string_equal(one.rows[RIG_RUN_ERROR_ROWS - 1].code, "other");
    assert_int_equal(one.rows[RIG_RUN_ERROR_ROWS - 1].count, 41 - (RIG_RUN_ERROR_ROWS - 1));
    add_codes(&other, 20, 50);
    rig_run_errors_merge(&all, &one);
    rig_run_errors_merge(&all, &other);
    assert_int_equal(all.count, RIG_RUN_ERROR_ROWS);
    assert_int_equal(rig_run_errors_total(&all), 91);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_distinguished_by_code_and_outcome),
        cmocka_unit_test(the_last_row_takes_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
