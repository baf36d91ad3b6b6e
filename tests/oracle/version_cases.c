#include "tests/oracle/version_cases.h"

#include <string.h>

#include "base/bug.h"

enum { NOTHING = -1, READS = CASES_TXNS * SMALL_OPS };

struct question {
    const struct small_history *history;
    struct case_facts facts;
    /* of one level */
    enum execution_kind kind;
    uint32_t order[CASES_TXNS]; /* per transaction: those after it in the process or in real time */
    uint32_t looks, splits;
};

/* The transactions that come after each one: closed. */
struct known {
    int count; /* of transactions */
    uint32_t after[CASES_TXNS];
};

/* The edges of a known order: bit b of x[a] is a -> b. */
struct edges {
    int count; /* of transactions */
    uint32_t ww[CASES_TXNS], wr[CASES_TXNS], rw[CASES_TXNS];
};

static bool in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static uint32_t bit(int txn)
{
    return UINT32_C(1) << txn;
}

/* ---- reading the history ---- */

static bool is_write(const struct small_txn *txn, int op, int key)
{
    return txn->ops[op].append && txn->ops[op].key == key;
}

static int writer_of(const struct question *q, int key, int value)
{
    int op;
    return small_writer(q->history, key, value, &op);
}

/* Also those that a read of a committed transaction shows. */
static void find_committed(struct question *q)
{
    const struct small_history *history = q->history;
    uint32_t before;
    for (int t = 0; t < history->txn_count; t++)
        q->facts.committed |= history->txns[t].outcome == SMALL_OK ? bit(t) : 0;
    do {
        before = q->facts.committed;
        for (int t = 0; t < history->txn_count; t++) {
            const struct small_txn *txn = &history->txns[t];
            for (int i = 0; i < txn->op_count && in(q->facts.committed, t); i++) {
                for (int e = 0; !txn->ops[i].append && txn->ops[i].known && e < txn->ops[i].count; e++) {
                    int writer = writer_of(q, txn->ops[i].key, txn->ops[i].list[e]);
                    if (writer >= 0 && history->txns[writer].outcome == SMALL_INFO)
                        q->facts.committed |= bit(writer);
                }
            }
        }
    } while (q->facts.committed != before);
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count && in(q->facts.committed, t); i++)
            q->facts.writers[history->txns[t].ops[i].key] |= history->txns[t].ops[i].append ? bit(t) : 0;
    }
}

/* The writer of the last element that is not the reader's own, or NOTHING. */
static int version_read(const struct question *q, int t, const struct small_op *read, int *op)
{
    for (int e = read->count; e-- > 0;) {
        int writer = small_writer(q->history, read->key, read->list[e], op);
        if (writer != t)
            return writer;
    }
    return NOTHING;
}

/* The reader's own values were written before the read, and the last one of others is its writer's last one. */
static bool is_final(const struct question *q, int t, int i)
{
    const struct small_op *read = &q->history->txns[t].ops[i];
    int op, writer;
    for (int e = 0; e < read->count; e++) {
        if (small_writer(q->history, read->key, read->list[e], &op) == t && op > i)
            return false;
    }
    writer = version_read(q, t, read, &op);
    for (int later = op + 1; writer != NOTHING && later < q->history->txns[writer].op_count; later++) {
        if (is_write(&q->history->txns[writer], later, read->key))
            return false;
    }
    return true;
}

static bool is_possible(const struct question *q, int t, int i)
{
    const struct small_op *read = &q->history->txns[t].ops[i];
    for (int e = 0; e < read->count; e++) {
        int writer = writer_of(q, read->key, read->list[e]);
        if (writer < 0 || !in(q->facts.committed, writer))
            return false;
        for (int f = 0; f < e; f++) {
            if (read->list[f] == read->list[e])
                return false;
        }
    }
    return read->count == 0 || is_final(q, t, i);
}

/* Whether the read ends with the writes of its transaction so far (a register: with the last one); *base: the number of
 * elements before them. */
static bool shows_own(const struct question *q, int t, int i, int *base)
{
    const struct small_txn *txn = &q->history->txns[t];
    const struct small_op *read = &txn->ops[i];
    bool wrote = false;
    *base = read->count;
    for (int w = i; w-- > 0;) {
        if (!is_write(txn, w, read->key) || (q->history->registers && wrote))
            continue;
        wrote = true;
        if (*base == 0 || read->list[*base - 1] != txn->ops[w].value)
            return false;
        --*base;
    }
    for (int e = 0; e < *base; e++) {
        if (writer_of(q, read->key, read->list[e]) == t)
            return false;
    }
    return true;
}

static bool agrees_with_earlier(const struct question *q, int t, int i)
{
    const struct small_txn *txn = &q->history->txns[t];
    int base, earlier_base;
    if (!shows_own(q, t, i, &base))
        return false;
    const bool hidden = q->history->registers && base < txn->ops[i].count; /* its own write hides what was there */
    for (int j = 0; j < i && !hidden; j++) {
        const struct small_op *earlier = &txn->ops[j];
        if (earlier->append || !earlier->known || earlier->key != txn->ops[i].key)
            continue;
        if (!shows_own(q, t, j, &earlier_base) || earlier_base != base ||
            memcmp(earlier->list, txn->ops[i].list, (size_t)base * sizeof earlier->list[0]) != 0)
            return false;
    }
    return true;
}

static void take_read(struct question *q, int t, int i)
{
    const struct small_op *read = &q->history->txns[t].ops[i];
    q->facts.possible = q->facts.possible && is_possible(q, t, i);
    q->facts.inner = q->facts.inner && agrees_with_earlier(q, t, i);
    if (!q->facts.possible)
        return;
    int op, writer = version_read(q, t, read, &op);
    if (writer != NOTHING || read->count == 0)
        q->facts.reads[q->facts.read_count++] = (struct case_read){t, i, read->key, writer};
    if (writer != NOTHING)
        q->facts.first[t] |= bit(writer);
}

/* ---- lists ---- */

static bool is_prefix(const struct small_op *a, const struct small_op *b)
{
    return a->count <= b->count && memcmp(a->list, b->list, (size_t)a->count * sizeof a->list[0]) == 0;
}

/* The longest committed read of the key, of which all others are a prefix; else `possible` is lost. */
static const struct small_op *longest_read(struct question *q, int key)
{
    const struct small_op *longest = NULL;
    for (int t = 0; t < q->history->txn_count; t++) {
        for (int i = 0; i < q->history->txns[t].op_count && in(q->facts.committed, t); i++) {
            const struct small_op *read = &q->history->txns[t].ops[i];
            if (read->append || !read->known || read->key != key)
                continue;
            if (longest != NULL && !is_prefix(longest, read) && !is_prefix(read, longest))
                q->facts.possible = false;
            if (longest == NULL || read->count > longest->count)
                longest = read;
        }
    }
    return longest;
}

/* The order of the writers in a list. Each transaction's appends are together, in their order and complete; only
 * the last transaction's may lack some. */
static void take_list(struct question *q, int key, const struct small_op *list)
{
    uint32_t shown = 0;
    for (int e = 0; e < list->count && q->facts.possible;) {
        int writer = writer_of(q, key, list->list[e]);
        const struct small_txn *txn = &q->history->txns[writer];
        q->facts.possible = !in(shown, writer);
        q->facts.first[writer] |= shown;
        shown |= bit(writer);
        for (int w = 0; w < txn->op_count && q->facts.possible && e < list->count; w++) {
            if (is_write(txn, w, key))
                q->facts.possible = txn->ops[w].value == list->list[e++];
        }
    }
    for (int t = 0; t < q->history->txn_count; t++)
        q->facts.first[t] |= in(q->facts.writers[key] & ~shown, t) ? shown : 0;
}

static void take_history(struct question *q)
{
    find_committed(q);
    q->facts.possible = q->facts.inner = true;
    for (int t = 0; t < q->history->txn_count; t++) {
        for (int i = 0; i < q->history->txns[t].op_count && in(q->facts.committed, t); i++) {
            if (!q->history->txns[t].ops[i].append && q->history->txns[t].ops[i].known)
                take_read(q, t, i);
        }
    }
    for (int key = 0; key < SMALL_KEYS && q->facts.possible && !q->history->registers; key++) {
        const struct small_op *list = longest_read(q, key);
        if (list != NULL && q->facts.possible)
            take_list(q, key, list);
    }
}

/* ---- edges and cycles ---- */

static void find_edges(const struct question *q, const struct known *known, struct edges *edges)
{
    memset(edges, 0, sizeof *edges);
    edges->count = known->count;
    for (int key = 0; key < SMALL_KEYS; key++) {
        for (int a = 0; a < known->count; a++)
            edges->ww[a] |= in(q->facts.writers[key], a) ? known->after[a] & q->facts.writers[key] : 0;
    }
    for (int a = 0; a < known->count; a++)
        edges->wr[a] |= q->order[a];
    for (int r = 0; r < q->facts.read_count; r++) {
        const struct case_read *read = &q->facts.reads[r];
        if (read->writer != NOTHING)
            edges->wr[read->writer] |= bit(read->txn);
        const uint32_t later = read->writer == NOTHING ? ~UINT32_C(0) : known->after[read->writer];
        edges->rw[read->txn] |= later & q->facts.writers[read->key] & ~bit(read->txn);
    }
}

static void close_paths(uint32_t *to, int count)
{
    for (int via = 0; via < count; via++) {
        for (int a = 0; a < count; a++)
            to[a] |= in(to[a], via) ? to[via] : 0;
    }
}

static bool has_cycle(uint32_t *to, int count)
{
    close_paths(to, count);
    for (int a = 0; a < count; a++) {
        if (in(to[a], a))
            return true;
    }
    return false;
}

/* A path over `to` from the writer at the end of an rw edge back to its start. */
static bool leads_back(const struct edges *edges, const uint32_t *to)
{
    for (int a = 0; a < edges->count; a++) {
        for (int b = 0; b < edges->count; b++) {
            if (in(edges->rw[a], b) && in(to[b], a))
                return true;
        }
    }
    return false;
}

/* With the rw edges out of these transactions alone. */
static bool breaks_serializable(const struct edges *edges, uint32_t of)
{
    uint32_t to[CASES_TXNS];
    for (int a = 0; a < edges->count; a++)
        to[a] = edges->ww[a] | edges->wr[a] | (in(of, a) ? edges->rw[a] : 0);
    return has_cycle(to, edges->count);
}

static bool breaks_updates(const struct question *q, const struct edges *edges)
{
    uint32_t updates = 0;
    for (int key = 0; key < SMALL_KEYS; key++)
        updates |= q->facts.writers[key];
    for (int t = 0; t < edges->count; t++) {
        if (breaks_serializable(edges, updates | bit(t)))
            return true;
    }
    return false;
}

/* Node a: the start of transaction a; node CASES_TXNS + a: its commit. */
static bool breaks_snapshots(const struct edges *edges, bool conflicts)
{
    uint64_t to[2 * CASES_TXNS] = {0};
    for (int a = 0; a < edges->count; a++) {
        const uint32_t starts = edges->wr[a] | (conflicts ? edges->ww[a] : 0);
        to[a] = (uint64_t)(edges->rw[a] | bit(a)) << CASES_TXNS;
        to[CASES_TXNS + a] = starts | (uint64_t)edges->ww[a] << CASES_TXNS;
    }
    for (int via = 0; via < 2 * CASES_TXNS; via++) {
        for (int a = 0; a < 2 * CASES_TXNS && to[via] != 0; a++)
            to[a] |= (to[a] >> via & 1) != 0 ? to[via] : 0;
    }
    for (int a = 0; a < 2 * CASES_TXNS; a++) {
        if ((to[a] >> a & 1) != 0)
            return true;
    }
    return false;
}

static bool breaks_causal(const struct edges *edges)
{
    uint32_t to[CASES_TXNS];
    memcpy(to, edges->wr, sizeof to);
    close_paths(to, edges->count);
    return leads_back(edges, to);
}

static void find_dependencies(const struct edges *edges, uint32_t to[CASES_TXNS])
{
    for (int a = 0; a < edges->count; a++)
        to[a] = edges->ww[a] | edges->wr[a];
}

static bool breaks_consistent(const struct edges *edges)
{
    uint32_t to[CASES_TXNS];
    find_dependencies(edges, to);
    close_paths(to, edges->count);
    return leads_back(edges, to);
}

static bool breaks_update_atomic(const struct edges *edges)
{
    uint32_t to[CASES_TXNS];
    find_dependencies(edges, to);
    return leads_back(edges, to);
}

static bool breaks_cursor(const struct question *q, const struct known *known)
{
    for (int r = 0; r < q->facts.read_count; r++) {
        const struct case_read *read = &q->facts.reads[r];
        const uint32_t writers = q->facts.writers[read->key];
        for (int b = 0; b < known->count && in(writers, read->txn); b++) {
            const bool later = read->writer == NOTHING || in(known->after[read->writer], b);
            if (in(writers, b) && b != read->txn && later && in(known->after[b], read->txn))
                return true;
        }
    }
    return false;
}

/* The transactions with an edge into an operation of `txn` before `op`: wr and, with `writes`, ww; and those that the
 * order puts before it. */
static uint32_t met_before(const struct question *q, const struct edges *edges, int txn, int op, bool writes)
{
    uint32_t met = 0;
    for (int a = 0; a < edges->count; a++)
        met |= in(q->order[a], txn) ? bit(a) : 0;
    for (int r = 0; r < q->facts.read_count; r++) {
        const struct case_read *read = &q->facts.reads[r];
        met |= read->txn == txn && read->op < op && read->writer != NOTHING ? bit(read->writer) : 0;
    }
    for (int i = 0; i < op && writes; i++) {
        const struct small_op *write = &q->history->txns[txn].ops[i];
        for (int a = 0; a < edges->count && write->append; a++)
            met |= in(q->facts.writers[write->key], a) && in(edges->ww[a], txn) ? bit(a) : 0;
    }
    return met;
}

/* The writers of later versions than the one read. */
static uint32_t missed_by(const struct question *q, const struct known *known, const struct case_read *read)
{
    const uint32_t later = read->writer == NOTHING ? ~UINT32_C(0) : known->after[read->writer];
    return later & q->facts.writers[read->key] & ~bit(read->txn);
}

/* MAV; with `writes`, PL-2L. */
static bool breaks_monotonic(const struct question *q, const struct known *known, const struct edges *edges,
                             bool writes)
{
    uint32_t to[CASES_TXNS];
    find_dependencies(edges, to);
    close_paths(to, edges->count);
    for (int r = 0; r < q->facts.read_count; r++) {
        const struct case_read *read = &q->facts.reads[r];
        const uint32_t missed = missed_by(q, known, read), met = met_before(q, edges, read->txn, read->op, writes);
        for (int b = 0; b < edges->count; b++) {
            if (in(missed, b) && (in(met, b) || (writes && (to[b] & met) != 0)))
                return true;
        }
    }
    return false;
}

/* PL-MSR: a node for each external read; b follows a when a path of ww, wr edges leads from a writer that `a` missed
 * into an operation before b, of b's transaction, or into b itself. */
static bool breaks_ascending(const struct question *q, const struct known *known, const struct edges *edges)
{
    uint32_t to[CASES_TXNS], arrives[READS];
    bool reach[READS][READS];
    find_dependencies(edges, to);
    close_paths(to, edges->count);
    for (int r = 0; r < q->facts.read_count; r++) {
        const struct case_read *read = &q->facts.reads[r];
        arrives[r] =
            met_before(q, edges, read->txn, read->op, true) | (read->writer != NOTHING ? bit(read->writer) : 0);
    }
    for (int a = 0; a < q->facts.read_count; a++) {
        const uint32_t missed = missed_by(q, known, &q->facts.reads[a]);
        uint32_t from = missed;
        for (int b = 0; b < edges->count; b++)
            from |= in(missed, b) ? to[b] : 0;
        for (int b = 0; b < q->facts.read_count; b++)
            reach[a][b] = (from & arrives[b]) != 0;
    }
    for (int via = 0; via < q->facts.read_count; via++) {
        for (int a = 0; a < q->facts.read_count; a++) {
            for (int b = 0; b < q->facts.read_count && reach[a][via]; b++)
                reach[a][b] |= reach[via][b];
        }
    }
    for (int a = 0; a < q->facts.read_count; a++) {
        if (reach[a][a])
            return true;
    }
    return false;
}

static bool is_broken(const struct question *q, const struct known *known)
{
    struct edges edges;
    uint32_t to[CASES_TXNS];
    find_edges(q, known, &edges);
    find_dependencies(&edges, to);
    if (has_cycle(to, edges.count))
        return true;
    switch (q->kind) {
    case EXECUTION_CS:
        return breaks_cursor(q, known);
    case EXECUTION_ML:
        return breaks_monotonic(q, known, &edges, true);
    case EXECUTION_MAV:
        return breaks_monotonic(q, known, &edges, false);
    case EXECUTION_MSR:
        return breaks_ascending(q, known, &edges);
    case EXECUTION_CV:
    case EXECUTION_PSI:
        return breaks_consistent(&edges);
    case EXECUTION_RA:
        return leads_back(&edges, edges.wr);
    case EXECUTION_CC:
        return breaks_causal(&edges);
    case EXECUTION_UA:
        return breaks_update_atomic(&edges);
    case EXECUTION_PREFIX:
        return breaks_snapshots(&edges, false);
    case EXECUTION_SI:
        return breaks_snapshots(&edges, true);
    case EXECUTION_PL3U:
        return breaks_updates(q, &edges);
    case EXECUTION_RR:
    case EXECUTION_SER:
        return breaks_serializable(&edges, ~UINT32_C(0));
    case EXECUTION_RU:
    case EXECUTION_RC:
    case EXECUTION_KINDS:
        break;
    }
    return false;
}

/* ---- cases ---- */

/* False when it contradicts what is known. */
static bool add_pair(struct known *known, int before, int after)
{
    if (before == after || in(known->after[after], before))
        return false;
    const uint32_t added = bit(after) | known->after[after];
    for (int a = 0; a < known->count; a++)
        known->after[a] |= a == before || in(known->after[a], before) ? added : 0;
    return true;
}

static bool is_open(const struct question *q, const struct known *known, int a, int b)
{
    bool share = false;
    for (int key = 0; key < SMALL_KEYS; key++)
        share |= in(q->facts.writers[key], a) && in(q->facts.writers[key], b);
    return share && !in(known->after[a], b) && !in(known->after[b], a);
}

static bool is_allowed(struct question *q, const struct known *known, int before, int after)
{
    struct known trial = *known;
    q->looks++;
    return add_pair(&trial, before, after) && !is_broken(q, &trial);
}

/* Adds the pairs of which only one order is left; false when one has none. */
static bool add_forced(struct question *q, struct known *known)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int a = 0; a < known->count; a++) {
            for (int b = 0; b < a; b++) {
                if (!is_open(q, known, a, b) || q->looks > CASES_MOST)
                    continue;
                const bool one = is_allowed(q, known, a, b), other = is_allowed(q, known, b, a);
                if (!one && !other)
                    return false;
                if (one != other)
                    changed = add_pair(known, one ? a : b, one ? b : a);
            }
        }
    }
    return true;
}

static enum case_answer try_cases(struct question *q, const struct known *before)
{
    struct known known = *before;
    if (!add_forced(q, &known))
        return CASES_NO;
    if (q->looks > CASES_MOST)
        return CASES_SPENT;
    for (int a = 0; a < q->history->txn_count; a++) {
        for (int b = 0; b < a; b++) {
            if (!is_open(q, &known, a, b))
                continue;
            struct known one = known, other = known;
            q->splits++;
            (void)add_pair(&one, b, a);
            (void)add_pair(&other, a, b);
            enum case_answer answer = try_cases(q, &one);
            return answer == CASES_NO ? try_cases(q, &other) : answer;
        }
    }
    return CASES_YES;
}

static enum case_answer decide(struct question *q)
{
    struct known known = {.count = q->history->txn_count};
    bool fits = q->facts.possible;
    for (int t = 0; t < q->history->txn_count && fits; t++) {
        for (int a = 0; a < q->history->txn_count && fits; a++) {
            fits = (!in(q->facts.first[t], a) || add_pair(&known, a, t)) &&
                   (!in(q->order[t], a) || add_pair(&known, t, a));
        }
    }
    return fits && !is_broken(q, &known) ? try_cases(q, &known) : CASES_NO;
}

static bool needs_int(enum execution_kind kind)
{
    return kind == EXECUTION_RA || kind == EXECUTION_CC || kind == EXECUTION_UA || kind == EXECUTION_PREFIX ||
           kind == EXECUTION_PSI || kind == EXECUTION_SI || kind == EXECUTION_RR || kind == EXECUTION_SER;
}

static void take_order(struct question *q, enum execution_order order)
{
    uint32_t before[SMALL_TXNS];
    executions_order(q->history, order, before);
    for (int t = 0; t < q->history->txn_count; t++)
        q->order[t] = in(q->facts.committed, t) ? before[t] & q->facts.committed : 0;
}

void version_cases_find(const struct small_history *history, struct case_answers *answers)
{
    struct question q = {.history = history};
    RIG_REQUIRE(history->txn_count <= CASES_TXNS);
    memset(answers, 0, sizeof *answers);
    take_history(&q);
    for (int order = 0; order < EXECUTION_ORDERS; order++) {
        take_order(&q, (enum execution_order)order);
        for (int kind = 0; kind < EXECUTION_KINDS; kind++) {
            q.kind = (enum execution_kind)kind;
            q.looks = q.splits = 0;
            if (kind != EXECUTION_RU && (q.facts.inner || !needs_int(q.kind)))
                answers->answer[kind][order] = decide(&q);
            answers->split[kind][order] = q.splits;
        }
    }
}

void version_cases_read(const struct small_history *history, struct case_facts *facts)
{
    struct question q = {.history = history};
    RIG_REQUIRE(history->txn_count <= CASES_TXNS);
    take_history(&q);
    *facts = q.facts;
}

bool version_cases_allow(const struct small_history *history, enum execution_kind kind, enum execution_order order,
                         const int place[CASES_TXNS])
{
    struct question q = {.history = history, .kind = kind};
    struct known known = {.count = history->txn_count};
    take_history(&q);
    take_order(&q, order);
    for (int a = 0; a < history->txn_count; a++) {
        for (int b = 0; b < history->txn_count; b++) {
            const bool both = in(q.facts.committed, a) && in(q.facts.committed, b);
            bool share = false;
            for (int key = 0; key < SMALL_KEYS; key++)
                share |= in(q.facts.writers[key], a) && in(q.facts.writers[key], b);
            known.after[a] |= both && share && place[a] < place[b] ? bit(b) : 0;
            if (share && in(q.facts.first[a], b) && place[a] < place[b])
                return false;
        }
    }
    return q.facts.possible && (q.facts.inner || !needs_int(kind)) && !is_broken(&q, &known);
}
