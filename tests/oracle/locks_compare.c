/*
 * Compares verdicts on histories of locks with owners with brute force over all orders of their operations.
 *
 *   locks_compare [--count N] [--seed N] [--first N]
 *
 * Histories are small and random: of locks with one owner, reentrant ones, semaphores, and locks with leases, each with
 * tokens or without. They are written as Jepsen writes them, the owner being the process and the rules an option of the
 * reader, or with the rules and owners in each operation. Results come from a run of the lock in which operations take
 * effect at random times, and some are then changed. Brute force shares no code with rig: it has its own lock.
 *
 * rig-verify's code must accept the proof of each verdict, and windows of a few operations must give the same verdict.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "checker/judge/check.h"
#include "checker/judge/stream/stream.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "tests/model/cut_history.h"
#include "tests/proof/replay_proof.h"

enum { MOST_OPS = 8, OWNERS = 16, PROCESSES = 3, TICK_NS = 10, NO_TOKEN = 0 };
enum kind { ACQUIRE, RELEASE, WORK };

struct operation {
    enum kind kind;
    int owner, process, token; /* token: that an acquisition gave, or that work was done under */
    int at, end;               /* events, ascending; the operation took effect in between */
    char outcome;              /* 'o', 'f' or 'i' */
    bool silent;               /* of unknown outcome, without a completion */
};

struct history {
    struct operation ops[MOST_OPS];
    int count, events;
    int limit;   /* above 0: permits; below: how often one owner may hold it */
    int lease;   /* in ns; 0: none */
    bool tokens; /* acquisitions give them */
    bool in_ops; /* owners and rules are in the operations */
};

struct lock {
    int holds[OWNERS], over[OWNERS]; /* over: when the lease ends, 0: never */
    int given, worked, kept;
    int now; /* no operation takes effect before */
};

/* ---- the lock ---- */

/* `timed`: the order is one in real time. `last`: the operation takes effect at this time at the latest. */
static bool acquire(const struct history *h, const struct operation *op, int token, bool timed, int last,
                    struct lock *lock)
{
    int others = 0;
    for (int owner = 0; owner < OWNERS; owner++)
        others += owner == op->owner ? 0 : lock->holds[owner];
    if (h->limit < 0 && (others > 0 || lock->holds[op->owner] >= -h->limit))
        return false;
    if (h->limit > 0 && others + lock->holds[op->owner] >= h->limit) {
        if (h->lease == 0)
            return false;
        for (int owner = 0; owner < OWNERS; owner++) { /* a lease is of a lock with one permit */
            if (lock->holds[owner] > 0 && timed && lock->over[owner] > lock->now)
                lock->now = lock->over[owner];
            lock->holds[owner] = 0;
        }
        if (timed && lock->now > last)
            return false;
    }
    const bool again = h->limit < 0 && lock->holds[op->owner] > 0;
    if (again && token != NO_TOKEN && lock->kept != NO_TOKEN && token != lock->kept)
        return false;
    if (token != NO_TOKEN && !(again && lock->kept != NO_TOKEN)) {
        if (token <= lock->given)
            return false;
        lock->given = lock->kept = token;
    } else if (!again) {
        lock->kept = NO_TOKEN;
    }
    lock->holds[op->owner]++;
    lock->over[op->owner] = h->lease == 0 ? 0 : op->at * TICK_NS + h->lease;
    return true;
}

static bool apply(const struct history *h, const struct operation *op, bool knows, bool timed, struct lock *lock)
{
    const int last = op->outcome == 'o' ? op->end * TICK_NS : 1 << 30, token = knows ? op->token : NO_TOKEN;
    if (timed && op->at * TICK_NS > lock->now)
        lock->now = op->at * TICK_NS;
    if (timed && lock->now > last)
        return false;
    if (op->kind == ACQUIRE)
        return acquire(h, op, token, timed, last, lock);
    if (op->kind == RELEASE)
        return lock->holds[op->owner] > 0 && lock->holds[op->owner]-- > 0;
    if (token < lock->worked && token != NO_TOKEN)
        return false;
    lock->worked = token > lock->worked ? token : lock->worked;
    return true;
}

/* Whether an order of all acknowledged operations, and of any others that did not fail, explains them: in real time, or
 * in the order of each process. */
static bool explain(const struct history *h, unsigned done, bool timed, const struct lock *lock)
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
            may = other->outcome != 'o' || (done >> j & 1) != 0 || other->end > op->at ||
                  (!timed && other->process != op->process);
        }
        struct lock next = *lock;
        if (may && apply(h, op, op->outcome == 'o', timed, &next) && explain(h, done | 1U << i, timed, &next))
            return true;
    }
    return false;
}

static bool has_order(const struct history *h, bool timed)
{
    const struct lock lock = {.now = 0};
    return explain(h, 0, timed, &lock);
}

/* ---- random histories ---- */

static void draw_rules(struct rig_rng *rng, struct history *h)
{
    static const int limits[] = {1, -2, -3, 2, 3, 1};
    const uint64_t which = rig_rng_below(rng, 6);
    *h = (struct history){.limit = limits[which],
                          .lease = which == 5 ? TICK_NS * (1 + (int)rig_rng_below(rng, 6)) : 0,
                          .tokens = rig_rng_below(rng, 2) == 0,
                          .in_ops = rig_rng_below(rng, 2) == 0};
}

/* The operation takes effect in the run. */
static void take_effect(struct rig_rng *rng, const struct history *h, struct operation *op, struct lock *lock)
{
    struct lock next = *lock;
    next.now = h->events * TICK_NS;
    op->end = h->events;
    op->outcome = 'o';
    if (op->kind == WORK)
        op->token = h->tokens ? 1 + (int)rig_rng_below(rng, 4) : NO_TOKEN;
    if (op->kind == ACQUIRE && h->tokens)
        op->token = h->limit < 0 && lock->holds[op->owner] > 0 && lock->kept != NO_TOKEN
                        ? lock->kept
                        : lock->given + 1 + (int)rig_rng_below(rng, 2);
    if (apply(h, op, true, true, &next))
        *lock = next;
    else
        op->outcome = 'f';
}

static enum kind draw_kind(struct rig_rng *rng, const struct history *h)
{
    const uint64_t which = rig_rng_below(rng, 10);
    return which < 5 ? ACQUIRE : which < 8 || !h->tokens ? RELEASE : WORK;
}

static void change(struct rig_rng *rng, struct history *h)
{
    struct operation *op = &h->ops[rig_rng_below(rng, (uint64_t)h->count)];
    const uint64_t which = rig_rng_below(rng, 4);
    if (which == 0 && op->outcome == 'f')
        op->outcome = 'o';
    else if (which == 1 && h->tokens && op->kind != RELEASE)
        op->token = (int)rig_rng_below(rng, 6);
    else if (which == 2 && op->outcome == 'o')
        op->outcome = 'f';
}

static void draw_history(struct rig_rng *rng, struct history *h)
{
    int open[PROCESSES] = {-1, -1, -1}, process[PROCESSES] = {0, 1, 2}, next_process = PROCESSES;
    bool took[MOST_OPS] = {false}, any_open = false;
    struct lock lock = {.now = 0};
    draw_rules(rng, h);
    const int wanted = 2 + (int)rig_rng_below(rng, MOST_OPS - 1);
    while (h->count < wanted || any_open) {
        const int p = (int)rig_rng_below(rng, PROCESSES);
        if (open[p] < 0 && h->count < wanted) {
            h->ops[h->count] = (struct operation){.kind = draw_kind(rng, h),
                                                  .owner = h->in_ops ? p : process[p],
                                                  .process = process[p],
                                                  .at = h->events++};
            open[p] = h->count++;
        } else if (open[p] >= 0 && !took[open[p]]) {
            took[open[p]] = true;
            take_effect(rng, h, &h->ops[open[p]], &lock);
        } else if (open[p] >= 0) {
            struct operation *op = &h->ops[open[p]];
            op->end = h->events++;
            if (rig_rng_below(rng, 5) == 0)
                op->outcome = 'i';
            op->silent = op->outcome == 'i' && rig_rng_below(rng, 2) == 0;
            if (op->outcome == 'i')
                process[p] = next_process++;
            open[p] = -1;
        }
        any_open = open[0] >= 0 || open[1] >= 0 || open[2] >= 0;
    }
    for (uint64_t i = rig_rng_below(rng, 3); i > 0; i--)
        change(rng, h);
}

/* ---- as text ---- */

static void add_token(const struct operation *op, bool completes, struct rig_buf *text)
{
    if (completes && op->outcome == 'o' && op->token != NO_TOKEN)
        rig_buf_printf(text, "%d", op->token);
    else
        rig_buf_add_text(text, "nil");
}

static void add_micro(const struct history *h, const struct operation *op, bool completes, struct rig_buf *text)
{
    rig_buf_add_text(text, ":f :txn, :value [");
    if (op->kind == RELEASE)
        rig_buf_printf(text, "[:free 7 %d]]", op->owner);
    if (op->kind == ACQUIRE)
        rig_buf_printf(text, "[:hold 7 %d] ", op->owner);
    if (op->kind == ACQUIRE && (h->limit != 1 || h->lease > 0))
        rig_buf_printf(text, "[:limit 7 %d] ", h->limit);
    if (op->kind == ACQUIRE && h->lease > 0)
        rig_buf_printf(text, "[:lease 7 %d] ", h->lease);
    if (op->kind == RELEASE)
        return;
    rig_buf_add_text(text, "[:token 7 ");
    add_token(op, completes, text);
    rig_buf_add_text(text, "]]");
}

static void add_function(const struct operation *op, bool completes, struct rig_buf *text)
{
    static const char *const names[] = {"acquire", "release", "work"};
    rig_buf_printf(text, ":f :%s, :value [7 ", names[op->kind]);
    if (op->process % 2 == 0 && op->kind != RELEASE) {
        rig_buf_add_text(text, "{:client \"c\", :fence ");
        add_token(op, completes, text);
        rig_buf_add_text(text, "}]");
        return;
    }
    if (op->kind == RELEASE)
        rig_buf_add_text(text, "nil");
    else
        add_token(op, completes, text);
    rig_buf_add_text(text, "]");
}

static void write_text(const struct history *h, struct rig_buf *text)
{
    rig_buf_clear(text);
    for (int event = 0; event < h->events; event++) {
        for (int i = 0; i < h->count; i++) {
            const struct operation *op = &h->ops[i];
            const bool completes = op->end == event && op->at != event;
            if ((op->at != event && !completes) || (completes && op->silent))
                continue;
            rig_buf_printf(text, "{:process %d, :time %d, :type :%s, ", op->process, event * TICK_NS,
                           !completes           ? "invoke"
                           : op->outcome == 'o' ? "ok"
                           : op->outcome == 'f' ? "fail"
                                                : "info");
            if (h->in_ops)
                add_micro(h, op, completes, text);
            else
                add_function(op, completes, text);
            rig_buf_add_text(text, "}\n");
        }
    }
}

/* ---- comparison ---- */

static enum rig_rc check_in_windows(const struct rig_history *history, const struct rig_check_options *check,
                                    uint32_t size, struct rig_verdict **verdict, struct rig_err *err)
{
    const struct rig_stream_options options = {.check = *check, .least_new = 1, .each_segment = true};
    const struct rig_source_facts facts = {.workload = history->workload, .has_invocations = history->has_invocations};
    struct rig_stream *windows = NULL;
    struct cut_history cut;
    const struct rig_segment *segment;
    cut_history_init(&cut, history, size);
    enum rig_rc rc = rig_stream_begin(history->workload, &options, &windows, err);
    while (rc == RIG_OK && (segment = cut_history_next(&cut)) != NULL)
        rc = rig_stream_feed(windows, segment, err);
    if (rc == RIG_OK)
        rc = rig_stream_finish(windows, &facts, verdict, err);
    else
        rig_stream_free(windows);
    cut_history_done(&cut);
    return rc;
}

static enum rig_rc compare_windows(const struct rig_history *history, const struct rig_check_options *options,
                                   uint32_t size, const struct rig_verdict *whole, struct rig_err *err)
{
    struct rig_verdict *windowed = NULL;
    enum rig_rc rc = check_in_windows(history, options, size, &windowed, err);
    if (rc == RIG_OK &&
        windowed->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate != whole->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate)
        rc = rig_fail(err, RIG_E_BUG, "windows have another verdict: %s instead of %s", windowed->summary,
                      whole->summary);
    rig_verdict_free(windowed);
    return rc;
}

static enum rig_rc check_proof(const struct rig_history *history, const struct rig_verdict *verdict,
                               const struct rig_check_options *options, struct rig_err *err)
{
    struct replayed replayed;
    replay_proof(history, verdict, options, &replayed);
    return replayed.problem[0] == '\0' ? RIG_OK
                                       : rig_fail(err, RIG_E_BUG, "the proof is refused: %.800s", replayed.problem);
}

/* The level is held if there is an order, and refuted if there is none. */
static enum rig_rc compare(const struct rig_verdict *verdict, enum rig_level level, bool expected, struct rig_err *err)
{
    const enum rig_fate fate = verdict->levels[level].fate;
    if (fate == (expected ? RIG_FATE_HELD : RIG_FATE_REFUTED))
        return RIG_OK;
    return rig_fail(err, RIG_E_BUG, "%s is %s, and there is %s order", rig_level_info(level)->name,
                    fate == RIG_FATE_HELD      ? "held"
                    : fate == RIG_FATE_REFUTED ? "refuted"
                                               : "open",
                    expected ? "an" : "no");
}

static enum rig_rc check(const struct history *h, const struct rig_buf *text, bool linearizable, bool sequential,
                         struct rig_err *err)
{
    const struct rig_load_options load = {
        .form = RIG_FORM_EDN,
        .workload_given = true,
        .workload = RIG_WORKLOAD_LOCK,
        .lock = {.limit = h->in_ops || h->limit == 1 ? h->lease > 0 : h->limit, .lease_ns = h->lease}};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE) |
                                                        RIG_LEVEL_BIT(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE)};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    enum rig_rc rc = rig_history_parse("random", rig_buf_text(text), text->size, &load, &history, err);
    if (rc == RIG_OK)
        rc = rig_check(history, &options, &verdict, err);
    if (rc == RIG_OK)
        rc = compare(verdict, RIG_LEVEL_STRICT_SERIALIZABLE, linearizable, err);
    if (rc == RIG_OK)
        rc = compare(verdict, RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, sequential, err);
    if (rc == RIG_OK)
        rc = check_proof(history, verdict, &options, err);
    if (rc == RIG_OK)
        rc = compare_windows(history, &options, 1 + (uint32_t)h->count % 4, verdict, err);
    rig_verdict_free(verdict);
    rig_history_free(history);
    return rc;
}

int main(int argc, char **argv)
{
    uint64_t count = 3000, seed = 1, first = 0, refuted = 0, nonsequential = 0;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *option = strcmp(argv[i], "--count") == 0 ? &count : strcmp(argv[i], "--seed") == 0 ? &seed : &first;
        *option = strtoull(argv[i + 1], NULL, 10);
    }
    for (uint64_t number = first; number < first + count; number++) {
        struct rig_rng rng;
        struct history history;
        struct rig_err err = {0};
        rig_rng_init(&rng, seed, number);
        draw_history(&rng, &history);
        write_text(&history, &text);
        const bool linearizable = has_order(&history, true), sequential = has_order(&history, false);
        refuted += !linearizable;
        nonsequential += !sequential;
        if (check(&history, &text, linearizable, sequential, &err) == RIG_OK)
            continue;
        (void)fprintf(stderr, "seed %llu, history %llu: limit %d, lease %d: %s\n%s", (unsigned long long)seed,
                      (unsigned long long)number, history.limit, history.lease, err.text, rig_buf_text(&text));
        return 1;
    }
    rig_buf_done(&text);
    (void)printf("%llu histories agree; %llu are not linearizable, %llu not sequential\n", (unsigned long long)count,
                 (unsigned long long)refuted, (unsigned long long)nonsequential);
    return refuted > count / 20 && refuted < count && nonsequential > count / 50 && nonsequential < refuted ? 0 : 1;
}
