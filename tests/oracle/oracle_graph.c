#include <string.h>

#include "tests/oracle/oracle.h"

/* One choice of committed transactions, and the version orders as far as they are chosen. */
struct choice {
    const struct small_history *history;
    struct oracle_level level;
    unsigned shortcuts;
    uint64_t included;
    uint64_t before[SMALL_TXNS];
    int count[SMALL_KEYS]; /* appends to the key that are in its order */
    int value[SMALL_KEYS][SMALL_TXNS * SMALL_OPS];
    int writer[SMALL_KEYS][SMALL_TXNS * SMALL_OPS];
    int op[SMALL_KEYS][SMALL_TXNS * SMALL_OPS];
    int shown[SMALL_KEYS]; /* the longest known read of the included transactions */
};

/* Bit b of edges[a]: an edge from a to b. */
struct edges {
    int txn_count;
    uint64_t from[SMALL_TXNS];
};

static bool has_cycle(struct edges edges)
{
    for (int via = 0; via < edges.txn_count; via++) {
        for (int a = 0; a < edges.txn_count; a++) {
            if ((edges.from[a] >> via & 1) != 0)
                edges.from[a] |= edges.from[via];
        }
    }
    for (int a = 0; a < edges.txn_count; a++) {
        if ((edges.from[a] >> a & 1) != 0)
            return true;
    }
    return false;
}

static void add_edge(struct edges *edges, int from, int to)
{
    if (from != to)
        edges->from[from] |= UINT64_C(1) << to;
}

static bool included(const struct choice *choice, int t)
{
    return (choice->included >> t & 1) != 0;
}

uint64_t oracle_observed_infos(const struct small_history *history)
{
    uint64_t infos = oracle_outcome_mask(history, SMALL_INFO);
    uint64_t committed = oracle_outcome_mask(history, SMALL_OK);
    uint64_t before;
    do {
        before = committed;
        for (int t = 0; t < history->txn_count; t++) {
            const struct small_txn *txn = &history->txns[t];
            for (int i = 0; i < txn->op_count && (committed >> t & 1) != 0; i++) {
                for (int e = 0; e < txn->ops[i].count && txn->ops[i].known; e++) {
                    int op;
                    int writer = small_writer(history, txn->ops[i].key, txn->ops[i].list[e], &op);
                    if (writer >= 0 && (infos >> writer & 1) != 0)
                        committed |= UINT64_C(1) << writer;
                }
            }
        }
    } while (committed != before);
    return committed & infos;
}

/* ww: from the writer of each append to the writer of the next. */
static void add_writes(const struct choice *choice, struct edges *edges)
{
    for (int key = 0; key < SMALL_KEYS; key++) {
        for (int p = 1; p < choice->count[key]; p++) {
            int previous = p - 1;
            if ((choice->shortcuts & ORACLE_UNOBSERVED_UNORDERED) != 0 && p > choice->shown[key])
                previous = choice->shown[key] - 1;
            if (previous >= 0)
                add_edge(edges, choice->writer[key][previous], choice->writer[key][p]);
        }
    }
}

/* rw: from the reader of the first `count` elements to the writer of the next append. */
static void add_overwrites(const struct choice *choice, int reader, int key, int count, struct edges *edges)
{
    bool unordered = (choice->shortcuts & ORACLE_UNOBSERVED_UNORDERED) != 0 && count == choice->shown[key];
    for (int p = count; p < choice->count[key]; p++) {
        add_edge(edges, reader, choice->writer[key][p]);
        if (!unordered)
            return;
    }
}

/*
 * Judges one known read against the version order of its key, and adds its edges. PL-2 requires the version of a
 * committed transaction's last append, or one of the reader's own that was appended before. The stronger levels require
 * that the transaction sees all of its own appends, and no change by others (CBG15's INT).
 */
static bool judge_read(const struct choice *choice, int t, int i, struct edges *wr, struct edges *rw)
{
    const struct small_txn *txn = &choice->history->txns[t];
    const struct small_op *read = &txn->ops[i];
    int own = small_appends_before(txn, read->key, i);
    int last = read->count == 0 ? -1 : choice->writer[read->key][read->count - 1];
    if (last >= 0) {
        const struct small_txn *writer = &choice->history->txns[last];
        int op = choice->op[read->key][read->count - 1];
        int later =
            small_appends_before(writer, read->key, writer->op_count) - small_appends_before(writer, read->key, op + 1);
        if (last == t ? op > i : later > 0)
            return false;
        add_edge(wr, last, t);
    }
    if (choice->level.base == ORACLE_READ_COMMITTED)
        return true;
    if (own > 0)
        return last == t && small_appends_before(txn, read->key, choice->op[read->key][read->count - 1] + 1) == own;
    for (int earlier = 0; earlier < i; earlier++) {
        const struct small_op *other = &txn->ops[earlier];
        if (!other->append && other->known && other->key == read->key && other->count != read->count)
            return false;
    }
    add_overwrites(choice, t, read->key, read->count, rw);
    return true;
}

/* Whether a path leads from `a` to `b` without two adjacent rw. */
static bool leads_to(const struct edges *depends, const struct edges *rw, int a, int b)
{
    uint64_t by_dependency = UINT64_C(1) << a; /* reached by a path that may go on with rw */
    uint64_t by_any = by_dependency;
    for (int round = 0; round < 2 * depends->txn_count; round++) {
        uint64_t next = by_dependency;
        for (int t = 0; t < depends->txn_count; t++) {
            next |= (by_any >> t & 1) != 0 ? depends->from[t] : 0;
            by_any |= (by_dependency >> t & 1) != 0 ? rw->from[t] : 0;
        }
        by_dependency = next;
        by_any |= next;
    }
    return (by_any >> b & 1) != 0;
}

/* ORACLE_UNOBSERVED_FORCED: adds the orders that snapshot isolation forces, until there are no more. */
static void force_orders(const struct choice *choice, struct edges *depends, const struct edges *rw)
{
    for (bool added = true; added;) {
        added = false;
        for (int key = 0; key < SMALL_KEYS; key++) {
            for (int p = choice->shown[key]; p < choice->count[key]; p++) {
                for (int q = choice->shown[key]; q < choice->count[key]; q++) {
                    int a = choice->writer[key][p];
                    int b = choice->writer[key][q];
                    if (a == b || (depends->from[a] >> b & 1) != 0 || !leads_to(depends, rw, a, b))
                        continue;
                    add_edge(depends, a, b);
                    added = true;
                }
            }
        }
    }
}

static bool orders_are_allowed(const struct choice *choice)
{
    struct edges depends = {.txn_count = choice->history->txn_count};
    struct edges wr = depends;
    struct edges rw = depends;
    add_writes(choice, &depends);
    for (int t = 0; t < choice->history->txn_count; t++) {
        const struct small_txn *txn = &choice->history->txns[t];
        for (int i = 0; i < txn->op_count && included(choice, t); i++) {
            bool judged = !txn->ops[i].append && txn->ops[i].known && choice->level.base != ORACLE_READ_UNCOMMITTED;
            if (judged && !judge_read(choice, t, i, &wr, &rw))
                return false;
        }
    }
    for (int t = 0; t < depends.txn_count; t++)
        depends.from[t] |= wr.from[t] | (included(choice, t) ? choice->before[t] & choice->included : 0);

    if ((choice->shortcuts & ORACLE_UNOBSERVED_FORCED) != 0 && choice->level.base == ORACLE_SNAPSHOT_ISOLATION)
        force_orders(choice, &depends, &rw);
    struct edges all = depends;
    for (int t = 0; t < depends.txn_count; t++) {
        if (choice->level.base == ORACLE_SERIALIZABLE)
            all.from[t] |= rw.from[t];
        for (int via = 0; via < depends.txn_count && choice->level.base == ORACLE_SNAPSHOT_ISOLATION; via++) {
            if ((depends.from[t] >> via & 1) != 0)
                all.from[t] |= rw.from[via];
        }
    }
    return !has_cycle(all);
}

/*
 * The element at `position` of a read's list, or -1 behind its end. At read uncommitted the elements of transactions
 * that did not commit are omitted.
 */
static int shown_at(const struct choice *choice, const struct small_op *read, int position)
{
    for (int e = 0; e < read->count && !read->append && read->known; e++) {
        int op;
        int writer = small_writer(choice->history, read->key, read->list[e], &op);
        bool dirty = writer < 0 || !included(choice, writer);
        if (dirty && choice->level.base == ORACLE_READ_UNCOMMITTED)
            continue;
        if (position-- == 0)
            return read->list[e];
    }
    return -1;
}

/* Whether every known read that reaches position `position` of the key's order shows `value` there. */
static bool reads_agree(const struct choice *choice, int key, int position, int value)
{
    for (int t = 0; t < choice->history->txn_count; t++) {
        const struct small_txn *txn = &choice->history->txns[t];
        for (int i = 0; i < txn->op_count && included(choice, t); i++) {
            int shown = txn->ops[i].key == key ? shown_at(choice, &txn->ops[i], position) : -1;
            if (shown != -1 && shown != value)
                return false;
        }
    }
    return true;
}

/*
 * Whether operation `i` of transaction `t` may be the next append in the key's order: not in it already, behind the
 * transaction's own earlier ones, and not between two appends of another transaction (that would be G0).
 */
static bool fits_order(const struct choice *choice, int key, int t, int i)
{
    const struct small_txn *txn = &choice->history->txns[t];
    if (!txn->ops[i].append || txn->ops[i].key != key)
        return false;
    int placed = 0;
    for (int p = 0; p < choice->count[key]; p++)
        placed += choice->writer[key][p] == t;
    if (placed != small_appends_before(txn, key, i))
        return false;
    if (choice->count[key] > 0) {
        int last = choice->count[key] - 1;
        int writer = choice->writer[key][last];
        const struct small_txn *previous = &choice->history->txns[writer];
        bool finished = small_appends_before(previous, key, choice->op[key][last] + 1) ==
                        small_appends_before(previous, key, previous->op_count);
        if (writer != t && !finished)
            return false;
    }
    return reads_agree(choice, key, choice->count[key], txn->ops[i].value);
}

static bool choose_orders(struct choice *choice, int key)
{
    struct edges ww = {.txn_count = choice->history->txn_count};
    add_writes(choice, &ww);
    if (has_cycle(ww))
        return false;
    if (key == SMALL_KEYS)
        return orders_are_allowed(choice);
    int appends = 0;
    for (int t = 0; t < choice->history->txn_count; t++) {
        const struct small_txn *txn = &choice->history->txns[t];
        if (included(choice, t))
            appends += small_appends_before(txn, key, txn->op_count);
    }
    if (choice->count[key] == appends)
        return choice->shown[key] <= appends && choose_orders(choice, key + 1);

    for (int t = 0; t < choice->history->txn_count; t++) {
        const struct small_txn *txn = &choice->history->txns[t];
        for (int i = 0; i < txn->op_count && included(choice, t); i++) {
            if (!fits_order(choice, key, t, i))
                continue;
            int p = choice->count[key]++;
            choice->value[key][p] = txn->ops[i].value;
            choice->writer[key][p] = t;
            choice->op[key][p] = i;
            bool found = choose_orders(choice, key);
            choice->count[key]--;
            /* any order of appends that no read shows is equivalent when it makes no edges */
            if (found || (choice->shortcuts & ORACLE_UNOBSERVED_UNORDERED) != 0)
                return found;
        }
    }
    return false;
}

/* An element twice in a read, or one that no transaction appended: no list is built like that. */
static bool shows_the_impossible(const struct choice *choice)
{
    for (int t = 0; t < choice->history->txn_count; t++) {
        for (int i = 0; i < choice->history->txns[t].op_count && included(choice, t); i++) {
            const struct small_op *read = &choice->history->txns[t].ops[i];
            for (int e = 0; e < read->count && !read->append && read->known; e++) {
                int op;
                if (small_writer(choice->history, read->key, read->list[e], &op) < 0)
                    return true;
                for (int f = 0; f < e; f++) {
                    if (read->list[e] == read->list[f])
                        return true;
                }
            }
        }
    }
    return false;
}

static bool explained_with(struct choice *choice, uint64_t committed)
{
    choice->included = committed;
    memset(choice->count, 0, sizeof choice->count);
    memset(choice->shown, 0, sizeof choice->shown);
    for (int t = 0; t < choice->history->txn_count; t++) {
        const struct small_txn *txn = &choice->history->txns[t];
        for (int i = 0; i < txn->op_count && included(choice, t); i++) {
            int *shown = &choice->shown[txn->ops[i].key];
            while (shown_at(choice, &txn->ops[i], *shown) != -1)
                (*shown)++;
        }
    }
    return !shows_the_impossible(choice) && choose_orders(choice, 0);
}

bool oracle_explains(const struct small_history *history, struct oracle_level level, unsigned shortcuts)
{
    struct choice choice = {.history = history, .level = level, .shortcuts = shortcuts};
    oracle_order_before(history, level.order, choice.before);
    uint64_t certain = oracle_outcome_mask(history, SMALL_OK);
    uint64_t infos = oracle_outcome_mask(history, SMALL_INFO);
    if ((shortcuts & ORACLE_OBSERVED_INFOS) != 0)
        return explained_with(&choice, certain | oracle_observed_infos(history));
    for (uint64_t chosen = infos;; chosen = (chosen - 1) & infos) {
        if (explained_with(&choice, certain | chosen))
            return true;
        if (chosen == 0)
            return false;
    }
}
