/* Excerpts of histories: the kept part is unchanged, and the rest is gone. */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/model/history_excerpt.h"
#include "tests/history/history_model.h"
#include "tests/unit/given_history.h"

static struct rig_rng rng;

static int seeded(void **state)
{
    (void)state;
    const char *given_seed = getenv("RIG_TEST_SEED");
    uint64_t seed = given_seed != NULL ? strtoull(given_seed, NULL, 10) : rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    return 0;
}

static struct rig_history *excerpt_of(const struct rig_history *history, const uint8_t *keep)
{
    struct rig_history *excerpt = NULL;
    struct rig_err err = {0};
    if (rig_history_excerpt(history, keep, &excerpt, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return excerpt;
}

static void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a == NULL ? "none" : a, b == NULL ? "none" : b);
}

static void assert_same_spans(struct rig_spans got, struct rig_spans wanted)
{
    assert_int_equal(got.count, wanted.count);
    if (got.count > 0)
        assert_memory_equal(got.at, wanted.at, 2 * got.count * sizeof *got.at);
}

static void assert_same_values(const struct rig_history *got, uint32_t a, const struct rig_history *all, uint32_t b)
{
    for (int i = 0; i < RIG_COLUMN_COUNT; i++) {
        const enum rig_column column = (enum rig_column)i;
        if (rig_column_infos[i].type == RIG_COLUMN_NAME)
            assert_same_text(rig_history_column_name(got, a, column), rig_history_column_name(all, b, column));
        else if (rig_column_infos[i].type == RIG_COLUMN_SPANS)
            assert_same_spans(rig_history_times(got, a), rig_history_times(all, b));
        else
            assert_true(rig_history_column(got, a, column) == rig_history_column(all, b, column));
    }
}

static void assert_same_txn(const struct rig_history *got, uint32_t a, const struct rig_history *all, uint32_t b)
{
    const struct rig_txn *x = &got->txns[a], *y = &all->txns[b];
    assert_true(x->invoke_ns == y->invoke_ns && x->complete_ns == y->complete_ns);
    assert_true(x->invoke_at == y->invoke_at && x->complete_at == y->complete_at);
    assert_int_equal(x->process, y->process);
    assert_int_equal(x->outcome, y->outcome);
    assert_same_text(x->error == 0 ? NULL : got->errors[x->error - 1],
                     y->error == 0 ? NULL : all->errors[y->error - 1]);
    assert_int_equal(rig_txn_op_count(got, a), rig_txn_op_count(all, b));
    for (uint32_t i = 0; i < rig_txn_op_count(got, a); i++)
        assert_same_op(got, rig_txn_ops(got, a) + i, all, rig_txn_ops(all, b) + i);
    assert_same_values(got, a, all, b);
}

static uint8_t *random_keep(uint32_t count, uint32_t share)
{
    uint8_t *keep = calloc((size_t)count + 1, 1);
    assert_non_null(keep);
    for (uint32_t i = 0; i < count; i++)
        keep[i] = rig_rng_below(&rng, 100) < share;
    return keep;
}

static void assert_excerpt(const struct rig_history *history, uint32_t share)
{
    uint8_t *keep = random_keep(history->txn_count, share);
    struct rig_history *excerpt = excerpt_of(history, keep);
    uint32_t kept = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (keep[txn])
            assert_same_txn(excerpt, kept++, history, txn);
    }
    assert_int_equal(excerpt->txn_count, kept);
    assert_int_equal(excerpt->workload, history->workload);
    assert_int_equal(excerpt->has_invocations, history->has_invocations);
    assert_int_equal(excerpt->truncated, history->truncated);
    assert_int_equal(excerpt->skipped_count, history->skipped_count);
    assert_int_equal(excerpt->keyword_keys, history->keyword_keys);
    assert_true(excerpt->is_excerpt && rig_history_zero_ns(excerpt) == rig_history_zero_ns(history));
    assert_same_text(excerpt->meta, history->meta);
    rig_history_free(excerpt);
    free(keep);
}

/* Lists with branches and failed reads, and registers; with numbers and texts as keys, columns, and few known
 * results. */
static void what_is_kept_is_as_it_was(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct model_options options = {.workload = i % 2 == 0 ? RIG_WORKLOAD_LIST_APPEND : RIG_WORKLOAD_RW_REGISTER,
                                        .txn_count = 200,
                                        .channel_count = 6,
                                        .key_count = 5,
                                        .text_keys = i % 3 == 0,
                                        .columns = i % 5 < 3,
                                        .no_invocations = i % 7 == 0,
                                        .no_times = i % 11 == 0};
        struct model model;
        model_make(&model, &options, &rng);
        struct rig_history *history = model_history(&model, model.event_count);
        assert_true(i % 2 != 0 || history->branch_count > 0);
        assert_excerpt(history, (uint32_t)(i * 5 % 101));
        rig_history_free(history);
        model_done(&model);
    }
}

static void an_excerpt_of_everything_is_the_history(void **state)
{
    (void)state;
    struct model_options options = {
        .workload = RIG_WORKLOAD_LIST_APPEND, .txn_count = 300, .channel_count = 5, .key_count = 4, .columns = true};
    struct model model;
    model_make(&model, &options, &rng);
    struct rig_history *history = model_history(&model, model.event_count);
    uint8_t *keep = random_keep(history->txn_count, 100);
    struct rig_history *excerpt = excerpt_of(history, keep);
    assert_same_history(excerpt, history);
    rig_history_free(excerpt);
    rig_history_free(history);
    free(keep);
    model_done(&model);
}

/* Keys and elements that no kept transaction uses are gone, and a single branch becomes the spine. */
static void the_rest_is_gone(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 1 0-1: rx[1 2 3]; ok 1 2-3: rx[1 9]; ok 1 4-5: ay4");
    assert_int_equal(history->branch_count, 1);
    struct rig_history *excerpt = excerpt_of(history, (const uint8_t[]){0, 1, 0});
    assert_int_equal(excerpt->txn_count, 1);
    assert_int_equal(excerpt->key_count, 1);
    assert_int_equal(excerpt->branch_count, 0);
    assert_int_equal(excerpt->spines[0].count, 2);
    assert_int_equal(excerpt->spines[0].at[1], 9);
    struct rig_history *none = excerpt_of(excerpt, (const uint8_t[]){0});
    assert_int_equal(none->txn_count, 0);
    assert_true(rig_history_zero_ns(none) == rig_history_zero_ns(history));
    rig_history_free(none);
    rig_history_free(excerpt);
    rig_history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_as_it_was),
        cmocka_unit_test(an_excerpt_of_everything_is_the_history),
        cmocka_unit_test(the_rest_is_gone),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
