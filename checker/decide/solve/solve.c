#include "checker/decide/solve/solve.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/order_search.h"

enum { CUTS = 12, WHOLE = 6 }; /* attempts that suppose more; from then on all reads go, and processes as a whole */

void rig_solution_done(struct rig_solution *solution)
{
    free(solution->place);
    free(solution->core);
    *solution = (struct rig_solution){0};
}

/*
 * More is supposed first than the rule says. An explanation of that is one without it. A refutation of some
 * transactions may hold without it, too; otherwise what was supposed of these transactions is dropped.
 *
 *   process order    by a rule without it: processes are good chains all the same, and most of their edges are kept by
 *                    an explanation
 *   reads            by UPDATES: that paths go through transactions that write nothing, too. Most are where they could
 *                    be in a serial execution, and each that is left out for itself is a clause for the solver
 */
struct supposition {
    const struct rig_problem *problem;
    struct rig_problem cut;         /* borrows all but the transactions and what follows */
    uint8_t *through;               /* of `cut`; NULL: supposes nothing of reads */
    struct rig_rule rule, stricter; /* as asked; as supposed */
    bool process;                   /* supposes process order */
    const struct rig_solve_budget *budget;
};

static bool suppose_reads(struct supposition *supposition)
{
    const struct rig_problem *problem = supposition->problem;
    supposition->through = malloc((size_t)problem->txn_count + 1);
    supposition->cut.through = supposition->through;
    if (supposition->through != NULL)
        memset(supposition->through, 1, problem->txn_count);
    return supposition->through != NULL;
}

static bool supposition_init(struct supposition *supposition, const struct rig_problem *problem,
                             const struct rig_rule *rule, const struct rig_solve_budget *budget)
{
    const size_t bytes = ((size_t)problem->txn_count + 1) * sizeof problem->txns.at[0];
    *supposition =
        (struct supposition){.problem = problem, .cut = *problem, .rule = *rule, .stricter = *rule, .budget = budget};
    supposition->process = rule->along == RIG_ALONG_PLAIN;
    supposition->stricter.along = supposition->process ? RIG_ALONG_PROCESS : rule->along;
    supposition->cut.txns = (struct rig_problem_txns){.at = malloc(bytes)};
    if (supposition->cut.txns.at == NULL || (rule->form == RIG_RULE_UPDATES && !suppose_reads(supposition)))
        return false;
    memcpy(supposition->cut.txns.at, problem->txns.at, bytes);
    supposition->cut.txns.count = supposition->cut.txns.capacity = problem->txns.count;
    return true;
}

/* Whether the refuted transactions have no explanation as asked either: then their core, as nodes of the whole. */
static bool refutes_asked(const struct supposition *supposition, const struct rig_solution *refuted, bool *refutes,
                          struct rig_solution *solution)
{
    struct rig_problem part;
    if (!rig_problem_part(supposition->problem, refuted->core, refuted->core_count, &part))
        return false;
    const bool ok = rig_order_search(&part, &supposition->rule, &supposition->rule, supposition->budget, solution);
    rig_problem_done(&part);
    *refutes = ok && solution->answer == RIG_ANSWER_NO;
    for (uint32_t i = 0; *refutes && i < solution->core_count; i++) {
        RIG_INVARIANT(solution->core[i] < refuted->core_count);
        solution->core[i] = refuted->core[solution->core[i]];
    }
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
        RIG_REQUIRE(refuted->core[i] < supposition->problem->txn_count);
        struct rig_problem_txn *txn = &txns[refuted->core[i]];
        RIG_INVARIANT(txn->session < supposition->problem->session_count);
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

/* The reads of the core, or of all; false when paths go through none of the core that writes nothing. */
static bool drop_reads(struct supposition *supposition, const struct rig_solution *refuted, bool everywhere)
{
    bool any = false;
    for (uint32_t i = 0; supposition->through != NULL && i < refuted->core_count; i++) {
        const uint32_t txn = refuted->core[i];
        RIG_REQUIRE(txn < supposition->problem->txn_count);
        any = any || (supposition->through[txn] != 0 && rig_problem_writes_nothing(supposition->problem, txn));
        supposition->through[txn] = 0;
    }
    if (any && everywhere)
        memset(supposition->through, 0, supposition->problem->txn_count);
    return any;
}

/* Drops what was supposed of the refuted transactions: reads first, because processes are better chains. */
static bool drop(struct supposition *supposition, const struct rig_solution *refuted, bool everywhere)
{
    return drop_reads(supposition, refuted, everywhere) || !supposition->process ||
           cut_processes(supposition, refuted, everywhere);
}

/* Whether it supposes more than the rule says. */
static bool supposes(const struct supposition *supposition)
{
    const struct rig_problem *cut = &supposition->cut;
    for (uint32_t txn = 0; txn < cut->txn_count; txn++) {
        if ((supposition->process && cut->txns.at[txn].before != RIG_PROBLEM_NONE) ||
            (cut->through != NULL && cut->through[txn] != 0 && rig_problem_writes_nothing(cut, txn)))
            return true;
    }
    return false;
}

static bool attempt(struct supposition *supposition, uint32_t number, bool *decided, struct rig_solution *solution)
{
    struct rig_solution found = {0};
    if (!rig_order_search(&supposition->cut, &supposition->rule, &supposition->stricter, supposition->budget, &found))
        return false;
    *decided = found.answer != RIG_ANSWER_NO;
    if (*decided) {
        *solution = found;
        return true;
    }
    const bool ok = refutes_asked(supposition, &found, decided, solution) &&
                    (*decided || drop(supposition, &found, number >= WHOLE));
    rig_solution_done(&found);
    return ok;
}

static bool solve_supposing(const struct rig_problem *problem, const struct rig_rule *rule,
                            const struct rig_solve_budget *budget, struct rig_solution *solution)
{
    struct supposition supposition;
    bool decided = false, ok = supposition_init(&supposition, problem, rule, budget);
    for (uint32_t i = 0; ok && !decided && i < CUTS && supposes(&supposition); i++)
        ok = attempt(&supposition, i, &decided, solution);
    free(supposition.cut.txns.at);
    free(supposition.through);
    if (!ok || decided)
        return ok;
    return rig_order_search(problem, rule, rule, budget, solution);
}

enum rig_rc rig_solve(const struct rig_problem *problem, const struct rig_rule *rule,
                      const struct rig_solve_budget *budget, struct rig_solution *solution, struct rig_err *err)
{
    struct rig_solution found = {0};
    const bool supposing = rule->along == RIG_ALONG_PLAIN || rule->form == RIG_RULE_UPDATES;
    const bool ok = supposing ? solve_supposing(problem, rule, budget, &found)
                              : rig_order_search(problem, rule, rule, budget, &found);
    if (!ok)
        return rig_no_memory(err, "solving for version orders");
    RIG_INVARIANT(found.answer != RIG_ANSWER_YES || found.place != NULL);
    *solution = found;
    return RIG_OK;
}

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
    RIG_INVARIANT(pairs->open <= pairs->all);
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
