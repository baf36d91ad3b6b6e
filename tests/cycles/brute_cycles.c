#include "tests/cycles/brute_cycles.h"

#include <string.h>

#include "tests/oracle/oracle.h"

enum kind { WW, WR, RW, PROCESS, REALTIME, KINDS };
enum { NO_WRITER = -1, UNREAD = 1000 /* the index of appends that no read shows */ };

struct brute {
    const struct small_history *history;
    uint64_t committed;
    int count[SMALL_KEYS]; /* of each key's order */
    int order[SMALL_KEYS][SMALL_LIST];
    bool edge[KINDS][SMALL_TXNS][SMALL_TXNS];
    int path[SMALL_TXNS];
    enum kind step[SMALL_TXNS];
    uint64_t on_path;
    struct brute_cycles *found;
};

static bool is_committed(const struct brute *b, int t)
{
    return t >= 0 && (b->committed >> t & 1) != 0;
}

static int writer_of(const struct brute *b, int key, int value)
{
    int op;
    int writer = small_writer(b->history, key, value, &op);
    return is_committed(b, writer) ? writer : NO_WRITER;
}

static bool is_prefix(const struct brute *b, const struct small_op *read)
{
    return read->count <= b->count[read->key] &&
           memcmp(read->list, b->order[read->key], (size_t)read->count * sizeof *read->list) == 0;
}

/* The longest read of each key; false when some read is no prefix of it, shows an element twice, or shows an element
 * without its writer's earlier ones. */
static bool find_orders(struct brute *b)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < b->history->txn_count; t++) {
            const struct small_txn *txn = &b->history->txns[t];
            for (int i = 0; i < txn->op_count && is_committed(b, t); i++) {
                const struct small_op *read = &txn->ops[i];
                if (read->append || !read->known)
                    continue;
                if (pass == 1 && !is_prefix(b, read))
                    return false;
                if (pass == 0 && read->count > b->count[read->key]) {
                    b->count[read->key] = read->count;
                    memcpy(b->order[read->key], read->list, sizeof read->list);
                }
            }
        }
    }
    return true;
}

/* The index of `value` in its key's order. */
static int place_of(const struct brute *b, int key, int value)
{
    for (int place = 0; place < b->count[key]; place++) {
        if (b->order[key][place] == value)
            return place;
    }
    return UNREAD;
}

/* No element twice, and none without its writer's earlier appends to the key in front of it. */
static bool orders_are_whole(const struct brute *b)
{
    for (int key = 0; key < SMALL_KEYS; key++) {
        for (int place = 0; place < b->count[key]; place++) {
            int value = b->order[key][place], op;
            int writer = small_writer(b->history, key, value, &op);
            if (place_of(b, key, value) != place)
                return false;
            for (int i = 0; i < op && is_committed(b, writer); i++) {
                const struct small_op *earlier = &b->history->txns[writer].ops[i];
                if (earlier->append && earlier->key == key && place_of(b, key, earlier->value) > place)
                    return false;
            }
        }
    }
    return true;
}

static void join(struct brute *b, enum kind kind, int from, int to)
{
    if (from != to && is_committed(b, from) && is_committed(b, to))
        b->edge[kind][from][to] = true;
}

/* Whether `txn` wrote a version of the key with an index in [from, to). */
static bool wrote_between(const struct brute *b, int txn, int key, int from, int to)
{
    for (int place = from; place < to && place < b->count[key]; place++) {
        if (writer_of(b, key, b->order[key][place]) == txn)
            return true;
    }
    return false;
}

/* From all that a committed transaction wrote or read to the append `op` of `to`. */
static void join_append(struct brute *b, int to, const struct small_op *op)
{
    int place = place_of(b, op->key, op->value);
    for (int p = 0; p < b->count[op->key] && p < place; p++)
        join(b, WW, writer_of(b, op->key, b->order[op->key][p]), to);
    for (int from = 0; from < b->history->txn_count; from++) {
        const struct small_txn *reader = &b->history->txns[from];
        for (int i = 0; i < reader->op_count; i++) {
            const struct small_op *read = &reader->ops[i];
            if (!read->append && read->known && read->key == op->key && read->count <= place &&
                !wrote_between(b, from, op->key, read->count, place))
                join(b, RW, from, to);
        }
    }
}

static void join_operations(struct brute *b)
{
    for (int t = 0; t < b->history->txn_count; t++) {
        const struct small_txn *txn = &b->history->txns[t];
        for (int i = 0; i < txn->op_count && is_committed(b, t); i++) {
            const struct small_op *op = &txn->ops[i];
            if (op->append)
                join_append(b, t, op);
            for (int e = 0; e < op->count && op->known && !op->append; e++)
                join(b, WR, writer_of(b, op->key, op->list[e]), t);
        }
    }
}

static void join_orders(struct brute *b)
{
    uint64_t before[SMALL_TXNS];
    for (int process = 0; process < 2; process++) {
        oracle_order_before(b->history, process ? ORACLE_SESSION : ORACLE_REALTIME, before);
        for (int from = 0; from < b->history->txn_count; from++) {
            for (int to = 0; to < b->history->txn_count; to++) {
                if ((before[from] >> to & 1) != 0)
                    join(b, process ? PROCESS : REALTIME, from, to);
            }
        }
    }
}

static void name_cycle(struct brute *b, int length)
{
    int count[KINDS] = {0};
    bool adjacent = false, acknowledged = true;
    for (int i = 0; i < length; i++) {
        count[b->step[i]]++;
        adjacent |= b->step[i] == RW && b->step[(i + 1) % length] == RW;
        acknowledged &= b->history->txns[b->path[i]].outcome == SMALL_OK;
    }
    if (count[REALTIME] > 1 || count[PROCESS] + count[REALTIME] == length)
        return;
    enum rig_along order = count[REALTIME] > 0  ? RIG_ALONG_REALTIME
                           : count[PROCESS] > 0 ? RIG_ALONG_PROCESS
                                                : RIG_ALONG_PLAIN;
    enum rig_shape shape = count[RW] == 0   ? (count[WR] > 0 || !acknowledged ? RIG_SHAPE_G1C : RIG_SHAPE_G0)
                           : count[RW] == 1 ? RIG_SHAPE_SINGLE
                           : adjacent       ? RIG_SHAPE_G2
                                            : RIG_SHAPE_NONADJACENT;
    int *shortest = &b->found->shortest[rig_anomaly_of_cycle(shape, order)];
    if (*shortest == 0 || length < *shortest)
        *shortest = length;
}

/* All cycles in which the first of the path is the lowest transaction. */
static void extend(struct brute *b, int length)
{
    int last = b->path[length - 1];
    for (enum kind kind = WW; kind < KINDS; kind++) {
        b->step[length - 1] = kind;
        if (length > 1 && b->edge[kind][last][b->path[0]])
            name_cycle(b, length);
        for (int next = b->path[0] + 1; next < b->history->txn_count; next++) {
            if (!b->edge[kind][last][next] || (b->on_path >> next & 1) != 0)
                continue;
            b->path[length] = next;
            b->on_path |= UINT64_C(1) << next;
            b->step[length - 1] = kind;
            extend(b, length + 1);
            b->on_path &= ~(UINT64_C(1) << next);
        }
    }
}

void brute_cycles(const struct small_history *history, struct brute_cycles *found)
{
    static struct brute b;
    b = (struct brute){.history = history, .found = found};
    *found = (struct brute_cycles){0};
    b.committed = oracle_outcome_mask(history, SMALL_OK) | oracle_observed_infos(history);
    found->contradiction = !find_orders(&b) || !orders_are_whole(&b);
    if (found->contradiction)
        return;
    join_operations(&b);
    join_orders(&b);
    for (int first = 0; first < history->txn_count; first++) {
        b.path[0] = first;
        b.on_path = UINT64_C(1) << first;
        extend(&b, 1);
    }
}
