#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "history/source/load.h"
#include "history/model/read_list.h"
#include "tests/history/history_model.h"

static struct rig_history *parse(const char *text)
{
    struct rig_load_options options = {0};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_parse("test.json", text, strlen(text), &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void fields_in_any_order(void **state)
{
    (void)state;
    struct rig_history *history =
        parse("{\"value\":[[\"append\",\"x\",-1],[\"r\",\"x\",null]],\"f\":\"txn\",\"extra\":{\"a\":[1,{\"b\":[]}],"
              "\"c\":1.5e3},"
              "\"process\":3,\"type\":\"invoke\",\"time\":17,\"index\":5}\r\n\n"
              "  {\"error\":[\"x\", 1],\"index\":9,\"type\":\"info\",\"process\":3,\"time\":20,"
              "\"value\":[[\"append\",\"\\u0078\",-1],[\"r\",\"x\",[ 4 , -5 ]]]}");
    assert_int_equal(history->workload, RIG_WORKLOAD_LIST_APPEND);
    assert_int_equal(history->txn_count, 1);
    assert_true(history->has_invocations);
    const struct rig_txn *txn = &history->txns[0];
    assert_int_equal(txn->invoke_at, 5);
    assert_int_equal(txn->complete_at, 9);
    assert_int_equal(txn->invoke_ns, 17);
    assert_int_equal(txn->complete_ns, 20);
    assert_int_equal(txn->process, 3);
    assert_int_equal(txn->outcome, RIG_OUTCOME_INFO);
    assert_string_equal(history->errors[txn->error - 1], "[\"x\", 1]");
    const struct rig_txn_op *mops = rig_txn_ops(history, 0);
    assert_int_equal(mops[0].kind, RIG_OP_APPEND);
    assert_int_equal(mops[0].value, -1);
    char key[24];
    rig_history_key_text(history, mops[1].key, key, sizeof key);
    assert_string_equal(key, "x");
    assert_int_equal(history->key_count, 1);
    struct rig_read_list list = rig_txn_op_list(history, &mops[1]);
    assert_int_equal(list.count, 2);
    const int64_t elements[] = {4, -5};
    assert_true(rig_read_same(&list, &(struct rig_read_list){.at = elements, .shared = 2, .count = 2}, 2));
    rig_history_free(history);
}

static void null_depends_on_the_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        enum rig_read_state null, missing;
    } cases[] = {
        {"ok", RIG_READ_NIL, RIG_READ_UNKNOWN},
        {"fail", RIG_READ_UNKNOWN, RIG_READ_UNKNOWN},
        {"info", RIG_READ_UNKNOWN, RIG_READ_UNKNOWN},
    };
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        (void)snprintf(
            text, sizeof text,
            "{\"type\":\"%s\",\"process\":0,\"value\":[[\"append\",1,1],[\"r\",1,null],[\"r\",2,[]],[\"r\",3]]}",
            cases[i].type);
        struct rig_history *history = parse(text);
        const struct rig_txn_op *mops = rig_txn_ops(history, 0);
        assert_int_equal(mops[1].read_state, cases[i].null);
        assert_int_equal(mops[2].read_state, RIG_READ_SEEN);
        assert_int_equal(mops[2].count, 0);
        assert_int_equal(mops[3].read_state, cases[i].missing);
        rig_history_free(history);
    }
}

static void completions_only(void **state)
{
    (void)state;
    struct rig_history *history = parse("[{\"index\":0,\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",1,2]]},\n"
                                        " {\"index\":4,\"type\":\"fail\",\"process\":0,\"value\":[[\"r\",1,2]]}]\n");
    assert_int_equal(history->workload, RIG_WORKLOAD_RW_REGISTER);
    assert_false(history->has_invocations);
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[0].invoke_at, RIG_POSITION_NONE);
    assert_int_equal(history->txns[1].complete_at, 4);
    assert_int_equal(history->txns[0].complete_ns == RIG_NO_TIME, 1);
    rig_history_free(history);
}

static void others_are_skipped_and_counted(void **state)
{
    (void)state;
    struct rig_history *history =
        parse("{\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"kill\",\"value\":{\"n1\":\"killed\"}}\n"
              "{\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"value\":[[\"append\",1,1]]}\n"
              "{\"type\":\"invoke\",\"process\":2,\"f\":\"drain\",\"value\":null}\n"
              "{\"type\":\"invoke\",\"process\":null,\"value\":[]}\n"
              "{\"type\":\"ok\",\"process\":2,\"f\":\"drain\",\"value\":[1,2,[3]]}\n"
              "{\"type\":\"info\",\"process\":1,\"f\":\"txn\",\"value\":null}\n"
              "{\"type\":\"ok\",\"process\":null,\"value\":[]}\n"
              "{\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"value\":[[\"append\",1,2]]}\n");
    assert_int_equal(history->skipped_count, 5);
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[0].complete_at, 5); /* its operations are those of the invocation */
    assert_int_equal(rig_txn_op_count(history, 0), 1);
    assert_int_equal(history->txns[1].complete_at, RIG_POSITION_NONE);
    assert_int_equal(history->txns[1].outcome, RIG_OUTCOME_INFO);
    rig_history_free(history);
}

static void extremes_fit(void **state)
{
    (void)state;
    struct rig_history *history = parse("{\"type\":\"ok\",\"process\":-2147483648,\"value\":"
                                        "[[\"append\",-9223372036854775808,9223372036854775807],[\"r\",0,[-0]]]}");
    assert_true(rig_txn_ops(history, 0)[0].value == INT64_MAX);
    assert_true(history->keys[0] == INT64_MIN);
    assert_int_equal(history->txns[0].process, INT32_MIN);
    rig_history_free(history);
    history = parse("[]");
    assert_int_equal(history->txn_count, 0);
    rig_history_free(history);
    history = parse("\n \n");
    assert_int_equal(history->txn_count, 0);
    rig_history_free(history);
}

static void keys_are_decoded(void **state)
{
    (void)state;
    struct rig_history *history =
        parse("{\"type\":\"ok\",\"process\":1,\"value\":[[\"append\",\"a\\\"\\\\\\n\\u00e9\\ud83d\\ude00\",1],"
              "[\"append\",\"\\ud83d\",1]]}");
    assert_string_equal(history->key_texts[0], "a\"\\\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_string_equal(history->key_texts[1], "\xef\xbf\xbd");
    rig_history_free(history);
}

static void the_workload_can_be_given(void **state)
{
    (void)state;
    const char *text = "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",1,null]]}";
    struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_history_parse("t", text, strlen(text), &options, &history, &err), RIG_OK);
    assert_int_equal(history->workload, RIG_WORKLOAD_RW_REGISTER);
    assert_int_equal(rig_txn_ops(history, 0)->kind, RIG_OP_READ_REGISTER);
    rig_history_free(history);
}

static void random_histories_come_back(void **state)
{
    (void)state;
    struct rig_rng rng;
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    static const enum rig_form forms[] = {RIG_FORM_JSON_LINES, RIG_FORM_RIG};
    char path[] = "/tmp/rig-test-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    for (unsigned variant = 0; variant < 64; variant++) {
        struct model model;
        struct model_options options = {
            .exchange = true,
            .columns = variant % 3 == 0,
            .workload = variant & 1 ? RIG_WORKLOAD_RW_REGISTER : RIG_WORKLOAD_LIST_APPEND,
            .txn_count = variant == 0 ? 0 : 400,
            .channel_count = 9,
            .key_count = 40,
            .first_ns = variant & 2 ? -1000 : 0,
            .no_invocations = (variant & 4) != 0,
            .text_keys = (variant & 8) != 0,
            .no_times = (variant & 16) != 0,
            .position_gaps = (variant & 32) != 0,
        };
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
            struct rig_err err = {0};
            assert_int_equal(rig_history_save(wanted, path, &(struct rig_save_options){.form = forms[form]}, &err),
                             RIG_OK);
            struct rig_history *history = NULL;
            struct rig_load_options load = {.workload_given = variant == 0, .workload = options.workload};
            if (rig_history_load(path, &load, &history, &err) != RIG_OK)
                fail_msg("variant %u: %s", variant, err.text);
            assert_same_history(history, wanted);
            rig_history_free(history);
        }
        rig_history_free(wanted);
        model_done(&model);
    }
    (void)unlink(path);
}

/* An unknown read of an ok transaction is not written as the initial state. */
static void unknown_is_not_nil(void **state)
{
    (void)state;
    struct rig_history *history = parse("{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",1],[\"r\",2,null]]}");
    char path[] = "/tmp/rig-test-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    struct rig_err err = {0};
    assert_int_equal(rig_history_save(history, path, &(struct rig_save_options){.form = RIG_FORM_JSON_LINES}, &err),
                     RIG_OK);
    rig_history_free(history);
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_string_equal(
        rig_buf_text(&buf),
        "{\"index\":0,\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",1],[\"r\",2,null]]}\n");
    rig_buf_done(&buf);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_in_any_order),
        cmocka_unit_test(null_depends_on_the_outcome),
        cmocka_unit_test(completions_only),
        cmocka_unit_test(others_are_skipped_and_counted),
        cmocka_unit_test(extremes_fit),
        cmocka_unit_test(keys_are_decoded),
        cmocka_unit_test(the_workload_can_be_given),
        cmocka_unit_test(random_histories_come_back),
        cmocka_unit_test(unknown_is_not_nil),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
