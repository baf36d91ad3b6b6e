#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/mysql/my_outcome.h"

/* The expected outcome of each error; a row of the table without an entry here fails the test. */
static const struct {
    const char *code, *sqlstate;
    bool before_lost; /* before COMMIT was sent, each is a fail */
    enum rig_outcome commit;
    bool commit_lost;
} expected[] = {
    {"2006", "HY000", true, RIG_OUTCOME_INFO, true},
    {"2013", "HY000", true, RIG_OUTCOME_INFO, true},
    {"2014", "HY000", true, RIG_OUTCOME_INFO, true},
    {"2020", "HY000", true, RIG_OUTCOME_INFO, true},
    {"2027", "HY000", true, RIG_OUTCOME_INFO, true},
    {"timeout", "", true, RIG_OUTCOME_INFO, true},
    {"interrupted", "", true, RIG_OUTCOME_INFO, true},
    {"protocol", "", true, RIG_OUTCOME_INFO, true},
    {"1047", "08S01", true, RIG_OUTCOME_INFO, true},
    {"1053", "08S01", true, RIG_OUTCOME_INFO, true},
    {"1927", "70100", true, RIG_OUTCOME_INFO, true},
    {"1397", "XAE04", true, RIG_OUTCOME_INFO, true},
    {"1399", "XAE07", true, RIG_OUTCOME_INFO, true},
    {"1401", "XAE03", true, RIG_OUTCOME_INFO, true},
    {"1402", "XA100", false, RIG_OUTCOME_INFO, true},
    {"1440", "XAE08", true, RIG_OUTCOME_INFO, true},
    {"1613", "XA106", false, RIG_OUTCOME_INFO, true},
    {"1614", "XA102", false, RIG_OUTCOME_INFO, true},
    {"1159", "08S01", true, RIG_OUTCOME_INFO, true},
    {"1290", "HY000", true, RIG_OUTCOME_FAIL, true},
    {"1836", "HY000", true, RIG_OUTCOME_INFO, true},
    {"unreachable", "", false, RIG_OUTCOME_INFO, true},
    {"program-rollback", "", false, RIG_OUTCOME_INFO, true},
    {"rolled-back-on-purpose", "", false, RIG_OUTCOME_INFO, true},
    {"insufficient-funds", "", false, RIG_OUTCOME_INFO, true},
    {"rows-changed", "", false, RIG_OUTCOME_INFO, true},
    {"statement-limit", "", false, RIG_OUTCOME_INFO, true},
    {"1213", "40001", false, RIG_OUTCOME_FAIL, false},
    {"1213", "HY000", false, RIG_OUTCOME_INFO, true},
    {"1205", "HY000", false, RIG_OUTCOME_INFO, true},
    {"1020", "HY000", false, RIG_OUTCOME_INFO, true},
    {"1969", "70100", false, RIG_OUTCOME_INFO, true},
    {"1317", "70100", false, RIG_OUTCOME_INFO, true},
    {"mismatch", "", false, RIG_OUTCOME_FAIL, false},
    {"3101", "40000", false, RIG_OUTCOME_FAIL, false},
    {"8002", "HY000", false, RIG_OUTCOME_FAIL, false},
    {"8022", "HY000", false, RIG_OUTCOME_FAIL, false},
    {"8028", "HY000", false, RIG_OUTCOME_FAIL, false},
    {"8005", "HY000", false, RIG_OUTCOME_INFO, true},
    {"9007", "HY000", false, RIG_OUTCOME_INFO, true},
    {"1180", "HY000", false, RIG_OUTCOME_INFO, true},
    {"malformed-value", "", false, RIG_OUTCOME_INFO, true},
    {"element-limit", "", false, RIG_OUTCOME_INFO, true},
    {"1062", "23000", false, RIG_OUTCOME_INFO, true},
    {"1114", "HY000", false, RIG_OUTCOME_INFO, true},
    {"1", "", false, RIG_OUTCOME_INFO, true},
    {"10", "", false, RIG_OUTCOME_INFO, true},
    {"", "", false, RIG_OUTCOME_INFO, true},
};

enum { EXPECTED_COUNT = sizeof expected / sizeof expected[0] };

static void each_code_has_its_outcome(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        for (int phase = RIG_PHASE_CONNECT; phase <= RIG_PHASE_COMMIT; phase++) {
            const struct rig_sql_outcome *row =
                rig_sql_outcome_find(&rig_my_outcomes, (enum rig_phase)phase, expected[i].code, expected[i].sqlstate);
            bool commit = phase == RIG_PHASE_COMMIT;
            if (row->outcome != (commit ? expected[i].commit : RIG_OUTCOME_FAIL) ||
                row->session_lost != (commit ? expected[i].commit_lost : expected[i].before_lost))
                fail_msg("%s in phase %d: %s", expected[i].code, phase, row->reason);
        }
    }
}

static void each_row_is_reached(void **state)
{
    (void)state;
    for (size_t r = 0; r < rig_my_outcomes.row_count; r++) {
        const struct rig_sql_outcome *row = &rig_my_outcomes.rows[r];
        bool reached = false;
        for (size_t i = 0; i < EXPECTED_COUNT; i++)
            reached = reached ||
                      rig_sql_outcome_find(&rig_my_outcomes, row->to, expected[i].code, expected[i].sqlstate) == row;
        if (!reached)
            fail_msg("the row for `%s` up to phase %d is shadowed or untested", row->code, (int)row->to);
    }
}

static void rows_are_sound(void **state)
{
    (void)state;
    for (size_t r = 0; r < rig_my_outcomes.row_count; r++) {
        const struct rig_sql_outcome *row = &rig_my_outcomes.rows[r];
        assert_true(row->from <= row->to);
        assert_true(strlen(row->reason) > 20 && strlen(row->reason) < RIG_ERROR_TEXT_BYTES);
        /* Before COMMIT every outcome is certain; info gives up the session with the process. */
        if (row->to < RIG_PHASE_COMMIT)
            assert_int_equal(row->outcome, RIG_OUTCOME_FAIL);
        if (row->outcome == RIG_OUTCOME_INFO)
            assert_true(row->session_lost);
        assert_int_not_equal(row->outcome, RIG_OUTCOME_OK);
    }
}

static void errors_have_their_class(void **state)
{
    (void)state;
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "1213"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "1205"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "1020"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "9007"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "1040"), RIG_ERROR_RESOURCES);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "1114"), RIG_ERROR_RESOURCES);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, "2013"), RIG_ERROR_OTHER);
    assert_int_equal(rig_sql_error_class(&rig_my_outcomes, ""), RIG_ERROR_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_its_outcome),
        cmocka_unit_test(errors_have_their_class),
        cmocka_unit_test(each_row_is_reached),
        cmocka_unit_test(rows_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
