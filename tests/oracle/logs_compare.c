/*
 * Compares verdicts on histories of logs with brute force over all orders of their transactions.
 *
 *   logs_compare [--count N] [--seed N] [--first N]
 *
 * Histories are small, random, and written as Jepsen's workload for Kafka records them. They come from a run of logs in
 * which records, offsets and positions are then changed at random in about half of the histories. Brute force shares no
 * code with rig: each anomaly is looked for as it is defined, pair by pair, and each order of the committed
 * transactions is carried out: a send appends, a poll shows the records that follow its consumer's position.
 *
 * A level that is held must have such an order, and one that is refuted must have none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "checker/judge/check.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "history/source/load.h"

enum { MOST_TXNS = 6, MOST_OPS = 3, LOGS = 2, MOST_RECORDS = 24, UNKNOWN = -1 };
enum along { PLAIN, PROCESS, REALTIME, ALONGS };

struct record {
    int offset, value;
};

struct operation {
    bool sends;
    int key, value, offset; /* of a send */
    int count[LOGS];        /* of a poll: records of each log; UNKNOWN: the log is not in the result */
    struct record shown[LOGS][MOST_RECORDS];
};

struct transaction {
    bool assigns; /* keeps one log, and moves its consumer in the other one */
    int keeps;
    struct operation ops[MOST_OPS];
    int count, process, begin, end; /* events, ascending */
    char outcome;                   /* 'o', 'f' or 'i' */
};

struct history {
    struct transaction txns[MOST_TXNS];
    int count, events;
};

/* ---- facts, as defined ---- */

static const struct transaction *txn_of(const struct history *h, int txn)
{
    return &h->txns[txn];
}

/* The transaction that sent the value, and its operation; UNKNOWN: none. Values are unique. */
static int sender(const struct history *h, int value, int *op)
{
    for (int txn = 0; txn < h->count; txn++) {
        for (int i = 0; i < txn_of(h, txn)->count; i++) {
            *op = i;
            if (!txn_of(h, txn)->assigns && txn_of(h, txn)->ops[i].sends && txn_of(h, txn)->ops[i].value == value)
                return txn;
        }
    }
    return UNKNOWN;
}

/* Whether acknowledged transactions show the value of the key at the offset; `polled`: by a poll. */
static bool is_shown(const struct history *h, int key, int offset, int value, bool polled)
{
    for (int txn = 0; txn < h->count; txn++) {
        const struct transaction *t = txn_of(h, txn);
        for (int i = 0; t->outcome == 'o' && !t->assigns && i < t->count; i++) {
            const struct operation *o = &t->ops[i];
            if (o->sends && !polled && o->key == key && o->value == value && o->offset == offset)
                return true;
            for (int at = 0; !o->sends && at < o->count[key]; at++) {
                if (o->shown[key][at].value == value && o->shown[key][at].offset == offset)
                    return true;
            }
        }
    }
    return false;
}

enum { OFFSETS = 40, VALUES = 60 };

static int offsets_of(const struct history *h, int key, int value, int *offset)
{
    int count = 0;
    for (int at = 0; at < OFFSETS; at++) {
        if (is_shown(h, key, at, value, false)) {
            *offset = at;
            count++;
        }
    }
    return count;
}

static bool is_polled(const struct history *h, int key, int value)
{
    for (int at = 0; at < OFFSETS; at++) {
        if (is_shown(h, key, at, value, true))
            return true;
    }
    return false;
}

static bool is_committed(const struct history *h, int txn)
{
    const struct transaction *t = txn_of(h, txn);
    bool shown = t->outcome == 'o';
    for (int i = 0; !shown && t->outcome == 'i' && !t->assigns && i < t->count; i++)
        shown = t->ops[i].sends && is_polled(h, t->ops[i].key, t->ops[i].value);
    return shown;
}

/* The facts about a value. */
struct fact {
    int key, txn, op, offset; /* UNKNOWN: none, or not certain */
    bool committed, polled;
};

struct facts {
    struct fact of[VALUES];
    bool found[RIG_ANOMALY_COUNT];
    bool open; /* a committed record without a known offset */
};

static void note_values(const struct history *h, struct facts *f)
{
    for (int value = 0; value < VALUES; value++) {
        struct fact *fact = &f->of[value];
        *fact = (struct fact){.txn = UNKNOWN, .offset = UNKNOWN};
        fact->txn = sender(h, value, &fact->op);
        if (fact->txn == UNKNOWN)
            continue;
        fact->key = txn_of(h, fact->txn)->ops[fact->op].key;
        fact->committed = is_committed(h, fact->txn);
        fact->polled = is_polled(h, fact->key, value);
        const int count = offsets_of(h, fact->key, value, &fact->offset);
        f->found[RIG_ANOMALY_DUPLICATE_ELEMENTS] |= count > 1;
        f->open |= count == 0 && fact->committed;
        fact->offset = count == 1 ? fact->offset : UNKNOWN;
    }
    bool clash[VALUES] = {false};
    for (int a = 0; a < VALUES; a++) {
        for (int b = 0; b < VALUES; b++)
            clash[a] |= a != b && f->of[a].txn != UNKNOWN && f->of[b].txn != UNKNOWN && f->of[a].key == f->of[b].key &&
                        f->of[a].offset != UNKNOWN && f->of[a].offset == f->of[b].offset;
    }
    for (int a = 0; a < VALUES; a++) {
        f->found[RIG_ANOMALY_INCONSISTENT_OFFSETS] |= clash[a];
        f->of[a].offset = clash[a] ? UNKNOWN : f->of[a].offset;
    }
}

/* Whether a committed record of another transaction lies between two offsets. */
static bool lies_between(const struct facts *f, int txn, int key, int from, int to)
{
    for (int value = 0; value < VALUES; value++) {
        const struct fact *fact = &f->of[value];
        if (fact->txn != UNKNOWN && fact->txn != txn && fact->committed && fact->key == key && from < fact->offset &&
            fact->offset < to)
            return true;
    }
    return false;
}

static void note_records(const struct history *h, struct facts *f, int txn, int op, int key)
{
    const struct operation *o = &txn_of(h, txn)->ops[op];
    for (int at = 0; at < o->count[key]; at++) {
        const struct fact *fact = &f->of[o->shown[key][at].value];
        if (fact->txn == UNKNOWN || fact->key != key)
            f->found[RIG_ANOMALY_GARBAGE_READ] = true;
        else if (fact->txn == txn)
            f->found[RIG_ANOMALY_FUTURE_READ] |= fact->op > op;
        else
            f->found[RIG_ANOMALY_G1A] |= txn_of(h, fact->txn)->outcome == 'f';
    }
}

/* The records of a log that the process polled, one after the other, until it was moved. */
static void note_positions(const struct history *h, struct facts *f, int process, int key)
{
    int last = UNKNOWN, last_txn = UNKNOWN;
    for (int txn = 0; txn < h->count; txn++) {
        const struct transaction *t = txn_of(h, txn);
        if (t->process != process || t->outcome != 'o')
            continue;
        if (t->assigns)
            last = t->keeps == key ? last : UNKNOWN;
        for (int i = 0; !t->assigns && i < t->count; i++) {
            for (int at = 0; !t->ops[i].sends && at < t->ops[i].count[key]; at++) {
                const int offset = t->ops[i].shown[key][at].offset;
                const bool back = last != UNKNOWN && offset <= last;
                const bool skip = last != UNKNOWN && lies_between(f, txn, key, last, offset);
                f->found[last_txn == txn ? RIG_ANOMALY_INT_NONMONOTONIC_POLL : RIG_ANOMALY_NONMONOTONIC_POLL] |= back;
                f->found[last_txn == txn ? RIG_ANOMALY_INT_POLL_SKIP : RIG_ANOMALY_POLL_SKIP] |= skip;
                last = offset;
                last_txn = txn;
            }
        }
    }
}

/* Whether a transaction other than the one polled a record of the log above the offset. */
static bool is_passed(const struct history *h, int key, int offset, int but)
{
    bool passed = false;
    for (int txn = 0; txn < h->count; txn++) {
        const struct transaction *t = txn_of(h, txn);
        for (int i = 0; txn != but && t->outcome == 'o' && !t->assigns && i < t->count; i++) {
            for (int at = 0; !t->ops[i].sends && at < t->ops[i].count[key]; at++)
                passed |= t->ops[i].shown[key][at].offset > offset;
        }
    }
    return passed;
}

static void note_lost(const struct history *h, struct facts *f, int key)
{
    bool unknown = false;
    for (int txn = 0; txn < h->count; txn++) {
        const struct transaction *t = txn_of(h, txn);
        for (int i = 0; !t->assigns && i < t->count; i++)
            unknown |= t->outcome == 'i' && !t->ops[i].sends;
    }
    for (int value = 0; !unknown && value < VALUES; value++) {
        const struct fact *fact = &f->of[value];
        f->found[RIG_ANOMALY_LOST_WRITE] |= fact->txn != UNKNOWN && fact->key == key && !fact->polled &&
                                            txn_of(h, fact->txn)->outcome == 'o' && fact->offset != UNKNOWN &&
                                            is_passed(h, key, fact->offset, fact->txn);
    }
}

static void note_sends(const struct history *h, struct facts *f)
{
    for (int a = 0; a < VALUES; a++) {
        for (int b = 0; b < VALUES; b++) {
            const struct fact *one = &f->of[a], *two = &f->of[b];
            if (one->txn != UNKNOWN && one->txn == two->txn && one->committed && one->key == two->key &&
                one->op < two->op && one->offset != UNKNOWN && two->offset != UNKNOWN && two->offset < one->offset)
                f->found[RIG_ANOMALY_INT_NONMONOTONIC_SEND] = true;
        }
    }
    (void)h;
}

static void find_facts(const struct history *h, struct facts *f)
{
    *f = (struct facts){0};
    note_values(h, f);
    for (int txn = 0; txn < h->count; txn++) {
        const struct transaction *t = txn_of(h, txn);
        for (int i = 0; t->outcome == 'o' && !t->assigns && i < t->count; i++) {
            for (int key = 0; !t->ops[i].sends && key < LOGS; key++)
                note_records(h, f, txn, i, key);
        }
    }
    for (int process = 0; process < 40; process++) {
        for (int key = 0; key < LOGS; key++)
            note_positions(h, f, process, key);
    }
    for (int key = 0; key < LOGS; key++)
        note_lost(h, f, key);
    note_sends(h, f);
}

/* ---- orders ---- */

struct asking {
    const struct history *h;
    const struct facts *f;
    enum along along;
    bool writes_only; /* read uncommitted: only sends of acknowledged transactions are carried out */
};

struct state {
    unsigned done;
    int highest[LOGS]; /* offset of the last record with a known one */
    bool there[VALUES];
};

static bool precedes(const struct asking *a, int one, int other)
{
    const struct transaction *t = txn_of(a->h, one), *u = txn_of(a->h, other);
    return a->along != PLAIN && (a->along == REALTIME || t->process == u->process) && t->outcome == 'o' &&
           t->end < u->begin;
}

static bool carry_out(const struct asking *a, struct state *s, int txn)
{
    const struct transaction *t = txn_of(a->h, txn);
    int lowest[LOGS] = {OFFSETS, OFFSETS}, most[LOGS] = {UNKNOWN, UNKNOWN};
    for (int i = 0; i < t->count; i++) {
        const struct operation *o = &t->ops[i];
        const int offset = o->sends ? a->f->of[o->value].offset : UNKNOWN;
        if (o->sends) {
            s->there[o->value] = true;
            lowest[o->key] = offset != UNKNOWN && offset < lowest[o->key] ? offset : lowest[o->key];
            most[o->key] = offset > most[o->key] ? offset : most[o->key];
        }
        for (int key = 0; !o->sends && !a->writes_only && t->outcome == 'o' && key < LOGS; key++) {
            for (int at = 0; at < o->count[key]; at++) {
                if (!s->there[o->shown[key][at].value])
                    return false;
            }
        }
    }
    for (int key = 0; key < LOGS; key++) {
        if (lowest[key] < s->highest[key])
            return false;
        s->highest[key] = most[key] > s->highest[key] ? most[key] : s->highest[key];
    }
    return true;
}

static bool takes_part(const struct asking *a, int txn)
{
    const struct transaction *t = txn_of(a->h, txn);
    return !t->assigns && (a->writes_only ? t->outcome == 'o' : is_committed(a->h, txn));
}

static bool explain(const struct asking *a, const struct state *s)
{
    bool all = true;
    for (int txn = 0; txn < a->h->count; txn++) {
        if (!takes_part(a, txn) || (s->done >> txn & 1) != 0)
            continue;
        all = false;
        bool may = true;
        for (int other = 0; may && other < a->h->count; other++)
            may = other == txn || !takes_part(a, other) || (s->done >> other & 1) != 0 || !precedes(a, other, txn);
        struct state next = *s;
        next.done |= 1U << txn;
        if (may && carry_out(a, &next, txn) && explain(a, &next))
            return true;
    }
    return all;
}

static bool has_order(const struct history *h, const struct facts *f, enum along along, bool writes_only)
{
    const struct asking a = {h, f, along, writes_only};
    const struct state s = {.highest = {UNKNOWN, UNKNOWN}};
    return explain(&a, &s);
}

/* ---- random histories ---- */

static int below(struct rig_rng *rng, int bound)
{
    return (int)rig_rng_below(rng, (uint64_t)bound);
}

struct run {
    struct record log[LOGS][MOST_RECORDS];
    int length[LOGS], next_value, next_offset[LOGS];
    int position[3 + 10 * MOST_TXNS][LOGS]; /* a process that is left has a number higher by 10 */
};

static void run_poll(struct rig_rng *rng, struct run *run, int process, bool commits, struct operation *o)
{
    for (int key = 0; key < LOGS; key++) {
        int *position = &run->position[process][key];
        const int left = run->length[key] - *position;
        o->count[key] = left == 0 || below(rng, 4) == 0 ? (below(rng, 2) == 0 ? 0 : UNKNOWN) : 1 + below(rng, left);
        for (int at = 0; at < o->count[key]; at++)
            o->shown[key][at] = run->log[key][*position + at];
        if (commits && o->count[key] > 0)
            *position += o->count[key];
    }
}

static void run_transaction(struct rig_rng *rng, struct run *run, struct transaction *t)
{
    const bool takes_effect = t->outcome == 'o' || (t->outcome == 'i' && below(rng, 2) == 0) || below(rng, 6) == 0;
    t->count = 1 + below(rng, MOST_OPS);
    for (int i = 0; i < t->count; i++) {
        struct operation *o = &t->ops[i];
        *o = (struct operation){.sends = below(rng, 2) == 0, .key = below(rng, LOGS)};
        if (!o->sends) {
            run_poll(rng, run, t->process, t->outcome == 'o', o);
            continue;
        }
        o->value = run->next_value++;
        o->offset = run->next_offset[o->key] += 1 + (below(rng, 3) == 0);
        if (takes_effect)
            run->log[o->key][run->length[o->key]++] = (struct record){o->offset, o->value};
        if (below(rng, 12) == 0)
            o->offset = UNKNOWN;
    }
}

static void draw_history(struct rig_rng *rng, struct history *h)
{
    struct run run = {0};
    const int processes = 1 + below(rng, 3), wanted = 2 + below(rng, MOST_TXNS - 1);
    int open[3] = {-1, -1, -1}, number[3] = {0, 1, 2}, running = 0;
    *h = (struct history){0};
    while (h->count < wanted || running > 0) {
        const int p = below(rng, processes);
        if (open[p] < 0 && h->count < wanted) {
            struct transaction *t = &h->txns[h->count];
            *t = (struct transaction){.process = number[p], .begin = h->events++, .outcome = "oooooofi"[below(rng, 8)]};
            t->assigns = below(rng, 8) == 0;
            t->keeps = below(rng, LOGS);
            if (t->assigns)
                run.position[t->process][1 - t->keeps] = 0;
            else
                run_transaction(rng, &run, t);
            t->outcome = t->assigns ? 'o' : t->outcome;
            open[p] = h->count++;
            running++;
        } else if (open[p] >= 0) {
            h->txns[open[p]].end = h->events++;
            number[p] += h->txns[open[p]].outcome == 'i' ? 10 : 0;
            open[p] = -1;
            running--;
        }
    }
}

/* A send to the log by the transaction, or by one that began later; NULL: this one is none. */
static const struct operation *draw_send(struct rig_rng *rng, const struct history *h, const struct transaction *t,
                                         int key)
{
    const struct transaction *later = below(rng, 2) == 0 ? t : &h->txns[below(rng, h->count)];
    if (later < t || later->assigns)
        return NULL;
    const struct operation *o = &later->ops[below(rng, later->count)];
    return o->sends && o->key == key && o->offset != UNKNOWN ? o : NULL;
}

static void change(struct rig_rng *rng, struct history *h)
{
    struct transaction *t = &h->txns[below(rng, h->count)];
    if (t->assigns)
        return;
    struct operation *o = &t->ops[below(rng, t->count)];
    const int key = below(rng, LOGS);
    const struct operation *send = draw_send(rng, h, t, key);
    if (send != NULL && !o->sends) { /* the poll shows what is sent later */
        o->count[key] = 1;
        o->shown[key][0] = (struct record){send->offset, send->value};
        return;
    }
    if (o->sends) {
        o->offset = below(rng, 3) == 0 ? below(rng, 12) : o->offset;
        return;
    }
    if (o->count[key] <= 0)
        return;
    const int at = below(rng, o->count[key]);
    struct record *record = &o->shown[key][at];
    switch (below(rng, 6)) {
    case 0:
        record->offset = 1 + below(rng, 12);
        break;
    case 1:
        record->value = below(rng, 3) == 0 ? VALUES - 1 : below(rng, 12);
        break;
    case 2: {
        const struct record kept = *record;
        *record = o->shown[key][0];
        o->shown[key][0] = kept;
        break;
    }
    default: /* a record is left out */
        memmove(record, record + 1, (size_t)(o->count[key] - at - 1) * sizeof *record);
        o->count[key]--;
    }
}

/* ---- as text ---- */

static void write_operation(const struct operation *o, bool known, struct rig_buf *text)
{
    if (o->sends && known && o->offset == UNKNOWN)
        rig_buf_printf(text, " [:send %d [nil %d]]", o->key, o->value);
    else if (o->sends && known)
        rig_buf_printf(text, " [:send %d [%d %d]]", o->key, o->offset, o->value);
    else if (o->sends)
        rig_buf_printf(text, " [:send %d %d]", o->key, o->value);
    else if (!known)
        rig_buf_add_text(text, " [:poll]");
    if (o->sends || !known)
        return;
    rig_buf_add_text(text, " [:poll {");
    for (int key = 0; key < LOGS; key++) {
        if (o->count[key] == UNKNOWN)
            continue;
        rig_buf_printf(text, "%d [", key);
        for (int at = 0; at < o->count[key]; at++)
            rig_buf_printf(text, "[%d %d]", o->shown[key][at].offset, o->shown[key][at].value);
        rig_buf_add_text(text, "] ");
    }
    rig_buf_add_text(text, "}]");
}

static void write_text(const struct history *h, struct rig_buf *text)
{
    for (int event = 0; event < h->events; event++) {
        for (int i = 0; i < h->count; i++) {
            const struct transaction *t = &h->txns[i];
            const bool completes = t->end == event;
            if (t->begin != event && !completes)
                continue;
            rig_buf_printf(text, "{:index %d :type :%s :process %d :f :%s :value [", event,
                           !completes          ? "invoke"
                           : t->outcome == 'o' ? "ok"
                           : t->outcome == 'f' ? "fail"
                                               : "info",
                           t->process, t->assigns ? "assign" : "txn");
            if (t->assigns)
                rig_buf_printf(text, "%d", t->keeps);
            for (int op = 0; !t->assigns && op < t->count; op++)
                write_operation(&t->ops[op], completes && t->outcome == 'o', text);
            rig_buf_add_text(text, "]}\n");
        }
    }
}

/* ---- comparison ---- */

static const enum rig_anomaly compared[] = {
    RIG_ANOMALY_DUPLICATE_ELEMENTS,
    RIG_ANOMALY_GARBAGE_READ,
    RIG_ANOMALY_G1A,
    RIG_ANOMALY_FUTURE_READ,
    RIG_ANOMALY_INCONSISTENT_OFFSETS,
    RIG_ANOMALY_INT_NONMONOTONIC_SEND,
    RIG_ANOMALY_INT_NONMONOTONIC_POLL,
    RIG_ANOMALY_INT_POLL_SKIP,
    RIG_ANOMALY_NONMONOTONIC_POLL,
    RIG_ANOMALY_POLL_SKIP,
    RIG_ANOMALY_LOST_WRITE,
};

static const struct {
    enum rig_level level;
    enum along along;
    bool writes_only;
} levels[] = {
    {RIG_LEVEL_READ_UNCOMMITTED, PLAIN, true},
    {RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED, PROCESS, true},
    {RIG_LEVEL_STRONG_READ_UNCOMMITTED, REALTIME, true},
    {RIG_LEVEL_READ_COMMITTED, PLAIN, false},
    {RIG_LEVEL_STRONG_SESSION_READ_COMMITTED, PROCESS, false},
    {RIG_LEVEL_STRONG_READ_COMMITTED, REALTIME, false},
    {RIG_LEVEL_SERIALIZABLE, PLAIN, false},
    {RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, PROCESS, false},
    {RIG_LEVEL_STRICT_SERIALIZABLE, REALTIME, false},
};

static uint64_t counts[3]; /* levels held, refuted, open */
static uint64_t found_counts[RIG_ANOMALY_COUNT];

static enum rig_rc compare(const struct history *h, const struct rig_verdict *verdict, struct rig_err *err)
{
    struct facts f;
    find_facts(h, &f);
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        const bool found = verdict->findings[compared[i]].count > 0;
        found_counts[compared[i]] += found;
        if (found != f.found[compared[i]])
            return rig_fail(err, RIG_E_BUG, "%s is %s", rig_anomaly_info(compared[i])->name,
                            found ? "found and is not there" : "there and is not found");
    }
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const enum rig_fate fate = verdict->levels[levels[i].level].fate;
        const struct rig_level_info *info = rig_level_info(levels[i].level);
        bool forbidden = false;
        for (size_t one = 0; one < sizeof compared / sizeof compared[0]; one++)
            forbidden |= f.found[compared[one]] && (info->forbids & RIG_ANOMALY_BIT(compared[one])) != 0;
        const bool has = !forbidden && has_order(h, &f, levels[i].along, levels[i].writes_only);
        counts[fate == RIG_FATE_HELD ? 0 : fate == RIG_FATE_REFUTED ? 1 : 2]++;
        if (fate == RIG_FATE_HELD && !has)
            return rig_fail(err, RIG_E_BUG, "%s is held, and no order explains the history", info->name);
        if (fate == RIG_FATE_REFUTED && has)
            return rig_fail(err, RIG_E_BUG, "%s is refuted, and an order explains the history", info->name);
        if (fate == RIG_FATE_NOT_REFUTED && !has && !f.found[RIG_ANOMALY_INCONSISTENT_OFFSETS])
            return rig_fail(err, RIG_E_BUG, "%s is not refuted, and no order explains the history", info->name);
    }
    return RIG_OK;
}

static bool check(const struct history *h, struct rig_buf *text)
{
    const struct rig_load_options load = {.form = RIG_FORM_EDN};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE)};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    rig_buf_clear(text);
    write_text(h, text);
    enum rig_rc rc = rig_history_parse("random", rig_buf_text(text), text->size, &load, &history, &err);
    if (rc == RIG_OK && history->workload != RIG_WORKLOAD_LOG && history->op_count > 0)
        rc = rig_fail(&err, RIG_E_BUG, "the history is not taken for one of logs");
    if (rc == RIG_OK && history->workload == RIG_WORKLOAD_LOG)
        rc = rig_check(history, &options, &verdict, &err);
    if (rc == RIG_OK && verdict != NULL)
        rc = compare(h, verdict, &err);
    rig_verdict_free(verdict);
    rig_history_free(history);
    if (rc != RIG_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    return rc == RIG_OK;
}

static int run(uint64_t seed, uint64_t first, uint64_t count)
{
    struct rig_buf text;
    int status = 0;
    rig_buf_init(&text, 0);
    for (uint64_t number = first; status == 0 && number < first + count; number++) {
        struct rig_rng rng;
        struct history h;
        rig_rng_init(&rng, seed, number);
        draw_history(&rng, &h);
        for (int changes = below(&rng, 4); changes > 1; changes--)
            change(&rng, &h);
        if (!check(&h, &text)) {
            (void)fprintf(stderr, "history %llu of seed %llu:\n%s", (unsigned long long)number,
                          (unsigned long long)seed, rig_buf_text(&text));
            status = 1;
        }
    }
    rig_buf_done(&text);
    return status;
}

/* Every anomaly has to be among the histories, or the comparison shows nothing of it. */
static int require_all(uint64_t count)
{
    int status = 0;
    for (size_t i = 0; count >= 5000 && i < sizeof compared / sizeof compared[0]; i++) {
        if (found_counts[compared[i]] == 0) {
            (void)fprintf(stderr, "no history has a %s\n", rig_anomaly_info(compared[i])->name);
            status = 1;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, first = 0, count = 1000;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0)
            count = number;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = number;
        else if (strcmp(argv[i], "--first") == 0)
            first = number;
    }
    const int status = run(seed, first, count);
    (void)printf("levels held %llu, refuted %llu, open %llu\n", (unsigned long long)counts[0],
                 (unsigned long long)counts[1], (unsigned long long)counts[2]);
    return status != 0 ? status : require_all(count);
}
