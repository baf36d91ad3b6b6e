/*
 * Facts about the records of a run over several ranks that were read as one history (history/merge/merge.h).
 */
#ifndef RIG_HISTORY_MERGE_RANK_FACTS_H
#define RIG_HISTORY_MERGE_RANK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/*
 * The place of a record in a run of several processes, and how its clock ran beside that of the first of them.
 *
 * A run over several ranks leaves a record for each. Each is recorded with the clock of its own machine
 * (rig_clock_now_ns()). Samples say by how much that clock differs from rank 0's: at `local_ns` of the rank's clock,
 * rank 0's clock shows between local_ns + offset_ns - error_ns and local_ns + offset_ns + error_ns. Rank 0 needs no
 * samples.
 */

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

/* A process, and the number of the rank that it belongs to. */
struct rig_rank_process {
    int32_t process;
    uint32_t rank;
};

RIG_VEC(struct rig_rank_process, rig_rank_processes)

struct rig_rank_fact {
    const char *name; /* of the record's file; NULL: it is missing */
    bool truncated;   /* the record ends early: what the rank did afterwards is not known */
    uint64_t damaged_at;
    uint64_t txn_count;   /* complete ones */
    int64_t error_ns;     /* the most by which a time of this rank may be wrong on rank 0's clock */
    int64_t largest_step; /* of its clock beside rank 0's, in ns; 0: none was noticed */
};

struct rig_rank_facts {
    const struct rig_rank_fact *ranks; /* by their numbers; live as long as the source */
    uint32_t count;                    /* 0: the history is a single record */
    int64_t bound_ns; /* transactions of different processes that are closer in time count as concurrent */
};

/* Ranks whose records are missing or end early. */
static inline uint32_t rig_rank_facts_incomplete(const struct rig_rank_facts *facts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++)
        count += facts->ranks[i].name == NULL || facts->ranks[i].truncated;
    return count;
}

#endif
