#include "checker/decide/solve/forced.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/forced_steps.h"

static bool add_pair(struct rig_forced *forced, struct rig_forced_pair pair)
{
    RIG_REQUIRE(pair.write < forced->problem->writes.count && pair.after < forced->problem->txn_count);
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
            RIG_INVARIANT(before < txn);
            forced->next_child[txn] = forced->first_child[before];
            forced->first_child[before] = txn;
        }
    }
}

static bool allocate(struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    const size_t txns = (size_t)problem->txn_count + 1, keys = (size_t)problem->key_count + 1;
    const size_t chains = (size_t)forced->clocks.chains.count + 1;
    forced->shown = calloc(chains, sizeof forced->shown[0]);
    forced->shown_by = calloc(chains, sizeof forced->shown_by[0]);
    forced->seen = calloc((size_t)forced->frame->node_count + 1, sizeof forced->seen[0]);
    forced->version = malloc((problem->reads.count + 1) * sizeof forced->version[0]);
    forced->visited = calloc(keys, sizeof forced->visited[0]);
    forced->front = calloc(keys, sizeof forced->front[0]);
    forced->read_done = calloc(problem->reads.count + 1, sizeof forced->read_done[0]);
    forced->write_done = calloc(problem->writes.count + 1, sizeof forced->write_done[0]);
    forced->first_pair = malloc((problem->writes.count + 1) * sizeof forced->first_pair[0]);
    forced->first_child = malloc(txns * sizeof forced->first_child[0]);
    forced->next_child = malloc(txns * sizeof forced->next_child[0]);
    return forced->shown != NULL && forced->shown_by != NULL && forced->seen != NULL && forced->version != NULL &&
           forced->visited != NULL && forced->front != NULL && forced->read_done != NULL &&
           forced->write_done != NULL && forced->first_pair != NULL && forced->first_child != NULL &&
           forced->next_child != NULL;
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
    *forced = (struct rig_forced){.problem = problem, .frame = frame};
    if (!rig_clocks_init(&forced->clocks, problem, frame, sequence, clock_bytes) || !allocate(forced))
        return false;
    for (size_t w = 0; w < problem->writes.count; w++)
        forced->first_pair[w] = RIG_PROBLEM_NONE;
    make_children(forced);
    find_versions(forced);
    return add_known(forced);
}

void rig_forced_done(struct rig_forced *forced)
{
    rig_clocks_done(&forced->clocks);
    rig_forced_pairs_done(&forced->pairs);
    rig_forced_steps_done(&forced->steps);
    rig_forced_candidates_done(&forced->candidates);
    free(forced->first_pair);
    free(forced->shown);
    free(forced->shown_by);
    free(forced->seen);
    free(forced->version);
    free(forced->visited);
    free(forced->front);
    free(forced->read_done);
    free(forced->write_done);
    free(forced->first_child);
    free(forced->next_child);
    *forced = (struct rig_forced){0};
}

static void refute(struct rig_forced *forced, uint32_t from, uint32_t to, uint32_t pair, uint32_t write)
{
    RIG_REQUIRE(from < forced->problem->txn_count && to < forced->frame->node_count);
    if (forced->refuted)
        return;
    forced->refuted = true;
    forced->conflict_from = from;
    forced->conflict_to = to;
    forced->conflict_pair = pair;
    forced->conflict_write = write;
}

static bool is_over(struct rig_forced *forced, uint32_t steps)
{
    return rig_deadline_is_over(&forced->deadline, steps);
}

static void take_step(struct rig_forced *forced, uint32_t from, const struct rig_forced_step *step)
{
    RIG_REQUIRE(from < forced->frame->node_count && step->to < forced->frame->node_count);
    const uint32_t txn = rig_rule_frame_txn(forced->frame, step->to);
    if (txn != RIG_PROBLEM_NONE && !rig_rule_frame_is_sink(forced->frame, forced->problem, txn) &&
        rig_clocks_reach(&forced->clocks, txn, from))
        refute(forced, txn, from, step->pair, step->write);
    else
        rig_clocks_raise(&forced->clocks, step->to, from);
    rig_clocks_pass_late(&forced->clocks, step->to, from);
}

/* The edges that come with a new pair. */
static void take_pair(struct rig_forced *forced, uint32_t number)
{
    RIG_REQUIRE(number < forced->pairs.count);
    const struct rig_problem *problem = forced->problem;
    const struct rig_forced_pair *pair = &forced->pairs.at[number];
    const uint32_t after = pair->after, cost = forced->clocks.chains.count + 1;
    struct rig_forced_step step = {forced->frame->ww_starts ? rig_rule_frame_start(forced->frame, after) : after,
                                   number, RIG_PROBLEM_NONE};
    if (forced->frame->ww_path)
        take_step(forced, problem->write_txn[pair->write], &step);
    step = (struct rig_forced_step){after, number, pair->write};
    for (uint32_t i = problem->reader_first[pair->write];
         forced->frame->rw_path && i < problem->reader_first[pair->write + 1] && !is_over(forced, cost); i++) {
        const uint32_t reader = problem->read_txn[problem->readers[i]];
        if (reader != after && !rig_rule_frame_is_sink(forced->frame, forced->problem, reader))
            take_step(forced, rig_rule_frame_start(forced->frame, reader), &step);
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
    return rig_clocks_of(&forced->clocks, txn)[candidate->chain] > candidate->position;
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

/* A search for the writers of `key` that the clock knows, without `txn` itself. */
struct search {
    const uint32_t *clock, *before; /* before: a clock; its writers need not be looked at. Or NULL */
    uint32_t key, txn;
};

static bool search_lane(struct rig_forced *forced, const struct search *search, const struct rig_lane *lane)
{
    const struct rig_chains *chains = &forced->clocks.chains;
    const uint32_t count = rig_clocks_count(&forced->clocks, search->clock, search->before, search->txn, lane),
                   last = lane->begin + count - 1;
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
    const struct rig_chains *chains = &forced->clocks.chains;
    const struct search search = {clock, known == RIG_PROBLEM_NONE ? NULL : rig_clocks_of(&forced->clocks, known), key,
                                  txn};
    const uint32_t begin = chains->lane_first[key], end = chains->lane_first[key + 1];
    bool ok = true;
    forced->candidates.count = 0;
    forced->reached = 0;
    for (uint32_t l = begin; ok && !late && l < end && !is_over(forced, 1 + (uint32_t)forced->candidates.count); l++)
        ok = search_lane(forced, &search, &chains->lanes.at[l]);
    for (uint32_t i = 0; ok && late && begin < end && i < forced->clocks.late_count && !is_over(forced, 1); i++) {
        /* Lanes are sorted by chain, and there is at most one of each. */
        const uint32_t chain = forced->clocks.late_chains[i];
        uint32_t l = chain < end - begin ? begin + chain : end - 1;
        while (l > begin && chains->lanes.at[l].chain > chain)
            l--;
        ok = chains->lanes.at[l].chain != chain || search_lane(forced, &search, &chains->lanes.at[l]);
    }
    return ok;
}

/* A writer of the read's key that the transaction sees comes before the writer of the returned version. `shown_by`: per
 * chain the earlier read after the clock, or NULL: the transaction's start. */
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
            refute(forced, before, rig_rule_frame_start(forced->frame, txn), RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
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
    const uint32_t *clock = rig_clocks_of(&forced->clocks, writer);
    for (uint32_t chain = 0; chain < forced->clocks.chains.count; chain++) {
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
    memset(forced->shown, 0, forced->clocks.chains.count * sizeof forced->shown[0]);
    for (uint32_t r = problem->txns.at[txn].first_read;
         ok && !forced->refuted && r < rig_problem_reads_end(problem, txn) &&
         !is_over(forced, forced->clocks.chains.count + 1);
         r++) {
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

static bool force_reads(struct rig_forced *forced, uint32_t txn, bool first)
{
    const struct rig_problem *problem = forced->problem;
    const enum rig_rule_frame_reads reads = forced->frame->reads;
    const uint32_t start = rig_rule_frame_start(forced->frame, txn);
    bool ok = true;
    if (reads == RIG_RULE_FRAME_READS_NONE)
        return true;
    if (reads == RIG_RULE_FRAME_READS_LATER)
        return force_later(forced, txn);
    const bool nothing_late = !rig_clocks_find_late(&forced->clocks, start);
    for (uint32_t r = problem->txns.at[txn].first_read; ok && r < rig_problem_reads_end(problem, txn); r++) {
        if (reads == RIG_RULE_FRAME_READS_UPDATED && !writes_key(problem, txn, problem->reads.at[r].key))
            continue;
        if (first)
            forced->read_done[r] = is_front(forced, r);
        if (!forced->read_done[r] || !nothing_late)
            ok = force_read(forced, rig_clocks_of(&forced->clocks, start), r, NULL, forced->read_done[r]);
    }
    return ok;
}

static bool force_commit(struct rig_forced *forced, uint32_t write, uint32_t txn)
{
    RIG_REQUIRE(write < forced->problem->writes.count && forced->problem->write_txn[write] != txn);
    if (!forced->frame->rw_path || has_pair(forced, write, txn))
        return true;
    return force(forced, (struct rig_forced_pair){.write = write, .after = txn, .reason = RIG_FORCED_COMMIT});
}

/* Full search. */
static bool force_again(struct rig_forced *forced, uint32_t write, uint32_t txn, bool late)
{
    const uint32_t key = forced->problem->writes.at[write].key;
    bool ok = find_candidates(forced, rig_clocks_of(&forced->clocks, txn), key, txn, RIG_PROBLEM_NONE, late);
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
        (front == RIG_PROBLEM_NONE || !rig_clocks_reach(&forced->clocks, forced->problem->write_txn[front], txn))) {
        ok = force_again(forced, write, txn, false);
        const bool all =
            forced->reached == forced->visited[key] && forced->clocks.late[txn] <= forced->clocks.rank[txn];
        forced->front[key] = all ? write : RIG_PROBLEM_NONE;
    } else {
        ok = forced->visited[key] == 0 || force_commit(forced, front, txn);
        forced->front[key] = write;
    }
    forced->write_done[write] = forced->front[key] == write;
    forced->visited[key]++;
    RIG_INVARIANT(forced->visited[key] <= forced->problem->writer_first[key + 1] - forced->problem->writer_first[key]);
    return ok;
}

static bool force_commits(struct rig_forced *forced, uint32_t txn, bool first)
{
    const struct rig_problem *problem = forced->problem;
    const bool nothing_late = !rig_clocks_find_late(&forced->clocks, txn);
    bool ok = true;
    for (uint32_t w = problem->txns.at[txn].first_write;
         ok && w < rig_problem_writes_end(problem, txn) && !forced->refuted; w++) {
        if (first)
            ok = force_first(forced, w, txn);
        if (ok && forced->frame->rw_path && (first ? !nothing_late : !forced->write_done[w] || !nothing_late))
            ok = force_again(forced, w, txn, forced->write_done[w]);
    }
    return ok;
}

static bool visit(struct rig_forced *forced, uint32_t node)
{
    RIG_REQUIRE(node < forced->frame->node_count);
    const bool first = !forced->seen[node];
    const uint32_t txn = rig_rule_frame_txn(forced->frame, node);
    forced->seen[node] = true;
    bool ok = rig_forced_find_steps(forced, node, UINT32_MAX, &forced->steps);
    for (size_t i = 0;
         ok && i < forced->steps.count && !forced->refuted && !is_over(forced, forced->clocks.chains.count + 1); i++)
        take_step(forced, node, &forced->steps.at[i]);
    if (ok && txn != RIG_PROBLEM_NONE && node == rig_rule_frame_start(forced->frame, txn) && !forced->refuted)
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
        while (ok && forced->clocks.dirty[word] != 0 && !forced->refuted && !is_over(forced, 1)) {
            ok = visit(forced, rig_clocks_take(&forced->clocks, word));
            *any = true;
        }
    }
    return ok;
}

static bool force_write(void *context, uint32_t read, uint32_t write)
{
    struct rig_forced *forced = context;
    const uint32_t writer = forced->problem->reads.at[read].writer, before = forced->problem->write_txn[write];
    if (writer == RIG_PROBLEM_INITIAL) {
        refute(forced, before, forced->problem->read_txn[read], RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
        return false;
    }
    if (has_pair(forced, write, writer))
        return true;
    return force(forced, (struct rig_forced_pair){.write = write,
                                                  .after = writer,
                                                  .read = read,
                                                  .earlier = RIG_PROBLEM_NONE,
                                                  .reason = RIG_FORCED_READ}) &&
           !forced->refuted && !is_over(forced, forced->clocks.chains.count + 1);
}

static bool force_shown(struct rig_forced *forced)
{
    bool ended;
    return rig_forced_shown(forced->problem, forced->frame, force_write, forced, &ended) &&
           (!ended || forced->refuted || forced->deadline.spent);
}

bool rig_forced_run(struct rig_forced *forced, int64_t deadline_ns, bool *spent)
{
    RIG_REQUIRE(!forced->refuted);
    bool any = true;
    forced->deadline = (struct rig_deadline){.at_ns = deadline_ns};
    for (uint32_t p = 0;
         p < forced->pairs.count && !forced->refuted && !is_over(forced, forced->clocks.chains.count + 1); p++)
        take_pair(forced, p);
    if (forced->frame->shown && !forced->refuted && !force_shown(forced))
        return false;
    while (any && !forced->refuted && !forced->deadline.spent) {
        if (!go_round(forced, &any))
            return false;
    }
    *spent = forced->deadline.spent && !forced->refuted;
    return true;
}

uint32_t rig_forced_pair_of(const struct rig_forced *forced, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before < forced->problem->txn_count && after < forced->problem->txn_count);
    const struct rig_problem *problem = forced->problem;
    for (uint32_t w = problem->txns.at[before].first_write; w < rig_problem_writes_end(problem, before); w++) {
        for (uint32_t p = forced->first_pair[w]; p != RIG_PROBLEM_NONE; p = forced->pairs.at[p].next) {
            if (forced->pairs.at[p].after == after)
                return p;
        }
    }
    return RIG_PROBLEM_NONE;
}

bool rig_forced_before(const struct rig_forced *forced, uint32_t before, uint32_t after)
{
    return rig_clocks_reach(&forced->clocks, before, after) ||
           rig_forced_pair_of(forced, before, after) != RIG_PROBLEM_NONE;
}
