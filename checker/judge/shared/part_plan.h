/*
 * Where the parts of a record that several processes judge begin, and from where each reads.
 *
 * A process reads from before its part, so that it meets whole every key of the transactions that wait at the border:
 * they use keys that are used on both sides, or follow transactions that do. By real time nearly all transactions
 * after the first use of such a key wait. So it reads from the first use of any key that is used on from there.
 *
 * Time: linear in the keys for each part. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_SHARED_PART_PLAN_H
#define RIG_CHECKER_JUDGE_SHARED_PART_PLAN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/source/source.h"

/*
 * A process notes of its part of a record, before several of them judge it, the first and the last use of each key, how
 * many transactions each block has, and the events of faults.
 *
 * A part is some blocks of the record, or of several records that are merged (rig_source_blocks()). Uses are numbers of
 * transactions complete before (the first) or after (the last) the block, counted from the beginning of the part.
 *
 * Space: 16 bytes a key, and 12 to 24 for the look-up; 8 a process of several ranks. Time: one look-up for each key of
 * a block. Threads: one.
 */

struct rig_key_lifetime {
    int64_t key;
    uint32_t first, last;
};

/* A rank of a run over several. */
struct rig_rank_sums {
    uint64_t txn_count; /* complete ones up to the part's end, or after it */
    int64_t error_ns;   /* as in struct rig_rank_fact */
};

RIG_VEC(struct rig_key_lifetime, rig_key_lifetimes)
RIG_VEC(struct rig_rank_sums, rig_rank_sums_vec)
RIG_VEC(uint32_t, rig_block_counts)

struct rig_part_census {
    struct rig_key_lifetimes lifetimes;
    struct rig_table places; /* key -> in `lifetimes` */
    struct rig_block_counts blocks;
    struct rig_fault_event_vec faults;
    struct rig_arena texts;
    struct rig_rank_sums_vec ranks; /* by their numbers; of a single record: none */
    struct rig_rank_processes processes;
    uint64_t txn_count;
    uint64_t open_count;           /* at the end of the part */
    uint64_t start_mark, end_mark; /* rig_source_marks() */
    const char *odd;               /* why the record cannot be shared (static text); NULL: it can */
};

void rig_part_census_init(struct rig_part_census *census);
void rig_part_census_done(struct rig_part_census *census);
/* Notes the blocks of the source from `begin` to `end`, which is the size of the files in the last part. RIG_E_LIMIT,
 * and the source's errors. */
enum rig_rc rig_part_census_take(struct rig_part_census *census, struct rig_source *source, size_t begin, size_t end,
                                 struct rig_err *err);

/* For another process of the same build. False when memory runs out, or the bytes are none. */
bool rig_part_census_put(const struct rig_part_census *census, struct rig_buf *bytes);
bool rig_part_census_get(struct rig_part_census *census, const char *bytes, size_t size);

enum { RIG_PARTS_MOST = 64 };

/* Places of rig_source_blocks(), and the transactions complete before them. */
struct rig_shared_part {
    size_t read_from, begin, end;
    uint32_t read_from_txn, begin_txn, end_txn;
};

struct rig_part_plan {
    struct rig_shared_part at[RIG_PARTS_MOST];
    uint32_t count;
    uint32_t first_block[RIG_PARTS_MOST + 1]; /* of each part */
    struct rig_part_census whole;             /* of all parts; without processes: */
    struct rig_table rank_of;                 /* of each process of several ranks */
};

void rig_part_plan_init(struct rig_part_plan *plan);
/* Divides the blocks into `count` parts of about equal size. False when there are too few. */
bool rig_part_plan_divide(struct rig_part_plan *plan, const struct rig_source_offsets *blocks, size_t size_bytes,
                          uint32_t count);
/* The censuses of the parts in turn. False when memory runs out; plan->whole.odd: why the record cannot be shared. */
bool rig_part_plan_add(struct rig_part_plan *plan, uint32_t part, const struct rig_part_census *census);
/* After all were added: from where each part is read. Sets plan->whole.odd where the parts would be read too often. */
void rig_part_plan_finish(struct rig_part_plan *plan, const struct rig_source_offsets *blocks);
void rig_part_plan_done(struct rig_part_plan *plan);

#endif
