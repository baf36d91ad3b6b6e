#include "checker/infer/list_lost.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/model/bundle.h"

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

RIG_VEC(uint32_t, targets)

void rig_unread_done(struct rig_unread *unread)
{
    rig_key_txns_done(&unread->writers);
    rig_key_txns_done(&unread->readers);
}

bool rig_unread_add_writer(struct rig_unread *unread, uint32_t key, uint32_t txn)
{
    return rig_key_txns_add(&unread->writers, (struct rig_key_txn){key, txn});
}

bool rig_unread_add_reader(struct rig_unread *unread, uint32_t key, uint32_t txn)
{
    return rig_key_txns_add(&unread->readers, (struct rig_key_txn){key, txn});
}

/* Transactions by key, those of one key ascending, perhaps repeated: of key k at [first[k], first[k + 1]). */
struct by_key {
    uint32_t *first;
    uint32_t *txns;
};

static void by_key_done(struct by_key *groups)
{
    free(groups->first);
    free(groups->txns);
}

/* Frees the list. Released with by_key_done(), also after a failure. */
static bool group(struct rig_key_txns *list, uint32_t key_count, struct by_key *groups)
{
    RIG_INVARIANT(list->count < UINT32_MAX);
    groups->first = calloc((size_t)key_count + 2, sizeof *groups->first);
    groups->txns = malloc((list->count + 1) * sizeof *groups->txns);
    if (groups->first == NULL || groups->txns == NULL)
        return false;
    uint32_t *next =
        groups->first + 1; /* per key: the place of its next one; at the end, the end of its transactions */
    for (size_t i = 0; i < list->count; i++)
        next[list->at[i].key + 1]++;
    for (uint32_t key = 0; key < key_count; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; i < list->count; i++)
        groups->txns[next[list->at[i].key]++] = list->at[i].txn;
    RIG_INVARIANT(groups->first[key_count] == list->count);
    rig_key_txns_done(list);
    return true;
}

struct scratch {
    struct targets targets;
    struct rig_bundle_sources sources;
};

static bool collect_targets(const struct by_key *writers, uint32_t key, struct targets *targets)
{
    bool done = true;
    targets->count = 0;
    for (uint32_t i = writers->first[key]; done && i < writers->first[key + 1]; i++) {
        RIG_INVARIANT(i == writers->first[key] || writers->txns[i - 1] <= writers->txns[i]);
        if (i == writers->first[key] || writers->txns[i] != writers->txns[i - 1])
            done = targets_add(targets, writers->txns[i]);
    }
    return done;
}

/* The readers in ascending order, with the writer of the last version among them. */
static bool collect_sources(const struct by_key *readers, uint32_t key, uint32_t writer,
                            struct rig_bundle_sources *sources)
{
    bool done = true, due = writer != RIG_TXN_NONE;
    sources->count = 0;
    for (uint32_t i = readers->first[key]; done && i < readers->first[key + 1]; i++) {
        uint32_t txn = readers->txns[i];
        RIG_INVARIANT(i == readers->first[key] || readers->txns[i - 1] <= txn);
        if (i > readers->first[key] && txn == readers->txns[i - 1])
            continue;
        if (due && writer < txn) {
            done = rig_bundle_sources_add(sources, (struct rig_bundle_source){writer, RIG_LINK_WW});
            due = false;
        }
        done = done && rig_bundle_sources_add(sources, (struct rig_bundle_source){txn, RIG_LINK_RW});
    }
    return done && (!due || rig_bundle_sources_add(sources, (struct rig_bundle_source){writer, RIG_LINK_WW}));
}

static bool link_key(const struct rig_versions *versions, uint32_t key, const struct by_key *readers,
                     struct scratch *scratch, struct rig_links *links)
{
    uint32_t last = rig_versions_before(versions, key, versions->keys[key].order.count);
    uint32_t writer = last == RIG_VERSION_NONE ? RIG_TXN_NONE : rig_versions_writer(versions, key, last);
    RIG_INVARIANT(writer == RIG_TXN_NONE || versions->committed[writer]);
    if (!collect_sources(readers, key, writer, &scratch->sources))
        return false;
    uint32_t target_count = (uint32_t)scratch->targets.count;
    bool relays = rig_bundle_pays(target_count, readers->first[key + 1] - readers->first[key]);
    return rig_bundle_link(scratch->targets.at, target_count, scratch->sources.at, scratch->sources.count, relays,
                           links);
}

bool rig_unread_link(struct rig_unread *unread, const struct rig_versions *versions, struct rig_links *links)
{
    uint32_t key_count = versions->history->key_count;
    struct by_key writers = {0}, readers = {0};
    struct scratch scratch = {0};
    if (unread->writers.count == 0)
        return true;
    bool linked = group(&unread->writers, key_count, &writers) && group(&unread->readers, key_count, &readers);
    for (uint32_t key = 0; linked && key < key_count; key++) {
        if (writers.first[key] == writers.first[key + 1])
            continue;
        linked = collect_targets(&writers, key, &scratch.targets) &&
                 (versions->keys[key].contested || link_key(versions, key, &readers, &scratch, links));
        unread->unordered_keys += scratch.targets.count > 1;
    }
    by_key_done(&writers);
    by_key_done(&readers);
    targets_done(&scratch.targets);
    rig_bundle_sources_done(&scratch.sources);
    return linked;
}

/* ---- in any order ---- */

static int compare_txns(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The committed writers of appends that no read shows: ascending and distinct. */
static bool collect_unread(const struct rig_versions *versions, uint32_t key, struct targets *writers)
{
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    size_t distinct = 0;
    writers->count = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        const struct rig_append *append = &slots[i];
        if (append->writer != RIG_TXN_NONE && append->position == RIG_VERSION_NONE &&
            versions->committed[append->writer] && !targets_add(writers, append->writer))
            return false;
    }
    if (writers->count > 0)
        qsort(writers->at, writers->count, sizeof writers->at[0], compare_txns);
    for (size_t i = 0; i < writers->count; i++) {
        if (i == 0 || writers->at[i] != writers->at[distinct - 1])
            writers->at[distinct++] = writers->at[i];
    }
    writers->count = distinct;
    return true;
}

static bool link_both_ways(const struct targets *writers, struct rig_links *links)
{
    uint32_t relay;
    if (!rig_links_add_nodes(links, 1, &relay))
        return false;
    for (size_t i = 0; i < writers->count; i++) {
        const uint32_t writer = writers->at[i];
        if (!rig_links_add(links, writer, relay, RIG_LINK_WW) || !rig_links_add(links, relay, writer, RIG_LINK_THROUGH))
            return false;
        links->late_before[writer] |= i + 1 < writers->count;
    }
    return true;
}

bool rig_unread_link_any_order(const struct rig_versions *versions, struct rig_links *links)
{
    struct targets writers = {0};
    bool linked = true;
    for (uint32_t key = 0; linked && key < versions->history->key_count; key++) {
        if (versions->keys[key].contested)
            continue;
        linked = collect_unread(versions, key, &writers) && (writers.count < 2 || link_both_ways(&writers, links));
    }
    targets_done(&writers);
    return linked;
}
