/* Windows: one transaction a segment and a window, idle keys finished at once; keys that are used again, and the uses
 * that are conflicts. */
#include "tests/unit/given_history.h"

#include <stdio.h>
#include <string.h>

#include "checker/judge/stream/stream.h"
#include "history/source/source.h"
#include "tests/model/cut_history.h"

struct fixture {
    struct rig_history *history;
    struct rig_stream *windows;
    struct rig_verdict *verdict;
    const char *conflict;
};

/* Feeds the history. */
static void feed_history(struct fixture *f, struct rig_history *history, const struct rig_stream_options *options)
{
    struct rig_err err = {0};
    struct cut_history cut;
    const struct rig_segment *segment;
    *f = (struct fixture){.history = history};
    assert_int_equal(rig_stream_begin(RIG_WORKLOAD_LIST_APPEND, options, &f->windows, &err), RIG_OK);
    cut_history_init(&cut, f->history, 1);
    while ((segment = cut_history_next(&cut)) != NULL) {
        if (rig_stream_feed(f->windows, segment, &err) != RIG_OK)
            fail_msg("%s", err.text);
    }
    cut_history_done(&cut);
    f->conflict = rig_stream_conflict(f->windows);
}

static void feed(struct fixture *f, const char *notation, const struct rig_stream_options *options)
{
    feed_history(f, given(notation), options);
}

static void finish(struct fixture *f)
{
    struct rig_err err = {0};
    struct rig_source_facts facts = {.workload = RIG_WORKLOAD_LIST_APPEND, .has_invocations = true, .skipped_count = 7};
    if (rig_stream_finish(f->windows, &facts, &f->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    f->windows = NULL;
}

static void check(struct fixture *f, const char *notation)
{
    const struct rig_stream_options options = {
        .check = {.assumptions = RIG_ASSUMES_PREFILLED}, .least_new = 1, .growth = 1, .idle = 1};
    feed(f, notation, &options);
    if (f->conflict == NULL)
        finish(f);
}

static void done(struct fixture *f)
{
    rig_stream_free(f->windows);
    rig_verdict_free(f->verdict);
    rig_history_free(f->history);
}

static void a_short_history_is_one_window(void **state)
{
    (void)state;
    struct fixture f;
    feed(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", &(struct rig_stream_options){0});
    finish(&f);
    assert_int_equal(f.verdict->cost.window_count, 1);
    assert_int_equal(f.verdict->history->txn_count, 2);
    assert_false(f.verdict->history->is_excerpt);
    assert_string_equal(f.verdict->summary, "This history keeps strict-serializable.");
    done(&f);
}

static void windows_count_dropped_transactions(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 2 4-5: ay1; ok 0 6-7: ry[]; ok 0 8-9: az1; ok 1 10-11: rz[1]");
    assert_non_null(f.verdict);
    assert_true(f.verdict->cost.window_count > 2);
    assert_int_equal(f.verdict->scope.txn_count, 6);
    assert_int_equal(f.verdict->scope.op_count, 6);
    assert_int_equal(f.verdict->scope.skipped_count, 7);
    assert_int_equal(f.verdict->scope.committed_count, 5);
    assert_int_equal(f.verdict->fail_count, 1);
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->history->txn_count, 0);
    done(&f);
}

/* Write skew early in the history: only its transactions are kept, under their names. */
static void witnesses_outlive_their_window(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 5 0-1: aw1; ok 6 2-3: rw[1]; ok 0 4-6: rx[] ay1; ok 1 5-7: ry[] ax1; ok 2 8-9: rx[1] ry[1]; "
              "ok 3 10-11: az1; ok 3 12-13: rz[1]; ok 3 14-15: az2; ok 3 16-17: rz[1 2]");
    assert_non_null(f.verdict);
    const struct rig_finding *finding = &f.verdict->findings[RIG_ANOMALY_G2_ITEM];
    assert_int_equal(finding->count, 1);
    assert_int_equal(finding->witness_count, 1);
    assert_true(f.verdict->history->is_excerpt);
    assert_true(f.verdict->history->txn_count < f.history->txn_count);
    assert_int_equal(rig_txn_name(f.verdict->history, finding->witnesses[0].txns[0]), 6);
    assert_int_equal(rig_txn_name(f.verdict->history, finding->witnesses[0].txns[1]), 7);
    assert_non_null(strstr(finding->witnesses[0].text, "T6 and T7 form a cycle"));
    assert_non_null(
        strstr(finding->witnesses[0].text, "T6 = process 0, 0.004000 s - 0.006000 s: [r 0 []] [append 1 1]"));
    done(&f);
}

static void a_key_may_come_back_where_it_was(void **state)
{
    (void)state;
    struct fixture f;
    /* x is dropped with [1], comes back, grows, is dropped with [1 2], and comes back again. */
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 0 8-9: ax2; ok 1 10-11: rx[1 2]; "
              "ok 2 12-13: az1; ok 2 14-15: rz[1]; ok 0 16-17: rx[1 2]; ok 2 18-19: rz[1]");
    assert_null(f.conflict);
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    done(&f);
}

static void one_unread_append_may_be_read_late(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 2 8-9: az1; ok 1 10-11: rx[1]; ok 1 12-13: rz[1]");
    assert_null(f.conflict);
    assert_int_equal(f.verdict->scope.unordered_keys, 0);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    done(&f);
}

/* Late uses that a guess cannot know. */
static const char *const late_histories[] = {
    /* a stale read */
    "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 0 8-9: rx[]; ok 2 10-11: ry[1]",
    /* one that misses an append that no transaction had read */
    "ok 0 0-1: ax1; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 2 8-9: az1; ok 1 10-11: rx[]; ok 1 12-13: rz[1]",
    /* several appends that no transaction had read */
    "ok 0 0-2: ax1; ok 1 1-3: ax2; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 2 8-9: az1; ok 1 10-11: rx[1 2]; ok 1 12-13: "
    "rz[1]",
    /* a value of a transaction that counted as uncommitted */
    "ok 0 0-1: ax1; ok 1 2-3: rx[1]; info 0 4-5: ax2; ok 2 6-7: ay1; ok 2 8-9: ry[1]; ok 2 10-11: rx[1 2]; ok 1 "
    "12-13: ry[1]",
    /* a value of a transaction that aborted */
    "ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 0 4-5: ax2; ok 2 6-7: ay1; ok 2 8-9: ry[1]; ok 2 10-11: rx[1 2]; ok 1 "
    "12-13: ry[1]",
    /* a value appended again, which makes the history unusable */
    "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 6-7: ay1; ok 2 8-9: ry[1]; ok 2 10-11: ax1; ok 1 12-13: ry[1]",
};

static void an_order_of_judged_transactions_is_a_conflict(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof late_histories / sizeof late_histories[0]; i++) {
        struct fixture f;
        check(&f, late_histories[i]);
        assert_non_null(f.conflict);
        done(&f);
    }
}

/* All but the last, which is unusable: it gives an error. */
static void with_a_census_there_is_no_conflict(void **state)
{
    (void)state;
    uint32_t window_count = 0;
    const uint32_t history_count = sizeof late_histories / sizeof late_histories[0] - 1;
    for (size_t i = 0; i < history_count; i++) {
        struct fixture f;
        struct rig_err err = {0};
        struct rig_verdict *whole = NULL;
        struct rig_census *census = rig_census_new();
        struct cut_history cut;
        const struct rig_segment *segment;
        char longer[256]; /* with later transactions when all keys are finished */
        (void)snprintf(longer, sizeof longer, "%s; ok 3 20-21: aw1; ok 3 22-23: rw[1]", late_histories[i]);
        struct rig_history *history = given(longer);
        cut_history_init(&cut, history, 1);
        while ((segment = cut_history_next(&cut)) != NULL)
            assert_true(rig_census_note(census, segment));
        cut_history_done(&cut);
        const struct rig_stream_options options = {.least_new = 1, .growth = 1, .idle = 1, .census = census};
        feed(&f, longer, &options);
        assert_null(f.conflict);
        finish(&f);
        assert_int_equal(rig_check(history, &options.check, &whole, &err), RIG_OK);
        window_count += f.verdict->cost.window_count;
        assert_int_equal(f.verdict->valid, whole->valid);
        for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
            assert_int_equal(f.verdict->levels[level].fate, whole->levels[level].fate);
        rig_verdict_free(whole);
        rig_history_free(history);
        rig_census_free(census);
        done(&f);
    }
    assert_true(window_count > history_count);
}

static void with_a_census_a_value_is_still_refused_twice(void **state)
{
    (void)state;
    struct rig_err err = {0};
    struct rig_stream *windows;
    struct cut_history cut;
    const struct rig_segment *segment;
    struct rig_census *census = rig_census_new(); /* knows no key: all may be used again */
    struct rig_history *history = given(late_histories[sizeof late_histories / sizeof late_histories[0] - 1]);
    const struct rig_stream_options options = {.least_new = 1, .growth = 1, .census = census};
    assert_int_equal(rig_stream_begin(RIG_WORKLOAD_LIST_APPEND, &options, &windows, &err), RIG_OK);
    cut_history_init(&cut, history, 1);
    while ((segment = cut_history_next(&cut)) != NULL)
        (void)rig_stream_feed(windows, segment, &err);
    const struct rig_source_facts facts = {.workload = RIG_WORKLOAD_LIST_APPEND, .has_invocations = true};
    struct rig_verdict *verdict = NULL;
    (void)rig_stream_finish(windows, &facts, &verdict, &err);
    assert_int_equal(err.rc, RIG_E_INPUT);
    assert_null(verdict);
    cut_history_done(&cut);
    rig_census_free(census);
    rig_history_free(history);
}

static void with_keep_all_there_is_no_conflict(void **state)
{
    (void)state;
    struct fixture f;
    const struct rig_stream_options options = {.least_new = 1, .growth = 1, .idle = 1, .keep_all = true};
    feed(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: ay1; ok 2 6-7: ry[1]; ok 0 8-9: rx[]; ok 2 10-11: ry[1]",
         &options);
    assert_null(f.conflict);
    finish(&f);
    assert_int_equal(f.verdict->cost.window_count, 1);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    done(&f);
}

static void a_look_shows_the_unjudged_part(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_err err = {0};
    struct rig_stream_interim interim;
    feed(&f, "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]; info 3 6-: az1",
         &(struct rig_stream_options){.check = {.assumptions = RIG_ASSUMES_PREFILLED}});
    assert_int_equal(rig_stream_interim(f.windows, &interim, &err), RIG_OK);
    assert_int_equal(interim.count[RIG_ANOMALY_G2_ITEM], 1);
    assert_true(interim.refuted & RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE));
    assert_false(interim.refuted & RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION));
    assert_int_equal(interim.txn_count, 3);
    assert_int_equal(interim.waiting_count, 3);
    finish(&f);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_G2_ITEM].count, 1);
    done(&f);
}

/* Transactions one after the other, in pairs on a key of their own: one appends, the next one reads that. */
static struct rig_history *passing_keys(int txn_count)
{
    struct rig_err err = {0};
    struct rig_history *history;
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    assert_non_null(builder);
    for (int i = 0; i < txn_count; i++) {
        struct small_op op = {.append = i % 2 == 0, .key = i / 2, .value = 1, .known = true, .list = {1}, .count = 1};
        struct small_txn txn = {.invoke_at = 2 * i, .complete_at = 2 * i + 1, .ops = {op}, .op_count = 1};
        given_add(builder, &txn);
    }
    assert_int_equal(rig_history_builder_finish(builder, &history, &err), RIG_OK);
    return history;
}

static uint64_t waiting_of(struct fixture *f)
{
    struct rig_err err = {0};
    struct rig_stream_interim interim;
    assert_int_equal(rig_stream_interim(f->windows, &interim, &err), RIG_OK);
    return interim.waiting_count;
}

/* As soon as enough transactions are new while the window is most of the history, and later when it has grown. */
static void a_short_history_is_judged_early(void **state)
{
    (void)state;
    struct fixture f;
    const struct rig_stream_options options = {.least_new = 4, .growth = 1000, .idle = 2};
    feed_history(&f, passing_keys(10), &options);
    assert_in_range(waiting_of(&f), 1, 6);
    done(&f);
    feed_history(&f, passing_keys(100), &options);
    assert_in_range(waiting_of(&f), 30, 96);
    done(&f);
}

/* A third of the operations has to leave: two of eight are too few, four are enough. */
static void nothing_is_judged_before_much_can_go(void **state)
{
    (void)state;
    struct fixture f;
    const struct rig_stream_options options = {.least_new = 8, .growth = 1, .idle = 2};
    static const char notation[] = "ok 0 0-1: ax1; ok 0 2-3: rx[1]; ok 0 4-5: ay1; ok 0 6-7: ry[1]; ok 0 8-9: ry[1]; "
                                   "ok 0 10-11: ry[1]; ok 0 12-13: ry[1]; ok 0 14-15: ry[1]";
    feed(&f, notation, &options);
    assert_int_equal(waiting_of(&f), 8);
    done(&f);
    static const char more[] = "ok 0 0-1: ax1; ok 0 2-3: rx[1]; ok 0 4-5: rx[1]; ok 0 6-7: rx[1]; ok 0 8-9: ry[]; "
                               "ok 0 10-11: ry[]; ok 0 12-13: ry[]; ok 0 14-15: ry[]";
    feed(&f, more, &options);
    assert_int_equal(waiting_of(&f), 4);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_history_is_one_window),
        cmocka_unit_test(windows_count_dropped_transactions),
        cmocka_unit_test(witnesses_outlive_their_window),
        cmocka_unit_test(a_key_may_come_back_where_it_was),
        cmocka_unit_test(one_unread_append_may_be_read_late),
        cmocka_unit_test(an_order_of_judged_transactions_is_a_conflict),
        cmocka_unit_test(with_a_census_there_is_no_conflict),
        cmocka_unit_test(with_a_census_a_value_is_still_refused_twice),
        cmocka_unit_test(with_keep_all_there_is_no_conflict),
        cmocka_unit_test(a_look_shows_the_unjudged_part),
        cmocka_unit_test(a_short_history_is_judged_early),
        cmocka_unit_test(nothing_is_judged_before_much_can_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
