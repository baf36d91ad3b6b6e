#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/sqlite_wire.h"

/* The expected outcome of each code; a row of the table without an entry here fails the test. */
static const struct {
    const char *code;
    bool before_lost; /* before COMMIT every code means fail */
    enum rig_outcome commit;
    bool commit_lost;
} expected[] = {
    {"connection-lost", true, RIG_OUTCOME_INFO, true},
    {"timeout", true, RIG_OUTCOME_INFO, true},
    {"interrupted", true, RIG_OUTCOME_INFO, true},
    {"protocol", true, RIG_OUTCOME_INFO, true},
    {"malformed-value", false, RIG_OUTCOME_INFO, true},
    {"element-limit", false, RIG_OUTCOME_INFO, true},
    {"mismatch", false, RIG_OUTCOME_INFO, true},
    {"insufficient-funds", false, RIG_OUTCOME_INFO, true},
    {"program-rollback", false, RIG_OUTCOME_INFO, true},
    {"rolled-back-on-purpose", false, RIG_OUTCOME_INFO, true},
    {"BUSY", false, RIG_OUTCOME_FAIL, false},
    {"BUSY_SNAPSHOT", false, RIG_OUTCOME_FAIL, false},
    {"BUSY_RECOVERY", false, RIG_OUTCOME_FAIL, false},
    {"LOCKED_SHAREDCACHE", false, RIG_OUTCOME_FAIL, false},
    {"CONSTRAINT_UNIQUE", false, RIG_OUTCOME_FAIL, false},
    {"IOERR_FSYNC", true, RIG_OUTCOME_INFO, true},
    {"IOERR_WRITE", true, RIG_OUTCOME_INFO, true},
    {"FULL", false, RIG_OUTCOME_INFO, true},
    {"CORRUPT", true, RIG_OUTCOME_INFO, true},
    {"NOTADB", true, RIG_OUTCOME_INFO, true},
    {"CANTOPEN", true, RIG_OUTCOME_INFO, true},
    {"READONLY_DBMOVED", true, RIG_OUTCOME_INFO, true},
    {"NOMEM", true, RIG_OUTCOME_INFO, true},
    {"INTERRUPT", false, RIG_OUTCOME_INFO, true},
    {"PROTOCOL", false, RIG_OUTCOME_INFO, true},
    {"unknown", false, RIG_OUTCOME_INFO, true},
};

enum { EXPECTED_COUNT = sizeof expected / sizeof expected[0] };

static void each_code_has_its_outcome(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        for (int phase = RIG_PHASE_CONNECT; phase <= RIG_PHASE_COMMIT; phase++) {
            const struct rig_sql_outcome *row =
                rig_sql_outcome_find(&rig_sqlite_outcomes, (enum rig_phase)phase, expected[i].code, "");
            const bool commit = phase == RIG_PHASE_COMMIT;
            if (row->outcome != (commit ? expected[i].commit : RIG_OUTCOME_FAIL) ||
                row->session_lost != (commit ? expected[i].commit_lost : expected[i].before_lost))
                fail_msg("%s in phase %d: %s", expected[i].code, phase, row->reason);
        }
    }
}

static void each_row_is_reached_and_has_a_reason(void **state)
{
    (void)state;
    for (size_t r = 0; r < rig_sqlite_outcomes.row_count; r++) {
        const struct rig_sql_outcome *row = &rig_sqlite_outcomes.rows[r];
        bool reached = false;
        for (size_t i = 0; i < EXPECTED_COUNT; i++)
            reached = reached || rig_sql_outcome_find(&rig_sqlite_outcomes, row->to, expected[i].code, "") == row;
        if (!reached)
            fail_msg("no code reaches the row of \"%s\"", row->code);
        assert_true(strlen(row->reason) > 10);
    }
}

static void codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(rig_sqlite_code_name(5), "BUSY");
    assert_string_equal(rig_sqlite_code_name(517), "BUSY_SNAPSHOT");
    assert_string_equal(rig_sqlite_code_name(262), "LOCKED_SHAREDCACHE");
    assert_string_equal(rig_sqlite_code_name(10 | 99 << 8), "IOERR"); /* one that this library does not know */
    assert_string_equal(rig_sqlite_code_name(RIG_SQLITE_MISMATCHED), "mismatch");
    assert_string_equal(rig_sqlite_code_name(RIG_SQLITE_GIVEN_UP), "timeout");
    assert_string_equal(rig_sqlite_code_name(-77), "unknown");
}

static void conflicts_are_told_from_others(void **state)
{
    (void)state;
    assert_int_equal(rig_sql_error_class(&rig_sqlite_outcomes, "BUSY_SNAPSHOT"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_sqlite_outcomes, "LOCKED_SHAREDCACHE"), RIG_ERROR_CONFLICT);
    assert_int_equal(rig_sql_error_class(&rig_sqlite_outcomes, "FULL"), RIG_ERROR_RESOURCES);
    assert_int_equal(rig_sql_error_class(&rig_sqlite_outcomes, "CORRUPT"), RIG_ERROR_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_its_outcome),
        cmocka_unit_test(each_row_is_reached_and_has_a_reason),
        cmocka_unit_test(codes_have_names),
        cmocka_unit_test(conflicts_are_told_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
