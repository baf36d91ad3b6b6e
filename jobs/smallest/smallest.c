#include "jobs/smallest/smallest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/decide/rule.h"
#include "checker/judge/check.h"
#include "checker/judge/repeated_values.h"
#include "checker/model/anomaly.h"
#include "history/model/builder.h"
#include "history/types/types.h"

/*
 * The orders that a few transactions can have: of processes, of real time, or both.
 *
 * Each order of processes, and each interval order, of `count` labelled transactions is made once; the ones that order
 * fewer pairs come first. Time: exponential in the transactions.
 */

struct rig_small_order {
    uint32_t process[RIG_SMALL_TXNS];
    uint32_t invoked[RIG_SMALL_TXNS], completed[RIG_SMALL_TXNS]; /* positions */
    bool has_invocations;                                        /* else there is no real time */
    uint16_t before; /* bit RIG_SMALL_TXNS * a + b: a comes before b in the process or in real time */
};

RIG_VEC(struct rig_small_order, rig_small_orders)

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

/* PLAIN: all transactions overlap, each in a process of its own. PROCESS: completions only. REALTIME: in processes of
 * their own or, with `processes`, in all ways. False when memory runs out. */
static bool small_orders_find(uint32_t count, enum rig_along along, bool processes, struct rig_small_orders *orders)
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

enum { ORDERS_MOST = 24 }; /* serial orders of RIG_SMALL_TXNS transactions */

/* An operation. A write's value is one more than its index. */
struct made_op {
    uint32_t txn, key;
    bool write;
    uint32_t count, list[RIG_SMALL_OPS]; /* a read: values; a register shows one, or none: nil */
};

struct search {
    const struct rig_smallest_question *question;
    bool registers;
    uint32_t txn_count, op_count;
    struct made_op ops[RIG_SMALL_OPS];
    struct rig_small_orders orders;
    uint32_t serial_count;
    uint32_t serial[ORDERS_MOST][RIG_SMALL_TXNS]; /* transactions, one after the other */
    struct rig_smallest *found;
    enum rig_rc rc;
    struct rig_err *err;
};

static bool is_over(const struct search *s)
{
    return s->rc != RIG_OK || s->found->history != NULL;
}

/* ---- serial orders ---- */

static void list_serial(struct search *s, uint32_t *order, uint32_t placed, uint32_t taken)
{
    if (placed == s->txn_count || placed >= RIG_SMALL_TXNS) {
        RIG_INVARIANT(s->serial_count < ORDERS_MOST);
        memcpy(s->serial[s->serial_count++], order, sizeof s->serial[0]);
        return;
    }
    for (uint32_t txn = 0; txn < s->txn_count; txn++) {
        if ((taken >> txn & 1) != 0)
            continue;
        order[placed] = txn;
        list_serial(s, order, placed + 1, taken | 1U << txn);
    }
}

/* Whether the reads are those of the transactions one after the other. */
static bool explains(const struct search *s, const uint32_t *order)
{
    uint32_t count[RIG_SMALL_KEYS] = {0}, list[RIG_SMALL_KEYS][RIG_SMALL_OPS];
    for (uint32_t place = 0; place < s->txn_count; place++) {
        for (uint32_t i = 0; i < s->op_count; i++) {
            const struct made_op *op = &s->ops[i];
            if (op->txn != order[place])
                continue;
            if (op->write) {
                count[op->key] = s->registers ? 0 : count[op->key];
                list[op->key][count[op->key]++] = i + 1;
            } else if (op->count != count[op->key] ||
                       memcmp(op->list, list[op->key], op->count * sizeof op->list[0]) != 0) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t explaining_orders(const struct search *s)
{
    uint32_t orders = 0;
    for (uint32_t i = 0; i < s->serial_count; i++)
        orders |= (uint32_t)explains(s, s->serial[i]) << i;
    return orders;
}

/* Whether one of these serial orders keeps the order of processes and of real time. */
static bool is_kept(const struct search *s, uint32_t serial, uint16_t before)
{
    for (uint32_t i = 0; i < s->serial_count; i++) {
        bool kept = (serial >> i & 1) != 0;
        for (uint32_t later = 1; kept && later < s->txn_count; later++) {
            for (uint32_t earlier = 0; earlier < later; earlier++)
                kept = kept && (before >> (RIG_SMALL_TXNS * s->serial[i][later] + s->serial[i][earlier]) & 1) == 0;
        }
        if (kept)
            return true;
    }
    return false;
}

/* ---- one history ---- */

static enum rig_rc add_txn(const struct search *s, const struct rig_small_order *order, uint32_t txn,
                           struct rig_history_builder *builder)
{
    const struct rig_data_type *type = &rig_data_types[s->question->workload];
    struct rig_op ops[RIG_SMALL_OPS] = {{0}};
    struct rig_read reads[RIG_SMALL_OPS] = {{0}};
    int64_t elements[RIG_SMALL_OPS * RIG_SMALL_OPS];
    size_t element_count = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->op_count; i++) {
        const struct made_op *op = &s->ops[i];
        if (op->txn != txn)
            continue;
        ops[count] = (struct rig_op){
            .kind = op->write ? type->write_op : type->read_op, .key = op->key, .value = op->write ? i + 1 : 0};
        if (!op->write) {
            reads[count] = (struct rig_read){.state = op->count > 0 ? RIG_READ_SEEN : RIG_READ_NIL,
                                             .count = op->count,
                                             .first_element = element_count,
                                             .value = op->count > 0 ? op->list[0] : 0};
            for (uint32_t e = 0; e < op->count; e++)
                elements[element_count++] = op->list[e];
        }
        count++;
    }
    const bool timed = order->has_invocations;
    const struct rig_txn_input input = {
        .invoke_ns = timed ? (int64_t)order->invoked[txn] * 1000000 : RIG_NO_TIME,
        .complete_ns = (int64_t)order->completed[txn] * 1000000,
        .invoke_at = timed ? order->invoked[txn] : RIG_POSITION_NONE,
        .complete_at = order->completed[txn],
        .process = order->process[txn],
        .outcome = RIG_OUTCOME_OK,
        .ops = ops,
        .reads = reads,
        .op_count = count,
        .elements = elements,
    };
    return rig_history_builder_add(builder, &input, s->err);
}

static enum rig_rc build(const struct search *s, const struct rig_small_order *order, struct rig_history **history)
{
    struct rig_history_builder *builder = rig_history_builder_new(s->question->workload, 0);
    enum rig_rc rc = builder != NULL ? RIG_OK : rig_memory_limit(s->err, "the history");
    for (uint32_t txn = 0; rc == RIG_OK && txn < s->txn_count; txn++)
        rc = add_txn(s, order, txn, builder);
    if (rc != RIG_OK) {
        rig_history_builder_free(builder);
        return rc;
    }
    return rig_history_builder_finish(builder, history, s->err);
}

static void check(struct search *s, const struct rig_small_order *order)
{
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(s->question->forbidden), .max_witnesses = 1};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    s->rc = build(s, order, &history);
    if (s->rc == RIG_OK)
        s->rc = rig_repeated_values_check(history, &options, &verdict, s->err);
    s->found->checked++;
    const bool counts = s->rc == RIG_OK && verdict->levels[s->question->allowed].fate == RIG_FATE_HELD &&
                        verdict->levels[s->question->forbidden].fate == RIG_FATE_REFUTED;
    rig_verdict_free(verdict);
    if (counts)
        s->found->history = history;
    else
        rig_history_free(history);
}

/* ---- what reads alone rule out ---- */

/* Whether a transaction reads its own later write, or another one's write before its last one of the key. */
static bool is_uncommitted(const struct search *s, uint32_t read)
{
    const struct made_op *op = &s->ops[read];
    for (uint32_t e = 0; e < op->count; e++) {
        const uint32_t write = op->list[e] - 1, writer = s->ops[write].txn;
        if (writer == op->txn && write > read)
            return true;
        for (uint32_t i = write + 1; writer != op->txn && e + 1 == op->count && i < s->op_count; i++) {
            if (s->ops[i].txn == writer && s->ops[i].write && s->ops[i].key == op->key)
                return true;
        }
    }
    return false;
}

/* Whether transactions read from each other in a circle. */
static bool reads_in_circle(const struct search *s)
{
    uint32_t from[RIG_SMALL_TXNS] = {0};
    for (uint32_t i = 0; i < s->op_count; i++) {
        for (uint32_t e = 0; !s->ops[i].write && e < s->ops[i].count; e++)
            from[s->ops[i].txn] |= 1U << s->ops[s->ops[i].list[e] - 1].txn;
    }
    for (uint32_t txn = 0; txn < s->txn_count; txn++)
        from[txn] &= ~(1U << txn);
    for (uint32_t via = 0; via < s->txn_count; via++) {
        for (uint32_t txn = 0; txn < s->txn_count; txn++)
            from[txn] |= (from[txn] >> via & 1) != 0 ? from[via] : 0;
    }
    for (uint32_t txn = 0; txn < s->txn_count; txn++) {
        if ((from[txn] >> txn & 1) != 0)
            return true;
    }
    return false;
}

/* Whether each read of a list is the beginning of the longest one of its key. */
static bool are_lists(const struct search *s)
{
    for (uint32_t i = 0; i < s->op_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct made_op *a = &s->ops[i], *b = &s->ops[j];
            const uint32_t common = a->count < b->count ? a->count : b->count;
            if (!a->write && !b->write && a->key == b->key && memcmp(a->list, b->list, common * sizeof a->list[0]) != 0)
                return false;
        }
    }
    return true;
}

/* Whether a read of a register differs from what its transaction wrote or read before. */
static bool disagrees(const struct search *s, uint32_t read)
{
    for (uint32_t i = read; s->registers && i-- > 0;) {
        const struct made_op *before = &s->ops[i], *op = &s->ops[read];
        if (before->txn == op->txn && before->key == op->key)
            return before->write ? op->count == 0 || op->list[0] != i + 1
                                 : before->count != op->count || (op->count > 0 && before->list[0] != op->list[0]);
    }
    return false;
}

/* Whether a list does not end with what its transaction appended before. */
static bool lacks_own(const struct search *s, uint32_t read)
{
    const struct made_op *op = &s->ops[read];
    uint32_t left = op->count;
    for (uint32_t i = read; !s->registers && i-- > 0;) {
        if (s->ops[i].txn != op->txn || !s->ops[i].write || s->ops[i].key != op->key)
            continue;
        if (left == 0 || op->list[--left] != i + 1)
            return true;
    }
    return false;
}

/* False: the allowed level, from read committed up, forbids the history. */
static bool may_be_allowed(const struct search *s)
{
    if ((rig_level_info(s->question->allowed)->below & RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)) == 0)
        return true;
    /* Repeatable read allows it of reads that found no row. */
    const struct rig_rule *rule = rig_level_rule(s->question->allowed);
    const bool internal = rule->internal && !rule->items;
    for (uint32_t i = 0; i < s->op_count; i++) {
        if (!s->ops[i].write && (is_uncommitted(s, i) || (internal && (disagrees(s, i) || lacks_own(s, i)))))
            return false;
    }
    return !reads_in_circle(s) && (s->registers || are_lists(s));
}

/* ---- all histories ---- */

static void try_orders(struct search *s)
{
    if (!may_be_allowed(s))
        return;
    const uint32_t serial = explaining_orders(s);
    for (size_t i = 0; i < s->orders.count && !is_over(s); i++) {
        if (!is_kept(s, serial, s->orders.at[i].before))
            check(s, &s->orders.at[i]);
    }
}

static void try_reads(struct search *s, uint32_t op);

/* All lists of distinct writes of the key that begin with what is there; of a register, nil and each write. */
static void try_lists(struct search *s, uint32_t op)
{
    struct made_op *read = &s->ops[op];
    try_reads(s, op + 1);
    if (s->registers && read->count > 0)
        return;
    for (uint32_t i = 0; i < s->op_count && !is_over(s); i++) {
        bool fits = s->ops[i].write && s->ops[i].key == read->key;
        for (uint32_t e = 0; fits && e < read->count; e++)
            fits = read->list[e] != i + 1;
        if (!fits)
            continue;
        read->list[read->count++] = i + 1;
        try_lists(s, op);
        read->count--;
    }
}

static void try_reads(struct search *s, uint32_t op)
{
    if (is_over(s))
        return;
    if (op == s->op_count) {
        try_orders(s);
        return;
    }
    if (s->ops[op].write) {
        try_reads(s, op + 1);
        return;
    }
    s->ops[op].count = 0;
    try_lists(s, op);
}

static bool are_keys_used(const struct search *s, uint32_t key_count)
{
    uint32_t reads = 0, writes = 0;
    for (uint32_t i = 0; i < s->op_count; i++)
        *(s->ops[i].write ? &writes : &reads) |= 1U << s->ops[i].key;
    return reads == writes && reads == (1U << key_count) - 1;
}

/* All kinds and keys of the operations from `op` on; keys are numbered as they come. */
static void try_kinds(struct search *s, uint32_t op, uint32_t key_count)
{
    if (is_over(s))
        return;
    if (op == s->op_count) {
        if (are_keys_used(s, key_count))
            try_reads(s, 0);
        return;
    }
    for (uint32_t key = 0; key <= key_count && key < RIG_SMALL_KEYS; key++) {
        for (unsigned write = 0; write < 2; write++) {
            s->ops[op].key = key;
            s->ops[op].write = write == 1;
            try_kinds(s, op + 1, key == key_count ? key_count + 1 : key_count);
        }
    }
}

/* All ways to give the operations from `op` on to the transactions from `txn` on, no one more than the one before. */
static void try_sizes(struct search *s, uint32_t txn, uint32_t op, uint32_t most)
{
    const uint32_t left = s->op_count - op, later = s->txn_count - txn - 1;
    if (txn == s->txn_count) {
        if (left == 0)
            try_kinds(s, 0, 0);
        return;
    }
    for (uint32_t size = 1; size <= most && size + later <= left && !is_over(s); size++) {
        for (uint32_t i = 0; i < size; i++)
            s->ops[op + i].txn = txn;
        try_sizes(s, txn + 1, op + size, size);
    }
}

static enum rig_along along_of(const struct rig_smallest_question *question)
{
    const enum rig_along one = rig_level_along(question->allowed), other = rig_level_along(question->forbidden);
    return one > other ? one : other;
}

static bool begin_txns(struct search *s, uint32_t count)
{
    const struct rig_smallest_question *question = s->question;
    uint32_t order[RIG_SMALL_TXNS] = {0};
    const bool processes = rig_level_along(question->allowed) == RIG_ALONG_PROCESS ||
                           rig_level_along(question->forbidden) == RIG_ALONG_PROCESS;
    s->txn_count = count;
    s->serial_count = 0;
    list_serial(s, order, 0, 0);
    s->orders.count = 0;
    return small_orders_find(count, along_of(question), processes, &s->orders);
}

enum rig_rc rig_smallest_find(const struct rig_smallest_question *question, struct rig_smallest *found,
                              struct rig_err *err)
{
    const enum rig_result_shape shape = rig_data_types[question->workload].shape;
    RIG_REQUIRE(shape == RIG_RESULT_LIST || shape == RIG_RESULT_VALUE);
    RIG_REQUIRE(question->txn_most <= RIG_SMALL_TXNS && question->op_most <= RIG_SMALL_OPS);
    struct search s = {.question = question, .registers = shape == RIG_RESULT_VALUE, .found = found, .err = err};
    *found = (struct rig_smallest){0};
    for (s.op_count = 1; s.op_count <= question->op_most && !is_over(&s); s.op_count++) {
        for (uint32_t count = 1; count <= s.op_count && count <= question->txn_most && !is_over(&s); count++) {
            if (begin_txns(&s, count))
                try_sizes(&s, 0, 0, s.op_count);
            else
                s.rc = rig_memory_limit(err, "the orders of transactions");
        }
    }
    rig_small_orders_done(&s.orders);
    return s.rc;
}
