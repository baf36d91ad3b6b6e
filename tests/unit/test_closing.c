/* Closing sets by hand. Keys x, y, z, w; those named in `alive` may be used again. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/stream/closing.h"
#include "checker/infer/list_inference.h"

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
    uint8_t alive[SMALL_KEYS + 1]; /* of `closing`, which borrows it */
    struct rig_closing closing;
};

static void close_set(struct fixture *f, const char *notation, const char *alive)
{
    struct rig_err err = {0};
    memset(f->alive, 0, sizeof f->alive);
    f->history = given(notation);
    rig_arena_init(&f->arena, 0);
    if (rig_infer_list_append(f->history, (struct rig_assumptions){0}, 8, &f->arena, &f->inference, &err) != RIG_OK)
        fail_msg("%s", err.text);
    for (; *alive != '\0'; alive++)
        f->alive[given_key(f->history, *alive)] = 1;
    assert_true(rig_closing_find(&f->inference, f->alive, NULL, &f->arena, &f->closing));
}

/* The transaction that completed at `position` waits. */
static bool waits(const struct fixture *f, uint32_t position)
{
    return f->closing.waits[given_txn(f->history, position)] != 0;
}

static void done(struct fixture *f)
{
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

static void all_close_when_no_key_is_alive(void **state)
{
    (void)state;
    struct fixture f;
    close_set(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 2 4-5: ax2; info 3 6-7: ay1", "");
    assert_int_equal(f.closing.waiting_count, 0);
    done(&f);
}

static void users_of_a_live_key_wait(void **state)
{
    (void)state;
    struct fixture f;
    close_set(&f, "ok 0 0-10: ax1; ok 1 1-11: ay1; fail 2 2-12: ay2; info 3 3-13: ay3", "y");
    assert_false(waits(&f, 10));
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_true(waits(&f, 13));
    assert_int_equal(f.closing.waiting_count, 3);
    done(&f);
}

static void successors_of_waiting_transactions_wait(void **state)
{
    (void)state;
    struct fixture f;
    /* T10 uses the live y; T11 reads T10's write to x, T12 overwrites the version that T11 read, T13 reads none of
     * these. */
    close_set(
        &f,
        "ok 0 0-10: ax1 ay1; ok 1 1-11: rx[1]; ok 2 2-12: ax2; ok 3 3-13: rx[1 2]; ok 4 4-14: az1; ok 0 20-21: rx[1 2]",
        "y");
    assert_true(waits(&f, 10));
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_true(waits(&f, 13));
    assert_false(waits(&f, 14));
    done(&f);
}

static void backward_edges_are_followed(void **state)
{
    (void)state;
    struct fixture f;
    /* T13 completed last, and its predecessors' successors before it: w uses y, z reads w's, x reads z's. */
    close_set(&f, "ok 0 0-10: rx[1]; ok 1 1-11: ax1 rz[1]; ok 2 2-12: az1 rw[1]; ok 3 3-13: aw1 ay1; ok 4 4-14: rx[1]",
              "y");
    for (uint32_t position = 10; position <= 14; position++)
        assert_true(waits(&f, position));
    done(&f);
}

static void real_time_orders_too(void **state)
{
    (void)state;
    struct fixture f;
    close_set(&f, "ok 0 0-1: ay1; ok 1 2-3: ax1; fail 2 4-5: az1; ok 3 0-6: az2", "y");
    assert_true(waits(&f, 1));
    assert_true(waits(&f, 3));
    assert_false(waits(&f, 5)); /* a failed transaction has no predecessors */
    assert_false(waits(&f, 6)); /* it began before */
    done(&f);
}

static void uncommitted_transactions_delay_no_closing_in_real_time(void **state)
{
    (void)state;
    struct fixture f;
    close_set(&f, "fail 0 0-1: ay1; info 1 0-2: ay2; ok 2 3-4: ax1", "y");
    assert_true(waits(&f, 1));
    assert_true(waits(&f, 2));
    assert_false(waits(&f, 4));
    done(&f);
}

static void the_read_of_an_unknown_one_may_come_to_count(void **state)
{
    (void)state;
    struct fixture f;
    /* If T11's y2 is read later, T11 committed, and its read of x precedes T12's append; T10 precedes both. */
    close_set(&f, "ok 0 0-10: ax1; info 1 1-11: rx[1] ay2; ok 2 2-12: ax2; ok 3 3-13: rx[1 2]", "y");
    assert_false(waits(&f, 10));
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_true(waits(&f, 13));
    assert_false(f.closing.alive[given_key(f.history, 'x')]);
    done(&f);
    /* Or it changes the order of x: 3 is in no other list. */
    close_set(&f, "ok 0 0-10: ax1; ok 4 1-14: ax3; info 1 1-11: rx[1 3] ay2; ok 3 3-13: rx[1]", "y");
    assert_true(waits(&f, 10));
    assert_true(f.closing.alive[given_key(f.history, 'x')]);
    done(&f);
}

static void unread_appends_wait_for_earlier_readers(void **state)
{
    (void)state;
    struct fixture f;
    close_set(&f, "ok 0 0-10: rx[] ay1; ok 1 1-11: ax1; ok 2 2-12: ax2; ok 3 3-13: az1", "y");
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_false(waits(&f, 13));
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_close_when_no_key_is_alive),
        cmocka_unit_test(users_of_a_live_key_wait),
        cmocka_unit_test(successors_of_waiting_transactions_wait),
        cmocka_unit_test(backward_edges_are_followed),
        cmocka_unit_test(real_time_orders_too),
        cmocka_unit_test(uncommitted_transactions_delay_no_closing_in_real_time),
        cmocka_unit_test(the_read_of_an_unknown_one_may_come_to_count),
        cmocka_unit_test(unread_appends_wait_for_earlier_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
