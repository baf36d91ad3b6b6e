/* drivers/http/http_outcome: each row of the general table, and the precedence of a dialect's rules. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/http/http_outcome.h"

static const char dialect_text[] =
    "name: d\n"
    "outcomes:\n"
    "  - {status: 409, outcome: fail, code: conflict, reason: nothing was written}\n"
    "  - {status: 5xx, phase: operation, outcome: fail, code: early, reason: before the commit}\n"
    "  - {status: 200, body: {$.done: true, $.error: absent}, outcome: ok}\n"
    "  - {status: 200, contains: \"try later\", outcome: info, code: later, session-lost: true}\n"
    "workloads:\n"
    "  list-append:\n"
    "    steps:\n"
    "      - phase: commit\n"
    "        path: /\n"
    "        outcomes: [{status: 200, body: {$.code: 7}, outcome: fail, code: own, reason: the step's own comes "
    "first}]\n";

static struct rig_dialect *dialect;

static int load(void **state)
{
    struct rig_err err = {0};
    (void)state;
    return rig_dialect_parse("d.yaml", dialect_text, sizeof dialect_text - 1, NULL, &dialect, &err) == RIG_OK ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    rig_dialect_free(dialect);
    return 0;
}

static struct rig_http_ruling judge(bool at_commit, enum rig_http_end end, long status, const char *body)
{
    struct rig_http_answer answer = {.end = end, .status = status};
    struct rig_http_ruling verdict;
    rig_buf_init(&answer.body, 0);
    rig_buf_add_text(&answer.body, body);
    json_t *root = json_loads(body, 0, NULL);
    rig_outcome_find(dialect, &dialect->workloads[RIG_WORKLOAD_LIST_APPEND].steps.at[0], at_commit, end, &answer, root,
                     &verdict);
    json_decref(root);
    rig_buf_done(&answer.body);
    return verdict;
}

static void rules(bool at_commit, long status, const char *body, enum rig_ruling ruling, const char *code)
{
    const struct rig_http_ruling verdict = judge(at_commit, RIG_HTTP_ANSWERED, status, body);
    assert_int_equal(verdict.ruling, ruling);
    assert_string_equal(verdict.code, code);
}

static void test_rules_of_the_dialect(void **state)
{
    (void)state;
    rules(true, 409, "", RIG_RULING_FAIL, "conflict");
    rules(true, 200, "{\"done\": true}", RIG_RULING_OK, "http-200");
    rules(true, 200, "{\"done\": true, \"code\": 7}", RIG_RULING_FAIL, "own");
    rules(true, 200, "{\"done\": \"true\"}", RIG_RULING_INFO, "http-200");
    rules(true, 200, "{\"done\": true, \"error\": null}", RIG_RULING_INFO, "http-200");
    rules(true, 200, "{\"done\": true", RIG_RULING_INFO, "http-200");
    rules(true, 200, "please try later", RIG_RULING_INFO, "later");
    rules(false, 503, "", RIG_RULING_FAIL, "early");
    rules(true, 503, "", RIG_RULING_INFO, "http-503");
    assert_true(judge(true, RIG_HTTP_ANSWERED, 200, "try later").session_lost);
}

static void test_every_end_of_a_request(void **state)
{
    (void)state;
    for (int end = 0; end < RIG_HTTP_END_COUNT; end++) {
        const struct rig_http_ruling before = judge(false, (enum rig_http_end)end, 418, "");
        const struct rig_http_ruling at = judge(true, (enum rig_http_end)end, 418, "");
        assert_int_equal(before.ruling, RIG_RULING_FAIL);
        assert_int_equal(at.ruling, end == RIG_HTTP_NOT_SENT ? RIG_RULING_FAIL : RIG_RULING_INFO);
        assert_int_equal(at.session_lost, end != RIG_HTTP_ANSWERED);
        assert_string_equal(at.code, end == RIG_HTTP_ANSWERED ? "http-418" : rig_http_end_names[end]);
    }
}

static void test_rows_have_reasons(void **state)
{
    (void)state;
    assert_int_equal(rig_outcome_row_count, 2 * RIG_HTTP_END_COUNT);
    for (size_t i = 0; i < rig_outcome_row_count; i++)
        assert_true(strlen(rig_outcome_rows[i].reason) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_of_the_dialect),
        cmocka_unit_test(test_every_end_of_a_request),
        cmocka_unit_test(test_rows_have_reasons),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
