/* Scenarios as files: their statements, and what is wrong with them. */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "run/scenario/scenario.h"
#include "run/scenario/script.h"
#include "run/scenario/statement_text.h"

static const struct rig_row_table table = {
    .name = "test", .columns = {"id", "value"}, .column_count = 2, .key_count = 1};

static struct rig_row_statement parsed(const char *text, int64_t values[RIG_ROW_VALUES])
{
    struct rig_row_statement statement;
    char fault[RIG_STATEMENT_FAULT_BYTES];
    if (!rig_statement_text_parse(text, &table, &statement, values, fault))
        fail_msg("%s: %s", text, fault);
    return statement;
}

static void statements_are_read(void **state)
{
    (void)state;
    int64_t values[RIG_ROW_VALUES];
    struct rig_row_statement read =
        parsed("SELECT * FROM test WHERE id >= -3 AND value < 7 ORDER BY value FOR UPDATE", values);
    assert_int_equal(read.act, RIG_ROW_SELECT);
    assert_int_equal(read.condition_count, 2);
    assert_true(read.conditions[0].column == 0 && read.conditions[0].test == RIG_ROW_AT_LEAST && values[0] == -3);
    assert_true(read.conditions[1].column == 1 && read.conditions[1].test == RIG_ROW_BELOW && values[1] == 7);
    assert_true(read.ordered && read.order == 1 && read.for_update);
    read = parsed("insert into test values (3, 9223372036854775807)", values);
    assert_true(read.act == RIG_ROW_INSERT && values[0] == 3 && values[1] == INT64_MAX);
    read = parsed("update test set value = value - 10 where id = 1", values);
    assert_true(read.act == RIG_ROW_UPDATE && read.counted && read.assignment_count == 1);
    assert_true(read.assignments[0].source == RIG_ROW_SUM && values[0] == -10 && values[1] == 1);
    read = parsed("update test set value = 5", values);
    assert_true(read.assignments[0].source == RIG_ROW_VALUE && values[0] == 5 && read.condition_count == 0);
    read = parsed("delete from test where value = 20", values);
    assert_true(read.act == RIG_ROW_DELETE && read.condition_count == 1 && values[0] == 20);
}

static void other_statements_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"drop table test", "expected `select`, `insert`, `update`, `delete`, `commit` or `rollback`, found `drop`"},
        {"select id from test", "expected `*`, found `id`"},
        {"select * from tests", "expected the table's name, found `tests`"},
        {"select * from test where name = 1", "expected a column of the table, found `name`"},
        {"select * from test where id > 1", "expected `=`, `>=` or `<`, found `>`"},
        {"select * from test where id = one", "expected a whole number, found `one`"},
        {"select * from test where id = 9223372036854775808", "expected a whole number, found `9223372036854775808`"},
        {"select * from test;", "expected nothing further, found `;`"},
        {"insert into test values (1)", "expected `,`, found `)`"},
        {"update test set value =", "expected a whole number at the end"},
        {"update test set value = value * 2", "expected `+` or `-`, found `*`"},
        {"delete from test where", "expected a column of the table at the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_row_statement statement;
        int64_t values[RIG_ROW_VALUES];
        char fault[RIG_STATEMENT_FAULT_BYTES] = "";
        assert_false(rig_statement_text_parse(cases[i].text, &table, &statement, values, fault));
        assert_string_equal(fault, cases[i].fault);
    }
}

#define HEAD                                                                                                           \
    "name: a\ntitle: a\nanomaly: a\nlevel: serializable\n"                                                             \
    "table: {name: test, columns: [id, value], rows: [[2, 20], [1, 10]]}\n"
#define STEPS "steps:\n  - T1: select * from test\n  - T1: commit\n"

static void scenarios_are_read(void **state)
{
    (void)state;
    static const char text[] = HEAD STEPS "shows:\n  - {committed: [T1], answers: {1: [[2, 20], [1, 10]]}}\n";
    struct rig_scenario *scenario = NULL;
    struct rig_err err = {0};
    if (rig_scenario_parse("a.yaml", text, strlen(text), &scenario, &err) != RIG_OK)
        fail_msg("%s", err.text);
    assert_true(scenario->session_count == 1 && scenario->step_count == 2 && scenario->statement_count == 1);
    assert_true(scenario->steps[1].act == RIG_SCENARIO_COMMIT && scenario->signs[0].committed == 1);
    /* rows are in order, wherever they come from */
    assert_true(scenario->rows.count == 2 && scenario->rows.cells[0] == 1 && scenario->rows.cells[3] == 20);
    assert_memory_equal(scenario->rows.cells, scenario->signs[0].answers[0].rows.cells, 4 * sizeof(int64_t));
    struct rig_scenario *both[] = {scenario, scenario};
    struct rig_scenario_schema joined;
    assert_int_equal(rig_scenario_schema_init(&joined, both, 2, &err), RIG_OK);
    assert_true(joined.schema.table_count == 2 && joined.first_statement[1] == 1);
    assert_string_equal(joined.schema.tables[1].name, "test_2");
    assert_int_equal(joined.schema.statements[1].table, 1);
    rig_scenario_schema_done(&joined);
    rig_scenario_free(scenario);
}

#define TABLE(more)                                                                                                    \
    "name: a\ntitle: a\nanomaly: a\nlevel: serializable\n"                                                             \
    "table: {name: test, columns: [id, u, r], rows: []" more "}\n"

/* Text that a script has for a table with constraints, and the schema of drivers. */
static void constraints_are_read(void **state)
{
    (void)state;
    static const char text[] = TABLE(", unique: u, refers: r") STEPS "shows:\n  - {committed: [T1]}\n";
    static const char created[] = "PRIMARY KEY (id), UNIQUE (u), FOREIGN KEY (r) REFERENCES test (u)); ";
    struct rig_scenario *scenario = NULL;
    struct rig_err err = {0};
    struct rig_buf script;
    if (rig_scenario_parse("a.yaml", text, strlen(text), &scenario, &err) != RIG_OK)
        fail_msg("%s", err.text);
    assert_true(scenario->table.unique == 1 && scenario->table.refers == 2);
    rig_buf_init(&script, 0);
    rig_scenario_write_script(scenario, RIG_SCRIPT_PSQL, "SERIALIZABLE", &script);
    assert_non_null(strstr(rig_buf_text(&script), created));
    rig_buf_done(&script);
    rig_scenario_free(scenario);
}

static void bad_scenarios_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"name: a\n", "a.yaml:1:1: the key `title` is missing"},
        {"nam: a\n", "a.yaml:1:1: unknown key `nam`; did you mean `name`?"},
        {TABLE(", unique: id"), "a.yaml:5:60: `unique`: expected a column after the first one"},
        {TABLE(", unique: u, refers: u"),
         "a.yaml:5:8: `refers`: refers to the column that `unique` names, another one"},
        {TABLE(", refers: r"), "a.yaml:5:8: `refers`: refers to the column that `unique` names, another one"},
        {HEAD "steps: []\n", "a.yaml:6:8: expected 1 to 128 steps"},
        {HEAD "steps:\n  - commit\n", "a.yaml:7:5: expected a session and its statement, as `T1: commit`"},
        {HEAD "steps:\n  - T1: ''\n",
         "a.yaml:7:9: expected `select`, `insert`, `update`, `delete`, `commit` or `rollback` at the end"},
        {HEAD "steps:\n  - T1: commit\n  - T1: select 1\n", "a.yaml:7:3: T1 neither commits nor rolls back"},
        {HEAD "steps:\n  - until: T1\n", "a.yaml:7:12: expected a session that has sent something before"},
        {HEAD "steps:\n  - T1@a: select 1\n  - T1@b: commit\n",
         "a.yaml:8:5: the session began on another node: give a second session"},
        {HEAD "steps:\n  - T1: commit\n  - T1: commit\n",
         "a.yaml:8:5: the transaction of T1 has ended; give a session of another name"},
        {HEAD "steps:\n  - T1: select * from test\n", "a.yaml:7:3: T1 neither commits nor rolls back"},
        {HEAD "steps:\n  - T1: release\n", "a.yaml:7:9: this session holds no commit: `commit held` comes first"},
        {HEAD "steps:\n  - T1: commit held\n  - T2: release\n",
         "a.yaml:8:9: this session holds no commit: `commit held` comes first"},
        {HEAD "steps:\n  - T1: commit held\n  - T2: commit held\n",
         "a.yaml:8:9: another commit is held: release it first"},
        {HEAD "steps:\n  - T1: commit held\n", "a.yaml:7:3: the commit of T1 is held and never released"},
        {HEAD "steps:\n  - T1: commit held\n  - T1: release\n  - T1: commit\n",
         "a.yaml:9:5: the transaction of T1 has ended; give a session of another name"},
        {HEAD STEPS "shows: []\n", "a.yaml:9:8: `shows`: expected at least one entry"},
        {HEAD STEPS "shows:\n  - {committed: []}\n",
         "a.yaml:10:5: expected `committed` or `answers`: an empty entry shows nothing"},
        {HEAD STEPS "shows:\n  - {committed: [T2]}\n", "a.yaml:10:18: expected a session of the steps"},
        {HEAD STEPS "shows:\n  - {committed: [T1], answers: {2: []}}\n", "a.yaml:10:33: step 2 gives no rows"},
        {HEAD STEPS "shows:\n  - {committed: [T1], answers: {3: []}}\n",
         "a.yaml:10:33: expected the number of a step, 1 to 2"},
        {HEAD STEPS "shows:\n  - {committed: [T1], answers: {1: [[1]]}}\n", "a.yaml:10:37: expected a row of 2 cells"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_scenario *scenario = NULL;
        struct rig_err err = {0};
        assert_int_equal(rig_scenario_parse("a.yaml", cases[i].text, strlen(cases[i].text), &scenario, &err),
                         RIG_E_PLAN);
        assert_string_equal(err.text, cases[i].fault);
        assert_null(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_read),          cmocka_unit_test(other_statements_are_refused),
        cmocka_unit_test(scenarios_are_read),           cmocka_unit_test(constraints_are_read),
        cmocka_unit_test(bad_scenarios_name_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
