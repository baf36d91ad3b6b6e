/*
 * Windows of registers: closing sets, keys that are used again, and assumptions that do not hold. In the notation of
 * lists (tests/model/as_registers.h): ax1 writes 1 to x, rx[1] reads it, rx[] reads the initial state.
 */
#include "tests/unit/given_history.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker/judge/check.h"
#include "checker/judge/check_source.h"
#include "checker/judge/stream/closing.h"
#include "checker/infer/register_inference.h"
#include "checker/model/assumption.h"
#include "checker/judge/stream/retired.h"
#include "checker/judge/stream/stream.h"
#include "history/model/builder.h"
#include "history/source/source.h"
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
    const struct rig_stream_options options = {.check = {.assumptions = assumptions | RIG_ASSUMES_PREFILLED},
                                               .least_new = 1,
                                               .growth = 1,
                                               .idle = 1,
                                               .in_windows = true,
                                               .each_segment = true,
                                               .contradicted = contradicted};
    const struct rig_source_facts facts = {.workload = RIG_WORKLOAD_RW_REGISTER, .has_invocations = true};
    *f = (struct judged){.history = given_registers(notation)};
    assert_int_equal(rig_stream_begin(RIG_WORKLOAD_RW_REGISTER, &options, &windows, &err), RIG_OK);
    cut_history_init(&cut, f->history, 1);
    while ((segment = cut_history_next(&cut)) != NULL)
        if (rig_stream_feed(windows, segment, &err) != RIG_OK)
            fail_msg("%s", err.text);
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

/* The last read of x shows a value that may follow T1's write, so it is open whether T1's write was lost. */
static void a_key_with_an_anomaly_that_returns_is_a_conflict(void **state)
{
    (void)state;
    static const char *const returns[] = {"ok 0 8-9: rx[5] ax6; ok 0 10-11: ax3 ax4 ax5; ok 2 12-13: az1",
                                          "ok 0 8-9: rx[5]; ok 0 10-11: ax5; ok 2 12-13: az1", "ok 0 8-9: ax5"};
    struct judged f;
    char notation[256];
    for (size_t i = 0; i < sizeof returns / sizeof returns[0]; i++) {
        (void)snprintf(notation, sizeof notation, "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: ay1; ok 2 6-7: aw1; %s",
                       returns[i]);
        judge(&f, notation, 0, NULL);
        assert_null(f.verdict);
        free_judged(&f);
    }
    /* Without a later use it is lost. */
    judge(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: ay1; ok 2 6-7: aw1; ok 2 8-9: az1", 0, NULL);
    assert_non_null(f.verdict);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_WRITE].count, 1);
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

/* ---- explanations ---- */

/* The fate of strict serializability in windows that end after each transaction. */
static enum rig_fate strict_in_windows(const char *notation, bool *apart)
{
    struct judged f;
    judge(&f, notation, 0, NULL);
    assert_non_null(f.verdict);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_READ_COMMITTED].fate, RIG_FATE_HELD);
    const enum rig_fate fate = f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate;
    *apart = (f.verdict->scope.apart & RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE)) != 0;
    assert_int_equal(strstr(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].reason, "a larger --max-memory") != NULL,
                     *apart);
    free_judged(&f);
    return fate;
}

/* Each history is refuted by a cycle from T20, which read y before another transaction wrote it and began after a third
 * one, back to T20. The third one must not be released before T20 completes, although no known edge leads to it. */
static void explanations_delay_what_they_order_later(void **state)
{
    (void)state;
    static const char *const notations[] = {
        /* T10 read x before T6 overwrote it. */
        "ok 0 0-1: ax1; ok 5 4-5: az1 az2 az3 az4 az5; ok 1 3-6: ax2; ok 2 2-10: rx[1] ay1; ok 4 11-12: aw1; "
        "ok 4 13-14: rw[1]; ok 3 8-20: ry[]",
        /* The same, with the version that T10 read released before T6. */
        "ok 0 0-1: ax1 az1; ok 1 3-6: ax2 aw1; ok 2 2-10: rx[1] ay1; ok 7 4-12: rw[]; ok 4 13-14: ry[1]; ok 3 8-20: "
        "ry[]",
        /* The same with a T10 of unknown fate, which T22 proves committed. */
        "ok 0 1-2: ax1; ok 1 3-6: ax2; info 2 4-10: rx[1] ay1; ok 7 0-11: aw1; ok 4 12-13: az1; ok 4 14-15: rz[1]; "
        "ok 3 8-20: ry[]; ok 5 21-22: ry[1]",
        /* T13 read x before T5 overwrote it, T9 began after T5, and read w before T11 overwrote it. */
        "ok 0 0-1: ax1 aw1; ok 1 3-5: ax2; ok 2 6-9: rw[1]; ok 3 4-11: aw2 az1; ok 4 2-13: rx[1] ay1; ok 5 14-15: "
        "ry[1]; "
        "ok 6 12-20: ry[]",
    };
    for (size_t i = 0; i < sizeof notations / sizeof notations[0]; i++) {
        bool apart;
        assert_int_equal(strict_in_windows(notations[i], &apart), RIG_FATE_REFUTED);
    }
}

/* T11 read x from T8, and y from T20, which read y from T10: so T10 overwrote x before T8 did. That appears when T20
 * completes, and the window before had put T8 first. */
#define CHOSEN_TOO_EARLY                                                                                               \
    "ok 0 2-8: ax1 aw1; ok 1 5-10: ax2 ay1; ok 2 6-11: rx[1] ry[2]; ok 3 7-20: ry[1] ay2; ok 4 12-13: az1; "           \
    "ok 4 14-15: rz[1]; ok 4 21-22: az2"

static void an_early_choice_leaves_a_level_open(void **state)
{
    (void)state;
    bool apart;
    assert_int_equal(strict_in_windows(CHOSEN_TOO_EARLY, &apart), RIG_FATE_NOT_REFUTED);
    assert_true(apart);
    /* T4 read w from T8 and ended before T10 began: no order explains this, but T4 was released. */
    assert_int_equal(strict_in_windows(CHOSEN_TOO_EARLY "; ok 5 3-4: rw[1]", &apart), RIG_FATE_NOT_REFUTED);
    assert_true(apart);
}

/* T20 never completes, so only the end of the history shows it: it wrote what T12 read, and it began after T10. So T10
 * overwrote x before T8 did, and the windows had put T8 and T12 first. */
static void the_end_may_leave_a_level_open(void **state)
{
    (void)state;
    bool apart;
    assert_int_equal(strict_in_windows("ok 0 2-8: ax1 aw1; ok 1 5-10: ax2 ay1; ok 2 6-12: rx[1] ry[2]; "
                                       "info 3 11-: ay2; ok 4 13-14: az1; ok 4 15-16: rz[1]; ok 4 17-18: az2",
                                       &apart),
                     RIG_FATE_NOT_REFUTED);
    assert_true(apart);
}

/* A file with the history, checked in windows as long files are. */
static void check_as_file(const char *notation, enum rig_fate fate)
{
    static struct small_history small;
    char path[] = "/tmp/rig_windows_XXXXXX";
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    assert_true(small_parse(notation, &small));
    small.registers = true;
    const int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    small_print_json(&small, file);
    assert_int_equal(fclose(file), 0);
    const struct rig_source_options source = {
        .load = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER, .part_bytes = 1}, .threads = 1};
    const struct rig_stream_options options = {
        .least_new = 1, .growth = 1, .idle = 1, .in_windows = true, .each_segment = true};
    if (rig_check_file(path, &source, &options, &verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, fate);
    assert_int_equal(verdict->scope.apart, 0);
    assert_int_equal(verdict->cost.pass_count, 2);
    rig_verdict_free(verdict);
    assert_int_equal(unlink(path), 0);
}

/* Another pass does not end a window between the transactions whose order was chosen too early. */
static void another_pass_decides_what_was_chosen_too_early(void **state)
{
    (void)state;
    check_as_file(CHOSEN_TOO_EARLY, RIG_FATE_HELD);
    check_as_file(CHOSEN_TOO_EARLY "; ok 5 3-4: rw[1]", RIG_FATE_REFUTED);
}

static void an_open_level_may_be_refuted_later(void **state)
{
    (void)state;
    bool apart;
    assert_int_equal(
        strict_in_windows(CHOSEN_TOO_EARLY "; ok 4 25-26: az6; ok 4 27-28: az7; ok 6 29-30: rz[6]", &apart),
        RIG_FATE_REFUTED);
    assert_false(apart);
}

/* ---- explanations that do not fit into memory ---- */

static void add_txn(struct rig_history_builder *builder, uint32_t from, uint32_t to, int64_t process,
                    const struct rig_op *ops, const struct rig_read *reads, uint32_t op_count)
{
    struct rig_err err = {0};
    const struct rig_txn_input input = {.invoke_ns = from,
                                        .complete_ns = to,
                                        .invoke_at = from,
                                        .complete_at = to,
                                        .process = process,
                                        .outcome = RIG_OUTCOME_OK,
                                        .ops = ops,
                                        .reads = reads,
                                        .op_count = op_count};
    assert_int_equal(rig_history_builder_add(builder, &input, &err), RIG_OK);
}

/*
 * Two halves. The first one can be released: writes of many keys. In the second one a process writes x `count` times.
 * Another one reads the first of these versions meanwhile and writes y, which a third one reads before that, although
 * it began after the second write: no serial order respects real time. No known edge leads from the reader of x to the
 * later writes, but each explanation has one.
 */
static struct rig_history *many_writes_after_a_read(uint32_t count)
{
    enum { X, Y, OTHERS, USES = 8 };
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_RW_REGISTER, 0);
    const struct rig_read none = {.state = RIG_READ_UNKNOWN}, initial = {.state = RIG_READ_NIL};
    const struct rig_read first[] = {{.state = RIG_READ_SEEN, .value = 1}, none};
    const struct rig_op reader[] = {{.kind = RIG_OP_READ_REGISTER, .key = X},
                                    {.kind = RIG_OP_WRITE, .key = Y, .value = 1}};
    const struct rig_op earlier = {.kind = RIG_OP_READ_REGISTER, .key = Y};
    assert_non_null(builder);
    for (uint32_t i = 0; i <= count; i++) {
        const struct rig_op write = {.kind = RIG_OP_WRITE, .key = OTHERS + i / USES, .value = (int64_t)i};
        add_txn(builder, 2 * i, 2 * i + 1, 0, &write, &none, 1);
    }
    const uint32_t begin = 2 * count + 10, end = begin + 2 * count;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_op write = {.kind = RIG_OP_WRITE, .key = X, .value = (int64_t)i + 1};
        add_txn(builder, begin + 2 * i, begin + 2 * i + 1, 0, &write, &none, 1);
    }
    add_txn(builder, begin - 1, end, 1, reader, first, 2);
    add_txn(builder, begin + 4, end + 1, 2, &earlier, &initial, 1);
    assert_int_equal(rig_history_builder_finish(builder, &history, &err), RIG_OK);
    return history;
}

static void check_many_writes(size_t limit_bytes, struct rig_verdict **verdict)
{
    enum { WRITES = 20000 };
    struct rig_err err = {0};
    struct rig_stream *windows;
    struct cut_history cut;
    const struct rig_segment *segment;
    const struct rig_stream_options options = {.check = {.limit_bytes = limit_bytes},
                                               .least_new = 1,
                                               .growth = 1,
                                               .idle = 1,
                                               .in_windows = true,
                                               .each_segment = true};
    const struct rig_source_facts facts = {.workload = RIG_WORKLOAD_RW_REGISTER, .has_invocations = true};
    struct rig_history *history = many_writes_after_a_read(WRITES);
    assert_int_equal(rig_stream_begin(RIG_WORKLOAD_RW_REGISTER, &options, &windows, &err), RIG_OK);
    cut_history_init(&cut, history, WRITES + 1);
    while ((segment = cut_history_next(&cut)) != NULL)
        if (rig_stream_feed(windows, segment, &err) != RIG_OK)
            fail_msg("%s", err.text);
    cut_history_done(&cut);
    assert_null(rig_stream_conflict(windows));
    if (rig_stream_finish(windows, &facts, verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_history_free(history);
}

/* Explanations that keep much more than known edges are given up where memory is short, and the level is left open. */
static void explanations_that_do_not_fit_leave_levels_open(void **state)
{
    (void)state;
    struct rig_verdict *verdict = NULL;
    const uint64_t strict = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    check_many_writes(0, &verdict);
    assert_int_equal(verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(verdict->scope.unfit, 0);
    rig_verdict_free(verdict);
    check_many_writes(20 << 20, &verdict);
    assert_int_equal(verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_NOT_REFUTED);
    assert_int_equal(verdict->scope.unfit & strict, strict);
    assert_int_equal(verdict->scope.apart, 0);
    rig_verdict_free(verdict);
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
        cmocka_unit_test(a_key_with_an_anomaly_that_returns_is_a_conflict),
        cmocka_unit_test(explanations_delay_what_they_order_later),
        cmocka_unit_test(an_early_choice_leaves_a_level_open),
        cmocka_unit_test(the_end_may_leave_a_level_open),
        cmocka_unit_test(another_pass_decides_what_was_chosen_too_early),
        cmocka_unit_test(an_open_level_may_be_refuted_later),
        cmocka_unit_test(explanations_that_do_not_fit_leave_levels_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
