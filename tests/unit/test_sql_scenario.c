/*
 * Interleavings: the file, the engine's part of it, and answers that are and are not as it says.
 */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "run/scenario/told.h"

static struct rig_sql_scenario *read(const char *text)
{
    struct rig_sql_scenario *interleaving = NULL;
    struct rig_err err = {0};
    if (rig_sql_scenario_parse("a.yaml", text, strlen(text), &interleaving, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return interleaving;
}

#define HEAD "name: a\nsetup: [create table t (a int)]\n"

static void interleavings_are_read(void **state)
{
    (void)state;
    struct rig_sql_scenario *read_one = read(
        HEAD "steps:\n  1: {A: begin}\n  3: {B@pg-2: {postgresql-15: select 1, mariadb: select 2}}\n  4: {until: B}\n"
             "final: select * from t\n"
             "outcome:\n  postgresql-15:\n    - levels: [read committed, serializable]\n"
             "      steps: {3: {waits: true, returns_after: end, rows: [[1]]}}\n      final: [[[1]]]\n"
             "  mariadb-10.11:\n    - levels: [serializable]\n      steps: {3: ok}\n");
    assert_true(read_one->session_count == 2 && read_one->step_count == 3 && read_one->final_count == 1);
    assert_string_equal(read_one->nodes[1], "pg-2");
    assert_true(read_one->steps[2].act == RIG_STEP_UNTIL && read_one->steps[2].session == 1);
    assert_string_equal(rig_engine_text_for(&read_one->steps[1].texts, "PostgreSQL 15.18"), "select 1");
    assert_string_equal(rig_engine_text_for(&read_one->steps[1].texts, "PostgreSQL 17.2"), "select 1");
    assert_string_equal(rig_engine_text_for(&read_one->steps[1].texts, "MariaDB 11.4.2"), "select 2");
    assert_null(rig_engine_text_for(&read_one->steps[1].texts, "SQLite 3.40.1"));
    assert_string_equal(rig_engine_text_for(&read_one->steps[0].texts, "SQLite 3.40.1"), "begin");
    const struct rig_expected_outcome *outcome =
        rig_sql_scenario_outcome(read_one, "PostgreSQL 15.18", "Read-Committed");
    assert_true(outcome != NULL && outcome->steps[1].after == RIG_AFTER_THE_END && outcome->steps[0].strict);
    assert_null(rig_sql_scenario_outcome(read_one, "PostgreSQL 15.18", "repeatable read"));
    assert_non_null(rig_sql_scenario_outcome(read_one, "MariaDB 10.11.19", ""));
    assert_null(rig_sql_scenario_outcome(read_one, "SQLite 3.40.1", "wal, deferred"));
    rig_sql_scenario_free(read_one);
}

static void engines_fit_by_product_and_version(void **state)
{
    (void)state;
    assert_int_equal(rig_engine_fit("postgresql-15", "PostgreSQL 15.18"), 3);
    assert_int_equal(rig_engine_fit("postgresql-1", "PostgreSQL 15.18"), 1);
    assert_int_equal(rig_engine_fit("postgresql", "PostgreSQL 15.18"), 2);
    assert_int_equal(rig_engine_fit("mariadb-10.11", "MariaDB 10.11.19"), 3);
    assert_int_equal(rig_engine_fit("mariadb-10.1", "MariaDB 10.11.19"), 1);
    assert_int_equal(rig_engine_fit("mysql-8", "MariaDB 10.11.19"), 0);
    assert_int_equal(rig_engine_fit("sqlite-3.40", "SQLite 3.40.1, embedded"), 3);
}

static void bad_files_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"name: a\nsetup: []\n", "a.yaml:1:1: `steps` is missing: the statements of the sessions, in their order"},
        {"nam: a\nsetup: []\n", "a.yaml:1:1: unknown key `nam`; did you mean `name`?"},
        {HEAD "steps: []\n", "a.yaml:3:8: `steps`: expected 1 to 256 steps"},
        {HEAD "steps: [commit]\n", "a.yaml:3:9: expected a session and its statement, as {A: commit}"},
        {HEAD "steps: {2: {A: x}, 1: {A: y}}\n",
         "a.yaml:3:20: expected the number of a step, above that of the step before"},
        {HEAD "steps: [{A: ''}]\n", "a.yaml:3:13: expected a statement of SQL"},
        {HEAD "steps: [{A: x, B: y}]\n",
         "a.yaml:3:16: a step has one session; after it come rows, count, error, waits, "
         "returns_after, starts_after, rolled_back"},
        {HEAD "steps: [{A b: x}]\n",
         "a.yaml:3:10: a session's name has letters, digits and `_`, and may name its node, as T1@pg-2"},
        {HEAD "steps: [{A: x}, {until: B}]\n", "a.yaml:3:25: expected a session that has sent something before"},
        {HEAD "steps: [{A: x}, {A@n: y}]\n", "a.yaml:3:18: the session began on another node: give a second session"},
        {HEAD "steps: [{A: x, rows: [1]}]\n", "a.yaml:3:23: expected a row, as [1, \"a\", null]"},
        {HEAD "steps: [{A: x, count: many}]\n", "a.yaml:3:23: expected a number of rows"},
        {HEAD "steps: [{A: x, returns_after: soon}]\n", "a.yaml:3:31: expected the number of a step, or `end`"},
        {HEAD "steps: [{A: x}]\noutcome: {pg: [{steps: {}}]}\n",
         "a.yaml:4:16: `levels` is missing: the isolation levels of this outcome"},
        {HEAD "steps: [{A: x}]\noutcome: {pg: [{levels: [a], steps: {2: ok}}]}\n",
         "a.yaml:4:38: expected the number of one of the steps"},
        {HEAD "steps: [{A: x}]\noutcome: {pg: [{levels: [a], steps: {1: {row: []}}}]}\n",
         "a.yaml:4:42: `row` is none of rows, count, error, waits, returns_after, starts_after, rolled_back, stuck"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_sql_scenario *interleaving = NULL;
        struct rig_err err = {0};
        assert_int_equal(rig_sql_scenario_parse("a.yaml", cases[i].text, strlen(cases[i].text), &interleaving, &err),
                         RIG_E_PLAN);
        assert_string_equal(err.text, cases[i].fault);
    }
}

/* ---- answers ---- */

#define CELL(of, is)                                                                                                   \
    {                                                                                                                  \
        .kind = RIG_TEXT_##of, .text = (is), .length = sizeof(is) - 1                                                  \
    }

/* The rows of a selection of each type. */
static struct rig_text_cell cells[] = {CELL(INTEGER, "1"),
                                       CELL(OTHER, "a"),
                                       CELL(DECIMAL, "19.90"),
                                       CELL(BOOLEAN, "true"),
                                       CELL(MOMENT, "2024-02-29 01:00:00"),
                                       CELL(REAL, "0.5"),
                                       {.kind = RIG_TEXT_NULL},
                                       CELL(INTEGER, "9007199254740993"),
                                       CELL(OTHER, "b"),
                                       CELL(DECIMAL, "0.10"),
                                       CELL(BOOLEAN, "false"),
                                       CELL(MOMENT, "2024-03-01 10:00:00"),
                                       CELL(REAL, "1e300"),
                                       CELL(OTHER, "{1,NULL}")};

static struct rig_told rows_of(const char *statement)
{
    return (struct rig_told){.sent = true,
                             .returned = true,
                             .has_rows = true,
                             .count = -1,
                             .column_count = 7,
                             .row_count = 2,
                             .cells = cells,
                             .statement = statement};
}

/* Whether the answer is as `expected` says, an entry of `outcome`. */
static bool is_as(const struct rig_told *told, const char *expected, char difference[static 400])
{
    char text[1024];
    struct rig_buf out;
    (void)snprintf(text, sizeof text,
                   HEAD "steps: {1: {A: x}, 2: {A: y}, 3: {A: z}}\noutcome: {e: [{levels: [l], steps: {1: %s}}]}\n",
                   expected);
    struct rig_sql_scenario *interleaving = read(text);
    rig_buf_init(&out, 0);
    const bool same = rig_told_compare(told, &interleaving->outcomes[0].steps[0], &out);
    assert_int_equal(same, out.size == 0); /* each difference is named */
    (void)snprintf(difference, 400, "%s", rig_buf_text(&out));
    rig_buf_done(&out);
    rig_sql_scenario_free(interleaving);
    return same;
}

static void expect(const struct rig_told *told, const char *expected, bool same)
{
    char difference[400];
    if (is_as(told, expected, difference) != same)
        fail_msg("%s: %s", expected, same ? difference : "not found to be wrong");
}

#define FIRST  "[1, a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, null]"
#define SECOND "[9007199254740993, \"b\", 0.1, false, 2024-03-01 10:00:00.000, 1.0e+300, [1, null]]"

static void rows_are_compared_by_type(void **state)
{
    (void)state;
    const struct rig_told any = rows_of("select x"), ordered = rows_of("select x ORDER  BY 1");
    expect(&any, "{rows: [" FIRST ", " SECOND "]}", true);
    expect(&any, "{rows: [" SECOND ", " FIRST "]}", true);
    expect(&ordered, "{rows: [" FIRST ", " SECOND "]}", true);
    expect(&ordered, "{rows: [" SECOND ", " FIRST "]}", false);
    static const char *const wrong[] = {
        "[2, a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, null]",     /* integer */
        "[\"1\", a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, null]", /* its type */
        "[1, A, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, null]",     /* text */
        "[1, null, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, null]",  /* null */
        "[1, a, \"19.91\", true, \"2024-02-29 1:00:00\", 0.5, null]",     /* decimal */
        "[1, a, \"19.90\", false, \"2024-02-29 1:00:00\", 0.5, null]",    /* boolean */
        "[1, a, \"19.90\", true, \"2024-02-28 1:00:00\", 0.5, null]",     /* date */
        "[1, a, \"19.90\", true, \"2024-02-29 10:00:00\", 0.5, null]",    /* time */
        "[1, a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.25, null]",    /* real */
        "[1, a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5, \"\"]",     /* a text for a null */
        "[1, a, \"19.90\", true, \"2024-02-29 1:00:00\", 0.5]",           /* a column less */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char expected[512];
        (void)snprintf(expected, sizeof expected, "{rows: [%s, " SECOND "]}", wrong[i]);
        expect(&any, expected, false);
    }
    expect(&any, "{rows: [" FIRST "]}", false);
    expect(&any, "{rows: [" FIRST ", " FIRST "]}", false);
    expect(&any, "{rows: [" FIRST ", " SECOND ", " SECOND "]}", false);
    expect(&any, "{rows: []}", false);
    expect(&any, "{rows: [[9007199254740992, b, 0.1, false, 2024-03-01 10:00:00, 1e300, [1, null]], " FIRST "]}",
           false);
    expect(&any, "ok", false);
    expect(&any, "{count: 2}", false);
}

static void counts_errors_and_ends_are_compared(void **state)
{
    (void)state;
    struct rig_told told = {.sent = true, .returned = true, .count = 2, .statement = "update"};
    expect(&told, "{count: 2}", true);
    expect(&told, "{count: 1}", false);
    expect(&told, "ok", false);
    expect(&told, "{rows: [[2]]}", false);
    expect(&told, "{error: \"40001\"}", false);
    told = (struct rig_told){.sent = true,
                             .returned = true,
                             .count = -1,
                             .failed = true,
                             .code = "1213",
                             .state = "40001",
                             .native = 1213,
                             .text = "Deadlock found when trying",
                             .statement = "update"};
    expect(&told, "{error: 1213}", true);
    expect(&told, "{error: \"40001\"}", true);
    expect(&told, "{error: deadlock found}", true);
    expect(&told, "{error: deadlock}", false); /* one word is a name, not a part of a text */
    expect(&told, "{error: 1205}", false);
    expect(&told, "{error: \"4000\"}", false);
    expect(&told, "ok", false);
    expect(&told, "{count: 0}", false);
    memcpy(told.code, "BUSY_SNAPSHOT", sizeof "BUSY_SNAPSHOT");
    expect(&told, "{error: SQLITE_BUSY_SNAPSHOT}", true);
    expect(&told, "{error: BUSY_SNAPSHOT}", true);
    expect(&told, "{error: SQLITE_BUSY}", false);
    told = (struct rig_told){.sent = true, .returned = true, .count = -1, .rolled_back = true, .statement = "commit"};
    expect(&told, "{rolled_back: true}", true);
    expect(&told, "ok", false);
    told.rolled_back = false;
    told.untagged = true; /* the client cannot tell */
    expect(&told, "{rolled_back: true}", true);
    expect(&told, "{count: 0}", true);
    told.untagged = false;
    expect(&told, "ok", true);
    expect(&told, "{rolled_back: true}", false);
}

static void waits_are_compared(void **state)
{
    (void)state;
    struct rig_told told = {
        .sent = true, .returned = true, .count = -1, .waits = true, .after = 3, .starts_after = 2, .statement = "x"};
    expect(&told, "{starts_after: 2, waits: true, returns_after: 3}", true);
    expect(&told, "{starts_after: 2, waits: true, returns_after: 2}", false);
    expect(&told, "{starts_after: 2, waits: true, returns_after: end}", false);
    expect(&told, "{starts_after: 3, waits: true, returns_after: 3}", false);
    expect(&told, "{waits: true, returns_after: 3}", false);
    expect(&told, "{starts_after: 2}", false);
    told = (struct rig_told){.sent = true, .returned = true, .count = -1, .statement = "x"};
    expect(&told, "{waits: true, returns_after: 3}", false);
    expect(&told, "{starts_after: 2}", false);
    expect(&told, "{stuck: true}", false);
    told = (struct rig_told){.sent = true, .count = -1, .waits = true, .stuck = true, .statement = "x"};
    expect(&told, "{waits: true, returns_after: null, stuck: true}", true);
    expect(&told, "{waits: true, returns_after: end}", false);
    told = (struct rig_told){.count = -1, .statement = "x"};
    expect(&told, "{count: 1}", false); /* it was never sent */
}

static void lists_maps_and_intervals_are_compared(void **state)
{
    (void)state;
    struct rig_text_cell of_types[] = {CELL(OTHER, "{\"a b\": [1, null, \"x y\"]}"), CELL(MOMENT, "1 day 02:00:00"),
                                       CELL(OTHER, "[1, 2]")};
    const struct rig_told told = {.sent = true,
                                  .returned = true,
                                  .has_rows = true,
                                  .count = -1,
                                  .column_count = 3,
                                  .row_count = 1,
                                  .cells = of_types,
                                  .statement = "x"};
    expect(&told, "{rows: [[{a b: [1, null, x y]}, \"1 day, 2:00:00\", [1, 2]]]}", true);
    expect(&told, "{rows: [[{a b: [1, null, xy]}, \"1 day, 2:00:00\", [1, 2]]]}", false);
    expect(&told, "{rows: [[{a b: [1, null]}, \"1 day, 2:00:00\", [1, 2]]]}", false);
    expect(&told, "{rows: [[{a b: [1, null, x y]}, \"1 day, 3:00:00\", [1, 2]]]}", false);
    expect(&told, "{rows: [[{a b: [1, null, x y]}, \"1 day, 2:00:00\", [2, 1]]]}", false);
}

static void texts_without_types_are_compared_by_what_they_spell(void **state)
{
    (void)state;
    struct rig_text_cell untyped[] = {CELL(UNTYPED, "007"), CELL(UNTYPED, "t"), CELL(UNTYPED, "1.50")};
    const struct rig_told told = {.sent = true,
                                  .returned = true,
                                  .has_rows = true,
                                  .count = -1,
                                  .column_count = 3,
                                  .row_count = 1,
                                  .cells = untyped,
                                  .statement = "x"};
    expect(&told, "{rows: [[7, true, \"1.5\"]]}", true);
    expect(&told, "{rows: [[8, true, \"1.5\"]]}", false);
    expect(&told, "{rows: [[7, false, \"1.5\"]]}", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleavings_are_read),
        cmocka_unit_test(engines_fit_by_product_and_version),
        cmocka_unit_test(bad_files_name_the_place),
        cmocka_unit_test(rows_are_compared_by_type),
        cmocka_unit_test(counts_errors_and_ends_are_compared),
        cmocka_unit_test(waits_are_compared),
        cmocka_unit_test(lists_maps_and_intervals_are_compared),
        cmocka_unit_test(texts_without_types_are_compared_by_what_they_spell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
