#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/source/load.h"
#include "history/model/read_list.h"
#include "tests/history/history_model.h"

static struct rig_history *parse(const char *text)
{
    struct rig_load_options options = {0};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_parse("test.edn", text, strlen(text), &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void jepsen_operations(void **state)
{
    (void)state;
    struct rig_history *history =
        parse("; a comment first\n"
              "#jepsen.history.Op{:index 3, :time 17, :type :invoke, :process 3, :f :txn,\n"
              "   :value [[:append :x -1] [:r :x nil]], :extra #{1 \\( [\"]\"]}}\n"
              "{:type :info, :index 4, :process :nemesis, :f :kill, :value {\"n1\" :killed}, :time 18}\n"
              "{:index 9, :type :info, :process 3, :value #some/tag ((:append :x -1), (:r :x (4N , #_ 7 -5)))\n"
              " :error [:net {:a 1}] #_ #_ :discarded :both}");
    assert_int_equal(history->workload, RIG_WORKLOAD_LIST_APPEND);
    assert_int_equal(history->txn_count, 1);
    assert_int_equal(history->skipped_count, 1);
    assert_true(history->keyword_keys);
    const struct rig_txn *txn = &history->txns[0];
    assert_int_equal(txn->invoke_at, 3);
    assert_int_equal(txn->complete_at, 9);
    assert_int_equal(txn->invoke_ns, 17);
    assert_true(txn->complete_ns == RIG_NO_TIME);
    assert_int_equal(txn->outcome, RIG_OUTCOME_INFO);
    assert_string_equal(history->errors[txn->error - 1], "[:net {:a 1}]");
    char key[24];
    rig_history_key_text(history, 0, key, sizeof key);
    assert_string_equal(key, ":x");
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, 0) + 1);
    assert_int_equal(list.count, 2);
    const int64_t elements[] = {4, -5};
    assert_true(rig_read_same(&list, &(struct rig_read_list){.at = elements, .shared = 2, .count = 2}, 2));
    rig_history_free(history);
}

static void one_vector_or_list(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[{:type :ok :process 0 :value [[:w \"k\" 1]]} {:type :ok :process 1 :value [[:r \"k\" 1] [:r \"k\" nil]]}]",
        "({:type :ok :process 0 :value [[:w \"k\" 1]]}\n{:type :ok :process 1 :value [[:r \"k\" 1][:r \"k\" nil]]})",
        "{:type :ok :process 0 :value [[:w \"k\" 1]]} {:type :ok :process 1 :value [[:r \"k\" 1] [:r \"k\" nil]]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct rig_history *history = parse(texts[i]);
        assert_int_equal(history->txn_count, 2);
        assert_int_equal(history->workload, RIG_WORKLOAD_RW_REGISTER);
        assert_false(history->has_invocations);
        assert_false(history->keyword_keys);
        assert_int_equal(rig_txn_ops(history, 1)[0].value, 1);
        assert_int_equal(rig_txn_ops(history, 1)[1].read_state, RIG_READ_NIL);
        assert_int_equal(history->txns[1].process, 1);
        assert_int_equal(history->skipped_count, 0);
        rig_history_free(history);
    }
}

static void nothing_but_blanks(void **state)
{
    (void)state;
    struct rig_history *history = parse("() ; none");
    assert_int_equal(history->txn_count, 0);
    rig_history_free(history);
}

static void random_histories_come_back(void **state)
{
    (void)state;
    struct rig_rng rng;
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    char path[] = "/tmp/rig-test-edn-XXXXXX";
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
            .no_invocations = (variant & 4) != 0,
            .text_keys = (variant & 8) != 0,
            .no_times = (variant & 16) != 0,
            .position_gaps = (variant & 32) != 0,
        };
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        wanted->keyword_keys = options.text_keys && (variant & 2) != 0;
        struct rig_err err = {0};
        assert_int_equal(rig_history_save(wanted, path, &(struct rig_save_options){.form = RIG_FORM_EDN}, &err),
                         RIG_OK);
        struct rig_history *history = NULL;
        struct rig_load_options load = {.workload_given = variant == 0, .workload = options.workload};
        if (rig_history_load(path, &load, &history, &err) != RIG_OK)
            fail_msg("variant %u: %s", variant, err.text);
        assert_same_history(history, wanted);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jepsen_operations),
        cmocka_unit_test(one_vector_or_list),
        cmocka_unit_test(nothing_but_blanks),
        cmocka_unit_test(random_histories_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
