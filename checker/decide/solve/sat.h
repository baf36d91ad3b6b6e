/*
 * Which of two writers comes first, as clauses that CaDiCaL solves (docs/adr/0021-cadical.md).
 *
 * A variable is a pair of transactions that write a common key; it comes into being with the first clause that names
 * it, and is first tried in the way that it was first named. Each clause rests on transactions and on forced pairs,
 * which the caller looks up by the clause's number when clauses are refuted.
 *
 * Space: 12 to 24 bytes a variable, 4 a literal, and the solver's, which is estimated: 290 bytes a variable, 90 a
 * clause given to it and 5 for each of its literals, and 6 a literal that it learned, most of which it drops again.
 * Measured, the estimate is 0.9 to 2 times what is taken, and about 1 MB too low for small problems (bench/RESULTS.md).
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_SAT_H
#define RIG_CHECKER_DECIDE_SOLVE_SAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "base/vec.h"
#include "checker/decide/solve/solve.h"

struct rig_sat_pair {
    uint32_t before, after;
};

RIG_VEC(struct rig_sat_pair, rig_sat_pairs)
RIG_VEC(int, rig_sat_literals)
RIG_VEC(size_t, rig_sat_ends)
RIG_VEC(uint32_t, rig_sat_clauses)

struct rig_sat {
    struct rig_table numbers;   /* pair, lower transaction first -> variable */
    struct rig_sat_pairs pairs; /* per variable: true means this */
    struct rig_sat_literals literals;
    struct rig_sat_ends ends; /* per clause: into literals */
    struct CCaDiCaL *solver;
    size_t given;    /* clauses that the solver has */
    size_t switches; /* of rig_sat_core(): variables beside the pairs, one for each clause */
    size_t given_literals, learned_literals;
    struct rig_solve_budget budget; /* limit_bytes: of rig_sat_bytes(); may be set at any time */
    bool too_large;                 /* the memory is spent */
};

bool rig_sat_init(struct rig_sat *sat, const struct rig_solve_budget *budget);
void rig_sat_done(struct rig_sat *sat);
/* The memory that it holds. */
size_t rig_sat_bytes(const struct rig_sat *sat);

/* The literal "`before` is first": a variable's number plus one, negated when the variable is the other way round. 0
 * when memory runs out. */
int rig_sat_literal(struct rig_sat *sat, uint32_t before, uint32_t after);
/* Adds to the clause that is open, and closes it. False when memory runs out. */
bool rig_sat_add(struct rig_sat *sat, int literal);
bool rig_sat_close(struct rig_sat *sat);

/* YES: each variable has a value. */
enum rig_answer rig_sat_solve(struct rig_sat *sat);
/* After YES: the variable's pair in the order that was found. */
struct rig_sat_pair rig_sat_chosen(const struct rig_sat *sat, size_t variable);
/* After NO, once, and the last call: clauses that have no solution by themselves, ascending. All of them where the
 * budget does not suffice to find out. */
bool rig_sat_core(struct rig_sat *sat, struct rig_sat_clauses *core);

#endif
