/*
 * Compares verdicts on histories of counters and of banks with brute force over all orders of their transactions.
 *
 *   counters_compare [--count N] [--seed N] [--first N]
 *
 * Histories are small, random, and written as JSON lines. Their results come from a run in which each transaction reads
 * and commits at random times, by one of three disciplines: at once, from a snapshot, or each read by itself. Some
 * results are then changed. Brute force shares no code with rig. It tries each choice of the transactions of unknown
 * outcome, and each order of the points at which transactions read and commit:
 *
 *   serializable      each transaction at one point
 *   repeatable read   the same, and a read that found no row binds only where its transaction incremented the key
 *   before
 *   snapshot          reads at one point, increments at a later one, and no other commit of its keys between
 *   operations        each operation at a point of its own, then the commit; no other commit of a key comes between the
 *                     first increment of it and the commit
 *
 * with real time, with the order of each process, and without either. A level that is held must have an order, and one
 * that is refuted must have none. Where an order exists the level must be held, and where none exists it must not be
 * held, of each level that is defined by the first three. rig-verify's code must accept each proof.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "checker/judge/check.h"
#include "checker/model/level.h"
#include "history/source/load.h"
#include "tests/proof/replay_proof.h"

enum { MOST_TXNS = 5, MOST_OPS = 4, KEYS = 3, NIL = 1000 };
enum form { SERIAL, ITEMS, SNAPSHOT, OPERATIONS, FORMS };
enum along { PLAIN, PROCESS, REALTIME, ALONGS };

struct operation {
    bool increments;
    int key, value; /* the amount, or what the read shows: NIL for no row */
};

struct transaction {
    struct operation ops[MOST_OPS];
    int count, process;
    int begin, end; /* events, ascending */
    char outcome;   /* 'o', 'f' or 'i' */
    bool silent;    /* without a completion */
};

struct history {
    bool bank;
    struct transaction txns[MOST_TXNS];
    int count, events;
};

/* ---- brute force ---- */

struct state {
    int sum[KEYS], begin[KEYS];
    bool known[KEYS];
    int stood[MOST_TXNS]; /* points so far */
    int reads_at[MOST_TXNS][MOST_OPS];
    int changed_at[KEYS], changed_by[KEYS];
    int now;
};

struct asking {
    const struct history *h;
    enum form form;
    enum along along;
    unsigned chosen; /* transactions that took effect */
};

static int points_of(const struct asking *a, int txn)
{
    return a->form == SNAPSHOT ? 2 : a->form == OPERATIONS ? a->h->txns[txn].count + 1 : 1;
}

static bool precedes(const struct asking *a, int one, int other)
{
    const struct transaction *t = &a->h->txns[one], *u = &a->h->txns[other];
    return a->along != PLAIN && (a->along == REALTIME || t->process == u->process) && t->outcome == 'o' &&
           t->end < u->begin;
}

static bool read_fits(const struct asking *a, struct state *s, int txn, int op)
{
    const struct transaction *t = &a->h->txns[txn];
    const struct operation *o = &t->ops[op];
    int own = 0;
    bool owns = false;
    if (o->increments || t->outcome != 'o')
        return true;
    for (int i = 0; i < op; i++) {
        own += t->ops[i].increments && t->ops[i].key == o->key ? t->ops[i].value : 0;
        owns |= t->ops[i].increments && t->ops[i].key == o->key;
    }
    if (o->value == NIL && a->form == ITEMS && !owns)
        return true;
    const int value = o->value == NIL ? 0 : o->value;
    if (!s->known[o->key]) {
        s->known[o->key] = true;
        s->begin[o->key] = value - own - s->sum[o->key];
    }
    return value == s->begin[o->key] + s->sum[o->key] + own;
}

static bool commit_fits(const struct asking *a, struct state *s, int txn)
{
    const struct transaction *t = &a->h->txns[txn];
    for (int i = 0; i < t->count; i++) {
        const int key = t->ops[i].key;
        int first = 0;
        if (!t->ops[i].increments)
            continue;
        while (a->form == OPERATIONS && (!t->ops[first].increments || t->ops[first].key != key))
            first++;
        if ((a->form == SNAPSHOT || a->form == OPERATIONS) && s->changed_at[key] > s->reads_at[txn][first] &&
            s->changed_by[key] != txn)
            return false;
        s->sum[key] += t->ops[i].value;
    }
    for (int i = 0; i < t->count; i++) {
        if (t->ops[i].increments) {
            s->changed_at[t->ops[i].key] = s->now;
            s->changed_by[t->ops[i].key] = txn;
        }
    }
    return true;
}

/* The next point of the transaction; false: it does not fit. */
static bool stand(const struct asking *a, struct state *s, int txn)
{
    const int point = s->stood[txn]++, points = points_of(a, txn), count = a->h->txns[txn].count;
    bool fits = true;
    s->now++;
    for (int op = 0; fits && op < count; op++) {
        if (a->form == OPERATIONS ? op != point : point > 0)
            continue;
        s->reads_at[txn][op] = s->now;
        fits = read_fits(a, s, txn, op);
    }
    return fits && (point + 1 < points || commit_fits(a, s, txn));
}

static bool explain(const struct asking *a, const struct state *s)
{
    bool all = true;
    for (int txn = 0; txn < a->h->count; txn++) {
        const bool stands = (a->chosen >> txn & 1) != 0;
        if (!stands || s->stood[txn] == points_of(a, txn))
            continue;
        all = false;
        bool may = true;
        for (int other = 0; may && s->stood[txn] == 0 && other < a->h->count; other++)
            may = other == txn || (a->chosen >> other & 1) == 0 || s->stood[other] == points_of(a, other) ||
                  !precedes(a, other, txn);
        struct state next = *s;
        if (may && stand(a, &next, txn) && explain(a, &next))
            return true;
    }
    return all;
}

static bool has_order(const struct history *h, enum form form, enum along along)
{
    unsigned certain = 0, open = 0;
    for (int txn = 0; txn < h->count; txn++) {
        certain |= h->txns[txn].outcome == 'o' ? 1U << txn : 0;
        open |= h->txns[txn].outcome == 'i' ? 1U << txn : 0;
    }
    for (unsigned some = open;; some = (some - 1) & open) {
        const struct asking a = {h, form, along, certain | some};
        struct state s = {0};
        for (int key = 0; key < KEYS; key++)
            s.known[key] = !h->bank;
        if (explain(&a, &s))
            return true;
        if (some == 0)
            return false;
    }
}

/* ---- random histories ---- */

static int below(struct rig_rng *rng, int bound)
{
    return (int)rig_rng_below(rng, (uint64_t)bound);
}

static void draw_ops(struct rig_rng *rng, bool bank, int keys, struct transaction *t)
{
    t->count = 1 + below(rng, MOST_OPS - 1);
    for (int i = 0; i < t->count; i++)
        t->ops[i] = (struct operation){
            .increments = !bank && below(rng, 2) == 0, .key = below(rng, keys), .value = below(rng, 6) - 2};
    if (!bank || below(rng, 2) == 0)
        return;
    /* A transfer: it reads one account, both, or none. */
    const int from = below(rng, keys), to = (from + 1) % keys, amount = 1 + below(rng, 3), reads = below(rng, 3);
    t->count = 0;
    if (reads > 0)
        t->ops[t->count++] = (struct operation){.key = from};
    if (reads > 1)
        t->ops[t->count++] = (struct operation){.key = to};
    t->ops[t->count++] = (struct operation){.increments = true, .key = from, .value = -amount};
    t->ops[t->count++] = (struct operation){.increments = true, .key = to, .value = amount};
}

/* A process whose transaction has no known outcome goes on under another number. */
static void name_processes(struct history *h)
{
    for (int txn = h->count; txn-- > 0;) {
        int process = h->txns[txn].process;
        for (int i = 0; i < txn; i++)
            process += h->txns[i].process == h->txns[txn].process && h->txns[i].outcome == 'i' ? 10 : 0;
        h->txns[txn].process = process;
    }
}

/* Results of a run: each transaction makes its reads, and commits, at random times between its begin and its end. */
static void draw_history(struct rig_rng *rng, struct history *h)
{
    const enum form kept = (enum form[]){SERIAL, SNAPSHOT, OPERATIONS}[below(rng, 3)];
    const int keys = 2 + below(rng, KEYS - 1), processes = 2 + below(rng, 3), wanted = 2 + below(rng, MOST_TXNS - 1);
    int open[4] = {-1, -1, -1, -1}, at[MOST_TXNS] = {0}, seen[MOST_TXNS][KEYS], sum[KEYS] = {0};
    bool ended[MOST_TXNS] = {false}, any_open = false, shown[KEYS] = {false};
    *h = (struct history){.bank = below(rng, 2) == 0};
    for (int key = 0; key < KEYS; key++)
        sum[key] = h->bank ? 10 : 0;
    for (int key = 0; h->bank && key < KEYS; key++)
        shown[key] = true;
    while (h->count < wanted || any_open) {
        const int p = below(rng, processes);
        if (open[p] < 0 && h->count < wanted) {
            struct transaction *t = &h->txns[h->count];
            draw_ops(rng, h->bank, keys, t);
            t->process = p;
            t->begin = h->events++;
            open[p] = h->count++;
        } else if (open[p] >= 0 && !ended[open[p]]) {
            const int txn = open[p];
            struct transaction *t = &h->txns[txn];
            const int steps = kept == SERIAL ? t->count : kept == SNAPSHOT && at[txn] == 0 ? t->count : 1;
            for (int step = 0; step < steps && at[txn] < t->count; step++) {
                struct operation *o = &t->ops[at[txn]++];
                int own = 0;
                for (int i = 0; i < at[txn] - 1; i++)
                    own += t->ops[i].increments && t->ops[i].key == o->key ? t->ops[i].value : 0;
                seen[txn][o->key] = sum[o->key] + own;
                if (!o->increments)
                    o->value = !shown[o->key] && seen[txn][o->key] == 0 && below(rng, 2) == 0 ? NIL : seen[txn][o->key];
            }
            if (at[txn] < t->count || (kept != SERIAL && below(rng, 2) == 0)) {
                any_open = true;
                continue;
            }
            t->outcome = "ooooooofi"[below(rng, 9)];
            for (int i = 0; t->outcome != 'f' && !(t->outcome == 'i' && below(rng, 2) == 0) && i < t->count; i++) {
                sum[t->ops[i].key] += t->ops[i].increments ? t->ops[i].value : 0;
                shown[t->ops[i].key] |= t->ops[i].increments;
            }
            ended[txn] = true;
        } else if (open[p] >= 0) {
            struct transaction *t = &h->txns[open[p]];
            t->end = h->events++;
            t->silent = t->outcome == 'i' && below(rng, 2) == 0;
            open[p] = -1;
        }
        any_open = false;
        for (int i = 0; i < 4; i++)
            any_open |= open[i] >= 0;
    }
    name_processes(h);
    /* Changes a result. */
    struct transaction *t = &h->txns[below(rng, h->count)];
    struct operation *o = &t->ops[below(rng, t->count)];
    if (!o->increments && o->value != NIL && below(rng, 3) != 0)
        o->value += below(rng, 5) - 2;
}

/* ---- as text ---- */

static void write_ops(const struct transaction *t, bool known, struct rig_buf *text)
{
    rig_buf_add_char(text, '[');
    for (int i = 0; i < t->count; i++) {
        const struct operation *o = &t->ops[i];
        rig_buf_printf(text, "%s[\"%s\",%d,", i == 0 ? "" : ",", o->increments ? "inc" : "r", o->key);
        if (o->increments || (known && o->value != NIL))
            rig_buf_printf(text, "%d]", o->value);
        else
            rig_buf_add_text(text, "null]");
    }
    rig_buf_add_char(text, ']');
}

static void write_text(const struct history *h, struct rig_buf *text)
{
    for (int event = 0; event < h->events; event++) {
        for (int i = 0; i < h->count; i++) {
            const struct transaction *t = &h->txns[i];
            const bool completes = t->end == event;
            if ((t->begin != event && !completes) || (completes && t->silent))
                continue;
            rig_buf_printf(text, "{\"index\":%d,\"type\":\"%s\",\"process\":%d,\"f\":\"txn\",\"value\":", event,
                           !completes          ? "invoke"
                           : t->outcome == 'o' ? "ok"
                           : t->outcome == 'f' ? "fail"
                                               : "info",
                           t->process);
            write_ops(t, completes && t->outcome == 'o', text);
            rig_buf_add_text(text, "}\n");
        }
    }
}

/* ---- comparison ---- */

static const struct {
    enum rig_level level;
    enum form form;
    enum along along;
} levels[] = {
    {RIG_LEVEL_STRICT_SERIALIZABLE, SERIAL, REALTIME},
    {RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, SERIAL, PROCESS},
    {RIG_LEVEL_SERIALIZABLE, SERIAL, PLAIN},
    {RIG_LEVEL_VIEW_SERIALIZABLE, SERIAL, PLAIN},
    {RIG_LEVEL_REPEATABLE_READ, ITEMS, PLAIN},
    {RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION, SNAPSHOT, REALTIME},
    {RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION, SNAPSHOT, PROCESS},
    {RIG_LEVEL_SNAPSHOT_ISOLATION, SNAPSHOT, PLAIN},
    {RIG_LEVEL_MONOTONIC_SNAPSHOT_READ, OPERATIONS, PLAIN},
    {RIG_LEVEL_STRONG_READ_COMMITTED, OPERATIONS, REALTIME},
    {RIG_LEVEL_STRONG_SESSION_READ_COMMITTED, OPERATIONS, PROCESS},
};

static uint64_t counts[3]; /* of levels by the first three forms: held, refuted, open */
static uint64_t found_open;

static enum rig_rc compare(const struct history *h, const struct rig_verdict *verdict, struct rig_err *err)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const enum rig_fate fate = verdict->levels[levels[i].level].fate;
        const char *name = rig_level_info(levels[i].level)->name;
        if (levels[i].form == OPERATIONS && fate != RIG_FATE_REFUTED)
            continue; /* stronger levels, or another explanation, may hold it */
        const bool has = has_order(h, levels[i].form, levels[i].along);
        if (fate == RIG_FATE_HELD && !has)
            return rig_fail(err, RIG_E_BUG, "%s is held, and no order explains the reads", name);
        if (fate == RIG_FATE_REFUTED && has)
            return rig_fail(err, RIG_E_BUG, "%s is refuted, and an order explains the reads", name);
        if (fate == RIG_FATE_NOT_REFUTED && has)
            return rig_fail(err, RIG_E_BUG, "%s is not held, and an order explains the reads", name);
        found_open += fate == RIG_FATE_NOT_REFUTED;
        counts[fate == RIG_FATE_HELD ? 0 : fate == RIG_FATE_REFUTED ? 1 : 2] += levels[i].form != OPERATIONS;
    }
    return RIG_OK;
}

static bool check(const struct history *h, struct rig_buf *text)
{
    const struct rig_load_options load = {.form = RIG_FORM_JSON_LINES,
                                          .workload_given = true,
                                          .workload = h->bank ? RIG_WORKLOAD_BANK : RIG_WORKLOAD_COUNTER};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE),
                                              .assumptions = RIG_ASSUMES_NEGATIVE_BALANCES};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    rig_buf_clear(text);
    write_text(h, text);
    enum rig_rc rc = rig_history_parse("random", rig_buf_text(text), text->size, &load, &history, &err);
    if (rc == RIG_OK)
        rc = rig_check(history, &options, &verdict, &err);
    if (rc == RIG_OK)
        rc = compare(h, verdict, &err);
    if (rc == RIG_OK) {
        struct replayed replayed;
        replay_proof(history, verdict, &options, &replayed);
        if (replayed.problem[0] != '\0')
            rc = rig_fail(&err, RIG_E_BUG, "the proof is refused: %.800s", replayed.problem);
        else if (replayed.open != 0)
            rc = rig_fail(&err, RIG_E_BUG, "the proof leaves a level open: %.190s", replayed.why_open);
    }
    rig_verdict_free(verdict);
    rig_history_free(history);
    if (rc != RIG_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    return rc == RIG_OK;
}

/* rig takes a bank without any transfer for a history that leaves them out. */
static bool has_transfer(const struct history *h)
{
    bool found = !h->bank;
    for (int txn = 0; txn < h->count; txn++) {
        for (int i = 0; i < h->txns[txn].count; i++)
            found |= h->txns[txn].ops[i].increments;
    }
    return found;
}

int main(int argc, char **argv)
{
    uint64_t count = 2000, seed = 1, first = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            count = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
    }
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (uint64_t number = first; number < first + count; number++) {
        struct rig_rng rng;
        struct history history;
        rig_rng_init(&rng, seed, number);
        draw_history(&rng, &history);
        if (!has_transfer(&history) || check(&history, &text))
            continue;
        (void)fprintf(stderr, "seed %llu, history %llu\n%s", (unsigned long long)seed, (unsigned long long)number,
                      rig_buf_text(&text));
        return 1;
    }
    (void)printf("%llu histories agree; levels held %llu, refuted %llu, open %llu\n", (unsigned long long)count,
                 (unsigned long long)counts[0], (unsigned long long)counts[1], (unsigned long long)counts[2]);
    rig_buf_done(&text);
    return counts[0] > count && counts[1] + counts[2] > count ? 0 : 1;
}
