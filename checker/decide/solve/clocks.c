#include "checker/decide/solve/clocks.h"

#include <stdlib.h>

/* Numbers in clocks: of processes, of paths that cover the reads, of chains of one transaction. */
enum { CLOCK_LIMIT = 1 << 28, COVER_LIMIT = 1 << 25, SINGLE_LIMIT = 1 << 24 };

static bool allocate(struct rig_clocks *clocks)
{
    const size_t nodes = clocks->frame->node_count;
    clocks->at = calloc(nodes * clocks->chains.count + 1, sizeof clocks->at[0]);
    clocks->late = calloc(nodes + 1, sizeof clocks->late[0]);
    clocks->rank = malloc((nodes + 1) * sizeof clocks->rank[0]);
    clocks->sequence = malloc((nodes + 1) * sizeof clocks->sequence[0]);
    clocks->dirty = calloc(nodes / 64 + 1, sizeof clocks->dirty[0]);
    clocks->late_chains = calloc((size_t)clocks->chains.count + 1, sizeof clocks->late_chains[0]);
    return clocks->at != NULL && clocks->late != NULL && clocks->rank != NULL && clocks->sequence != NULL &&
           clocks->dirty != NULL && clocks->late_chains != NULL;
}

bool rig_clocks_init(struct rig_clocks *clocks, const struct rig_problem *problem, const struct rig_rule_frame *frame,
                     const uint32_t *sequence, size_t most_bytes)
{
    const size_t nodes = frame->node_count, most = frame->process ? CLOCK_LIMIT : COVER_LIMIT;
    const size_t limit = most_bytes / sizeof(uint32_t) < most ? most_bytes / sizeof(uint32_t) : most;
    *clocks = (struct rig_clocks){.problem = problem, .frame = frame};
    if (!rig_chains_init(&clocks->chains, problem, frame, sequence, (uint32_t)(limit / (nodes + 1)) + 1,
                         (uint32_t)(SINGLE_LIMIT / (nodes + 1)) + 1) ||
        !allocate(clocks))
        return false;
    for (uint32_t i = 0; i < nodes; i++) {
        clocks->sequence[i] = sequence[i];
        clocks->rank[sequence[i]] = i;
        rig_clocks_mark(clocks, sequence[i]);
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        const uint32_t chain = clocks->chains.chain[txn];
        if (chain != RIG_PROBLEM_NONE && !rig_rule_frame_is_sink(frame, problem, txn))
            rig_clocks_of(clocks, txn)[chain] = clocks->chains.position[txn] + 1;
    }
    return true;
}

void rig_clocks_done(struct rig_clocks *clocks)
{
    rig_chains_done(&clocks->chains);
    free(clocks->at);
    free(clocks->late);
    free(clocks->rank);
    free(clocks->sequence);
    free(clocks->dirty);
    free(clocks->late_chains);
    *clocks = (struct rig_clocks){0};
}

bool rig_clocks_find_late(struct rig_clocks *clocks, uint32_t node)
{
    const struct rig_chains *chains = &clocks->chains;
    const uint32_t *clock = rig_clocks_of(clocks, node);
    if (clocks->late[node] <= clocks->rank[node])
        return false;
    clocks->late_count = 0;
    for (uint32_t chain = 0; chain < chains->count; chain++) {
        if (clock[chain] > 0 &&
            clocks->rank[chains->members[chains->member_first[chain] + clock[chain] - 1]] > clocks->rank[node])
            clocks->late_chains[clocks->late_count++] = chain;
    }
    return true;
}
