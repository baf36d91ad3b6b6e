/*
 * A proof that no order of the versions explains some transactions at a level: suppositions, and cycles that the level
 * forbids. A person can follow it, and the verifier checks it from the raw history.
 *
 * Lines in order. SUPPOSE opens a case: the version of `before` comes before that of `after`. CYCLE shows a cycle that
 * the rule forbids, of edges that rest on observations, on open suppositions, or on conclusions; it closes the innermost
 * open case, and its reverse (`after` before `before`) is a conclusion in the case around it from then on. A CYCLE
 * outside of all cases ends the proof. A proof of one line is a plain cycle.
 */
#ifndef RIG_CHECKER_SOLVE_PROOF_H
#define RIG_CHECKER_SOLVE_PROOF_H

#include "checker/levels/rule.h"
#include "checker/solve/problem.h"

enum rig_case_kind { RIG_CASE_SUPPOSE, RIG_CASE_CYCLE };

struct rig_case_line {
    enum rig_case_kind kind;
    uint32_t before, after, key; /* SUPPOSE: transactions and key of the history; CYCLE: those of the case it closes, or
                                  * RIG_ARC_NONE for the last line */
    uint32_t first_arc, arc_count; /* CYCLE: into arcs */
};

struct rig_case_proof {
    enum rig_level level;
    struct rig_case_line *lines;
    uint32_t line_count;
    struct rig_arc *arcs; /* with transactions, keys and operations of the history */
    uint32_t arc_count;
    uint32_t *txns; /* ascending; no smaller set of these transactions has no explanation */
    uint32_t txn_count;
};

#endif
