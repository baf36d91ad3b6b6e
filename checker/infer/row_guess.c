#include "checker/infer/row_guess.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/row_inference.h"

enum { MOST_COUNTED = 400 }; /* numbers of commits at which counts are evaluated */

/* Numbers of commits that some row excludes: from first to last. */
struct excluded {
    uint32_t first, last;
};

RIG_VEC(struct excluded, exclusions)

struct guessing {
    const struct rig_history *history;
    const struct rig_row_chains *rows;
    const struct rig_links *links;
    struct rig_arena *arena;
    enum rig_row_guess guess;
    uint32_t *of_txn;   /* per transaction: its place; RIG_PLACE_NONE: it writes nothing, or did not commit */
    uint32_t *before;   /* per transaction: commits before it in the order */
    uint32_t *ended;    /* per transaction: commits up to the last one that ended before it began */
    uint32_t *seen;     /* per operation */
    uint32_t *shown;    /* per statement that inserts: one more than the version that the read shows */
    uint32_t low, high; /* numbers that the visited reads allow, apart from exclusions */
    bool fits;          /* they allow some */
    struct exclusions excluded;
    bool no_memory;
};

/* ---- the order of the commits ---- */

struct ranked {
    uint32_t rank, at, txn;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank) : (a->at > b->at) - (a->at < b->at);
}

static bool writes(const struct guessing *g, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(g->history, txn);
    bool any = false;
    for (uint32_t i = 0; !any && i < rig_txn_op_count(g->history, txn); i++)
        any = rig_row_writes(&ops[i]);
    return any;
}

/* The next predecessor by a ww or wr edge, or RIG_NODE_NONE. The links of rows have no relays. */
static uint32_t next_before(const struct guessing *g, struct rig_links_cursor *cursor)
{
    uint32_t edge;
    do
        edge = rig_links_next(g->links, cursor);
    while (edge != RIG_NODE_NONE && rig_edge_link(edge) == RIG_LINK_RW);
    return edge == RIG_NODE_NONE ? RIG_NODE_NONE : rig_edge_node(edge);
}

/* Ranks each transaction by the first end among it and those after it, and orders it before these. False: they have a
 * cycle. */
static bool rank_all(const struct guessing *g, struct ranked *ranked, uint32_t *after, uint32_t *ready)
{
    const uint32_t count = g->history->txn_count;
    uint32_t waiting = 0, done = 0;
    for (uint32_t txn = 0; txn < count; txn++) {
        ranked[txn] = (struct ranked){rig_txn_end(g->history, txn), 0, txn};
        struct rig_links_cursor cursor = rig_links_into(g->links, txn);
        for (uint32_t earlier; (earlier = next_before(g, &cursor)) != RIG_NODE_NONE;)
            after[earlier]++;
    }
    for (uint32_t txn = 0; txn < count; txn++) {
        if (after[txn] == 0)
            ready[waiting++] = txn;
    }
    for (; done < waiting; done++) {
        const uint32_t txn = ready[done];
        ranked[txn].at = count - done;
        struct rig_links_cursor cursor = rig_links_into(g->links, txn);
        for (uint32_t earlier; (earlier = next_before(g, &cursor)) != RIG_NODE_NONE;) {
            if (ranked[earlier].rank > ranked[txn].rank)
                ranked[earlier].rank = ranked[txn].rank;
            if (--after[earlier] == 0)
                ready[waiting++] = earlier;
        }
    }
    return done == count;
}

static void number_commits(struct guessing *g, const struct ranked *ranked)
{
    uint32_t commits = 0;
    for (uint32_t i = 0; i < g->history->txn_count; i++) {
        const uint32_t txn = ranked[i].txn;
        g->before[txn] = commits;
        g->of_txn[txn] = g->rows->committed[txn] && writes(g, txn) ? commits++ : RIG_PLACE_NONE;
    }
}

/* For each transaction the commits up to the last one that had ended before it began. */
static void find_ended(struct guessing *g, struct ranked *by_end, struct ranked *by_begin)
{
    const struct rig_history *history = g->history;
    uint32_t latest = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t begin = history->txns[txn].invoke_at;
        by_end[txn] = (struct ranked){rig_txn_end(history, txn), txn, txn};
        by_begin[txn] = (struct ranked){begin == RIG_POSITION_NONE ? 0 : begin, txn, txn};
    }
    qsort(by_end, history->txn_count, sizeof *by_end, compare_ranks);
    qsort(by_begin, history->txn_count, sizeof *by_begin, compare_ranks);
    for (uint32_t i = 0, end = 0; i < history->txn_count; i++) {
        for (; end < history->txn_count && by_end[end].rank < by_begin[i].rank; end++) {
            const uint32_t place = g->of_txn[by_end[end].txn];
            latest = place != RIG_PLACE_NONE && place + 1 > latest ? place + 1 : latest;
        }
        g->ended[by_begin[i].txn] = history->has_invocations ? latest : 0;
    }
}

/* *ordered: there is an order. False when memory runs out. */
static bool order_commits(struct guessing *g, bool *ordered)
{
    const size_t count = (size_t)g->history->txn_count + 1;
    struct ranked *ranked = malloc(count * sizeof *ranked), *spare = malloc(count * sizeof *spare);
    uint32_t *after = calloc(count, sizeof *after), *ready = malloc(count * sizeof *ready);
    const bool ok = ranked != NULL && spare != NULL && after != NULL && ready != NULL;
    *ordered = ok && rank_all(g, ranked, after, ready);
    if (*ordered) {
        qsort(ranked, g->history->txn_count, sizeof *ranked, compare_ranks);
        number_commits(g, ranked);
        find_ended(g, ranked, spare);
    }
    free(ranked);
    free(spare);
    free(after);
    free(ready);
    return ok;
}

/* ---- what a read allows ---- */

static uint32_t place_of(const struct guessing *g, uint32_t version)
{
    return g->of_txn[rig_rows_writer(g->rows, version)];
}

/* The next version that another transaction made, after those that the same one made of the row; *last: the last of
 * these. */
static uint32_t next_of(const struct guessing *g, uint32_t version, uint32_t *last)
{
    uint32_t next = g->rows->versions[version].next;
    *last = version;
    while (next != RIG_ROW_NONE && rig_rows_writer(g->rows, next) == rig_rows_writer(g->rows, version)) {
        *last = next;
        next = g->rows->versions[next].next;
    }
    return next;
}

/* A row that the read shows at a version: until the next one is committed. */
static void allow_shown(struct guessing *g, uint32_t version)
{
    uint32_t last;
    const uint32_t next = next_of(g, version, &last), place = place_of(g, version);
    g->fits &= last == version && place != RIG_PLACE_NONE;
    g->low = place + 1 > g->low ? place + 1 : g->low;
    if (next != RIG_ROW_NONE && place_of(g, next) < g->high)
        g->high = place_of(g, next);
}

/* A row that the read misses: not while a version that meets the condition is the last one. */
static void exclude_matching(struct guessing *g, uint32_t insert, const struct rig_row_where *condition)
{
    const struct rig_row_write *of = &g->rows->statements[insert];
    for (uint32_t at = of->first_version; at != RIG_ROW_NONE;) {
        uint32_t last;
        const uint32_t next = next_of(g, at, &last);
        const struct excluded excluded = {place_of(g, at) + 1, next == RIG_ROW_NONE ? UINT32_MAX : place_of(g, next)};
        if (rig_rows_meets(g->rows, condition, last))
            g->no_memory |= !exclusions_add(&g->excluded, excluded);
        at = next;
    }
    if (rig_row_action(of->number) == RIG_ROWS_INITIAL) /* there was no time before it */
        g->low = place_of(g, of->first_version) + 1 > g->low ? place_of(g, of->first_version) + 1 : g->low;
}

static bool is_counted(const struct rig_row_where *condition)
{
    return condition->form != RIG_ROW_LISTED;
}

static void mark_shown(struct guessing *g, const struct rig_txn_op *read, bool shows)
{
    const struct rig_read_list list = rig_txn_op_list(g->history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), number = rig_read_element(&list, at + 1);
        const uint32_t insert = rig_rows_statement(g->rows, read->key, id);
        const uint32_t statement = rig_rows_statement(g->rows, read->key, number);
        if (insert == RIG_ROW_NONE || statement == RIG_ROW_NONE) {
            g->fits = false;
            continue;
        }
        const uint32_t version = rig_rows_version(g->rows, statement, id);
        g->fits &= version != RIG_ROW_NONE;
        g->shown[insert] = shows ? version + 1 : 0;
    }
}

/* Takes all that a read says, but not counts and sums. */
static void take_read(struct guessing *g, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(g->history, txn);
    struct rig_row_where condition = rig_rows_condition(g->rows, txn, op);
    const bool may_miss = condition.is_partial;
    condition.is_partial = false; /* rows that it shows count, too */
    uint32_t end, i = rig_rows_asked(g->rows, ops[op].key, &condition, &end);
    if (is_counted(&condition))
        return;
    mark_shown(g, &ops[op], true);
    for (; i < end; i++) {
        const uint32_t insert = g->rows->inserts[i];
        const struct rig_row_write *of = &g->rows->statements[insert];
        if (!g->rows->committed[of->txn] || rig_row_own_version(g->rows, txn, op, of->number, NULL) != RIG_ROW_NONE)
            continue;
        g->fits &= of->is_whole;
        if (of->is_whole && g->shown[insert] > 0)
            allow_shown(g, g->shown[insert] - 1);
        else if (of->is_whole && !may_miss)
            exclude_matching(g, insert, &condition);
    }
    mark_shown(g, &ops[op], false);
}

/* The version of the row that counts: the reader's own, or the last one of the commits seen. */
static uint32_t current_version(const struct guessing *g, uint32_t txn, uint32_t op, uint32_t insert, uint32_t seen)
{
    const struct rig_row_write *of = &g->rows->statements[insert];
    uint32_t found = rig_row_own_version(g->rows, txn, op, of->number, NULL);
    if (found != RIG_ROW_NONE || !g->rows->committed[of->txn])
        return found;
    for (uint32_t at = of->first_version; at != RIG_ROW_NONE && place_of(g, at) < seen; at = g->rows->versions[at].next)
        found = at;
    return found;
}

/* Whether a count or a sum is as it was read, at that number of commits. */
static bool is_total(const struct guessing *g, uint32_t txn, uint32_t op, uint32_t seen)
{
    const struct rig_txn_op *ops = rig_txn_ops(g->history, txn);
    const struct rig_row_where condition = rig_row_condition_at(ops, op);
    const struct rig_read_list list = rig_txn_op_list(g->history, &ops[op]);
    int64_t count = 0, sum = 0;
    uint32_t end, i = rig_rows_asked(g->rows, ops[op].key, &condition, &end);
    for (; i < end; i++) {
        const uint32_t insert = g->rows->inserts[i], at = current_version(g, txn, op, insert, seen);
        if (at == RIG_ROW_NONE || !rig_rows_meets(g->rows, &condition, at))
            continue;
        count++;
        sum += rig_rows_number(g->rows, at);
    }
    return list.count == 2 && rig_read_element(&list, 1) == sum &&
           rig_read_element(&list, 0) == (condition.form == RIG_ROW_COUNTED ? count : 0);
}

/* ---- the number of commits ---- */

static int compare_first(const void *left, const void *right)
{
    const struct excluded *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static int compare_last(const void *left, const void *right)
{
    const struct excluded *a = left, *b = right;
    return (a->last < b->last) - (a->last > b->last);
}

/* The first number from `low` to `high` that nothing excludes; UINT32_MAX: there is none. Sorted by compare_first(). */
static uint32_t first_allowed(const struct guessing *g, uint32_t low, uint32_t high)
{
    uint32_t found = low;
    for (size_t i = 0; i < g->excluded.count && g->excluded.at[i].first <= found && found <= high; i++) {
        if (g->excluded.at[i].last >= found)
            found = g->excluded.at[i].last == UINT32_MAX ? UINT32_MAX : g->excluded.at[i].last + 1;
    }
    return found <= high ? found : UINT32_MAX;
}

/* The last one. Sorted by compare_last(). */
static uint32_t last_allowed(const struct guessing *g, uint32_t low, uint32_t high)
{
    uint32_t found = high;
    for (size_t i = 0; i < g->excluded.count && g->excluded.at[i].last >= found && found >= low; i++) {
        if (g->excluded.at[i].first > found)
            continue;
        if (g->excluded.at[i].first <= low)
            return UINT32_MAX;
        found = g->excluded.at[i].first - 1;
    }
    return found >= low ? found : UINT32_MAX;
}

/* Reads of a transaction that are visited together: all, or one. */
struct visited {
    uint32_t txn, first, end; /* operations */
};

static bool is_read(const struct rig_txn_op *op)
{
    return rig_row_is_read(op);
}

static bool fits_totals(const struct guessing *g, const struct visited *v, uint32_t seen)
{
    const struct rig_txn_op *ops = rig_txn_ops(g->history, v->txn);
    bool fits = true;
    for (uint32_t op = v->first; fits && op < v->end; op++) {
        if (!is_read(&ops[op]))
            continue;
        const struct rig_row_where condition = rig_row_condition_at(ops, op);
        fits = !is_counted(&condition) || is_total(g, v->txn, op, seen);
    }
    return fits;
}

/* A number from `low` to `high`; UINT32_MAX: none was found. */
static uint32_t choose_within(const struct guessing *g, const struct visited *v, uint32_t low, uint32_t high)
{
    const bool early = g->guess == RIG_ROW_GUESS_EARLY;
    for (unsigned tries = 0; low <= high && tries < MOST_COUNTED; tries++) {
        const uint32_t seen = early ? first_allowed(g, low, high) : last_allowed(g, low, high);
        if (seen == UINT32_MAX || fits_totals(g, v, seen))
            return seen;
        if (early)
            low = seen + 1;
        else if (seen == 0)
            break;
        else
            high = seen - 1;
    }
    return UINT32_MAX;
}

static uint32_t choose(struct guessing *g, const struct visited *v)
{
    const uint32_t own = g->before[v->txn], high = g->high < own ? g->high : own;
    const uint32_t low = g->low > g->ended[v->txn] ? g->low : g->ended[v->txn];
    if (!g->fits || g->low > high)
        return UINT32_MAX;
    if (g->excluded.count > 1)
        qsort(g->excluded.at, g->excluded.count, sizeof *g->excluded.at,
              g->guess == RIG_ROW_GUESS_EARLY ? compare_first : compare_last);
    const uint32_t seen = choose_within(g, v, low, high);
    return seen != UINT32_MAX || low == g->low ? seen : choose_within(g, v, g->low, low < high ? low : high);
}

/* Finds the number of the reads, and notes it. Gives the reads without one. */
static uint64_t visit(struct guessing *g, const struct visited *v)
{
    const struct rig_txn_op *ops = rig_txn_ops(g->history, v->txn);
    uint64_t unfit = 0;
    g->low = 0;
    g->high = UINT32_MAX;
    g->fits = true;
    g->excluded.count = 0;
    for (uint32_t op = v->first; op < v->end; op++) {
        if (is_read(&ops[op]))
            take_read(g, v->txn, op);
    }
    const uint32_t seen = choose(g, v);
    for (uint32_t op = v->first; op < v->end; op++) {
        if (!is_read(&ops[op]))
            continue;
        g->seen[g->history->txns[v->txn].first_op + op] = seen == UINT32_MAX ? RIG_PLACE_NONE : seen;
        unfit += seen == UINT32_MAX;
    }
    return unfit;
}

static uint64_t visit_all(struct guessing *g)
{
    uint64_t unfit = 0;
    for (uint32_t txn = 0; txn < g->history->txn_count && !g->no_memory; txn++) {
        const uint32_t count = g->rows->committed[txn] ? rig_txn_op_count(g->history, txn) : 0;
        if (g->guess != RIG_ROW_GUESS_APART)
            unfit += visit(g, &(struct visited){txn, 0, count});
        for (uint32_t op = 0; g->guess == RIG_ROW_GUESS_APART && op < count; op++)
            unfit += visit(g, &(struct visited){txn, op, op + 1});
    }
    return unfit;
}

bool rig_row_guess_find(const struct rig_inference *inference, enum rig_row_guess guess, struct rig_arena *arena,
                        struct rig_read_places *places, uint64_t *unfit)
{
    const size_t txns = (size_t)inference->history->txn_count + 1, ops = (size_t)inference->history->op_count + 1;
    struct guessing g = {.history = inference->history,
                         .rows = inference->rows,
                         .links = &inference->links,
                         .arena = arena,
                         .guess = guess,
                         .of_txn = rig_arena_array(arena, txns, sizeof *g.of_txn),
                         .before = rig_arena_array(arena, txns, sizeof *g.before),
                         .ended = rig_arena_array(arena, txns, sizeof *g.ended),
                         .seen = rig_arena_room(arena, ops, sizeof *g.seen),
                         .shown =
                             rig_arena_array(arena, (size_t)inference->rows->statement_count + 1, sizeof *g.shown)};
    bool ordered = false;
    *unfit = UINT64_MAX;
    if (g.of_txn == NULL || g.before == NULL || g.ended == NULL || g.seen == NULL || g.shown == NULL ||
        !order_commits(&g, &ordered))
        return false;
    memset(g.seen, 0xff, ops * sizeof *g.seen);
    if (ordered)
        *unfit = visit_all(&g);
    exclusions_done(&g.excluded);
    *places = (struct rig_read_places){.of_txn = g.of_txn, .seen = g.seen, .rows = inference->rows};
    return !g.no_memory;
}
