#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/err.h"

static void first_error_wins(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_fail(&err, RIG_E_IO, "disk %d", 1), RIG_E_IO);
    assert_int_equal(rig_fail(&err, RIG_E_BUG, "cleaning up"), RIG_E_BUG);
    assert_int_equal(err.rc, RIG_E_IO);
    assert_string_equal(err.text, "disk 1");
}

static void details_are_optional(void **state)
{
    (void)state;
    assert_int_equal(rig_fail(NULL, RIG_E_LIMIT, "no listener"), RIG_E_LIMIT);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    struct rig_err err = {0};
    char text[2 * RIG_ERR_TEXT_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)rig_fail(&err, RIG_E_IO, "%s", text);
    assert_int_equal(strlen(err.text), RIG_ERR_TEXT_BYTES - 1);
}

/* Scripts rely on these numbers. */
static void exit_statuses_are_fixed(void **state)
{
    (void)state;
    static const struct {
        enum rig_rc rc;
        int status;
    } expected[] = {
        {RIG_OK, 0},      {RIG_E_USAGE, 64},  {RIG_E_PLAN, 64},  {RIG_E_INPUT, 64},      {RIG_E_IO, 3},
        {RIG_E_LIMIT, 3}, {RIG_E_CLUSTER, 3}, {RIG_E_DRIVER, 3}, {RIG_E_INTERRUPTED, 3}, {RIG_E_BUG, 70},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(rig_rc_exit_status(expected[i].rc), expected[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(details_are_optional),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(exit_statuses_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
