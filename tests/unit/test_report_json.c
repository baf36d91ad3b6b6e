#include "tests/unit/cmocka_first.h"

#include <jansson.h>
#include <string.h>

#include "report/report.h"
#include "tests/unit/hand_verdict.h"

static json_t *parsed(const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_json(verdict, run, NULL, &out);
    assert_false(out.failed);
    json_error_t error;
    json_t *json = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("line %d: %s\n%s", error.line, error.text, out.data);
    rig_buf_done(&out);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    assert_non_null(text);
    return text;
}

static void shape_is_the_one_promised(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    json_t *json = parsed(&hand.verdict, NULL);
    static const char *const keys[] = {
        "schema", "rig", "valid",    "workload",  "workload_origin", "summary", "happened", "requested", "evidence",
        "levels", "not", "decision", "anomalies", "history",         "edges",   "reasons",  "cost"};
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json, key, value)
    {
        assert_true(i < sizeof keys / sizeof keys[0]);
        assert_string_equal(key, keys[i++]);
    }
    assert_int_equal(i, sizeof keys / sizeof keys[0]);
    assert_true(json_is_false(json_object_get(json, "valid")));
    assert_string_equal(text_at(json, "workload"), "list-append");
    json_t *levels = json_object_get(json, "levels");
    assert_int_equal(json_object_size(levels), RIG_LEVEL_COUNT);
    assert_string_equal(text_at(levels, "serializable"), "refuted");
    assert_string_equal(text_at(levels, "snapshot-isolation"), "held");
    assert_int_equal(json_array_size(json_object_get(json, "not")), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "not"), 0)), "repeatable-read");
    json_decref(json);
    hand_verdict_done(&hand);
}

static void witnesses_name_transactions_and_edges(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    json_t *json = parsed(&hand.verdict, NULL);
    json_t *finding = json_object_get(json_object_get(json, "anomalies"), "G2-item");
    assert_int_equal(json_integer_value(json_object_get(finding, "count")), 3);
    assert_true(json_is_true(json_object_get(finding, "exact")));
    json_t *witness = json_array_get(json_object_get(finding, "witnesses"), 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(witness, "transactions"), 0)), 17);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(witness, "transactions"), 1)), 23);
    assert_string_equal(json_string_value(json_array_get(json_object_get(witness, "steps"), 0)), hand.steps[0].text);
    assert_string_equal(text_at(witness, "text"), hand.witnesses[0].text);
    json_t *edge = json_array_get(json_object_get(witness, "edges"), 0);
    assert_int_equal(json_integer_value(json_object_get(edge, "from")), 17);
    assert_int_equal(json_integer_value(json_object_get(edge, "to")), 23);
    assert_string_equal(text_at(edge, "kind"), "rw");
    assert_int_equal(json_integer_value(json_object_get(edge, "key")), 5);
    assert_int_equal(json_integer_value(json_object_get(edge, "from_value")), 2);
    assert_int_equal(json_integer_value(json_object_get(edge, "to_value")), 3);
    json_t *empty = json_array_get(json_object_get(witness, "edges"), 1);
    assert_true(json_is_null(json_object_get(empty, "from_value")));
    json_decref(json);
    hand_verdict_done(&hand);
}

static void of_a_long_cycle_the_ends_are_given(void **state)
{
    (void)state;
    struct hand_verdict hand;
    for (uint32_t count = RIG_WITNESS_WHOLE; count <= RIG_WITNESS_WHOLE + 1; count++) {
        hand_verdict_ring(&hand, count);
        json_t *json = parsed(&hand.verdict, NULL);
        json_t *finding = json_object_get(json_object_get(json, "anomalies"), "G2-item-realtime");
        json_t *witness = json_array_get(json_object_get(finding, "witnesses"), 0);
        json_t *transactions = json_object_get(witness, "transactions");
        bool whole = count == RIG_WITNESS_WHOLE;
        uint32_t shown = whole ? count : 2 * RIG_WITNESS_ENDS;
        assert_int_equal(json_array_size(transactions), shown);
        assert_int_equal(json_array_size(json_object_get(witness, "steps")), shown);
        assert_int_equal(json_array_size(json_object_get(witness, "edges")), shown);
        assert_int_equal(json_integer_value(json_array_get(transactions, shown - 1)),
                         rig_txn_name(hand.history, hand.txns[count - 1]));
        assert_int_equal(json_integer_value(json_object_get(witness, "length")), whole ? 0 : count);
        assert_int_equal(json_integer_value(json_object_get(witness, "left_out")), whole ? 0 : count - shown);
        json_decref(json);
        struct rig_buf steps;
        rig_buf_init(&steps, 0);
        rig_report_steps(&hand.verdict, &hand.witnesses[0], &steps);
        uint32_t lines = 0;
        for (size_t i = 0; i < steps.size; i++)
            lines += steps.data[i] == '\n';
        assert_int_equal(lines, count);
        rig_buf_done(&steps);
        hand_verdict_done(&hand);
    }
}

static void history_and_indecision_are_said(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    hand.verdict.scope.truncated = true;
    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"nothing was observed";
    hand.verdict.info_count = 4;
    json_t *json = parsed(&hand.verdict, NULL);
    assert_string_equal(text_at(json, "valid"), "unknown");
    assert_string_equal(text_at(json, "unknown_reason"), "nothing was observed");
    json_t *history = json_object_get(json, "history");
    assert_true(json_is_true(json_object_get(history, "truncated")));
    assert_int_equal(json_integer_value(json_object_get(history, "operations")), 6);
    assert_int_equal(json_integer_value(json_object_get(history, "ok")), 3);
    assert_int_equal(json_integer_value(json_object_get(history, "info")), 4);
    assert_true(json_real_value(json_object_get(json_object_get(json, "cost"), "infer_ms")) == 2.25);
    json_decref(json);
    hand_verdict_done(&hand);
}

static void huge_and_hostile_texts_stay_valid_json(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_ring(&hand, HAND_TXNS_MAX);
    const size_t size = (size_t)4 << 20;
    char *huge = malloc(size);
    assert_non_null(huge);
    for (size_t i = 0; i + 1 < size; i++)
        huge[i] = (char)(i % 255 + 1);
    huge[size - 1] = '\0';
    hand.witnesses[0].text = huge;
    hand.verdict.summary = (char *)HAND_HOSTILE;
    const struct rig_report_error error = {"info", HAND_HOSTILE, huge, UINT32_MAX};
    const struct rig_report_run run = {
        .name = HAND_HOSTILE, .server = huge, .seed = UINT64_MAX, .errors = &error, .error_count = 1};
    json_t *json = parsed(&hand.verdict, &run);
    json_t *told = json_object_get(json, "run");
    assert_string_equal(text_at(told, "seed"), "18446744073709551615");
    assert_true(json_is_null(json_object_get(told, "isolation")));
    assert_non_null(strstr(text_at(told, "name"), "<script>alert(\"x\")</script>"));
    json_decref(json);
    free(huge);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_is_the_one_promised),
        cmocka_unit_test(witnesses_name_transactions_and_edges),
        cmocka_unit_test(of_a_long_cycle_the_ends_are_given),
        cmocka_unit_test(history_and_indecision_are_said),
        cmocka_unit_test(huge_and_hostile_texts_stay_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
