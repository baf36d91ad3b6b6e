/*
 * Windows of registers: closing sets, keys that are used again, and assumptions that do not hold. In the notation of
 * lists (tests/model/as_registers.h): ax1 writes 1 to x, rx[1] reads it, rx[] reads the initial state.
 */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/check.h"
#include "checker/stream/closing.h"
#include "checker/infer/register_inference.h"
#include "checker/levels/assumption.h"
#include "checker/stream/retired.h"
#include "checker/stream/stream.h"
#include "history/source.h"
#include "tests/model/as_registers.h"
#include "tests/model/cut_history.h"

enum { WFR = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS) };
enum { SEQUENTIAL = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS) };
enum { LINEARIZABLE = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS) };

static struct rig_history *given_registers(const char *notation)
{
    struct rig_history *lists = given(notation), *registers = as_registers(lists, 0, 0);
    rig_history_free(lists);
    return registers;
}

struct inferred {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
};

static void infer(struct inferred *f, const char *notation, unsigned assumptions)
{
    struct rig_err err = {0};
    f->history = given_registers(notation);
    rig_arena_init(&f->arena, 0);
    if (rig_infer_registers(f->history, (struct rig_assumptions){.made = assumptions}, 8, &f->arena, &f->inference,
                            &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct inferred *f)
{
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

/* ---- closing sets, while y may be used again ---- */

struct closing {
    struct inferred of;
    uint8_t alive[SMALL_KEYS + 1]; /* of `closing`, which borrows it */
    struct rig_closing closing;
};

static void close_set(struct closing *f, const char *notation, unsigned assumptions)
{
    memset(f->alive, 0, sizeof f->alive);
    infer(&f->of, notation, assumptions);
    f->alive[given_key(f->of.history, 'y')] = 1;
    assert_true(rig_closing_find(&f->of.inference, f->alive, NULL, &f->of.arena, &f->closing));
}

static bool waits(const struct closing *f, uint32_t position)
{
    return f->closing.waits[given_txn(f->of.history, position)] != 0;
}

static bool stays_alive(const struct closing *f, char key)
{
    return f->closing.alive[given_key(f->of.history, key)] != 0;
}

static void edges_delay_successors(void **state)
{
    (void)state;
    struct closing f;
    /* T11 read the version that T10 wrote, and did not see T12's write; T12 read T10's version, too. */
    static const char notation[] = "ok 0 0-10: ax1 ay1; ok 1 1-11: rx[1]; ok 2 2-12: rx[1] ax2; ok 3 3-13: az1";
    close_set(&f, notation, 0);
    assert_true(waits(&f, 10));
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_false(waits(&f, 13));
    done(&f.of);
    /* The initial state precedes every write, and no read. */
    close_set(&f, "ok 0 0-10: rx[] ay1; ok 1 1-11: ax1; ok 2 2-12: rx[1]; ok 3 3-13: rx[]", 0);
    assert_true(waits(&f, 11));
    assert_true(waits(&f, 12));
    assert_false(waits(&f, 13));
    done(&f.of);
}

static void unordered_registers_delay_no_closing(void **state)
{
    (void)state;
    struct closing f;
    static const char notation[] = "ok 0 0-10: rx[1] ay1; ok 1 1-11: ax1; ok 2 2-12: rx[1] ax2";
    close_set(&f, notation, 0);
    assert_true(waits(&f, 10));
    assert_false(waits(&f, 11));
    assert_false(waits(&f, 12));
    done(&f.of);
    close_set(&f, notation, WFR);
    assert_true(waits(&f, 12));
    done(&f.of);
}

static void an_unknown_fate_delays_the_next_writer(void **state)
{
    (void)state;
    struct closing f;
    static const char notation[] = "ok 0 0-10: ax1; info 1 1-40: rx[1] ay1; ok 2 20-21: ax2; ok 3 3-41: az1";
    close_set(&f, notation, LINEARIZABLE);
    assert_false(waits(&f, 10));
    assert_true(waits(&f, 21));
    assert_false(waits(&f, 41));
    assert_false(stays_alive(&f, 'x'));
    done(&f.of);
    close_set(&f, notation, 0);
    assert_false(waits(&f, 21));
    done(&f.of);
}

static void an_unknown_fate_delays_updates_of_the_same_version(void **state)
{
    (void)state;
    struct closing f;
    close_set(&f, "ok 0 0-10: ax1; info 1 1-11: rx[1] ax2 ay1; ok 2 2-12: rx[1] ax3; ok 3 3-13: rx[1]", 0);
    assert_false(waits(&f, 10));
    assert_true(waits(&f, 12));
    assert_false(waits(&f, 13));
    done(&f.of);
}

static void one_unknown_fate_may_settle_another(void **state)
{
    (void)state;
    struct closing f;
    close_set(&f, "info 0 0-10: ax1; info 1 1-11: rx[1] ay1; ok 2 2-12: rz[] ax2; ok 3 3-13: az1", 0);
    assert_true(stays_alive(&f, 'x'));
    assert_true(waits(&f, 10));
    assert_true(waits(&f, 12));
    assert_true(waits(&f, 13)); /* follows T12 */
    done(&f.of);
    /* A failed transaction stays failed. */
    close_set(&f, "fail 0 0-10: ax1; info 1 1-11: rx[1] ay1; ok 2 2-12: ax2", 0);
    assert_false(stays_alive(&f, 'x'));
    assert_false(waits(&f, 12));
    done(&f.of);
}

/* ---- keys that are used again ---- */

static const char *conflict_of(const char *gone, const char *comes)
{
    struct inferred before;
    struct rig_err err = {0};
    struct cut_history cut;
    uint8_t judged[SMALL_TXNS], fate[SMALL_KEYS];
    const struct rig_segment *cleaned;
    const char *conflict = NULL;
    struct rig_retired *retired = rig_retired_new(RIG_WORKLOAD_RW_REGISTER, 0);
    memset(judged, 1, sizeof judged);
    memset(fate, RIG_KEY_DROPPED, sizeof fate);
    infer(&before, gone, 0);
    assert_int_equal(rig_retired_remember(retired, &before.inference, fate, judged, NULL, true, &err), RIG_OK);
    done(&before);
    struct rig_history *history = given_registers(comes);
    cut_history_init(&cut, history, SMALL_TXNS);
    assert_int_equal(rig_retired_admit(retired, cut_history_next(&cut), &cleaned, &conflict, &err), RIG_OK);
    cut_history_done(&cut);
    rig_history_free(history);
    rig_retired_free(retired);
    return conflict;
}

static void a_register_may_go_on_with_other_values(void **state)
{
    (void)state;
    static const char gone[] = "ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 2 4-5: ax7; ok 3 6-7: rx[20] ry[]";
    assert_null(conflict_of(gone, "ok 0 8-9: ax2; ok 1 10-11: rx[2]; info 2 12-13: ax3"));
    assert_null(conflict_of(gone, "fail 0 8-9: rx[1] rx[]; ok 0 10-11: rx?"));
    assert_null(conflict_of(gone, "ok 0 8-9: ry[] ay1"));
}

static void old_values_are_conflicts(void **state)
{
    (void)state;
    static const char gone[] = "ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 2 4-5: ax7; ok 3 6-7: rx[20] ry[]";
    assert_non_null(conflict_of(gone, "ok 0 8-9: rx[1]"));
    assert_non_null(conflict_of(gone, "ok 0 8-9: ax2; info 1 10-11: rx[1]"));
    assert_non_null(conflict_of(gone, "ok 0 8-9: rx[7]"));
    assert_non_null(conflict_of(gone, "ok 0 8-9: rx[]"));
    assert_non_null(conflict_of(gone, "ok 0 8-9: ax20"));
    assert_non_null(conflict_of(gone, "fail 0 8-9: ax1"));
    assert_non_null(conflict_of(gone, "info 0 8-: ax1"));
}

/* ---- assumptions ---- */

struct judged {
    struct rig_history *history;
    struct rig_verdict *verdict; /* NULL: there was a conflict */
};

static void judge(struct judged *f, const char *notation, unsigned assumptions, unsigned *contradicted)
{
    struct rig_err err = {0};
    struct rig_stream *windows;
    struct cut_history cut;
    const struct rig_segment *segment;
    const struct rig_stream_options options = {.check = {.assumptions = assumptions},
                                               .least_new = 1,
                                               .growth = 1,
                                               .idle = 1,
                                               .in_windows = true,
                                               .contradicted = contradicted};
    const struct rig_source_facts facts = {.workload = RIG_WORKLOAD_RW_REGISTER, .has_invocations = true};
    *f = (struct judged){.history = given_registers(notation)};
    assert_int_equal(rig_stream_begin(RIG_WORKLOAD_RW_REGISTER, &options, &windows, &err), RIG_OK);
    cut_history_init(&cut, f->history, 1);
    while ((segment = cut_history_next(&cut)) != NULL)
        assert_int_equal(rig_stream_feed(windows, segment, &err), RIG_OK);
    cut_history_done(&cut);
    if (rig_stream_conflict(windows) != NULL)
        rig_stream_free(windows);
    else
        assert_int_equal(rig_stream_finish(windows, &facts, &f->verdict, &err), RIG_OK);
}

static void free_judged(struct judged *f)
{
    rig_verdict_free(f->verdict);
    rig_history_free(f->history);
}

/* A stale read of w; later, one process reads the versions of x in both orders. */
static const char stale_and_cyclic[] =
    "ok 0 0-1: aw1; ok 0 2-3: aw2; ok 1 4-5: rw[1]; ok 2 6-7: az1; ok 2 8-9: rz[1]; "
    "ok 0 10-11: ax1; ok 0 12-13: ax2; ok 1 14-15: rx[2]; ok 1 16-17: rx[1]; ok 2 18-19: ay1; ok 2 20-21: ry[1]";

static void an_assumption_is_dropped_for_judged_windows_too(void **state)
{
    (void)state;
    struct judged f;
    unsigned contradicted = 0;
    judge(&f, stale_and_cyclic, SEQUENTIAL, &contradicted);
    assert_null(f.verdict);
    assert_int_equal(contradicted, SEQUENTIAL);
    free_judged(&f);
    judge(&f, stale_and_cyclic, SEQUENTIAL, &contradicted);
    assert_non_null(f.verdict);
    assert_int_equal(contradicted, SEQUENTIAL);
    assert_true(f.verdict->cost.window_count > 2);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_CYCLIC_VERSIONS].count, 1);
    assert_int_equal(f.verdict->edge_count[RIG_LINK_RW], 0);
    free_judged(&f);
}

static void assumptions_on_top_of_a_dropped_one_are_tried_again(void **state)
{
    (void)state;
    struct judged f;
    unsigned contradicted = SEQUENTIAL | LINEARIZABLE;
    /* Each wrote the value that the other one read. */
    judge(&f, "ok 0 0-4: rx[2] ax1; ok 1 1-5: rx[1] ax2; ok 2 6-7: ay1; ok 2 8-9: ry[1]; ok 2 10-11: az1",
          WFR | SEQUENTIAL | LINEARIZABLE, &contradicted);
    assert_null(f.verdict);
    assert_int_equal(contradicted, WFR);
    free_judged(&f);
}

/* Whether a key began with a value that no transaction wrote depends on all its uses, so that nothing is guessed. */
static void values_without_a_writer_are_conflicts(void **state)
{
    (void)state;
    struct judged f;
    judge(&f, "ok 0 0-1: rx[7]; ok 0 2-3: ay1; ok 0 4-5: az1; ok 0 6-7: aw1", 0, NULL);
    assert_null(f.verdict);
    free_judged(&f);
    /* T1 is still open when T3, which reads from it, is judged. */
    judge(&f, "ok 0 0-9: ax7; ok 1 2-3: rx[7]; ok 2 4-5: ay1; ok 2 6-7: ry[1]", 0, NULL);
    assert_non_null(f.verdict);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_GARBAGE_READ].count, 0);
    free_judged(&f);
}

static void registers_are_judged_in_windows(void **state)
{
    (void)state;
    struct judged f;
    judge(&f,
          "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]; ok 2 6-7: az1; ok 3 8-9: rz[1]; ok 3 10-11: "
          "aw1",
          0, NULL);
    assert_non_null(f.verdict);
    assert_true(f.verdict->cost.window_count > 1);
    assert_true(f.verdict->history->is_excerpt);
    assert_int_equal(f.verdict->scope.apart, 0);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION].fate, RIG_FATE_HELD);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_G2_ITEM].count, 1);
    assert_int_equal(f.verdict->scope.txn_count, 6);
    assert_int_equal(f.verdict->scope.committed_count, 6);
    assert_non_null(strstr(f.verdict->findings[RIG_ANOMALY_G2_ITEM].witnesses[0].text, "T2 and T3 form a cycle"));
    free_judged(&f);
}

/*
 * T10 read x before T6 overwrote it, and T20 read y before T10 wrote it. T20 began after T6, and ends when x is no longer
 * used: T6 must wait for T10, although no known edge leads to it.
 */
static void explanations_delay_what_they_order_later(void **state)
{
    (void)state;
    struct judged f;
    judge(&f,
          "ok 0 0-1: ax1; ok 5 4-5: az1 az2 az3 az4 az5; ok 1 3-6: ax2; ok 2 2-10: rx[1] ay1; ok 4 11-12: aw1; ok 4 "
          "13-14: rw[1]; ok 3 "
          "8-20: ry[]",
          0, NULL);
    assert_non_null(f.verdict);
    assert_true(f.verdict->cost.window_count > 1);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_HELD);
    free_judged(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_delay_successors),
        cmocka_unit_test(unordered_registers_delay_no_closing),
        cmocka_unit_test(an_unknown_fate_delays_the_next_writer),
        cmocka_unit_test(an_unknown_fate_delays_updates_of_the_same_version),
        cmocka_unit_test(one_unknown_fate_may_settle_another),
        cmocka_unit_test(a_register_may_go_on_with_other_values),
        cmocka_unit_test(old_values_are_conflicts),
        cmocka_unit_test(an_assumption_is_dropped_for_judged_windows_too),
        cmocka_unit_test(assumptions_on_top_of_a_dropped_one_are_tried_again),
        cmocka_unit_test(values_without_a_writer_are_conflicts),
        cmocka_unit_test(registers_are_judged_in_windows),
        cmocka_unit_test(explanations_delay_what_they_order_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
