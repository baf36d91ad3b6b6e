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

#include "checker/judge/shared/part_census.h"

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
