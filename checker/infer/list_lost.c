#include "checker/infer/list_lost.h"

#include <stdlib.h>

#include "base/bug.h"

/* An append that a later read misses, as far as one key's latest invocation tells. */
struct candidate {
    uint32_t key, txn;
    uint32_t acknowledged; /* position */
    uint32_t last_shown;   /* completion of the last read that shows it, or lower than `acknowledged` */
    int64_t value;
};

/* An acknowledged read. */
struct read {
    uint32_t key, invoke_at;
    uint32_t newest; /* latest invocation among the writers of what it shows; 0: it shows nothing */
    uint32_t txn, op;
    uint32_t best; /* index of the read with the greatest `newest`, of this one and the later ones of the key */
};

RIG_VEC(struct candidate, candidates)
RIG_VEC(struct read, reads)

struct search {
    const struct rig_versions *versions;
    const struct rig_history *history;
    size_t *first;         /* per list (the spines of the keys, then the branches): its first own element below */
    uint32_t *shown;       /* per own element of a list: the last completion of an acknowledged read of it; 0: none */
    uint32_t *newest;      /* per own element: the latest invocation among the writers up to it; 0: none is known */
    uint32_t *last_shown;  /* per slot: as `shown`, over all lists */
    uint32_t *last_invoke; /* per key: the latest invocation of an acknowledged read; 0: none */
    struct candidates candidates;
    struct reads reads;
};

static void done(struct search *s)
{
    free(s->first);
    free(s->shown);
    free(s->newest);
    free(s->last_shown);
    free(s->last_invoke);
    candidates_done(&s->candidates);
    reads_done(&s->reads);
}

/* ---- lists ---- */

static uint32_t own_count(const struct rig_history *history, uint32_t list)
{
    if (list < history->key_count)
        return history->spines[list].count;
    const struct rig_branch *branch = &history->branches[list - history->key_count];
    return branch->count - branch->shared;
}

static bool make_room(struct search *s)
{
    const struct rig_history *history = s->history;
    const size_t lists = (size_t)history->key_count + history->branch_count;
    size_t total = 0;
    s->first = malloc((lists + 1) * sizeof *s->first);
    if (s->first == NULL)
        return false;
    for (uint32_t list = 0; list < lists; list++) {
        s->first[list] = total;
        total += own_count(history, list);
    }
    s->first[lists] = total;
    s->shown = calloc(total + 1, sizeof *s->shown);
    s->newest = calloc(total + 1, sizeof *s->newest);
    s->last_shown = calloc((size_t)s->versions->slot_count + 1, sizeof *s->last_shown);
    s->last_invoke = calloc((size_t)history->key_count + 1, sizeof *s->last_invoke);
    return s->shown != NULL && s->newest != NULL && s->last_shown != NULL && s->last_invoke != NULL;
}

static void raise(uint32_t *at, uint32_t to)
{
    *at = to > *at ? to : *at;
}

static bool is_known(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_LIST && op->read_state != RIG_READ_UNKNOWN;
}

/* The number of operations of an acknowledged transaction; 0 of any other. */
static uint32_t acknowledged_ops(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].outcome == RIG_OUTCOME_OK ? rig_txn_op_count(history, txn) : 0;
}

static void note_read(struct search *s, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_history *history = s->history;
    const struct rig_txn *t = &history->txns[txn];
    const struct rig_read_list list = rig_txn_op_list(history, op);
    const uint32_t end = t->complete_at, tail = list.count - list.shared;
    if (t->invoke_at != RIG_POSITION_NONE)
        raise(&s->last_invoke[op->key], t->invoke_at);
    if (list.shared > 0)
        raise(&s->shown[s->first[op->key] + list.shared - 1], end);
    if (tail > 0)
        raise(&s->shown[s->first[history->key_count + rig_txn_op_branch(op)] + tail - 1], end);
}

static void note_reads(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < acknowledged_ops(history, txn); i++) {
            if (is_known(&ops[i]))
                note_read(s, txn, &ops[i]);
        }
    }
}

/* The invocation of an element's writer; 0 where it is not known, or failed. */
static uint32_t requested(const struct rig_history *history, const struct rig_append *append)
{
    if (append == NULL || history->txns[append->writer].outcome == RIG_OUTCOME_FAIL)
        return 0;
    const uint32_t invoke_at = history->txns[append->writer].invoke_at;
    return invoke_at == RIG_POSITION_NONE ? 0 : invoke_at;
}

/* Completes `shown`, `newest` and `last_shown` for the own elements of a list; `newest` of the ones before is given. */
static void follow_list(struct search *s, uint32_t list, uint32_t key, const int64_t *at, uint32_t newest)
{
    const size_t first = s->first[list], end = s->first[list + 1];
    for (size_t i = end; i-- > first + 1;)
        raise(&s->shown[i - 1], s->shown[i]);
    for (size_t i = first; i < end; i++) {
        const struct rig_append *append = rig_versions_find(s->versions, key, at[i - first]);
        raise(&newest, requested(s->history, append));
        s->newest[i] = newest;
        if (append != NULL)
            raise(&s->last_shown[append - s->versions->slots], s->shown[i]);
    }
}

static void follow_lists(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t key = 0; key < history->key_count; key++)
        follow_list(s, key, key, history->spines[key].at, 0);
    for (uint32_t i = 0; i < history->branch_count; i++) {
        const struct rig_branch *branch = &history->branches[i];
        const uint32_t before = branch->shared == 0 ? 0 : s->newest[s->first[branch->key] + branch->shared - 1];
        follow_list(s, history->key_count + i, branch->key, branch->tail, before);
    }
}

/* ---- appends and the reads after them ---- */

static uint32_t latest(const struct candidate *c)
{
    return c->last_shown > c->acknowledged ? c->last_shown : c->acknowledged;
}

static bool take_append(struct search *s, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_append *append = rig_versions_append(s->versions, op->key, op->value);
    const struct candidate c = {.key = op->key,
                                .txn = txn,
                                .acknowledged = s->history->txns[txn].complete_at,
                                .last_shown = s->last_shown[append - s->versions->slots],
                                .value = op->value};
    return s->last_invoke[op->key] <= latest(&c) || candidates_add(&s->candidates, c);
}

static bool take_appends(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < acknowledged_ops(history, txn); i++) {
            if (ops[i].kind == RIG_OP_APPEND && !take_append(s, txn, &ops[i]))
                return false;
        }
    }
    return true;
}

static uint32_t newest_of(const struct search *s, const struct rig_txn_op *op)
{
    const struct rig_read_list list = rig_txn_op_list(s->history, op);
    const uint32_t tail = list.count - list.shared;
    if (tail > 0)
        return s->newest[s->first[s->history->key_count + rig_txn_op_branch(op)] + tail - 1];
    return list.shared == 0 ? 0 : s->newest[s->first[op->key] + list.shared - 1];
}

/* The acknowledged reads of the keys with candidates; last_invoke marks these keys from here on. */
static bool collect_reads(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t key = 0; key < history->key_count; key++)
        s->last_invoke[key] = 0;
    for (size_t i = 0; i < s->candidates.count; i++)
        s->last_invoke[s->candidates.at[i].key] = 1;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const uint32_t count = t->invoke_at == RIG_POSITION_NONE ? 0 : acknowledged_ops(history, txn);
        for (uint32_t i = 0; i < count; i++) {
            if (!is_known(&ops[i]) || s->last_invoke[ops[i].key] == 0)
                continue;
            const struct read read = {
                .key = ops[i].key, .invoke_at = t->invoke_at, .newest = newest_of(s, &ops[i]), .txn = txn, .op = i};
            if (!reads_add(&s->reads, read))
                return false;
        }
    }
    return s->reads.count < UINT32_MAX;
}

static int compare_reads(const void *left, const void *right)
{
    const struct read *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->invoke_at != b->invoke_at)
        return a->invoke_at < b->invoke_at ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

static void sort_reads(struct search *s)
{
    struct read *reads = s->reads.at;
    qsort(reads, s->reads.count, sizeof *reads, compare_reads);
    for (uint32_t i = (uint32_t)s->reads.count; i-- > 0;) {
        reads[i].best = i;
        if (i + 1 < s->reads.count && reads[i + 1].key == reads[i].key &&
            reads[reads[i + 1].best].newest > reads[i].newest)
            reads[i].best = reads[i + 1].best;
    }
}

/* The first read of the key that was invoked after the position; one exists. */
static const struct read *first_after(const struct search *s, uint32_t key, uint32_t position)
{
    size_t low = 0, high = s->reads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct read *read = &s->reads.at[middle];
        if (read->key < key || (read->key == key && read->invoke_at <= position))
            low = middle + 1;
        else
            high = middle;
    }
    RIG_INVARIANT(low < s->reads.count && s->reads.at[low].key == key);
    return &s->reads.at[low];
}

/* The read that shows the loss, or NULL. */
static const struct read *read_without(const struct search *s, const struct candidate *c)
{
    const struct read *first = first_after(s, c->key, latest(c));
    if (c->last_shown <= c->acknowledged)
        return first;
    const struct read *best = &s->reads.at[first->best];
    return best->newest > c->acknowledged ? best : NULL;
}

static bool note_lost(const struct search *s, struct rig_noncyclic_findings *noncyclic, struct rig_noncyclic_list *all)
{
    for (size_t i = 0; i < s->candidates.count; i++) {
        const struct candidate *c = &s->candidates.at[i];
        const struct read *read = read_without(s, c);
        if (read == NULL)
            continue;
        RIG_INVARIANT(read->txn != c->txn && read->invoke_at > c->acknowledged);
        const struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_LOST_APPEND,
                                            .key = c->key,
                                            .txn = c->txn,
                                            .op = UINT32_MAX,
                                            .other = read->txn,
                                            .other_op = read->op,
                                            .value = c->value};
        if (!rig_noncyclic_note(noncyclic, &found) || !rig_noncyclic_list_add(all, found))
            return false;
    }
    return true;
}

bool rig_list_lost_appends(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic,
                           struct rig_noncyclic_list *all)
{
    struct search s = {.versions = versions, .history = versions->history};
    if (!s.history->has_invocations)
        return true;
    bool found = make_room(&s);
    if (found) {
        note_reads(&s);
        follow_lists(&s);
        found = take_appends(&s);
    }
    if (found && s.candidates.count > 0) {
        found = collect_reads(&s);
        if (found)
            sort_reads(&s);
        found = found && note_lost(&s, noncyclic, all);
    }
    done(&s);
    return found;
}
