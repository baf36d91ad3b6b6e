#include "checker/judge/ambiguous_reads.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/table.h"
#include "history/model/shared_value.h"

enum { STEPS_MOST = 1 << 28, CHOICES_MOST = 1 << 22 };

/* A write of a shared value; `next`: another one of the same key and value. */
struct shared_write {
    int64_t value;
    uint32_t txn, next;
};

/* An acknowledged write; `began`: the latest invocation of the key's writes up to it. */
struct timed_write {
    uint32_t key, end, began;
};

RIG_VEC(struct shared_write, shared_writes)
RIG_VEC(struct timed_write, timed_writes)

struct listing {
    const struct rig_history *history;
    const struct rig_known_initial *initial;
    struct rig_ambiguous_reads *found;
    struct shared_writes writes;
    struct rig_table empty; /* keys that a read found without a value */
    struct rig_table last;  /* by key and shared value: into `writes` */
    struct timed_writes timed;
    uint64_t steps;
};

static uint64_t hash_of(uint32_t key, int64_t shared)
{
    const int64_t both[2] = {(int64_t)key, shared};
    return XXH3_64bits(both, sizeof both);
}

/* The writes of shared values by key and value: the last one of each, and from each to the one before. */
static bool list_writes(struct listing *l)
{
    const struct rig_history *history = l->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            int64_t shared;
            if (rig_op_reads(ops[i].kind) || !rig_value_shared_by(ops[i].value, &shared))
                continue;
            uint32_t *place = rig_table_put(&l->last, hash_of(ops[i].key, shared));
            if (place == NULL || !shared_writes_add(&l->writes, (struct shared_write){ops[i].value, txn, *place}))
                return false;
            *place = (uint32_t)l->writes.count - 1;
        }
    }
    return true;
}

static int compare_timed(const void *left, const void *right)
{
    const struct timed_write *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* The acknowledged writes by key and completion, with the latest invocation so far. */
static bool time_writes(struct listing *l)
{
    const struct rig_history *history = l->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; t->outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            const uint32_t began = t->invoke_at == RIG_POSITION_NONE ? 0 : t->invoke_at;
            if (!rig_op_reads(ops[i].kind) &&
                !timed_writes_add(&l->timed, (struct timed_write){ops[i].key, t->complete_at, began}))
                return false;
        }
    }
    if (l->timed.count > 0)
        qsort(l->timed.at, l->timed.count, sizeof l->timed.at[0], compare_timed);
    for (size_t i = 1; i < l->timed.count; i++) {
        struct timed_write *write = &l->timed.at[i];
        if (write[-1].key == write->key && write[-1].began > write->began)
            write->began = write[-1].began;
    }
    return true;
}

/* Whether the key was written again after the write completed and before the reader began. */
static bool is_overwritten(const struct listing *l, uint32_t key, uint32_t writer, uint32_t reader)
{
    const struct rig_history *history = l->history;
    const uint32_t begin = history->txns[reader].invoke_at;
    size_t low = 0, high = l->timed.count;
    while (low < high) { /* the writes of the key that completed before `begin` end at `low` */
        const size_t middle = low + (high - low) / 2;
        const struct timed_write *at = &l->timed.at[middle];
        if (at->key < key || (at->key == key && at->end < begin))
            low = middle + 1;
        else
            high = middle;
    }
    return begin != RIG_POSITION_NONE && low > 0 && l->timed.at[low - 1].key == key &&
           l->timed.at[low - 1].began > rig_txn_end(history, writer);
}

/* How well the writer fits what the reader saw: the own write best, then the one acknowledged last before the reader
 * was, those not yet acknowledged, those of unknown outcome, overwritten and aborted ones. */
static int64_t fitness(const struct listing *l, const struct rig_ambiguous_read *read, uint32_t writer)
{
    enum { LATE = -1, UNKNOWN = -2, OVERWRITTEN = -3, FAILED = -4 };
    const enum rig_outcome outcome = (enum rig_outcome)l->history->txns[writer].outcome;
    const uint32_t at = rig_txn_end(l->history, writer), end = rig_txn_end(l->history, read->txn);
    if (writer == read->txn)
        return INT64_MAX;
    if (outcome != RIG_OUTCOME_OK)
        return outcome == RIG_OUTCOME_FAIL ? FAILED : UNKNOWN;
    if (is_overwritten(l, l->history->ops[read->op].key, writer, read->txn))
        return OVERWRITTEN;
    return at < end ? (int64_t)at : LATE;
}

/* A choice of a read, while they are collected. */
struct fitting {
    int64_t fits;
    struct rig_read_choice choice;
};

RIG_VEC(struct fitting, fittings)

static int compare_fitting(const void *left, const void *right)
{
    const struct fitting *a = left, *b = right;
    if (a->fits != b->fits)
        return a->fits > b->fits ? -1 : 1;
    return (a->choice.writer > b->choice.writer) - (a->choice.writer < b->choice.writer);
}

/* Adds the choices to the read, the likeliest first. */
static bool take_choices(struct listing *l, struct rig_ambiguous_read *read, const struct fittings *found)
{
    qsort(found->at, found->count, sizeof found->at[0], compare_fitting);
    for (size_t i = 0; i < found->count; i++) {
        if (!rig_read_choice_vec_add(&l->found->choices, found->at[i].choice))
            return false;
        read->count++;
    }
    return true;
}

static bool ended_before(const struct rig_history *history, uint32_t writer, uint32_t reader)
{
    const struct rig_txn *r = &history->txns[reader];
    const uint32_t begin = r->invoke_at == RIG_POSITION_NONE ? r->complete_at : r->invoke_at;
    return writer == reader || rig_txn_end(history, writer) < begin;
}

static bool began_after(const struct rig_history *history, uint32_t writer, uint32_t reader)
{
    const struct rig_txn *w = &history->txns[writer];
    return writer != reader && w->invoke_at != RIG_POSITION_NONE && w->invoke_at > rig_txn_end(history, reader);
}

/* The keys that an acknowledged read found without a value. */
static bool list_empty(struct listing *l)
{
    for (uint32_t txn = 0; txn < l->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(l->history, txn);
        const bool ok = l->history->txns[txn].outcome == RIG_OUTCOME_OK;
        for (uint32_t i = 0; ok && i < rig_txn_op_count(l->history, txn); i++) {
            uint32_t *place = ops[i].read_state == RIG_READ_NIL ? rig_table_put(&l->empty, ops[i].key) : NULL;
            if (ops[i].read_state == RIG_READ_NIL && place == NULL)
                return false;
            if (place != NULL)
                *place = 1;
        }
    }
    return true;
}

/* Whether the read may show what the key began with: as the user says; or, where no read found the key without a value,
 * if no write of the value was acknowledged before the reader began (`early`). */
static bool may_be_initial(const struct listing *l, const struct rig_txn_op *read, bool early, int64_t *value)
{
    *value = l->initial->value;
    if (l->initial->known)
        return rig_value_shows(read->value, l->initial->value);
    return early && rig_table_get(&l->empty, read->key) == RIG_TABLE_NONE &&
           rig_value_shared_initial(read->value, value);
}

static bool is_last_write(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = rig_txn_op_count(history, txn); i-- > 0;) {
        if (ops[i].key == key && !rig_op_reads(ops[i].kind))
            return ops[i].value == value;
    }
    return false;
}

static struct fitting fitting_of(const struct listing *l, const struct rig_ambiguous_read *read,
                                 const struct shared_write *write)
{
    const uint32_t key = l->history->ops[read->op].key;
    const bool is_dirty = l->history->txns[write->txn].outcome == RIG_OUTCOME_FAIL ||
                          !is_last_write(l->history, write->txn, key, write->value);
    return (struct fitting){.fits = fitness(l, read, write->txn),
                            .choice = {write->value, write->txn, write->txn != read->txn && is_dirty}};
}

/* The writes of the read's value: those that were invoked in time, or all of them. `*early`: none of them was
 * acknowledged before the reader began. */
static bool add_writes(struct listing *l, const struct rig_ambiguous_read *read, bool all, struct fittings *found,
                       bool *early)
{
    const struct rig_history *history = l->history;
    uint32_t next = rig_table_get(&l->last, hash_of(history->ops[read->op].key, read->shared));
    *early = true;
    for (; next != RIG_TABLE_NONE; next = l->writes.at[next].next) {
        const struct shared_write *write = &l->writes.at[next];
        l->steps++;
        *early &=
            history->txns[write->txn].outcome == RIG_OUTCOME_FAIL || !ended_before(history, write->txn, read->txn);
        if ((all || !began_after(history, write->txn, read->txn)) && !fittings_add(found, fitting_of(l, read, write)))
            return false;
    }
    return true;
}

/* A read that nothing explains in time shows a later write, as a read of a value that is written once does. */
static bool add_read(struct listing *l, uint32_t txn, uint32_t op, struct fittings *found)
{
    const struct rig_txn_op *at = &l->history->ops[op];
    struct rig_ambiguous_read read = {
        .txn = txn, .op = op, .first = (uint32_t)l->found->choices.count, .shared = at->value};
    struct rig_read_choice initial = {.writer = RIG_CHOICE_INITIAL};
    bool early;
    found->count = 0;
    if (!add_writes(l, &read, false, found, &early))
        return false;
    if (may_be_initial(l, at, early, &initial.value) && !fittings_add(found, (struct fitting){INT64_MIN, initial}))
        return false;
    if (found->count == 0 && !add_writes(l, &read, true, found, &early))
        return false;
    return found->count == 0 || (take_choices(l, &read, found) && rig_ambiguous_read_vec_add(&l->found->reads, read));
}

static bool list_reads(struct listing *l, struct fittings *scratch)
{
    const struct rig_history *history = l->history;
    struct rig_ambiguous_reads *found = l->found;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            if (rig_op_is_ambiguous(&history->ops[op]) && !add_read(l, txn, op, scratch))
                return false;
        }
        found->too_many = l->steps > STEPS_MOST || found->choices.count > CHOICES_MOST;
        if (found->too_many)
            break;
    }
    return true;
}

bool rig_ambiguous_reads_find(const struct rig_history *history, const struct rig_known_initial *initial,
                              struct rig_ambiguous_reads *found)
{
    struct listing l = {.history = history, .initial = initial, .found = found};
    struct fittings scratch = {0};
    *found = (struct rig_ambiguous_reads){0};
    rig_table_init(&l.last);
    rig_table_init(&l.empty);
    const bool done = list_empty(&l) && list_writes(&l) && time_writes(&l) && list_reads(&l, &scratch);
    fittings_done(&scratch);
    timed_writes_done(&l.timed);
    shared_writes_done(&l.writes);
    rig_table_done(&l.last);
    rig_table_done(&l.empty);
    return done;
}

void rig_ambiguous_reads_done(struct rig_ambiguous_reads *reads)
{
    rig_ambiguous_read_vec_done(&reads->reads);
    rig_read_choice_vec_done(&reads->choices);
}

uint32_t rig_ambiguous_read_of(const struct rig_ambiguous_reads *reads, uint32_t choice)
{
    uint32_t low = 0, high = (uint32_t)reads->reads.count;
    while (low < high)
        rig_halve(&low, &high, reads->reads.at[rig_middle(low, high)].first <= choice);
    RIG_INVARIANT(low > 0);
    return low - 1;
}

uint32_t rig_ambiguous_reads_from(const struct rig_ambiguous_reads *reads, uint32_t txn)
{
    uint32_t low = 0, high = (uint32_t)reads->reads.count;
    while (low < high)
        rig_halve(&low, &high, reads->reads.at[rig_middle(low, high)].txn < txn);
    return low;
}

struct rig_history *rig_ambiguous_reads_own(const struct rig_history *history, struct rig_arena *arena)
{
    struct rig_txn_op *ops = rig_arena_array(arena, (size_t)history->op_count + 1, sizeof ops[0]);
    struct rig_history *own = ops == NULL ? NULL : rig_history_share(history);
    if (own == NULL)
        return NULL;
    memcpy(ops, history->ops, history->op_count * sizeof ops[0]);
    own->ops = ops;
    return own;
}

void rig_ambiguous_reads_set(const struct rig_ambiguous_reads *reads, const uint32_t *chosen, const bool *only,
                             struct rig_history *own)
{
    for (uint32_t i = 0; i < reads->reads.count; i++) {
        struct rig_txn_op *op = &own->ops[reads->reads.at[i].op];
        const bool known = only == NULL || only[i];
        op->read_state = known ? RIG_READ_SEEN : RIG_READ_UNKNOWN;
        op->value = known ? reads->choices.at[chosen[i]].value : reads->reads.at[i].shared;
    }
}
