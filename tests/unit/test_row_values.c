/* Columns, conditions and assignments of the workload sql as numbers. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "drivers/sql/random_sql.h"
#include "history/types/row_ops.h"
#include "history/types/row_clauses.h"

enum { NONE = RIG_ROW_NULL, TWO = 12, THREE = 13, FIVE = 15 };

static struct rig_row_testing test_of(enum rig_row_test_form form, uint32_t column, uint32_t constant, uint32_t further)
{
    return (struct rig_row_testing){
        .form = (uint8_t)form, .column = (uint8_t)column, .constant = (uint8_t)constant, .further = (uint8_t)further};
}

static bool holds(struct rig_row_testing test, bool negated, uint32_t contents)
{
    const struct rig_row_testings tests = {.count = 1, .negated = negated, .at = {test}};
    return rig_row_tests_hold(&tests, contents);
}

static void conditions_are_numbers(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 1, 0);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = rig_sql_random_tests(&rng);
        struct rig_row_where condition = rig_row_all();
        assert_true(rig_row_are_tests(bits) && bits >> 56 == 0);
        const enum rig_row_way way = (enum rig_row_way)(i % RIG_ROW_WAYS);
        assert_true(rig_row_condition_of(rig_row_tests_value(bits, RIG_ROW_LISTED, way), &condition));
        assert_int_equal(condition.column, RIG_ROW_BY_TESTS);
        assert_int_equal(condition.way, way);
        assert_int_equal(condition.form, RIG_ROW_LISTED);
        assert_true((uint64_t)condition.least == bits);
        assert_true(rig_row_tests_bits(&condition.tests) == bits);
    }
    const uint64_t odd[] = {4, 8 | 2, 16, 1 | UINT64_C(31) << 12, 1 | UINT64_C(15) << 6, 1 | UINT64_C(1) << 40};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_false(rig_row_are_tests(odd[i]));
    struct rig_row_where condition;
    assert_false(rig_row_condition_of(rig_row_tests_value(0, RIG_ROW_COUNTED, RIG_ROW_LOCKED), &condition));
    assert_true(rig_row_condition_of(rig_row_tests_value(0, RIG_ROW_COUNTED, RIG_ROW_SELECTED), &condition));
}

/* The three values of SQL, where two are not enough. */
static void unknown_is_neither(void **state)
{
    (void)state;
    const uint32_t empty = 0, two = rig_row_with_code(0, 0, TWO), five = rig_row_with_code(0, 0, FIVE);
    const struct rig_row_testing equal = test_of(RIG_ROW_TEST_EQUAL, 0, TWO, 0);
    assert_true(holds(equal, false, two));
    assert_false(holds(equal, false, empty) || holds(equal, true, empty));
    const struct rig_row_testing among = test_of(RIG_ROW_TEST_IN, 0, TWO, NONE);
    assert_true(holds(among, false, two));
    assert_false(holds(among, false, five) || holds(among, true, five));
    const struct rig_row_testing between = test_of(RIG_ROW_TEST_BETWEEN, 0, NONE, THREE);
    assert_false(holds(between, false, two) || holds(between, true, two));
    assert_true(holds(between, true, five)); /* unknown AND false is false */
    assert_true(holds(test_of(RIG_ROW_TEST_NULL, 0, 0, 0), false, empty));
    assert_true(holds(test_of(RIG_ROW_TEST_NULL, 0, 0, 0), true, two));
    const struct rig_row_testings either = {
        .count = 2, .either = true, .at = {equal, test_of(RIG_ROW_TEST_NULL, 1, 0, 0)}};
    assert_true(rig_row_tests_hold(&either, empty)); /* unknown OR true is true */
    const struct rig_row_testings none = {0};
    assert_true(rig_row_tests_hold(&none, empty));
}

static void statements_are_numbers(void **state)
{
    (void)state;
    const struct rig_row_assigning sum = {.column = 0, .form = RIG_ROW_SET_SUM, .source = 1, .constant = FIVE};
    const struct rig_row_assigning same = {.column = 0, .form = RIG_ROW_SET_CONSTANT, .constant = TWO};
    const uint64_t twice = rig_row_assignment_bits(&sum) | (uint64_t)rig_row_assignment_bits(&same)
                                                               << RIG_ROW_ASSIGNED_BITS;
    assert_false(rig_row_are_assignments(twice)); /* of one column */
    const int64_t insert = rig_row_sql_number(1, TWO << 5 | FIVE, RIG_ROWS_INSERT);
    const int64_t update = rig_row_sql_number(2600000, rig_row_assignment_bits(&sum), RIG_ROWS_UPDATE);
    assert_true(rig_row_is_number(insert) && rig_row_is_number(update));
    assert_true(rig_row_is_number(rig_row_sql_number(9, 0, RIG_ROWS_DELETE)));
    assert_false(rig_row_is_number(rig_row_sql_number(9, 31, RIG_ROWS_INSERT)));
    assert_false(rig_row_is_number(rig_row_sql_number(9, twice, RIG_ROWS_UPDATE)));
    assert_false(rig_row_is_number(rig_row_sql_number(9, 1, RIG_ROWS_DELETE)));
    const uint32_t before = rig_row_contents(insert, RIG_ROW_CONTENTS_UNKNOWN);
    assert_int_equal(rig_row_column_code(rig_row_contents(update, before), 0), rig_row_code_of(7));
    assert_int_equal(rig_row_column_code(rig_row_contents(update, before), 1), TWO);
    assert_true(rig_row_contents(update, RIG_ROW_CONTENTS_UNKNOWN) == RIG_ROW_CONTENTS_UNKNOWN);
    assert_true(rig_row_contents(rig_row_sql_number(9, 0, RIG_ROWS_DELETE), before) == RIG_ROW_CONTENTS_UNKNOWN);
    assert_true(rig_row_contents(rig_row_number(5, 2, RIG_ROWS_UPDATE), before) == RIG_ROW_CONTENTS_UNKNOWN);
}

/* A row keeps its CHECK where it is true or unknown. */
static void checks_follow_the_row(void **state)
{
    (void)state;
    const uint32_t five_two = rig_row_with_code(rig_row_with_code(0, 0, FIVE), 1, TWO);
    const int64_t ordered = rig_row_guarded_number(3, five_two, RIG_ROW_GUARDS_ORDER, RIG_ROWS_INSERT);
    const int64_t without = rig_row_guarded_number(3, five_two, RIG_ROW_UNGUARDED, RIG_ROWS_INSERT);
    assert_true(rig_row_is_number(ordered) && rig_row_is_number(without) && rig_row_is_of_sql(ordered));
    assert_false(rig_row_is_number(rig_row_guarded_number(3, five_two, 4, RIG_ROWS_INSERT)));
    assert_false(rig_row_is_number(rig_row_guarded_number(3, five_two, 1, RIG_ROWS_UPDATE)));
    assert_true(rig_row_inserts_null_guard(without) && !rig_row_inserts_null_guard(ordered));
    const uint32_t contents = rig_row_contents(ordered, RIG_ROW_CONTENTS_UNKNOWN);
    assert_int_equal(rig_row_guard_of(contents), RIG_ROW_GUARDS_ORDER);
    assert_int_equal(rig_row_column_code(contents, 0), FIVE);
    assert_false(rig_row_keeps_check(contents));
    assert_true(rig_row_keeps_check(rig_row_with_code(contents, 1, FIVE)));
    assert_true(rig_row_keeps_check(rig_row_with_code(contents, 0, NONE)));
    const struct rig_row_assigning a = {.column = 1, .form = RIG_ROW_SET_CONSTANT, .constant = FIVE};
    const int64_t moves = rig_row_sql_number(4, rig_row_assignment_bits(&a) | RIG_ROW_MOVES_KEY, RIG_ROWS_UPDATE);
    assert_true(rig_row_is_number(moves));
    assert_true(rig_row_keeps_check(rig_row_contents(moves, contents)));
    const uint32_t range = (uint32_t)RIG_ROW_GUARDS_RANGE << RIG_ROW_GUARD_BIT;
    assert_true(rig_row_keeps_check(range) && rig_row_keeps_check(range | rig_row_code_of(-5) << 10));
    assert_false(rig_row_keeps_check(range | rig_row_code_of(6) << 10));
    const uint32_t values = (uint32_t)RIG_ROW_GUARDS_VALUES << RIG_ROW_GUARD_BIT;
    assert_false(rig_row_keeps_check(values | FIVE << 5));
    assert_true(rig_row_keeps_check(values | FIVE << 5 | 1U << 15));
}

/* Both assignments see the old row, and a remainder has the sign of its dividend. */
static void assignments_see_the_old_row(void **state)
{
    (void)state;
    const struct rig_row_assigning to_b = {.column = 1, .form = RIG_ROW_SET_COLUMN, .source = 0};
    const struct rig_row_assigning to_a = {.column = 0, .form = RIG_ROW_SET_PRODUCT, .source = 1, .constant = FIVE};
    const uint64_t swap = rig_row_assignment_bits(&to_b) | (uint64_t)rig_row_assignment_bits(&to_a)
                                                               << RIG_ROW_ASSIGNED_BITS;
    uint32_t contents = rig_row_with_code(rig_row_with_code(0, 0, TWO), 1, rig_row_code_of(-3));
    contents = rig_row_assign(contents, swap);
    assert_int_equal(rig_row_column_code(contents, 1), TWO);
    assert_int_equal(rig_row_column_code(contents, 0), rig_row_code_of(-5)); /* -15 % 10 */
    const struct rig_row_assigning case_of = {.column = 2, .form = RIG_ROW_SET_CASE, .source = 0, .constant = NONE};
    assert_int_equal(rig_row_column_code(rig_row_assign(contents, rig_row_assignment_bits(&case_of)), 2), NONE);
}

static void conditions_are_sql(void **state)
{
    (void)state;
    const struct rig_row_testing sum = {
        .form = RIG_ROW_TEST_LESS, .column = 0, .constant = 7, .other = 1, .side = RIG_ROW_SIDE_SUM};
    struct rig_row_testing letter = test_of(RIG_ROW_TEST_BETWEEN, RIG_ROW_TEXT, 1, NONE);
    letter.negated = true;
    const struct rig_row_testings tests = {
        .count = 3, .either = true, .negated = true, .at = {sum, letter, test_of(RIG_ROW_TEST_NULL, 2, 0, 0)}};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_row_say_tests(RIG_ROW_PLAIN_WORDS, rig_row_tests_bits(&tests), &text);
    assert_string_equal(rig_buf_text(&text), "NOT (a < b + -3 OR NOT (t BETWEEN 'a' AND NULL)) AND c IS NULL");
    rig_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_numbers),      cmocka_unit_test(unknown_is_neither),
        cmocka_unit_test(statements_are_numbers),      cmocka_unit_test(checks_follow_the_row),
        cmocka_unit_test(assignments_see_the_old_row), cmocka_unit_test(conditions_are_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
