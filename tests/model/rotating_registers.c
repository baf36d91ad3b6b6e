#include "tests/model/rotating_registers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "history/model/builder.h"

enum { MOST_TXNS = 64, MOST_OPS = 6, CLIENTS = 6, ACTIVE = 5, MOST_KEYS = 512, MOST_VERSIONS = 256 };
enum isolation { SERIAL, SNAPSHOT, UNCHECKED_SNAPSHOT, COMMITTED, STALE, ISOLATIONS };

struct key {
    int64_t versions[MOST_VERSIONS]; /* committed, in their order; the first one is 0, the initial state */
    uint32_t count, written, left;   /* uses until another key replaces it */
};

struct txn {
    uint32_t invoked, completed; /* positions */
    int64_t process;
    enum rig_outcome outcome;
    bool applied;
    uint32_t op_count, next;
    struct rig_op ops[MOST_OPS];
    struct rig_read reads[MOST_OPS];
    uint32_t snapshot[MOST_OPS]; /* versions of the keys at its start */
};

struct database {
    struct rig_rng rng;
    enum isolation isolation;
    struct key keys[MOST_KEYS];
    uint32_t key_count, active[ACTIVE], active_count;
    uint32_t txn_count, most_txns, position, op_limit, slowness;
    uint32_t write_percent, trouble_percent, lie_percent, own_percent;
    bool keeps_process;
    uint32_t at[CLIENTS], client_count; /* the transaction of each client, or MOST_TXNS */
    uint32_t rest_percent[CLIENTS];     /* how often a client does nothing in its turn */
    int64_t process[CLIENTS], next_process;
    struct txn txns[MOST_TXNS];
};

static uint32_t below(struct database *d, uint32_t bound)
{
    return (uint32_t)rig_rng_below(&d->rng, bound);
}

static bool percent(struct database *d, uint32_t chance)
{
    return below(d, 100) < chance;
}

static void replace_key(struct database *d, uint32_t slot)
{
    RIG_REQUIRE(d->key_count < MOST_KEYS - MOST_TXNS);
    d->active[slot] = d->key_count;
    d->keys[d->key_count++] = (struct key){.count = 1, .left = percent(d, 20) ? MOST_VERSIONS : 2 + below(d, 8)};
}

static uint32_t use_key(struct database *d)
{
    const uint32_t slot = below(d, d->active_count), key = d->active[slot];
    if (--d->keys[key].left == 0)
        replace_key(d, slot);
    return key;
}

/* A transaction may write a key of its own, too: where it is released, a window then ends. */
static void invoke(struct database *d, uint32_t client)
{
    struct txn *txn = &d->txns[d->txn_count];
    *txn = (struct txn){.invoked = d->position++, .completed = RIG_POSITION_NONE, .process = d->process[client]};
    const bool has_own = percent(d, d->own_percent);
    txn->op_count = 1 + below(d, d->op_limit) + has_own;
    for (uint32_t i = 0; i < txn->op_count; i++) {
        const bool own = has_own && i + 1 == txn->op_count;
        const uint32_t key = own ? MOST_KEYS - 1 - d->txn_count : use_key(d);
        const bool writes = own || percent(d, d->write_percent);
        txn->ops[i] = (struct rig_op){.kind = writes ? RIG_OP_WRITE : RIG_OP_READ_REGISTER, .key = key};
        txn->ops[i].value = writes ? (int64_t)++d->keys[key].written : 0;
        txn->snapshot[i] = d->keys[key].count;
    }
    d->at[client] = d->txn_count++;
}

/* Its own version of the key, else one that its isolation shows. */
static int64_t value_of(struct database *d, const struct txn *txn, uint32_t op)
{
    const struct key *key = &d->keys[txn->ops[op].key];
    for (uint32_t i = op; i-- > 0;) {
        if (txn->ops[i].key == txn->ops[op].key && txn->ops[i].kind == RIG_OP_WRITE)
            return txn->ops[i].value;
    }
    uint32_t count = key->count;
    if (d->isolation == SNAPSHOT || d->isolation == UNCHECKED_SNAPSHOT)
        count = txn->snapshot[op];
    if (d->isolation == STALE)
        count -= below(d, count < 3 ? count : 3);
    /* Some lies show a value that is written later, or never. */
    if (key->written > 0 && percent(d, d->lie_percent))
        return (int64_t)below(d, key->written + 1 + (percent(d, 30) ? 3 : 0));
    return key->versions[count - 1];
}

static void run_operation(struct database *d, struct txn *txn)
{
    const uint32_t op = txn->next++;
    if (txn->ops[op].kind == RIG_OP_WRITE)
        return;
    const int64_t value = value_of(d, txn, op);
    txn->reads[op] = (struct rig_read){.state = value == 0 ? RIG_READ_NIL : RIG_READ_SEEN, .value = value};
}

static bool conflicts(const struct database *d, const struct txn *txn)
{
    for (uint32_t i = 0; d->isolation == SNAPSHOT && i < txn->op_count; i++) {
        if (txn->ops[i].kind == RIG_OP_WRITE && d->keys[txn->ops[i].key].count != txn->snapshot[i])
            return true;
    }
    return false;
}

static void commit(struct database *d, struct txn *txn)
{
    const bool unknown = percent(d, d->trouble_percent),
               fails = conflicts(d, txn) || percent(d, d->trouble_percent / 2);
    txn->outcome = unknown ? RIG_OUTCOME_INFO : fails ? RIG_OUTCOME_FAIL : RIG_OUTCOME_OK;
    txn->applied = true;
    for (uint32_t i = 0; !fails && i < txn->op_count; i++) {
        struct key *key = &d->keys[txn->ops[i].key];
        if (txn->ops[i].kind == RIG_OP_WRITE && key->count < MOST_VERSIONS)
            key->versions[key->count++] = txn->ops[i].value;
    }
}

static void complete(struct database *d, uint32_t client)
{
    struct txn *txn = &d->txns[d->at[client]];
    const bool silent = txn->outcome == RIG_OUTCOME_INFO && percent(d, 30);
    txn->completed = silent ? RIG_POSITION_NONE : d->position++;
    for (uint32_t i = 0; txn->outcome != RIG_OUTCOME_OK && i < txn->op_count; i++) {
        if (silent || percent(d, 30))
            txn->reads[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
    }
    if (txn->outcome == RIG_OUTCOME_INFO && !d->keeps_process)
        d->process[client] = d->next_process++;
    d->at[client] = MOST_TXNS;
}

static void step(struct database *d, uint32_t client)
{
    struct txn *txn = d->at[client] == MOST_TXNS ? NULL : &d->txns[d->at[client]];
    if (txn == NULL) {
        if (d->txn_count < d->most_txns)
            invoke(d, client);
    } else if (txn->next < txn->op_count) {
        do
            run_operation(d, txn);
        while (d->isolation != COMMITTED && txn->next < txn->op_count);
        if (d->isolation != COMMITTED)
            commit(d, txn);
    } else if (!txn->applied) {
        commit(d, txn);
    } else {
        complete(d, client);
    }
}

static void run(struct database *d)
{
    for (bool busy = true; busy;) {
        const uint32_t client = below(d, d->client_count);
        if (!percent(d, d->at[client] == MOST_TXNS ? d->slowness : d->rest_percent[client]))
            step(d, client);
        busy = d->txn_count < d->most_txns;
        for (uint32_t i = 0; i < d->client_count; i++)
            busy |= d->at[i] != MOST_TXNS;
    }
}

static struct rig_history *history_of(const struct database *d)
{
    struct rig_err err = {.text = "no memory"};
    struct rig_history *history = NULL;
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_RW_REGISTER, 0);
    bool done = builder != NULL;
    for (uint32_t i = 0; done && i < d->txn_count; i++) {
        const struct txn *txn = &d->txns[i];
        const bool completed = txn->completed != RIG_POSITION_NONE;
        const struct rig_txn_input input = {.invoke_ns = txn->invoked * INT64_C(1000000),
                                            .complete_ns = completed ? txn->completed * INT64_C(1000000) : RIG_NO_TIME,
                                            .invoke_at = txn->invoked,
                                            .complete_at = txn->completed,
                                            .process = txn->process,
                                            .outcome = txn->outcome,
                                            .ops = txn->ops,
                                            .reads = txn->reads,
                                            .op_count = txn->op_count};
        done = rig_history_builder_add(builder, &input, &err) == RIG_OK;
    }
    if (!done || rig_history_builder_finish(builder, &history, &err) != RIG_OK) {
        (void)fprintf(stderr, "rotating_registers: %s\n", err.text);
        exit(3);
    }
    return history;
}

struct rig_history *rotating_registers(uint64_t seed, uint64_t number)
{
    static struct database d;
    d = (struct database){0};
    rig_rng_init(&d.rng, seed, number);
    d.isolation = (enum isolation)below(&d, ISOLATIONS);
    d.most_txns = 4 + below(&d, percent(&d, 70) ? 8 : MOST_TXNS - 4);
    d.client_count = 2 + below(&d, CLIENTS - 1);
    d.active_count = 1 + below(&d, ACTIVE);
    d.op_limit = 1 + below(&d, 4);
    d.slowness = 10 * below(&d, 9);
    d.write_percent = 20 + 10 * below(&d, 6);
    d.trouble_percent = 10 * below(&d, 4);
    d.lie_percent = percent(&d, 50) ? 0 : 2 + below(&d, 10);
    d.own_percent = 25 * below(&d, 5);
    d.keeps_process = percent(&d, 40);
    for (uint32_t slot = 0; slot < d.active_count; slot++)
        replace_key(&d, slot);
    for (uint32_t client = 0; client < d.client_count; client++) {
        d.at[client] = MOST_TXNS;
        d.process[client] = d.next_process++;
        d.rest_percent[client] = percent(&d, 60) ? 0 : 90;
    }
    run(&d);
    return history_of(&d);
}
