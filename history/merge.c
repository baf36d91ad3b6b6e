#include "history/merge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "base/thread.h"
#include "history/merge_rank.h"
#include "history/types.h"

enum {
    OUTPUTS_LEAST = 2,
    OUTPUTS_MOST = 16,      /* so many are merged while a window is judged */
    OUTPUT_BYTES = 3 << 20, /* about, with what it refers to */
    OUTPUT_SHARE = 16,      /* of a limit, for all of them */
    OUTPUT_TXNS = 1 << 12,
    OUTPUT_OPS = 1 << 18,
    PAGE_BITS = 12,
    PAGE_PROCESSES = 1 << PAGE_BITS,
    PAGES = 1 << (32 - PAGE_BITS)
};

/* A process's rank + 1, and the position after its last completion in the record. */
struct process {
    uint32_t rank;
    uint32_t ended;
};

struct used_piece {
    struct rig_merge_piece *piece;
    uint32_t rank;
};
RIG_VEC(struct used_piece, used_pieces)

enum output_state { EMPTY, FULL, GIVEN };

struct output {
    struct rig_segment segment;
    struct used_pieces pieces;
    enum output_state state; /* under the lock, once there is a thread */
    double share;
    bool last; /* nothing is in it, and nothing follows */
};

struct rig_merge {
    struct rig_merge_rank *ranks;
    size_t count;
    struct rig_rank_fact *facts; /* per rank of the run, also of missing ones */
    uint32_t run_count;
    uint32_t missing_count;
    const struct rig_data_type *type;
    struct rig_time_stream *streams; /* two a rank */
    struct rig_time_order order;
    struct rig_merge_piece **end_pieces; /* per rank: the piece of a batch's ends */
    uint32_t **positions;                /* per stream: the place of its next position */
    struct rig_merge_ids ends;           /* the ranks of a batch's ends, in order */
    struct process **pages;
    struct output outputs[OUTPUTS_MOST];
    unsigned output_count, filling, giving;
    uint64_t output_number;
    size_t output_txns; /* an output has about so many */
    uint32_t next_position;
    bool begun, ended;
    struct rig_err err; /* the merging side's */
    /* The thread that merges ahead. */
    bool threaded, started, stopping;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* ---- one output ---- */

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records");
}

static void empty_output(struct rig_merge *merge, struct output *out)
{
    for (size_t i = 0; i < out->pieces.count; i++) {
        struct rig_merge_piece *piece = out->pieces.at[i].piece;
        if (--piece->users == 0 && piece->done)
            rig_merge_rank_free_piece(&merge->ranks[out->pieces.at[i].rank], piece);
    }
    out->pieces.count = 0;
    out->last = false;
    rig_segment_reset(&out->segment);
}

/* The key's number in the output. UINT32_MAX when memory runs out. */
static uint32_t add_key(struct output *out, struct rig_merge_piece *piece, uint32_t key)
{
    struct rig_segment_key copy = piece->segment.keys.at[key];
    copy.spine.count = 0; /* grows with the reads */
    const uint32_t id = (uint32_t)out->segment.keys.count;
    if (id == UINT32_MAX || !rig_segment_keys_add(&out->segment.keys, copy))
        return UINT32_MAX;
    return piece->key_of.at[key] = id;
}

static inline uint32_t use_key(struct output *out, struct rig_merge_piece *piece, uint32_t key)
{
    const uint32_t id = piece->key_of.at[key];
    return __builtin_expect(id != UINT32_MAX, 1) ? id : add_key(out, piece, key);
}

static void use_elements(struct output *out, uint32_t key, uint32_t count)
{
    uint32_t *known = &out->segment.keys.at[key].spine.count;
    *known = count > *known ? count : *known;
}

/* The branch's number in the output. UINT32_MAX when memory runs out. */
static uint32_t use_branch(struct output *out, struct rig_merge_piece *piece, uint32_t number)
{
    uint32_t *id = &piece->branch_of.at[number];
    if (*id != UINT32_MAX)
        return *id;
    struct rig_growing_branch branch = piece->segment.branches.at[number];
    branch.key = use_key(out, piece, branch.key);
    if (branch.key == UINT32_MAX || !rig_growing_branches_add(&out->segment.branches, branch))
        return UINT32_MAX;
    use_elements(out, branch.key, branch.shared);
    return *id = (uint32_t)out->segment.branches.count - 1;
}

/* The output uses the piece: its lists and errors stay as long as the output. */
static bool use_piece(struct rig_merge *merge, struct output *out, uint32_t rank, struct rig_merge_piece *piece)
{
    if (piece->output == merge->output_number)
        return true;
    piece->output = merge->output_number;
    memset(piece->key_of.at, 0xff, (piece->segment.keys.count + 1) * sizeof *piece->key_of.at);
    if (!used_pieces_add(&out->pieces, (struct used_piece){piece, rank}))
        return false;
    piece->users++;
    piece->first_error = (uint32_t)out->segment.errors.count;
    memset(piece->branch_of.at, 0xff, (piece->segment.branches.count + 1) * sizeof *piece->branch_of.at);
    bool fits = true;
    for (size_t i = 0; i < piece->segment.errors.count && fits; i++)
        fits = rig_segment_errors_add(&out->segment.errors, piece->segment.errors.at[i]);
    return fits;
}

static bool copy_ops(struct output *out, struct rig_merge_piece *piece, size_t begin, size_t end, bool sequences)
{
    const uint16_t owner = (uint16_t)out->segment.txns.count;
    if (!rig_txn_op_vec_reserve(&out->segment.ops, out->segment.ops.count + (end - begin)))
        return false;
    struct rig_txn_op *to = out->segment.ops.at + out->segment.ops.count;
    for (const struct rig_txn_op *from = piece->segment.ops.at + begin; begin < end; begin++, from++, to++) {
        *to = *from;
        to->owner = owner;
        to->key = use_key(out, piece, from->key);
        if (__builtin_expect(to->key == UINT32_MAX, 0))
            return false;
        if (!sequences || !rig_op_reads_sequence(from->kind) || from->read_state != RIG_READ_SEEN)
            continue;
        if (__builtin_expect(rig_txn_op_is_branch(from), 0)) {
            const uint32_t branch = use_branch(out, piece, rig_txn_op_branch(from));
            if (branch == UINT32_MAX)
                return false;
            to->list = RIG_LIST_BRANCH | branch;
        } else {
            use_elements(out, to->key, from->count);
        }
    }
    out->segment.ops.count = (size_t)(to - out->segment.ops.at);
    return true;
}

static bool copy_columns(struct output *out, const struct rig_merge_piece *piece, size_t txn, size_t as)
{
    const struct rig_columns *from = &piece->segment.columns;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        int64_t value = rig_columns_get(from, (enum rig_column)column, txn);
        if (value == RIG_COLUMN_NONE)
            continue;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
            const char *name = from->names.texts[value];
            value = rig_columns_name(&out->segment.columns, name, strlen(name));
        }
        if (value == RIG_COLUMN_NONE || !rig_columns_set(&out->segment.columns, (enum rig_column)column, as, value))
            return false;
    }
    return true;
}

static size_t end_of_ops(const struct rig_txn_vec *txns, const struct rig_txn_op_vec *ops, size_t index)
{
    return index + 1 < txns->count ? txns->at[index + 1].first_op : ops->count;
}

/* ---- processes ---- */

static struct process *process_of(struct rig_merge *merge, int32_t number)
{
    const uint32_t at = (uint32_t)number;
    struct process **page = &merge->pages[at >> PAGE_BITS];
    if (*page == NULL)
        *page = calloc(PAGE_PROCESSES, sizeof **page);
    return *page == NULL ? NULL : &(*page)[at & (PAGE_PROCESSES - 1)];
}

/* A process belongs to one rank, and begins a transaction after it has completed the one before. */
static enum rig_rc check_process(struct rig_merge *merge, uint32_t rank, int32_t number, uint32_t invoked,
                                 uint32_t completed, struct rig_err *err)
{
    struct process *process = process_of(merge, number);
    if (process == NULL)
        return no_memory(err);
    if (process->rank != 0 && process->rank != rank + 1)
        return rig_fail(err, RIG_E_INPUT,
                        "process %ld is in %s and in %s: the processes of different ranks must have different numbers",
                        (long)number, merge->ranks[process->rank - 1].name, merge->ranks[rank].name);
    if (process->rank != 0 && invoked < process->ended)
        return rig_fail(
            err, RIG_E_INPUT,
            "%s: process %ld has transactions that overlap; records of several ranks can be checked together "
            "if each process runs one transaction after the other",
            merge->ranks[rank].name, (long)number);
    *process = (struct process){.rank = rank + 1, .ended = completed == RIG_POSITION_NONE ? UINT32_MAX : completed + 1};
    return RIG_OK;
}

/* ---- merging ---- */

/* Gives the events of a batch their positions, and notes which ranks its ends belong to. */
static enum rig_rc give_positions(struct rig_merge *merge, struct rig_err *err)
{
    const size_t count = merge->order.events.count;
    const uint64_t *events = merge->order.events.at;
    if (count >= RIG_POSITION_NONE - merge->next_position)
        return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 events in all records; check fewer of them");
    if (!rig_merge_ids_reserve(&merge->ends, count + 1))
        return no_memory(err);
    for (size_t i = 0; i < 2 * merge->count; i++) {
        struct rig_merge_rank *rank = &merge->ranks[i / 2];
        if (merge->streams[i].taken == 0)
            continue;
        struct rig_merge_piece *piece = i % 2 == 0 ? rig_merge_rank_start(rank) : rig_merge_rank_end(rank);
        merge->positions[i] = i % 2 == 0 ? piece->start_at.at + piece->next_start : piece->end_at.at + piece->next_end;
    }
    uint32_t *end = merge->ends.at, position = merge->next_position;
    for (size_t i = 0; i < count; i++) {
        const uint32_t stream = rig_time_order_stream_of(&merge->order, events[i]);
        *merge->positions[stream]++ = position++;
        *end = stream / 2;
        end += stream & 1;
    }
    merge->next_position = position;
    merge->ends.count = (size_t)(end - merge->ends.at);
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->streams[2 * i].taken > 0)
            rig_merge_rank_begin(&merge->ranks[i], rig_merge_rank_start(&merge->ranks[i]), merge->streams[2 * i].taken);
    }
    return RIG_OK;
}

/* The next transaction of the piece that completes. The output uses the piece. */
static enum rig_rc put_end(struct rig_merge *merge, struct output *out, uint32_t number, struct rig_merge_piece *piece,
                           struct rig_err *err)
{
    struct rig_merge_rank *rank = &merge->ranks[number];
    const uint32_t index = piece->next_end++, start = piece->start_of.at[index];
    const struct rig_segment *segment = &piece->segment;
    struct rig_txn txn = segment->txns.at[index];
    const enum rig_rc rc = check_process(merge, number, txn.process, txn.invoke_at, txn.complete_at, err);
    if (rc != RIG_OK)
        return rc;
    const size_t first = txn.first_op, as = out->segment.txns.count;
    txn.invoke_at = rank->starts.at[start].at;
    txn.complete_at = piece->end_at.at[index];
    rig_merge_rank_finish(rank, start);
    txn.first_op = (uint32_t)out->segment.ops.count;
    txn.error = txn.error == 0 ? 0 : txn.error + piece->first_error;
    if (!copy_ops(out, piece, first, end_of_ops(&segment->txns, &segment->ops, index), merge->type != NULL) ||
        !rig_txn_vec_add(&out->segment.txns, txn) ||
        (rig_columns_any(&segment->columns) && !copy_columns(out, piece, index, as)))
        return no_memory(err);
    return RIG_OK;
}

/* The events of the batch. */
static enum rig_rc put_events(struct rig_merge *merge, struct output *out, struct rig_err *err)
{
    enum rig_rc rc = give_positions(merge, err);
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++) {
        merge->end_pieces[i] = merge->streams[2 * i + 1].taken > 0 ? rig_merge_rank_end(&merge->ranks[i]) : NULL;
        if (merge->end_pieces[i] != NULL && !use_piece(merge, out, i, merge->end_pieces[i]))
            rc = no_memory(err);
    }
    for (size_t i = 0; rc == RIG_OK && i < merge->ends.count; i++)
        rc = put_end(merge, out, merge->ends.at[i], merge->end_pieces[merge->ends.at[i]], err);
    return rc;
}

static bool put_faults(struct rig_merge *merge, struct output *out, const struct rig_segment *segment)
{
    const size_t before = out->segment.faults.count;
    if (!rig_fault_event_keep_all(&out->segment.faults, &out->segment.texts, segment->faults.at, segment->faults.count))
        return false;
    for (size_t i = before; i < out->segment.faults.count; i++)
        out->segment.faults.at[i].position = merge->next_position;
    return true;
}

static enum rig_rc take_piece(struct rig_merge *merge, struct output *out, uint32_t number, struct rig_err *err)
{
    struct rig_merge_rank *rank = &merge->ranks[number];
    const enum rig_rc rc = rig_merge_rank_take(rank, err);
    if (rc != RIG_OK)
        return rc;
    if (rank->ended) {
        out->segment.lost_count += rank->fact.truncated;
    } else {
        const struct rig_segment *segment = &rank->last->segment;
        out->segment.skipped_count += segment->skipped_count;
        out->segment.lost_count += segment->lost_count;
        out->segment.reused_count += segment->reused_count;
        if (!put_faults(merge, out, segment))
            return no_memory(err);
    }
    return RIG_OK;
}

/* A transaction that is under way where the output ends. */
static bool put_open(struct rig_merge *merge, struct output *out, uint32_t number, uint32_t at)
{
    const struct rig_merge_start *start = &merge->ranks[number].starts.at[at];
    const struct rig_segment *segment = &start->piece->segment;
    const struct rig_txn_vec *txns = start->is_open ? &segment->open : &segment->txns;
    const struct rig_txn_op_vec *ops = start->is_open ? &segment->open_ops : &segment->ops;
    struct rig_txn txn = txns->at[start->index];
    const size_t end = end_of_ops(txns, ops, start->index);
    size_t op = txn.first_op;
    txn.first_op = (uint32_t)out->segment.open_ops.count;
    txn.invoke_at = start->at;
    txn.complete_at = RIG_POSITION_NONE;
    txn.complete_ns = RIG_NO_TIME;
    txn.outcome = RIG_OUTCOME_INFO;
    txn.error = 0;
    if (!use_piece(merge, out, number, start->piece) || !rig_txn_vec_add(&out->segment.open, txn))
        return false;
    for (; op < end; op++) {
        struct rig_txn_op copy = ops->at[op];
        copy.key = use_key(out, start->piece, copy.key);
        copy.read_state = RIG_READ_UNKNOWN;
        copy.value = rig_op_reads(copy.kind) ? 0 : copy.value;
        if (copy.key == UINT32_MAX || !rig_txn_op_vec_add(&out->segment.open_ops, copy))
            return false;
    }
    return true;
}

/* All of them: those that complete in the pieces taken, and those that are open at the end of the last one. */
static enum rig_rc put_all_open(struct rig_merge *merge, struct output *out, uint32_t number, struct rig_err *err)
{
    const struct rig_merge_rank *rank = &merge->ranks[number];
    bool fits = true;
    for (size_t i = rank->end_piece; i < rank->pieces.count; i++) {
        const struct rig_merge_piece *piece = rank->pieces.at[i];
        for (size_t index = piece->next_end; index < piece->start_of.count && fits; index++)
            fits = !rig_merge_rank_is_begun(rank, piece->start_of.at[index]) ||
                   put_open(merge, out, number, piece->start_of.at[index]);
    }
    for (size_t i = 0; rank->last != NULL && i < rank->last->open_start.count && fits; i++)
        fits = !rig_merge_rank_is_begun(rank, rank->last->open_start.at[i]) ||
               put_open(merge, out, number, rank->last->open_start.at[i]);
    return fits ? RIG_OK : no_memory(err);
}

/* At the end: no transaction that stays open is followed by another one of its process. */
static enum rig_rc check_open(struct rig_merge *merge, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++) {
        const struct rig_merge_rank *rank = &merge->ranks[i];
        for (size_t at = 0; rank->last != NULL && at < rank->last->open_start.count && rc == RIG_OK; at++) {
            const uint32_t source_at = rank->starts.at[rank->last->open_start.at[at]].source_at;
            rc = check_process(merge, i, rank->last->segment.open.at[at].process, source_at, RIG_POSITION_NONE, err);
        }
    }
    return rc;
}

static double share_of(const struct rig_merge *merge)
{
    double done = 0, all = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const double size = (double)rig_source_facts(merge->ranks[i].source)->size_bytes;
        done += size * rig_source_share(merge->ranks[i].source);
        all += size;
    }
    return all > 0 ? done / all : 1;
}

/* No event is known to be the next one: continues the stream that may have it. */
static enum rig_rc continue_streams(struct rig_merge *merge, struct output *out, struct rig_err *err)
{
    const struct rig_time_stream *first = NULL;
    for (size_t i = 0; i < 2 * merge->count; i++) {
        const struct rig_time_stream *stream = &merge->streams[i];
        if (stream->count == 0 && (first == NULL || stream->then_ns < first->then_ns))
            first = stream;
    }
    RIG_INVARIANT(first != NULL);
    const uint32_t number = (uint32_t)(first - merge->streams) / 2;
    merge->ended = merge->ranks[number].ended;
    return merge->ended ? check_open(merge, err) : take_piece(merge, out, number, err);
}

/* The next batch of events. */
static enum rig_rc put_batch(struct rig_merge *merge, struct output *out, struct rig_err *err)
{
    for (size_t i = 0; i < merge->count; i++) {
        merge->streams[2 * i] = rig_merge_rank_starts(&merge->ranks[i]);
        merge->streams[2 * i + 1] = rig_merge_rank_ends(&merge->ranks[i]);
    }
    if (!rig_time_order_next(&merge->order, merge->streams, merge->output_txns / merge->count + 1))
        return no_memory(err);
    return merge->order.events.count > 0 ? put_events(merge, out, err) : continue_streams(merge, out, err);
}

static enum rig_rc fill(struct rig_merge *merge, struct output *out, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    empty_output(merge, out);
    merge->output_number++;
    if (!merge->begun) {
        merge->begun = true;
        out->segment.lost_count = merge->missing_count;
    }
    while (rc == RIG_OK && !merge->ended && out->segment.txns.count < merge->output_txns &&
           out->segment.ops.count < OUTPUT_OPS)
        rc = put_batch(merge, out, err);
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++)
        rc = put_all_open(merge, out, i, err);
    if (rc != RIG_OK)
        return rc;
    out->segment.owned = true;
    out->segment.in_turn = true;
    (void)rig_segment_note_make(&out->segment.note, &out->segment); /* else the window does */
    out->share = share_of(merge);
    return RIG_OK;
}

/* ---- the thread ---- */

static void *merge_ahead(void *context)
{
    struct rig_merge *merge = context;
    pthread_mutex_lock(&merge->lock);
    while (!merge->stopping && !merge->ended && merge->err.rc == RIG_OK) {
        struct output *out = &merge->outputs[merge->filling % merge->output_count];
        if (out->state != EMPTY) {
            pthread_cond_wait(&merge->changed, &merge->lock);
            continue;
        }
        pthread_mutex_unlock(&merge->lock);
        struct rig_err err = {0};
        (void)fill(merge, out, &err);
        pthread_mutex_lock(&merge->lock);
        merge->err = err;
        out->last = merge->ended;
        out->state = FULL;
        merge->filling++;
        pthread_cond_broadcast(&merge->changed);
    }
    pthread_mutex_unlock(&merge->lock);
    return NULL;
}

static void stop_thread(struct rig_merge *merge)
{
    if (!merge->started)
        return;
    pthread_mutex_lock(&merge->lock);
    merge->stopping = true;
    pthread_cond_broadcast(&merge->changed);
    pthread_mutex_unlock(&merge->lock);
    pthread_join(merge->thread, NULL);
    merge->started = merge->stopping = false;
}

static void fill_here(struct rig_merge *merge, struct output *out)
{
    if (out->state == EMPTY && merge->err.rc == RIG_OK) {
        (void)fill(merge, out, &merge->err);
        out->last = merge->ended;
        out->state = FULL;
        merge->filling++;
    }
}

/* Waits for the next output. Without a thread, makes it. */
static enum rig_rc wait_for(struct rig_merge *merge, struct output **out, struct rig_err *err)
{
    struct output *next = &merge->outputs[merge->giving % merge->output_count];
    if (merge->threaded && !merge->started)
        merge->threaded = merge->started = rig_thread_start(&merge->thread, merge_ahead, merge) == 0;
    if (!merge->started)
        fill_here(merge, next);
    pthread_mutex_lock(&merge->lock);
    while (next->state != FULL && merge->err.rc == RIG_OK)
        pthread_cond_wait(&merge->changed, &merge->lock);
    struct rig_err why = next->state == FULL && !(merge->err.rc != RIG_OK && merge->giving + 1 == merge->filling)
                             ? (struct rig_err){0}
                             : merge->err;
    if (why.rc == RIG_OK) {
        next->state = GIVEN;
        merge->giving++;
    }
    pthread_mutex_unlock(&merge->lock);
    *out = next;
    return why.rc == RIG_OK ? RIG_OK : rig_fail(err, why.rc, "%s", why.text);
}

static void give_back(struct rig_merge *merge)
{
    pthread_mutex_lock(&merge->lock);
    for (unsigned i = 0; i < OUTPUTS_MOST; i++) {
        if (merge->outputs[i].state == GIVEN && !merge->outputs[i].last)
            merge->outputs[i].state = EMPTY;
    }
    pthread_cond_broadcast(&merge->changed);
    pthread_mutex_unlock(&merge->lock);
}

/* ---- facts ---- */

/* Adds those of a rank, at its end. */
static void add_facts(struct rig_merge *merge, struct rig_source_facts *facts)
{
    int64_t error_ns = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct rig_merge_rank *rank = &merge->ranks[i];
        const struct rig_source_facts *of = rig_source_facts(rank->source);
        merge->facts[rank->number] = rank->fact;
        error_ns = rank->fact.error_ns > error_ns ? rank->fact.error_ns : error_ns;
        facts->truncated |= of->truncated;
        if (of->certificate != NULL && facts->certificate == NULL)
            facts->certificate = of->certificate;
        if (of->damaged_at != 0 && facts->damaged_at == 0) {
            facts->damaged_at = of->damaged_at;
            facts->damaged_bytes = of->damaged_bytes;
            facts->damaged_frames = of->damaged_frames;
        }
        facts->damaged_txns += of->damaged_txns;
    }
    facts->ranks.bound_ns = 2 * error_ns;
    facts->truncated |= merge->missing_count > 0;
}

enum rig_rc rig_merge_next(struct rig_merge *merge, const struct rig_segment **segment, struct rig_source_facts *facts,
                           struct rig_err *err)
{
    struct output *out = NULL;
    *segment = NULL;
    const struct output *last = &merge->outputs[(merge->giving + merge->output_count - 1) % merge->output_count];
    if (merge->giving > 0 && last->last)
        return RIG_OK;
    give_back(merge); /* from now on it may be filled again */
    const enum rig_rc rc = wait_for(merge, &out, err);
    if (rc != RIG_OK)
        return rc;
    facts->skipped_count += out->segment.skipped_count;
    facts->lost_count += out->segment.lost_count - (merge->giving == 1 ? merge->missing_count : 0); /* known before */
    facts->reused_count += out->segment.reused_count;
    if (out->last) {
        stop_thread(merge);
        add_facts(merge, facts);
    }
    *segment = &out->segment;
    return RIG_OK;
}

double rig_merge_share(const struct rig_merge *merge)
{
    return merge->giving == 0 ? 0
                              : merge->outputs[(merge->giving + merge->output_count - 1) % merge->output_count].share;
}

/* ---- opening ---- */

static enum rig_rc refuse(const char *name, const char *what, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT, "%s: %s", name, what);
}

static enum rig_rc check_record(const struct rig_source_facts *first, const char *first_name,
                                const struct rig_source_facts *facts, const char *name, struct rig_err *err)
{
    if (facts->rank.count == 0)
        return refuse(name, "is not the record of one rank of a run; only those can be checked together", err);
    if (memcmp(facts->rank.run, first->rank.run, sizeof first->rank.run) != 0 ||
        facts->rank.count != first->rank.count || facts->workload != first->workload)
        return rig_fail(err, RIG_E_INPUT, "%s: is of another run than %s; check the records of one run together", name,
                        first_name);
    if (rig_workload_is_object(facts->workload) && facts->rank.origin_ns != 0)
        return refuse(
            name,
            "holds operations on objects, whose order needs one clock; records of several ranks can be checked "
            "together if they hold transactions, or if their time was simulated",
            err);
    return RIG_OK;
}

static enum rig_rc check_records(struct rig_source **sources, const char *const *names, size_t count,
                                 struct rig_merge *merge, struct rig_err *err)
{
    const struct rig_source_facts *first = rig_source_facts(sources[0]);
    for (size_t i = 0; i < count; i++) {
        const struct rig_source_facts *facts = rig_source_facts(sources[i]);
        const enum rig_rc rc = check_record(first, names[0], facts, names[i], err);
        if (rc != RIG_OK)
            return rc;
        for (size_t other = 0; other < i; other++) {
            if (rig_source_facts(sources[other])->rank.number == facts->rank.number)
                return rig_fail(err, RIG_E_INPUT, "%s and %s are both the record of rank %u; give each record once",
                                names[other], names[i], (unsigned)facts->rank.number);
        }
    }
    merge->run_count = first->rank.count;
    merge->missing_count = merge->run_count - (uint32_t)count;
    return RIG_OK;
}

static bool allocate(struct rig_merge *merge, size_t count)
{
    merge->ranks = calloc(count, sizeof *merge->ranks);
    merge->streams = calloc(2 * count, sizeof *merge->streams);
    merge->end_pieces = calloc(count, sizeof *merge->end_pieces);
    merge->positions = calloc(2 * count, sizeof *merge->positions);
    merge->pages = calloc(PAGES, sizeof(struct process *));
    return rig_time_order_init(&merge->order, 2 * count) && merge->ranks != NULL && merge->streams != NULL &&
           merge->end_pieces != NULL && merge->positions != NULL && merge->pages != NULL;
}

static void init_facts(struct rig_merge *merge, struct rig_source_facts *facts)
{
    const struct rig_source_facts *zero = rig_source_facts(merge->ranks[0].source);
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->ranks[i].number == 0)
            zero = rig_source_facts(merge->ranks[i].source);
    }
    *facts = (struct rig_source_facts){
        .form = RIG_FORM_RIG,
        .workload = zero->workload,
        .meta = zero->meta,
        .start_utc_ns = zero->start_utc_ns,
        .has_invocations = true,
        .lost_count = merge->missing_count, /* what the missing ranks did is left out */
        .ranks = {.ranks = merge->facts, .count = merge->run_count},
        .parts_bytes = (size_t)(merge->output_count - OUTPUTS_LEAST) * OUTPUT_BYTES,
    };
    for (size_t i = 0; i < merge->count; i++) {
        const struct rig_source_facts *of = rig_source_facts(merge->ranks[i].source);
        facts->size_bytes += of->size_bytes;
        facts->held_bytes += of->held_bytes;
        facts->parts_bytes += 2 * of->parts_bytes; /* those parsed ahead, and those being merged */
        facts->skipped_count += of->skipped_count;
        facts->most_bytes = of->most_bytes > facts->most_bytes ? of->most_bytes : facts->most_bytes;
    }
}

/* Rank 0's times count from its own start. Without its record, those of the first record given do. */
static int64_t zero_of(struct rig_source **sources, size_t count)
{
    int64_t zero_ns = rig_source_facts(sources[0])->rank.origin_ns;
    for (size_t i = 0; i < count; i++) {
        const struct rig_source_facts *facts = rig_source_facts(sources[i]);
        zero_ns = facts->rank.number == 0 ? facts->rank.origin_ns : zero_ns;
    }
    return zero_ns;
}

static enum rig_rc open_ranks(struct rig_merge *merge, struct rig_source **sources, const char *const *names,
                              size_t count, struct rig_err *err)
{
    const int64_t zero_ns = zero_of(sources, count);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < count && rc == RIG_OK; i++) {
        rc = rig_merge_rank_init(&merge->ranks[i], sources[i], names[i], zero_ns, err);
        merge->count++;
        sources[i] = NULL; /* the rank has it */
    }
    return rc;
}

/* Those that are merged ahead have a thread of their own. */
static unsigned count_outputs(unsigned threads, size_t limit_bytes)
{
    const size_t most = threads == 1 ? OUTPUTS_LEAST : OUTPUTS_MOST;
    const size_t fit = limit_bytes == 0 ? most : limit_bytes / OUTPUT_SHARE / OUTPUT_BYTES;
    return (unsigned)(fit < OUTPUTS_LEAST ? OUTPUTS_LEAST : fit > most ? most : fit);
}

enum rig_rc rig_merge_open(struct rig_source **sources, const char *const *names, size_t count, unsigned threads,
                           size_t limit_bytes, size_t output_txns, struct rig_source_facts *facts,
                           struct rig_merge **merge, struct rig_err *err)
{
    RIG_REQUIRE(count > 0);
    struct rig_merge *made = calloc(1, sizeof *made);
    enum rig_rc rc = made == NULL ? no_memory(err) : RIG_OK;
    if (rc == RIG_OK) {
        pthread_mutex_init(&made->lock, NULL);
        pthread_cond_init(&made->changed, NULL);
        for (unsigned i = 0; i < OUTPUTS_MOST; i++)
            rig_segment_init(&made->outputs[i].segment, 0);
        made->threaded = threads != 1;
        made->output_count = count_outputs(threads, limit_bytes);
        made->output_txns = output_txns == 0 ? OUTPUT_TXNS : output_txns;
        rc = check_records(sources, names, count, made, err);
    }
    if (rc == RIG_OK && !allocate(made, count))
        rc = no_memory(err);
    if (rc == RIG_OK && (made->facts = calloc(made->run_count, sizeof *made->facts)) == NULL)
        rc = no_memory(err);
    if (rc == RIG_OK) {
        const struct rig_data_type *type = &rig_data_types[rig_source_facts(sources[0])->workload];
        made->type = rig_data_type_has_sequences(type) ? type : NULL;
        rc = open_ranks(made, sources, names, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        rig_source_close(sources[i]); /* those that no rank has */
        sources[i] = NULL;
    }
    if (rc != RIG_OK) {
        rig_merge_close(made);
        return rc;
    }
    init_facts(made, facts);
    *merge = made;
    return RIG_OK;
}

enum rig_rc rig_merge_rewind(struct rig_merge *merge, struct rig_source_facts *facts, struct rig_err *err)
{
    stop_thread(merge);
    for (unsigned i = 0; i < OUTPUTS_MOST; i++) {
        empty_output(merge, &merge->outputs[i]);
        merge->outputs[i].state = EMPTY;
    }
    for (size_t i = 0; i < merge->count; i++) {
        const enum rig_rc rc = rig_merge_rank_rewind(&merge->ranks[i], err);
        if (rc != RIG_OK)
            return rc;
    }
    for (size_t i = 0; i < PAGES; i++) {
        if (merge->pages[i] != NULL)
            memset(merge->pages[i], 0, PAGE_PROCESSES * sizeof(struct process));
    }
    merge->filling = merge->giving = 0;
    merge->next_position = 0;
    merge->begun = merge->ended = false;
    merge->err = (struct rig_err){0};
    init_facts(merge, facts);
    return RIG_OK;
}

void rig_merge_close(struct rig_merge *merge)
{
    if (merge == NULL)
        return;
    stop_thread(merge);
    for (unsigned i = 0; i < OUTPUTS_MOST; i++) {
        if (merge->ranks != NULL)
            empty_output(merge, &merge->outputs[i]);
        rig_segment_done(&merge->outputs[i].segment);
        used_pieces_done(&merge->outputs[i].pieces);
    }
    for (size_t i = 0; i < merge->count; i++)
        rig_merge_rank_done(&merge->ranks[i]);
    for (size_t i = 0; merge->pages != NULL && i < PAGES; i++)
        free(merge->pages[i]);
    free(merge->pages);
    free(merge->streams);
    free(merge->end_pieces);
    free(merge->positions);
    rig_time_order_done(&merge->order);
    rig_merge_ids_done(&merge->ends);
    free(merge->ranks);
    free(merge->facts);
    pthread_cond_destroy(&merge->changed);
    pthread_mutex_destroy(&merge->lock);
    free(merge);
}
