#include "checker/decide/solve/forced_steps.h"

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
    for (uint32_t w = problem->txns.at[txn].first_write; ok && w < rig_problem_writes_end(problem, txn); w++) {
        for (uint32_t i = problem->reader_first[w]; ok && frame->reads_order && i < problem->reader_first[w + 1]; i++)
            ok = add_step(steps, rig_rule_frame_start(forced->frame, problem->read_txn[problem->readers[i]]),
                          RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
        for (uint32_t p = forced->first_pair[w]; ok && frame->ww_path && p != RIG_PROBLEM_NONE;
             p = forced->pairs.at[p].next) {
            const uint32_t after = forced->pairs.at[p].after;
            if (p < limit)
                ok = add_step(steps, frame->ww_starts ? rig_rule_frame_start(forced->frame, after) : after, p,
                              RIG_PROBLEM_NONE);
        }
    }
    for (uint32_t next = forced->first_child[txn]; ok && next != RIG_PROBLEM_NONE; next = forced->next_child[next])
        ok = add_step(steps, rig_rule_frame_start(forced->frame, next), RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    if (ok && frame->next_moment != NULL && frame->next_moment[txn] != RIG_PROBLEM_NONE)
        ok = add_step(steps, frame->next_moment[txn], RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    return ok;
}

/* The initial state precedes the first writers of each chain. */
static bool steps_from_initial(const struct rig_forced *forced, uint32_t txn, uint32_t key,
                               struct rig_forced_steps *steps)
{
    const struct rig_chains *chains = &forced->clocks.chains;
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
    for (uint32_t r = problem->txns.at[txn].first_read;
         ok && forced->frame->rw_path && r < rig_problem_reads_end(problem, txn); r++) {
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

bool rig_forced_find_steps(const struct rig_forced *forced, uint32_t node, uint32_t limit,
                           struct rig_forced_steps *steps)
{
    const struct rig_rule_frame *frame = forced->frame;
    steps->count = 0;
    if (node >= frame->first_moment) {
        const uint32_t start = rig_rule_frame_start(forced->frame, frame->moment_txn[node - frame->first_moment]);
        return add_step(steps, start, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE) &&
               (node + 1 == frame->node_count || add_step(steps, node + 1, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE));
    }
    const uint32_t txn = rig_rule_frame_txn(frame, node);
    if (rig_rule_frame_is_sink(forced->frame, forced->problem, txn))
        return true;
    return (node != txn || steps_from_commit(forced, txn, limit, steps)) &&
           (node != rig_rule_frame_start(forced->frame, txn) || steps_from_start(forced, txn, limit, steps));
}
