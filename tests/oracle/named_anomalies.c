#include "tests/oracle/named_anomalies.h"

#include <string.h>

#include "tests/oracle/executions.h"

enum { NONE = -1, LONGEST = SMALL_TXNS * SMALL_OPS };
enum edge { WW = 1, WR = 2, RW = 4, PROCESS = 8, REALTIME = 16 };

/* The versions of a key, first to last, by their writers; the last `open` of them in any order. */
struct versions {
    int count, known;
    int writer[LONGEST], value[LONGEST];
};

struct look {
    const struct small_history *history;
    struct named_anomalies *found;
    uint32_t committed;
    struct versions keys[SMALL_KEYS];
    uint32_t process[SMALL_TXNS], realtime[SMALL_TXNS];
    unsigned edges[SMALL_TXNS][SMALL_TXNS]; /* of the current graph: bits of enum edge */
};

/* The edges of a walk so far. */
struct walk {
    int first, here;
    uint32_t visited;
    int rw, realtime;
    bool first_rw, last_rw, adjacent, wr, process, unsettled;
};

static bool is_in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static const struct small_op *op_of(const struct small_history *history, int t, int i)
{
    return &history->txns[t].ops[i];
}

static bool is_read(const struct small_op *op)
{
    return !op->append && op->known;
}

static int writer_of(const struct small_history *history, int key, int value, int *at)
{
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++) {
            const struct small_op *op = op_of(history, t, i);
            if (op->append && op->key == key && op->value == value) {
                *at = i;
                return t;
            }
        }
    }
    return NONE;
}

static int place_in(const struct small_op *read, int value)
{
    for (int e = 0; e < read->count; e++) {
        if (read->list[e] == value)
            return e;
    }
    return NONE;
}

/* Calls `visit` for each known read of a committed transaction. */
static void each_read(struct look *look, void (*visit)(struct look *, int txn, int op))
{
    for (int t = 0; t < look->history->txn_count; t++) {
        for (int i = 0; is_in(look->committed, t) && i < look->history->txns[t].op_count; i++) {
            if (is_read(op_of(look->history, t, i)))
                visit(look, t, i);
        }
    }
}

static void commit_writers(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        if (writer != NONE && look->history->txns[writer].outcome == SMALL_INFO) {
            look->committed |= UINT32_C(1) << writer;
            look->found->unsettled = true;
        }
    }
}

static void find_committed(struct look *look)
{
    for (int t = 0; t < look->history->txn_count; t++)
        look->committed |= look->history->txns[t].outcome == SMALL_OK ? UINT32_C(1) << t : 0;
    for (uint32_t before = 0; before != look->committed;) {
        before = look->committed;
        each_read(look, commit_writers);
    }
}

/* ---- non-cyclic anomalies ---- */

static void note(struct look *look, enum named_plain anomaly)
{
    look->found->plain[anomaly] = true;
}

static void look_at_elements(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        if (place_in(read, read->list[e]) < e)
            note(look, NAMED_DUPLICATE_ELEMENTS);
        if (writer == NONE)
            note(look, NAMED_GARBAGE_READ);
        else if (look->history->txns[writer].outcome == SMALL_FAIL)
            note(look, NAMED_G1A);
        else if (writer == t && op > i)
            note(look, NAMED_FUTURE_READ);
    }
}

static bool writes_later(const struct small_txn *txn, int key, int op)
{
    for (int i = op + 1; i < txn->op_count; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key)
            return true;
    }
    return false;
}

static void look_for_intermediate(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    for (int e = read->count; e-- > 0;) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        if (writer == t)
            continue;
        if (writer != NONE && writes_later(&look->history->txns[writer], read->key, op))
            note(look, NAMED_G1B);
        return;
    }
}

/* Appends the transaction's own elements between the two operations to the list that it read at `from`. */
static void append_own(const struct small_txn *txn, int key, int from, int to, struct small_op *before)
{
    for (int i = from; i < to; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key && before->count < SMALL_LIST)
            before->list[before->count++] = txn->ops[i].value;
    }
}

static bool same_list(const struct small_op *a, const struct small_op *b)
{
    return a->count == b->count && memcmp(a->list, b->list, (size_t)a->count * sizeof a->list[0]) == 0;
}

static void look_for_internal(struct look *look, int t, int i)
{
    const struct small_txn *txn = &look->history->txns[t];
    const struct small_op *read = &txn->ops[i];
    int previous = i - 1;
    while (previous >= 0 && (txn->ops[previous].key != read->key || !is_read(&txn->ops[previous])))
        previous--;
    struct small_op own = {.count = 0}, whole;
    append_own(txn, read->key, previous < 0 ? 0 : previous, i, &own);
    if (look->history->registers) {
        if (own.count > 0 ? read->count != 1 || read->list[0] != own.list[own.count - 1]
                          : previous >= 0 && !same_list(read, &txn->ops[previous]))
            note(look, NAMED_INTERNAL);
        return;
    }
    bool ends = own.count <= read->count;
    for (int e = 0; ends && e < own.count; e++)
        ends = read->list[read->count - own.count + e] == own.list[e];
    if (previous >= 0 && ends) {
        whole = txn->ops[previous];
        append_own(txn, read->key, previous, i, &whole);
        ends = same_list(read, &whole);
    }
    if (!ends)
        note(look, NAMED_INTERNAL);
}

static void look_for_fractures(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        for (int w = 0; writer != NONE && is_in(look->committed, writer) && w < op; w++) {
            const struct small_op *earlier = op_of(look->history, writer, w);
            if (!earlier->append || earlier->key != read->key)
                continue;
            int place = place_in(read, earlier->value);
            if (place == NONE || place > e)
                note(look, NAMED_FRACTURED_APPEND);
        }
    }
}

/* Two reads: of lists, one must be a prefix of the other; the first ones of updates must differ. */
static void look_at_two(struct look *look, int t, int i, int u, int j)
{
    const struct small_op *a = op_of(look->history, t, i), *b = op_of(look->history, u, j);
    int common = a->count < b->count ? a->count : b->count;
    if (a->key != b->key || look->history->registers)
        return;
    if (memcmp(a->list, b->list, (size_t)common * sizeof a->list[0]) != 0)
        note(look, NAMED_INCOMPATIBLE_ORDER);
}

/* Whether operation `i` is the first known read of its key and a write of it follows; of registers, none before it. */
static bool is_update(const struct small_history *history, int t, int i)
{
    const struct small_txn *txn = &history->txns[t];
    for (int e = 0; e < i; e++) {
        if (txn->ops[e].key == txn->ops[i].key && is_read(&txn->ops[e]))
            return false;
    }
    return writes_later(txn, txn->ops[i].key, i);
}

static void look_for_pairs(struct look *look, int t, int i)
{
    const struct small_op *a = op_of(look->history, t, i);
    for (int u = 0; u < look->history->txn_count; u++) {
        for (int j = 0; is_in(look->committed, u) && j < look->history->txns[u].op_count; j++) {
            const struct small_op *b = op_of(look->history, u, j);
            if (!is_read(b))
                continue;
            look_at_two(look, t, i, u, j);
            if (u != t && a->key == b->key && same_list(a, b) && is_update(look->history, t, i) &&
                is_update(look->history, u, j))
                note(look, NAMED_LOST_UPDATE);
        }
    }
}

/* ---- lost appends ---- */

static bool shows_one_after(const struct small_history *history, const struct small_op *read, int position)
{
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(history, read->key, read->list[e], &op);
        if (writer != NONE && history->txns[writer].outcome != SMALL_FAIL && history->txns[writer].invoke_at > position)
            return true;
    }
    return false;
}

static bool loses(const struct small_history *history, const struct small_txn *writer, const struct small_op *append,
                  const struct small_txn *reader, const struct small_op *read)
{
    bool later = false;
    if (!is_read(read) || read->key != append->key || reader->outcome != SMALL_OK ||
        reader->invoke_at <= writer->complete_at)
        return false;
    for (int t = 0; t < history->txn_count; t++) {
        const struct small_txn *txn = &history->txns[t];
        for (int i = 0; i < txn->op_count; i++) {
            if (txn == writer || txn->outcome != SMALL_OK || !is_read(&txn->ops[i]) || txn->ops[i].key != append->key ||
                place_in(&txn->ops[i], append->value) == NONE)
                continue;
            if (txn->complete_at >= reader->invoke_at)
                return false;
            later |= txn->complete_at > writer->complete_at;
        }
    }
    return !later || shows_one_after(history, read, writer->complete_at);
}

static void look_for_lost_appends(struct look *look, int t, int i)
{
    const struct small_history *history = look->history;
    for (int w = 0; w < history->txn_count; w++) {
        const struct small_txn *writer = &history->txns[w];
        for (int a = 0; a < writer->op_count && writer->outcome == SMALL_OK; a++) {
            if (writer->ops[a].append &&
                loses(history, writer, &writer->ops[a], &history->txns[t], op_of(history, t, i)))
                note(look, NAMED_LOST_APPEND);
        }
    }
}

/* ---- lost writes ---- */

/* A write of a register and one of its transaction's reads; older values by depth, as far as a small history goes. */
struct loss {
    const struct small_history *history;
    const struct small_txn *writer;
    int key, value;
};

static const struct small_op *last_write(const struct small_txn *txn, int key)
{
    const struct small_op *last = NULL;
    for (int i = 0; i < txn->op_count; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key)
            last = &txn->ops[i];
    }
    return last;
}

/* The read of the key before the first write of it, if all those reads show the same; else NULL. */
static const struct small_op *update_of(const struct small_txn *txn, int key)
{
    const struct small_op *read = NULL;
    for (int i = 0; i < txn->op_count; i++) {
        const struct small_op *op = &txn->ops[i];
        if (op->key == key && op->append)
            return read;
        if (op->key == key && (!op->known || (read != NULL && !same_list(read, op))))
            return NULL;
        if (op->key == key)
            read = op;
    }
    return NULL;
}

static bool shows(const struct small_op *op, int value)
{
    return !op->append && op->known && op->count == 1 && op->list[0] == value;
}

/* Acknowledged before the write was invoked, by its writer or a reader. */
static bool settled_before(const struct loss *loss, int value)
{
    for (int t = 0; t < loss->history->txn_count; t++) {
        const struct small_txn *txn = &loss->history->txns[t];
        const struct small_op *last = last_write(txn, loss->key);
        if (txn->outcome != SMALL_OK || txn->complete_at >= loss->writer->invoke_at)
            continue;
        if (last != NULL && last->value == value)
            return true;
        for (int i = 0; i < txn->op_count; i++) {
            int op = 0, writer = writer_of(loss->history, loss->key, value, &op);
            if (txn->ops[i].key == loss->key && shows(&txn->ops[i], value) && writer != t)
                return true;
        }
    }
    return false;
}

static bool is_older_state(const struct loss *loss, const struct small_op *read, int depth);

/* Made from an older state by an update that was invoked after the acknowledgement. */
static bool went_on_to(const struct loss *loss, int value, int depth)
{
    int op = 0, writer = writer_of(loss->history, loss->key, value, &op);
    if (writer == NONE || depth == 0 || value == loss->value)
        return false;
    const struct small_txn *txn = &loss->history->txns[writer];
    const struct small_op *read = update_of(txn, loss->key), *last = last_write(txn, loss->key);
    return txn->outcome == SMALL_OK && txn->invoke_at > loss->writer->complete_at && last->value == value &&
           read != NULL && is_older_state(loss, read, depth - 1);
}

static bool was_before(const struct loss *loss, const struct small_op *read)
{
    const struct small_op *base = update_of(loss->writer, loss->key);
    if (read->count == 0)
        return true;
    return read->list[0] != loss->value &&
           (settled_before(loss, read->list[0]) || (base != NULL && same_list(base, read)));
}

static bool is_older_state(const struct loss *loss, const struct small_op *read, int depth)
{
    return was_before(loss, read) || went_on_to(loss, read->list[0], depth);
}

/* Another write that may have come after the one in question, before the read ended. */
static bool may_be_overwritten(const struct loss *loss, const struct small_txn *reader)
{
    for (int t = 0; t < loss->history->txn_count; t++) {
        const struct small_txn *txn = &loss->history->txns[t];
        const struct small_op *last = last_write(txn, loss->key);
        if (txn == loss->writer || last == NULL || txn->outcome == SMALL_FAIL || txn->invoke_at >= reader->complete_at)
            continue;
        if (last->value == loss->value ||
            !(settled_before(loss, last->value) || went_on_to(loss, last->value, LONGEST) ||
              (update_of(loss->writer, loss->key) != NULL && shows(update_of(loss->writer, loss->key), last->value))))
            return true;
    }
    return false;
}

/* Whether the operation counts as a read of another transaction's state. */
static bool is_foreign_read(const struct loss *loss, int t, int i)
{
    const struct small_op *op = op_of(loss->history, t, i);
    int at = 0;
    if (&loss->history->txns[t] == loss->writer || loss->history->txns[t].outcome != SMALL_OK || !is_read(op) ||
        op->key != loss->key || (op->count > 0 && writer_of(loss->history, op->key, op->list[0], &at) == t))
        return false;
    for (int before = 0; before < i; before++) {
        if (op_of(loss->history, t, before)->append && op_of(loss->history, t, before)->key == op->key)
            return shows(op, loss->value);
    }
    return true;
}

static bool is_lost_for(const struct loss *loss, const struct small_txn *reader, const struct small_op *read)
{
    bool later = false;
    if (reader->invoke_at <= loss->writer->complete_at || shows(read, loss->value) ||
        !is_older_state(loss, read, LONGEST))
        return false;
    for (int t = 0; t < loss->history->txn_count; t++) {
        const struct small_txn *txn = &loss->history->txns[t];
        for (int i = 0; i < txn->op_count; i++) {
            if (!is_foreign_read(loss, t, i) || txn->complete_at <= loss->writer->complete_at)
                continue;
            if (!shows(&txn->ops[i], loss->value) && !is_older_state(loss, &txn->ops[i], LONGEST))
                return false;
            if (shows(&txn->ops[i], loss->value) && txn->complete_at >= reader->invoke_at)
                return false;
            later |= shows(&txn->ops[i], loss->value);
        }
    }
    return !may_be_overwritten(loss, reader) &&
           (!later || (!was_before(loss, read) && went_on_to(loss, read->list[0], LONGEST)));
}

static void look_for_lost_writes(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    for (int w = 0; w < look->history->txn_count; w++) {
        const struct small_txn *writer = &look->history->txns[w];
        const struct small_op *last = last_write(writer, read->key);
        if (writer->outcome != SMALL_OK || last == NULL || w == t)
            continue;
        const struct loss loss = {look->history, writer, read->key, last->value};
        if (is_foreign_read(&loss, t, i) && is_lost_for(&loss, &look->history->txns[t], read))
            note(look, NAMED_LOST_WRITE);
    }
}

/* ---- version orders ---- */

static const struct small_op *longest_read(const struct look *look, int key)
{
    const struct small_op *longest = NULL;
    for (int t = 0; t < look->history->txn_count; t++) {
        for (int i = 0; is_in(look->committed, t) && i < look->history->txns[t].op_count; i++) {
            const struct small_op *op = op_of(look->history, t, i);
            if (is_read(op) && op->key == key && (longest == NULL || op->count > longest->count))
                longest = op;
        }
    }
    return longest;
}

static void look_for_dirty_updates(struct look *look, int t, int i)
{
    const struct small_op *read = op_of(look->history, t, i);
    bool aborted = false;
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        if (writer == NONE)
            continue;
        if (aborted && is_in(look->committed, writer))
            note(look, NAMED_DIRTY_UPDATE);
        aborted |= look->history->txns[writer].outcome == SMALL_FAIL;
    }
}

static void add_version(struct versions *versions, int writer, int value)
{
    versions->writer[versions->count] = writer;
    versions->value[versions->count++] = value;
}

/* The known versions, as the longest read shows them; then the others, transaction by transaction. */
static void find_versions(struct look *look, int key)
{
    struct versions *versions = &look->keys[key];
    const struct small_op *longest = look->history->registers ? NULL : longest_read(look, key);
    int op = 0;
    for (int e = 0; longest != NULL && e < longest->count; e++) {
        int writer = writer_of(look->history, key, longest->list[e], &op);
        if (writer != NONE && is_in(look->committed, writer))
            add_version(versions, writer, longest->list[e]);
    }
    versions->known = versions->count;
    for (int t = 0; t < look->history->txn_count; t++) {
        for (int i = 0; is_in(look->committed, t) && i < look->history->txns[t].op_count; i++) {
            const struct small_op *write = op_of(look->history, t, i);
            if (write->append && write->key == key && (longest == NULL || place_in(longest, write->value) == NONE))
                add_version(versions, t, write->value);
        }
    }
}

/* ---- edges ---- */

static void add_edge(struct look *look, int from, int to, enum edge edge)
{
    if (from != to && is_in(look->committed, from) && is_in(look->committed, to))
        look->edges[from][to] |= edge;
}

/* The number of the key's versions that the read shows: all up to the last one shown. */
static int seen_versions(const struct versions *versions, const struct small_op *read)
{
    int seen = 0;
    for (int v = 0; v < versions->count; v++) {
        if (place_in(read, versions->value[v]) != NONE)
            seen = v + 1;
    }
    return seen;
}

/* wr from the writers of the elements shown; rw to later writers, up to the reader's own. `total`: nothing is open. */
static void add_edges_of_read(struct look *look, int t, const struct small_op *read, bool total)
{
    const struct versions *versions = &look->keys[read->key];
    for (int e = 0; e < read->count; e++) {
        int op = 0, writer = writer_of(look->history, read->key, read->list[e], &op);
        if (writer != NONE)
            add_edge(look, writer, t, WR);
    }
    int seen = seen_versions(versions, read);
    if (seen == 0 && read->count > 0 && look->history->registers)
        return; /* of no committed transaction */
    if (look->history->registers && !total && seen > 0)
        return; /* only the initial state is certain to precede others */
    for (int v = seen; v < versions->count; v++) {
        bool open = !total && v >= versions->known;
        if (versions->writer[v] == t && !open)
            return;
        add_edge(look, t, versions->writer[v], RW);
    }
}

static void find_edges(struct look *look, bool total)
{
    memset(look->edges, 0, sizeof look->edges);
    for (int key = 0; key < SMALL_KEYS; key++) {
        const struct versions *versions = &look->keys[key];
        for (int v = 0; v < versions->count; v++) {
            for (int w = v + 1; w < versions->count; w++) {
                if (total || v < versions->known)
                    add_edge(look, versions->writer[v], versions->writer[w], WW);
            }
        }
    }
    for (int t = 0; t < look->history->txn_count; t++) {
        for (int i = 0; i < look->history->txns[t].op_count; i++) {
            if (is_in(look->committed, t) && is_read(op_of(look->history, t, i)))
                add_edges_of_read(look, t, op_of(look->history, t, i), total);
        }
        for (int u = 0; u < look->history->txn_count; u++) {
            if (is_in(look->process[t], u))
                add_edge(look, t, u, PROCESS);
            if (is_in(look->realtime[t], u))
                add_edge(look, t, u, REALTIME);
        }
    }
}

/* ---- cycles ---- */

static uint32_t name_walk(const struct walk *walk)
{
    enum named_cycle cycle = NAMED_G0;
    enum named_form form = NAMED_AS_IT_IS;
    if (walk->rw == 0)
        cycle = walk->wr || walk->unsettled ? NAMED_G1C : NAMED_G0;
    else if (walk->rw == 1)
        cycle = NAMED_G_SINGLE;
    else
        cycle = walk->adjacent || (walk->first_rw && walk->last_rw) ? NAMED_G2 : NAMED_G_NONADJACENT;
    if (walk->realtime > 0)
        form = walk->realtime > 1 ? NAMED_SEVERAL_REALTIME : NAMED_REALTIME;
    else if (walk->process)
        form = NAMED_PROCESS;
    return NAMED_BIT(cycle, form);
}

static struct walk take_step(struct walk walk, enum edge edge, int to)
{
    bool starts = walk.here == walk.first && walk.visited == UINT32_C(1) << walk.first;
    walk.adjacent |= edge == RW && walk.last_rw;
    walk.last_rw = edge == RW;
    walk.first_rw = starts ? edge == RW : walk.first_rw;
    walk.rw += edge == RW;
    walk.wr |= edge == WR;
    walk.process |= edge == PROCESS;
    walk.realtime += edge == REALTIME;
    walk.here = to;
    walk.visited |= UINT32_C(1) << to;
    return walk;
}

/* Whether a read of an ok transaction shows a write of `from` and, not before it, one of `to` (of lists). */
static bool is_shown_by_ok(const struct look *look, int from, int to, const struct small_op *read)
{
    const struct small_txn *first = &look->history->txns[from], *second = &look->history->txns[to];
    for (int i = 0; i < first->op_count; i++) {
        int place = first->ops[i].append && first->ops[i].key == read->key ? place_in(read, first->ops[i].value) : NONE;
        for (int j = 0; j < second->op_count && place != NONE; j++) {
            if (!second->ops[j].append || second->ops[j].key != read->key)
                continue;
            int later = place_in(read, second->ops[j].value);
            if (later == NONE || later > place)
                return true;
        }
    }
    return false;
}

static bool is_settled_ww(const struct look *look, int from, int to)
{
    bool settled = look->history->registers;
    for (int t = 0; t < look->history->txn_count; t++) {
        const struct small_txn *txn = &look->history->txns[t];
        for (int i = 0; i < txn->op_count && !settled && txn->outcome == SMALL_OK; i++)
            settled = is_read(&txn->ops[i]) && is_shown_by_ok(look, from, to, &txn->ops[i]);
    }
    return settled;
}

static uint32_t cycles_from(const struct look *look, const struct walk *walk)
{
    uint32_t found = 0;
    for (int to = walk->first; to < look->history->txn_count; to++) {
        for (unsigned edge = WW; edge <= REALTIME; edge <<= 1) {
            if ((look->edges[walk->here][to] & edge) == 0 || (to != walk->first && is_in(walk->visited, to)))
                continue;
            struct walk next = take_step(*walk, (enum edge)edge, to);
            next.unsettled |=
                look->history->txns[to].outcome != SMALL_OK || (edge == WW && !is_settled_ww(look, walk->here, to));
            found |= to == walk->first ? name_walk(&next) : cycles_from(look, &next);
        }
    }
    return found;
}

static uint32_t find_cycles(const struct look *look)
{
    uint32_t found = 0;
    for (int t = 0; t < look->history->txn_count; t++) {
        struct walk walk = {.first = t, .here = t, .visited = UINT32_C(1) << t};
        found |= cycles_from(look, &walk);
    }
    return found;
}

/* ---- completions ---- */

static void complete_keys(struct look *look, int key);

/* Puts the open versions of the key from `at` on into each order that keeps those of one transaction together. */
static void complete_key(struct look *look, int key, int at)
{
    struct versions *versions = &look->keys[key];
    if (at == versions->count) {
        complete_keys(look, key + 1);
        return;
    }
    const struct versions before = *versions;
    for (int v = at; v < before.count; v++) {
        int first = before.writer[v], next = at;
        if (v > at && before.writer[v - 1] == first)
            continue;
        for (int w = at; w < before.count; w++) {
            if (before.writer[w] == first) {
                versions->writer[next] = before.writer[w];
                versions->value[next++] = before.value[w];
            }
        }
        int block = next;
        for (int w = at; w < before.count; w++) {
            if (before.writer[w] != first) {
                versions->writer[next] = before.writer[w];
                versions->value[next++] = before.value[w];
            }
        }
        complete_key(look, key, block);
        *versions = before;
    }
}

static void complete_keys(struct look *look, int key)
{
    struct named_anomalies *found = look->found;
    if (key < SMALL_KEYS) {
        complete_key(look, key, look->keys[key].known);
        return;
    }
    if (found->graph_count < NAMED_GRAPHS) {
        find_edges(look, true);
        found->graphs[found->graph_count] = find_cycles(look);
    }
    found->graph_count++;
}

static bool too_many_completions(const struct look *look)
{
    int orders = 1;
    for (int key = 0; key < SMALL_KEYS; key++) {
        uint32_t writers = 0;
        int count = 0;
        for (int v = look->keys[key].known; v < look->keys[key].count; v++)
            writers |= UINT32_C(1) << look->keys[key].writer[v];
        for (; writers != 0; writers &= writers - 1)
            orders *= ++count;
    }
    return orders > NAMED_GRAPHS;
}

void named_anomalies_find(const struct small_history *history, struct named_anomalies *found)
{
    struct look look = {.history = history, .found = found};
    *found = (struct named_anomalies){.shared = 0};
    find_committed(&look);
    each_read(&look, look_at_elements);
    each_read(&look, look_for_intermediate);
    each_read(&look, look_for_internal);
    if (!history->registers)
        each_read(&look, look_for_fractures);
    if (!history->registers)
        each_read(&look, look_for_lost_appends);
    else
        each_read(&look, look_for_lost_writes);
    each_read(&look, look_for_pairs);
    each_read(&look, look_for_dirty_updates);
    executions_order(history, EXECUTION_SESSION, look.process);
    executions_order(history, EXECUTION_STRONG, look.realtime);
    found->contradicted = found->plain[NAMED_INCOMPATIBLE_ORDER] || found->plain[NAMED_DUPLICATE_ELEMENTS] ||
                          found->plain[NAMED_FRACTURED_APPEND];
    for (int key = 0; key < SMALL_KEYS; key++)
        find_versions(&look, key);
    if (found->contradicted)
        return;
    find_edges(&look, false);
    found->shared = find_cycles(&look);
    if (!too_many_completions(&look))
        complete_keys(&look, 0);
}
