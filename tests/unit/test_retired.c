/* Finished keys: the known part is cut off when they are used again. (test_stream.c tests conflicts.) */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/infer/list_inference.h"
#include "checker/judge/stream/retired.h"
#include "tests/model/cut_history.h"

struct fixture {
    struct rig_retired *retired;
    struct rig_history *history; /* the later history */
    struct cut_history cut;
    const struct rig_segment *segment, *cleaned;
    const char *conflict;
};

static void remember(struct rig_retired *retired, const struct rig_history *history, uint8_t key_fate)
{
    struct rig_err err = {0};
    struct rig_arena arena;
    struct rig_inference inference;
    uint8_t judged[SMALL_TXNS], fate[SMALL_KEYS];
    rig_arena_init(&arena, 0);
    memset(judged, 1, sizeof judged);
    memset(fate, key_fate, sizeof fate);
    assert_int_equal(rig_infer_list_append(history, (struct rig_assumptions){0}, 8, &arena, &inference, &err), RIG_OK);
    assert_int_equal(rig_retired_remember(retired, &inference, fate, judged, NULL, true, &err), RIG_OK);
    rig_inference_done(&inference);
    rig_arena_done(&arena);
}

/* Judges one history, after which all its keys have this fate, and makes the segment of another one. */
static void go(struct fixture *f, const char *gone, uint8_t key_fate, const char *comes)
{
    struct rig_history *before = given(gone);
    f->retired = rig_retired_new(RIG_WORKLOAD_LIST_APPEND, 0);
    remember(f->retired, before, key_fate);
    rig_history_free(before);
    f->history = given(comes);
    cut_history_init(&f->cut, f->history, SMALL_TXNS);
    f->segment = cut_history_next(&f->cut);
}

static void admit(struct fixture *f)
{
    struct rig_err err = {0};
    assert_int_equal(rig_retired_admit(f->retired, f->segment, &f->cleaned, &f->conflict, &err), RIG_OK);
}

/* Drops all keys of one history, then admits another one. */
static void come_back(struct fixture *f, const char *gone, const char *comes)
{
    go(f, gone, RIG_KEY_DROPPED, comes);
    admit(f);
}

static void done(struct fixture *f)
{
    rig_retired_free(f->retired);
    cut_history_done(&f->cut);
    rig_history_free(f->history);
}

static void other_keys_pass_as_they_are(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", "ok 0 4-5: ay1; ok 1 6-7: ry[1]");
    assert_null(f.conflict);
    assert_ptr_equal(f.cleaned, f.segment);
    done(&f);
}

static void the_judged_part_is_cut_off(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-1: ax1 ax2; ok 1 2-3: rx[1 2]", "ok 0 4-5: rx[1 2]; ok 0 6-7: ax3; ok 1 8-9: rx[1 2 3]");
    assert_null(f.conflict);
    assert_int_equal(f.segment->keys.at[0].spine.count, 3);
    assert_int_equal(f.cleaned->keys.at[0].spine.count, 1);
    assert_int_equal(f.cleaned->keys.at[0].spine.at[0], 3);
    assert_int_equal(f.cleaned->ops.at[0].count, 0);
    assert_int_equal(f.cleaned->ops.at[2].count, 1);
    struct rig_list prefix = rig_retired_prefix(f.retired, f.history, 0);
    assert_int_equal(prefix.count, 2);
    assert_int_equal(prefix.at[1], 2);
    done(&f);
}

static void an_unread_append_counts_as_the_end_of_the_list(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 0 4-5: ax2", "ok 1 8-9: rx[1 2]");
    assert_null(f.conflict);
    assert_int_equal(f.cleaned->ops.at[0].count, 0);
    done(&f);
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 0 4-5: ax2", "ok 1 8-9: rx[1]");
    assert_non_null(f.conflict);
    done(&f);
}

static void the_reads_of_aborted_ones_do_not_matter(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", "fail 1 8-9: rx[]; fail 2 10-11: rx[5]");
    assert_null(f.conflict);
    assert_int_equal(f.cleaned->ops.at[0].read_state, RIG_READ_UNKNOWN);
    assert_int_equal(f.cleaned->ops.at[1].read_state, RIG_READ_UNKNOWN);
    done(&f);
}

/* The judged part ends in the branch's tail, or in the elements that it shares with the spine. */
static void branches_are_cut_like_spines(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-1: ax1 ax2; ok 1 2-3: rx[1 2]",
              "fail 0 4-5: ax3 rx[1 2 3]; ok 1 6-7: rx[1 2]; fail 0 8-9: ax4 rx[1 2 4]");
    assert_null(f.conflict);
    assert_int_equal(f.segment->branches.count, 2);
    const uint32_t shared[] = {0, 2}, reads[] = {1, 4};
    for (int64_t i = 0; i < 2; i++) {
        const struct rig_growing_branch *branch = &f.cleaned->branches.at[i];
        assert_int_equal(f.segment->branches.at[i].shared, shared[i]);
        assert_int_equal(branch->shared, 0);
        assert_int_equal(branch->tail.count, 1);
        assert_int_equal(branch->tail.at[0], 3 + i);
        assert_int_equal(f.cleaned->ops.at[reads[i]].count, 1);
    }
    done(&f);
}

/* A spine that contradicts the judged list is removed, but a branch that agrees keeps the elements it shares. */
static void branches_outlive_their_spines(void **state)
{
    (void)state;
    struct fixture f;
    go(&f, "ok 0 0-1: ax1 ax2; ok 1 2-3: rx[1 2]", RIG_KEY_DEAD, "fail 0 4-5: ax3 rx[1 2 3]");
    struct rig_segment *segment = &f.cut.segment;
    struct rig_growing_branch *branch = &segment->branches.at[0];
    const int64_t spine[] = {1, 9};
    assert_true(rig_growing_list_add(&segment->pool, &segment->keys.at[0].spine, spine, 2));
    branch->shared = 1;
    branch->tail.at++;
    branch->tail.count--;
    admit(&f);
    assert_null(f.conflict);
    assert_int_equal(f.cleaned->keys.at[0].spine.count, 1);
    assert_int_equal(f.cleaned->keys.at[0].spine.at[0], 1);
    assert_int_equal(f.cleaned->branches.at[0].shared, 1);
    assert_int_equal(f.cleaned->branches.at[0].tail.count, 2);
    assert_int_equal(f.cleaned->ops.at[1].count, 3);
    done(&f);
}

static void keys_with_two_unread_writers_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    come_back(&f, "ok 0 0-2: ax1; ok 1 1-3: ax2; ok 2 4-5: ay1; ok 2 6-7: az1 az2", "ok 1 8-9: aw1");
    assert_int_equal(rig_retired_unordered(f.retired), 1);
    done(&f);
}

static void unread_appends_in_order_have_to_be_read_so(void **state)
{
    (void)state;
    static const char *const gone = "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: ax3";
    struct fixture f;
    come_back(&f, gone, "ok 0 6-7: rx[1 2 3]; ok 1 8-9: ax4; ok 0 10-11: rx[1 2 3 4]");
    assert_null(f.conflict);
    assert_int_equal(rig_retired_unordered(f.retired), 0); /* read since */
    done(&f);
    come_back(&f, gone, "ok 0 6-7: rx[2 1 3]");
    assert_non_null(f.conflict);
    assert_int_equal(rig_retired_unordered(f.retired), 1);
    done(&f);
    come_back(&f, gone, "ok 0 6-7: rx[1 2]");
    assert_non_null(f.conflict);
    done(&f);
    /* Concurrent appends have no certain order. One that may take effect later has none either. */
    come_back(&f, "ok 0 0-3: ax1; ok 1 2-4: ax2", "ok 0 6-7: rx[1 2]");
    assert_non_null(f.conflict);
    done(&f);
}

/* Late appends may have values between the retired ones, also far apart; but no value comes twice. */
static void values_that_were_left_out_may_come(void **state)
{
    (void)state;
    static const char *const gone = "ok 0 0-1: ax3 ax400; ok 1 2-3: rx[3 400]";
    struct fixture f;
    come_back(&f, gone, "ok 0 4-5: ax50; ok 1 6-7: rx[3 400 50]; ok 0 8-9: ax2; ok 1 10-11: rx[3 400 50 2]");
    assert_null(f.conflict);
    assert_int_equal(f.cleaned->keys.at[0].spine.count, 2);
    done(&f);
    come_back(&f, gone, "ok 0 4-5: ax400");
    assert_non_null(f.conflict);
    done(&f);
    come_back(&f, gone, "ok 1 6-7: rx[3 400 3]");
    assert_non_null(f.conflict);
    done(&f);
}

static void forgotten_keys_may_not_come_back(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_err err = {0};
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", "ok 0 4-5: ay1; ok 1 6-7: ry[1]");
    assert_true(rig_retired_forget(f.retired));
    assert_int_equal(rig_retired_admit(f.retired, f.segment, &f.cleaned, &f.conflict, &err), RIG_OK);
    assert_null(f.conflict);
    done(&f);
    /* A key that is in use again is not forgotten. */
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", "ok 0 4-5: rx[1]");
    assert_null(f.conflict);
    assert_true(rig_retired_forget(f.retired));
    assert_int_equal(rig_retired_admit(f.retired, f.segment, &f.cleaned, &f.conflict, &err), RIG_OK);
    assert_null(f.conflict);
    done(&f);
    come_back(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]", "ok 0 4-5: ay1; ok 1 6-7: ry[1]");
    assert_true(rig_retired_forget(f.retired));
    struct rig_history *again = given("ok 0 4-5: rx[1]");
    struct cut_history cut;
    cut_history_init(&cut, again, SMALL_TXNS);
    assert_int_equal(rig_retired_admit(f.retired, cut_history_next(&cut), &f.cleaned, &f.conflict, &err), RIG_OK);
    assert_non_null(f.conflict);
    cut_history_done(&cut);
    rig_history_free(again);
    done(&f);
}

/* Admits a read of a key with this text as its name; true where there is no conflict. */
static bool may_be_read(struct rig_retired *retired, char *name, const char *comes)
{
    struct fixture f = {.retired = retired, .history = given(comes)};
    f.history->key_texts = &name;
    cut_history_init(&f.cut, f.history, SMALL_TXNS);
    f.segment = cut_history_next(&f.cut);
    admit(&f);
    cut_history_done(&f.cut);
    rig_history_free(f.history);
    return f.conflict == NULL;
}

/* Twenty texts, one after the other; the first sixteen are forgotten together. */
static void keys_that_are_texts_are_forgotten_too(void **state)
{
    (void)state;
    struct rig_retired *retired = rig_retired_new(RIG_WORKLOAD_LIST_APPEND, 0);
    char name[] = "key a", in_use[] = "key b";
    char *named = name;
    for (char letter = 'a'; letter < 'a' + 20; letter++) {
        struct rig_history *history = given("ok 0 0-1: ax1; ok 1 2-3: rx[1]");
        name[4] = letter;
        history->key_texts = &named;
        remember(retired, history, RIG_KEY_DROPPED);
        rig_history_free(history);
    }
    assert_true(may_be_read(retired, in_use, "ok 0 4-5: rx[1]"));
    assert_true(rig_retired_forget(retired));
    assert_true(may_be_read(retired, in_use, "ok 0 6-7: rx[1]"));
    assert_false(may_be_read(retired, in_use, "ok 0 6-7: rx[]"));
    for (char letter = 'a'; letter < 'a' + 21; letter++) {
        name[4] = letter;
        assert_int_equal(may_be_read(retired, name, "ok 0 6-7: rx[1]"), letter == 'b' || letter >= 'a' + 16);
    }
    name[4] = 'a' + 17;
    assert_false(may_be_read(retired, name, "ok 0 6-7: rx[2]"));
    rig_retired_free(retired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_keys_pass_as_they_are),
        cmocka_unit_test(unread_appends_in_order_have_to_be_read_so),
        cmocka_unit_test(values_that_were_left_out_may_come),
        cmocka_unit_test(forgotten_keys_may_not_come_back),
        cmocka_unit_test(keys_that_are_texts_are_forgotten_too),
        cmocka_unit_test(the_judged_part_is_cut_off),
        cmocka_unit_test(an_unread_append_counts_as_the_end_of_the_list),
        cmocka_unit_test(the_reads_of_aborted_ones_do_not_matter),
        cmocka_unit_test(branches_are_cut_like_spines),
        cmocka_unit_test(branches_outlive_their_spines),
        cmocka_unit_test(keys_with_two_unread_writers_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
