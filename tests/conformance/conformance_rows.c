#include "tests/conformance/conformance_rows.h"

#include <string.h>

#include "tests/conformance/conformance_steps.h"
#include "tests/unit/cmocka_first.h"

enum { A, B, V, W, COLUMNS };
enum { GET, GET_FOR_UPDATE, LARGEST, INSERT, ADD, SET, DELETE, STATEMENTS };
enum { CELLS = 16 };

static const struct rig_row_table tables[] = {{.name = "cell",
                                               .columns = {"a", "b", "v", "w"},
                                               .column_count = COLUMNS,
                                               .key_count = 2,
                                               .filler_bytes = 20,
                                               .index = {V},
                                               .index_count = 1}};

#define BY_KEY .conditions = {{A, RIG_ROW_EQUAL}, {B, RIG_ROW_EQUAL}}, .condition_count = 2

static const struct rig_row_statement statements[STATEMENTS] = {
    [GET] = {.act = RIG_ROW_SELECT, BY_KEY},
    [GET_FOR_UPDATE] = {.act = RIG_ROW_SELECT, BY_KEY, .for_update = true},
    [LARGEST] = {.act = RIG_ROW_SELECT,
                 .conditions = {{A, RIG_ROW_EQUAL}, {B, RIG_ROW_AT_LEAST}, {B, RIG_ROW_BELOW}},
                 .condition_count = 3,
                 .ordered = true,
                 .order = V,
                 .descending = true,
                 .limit = 2},
    [INSERT] = {.act = RIG_ROW_INSERT},
    [ADD] = {.act = RIG_ROW_UPDATE,
             .assignments = {{W, RIG_ROW_COPY, V}, {V, RIG_ROW_SUM, 0}},
             .assignment_count = 2,
             BY_KEY},
    [SET] = {.act = RIG_ROW_UPDATE, .assignments = {{V, RIG_ROW_VALUE, 0}}, .assignment_count = 1, BY_KEY},
    [DELETE] = {.act = RIG_ROW_DELETE, BY_KEY},
};

static const struct rig_row_schema schema = {
    .tables = tables, .table_count = 1, .statements = statements, .statement_count = STATEMENTS};

static const int64_t loaded[][COLUMNS] = {{1, 1, 10, 0}, {1, 2, -30, 0}, {1, 3, 20, 7}, {2, 1, INT64_MAX, INT64_MIN}};

/* ---- a program of the tests ---- */

struct tested_program {
    struct rig_row_program base; /* first */
    bool (*steps)(struct rig_rows *rows);
    unsigned bodies, commits;
};

static bool run_steps(struct rig_row_program *base, struct rig_rows *rows)
{
    struct tested_program *program = (struct tested_program *)base;
    program->bodies++;
    assert_int_equal(program->commits, 0);
    return program->steps(rows);
}

static void note_commit(struct rig_row_program *base)
{
    struct tested_program *program = (struct tested_program *)base;
    assert_int_equal(program->bodies, 1);
    program->commits++;
}

static enum rig_outcome run_program(struct bench_client *client, bool (*steps)(struct rig_rows *rows), bool commits)
{
    struct tested_program program = {.base = {.body = run_steps, .committing = note_commit}, .steps = steps};
    client->transaction.op_count = 0;
    client->transaction.read_only = false;
    client->transaction.error_code[0] = client->transaction.error_text[0] = '\0';
    const enum rig_outcome outcome =
        client->run->driver->rows->run_program(client->session, &client->transaction, &program.base);
    assert_int_equal(program.bodies, 1);
    assert_int_equal(program.commits, commits);
    assert_int_equal(outcome, commits ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL);
    assert_int_equal(client->transaction.error_code[0] != '\0', !commits);
    return outcome;
}

static int64_t cells[CELLS];

/* The number of rows that a statement gives, -1 when it failed. */
static int64_t execute(struct rig_rows *rows, uint32_t statement, const int64_t *values)
{
    struct rig_row_answer answer = {.cells = cells, .cell_capacity = CELLS};
    return rows->execute(rows, statement, values, &answer) ? (int64_t)answer.count : -1;
}

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})

static void assert_row(uint32_t at, int64_t a, int64_t b, int64_t v, int64_t w)
{
    assert_memory_equal(cells + (size_t)at * COLUMNS, VALUES(a, b, v, w), COLUMNS * sizeof *cells);
}

/* Padded rows are of keys only: a driver refuses them together with programs. */
static bool pads_rows(void)
{
    static const char option[] = "row-padding=";
    for (size_t i = 0; i < settings.override_count; i++) {
        if (strncmp(settings.overrides[i], option, sizeof option - 1) == 0)
            return true;
    }
    return false;
}

static bool start_with_rows(struct bench_run *run, struct bench_client *client)
{
    struct rig_err err = {0};
    if (settings.driver->rows == NULL || pads_rows())
        return false;
    settings.rows = &schema;
    start(run, RIG_WORKLOAD_RW_REGISTER, 1); /* the values of rows do not depend on the workload */
    settings.rows = NULL;
    const struct rig_row_ops *rows = run->driver->rows;
    if (rows->load(run->run, 0, loaded[0], 3, &err) != RIG_OK || rows->load(run->run, 0, loaded[3], 1, &err) != RIG_OK)
        fail_msg("the rows are not loaded: %s", err.text);
    open_client(client, run, 0);
    return true;
}

/* ---- the tests ---- */

static bool write_rows(struct rig_rows *rows)
{
    assert_int_equal(execute(rows, GET, VALUES(1, 2)), 1);
    assert_row(0, 1, 2, -30, 0);
    assert_int_equal(execute(rows, GET_FOR_UPDATE, VALUES(2, 1)), 1);
    assert_row(0, 2, 1, INT64_MAX, INT64_MIN);
    assert_int_equal(execute(rows, GET, VALUES(3, 1)), 0);
    assert_int_equal(execute(rows, INSERT, VALUES(3, 1, 5, 6)), 1);
    assert_int_equal(execute(rows, GET, VALUES(3, 1)), 1);
    assert_row(0, 3, 1, 5, 6);
    assert_int_equal(execute(rows, ADD, VALUES(-3, 1, 1)), 1); /* gives the row as it is afterwards */
    assert_row(0, 1, 1, 7, 10);
    assert_int_equal(execute(rows, SET, VALUES(9, 9, 9)), 0);
    assert_int_equal(execute(rows, SET, VALUES(99, 1, 3)), 1);
    assert_row(0, 1, 3, 99, 7);
    assert_int_equal(execute(rows, DELETE, VALUES(2, 1)), 1);
    assert_int_equal(execute(rows, DELETE, VALUES(2, 1)), 0);
    return true;
}

static bool read_rows(struct rig_rows *rows)
{
    assert_int_equal(execute(rows, LARGEST, VALUES(1, 1, 4)), 2);
    assert_row(0, 1, 3, 99, 7);
    assert_row(1, 1, 1, 7, 10);
    assert_int_equal(execute(rows, LARGEST, VALUES(1, 2, 3)), 1);
    assert_row(0, 1, 2, -30, 0);
    assert_int_equal(execute(rows, GET, VALUES(2, 1)), 0);
    assert_int_equal(execute(rows, GET, VALUES(3, 1)), 1);
    return true;
}

static void take_row(void *context, const char *const *values, uint32_t count)
{
    assert_int_equal(count, 2);
    assert_string_equal(values[0], "1");
    assert_string_equal(values[1], "3");
    ++*(unsigned *)context;
}

static void check_query(struct bench_run *run)
{
    static const char sql[] = "SELECT a, count(*) FROM {cell} GROUP BY a HAVING count(*) > 1";
    const struct rig_row_ops *rows = run->driver->rows;
    struct rig_err err = {0};
    unsigned told = 0;
    if (rows->query == NULL)
        return;
    assert_int_equal(rows->query(run->run, sql, take_row, &told, &err), RIG_OK);
    assert_int_equal(told, 1);
    assert_int_not_equal(rows->query(run->run, "SELECT nothing FROM {cell}", take_row, &told, &err), RIG_OK);
    assert_int_equal(told, 1);
}

void rows_hold_what_programs_write(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    if (!start_with_rows(&run, &client))
        skip();
    (void)run_program(&client, write_rows, true);
    (void)run_program(&client, read_rows, true);
    check_query(&run);
    finish(&client, &run);
}

static bool change_mind(struct rig_rows *rows)
{
    assert_int_equal(execute(rows, SET, VALUES(1000, 1, 1)), 1);
    assert_int_equal(execute(rows, INSERT, VALUES(4, 4, 4, 4)), 1);
    return false;
}

static bool find_nothing_changed(struct rig_rows *rows)
{
    assert_int_equal(execute(rows, GET, VALUES(1, 1)), 1);
    assert_row(0, 1, 1, 10, 0);
    assert_int_equal(execute(rows, GET, VALUES(4, 4)), 0);
    return true;
}

static void check_rollback(struct bench_client *client)
{
    (void)run_program(client, change_mind, false);
    assert_string_equal(client->transaction.error_code, RIG_ROWS_ROLLED_BACK);
    assert_false(client->transaction.session_lost);
    (void)run_program(client, find_nothing_changed, true);
}

static bool insert_twice(struct rig_rows *rows)
{
    assert_int_equal(execute(rows, SET, VALUES(1000, 1, 1)), 1);
    assert_int_equal(execute(rows, INSERT, VALUES(1, 2, 0, 0)), -1); /* there is such a row */
    return false;
}

static bool ask_for_too_much(struct rig_rows *rows)
{
    struct rig_row_answer answer = {.cells = cells, .cell_capacity = 2 * COLUMNS - 1};
    assert_false(rows->execute(rows, LARGEST, VALUES(1, 1, 4), &answer));
    return false;
}

void programs_that_do_not_commit_leave_nothing(void **state)
{
    (void)state;
    bool (*const failing[])(struct rig_rows * rows) = {insert_twice, ask_for_too_much};
    struct bench_run run;
    struct bench_client client;
    if (!start_with_rows(&run, &client))
        skip();
    check_rollback(&client);
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        (void)run_program(&client, failing[i], false);
        assert_string_not_equal(client.transaction.error_code, RIG_ROWS_ROLLED_BACK);
        assert_false(client.transaction.session_lost);
        (void)run_program(&client, find_nothing_changed, true);
    }
    finish(&client, &run);
}
