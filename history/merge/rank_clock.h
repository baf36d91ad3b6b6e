/*
 * The place of a record in a run of several processes, and how its clock ran beside that of the first of them.
 *
 * A run over several ranks leaves a record for each. Each is recorded with the clock of its own machine
 * (rig_clock_now_ns()). Samples say by how much that clock differs from rank 0's: at `local_ns` of the rank's clock, rank
 * 0's clock shows between local_ns + offset_ns - error_ns and local_ns + offset_ns + error_ns. Rank 0 needs no samples.
 */
#ifndef RIG_HISTORY_MERGE_RANK_CLOCK_H
#define RIG_HISTORY_MERGE_RANK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { RIG_RANK_RUN_BYTES = 16, RIG_RANKS_MOST = 4096 };

struct rig_rank {
    uint32_t number;                 /* below `count` */
    uint32_t count;                  /* of ranks in the run; 0: the record is that of a run of one process */
    uint8_t run[RIG_RANK_RUN_BYTES]; /* drawn by rank 0: the same in all records of the run, and in no others */
    int64_t origin_ns; /* what the rank's clock showed when the record's times were 0; 0: the times are simulated */
};

struct rig_clock_sample {
    int64_t local_ns;  /* the rank's clock */
    int64_t offset_ns; /* rank 0's clock less the rank's, at that time */
    uint64_t error_ns; /* by which the offset may be wrong, either way */
};

RIG_VEC(struct rig_clock_sample, rig_clock_samples)

#endif
