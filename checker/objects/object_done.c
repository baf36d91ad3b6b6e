#include "checker/objects/object_done.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t none = UINT32_MAX;

/* ---- queues ---- */

/* Whether both operations on the value certainly happened. */
static bool is_over(const struct rig_object_lifetime *lifetime, const struct rig_object_op *ops, uint32_t open_txn)
{
    return lifetime->take != none && lifetime->add != none && ops[lifetime->add].txn < open_txn;
}

/* The first invocation of a take that found nothing and ends after `until`: the values that were there from then on, together with
 * those that are still there, may leave it no place. */
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
    uint32_t earliest = b->count;
    struct block block = {.first = first, .open = 0};
    for (uint32_t op = first; op < last; op++) {
        const uint32_t partner = b->partner[op];
        block.open += partner == none;
        if (partner < first) {
            const uint32_t place = place_of(b, partner);
            earliest = place < earliest ? place : earliest;
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

bool rig_object_done_find(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t count,
                          uint32_t until, uint32_t open_txn, uint8_t *done)
{
    memset(done, 0, (size_t)count + 1);
    if (lifetimes->queue)
        find_in_queue(lifetimes, ops, until, open_txn, done);
    else if (!find_in_stack(lifetimes, ops, count, until, open_txn, done))
        return false;
    keep_whole(lifetimes, ops, count, done);
    return true;
}
