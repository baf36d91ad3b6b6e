#include "jobs/smallest/small_orders.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"

struct finding {
    uint32_t count;
    bool processes; /* the order of processes counts */
    struct rig_small_orders *orders;
    struct rig_table known; /* pairs in the one and the other order */
};

static uint16_t pair_bit(uint32_t a, uint32_t b)
{
    return (uint16_t)(1U << (RIG_SMALL_TXNS * a + b));
}

static uint16_t pairs_of(const struct finding *f, const struct rig_small_order *order, bool in_process)
{
    uint16_t pairs = 0;
    for (uint32_t a = 0; a < f->count; a++) {
        for (uint32_t b = 0; b < f->count; b++) {
            const bool same = order->process[a] == order->process[b];
            const uint32_t begin = order->has_invocations ? order->invoked[b] : order->completed[b];
            if (a != b && (in_process ? same : same || order->has_invocations) && order->completed[a] < begin)
                pairs |= pair_bit(a, b);
        }
    }
    return pairs;
}

/* Whether each process runs one transaction after the other. */
static bool is_sequential(const struct finding *f, const struct rig_small_order *order, uint16_t before)
{
    for (uint32_t a = 0; a < f->count; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (order->process[a] == order->process[b] && (before & (pair_bit(a, b) | pair_bit(b, a))) == 0)
                return false;
        }
    }
    return true;
}

static bool add(struct finding *f, struct rig_small_order order)
{
    order.before = pairs_of(f, &order, false);
    if (!is_sequential(f, &order, order.before))
        return true;
    uint32_t *slot = rig_table_put(&f->known, (uint64_t)pairs_of(f, &order, true) << 16 | order.before);
    if (slot == NULL)
        return false;
    if (*slot != RIG_TABLE_NONE)
        return true;
    *slot = 0;
    return rig_small_orders_add(f->orders, order);
}

/* All ways to give the transactions from `txn` on to processes, numbered as they come. */
static bool add_in_processes(struct finding *f, struct rig_small_order *order, uint32_t txn, uint32_t used)
{
    if (txn == f->count || txn >= RIG_SMALL_TXNS)
        return add(f, *order);
    const uint32_t first = f->processes ? 0 : used;
    bool ok = true;
    for (uint32_t process = first; ok && process <= used; process++) {
        order->process[txn] = process;
        ok = add_in_processes(f, order, txn + 1, process == used ? used + 1 : used);
    }
    return ok;
}

/* All orders of completion of the transactions, by the place of each. */
static bool add_completions(struct finding *f, struct rig_small_order *order, uint32_t txn, uint32_t taken)
{
    if (txn == f->count || txn >= RIG_SMALL_TXNS)
        return add_in_processes(f, order, 0, 0);
    bool ok = true;
    for (uint32_t place = 0; ok && place < f->count; place++) {
        if ((taken >> place & 1) != 0)
            continue;
        order->completed[txn] = place;
        ok = add_completions(f, order, txn + 1, taken | 1U << place);
    }
    return ok;
}

/* Each interval order of n elements has intervals of whole rounds, n at most. In a round, invocations come first. */
static bool add_intervals(struct finding *f, struct rig_small_order *order, uint32_t txn)
{
    const uint32_t n = f->count;
    if (txn == n || txn >= RIG_SMALL_TXNS)
        return add_in_processes(f, order, 0, 0);
    bool ok = true;
    for (uint32_t begin = 0; ok && begin < n; begin++) {
        for (uint32_t end = begin; ok && end < n; end++) {
            order->invoked[txn] = 2 * n * begin + txn;
            order->completed[txn] = 2 * n * end + n + txn;
            ok = add_intervals(f, order, txn + 1);
        }
    }
    return ok;
}

static int compare_orders(const void *left, const void *right)
{
    const struct rig_small_order *a = left, *b = right;
    const int pairs_a = __builtin_popcount(a->before), pairs_b = __builtin_popcount(b->before);
    return pairs_a != pairs_b ? (pairs_a > pairs_b) - (pairs_a < pairs_b)
                              : (a->before > b->before) - (a->before < b->before);
}

bool rig_small_orders_find(uint32_t count, enum rig_along along, bool processes, struct rig_small_orders *orders)
{
    RIG_REQUIRE(count > 0 && count <= RIG_SMALL_TXNS);
    struct finding f = {.count = count, .processes = processes || along == RIG_ALONG_PROCESS, .orders = orders};
    struct rig_small_order order = {.has_invocations = along != RIG_ALONG_PROCESS};
    rig_table_init(&f.known);
    bool ok;
    if (along == RIG_ALONG_PROCESS) {
        ok = add_completions(&f, &order, 0, 0);
    } else if (along == RIG_ALONG_REALTIME) {
        ok = add_intervals(&f, &order, 0);
    } else {
        for (uint32_t txn = 0; txn < count; txn++) {
            order.process[txn] = order.invoked[txn] = txn;
            order.completed[txn] = count + txn;
        }
        ok = add(&f, order);
    }
    rig_table_done(&f.known);
    if (ok && orders->count > 1)
        qsort(orders->at, orders->count, sizeof orders->at[0], compare_orders);
    return ok;
}
