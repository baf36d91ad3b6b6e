/*
 * Compares verdicts on histories of objects with brute force over all orders of their operations.
 *
 *   objects_compare [--count N] [--seed N] [--operations N] [--first N]
 *
 * Histories are small, random, written as Jepsen writes them, and read in parts that are cut anywhere; so the reader is
 * compared, too. Results come from a run of the object in which operations take effect at random times, and some are
 * then changed. Brute force shares no code with rig: it has its own objects, and tries every order.
 *
 * A cas-register begins with nil or another value, which rig is told or not. Told, it must agree with the orders from
 * that value. Not told, it must find an order from nil, or from a value that a read shows and no operation writes,
 * where there is one; a history that has an order only from a value which a read shows before a write of it began, it
 * must leave open.
 *
 * rig-verify's code must accept the proof of each verdict (tests/proof/replay_proof.h).
 * Each history is also checked in windows of a few operations, with the same verdict. Histories of more than 8
 * operations are only checked so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/rng.h"
#include "checker/judge/check.h"
#include "checker/judge/stream/stream.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "history/types/types.h"
#include "tests/model/cut_history.h"
#include "tests/proof/replay_proof.h"

enum { BRUTE_OPS = 8, MOST_OPS = 64, MOST_HELD = 2 * MOST_OPS, VALUES = 3, KEYS = 2, NOTHING = -1, UNWRITTEN = VALUES };
enum kind { READ, WRITE, CAS, EXTEND };

struct operation {
    enum kind kind;
    int key, process;
    int a, b;     /* of CAS: expected and new; of READ: the result, or NOTHING */
    int at, end;  /* events, ascending; the operation took effect in between */
    char outcome; /* 'o', 'f' or 'i' */
    bool silent;  /* of unknown outcome, without a completion */
};

/* The values that an object holds: one of a register, those of a queue or a stack, the digits of a string. */
struct object {
    int held[MOST_HELD], count;
};

struct history {
    enum rig_workload workload;
    struct operation ops[MOST_OPS];
    int count, events;
    int begins; /* of a cas-register: the value that it begins with */
    bool told;  /* rig is told that value */
};

/* ---- objects ---- */

static bool is_register(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_CAS_REGISTER || workload == RIG_WORKLOAD_MUTEX;
}

static void reset(enum rig_workload workload, struct object *object)
{
    *object = (struct object){.count = is_register(workload)};
    object->held[0] = workload == RIG_WORKLOAD_MUTEX ? 0 : NOTHING;
}

/* Strings are numbers in base 10 with a leading 1. */
static int result_of(enum rig_workload workload, const struct object *object)
{
    int number = 1; /* at most 8 digits follow */
    if (is_register(workload))
        return object->held[0];
    if (workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK)
        return object->count == 0 ? NOTHING : object->held[workload == RIG_WORKLOAD_QUEUE ? 0 : object->count - 1];
    for (int i = 0; i < object->count; i++)
        number = number * 10 + object->held[i];
    return number;
}

static void take(enum rig_workload workload, struct object *object)
{
    if (object->count == 0)
        return;
    if (workload == RIG_WORKLOAD_QUEUE)
        memmove(object->held, object->held + 1, (size_t)(object->count - 1) * sizeof *object->held);
    object->count--;
}

/* False: impossible. `knows`: the result of a read is known. */
static bool apply(enum rig_workload workload, const struct operation *op, bool knows, struct object *object)
{
    const bool takes = workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK;
    if (op->kind == READ && knows && op->a != result_of(workload, object))
        return false;
    if (op->kind == CAS && op->a != object->held[0])
        return false;
    if (op->kind == READ && takes)
        take(workload, object);
    else if (op->kind == CAS)
        object->held[0] = op->b;
    else if (op->kind == WRITE && is_register(workload))
        object->held[0] = op->a;
    else if (op->kind == WRITE && !takes)
        *object = (struct object){.held = {op->a}, .count = 1};
    else if (op->kind == WRITE || op->kind == EXTEND)
        object->held[object->count++] = op->a;
    return true;
}

/* ---- brute force ---- */

static bool explain(const struct history *h, int key, unsigned done, struct object object)
{
    bool all = true;
    for (int i = 0; i < h->count; i++)
        all &= h->ops[i].key != key || h->ops[i].outcome != 'o' || (done >> i & 1) != 0;
    if (all)
        return true;
    for (int i = 0; i < h->count; i++) {
        const struct operation *op = &h->ops[i];
        bool may = op->key == key && op->outcome != 'f' && (done >> i & 1) == 0;
        for (int j = 0; may && j < h->count; j++) {
            const struct operation *other = &h->ops[j];
            may = other->key != key || other->outcome != 'o' || (done >> j & 1) != 0 || other->end > op->at;
        }
        struct object next = object;
        if (may && apply(h->workload, op, op->outcome == 'o', &next) && explain(h, key, done | 1U << i, next))
            return true;
    }
    return false;
}

/* Which values a register may begin with: the one that rig was told; nil, or what a first read shows and nothing
 * writes; nil, or what a first read shows. */
enum begins { AS_TOLD, USUAL, FIRST_READ };

/* Whether an operation on the key writes the value, whatever became of it. */
static bool is_written(const struct history *h, int key, int value)
{
    bool written = false;
    for (int i = 0; i < h->count; i++) {
        const struct operation *op = &h->ops[i];
        written |= op->key == key &&
                   ((op->kind == WRITE && op->a == value) || (op->kind == CAS && op->b == value && op->a != value));
    }
    return written;
}

/* Whether an acknowledged operation on the key observes the value, and no write of it began before the end of that
 * operation. */
static bool is_first_read(const struct history *h, int key, int value)
{
    bool found = false;
    for (int i = 0; i < h->count; i++) {
        const struct operation *read = &h->ops[i];
        bool first = read->key == key && read->outcome == 'o' && read->kind != WRITE && read->a == value;
        for (int j = 0; first && j < h->count; j++) {
            const struct operation *op = &h->ops[j];
            const bool writes =
                (op->kind == WRITE && op->a == value) || (op->kind == CAS && op->b == value && op->a != value);
            first = op->key != key || !writes || op->at > read->end;
        }
        found |= first;
    }
    return found;
}

static bool may_begin(const struct history *h, int key, int value, enum begins begins)
{
    if (h->workload != RIG_WORKLOAD_CAS_REGISTER || begins == AS_TOLD)
        return value == (h->workload == RIG_WORKLOAD_CAS_REGISTER ? h->begins : NOTHING);
    return value == NOTHING || (is_first_read(h, key, value) && (begins == FIRST_READ || !is_written(h, key, value)));
}

static void begin_with(const struct history *h, int value, struct object *object)
{
    reset(h->workload, object);
    if (h->workload == RIG_WORKLOAD_CAS_REGISTER)
        object->held[0] = value;
}

static bool is_linearizable(const struct history *h, enum begins begins)
{
    for (int key = 0; key < KEYS; key++) {
        bool explained = false;
        for (int value = NOTHING; !explained && value <= UNWRITTEN; value++) {
            struct object object;
            begin_with(h, value, &object);
            explained = may_begin(h, key, value, begins) && explain(h, key, 0, object);
        }
        if (!explained)
            return false;
    }
    return true;
}

/* Whether an order of all operations on all objects explains them that keeps the order of each process. */
static bool explain_sequentially(const struct history *h, unsigned done, const struct object *objects)
{
    bool all = true;
    for (int i = 0; i < h->count; i++)
        all &= h->ops[i].outcome != 'o' || (done >> i & 1) != 0;
    if (all)
        return true;
    for (int i = 0; i < h->count; i++) {
        const struct operation *op = &h->ops[i];
        bool may = op->outcome != 'f' && (done >> i & 1) == 0;
        for (int j = 0; may && j < h->count; j++) {
            const struct operation *other = &h->ops[j];
            may = other->process != op->process || other->outcome != 'o' || (done >> j & 1) != 0 || other->end > op->at;
        }
        struct object next[KEYS];
        memcpy(next, objects, sizeof next);
        if (may && apply(h->workload, op, op->outcome == 'o', &next[op->key]) &&
            explain_sequentially(h, done | 1U << i, next))
            return true;
    }
    return false;
}

static bool is_sequential(const struct history *h, enum begins begins)
{
    _Static_assert(KEYS == 2, "one loop for each key");
    for (int first = NOTHING; first <= UNWRITTEN; first++) {
        for (int second = NOTHING; second <= UNWRITTEN; second++) {
            struct object objects[KEYS];
            begin_with(h, first, &objects[0]);
            begin_with(h, second, &objects[1]);
            if (may_begin(h, 0, first, begins) && may_begin(h, 1, second, begins) &&
                explain_sequentially(h, 0, objects))
                return true;
        }
    }
    return false;
}

/* ---- random histories ---- */

/* `few_reads`: of a string, so that the order of many appends shows late or never. */
static void draw_op(struct rig_rng *rng, enum rig_workload workload, bool few_reads, struct operation *op)
{
    const int kinds = workload == RIG_WORKLOAD_CAS_REGISTER ? 3 : 2;
    op->kind = (enum kind)rig_rng_below(rng, (uint64_t)kinds);
    op->a = (int)rig_rng_below(rng, VALUES);
    op->b = (int)rig_rng_below(rng, VALUES);
    if (workload == RIG_WORKLOAD_MUTEX) {
        op->kind = CAS;
        op->a = (int)rig_rng_below(rng, 2);
        op->b = 1 - op->a;
    }
    if (workload == RIG_WORKLOAD_APPEND_REGISTER)
        op->kind = (enum kind)(
            int[]){READ, WRITE, EXTEND, few_reads ? EXTEND : READ, EXTEND, EXTEND, EXTEND, WRITE}[rig_rng_below(
            rng, few_reads ? 8 : 4)];
    if (workload == RIG_WORKLOAD_APPEND_REGISTER && op->kind == READ)
        op->a += 10; /* a string of one digit */
}

/* An append to a string of 8 digits has no effect and fails, so that results stay numbers. */
static char take_effect(enum rig_workload workload, const struct operation *op, struct object *object)
{
    enum { MOST_DIGITS = 8 };
    if (workload == RIG_WORKLOAD_APPEND_REGISTER && op->kind == EXTEND && object->count >= MOST_DIGITS)
        return 'f';
    return apply(workload, op, false, object) ? 'o' : 'f';
}

/* Invokes and completes operations of three to six processes at random; each takes effect somewhere between. */
static void draw_history(struct rig_rng *rng, int most, struct history *h)
{
    enum { PROCESSES = 6 };
    static const enum rig_workload workloads[] = {RIG_WORKLOAD_CAS_REGISTER, RIG_WORKLOAD_MUTEX, RIG_WORKLOAD_QUEUE,
                                                  RIG_WORKLOAD_STACK, RIG_WORKLOAD_APPEND_REGISTER};
    int open[PROCESSES] = {-1, -1, -1, -1, -1, -1}, next_process = PROCESSES, process[PROCESSES] = {0, 1, 2, 3, 4, 5};
    bool took[MOST_OPS] = {false};
    struct object objects[KEYS];
    *h = (struct history){.workload = workloads[rig_rng_below(rng, 5)]};
    /* Queues and stacks with unique values have an algorithm of their own. */
    const bool rows = h->workload == RIG_WORKLOAD_QUEUE || h->workload == RIG_WORKLOAD_STACK;
    const bool unique = rows && rig_rng_below(rng, 2) == 0;
    const bool strings = h->workload == RIG_WORKLOAD_APPEND_REGISTER, few_reads = strings && rig_rng_below(rng, 2) == 0;
    const int processes = strings ? 3 + (int)rig_rng_below(rng, PROCESSES - 2) : 3;
    const uint64_t fewer_unknown = most <= BRUTE_OPS ? 6 : strings && rig_rng_below(rng, 2) == 0 ? 4 : 12;
    const int keys = rig_rng_below(rng, 4) == 0 ? KEYS : 1, wanted = 2 + (int)rig_rng_below(rng, (uint64_t)most - 1);
    h->begins = NOTHING;
    h->told = rig_rng_below(rng, 3) == 0;
    if (h->workload == RIG_WORKLOAD_CAS_REGISTER && rig_rng_below(rng, 2) == 0)
        h->begins = (int)rig_rng_below(rng, UNWRITTEN + 1);
    for (int key = 0; key < KEYS; key++)
        begin_with(h, h->begins, &objects[key]);
    for (bool any_open = false; h->count < wanted || any_open;) {
        const int p = (int)rig_rng_below(rng, (uint64_t)processes);
        if (open[p] < 0 && h->count < wanted) {
            struct operation *op = &h->ops[h->count];
            draw_op(rng, h->workload, few_reads, op);
            if (unique)
                op->a = h->count;
            op->key = (int)rig_rng_below(rng, (uint64_t)keys);
            op->process = process[p];
            op->at = h->events++;
            open[p] = h->count++;
        } else if (open[p] >= 0) {
            struct operation *op = &h->ops[open[p]];
            if (!took[open[p]] && rig_rng_below(rng, 2) == 0) {
                if (op->kind == READ)
                    op->a = result_of(h->workload, &objects[op->key]);
                op->outcome = take_effect(h->workload, op, &objects[op->key]);
                took[open[p]] = true;
            } else if (took[open[p]] || rig_rng_below(rng, 5) == 0) {
                if (!took[open[p]])
                    op->outcome = rig_rng_below(rng, 2) == 0 ? 'f' : 'i';
                else if (rig_rng_below(rng, fewer_unknown) == 0)
                    op->outcome = 'i';
                op->end = h->events++;
                op->silent = op->outcome == 'i' && rig_rng_below(rng, 2) == 0;
                if (op->outcome == 'i')
                    process[p] = next_process++;
                open[p] = -1;
            }
        }
        any_open = false;
        for (int i = 0; i < PROCESSES; i++)
            any_open |= open[i] >= 0;
    }
    /* Changes a result. */
    struct operation *op = &h->ops[rig_rng_below(rng, (uint64_t)h->count)];
    const struct operation *other = &h->ops[rig_rng_below(rng, (uint64_t)h->count)];
    if (strings && op->kind == READ && other->kind == READ && rig_rng_below(rng, 2) == 0)
        op->a = other->a;
    else if (op->kind == READ && rig_rng_below(rng, 2) == 0)
        op->a = h->workload == RIG_WORKLOAD_APPEND_REGISTER
                    ? 10 + (int)rig_rng_below(rng, VALUES)
                    : (int)rig_rng_below(rng, (uint64_t)(unique ? h->count : VALUES) + 1) + NOTHING;
    else if (rig_rng_below(rng, 3) == 0)
        op->outcome = "of"[rig_rng_below(rng, 2)];
}

/* ---- as text ---- */

static void add_string(int number, struct rig_buf *text)
{
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%d", number);
    rig_buf_printf(text, "\"%s\"", digits + 1);
}

static void add_value(const struct history *h, const struct operation *op, bool completes, struct rig_buf *text)
{
    const bool strings = h->workload == RIG_WORKLOAD_APPEND_REGISTER;
    if (op->kind == READ && (!completes || op->a == NOTHING))
        rig_buf_add_text(text, "nil");
    else if (op->kind == READ && strings)
        add_string(op->a, text);
    else if (op->kind == CAS && h->workload == RIG_WORKLOAD_MUTEX)
        rig_buf_add_text(text, "nil");
    else if (op->kind == CAS)
        rig_buf_printf(text, "[%d %d]", op->a, op->b);
    else
        rig_buf_printf(text, strings ? "\"%d\"" : "%d", op->a);
}

static const char *function_of(const struct history *h, const struct operation *op)
{
    switch ((int)h->workload) {
    case RIG_WORKLOAD_MUTEX:
        return op->a == 0 ? "acquire" : "release";
    case RIG_WORKLOAD_QUEUE:
        return op->kind == READ ? "dequeue" : "enqueue";
    case RIG_WORKLOAD_STACK:
        return op->kind == READ ? "pop" : "push";
    case RIG_WORKLOAD_APPEND_REGISTER:
        return op->kind == READ ? "get" : op->kind == WRITE ? "put" : "append";
    default:
        return op->kind == READ ? "read" : op->kind == WRITE ? "write" : "cas";
    }
}

static void write_text(const struct history *h, bool tuples, struct rig_buf *text)
{
    for (int event = 0; event < h->events; event++) {
        for (int i = 0; i < h->count; i++) {
            const struct operation *op = &h->ops[i];
            const bool completes = op->end == event;
            if ((op->at != event && !completes) || (completes && op->silent && op->outcome == 'i'))
                continue;
            rig_buf_printf(text, "{:process %d, :type :%s, :f :%s, ", op->process,
                           !completes           ? "invoke"
                           : op->outcome == 'o' ? "ok"
                           : op->outcome == 'f' ? "fail"
                                                : "info",
                           function_of(h, op));
            rig_buf_printf(text, tuples ? ":value [%d " : ":key %d, :value ", op->key);
            if (completes && op->outcome == 'i')
                rig_buf_add_text(text, ":timed-out");
            else
                add_value(h, op, completes, text);
            rig_buf_add_text(text, tuples ? "]}\n" : "}\n");
        }
    }
}

/* ---- comparison ---- */

/* In windows of `size` operations each, or with the operations in one window. *foreseen: a look at a part refuted
 * it. */
static enum rig_rc check_in_windows(const struct rig_history *history, const struct rig_check_options *check,
                                    uint32_t size, bool *foreseen, struct rig_verdict **verdict, struct rig_err *err)
{
    const struct rig_stream_options options = {
        .check = *check, .least_new = size % 4 != 0 ? 1 : 0, .each_segment = size % 4 != 0};
    const struct rig_source_facts facts = {.workload = history->workload, .has_invocations = history->has_invocations};
    struct rig_stream *windows = NULL;
    struct cut_history cut;
    const struct rig_segment *segment;
    cut_history_init(&cut, history, size);
    enum rig_rc rc = rig_stream_begin(history->workload, &options, &windows, err);
    for (uint32_t fed = 0; rc == RIG_OK && (segment = cut_history_next(&cut)) != NULL; fed++) {
        struct rig_stream_interim interim = {0};
        rc = rig_stream_feed(windows, segment, err);
        if (rc == RIG_OK && fed % 2 == 0)
            rc = rig_stream_interim(windows, &interim, err);
        *foreseen |= interim.count[RIG_ANOMALY_NONLINEARIZABLE] > 0 &&
                     (interim.refuted & RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE)) != 0;
    }
    if (rc == RIG_OK)
        rc = rig_stream_finish(windows, &facts, verdict, err);
    else
        rig_stream_free(windows);
    cut_history_done(&cut);
    return rc;
}

/* The same verdict, and a witness that begins with the same operation where all operations of the object count. */
static bool is_same(const struct rig_verdict *whole, const struct rig_verdict *windowed)
{
    const struct rig_finding *a = &whole->findings[RIG_ANOMALY_NONLINEARIZABLE];
    const struct rig_finding *b = &windowed->findings[RIG_ANOMALY_NONLINEARIZABLE];
    bool same = whole->valid == windowed->valid && a->count == b->count && a->witness_count == b->witness_count &&
                whole->scope.txn_count == windowed->scope.txn_count && whole->ok_count == windowed->ok_count &&
                whole->info_count == windowed->info_count;
    /* Parts leave open what the whole decides without real time. */
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        same &= whole->levels[level].fate == windowed->levels[level].fate ||
                (windowed->sequential == RIG_SEQUENTIAL_PARTS && windowed->levels[level].fate == RIG_FATE_NOT_REFUTED);
    if (!same || a->witness_count != 1 || a->witnesses[0].blocked->value_count > 0 ||
        b->witnesses[0].blocked->value_count > 0)
        return same;
    /* Where the first reads show two values, a window may begin with another one than the whole. */
    const struct rig_begin *one = &a->witnesses[0].blocked->begin, *other = &b->witnesses[0].blocked->begin;
    if (one->as != other->as || one->value != other->value)
        return one->as != RIG_BEGINS_GIVEN && other->as != RIG_BEGINS_GIVEN;
    return rig_txn_name(whole->history, a->witnesses[0].txns[0]) ==
               rig_txn_name(windowed->history, b->witnesses[0].txns[0]) &&
           a->witnesses[0].blocked->explained == b->witnesses[0].blocked->explained;
}

static uint64_t foreseen_count; /* histories that a look at a part refuted */

static enum rig_rc compare_windows(const struct rig_history *history, const struct rig_check_options *options,
                                   uint64_t choice, const struct rig_verdict *whole, struct rig_err *err)
{
    struct rig_verdict *windowed = NULL;
    bool foreseen = false;
    enum rig_rc rc = check_in_windows(history, options, 1 + (uint32_t)(choice / 6 % 4), &foreseen, &windowed, err);
    if (rc == RIG_OK && foreseen && whole->findings[RIG_ANOMALY_NONLINEARIZABLE].count == 0)
        rc = rig_fail(err, RIG_E_BUG, "a part was refuted, and the whole is not");
    foreseen_count += foreseen;
    if (rc == RIG_OK && !is_same(whole, windowed))
        rc = rig_fail(err, RIG_E_BUG, "windows have another verdict: %s instead of %s", windowed->summary,
                      whole->summary);
    rig_verdict_free(windowed);
    return rc;
}

/* The answers of rig. */
struct asked {
    bool valid, sequential; /* not refuted */
    bool held, sequential_held;
    bool doubted;      /* what a register begins with decides */
    bool may_be_open;  /* the history is too large to be decided for certain */
    int64_t budget_ns; /* of the decision; 0: the usual one */
};

static enum rig_rc read_sequential(const struct rig_verdict *verdict, struct asked *asked, struct rig_err *err)
{
    const enum rig_fate fate = verdict->levels[RIG_LEVEL_STRONG_SESSION_SERIALIZABLE].fate;
    const struct rig_finding *finding = &verdict->findings[RIG_ANOMALY_NONSEQUENTIAL];
    /* No order at all explains these, so they refute the level whether or not the search ends. */
    const bool unexplained = verdict->findings[RIG_ANOMALY_PHANTOM_ELEMENT].count > 0 ||
                             verdict->findings[RIG_ANOMALY_DUPLICATED_ELEMENT].count > 0;
    asked->sequential = fate != RIG_FATE_REFUTED;
    asked->sequential_held = fate == RIG_FATE_HELD;
    if ((finding->count > 0 || unexplained) == asked->sequential || finding->count != finding->witness_count)
        return rig_fail(err, RIG_E_BUG, "sequential consistency and its anomaly disagree");
    if (asked->may_be_open &&
        (verdict->sequential == RIG_SEQUENTIAL_BRIEF || verdict->sequential == RIG_SEQUENTIAL_SPENT))
        return RIG_OK;
    if (asked->sequential && verdict->unknown_reason == NULL && verdict->scope.unknown_reads == 0 && !asked->doubted &&
        fate != RIG_FATE_HELD)
        return rig_fail(err, RIG_E_BUG, "sequential consistency is neither refuted nor held");
    return RIG_OK;
}

static int64_t nil(void)
{
    struct rig_known_initial initial = {.known = false};
    return rig_initial_set_nil(&initial) ? initial.value : 0;
}

/* Whether the answers agree with the orders that brute force finds: `linearizable` and `sequential` from the usual
 * values, or from the one that rig was told. */
static bool is_right(const struct history *h, const struct asked *answer, bool linearizable, bool sequential)
{
    const enum begins at_most = h->told ? AS_TOLD : FIRST_READ;
    const bool doubt = !linearizable && is_linearizable(h, at_most);
    if (answer->held ? !linearizable : answer->valid ? !linearizable && !doubt : linearizable || doubt)
        return false;
    if (answer->doubted && linearizable)
        return false;
    return answer->sequential_held ? sequential : answer->sequential || (!sequential && !is_sequential(h, at_most));
}

static bool check(const struct history *h, uint64_t choice, struct asked *asked, struct rig_buf *text)
{
    const struct rig_load_options load = {.form = RIG_FORM_EDN,
                                          .workload_given = true,
                                          .workload = h->workload,
                                          .part_bytes = choice % 3 == 0 ? 30 + choice % 200 : 0};
    const struct rig_known_initial initial = {.known = h->told && h->workload == RIG_WORKLOAD_CAS_REGISTER,
                                              .value = h->begins == NOTHING ? nil() : h->begins};
    const struct rig_check_options options = {
        .budget_ns = asked->budget_ns,
        .initial = initial,
        .levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE) |
                  (choice % 5 == 0 ? 0 : RIG_LEVEL_BIT(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE))};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    rig_buf_clear(text);
    write_text(h, choice % 2 == 0, text);
    enum rig_rc rc = rig_history_parse("random", rig_buf_text(text), text->size, &load, &history, &err);
    if (rc == RIG_OK)
        rc = rig_check(history, &options, &verdict, &err);
    if (rc == RIG_OK) {
        const struct rig_finding *finding = &verdict->findings[RIG_ANOMALY_NONLINEARIZABLE];
        const enum rig_fate fate = verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate;
        asked->valid = fate != RIG_FATE_REFUTED;
        asked->held = fate == RIG_FATE_HELD;
        asked->doubted = verdict->begun.doubted.count > 0;
        /* Elements that went wrong refute, too, where the search for an order was given up. */
        const bool elements = asked->may_be_open && (verdict->findings[RIG_ANOMALY_PHANTOM_ELEMENT].count > 0 ||
                                                     verdict->findings[RIG_ANOMALY_DUPLICATED_ELEMENT].count > 0 ||
                                                     verdict->findings[RIG_ANOMALY_LOST_ELEMENT].count > 0);
        if ((finding->count > 0 || elements) == asked->valid || finding->count != finding->witness_count)
            rc = rig_fail(&err, RIG_E_BUG, "the level and its anomaly disagree");
        if (asked->valid && verdict->unknown_reason == NULL && verdict->scope.unknown_reads == 0 &&
            fate != RIG_FATE_HELD)
            rc = rig_fail(&err, RIG_E_BUG, "neither refuted nor held");
    }
    if (rc == RIG_OK)
        rc = read_sequential(verdict, asked, &err);
    if (rc == RIG_OK) {
        struct replayed replayed;
        replay_proof(history, verdict, &options, &replayed);
        if (replayed.problem[0] != '\0')
            rc = rig_fail(&err, RIG_E_BUG, "the proof is refused: %.800s", replayed.problem);
    }
    if (rc == RIG_OK)
        rc = compare_windows(history, &options, choice, verdict, &err);
    rig_verdict_free(verdict);
    rig_history_free(history);
    if (rc != RIG_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    return rc == RIG_OK;
}

int main(int argc, char **argv)
{
    uint64_t count = 3000, seed = 1, refuted = 0, nonsequential = 0, in_doubt = 0, most = BRUTE_OPS, first = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            count = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--operations") == 0)
            most = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
    }
    if (most < 2 || most > MOST_OPS)
        return 64;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (uint64_t number = first; number < first + count; number++) {
        struct rig_rng rng;
        struct history history;
        rig_rng_init(&rng, seed, number);
        draw_history(&rng, (int)most, &history);
        const bool brute = most <= BRUTE_OPS;
        const uint64_t choice = rig_rng_next(&rng);
        struct asked answer = {.may_be_open = !brute, .budget_ns = brute ? 0 : RIG_NS_PER_S / 2};
        bool agrees = check(&history, choice, &answer, &text);
        /* On a busy machine one of the two checks may have spent its time. */
        if (!agrees && !brute) {
            answer.budget_ns = 20 * RIG_NS_PER_S;
            agrees = check(&history, choice, &answer, &text);
        }
        const enum begins begins = history.told ? AS_TOLD : USUAL;
        const bool expected = brute ? is_linearizable(&history, begins) : answer.valid;
        const bool sequential = brute ? expected || is_sequential(&history, begins) : answer.sequential;
        refuted += !expected;
        nonsequential += !sequential;
        in_doubt += answer.doubted;
        if (agrees && (!brute || is_right(&history, &answer, expected, sequential)))
            continue;
        (void)fprintf(stderr, "seed %llu, history %llu of a %s: expected %s\n%s", (unsigned long long)seed,
                      (unsigned long long)number, rig_data_types[history.workload].name,
                      expected     ? "linearizable"
                      : sequential ? "nonlinearizable, and sequential"
                                   : "nonsequential",
                      rig_buf_text(&text));
        return 1;
    }
    (void)printf("%llu histories agree; %llu are not linearizable, %llu of them by a part of them; %llu are not "
                 "sequential; of %llu "
                 "the initial value is in doubt\n",
                 (unsigned long long)count, (unsigned long long)refuted, (unsigned long long)foreseen_count,
                 (unsigned long long)nonsequential, (unsigned long long)in_doubt);
    rig_buf_done(&text);
    return refuted * 10 > count && refuted < count * 9 / 10 && foreseen_count > refuted / 10 &&
                   nonsequential > refuted / 20 && nonsequential < refuted && in_doubt > 0
               ? 0
               : 1;
}
