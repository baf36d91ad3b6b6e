#include "checker/decide/counters/counter_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/orders.h"

/* The use of a key by the visited transaction; zero between transactions. */
struct use {
    int64_t own;     /* increments so far */
    uint32_t need;   /* one more than the term of its first read; 0: there is none */
    bool changes;    /* it increments the key */
    bool is_locked;  /* an event of it holds the lock */
    bool is_counted; /* its increments have a term */
};

struct making {
    const struct rig_history *history;
    struct rig_sum_events *events;
    enum rig_sum_form form;
    struct use *uses;       /* per key */
    uint32_t *first, *last; /* per transaction: its events; RIG_SUM_NONE: it has none */
};

static bool increments(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_INCREMENT;
}

static bool is_known(const struct rig_txn_op *op)
{
    return !increments(op) && op->read_state != RIG_READ_UNKNOWN;
}

static int64_t value_of(const struct rig_txn_op *read)
{
    return read->read_state == RIG_READ_SEEN ? read->value : 0;
}

/* A transaction without an invocation may have begun at any time. */
static uint32_t begin_of(const struct making *m, uint32_t txn)
{
    const struct rig_txn *t = &m->history->txns[txn];
    return t->invoke_at != RIG_POSITION_NONE ? t->invoke_at : m->events->in_time ? 0 : t->complete_at;
}

static bool add_term(struct making *m, uint32_t key, int64_t value)
{
    return m->events->terms.count < RIG_SUM_NONE - 1 &&
           rig_sum_terms_add(&m->events->terms, (struct rig_sum_term){key, value});
}

/* Opens an event; its needs follow. */
static struct rig_sum_event begin_event(const struct making *m, uint32_t txn)
{
    const struct rig_txn *t = &m->history->txns[txn];
    const bool settled = t->outcome == RIG_OUTCOME_OK;
    const uint32_t at = (uint32_t)m->events->terms.count;
    return (struct rig_sum_event){.txn = txn,
                                  .first_need = at,
                                  .first_lock = at,
                                  .first_add = at,
                                  .after = m->last[txn],
                                  .invoked = begin_of(m, txn),
                                  .completed = settled ? t->complete_at : UINT32_MAX,
                                  .optional = !settled,
                                  .stands = 1};
}

static bool end_event(struct making *m, struct rig_sum_event *event)
{
    event->end = (uint32_t)m->events->terms.count;
    m->last[event->txn] = (uint32_t)m->events->list.count;
    return m->events->list.count < RIG_SUM_NONE - 1 && rig_sum_event_list_add(&m->events->list, *event);
}

/* A term for each key that the transaction increments: of its locks, or of the amounts. */
static bool add_changes(struct making *m, uint32_t txn, bool locks)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    const uint32_t count = rig_txn_op_count(m->history, txn);
    bool ok = true;
    for (uint32_t i = 0; i < count; i++)
        m->uses[ops[i].key].is_counted = false;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct use *use = &m->uses[ops[i].key];
        if (!increments(&ops[i]) || use->is_counted)
            continue;
        use->is_counted = true;
        ok = add_term(m, ops[i].key, locks ? 0 : use->own);
    }
    return ok;
}

/* A read of several at once: it needs the same sum as an earlier one. */
static bool add_need(struct making *m, const struct rig_txn_op *read)
{
    struct use *use = &m->uses[read->key];
    const int64_t sum = value_of(read) - use->own;
    if (m->form == RIG_SUM_ITEMS && read->read_state == RIG_READ_NIL && !use->changes)
        return true;
    if (use->need > 0) {
        m->events->impossible |= m->events->terms.at[use->need - 1].value != sum;
        return true;
    }
    use->need = (uint32_t)m->events->terms.count + 1;
    return add_term(m, read->key, sum);
}

static void note_increment(struct making *m, const struct rig_txn_op *op)
{
    m->uses[op->key].own += op->value;
    m->uses[op->key].changes = true;
}

/* All at one point, or the reads before the increments. */
static bool add_at_once(struct making *m, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    const uint32_t count = rig_txn_op_count(m->history, txn);
    struct rig_sum_event event = begin_event(m, txn);
    bool ok = true, changes = false, only_own = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        changes |= increments(&ops[i]);
        if (increments(&ops[i]))
            note_increment(m, &ops[i]);
        else if (is_known(&ops[i]) && !event.optional)
            ok = add_need(m, &ops[i]);
    }
    event.first_lock = (uint32_t)m->events->terms.count;
    for (uint32_t term = event.first_need; term < event.first_lock; term++)
        only_own &= m->uses[m->events->terms.at[term].key].changes;
    const bool split = m->form == RIG_SUM_SNAPSHOT && changes && !only_own;
    if (ok && split)
        ok = add_changes(m, txn, true);
    if (ok && split) {
        event.first_add = (uint32_t)m->events->terms.count;
        ok = end_event(m, &event);
        event = begin_event(m, txn);
        event.holds = true;
    }
    event.first_add = (uint32_t)m->events->terms.count;
    return ok && (!changes || add_changes(m, txn, false)) && end_event(m, &event);
}

/* Locks the keys that were incremented before operation `end` and not locked before. */
static bool add_locks(struct making *m, uint32_t txn, uint32_t end, bool *any)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    bool ok = true;
    for (uint32_t i = 0; ok && i < end; i++) {
        struct use *use = &m->uses[ops[i].key];
        if (!increments(&ops[i]) || use->is_locked)
            continue;
        use->is_locked = *any = true;
        ok = add_term(m, ops[i].key, 0);
    }
    return ok;
}

/* Whether the transaction is a single event: it makes at most one known read, and then nothing else. */
static bool is_single(const struct making *m, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    uint32_t reads = 0, changes = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(m->history, txn); i++) {
        reads += is_known(&ops[i]);
        changes += increments(&ops[i]);
    }
    return reads == 0 || (reads == 1 && changes == 0);
}

static bool add_operations(struct making *m, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    const uint32_t count = rig_txn_op_count(m->history, txn);
    uint32_t told = 0; /* operations that stand in the order so far */
    bool ok = true, holds = false;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (increments(&ops[i]))
            note_increment(m, &ops[i]);
        if (!is_known(&ops[i]))
            continue;
        struct rig_sum_event event = begin_event(m, txn);
        ok = add_term(m, ops[i].key, value_of(&ops[i]) - m->uses[ops[i].key].own);
        event.first_lock = (uint32_t)m->events->terms.count;
        ok = ok && add_locks(m, txn, i, &holds);
        event.first_add = (uint32_t)m->events->terms.count;
        event.stands = i + 1 - told;
        told = i + 1;
        ok = ok && end_event(m, &event);
    }
    struct rig_sum_event event = begin_event(m, txn);
    event.holds = holds;
    event.stands = count - told + 1;
    return ok && add_changes(m, txn, false) && end_event(m, &event);
}

static bool add_txn(struct making *m, uint32_t txn)
{
    const struct rig_txn *t = &m->history->txns[txn];
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    const uint32_t count = rig_txn_op_count(m->history, txn);
    bool any = t->outcome == RIG_OUTCOME_OK;
    for (uint32_t i = 0; i < count; i++)
        any |= increments(&ops[i]);
    if (!any || t->outcome == RIG_OUTCOME_FAIL)
        return true;
    m->first[txn] = (uint32_t)m->events->list.count;
    const bool whole = m->form != RIG_SUM_OPERATIONS || t->outcome != RIG_OUTCOME_OK || is_single(m, txn);
    const bool ok = whole ? add_at_once(m, txn) : add_operations(m, txn);
    for (uint32_t i = 0; i < count; i++)
        m->uses[ops[i].key] = (struct use){0};
    return ok;
}

struct begun {
    uint32_t at, txn;
};

static int compare_begins(const void *left, const void *right)
{
    const struct begun *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : (a->txn > b->txn) - (a->txn < b->txn);
}

/* The first event of a transaction follows the last one of the acknowledged transaction before it in its process. */
static bool add_processes(struct making *m)
{
    const struct rig_history *history = m->history;
    const size_t room = (size_t)history->txn_count + 1;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    uint8_t *stands = rig_arena_array(&arena, room, 1);
    uint32_t *before = rig_arena_room(&arena, room, sizeof *before);
    bool ok = stands != NULL && before != NULL;
    for (uint32_t txn = 0; ok && txn < history->txn_count; txn++)
        stands[txn] = m->first[txn] != RIG_SUM_NONE;
    ok = ok && rig_process_order(history, stands, &arena, before);
    for (uint32_t txn = 0; ok && txn < history->txn_count; txn++) {
        if (stands[txn] && before[txn] != RIG_NODE_NONE)
            m->events->list.at[m->first[txn]].after = m->last[before[txn]];
    }
    rig_arena_done(&arena);
    return ok;
}

static bool add_all(struct making *m)
{
    const uint32_t count = m->history->txn_count;
    struct begun *order = malloc(((size_t)count + 1) * sizeof *order);
    bool ok = order != NULL;
    for (uint32_t txn = 0; ok && txn < count; txn++)
        order[txn] = (struct begun){begin_of(m, txn), txn};
    if (ok && count > 1)
        qsort(order, count, sizeof *order, compare_begins);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = add_txn(m, order[i].txn);
    free(order);
    return ok;
}

enum rig_rc rig_sum_events_make(const struct rig_history *history, enum rig_sum_form form, enum rig_along along,
                                struct rig_sum_events *events, struct rig_err *err)
{
    RIG_REQUIRE(along != RIG_ALONG_REALTIME || history->has_invocations);
    const size_t txns = (size_t)history->txn_count + 1;
    struct making m = {.history = history,
                       .events = events,
                       .form = form,
                       .uses = calloc((size_t)history->key_count + 1, sizeof *m.uses),
                       .first = malloc(txns * sizeof *m.first),
                       .last = malloc(txns * sizeof *m.last)};
    *events = (struct rig_sum_events){.key_count = history->key_count,
                                      .begins_at_zero = history->workload != RIG_WORKLOAD_BANK,
                                      .in_time = along == RIG_ALONG_REALTIME,
                                      .in_processes = along == RIG_ALONG_PROCESS ||
                                                      (along == RIG_ALONG_REALTIME && history->in_turn)};
    bool ok = m.uses != NULL && m.first != NULL && m.last != NULL;
    if (ok) {
        memset(m.first, 0xff, txns * sizeof *m.first);
        memset(m.last, 0xff, txns * sizeof *m.last);
    }
    ok = ok && add_all(&m) && (!events->in_processes || add_processes(&m));
    free(m.uses);
    free(m.first);
    free(m.last);
    return ok ? RIG_OK : rig_memory_limit(err, "the order of the increments");
}

void rig_sum_events_done(struct rig_sum_events *events)
{
    rig_sum_event_list_done(&events->list);
    rig_sum_terms_done(&events->terms);
}
