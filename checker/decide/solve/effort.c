#include "checker/decide/solve/effort.h"

#include <string.h>

#include "base/clock.h"

/* The first key that both write. */
static void name_key(const struct rig_problem *problem, const struct rig_history *history,
                     struct rig_level_effort *effort, uint32_t first, uint32_t second)
{
    const struct rig_problem_txn *txn = &problem->txns.at[first];
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
        const struct rig_problem_write *write = &problem->writes.at[w];
        if (rig_problem_write_of(problem, second, write->key) == RIG_PROBLEM_NONE)
            continue;
        rig_history_key_name(history, rig_txn_ops(history, txn->txn)[write->first_op].key, effort->key,
                             sizeof effort->key);
        return;
    }
}

void rig_effort_add(struct rig_level_effort *effort, int64_t start_ns, const struct rig_solution *solution,
                    const struct rig_problem *problem, const struct rig_history *history)
{
    const struct rig_open_pairs *pairs = &solution->pairs;
    effort->spent_ns += rig_clock_now_ns() - start_ns;
    if (solution->answer != RIG_ANSWER_SPENT || pairs->open <= effort->open_pairs)
        return;
    effort->pairs = pairs->all;
    effort->open_pairs = pairs->open;
    effort->has_example = pairs->first != RIG_PROBLEM_NONE;
    if (!effort->has_example)
        return;
    effort->first = rig_txn_name(history, problem->txns.at[pairs->first].txn);
    effort->second = rig_txn_name(history, problem->txns.at[pairs->second].txn);
    name_key(problem, history, effort, pairs->first, pairs->second);
}

void rig_efforts_add(struct rig_level_effort *to, const struct rig_level_effort *from)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const int64_t spent_ns = to[level].spent_ns + from[level].spent_ns;
        if (from[level].open_pairs > to[level].open_pairs)
            to[level] = from[level];
        to[level].spent_ns = spent_ns;
    }
}
