#include "checker/decide/solve/explanations.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/solve.h"

struct asking {
    const struct rig_problem *problem;
    struct rig_solve_budget budget;
    struct rig_explanations *out;
    struct rig_err *err;
};

void rig_explanations_done(struct rig_explanations *explanations)
{
    for (uint32_t i = 0; i < explanations->count; i++)
        free(explanations->at[i].place);
    *explanations = (struct rig_explanations){0};
}

void rig_explanations_move(struct rig_explanations *to, struct rig_explanations *from)
{
    RIG_REQUIRE(to->count + from->count <= RIG_LEVEL_COUNT);
    for (uint32_t i = 0; i < from->count; i++)
        to->at[to->count++] = from->at[i];
    from->count = 0;
    to->explained |= from->explained;
    to->denied |= from->denied;
    to->spent |= from->spent;
    to->too_large |= from->too_large;
    rig_efforts_add(to->effort, from->effort);
}

/* The order of completion, if it explains the problem: one search, where the solver takes several. NULL: it does not,
 * or memory ran out (`done` is false). */
static uint32_t *try_completions(const struct asking *a, const struct rig_rule *rule, bool *done)
{
    bool explains = false;
    uint32_t *place = a->problem->pairs.count > 0 ? NULL : malloc(((size_t)a->problem->txn_count + 1) * sizeof *place);
    *done = a->problem->pairs.count > 0 || place != NULL;
    for (uint32_t node = 0; place != NULL && node < a->problem->txn_count; node++)
        place[node] = node;
    if (place != NULL)
        *done = rig_breach_none(a->problem, rule, place, a->budget.deadline_ns, &explains);
    if (explains)
        return place;
    free(place);
    return NULL;
}

static enum rig_rc solve(const struct asking *a, enum rig_level level, struct rig_solution *solution)
{
    const struct rig_rule *rule = rig_level_rule(level);
    bool done;
    *solution = (struct rig_solution){.answer = RIG_ANSWER_SPENT};
    if (a->out->spent != 0 && rig_clock_now_ns() >= a->budget.deadline_ns)
        return RIG_OK;
    solution->place = try_completions(a, rule, &done);
    if (!done)
        return rig_memory_limit(a->err, "the decision of the levels");
    if (solution->place == NULL)
        return rig_solve(a->problem, rule, &a->budget, solution, a->err);
    solution->answer = RIG_ANSWER_YES;
    return RIG_OK;
}

static void take_answer(struct asking *a, enum rig_level level, uint64_t levels, struct rig_solution *solution)
{
    const struct rig_level_info *info = rig_level_info(level);
    struct rig_explanations *out = a->out;
    switch (solution->answer) {
    case RIG_ANSWER_YES:
        RIG_REQUIRE(solution->place != NULL && out->count < RIG_LEVEL_COUNT);
        out->explained |= info->below & levels;
        out->at[out->count++] = (struct rig_explanation){level, solution->place};
        solution->place = NULL;
        break;
    case RIG_ANSWER_NO:
        out->denied |= info->above & levels;
        break;
    case RIG_ANSWER_SPENT:
        out->spent |= RIG_LEVEL_BIT(level);
        out->too_large |= solution->too_large ? RIG_LEVEL_BIT(level) : 0;
        break;
    }
    RIG_INVARIANT((out->explained & out->denied) == 0);
}

enum rig_rc rig_explanations_find(const struct rig_problem *problem, const struct rig_history *history, uint64_t levels,
                                  const struct rig_solve_budget *budget, struct rig_explanations *explanations,
                                  struct rig_err *err)
{
    struct asking a = {.problem = problem, .budget = *budget, .out = explanations, .err = err};
    enum rig_rc rc = RIG_OK;
    *explanations = (struct rig_explanations){0};
    for (unsigned i = RIG_LEVEL_COUNT; rc == RIG_OK && i-- > 0;) {
        const enum rig_level level = (enum rig_level)i;
        struct rig_solution solution;
        if ((levels & ~explanations->explained & ~explanations->denied & RIG_LEVEL_BIT(level)) == 0)
            continue;
        const int64_t start_ns = rig_clock_now_ns();
        rc = solve(&a, level, &solution);
        rig_effort_add(&explanations->effort[level], start_ns, &solution, problem, history);
        if (rc == RIG_OK)
            take_answer(&a, level, levels, &solution);
        rig_solution_done(&solution);
    }
    explanations->spent &= ~(explanations->explained | explanations->denied);
    explanations->too_large &= explanations->spent;
    RIG_INVARIANT(rc != RIG_OK || (explanations->explained | explanations->denied | explanations->spent) == levels);
    return rc;
}
