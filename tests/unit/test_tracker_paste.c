/*
 * Pastes of bug trackers: the sessions of statements, and what is no statement.
 */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "run/scenario/tracker_paste.h"

static struct rig_sql_scenario *read(const char *text)
{
    struct rig_sql_scenario *paste = NULL;
    struct rig_err err = {0};
    if (rig_tracker_paste_parse("a/report.sql", text, strlen(text), &paste, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return paste;
}

static void expect_steps(const struct rig_sql_scenario *paste, const char *const *expected)
{
    uint32_t count = 0;
    for (; expected[2 * count] != NULL; count++) {
        assert_true(count < paste->step_count);
        const struct rig_sql_scenario_step *step = &paste->steps[count];
        assert_string_equal(paste->sessions[step->session], expected[2 * count]);
        assert_string_equal(step->texts.at[0].text, expected[2 * count + 1]);
        assert_int_equal(step->number, count + 1);
    }
    assert_int_equal(paste->step_count, count);
}

static void sessions_stand_before_statements(void **state)
{
    (void)state;
    struct rig_sql_scenario *paste = read("create table t (a int);\n"
                                          "insert into t values (1);\n"
                                          "-- T1\n"
                                          "begin; update t\n  set a = 2;\n"
                                          "/* T2 */ begin; select * from t;\n"
                                          "T1> commit;\n"
                                          "-- session 2: sees what?\n"
                                          "select * from t\n"
                                          "-- conn_a, autocommit\n"
                                          "delete from t;\n"
                                          "T2: commit\n"
                                          "-- final\n"
                                          "select count(*) from t;\n");
    const char *const steps[] = {
        "T1", "begin",  "T1",       "update t\n  set a = 2", "T2",     "begin",         "T2", "select * from t",
        "T1", "commit", "session2", "select * from t",       "conn_a", "delete from t", "T2", "commit",
        NULL};
    expect_steps(paste, steps);
    assert_string_equal(paste->name, "report");
    assert_int_equal(paste->setup_count, 2);
    assert_string_equal(paste->setup[1].at[0].text, "insert into t values (1)");
    assert_int_equal(paste->final_count, 1);
    rig_sql_scenario_free(paste);
}

static void sessions_stand_after_statements_of_their_line(void **state)
{
    (void)state;
    struct rig_sql_scenario *paste = read("begin; set x = 1; -- T1\n"
                                          "begin;           -- T2\n"
                                          "update t set a = 1; -- T2. BLOCKS\n"
                                          "commit; -- T1\n");
    const char *const steps[] = {"T1", "begin",  "T1", "set x = 1", "T2", "begin", "T2", "update t set a = 1",
                                 "T1", "commit", NULL};
    expect_steps(paste, steps);
    assert_int_equal(paste->setup_count, 0);
    rig_sql_scenario_free(paste);
}

static void texts_comments_and_output_are_no_statements(void **state)
{
    (void)state;
    struct rig_sql_scenario *paste = read("-- A\n"
                                          "insert into t values ('a;b', '-- T2', 'it''s', \"/* T2 */\");\n"
                                          "-- this is a remark\n"
                                          "-- A remark, and T2 in it\n"
                                          "do $$ begin perform 1; end $$;\n"
                                          "mysql> select /*+ hint */ 1; /* a remark; */\n"
                                          "+---+\n"
                                          "| 1 |\n"
                                          "+---+\n"
                                          "1 row in set (0.00 sec)\n"
                                          "Query OK, 1 row affected (0.01 sec)\n"
                                          "ERROR 1213 (40001): Deadlock found\n"
                                          "(2 rows)\n"
                                          "select 2");
    const char *const steps[] = {"A", "insert into t values ('a;b', '-- T2', 'it''s', \"/* T2 */\")",
                                 "A", "do $$ begin perform 1; end $$",
                                 "A", "select /*+ hint */ 1",
                                 "A", "select 2",
                                 NULL};
    expect_steps(paste, steps);
    rig_sql_scenario_free(paste);
}

static void bad_pastes_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"select 1;\n", "a.sql:1: no statement has a session: write `-- T1`, `/* T1 */` or `T1>` before the statements "
                        "of a session"},
        {"",
         "a.sql:1: no statement has a session: write `-- T1`, `/* T1 */` or `T1>` before the statements of a session"},
        {"-- T1\nselect 'a;\n", "a.sql:2: a text in quotes that does not end"},
        {"-- T1\n\nselect 1 /* and;\n", "a.sql:3: a comment that does not end"},
        {"-- T1\nselect $x$ and;\n", "a.sql:2: a text in dollars that does not end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_sql_scenario *paste = NULL;
        struct rig_err err = {0};
        assert_int_equal(rig_tracker_paste_parse("a.sql", cases[i].text, strlen(cases[i].text), &paste, &err),
                         RIG_E_PLAN);
        assert_string_equal(err.text, cases[i].fault);
        assert_null(paste);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_stand_before_statements),
        cmocka_unit_test(sessions_stand_after_statements_of_their_line),
        cmocka_unit_test(texts_comments_and_output_are_no_statements),
        cmocka_unit_test(bad_pastes_name_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
