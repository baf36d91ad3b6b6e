#include "checker/infer/register_lost.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/types/types.h"

#define NONE RIG_REGISTER_NONE

/* A version; positions, NONE where there is none. */
struct about {
    uint32_t settled; /* first acknowledgement of its writer or of a reader */
    uint32_t highest; /* the latest invocation among the acknowledged writers of the key up to this one */
    uint32_t before;  /* the acknowledged last write of the key before this one */
};

struct read {
    uint32_t key, txn, op, version; /* version NONE: one of several writes of its value */
    bool own;                       /* its transaction wrote the key before */
};

struct write {
    uint32_t key, txn, version, invoke_at;
};

RIG_VEC(struct read, lost_reads)
RIG_VEC(struct write, lost_writes)

struct search {
    const struct rig_registers *registers;
    const struct rig_history *history;
    const uint8_t *open_keys;
    struct about *about;       /* per version */
    uint32_t *last;            /* per key: its last acknowledged last write so far */
    uint8_t *suspected;        /* per key: a read may miss an acknowledged write */
    uint32_t *parent;          /* per version of suspected keys: what its acknowledged writer read before it wrote */
    uint32_t *older_than;      /* per version: the last candidate that it was found to be older than */
    struct lost_reads reads;   /* of suspected keys, by key and completion */
    struct lost_writes writes; /* of suspected keys, by key and invocation */
};

static uint32_t first_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The invocation; 0 where it is not known. */
static uint32_t invoked(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

static uint32_t version_at(const struct search *s, uint32_t txn, uint32_t op)
{
    return s->registers->version_of[s->history->txns[txn].first_op + op];
}

static bool is_last_write(const struct search *s, const struct rig_txn_op *op, uint32_t version)
{
    return op->kind == RIG_OP_WRITE && version != NONE && !s->registers->versions[version].superseded;
}

/* ---- survey ---- */

/* The version that all reads of the key show before the transaction's first write of it, or NONE. */
static uint32_t find_parent(const struct search *s, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
    uint32_t parent = NONE;
    for (uint32_t i = 0;; i++) {
        if (ops[i].key != key)
            continue;
        const uint32_t version = version_at(s, txn, i);
        if (ops[i].kind == RIG_OP_WRITE)
            return parent;
        if (version == NONE || (parent != NONE && version != parent))
            return NONE;
        parent = version;
    }
}

static void take_write(struct search *s, uint32_t txn, uint32_t key, uint32_t version)
{
    const struct rig_txn *t = &s->history->txns[txn];
    struct about *about = &s->about[version];
    const uint32_t before = s->last[key];
    about->settled = first_of(about->settled, t->complete_at);
    about->before = before;
    about->highest = invoked(t);
    if (before != NONE && s->about[before].highest > about->highest)
        about->highest = s->about[before].highest;
    s->last[key] = version;
}

static uint32_t acknowledged_at(const struct search *s, uint32_t version)
{
    return s->history->txns[s->registers->versions[version].writer].complete_at;
}

/* Whether the write or one before it, of those since the version was settled, is an update of the version. */
static bool is_updated(const struct search *s, uint32_t key, uint32_t version, uint32_t write)
{
    const uint32_t settled = s->about[version].settled;
    for (; write != NONE && acknowledged_at(s, write) >= settled; write = s->about[write].before) {
        if (write != version && find_parent(s, s->registers->versions[write].writer, key) == version)
            return true;
    }
    return false;
}

static void take_read(struct search *s, uint32_t txn, uint32_t key, uint32_t version)
{
    const struct rig_txn *t = &s->history->txns[txn];
    struct about *about = &s->about[version];
    about->settled = first_of(about->settled, t->complete_at);
    uint32_t write = s->last[key];
    while (write != NONE && acknowledged_at(s, write) >= invoked(t))
        write = s->about[write].before;
    if (write == NONE || s->suspected[key])
        return;
    const bool initial = version < s->history->key_count;
    if (initial || about->settled < s->about[write].highest || is_updated(s, key, version, write))
        s->suspected[key] = 1;
}

static bool survey(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const uint32_t version = version_at(s, txn, i);
            if (is_last_write(s, &ops[i], version))
                take_write(s, txn, ops[i].key, version);
            else if (ops[i].kind != RIG_OP_WRITE && version != NONE && s->registers->versions[version].writer != txn)
                take_read(s, txn, ops[i].key, version);
        }
    }
    bool any = false;
    for (uint32_t key = 0; key < history->key_count; key++) {
        s->suspected[key] &= s->open_keys == NULL || !s->open_keys[key];
        any |= s->suspected[key] != 0;
    }
    return any;
}

/* ---- the operations on suspected keys ---- */

static bool wrote_before(const struct rig_txn_op *ops, uint32_t op)
{
    for (uint32_t i = 0; i < op; i++) {
        if (ops[i].kind == RIG_OP_WRITE && ops[i].key == ops[op].key)
            return true;
    }
    return false;
}

static bool collect_txn(struct search *s, uint32_t txn)
{
    const struct rig_txn *t = &s->history->txns[txn];
    const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(s->history, txn); i++) {
        const uint32_t version = version_at(s, txn, i), key = ops[i].key;
        const bool reads =
            ops[i].kind != RIG_OP_WRITE && (version != NONE || rig_workload_repeats_values(s->history->workload));
        if (!s->suspected[key] || (version == NONE && !reads))
            continue;
        if (is_last_write(s, &ops[i], version)) {
            if (!lost_writes_add(&s->writes, (struct write){key, txn, version, invoked(t)}))
                return false;
            s->parent[version] = t->outcome == RIG_OUTCOME_OK ? find_parent(s, txn, key) : NONE;
        } else if (t->outcome == RIG_OUTCOME_OK && reads &&
                   (version == NONE || s->registers->versions[version].writer != txn) &&
                   !lost_reads_add(&s->reads, (struct read){key, txn, i, version, wrote_before(ops, i)})) {
            return false;
        }
    }
    return true;
}

static int compare_reads(const void *left, const void *right)
{
    const struct read *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

static int compare_writes(const void *left, const void *right)
{
    const struct write *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->invoke_at != b->invoke_at)
        return a->invoke_at < b->invoke_at ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static bool collect(struct search *s)
{
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        if (s->history->txns[txn].outcome != RIG_OUTCOME_FAIL && !collect_txn(s, txn))
            return false;
    }
    if (s->reads.count > 0)
        qsort(s->reads.at, s->reads.count, sizeof *s->reads.at, compare_reads);
    if (s->writes.count > 0)
        qsort(s->writes.at, s->writes.count, sizeof *s->writes.at, compare_writes);
    return true;
}

/* ---- which writes are lost ---- */

/* Older than the candidate without what was written after its acknowledgement. */
static bool is_before(const struct search *s, const struct write *c, uint32_t version)
{
    if (version == c->version)
        return false;
    return version < s->history->key_count || s->about[version].settled < c->invoke_at ||
           s->parent[c->version] == version;
}

/* The key went on to the version from an older one without the candidate, by updates invoked after its acknowledgement.
 * Reads may contradict each other, so that the updates form a ring: it has no older version. */
static bool went_on(struct search *s, const struct write *c, uint32_t version)
{
    const uint32_t from = version, acknowledged = acknowledged_at(s, c->version);
    if (s->older_than[version] == c->version)
        return true;
    for (uint32_t steps = 0; steps < s->registers->version_count; steps++) {
        const uint32_t writer = version == c->version ? NONE : s->registers->versions[version].writer;
        if (writer == NONE || s->parent[version] == NONE || invoked(&s->history->txns[writer]) <= acknowledged)
            return false;
        version = s->parent[version];
        if (is_before(s, c, version) || s->older_than[version] == c->version) {
            s->older_than[from] = c->version;
            return true;
        }
    }
    return false;
}

static bool is_older(struct search *s, const struct write *c, uint32_t version)
{
    return is_before(s, c, version) || went_on(s, c, version);
}

/* The first read of the key that ended after the position. */
static size_t first_after(const struct search *s, uint32_t key, uint32_t position)
{
    size_t low = 0, high = s->reads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct read *read = &s->reads.at[middle];
        if (read->key < key || (read->key == key && s->history->txns[read->txn].complete_at <= position))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The read R of register_lost.h, without a look at other writes; NULL: there is none. */
static const struct read *read_without(struct search *s, const struct write *c)
{
    const struct rig_txn *txns = s->history->txns;
    const uint32_t acknowledged = txns[c->txn].complete_at;
    const size_t first = first_after(s, c->key, acknowledged);
    uint32_t shown = acknowledged;
    size_t end = first;
    for (; end < s->reads.count && s->reads.at[end].key == c->key; end++) {
        const struct read *read = &s->reads.at[end];
        if (read->txn == c->txn)
            continue;
        if (read->version == c->version)
            shown = txns[read->txn].complete_at;
        else if (!read->own && (read->version == NONE || !is_older(s, c, read->version)))
            return NULL; /* a result that is not known may show the write */
    }
    for (size_t i = first; i < end; i++) {
        const struct read *read = &s->reads.at[i];
        if (read->txn != c->txn && !read->own && read->version != c->version && invoked(&txns[read->txn]) > shown &&
            (shown == acknowledged || (!is_before(s, c, read->version) && went_on(s, c, read->version))))
            return read;
    }
    return NULL;
}

/* Whether another write, invoked before the position, may have replaced that of the candidate. */
static bool may_be_overwritten(struct search *s, const struct write *c, uint32_t position)
{
    const struct write *all = s->writes.at, *end = all + s->writes.count;
    const struct write *at = c;
    while (at < end && at->key == c->key && at->invoke_at < position)
        at++;
    while (at-- > all && at->key == c->key) {
        if (at->txn != c->txn && !is_older(s, c, at->version))
            return true;
    }
    return false;
}

static bool note_lost(struct search *s, struct rig_noncyclic_findings *noncyclic, struct rig_noncyclic_list *all)
{
    for (size_t i = 0; i < s->writes.count; i++) {
        const struct write *c = &s->writes.at[i];
        if (s->history->txns[c->txn].outcome != RIG_OUTCOME_OK)
            continue;
        const struct read *read = read_without(s, c);
        if (read == NULL || may_be_overwritten(s, c, s->history->txns[read->txn].complete_at))
            continue;
        RIG_INVARIANT(read->txn != c->txn && invoked(&s->history->txns[read->txn]) > acknowledged_at(s, c->version));
        const struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_LOST_WRITE,
                                            .key = c->key,
                                            .txn = c->txn,
                                            .op = UINT32_MAX,
                                            .other = read->txn,
                                            .other_op = read->op,
                                            .value = s->registers->versions[c->version].value};
        if (!rig_noncyclic_note(noncyclic, &found) || !rig_noncyclic_list_add(all, found))
            return false;
    }
    return true;
}

static bool make_room(struct search *s, struct rig_arena *arena)
{
    const size_t keys = (size_t)s->history->key_count + 1, versions = (size_t)s->registers->version_count + 1;
    s->about = rig_arena_room(arena, versions, sizeof *s->about);
    s->last = rig_arena_room(arena, keys, sizeof *s->last);
    s->suspected = rig_arena_array(arena, keys, sizeof *s->suspected);
    if (s->about == NULL || s->last == NULL || s->suspected == NULL)
        return false;
    memset(s->about, 0xff, versions * sizeof *s->about);
    memset(s->last, 0xff, keys * sizeof *s->last);
    return true;
}

static bool search(struct search *s, struct rig_arena *arena, struct rig_noncyclic_findings *noncyclic,
                   struct rig_noncyclic_list *all)
{
    const size_t versions = (size_t)s->registers->version_count + 1;
    s->older_than = rig_arena_room(arena, versions, sizeof *s->older_than);
    s->parent = rig_arena_room(arena, versions, sizeof *s->parent);
    if (s->older_than == NULL || s->parent == NULL)
        return false;
    memset(s->older_than, 0xff, versions * sizeof *s->older_than);
    memset(s->parent, 0xff, versions * sizeof *s->parent);
    const bool noted = collect(s) && note_lost(s, noncyclic, all);
    rig_arena_abandon(s->older_than, versions * sizeof *s->older_than);
    rig_arena_abandon(s->parent, versions * sizeof *s->parent);
    return noted;
}

bool rig_register_lost_writes(const struct rig_registers *registers, const uint8_t *open_keys, struct rig_arena *arena,
                              struct rig_noncyclic_findings *noncyclic, struct rig_noncyclic_list *all)
{
    struct search s = {.registers = registers, .history = registers->history, .open_keys = open_keys};
    if (!s.history->has_invocations || s.history->lost_count > 0)
        return true;
    if (!make_room(&s, arena))
        return false;
    const bool done = !survey(&s) || search(&s, arena, noncyclic, all);
    rig_arena_abandon(s.about, ((size_t)registers->version_count + 1) * sizeof *s.about);
    lost_reads_done(&s.reads);
    lost_writes_done(&s.writes);
    return done;
}
