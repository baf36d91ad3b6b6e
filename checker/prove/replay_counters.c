/* The replay of orders of counters and banks (replay.h): it adds the increments up. */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/replay_private.h"

struct sums {
    struct rig_replay *r;
    int64_t *sum;      /* per key: of what was committed so far */
    int64_t *begin;    /* per key: what it began with, where `known` */
    bool *known;       /* accounts begin with what the first read of them shows */
    uint32_t *changed; /* per key: one more than the event of the last commit that changed it */
    uint32_t *stood;   /* per transaction: events so far */
    uint32_t *since;   /* per operation: the event at which it was made */
};

static bool increments(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_INCREMENT;
}

static enum rig_rc refuse(const struct sums *s, uint32_t txn, uint32_t key, const char *what)
{
    char text[64];
    rig_history_key_name(s->r->history, key, text, sizeof text);
    return rig_fail(s->r->err, RIG_E_INPUT, "T%u %s key %s", rig_txn_name(s->r->history, txn), what, text);
}

/* The sum of what the transaction added to the key before the operation. */
static int64_t own_before(const struct sums *s, uint32_t txn, uint32_t op, bool *any)
{
    const struct rig_txn_op *ops = s->r->history->ops;
    int64_t own = 0;
    *any = false;
    for (uint32_t i = s->r->history->txns[txn].first_op; i < op; i++) {
        if (!increments(&ops[i]) || ops[i].key != ops[op].key)
            continue;
        own = (int64_t)((uint64_t)own + (uint64_t)ops[i].value);
        *any = true;
    }
    return own;
}

/* Only acknowledged reads say anything. Sums wrap around, as the history's amounts sum up to less than 2^62. */
static enum rig_rc read_now(struct sums *s, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *at = &s->r->history->ops[op];
    bool owns;
    if (increments(at) || at->read_state == RIG_READ_UNKNOWN || s->r->history->txns[txn].outcome != RIG_OUTCOME_OK)
        return RIG_OK;
    const int64_t own = own_before(s, txn, op, &owns);
    const bool found = at->read_state == RIG_READ_SEEN;
    if (!found && s->r->history->workload == RIG_WORKLOAD_BANK)
        return refuse(s, txn, at->key, "found no account at");
    if (!found && !owns && s->r->kind == RIG_ORDER_ITEMS)
        return RIG_OK;
    const int64_t before = (int64_t)((uint64_t)(found ? at->value : 0) - (uint64_t)own - (uint64_t)s->sum[at->key]);
    if (!s->known[at->key])
        s->begin[at->key] = before;
    s->known[at->key] = true;
    return s->begin[at->key] == before ? RIG_OK : refuse(s, txn, at->key, "read another sum than the order gives, of");
}

/* No other commit of a key since the transaction's start, or since its first increment of the key. */
static bool may_commit(const struct sums *s, uint32_t txn, uint32_t op)
{
    const struct rig_replay *r = s->r;
    const uint32_t last = s->changed[r->history->ops[op].key];
    if (last == 0 || r->times[txn] == 1 || r->events[last - 1] == txn)
        return true;
    uint32_t first = r->history->txns[txn].first_op;
    while (r->kind == RIG_ORDER_OPERATIONS &&
           (!increments(&r->history->ops[first]) || r->history->ops[first].key != r->history->ops[op].key))
        first++;
    return last - 1 < s->since[first];
}

static enum rig_rc commit_now(struct sums *s, uint32_t txn, uint32_t event)
{
    const struct rig_history *history = s->r->history;
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!increments(at))
            continue;
        if (!may_commit(s, txn, op))
            return refuse(s, txn, at->key, "changes what another transaction changed since its start:");
        s->sum[at->key] = (int64_t)((uint64_t)s->sum[at->key] + (uint64_t)at->value);
        s->changed[at->key] = event + 1;
    }
    return RIG_OK;
}

static enum rig_rc execute(struct sums *s, uint32_t event)
{
    const struct rig_replay *r = s->r;
    const uint32_t txn = r->events[event], stood = s->stood[txn]++;
    const uint32_t first = r->history->txns[txn].first_op, end = r->history->txns[txn + 1].first_op;
    const bool single = r->kind == RIG_ORDER_OPERATIONS && r->times[txn] > 1;
    RIG_INVARIANT(stood < r->times[txn]);
    enum rig_rc rc = RIG_OK;
    for (uint32_t op = first; rc == RIG_OK && op < end; op++) {
        if (single ? op != first + stood : stood > 0)
            continue;
        s->since[op] = event;
        rc = read_now(s, txn, op);
    }
    return rc == RIG_OK && stood + 1 == r->times[txn] ? commit_now(s, txn, event) : rc;
}

enum rig_rc rig_replay_counters(struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    const size_t keys = (size_t)history->key_count + 1;
    struct sums s = {.r = r,
                     .sum = calloc(keys, sizeof *s.sum),
                     .begin = calloc(keys, sizeof *s.begin),
                     .known = calloc(keys, sizeof *s.known),
                     .changed = calloc(keys, sizeof *s.changed),
                     .stood = calloc((size_t)history->txn_count + 1, sizeof *s.stood),
                     .since = calloc((size_t)history->op_count + 1, sizeof *s.since)};
    enum rig_rc rc =
        s.sum != NULL && s.begin != NULL && s.known != NULL && s.changed != NULL && s.stood != NULL && s.since != NULL
            ? RIG_OK
            : rig_no_memory(r->err, "the replay");
    for (uint32_t key = 0; rc == RIG_OK && key < history->key_count; key++)
        s.known[key] = history->workload != RIG_WORKLOAD_BANK;
    for (uint32_t event = 0; rc == RIG_OK && event < r->count; event++)
        rc = execute(&s, event);
    free(s.sum);
    free(s.begin);
    free(s.known);
    free(s.changed);
    free(s.stood);
    free(s.since);
    return rc;
}
