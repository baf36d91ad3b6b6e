#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/postgres/pg_outcome.h"

/* The expected outcome of each code; a row of the table without an entry here fails the test. */
static const struct {
    const char *code;
    enum rig_outcome before; /* COMMIT was sent */
    bool before_lost;
    enum rig_outcome commit;
    bool commit_lost;
} expected[] = {
    {"connection-lost", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"timeout", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"interrupted", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"protocol", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"malformed-value", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"element-limit", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"answer-limit", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"mismatch", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"insufficient-funds", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"rolled-back", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"commit-warning", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"08000", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"08006", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"08007", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"08P01", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"57P01", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"57P02", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"57P03", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"57P05", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"25P03", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_FAIL, true},
    {"25P04", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"25006", RIG_OUTCOME_FAIL, true, RIG_OUTCOME_INFO, true},
    {"unreachable", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"program-rollback", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    /* The code of a ROLLBACK that answered COMMIT is a part of this one; no COMMIT was sent. */
    {RIG_ROLLED_BACK_CODE, RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"insufficient-funds", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"40001", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"40P01", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"40003", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"57014", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"55P03", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"23505", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    {"23503", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_FAIL, false},
    /* Unknown, or not excluding a commit. */
    {"53100", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"53200", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"58030", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"XX000", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"P0001", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
    {"", RIG_OUTCOME_FAIL, false, RIG_OUTCOME_INFO, true},
};

enum { EXPECTED_COUNT = sizeof expected / sizeof expected[0] };

static void each_code_has_its_outcome(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        for (int phase = RIG_PHASE_CONNECT; phase <= RIG_PHASE_COMMIT; phase++) {
            const struct rig_sql_outcome *row =
                rig_sql_outcome_find(&rig_pg_outcomes, (enum rig_phase)phase, expected[i].code, "");
            bool commit = phase == RIG_PHASE_COMMIT;
            if (row->outcome != (commit ? expected[i].commit : expected[i].before) ||
                row->session_lost != (commit ? expected[i].commit_lost : expected[i].before_lost))
                fail_msg("%s in phase %d: %s", expected[i].code, phase, row->reason);
        }
    }
}

static void each_row_is_reached(void **state)
{
    (void)state;
    for (size_t r = 0; r < rig_pg_outcomes.row_count; r++) {
        const struct rig_sql_outcome *row = &rig_pg_outcomes.rows[r];
        bool reached = false;
        for (size_t i = 0; i < EXPECTED_COUNT; i++)
            reached = reached || rig_sql_outcome_find(&rig_pg_outcomes, row->to, expected[i].code, "") == row;
        if (!reached)
            fail_msg("the row for `%s` up to phase %d is shadowed or untested", row->code, (int)row->to);
    }
}

static void rows_are_sound(void **state)
{
    (void)state;
    for (size_t r = 0; r < rig_pg_outcomes.row_count; r++) {
        const struct rig_sql_outcome *row = &rig_pg_outcomes.rows[r];
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
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "40001"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "40P01"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "55P03"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "53200"),
                     RIG_ERROR_RESOURCES); /* the pool of conflicts is exhausted */
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "53300"), RIG_ERROR_RESOURCES);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "40003"), RIG_ERROR_OTHER);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, "57P01"), RIG_ERROR_OTHER);
    assert_int_equal(rig_sql_error_class(&rig_pg_outcomes, ""), RIG_ERROR_OTHER);
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
