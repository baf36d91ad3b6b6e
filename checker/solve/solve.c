#include "checker/solve/solve.h"

#include <string.h>

#include "base/bug.h"
#include "checker/solve/order_search.h"

enum { CUTS = 12, WHOLE_PROCESSES = 6 }; /* attempts with some process edges; from then on processes go as a whole */

void rig_solution_done(struct rig_solution *solution)
{
    free(solution->place);
    free(solution->core);
    *solution = (struct rig_solution){0};
}

/*
 * A rule that respects no process order: processes are good chains all the same, and most of their edges are kept by an
 * explanation. So they are supposed first. An explanation with them is one without them. A refutation of some
 * transactions may hold without them, too; otherwise the processes are cut between these transactions.
 */
struct supposition {
    const struct rig_problem *problem;
    struct rig_problem cut;      /* borrows all but the transactions */
    struct rig_rule rule, along; /* as asked; with process order */
    const struct rig_solve_budget *budget;
};

static bool supposition_init(struct supposition *supposition, const struct rig_problem *problem,
                             const struct rig_rule *rule, const struct rig_solve_budget *budget)
{
    const size_t bytes = ((size_t)problem->txn_count + 1) * sizeof problem->txns.at[0];
    *supposition =
        (struct supposition){.problem = problem, .cut = *problem, .rule = *rule, .along = *rule, .budget = budget};
    supposition->along.along = RIG_ALONG_PROCESS;
    supposition->cut.txns = (struct rig_problem_txns){.at = malloc(bytes)};
    if (supposition->cut.txns.at == NULL)
        return false;
    memcpy(supposition->cut.txns.at, problem->txns.at, bytes);
    supposition->cut.txns.count = supposition->cut.txns.capacity = problem->txns.count;
    return true;
}

/* Whether the refuted transactions have no explanation without process order either: then their core, as nodes of the
 * whole. */
static bool refutes_plain(const struct supposition *supposition, const struct rig_solution *refuted, bool *refutes,
                          struct rig_solution *solution)
{
    struct rig_problem part;
    if (!rig_problem_part(supposition->problem, refuted->core, refuted->core_count, &part))
        return false;
    const bool ok = rig_order_search(&part, &supposition->rule, supposition->budget, solution);
    rig_problem_done(&part);
    *refutes = ok && solution->answer == RIG_ANSWER_NO;
    for (uint32_t i = 0; *refutes && i < solution->core_count; i++)
        solution->core[i] = refuted->core[solution->core[i]];
    if (ok && !*refutes)
        rig_solution_done(solution);
    return ok;
}

/* Cuts each process before each transaction of the core that follows another one of it; or everywhere. */
static bool cut_processes(struct supposition *supposition, const struct rig_solution *refuted, bool everywhere)
{
    struct rig_problem_txn *txns = supposition->cut.txns.at;
    uint8_t *named = calloc((size_t)supposition->problem->session_count + 1, 1);
    if (named == NULL)
        return false;
    for (uint32_t i = 0; i < refuted->core_count; i++) {
        struct rig_problem_txn *txn = &txns[refuted->core[i]];
        if (named[txn->session] != 0)
            txn->before = RIG_PROBLEM_NONE;
        named[txn->session] = 1;
    }
    for (uint32_t txn = 0; everywhere && txn < supposition->problem->txn_count; txn++) {
        if (named[txns[txn].session] != 0)
            txns[txn].before = RIG_PROBLEM_NONE;
    }
    free(named);
    return true;
}

static bool has_processes(const struct rig_problem *problem)
{
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        if (problem->txns.at[txn].before != RIG_PROBLEM_NONE)
            return true;
    }
    return false;
}

static bool attempt(struct supposition *supposition, uint32_t number, bool *decided, struct rig_solution *solution)
{
    struct rig_solution found = {0};
    if (!rig_order_search(&supposition->cut, &supposition->along, supposition->budget, &found))
        return false;
    *decided = found.answer != RIG_ANSWER_NO;
    if (*decided) {
        *solution = found;
        return true;
    }
    const bool ok = refutes_plain(supposition, &found, decided, solution) &&
                    (*decided || cut_processes(supposition, &found, number >= WHOLE_PROCESSES));
    rig_solution_done(&found);
    return ok;
}

static bool solve_plain(const struct rig_problem *problem, const struct rig_rule *rule,
                        const struct rig_solve_budget *budget, struct rig_solution *solution)
{
    struct supposition supposition;
    bool decided = false, ok = supposition_init(&supposition, problem, rule, budget);
    for (uint32_t i = 0; ok && !decided && i < CUTS && has_processes(&supposition.cut); i++)
        ok = attempt(&supposition, i, &decided, solution);
    free(supposition.cut.txns.at);
    if (!ok || decided)
        return ok;
    return rig_order_search(problem, rule, budget, solution);
}

enum rig_rc rig_solve(const struct rig_problem *problem, const struct rig_rule *rule,
                      const struct rig_solve_budget *budget, struct rig_solution *solution, struct rig_err *err)
{
    struct rig_solution found = {0};
    const bool ok = rule->along == RIG_ALONG_PLAIN ? solve_plain(problem, rule, budget, &found)
                                                   : rig_order_search(problem, rule, budget, &found);
    if (!ok)
        return rig_no_memory(err, "solving for version orders");
    *solution = found;
    return RIG_OK;
}
