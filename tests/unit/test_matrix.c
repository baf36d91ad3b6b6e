/* The files of matrices, and the states of cells: only a run whose files and status agree that it holds may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/folder.h"
#include "jobs/matrix/matrix_report.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-matrix-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    rig_folder_remove(folder);
    return 0;
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_below(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static enum rig_rc load(const char *text, struct rig_matrix **matrix, struct rig_err *err)
{
    char path[256];
    write_file("a.yaml", "");
    write_file("b.yaml", "");
    write_file("matrix.txt", text);
    (void)snprintf(path, sizeof path, "%s/matrix.txt", folder);
    return rig_matrix_load(path, matrix, err);
}

/* ---- the file ---- */

static void assert_refused(const char *text, const char *problem)
{
    struct rig_matrix *matrix = NULL;
    struct rig_err err = {0};
    assert_int_equal(load(text, &matrix, &err), RIG_E_PLAN);
    if (strstr(err.text, problem) == NULL)
        fail_msg("expected `%s` in: %s", problem, err.text);
    assert_null(matrix);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    assert_refused("plan: a.yaml\n", "the key `name` is missing");
    assert_refused("name: ../x\nplan: a.yaml\n", "`name`: expected letters");
    assert_refused("name: x\n", "the key `plan` is missing");
    assert_refused("name: x\nplan: none.yaml\n", "there is no such file");
    assert_refused("name: x\nplan: a.yaml\nplans: [b.yaml]\n", "leave out one of them");
    assert_refused("name: x\nplan: a.yaml\nseeds: [1]\nruns: 2\n", "leave out one of them");
    assert_refused("name: x\nplan: a.yaml\nruns: 0\n", "`runs`");
    assert_refused("name: x\nplan: a.yaml\nseeds: [-1]\n", "expected a seed");
    assert_refused("name: x\nplan: a.yaml\nbudget: 10\n", "`budget`");
    assert_refused("name: x\nplan: a.yaml\nserver: [1]\n", "did you mean `servers`?");
    assert_refused("name: x\nplan: a.yaml\nservers: []\n", "expected a list of 1");
    assert_refused("name: x\nplan: a.yaml\nservers: [1, 1]\n", "`1` is there twice");
    assert_refused("name: x\nplan: a.yaml\nlevels: [high]\n", "promises: [LEVEL]");
    assert_refused("name: x\nplan: a.yaml\nlevels: [{name: a, promises: [high]}]\n", "unknown level `high`");
    assert_refused("name: x\nplan: a.yaml\nlevels: [{name: a, promises: []}]\n", "expected a list of levels");
    assert_refused("name: x\nplan: a.yaml\nfaults: [kill]\n", "expected `none`");
    assert_refused("name: x\nplan: a.yaml\nfaults: [{name: k, inject: kill}]\n", "expected a list of faults");
    assert_refused("name: x\nplans: [a.yaml, b.yaml]\nscenarios: a.yaml\n", "with one plan");
    assert_refused("name: x\nplan: a.yaml\ndatabases: []\n", "`databases`: expected a list");
    assert_refused("name: x\ndatabases: [{name: A}]\n", "the key `plan` is missing");
    assert_refused("name: x\nplan: a.yaml\nruns: 1000\nservers: [1,2,3,4,5,6,7,8,9,10,11]\n", "more than 10000 runs");
    assert_refused("name: x\nplan: a.yaml\nset: [1]\n", "expected keys of a plan");
}

static void assert_job(struct rig_matrix *matrix, size_t number, const char *id, const char *settings)
{
    struct rig_matrix_texts texts;
    struct rig_err err = {0};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    assert_true(number < matrix->job_count);
    assert_int_equal(rig_matrix_job_settings(matrix, &matrix->jobs[number], &texts, &err), RIG_OK);
    for (size_t i = 0; i < texts.count; i++)
        rig_buf_printf(&text, "%s%s", i == 0 ? "" : "; ", texts.at[i]);
    assert_string_equal(matrix->jobs[number].id, id);
    assert_string_equal(rig_buf_text(&text), settings);
    rig_buf_done(&text);
}

static void test_jobs_and_their_settings(void **state)
{
    (void)state;
    struct rig_matrix *matrix = NULL;
    struct rig_err err = {0};
    const char *text =
        "name: x\nbudget: 2m\nplan: a.yaml\nset: {database: {tables: 2}}\nruns: 2\n"
        "databases:\n"
        "  - {name: A B, servers: [15, {name: own, set: {database.cluster.local.bin-dir: /b}}],\n"
        "     levels: [serializable, {name: rr, set: {database.isolation: repeatable-read},\n"
        "       promises: [prefix, read-atomic]}]}\n"
        "  - {name: C, seeds: [7], faults: [none, {name: k, inject: [{fault: kill, target: \"one a\"}]}]}\n";
    assert_int_equal(load(text, &matrix, &err), RIG_OK);
    assert_int_equal(matrix->budget_ns, INT64_C(120000000000));
    assert_int_equal(matrix->job_count, 10);
    assert_job(matrix, 0, "A-B_15_serializable_run-1",
               "database.tables=2; database.cluster.local.version=15; database.isolation=serializable; "
               "check.levels=serializable");
    assert_job(matrix, 3, "A-B_own_rr_run-1",
               "database.tables=2; database.cluster.local.bin-dir=/b; database.isolation=repeatable-read; "
               "check.levels=prefix,read-atomic");
    assert_job(matrix, 4, "C_none_seed-7", "database.tables=2; nemesis.faults=[]");
    assert_job(matrix, 5, "C_k_seed-7", "database.tables=2; nemesis.faults=[{fault: kill, target: \"one a\"}]");
    assert_string_equal(matrix->jobs[5].values[RIG_MATRIX_RUNS]->seed, "7");
    assert_job(matrix, 6, "A-B_15_serializable_run-2",
               "database.tables=2; database.cluster.local.version=15; database.isolation=serializable; "
               "check.levels=serializable");
    rig_matrix_free(matrix);
}

static void test_names_that_look_alike_are_kept_apart(void **state)
{
    (void)state;
    struct rig_matrix *matrix = NULL;
    struct rig_err err = {0};
    assert_int_equal(load("name: x\nplan: a.yaml\nservers: [\"1/2\", \"1 2\", \"..\"]\n", &matrix, &err), RIG_OK);
    assert_string_equal(matrix->jobs[0].id, "a_1-2");
    assert_string_equal(matrix->jobs[1].id, "a_1-2_2");
    assert_string_equal(matrix->jobs[2].id, "a_-.");
    rig_matrix_free(matrix);
}

/* ---- cells ---- */

struct fixture {
    struct rig_matrix *matrix;
    struct rig_arena arena;
    struct rig_matrix_cells cells;
    char job[128];
};

static void begin(struct fixture *f, const char *text)
{
    struct rig_err err = {0};
    memset(f, 0, sizeof *f);
    rig_arena_init(&f->arena, 0);
    assert_int_equal(load(text, &f->matrix, &err), RIG_OK);
    make_below("cells");
    (void)snprintf(f->job, sizeof f->job, "cells/%s", f->matrix->jobs[0].id);
    make_below(f->job);
}

static void end(struct fixture *f)
{
    rig_matrix_cells_done(&f->cells);
    rig_arena_done(&f->arena);
    rig_matrix_free(f->matrix);
}

static const struct rig_matrix_cell *read_job(struct fixture *f, enum rig_matrix_end how, int status)
{
    const struct rig_matrix_ending ending = {.end = how, .status = status, .seconds = 1};
    struct rig_err err = {0};
    f->cells.count = 0;
    assert_int_equal(rig_matrix_read_cells(folder, &f->matrix->jobs[0], &ending, &f->arena, &f->cells, &err), RIG_OK);
    return f->cells.at;
}

static void write_results(const struct fixture *f, const char *text)
{
    char path[192];
    (void)snprintf(path, sizeof path, "%s/run/results.json", f->job);
    write_file(path, text);
}

static void test_a_load_holds_only_where_files_and_status_agree(void **state)
{
    (void)state;
    struct fixture f;
    char path[192];
    begin(&f, "name: x\nplan: a.yaml\n");
    assert_int_equal(read_job(&f, RIG_MATRIX_NOT_STARTED, 0)->state, RIG_MATRIX_NOT_RUN);
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->state, RIG_MATRIX_FAILED); /* no file at all */
    (void)snprintf(path, sizeof path, "%s/run", f.job);
    make_below(path);
    write_results(&f, "{\"valid\": tr");
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->state, RIG_MATRIX_FAILED);
    write_results(&f, "{\"valid\": true, \"requested\": [\"serializable\"], \"levels\": {\"serializable\": \"held\"}}");
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->state, RIG_MATRIX_HOLDS);
    assert_string_equal(f.cells.at[0].word, "holds");
    static const int others[] = {1, 2, 3, 64, 70, 137};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, others[i])->state, RIG_MATRIX_FAILED);
    assert_int_equal(read_job(&f, RIG_MATRIX_OVERRAN, 0)->state, RIG_MATRIX_FAILED);
    assert_int_equal(read_job(&f, RIG_MATRIX_STOPPED, 0)->state, RIG_MATRIX_NOT_RUN);
    assert_int_equal(read_job(&f, RIG_MATRIX_NOT_STARTED, 0)->state, RIG_MATRIX_NOT_RUN);
    write_results(&f, "{\"valid\": true, \"requested\": [\"serializable\"], \"levels\": {}}");
    assert_string_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->word, "not refuted");
    write_results(&f, "{\"valid\": false, \"anomalies\": {\"G2-item\": {\"count\": 3}}}");
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 1)->state, RIG_MATRIX_ANOMALIES);
    assert_string_equal(f.cells.at[0].word, "G2-item 3");
    assert_int_equal(read_job(&f, RIG_MATRIX_STOPPED, 1)->state, RIG_MATRIX_ANOMALIES); /* it stands */
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->state, RIG_MATRIX_FAILED);
    write_results(&f, "{\"valid\": \"unknown\", \"unknown_reason\": \"too few\"}");
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 2)->state, RIG_MATRIX_UNDECIDED);
    assert_string_equal(f.cells.at[0].detail, "too few");
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 0)->state, RIG_MATRIX_FAILED);
    end(&f);
}

static void test_scenarios(void **state)
{
    (void)state;
    struct fixture f;
    char path[192];
    begin(&f, "name: x\nplan: a.yaml\nscenarios: [a.yaml, b.yaml]\n");
    (void)snprintf(path, sizeof path, "%s/scenarios.json", f.job);
    /* The second one was not played: it must not be taken for prevented. */
    write_file(path, "{\"results\": [{\"shown\": false, \"word\": \"40001\", \"title\": \"t\", \"steps\": [{\"state\": "
                     "\"failed\", \"conflict\": true, \"code\": \"40001\"}]}]}");
    const struct rig_matrix_cell *cells = read_job(&f, RIG_MATRIX_ENDED, 3);
    assert_int_equal(f.cells.count, 2);
    assert_int_equal(cells[0].state, RIG_MATRIX_HOLDS);
    assert_string_equal(cells[1].scenario, "b");
    assert_int_equal(cells[1].state, RIG_MATRIX_FAILED);
    assert_int_equal(read_job(&f, RIG_MATRIX_ENDED, 139)->state, RIG_MATRIX_FAILED);
    assert_int_equal(read_job(&f, RIG_MATRIX_STOPPED, 0)->state, RIG_MATRIX_NOT_RUN);
    /* An error that is no conflict ends a transaction, too. */
    write_file(path, "{\"results\": [{\"shown\": false, \"word\": \"42P01\", \"title\": \"t\", \"steps\": [{\"state\": "
                     "\"failed\", \"conflict\": false, \"code\": \"42P01\"}]}, {\"shown\": false, \"word\": \"stuck\", "
                     "\"steps\": [{\"state\": \"stuck\"}]}]}");
    cells = read_job(&f, RIG_MATRIX_ENDED, 0);
    assert_int_equal(cells[0].state, RIG_MATRIX_UNDECIDED);
    assert_int_equal(cells[1].state, RIG_MATRIX_UNDECIDED);
    write_file(path, "{\"results\": [{\"shown\": true, \"forbidden\": true, \"word\": \"shown\", \"steps\": []}, "
                     "{\"shown\": true, \"forbidden\": false, \"word\": \"shown\", \"steps\": []}]}");
    cells = read_job(&f, RIG_MATRIX_ENDED, 1);
    assert_int_equal(cells[0].state, RIG_MATRIX_ANOMALIES);
    assert_int_equal(cells[1].state, RIG_MATRIX_HOLDS);
    assert_true(cells[1].is_shown);
    end(&f);
}

static void test_an_ending_is_of_its_key(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_err err = {0};
    const struct rig_matrix_ending written = {.end = RIG_MATRIX_OVERRAN, .status = 3, .seconds = 1.5};
    struct rig_matrix_ending read = {.end = RIG_MATRIX_NOT_STARTED};
    begin(&f, "name: x\nplan: a.yaml\n");
    const struct rig_matrix_job *job = &f.matrix->jobs[0];
    assert_false(rig_matrix_read_ending(folder, job, "1", &read));
    assert_int_equal(rig_matrix_write_ending(folder, job, "1", &written, &err), RIG_OK);
    assert_false(rig_matrix_read_ending(folder, job, "2", &read));
    assert_int_equal(read.end, RIG_MATRIX_NOT_STARTED);
    assert_true(rig_matrix_read_ending(folder, job, "1", &read));
    assert_int_equal(read.end, RIG_MATRIX_OVERRAN);
    assert_int_equal(read.status, 3);
    end(&f);
}

/* ---- the table ---- */

static void test_a_field_shows_its_worst_cell(void **state)
{
    (void)state;
    struct rig_matrix *matrix = NULL;
    struct rig_err err = {0};
    struct rig_arena arena;
    struct rig_matrix_cells cells = {.at = NULL};
    struct rig_matrix_grid grid;
    rig_arena_init(&arena, 0);
    assert_int_equal(load("name: x\nplan: a.yaml\nlevels: [serializable, prefix]\nruns: 3\n", &matrix, &err), RIG_OK);
    static const enum rig_matrix_state states[] = {RIG_MATRIX_HOLDS,   RIG_MATRIX_HOLDS, RIG_MATRIX_ANOMALIES,
                                                   RIG_MATRIX_NOT_RUN, RIG_MATRIX_HOLDS, RIG_MATRIX_HOLDS};
    for (size_t i = 0; i < 6; i++) {
        const struct rig_matrix_cell cell = {.job = &matrix->jobs[i],
                                             .state = states[i],
                                             .word = rig_matrix_state_words(states[i]),
                                             .detail = "<why>",
                                             .server = "",
                                             .seed = "",
                                             .steps = ""};
        assert_true(rig_matrix_cells_add(&cells, cell));
    }
    assert_int_equal(rig_matrix_grid_init(matrix, &cells, &arena, &grid, &err), RIG_OK);
    assert_int_equal(grid.table_count, 1);
    assert_int_equal(rig_matrix_grid_status(&grid), 1);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    struct rig_matrix_field field = rig_matrix_field_of(&grid.tables[0], 0, 0);
    rig_matrix_field_say(&field, &text);
    assert_string_equal(rig_buf_text(&text), "anomalies (1 of 3 runs)");
    rig_buf_clear(&text);
    field = rig_matrix_field_of(&grid.tables[0], 0, 1);
    rig_matrix_field_say(&field, &text);
    assert_string_equal(rig_buf_text(&text), "not run (1 of 3 runs)");
    const struct rig_matrix_facts facts = {
        .matrix = matrix, .cells = &cells, .grid = &grid, .folder = "f", .started_utc = "now"};
    rig_buf_clear(&text);
    rig_matrix_write_junit(&facts, NULL, &text);
    assert_non_null(strstr(rig_buf_text(&text), "tests=\"6\" failures=\"1\" errors=\"1\""));
    rig_buf_clear(&text);
    rig_matrix_write_page(&facts, &text);
    assert_null(strstr(rig_buf_text(&text), "<why>"));
    rig_buf_done(&text);
    rig_matrix_cells_done(&cells);
    rig_matrix_free(matrix);
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_jobs_and_their_settings, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names_that_look_alike_are_kept_apart, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_load_holds_only_where_files_and_status_agree, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_scenarios, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_an_ending_is_of_its_key, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_field_shows_its_worst_cell, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
