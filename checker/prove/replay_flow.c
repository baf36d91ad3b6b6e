/* Orders of commits: no cycle without rw edges, and no cycle with one rw edge that a level forbids. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/prove/replay_private.h"

static const char behind[] = "read a version that stands after it in the order";

static enum rig_rc refuse(const struct rig_replay *r, uint32_t txn, const char *what)
{
    return rig_fail(r->err, RIG_E_INPUT, "T%u %s", rig_txn_name(r->history, txn), what);
}

/* ---- no rw edge ---- */

/* A read whose elements are marked shows all that its transaction added before, and the same elements of others as the
 * transaction's last read of the set before it. `others`: how many it shows. */
static enum rig_rc agree_within(const struct rig_replay *r, uint32_t txn, uint32_t op, uint32_t others)
{
    RIG_REQUIRE(r->facts->shape == RIG_RESULT_SET && r->internal);
    const struct rig_txn_op *ops = r->history->ops;
    bool agrees = true, compared = false;
    for (uint32_t i = op; i-- > r->history->txns[txn].first_op;) {
        const bool reads = rig_op_reads(ops[i].kind);
        if (ops[i].key == ops[op].key && !reads)
            agrees = agrees && r->seen[i] == op + 1;
        if (ops[i].key != ops[op].key || !reads || compared || ops[i].read_state == RIG_READ_UNKNOWN)
            continue;
        const struct rig_read_list list = rig_txn_op_list(r->history, &ops[i]);
        uint32_t shown = 0;
        for (uint32_t e = 0; e < list.count; e++) {
            const struct rig_fact_write *write = rig_facts_writer(r->facts, ops[op].key, rig_read_element(&list, e));
            shown += write->txn != txn;
            agrees = agrees && (write->txn == txn || r->seen[write->op] == op + 1);
        }
        agrees = agrees && shown == others;
        compared = true;
    }
    return agrees ? RIG_OK : refuse(r, txn, "read a set that disagrees with its own earlier operations");
}

static enum rig_rc flow_set(const struct rig_replay *r, uint32_t txn, uint32_t op)
{
    const struct rig_read_list list = rig_txn_op_list(r->history, &r->history->ops[op]);
    uint32_t others = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const struct rig_fact_write *write =
            rig_facts_writer(r->facts, r->history->ops[op].key, rig_read_element(&list, i));
        if (write == NULL || r->version[write->op] == 0)
            return refuse(r, txn, "read an element that no transaction in the order added");
        if (r->seen[write->op] == op + 1)
            return refuse(r, txn, "read an element twice");
        r->seen[write->op] = op + 1;
        if (write->txn == txn ? write->op > op : r->at[write->txn] > r->at[txn])
            return refuse(r, txn, behind);
        others += write->txn != txn;
    }
    RIG_INVARIANT(others <= list.count);
    return r->internal && r->history->ops[op].read_state != RIG_READ_UNKNOWN ? agree_within(r, txn, op, others)
                                                                             : RIG_OK;
}

enum rig_rc rig_replay_flow(struct rig_replay *r)
{
    RIG_REQUIRE(r->kind == RIG_ORDER_COMMITS);
    const struct rig_history *history = r->history;
    enum rig_rc rc = RIG_OK;
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op;
             rc == RIG_OK && r->at[txn] > 0 && op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            if (!rig_op_reads(at->kind))
                continue;
            if (r->facts->shape == RIG_RESULT_SET)
                rc = flow_set(r, txn, op);
            else if (r->seen[op] != RIG_FACT_NONE && r->seen[op] > 0 &&
                     r->at[rig_replay_version(r, at->key, r->seen[op])->txn] >= r->at[txn])
                rc = refuse(r, txn, behind);
        }
    }
    return rc;
}

/* ---- ww edges only: reads show the order of writes, and may show aborted ones, or some of a transaction's ---- */

static enum rig_rc writes_of_read(struct rig_replay *r, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(rig_op_reads(r->history->ops[op].kind));
    const struct rig_txn_op *at = &r->history->ops[op];
    const struct rig_read_list list = rig_facts_external(r->facts, txn, op);
    uint32_t number = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const struct rig_fact_write *write = rig_facts_writer(r->facts, at->key, rig_read_element(&list, i));
        if (write == NULL)
            return refuse(r, txn, "read a value that no transaction wrote");
        if (r->seen[write->op] == op + 1)
            return refuse(r, txn, "read an element twice");
        r->seen[write->op] = op + 1;
        if (r->facts->shape == RIG_RESULT_LIST && r->version[write->op] > 0 && r->version[write->op] != ++number)
            return refuse(r, txn, "read a list that the order of the writes does not give");
    }
    return RIG_OK;
}

enum rig_rc rig_replay_writes(struct rig_replay *r)
{
    RIG_REQUIRE(r->kind == RIG_ORDER_WRITES);
    const struct rig_history *history = r->history;
    enum rig_rc rc = RIG_OK;
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op;
             rc == RIG_OK && r->at[txn] > 0 && op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            const uint32_t first = r->initial[at->key];
            if (!rig_op_reads(at->kind))
                continue;
            if (at->read_state == RIG_READ_UNKNOWN)
                return refuse(r, txn, "made a read without a known result");
            if (r->facts->shape != RIG_RESULT_VALUE) {
                rc = writes_of_read(r, txn, op);
                continue;
            }
            if (at->read_state == RIG_READ_SEEN && rig_facts_writer(r->facts, at->key, at->value) != NULL)
                continue;
            if (first > 0 && (history->ops[first - 1].read_state != at->read_state ||
                              (at->read_state == RIG_READ_SEEN && history->ops[first - 1].value != at->value)))
                rc = refuse(r, txn, "read another initial state than another transaction");
            r->initial[at->key] = op + 1;
        }
    }
    return rc;
}

/* ---- one rw edge ---- */

struct search {
    struct rig_replay *r;
    enum rig_forbids forbids;
    uint32_t *mark; /* per transaction: the last search that met it */
    uint32_t *waiting, waiting_count;
    uint32_t *missed, missed_count;   /* what find_missed() found: transactions */
    uint32_t *first_reader, *readers; /* UPDATES, per version: transactions that write, and read it */
    uint32_t least;                   /* no transaction below this place in the order matters */
    enum rig_keeps keeps;
    struct rig_replay_before *before; /* where the order of processes counts */
    /* Where that of real time counts. All paths lead forward in the order, so of two real-time edges one, or one
     * between their ends, closes a shorter cycle with the rw edge: one is enough. */
    uint32_t *early;     /* per transaction: the first end among it and those to which paths lead from it */
    uint32_t *late;      /* per transaction: the last begin among it and those from which paths lead to it */
    uint32_t timed;      /* the transaction whose times are spread to what meet() is given, or RIG_FACT_NONE */
    bool forwards;       /* to `late`, else to `early` */
    uint64_t steps_left; /* of all searches */
};

enum { STEPS_AN_OPERATION = 256 };

static void step(struct search *s)
{
    s->steps_left -= s->steps_left > 0;
}

/* An edge leads from `txn` to the transaction whose times are spread. */
static void spread_time(const struct search *s, uint32_t txn)
{
    RIG_REQUIRE(s->early != NULL && s->late != NULL);
    if (s->forwards && s->late[txn] > s->late[s->timed])
        s->late[s->timed] = s->late[txn];
    if (!s->forwards && s->early[s->timed] < s->early[txn])
        s->early[txn] = s->early[s->timed];
}

static void meet(struct search *s, uint32_t txn, uint32_t start)
{
    RIG_REQUIRE(txn < s->r->history->txn_count && start < s->r->history->txn_count);
    if (s->timed != RIG_FACT_NONE) {
        spread_time(s, txn);
        return;
    }
    step(s);
    if (s->r->at[txn] < s->least || txn == start || s->mark[txn] == start + 1)
        return;
    s->mark[txn] = start + 1;
    RIG_INVARIANT(s->waiting_count < s->r->history->txn_count);
    s->waiting[s->waiting_count++] = txn;
}

/* Whether paths lead along ww edges, from each version of a key to the next: then the last one seen stands for all. */
static bool is_chained(const struct search *s)
{
    return s->forbids == RIG_FORBIDS_SINGLE || s->forbids == RIG_FORBIDS_MONOTONIC_VIEW ||
           s->forbids == RIG_FORBIDS_UPDATES;
}

/* The transactions that wrote the version before that of this write; for UPDATE_ATOMIC, all versions before it; for
 * UPDATES, also those that read it. */
static void follow_write(struct search *s, uint32_t op, uint32_t start)
{
    const struct rig_replay *r = s->r;
    const uint32_t key = r->history->ops[op].key, number = r->version[op];
    const bool set = r->facts->shape == RIG_RESULT_SET;
    if (number == 0 || !(is_chained(s) || s->forbids == RIG_FORBIDS_UPDATE_ATOMIC))
        return;
    const uint32_t writer = rig_replay_version(r, key, number)->txn;
    RIG_INVARIANT(number <= rig_replay_version_count(r, key));
    for (uint32_t n = set ? 0 : number; n-- > 1 && s->steps_left > 0;) {
        const uint32_t txn = rig_replay_version(r, key, n)->txn;
        if (r->at[txn] < s->least)
            break;
        meet(s, txn, start);
        if (is_chained(s))
            break;
    }
    for (uint32_t v = r->first_version[key] + key + (set ? 0 : number - 1),
                  i = s->readers == NULL ? 0 : s->first_reader[v];
         s->readers != NULL && i < s->first_reader[v + 1] && s->steps_left > 0; i++) {
        step(s);
        if (r->at[s->readers[i]] < r->at[writer])
            meet(s, s->readers[i], start);
    }
}

/* The transactions that made the versions that a read shows: of a set, each element is one; a list is one, which its
 * last element made. The other elements of a list come with it, over the ww edges to this version. */
static void follow_read(struct search *s, uint32_t op, uint32_t start)
{
    RIG_REQUIRE(rig_op_reads(s->r->history->ops[op].kind));
    const struct rig_replay *r = s->r;
    const struct rig_txn_op *at = &r->history->ops[op];
    if (r->facts->shape == RIG_RESULT_SET) {
        const struct rig_read_list list = rig_txn_op_list(r->history, at);
        for (uint32_t i = 0; i < list.count; i++)
            meet(s, rig_facts_writer(r->facts, at->key, rig_read_element(&list, i))->txn, start);
    } else if (r->seen[op] != RIG_FACT_NONE && r->seen[op] > 0) {
        meet(s, rig_replay_version(r, at->key, r->seen[op])->txn, start);
    }
}

static void follow(struct search *s, uint32_t op, uint32_t start)
{
    if (rig_op_reads(s->r->history->ops[op].kind))
        follow_read(s, op, start);
    else
        follow_write(s, op, start);
}

static bool writes(const struct rig_replay *r, uint32_t txn, uint32_t key)
{
    for (uint32_t op = r->history->txns[txn].first_op; op < r->history->txns[txn + 1].first_op; op++) {
        if (!rig_op_reads(r->history->ops[op].kind) && (key == RIG_FACT_NONE || r->history->ops[op].key == key))
            return true;
    }
    return false;
}

struct following {
    struct search *search;
    uint32_t start;
};

static void meet_before(void *context, uint32_t txn)
{
    const struct following *following = context;
    struct search *s = following->search;
    step(s);
    meet(s, txn, following->start);
}

static void follow_process(struct search *s, uint32_t txn, uint32_t start)
{
    struct following following = {s, start};
    if (s->before != NULL)
        rig_replay_before_each(s->before, txn, meet_before, &following);
}

/* Whether cycles of two transactions alone are forbidden. */
static bool is_direct(const struct search *s)
{
    return s->forbids == RIG_FORBIDS_ATOMIC || s->forbids == RIG_FORBIDS_ATOMIC_LATER ||
           s->forbids == RIG_FORBIDS_UPDATE_ATOMIC;
}

static void follow_all(struct search *s, uint32_t start)
{
    const bool direct = is_direct(s);
    while (s->waiting_count > 0 && !direct) {
        const uint32_t txn = s->waiting[--s->waiting_count];
        follow_process(s, txn, start);
        for (uint32_t op = s->r->history->txns[txn].first_op; op < s->r->history->txns[txn + 1].first_op; op++)
            follow(s, op, start);
    }
    s->waiting_count = 0;
}

/* The transactions before the reader in the order whose versions the read misses, in the order of the versions. */
static void find_missed(struct search *s, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op >= s->r->history->txns[txn].first_op && op < s->r->history->txns[txn + 1].first_op);
    struct rig_replay *r = s->r;
    const struct rig_txn_op *at = &r->history->ops[op];
    const bool set = r->facts->shape == RIG_RESULT_SET;
    s->missed_count = 0;
    if (rig_forbids_items_alone(s->forbids) && rig_facts_found_no_row(r->facts, op))
        return;
    if (!rig_op_reads(at->kind) || at->read_state == RIG_READ_UNKNOWN || (!set && r->seen[op] == RIG_FACT_NONE))
        return;
    const struct rig_read_list list = set ? rig_txn_op_list(r->history, at) : (struct rig_read_list){0};
    for (uint32_t i = 0; i < list.count; i++)
        r->seen[rig_facts_writer(r->facts, at->key, rig_read_element(&list, i))->op] = op + 1;
    for (uint32_t n = set ? 1 : r->seen[op] + 1; n <= rig_replay_version_count(r, at->key) && s->steps_left > 0; n++) {
        const struct rig_fact_write *write = rig_replay_version(r, at->key, n);
        step(s);
        if (r->at[write->txn] >= r->at[txn])
            break;
        if (!set || r->seen[write->op] != op + 1)
            s->missed[s->missed_count++] = write->txn;
    }
}

/* `late`: the last begin among the transaction and those from which paths lead to it that count. */
static bool meets_missed(const struct search *s, uint32_t txn, uint32_t late)
{
    bool met = false;
    for (uint32_t i = 0; !met && i < s->missed_count; i++)
        met = s->mark[s->missed[i]] == txn + 1 || rig_replay_precedes(s->r->history, s->keeps, s->missed[i], txn) ||
              (s->early != NULL && s->early[s->missed[i]] < late);
    return met;
}

/* ---- real time ---- */

static void spread_times_of(struct search *s, uint32_t txn, bool forwards)
{
    s->timed = txn;
    s->forwards = forwards;
    follow_process(s, txn, txn);
    for (uint32_t op = s->r->history->txns[txn].first_op; op < s->r->history->txns[txn + 1].first_op; op++)
        follow(s, op, txn);
    s->timed = RIG_FACT_NONE;
}

/* The last begin among the transaction and those from which edges lead to its operations before this one. */
static uint32_t late_before(struct search *s, uint32_t txn, uint32_t op_end)
{
    const uint32_t whole = s->late[txn];
    s->late[txn] = rig_replay_begins(s->r->history, &s->r->history->txns[txn], false);
    s->timed = txn;
    s->forwards = true;
    follow_process(s, txn, txn);
    for (uint32_t op = s->r->history->txns[txn].first_op; op < op_end; op++)
        follow(s, op, txn);
    s->timed = RIG_FACT_NONE;
    const uint32_t late = s->late[txn];
    s->late[txn] = whole;
    RIG_INVARIANT(late <= whole);
    return late;
}

static bool find_times(struct search *s)
{
    const struct rig_history *history = s->r->history;
    s->early = malloc(((size_t)history->txn_count + 1) * sizeof s->early[0]);
    s->late = malloc(((size_t)history->txn_count + 1) * sizeof s->late[0]);
    if (s->early == NULL || s->late == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        s->early[txn] = rig_txn_end(history, txn);
        s->late[txn] = rig_replay_begins(history, &history->txns[txn], false);
    }
    for (size_t e = 0; e < s->r->count; e++)
        spread_times_of(s, s->r->events[e], true);
    for (size_t e = s->r->count; e-- > 0;)
        spread_times_of(s, s->r->events[e], false);
    return true;
}

/* False where a cycle with one rw edge out of the transaction exists (UPDATES: with one out of a transaction that
 * writes nothing; one that writes must miss nothing). */
static bool search_txn(struct search *s, uint32_t txn)
{
    RIG_REQUIRE(s->r->at[txn] > 0 && s->waiting_count == 0);
    const struct rig_replay *r = s->r;
    const uint32_t first = r->history->txns[txn].first_op, end = r->history->txns[txn + 1].first_op;
    const bool ascends = s->forbids == RIG_FORBIDS_ATOMIC_LATER || s->forbids == RIG_FORBIDS_MONOTONIC_VIEW;
    const bool updates = s->forbids == RIG_FORBIDS_UPDATES && writes(r, txn, RIG_FACT_NONE);
    s->least = UINT32_MAX;
    for (uint32_t op = first; op < end; op++) {
        find_missed(s, txn, op);
        if (s->missed_count > 0 && (updates || (s->forbids == RIG_FORBIDS_CURSOR && r->facts->shape != RIG_RESULT_SET &&
                                                writes(r, txn, r->history->ops[op].key))))
            return false;
        if (s->missed_count > 0 && r->at[s->missed[0]] < s->least)
            s->least = r->at[s->missed[0]];
    }
    if (s->least == UINT32_MAX || s->forbids == RIG_FORBIDS_CURSOR)
        return true;
    if (!is_direct(s))
        follow_process(s, txn, txn);
    follow_all(s, txn);
    for (uint32_t op = first; op < end; op++) {
        if (ascends) {
            find_missed(s, txn, op);
            if (s->missed_count > 0 &&
                meets_missed(s, txn, s->late == NULL || is_direct(s) ? 0 : late_before(s, txn, op)))
                return false;
        }
        follow(s, op, txn);
        follow_all(s, txn);
    }
    for (uint32_t op = first; op < end && !ascends; op++) {
        find_missed(s, txn, op);
        if (meets_missed(s, txn, s->late == NULL ? 0 : s->late[txn]))
            return false;
    }
    return true;
}

/* Versions of a key and its initial state, which comes first, have consecutive places. All readers of a set are at the
 * first one: those before an addition miss it, because transactions that write miss nothing before them. */
static bool index_readers(struct search *s)
{
    RIG_REQUIRE(s->forbids == RIG_FORBIDS_UPDATES);
    const struct rig_history *history = s->r->history;
    const bool set = s->r->facts->shape == RIG_RESULT_SET;
    s->first_reader = calloc((size_t)history->op_count + history->key_count + 3, sizeof s->first_reader[0]);
    s->readers = calloc((size_t)history->op_count + 1, sizeof s->readers[0]);
    for (int pass = 0; s->first_reader != NULL && s->readers != NULL && pass < 2; pass++) {
        for (uint32_t txn = 0; txn < history->txn_count; txn++) {
            const bool counts = s->r->at[txn] > 0 && writes(s->r, txn, RIG_FACT_NONE);
            for (uint32_t op = history->txns[txn].first_op; counts && op < history->txns[txn + 1].first_op; op++) {
                const uint32_t key = history->ops[op].key, seen = set ? 0 : s->r->seen[op];
                if (!rig_op_reads(history->ops[op].kind) || history->ops[op].read_state == RIG_READ_UNKNOWN ||
                    seen == RIG_FACT_NONE)
                    continue;
                const uint32_t version = s->r->first_version[key] + key + seen;
                if (pass == 0)
                    s->first_reader[version + 2]++;
                else
                    s->readers[s->first_reader[version + 1]++] = txn;
            }
        }
        for (size_t v = 2; pass == 0 && v < (size_t)history->op_count + history->key_count + 3; v++)
            s->first_reader[v] += s->first_reader[v - 1];
    }
    return s->first_reader != NULL && s->readers != NULL;
}

/* Whether memory suffices. */
static bool search_init(struct search *s)
{
    const bool paths = !is_direct(s) && s->forbids != RIG_FORBIDS_CURSOR;
    if (s->mark == NULL || s->waiting == NULL || s->missed == NULL ||
        (s->forbids == RIG_FORBIDS_UPDATES && !index_readers(s)))
        return false;
    if (paths && s->keeps != RIG_KEEPS_NOTHING)
        s->before = rig_replay_before_new(s->r);
    return !paths || s->keeps == RIG_KEEPS_NOTHING ||
           (s->before != NULL && (s->keeps != RIG_KEEPS_TIME || find_times(s)));
}

enum rig_rc rig_replay_single(struct rig_replay *r, enum rig_forbids forbids, enum rig_keeps keeps)
{
    RIG_REQUIRE(r->kind == RIG_ORDER_COMMITS && forbids != RIG_FORBIDS_FLOW);
    const size_t txns = (size_t)r->history->txn_count + 1;
    struct search s = {.r = r,
                       .forbids = forbids,
                       .keeps = keeps,
                       .timed = RIG_FACT_NONE,
                       .mark = calloc(txns, sizeof *s.mark),
                       .waiting = calloc(txns, sizeof *s.waiting),
                       .missed = calloc((size_t)r->history->op_count + 1, sizeof *s.missed),
                       .steps_left = (uint64_t)STEPS_AN_OPERATION * ((uint64_t)r->history->op_count + 4096)};
    enum rig_rc rc = search_init(&s) ? RIG_OK : rig_no_memory(r->err, "the replay");
    for (uint32_t txn = 0; rc == RIG_OK && txn < r->history->txn_count; txn++) {
        if (r->at[txn] > 0 && !search_txn(&s, txn))
            rc = refuse(r, txn, "misses a write that the level does not allow it to miss");
        if (s.steps_left == 0)
            rc = rig_fail(r->err, RIG_E_LIMIT, "the search for cycles with one rw edge takes too long");
    }
    free(s.mark);
    free(s.waiting);
    free(s.missed);
    free(s.first_reader);
    free(s.readers);
    rig_replay_before_free(s.before);
    free(s.early);
    free(s.late);
    return rc;
}
