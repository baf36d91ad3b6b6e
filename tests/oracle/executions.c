#include "tests/oracle/executions_private.h"

#include <string.h>

#include "base/bug.h"

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
    bool future = false, partial = false;
    for (int e = 0; e < read->count; e++) {
        int writer = 0, op = 0;
        for (int f = 0; f < e; f++)
            seen.impossible |= read->list[e] == read->list[f];
        if (!find_writer(history, read->key, read->list[e], &writer, &op)) {
            seen.impossible = true;
            return seen;
        }
        seen.writers |= bit(writer);
        future |= writer == t && op > i;
        if (writer == t)
            continue;
        seen.writer = writer;
        partial = writes_between(&history->txns[writer], read->key, op + 1, history->txns[writer].op_count) > 0;
    }
    seen.own = seen.writer == NOTHING && read->count > 0;
    seen.uncommitted = future || partial;
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

/* Whether a read found no row of its key. */
static bool is_absent(const struct small_op *read)
{
    return read->count == 0 && !read->has_row;
}

static bool list_is_inner(const struct small_txn *txn, int i, bool items)
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
        if (earlier->append || !earlier->known || earlier->key != read->key ||
            (items && (is_absent(earlier) || is_absent(read))))
            continue;
        int before = elements_before_own(txn, earlier, j);
        if (before != others || memcmp(earlier->list, read->list, (size_t)others * sizeof read->list[0]) != 0)
            return false;
    }
    return true;
}

static bool register_is_inner(const struct small_txn *txn, int i, bool items)
{
    const struct small_op *read = &txn->ops[i];
    int written = last_write(txn, read->key, i);
    if (written != NOTHING)
        return read->count == 1 && read->list[0] == txn->ops[written].value;
    for (int j = 0; j < i; j++) {
        const struct small_op *earlier = &txn->ops[j];
        if (earlier->append || !earlier->known || earlier->key != read->key ||
            (items && (is_absent(earlier) || is_absent(read))))
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
        const bool prefilled = (s->assumptions & EXECUTION_PREFILLED) != 0;
        s->inner[t] = s->item_inner[t] = true;
        for (int i = 0; i < txn->op_count; i++) {
            if (txn->ops[i].append)
                s->writes[t] |= bit(txn->ops[i].key);
            if (txn->ops[i].append || !txn->ops[i].known)
                continue;
            s->reads[s->read_count++] = look_at(s->history, t, i);
            s->inner[t] &= s->history->registers ? register_is_inner(txn, i, false) : list_is_inner(txn, i, false);
            s->item_inner[t] &=
                s->history->registers ? register_is_inner(txn, i, !prefilled) : list_is_inner(txn, i, !prefilled);
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
    s->all_committed_reads = s->all_inner = s->all_item_inner = true;
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (!in(committed, seen->txn))
            continue;
        if (seen->impossible)
            return false;
        s->all_committed_reads &= !seen->uncommitted && (seen->writers & ~committed) == 0;
        s->all_inner &= s->inner[seen->txn];
        s->all_item_inner &= s->item_inner[seen->txn];
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
        if (in(s->committed, seen->txn) && !s->silent[seen->key] && !begins_list(s, seen))
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

bool executions_is_external(const struct search *s, const struct seen *seen)
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
        if (executions_is_external(s, seen) && seen->writer != NOTHING && s->place[seen->writer] > s->place[seen->txn])
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
        if (executions_is_external(s, seen) && seen->writer != NOTHING)
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

/* Whether the read is one of an item, which has a row. */
static bool found_row(const struct search *s, const struct seen *seen)
{
    return !is_absent(seen->read) || (s->assumptions & EXECUTION_PREFILLED) != 0;
}

/* Ext: no read misses a write that its transaction sees; `items`: no read of an item. */
static bool misses_nothing(const struct search *s, const uint32_t sees[SMALL_TXNS], bool items)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (executions_is_external(s, seen) && (!items || found_row(s, seen)) &&
            (missed_by(s, seen) & sees[seen->txn]) != 0)
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
    return misses_nothing(s, sees, false);
}

/* G-cursor: a version between the one that a transaction read and its own. */
static bool is_cursor_stable(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (executions_is_external(s, seen) && found_row(s, seen) && (s->writes[seen->txn] & bit(seen->key)) != 0 &&
            version_before(s, seen->txn, seen->key) != seen->writer)
            return false;
    }
    return true;
}

/* The transactions that the order puts before this one. */
static uint32_t ordered_before(const struct search *s, enum execution_order order, int txn)
{
    uint32_t before = 0;
    for (int a = 0; a < s->history->txn_count; a++)
        before |= in(s->committed, a) && in(s->before[order][a], txn) ? bit(a) : 0;
    return before;
}

/* The writers that `txn` read from before its operation `op` and, with `writes`, those that it overwrote; and those
 * that the order puts before it. */
static uint32_t met_before(const struct search *s, enum execution_order order, int txn, int op, bool writes)
{
    uint32_t met = ordered_before(s, order, txn);
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *earlier = &s->reads[r];
        if (earlier->txn == txn && earlier->op < op && executions_is_external(s, earlier) && earlier->writer != NOTHING)
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
static bool is_monotonic(const struct search *s, enum execution_order order, const uint32_t *depends)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        if (!executions_is_external(s, seen))
            continue;
        uint32_t met = met_before(s, order, seen->txn, seen->op, depends != NULL), all = met;
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
static bool snapshots_ascend(const struct search *s, enum execution_order order)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        int end = 0; /* of the snapshot, in AR */
        if (!executions_is_external(s, seen))
            continue;
        uint32_t contained = met_before(s, order, seen->txn, seen->op, true);
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
        if (executions_is_external(s, &s->reads[r]))
            after[s->reads[r].txn] |= missed_by(s, &s->reads[r]);
    }
    for (int t = 0; t < s->history->txn_count; t++) {
        if (in(s->committed, t) && has_cycle(updates | bit(t), after))
            return false;
    }
    return !has_cycle(updates, after);
}

/* The levels whose conditions are about what a transaction depends on or sees; with what an order puts before it. */
static void judge_order(const struct search *s, enum execution_order order, const uint32_t *overwrites,
                        const uint32_t *reads_from)
{
    const uint32_t *before = s->before[order];
    uint32_t depends[SMALL_TXNS];
    bool kept[EXECUTION_KINDS] = {false};
    for (int t = 0; t < s->history->txn_count; t++)
        depends[t] = overwrites[t] | reads_from[t] | ordered_before(s, order, t);
    close_over(s, depends);
    kept[EXECUTION_CS] = is_cursor_stable(s);
    kept[EXECUTION_ML] = is_monotonic(s, order, depends);
    kept[EXECUTION_MAV] = is_monotonic(s, order, NULL);
    kept[EXECUTION_CV] = misses_nothing(s, depends, false);
    kept[EXECUTION_MSR] = snapshots_ascend(s, order);
    kept[EXECUTION_PL3U] = updates_are_serializable(s, depends);
    if (s->all_inner) {
        kept[EXECUTION_RA] = is_visible(s, reads_from, NULL, before, CLOSE_NOT);
        kept[EXECUTION_CC] = is_visible(s, reads_from, NULL, before, CLOSE_OVER);
        kept[EXECUTION_UA] = is_visible(s, reads_from, overwrites, before, CLOSE_NOT);
        kept[EXECUTION_PREFIX] = is_visible(s, reads_from, NULL, before, CLOSE_DOWN);
        kept[EXECUTION_PSI] = is_visible(s, reads_from, overwrites, before, CLOSE_OVER);
    }
    for (int kind = 0; kind < EXECUTION_KINDS; kind++)
        s->found->exists[kind][order] |= kept[kind];
}

static void judge(const struct search *s)
{
    bool kept[EXECUTION_ORDERS];
    if (!executions_keep_assumptions(s))
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
    for (int p = 1; p < s->count; p++)
        all[s->order[p]] = all[s->order[p - 1]] | bit(s->order[p - 1]);
    const bool serial = s->all_inner && misses_nothing(s, all, false);
    const bool item_serial = s->all_item_inner && misses_nothing(s, all, true);
    for (int order = 0; order < EXECUTION_ORDERS; order++) {
        if (!kept[order])
            continue;
        judge_order(s, (enum execution_order)order, overwrites, reads_from);
        s->found->exists[EXECUTION_RC][order] = true;
        s->found->exists[EXECUTION_RR][order] |= item_serial;
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
        if (seen->txn == txn && executions_is_external(s, seen) && seen->writer != NOTHING && in(rest, seen->writer))
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
