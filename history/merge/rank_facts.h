/*
 * Facts about the records of a run over several ranks that were read as one history (history/merge/merge.h).
 */
#ifndef RIG_HISTORY_MERGE_RANK_FACTS_H
#define RIG_HISTORY_MERGE_RANK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

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
