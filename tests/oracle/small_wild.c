#include "tests/oracle/small_wild.h"

#include "base/rng.h"
#include "tests/oracle/small_random.h"

static int below(struct rig_rng *rng, int bound)
{
    return bound < 1 ? 0 : (int)rig_rng_below(rng, (uint64_t)bound);
}

static bool percent(struct rig_rng *rng, int chance)
{
    return below(rng, 100) < chance;
}

/* The position of its begin; without invocations, that of its completion. */
static int begin_of(const struct small_txn *txn)
{
    return txn->invoke_at != SMALL_NEVER ? txn->invoke_at : txn->complete_at;
}

static bool is_last_of_process(const struct small_history *history, int txn)
{
    for (int t = 0; t < history->txn_count; t++) {
        if (history->txns[t].process == history->txns[txn].process &&
            begin_of(&history->txns[t]) > begin_of(&history->txns[txn]))
            return false;
    }
    return true;
}

static bool starts_after(const struct small_history *history, int process, int at)
{
    for (int t = 0; t < history->txn_count; t++) {
        if (history->txns[t].process == process && begin_of(&history->txns[t]) < at)
            return false;
    }
    return true;
}

static bool overlaps_own_process(const struct small_history *history, int txn)
{
    for (int t = 0; t < history->txn_count; t++) {
        if (t != txn && history->txns[t].process == history->txns[txn].process &&
            begin_of(&history->txns[t]) > begin_of(&history->txns[txn]) &&
            (history->txns[txn].complete_at == SMALL_NEVER ||
             begin_of(&history->txns[t]) < history->txns[txn].complete_at))
            return true;
    }
    return false;
}

/* A process has one transaction at a time, and none after one that never completed. */
static void part_processes(struct small_history *history)
{
    int next = 0;
    for (int t = 0; t < history->txn_count; t++)
        next = history->txns[t].process >= next ? history->txns[t].process + 1 : next;
    for (int t = 0; t < history->txn_count; t++) {
        if (overlaps_own_process(history, t))
            history->txns[t].process = next++;
    }
}

/* Another process, which begins after the last transaction of `txn`'s process completed, becomes that process. */
static void go_on(struct small_history *history, int txn, int other)
{
    int process = history->txns[txn].process;
    int absorbed = history->txns[other].process;
    int completed_at = history->txns[txn].complete_at;
    if (process == absorbed || completed_at == SMALL_NEVER || !is_last_of_process(history, txn) ||
        !starts_after(history, absorbed, completed_at))
        return;
    for (int t = 0; t < history->txn_count; t++) {
        if (history->txns[t].process == absorbed)
            history->txns[t].process = process;
    }
}

static void change_outcome(struct rig_rng *rng, struct small_history *history)
{
    int t = below(rng, history->txn_count);
    struct small_txn *txn = &history->txns[t];
    if (txn->complete_at == SMALL_NEVER)
        return;
    int what = below(rng, 4);
    if (what == 0) {
        txn->outcome = SMALL_FAIL;
        return;
    }
    txn->outcome = SMALL_INFO;
    if (what == 1 && is_last_of_process(history, t))
        txn->complete_at = SMALL_NEVER;
    for (int i = 0; i < txn->op_count && txn->complete_at == SMALL_NEVER; i++)
        txn->ops[i].known = false;
}

/* Gives a read one element more, one less, one in another place, or the list of another read. */
static void change_read(struct rig_rng *rng, struct small_history *history)
{
    struct small_txn *txn = &history->txns[below(rng, history->txn_count)];
    const struct small_txn *other = &history->txns[below(rng, history->txn_count)];
    if (txn->op_count == 0 || other->op_count == 0)
        return;
    struct small_op *read = &txn->ops[below(rng, txn->op_count)];
    const struct small_op *from = &other->ops[below(rng, other->op_count)];
    if (read->append || !read->known || from->key != read->key)
        return;
    if (!from->append) {
        int wanted = below(rng, 2) + from->count;
        for (read->count = 0; read->count < wanted && read->count < from->count; read->count++)
            read->list[read->count] = from->list[read->count];
        return;
    }
    if (read->count == SMALL_LIST)
        return;
    int at = percent(rng, 50) ? read->count : below(rng, read->count + 1);
    for (int e = read->count++; e > at; e--)
        read->list[e] = read->list[e - 1];
    read->list[at] = from->value;
}

static void drop_reads(struct small_history *history, int key)
{
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = history->txns[t].op_count; i-- > 0;) {
            if (!history->txns[t].ops[i].append && history->txns[t].ops[i].key == key)
                small_drop(history, t, i);
        }
    }
}

/* Also drops the transactions that never completed. */
static void forget_invocations(struct small_history *history)
{
    for (int t = history->txn_count; t-- > 0;) {
        history->txns[t].invoke_at = SMALL_NEVER;
        if (history->txns[t].complete_at == SMALL_NEVER)
            small_drop(history, t, -1);
    }
}

/* The register holds the last element of the list. */
static void make_registers(struct small_history *history)
{
    history->registers = true;
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++) {
            struct small_op *op = &history->txns[t].ops[i];
            if (op->append)
                continue;
            op->list[0] = op->count > 0 ? op->list[op->count - 1] : 0;
            op->count = op->count > 0;
        }
    }
    small_forget_nulls(history);
}

void small_wild(uint64_t seed, uint64_t number, struct small_history *history)
{
    struct rig_rng rng;
    rig_rng_init(&rng, seed ^ UINT64_C(0x5ec0fd0f), number);
    small_random(seed, number, SMALL_TINY, history);
    part_processes(history);
    for (int i = below(&rng, 3); i > 0; i--)
        change_outcome(&rng, history);
    for (int i = percent(&rng, 40) ? 1 + below(&rng, 2) : 0; i > 0; i--)
        change_read(&rng, history);
    if (percent(&rng, 10)) {
        int t = below(&rng, history->txn_count);
        while (history->txns[t].op_count > 0)
            small_drop(history, t, history->txns[t].op_count - 1);
    }
    if (percent(&rng, 20))
        drop_reads(history, below(&rng, 2));
    bool completions_only = history->txn_count > 0 && history->txns[0].invoke_at == SMALL_NEVER;
    for (int i = percent(&rng, 70) ? 8 : 0; i > 0; i--)
        go_on(history, below(&rng, history->txn_count), below(&rng, history->txn_count));
    if (completions_only || percent(&rng, 15))
        forget_invocations(history);
    history->same_times = percent(&rng, 20) ? 2 + below(&rng, 4) : 0;
    if (percent(&rng, 40))
        make_registers(history);
}
