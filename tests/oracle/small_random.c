#include "tests/oracle/small_random.h"

#include <string.h>

#include "base/rng.h"

enum isolation { SERIAL, SNAPSHOT, UNCHECKED_SNAPSHOT, COMMITTED, STALE, ISOLATIONS };
enum stage { WAITING, INVOKED, BEGUN, DECIDED, DONE };
enum fate { COMMITS, COMMITS_UNKNOWN, COMMITS_LATE, ABORTS, ABORTS_UNKNOWN, VANISHES };

struct lists {
    int count[SMALL_KEYS];
    int at[SMALL_KEYS][SMALL_TXNS * SMALL_OPS];
};

struct client_txn {
    enum stage stage;
    enum fate fate;
    int next_op;
    bool completed; /* as far as the client goes */
    bool committed;
    struct lists snapshot;
};

struct simulation {
    struct rig_rng rng;
    struct small_history *history;
    enum isolation isolation;
    int key_count, op_limit, process_count, appends_percent, trouble_percent;
    bool one_counter;   /* values are unique over all keys, not only for each */
    bool keeps_process; /* a client goes on as the same process after info, as in histories of other programs */
    int next_value[SMALL_KEYS];
    int next_process;
    int process[SMALL_TXNS]; /* current process of each client, and its pending transaction */
    int waits_for[SMALL_TXNS];
    int position;
    struct lists database;
    struct client_txn txns[SMALL_TXNS];
};

static int below(struct rig_rng *rng, int bound)
{
    return (int)rig_rng_below(rng, (uint64_t)bound);
}

static bool percent(struct rig_rng *rng, int chance)
{
    return below(rng, 100) < chance;
}

static void make_operations(struct simulation *sim, struct small_txn *txn)
{
    txn->op_count = 1 + below(&sim->rng, sim->op_limit);
    for (int i = 0; i < txn->op_count; i++) {
        struct small_op *op = &txn->ops[i];
        *op = (struct small_op){.append = percent(&sim->rng, sim->appends_percent),
                                .key = below(&sim->rng, sim->key_count)};
        if (op->append)
            op->value = ++sim->next_value[sim->one_counter ? 0 : op->key];
    }
}

static enum fate choose_fate(struct simulation *sim)
{
    static const enum fate troubles[] = {COMMITS_UNKNOWN, COMMITS_LATE, ABORTS, ABORTS, ABORTS_UNKNOWN, VANISHES};
    if (!percent(&sim->rng, sim->trouble_percent))
        return COMMITS;
    return troubles[below(&sim->rng, (int)(sizeof troubles / sizeof troubles[0]))];
}

/* The result of the transaction's operation `op`: the base, and the transaction's own earlier appends. */
static void run_operation(struct simulation *sim, struct small_txn *txn, const struct client_txn *client, int op)
{
    if (txn->ops[op].append)
        return;
    struct small_op *read = &txn->ops[op];
    bool snapshot = sim->isolation == SNAPSHOT || sim->isolation == UNCHECKED_SNAPSHOT;
    const struct lists *base = snapshot ? &client->snapshot : &sim->database;
    int stale = sim->isolation == STALE ? below(&sim->rng, 4) - 1 : 0;
    int seen = base->count[read->key] - (stale > 0 ? stale : 0);
    read->known = true;
    read->count = 0;
    for (int e = 0; e < seen && read->count < SMALL_LIST; e++)
        read->list[read->count++] = base->at[read->key][e];
    for (int i = 0; i < op && read->count < SMALL_LIST; i++) {
        if (txn->ops[i].append && txn->ops[i].key == read->key)
            read->list[read->count++] = txn->ops[i].value;
    }
}

static bool conflicts(const struct simulation *sim, const struct small_txn *txn, const struct client_txn *client)
{
    for (int i = 0; i < txn->op_count; i++) {
        int key = txn->ops[i].key;
        if (txn->ops[i].append && sim->database.count[key] != client->snapshot.count[key])
            return true;
    }
    return false;
}

static void commit(struct simulation *sim, const struct small_txn *txn, struct client_txn *client)
{
    if (sim->isolation == SNAPSHOT && conflicts(sim, txn, client)) {
        client->fate = client->fate == COMMITS ? ABORTS : ABORTS_UNKNOWN;
        return;
    }
    for (int i = 0; i < txn->op_count; i++) {
        const struct small_op *op = &txn->ops[i];
        if (op->append)
            sim->database.at[op->key][sim->database.count[op->key]++] = op->value;
    }
    client->committed = true;
}

static void complete(struct simulation *sim, int t)
{
    struct small_txn *txn = &sim->history->txns[t];
    struct client_txn *client = &sim->txns[t];
    if (client->completed)
        return;
    client->completed = true;
    txn->outcome = client->fate == COMMITS ? SMALL_OK : client->fate == ABORTS ? SMALL_FAIL : SMALL_INFO;
    bool silent = txn->outcome == SMALL_INFO && percent(&sim->rng, 40);
    txn->complete_at = silent ? SMALL_NEVER : sim->position++;
    bool forgotten = silent || (txn->outcome != SMALL_OK && percent(&sim->rng, 50));
    for (int i = 0; i < txn->op_count && forgotten; i++)
        txn->ops[i].known = false;
    for (int c = 0; c < sim->process_count; c++) {
        if (sim->waits_for[c] != t)
            continue;
        sim->waits_for[c] = -1;
        if (txn->outcome == SMALL_INFO && !sim->keeps_process)
            sim->process[c] = sim->next_process++;
    }
}

/* Executes the next step of a transaction. */
static void step(struct simulation *sim, int t)
{
    struct small_txn *txn = &sim->history->txns[t];
    struct client_txn *client = &sim->txns[t];
    switch (client->stage) {
    case INVOKED:
        client->snapshot = sim->database;
        client->stage = BEGUN;
        return;
    case BEGUN:
        if (client->next_op < txn->op_count) {
            int last = sim->isolation == SERIAL ? txn->op_count : client->next_op + 1;
            while (client->next_op < last)
                run_operation(sim, txn, client, client->next_op++);
            if (sim->isolation != SERIAL)
                return;
        }
        if (client->fate == COMMITS_LATE && !client->completed) {
            complete(sim, t);
            return;
        }
        if (client->fate == COMMITS || client->fate == COMMITS_UNKNOWN || client->fate == COMMITS_LATE)
            commit(sim, txn, client);
        client->stage = client->completed ? DONE : DECIDED;
        return;
    case DECIDED:
        complete(sim, t);
        client->stage = DONE;
        return;
    case WAITING:
    case DONE:
        return;
    }
}

static void start(struct simulation *sim, int client, int t)
{
    struct small_txn *txn = &sim->history->txns[t];
    *txn = (struct small_txn){.process = sim->process[client], .invoke_at = sim->position++};
    make_operations(sim, txn);
    sim->waits_for[client] = t;
    sim->txns[t].stage = INVOKED;
    sim->txns[t].fate = choose_fate(sim);
}

static void run_clients(struct simulation *sim, int txn_count)
{
    int started = 0;
    for (bool busy = true; busy;) {
        int c = below(&sim->rng, sim->process_count);
        if (sim->waits_for[c] < 0 && started < txn_count)
            start(sim, c, started++);
        int t = started == 0 ? 0 : below(&sim->rng, started);
        for (int burst = 1 + below(&sim->rng, 4); burst > 0; burst--)
            step(sim, t);
        busy = started < txn_count;
        for (int i = 0; i < started; i++)
            busy = busy || sim->txns[i].stage != DONE;
    }
    sim->history->txn_count = txn_count;
}

static void drop_element(struct small_op *read, int at)
{
    for (int e = at; e + 1 < read->count; e++)
        read->list[e] = read->list[e + 1];
    read->count--;
}

static void falsify_list(struct rig_rng *rng, const struct small_history *history, struct small_op *read)
{
    switch (below(rng, 5)) {
    case 0:
        if (read->count > 0)
            drop_element(read, below(rng, read->count));
        return;
    case 1:
        if (read->count > 1) {
            int at = below(rng, read->count - 1);
            int swapped = read->list[at];
            read->list[at] = read->list[at + 1];
            read->list[at + 1] = swapped;
        }
        return;
    case 2:
        if (read->count > 0)
            read->count = below(rng, read->count);
        return;
    default: {
        const struct small_txn *txn = &history->txns[below(rng, history->txn_count)];
        const struct small_op *op = &txn->ops[below(rng, txn->op_count)];
        if (!op->append || op->key != read->key || read->count == SMALL_LIST)
            return;
        int at = percent(rng, 70) ? read->count : below(rng, read->count + 1);
        for (int e = read->count++; e > at; e--)
            read->list[e] = read->list[e - 1];
        read->list[at] = percent(rng, 3) ? 99 : op->value;
        return;
    }
    }
}

/* Swaps two neighbouring events, unless they are of one process. */
static void swap_events(struct rig_rng *rng, struct small_history *history, int position_count)
{
    int at = position_count < 2 ? 0 : below(rng, position_count - 1);
    int *first = NULL;
    int *second = NULL;
    int first_process = 0;
    int second_process = 0;
    for (int t = 0; t < history->txn_count; t++) {
        struct small_txn *txn = &history->txns[t];
        int *events[] = {&txn->invoke_at, &txn->complete_at};
        for (int e = 0; e < 2; e++) {
            if (*events[e] == at) {
                first = events[e];
                first_process = txn->process;
            } else if (*events[e] == at + 1) {
                second = events[e];
                second_process = txn->process;
            }
        }
    }
    if (first == NULL || second == NULL || first_process == second_process)
        return;
    *first = at + 1;
    *second = at;
}

/* A random known read, or NULL after some tries. */
static struct small_op *choose_read(struct rig_rng *rng, struct small_history *history, enum small_outcome outcome)
{
    for (int tries = 0; tries < 12; tries++) {
        struct small_txn *txn = &history->txns[below(rng, history->txn_count)];
        struct small_op *op = &txn->ops[below(rng, txn->op_count)];
        if (!op->append && op->known && txn->outcome == outcome)
            return op;
    }
    return NULL;
}

static void falsify(struct rig_rng *rng, struct small_history *history, int position_count)
{
    struct small_txn *txn = &history->txns[below(rng, history->txn_count)];
    struct small_op *read = choose_read(rng, history, percent(rng, 90) ? SMALL_OK : SMALL_INFO);
    int what = below(rng, 20);
    if (what < 2 && txn->outcome != SMALL_OK) {
        txn->outcome = SMALL_OK; /* its reads may be unknown */
        txn->complete_at = txn->complete_at == SMALL_NEVER ? position_count : txn->complete_at;
    } else if (what == 2 && txn->outcome == SMALL_OK) {
        txn->outcome = SMALL_FAIL;
    } else if (what == 3 && read != NULL) {
        read->known = false;
    } else if (what < 9) {
        for (int i = 1 + below(rng, 8); i > 0; i--)
            swap_events(rng, history, position_count);
    } else if (read != NULL) {
        falsify_list(rng, history, read);
    }
}

/* Every transaction then has a completion: those without one get it at the end. */
static void forget_invocations(struct small_history *history, int position_count)
{
    for (int t = 0; t < history->txn_count; t++) {
        struct small_txn *txn = &history->txns[t];
        txn->invoke_at = SMALL_NEVER;
        txn->complete_at = txn->complete_at == SMALL_NEVER ? position_count++ : txn->complete_at;
    }
}

void small_random(uint64_t seed, uint64_t number, enum small_size size, struct small_history *history)
{
    struct simulation sim = {.history = history};
    rig_rng_init(&sim.rng, seed, number);
    memset(history, 0, sizeof *history);
    sim.isolation = (enum isolation)below(&sim.rng, ISOLATIONS);
    int txn_count = percent(&sim.rng, 20) ? 2 + below(&sim.rng, 2) : 4 + below(&sim.rng, 3);
    if (size == SMALL_FULL)
        txn_count = 8 + below(&sim.rng, SMALL_TXNS - 9);
    sim.key_count = 1 + below(&sim.rng, 3);
    sim.op_limit = 2 + below(&sim.rng, 3);
    sim.process_count = 2 + below(&sim.rng, 4);
    sim.appends_percent = 30 + 10 * below(&sim.rng, 5);
    sim.trouble_percent = 15 * below(&sim.rng, 4);
    sim.one_counter = percent(&sim.rng, 50);
    struct rig_rng shape; /* for the form of the record, which does not change the simulation */
    rig_rng_init(&shape, ~seed, number);
    sim.keeps_process = percent(&shape, 40);
    bool completions_only = percent(&shape, 10);
    for (int c = 0; c < sim.process_count; c++) {
        sim.process[c] = sim.next_process++;
        sim.waits_for[c] = -1;
    }
    run_clients(&sim, txn_count);
    int lies = percent(&sim.rng, 30) ? 0 : 1 + below(&sim.rng, size == SMALL_FULL ? 2 : 4);
    for (int i = 0; i < lies; i++)
        falsify(&sim.rng, history, sim.position + i);
    if (completions_only)
        forget_invocations(history, sim.position + lies);
}
