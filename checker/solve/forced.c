#include "checker/solve/forced.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"

/* Numbers in clocks: of processes, of paths that cover the reads, of chains of one transaction; steps between looks at the
 * time. */
enum {
    CLOCK_LIMIT = 1 << 28,
    COVER_LIMIT = 1 << 25,
    SINGLE_LIMIT = 1 << 24,
    PATIENCE = 1 << 16,
    MOST_LISTED = 1 << 18
};

static uint32_t *clock_of(const struct rig_forced *forced, uint32_t node)
{
    return forced->clocks + (size_t)node * forced->chains.count;
}

static uint32_t start_of(const struct rig_forced *forced, uint32_t txn)
{
    return rig_rule_frame_start(forced->frame, txn);
}

static uint32_t reads_end(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn + 1].first_read;
}

static uint32_t writes_end(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn + 1].first_write;
}

static bool is_sink(const struct rig_forced *forced, uint32_t txn)
{
    return rig_rule_frame_is_sink(forced->frame, forced->problem, txn);
}

/* Whether the commit of `txn` is known to reach the node. */
static bool reaches(const struct rig_forced *forced, uint32_t txn, uint32_t node)
{
    const uint32_t chain = forced->chains.chain[txn];
    return chain != RIG_PROBLEM_NONE && clock_of(forced, node)[chain] > forced->chains.position[txn];
}

static void mark(struct rig_forced *forced, uint32_t node)
{
    forced->dirty[forced->rank[node] / 64] |= UINT64_C(1) << forced->rank[node] % 64;
}

static bool add_pair(struct rig_forced *forced, struct rig_forced_pair pair)
{
    pair.next = forced->first_pair[pair.write];
    forced->first_pair[pair.write] = (uint32_t)forced->pairs.count;
    return rig_forced_pairs_add(&forced->pairs, pair);
}

static void make_children(struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        forced->first_child[txn] = RIG_PROBLEM_NONE;
    for (uint32_t txn = problem->txn_count; txn-- > 0 && forced->frame->process;) {
        const uint32_t before = forced->frame->lead[txn];
        forced->next_child[txn] = RIG_PROBLEM_NONE;
        if (before != RIG_PROBLEM_NONE) {
            forced->next_child[txn] = forced->first_child[before];
            forced->first_child[before] = txn;
        }
    }
}

static bool allocate(struct rig_forced *forced, size_t nodes)
{
    const size_t txns = (size_t)forced->problem->txn_count + 1;
    forced->clocks = calloc(nodes * forced->chains.count + 1, sizeof forced->clocks[0]);
    forced->late_chains = calloc((size_t)forced->chains.count + 1, sizeof forced->late_chains[0]);
    forced->shown = calloc((size_t)forced->chains.count + 1, sizeof forced->shown[0]);
    forced->shown_by = calloc((size_t)forced->chains.count + 1, sizeof forced->shown_by[0]);
    forced->late = calloc(nodes + 1, sizeof forced->late[0]);
    forced->seen = calloc(nodes + 1, sizeof forced->seen[0]);
    forced->version = malloc((forced->problem->reads.count + 1) * sizeof forced->version[0]);
    forced->visited = calloc((size_t)forced->problem->key_count + 1, sizeof forced->visited[0]);
    forced->front = calloc((size_t)forced->problem->key_count + 1, sizeof forced->front[0]);
    forced->read_done = calloc(forced->problem->reads.count + 1, sizeof forced->read_done[0]);
    forced->write_done = calloc(forced->problem->writes.count + 1, sizeof forced->write_done[0]);
    forced->first_pair = malloc((forced->problem->writes.count + 1) * sizeof forced->first_pair[0]);
    forced->rank = malloc((nodes + 1) * sizeof forced->rank[0]);
    forced->sequence = malloc((nodes + 1) * sizeof forced->sequence[0]);
    forced->dirty = calloc(nodes / 64 + 1, sizeof forced->dirty[0]);
    forced->first_child = malloc(txns * sizeof forced->first_child[0]);
    forced->next_child = malloc(txns * sizeof forced->next_child[0]);
    return forced->clocks != NULL && forced->shown != NULL && forced->shown_by != NULL && forced->late != NULL &&
           forced->late_chains != NULL && forced->seen != NULL && forced->version != NULL && forced->visited != NULL &&
           forced->front != NULL && forced->read_done != NULL && forced->write_done != NULL &&
           forced->first_pair != NULL && forced->rank != NULL && forced->sequence != NULL && forced->dirty != NULL &&
           forced->first_child != NULL && forced->next_child != NULL;
}

static void find_versions(struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    for (size_t r = 0; r < problem->reads.count; r++)
        forced->version[r] = RIG_PROBLEM_NONE;
    for (uint32_t w = 0; w < problem->writes.count; w++) {
        for (uint32_t i = problem->reader_first[w]; i < problem->reader_first[w + 1]; i++)
            forced->version[problem->readers[i]] = w;
    }
}

static bool add_known(struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    bool ok = true;
    for (size_t p = 0; ok && p < problem->pairs.count; p++) {
        const struct rig_problem_pair *pair = &problem->pairs.at[p];
        ok = add_pair(forced, (struct rig_forced_pair){.write = rig_problem_write_of(problem, pair->before, pair->key),
                                                       .after = pair->after,
                                                       .reason = RIG_FORCED_KNOWN});
    }
    return ok;
}

bool rig_forced_init(struct rig_forced *forced, const struct rig_problem *problem, const struct rig_rule_frame *frame,
                     const uint32_t *sequence)
{
    return rig_forced_init_within(forced, problem, frame, sequence, SIZE_MAX);
}

bool rig_forced_init_within(struct rig_forced *forced, const struct rig_problem *problem,
                            const struct rig_rule_frame *frame, const uint32_t *sequence, size_t clock_bytes)
{
    const size_t nodes = frame->node_count, most = frame->process ? CLOCK_LIMIT : COVER_LIMIT;
    const size_t limit = clock_bytes / sizeof(uint32_t) < most ? clock_bytes / sizeof(uint32_t) : most;
    *forced = (struct rig_forced){.problem = problem, .frame = frame};
    if (!rig_chains_init(&forced->chains, problem, frame, sequence, (uint32_t)(limit / (nodes + 1)) + 1,
                         (uint32_t)(SINGLE_LIMIT / (nodes + 1)) + 1) ||
        !allocate(forced, nodes))
        return false;
    for (uint32_t i = 0; i < nodes; i++) {
        forced->sequence[i] = sequence[i];
        forced->rank[sequence[i]] = i;
        mark(forced, sequence[i]);
    }
    for (size_t w = 0; w < problem->writes.count; w++)
        forced->first_pair[w] = RIG_PROBLEM_NONE;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        if (forced->chains.chain[txn] != RIG_PROBLEM_NONE && !is_sink(forced, txn))
            clock_of(forced, txn)[forced->chains.chain[txn]] = forced->chains.position[txn] + 1;
    }
    make_children(forced);
    find_versions(forced);
    return add_known(forced);
}

void rig_forced_done(struct rig_forced *forced)
{
    rig_chains_done(&forced->chains);
    rig_forced_pairs_done(&forced->pairs);
    rig_forced_steps_done(&forced->steps);
    rig_forced_candidates_done(&forced->candidates);
    free(forced->first_pair);
    free(forced->clocks);
    free(forced->shown);
    free(forced->shown_by);
    free(forced->late);
    free(forced->late_chains);
    free(forced->seen);
    free(forced->version);
    free(forced->visited);
    free(forced->front);
    free(forced->read_done);
    free(forced->write_done);
    free(forced->rank);
    free(forced->sequence);
    free(forced->dirty);
    free(forced->first_child);
    free(forced->next_child);
    *forced = (struct rig_forced){0};
}

static bool add_step(struct rig_forced_steps *steps, uint32_t to, uint32_t pair, uint32_t write)
{
    return rig_forced_steps_add(steps, (struct rig_forced_step){to, pair, write});
}

static bool steps_from_commit(const struct rig_forced *forced, uint32_t txn, uint32_t limit,
                              struct rig_forced_steps *steps)
{
    const struct rig_problem *problem = forced->problem;
    const struct rig_rule_frame *frame = forced->frame;
    bool ok = true;
    for (uint32_t w = problem->txns.at[txn].first_write; ok && w < writes_end(problem, txn); w++) {
        for (uint32_t i = problem->reader_first[w]; ok && frame->reads_order && i < problem->reader_first[w + 1]; i++)
            ok = add_step(steps, start_of(forced, problem->read_txn[problem->readers[i]]), RIG_PROBLEM_NONE,
                          RIG_PROBLEM_NONE);
        for (uint32_t p = forced->first_pair[w]; ok && frame->ww_path && p != RIG_PROBLEM_NONE;
             p = forced->pairs.at[p].next) {
            const uint32_t after = forced->pairs.at[p].after;
            if (p < limit)
                ok = add_step(steps, frame->ww_starts ? start_of(forced, after) : after, p, RIG_PROBLEM_NONE);
        }
    }
    for (uint32_t next = forced->first_child[txn]; ok && next != RIG_PROBLEM_NONE; next = forced->next_child[next])
        ok = add_step(steps, start_of(forced, next), RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    if (ok && frame->next_moment != NULL && frame->next_moment[txn] != RIG_PROBLEM_NONE)
        ok = add_step(steps, frame->next_moment[txn], RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    return ok;
}

/* The initial state precedes the first writers of each chain. */
static bool steps_from_initial(const struct rig_forced *forced, uint32_t txn, uint32_t key,
                               struct rig_forced_steps *steps)
{
    const struct rig_chains *chains = &forced->chains;
    bool ok = true;
    for (uint32_t l = chains->lane_first[key]; ok && l < chains->lane_first[key + 1]; l++) {
        const uint32_t first = forced->problem->write_txn[chains->lane_writes[chains->lanes.at[l].begin]];
        if (first != txn)
            ok = add_step(steps, first, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    }
    return ok;
}

static bool steps_from_start(const struct rig_forced *forced, uint32_t txn, uint32_t limit,
                             struct rig_forced_steps *steps)
{
    const struct rig_problem *problem = forced->problem;
    bool ok = !forced->frame->split || add_step(steps, txn, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    for (uint32_t r = problem->txns.at[txn].first_read; ok && forced->frame->rw_path && r < reads_end(problem, txn);
         r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        if (read->writer == RIG_PROBLEM_INITIAL) {
            ok = steps_from_initial(forced, txn, read->key, steps);
            continue;
        }
        const uint32_t write = forced->version[r];
        for (uint32_t p = forced->first_pair[write]; ok && p != RIG_PROBLEM_NONE; p = forced->pairs.at[p].next) {
            if (p < limit && forced->pairs.at[p].after != txn)
                ok = add_step(steps, forced->pairs.at[p].after, p, write);
        }
    }
    return ok;
}

/* The edges out of a node, of pairs below `limit`. */
static bool find_steps(const struct rig_forced *forced, uint32_t node, uint32_t limit, struct rig_forced_steps *steps)
{
    const struct rig_rule_frame *frame = forced->frame;
    steps->count = 0;
    if (node >= frame->first_moment) {
        const uint32_t start = start_of(forced, frame->moment_txn[node - frame->first_moment]);
        return add_step(steps, start, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE) &&
               (node + 1 == frame->node_count || add_step(steps, node + 1, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE));
    }
    const uint32_t txn = rig_rule_frame_txn(frame, node);
    if (is_sink(forced, txn))
        return true;
    return (node != txn || steps_from_commit(forced, txn, limit, steps)) &&
           (node != start_of(forced, txn) || steps_from_start(forced, txn, limit, steps));
}

static void refute(struct rig_forced *forced, uint32_t from, uint32_t to, uint32_t pair, uint32_t write)
{
    if (forced->refuted)
        return;
    forced->refuted = true;
    forced->conflict_from = from;
    forced->conflict_to = to;
    forced->conflict_pair = pair;
    forced->conflict_write = write;
}

/* Counts what a step costs; looks at the time now and then. */
static bool is_over(struct rig_forced *forced, uint32_t steps)
{
    forced->steps_to_look -= steps < forced->steps_to_look ? steps : forced->steps_to_look;
    if (forced->steps_to_look > 0 || forced->spent)
        return forced->spent;
    forced->steps_to_look = PATIENCE;
    forced->spent = forced->deadline_ns != INT64_MAX && rig_clock_now_ns() >= forced->deadline_ns;
    return forced->spent;
}

static bool raise_clock(uint32_t *clock, const uint32_t *by, uint32_t count)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t higher = by[i] > clock[i] ? by[i] : clock[i];
        changed |= higher ^ clock[i];
        clock[i] = higher;
    }
    return changed != 0;
}

static void take_step(struct rig_forced *forced, uint32_t from, const struct rig_forced_step *step)
{
    const uint32_t txn = rig_rule_frame_txn(forced->frame, step->to);
    if (txn != RIG_PROBLEM_NONE && !is_sink(forced, txn) && reaches(forced, txn, from))
        refute(forced, txn, from, step->pair, step->write);
    else if (raise_clock(clock_of(forced, step->to), clock_of(forced, from), forced->chains.count))
        mark(forced, step->to);
    const uint32_t own = from < forced->frame->txn_count ? forced->rank[from] + 1 : 0;
    const uint32_t late = own > forced->late[from] ? own : forced->late[from];
    if (forced->late[step->to] < late)
        forced->late[step->to] = late;
}

/* The edges that come with a new pair. */
static void take_pair(struct rig_forced *forced, uint32_t number)
{
    const struct rig_problem *problem = forced->problem;
    const struct rig_forced_pair *pair = &forced->pairs.at[number];
    const uint32_t after = pair->after, cost = forced->chains.count + 1;
    struct rig_forced_step step = {forced->frame->ww_starts ? start_of(forced, after) : after, number,
                                   RIG_PROBLEM_NONE};
    if (forced->frame->ww_path)
        take_step(forced, problem->write_txn[pair->write], &step);
    step = (struct rig_forced_step){after, number, pair->write};
    for (uint32_t i = problem->reader_first[pair->write];
         forced->frame->rw_path && i < problem->reader_first[pair->write + 1] && !is_over(forced, cost); i++) {
        const uint32_t reader = problem->read_txn[problem->readers[i]];
        if (reader != after && !is_sink(forced, reader))
            take_step(forced, start_of(forced, reader), &step);
    }
}

static bool force(struct rig_forced *forced, struct rig_forced_pair pair)
{
    if (!add_pair(forced, pair))
        return false;
    take_pair(forced, (uint32_t)forced->pairs.count - 1);
    return true;
}

static bool has_pair(const struct rig_forced *forced, uint32_t write, uint32_t after)
{
    for (uint32_t p = forced->first_pair[write]; p != RIG_PROBLEM_NONE; p = forced->pairs.at[p].next) {
        if (forced->pairs.at[p].after == after)
            return true;
    }
    return false;
}

static bool surpassed(const struct rig_forced *forced, const struct rig_forced_candidate *candidate, uint32_t txn)
{
    return clock_of(forced, txn)[candidate->chain] > candidate->position;
}

/* Keeps the candidate if none of the others follows it, and drops those that it follows. */
static bool add_candidate(struct rig_forced *forced, const struct rig_forced_candidate *added)
{
    struct rig_forced_candidates *kept = &forced->candidates;
    const uint32_t *writers = forced->problem->write_txn;
    for (size_t i = 0; i < kept->count; i++) {
        if (surpassed(forced, added, writers[kept->at[i].write]))
            return true;
    }
    size_t count = 0;
    for (size_t i = 0; i < kept->count; i++) {
        if (!surpassed(forced, &kept->at[i], writers[added->write]))
            kept->at[count++] = kept->at[i];
    }
    kept->count = count;
    return rig_forced_candidates_add(kept, *added);
}

/* A search for the writers of `key` that the clock knows, but for `txn` itself. */
struct search {
    const uint32_t *clock, *before; /* before: a clock; its writers need not be looked at. Or NULL */
    uint32_t key, txn;
};

/* How many writers of the lane the clock knows. */
static uint32_t count_until(const struct rig_forced *forced, const struct search *search, const struct rig_lane *lane)
{
    const struct rig_chains *chains = &forced->chains;
    const uint32_t own = lane->chain == chains->chain[search->txn] ? chains->position[search->txn] : UINT32_MAX;
    const uint32_t end = search->clock[lane->chain] < own ? search->clock[lane->chain] : own;
    if (end <= chains->lane_positions[lane->begin] || (search->before != NULL && search->before[lane->chain] >= end))
        return 0;
    return rig_chains_until(chains, lane, end) - lane->begin;
}

static bool search_lane(struct rig_forced *forced, const struct search *search, const struct rig_lane *lane)
{
    const struct rig_chains *chains = &forced->chains;
    const uint32_t count = count_until(forced, search, lane), last = lane->begin + count - 1;
    forced->reached += count;
    if (count == 0 || (search->before != NULL && search->before[lane->chain] > chains->lane_positions[last]))
        return true;
    return add_candidate(
        forced, &(struct rig_forced_candidate){chains->lane_writes[last], lane->chain, chains->lane_positions[last]});
}

/*
 * Candidates: per chain the last writer, unless another one follows it, or it is known to come before `known` (a
 * transaction, or RIG_PROBLEM_NONE). `late`: only chains in which something late reaches the node.
 */
static bool find_candidates(struct rig_forced *forced, const uint32_t *clock, uint32_t key, uint32_t txn,
                            uint32_t known, bool late)
{
    const struct rig_chains *chains = &forced->chains;
    const struct search search = {clock, known == RIG_PROBLEM_NONE ? NULL : clock_of(forced, known), key, txn};
    const uint32_t begin = chains->lane_first[key], end = chains->lane_first[key + 1];
    bool ok = true;
    forced->candidates.count = 0;
    forced->reached = 0;
    for (uint32_t l = begin; ok && !late && l < end && !is_over(forced, 1 + (uint32_t)forced->candidates.count); l++)
        ok = search_lane(forced, &search, &chains->lanes.at[l]);
    for (uint32_t i = 0; ok && late && begin < end && i < forced->late_count && !is_over(forced, 1); i++) {
        /* Lanes are sorted by chain, and there is at most one of each. */
        const uint32_t chain = forced->late_chains[i];
        uint32_t l = chain < end - begin ? begin + chain : end - 1;
        while (l > begin && chains->lanes.at[l].chain > chain)
            l--;
        ok = chains->lanes.at[l].chain != chain || search_lane(forced, &search, &chains->lanes.at[l]);
    }
    return ok;
}

/* A writer of the read's key that the transaction sees comes before the writer of the returned version. `shown_by`: per
 * chain the earlier read behind the clock, or NULL: the transaction's start. */
static bool force_read(struct rig_forced *forced, const uint32_t *clock, uint32_t number, const uint32_t *shown_by,
                       bool late)
{
    const struct rig_problem_read *read = &forced->problem->reads.at[number];
    const uint32_t txn = forced->problem->read_txn[number], writer = read->writer;
    bool ok = find_candidates(forced, clock, read->key, txn, writer, late);
    for (size_t i = 0; ok && i < forced->candidates.count && !forced->refuted; i++) {
        const uint32_t write = forced->candidates.at[i].write, before = forced->problem->write_txn[write];
        const uint32_t earlier = shown_by == NULL ? RIG_PROBLEM_NONE : shown_by[forced->candidates.at[i].chain];
        if (writer == RIG_PROBLEM_INITIAL && shown_by == NULL)
            refute(forced, before, start_of(forced, txn), RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
        if (writer != RIG_PROBLEM_INITIAL && before != writer && !has_pair(forced, write, writer))
            ok = force(forced,
                       (struct rig_forced_pair){.write = write,
                                                .after = writer,
                                                .read = number,
                                                .earlier = earlier,
                                                .reason = shown_by == NULL ? RIG_FORCED_READ : RIG_FORCED_LATER});
    }
    return ok;
}

/* Later operations see all that the writer of this read's version saw. */
static void show(struct rig_forced *forced, uint32_t number)
{
    const uint32_t writer = forced->problem->reads.at[number].writer;
    if (writer == RIG_PROBLEM_INITIAL)
        return;
    const uint32_t *clock = clock_of(forced, writer);
    for (uint32_t chain = 0; chain < forced->chains.count; chain++) {
        if (clock[chain] > forced->shown[chain]) {
            forced->shown[chain] = clock[chain];
            forced->shown_by[chain] = number;
        }
    }
}

/* Reads that see what earlier operations saw: each read in turn. */
static bool force_later(struct rig_forced *forced, uint32_t txn)
{
    const struct rig_problem *problem = forced->problem;
    bool ok = true;
    memset(forced->shown, 0, forced->chains.count * sizeof forced->shown[0]);
    for (uint32_t r = problem->txns.at[txn].first_read;
         ok && !forced->refuted && r < reads_end(problem, txn) && !is_over(forced, forced->chains.count + 1); r++) {
        ok = force_read(forced, forced->shown, r, forced->shown_by, false);
        show(forced, r);
    }
    return ok;
}

static bool writes_key(const struct rig_problem *problem, uint32_t txn, uint32_t key)
{
    return rig_problem_write_of(problem, txn, key) != RIG_PROBLEM_NONE;
}

/* All visited writers of the key are known to come before the version that the read returned. */
static bool is_front(const struct rig_forced *forced, uint32_t number)
{
    const uint32_t key = forced->problem->reads.at[number].key, version = forced->version[number];
    if (version == RIG_PROBLEM_NONE)
        return forced->visited[key] == 0;
    return forced->visited[key] > 0 && forced->front[key] == version;
}

/* Whether commits that come later in the sequence reach the node, and of which chains. */
static bool find_late(struct rig_forced *forced, uint32_t node)
{
    const struct rig_chains *chains = &forced->chains;
    const uint32_t *clock = clock_of(forced, node);
    if (forced->late[node] <= forced->rank[node])
        return false;
    forced->late_count = 0;
    for (uint32_t chain = 0; chain < chains->count; chain++) {
        if (clock[chain] > 0 &&
            forced->rank[chains->members[chains->member_first[chain] + clock[chain] - 1]] > forced->rank[node])
            forced->late_chains[forced->late_count++] = chain;
    }
    return true;
}

static bool force_reads(struct rig_forced *forced, uint32_t txn, bool first)
{
    const struct rig_problem *problem = forced->problem;
    const enum rig_rule_frame_reads reads = forced->frame->reads;
    const uint32_t start = start_of(forced, txn);
    bool ok = true;
    if (reads == RIG_RULE_FRAME_READS_NONE)
        return true;
    if (reads == RIG_RULE_FRAME_READS_LATER)
        return force_later(forced, txn);
    const bool nothing_late = !find_late(forced, start);
    for (uint32_t r = problem->txns.at[txn].first_read; ok && r < reads_end(problem, txn); r++) {
        if (reads == RIG_RULE_FRAME_READS_UPDATED && !writes_key(problem, txn, problem->reads.at[r].key))
            continue;
        if (first)
            forced->read_done[r] = is_front(forced, r);
        if (!forced->read_done[r] || !nothing_late)
            ok = force_read(forced, clock_of(forced, start), r, NULL, forced->read_done[r]);
    }
    return ok;
}

static bool force_commit(struct rig_forced *forced, uint32_t write, uint32_t txn)
{
    if (!forced->frame->rw_path || has_pair(forced, write, txn))
        return true;
    return force(forced, (struct rig_forced_pair){.write = write, .after = txn, .reason = RIG_FORCED_COMMIT});
}

/* Full search. */
static bool force_again(struct rig_forced *forced, uint32_t write, uint32_t txn, bool late)
{
    const uint32_t key = forced->problem->writes.at[write].key;
    bool ok = find_candidates(forced, clock_of(forced, txn), key, txn, RIG_PROBLEM_NONE, late);
    for (size_t i = 0; ok && i < forced->candidates.count && !forced->refuted; i++)
        ok = force_commit(forced, forced->candidates.at[i].write, txn);
    return ok;
}

/* The first visit: mostly the front reaches it, and it becomes the front. */
static bool force_first(struct rig_forced *forced, uint32_t write, uint32_t txn)
{
    const uint32_t key = forced->problem->writes.at[write].key, front = forced->front[key];
    bool ok = true;
    if (forced->visited[key] > 0 &&
        (front == RIG_PROBLEM_NONE || !reaches(forced, forced->problem->write_txn[front], txn))) {
        ok = force_again(forced, write, txn, false);
        const bool all = forced->reached == forced->visited[key] && forced->late[txn] <= forced->rank[txn];
        forced->front[key] = all ? write : RIG_PROBLEM_NONE;
    } else {
        ok = forced->visited[key] == 0 || force_commit(forced, front, txn);
        forced->front[key] = write;
    }
    forced->write_done[write] = forced->front[key] == write;
    forced->visited[key]++;
    return ok;
}

static bool force_commits(struct rig_forced *forced, uint32_t txn, bool first)
{
    const struct rig_problem *problem = forced->problem;
    const bool nothing_late = !find_late(forced, txn);
    bool ok = true;
    for (uint32_t w = problem->txns.at[txn].first_write; ok && w < writes_end(problem, txn) && !forced->refuted; w++) {
        if (first)
            ok = force_first(forced, w, txn);
        if (ok && forced->frame->rw_path && (first ? !nothing_late : !forced->write_done[w] || !nothing_late))
            ok = force_again(forced, w, txn, forced->write_done[w]);
    }
    return ok;
}

static bool visit(struct rig_forced *forced, uint32_t node)
{
    const bool first = !forced->seen[node];
    const uint32_t txn = rig_rule_frame_txn(forced->frame, node);
    forced->seen[node] = true;
    bool ok = find_steps(forced, node, UINT32_MAX, &forced->steps);
    for (size_t i = 0; ok && i < forced->steps.count && !forced->refuted && !is_over(forced, forced->chains.count + 1);
         i++)
        take_step(forced, node, &forced->steps.at[i]);
    if (ok && txn != RIG_PROBLEM_NONE && node == start_of(forced, txn) && !forced->refuted)
        ok = force_reads(forced, txn, first);
    if (ok && txn == node && !forced->refuted)
        ok = force_commits(forced, txn, first);
    return ok;
}

/* One round over what is dirty, in the order of the sequence. */
static bool go_round(struct rig_forced *forced, bool *any)
{
    bool ok = true;
    *any = false;
    for (uint32_t word = 0; ok && word <= forced->frame->node_count / 64; word++) {
        while (ok && forced->dirty[word] != 0 && !forced->refuted && !is_over(forced, 1)) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(forced->dirty[word]);
            forced->dirty[word] &= ~(UINT64_C(1) << bit);
            ok = visit(forced, forced->sequence[word * 64 + bit]);
            *any = true;
        }
    }
    return ok;
}

bool rig_forced_run(struct rig_forced *forced, int64_t deadline_ns, bool *spent)
{
    bool any = true;
    forced->deadline_ns = deadline_ns;
    forced->spent = false;
    forced->steps_to_look = 0;
    for (uint32_t p = 0; p < forced->pairs.count && !forced->refuted && !is_over(forced, forced->chains.count + 1); p++)
        take_pair(forced, p);
    while (any && !forced->refuted && !forced->spent) {
        if (!go_round(forced, &any))
            return false;
    }
    *spent = forced->spent && !forced->refuted;
    return true;
}

static uint32_t pair_of(const struct rig_forced *forced, uint32_t before, uint32_t after)
{
    const struct rig_problem *problem = forced->problem;
    for (uint32_t w = problem->txns.at[before].first_write; w < writes_end(problem, before); w++) {
        for (uint32_t p = forced->first_pair[w]; p != RIG_PROBLEM_NONE; p = forced->pairs.at[p].next) {
            if (forced->pairs.at[p].after == after)
                return p;
        }
    }
    return RIG_PROBLEM_NONE;
}

bool rig_forced_before(const struct rig_forced *forced, uint32_t before, uint32_t after)
{
    return reaches(forced, before, after) || pair_of(forced, before, after) != RIG_PROBLEM_NONE;
}

/* ---- what is open ---- */

static uint64_t pair_count(const struct rig_problem *problem, uint32_t key)
{
    const uint64_t writers = problem->writer_first[key + 1] - problem->writer_first[key];
    return writers < 2 ? 0 : writers * (writers - 1) / 2;
}

/* Pairs of writers of the key without an order. */
static uint64_t open_of_key(const struct rig_forced *forced, uint32_t key)
{
    const struct rig_problem *problem = forced->problem;
    uint64_t ordered = 0;
    for (uint32_t i = problem->writer_first[key]; i < problem->writer_first[key + 1]; i++) {
        const struct search search = {clock_of(forced, problem->writers[i]), NULL, key, problem->writers[i]};
        for (uint32_t l = forced->chains.lane_first[key]; l < forced->chains.lane_first[key + 1]; l++)
            ordered += count_until(forced, &search, &forced->chains.lanes.at[l]);
    }
    return pair_count(problem, key) > ordered ? pair_count(problem, key) - ordered : 0;
}

/* Notes the pairs of the key that have no order. False when memory runs out. */
static bool note_open(const struct rig_forced *forced, uint32_t key, struct rig_table *pairs, uint64_t *count)
{
    const struct rig_problem *problem = forced->problem;
    const uint32_t *writers = problem->writers, end = problem->writer_first[key + 1];
    for (uint32_t i = problem->writer_first[key]; i < end; i++) {
        for (uint32_t j = i + 1; j < end; j++) {
            uint32_t *slot = rig_table_put(pairs, (uint64_t)writers[i] << 32 | writers[j]);
            if (slot == NULL)
                return false;
            *count += *slot == RIG_TABLE_NONE && !rig_forced_before(forced, writers[i], writers[j]) &&
                      !rig_forced_before(forced, writers[j], writers[i]);
            *slot = 0;
        }
    }
    return true;
}

/* Per key: whether one before it has the same writers. Keys of one hash may be taken for different ones: then their pairs
 * count again, where they count for each key. */
static bool find_same_keys(const struct rig_problem *problem, bool *same)
{
    struct rig_table keys;
    bool ok = true;
    rig_table_init(&keys);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        const uint32_t begin = problem->writer_first[key], count = problem->writer_first[key + 1] - begin;
        uint64_t hash = count;
        for (uint32_t i = begin; i < begin + count; i++)
            hash = (hash ^ problem->writers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t *slot = rig_table_put(&keys, hash >> 1);
        ok = slot != NULL;
        if (!ok)
            break;
        const uint32_t other = *slot == RIG_TABLE_NONE ? key : *slot;
        const uint32_t other_begin = problem->writer_first[other];
        same[key] = other != key && problem->writer_first[other + 1] - other_begin == count &&
                    memcmp(problem->writers + other_begin, problem->writers + begin, count * sizeof(uint32_t)) == 0;
        *slot = other;
    }
    rig_table_done(&keys);
    return ok;
}

uint64_t rig_forced_open(const struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    bool *same = calloc((size_t)problem->key_count + 1, sizeof same[0]);
    bool ok = same != NULL && find_same_keys(problem, same);
    uint64_t all = 0, open = 0;
    for (uint32_t key = 0; ok && key < problem->key_count; key++)
        all += same[key] ? 0 : pair_count(problem, key);
    struct rig_table pairs;
    rig_table_init(&pairs);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        if (same[key])
            continue;
        if (all > MOST_LISTED)
            open += open_of_key(forced, key);
        else
            ok = note_open(forced, key, &pairs, &open);
    }
    rig_table_done(&pairs);
    free(same);
    return ok ? open : 0;
}

/* Explaining: a breadth-first search for each path, along pairs older than the one it explains. */
struct explanation {
    const struct rig_forced *forced;
    struct rig_forced_nodes *txns, queue, wanted; /* wanted: pairs */
    struct rig_forced_steps steps;
    uint32_t *seen, *parent, *pair, *write, round; /* per node: round of its last visit, how it was reached */
    bool *asked;                                   /* per pair */
};

static bool note_txn(struct explanation *explanation, uint32_t txn)
{
    return txn == RIG_PROBLEM_NONE || rig_forced_nodes_add(explanation->txns, txn);
}

static bool want_pair(struct explanation *explanation, uint32_t pair)
{
    if (pair == RIG_PROBLEM_NONE || explanation->asked[pair])
        return true;
    explanation->asked[pair] = true;
    return rig_forced_nodes_add(&explanation->wanted, pair);
}

static bool note_edge(struct explanation *explanation, uint32_t pair, uint32_t write)
{
    return want_pair(explanation, pair) &&
           (write == RIG_PROBLEM_NONE || note_txn(explanation, explanation->forced->problem->write_txn[write]));
}

static bool note_path(struct explanation *explanation, uint32_t from, uint32_t to)
{
    bool ok = note_txn(explanation, rig_rule_frame_txn(explanation->forced->frame, to));
    for (uint32_t node = to; ok && node != from; node = explanation->parent[node])
        ok = note_edge(explanation, explanation->pair[node], explanation->write[node]) &&
             note_txn(explanation, rig_rule_frame_txn(explanation->forced->frame, explanation->parent[node]));
    return ok;
}

/* Whether a path through `node` can lead to `to`: commits that do not reach it need not be followed. */
static bool can_lead(const struct rig_forced *forced, uint32_t node, uint32_t to)
{
    return node == to || node >= forced->frame->txn_count || forced->chains.chain[node] == RIG_PROBLEM_NONE ||
           is_sink(forced, node) || reaches(forced, node, to);
}

static bool explain_path(struct explanation *explanation, uint32_t from, uint32_t to, uint32_t limit)
{
    bool ok = true, found = from == to;
    explanation->round++;
    explanation->queue.count = 0;
    explanation->seen[from] = explanation->round;
    ok = rig_forced_nodes_add(&explanation->queue, from);
    for (size_t i = 0; ok && !found && i < explanation->queue.count; i++) {
        const uint32_t node = explanation->queue.at[i];
        ok = find_steps(explanation->forced, node, limit, &explanation->steps);
        for (size_t s = 0; ok && !found && s < explanation->steps.count; s++) {
            const struct rig_forced_step *step = &explanation->steps.at[s];
            if (explanation->seen[step->to] == explanation->round || !can_lead(explanation->forced, step->to, to))
                continue;
            explanation->seen[step->to] = explanation->round;
            explanation->parent[step->to] = node;
            explanation->pair[step->to] = step->pair;
            explanation->write[step->to] = step->write;
            found = step->to == to;
            ok = rig_forced_nodes_add(&explanation->queue, step->to);
        }
    }
    RIG_INVARIANT(!ok || found);
    return ok && note_path(explanation, from, to);
}

static bool explain_pair(struct explanation *explanation, uint32_t number)
{
    const struct rig_forced *forced = explanation->forced;
    const struct rig_problem *problem = forced->problem;
    const struct rig_forced_pair *pair = &forced->pairs.at[number];
    const uint32_t before = problem->write_txn[pair->write];
    const bool ok = note_txn(explanation, before) && note_txn(explanation, pair->after);
    switch (pair->reason) {
    case RIG_FORCED_KNOWN:
        return ok;
    case RIG_FORCED_READ:
        return ok && explain_path(explanation, before, start_of(forced, problem->read_txn[pair->read]), number);
    case RIG_FORCED_LATER:
        return ok && note_txn(explanation, problem->read_txn[pair->read]) &&
               explain_path(explanation, before, problem->reads.at[pair->earlier].writer, number);
    case RIG_FORCED_COMMIT:
        return ok && explain_path(explanation, before, pair->after, number);
    }
    RIG_INVARIANT(false);
    return false;
}

static bool explain_fact(struct explanation *explanation, const struct rig_forced_fact *fact)
{
    const struct rig_forced *forced = explanation->forced;
    if (fact->before == RIG_PROBLEM_NONE)
        return note_edge(explanation, forced->conflict_pair, forced->conflict_write) &&
               explain_path(explanation, forced->conflict_from, forced->conflict_to, UINT32_MAX);
    const uint32_t pair = pair_of(forced, fact->before, fact->after);
    if (pair != RIG_PROBLEM_NONE)
        return want_pair(explanation, pair);
    return explain_path(explanation, fact->before, fact->after, UINT32_MAX);
}

bool rig_forced_explain(const struct rig_forced *forced, const struct rig_forced_facts *facts,
                        struct rig_forced_nodes *txns)
{
    const size_t nodes = (size_t)forced->frame->node_count + 1;
    struct explanation explanation = {.forced = forced,
                                      .txns = txns,
                                      .seen = calloc(nodes, sizeof(uint32_t)),
                                      .parent = malloc(nodes * sizeof(uint32_t)),
                                      .pair = malloc(nodes * sizeof(uint32_t)),
                                      .write = malloc(nodes * sizeof(uint32_t)),
                                      .asked = calloc(forced->pairs.count + 1, sizeof(bool))};
    bool ok = explanation.seen != NULL && explanation.parent != NULL && explanation.pair != NULL &&
              explanation.write != NULL && explanation.asked != NULL;
    for (size_t i = 0; ok && i < facts->count; i++)
        ok = explain_fact(&explanation, &facts->at[i]);
    for (size_t i = 0; ok && i < explanation.wanted.count; i++)
        ok = explain_pair(&explanation, explanation.wanted.at[i]);
    rig_forced_nodes_done(&explanation.queue);
    rig_forced_nodes_done(&explanation.wanted);
    rig_forced_steps_done(&explanation.steps);
    free(explanation.seen);
    free(explanation.parent);
    free(explanation.pair);
    free(explanation.write);
    free(explanation.asked);
    return ok;
}
