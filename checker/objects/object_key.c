#include "checker/objects/object_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/objects/object_descent.h"
#include "checker/objects/object_lifetimes.h"
#include "checker/objects/object_queue.h"
#include "checker/objects/object_replay.h"
#include "checker/objects/object_rows.h"

/*
 * The operations on a queue or a stack that later ones cannot contradict, so that a window may forget them.
 *
 * All operations so far have an order, the values are unique, and no take is of unknown outcome. Operations that
 * are open now, of transactions from `open_txn` on, were invoked after `until`; an addition that is open may fail yet.
 *  - Queue: a value that was taken by then, and a take that found nothing by then. Each contradiction of a queue
 *    (object_lifetimes.h) that involves one of these is among the operations so far: a value that is still there counts
 *    as taken after `until`, as it will be. A take that found nothing and ends after `until` may find its only place
 *    there, and lose it to a value that is never taken; values that were there since it began are kept.
 *  - Stack: while no operation on the stack is open, the set of its values is known. Between two such moments,
 *    operations on values that are both added and taken there leave the stack as it was, so they can be left out; then
 *    the next ones may stand between two such moments.
 *
 * Time: linear. Space: 12 bytes an operation. Threads: one at a time.
 */

static const uint32_t none = UINT32_MAX;

/* ---- queues ---- */

/* Whether both operations on the value certainly happened. */
static bool is_over(const struct rig_object_lifetime *lifetime, const struct rig_object_op *ops, uint32_t open_txn)
{
    return lifetime->take != none && lifetime->add != none && ops[lifetime->add].txn < open_txn;
}

/* The first invocation of a take that found nothing and ends after `until`: the values that were there from then on,
 * together with those that are still there, may leave it no place. */
static uint32_t first_open_nothing(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                                   uint32_t until)
{
    uint32_t first = RIG_POSITION_NONE;
    for (size_t i = 0; i < lifetimes->nothings.count; i++) {
        const struct rig_object_op *op = &ops[lifetimes->nothings.at[i]];
        first = op->end > until && op->invoke < first ? op->invoke : first;
    }
    return first;
}

static void find_in_queue(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t until,
                          uint32_t open_txn, uint8_t *done)
{
    RIG_REQUIRE(lifetimes->queue);
    const uint32_t needed_from = first_open_nothing(lifetimes, ops, until);
    for (size_t i = 0; i < lifetimes->at.count; i++) {
        const struct rig_object_lifetime *lifetime = &lifetimes->at.at[i];
        if (is_over(lifetime, ops, open_txn) && lifetime->take_until <= until && lifetime->take_until < needed_from)
            done[lifetime->take] = done[lifetime->add] = 1;
    }
    for (size_t i = 0; i < lifetimes->nothings.count; i++) {
        const uint32_t op = lifetimes->nothings.at[i];
        done[op] = ops[op].end <= until;
    }
}

/* ---- stacks ---- */

/* Operations between two moments at which none is open. */
struct block {
    uint32_t first; /* operation, by invocation */
    uint32_t open;  /* operations on values whose other operation is not here */
};

struct blocks {
    struct block *at; /* those that stay, by time */
    uint32_t count;
    uint32_t *partner; /* per operation: the other one of its value; itself, if it found nothing; `none` */
};

/* The last block takes in those before it, from `from` on. */
static void merge(struct blocks *b, uint32_t from)
{
    RIG_REQUIRE(from < b->count);
    while (b->count - 1 > from) {
        b->at[b->count - 2].open += b->at[b->count - 1].open;
        b->count--;
    }
}

/* The place of the block of an operation: blocks are sorted by their first operations. */
static uint32_t place_of(const struct blocks *b, uint32_t op)
{
    uint32_t low = 0, high = b->count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (b->at[middle].first <= op)
            low = middle;
        else
            high = middle;
    }
    RIG_INVARIANT(low < b->count && b->at[low].first <= op);
    return low;
}

/* An addition of unknown outcome took effect before its value was taken. */
static uint32_t end_of(const struct blocks *b, const struct rig_object_op *ops, uint32_t op)
{
    return ops[op].end == RIG_POSITION_NONE && b->partner[op] != none ? ops[b->partner[op]].end : ops[op].end;
}

/* The operations [first, last) are a block. */
static void end_block(struct blocks *b, uint32_t first, uint32_t last, uint8_t *done)
{
    RIG_REQUIRE(first < last);
    uint32_t earliest = b->count;
    struct block block = {.first = first, .open = 0};
    for (uint32_t op = first; op < last; op++) {
        const uint32_t partner = b->partner[op];
        block.open += partner == none;
        if (partner < first) {
            const uint32_t place = place_of(b, partner);
            earliest = place < earliest ? place : earliest;
            RIG_INVARIANT(b->at[place].open > 0);
            b->at[place].open--;
        } else if (partner != none && partner >= last) {
            block.open++;
        }
    }
    b->at[b->count++] = block;
    merge(b, earliest);
    if (b->at[b->count - 1].open > 0)
        return;
    memset(done + b->at[b->count - 1].first, 1, last - b->at[b->count - 1].first);
    b->count--;
}

static void find_partners(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t count,
                          uint32_t open_txn, uint32_t *partner)
{
    memset(partner, 0xff, ((size_t)count + 1) * sizeof *partner);
    for (size_t i = 0; i < lifetimes->at.count; i++) {
        const struct rig_object_lifetime *lifetime = &lifetimes->at.at[i];
        if (!is_over(lifetime, ops, open_txn))
            continue;
        RIG_INVARIANT(lifetime->take < count && lifetime->add < count);
        partner[lifetime->take] = lifetime->add;
        partner[lifetime->add] = lifetime->take;
    }
    for (size_t i = 0; i < lifetimes->nothings.count; i++)
        partner[lifetimes->nothings.at[i]] = lifetimes->nothings.at[i];
}

static bool find_in_stack(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t count,
                          uint32_t until, uint32_t open_txn, uint8_t *done)
{
    struct blocks b = {.at = malloc(((size_t)count + 1) * sizeof *b.at),
                       .partner = malloc(((size_t)count + 1) * sizeof *b.partner)};
    const bool fits = b.at != NULL && b.partner != NULL;
    uint32_t first = 0, last_end = 0;
    if (fits)
        find_partners(lifetimes, ops, count, open_txn, b.partner);
    for (uint32_t op = 0; fits && op < count; op++) {
        if (op > first && ops[op].invoke > last_end) {
            end_block(&b, first, op, done);
            first = op;
            last_end = 0;
        }
        last_end = end_of(&b, ops, op) > last_end ? end_of(&b, ops, op) : last_end;
    }
    if (fits && count > first && last_end <= until)
        end_block(&b, first, count, done);
    free(b.at);
    free(b.partner);
    return fits;
}

/* ---- both ---- */

/* A drain is several operations of one transaction: all of them stay if one does. */
static void keep_whole(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t count,
                       uint8_t *done)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i + 1 < count; i++) {
            if (ops[i].txn != ops[i + 1].txn || done[i] == done[i + 1])
                continue;
            done[i] = done[i + 1] = 0;
            changed = true;
        }
        for (size_t i = 0; i < lifetimes->at.count; i++) {
            const struct rig_object_lifetime *lifetime = &lifetimes->at.at[i];
            if (lifetime->take == none || lifetime->add == none || done[lifetime->take] == done[lifetime->add])
                continue;
            done[lifetime->take] = done[lifetime->add] = 0;
            changed = true;
        }
    }
}

/* Marks per operation those that are done: both of a value, and all of a transaction, or none. False when memory runs
 * out. */
static bool object_done_find(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                             uint32_t count, uint32_t until, uint32_t open_txn, uint8_t *done)
{
    memset(done, 0, (size_t)count + 1);
    if (lifetimes->queue)
        find_in_queue(lifetimes, ops, until, open_txn, done);
    else if (!find_in_stack(lifetimes, ops, count, until, open_txn, done))
        return false;
    keep_whole(lifetimes, ops, count, done);
    return true;
}

static bool is_row(const struct rig_object_key *key)
{
    return key->model->workload == RIG_WORKLOAD_QUEUE || key->model->workload == RIG_WORKLOAD_STACK;
}

static bool is_last(const struct rig_object_key *key)
{
    return key->until == RIG_POSITION_NONE;
}

/* ---- registers, locks and strings ---- */

/* The configurations that earlier windows left, of the operations that matter. False when memory runs out. */
static bool begin(const struct rig_object_key *key, struct rig_object_decided *decided,
                  struct rig_object_configs *configs)
{
    const bool goes_on = key->past != NULL && key->past->explained > 0;
    uint8_t *used = goes_on ? calloc((size_t)key->count + 1, 1) : NULL;
    struct rig_object_configs all = {0};
    bool done = !goes_on || used != NULL;
    if (done && goes_on)
        done = rig_object_past_begin(key->past, key->model, key->ops, key->count, &all, used);
    done = done && rig_object_needed(key->model, key->ops, key->count, used, &decided->needed);
    if (done && goes_on)
        done = rig_object_past_begin(key->past, key->model, decided->needed.at, (uint32_t)decided->needed.count,
                                     configs, NULL);
    RIG_INVARIANT(!done || (decided->needed.count <= key->count && goes_on == (configs->states.count > 0)));
    rig_object_configs_done(&all);
    free(used);
    decided->ops = decided->needed.at;
    return done;
}

/* One order at a time, where the search has too many at once. */
static void descend(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                    struct rig_object_decided *decided)
{
    RIG_REQUIRE(is_last(key));
    rig_object_result_done(&decided->result);
    decided->result = (struct rig_object_result){.blocked = UINT32_MAX};
    const enum rig_object_answer before = decided->answer;
    decided->answer =
        rig_object_descend(key->model, decided->ops, (uint32_t)decided->needed.count, limits, &decided->result.order);
    if (decided->answer == RIG_OBJECT_TIME)
        decided->answer = before;
}

static void search(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                   struct rig_object_decided *decided)
{
    struct rig_object_configs configs = {0};
    decided->answer = RIG_OBJECT_NO_MEMORY;
    decided->searched = true;
    if (begin(key, decided, &configs)) {
        const bool goes_on = configs.states.count > 0;
        const struct rig_object_part part = {.ops = decided->ops,
                                             .count = (uint32_t)decided->needed.count,
                                             .until = key->until,
                                             .from = goes_on ? key->past->from : 0,
                                             .begin = goes_on ? &configs : NULL};
        if (key->model->workload == RIG_WORKLOAD_APPEND_REGISTER)
            decided->answer = rig_object_merged_search(key->model, &part, limits, &decided->result, &decided->narrowed);
        else
            decided->answer = rig_object_search(key->model, &part, limits, &decided->result);
        if (decided->narrowed.past != NULL)
            decided->ops = decided->narrowed.ops.at;
    }
    rig_object_configs_done(&configs);
    const bool gave_up = decided->answer == RIG_OBJECT_TIME || decided->answer == RIG_OBJECT_MEMORY;
    if (gave_up && is_last(key) && (key->past == NULL || key->past->explained == 0))
        descend(key, limits, decided);
}

/* An order that the search found counts once it was replayed; of a part, the configurations count. */
static void replay(const struct rig_object_key *key, struct rig_object_decided *decided)
{
    bool explains = true;
    if (decided->answer != RIG_OBJECT_LINEARIZABLE || !is_last(key) || (key->past != NULL && key->past->explained > 0))
        return;
    if (!rig_object_replay(key->model, decided->ops, (uint32_t)decided->needed.count, &decided->result.order,
                           &explains))
        decided->answer = RIG_OBJECT_NO_MEMORY;
    RIG_INVARIANT((explains || decided->answer == RIG_OBJECT_NO_MEMORY) && "an order that the search found");
}

/* ---- queues and stacks ---- */

/* Keeps the order where it explains the operations. TIME: it explains nothing, or there is none. */
static enum rig_object_answer replay_rows(const struct rig_object_key *key, struct rig_object_order *order,
                                          struct rig_object_decided *decided)
{
    bool explains = false;
    if (!rig_object_replay(key->model, key->ops, key->count, order, &explains))
        return RIG_OBJECT_NO_MEMORY;
    if (explains) {
        decided->ops = key->ops;
        decided->result.order = *order;
        *order = (struct rig_object_order){0};
    }
    return explains ? RIG_OBJECT_LINEARIZABLE : RIG_OBJECT_TIME;
}

/* Without a search: by the lifetimes of the values, and by an order that follows from them. TIME: it is open. */
static enum rig_object_answer decide_lives(const struct rig_object_key *key, const struct rig_object_rows *rows,
                                           bool unique, const struct rig_object_search_limits *limits,
                                           struct rig_object_decided *decided)
{
    const bool last = is_last(key);
    const bool queue = key->model->workload == RIG_WORKLOAD_QUEUE;
    struct rig_object_order order = {0};
    bool known = false;
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    if (rig_object_values_decide(key, limits, &decided->refutation, last ? &order : NULL, &known))
        answer = decided->refutation.found ? RIG_OBJECT_REFUTED : RIG_OBJECT_TIME;
    if (answer == RIG_OBJECT_TIME && !last && known && unique)
        answer = RIG_OBJECT_LINEARIZABLE;
    else if (answer == RIG_OBJECT_TIME && last && unique && queue &&
             !rig_object_queue_order(rows, key->model, key->ops, key->count, &order))
        answer = RIG_OBJECT_NO_MEMORY;
    else if (answer == RIG_OBJECT_TIME && last && unique)
        answer = replay_rows(key, &order, decided);
    RIG_INVARIANT(answer != RIG_OBJECT_LINEARIZABLE || !last || decided->ops != NULL);
    rig_object_order_done(&order);
    return answer;
}

/* The search with look-ahead answers yes; a no has no witness, so the search without it follows. */
static enum rig_object_answer search_ahead(const struct rig_object_key *key, const struct rig_object_rows *rows,
                                           struct rig_object_model *model,
                                           const struct rig_object_search_limits *limits,
                                           struct rig_object_decided *decided)
{
    RIG_REQUIRE(model->rows == rows && is_last(key));
    struct rig_object_result result;
    const struct rig_object_part part = {.ops = rows->ops.at, .count = key->count, .until = RIG_POSITION_NONE};
    enum rig_object_answer answer = rig_object_search(model, &part, limits, &result);
    const bool found = answer == RIG_OBJECT_LINEARIZABLE;
    if (found)
        answer = replay_rows(key, &result.order, decided);
    RIG_INVARIANT(answer != RIG_OBJECT_TIME || !found);
    rig_object_result_done(&result);
    return answer;
}

static void decide_rows(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                        struct rig_object_decided *decided)
{
    struct rig_object_model model;
    struct rig_object_rows rows = {.may_vanish = false};
    bool unique = false, search_all = false;
    decided->answer = RIG_OBJECT_NO_MEMORY;
    rig_table_init(&rows.fate_of);
    if (rig_object_model_init(&model, key->model->workload, limits->bytes) &&
        rig_object_rows_init(&rows, key->model, key->ops, key->count, &model, &unique)) {
        model.rows = unique ? &rows : NULL;
        decided->answer = decide_lives(key, &rows, unique, limits, decided);
        search_all = decided->answer == RIG_OBJECT_TIME && is_last(key);
        if (search_all && unique) {
            decided->answer = search_ahead(key, &rows, &model, limits, decided);
            search_all = decided->answer == RIG_OBJECT_REFUTED;
        }
    }
    rig_object_rows_done(&rows);
    rig_object_model_done(&model);
    if (search_all)
        search(key, limits, decided);
}

void rig_object_key_decide(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                           struct rig_object_decided *decided)
{
    RIG_REQUIRE(key->model->initial < key->model->states.count);
    *decided = (struct rig_object_decided){.answer = RIG_OBJECT_NO_MEMORY};
    if (is_row(key))
        decide_rows(key, limits, decided);
    else
        search(key, limits, decided);
    if (decided->searched)
        replay(key, decided);
    RIG_INVARIANT(decided->answer != RIG_OBJECT_REFUTED || decided->refutation.found ||
                  decided->result.blocked < key->count);
}

void rig_object_decided_done(struct rig_object_decided *decided)
{
    rig_object_op_list_done(&decided->needed);
    rig_object_narrowed_done(&decided->narrowed);
    rig_object_result_done(&decided->result);
    rig_object_refutation_done(&decided->refutation);
}

/* ---- windows ---- */

static bool settle_register(const struct rig_object_key *key, const struct rig_object_decided *decided,
                            struct rig_object_past *past, uint8_t *done)
{
    const struct rig_object_part part = {.ops = decided->needed.at, .count = (uint32_t)decided->needed.count};
    uint8_t *needed_done = calloc((size_t)part.count + 1, 1);
    uint64_t explained = 0;
    if (needed_done == NULL)
        return false;
    RIG_INVARIANT(part.count <= key->count && "operations that matter are some of the key's");
    rig_object_part_done(&part, &decided->result, needed_done);
    for (uint32_t i = 0, op = 0; i < part.count; i++, op++) {
        while (key->ops[op].txn != part.ops[i].txn)
            op++;
        done[op] = needed_done[i];
        explained += needed_done[i] != 0 && part.ops[i].end != RIG_POSITION_NONE;
    }
    free(needed_done);
    if (explained == 0) {
        memset(done, 0, key->count);
        return true;
    }
    key->past->explained += explained;
    return rig_object_past_note(past, key->past, key->model, decided->ops, &decided->result);
}

bool rig_object_key_settle(const struct rig_object_key *key, const struct rig_object_decided *decided,
                           struct rig_object_past *past, uint8_t *done)
{
    struct rig_object_lifetimes lifetimes;
    RIG_REQUIRE(decided->answer == RIG_OBJECT_LINEARIZABLE && !is_last(key));
    RIG_REQUIRE(key->past != NULL);
    memset(done, 0, (size_t)key->count + 1);
    if (!is_row(key))
        return settle_register(key, decided, past, done);
    const bool found = rig_object_lifetimes_init(&lifetimes, key->model, key->ops, key->count, key->open) &&
                       object_done_find(&lifetimes, key->ops, key->count, key->until, key->open.txn, done);
    rig_object_lifetimes_done(&lifetimes);
    for (uint32_t i = 0; found && i < key->count; i++)
        key->past->done += done[i] && key->ops[i].end != RIG_POSITION_NONE;
    return found;
}
