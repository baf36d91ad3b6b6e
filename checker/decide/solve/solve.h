/*
 * Whether a level explains a problem: complete, within a budget (Cobra, OSDI 2020; PolySI, VLDB 2023; here with
 * saturation over session clocks, guesses close to a serial execution, and SAT over what is left).
 *
 * Threads: one. Memory: the heap, released before it returns, except the answer. Sizes that the problem determines are
 * computed first; clocks get half of what these leave; what grows with the search is counted, and the memory of the SAT
 * solver estimated from its clauses (sat.h).
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_SOLVE_H
#define RIG_CHECKER_DECIDE_SOLVE_SOLVE_H

#include "checker/decide/rule.h"
#include "checker/model/problem.h"

enum rig_answer {
    RIG_ANSWER_YES,   /* `place` is an explanation */
    RIG_ANSWER_NO,    /* no order of the versions explains the transactions of `core` by themselves */
    RIG_ANSWER_SPENT, /* the time or the memory is spent; `pairs` says how much was left */
};

struct rig_solve_budget {
    int64_t deadline_ns; /* rig_clock_now_ns(); INT64_MAX: none */
    size_t limit_bytes;  /* that the search may hold beside the problem; 0: no limit */
};

/* Pairs of transactions that write a common key. */
struct rig_open_pairs {
    uint64_t all, open;     /* open: the order is neither known nor forced */
    uint32_t first, second; /* nodes: one of the open ones; RIG_PROBLEM_NONE: none was looked for */
};

struct rig_solution {
    enum rig_answer answer;
    uint32_t *place; /* yes: per node, its place in one total order; the versions of each key follow it. Owned. */
    uint32_t *core;  /* no: ascending nodes, as few as were needed for the proof; not yet minimal. Owned. */
    uint32_t core_count;
    struct rig_open_pairs pairs; /* spent: what was left */
    bool too_large;              /* spent: the search takes more memory than the budget has */
};

void rig_solution_done(struct rig_solution *solution);

/* RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_solve(const struct rig_problem *problem, const struct rig_rule *rule,
                      const struct rig_solve_budget *budget, struct rig_solution *solution, struct rig_err *err);

/*
 * The solver's work on each level, for reports of what a spent budget left open.
 *
 * Threads: one.
 */

/* Adds the time since `start_ns` and, of a search that left the level open, what was left: the largest such question is
 * kept. `problem` is a question of `history`. */
void rig_effort_add(struct rig_level_effort *effort, int64_t start_ns, const struct rig_solution *solution,
                    const struct rig_problem *problem, const struct rig_history *history);
/* Adds the work on all levels. */
void rig_efforts_add(struct rig_level_effort *to, const struct rig_level_effort *from);

#endif
