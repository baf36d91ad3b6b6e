#include "tests/unit/cmocka_first.h"

#include "drivers/postgres/pg_turn.h"

static void answers_fit_their_statements(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *tag;
        int rows;
        bool fits;
    } cases[] = {
        {"SELECT v FROM t", "SELECT 1", 1, true},
        {"SELECT v FROM t", "SELECT 0", 0, true},
        {"SELECT v FROM t", "SELECT 1", 0, false}, /* a row was lost */
        {"SELECT v FROM t", "SELECT 1", 2, false},
        {"SELECT v FROM t", "SELECT 0", -1, false},
        {"SELECT v FROM t", "SELECT", 0, false},
        {"SELECT v FROM t", "SELECT x", 0, false},
        {"SELECT v FROM t", "SELECT 1 ", 1, false},
        {"SELECT v FROM t", "INSERT 0 1", 1, false},
        {"SELECT v FROM t", "", 0, false},
        {"INSERT INTO t", "INSERT 0 1", -1, true},
        {"INSERT INTO t", "INSERT 0 1", 1, true}, /* RETURNING */
        {"INSERT INTO t", "INSERT 0 1", 0, false},
        {"INSERT INTO t", "INSERT 1", -1, false},
        {"INSERT INTO t", "COMMIT", -1, false},
        {"UPDATE t", "UPDATE 0", -1, true},
        {"UPDATE t", "UPDATE 2", 2, true},
        {"DELETE FROM t", "DELETE 1", -1, true},
        {"WITH a AS (SELECT 1)", "UPDATE 1", 1, true},
        {"WITH a AS (SELECT 1)", "BEGIN", -1, false},
        {"BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN", -1, true},
        {"BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN 1", -1, false},
        {"BEGIN ISOLATION LEVEL SERIALIZABLE", "COMMIT", -1, false},
        {"SAVEPOINT s", "SAVEPOINT", -1, true},
        {"ROLLBACK TO SAVEPOINT s", "ROLLBACK", -1, true},
        {"COMMIT", "COMMIT", -1, true},
        {"COMMIT", "ROLLBACK", -1, true},
        {"COMMIT", "COMMIT", 1, false},
        {"COMMIT", "SELECT 1", 1, false},
        {"COMMIT PREPARED 'x'", "COMMIT PREPARED", -1, true},
        {"PREPARE TRANSACTION 'x'", "PREPARE TRANSACTION", -1, true},
        {"PREPARE TRANSACTION 'x'", "COMMIT", -1, false},
        {"SHOW server_version", "SHOW", 1, true}, /* not one of the driver's statements */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (rig_pg_tag_fits(cases[i].sql, cases[i].tag, cases[i].rows) != cases[i].fits)
            fail_msg("`%s` answered with `%s` and %d rows", cases[i].sql, cases[i].tag, cases[i].rows);
    }
}

static void some_statements_end_the_transaction(void **state)
{
    (void)state;
    assert_true(rig_pg_ends_transaction("COMMIT"));
    assert_true(rig_pg_ends_transaction("COMMIT PREPARED 'x'"));
    assert_true(rig_pg_ends_transaction("PREPARE TRANSACTION 'x'"));
    assert_true(rig_pg_ends_transaction("ROLLBACK"));
    assert_false(rig_pg_ends_transaction("ROLLBACK TO SAVEPOINT s"));
    assert_false(rig_pg_ends_transaction("SELECT 1"));
    assert_false(rig_pg_ends_transaction(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_fit_their_statements),
        cmocka_unit_test(some_statements_end_the_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
