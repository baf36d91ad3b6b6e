#include "checker/judge/proof/row_search.h"

#include <stdlib.h>

#include "checker/explain/row_cases.h"

/* Places are a permutation of the nodes. A transaction whose start comes directly before its commit stands once. */
static bool list_events(const struct rig_row_problem *made, const uint32_t *place, struct rig_prove_events *events)
{
    const uint32_t count = made->problem.txn_count;
    uint32_t *at = malloc(((size_t)count + 1) * sizeof *at);
    bool ok = at != NULL;
    for (uint32_t node = 0; ok && node < count; node++)
        at[place[node]] = node;
    events->count = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        const uint32_t txn = made->txn_of[at[i]];
        if (events->count == 0 || events->at[events->count - 1] != txn)
            ok = rig_prove_events_add(events, txn);
    }
    free(at);
    return ok;
}

enum rig_rc rig_row_search(const struct rig_inference *inference, const struct rig_row_question *question,
                           const struct rig_solve_budget *budget, struct rig_prove_events *events,
                           enum rig_answer *answer, struct rig_err *err)
{
    const struct rig_rule rule = {.form = RIG_RULE_SERIAL, .along = question->along};
    struct rig_row_problem made;
    struct rig_solution solution = {0};
    enum rig_rc rc = rig_row_problem_make(inference, question, &made, err);
    if (rc == RIG_OK)
        rc = rig_solve(&made.problem, &rule, budget, &solution, err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_YES && !list_events(&made, solution.place, events))
        rc = rig_memory_limit(err, "the order of the commits");
    *answer = solution.answer;
    rig_solution_done(&solution);
    rig_row_problem_done(&made);
    return rc;
}

enum rig_rc rig_row_refute(const struct rig_inference *inference, enum rig_level level,
                           const struct rig_solve_budget *budget, struct rig_arena *arena, struct rig_witness *witness,
                           bool *found, struct rig_err *err)
{
    const struct rig_rule rule = {.form = RIG_RULE_SERIAL, .along = rig_level_rule(level)->along};
    const struct rig_row_question question = {.split = rig_level_rule(level)->form == RIG_RULE_SNAPSHOT,
                                              .along = RIG_ALONG_PLAIN};
    struct rig_row_problem made;
    struct rig_solution solution = {0};
    *found = false;
    enum rig_rc rc = rig_row_problem_make(inference, &question, &made, err);
    if (rc == RIG_OK)
        rc = rig_solve(&made.problem, &rule, budget, &solution, err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO)
        rc = rig_explain_row_cases(&(struct rig_row_refutation){inference, &made, &solution, level}, budget, arena,
                                   witness, found, err);
    rig_solution_done(&solution);
    rig_row_problem_done(&made);
    return rc;
}
