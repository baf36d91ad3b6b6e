/* The SQL that a record keeps by the forms of its statements. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "history/types/sent_sql.h"

static const struct rig_op read_1 = {RIG_OP_READ_LIST, 1, 0}, append_1 = {RIG_OP_APPEND, 1, 7};

static const char meta[] =
    "name: x\n"
    "# sql: 2 tables, 4 clients, no read locks by chance\n"
    "# sql begin: BEGIN\n"
    "# sql begin-read-only: BEGIN READ ONLY\n"
    "# sql read: SELECT v FROM t_$5 WHERE k = $1\n"
    "# sql put: UPDATE t_$5 SET v = v || $2 WHERE k = $1\\n-- or:\\nINSERT INTO t_$5 VALUES ($1, "
    "',$2')\n"
    "# sql of-the-future: NOTHING\n"
    "# sql commit: COMMIT\n";

static void assert_said(const char *of, const struct rig_sent_question *question, const char *expected)
{
    struct rig_sent_sql sent;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    assert_true(rig_sent_sql_read(of, &sent));
    rig_sent_sql_say(&sent, question, "  ", &out);
    assert_string_equal(rig_buf_text(&out), expected);
    rig_buf_done(&out);
}

static void operations_have_their_statements(void **state)
{
    (void)state;
    const struct rig_op ops[] = {read_1, append_1, {RIG_OP_READ_LIST, 2, 0}};
    const struct rig_read reads[3] = {{.state = RIG_READ_NIL}};
    const struct rig_sent_question question = {
        .workload = RIG_WORKLOAD_LIST_APPEND, .ops = ops, .op_count = 3, .reads = reads};
    assert_said(meta, &question,
                "  BEGIN;\n"
                "  SELECT v FROM t_1 WHERE k = 1;\n"
                "  UPDATE t_1 SET v = v || 7 WHERE k = 1;\n"
                "  -- or:\n"
                "  INSERT INTO t_1 VALUES (1, ',7');\n"
                "  SELECT v FROM t_0 WHERE k = 2;\n"
                "  COMMIT;\n");
    const struct rig_sent_question only_reads = {
        .workload = RIG_WORKLOAD_LIST_APPEND, .ops = ops, .op_count = 1, .reads = reads, .read_only = true};
    assert_said(meta, &only_reads, "  BEGIN READ ONLY;\n  SELECT v FROM t_1 WHERE k = 1;\n  COMMIT;\n");
}

/* One that locks by chance is shown in both forms, and only in transactions that write. */
static void reads_may_lock(void **state)
{
    (void)state;
    static const char locks[] = "# sql: 1 tables, 4 clients, with read locks by chance\n"
                                "# sql read: R $1\n# sql read-locked: L $1\n# sql put: P\n";
    static const char always[] = "# sql: 1 tables, 4 clients, no read locks by chance\n"
                                 "# sql read: R $1\n# sql read-locked: L $1\n# sql put: P\n";
    const struct rig_op ops[] = {read_1, append_1};
    const struct rig_read reads[2] = {{.state = RIG_READ_NIL}};
    struct rig_sent_question question = {
        .workload = RIG_WORKLOAD_LIST_APPEND, .ops = ops, .op_count = 2, .reads = reads};
    assert_said(locks, &question, "  L 1;\n  -- or without the lock, which some reads take by chance:\n  R 1;\n  P;\n");
    assert_said(always, &question, "  L 1;\n  P;\n");
    question.op_count = 1;
    question.read_only = true;
    assert_said(locks, &question, "  R 1;\n");
}

/* An increment after a read writes the sum, without one it adds; a lock has the number of its client. */
static void numbers_follow_from_reads(void **state)
{
    (void)state;
    static const char sums[] = "# sql: 1 tables, 4 clients, no read locks by chance\n"
                               "# sql read: R $1\n# sql put: ADD $2\n# sql replace: SET $2\n";
    static const char locks[] = "# sql: 1 tables, 4 clients, no read locks by chance\n"
                                "# sql put: TAKE $1 $2\n# sql compare: FREE $1 $2\n";
    const struct rig_op ops[] = {
        {RIG_OP_READ_COUNTER, 1, 0}, {RIG_OP_INCREMENT, 1, 3}, {RIG_OP_INCREMENT, 2, 4}, {RIG_OP_INCREMENT, 1, -1}};
    const struct rig_read reads[4] = {{.state = RIG_READ_SEEN, .value = 10}};
    const struct rig_sent_question counter = {
        .workload = RIG_WORKLOAD_COUNTER, .ops = ops, .op_count = 4, .reads = reads};
    assert_said(sums, &counter, "  R 1;\n  SET 13;\n  ADD 4;\n  SET 12;\n");
    const struct rig_op lock[] = {
        {RIG_OP_EXPECT, 5, 0}, {RIG_OP_WRITE, 5, 1}, {RIG_OP_EXPECT, 5, 1}, {RIG_OP_WRITE, 5, 0}};
    const struct rig_sent_question mutex = {
        .workload = RIG_WORKLOAD_MUTEX, .ops = lock, .op_count = 4, .reads = reads, .client = 2};
    assert_said(locks, &mutex, "  TAKE 5 3;\n  FREE 5 3;\n");
}

/* A statement on rows has the bounds of the condition, its own number, and the class that it gives. */
static void conditions_have_bounds(void **state)
{
    (void)state;
    static const char rows[] = "# sql: 1 tables, 4 clients, no read locks by chance\n"
                               "# sql list-by-class: LIST $1 $2 $3\n# sql update-by-class: CHANGE $2 $3 TO $4 $6\n"
                               "# sql insert: NEW $1 $2 $6\n";
    const int64_t condition = -(3 * 100000 + 2 * 100 + RIG_ROW_BY_CLASS * 10);
    const struct rig_op ops[] = {{RIG_OP_ROW, 1, rig_row_number(4, 25, RIG_ROWS_INSERT)},
                                 {RIG_OP_ROW, 1, condition},
                                 {RIG_OP_READ_WHERE, 1, 0},
                                 {RIG_OP_ROW, 1, condition},
                                 {RIG_OP_READ_WHERE, 1, 0},
                                 {RIG_OP_ROW, 1, rig_row_number(5, 17, RIG_ROWS_UPDATE)}};
    const struct rig_read reads[6] = {{.state = RIG_READ_UNKNOWN}};
    const struct rig_sent_question question = {
        .workload = RIG_WORKLOAD_PREDICATE, .ops = ops, .op_count = 6, .reads = reads};
    assert_said(rows, &question, "  NEW 1 4250 25;\n  LIST 1 3 5;\n  CHANGE 3 5 TO 5171 17;\n");
}

static void lines_are_read_back(void **state)
{
    (void)state;
    struct rig_buf lines;
    struct rig_sent_sql sent;
    rig_buf_init(&lines, 0);
    rig_sent_sql_add_head(3, 16, true, &lines);
    rig_sent_sql_add_form(RIG_SQL_FORM_SUM_BY_ID, "A\n-- b\nC", &lines);
    assert_true(rig_sent_sql_read(rig_buf_text(&lines), &sent));
    assert_int_equal(sent.table_count, 3);
    assert_int_equal(sent.client_count, 16);
    assert_true(sent.locks_some);
    assert_int_equal(sent.texts[RIG_SQL_FORM_SUM_BY_ID].length, strlen("A\\n-- b\\nC"));
    assert_null(sent.texts[RIG_SQL_FORM_COUNT_BY_ID].at);
    rig_buf_done(&lines);
}

static void bad_lines_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "name: x\n",
                                      "# sql read: R\n",
                                      "# sql: 0 tables, 4 clients, no read locks by chance\n# sql read: R\n",
                                      "# sql: 1 tables, 0 clients, no read locks by chance\n",
                                      "# sql: x tables, 4 clients, no read locks\n",
                                      " # sql: 1 tables, 4 clients, no read locks by chance\n"};
    struct rig_sent_sql sent;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(rig_sent_sql_read(bad[i], &sent));
    assert_false(rig_sent_sql_read(NULL, &sent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations_have_their_statements),
                                       cmocka_unit_test(reads_may_lock),
                                       cmocka_unit_test(numbers_follow_from_reads),
                                       cmocka_unit_test(conditions_have_bounds),
                                       cmocka_unit_test(lines_are_read_back),
                                       cmocka_unit_test(bad_lines_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
