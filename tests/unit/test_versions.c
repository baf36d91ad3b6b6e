#include "tests/unit/given_history.h"

#include "checker/infer/branches.h"
#include "checker/infer/list_inference.h"
#include "checker/infer/versions.h"
#include "checker/infer/versions_audit.h"

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_versions versions;
};

static void build(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    f->history = given(notation);
    rig_arena_init(&f->arena, 0);
    if (rig_versions_build(f->history, &f->arena, &f->versions, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

static void the_longest_read_is_the_order(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1]; ok 3 6-7: rx[1 2]; ok 4 8-9: rx[]");
    uint32_t x = given_key(f.history, 'x');
    const struct rig_key_versions *k = &f.versions.keys[x];
    assert_int_equal(k->order.count, 2);
    assert_int_equal(k->order_txn, given_txn(f.history, 7));
    assert_int_equal(rig_versions_writer(&f.versions, x, 0), given_txn(f.history, 1));
    assert_int_equal(rig_versions_writer(&f.versions, x, 1), given_txn(f.history, 3));
    assert_int_equal(rig_versions_before(&f.versions, x, 0), RIG_VERSION_NONE);
    assert_int_equal(rig_versions_before(&f.versions, x, 2), 1);
    assert_int_equal(rig_versions_from(&f.versions, x, 2), RIG_VERSION_NONE);
    done(&f);
}

static void failed_writers_keep_their_place_but_are_no_versions(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; fail 1 2-3: ax2; ok 2 4-5: ax3; ok 3 6-7: rx[1 2 3]");
    uint32_t x = given_key(f.history, 'x');
    assert_int_equal(rig_versions_writer(&f.versions, x, 1), RIG_TXN_NONE);
    assert_int_equal(rig_versions_before(&f.versions, x, 2), 0);
    assert_int_equal(rig_versions_from(&f.versions, x, 1), 2);
    assert_int_equal(f.versions.keys[x].spine_aborted, 1);
    done(&f);
}

static void unknown_transactions_commit_by_being_read(void **state)
{
    (void)state;
    struct fixture f;
    /* An acknowledged transaction reads 3, only the writer of 3 reads 4, only a failed one reads 5, none reads 6. */
    build(&f, "info 0 0-1: ry[4] ax3; info 1 2-3: ay4; info 2 4-5: az5; info 3 6-7: az6; ok 4 8-9: rx[3];"
              "fail 5 10-11: rz[5]");
    assert_true(f.versions.committed[given_txn(f.history, 1)]);
    assert_true(f.versions.committed[given_txn(f.history, 3)]);
    assert_false(f.versions.committed[given_txn(f.history, 5)]);
    assert_false(f.versions.committed[given_txn(f.history, 7)]);
    assert_int_equal(f.versions.committed_count, 3);
    done(&f);
}

static void reads_with_repetitions_order_nothing(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1 2 1]; ok 3 6-7: rx[1]");
    uint32_t x = given_key(f.history, 'x');
    assert_int_equal(f.versions.keys[x].order.count, 1);
    assert_int_equal(rig_versions_append(&f.versions, x, 2)->position, RIG_VERSION_UNPLACED);
    done(&f);
}

static void contradicting_reads_place_nothing(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: ax3; ok 3 6-7: rx[1 2]; ok 4 8-9: rx[3]; ok 0 10-11: ax4");
    uint32_t x = given_key(f.history, 'x');
    assert_int_equal(rig_versions_append(&f.versions, x, 2)->position, 1);
    assert_int_equal(rig_versions_append(&f.versions, x, 3)->position, RIG_VERSION_UNPLACED);
    assert_int_equal(rig_versions_append(&f.versions, x, 4)->position, RIG_VERSION_NONE);
    assert_null(rig_versions_find(&f.versions, x, 5));
    done(&f);
}

static void lost_appends_are_not_unread(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1 ax2 ax3; ok 1 2-3: rx[3]");
    struct rig_inference inference;
    struct rig_err err = {0};
    assert_int_equal(rig_infer_list_append(f.history, (struct rig_assumptions){0}, 8, &f.arena, &inference, &err),
                     RIG_OK);
    f.versions = inference.versions; /* the linking finds that they were lost */
    rig_inference_done(&inference);
    uint32_t x = given_key(f.history, 'x');
    assert_int_equal(rig_versions_append(&f.versions, x, 1)->position, RIG_VERSION_UNPLACED);
    assert_int_equal(rig_versions_append(&f.versions, x, 2)->position, RIG_VERSION_UNPLACED);
    assert_true(rig_versions_append(&f.versions, x, 2)->superseded);
    assert_false(rig_versions_append(&f.versions, x, 3)->superseded);
    done(&f);
}

static void sparse_values_are_found(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2000000000; ok 2 4-5: ax1000; ok 3 6-7: rx[1 2000000000]");
    uint32_t x = given_key(f.history, 'x');
    assert_true(f.versions.key_places[x].shift != 0);
    assert_int_equal(rig_versions_append(&f.versions, x, 2000000000)->position, 1);
    assert_int_equal(rig_versions_append(&f.versions, x, 1000)->position, RIG_VERSION_NONE);
    assert_null(rig_versions_find(&f.versions, x, 1001));
    done(&f);
}

static void a_value_appended_twice_is_refused(void **state)
{
    (void)state;
    struct rig_history *history = given("ok 0 0-1: ax1; ok 1 2-3: ax1");
    struct rig_arena arena;
    struct rig_versions versions;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    assert_int_equal(rig_versions_build(history, &arena, &versions, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "transactions 1 and 3 both append 1 to key 0; list-append needs values that are "
                                  "unique per key");
    rig_arena_done(&arena);
    rig_history_free(history);
}

/* Lists of appended values only, with and without marks. */
static void repetitions_are_found_by_marks(void **state)
{
    (void)state;
    enum { VALUES = 60 };
    char text[64 * VALUES];
    size_t length = 0;
    for (int i = 0; i < VALUES; i += 6)
        length += (size_t)snprintf(text + length, sizeof text - length, "%sok 0 %d-%d: ax%d ax%d ax%d ax%d ax%d ax%d",
                                   i == 0 ? "" : ";", i, i + 1, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6);
    struct fixture f;
    build(&f, text);
    struct rig_marks none = {0}, marks = {.at = calloc(f.versions.slot_count, sizeof *marks.at)};
    assert_non_null(marks.at);
    int64_t values[VALUES];
    for (uint32_t count = 17; count <= VALUES; count++) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = i + 1;
        values[count - 1] = count % 2 == 0 ? 5 : count;
        struct rig_read_list list = rig_read_of((struct rig_list){values, count}, count);
        uint32_t with = 0, without = 0, expected = count % 2 == 0 ? count - 1 : count;
        assert_true(rig_unique_prefix(&f.versions, given_key(f.history, 'x'), &list, &marks, &with));
        assert_true(rig_unique_prefix(&f.versions, given_key(f.history, 'x'), &list, &none, &without));
        assert_int_equal(with, expected);
        assert_int_equal(without, expected);
    }
    free(marks.at);
    done(&f);
}

static void repetitions_are_found_whatever_the_length(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2");
    int64_t values[200];
    struct rig_marks marks = {.at = calloc(f.versions.slot_count, sizeof *marks.at)};
    assert_non_null(marks.at);
    for (uint32_t count = 2; count <= 200; count += 33) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = (int64_t)i * 7919 % 1009; /* distinct, outside the slots */
        uint32_t unique = 0;
        struct rig_read_list list = rig_read_of((struct rig_list){values, count}, count);
        assert_true(rig_unique_prefix(&f.versions, given_key(f.history, 'x'), &list, &marks, &unique));
        assert_int_equal(unique, count);
        values[count - 1] = values[count / 2 == count - 1 ? 0 : count / 2];
        assert_true(rig_unique_prefix(&f.versions, given_key(f.history, 'x'), &list, &marks, &unique));
        assert_int_equal(unique, count - 1);
    }
    free(marks.at);
    done(&f);
}

static void orders_that_do_not_fit_are_found(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; fail 1 2-3: ax2; ok 2 4-5: ax3; ok 3 6-7: rx[1 2 3]");
    uint32_t x = given_key(f.history, 'x');
    struct rig_append *append = rig_versions_append(&f.versions, x, 3);
    uint32_t *places = f.versions.places + f.versions.key_places[x].place_first;
    assert_true(rig_versions_are_sound(&f.versions));
    append->position = 0;
    assert_false(rig_versions_are_sound(&f.versions));
    append->position = RIG_VERSION_NONE;
    assert_false(rig_versions_are_sound(&f.versions));
    append->position = 2;
    places[1] = given_txn(f.history, 3); /* it failed */
    assert_false(rig_versions_are_sound(&f.versions));
    places[1] = RIG_PLACE_IRREGULAR;
    assert_true(rig_versions_are_sound(&f.versions));
    f.versions.committed_count++;
    assert_false(rig_versions_are_sound(&f.versions));
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_read_is_the_order),
        cmocka_unit_test(failed_writers_keep_their_place_but_are_no_versions),
        cmocka_unit_test(unknown_transactions_commit_by_being_read),
        cmocka_unit_test(reads_with_repetitions_order_nothing),
        cmocka_unit_test(contradicting_reads_place_nothing),
        cmocka_unit_test(lost_appends_are_not_unread),
        cmocka_unit_test(sparse_values_are_found),
        cmocka_unit_test(a_value_appended_twice_is_refused),
        cmocka_unit_test(repetitions_are_found_by_marks),
        cmocka_unit_test(repetitions_are_found_whatever_the_length),
        cmocka_unit_test(orders_that_do_not_fit_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
