/*
 * Whether some choice of the states that reads of rows saw (infer/row_reads.h) makes a problem that a rule allows:
 * complete within a budget. A choice is tried by one search for forbidden cycles (solve/breach.h). Each cycle and each
 * total that does not come out becomes a clause over the choices on which it rests, and CaDiCaL finds the next choice,
 * until there is no cycle, or no choice (the lazy clauses of PolySI, VLDB 2023). Where the question is incomplete no
 * choice proves that a level holds, so few are tried: only cycles that rest on no choice tell anything.
 *
 * A read of one row is a variable for each state from 1 on: it comes before the writer of that state, or after it.
 *
 * Threads: one. Time: that of a problem and a search for cycles, for each choice. Space: the heap, released before it
 * returns, except the cycle.
 */
#ifndef RIG_CHECKER_DECIDE_ROWS_ROW_SEARCH_H
#define RIG_CHECKER_DECIDE_ROWS_ROW_SEARCH_H

#include "checker/decide/rule.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/solve.h"
#include "checker/infer/row_reads.h"

struct rig_row_decision {
    enum rig_answer answer;
    struct rig_arcs cycle; /* NO: it rests on no choice, with transactions and keys of the history. Empty: each choice
                            * makes another cycle, or no choice comes to the totals */
};

void rig_row_decision_done(struct rig_row_decision *decision);

/* `place`, per transaction of the history: an order of the commits that keeps ww and wr edges. The states of `reads`
 * are the first choice, and afterwards the last one. Release the decision, also after a failure. RIG_E_LIMIT when
 * memory runs out. */
enum rig_rc rig_row_search(struct rig_row_reads *reads, const struct rig_rule *rule, const uint32_t *place,
                           const struct rig_solve_budget *budget, struct rig_row_decision *decision,
                           struct rig_err *err);

#endif
