#include "checker/decide/solve/forced_explain.h"

#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/decide/solve/forced_steps.h"

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
    RIG_REQUIRE(pair < explanation->forced->pairs.count);
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
    for (uint32_t node = to; ok && node != from; node = explanation->parent[node]) {
        RIG_INVARIANT(explanation->seen[node] == explanation->round);
        ok = note_edge(explanation, explanation->pair[node], explanation->write[node]) &&
             note_txn(explanation, rig_rule_frame_txn(explanation->forced->frame, explanation->parent[node]));
    }
    return ok;
}

/* Whether a path through `node` can lead to `to`: commits that do not reach it need not be followed. */
static bool can_lead(const struct rig_forced *forced, uint32_t node, uint32_t to)
{
    return node == to || node >= forced->frame->txn_count || forced->clocks.chains.chain[node] == RIG_PROBLEM_NONE ||
           rig_rule_frame_is_sink(forced->frame, forced->problem, node) || rig_clocks_reach(&forced->clocks, node, to);
}

static bool explain_path(struct explanation *explanation, uint32_t from, uint32_t to, uint32_t limit)
{
    RIG_REQUIRE(from < explanation->forced->frame->node_count && to < explanation->forced->frame->node_count);
    bool ok = true, found = from == to;
    explanation->round++;
    explanation->queue.count = 0;
    explanation->seen[from] = explanation->round;
    ok = rig_forced_nodes_add(&explanation->queue, from);
    for (size_t i = 0; ok && !found && i < explanation->queue.count; i++) {
        const uint32_t node = explanation->queue.at[i];
        ok = rig_forced_find_steps(explanation->forced, node, limit, &explanation->steps);
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
    RIG_REQUIRE(number < explanation->forced->pairs.count);
    const struct rig_forced *forced = explanation->forced;
    const struct rig_problem *problem = forced->problem;
    const struct rig_forced_pair *pair = &forced->pairs.at[number];
    const uint32_t before = problem->write_txn[pair->write];
    const bool ok = note_txn(explanation, before) && note_txn(explanation, pair->after);
    switch (pair->reason) {
    case RIG_FORCED_KNOWN:
        return ok;
    case RIG_FORCED_READ:
        return ok && explain_path(explanation, before,
                                  rig_rule_frame_start(forced->frame, problem->read_txn[pair->read]), number);
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
    RIG_REQUIRE(fact->before != RIG_PROBLEM_NONE || explanation->forced->refuted);
    const struct rig_forced *forced = explanation->forced;
    if (fact->before == RIG_PROBLEM_NONE)
        return note_edge(explanation, forced->conflict_pair, forced->conflict_write) &&
               explain_path(explanation, forced->conflict_from, forced->conflict_to, UINT32_MAX);
    const uint32_t pair = rig_forced_pair_of(forced, fact->before, fact->after);
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

enum { MOST_LISTED = 1 << 18 };

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
        const uint32_t txn = problem->writers[i], *clock = rig_clocks_of(&forced->clocks, txn);
        for (uint32_t l = forced->clocks.chains.lane_first[key]; l < forced->clocks.chains.lane_first[key + 1]; l++)
            ordered += rig_clocks_count(&forced->clocks, clock, NULL, txn, &forced->clocks.chains.lanes.at[l]);
    }
    return pair_count(problem, key) > ordered ? pair_count(problem, key) - ordered : 0;
}

static bool is_open(const struct rig_forced *forced, uint32_t one, uint32_t other)
{
    return !rig_forced_before(forced, one, other) && !rig_forced_before(forced, other, one);
}

/* One open pair of the key, among writers next to each other in the order of completion. */
static void find_open(const struct rig_forced *forced, uint32_t key, struct rig_open_pairs *found)
{
    const uint32_t *writers = forced->problem->writers, end = forced->problem->writer_first[key + 1];
    for (uint32_t i = forced->problem->writer_first[key]; i + 1 < end && found->first == RIG_PROBLEM_NONE; i++) {
        if (is_open(forced, writers[i], writers[i + 1])) {
            found->first = writers[i];
            found->second = writers[i + 1];
        }
    }
}

/* Notes the pairs of the key that have no order. False when memory runs out. */
static bool note_open(const struct rig_forced *forced, uint32_t key, struct rig_table *pairs,
                      struct rig_open_pairs *found)
{
    const struct rig_problem *problem = forced->problem;
    const uint32_t *writers = problem->writers, end = problem->writer_first[key + 1];
    for (uint32_t i = problem->writer_first[key]; i < end; i++) {
        for (uint32_t j = i + 1; j < end; j++) {
            uint32_t *slot = rig_table_put(pairs, (uint64_t)writers[i] << 32 | writers[j]);
            if (slot == NULL)
                return false;
            found->open += *slot == RIG_TABLE_NONE && is_open(forced, writers[i], writers[j]);
            *slot = 0;
        }
    }
    return true;
}

/* Per key: whether one before it has the same writers. Keys of one hash may be taken for different ones: then their
 * pairs count again, where they count for each key. */
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

struct rig_open_pairs rig_forced_open(const struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    bool *same = calloc((size_t)problem->key_count + 1, sizeof same[0]);
    bool ok = same != NULL && find_same_keys(problem, same);
    struct rig_open_pairs found = {.first = RIG_PROBLEM_NONE, .second = RIG_PROBLEM_NONE};
    for (uint32_t key = 0; ok && key < problem->key_count; key++)
        found.all += same[key] ? 0 : pair_count(problem, key);
    const bool listed = found.all <= MOST_LISTED;
    struct rig_table pairs;
    rig_table_init(&pairs);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        if (same[key])
            continue;
        const uint64_t before = found.open;
        if (listed)
            ok = note_open(forced, key, &pairs, &found);
        else
            found.open += open_of_key(forced, key);
        if (found.open > before && found.first == RIG_PROBLEM_NONE)
            find_open(forced, key, &found);
    }
    found.all = listed ? pairs.used : found.all;
    RIG_INVARIANT(!ok || found.open <= found.all);
    rig_table_done(&pairs);
    free(same);
    return ok ? found : (struct rig_open_pairs){.first = RIG_PROBLEM_NONE, .second = RIG_PROBLEM_NONE};
}
