#include "checker/objects/object_sequential.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/objects/object_replay.h"
#include "checker/objects/object_sessions.h"
#include "history/types/object_kinds.h"

static const uint32_t none = UINT32_MAX;

struct sequential {
    const struct rig_history *history;
    const struct rig_object_search_limits *limits;
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_begin *begins; /* per key, with what it begins */
    uint32_t *initial;        /* per key: that state */
    struct rig_arena scratch;
    struct rig_object_order *orders; /* per key: transactions */
    uint8_t *dropped;                /* per transaction: left out of a refutation */
    uint8_t *drained;                /* per key: a drain took from it, in an order that is not known */
    bool has_drain;                  /* of the keys that were looked at */
};

/* ---- orders ---- */

/* An order counts once it was replayed, without real time: every operation spans the whole history. */
static bool replays(struct sequential *q, uint32_t key, const struct rig_object_sessions *sessions,
                    const struct rig_object_order *order)
{
    RIG_REQUIRE(key < q->ops.key_count);
    struct rig_object_op *ops = calloc((size_t)sessions->count + 1, sizeof *ops);
    bool explains = ops != NULL;
    q->model.initial = q->initial[key];
    for (uint32_t i = 0; ops != NULL && i < sessions->count; i++)
        ops[i] = (struct rig_object_op){sessions->at[i].txn, sessions->at[i].class, 0,
                                        sessions->at[i].unknown ? RIG_POSITION_NONE : 1};
    if (ops != NULL && rig_object_replay(&q->model, ops, sessions->count, order, &explains))
        RIG_INVARIANT(explains && "an order that the search found");
    free(ops);
    return explains;
}

static bool keep_order(struct rig_object_order *kept, const struct rig_object_sessions *sessions,
                       const struct rig_object_order *order)
{
    for (size_t i = 0; i < order->count; i++) {
        RIG_INVARIANT(order->at[i] < sessions->count);
        if (!rig_object_order_add(kept, sessions->at[order->at[i]].txn))
            return false;
    }
    return true;
}

/* The answer for one object, or for all together. */
static enum rig_object_answer decide(struct sequential *q, uint32_t key, const struct rig_object_search_limits *limits)
{
    RIG_REQUIRE(key == none || key < q->ops.key_count);
    struct rig_object_sessions sessions;
    struct rig_object_order order = {0};
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    if (rig_object_sessions_build(q->history, &q->ops, key, q->dropped, &q->scratch, &sessions)) {
        for (uint32_t at = key == none ? 0 : key; at < (key == none ? q->ops.key_count : key + 1); at++)
            q->has_drain |= q->drained[at] != 0;
        sessions.initial = q->initial + (key == none ? 0 : key);
        answer = rig_object_sessions_search(&q->model, &sessions, limits, &order);
    }
    if (answer == RIG_OBJECT_LINEARIZABLE && key != none &&
        (!replays(q, key, &sessions, &order) || !keep_order(&q->orders[key], &sessions, &order)))
        answer = RIG_OBJECT_NO_MEMORY;
    rig_object_order_done(&order);
    rig_arena_reset(&q->scratch);
    return answer;
}

/* ---- all objects together ---- */

struct joint {
    const struct sequential *q;
    struct rig_object_sessions sessions;
    uint32_t *place_of; /* per transaction: in sessions.at */
    uint32_t *key_next; /* per key: into its order */
    uint32_t *next;     /* per session: operations that took effect */
    uint32_t *open;     /* keys to look at */
    uint32_t open_count, taken;
};

static bool may_follow(const struct joint *j, const struct rig_object_session_op *op)
{
    const uint32_t place = (uint32_t)(op - j->sessions.at);
    RIG_INVARIANT(place < j->sessions.count && (op->unknown || op->session < j->sessions.session_count));
    if (op->unknown)
        return op->session == none || j->next[op->session] >= op->after;
    return j->next[op->session] == place - j->sessions.first[op->session];
}

/* Follows the order of a key as far as the orders of the processes allow. */
static void follow(struct joint *j, uint32_t key)
{
    RIG_REQUIRE(key < j->q->ops.key_count);
    const struct rig_object_order *order = &j->q->orders[key];
    while (j->key_next[key] < order->count) {
        const struct rig_object_session_op *op = &j->sessions.at[j->place_of[order->at[j->key_next[key]]]];
        if (!may_follow(j, op))
            return;
        j->key_next[key]++;
        j->taken++;
        if (!op->unknown)
            j->next[op->session]++;
    }
}

/* Whether the orders of the objects agree with those of the processes. */
static bool agree(struct joint *j)
{
    uint32_t total = 0, before = none;
    for (uint32_t key = 0; key < j->q->ops.key_count; key++)
        total += (uint32_t)j->q->orders[key].count;
    while (j->taken != before) {
        before = j->taken;
        for (uint32_t key = 0; key < j->q->ops.key_count; key++)
            follow(j, key);
    }
    RIG_INVARIANT(j->taken <= total);
    return j->taken == total;
}

static bool joint_init(struct joint *j, struct sequential *q)
{
    const uint32_t key_count = q->ops.key_count;
    *j = (struct joint){.q = q};
    if (!rig_object_sessions_build(q->history, &q->ops, none, NULL, &q->scratch, &j->sessions))
        return false;
    j->place_of = rig_arena_array(&q->scratch, (size_t)q->history->txn_count + 1, sizeof *j->place_of);
    j->key_next = rig_arena_array(&q->scratch, (size_t)key_count + 1, sizeof *j->key_next);
    j->next = rig_arena_array(&q->scratch, (size_t)j->sessions.session_count + 1, sizeof *j->next);
    for (uint32_t i = 0; j->place_of != NULL && i < j->sessions.count; i++) {
        RIG_INVARIANT(j->sessions.at[i].txn < q->history->txn_count);
        j->place_of[j->sessions.at[i].txn] = i;
    }
    return j->place_of != NULL && j->key_next != NULL && j->next != NULL;
}

static enum rig_object_answer decide_together(struct sequential *q)
{
    struct joint j;
    if (!joint_init(&j, q))
        return RIG_OBJECT_NO_MEMORY;
    const bool agreed = !q->has_drain && agree(&j);
    rig_arena_reset(&q->scratch);
    return agreed ? RIG_OBJECT_LINEARIZABLE : decide(q, none, q->limits);
}

/* ---- a small refutation ---- */

/* Steps bound each search; this time bounds all of them, and is so long that a busy machine finds the same witness. */
#define LONGEST_SMALLER_NS (5 * RIG_NS_PER_S)

enum { SMALLER_STEPS = 1 << 16 };

/* Operations that only observe, in the scope of the refutation. */
static uint32_t *find_observers(const struct sequential *q, uint32_t key, uint32_t *count)
{
    RIG_REQUIRE(key == none || key < q->ops.key_count);
    const uint32_t from = key == none ? 0 : q->ops.first[key];
    const uint32_t to = key == none ? q->ops.first[q->ops.key_count] : q->ops.first[key + 1];
    uint32_t *observers = calloc((size_t)(to - from) + 1, sizeof *observers);
    *count = 0;
    for (uint32_t i = from; observers != NULL && i < to; i++) {
        const struct rig_object_class *class = &q->model.classes.at[q->ops.at[i].class];
        const bool reads = class->op_count == 1 && rig_op_reads(class->ops[0].kind);
        if (class->observes && (reads || q->model.specification != NULL))
            observers[(*count)++] = q->ops.at[i].txn;
    }
    return observers;
}

/* Leaves out stretches of the candidates, halves first, while the others have no order. */
static bool drop(struct sequential *q, uint32_t key, const uint32_t *candidates, uint32_t count)
{
    RIG_REQUIRE(q->dropped != NULL);
    const int64_t until_ns = rig_clock_now_ns() + LONGEST_SMALLER_NS;
    const struct rig_object_search_limits limits = {
        q->limits->deadline_ns < until_ns ? q->limits->deadline_ns : until_ns, q->limits->bytes, SMALLER_STEPS};
    for (uint32_t size = count; size > 0; size /= 2) {
        for (uint32_t from = 0; from < count && rig_clock_now_ns() < limits.deadline_ns; from += size) {
            const uint32_t end = from + size < count ? from + size : count;
            bool any = false;
            for (uint32_t i = from; i < end; i++) {
                any |= q->dropped[candidates[i]] == 0;
                q->dropped[candidates[i]]++;
            }
            const enum rig_object_answer answer = any ? decide(q, key, &limits) : RIG_OBJECT_REFUTED;
            if (answer == RIG_OBJECT_NO_MEMORY)
                return false;
            for (uint32_t i = from; i < end && answer != RIG_OBJECT_REFUTED; i++) {
                RIG_INVARIANT(q->dropped[candidates[i]] > 0);
                q->dropped[candidates[i]]--;
            }
        }
    }
    return true;
}

static uint64_t value_of(const struct rig_object_session_op *op, uint32_t state)
{
    return (uint64_t)op->object << 32 | state;
}

/* Writes of registers whose values no operation that is left needs. */
static uint32_t *find_unneeded(struct sequential *q, uint32_t key, uint32_t *count)
{
    RIG_REQUIRE(q->dropped != NULL);
    struct rig_object_sessions sessions = {0};
    struct rig_table needed;
    bool fits = rig_object_sessions_build(q->history, &q->ops, key, q->dropped, &q->scratch, &sessions);
    uint32_t *writes = fits ? calloc((size_t)sessions.count + 1, sizeof *writes) : NULL;
    rig_table_init(&needed);
    *count = 0;
    for (uint32_t i = 0; fits && i < sessions.count; i++) {
        const struct rig_object_class *class = &q->model.classes.at[sessions.at[i].class];
        uint32_t *place =
            class->needs == RIG_OBJECT_NONE ? NULL : rig_table_put(&needed, value_of(&sessions.at[i], class->needs));
        fits = class->needs == RIG_OBJECT_NONE || place != NULL;
        if (place != NULL)
            *place = 0;
    }
    for (uint32_t i = 0; fits && writes != NULL && q->model.is_register && i < sessions.count; i++) {
        const struct rig_object_class *class = &q->model.classes.at[sessions.at[i].class];
        if (class->op_count == 1 && class->ops[0].kind == RIG_OP_WRITE &&
            rig_table_get(&needed, value_of(&sessions.at[i], class->leaves)) == RIG_TABLE_NONE)
            writes[(*count)++] = sessions.at[i].txn;
    }
    rig_table_done(&needed);
    rig_arena_reset(&q->scratch);
    if (!fits) {
        free(writes);
        return NULL;
    }
    return writes;
}

/* The transactions that are left, process by process. */
static bool take_witness(struct sequential *q, uint32_t key, struct rig_arena *arena, struct rig_witness *witness)
{
    struct rig_object_sessions sessions;
    *witness = (struct rig_witness){.anomaly = RIG_ANOMALY_NONSEQUENTIAL, .key = key, .op = none, .other_op = none};
    if (!rig_object_sessions_build(q->history, &q->ops, key, q->dropped, &q->scratch, &sessions))
        return false;
    witness->txns = rig_arena_array(arena, (size_t)sessions.count + 1, sizeof *witness->txns);
    for (uint32_t i = 0; witness->txns != NULL && i < sessions.count; i++)
        witness->txns[witness->txn_count++] = sessions.at[i].txn;
    rig_arena_reset(&q->scratch);
    return witness->txns != NULL;
}

static bool refute(struct sequential *q, uint32_t key, struct rig_arena *arena, struct rig_witness *witness)
{
    uint32_t count = 0;
    q->dropped = calloc((size_t)q->history->txn_count + 1, 1);
    uint32_t *observers = q->dropped == NULL ? NULL : find_observers(q, key, &count);
    bool fits = observers != NULL && drop(q, key, observers, count);
    uint32_t *writes = fits ? find_unneeded(q, key, &count) : NULL;
    fits = writes != NULL && drop(q, key, writes, count) && take_witness(q, key, arena, witness);
    free(observers);
    free(writes);
    return fits;
}

/* ---- all together ---- */

/* Whether a register of the refutation may have begun with a value from which it has an order. */
static bool find_doubt(struct sequential *q, uint32_t key, struct rig_object_begun *doubted, bool *fits)
{
    RIG_REQUIRE(q->begins != NULL);
    const uint32_t end = key == none ? q->ops.key_count : key + 1;
    const struct rig_begin *late = rig_object_begins_find(q->history, (struct rig_known_initial){0}, true, &q->scratch);
    *fits = late != NULL;
    bool found = false;
    for (uint32_t at = key == none ? 0 : key; late != NULL && at < end && !found; at++) {
        found = (q->begins[at].as == RIG_BEGINS_PLAIN || q->begins[at].as == RIG_BEGINS_IN_DOUBT) &&
                late[at].as != RIG_BEGINS_PLAIN;
        if (found && doubted->count == 0)
            *doubted = (struct rig_object_begun){.count = 1, .key = at, .value = late[at].value};
    }
    rig_arena_reset(&q->scratch);
    return found;
}

/* Every object alone, with more steps a round for those that are open. `*key`: the one that is refuted. A register
 * whose refutation is in doubt leaves the others their turn; then the answer is not that there is an order. */
static enum rig_object_answer decide_alone(struct sequential *q, uint32_t *key, struct rig_object_begun *doubted)
{
    enum { ROUNDS = 4, TIMES_MORE = 64 };
    struct rig_object_search_limits limits = *q->limits;
    uint8_t *settled = calloc((size_t)q->ops.key_count + 1, 1);
    enum rig_object_answer open = settled == NULL ? RIG_OBJECT_NO_MEMORY : RIG_OBJECT_TIME;
    bool fits = true;
    limits.steps = 1 << 16;
    for (unsigned round = 0; open == RIG_OBJECT_TIME && round < ROUNDS; round++) {
        if (q->limits->steps > 0 && limits.steps > q->limits->steps)
            break;
        open = RIG_OBJECT_LINEARIZABLE;
        for (*key = 0; *key < q->ops.key_count; ++*key) {
            const enum rig_object_answer answer = settled[*key] ? RIG_OBJECT_LINEARIZABLE : decide(q, *key, &limits);
            const bool is_doubted = answer == RIG_OBJECT_REFUTED && find_doubt(q, *key, doubted, &fits);
            settled[*key] = answer == RIG_OBJECT_LINEARIZABLE || is_doubted;
            if (!fits || (answer == RIG_OBJECT_REFUTED && !is_doubted) || answer == RIG_OBJECT_NO_MEMORY) {
                free(settled);
                return fits ? answer : RIG_OBJECT_NO_MEMORY;
            }
            open = settled[*key] ? open : RIG_OBJECT_TIME;
        }
        limits.steps = round + 2 < ROUNDS || q->limits->steps > 0 ? limits.steps * TIMES_MORE : 0;
    }
    free(settled);
    return open == RIG_OBJECT_LINEARIZABLE && doubted->count > 0 ? RIG_OBJECT_TIME : open;
}

static enum rig_object_answer decide_all(struct sequential *q, struct rig_arena *arena,
                                         struct rig_sequential *sequential)
{
    bool fits = true;
    uint32_t key = none;
    q->orders = calloc((size_t)q->ops.key_count + 1, sizeof *q->orders);
    enum rig_object_answer answer =
        q->orders == NULL ? RIG_OBJECT_NO_MEMORY : decide_alone(q, &key, &sequential->doubted);
    if (answer == RIG_OBJECT_LINEARIZABLE && q->ops.key_count > 1) {
        key = none;
        answer = decide_together(q);
    }
    RIG_INVARIANT(answer != RIG_OBJECT_REFUTED || key == none || key < q->ops.key_count);
    if (answer == RIG_OBJECT_REFUTED && q->has_drain)
        return RIG_OBJECT_TIME; /* the values of one transaction may have been taken in another order */
    if (answer == RIG_OBJECT_REFUTED && find_doubt(q, key, &sequential->doubted, &fits))
        return RIG_OBJECT_TIME;
    if (answer == RIG_OBJECT_REFUTED)
        sequential->doubted = (struct rig_object_begun){0};
    if (answer == RIG_OBJECT_REFUTED && (!fits || !refute(q, key, arena, &sequential->witness)))
        return RIG_OBJECT_NO_MEMORY;
    return answer;
}

/* False when memory runs out. */
static bool find_drains(struct sequential *q)
{
    const struct rig_history *history = q->history;
    q->drained = calloc((size_t)history->key_count + 1, 1);
    for (uint32_t txn = 0; q->drained != NULL && txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        if (rig_txn_op_count(history, txn) > 1 && rig_object_takes(ops->kind))
            q->drained[ops->key] = 1;
    }
    return q->drained != NULL;
}

/* False when memory runs out. */
static bool find_begins(struct sequential *q, struct rig_known_initial initial, struct rig_arena *arena)
{
    q->begins = rig_object_begins_find(q->history, initial, false, arena);
    q->initial = q->begins == NULL ? NULL : rig_object_begins_states(q->begins, q->ops.key_count, &q->model, arena);
    return q->initial != NULL;
}

enum rig_rc rig_objects_sequential(const struct rig_history *history, struct rig_known_initial initial,
                                   const struct rig_object_search_limits *limits, struct rig_arena *arena,
                                   struct rig_sequential *sequential, struct rig_err *err)
{
    struct sequential q = {.history = history, .limits = limits};
    struct rig_arena kept;
    *sequential = (struct rig_sequential){.answer = RIG_OBJECT_NO_MEMORY};
    rig_arena_init(&q.scratch, limits->bytes);
    rig_arena_init(&kept, limits->bytes);
    const bool made = rig_object_model_init(&q.model, history->workload, limits->bytes);
    q.model.timeless = true;
    if (made && rig_object_ops_build(history, none, &q.model, &kept, &q.ops) && find_begins(&q, initial, &kept) &&
        find_drains(&q))
        sequential->answer = decide_all(&q, arena, sequential);
    for (uint32_t key = 0; q.orders != NULL && key < q.ops.key_count; key++)
        rig_object_order_done(&q.orders[key]);
    free(q.orders);
    free(q.dropped);
    free(q.drained);
    rig_object_model_done(&q.model);
    rig_arena_done(&q.scratch);
    rig_arena_done(&kept);
    return sequential->answer == RIG_OBJECT_NO_MEMORY ? rig_memory_limit(err, "the operations of an object") : RIG_OK;
}
