#include "checker/prove/object_initial.h"

#include <stdlib.h>

#include "base/table.h"
#include "base/vec.h"
#include "checker/prove/replay_objects.h"

/* A value that a first operation observes. */
struct first_value {
    int64_t value;
    uint32_t key, end; /* the earliest end of such an operation */
    uint32_t next;     /* another value of the same hash, or RIG_TABLE_NONE */
    bool written;      /* by any operation */
    bool explained;    /* by a write that began before the end */
};

RIG_VEC(struct first_value, first_values)

struct initials {
    const struct rig_history *history;
    int64_t nil;
    uint32_t *first_end; /* per key */
    struct first_values firsts;
    struct rig_table by_hash;
    bool no_memory;
};

static uint32_t begin_of(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

/* Whether the operation requires a value, and which. */
static bool requires(const struct initials *b, const struct rig_txn_op *op, int64_t *value)
{
    *value = op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_NIL ? b->nil : op->value;
    return op->kind == RIG_OP_EXPECT || (op->kind == RIG_OP_READ_REGISTER && op->read_state != RIG_READ_UNKNOWN);
}

static uint32_t *chain_of(struct initials *b, uint32_t key, int64_t value)
{
    uint32_t *chain = rig_table_put(&b->by_hash, (uint64_t)value * UINT64_C(0x9fb21c651e98df25) ^ key);
    b->no_memory |= chain == NULL;
    return chain;
}

static struct first_value *find(struct initials *b, uint32_t key, int64_t value)
{
    const uint32_t *chain = chain_of(b, key, value);
    for (uint32_t i = chain == NULL ? RIG_TABLE_NONE : *chain; i != RIG_TABLE_NONE; i = b->firsts.at[i].next) {
        if (b->firsts.at[i].key == key && b->firsts.at[i].value == value)
            return &b->firsts.at[i];
    }
    return NULL;
}

static void add(struct initials *b, uint32_t key, int64_t value, uint32_t end)
{
    struct first_value *known = find(b, key, value);
    uint32_t *chain = chain_of(b, key, value);
    if (known != NULL)
        known->end = end < known->end ? end : known->end;
    if (known != NULL || chain == NULL)
        return;
    b->no_memory |= !first_values_add(&b->firsts, (struct first_value){value, key, end, *chain, false, false});
    *chain = (uint32_t)b->firsts.count - 1;
}

static void find_first_ends(struct initials *b)
{
    const struct rig_history *history = b->history;
    int64_t value;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && history->txns[txn].outcome == RIG_OUTCOME_OK; op++) {
            if ((op->kind == RIG_OP_WRITE || requires(b, op, &value)) &&
                rig_txn_end(history, txn) < b->first_end[op->key])
                b->first_end[op->key] = rig_txn_end(history, txn);
        }
    }
}

static void find_firsts(struct initials *b)
{
    const struct rig_history *history = b->history;
    int64_t value;
    for (uint32_t txn = 0; txn < history->txn_count && !b->no_memory; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn);
        if (history->txns[txn].outcome == RIG_OUTCOME_OK && rig_txn_op_count(history, txn) > 0 &&
            requires(b, op, &value) && begin_of(&history->txns[txn]) < b->first_end[op->key])
            add(b, op->key, value, rig_txn_end(history, txn));
    }
}

/* Compare-and-set from a value to itself leaves the register as it was. */
static bool changes(const struct rig_txn_op *ops, uint32_t op)
{
    return ops[op].kind == RIG_OP_WRITE &&
           !(op > 0 && ops[op - 1].kind == RIG_OP_EXPECT && ops[op - 1].value == ops[op].value);
}

static void mark_written(struct initials *b)
{
    const struct rig_history *history = b->history;
    for (uint32_t txn = 0; txn < history->txn_count && !b->no_memory; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
            struct first_value *first = changes(ops, op) ? find(b, ops[op].key, ops[op].value) : NULL;
            if (first == NULL)
                continue;
            first->written = true;
            first->explained |= begin_of(&history->txns[txn]) < first->end;
        }
    }
}

/* Nil that no write explains comes first, then the value that was observed first of those that nothing writes. */
static bool choose(struct initials *b, int64_t *values)
{
    const uint32_t keys = b->history->key_count;
    uint32_t *best = malloc(((size_t)keys + 1) * sizeof *best);
    for (uint32_t key = 0; best != NULL && key < keys; key++)
        best[key] = RIG_TABLE_NONE;
    for (uint32_t i = 0; best != NULL && i < b->firsts.count; i++) {
        const struct first_value *first = &b->firsts.at[i];
        uint32_t *own = &best[first->key];
        const bool is_nil = first->value == b->nil,
                   has_nil = *own != RIG_TABLE_NONE && b->firsts.at[*own].value == b->nil;
        if (first->explained || (!is_nil && (first->written || has_nil)))
            continue;
        if (is_nil || *own == RIG_TABLE_NONE || first->end < b->firsts.at[*own].end)
            *own = i;
    }
    for (uint32_t key = 0; best != NULL && key < keys; key++)
        values[key] = best[key] == RIG_TABLE_NONE ? b->nil : b->firsts.at[best[key]].value;
    free(best);
    return best != NULL;
}

bool rig_object_initial_find(const struct rig_history *history, const int64_t *assumed, int64_t *values)
{
    struct initials b = {.history = history};
    if (!rig_replay_object_nil(history->workload, &b.nil))
        return false;
    for (uint32_t key = 0; key < history->key_count; key++)
        values[key] = assumed == NULL ? b.nil : *assumed;
    if (assumed != NULL || history->workload != RIG_WORKLOAD_CAS_REGISTER)
        return true;
    b.first_end = malloc(((size_t)history->key_count + 1) * sizeof *b.first_end);
    for (uint32_t key = 0; b.first_end != NULL && key < history->key_count; key++)
        b.first_end[key] = RIG_POSITION_NONE;
    rig_table_init(&b.by_hash);
    b.no_memory = b.first_end == NULL;
    if (!b.no_memory) {
        find_first_ends(&b);
        find_firsts(&b);
        mark_written(&b);
    }
    const bool done = !b.no_memory && choose(&b, values);
    free(b.first_end);
    first_values_done(&b.firsts);
    rig_table_done(&b.by_hash);
    return done;
}
