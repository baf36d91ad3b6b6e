/*
 * Reachability in the graph of a frame (frame.h) as clocks: per node and chain (clocks.h), the last transaction of the
 * chain whose commit is known to reach the node. A commit that reaches a node brings all before it in its chain.
 *
 * The clocks are as good as the edges that were told with rig_clocks_raise(). A node whose clock has changed is dirty:
 * its edges have to be told again. Nodes have a rank, their place in the sequence that is given; a commit is late at a
 * node that it reaches if its rank is higher. With a good sequence few are.
 *
 * Time: O(1) for a question, O(chains) for an edge. Space: 4 bytes a node and chain, within a maximum that leaves out
 * the shortest chains; 12 a node; and the chains. Threads: one writer, and no reader beside it.
 *
 * Source: vector clocks; Mattern, "Virtual Time and Global States of Distributed Systems" (1989), section 5.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CLOCKS_H
#define RIG_CHECKER_DECIDE_SOLVE_CLOCKS_H

#include "checker/decide/solve/frame.h"

/*
 * Chains of transactions, each before the next in all explanations, and the writers of each key by chain: what a clock
 * needs to tell in O(1) whether one transaction reaches another (forced.h).
 *
 * Along processes the chains are these. Otherwise they are a cover of the wr edges by paths, found greedily; only
 * transactions that write are in those.
 *
 * Time: linear. Space: 20 bytes a transaction, 8 a write, 12 a key and chain in it.
 */

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

struct rig_clocks {
    const struct rig_problem *problem;  /* borrowed */
    const struct rig_rule_frame *frame; /* borrowed */
    struct rig_chains chains;
    uint32_t *at;   /* per node and chain: one more than the last position that reaches the node */
    uint32_t *late; /* per node: one more than the highest rank of the commits that reach it */
    uint32_t *rank, *sequence;
    uint64_t *dirty;                   /* by rank: the clock has changed */
    uint32_t *late_chains, late_count; /* from rig_clocks_find_late() */
};

/* All nodes are dirty; a commit is in its own clock. `sequence`: all nodes in an order that keeps what is known. Clocks
 * take at most `most_bytes`, and have one chain at least. Borrows problem and frame. False when memory runs out; then
 * rig_clocks_done() is still due. */
bool rig_clocks_init(struct rig_clocks *clocks, const struct rig_problem *problem, const struct rig_rule_frame *frame,
                     const uint32_t *sequence, size_t most_bytes);
void rig_clocks_done(struct rig_clocks *clocks);

/* Whether commits that come later in the sequence reach the node; lists their chains in late_chains. */
bool rig_clocks_find_late(struct rig_clocks *clocks, uint32_t node);

static inline uint32_t *rig_clocks_of(const struct rig_clocks *clocks, uint32_t node)
{
    return clocks->at + (size_t)node * clocks->chains.count;
}

/* Whether the commit of `txn` is known to reach the node. */
static inline bool rig_clocks_reach(const struct rig_clocks *clocks, uint32_t txn, uint32_t node)
{
    const uint32_t chain = clocks->chains.chain[txn];
    return chain != RIG_PROBLEM_NONE && rig_clocks_of(clocks, node)[chain] > clocks->chains.position[txn];
}

/* How many writers of the lane the clock knows, without `txn` and those from it on in its chain. 0 where `before`,
 * a clock or NULL, knows them all. */
static inline uint32_t rig_clocks_count(const struct rig_clocks *clocks, const uint32_t *clock, const uint32_t *before,
                                        uint32_t txn, const struct rig_lane *lane)
{
    const struct rig_chains *chains = &clocks->chains;
    const uint32_t own = lane->chain == chains->chain[txn] ? chains->position[txn] : UINT32_MAX;
    const uint32_t end = clock[lane->chain] < own ? clock[lane->chain] : own;
    if (end <= chains->lane_positions[lane->begin] || (before != NULL && before[lane->chain] >= end))
        return 0;
    return rig_chains_until(chains, lane, end) - lane->begin;
}

/* Positions are below 2^31, and signed numbers are compared four at a time on each machine. */
static inline bool rig_clock_raise(uint32_t *clock, const uint32_t *by, uint32_t count)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t higher = (int32_t)by[i] > (int32_t)clock[i] ? by[i] : clock[i];
        changed |= higher ^ clock[i];
        clock[i] = higher;
    }
    return changed != 0;
}

static inline void rig_clocks_mark(struct rig_clocks *clocks, uint32_t node)
{
    clocks->dirty[clocks->rank[node] / 64] |= UINT64_C(1) << clocks->rank[node] % 64;
}

/* An edge: all that reaches `from` reaches `to`. */
static inline void rig_clocks_raise(struct rig_clocks *clocks, uint32_t to, uint32_t from)
{
    if (rig_clock_raise(rig_clocks_of(clocks, to), rig_clocks_of(clocks, from), clocks->chains.count))
        rig_clocks_mark(clocks, to);
}

/* An edge passes on how late the commits that reach `from` are, and its own. */
static inline void rig_clocks_pass_late(struct rig_clocks *clocks, uint32_t to, uint32_t from)
{
    const uint32_t own = from < clocks->frame->txn_count ? clocks->rank[from] + 1 : 0;
    const uint32_t late = own > clocks->late[from] ? own : clocks->late[from];
    if (clocks->late[to] < late)
        clocks->late[to] = late;
}

/* The dirty node of the lowest rank in this word of `dirty`, which is not 0; it is clean then. */
static inline uint32_t rig_clocks_take(struct rig_clocks *clocks, uint32_t word)
{
    const uint32_t bit = (uint32_t)__builtin_ctzll(clocks->dirty[word]);
    clocks->dirty[word] &= ~(UINT64_C(1) << bit);
    return clocks->sequence[word * 64 + bit];
}

#endif
