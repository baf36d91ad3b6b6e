#include "checker/decide/solve/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static bool writes(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn].first_write < problem->txns.at[txn + 1].first_write;
}

static void follow(struct rig_chains *chains, uint32_t *tails, uint32_t before, uint32_t txn)
{
    RIG_REQUIRE(before == RIG_PROBLEM_NONE || tails[chains->chain[before]] == before);
    chains->chain[txn] = before == RIG_PROBLEM_NONE ? chains->count++ : chains->chain[before];
    chains->position[txn] = before == RIG_PROBLEM_NONE ? 0 : chains->position[before] + 1;
    tails[chains->chain[txn]] = txn;
}

/* A process is a chain without its transactions of unknown fate: nothing follows them. `next`: what goes on. */
static void follow_processes(struct rig_chains *chains, const struct rig_problem *problem, uint32_t *next)
{
    uint32_t *follower = chains->chain; /* until chains are numbered */
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        next[txn] = follower[txn] = RIG_PROBLEM_NONE;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        if (problem->txns.at[txn].before != RIG_PROBLEM_NONE)
            follower[problem->txns.at[txn].before] = txn;
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        const uint32_t before = problem->txns.at[txn].before;
        RIG_INVARIANT(before == RIG_PROBLEM_NONE || before < txn);
        if (before != RIG_PROBLEM_NONE && (follower[txn] != RIG_PROBLEM_NONE || next[before] == RIG_PROBLEM_NONE))
            next[before] = txn;
    }
}

/* Gives each chain that begins here its places. */
static void number_processes(struct rig_chains *chains, const struct rig_problem *problem, const uint32_t *next)
{
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        const uint32_t before = problem->txns.at[txn].before;
        if (before != RIG_PROBLEM_NONE && next[before] == txn)
            continue;
        uint32_t position = 0;
        for (uint32_t member = txn; member != RIG_PROBLEM_NONE; member = next[member]) {
            chains->chain[member] = chains->count;
            chains->position[member] = position++;
        }
        chains->count++;
    }
    RIG_INVARIANT(chains->count <= problem->txn_count);
}

/* Each transaction that writes goes on where one that it read from was the last. */
static void cover_reads(struct rig_chains *chains, const struct rig_problem *problem,
                        const struct rig_rule_frame *frame, const uint32_t *sequence, uint32_t *tails)
{
    for (uint32_t i = 0; i < frame->node_count; i++) {
        const uint32_t txn = sequence[i];
        if (txn >= frame->txn_count || !writes(problem, txn))
            continue;
        uint32_t before = RIG_PROBLEM_NONE;
        for (uint32_t r = problem->txns.at[txn].first_read;
             frame->reads_order && r < problem->txns.at[txn + 1].first_read; r++) {
            const uint32_t writer = problem->reads.at[r].writer;
            if (writer != RIG_PROBLEM_INITIAL && tails[chains->chain[writer]] == writer)
                before = writer;
        }
        follow(chains, tails, before, txn);
    }
}

static int compare_longest(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Keeps the `most` longest chains; from `most_single` on only those of several transactions. */
static bool keep_longest(struct rig_chains *chains, uint32_t txn_count, uint32_t most, uint32_t most_single)
{
    if (chains->count <= most && chains->count <= most_single)
        return true;
    uint64_t *lengths = calloc(chains->count, sizeof lengths[0]);
    uint32_t *number = malloc(chains->count * sizeof number[0]);
    const bool ok = lengths != NULL && number != NULL;
    for (uint32_t chain = 0; ok && chain < chains->count; chain++) {
        lengths[chain] = chain;
        number[chain] = RIG_PROBLEM_NONE;
    }
    for (uint32_t txn = 0; ok && txn < txn_count; txn++) {
        if (chains->chain[txn] != RIG_PROBLEM_NONE)
            lengths[chains->chain[txn]] += UINT64_C(1) << 32;
    }
    if (ok)
        qsort(lengths, chains->count, sizeof lengths[0], compare_longest);
    uint32_t kept = 0;
    for (; ok && kept < chains->count && kept < most && (kept < most_single || lengths[kept] >> 32 > 1); kept++)
        number[(uint32_t)lengths[kept]] = kept;
    for (uint32_t txn = 0; ok && txn < txn_count; txn++) {
        if (chains->chain[txn] != RIG_PROBLEM_NONE)
            chains->chain[txn] = number[chains->chain[txn]];
    }
    RIG_INVARIANT(!ok || (kept <= chains->count && kept <= most));
    chains->count = kept;
    free(lengths);
    free(number);
    return ok;
}

static bool list_members(struct rig_chains *chains, uint32_t txn_count)
{
    chains->member_first = calloc((size_t)chains->count + 2, sizeof chains->member_first[0]);
    chains->members = malloc(((size_t)txn_count + 1) * sizeof chains->members[0]);
    if (chains->member_first == NULL || chains->members == NULL)
        return false;
    for (uint32_t txn = 0; txn < txn_count; txn++) {
        if (chains->chain[txn] != RIG_PROBLEM_NONE)
            chains->member_first[chains->chain[txn] + 1]++;
    }
    for (uint32_t chain = 0; chain < chains->count; chain++)
        chains->member_first[chain + 1] += chains->member_first[chain];
    RIG_INVARIANT(chains->member_first[chains->count] <= txn_count);
    for (uint32_t txn = 0; txn < txn_count; txn++) {
        if (chains->chain[txn] != RIG_PROBLEM_NONE)
            chains->members[chains->member_first[chains->chain[txn]] + chains->position[txn]] = txn;
    }
    return true;
}

/* Each write goes to its key's place: chain by chain, and by position in each. `filled`, per key: where its next one
 * goes. */
static void place_writes(struct rig_chains *chains, const struct rig_problem *problem, uint32_t *filled)
{
    for (uint32_t i = 0; i < chains->member_first[chains->count]; i++) {
        const uint32_t txn = chains->members[i];
        for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
            const uint32_t place = filled[problem->writes.at[w].key]++;
            RIG_INVARIANT(place < problem->writer_first[problem->writes.at[w].key + 1]);
            chains->lane_writes[place] = w;
            chains->lane_positions[place] = chains->position[txn];
        }
    }
}

/* The writes of a key, one lane a chain. */
static bool add_lanes(struct rig_chains *chains, const struct rig_problem *problem, uint32_t begin, uint32_t end)
{
    uint32_t last = RIG_PROBLEM_NONE;
    bool ok = true;
    for (uint32_t i = begin; ok && i < end; i++) {
        const uint32_t chain = chains->chain[problem->write_txn[chains->lane_writes[i]]];
        if (chain != last)
            ok = rig_lanes_add(&chains->lanes, (struct rig_lane){chain, i, i});
        if (ok)
            chains->lanes.at[chains->lanes.count - 1].end = i + 1;
        last = chain;
    }
    return ok;
}

static bool make_lanes(struct rig_chains *chains, const struct rig_problem *problem)
{
    uint32_t *filled = malloc(((size_t)problem->key_count + 1) * sizeof filled[0]);
    bool ok = filled != NULL;
    if (ok && problem->key_count > 0)
        memcpy(filled, problem->writer_first, problem->key_count * sizeof filled[0]);
    if (ok)
        place_writes(chains, problem, filled);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        chains->lane_first[key] = (uint32_t)chains->lanes.count;
        ok = add_lanes(chains, problem, problem->writer_first[key], filled[key]);
    }
    chains->lane_first[problem->key_count] = (uint32_t)chains->lanes.count;
    free(filled);
    return ok;
}

/* `sequence`: the nodes of the frame in some order that keeps what is known. At most `most` chains, the longest, and at
 * most `most_single`, if there are any of one transaction among them. False when memory runs out. */
static bool chains_init(struct rig_chains *chains, const struct rig_problem *problem,
                        const struct rig_rule_frame *frame, const uint32_t *sequence, uint32_t most,
                        uint32_t most_single)
{
    const size_t txns = (size_t)problem->txn_count + 1;
    *chains = (struct rig_chains){.chain = malloc(txns * sizeof chains->chain[0]),
                                  .position = malloc(txns * sizeof chains->position[0]),
                                  .lane_first = malloc(((size_t)problem->key_count + 1) * sizeof(uint32_t)),
                                  .lane_writes = malloc((problem->writes.count + 1) * sizeof(uint32_t)),
                                  .lane_positions = malloc((problem->writes.count + 1) * sizeof(uint32_t))};
    uint32_t *tails = malloc(txns * sizeof tails[0]);
    bool ok = chains->chain != NULL && chains->position != NULL && chains->lane_first != NULL &&
              chains->lane_writes != NULL && chains->lane_positions != NULL && tails != NULL;
    for (uint32_t txn = 0; ok && txn < problem->txn_count; txn++)
        chains->chain[txn] = RIG_PROBLEM_NONE;
    if (ok && frame->process) {
        follow_processes(chains, problem, tails);
        number_processes(chains, problem, tails);
    } else if (ok) {
        cover_reads(chains, problem, frame, sequence, tails);
    }
    ok = ok && keep_longest(chains, problem->txn_count, most, most_single) &&
         list_members(chains, problem->txn_count) && make_lanes(chains, problem);
    free(tails);
    return ok;
}

static void chains_done(struct rig_chains *chains)
{
    free(chains->chain);
    free(chains->position);
    free(chains->member_first);
    free(chains->members);
    free(chains->lane_first);
    rig_lanes_done(&chains->lanes);
    free(chains->lane_writes);
    free(chains->lane_positions);
    *chains = (struct rig_chains){0};
}

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
    RIG_REQUIRE(problem->txn_count == frame->txn_count && problem->txn_count < UINT32_C(1) << 31);
    *clocks = (struct rig_clocks){.problem = problem, .frame = frame};
    if (!chains_init(&clocks->chains, problem, frame, sequence, (uint32_t)(limit / (nodes + 1)) + 1,
                     (uint32_t)(SINGLE_LIMIT / (nodes + 1)) + 1) ||
        !allocate(clocks))
        return false;
    for (uint32_t i = 0; i < nodes; i++) {
        RIG_REQUIRE(sequence[i] < nodes);
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
    chains_done(&clocks->chains);
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
    RIG_REQUIRE(node < clocks->frame->node_count);
    const struct rig_chains *chains = &clocks->chains;
    const uint32_t *clock = rig_clocks_of(clocks, node);
    if (clocks->late[node] <= clocks->rank[node])
        return false;
    clocks->late_count = 0;
    for (uint32_t chain = 0; chain < chains->count; chain++) {
        RIG_INVARIANT(clock[chain] <= chains->member_first[chain + 1] - chains->member_first[chain]);
        if (clock[chain] > 0 &&
            clocks->rank[chains->members[chains->member_first[chain] + clock[chain] - 1]] > clocks->rank[node])
            clocks->late_chains[clocks->late_count++] = chain;
    }
    return true;
}
