#include "tests/oracle/executions.h"

#include <string.h>

#include "base/bug.h"

enum { NOTHING = -1, LISTS = SMALL_TXNS * SMALL_OPS, KEY_OPS = EXECUTION_TXNS * SMALL_OPS };

/* A known read, as far as it can be judged without knowing which transactions committed. */
struct seen {
    int txn, op, key;
    const struct small_op *read;
    int writer;       /* of the version read; NOTHING: the initial state */
    uint32_t writers; /* of all elements that it shows */
    bool own;         /* the version is the reader's own */
    bool impossible;  /* shows something that no execution has */
    bool uncommitted; /* intermediate, or written only later: no read committed */
};

struct search {
    const struct small_history *history;
    unsigned assumptions;
    struct seen reads[SMALL_TXNS * SMALL_OPS];
    int read_count;
    bool inner[SMALL_TXNS]; /* per transaction: Int */
    uint32_t before[EXECUTION_ORDERS][SMALL_TXNS];
    uint32_t writes[SMALL_TXNS]; /* bits of keys */
    uint32_t infos, known;       /* known: ok, or shown by one that is known */
    uint32_t ghosts;             /* failed, but assumed operations of a key */
    bool silent[SMALL_KEYS];     /* reads of the key are no evidence at RU */
    /* of one set */
    uint32_t committed;
    bool all_committed_reads, all_inner; /* the conditions of RC and Int on each read by itself */
    /* of one order */
    int count, order[SMALL_TXNS], place[SMALL_TXNS];
    struct executions *found;
};

static bool in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static uint32_t bit(int txn)
{
    return UINT32_C(1) << txn;
}

/* ---- orders ---- */

void executions_order(const struct small_history *history, enum execution_order order, uint32_t before[SMALL_TXNS])
{
    memset(before, 0, SMALL_TXNS * sizeof before[0]);
    for (int a = 0; a < history->txn_count && order != EXECUTION_PLAIN; a++) {
        const struct small_txn *first = &history->txns[a];
        if (first->outcome != SMALL_OK)
            continue;
        for (int b = 0; b < history->txn_count; b++) {
            const struct small_txn *second = &history->txns[b];
            bool same = first->process == second->process;
            bool invoked = second->invoke_at != SMALL_NEVER;
            bool wanted = same || (order == EXECUTION_STRONG && invoked);
            int begin = invoked ? second->invoke_at : second->complete_at;
            if (a != b && wanted && first->complete_at < begin)
                before[a] |= bit(b);
        }
    }
}

/* ---- conditions on reads by themselves ---- */

static int writes_between(const struct small_txn *txn, int key, int from, int to)
{
    int count = 0;
    for (int i = from; i < to; i++)
        count += txn->ops[i].append && txn->ops[i].key == key;
    return count;
}

static int last_write(const struct small_txn *txn, int key, int before)
{
    int last = NOTHING;
    for (int i = 0; i < before; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key)
            last = i;
    }
    return last;
}

static bool find_writer(const struct small_history *history, int key, int value, int *txn, int *op)
{
    for (*txn = 0; *txn < history->txn_count; ++*txn) {
        const struct small_txn *candidate = &history->txns[*txn];
        for (*op = 0; *op < candidate->op_count; ++*op) {
            const struct small_op *write = &candidate->ops[*op];
            if (write->append && write->key == key && write->value == value)
                return true;
        }
    }
    return false;
}

static struct seen look_at(const struct small_history *history, int t, int i)
{
    const struct small_txn *txn = &history->txns[t];
    const struct small_op *read = &txn->ops[i];
    struct seen seen = {.txn = t, .op = i, .key = read->key, .read = read, .writer = NOTHING};
    int op = 0;
    for (int e = 0; e < read->count; e++) {
        int writer = 0;
        for (int f = 0; f < e; f++)
            seen.impossible |= read->list[e] == read->list[f];
        if (!find_writer(history, read->key, read->list[e], &writer, &op)) {
            seen.impossible = true;
            return seen;
        }
        seen.writers |= bit(writer);
        seen.writer = writer;
    }
    seen.own = seen.writer == t;
    if (seen.own)
        seen.uncommitted = op > i;
    else if (seen.writer != NOTHING)
        seen.uncommitted =
            writes_between(&history->txns[seen.writer], read->key, op + 1, history->txns[seen.writer].op_count) > 0;
    return seen;
}

/* The number of elements in front of the transaction's own writes to the key so far; NOTHING when the read does not end
 * with all of these writes. */
static int elements_before_own(const struct small_txn *txn, const struct small_op *read, int i)
{
    int own = writes_between(txn, read->key, 0, i), at = read->count;
    for (int w = i; w-- > 0 && own > 0;) {
        if (!txn->ops[w].append || txn->ops[w].key != read->key)
            continue;
        if (at == 0 || read->list[at - 1] != txn->ops[w].value)
            return NOTHING;
        at--;
        own--;
    }
    return at;
}

static bool list_is_inner(const struct small_txn *txn, int i)
{
    const struct small_op *read = &txn->ops[i];
    int others = elements_before_own(txn, read, i);
    if (others == NOTHING)
        return false;
    for (int e = 0; e < others; e++) {
        for (int w = 0; w < txn->op_count; w++) {
            if (txn->ops[w].append && txn->ops[w].key == read->key && txn->ops[w].value == read->list[e])
                return false;
        }
    }
    for (int j = 0; j < i; j++) {
        const struct small_op *earlier = &txn->ops[j];
        if (earlier->append || !earlier->known || earlier->key != read->key)
            continue;
        int before = elements_before_own(txn, earlier, j);
        if (before != others || memcmp(earlier->list, read->list, (size_t)others * sizeof read->list[0]) != 0)
            return false;
    }
    return true;
}

static bool register_is_inner(const struct small_txn *txn, int i)
{
    const struct small_op *read = &txn->ops[i];
    int written = last_write(txn, read->key, i);
    if (written != NOTHING)
        return read->count == 1 && read->list[0] == txn->ops[written].value;
    for (int j = 0; j < i; j++) {
        const struct small_op *earlier = &txn->ops[j];
        if (earlier->append || !earlier->known || earlier->key != read->key)
            continue;
        if (earlier->count != read->count || (read->count == 1 && earlier->list[0] != read->list[0]))
            return false;
    }
    return true;
}

static void look_at_all(struct search *s)
{
    for (int t = 0; t < s->history->txn_count; t++) {
        const struct small_txn *txn = &s->history->txns[t];
        s->inner[t] = true;
        for (int i = 0; i < txn->op_count; i++) {
            if (txn->ops[i].append)
                s->writes[t] |= bit(txn->ops[i].key);
            if (txn->ops[i].append || !txn->ops[i].known)
                continue;
            s->reads[s->read_count++] = look_at(s->history, t, i);
            s->inner[t] &= s->history->registers ? register_is_inner(txn, i) : list_is_inner(txn, i);
        }
    }
}

/* ---- one set of committed transactions ---- */

static bool is_prefix(const struct small_op *a, const struct small_op *b)
{
    return a->count <= b->count && memcmp(a->list, b->list, (size_t)a->count * sizeof a->list[0]) == 0;
}

/* Whether a read shows an append of a known transaction without one of its earlier appends to the key. */
static bool is_fractured(const struct search *s, const struct small_op *read)
{
    const struct small_history *history = s->history;
    for (int e = 0; e < read->count; e++) {
        int txn = 0, op = 0;
        if (!find_writer(history, read->key, read->list[e], &txn, &op) || !in(s->known, txn))
            continue;
        for (int i = 0; i < op; i++) {
            const struct small_op *earlier = &history->txns[txn].ops[i];
            bool shown = !earlier->append || earlier->key != read->key;
            for (int f = 0; f < e && !shown; f++)
                shown = read->list[f] == earlier->value;
            if (!shown)
                return true;
        }
    }
    return false;
}

static void find_silent_keys(struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *a = &s->reads[r];
        if (!in(s->known, a->txn))
            continue;
        s->silent[a->key] |= is_fractured(s, a->read);
        for (int q = 0; q < r; q++) {
            const struct seen *b = &s->reads[q];
            if (in(s->known, b->txn) && a->key == b->key && !is_prefix(a->read, b->read) &&
                !is_prefix(b->read, a->read))
                s->silent[a->key] = true;
        }
    }
}

static bool assumes_operations(const struct search *s)
{
    return (s->assumptions & (EXECUTION_SEQUENTIAL | EXECUTION_LINEARIZABLE)) != 0;
}

/* The ok transactions, and the info ones that the reads of known ones show; and those that failed and are shown. */
static void find_known(struct search *s, uint32_t certain)
{
    uint32_t before;
    s->known = certain;
    do {
        before = s->known;
        for (int r = 0; r < s->read_count; r++)
            s->known |= in(s->known, s->reads[r].txn) ? s->reads[r].writers & s->infos : 0;
    } while (s->known != before);
    for (int r = 0; r < s->read_count && assumes_operations(s); r++)
        s->ghosts |= in(s->known, s->reads[r].txn) ? s->reads[r].writers & ~(s->infos | certain) : 0;
}

/* False when the set has no execution at any level. */
static bool choose_set(struct search *s, uint32_t committed)
{
    s->committed = committed | s->ghosts;
    s->all_committed_reads = s->all_inner = true;
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (!in(committed, seen->txn))
            continue;
        if (seen->impossible)
            return false;
        s->all_committed_reads &= !seen->uncommitted && (seen->writers & ~committed) == 0;
        s->all_inner &= s->inner[seen->txn];
        if (assumes_operations(s) && (seen->writers & s->infos & ~committed) != 0)
            return false;
    }
    return true;
}

/* ---- one order of them ---- */

static bool follows(const struct search *s, enum execution_order order)
{
    for (int p = 0; p < s->count; p++) {
        for (int q = 0; q < p; q++) {
            if (in(s->before[order][s->order[p]], s->order[q]))
                return false;
        }
    }
    return true;
}

/* All that the committed transactions append to the key, in the order. */
static int list_in_order(const struct search *s, int key, int list[LISTS])
{
    int count = 0;
    for (int p = 0; p < s->count; p++) {
        const struct small_txn *txn = &s->history->txns[s->order[p]];
        for (int i = 0; i < txn->op_count; i++) {
            if (txn->ops[i].append && txn->ops[i].key == key)
                list[count++] = txn->ops[i].value;
        }
    }
    return count;
}

static bool lists_are_traceable(const struct search *s)
{
    int lists[SMALL_KEYS][LISTS], counts[SMALL_KEYS];
    for (int key = 0; key < SMALL_KEYS; key++)
        counts[key] = list_in_order(s, key, lists[key]);
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        size_t size = (size_t)seen->read->count * sizeof(int);
        if (in(s->committed, seen->txn) &&
            (seen->read->count > counts[seen->key] || memcmp(seen->read->list, lists[seen->key], size) != 0))
            return false;
    }
    return true;
}

/* At RU: the elements of committed transactions that the read shows are a prefix of the key's list. */
static bool begins_list(const struct search *s, const struct seen *seen)
{
    int list[LISTS], position = 0, count = list_in_order(s, seen->key, list);
    for (int e = 0; e < seen->read->count; e++) {
        int txn = 0, op = 0;
        (void)find_writer(s->history, seen->key, seen->read->list[e], &txn, &op);
        if (in(s->committed, txn) && (position == count || list[position++] != seen->read->list[e]))
            return false;
    }
    return true;
}

static bool fits_uncommitted(const struct search *s)
{
    for (int r = 0; r < s->read_count && !s->history->registers; r++) {
        const struct seen *seen = &s->reads[r];
        if (in(s->committed | s->known, seen->txn) && !s->silent[seen->key] && !begins_list(s, seen))
            return false;
    }
    return true;
}

/* The version of the key before which `txn` wrote its own: its writer, or NOTHING. */
static int version_before(const struct search *s, int txn, int key)
{
    for (int p = s->place[txn]; p-- > 0;) {
        if ((s->writes[s->order[p]] & bit(key)) != 0)
            return s->order[p];
    }
    return NOTHING;
}

static int place_of(const struct search *s, int writer)
{
    return writer == NOTHING ? NOTHING : s->place[writer];
}

/* Whether the read is of a version that is not the reader's own, and that a committed transaction wrote. */
static bool is_external(const struct search *s, const struct seen *seen)
{
    return in(s->committed & ~s->ghosts, seen->txn) && !seen->own &&
           (seen->writer == NOTHING || in(s->committed, seen->writer));
}

/* The writers of later versions of the key than the one read, without the reader. */
static uint32_t missed_by(const struct search *s, const struct seen *seen)
{
    uint32_t missed = 0;
    for (int p = place_of(s, seen->writer) + 1; p < s->count; p++) {
        int txn = s->order[p];
        if (txn != seen->txn && (s->writes[txn] & bit(seen->key)) != 0)
            missed |= bit(txn);
    }
    return missed;
}

static bool reads_go_back(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (is_external(s, seen) && seen->writer != NOTHING && s->place[seen->writer] > s->place[seen->txn])
            return false;
    }
    return true;
}

/* Per transaction: the writers of the version that it overwrote and of the versions before; and the writers that it
 * read from. */
static void find_dependencies(const struct search *s, uint32_t overwrites[SMALL_TXNS], uint32_t reads_from[SMALL_TXNS])
{
    memset(overwrites, 0, SMALL_TXNS * sizeof overwrites[0]);
    memset(reads_from, 0, SMALL_TXNS * sizeof reads_from[0]);
    for (int p = 0; p < s->count; p++) {
        for (int q = 0; q < p; q++) {
            if ((s->writes[s->order[p]] & s->writes[s->order[q]]) != 0)
                overwrites[s->order[p]] |= bit(s->order[q]);
        }
    }
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (is_external(s, seen) && seen->writer != NOTHING)
            reads_from[seen->txn] |= bit(seen->writer);
    }
}

/* Adds to each set the sets of its members. All lead back in the order. */
static void close_over(const struct search *s, uint32_t sets[SMALL_TXNS])
{
    for (int p = 0; p < s->count; p++) {
        for (int q = 0; q < p; q++) {
            if (in(sets[s->order[p]], s->order[q]))
                sets[s->order[p]] |= sets[s->order[q]];
        }
    }
}

/* Adds all transactions that precede a member of the set in the order. */
static void close_down(const struct search *s, uint32_t sets[SMALL_TXNS])
{
    for (int p = 0; p < s->count; p++) {
        uint32_t before = 0, closed = 0;
        for (int q = 0; q < p; q++) {
            before |= bit(s->order[q]);
            if (in(sets[s->order[p]], s->order[q]))
                closed = before;
        }
        sets[s->order[p]] = closed;
    }
}

/* Ext: no read misses a write that its transaction sees. */
static bool misses_nothing(const struct search *s, const uint32_t sees[SMALL_TXNS])
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (is_external(s, seen) && (missed_by(s, seen) & sees[seen->txn]) != 0)
            return false;
    }
    return true;
}

enum closing { CLOSE_NOT, CLOSE_OVER, CLOSE_DOWN };

static bool is_visible(const struct search *s, const uint32_t *first, const uint32_t *second, const uint32_t *third,
                       enum closing closing)
{
    uint32_t sees[SMALL_TXNS];
    memcpy(sees, first, sizeof sees);
    for (int t = 0; t < s->history->txn_count; t++) {
        sees[t] |= second != NULL ? second[t] : 0;
        for (int a = 0; third != NULL && a < s->history->txn_count; a++)
            sees[t] |= in(s->committed, a) && in(third[a], t) ? bit(a) : 0;
    }
    if (closing == CLOSE_OVER)
        close_over(s, sees);
    else if (closing == CLOSE_DOWN)
        close_down(s, sees);
    return misses_nothing(s, sees);
}

/* G-cursor: a version between the one that a transaction read and its own. */
static bool is_cursor_stable(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (is_external(s, seen) && (s->writes[seen->txn] & bit(seen->key)) != 0 &&
            version_before(s, seen->txn, seen->key) != seen->writer)
            return false;
    }
    return true;
}

/* The writers that `txn` read from before its operation `op` and, with `writes`, those that it overwrote. */
static uint32_t met_before(const struct search *s, int txn, int op, bool writes)
{
    uint32_t met = 0;
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *earlier = &s->reads[r];
        if (earlier->txn == txn && earlier->op < op && is_external(s, earlier) && earlier->writer != NOTHING)
            met |= bit(earlier->writer);
    }
    for (int i = 0; i < op && writes; i++) {
        const struct small_op *write = &s->history->txns[txn].ops[i];
        int before = write->append ? version_before(s, txn, write->key) : NOTHING;
        met |= before != NOTHING ? bit(before) : 0;
    }
    return met;
}

/* A read misses no write of the writers met before; with `depends`, nor of their dependencies. */
static bool is_monotonic(const struct search *s, const uint32_t *depends)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (!is_external(s, seen))
            continue;
        uint32_t met = met_before(s, seen->txn, seen->op, depends != NULL), all = met;
        for (int t = 0; t < s->history->txn_count && depends != NULL; t++)
            all |= in(met, t) ? depends[t] : 0;
        if ((missed_by(s, seen) & all) != 0)
            return false;
    }
    return true;
}

/*
 * PL-MSR. Each snapshot is the shortest that the operations up to this one allow: those up to a write contain what it
 * overwrites, those up to a read its version. A read must not miss a version in its snapshot.
 */
static bool snapshots_ascend(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        int end = 0; /* of the snapshot, in AR */
        if (!is_external(s, seen))
            continue;
        uint32_t contained = met_before(s, seen->txn, seen->op, true);
        contained |= seen->writer != NOTHING ? bit(seen->writer) : 0;
        for (int p = 0; p < s->count; p++)
            end = in(contained, s->order[p]) ? p + 1 : end;
        uint32_t missed = missed_by(s, seen);
        for (int p = 0; p < end; p++) {
            if (in(missed, s->order[p]))
                return false;
        }
    }
    return true;
}

static bool has_cycle(uint32_t among, const uint32_t after[SMALL_TXNS])
{
    uint32_t reach[EXECUTION_TXNS];
    for (int t = 0; t < EXECUTION_TXNS; t++)
        reach[t] = in(among, t) ? after[t] & among : 0;
    for (int via = 0; via < EXECUTION_TXNS; via++) {
        for (int t = 0; t < EXECUTION_TXNS; t++)
            reach[t] |= in(reach[t], via) ? reach[via] : 0;
    }
    for (int t = 0; t < EXECUTION_TXNS; t++) {
        if (in(reach[t], t))
            return true;
    }
    return false;
}

/* G-update: the transactions that write something, with any one that does not. */
static bool updates_are_serializable(const struct search *s, const uint32_t depends[SMALL_TXNS])
{
    uint32_t after[SMALL_TXNS] = {0}, updates = 0;
    for (int t = 0; t < s->history->txn_count; t++) {
        updates |= in(s->committed, t) && s->writes[t] != 0 ? bit(t) : 0;
        for (int a = 0; a < s->history->txn_count; a++)
            after[a] |= in(s->committed, t) && in(depends[t], a) ? bit(t) : 0;
    }
    for (int r = 0; r < s->read_count; r++) {
        if (is_external(s, &s->reads[r]))
            after[s->reads[r].txn] |= missed_by(s, &s->reads[r]);
    }
    for (int t = 0; t < s->history->txn_count; t++) {
        if (in(s->committed, t) && has_cycle(updates | bit(t), after))
            return false;
    }
    return !has_cycle(updates, after);
}

/* One operation on the current key. */
struct key_op {
    int txn, op;
    const struct small_op *does;
};

static int list_key_ops(const struct search *s, int key, struct key_op ops[KEY_OPS])
{
    int count = 0;
    for (int p = 0; p < s->count; p++) {
        const int t = s->order[p];
        const struct small_txn *txn = &s->history->txns[t];
        for (int i = 0; i < txn->op_count; i++) {
            const struct small_op *op = &txn->ops[i];
            if (op->key == key && (op->append || (op->known && !in(s->ghosts, t))))
                ops[count++] = (struct key_op){t, i, op};
        }
    }
    return count;
}

/* Whether the version that `write` makes is later than the one that `of` makes. */
static bool is_later(const struct search *s, const struct key_op *of, const struct key_op *write)
{
    if (of->txn == write->txn)
        return of->op < write->op;
    return s->place[of->txn] < s->place[write->txn];
}

/* Whether `a` comes before `b` in every serial order of the operations that keeps `order` and the version order. */
static bool comes_before(const struct search *s, enum execution_order order, const struct key_op *a,
                         const struct key_op *b, const struct key_op *read_by_a)
{
    if (a->txn == b->txn)
        return a->op < b->op;
    if (in(s->before[order][a->txn], b->txn))
        return true;
    if (a->does->append && b->does->append)
        return is_later(s, a, b);
    if (a->does->append)
        return !b->does->append && b->does->count == 1 && b->does->list[0] == a->does->value;
    return b->does->append && (a->does->count == 0 || (read_by_a != NULL && is_later(s, read_by_a, b)));
}

static const struct key_op *writer_op(const struct key_op *ops, int count, const struct small_op *read)
{
    for (int i = 0; i < count && !read->append && read->count == 1; i++) {
        if (ops[i].does->append && ops[i].does->value == read->list[0])
            return &ops[i];
    }
    return NULL;
}

/*
 * Closes the order, and adds the orders that a read forces: another write comes before the write it returns, or after
 * the read. False when there is nothing to add.
 */
static bool add_forced(const struct key_op *ops, int count, uint64_t after[KEY_OPS])
{
    uint64_t before[KEY_OPS];
    memcpy(before, after, sizeof before);
    for (int via = 0; via < count; via++) {
        for (int a = 0; a < count; a++)
            after[a] |= (after[a] >> via & 1) != 0 ? after[via] : 0;
    }
    for (int read = 0; read < count; read++) {
        const struct key_op *written = writer_op(ops, count, ops[read].does);
        const int w = written == NULL ? NOTHING : (int)(written - ops);
        for (int other = 0; other < count && w != NOTHING; other++) {
            if (!ops[other].does->append || other == w)
                continue;
            after[other] |= (after[other] >> read & 1) != 0 ? UINT64_C(1) << w : 0;
            after[read] |= (after[w] >> other & 1) != 0 ? UINT64_C(1) << other : 0;
        }
    }
    return memcmp(before, after, sizeof before) != 0;
}

/*
 * A necessary condition on the operations alone: an order of all of them exists in which only the writes of a
 * transaction are adjacent.
 */
static bool key_is_serial(const struct search *s, int key, enum execution_order order)
{
    struct key_op ops[KEY_OPS];
    uint64_t after[KEY_OPS] = {0};
    const int count = list_key_ops(s, key, ops);
    for (int a = 0; a < count; a++) {
        const struct key_op *read_by_a = writer_op(ops, count, ops[a].does);
        for (int b = 0; b < count; b++) {
            if (a != b && comes_before(s, order, &ops[a], &ops[b], read_by_a))
                after[a] |= UINT64_C(1) << b;
        }
    }
    while (add_forced(ops, count, after))
        continue;
    for (int a = 0; a < count; a++) {
        if ((after[a] >> a & 1) != 0)
            return false;
    }
    return true;
}

static bool keys_are_serial(const struct search *s, enum execution_order order)
{
    for (int key = 0; key < SMALL_KEYS; key++) {
        if (!key_is_serial(s, key, order))
            return false;
    }
    return true;
}

static bool writes_follow_reads(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        const struct small_txn *txn = &s->history->txns[seen->txn];
        bool updates = is_external(s, seen) && seen->writer != NOTHING &&
                       last_write(txn, seen->key, seen->op) == NOTHING && (s->writes[seen->txn] & bit(seen->key)) != 0;
        if (updates && s->place[seen->writer] > s->place[seen->txn])
            return false;
    }
    return true;
}

static bool keeps_assumptions(const struct search *s)
{
    return ((s->assumptions & EXECUTION_WFR) == 0 || writes_follow_reads(s)) &&
           ((s->assumptions & EXECUTION_SEQUENTIAL) == 0 || keys_are_serial(s, EXECUTION_SESSION)) &&
           ((s->assumptions & EXECUTION_LINEARIZABLE) == 0 || keys_are_serial(s, EXECUTION_STRONG));
}

static void judge_plain(const struct search *s, const uint32_t *overwrites, const uint32_t *reads_from)
{
    uint32_t depends[SMALL_TXNS];
    bool plain[EXECUTION_KINDS] = {false};
    for (int t = 0; t < SMALL_TXNS; t++)
        depends[t] = overwrites[t] | reads_from[t];
    close_over(s, depends);
    plain[EXECUTION_CS] = is_cursor_stable(s);
    plain[EXECUTION_ML] = is_monotonic(s, depends);
    plain[EXECUTION_MAV] = is_monotonic(s, NULL);
    plain[EXECUTION_CV] = misses_nothing(s, depends);
    plain[EXECUTION_MSR] = snapshots_ascend(s);
    plain[EXECUTION_PL3U] = updates_are_serializable(s, depends);
    if (s->all_inner) {
        plain[EXECUTION_RA] = is_visible(s, reads_from, NULL, NULL, CLOSE_NOT);
        plain[EXECUTION_CC] = is_visible(s, reads_from, NULL, NULL, CLOSE_OVER);
        plain[EXECUTION_UA] = is_visible(s, reads_from, overwrites, NULL, CLOSE_NOT);
        plain[EXECUTION_PREFIX] = is_visible(s, reads_from, NULL, NULL, CLOSE_DOWN);
        plain[EXECUTION_PSI] = is_visible(s, reads_from, overwrites, NULL, CLOSE_OVER);
    }
    for (int kind = 0; kind < EXECUTION_KINDS; kind++)
        s->found->exists[kind][EXECUTION_PLAIN] |= plain[kind];
}

static void judge(const struct search *s)
{
    bool kept[EXECUTION_ORDERS];
    if (!keeps_assumptions(s))
        return;
    for (int order = 0; order < EXECUTION_ORDERS; order++)
        kept[order] = follows(s, (enum execution_order)order);
    if (fits_uncommitted(s)) {
        for (int order = 0; order < EXECUTION_ORDERS; order++)
            s->found->exists[EXECUTION_RU][order] |= kept[order];
    }
    if (!s->all_committed_reads || !reads_go_back(s) || (!s->history->registers && !lists_are_traceable(s)))
        return;
    uint32_t overwrites[SMALL_TXNS], reads_from[SMALL_TXNS], all[SMALL_TXNS] = {0};
    find_dependencies(s, overwrites, reads_from);
    judge_plain(s, overwrites, reads_from);
    for (int p = 1; p < s->count; p++)
        all[s->order[p]] = all[s->order[p - 1]] | bit(s->order[p - 1]);
    bool serial = s->all_inner && misses_nothing(s, all);
    for (int order = 0; order < EXECUTION_ORDERS; order++) {
        if (!kept[order])
            continue;
        s->found->exists[EXECUTION_RC][order] = true;
        s->found->exists[EXECUTION_RR][order] |= serial;
        s->found->exists[EXECUTION_SER][order] |= serial;
        if (s->all_inner && !s->found->exists[EXECUTION_SI][order])
            s->found->exists[EXECUTION_SI][order] = is_visible(s, reads_from, overwrites, s->before[order], CLOSE_DOWN);
    }
}

/* Whether nothing more can be found: each level has an execution. */
static bool all_exist(const struct executions *found)
{
    return memchr(found->exists, false, sizeof found->exists) == NULL;
}

/* Whether only levels from RC up are still open, and at these `txn` cannot come next: it read from one that is left. */
static bool reads_from_rest(const struct search *s, int txn, uint32_t rest)
{
    if (memchr(s->found->exists[EXECUTION_RU], false, sizeof s->found->exists[EXECUTION_RU]) != NULL)
        return false;
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (seen->txn == txn && is_external(s, seen) && seen->writer != NOTHING && in(rest, seen->writer))
            return true;
    }
    return false;
}

static void order_rest(struct search *s, uint32_t rest)
{
    if (rest == 0) {
        judge(s);
        return;
    }
    for (int t = 0; t < s->history->txn_count && !all_exist(s->found); t++) {
        if (!in(rest, t) || reads_from_rest(s, t, rest))
            continue;
        s->place[t] = s->count;
        s->order[s->count++] = t;
        order_rest(s, rest & ~bit(t));
        s->count--;
    }
}

void executions_find(const struct small_history *history, unsigned assumptions, struct executions *executions)
{
    struct search s = {.history = history, .assumptions = assumptions, .found = executions};
    uint32_t certain = 0;
    *executions = (struct executions){0};
    for (int t = 0; t < history->txn_count; t++) {
        certain |= history->txns[t].outcome == SMALL_OK ? bit(t) : 0;
        s.infos |= history->txns[t].outcome == SMALL_INFO ? bit(t) : 0;
    }
    RIG_REQUIRE(history->txn_count <= EXECUTION_TXNS);
    for (int order = 0; order < EXECUTION_ORDERS; order++)
        executions_order(history, (enum execution_order)order, s.before[order]);
    look_at_all(&s);
    find_known(&s, certain);
    find_silent_keys(&s);
    for (uint32_t chosen = s.infos;; chosen = (chosen - 1) & s.infos) {
        if (choose_set(&s, certain | chosen))
            order_rest(&s, s.committed);
        if (chosen == 0)
            return;
    }
}
