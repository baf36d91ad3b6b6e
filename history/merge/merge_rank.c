#include "history/merge/merge_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"

#define NO_START UINT32_MAX

#define OPEN_BIT (UINT32_C(1) << 31)

enum { MOST_SPARSE = 8, FEW_SLOTS = 1024 };

/* ---- life ---- */

static void free_lists(struct rig_merge_lists *lists)
{
    if (lists == NULL)
        return;
    rig_list_pool_done(&lists->pool);
    rig_arena_done(&lists->texts);
    free(lists);
}

static void free_piece(struct rig_merge_piece *piece)
{
    free_lists(piece->lists);
    rig_segment_done(&piece->segment);
    rig_merge_times_done(&piece->ends);
    rig_merge_ids_done(&piece->start_of);
    rig_merge_ids_done(&piece->open_start);
    rig_merge_ids_done(&piece->starts);
    rig_merge_times_done(&piece->start_lows);
    rig_merge_ids_done(&piece->start_at);
    rig_merge_ids_done(&piece->end_at);
    rig_merge_ids_done(&piece->key_of);
    rig_merge_ids_done(&piece->branch_of);
    free(piece);
}

static void reset(struct rig_merge_rank *rank)
{
    for (size_t i = 0; i < rank->pieces.count; i++)
        free_piece(rank->pieces.at[i]);
    rank->pieces.count = 0;
    rank->start_piece = rank->end_piece = 0;
    rank->last = NULL;
    rank->starts.count = 0;
    rank->free.count = rank->next_free = 0;
    rank->positions_end = 0;
    rank->low_ns = rank->high_ns = rank->last_low_ns = rank->last_high_ns = INT64_MIN;
    rank->ended = false;
    rank->clock.at = 0;
    rank->fact = (struct rig_rank_fact){.name = rank->name, .largest_step = rank->clock.largest_step_ns};
}

enum rig_rc rig_merge_rank_init(struct rig_merge_rank *rank, struct rig_source *source, const char *name,
                                int64_t zero_ns, struct rig_err *err)
{
    const struct rig_source_facts *facts = rig_source_facts(source);
    *rank = (struct rig_merge_rank){
        .source = source,
        .name = name,
        .number = facts->rank.number,
        .origin_ns = facts->rank.origin_ns,
        .zero_ns = zero_ns,
    };
    if (facts->rank.number > 0 && facts->rank.origin_ns != 0 && facts->clock_count == 0)
        return rig_fail(err, RIG_E_INPUT,
                        "%s: has no sample of its clock, so its times cannot be compared with those of other ranks; "
                        "leave it out, and its rank counts as missing",
                        name);
    const enum rig_rc rc = rig_clock_map_make(&facts->rank, facts->clock, facts->clock_count, &rank->clock, err);
    reset(rank);
    return rc;
}

void rig_merge_rank_done(struct rig_merge_rank *rank)
{
    reset(rank);
    for (struct rig_merge_piece *piece; (piece = rank->idle) != NULL;) {
        rank->idle = piece->next;
        free_piece(piece);
    }
    for (struct rig_merge_lists *lists; (lists = rank->idle_lists) != NULL;) {
        rank->idle_lists = lists->next;
        free_lists(lists);
    }
    rig_source_close(rank->source);
    rig_clock_map_done(&rank->clock);
    rig_merge_pieces_done(&rank->pieces);
    rig_merge_starts_done(&rank->starts);
    rig_merge_ids_done(&rank->free);
    rig_merge_times_done(&rank->lows);
    rig_merge_ids_done(&rank->slots);
    rig_merge_order_done(&rank->order);
}

enum rig_rc rig_merge_rank_restart(struct rig_merge_rank *rank, const struct rig_source_entry *block,
                                   struct rig_err *err)
{
    reset(rank);
    if (block == NULL || block->at == 0)
        return rig_source_rewind(rank->source, err);
    rank->fact.txn_count = block->txn_count;
    return rig_source_start_at(rank->source, &(struct rig_source_start){.block = block->at}, err);
}

static enum rig_rc no_memory(const struct rig_merge_rank *rank, struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "merging it", rank->name);
}

static struct rig_merge_lists *new_lists(struct rig_merge_rank *rank)
{
    struct rig_merge_lists *lists = rank->idle_lists;
    if (lists != NULL) {
        rank->idle_lists = lists->next;
        return lists;
    }
    lists = calloc(1, sizeof *lists);
    if (lists != NULL) {
        rig_list_pool_init(&lists->pool, 0);
        rig_arena_init(&lists->texts, 0);
    }
    return lists;
}

void rig_merge_rank_free_lists(struct rig_merge_rank *rank, struct rig_merge_lists *lists)
{
    RIG_INVARIANT(lists->done && lists->users == 0);
    rig_list_pool_reset(&lists->pool);
    rig_arena_reset(&lists->texts);
    lists->done = false;
    lists->next = rank->idle_lists;
    rank->idle_lists = lists;
}

/* The piece has a segment of the source: its lists are kept apart. */
static bool keep_lists(struct rig_merge_rank *rank, struct rig_merge_piece *piece)
{
    struct rig_merge_lists *lists = piece->lists = new_lists(rank);
    if (lists == NULL)
        return false;
    const struct rig_list_pool pool = piece->segment.pool;
    const struct rig_arena texts = piece->segment.texts;
    piece->segment.pool = lists->pool;
    piece->segment.texts = lists->texts;
    lists->pool = pool;
    lists->texts = texts;
    return true;
}

static struct rig_merge_piece *new_piece(struct rig_merge_rank *rank)
{
    struct rig_merge_piece *piece = rank->idle;
    if (piece == NULL) {
        piece = calloc(1, sizeof *piece);
        if (piece == NULL)
            return NULL;
        rig_segment_init(&piece->segment, 0);
    } else {
        rank->idle = piece->next;
    }
    piece->ends.count = piece->start_of.count = piece->open_start.count = piece->starts.count = 0;
    piece->next_end = piece->next_start = 0;
    piece->output = 0;
    return piece;
}

/* Nothing of it is left to merge. */
static void end_piece(struct rig_merge_rank *rank, struct rig_merge_piece *piece)
{
    piece->lists->done = true;
    if (piece->lists->users == 0)
        rig_merge_rank_free_lists(rank, piece->lists);
    piece->lists = NULL;
    rig_segment_reset(&piece->segment);
    piece->next = rank->idle;
    rank->idle = piece;
}

/* ---- the starts of a piece ---- */

static uint32_t new_start(struct rig_merge_rank *rank)
{
    if (rank->next_free < rank->free.count)
        return rank->free.at[rank->next_free++];
    /* The free ones take at most half of their place, so that finishing never fails, and seldom moves them. */
    if (rank->starts.count >= NO_START / 2 || !rig_merge_ids_reserve(&rank->free, 2 * rank->starts.count + 2) ||
        !rig_merge_starts_add(&rank->starts, (struct rig_merge_start){0}))
        return NO_START;
    return (uint32_t)rank->starts.count - 1;
}

void rig_merge_rank_begin(struct rig_merge_rank *rank, struct rig_merge_piece *piece, size_t count)
{
    for (; count > 0; count--, piece->next_start++)
        rank->starts.at[piece->starts.at[piece->next_start]].at = piece->start_at.at[piece->next_start];
}

static inline void finish(struct rig_merge_rank *rank, uint32_t start)
{
    RIG_INVARIANT(rank->starts.at[start].at != RIG_POSITION_NONE);
    if (__builtin_expect(rank->free.count == rank->free.capacity, 0)) {
        rank->free.count -= rank->next_free;
        memmove(rank->free.at, rank->free.at + rank->next_free, rank->free.count * sizeof *rank->free.at);
        rank->next_free = 0;
    }
    rank->free.at[rank->free.count++] = start;
}

void rig_merge_rank_finish(struct rig_merge_rank *rank, struct rig_merge_piece *piece, size_t count)
{
    struct rig_txn *txn = piece->segment.txns.at + piece->next_end;
    const uint32_t *start = piece->start_of.at + piece->next_end, *end_at = piece->end_at.at + piece->next_end;
    for (; count > 0; count--, txn++, start++, end_at++) {
        txn->invoke_at = rank->starts.at[*start].at;
        txn->complete_at = *end_at;
        finish(rank, *start);
    }
}

static int compare_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static enum rig_rc refuse_order(const struct rig_merge_rank *rank, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT,
                    "%s: its times do not ascend, or some are missing; only records that rig made during a run can be "
                    "checked together",
                    rank->name);
}

/* The start of a transaction that the piece before had among its open ones, which are in order; NO_START: none. */
static uint32_t find_open(const struct rig_merge_rank *rank, const struct rig_merge_piece *before, uint32_t source_at)
{
    size_t low = 0, high = before == NULL ? 0 : before->open_start.count;
    while (low < high)
        rig_halve_size(&low, &high,
                       rank->starts.at[before->open_start.at[rig_middle_size(low, high)]].source_at < source_at);
    const bool found = before != NULL && low < before->open_start.count &&
                       rank->starts.at[before->open_start.at[low]].source_at == source_at;
    return found ? before->open_start.at[low] : NO_START;
}

/* A transaction that was open before is in this piece now. */
static enum rig_rc carry_on(struct rig_merge_rank *rank, struct rig_merge_piece *piece, bool is_open, uint32_t index,
                            struct rig_err *err)
{
    const uint32_t at = (is_open ? &piece->segment.open : &piece->segment.txns)->at[index].invoke_at;
    const uint32_t start = find_open(rank, rank->last, at);
    if (start == NO_START)
        return rig_fail(err, RIG_E_INPUT, "%s: the transaction at position %u completes, and was not open", rank->name,
                        (unsigned)at);
    struct rig_merge_start *s = &rank->starts.at[start];
    s->piece = piece;
    s->index = index;
    s->is_open = is_open;
    (is_open ? &piece->open_start : &piece->start_of)->at[index] = start;
    return RIG_OK;
}

/* Positions from `from` to before `to`. */
struct range {
    uint32_t from, to;
    uint32_t *slots; /* one a position; NULL: they are too many */
};

/* Invocations in the range go to their slots, or to the order where there are none; earlier ones are carried on. */
static enum rig_rc sort_out(struct rig_merge_rank *rank, struct rig_merge_piece *piece, bool is_open,
                            const struct range *range, struct rig_err *err)
{
    const struct rig_txn_vec *txns = is_open ? &piece->segment.open : &piece->segment.txns;
    const uint32_t bits = is_open ? OPEN_BIT : 0, from = range->from;
    uint32_t carried = 0;
    for (uint32_t i = 0; i < txns->count; i++) {
        const uint32_t at = txns->at[i].invoke_at;
        if (at >= range->to)
            return refuse_order(rank, err);
        if (at < from) {
            const enum rig_rc rc = carry_on(rank, piece, is_open, i, err);
            if (rc != RIG_OK)
                return rc;
            carried++;
        } else if (range->slots != NULL) {
            range->slots[at - from] = i | bits;
        } else {
            rank->order.at[rank->order.count++] = (uint64_t)at << 32 | i | bits;
        }
    }
    rank->new_starts += txns->count - carried;
    return RIG_OK;
}

/* The piece's invocations from `from` on, by position: position << 32 | the transaction's number, or OPEN_BIT | that of
 * an open one. */
static enum rig_rc order_starts(struct rig_merge_rank *rank, struct rig_merge_piece *piece, uint32_t from, uint32_t to,
                                struct rig_err *err)
{
    const size_t all = piece->segment.txns.count + piece->segment.open.count, positions = to - from;
    const bool dense = positions <= MOST_SPARSE * all + FEW_SLOTS;
    struct rig_merge_order *order = &rank->order;
    rank->new_starts = order->count = 0;
    if (!rig_merge_order_reserve(order, all + 1) || (dense && !rig_merge_ids_reserve(&rank->slots, positions + 1)))
        return no_memory(rank, err);
    const struct range range = {from, to, dense ? rank->slots.at : NULL};
    if (dense)
        memset(range.slots, 0xff, positions * sizeof *range.slots);
    enum rig_rc rc = sort_out(rank, piece, false, &range, err);
    if (rc == RIG_OK)
        rc = sort_out(rank, piece, true, &range, err);
    if (rc != RIG_OK)
        return rc;
    if (!dense)
        qsort(order->at, order->count, sizeof *order->at, compare_order);
    /* Starts and ends alternate unpredictably, so always store, if need be one place past the last start. */
    uint64_t *next = order->at + order->count;
    for (size_t i = 0; dense && i < positions; i++) {
        *next = (uint64_t)(from + i) << 32 | range.slots[i];
        next += range.slots[i] != UINT32_MAX;
    }
    order->count = (size_t)(next - order->at);
    return order->count == rank->new_starts ? RIG_OK : refuse_order(rank, err);
}

static enum rig_rc add_starts(struct rig_merge_rank *rank, struct rig_merge_piece *piece, struct rig_err *err)
{
    const size_t txns = piece->segment.txns.count;
    if (!rig_merge_ids_reserve(&piece->starts, rank->order.count) ||
        !rig_merge_times_reserve(&piece->start_lows, rank->order.count) ||
        !rig_merge_ids_reserve(&piece->start_at, rank->order.count + 1))
        return no_memory(rank, err);
    for (size_t i = 0; i < rank->order.count; i++) {
        const uint32_t which = (uint32_t)rank->order.at[i], index = which & ~OPEN_BIT;
        const bool is_open = (which & OPEN_BIT) != 0;
        const int64_t low_ns = rank->lows.at[is_open ? txns + index : index];
        const uint32_t start = new_start(rank);
        if (start == NO_START)
            return no_memory(rank, err);
        if (low_ns < rank->last_low_ns)
            return refuse_order(rank, err);
        rank->last_low_ns = low_ns;
        rank->starts.at[start] = (struct rig_merge_start){.piece = piece,
                                                          .index = index,
                                                          .is_open = is_open,
                                                          .source_at = (uint32_t)(rank->order.at[i] >> 32),
                                                          .at = RIG_POSITION_NONE};
        piece->start_lows.at[piece->starts.count] = low_ns;
        piece->starts.at[piece->starts.count++] = start;
        (is_open ? &piece->open_start : &piece->start_of)->at[index] = start;
    }
    return RIG_OK;
}

/* The times of a rank's events so far. A loop keeps a copy in registers. */
struct times {
    int64_t origin_ns, zero_ns;
    int64_t low_ns, high_ns, error_ns; /* the highest */
};

static inline struct rig_clock_bounds bounds_at(struct times *times, struct rig_clock_map *clock, int64_t time_ns)
{
    struct rig_clock_bounds bounds = rig_clock_map_bounds(clock, time_ns + times->origin_ns);
    const int64_t error_ns = (bounds.high - bounds.low + 1) / 2;
    times->error_ns = error_ns > times->error_ns ? error_ns : times->error_ns;
    bounds.low -= times->zero_ns;
    bounds.likely -= times->zero_ns;
    bounds.high -= times->zero_ns;
    times->high_ns = bounds.high > times->high_ns ? bounds.high : times->high_ns;
    times->low_ns = bounds.low > times->low_ns ? bounds.low : times->low_ns;
    return bounds;
}

static enum rig_rc set_txn_times(struct rig_merge_rank *rank, struct rig_merge_piece *piece, struct times *result,
                                 uint32_t *positions_end, struct rig_err *err)
{
    const struct rig_txn_vec *txns = &piece->segment.txns;
    int64_t *lows = rank->lows.at, *ends = piece->ends.at, last_high_ns = rank->last_high_ns;
    struct times times = *result;
    uint32_t end_at = *positions_end;
    bool ordered = true;
    for (size_t i = 0; i < txns->count && ordered; i++) {
        struct rig_txn *txn = &txns->at[i];
        ordered = rig_merge_has_time(txn->invoke_ns) && rig_merge_has_time(txn->complete_ns) &&
                  txn->invoke_at != RIG_POSITION_NONE;
        if (!ordered)
            break;
        const struct rig_clock_bounds start = bounds_at(&times, &rank->clock, txn->invoke_ns);
        const struct rig_clock_bounds end = bounds_at(&times, &rank->clock, txn->complete_ns);
        ordered = end.high >= last_high_ns && end.high >= start.low;
        last_high_ns = end.high;
        txn->invoke_ns = start.likely;
        txn->complete_ns = end.likely;
        lows[i] = start.low;
        ends[i] = end.high;
        end_at = txn->complete_at >= end_at ? txn->complete_at + 1 : end_at;
    }
    *positions_end = end_at;
    rank->last_high_ns = last_high_ns;
    *result = times;
    return ordered ? RIG_OK : refuse_order(rank, err);
}

static enum rig_rc set_open_times(struct rig_merge_rank *rank, struct rig_merge_piece *piece, struct times *times,
                                  uint32_t *positions_end, struct rig_err *err)
{
    struct rig_segment *segment = &piece->segment;
    for (size_t i = 0; i < segment->open.count; i++) {
        struct rig_txn *txn = &segment->open.at[i];
        if (!rig_merge_has_time(txn->invoke_ns))
            return refuse_order(rank, err);
        const struct rig_clock_bounds start = bounds_at(times, &rank->clock, txn->invoke_ns);
        txn->invoke_ns = start.likely;
        rank->lows.at[segment->txns.count + i] = start.low;
        *positions_end = txn->invoke_at >= *positions_end ? txn->invoke_at + 1 : *positions_end;
    }
    return RIG_OK;
}

/* Gives all events their times on rank 0's clock. *positions_end: after the last of them. */
static enum rig_rc set_times(struct rig_merge_rank *rank, struct rig_merge_piece *piece, uint32_t *positions_end,
                             struct rig_err *err)
{
    struct times times = {.origin_ns = rank->origin_ns,
                          .zero_ns = rank->zero_ns,
                          .low_ns = rank->low_ns,
                          .high_ns = rank->high_ns,
                          .error_ns = rank->fact.error_ns};
    enum rig_rc rc = set_txn_times(rank, piece, &times, positions_end, err);
    if (rc == RIG_OK)
        rc = set_open_times(rank, piece, &times, positions_end, err);
    for (size_t i = 0; rc == RIG_OK && i < piece->segment.faults.count; i++) {
        struct rig_fault_event *fault = &piece->segment.faults.at[i];
        if (rig_merge_has_time(fault->time_ns))
            fault->time_ns = bounds_at(&times, &rank->clock, fault->time_ns).likely;
    }
    rank->low_ns = times.low_ns;
    rank->high_ns = times.high_ns;
    rank->fact.error_ns = times.error_ns;
    return rc;
}

static bool make_room(struct rig_merge_rank *rank, struct rig_merge_piece *piece)
{
    const size_t txns = piece->segment.txns.count, open = piece->segment.open.count;
    if (!rig_merge_times_reserve(&rank->lows, txns + open + 1) || !rig_merge_times_reserve(&piece->ends, txns + 1) ||
        !rig_merge_ids_reserve(&piece->end_at, txns + 1) || !rig_merge_ids_reserve(&piece->start_of, txns + 1) ||
        !rig_merge_ids_reserve(&piece->open_start, open + 1) ||
        !rig_merge_ids_reserve(&piece->key_of, piece->segment.keys.count + 1) ||
        !rig_merge_ids_reserve(&piece->branch_of, piece->segment.branches.count + 1) ||
        !rig_merge_pieces_reserve(&rank->pieces, rank->pieces.count + 1) ||
        !rig_txn_vec_reserve(&piece->segment.txns, txns + 1) ||
        !rig_txn_op_vec_reserve(&piece->segment.ops, piece->segment.ops.count + RIG_MERGE_OPS_AT_ONCE))
        return false;
    piece->segment.txns.at[txns].first_op = (uint32_t)piece->segment.ops.count;
    piece->ends.count = piece->start_of.count = txns;
    piece->open_start.count = open;
    return true;
}

static enum rig_rc check_piece(const struct rig_merge_rank *rank, const struct rig_segment *segment,
                               struct rig_err *err)
{
    if (segment->unordered)
        return refuse_order(rank, err);
    if (segment->keys.count > 0 && segment->keys.at[0].text != NULL)
        return rig_fail(err, RIG_E_INPUT,
                        "%s: its keys are texts; only records with numbers as keys can be checked together",
                        rank->name);
    return RIG_OK;
}

static enum rig_rc fill_piece(struct rig_merge_rank *rank, struct rig_merge_piece *piece, struct rig_err *err)
{
    const uint32_t from = rank->positions_end;
    uint32_t to = from;
    enum rig_rc rc = check_piece(rank, &piece->segment, err);
    if (rc == RIG_OK && !make_room(rank, piece))
        rc = no_memory(rank, err);
    if (rc == RIG_OK)
        rc = set_times(rank, piece, &to, err);
    if (rc == RIG_OK)
        rc = order_starts(rank, piece, from, to, err);
    if (rc == RIG_OK)
        rc = add_starts(rank, piece, err);
    rank->positions_end = to;
    return rc;
}

/* Removes the pieces of which nothing is left, except the last one. */
static void drop_done(struct rig_merge_rank *rank)
{
    size_t done = rank->start_piece < rank->end_piece ? rank->start_piece : rank->end_piece;
    if (done == 0)
        return;
    done = done < rank->pieces.count ? done : rank->pieces.count - 1; /* the last one has the open ones */
    for (size_t i = 0; i < done; i++)
        end_piece(rank, rank->pieces.at[i]);
    memmove(rank->pieces.at, rank->pieces.at + done, (rank->pieces.count - done) * sizeof rank->pieces.at[0]);
    rank->pieces.count -= done;
    rank->start_piece -= done;
    rank->end_piece -= done;
}

enum rig_rc rig_merge_rank_take(struct rig_merge_rank *rank, struct rig_err *err)
{
    const struct rig_segment *given = NULL;
    drop_done(rank);
    enum rig_rc rc = rig_source_next(rank->source, &given, err);
    if (rc != RIG_OK)
        return rc;
    if (given == NULL) {
        const struct rig_source_facts *facts = rig_source_facts(rank->source);
        rank->ended = true;
        rank->fact.truncated = facts->truncated;
        rank->fact.damaged_at = facts->damaged_at;
        return RIG_OK;
    }
    struct rig_merge_piece *piece = new_piece(rank);
    if (piece == NULL)
        return no_memory(rank, err);
    rig_source_exchange(rank->source, &piece->segment);
    rc = keep_lists(rank, piece) ? fill_piece(rank, piece, err) : no_memory(rank, err);
    if (rc != RIG_OK) {
        free_piece(piece);
        return rc;
    }
    rank->fact.txn_count += piece->segment.txns.count;
    rank->pieces.at[rank->pieces.count++] = piece;
    rank->last = piece;
    return RIG_OK;
}

/* ---- the next events ---- */

struct rig_merge_piece *rig_merge_rank_start(struct rig_merge_rank *rank)
{
    for (; rank->start_piece < rank->pieces.count; rank->start_piece++) {
        struct rig_merge_piece *piece = rank->pieces.at[rank->start_piece];
        if (piece->next_start < piece->starts.count)
            return piece;
    }
    return NULL;
}

struct rig_merge_piece *rig_merge_rank_end(struct rig_merge_rank *rank)
{
    for (; rank->end_piece < rank->pieces.count; rank->end_piece++) {
        struct rig_merge_piece *piece = rank->pieces.at[rank->end_piece];
        if (piece->next_end < piece->segment.txns.count)
            return piece;
    }
    return NULL;
}

struct rig_time_stream rig_merge_rank_starts(struct rig_merge_rank *rank)
{
    const struct rig_merge_piece *piece = rig_merge_rank_start(rank);
    struct rig_time_stream stream = {.then_ns = rank->ended ? INT64_MAX : rank->low_ns};
    if (piece == NULL)
        return stream;
    stream.times = piece->start_lows.at + piece->next_start;
    stream.count = piece->starts.count - piece->next_start;
    for (size_t i = rank->pieces.count; --i > rank->start_piece;)
        stream.then_ns = rank->pieces.at[i]->starts.count > 0 ? rank->pieces.at[i]->start_lows.at[0] : stream.then_ns;
    return stream;
}

struct rig_time_stream rig_merge_rank_ends(struct rig_merge_rank *rank)
{
    const struct rig_merge_piece *piece = rig_merge_rank_end(rank);
    struct rig_time_stream stream = {.then_ns = rank->ended ? INT64_MAX : rank->high_ns};
    if (piece == NULL)
        return stream;
    stream.times = piece->ends.at + piece->next_end;
    stream.count = piece->ends.count - piece->next_end;
    for (size_t i = rank->pieces.count; --i > rank->end_piece;)
        stream.then_ns = rank->pieces.at[i]->ends.count > 0 ? rank->pieces.at[i]->ends.at[0] : stream.then_ns;
    return stream;
}
