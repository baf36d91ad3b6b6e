#include "checker/solve/decide.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"
#include "checker/checker_types.h"

struct decide {
    const struct rig_problem *problem;
    const struct rig_history *history;
    struct rig_decisions *out;
    uint32_t *place; /* the order of the versions where it is known, else a guess that keeps the pairs */
    bool has_place;
    struct rig_solve_budget budget;
    struct rig_arena *arena;
    bool explained[RIG_RULE_COUNT][RIG_ALONG_COUNT]; /* rules that are kept, and */
    bool broken[RIG_RULE_COUNT][RIG_ALONG_COUNT];    /*   those that are not: levels may share one */
    struct rig_err *err;
};

void rig_decisions_done(struct rig_decisions *decisions)
{
    rig_arcs_done(&decisions->arcs);
    rig_decided_cycles_done(&decisions->cycles);
    rig_case_proofs_done(&decisions->proofs);
}

static enum rig_rc no_memory(const struct decide *d)
{
    return rig_memory_limit(d->err, "the decision of the levels");
}

/* ---- a known order ---- */

/* Nodes in an order that keeps all pairs; false when they have none, or memory runs out. */
static bool follow_pairs(const struct rig_problem *problem, uint32_t *place)
{
    const uint32_t count = problem->txn_count;
    uint32_t *waits = calloc((size_t)count + 1, sizeof *waits), *first = calloc((size_t)count + 2, sizeof *first);
    uint32_t *after = calloc(problem->pairs.count + 1, sizeof *after),
             *queue = calloc((size_t)count + 1, sizeof *queue);
    const bool room = waits != NULL && first != NULL && after != NULL && queue != NULL;
    uint32_t begin = 0, end = 0;
    for (size_t p = 0; room && p < problem->pairs.count; p++) {
        first[problem->pairs.at[p].before + 2]++;
        waits[problem->pairs.at[p].after]++;
    }
    for (uint32_t node = 0; room && node < count; node++)
        first[node + 2] += first[node + 1];
    for (size_t p = 0; room && p < problem->pairs.count; p++)
        after[first[problem->pairs.at[p].before + 1]++] = problem->pairs.at[p].after;
    for (uint32_t node = 0; room && node < count; node++) {
        if (waits[node] == 0)
            queue[end++] = node;
    }
    for (; begin < end; begin++) {
        const uint32_t node = queue[begin];
        place[node] = begin;
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            if (--waits[after[i]] == 0)
                queue[end++] = after[i];
        }
    }
    free(waits);
    free(first);
    free(after);
    free(queue);
    return room && end == count;
}

struct placed {
    uint32_t node, place;
};

static int compare_places(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static uint64_t pair_key(uint32_t before, uint32_t after)
{
    return (uint64_t)before << 32 | after;
}

/* Whether pairs join the writers of the key one after the other. */
static bool is_chain(const struct rig_problem *problem, const struct rig_table *pairs, const uint32_t *place,
                     uint32_t key, struct placed *writers)
{
    const uint32_t *nodes = problem->writers + problem->writer_first[key];
    const uint32_t count = problem->writer_first[key + 1] - problem->writer_first[key];
    for (uint32_t i = 0; i < count; i++)
        writers[i] = (struct placed){nodes[i], place[nodes[i]]};
    if (count > 1)
        qsort(writers, count, sizeof writers[0], compare_places);
    for (uint32_t i = 1; i < count; i++) {
        if (rig_table_get(pairs, pair_key(writers[i - 1].node, writers[i].node)) == RIG_TABLE_NONE)
            return false;
    }
    return true;
}

/* Whether pairs order the versions of each key; *done is false when memory runs out. */
static bool is_ordered(const struct rig_problem *problem, const uint32_t *place, bool *done)
{
    struct placed *writers = calloc(problem->writes.count + 1, sizeof *writers);
    struct rig_table pairs;
    bool ordered = true;
    rig_table_init(&pairs);
    *done = writers != NULL;
    for (size_t p = 0; *done && p < problem->pairs.count; p++) {
        uint32_t *slot = rig_table_put(&pairs, pair_key(problem->pairs.at[p].before, problem->pairs.at[p].after));
        *done = slot != NULL;
        if (slot != NULL)
            *slot = 0;
    }
    for (uint32_t key = 0; *done && ordered && key < problem->key_count; key++)
        ordered = is_chain(problem, &pairs, place, key, writers);
    rig_table_done(&pairs);
    free(writers);
    return ordered;
}

/* ---- answers ---- */

static uint32_t key_of(const struct rig_history *history, const struct rig_arc *arc)
{
    if (arc->kind == RIG_EDGE_PROCESS || arc->kind == RIG_EDGE_REALTIME)
        return RIG_ARC_NONE;
    return arc->kind == RIG_EDGE_RW ? rig_txn_ops(history, arc->from)[arc->from_op].key
                                    : rig_txn_ops(history, arc->to)[arc->to_op].key;
}

static bool keep_cycle(struct decide *d, enum rig_level level, const struct rig_arc *arcs, uint32_t count)
{
    const struct rig_problem_txn *txns = d->problem->txns.at;
    const struct rig_decided_cycle cycle = {level, (uint32_t)d->out->arcs.count, count};
    for (uint32_t i = 0; i < count; i++) {
        struct rig_arc arc = arcs[i];
        arc.from = txns[arc.from].txn;
        arc.to = txns[arc.to].txn;
        arc.writer = arc.writer == RIG_ARC_NONE ? arc.writer : txns[arc.writer].txn;
        arc.key = key_of(d->history, &arc);
        if (!rig_arcs_add(&d->out->arcs, arc))
            return false;
    }
    return rig_decided_cycles_add(&d->out->cycles, cycle);
}

static void note_answer(struct decide *d, enum rig_level level, uint64_t levels, enum rig_answer answer)
{
    const struct rig_level_info *info = rig_level_info(level);
    const struct rig_rule *rule = rig_level_rule(level);
    switch (answer) {
    case RIG_ANSWER_YES:
        d->explained[rule->form][rule->along] = true;
        d->out->held |= info->below & levels;
        break;
    case RIG_ANSWER_NO:
        d->broken[rule->form][rule->along] = true;
        d->out->refuted |= info->above & levels;
        break;
    case RIG_ANSWER_SPENT:
        d->out->spent |= RIG_LEVEL_BIT(level);
        break;
    }
}

static bool is_answered(const struct decide *d, enum rig_level level)
{
    return ((d->out->held | d->out->refuted) & RIG_LEVEL_BIT(level)) != 0;
}

static enum rig_rc ask_order(struct decide *d, enum rig_level level, enum rig_answer *answer)
{
    const struct rig_rule *rule = rig_level_rule(level);
    struct rig_breaches found = {{0}, {0}};
    bool done = d->explained[rule->form][rule->along] || rig_breach_find(d->problem, rule, d->place, 1, &found);
    *answer = found.ends.count == 0 ? RIG_ANSWER_YES : RIG_ANSWER_NO;
    if (done && found.ends.count > 0)
        done = keep_cycle(d, level, found.arcs.at, found.ends.at[0]);
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    return done ? RIG_OK : no_memory(d);
}

/* The answer is no; it is open after all when the budget is spent before there is a proof. */
static enum rig_rc prove(struct decide *d, enum rig_level level, const struct rig_solution *solution,
                         enum rig_answer *answer)
{
    struct rig_case_proof proof = {0};
    enum rig_rc rc = rig_prove_no(d->problem, d->history, level, solution->core, solution->core_count, &d->budget,
                                  d->arena, &proof, d->err);
    if (rc != RIG_OK)
        return rc;
    if (proof.too_large)
        d->out->unproven |= RIG_LEVEL_BIT(level);
    if (proof.line_count == 0)
        *answer = RIG_ANSWER_SPENT;
    else if (!rig_case_proofs_add(&d->out->proofs, proof))
        return no_memory(d);
    return RIG_OK;
}

/* Whether the guess explains the problem: one search, where the solver's look at many sessions takes long. */
static bool try_guess(const struct decide *d, const struct rig_rule *rule, bool *explains)
{
    struct rig_breaches found = {{0}, {0}};
    const bool done = !d->has_place || rig_breach_find(d->problem, rule, d->place, 1, &found);
    *explains = done && d->has_place && found.ends.count == 0;
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    return done;
}

static enum rig_rc ask_solver(struct decide *d, enum rig_level level, enum rig_answer *answer)
{
    const struct rig_rule *rule = rig_level_rule(level);
    struct rig_solution solution = {0};
    bool explains = false;
    *answer = RIG_ANSWER_YES;
    if (d->explained[rule->form][rule->along])
        return RIG_OK;
    if (d->broken[rule->form][rule->along]) {
        *answer = RIG_ANSWER_NO;
        return RIG_OK;
    }
    if (d->out->spent != 0 && rig_clock_now_ns() >= d->budget.deadline_ns) {
        *answer = RIG_ANSWER_SPENT;
        return RIG_OK;
    }
    if (!try_guess(d, rule, &explains))
        return no_memory(d);
    if (explains)
        return RIG_OK;
    enum rig_rc rc = rig_solve(d->problem, rule, &d->budget, &solution, d->err);
    *answer = solution.answer;
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO)
        rc = prove(d, level, &solution, answer);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_SPENT && solution.open_pairs > d->out->open_pairs)
        d->out->open_pairs = solution.open_pairs;
    rig_solution_done(&solution);
    return rc;
}

enum rig_rc rig_decide(const struct rig_problem *problem, const struct rig_history *history, uint64_t levels,
                       int64_t deadline_ns, struct rig_arena *arena, struct rig_decisions *decisions,
                       struct rig_err *err)
{
    struct decide d = {.problem = problem,
                       .history = history,
                       .out = decisions,
                       .budget = {.deadline_ns = deadline_ns},
                       .arena = arena,
                       .err = err};
    *decisions = (struct rig_decisions){0};
    d.place = calloc((size_t)problem->txn_count + 1, sizeof *d.place);
    bool done = d.place != NULL;
    d.has_place = done && follow_pairs(problem, d.place);
    /* A cycle in a known order of registers may rest on several assumptions: the solver's proof names them. */
    const bool total = rig_type_inference(history->workload)->total_orders;
    const bool ordered = total && d.has_place && is_ordered(problem, d.place, &done);
    enum rig_rc rc = done ? RIG_OK : no_memory(&d);
    for (unsigned i = 0; rc == RIG_OK && i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)(ordered ? i : RIG_LEVEL_COUNT - 1 - i);
        enum rig_answer answer;
        if ((levels & RIG_LEVEL_BIT(level)) == 0 || is_answered(&d, level))
            continue;
        rc = ordered ? ask_order(&d, level, &answer) : ask_solver(&d, level, &answer);
        if (rc == RIG_OK)
            note_answer(&d, level, levels, answer);
    }
    decisions->spent &= ~(decisions->held | decisions->refuted);
    free(d.place);
    return rc;
}
