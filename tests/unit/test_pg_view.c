/* Views of PostgreSQL's statements: answers as the server gives them, and answers that are refused. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/buf.h"
#include "drivers/postgres/pg_view.h"

/* The views that were handed over, in words. */
static struct rig_buf taken;

static bool take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby)
{
    (void)context;
    rig_buf_printf(&taken, "view %llu %llu%s%s", (unsigned long long)number, (unsigned long long)id,
                   single ? " single" : "", standby ? " standby" : "");
    return true;
}

static bool take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count)
{
    (void)context;
    rig_buf_printf(&taken, " [%llu:%llu:", (unsigned long long)xmin, (unsigned long long)xmax);
    for (uint32_t i = 0; i < count; i++)
        rig_buf_printf(&taken, "%s%llu", i == 0 ? "" : ",", (unsigned long long)active[i]);
    rig_buf_add_char(&taken, ']');
    return true;
}

static bool take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot)
{
    (void)context;
    rig_buf_printf(&taken, " %u:%llu%s", op, (unsigned long long)version, with_snapshot ? "" : "-");
    return true;
}

static const struct rig_certificate_sink sink = {.view = take_view, .snapshot = take_snapshot, .row = take_row};

/* An answer of one row; a value NULL is a null. The caller clears it. */
static PGresult *answer(int columns, const char *const *values)
{
    PGresAttDesc descriptions[4] = {{.name = NULL}};
    char name[] = "column";
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (int i = 0; i < columns; i++)
        descriptions[i].name = name;
    assert_true(result != NULL && PQsetResultAttrs(result, columns, descriptions) == 1);
    for (int i = 0; i < columns; i++)
        assert_int_equal(
            PQsetvalue(result, 0, i, (char *)(uintptr_t)values[i], values[i] == NULL ? -1 : (int)strlen(values[i])), 1);
    return result;
}

/* One transaction of client 0, whose operations have these answers. */
static void play(struct rig_pg_views *views, struct rig_op *ops, uint32_t count, const char *const (*values)[3],
                 const int *columns)
{
    struct rig_transaction transaction = {.ops = ops, .op_count = count};
    rig_pg_view_begin(views, 0);
    for (uint32_t i = 0; i < count; i++) {
        PGresult *result = answer(columns[i], values[i]);
        rig_pg_view_take(views, 0, &transaction, i, false, result);
        PQclear(result);
    }
    rig_pg_view_end(views, 0, &transaction, true, false);
}

static void views_are_handed_over(void **state)
{
    (void)state;
    struct rig_op ops[] = {{.kind = RIG_OP_READ_LIST, .key = 1}, {.kind = RIG_OP_APPEND, .key = 1, .value = 5}};
    static const char *const values[][3] = {{"1,2", "701", "4294968000:4294968010:4294968000,4294968004"},
                                            {"705", "4294968011", "4294968000:4294968010:4294968000,4294968004"}};
    struct rig_pg_views views = {.logs = NULL};
    struct rig_err err = {0};
    rig_buf_init(&taken, 4096);
    assert_int_equal(rig_pg_views_init(&views, 2, &err), RIG_OK);
    play(&views, ops, 2, values, (const int[]){3, 3});
    assert_int_equal(rig_pg_views_give(&views, &sink, &err), RIG_OK);
    /* The 32 bits of xmin are extended by the numbers beside them. */
    assert_string_equal(rig_buf_text(&taken), "view 1 4294968011 single [4294968000:4294968010:4294968000,4294968004] "
                                              "0:4294967997 1:4294968001");
    rig_pg_views_done(&views);
    rig_buf_done(&taken);
}

static void malformed_answers_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum rig_op_kind kind;
        int columns;
        const char *values[3];
    } bad[] = {
        {RIG_OP_READ_LIST, 3, {"1", "701", ""}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700:710"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", ":710:"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700::"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "x:710:"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700:710:x"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700:710:,"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700:710:705x"}},
        {RIG_OP_READ_LIST, 3, {"1", "701", "700:710:705,"}},
        {RIG_OP_READ_LIST, 3, {"1", "xmin", "700:710:"}},
        {RIG_OP_READ_LIST, 3, {"1", "701-", "700:710:"}},
        {RIG_OP_READ_LIST, 2, {"1", "701", NULL}},
        {RIG_OP_READ_LIST, 1, {"1", NULL, NULL}},
        {RIG_OP_APPEND, 1, {"701", NULL, NULL}},
        {RIG_OP_APPEND, 2, {"", "702", NULL}},
        {RIG_OP_APPEND, 2, {"701", "", NULL}},
        {RIG_OP_APPEND, 2, {"701", "-1", NULL}},
        {RIG_OP_APPEND, 3, {"701", "702", "700:"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig_op op = {.kind = bad[i].kind, .key = 1, .value = 5};
        struct rig_pg_views views = {.logs = NULL};
        struct rig_err err = {0};
        rig_buf_init(&taken, 4096);
        assert_int_equal(rig_pg_views_init(&views, 2, &err), RIG_OK);
        play(&views, &op, 1, &bad[i].values, &bad[i].columns);
        if (rig_pg_views_give(&views, &sink, &err) != RIG_E_DRIVER)
            fail_msg("answer %zu was taken: %s", i, rig_buf_text(&taken));
        assert_non_null(strstr(err.text, "client 0"));
        assert_non_null(strstr(err.text, "certificate: stream"));
        assert_int_equal(taken.size, 0);
        rig_pg_views_done(&views);
        rig_buf_done(&taken);
    }
}

/* An absent row, and errors, which have no row: no view rather than a wrong one. */
static void other_answers_show_nothing(void **state)
{
    (void)state;
    struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = 1};
    struct rig_transaction transaction = {.ops = &op, .op_count = 1};
    struct rig_pg_views views = {.logs = NULL};
    struct rig_err err = {0};
    rig_buf_init(&taken, 4096);
    assert_int_equal(rig_pg_views_init(&views, 1, &err), RIG_OK);
    PGresult *failed = PQmakeEmptyPGresult(NULL, PGRES_FATAL_ERROR);
    rig_pg_view_begin(&views, 0);
    rig_pg_view_take(&views, 0, &transaction, 0, false, failed);
    rig_pg_view_end(&views, 0, &transaction, true, false);
    PQclear(failed);
    assert_int_equal(rig_pg_views_give(&views, &sink, &err), RIG_OK);
    assert_int_equal(taken.size, 0);
    static const char *const absent[][3] = {{NULL, NULL, "700:710:"}};
    play(&views, &op, 1, absent, (const int[]){3});
    assert_int_equal(rig_pg_views_give(&views, &sink, &err), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "view 1 0 single [700:710:] 0:0");
    rig_pg_views_done(&views);
    rig_buf_done(&taken);
}

/* Answers of statements on rows: id, version, xmin, snapshot, and of an update or delete the own number. */
struct rows_answer {
    int columns, rows;
    const char *values[2][5];
};

static PGresult *rows_answer(const struct rows_answer *of)
{
    PGresAttDesc descriptions[5] = {{.name = NULL}};
    char name[] = "column";
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (int i = 0; i < of->columns; i++)
        descriptions[i].name = name;
    assert_true(result != NULL && PQsetResultAttrs(result, of->columns, descriptions) == 1);
    for (int row = 0; row < of->rows; row++) {
        for (int i = 0; i < of->columns; i++) {
            const char *value = of->values[row][i];
            assert_int_equal(
                PQsetvalue(result, row, i, (char *)(uintptr_t)value, value == NULL ? -1 : (int)strlen(value)), 1);
        }
    }
    return result;
}

/* An answer to the operation at 1 of [condition, read, write]; the text of the view, or NULL where it is refused. */
static const char *view_of_rows(int64_t write, bool locked, const struct rows_answer *of)
{
    struct rig_op ops[] = {{.kind = RIG_OP_ROW, .key = 1, .value = -20},
                           {.kind = RIG_OP_READ_WHERE, .key = 1},
                           {.kind = RIG_OP_ROW, .key = 1, .value = write}};
    struct rig_transaction transaction = {.ops = ops, .op_count = write == 0 ? 2 : 3};
    struct rig_pg_views views = {.logs = NULL};
    struct rig_err err = {0};
    rig_buf_done(&taken);
    rig_buf_init(&taken, 4096);
    assert_int_equal(rig_pg_views_init(&views, 1, &err), RIG_OK);
    PGresult *result = rows_answer(of);
    rig_pg_view_begin(&views, 0);
    rig_pg_view_take(&views, 0, &transaction, 1, locked, result);
    rig_pg_view_end(&views, 0, &transaction, !locked, false);
    PQclear(result);
    const bool given = rig_pg_views_give(&views, &sink, &err) == RIG_OK;
    rig_pg_views_done(&views);
    return given ? rig_buf_text(&taken) : NULL;
}

static void views_of_rows(void **state)
{
    (void)state;
    static const struct rows_answer
        two = {4, 2, {{"1", "1", "701", "703:703:"}, {"2", "2", "702", "703:703:"}}},
        none = {4, 1, {{NULL, NULL, NULL, "703:703:"}}}, counted = {4, 1, {{"2", "3", NULL, "703:703:"}}},
        changed = {5, 2, {{"1", "1", "705", "703:705:704", "705"}, {"2", "2", "705", "703:705:704", "705"}}},
        deleted = {5, 2, {{"1", "1", "701", "703:705:704", "705"}, {"2", "2", "702", "703:705:704", "705"}}},
        nothing = {5, 1, {{NULL, NULL, NULL, "703:703:", NULL}}};
    assert_string_equal(view_of_rows(0, false, &two), "view 1 0 single [703:703:] 1:701 1:702");
    assert_string_equal(view_of_rows(0, false, &none), "view 1 0 single [703:703:] 1:0");
    assert_string_equal(view_of_rows(0, false, &counted), "view 1 0 single [703:703:] 1:0");
    /* The rows of an update have the new version, those of a delete the old one. */
    assert_string_equal(view_of_rows(4021, false, &changed), "view 1 705 single [703:705:704] 1:0 2:705");
    assert_string_equal(view_of_rows(4002, false, &deleted), "view 1 705 single [703:705:704] 1:701 1:702");
    assert_string_equal(view_of_rows(4021, false, &nothing), "view 1 0 single [703:703:] 1:0");
    assert_string_equal(view_of_rows(4002, true, &deleted), "view 1 705 1:701- 1:702-");
    static const struct rows_answer bad[] = {{4, 0, {{NULL}}},
                                             {3, 1, {{"1", "1", "701"}}},
                                             {4, 1, {{"1", "1", "x", "703:703:"}}},
                                             {4, 1, {{"1", "1", "701", "703"}}},
                                             {5, 1, {{"1", "1", "701", "703:703:", "-"}}}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(view_of_rows(4002, false, &bad[i]));
    rig_buf_done(&taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_rows),
        cmocka_unit_test(views_are_handed_over),
        cmocka_unit_test(malformed_answers_are_refused),
        cmocka_unit_test(other_answers_show_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
