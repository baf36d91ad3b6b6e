#include "checker/infer/crash_loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/type_inference.h"

#define NONE    UINT32_MAX
#define INITIAL (UINT32_MAX - 1) /* in place of a write: the initial state of a register */

/* A write of a transaction that did not fail; of a register its last one. */
struct write {
    int64_t value;
    uint32_t key, txn;
    uint32_t shown;  /* the last invocation of a read that shows it, and 1; 0: none does */
    uint32_t ended;  /* the first completion of an acknowledged one; NONE */
    uint32_t parent; /* registers: the write that its transaction read before it; INITIAL, NONE */
};

/* A read with a known result, of a transaction that did not fail. */
struct read {
    uint32_t key, invoke_at, txn, op;
    uint32_t complete_at; /* 0: it was not acknowledged */
    uint32_t so_far;      /* the last completion of this read and the earlier ones of its key */
    uint32_t latest;      /* the last completion of this read and the later ones of its key */
    uint32_t oldest;      /* registers: 1 after the first version was known that one of these shows; 0: initial */
    uint32_t write;       /* registers: what it shows; INITIAL; NONE: of no known writer */
};

RIG_VEC(struct write, loss_writes)
RIG_VEC(struct read, loss_reads)

struct search {
    const struct rig_history *history;
    struct rig_crash_losses *losses;
    struct rig_crash_facts facts;
    bool registers, sequences; /* `sequences`: a list shows the order of its elements */
    struct loss_writes writes; /* by key, then value */
    struct loss_reads reads;   /* by key, then invocation */
    size_t *place;             /* per list: its first place; lists: the spines of the keys, then the branches */
    uint32_t *shown, *ended;   /* per place: as of a write */
};

static enum rig_losses losses_of(enum rig_workload workload)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    return type == NULL ? RIG_LOSSES_UNSEEN : type->losses;
}

bool rig_crash_loss_fits(enum rig_workload workload)
{
    return losses_of(workload) != RIG_LOSSES_UNSEEN;
}

static void raise(uint32_t *at, uint32_t to)
{
    *at = to > *at ? to : *at;
}

static void lower(uint32_t *at, uint32_t to)
{
    *at = to < *at ? to : *at;
}

static bool depend(struct search *s, uint32_t from, uint32_t to)
{
    return from == to || rig_crash_edges_add(&s->facts.edges, (struct rig_crash_edge){from, to});
}

/* ---- writes ---- */

static bool writes_key(const struct rig_txn_op *op, uint32_t key)
{
    return op->key == key && !rig_op_reads(op->kind);
}

static bool is_last(const struct rig_txn_op *ops, uint32_t count, uint32_t op)
{
    for (uint32_t i = op + 1; i < count; i++) {
        if (writes_key(&ops[i], ops[op].key))
            return false;
    }
    return true;
}

static bool take_writes(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const uint32_t count = history->txns[txn].outcome == RIG_OUTCOME_FAIL ? 0 : rig_txn_op_count(history, txn);
        for (uint32_t i = 0; i < count; i++) {
            const struct write write = {
                .value = ops[i].value, .key = ops[i].key, .txn = txn, .ended = NONE, .parent = NONE};
            if (rig_op_reads(ops[i].kind) || (s->registers && !is_last(ops, count, i)))
                continue;
            if (!loss_writes_add(&s->writes, write))
                return false;
        }
    }
    return s->writes.count < INITIAL;
}

static int compare_writes(const void *left, const void *right)
{
    const struct write *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

/* NONE: no transaction that may have committed wrote it. */
static uint32_t find_write(const struct search *s, uint32_t key, int64_t value)
{
    const struct write wanted = {.key = key, .value = value};
    size_t low = 0, high = s->writes.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_writes(&s->writes.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->writes.count && compare_writes(&s->writes.at[low], &wanted) == 0 ? (uint32_t)low : NONE;
}

/* ---- reads ---- */

static bool take_read(struct search *s, uint32_t txn, uint32_t at)
{
    const struct rig_txn *t = &s->history->txns[txn];
    const struct rig_txn_op *op = &rig_txn_ops(s->history, txn)[at];
    struct read read = {.key = op->key, .invoke_at = t->invoke_at, .txn = txn, .op = at, .write = NONE};
    read.complete_at = t->outcome == RIG_OUTCOME_OK ? t->complete_at : 0;
    if (!s->registers)
        return loss_reads_add(&s->reads, read);
    read.write = op->read_state == RIG_READ_NIL ? INITIAL : find_write(s, op->key, op->value);
    if (read.write < INITIAL) {
        struct write *write = &s->writes.at[read.write];
        if (write->txn != txn)
            raise(&write->shown, t->invoke_at + 1);
        if (t->outcome == RIG_OUTCOME_OK)
            lower(&write->ended, t->complete_at);
        if (!depend(s, txn, write->txn))
            return false;
    }
    return loss_reads_add(&s->reads, read);
}

static void show_place(struct search *s, const struct rig_txn *t, size_t place)
{
    raise(&s->shown[place], t->invoke_at + 1);
    if (t->outcome == RIG_OUTCOME_OK)
        lower(&s->ended[place], t->complete_at);
}

/* A list: the reader depends on its last place, which depends on those before. */
static bool show_list(struct search *s, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_history *history = s->history;
    const struct rig_txn *t = &history->txns[txn];
    const struct rig_read_list list = rig_txn_op_list(history, op);
    const uint32_t tail = list.count - list.shared;
    const size_t own = tail == 0 ? 0 : s->place[history->key_count + rig_txn_op_branch(op)] + tail - 1;
    bool done = true;
    if (list.shared > 0) {
        show_place(s, t, s->place[op->key] + list.shared - 1);
        done = depend(s, txn, history->txn_count + (uint32_t)(s->place[op->key] + list.shared - 1));
    }
    if (tail > 0) {
        show_place(s, t, own);
        done = done && depend(s, txn, history->txn_count + (uint32_t)own);
    }
    return done;
}

static bool take_reads(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool counts =
            history->txns[txn].outcome != RIG_OUTCOME_FAIL && history->txns[txn].invoke_at != RIG_POSITION_NONE;
        for (uint32_t i = 0; counts && i < rig_txn_op_count(history, txn); i++) {
            if (!rig_op_reads(ops[i].kind) || ops[i].read_state == RIG_READ_UNKNOWN)
                continue;
            if (!take_read(s, txn, i) || (!s->registers && !show_list(s, txn, &ops[i])))
                return false;
        }
    }
    return s->reads.count < NONE;
}

static int compare_reads(const void *left, const void *right)
{
    const struct read *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->invoke_at != b->invoke_at)
        return a->invoke_at < b->invoke_at ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static uint32_t settled(const struct search *s, const struct write *write)
{
    const struct rig_txn *t = &s->history->txns[write->txn];
    uint32_t at = write->ended;
    if (t->outcome == RIG_OUTCOME_OK)
        lower(&at, t->complete_at);
    return at;
}

static void sort_reads(struct search *s)
{
    struct read *reads = s->reads.at;
    if (s->reads.count > 0)
        qsort(reads, s->reads.count, sizeof *reads, compare_reads);
    for (size_t i = 0; i < s->reads.count; i++) {
        reads[i].so_far = reads[i].complete_at;
        if (i > 0 && reads[i - 1].key == reads[i].key)
            raise(&reads[i].so_far, reads[i - 1].so_far);
    }
    for (size_t i = s->reads.count; i-- > 0;) {
        reads[i].latest = reads[i].complete_at;
        reads[i].oldest = reads[i].write < INITIAL ? settled(s, &s->writes.at[reads[i].write]) : NONE;
        reads[i].oldest = reads[i].write == INITIAL ? 0 : reads[i].oldest + (reads[i].oldest < NONE);
        if (i + 1 < s->reads.count && reads[i + 1].key == reads[i].key) {
            raise(&reads[i].latest, reads[i + 1].latest);
            lower(&reads[i].oldest, reads[i + 1].oldest);
        }
    }
}

/* The first read of the key such that it, or one before it, completed after the position. */
static size_t first_ending(const struct search *s, uint32_t key, uint32_t position)
{
    size_t low = 0, high = s->reads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct read *read = &s->reads.at[middle];
        if (read->key < key || (read->key == key && read->so_far <= position))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first read of the key that was invoked at the position or later. */
static size_t first_read(const struct search *s, uint32_t key, uint32_t position)
{
    size_t low = 0, high = s->reads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct read *read = &s->reads.at[middle];
        if (read->key < key || (read->key == key && read->invoke_at < position))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- lists ---- */

static uint32_t own_count(const struct rig_history *history, uint32_t list)
{
    if (list < history->key_count)
        return history->spines[list].count;
    const struct rig_branch *branch = &history->branches[list - history->key_count];
    return branch->count - branch->shared;
}

static bool make_places(struct search *s, struct rig_arena *arena)
{
    const struct rig_history *history = s->history;
    const size_t lists = s->registers ? 0 : (size_t)history->key_count + history->branch_count;
    size_t total = 0;
    s->place = rig_arena_room(arena, lists + 1, sizeof *s->place);
    if (s->place == NULL)
        return false;
    for (uint32_t list = 0; list < lists; list++) {
        s->place[list] = total;
        total += own_count(history, list);
    }
    s->place[lists] = total;
    s->shown = rig_arena_array(arena, total + 1, sizeof *s->shown);
    s->ended = rig_arena_room(arena, total + 1, sizeof *s->ended);
    if (s->shown == NULL || s->ended == NULL || total >= NONE - history->txn_count)
        return false;
    memset(s->ended, 0xff, (total + 1) * sizeof *s->ended);
    s->facts.node_count = history->txn_count + (uint32_t)total;
    return true;
}

/* A place that some read shows, with the element there; `before`: the place before it, NONE. */
static bool follow_place(struct search *s, uint32_t key, int64_t element, size_t place, uint32_t before)
{
    const uint32_t node = s->history->txn_count + (uint32_t)place, write = find_write(s, key, element);
    const uint32_t writer = write == NONE ? NONE : s->writes.at[write].txn;
    if (before != NONE && !depend(s, node, before))
        return false;
    if (write == NONE)
        return true;
    raise(&s->writes.at[write].shown, s->shown[place]);
    lower(&s->writes.at[write].ended, s->ended[place]);
    return depend(s, node, writer) && (before == NONE || !s->sequences || depend(s, writer, before));
}

/* `before`: the place before its first own one; NONE. */
static bool follow_list(struct search *s, uint32_t list, uint32_t key, const int64_t *at, uint32_t before)
{
    const size_t first = s->place[list], end = s->place[list + 1];
    for (size_t i = end; i-- > first + 1;) {
        raise(&s->shown[i - 1], s->shown[i]);
        lower(&s->ended[i - 1], s->ended[i]);
    }
    for (size_t i = first; i < end && s->shown[i] > 0; i++) {
        if (!follow_place(s, key, at[i - first], i, before))
            return false;
        before = s->history->txn_count + (uint32_t)i;
    }
    return true;
}

/* A branch that some read shows also shows what it shares with the spine: that is noted with the read. */
static bool follow_lists(struct search *s)
{
    const struct rig_history *history = s->history;
    if (s->registers)
        return true;
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (!follow_list(s, key, key, history->spines[key].at, NONE))
            return false;
    }
    for (uint32_t i = 0; i < history->branch_count; i++) {
        const struct rig_branch *branch = &history->branches[i];
        const uint32_t before =
            branch->shared == 0 ? NONE : history->txn_count + (uint32_t)s->place[branch->key] + branch->shared - 1;
        if (!follow_list(s, history->key_count + i, branch->key, branch->tail, before))
            return false;
    }
    return true;
}

/* ---- what is gone ---- */

/* The write of the key that the transaction read before it wrote the key. */
static uint32_t find_parent(const struct search *s, const struct write *write)
{
    const struct rig_txn_op *ops = rig_txn_ops(s->history, write->txn);
    uint32_t parent = NONE;
    for (uint32_t i = 0; !writes_key(&ops[i], write->key); i++) {
        if (ops[i].key != write->key || ops[i].read_state == RIG_READ_UNKNOWN)
            continue;
        const uint32_t shown = ops[i].read_state == RIG_READ_NIL ? INITIAL : find_write(s, write->key, ops[i].value);
        if (shown == NONE || (parent != NONE && parent != shown))
            return NONE;
        parent = shown;
    }
    return parent;
}

/* Whether the version that a read of a register shows is older than the write, for certain. */
static bool is_older(const struct search *s, const struct read *read, const struct write *write)
{
    if (read->write == INITIAL)
        return true;
    if (read->write == NONE || &s->writes.at[read->write] == write)
        return false;
    return read->write == write->parent ||
           settled(s, &s->writes.at[read->write]) < s->history->txns[write->txn].invoke_at;
}

/* Whether a read after the crash shows a version from before it that may be younger than the write. */
static bool may_be_overwritten(const struct search *s, const struct write *write, const struct rig_crash *crash)
{
    for (size_t i = first_read(s, write->key, crash->to_at); i < s->reads.count && s->reads.at[i].key == write->key;
         i++) {
        const struct read *read = &s->reads.at[i];
        const bool is_new =
            read->write < INITIAL && s->history->txns[s->writes.at[read->write].txn].invoke_at >= crash->to_at;
        if (!is_new && !is_older(s, read, write))
            return true;
    }
    return false;
}

static bool shows(const struct search *s, const struct read *read, const struct write *write)
{
    const struct rig_read_list list = rig_txn_op_list(s->history, &rig_txn_ops(s->history, read->txn)[read->op]);
    for (uint32_t i = 0; read->invoke_at < write->shown && i < list.count; i++) {
        if (rig_read_element(&list, i) == write->value)
            return true;
    }
    return false;
}

/* Whether the read, or a later one of its key, may show a version of a register that is older than the write. */
static bool may_miss(const struct search *s, const struct read *read, const struct write *write)
{
    return !s->registers || read->oldest <= s->history->txns[write->txn].invoke_at ||
           (write->parent < INITIAL && s->writes.at[write->parent].shown > read->invoke_at);
}

/* The first read that was invoked at `from` or later, and that misses the write after the crash; NULL: none. */
static const struct read *gone_by(const struct search *s, const struct write *write, uint32_t from,
                                  const struct rig_crash *crash)
{
    if (write->shown > crash->to_at)
        return NULL;
    const size_t invoked = first_read(s, write->key, from), ended = first_ending(s, write->key, crash->from_at);
    for (size_t i = invoked > ended ? invoked : ended;
         i < s->reads.count && s->reads.at[i].key == write->key && may_miss(s, &s->reads.at[i], write); i++) {
        const struct read *read = &s->reads.at[i];
        const bool misses = s->registers ? is_older(s, read, write) : !shows(s, read, write);
        if (read->latest <= crash->from_at)
            return NULL;
        if (read->complete_at > crash->from_at && misses)
            return read;
    }
    return NULL;
}

/* The crash that the write is gone by, among those that ended at `least` or later. */
static uint32_t find_crash(const struct search *s, const struct write *write, uint32_t least,
                           const struct read **reader)
{
    const uint32_t invoke_at = s->history->txns[write->txn].invoke_at, known = s->facts.known[write->txn];
    for (uint32_t i = 0; known != RIG_POSITION_NONE && i < s->losses->crash_count; i++) {
        const struct rig_crash *crash = &s->losses->crashes[i];
        if (crash->to_at < least || crash->to_at <= invoke_at)
            continue;
        *reader = gone_by(s, write, write->shown > known + 1 ? write->shown : known + 1, crash);
        if (*reader != NULL && !(s->registers && may_be_overwritten(s, write, crash)))
            return i;
    }
    return RIG_CRASH_NONE;
}

/* The first crash counts; that a transaction is lost as a whole comes before that it is torn. */
static void note_gone(struct search *s, const struct write *write, uint32_t crash, const struct read *reader,
                      enum rig_hole hole)
{
    struct rig_crash_loss *loss = &s->losses->of[write->txn];
    if (loss->crash != RIG_CRASH_NONE &&
        (loss->hole != hole ? hole == RIG_HOLE_TORN
                            : s->losses->crashes[loss->crash].to_at <= s->losses->crashes[crash].to_at))
        return;
    s->losses->count += loss->crash == RIG_CRASH_NONE;
    *loss = (struct rig_crash_loss){
        .crash = crash, .reader = reader->txn, .known = loss->known, .kept = write->txn, .hole = hole};
}

/* Whether a read of the register that ended after the crash began shows another version. Then the write may have been
 * lost, whatever order other keys give these versions. */
static bool shows_another(const struct search *s, const struct write *write, const struct rig_crash *crash)
{
    for (size_t i = first_ending(s, write->key, crash->from_at); i < s->reads.count && s->reads.at[i].key == write->key;
         i++) {
        const struct read *read = &s->reads.at[i];
        if (read->complete_at > crash->from_at && (read->write >= INITIAL || &s->writes.at[read->write] != write))
            return true;
    }
    return false;
}

/* Whether a read may have missed the write because of the crash; also one that began before the write was known. */
static void note_splits(struct search *s, const struct write *write)
{
    const uint32_t from = s->facts.alive[write->txn], invoke_at = s->history->txns[write->txn].invoke_at;
    for (uint32_t i = 0; s->facts.known[write->txn] != RIG_POSITION_NONE && i < s->losses->crash_count; i++) {
        const struct rig_crash *crash = &s->losses->crashes[i];
        if (!s->losses->splits[i] && crash->to_at >= from && crash->to_at > invoke_at)
            s->losses->splits[i] = s->registers ? shows_another(s, write, crash) : gone_by(s, write, 0, crash) != NULL;
    }
}

static void find_losses(struct search *s)
{
    for (size_t i = 0; i < s->writes.count; i++)
        note_splits(s, &s->writes.at[i]);
    for (size_t i = 0; i < s->writes.count; i++) {
        const struct write *write = &s->writes.at[i];
        const struct read *reader = NULL;
        uint32_t crash = find_crash(s, write, s->facts.alive[write->txn], &reader);
        if (crash != RIG_CRASH_NONE) {
            note_gone(s, write, crash, reader, RIG_HOLE_NONE);
            continue;
        }
        crash = find_crash(s, write, write->shown, &reader);
        if (crash != RIG_CRASH_NONE)
            note_gone(s, write, crash, reader, RIG_HOLE_TORN);
    }
}

/* ---- all of it ---- */

static bool make_facts(struct search *s, struct rig_arena *arena)
{
    const struct rig_history *history = s->history;
    const size_t count = (size_t)history->txn_count + 1;
    s->facts.alive = rig_arena_array(arena, count, sizeof *s->facts.alive);
    s->facts.known = rig_arena_room(arena, count, sizeof *s->facts.known);
    s->losses->of = rig_arena_array(arena, count, sizeof *s->losses->of);
    s->losses->splits = rig_arena_array(arena, (size_t)s->losses->crash_count + 1, 1);
    if (s->losses->splits == NULL || s->facts.alive == NULL || s->facts.known == NULL || s->losses->of == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        s->facts.known[txn] = t->outcome == RIG_OUTCOME_OK ? t->complete_at : RIG_POSITION_NONE;
        s->losses->of[txn] = (struct rig_crash_loss){.crash = RIG_CRASH_NONE, .kept = NONE};
    }
    return true;
}

static void join_writes(struct search *s)
{
    for (size_t i = 0; i < s->writes.count; i++) {
        struct write *write = &s->writes.at[i];
        raise(&s->facts.alive[write->txn], write->shown);
        lower(&s->facts.known[write->txn], write->ended);
        write->parent = s->registers ? find_parent(s, write) : NONE;
    }
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++)
        s->losses->of[txn].known = s->facts.known[txn];
}

bool rig_crash_losses_find(const struct rig_history *history, const struct rig_crash *crashes, uint32_t crash_count,
                           struct rig_arena *arena, struct rig_crash_losses *losses)
{
    RIG_REQUIRE(history->has_invocations && rig_crash_loss_fits(history->workload));
    struct search s = {.history = history,
                       .losses = losses,
                       .registers = losses_of(history->workload) == RIG_LOSSES_OF_REGISTERS,
                       .sequences = losses_of(history->workload) == RIG_LOSSES_OF_LISTS};
    *losses = (struct rig_crash_losses){.history = history, .crashes = crashes, .crash_count = crash_count};
    bool done = make_facts(&s, arena) && make_places(&s, arena) && take_writes(&s);
    if (done && s.writes.count > 0)
        qsort(s.writes.at, s.writes.count, sizeof *s.writes.at, compare_writes);
    done = done && take_reads(&s) && follow_lists(&s);
    if (done) {
        sort_reads(&s);
        join_writes(&s);
        find_losses(&s);
        done = rig_crash_order(&s.facts, arena, losses);
    }
    rig_crash_edges_done(&s.facts.edges);
    loss_writes_done(&s.writes);
    loss_reads_done(&s.reads);
    return done;
}
