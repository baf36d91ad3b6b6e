/*
 * Chains of transactions, each before the next in all explanations, and the writers of each key by chain: what a clock
 * needs to tell in O(1) whether one transaction reaches another (forced.h).
 *
 * Along processes the chains are these. Otherwise they are a cover of the wr edges by paths, found greedily; only
 * transactions that write are in those.
 *
 * Time: linear. Space: 20 bytes a transaction, 8 a write, 12 a key and chain in it.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CHAINS_H
#define RIG_CHECKER_DECIDE_SOLVE_CHAINS_H

#include "checker/decide/solve/frame.h"

/* The writers of one key in one chain: of lane_writes, [begin, end), by position. */
struct rig_lane {
    uint32_t chain, begin, end;
};

RIG_VEC(struct rig_lane, rig_lanes)

struct rig_chains {
    uint32_t count;
    uint32_t *chain, *position; /* per transaction; RIG_PROBLEM_NONE: in no chain */
    uint32_t *member_first;     /* per chain, and one more: into members */
    uint32_t *members;          /* transactions, by position */
    uint32_t *lane_first;       /* per key, and one more: into lanes */
    struct rig_lanes lanes;
    uint32_t *lane_writes;    /* writes */
    uint32_t *lane_positions; /*   the positions of their transactions */
};

/* `sequence`: the nodes of the frame in some order that keeps what is known. At most `most` chains, the longest, and at
 * most `most_single`, if there are any of one transaction among them. False when memory runs out. */
bool rig_chains_init(struct rig_chains *chains, const struct rig_problem *problem, const struct rig_rule_frame *frame,
                     const uint32_t *sequence, uint32_t most, uint32_t most_single);
void rig_chains_done(struct rig_chains *chains);

/* Into lane_writes: one more than the last write of the lane at a position below `end`; lane->begin: there is none. */
static inline uint32_t rig_chains_until(const struct rig_chains *chains, const struct rig_lane *lane, uint32_t end)
{
    uint32_t low = lane->begin, high = lane->end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const bool below = chains->lane_positions[middle] < end;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

#endif
