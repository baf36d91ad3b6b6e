#include "checker/decide/solve/forced_explain.h"

#include "base/bug.h"
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
    return node == to || node >= forced->frame->txn_count || forced->clocks.chains.chain[node] == RIG_PROBLEM_NONE ||
           rig_rule_frame_is_sink(forced->frame, forced->problem, node) || rig_clocks_reach(&forced->clocks, node, to);
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
