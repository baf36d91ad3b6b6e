/*
 * One record of a merge (history/merge/merge.h): its parts that are in memory, and its transactions under way. Private
 * to the merge.
 *
 * A piece is a segment of the source, taken from it. Its events are merged in two streams: starts, which are
 * invocations by their earliest times, and ends, which are completions by their latest. A start lives from the first
 * piece that has it until its transaction is given out.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_RANK_H
#define RIG_HISTORY_MERGE_MERGE_RANK_H

#include "history/merge/clock_map.h"
#include "history/merge/rank_facts.h"
#include "history/model/segment.h"
#include "history/source/source.h"
#include "history/merge/time_order.h"

RIG_VEC(uint32_t, rig_merge_ids)
RIG_VEC(int64_t, rig_merge_times)
RIG_VEC(uint64_t, rig_merge_order)

/* Operations of a transaction that are copied at a time; surplus copies are overwritten. */
enum { RIG_MERGE_OPS_AT_ONCE = 5 };

/* The elements and texts of a piece, which outputs show longer than there is the piece: what is merged next takes its
 * memory, while that is in the cache. */
struct rig_merge_lists {
    struct rig_list_pool pool;
    struct rig_arena texts;
    unsigned users;               /* outputs that show them */
    bool done;                    /* nothing of the piece is left to merge */
    struct rig_merge_lists *next; /* free */
};

/* The segment's times are the likely ones on rank 0's clock. Its finished transactions have merged positions. One
 * transaction more has the end of the operations, and there is room for RIG_MERGE_OPS_AT_ONCE more of these. */
struct rig_merge_piece {
    struct rig_segment segment;
    struct rig_merge_times ends;               /* per transaction: the latest time of its completion */
    struct rig_merge_ids start_of, open_start; /* per transaction, and per open one */
    struct rig_merge_ids starts;               /* those that are new here, in order */
    struct rig_merge_times start_lows;         /* of `starts`: their earliest times */
    struct rig_merge_ids start_at, end_at;     /* positions in the merged history: per start, and per transaction */
    uint32_t next_end, next_start;
    struct rig_merge_lists *lists;
    uint64_t output;                        /* the one that the following are for */
    struct rig_merge_ids key_of, branch_of; /* numbers in that output; UINT32_MAX: not there */
    uint32_t first_error;
    struct rig_merge_piece *next; /* free */
};

RIG_VEC(struct rig_merge_piece *, rig_merge_pieces)

struct rig_merge_start {
    struct rig_merge_piece *piece; /* the last one that has the transaction */
    uint32_t index;                /* its number in `piece` */
    bool is_open;                  /* it is among the open ones of `piece` */
    uint32_t source_at;            /* position in the record */
    uint32_t at;                   /* position in the merged history; RIG_POSITION_NONE: not there yet */
};

RIG_VEC(struct rig_merge_start, rig_merge_starts)

struct rig_merge_rank {
    struct rig_source *source;
    const char *name;
    uint32_t number;
    int64_t origin_ns; /* of its times, on its clock */
    int64_t zero_ns;   /* of the merged times, on rank 0's clock */
    struct rig_clock_map clock;
    struct rig_merge_pieces pieces; /* from the first one that is not done */
    struct rig_merge_piece *last;   /* the one taken last, which has the open transactions */
    struct rig_merge_piece *idle;
    struct rig_merge_lists *idle_lists;
    size_t start_piece, end_piece; /* of the next start and end, in `pieces` */
    struct rig_merge_starts starts;
    struct rig_merge_ids free; /* starts, in the order in which they became free */
    size_t next_free;          /* in `free`: those freed first are used first, so that a piece has neighbours */
    uint32_t positions_end;    /* of the events taken */
    int64_t low_ns, high_ns;   /* bounds of the latest event taken: later ones are not below them */
    int64_t last_low_ns, last_high_ns;
    bool ended;
    struct rig_rank_fact fact;
    /* Scratch. */
    struct rig_merge_times lows;
    struct rig_merge_ids slots;
    struct rig_merge_order order;
    size_t new_starts;
};

/* Whether an event has a time; beyond these, sums with clocks would overflow. */
static inline bool rig_merge_has_time(int64_t time_ns)
{
    return time_ns > -(INT64_C(1) << 60) && time_ns < INT64_C(1) << 60;
}

/* Takes the source. The clock is made from its facts. Call rig_merge_rank_done() also after a failure. */
enum rig_rc rig_merge_rank_init(struct rig_merge_rank *rank, struct rig_source *source, const char *name,
                                int64_t zero_ns, struct rig_err *err);
void rig_merge_rank_done(struct rig_merge_rank *rank);
/* Begins again: at the block, or at the beginning where it is NULL. */
enum rig_rc rig_merge_rank_restart(struct rig_merge_rank *rank, const struct rig_source_entry *block,
                                   struct rig_err *err);

/* Takes the next piece; at the end of the record, `ended`. */
enum rig_rc rig_merge_rank_take(struct rig_merge_rank *rank, struct rig_err *err);

/* The pieces of the next start and end, or NULL where another one has to be taken first. */
struct rig_merge_piece *rig_merge_rank_start(struct rig_merge_rank *rank);
struct rig_merge_piece *rig_merge_rank_end(struct rig_merge_rank *rank);
/* The starts, or ends, of that piece that come next. */
struct rig_time_stream rig_merge_rank_starts(struct rig_merge_rank *rank);
struct rig_time_stream rig_merge_rank_ends(struct rig_merge_rank *rank);

/* The next `count` starts of the piece have their positions, in `start_at`: their transactions are under way. */
void rig_merge_rank_begin(struct rig_merge_rank *rank, struct rig_merge_piece *piece, size_t count);
/* The next `count` ends of the piece have their positions, in `end_at`: their transactions get both positions, and are
 * no longer under way. The caller moves next_end on. */
void rig_merge_rank_finish(struct rig_merge_rank *rank, struct rig_merge_piece *piece, size_t count);
/* Whether the transaction is under way: its start has a position. It is not finished. */
static inline bool rig_merge_rank_is_begun(const struct rig_merge_rank *rank, uint32_t start)
{
    return rank->starts.at[start].at != RIG_POSITION_NONE;
}
/* No output shows them any longer, and they are done with. */
void rig_merge_rank_free_lists(struct rig_merge_rank *rank, struct rig_merge_lists *lists);

#endif
