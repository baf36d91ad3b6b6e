/*
 * A proof that no order of the versions explains some transactions at a level: suppositions, and cycles that the level
 * forbids. A person can follow it, and the verifier checks it from the raw history.
 *
 * Lines in order. SUPPOSE opens a case: the version of `before` comes before that of `after`, of each key that both
 * write. CYCLE shows a cycle that the rule forbids, of edges that rest on observations, on open suppositions, or on
 * conclusions; it closes the innermost open case, and its reverse (`after` before `before`) is a conclusion in the case
 * around it from then on. A CYCLE outside of all cases ends the proof. A proof of one line is a plain cycle.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_PROOF_H
#define RIG_CHECKER_DECIDE_SOLVE_PROOF_H

#include "base/arena.h"
#include "checker/decide/rule.h"
#include "checker/model/problem.h"
#include "checker/decide/solve/solve.h"

/* Operations of the history, and what shows the order of the two versions of a ww or rw edge. */
struct rig_case_edge {
    struct rig_arc arc;
    enum rig_order_source source; /* ww, rw: RIG_ORDER_CASE: a supposition or a conclusion */
    uint32_t a, b;                /*   of an assumption, as in struct rig_problem_pair; RIG_ORDER_UPDATE: the
                                   *   transaction and its reading operation */
};

struct rig_case_line {
    enum rig_case_kind kind;
    uint32_t before, after, key; /* SUPPOSE: transactions and key of the history; CYCLE: those of the case it closes, or
                                  * RIG_ARC_NONE for the last line */
    uint32_t first_edge, edge_count; /* CYCLE: into edges */
};

struct rig_case_proof {
    bool too_large; /* there is none: the edges of the transactions are too many (case_graph.h) */
    enum rig_level level;
    struct rig_case_line *lines;
    uint32_t line_count; /* 0: the budget was spent before a proof was found */
    struct rig_case_edge *edges;
    uint32_t edge_count;
    uint32_t *txns; /* ascending */
    uint32_t txn_count;
    bool minimal; /* the transactions but any one of them have an explanation */
};

struct rig_prove_options {
    enum rig_level level;
    const uint32_t *core; /* ascending nodes, as rig_solve() gives them */
    uint32_t core_count;
    struct rig_solve_budget budget;
    int64_t shrink_deadline_ns; /* fewer transactions are looked for until then, or the budget is spent */
    bool shrunk, minimal;       /* they were looked for already; each one of the core is needed */
};

/*
 * Proves that no order explains the transactions of the core at the level: leaves out those that are not needed, then
 * looks for a short proof. The proof is allocated from `arena`. RIG_E_LIMIT
 * when memory runs out; RIG_E_BUG when the core has an explanation.
 */
enum rig_rc rig_prove_no(const struct rig_problem *problem, const struct rig_history *history,
                         const struct rig_prove_options *options, struct rig_arena *arena, struct rig_case_proof *proof,
                         struct rig_err *err);

#endif
