#include "checker/infer/row_counts.h"

#include <stdlib.h>
#include <string.h>

#include "checker/infer/row_inference.h"

enum { MOST_TRIED = 18, MOST_TOTALS = 8 };

void rig_row_counts_done(struct rig_row_counts *counts)
{
    free(counts->seen);
    rig_row_exceptions_done(&counts->changed);
}

/* Whether the read shows a number or a sum of rows other than 0. */
static bool row_is_total(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (!rig_row_is_read(&ops[op]) || rig_row_condition_at(ops, op).form == RIG_ROW_LISTED)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    return list.count == 2 && !rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1));
}

static int compare_exceptions(const void *left, const void *right)
{
    const struct rig_row_exception *a = left, *b = right;
    if (a->reader != b->reader)
        return a->reader < b->reader ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

bool rig_row_counts_saw(const struct rig_row_counts *counts, uint32_t reader, uint32_t txn)
{
    const struct rig_row_exception wanted = {reader, txn};
    const bool before = counts->of_txn[txn] != RIG_PLACE_NONE && counts->of_txn[txn] < counts->seen[reader];
    const bool changed = counts->changed.count > 0 && bsearch(&wanted, counts->changed.at, counts->changed.count,
                                                              sizeof wanted, compare_exceptions) != NULL;
    return before != changed;
}

struct near {
    uint32_t place, txn;
};

static int compare_near(const void *left, const void *right)
{
    const struct near *a = left, *b = right;
    return a->place != b->place ? (a->place > b->place) - (a->place < b->place) : (a->txn > b->txn) - (a->txn < b->txn);
}

RIG_VEC(struct near, nears)

/* A transaction whose counts fit no number of commits, and the commits that it may have seen. */
struct trying {
    const struct rig_inference *inference;
    const struct rig_history *history;
    const struct rig_row_chains *rows;
    const uint32_t *of_txn;
    uint32_t
        *state;     /* per transaction: one more than twice its place among `tried`, or what is certain; of this mark */
    uint32_t *mark; /* per transaction: of the reader whose state this is */
    uint32_t txn, begin, end;
    struct nears writers;              /* of the rows that the totals ask for, in the order of the commits */
    uint32_t tried[MOST_TRIED], count; /* transactions */
    bool saw[MOST_TRIED];
    uint32_t totals[MOST_TOTALS], total_count; /* operations */
    int64_t base[MOST_TOTALS], wanted[MOST_TOTALS], delta[MOST_TRIED][MOST_TOTALS];
};

enum { STATE_SEEN = 0, STATE_UNSEEN = 1, STATE_TRIED = 2 };

static void certain(struct trying *t, uint32_t txn, uint32_t state)
{
    t->mark[txn] = t->txn + 1;
    t->state[txn] = state;
}

/* Whether the reader saw the commit, as it is tried. */
static bool saw(const struct trying *t, uint32_t txn)
{
    if (t->mark[txn] == t->txn + 1 && t->state[txn] >= STATE_TRIED)
        return t->saw[t->state[txn] - STATE_TRIED];
    return t->mark[txn] == t->txn + 1 && t->state[txn] == STATE_SEEN;
}

/* The total that a read would show: count and sum in one number, where the count is shown. */
static int64_t total_of(const struct trying *t, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(t->history, t->txn);
    const struct rig_row_where condition = rig_row_condition_at(ops, op);
    uint64_t sum = 0;
    uint32_t end, i = rig_rows_asked(t->rows, ops[op].key, &condition, &end);
    for (; i < end; i++) {
        const struct rig_row_write *row = &t->rows->statements[t->rows->inserts[i]];
        uint32_t found = rig_row_own_version(t->rows, t->txn, op, row->number, NULL);
        for (uint32_t at = found != RIG_ROW_NONE || !t->rows->committed[row->txn] ? RIG_ROW_NONE : row->first_version;
             at != RIG_ROW_NONE; at = t->rows->versions[at].next)
            found = saw(t, rig_rows_writer(t->rows, at)) ? at : found;
        if (found != RIG_ROW_NONE && rig_rows_meets(t->rows, &condition, found))
            sum += (uint64_t)rig_rows_number(t->rows, found);
    }
    return (int64_t)sum;
}

/* Sorts out which commits may have been seen: writers of rows that the total asks for. */
static void consider(struct trying *t, uint32_t writer)
{
    if (t->mark[writer] == t->txn + 1)
        return;
    const uint32_t begin = t->history->txns[writer].invoke_at, end = rig_txn_end(t->history, writer);
    if (end < t->begin)
        certain(t, writer, STATE_SEEN);
    else if (t->count == MOST_TRIED || (t->end != RIG_POSITION_NONE && begin != RIG_POSITION_NONE && begin > t->end))
        certain(t, writer, STATE_UNSEEN);
    else {
        certain(t, writer, STATE_TRIED + t->count);
        t->tried[t->count++] = writer;
    }
}

/* The writers of the rows that the totals ask for, in the order of the commits. False when memory runs out. */
static bool consider_all(struct trying *t)
{
    bool ok = true;
    t->writers.count = 0;
    for (uint32_t n = 0; ok && n < t->total_count; n++) {
        const struct rig_txn_op *ops = rig_txn_ops(t->history, t->txn);
        const struct rig_row_where condition = rig_row_condition_at(ops, t->totals[n]);
        uint32_t end, i = rig_rows_asked(t->rows, ops[t->totals[n]].key, &condition, &end);
        for (; ok && i < end; i++) {
            const struct rig_row_write *row = &t->rows->statements[t->rows->inserts[i]];
            for (uint32_t at = t->rows->committed[row->txn] ? row->first_version : RIG_ROW_NONE;
                 ok && at != RIG_ROW_NONE; at = t->rows->versions[at].next) {
                const uint32_t writer = rig_rows_writer(t->rows, at);
                ok = nears_add(&t->writers, (struct near){t->of_txn[writer], writer});
            }
        }
    }
    if (ok && t->writers.count > 1)
        qsort(t->writers.at, t->writers.count, sizeof t->writers.at[0], compare_near);
    for (size_t i = 0; ok && i < t->writers.count; i++)
        consider(t, t->writers.at[i].txn);
    return ok;
}

static bool fits(const struct trying *t)
{
    bool fit = true;
    for (uint32_t n = 0; fit && n < t->total_count; n++)
        fit = total_of(t, t->totals[n]) == t->wanted[n];
    return fit;
}

/* Tries the commits from `next` on both ways; `left`: what the totals still lack. The earlier ones first as seen. */
static bool try_from(struct trying *t, uint32_t next, const int64_t *left)
{
    if (next == t->count) {
        bool none = true;
        for (uint32_t n = 0; n < t->total_count; n++)
            none = none && left[n] == 0;
        return none && fits(t);
    }
    for (int way = 0; way < 2; way++) {
        int64_t rest[MOST_TOTALS];
        t->saw[next] = way == 0;
        for (uint32_t n = 0; n < t->total_count; n++)
            rest[n] = left[n] - (way == 0 ? t->delta[next][n] : 0);
        if (try_from(t, next + 1, rest))
            return true;
    }
    return false;
}

/* The weight of each commit alone in the totals: exact where no row has versions of two of them. */
static void weigh(struct trying *t, int64_t *left)
{
    memset(t->saw, 0, sizeof t->saw);
    for (uint32_t n = 0; n < t->total_count; n++) {
        t->base[n] = total_of(t, t->totals[n]);
        left[n] = t->wanted[n] - t->base[n];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        t->saw[i] = true;
        for (uint32_t n = 0; n < t->total_count; n++)
            t->delta[i][n] = total_of(t, t->totals[n]) - t->base[n];
        t->saw[i] = false;
    }
}

/* Finds the commits that the transaction saw. *found is false where no set of them fits. False when memory runs out. */
static bool try_sets(struct trying *t, uint32_t txn, bool *found)
{
    const uint32_t begin = t->history->txns[txn].invoke_at;
    int64_t left[MOST_TOTALS];
    t->txn = txn;
    t->begin = begin == RIG_POSITION_NONE ? 0 : begin;
    t->end = rig_txn_end(t->history, txn);
    t->count = t->total_count = 0;
    for (uint32_t op = 0; op < rig_txn_op_count(t->history, txn) && t->total_count < MOST_TOTALS; op++) {
        const struct rig_read_list list = row_is_total(t->history, txn, op)
                                              ? rig_txn_op_list(t->history, rig_txn_ops(t->history, txn) + op)
                                              : (struct rig_read_list){0};
        if (list.count == 2) {
            t->wanted[t->total_count] = rig_read_element(&list, 1);
            t->totals[t->total_count++] = op;
        }
    }
    struct rig_links_cursor cursor = rig_links_into(&t->inference->links, txn);
    for (uint32_t edge; (edge = rig_links_next(&t->inference->links, &cursor)) != RIG_NODE_NONE;) {
        if (rig_edge_link(edge) != RIG_LINK_RW)
            certain(t, rig_edge_node(edge), STATE_SEEN);
    }
    if (!consider_all(t))
        return false;
    weigh(t, left);
    *found = t->total_count > 0 && try_from(t, 0, left);
    return true;
}

/* A number of commits, and the exceptions from it. */
static bool note_seen(const struct trying *t, struct rig_row_counts *counts)
{
    bool ok = true;
    uint32_t *seen = &counts->seen[t->txn];
    *seen = 0;
    for (size_t i = 0; i < t->writers.count; i++) {
        const struct near *writer = &t->writers.at[i];
        if (writer->place != RIG_PLACE_NONE && rig_txn_end(t->history, writer->txn) < t->begin)
            *seen = writer->place + 1;
    }
    for (size_t i = 0; ok && i < t->writers.count; i++) {
        const struct near *writer = &t->writers.at[i];
        const bool repeats = i > 0 && t->writers.at[i - 1].txn == writer->txn;
        const bool before = writer->place != RIG_PLACE_NONE && writer->place < *seen;
        if (!repeats && before != saw(t, writer->txn))
            ok = rig_row_exceptions_add(&counts->changed, (struct rig_row_exception){t->txn, writer->txn});
    }
    return ok;
}

/* The number of a transaction: that of its reads. */
static uint32_t number_of(const struct rig_history *history, const struct rig_read_places *places, uint32_t txn)
{
    uint32_t seen = RIG_PLACE_NONE;
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn) && seen == RIG_PLACE_NONE; op++)
        seen = places->seen[history->txns[txn].first_op + op];
    return seen;
}

static bool find_all(struct trying *t, const struct rig_read_places *places, struct rig_row_counts *counts)
{
    bool ok = true;
    for (uint32_t txn = 0; ok && txn < t->history->txn_count; txn++) {
        bool any = false, found = false;
        counts->seen[txn] = number_of(t->history, places, txn);
        for (uint32_t op = 0; op < rig_txn_op_count(t->history, txn) && t->inference->committed[txn]; op++)
            any |= row_is_total(t->history, txn, op);
        if (!any || counts->seen[txn] != RIG_PLACE_NONE)
            continue;
        ok = try_sets(t, txn, &found);
        counts->unfit += !found;
        ok = ok && note_seen(t, counts);
    }
    if (counts->changed.count > 1)
        qsort(counts->changed.at, counts->changed.count, sizeof counts->changed.at[0], compare_exceptions);
    return ok;
}

bool rig_row_counts_find(const struct rig_inference *inference, const struct rig_read_places *places,
                         struct rig_row_counts *counts)
{
    const size_t txns = (size_t)inference->history->txn_count + 1;
    struct trying *t = calloc(1, sizeof *t);
    *counts = (struct rig_row_counts){.of_txn = places->of_txn, .seen = malloc(txns * sizeof *counts->seen)};
    bool ok = t != NULL && counts->seen != NULL;
    if (ok) {
        t->inference = inference;
        t->history = inference->history;
        t->rows = inference->rows;
        t->of_txn = places->of_txn;
        t->state = calloc(txns, sizeof *t->state);
        t->mark = calloc(txns, sizeof *t->mark);
        ok = t->state != NULL && t->mark != NULL && find_all(t, places, counts);
        free(t->state);
        free(t->mark);
        nears_done(&t->writers);
    }
    free(t);
    return ok;
}
