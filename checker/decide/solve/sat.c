#include "checker/decide/solve/sat.h"

#include <ccadical.h>
#include <limits.h>

#include "base/bug.h"
#include "base/clock.h"

enum { SATISFIABLE = 10, UNSATISFIABLE = 20 }; /* what IPASIR returns; 0 when interrupted */
/* Bytes of CaDiCaL: a variable; a clause that it was given, and its literals; a literal of one that it learned. */
enum { VARIABLE_BYTES = 290, CLAUSE_BYTES = 90, GIVEN_BYTES = 5, LEARNED_BYTES = 6, SLOT_BYTES = 12 };

size_t rig_sat_bytes(const struct rig_sat *sat)
{
    const size_t own = sat->numbers.slot_count * SLOT_BYTES + sat->pairs.capacity * sizeof sat->pairs.at[0] +
                       sat->literals.capacity * sizeof sat->literals.at[0] +
                       sat->ends.capacity * sizeof sat->ends.at[0];
    const size_t solver = (sat->pairs.count + sat->switches) * VARIABLE_BYTES + sat->given * CLAUSE_BYTES +
                          (sat->given_literals + sat->switches) * GIVEN_BYTES + sat->learned_literals * LEARNED_BYTES;
    return own + (sat->solver == NULL ? 0 : solver);
}

static int is_over(void *state)
{
    struct rig_sat *sat = state;
    sat->too_large = sat->too_large || (sat->budget.limit_bytes != 0 && rig_sat_bytes(sat) > sat->budget.limit_bytes);
    return sat->too_large || (sat->budget.deadline_ns != INT64_MAX && rig_clock_now_ns() >= sat->budget.deadline_ns);
}

bool rig_sat_init(struct rig_sat *sat, const struct rig_solve_budget *budget)
{
    *sat = (struct rig_sat){.budget = *budget};
    rig_table_init(&sat->numbers);
    return true;
}

void rig_sat_done(struct rig_sat *sat)
{
    rig_table_done(&sat->numbers);
    rig_sat_pairs_done(&sat->pairs);
    rig_sat_literals_done(&sat->literals);
    rig_sat_ends_done(&sat->ends);
    if (sat->solver != NULL)
        ccadical_release(sat->solver);
    *sat = (struct rig_sat){0};
}

int rig_sat_literal(struct rig_sat *sat, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before != after);
    const uint32_t low = before < after ? before : after, high = before < after ? after : before;
    uint32_t *number = rig_table_put(&sat->numbers, (uint64_t)low << 32 | high);
    if (number == NULL)
        return 0;
    if (*number == RIG_TABLE_NONE) {
        *number = (uint32_t)sat->pairs.count;
        if (!rig_sat_pairs_add(&sat->pairs, (struct rig_sat_pair){before, after}))
            return 0;
    }
    const int literal = (int)*number + 1;
    return sat->pairs.at[*number].before == before ? literal : -literal;
}

bool rig_sat_add(struct rig_sat *sat, int literal)
{
    RIG_REQUIRE((size_t)abs(literal) <= sat->pairs.count); /* 0: memory ran out */
    return literal != 0 && rig_sat_literals_add(&sat->literals, literal);
}

bool rig_sat_close(struct rig_sat *sat)
{
    RIG_INVARIANT(sat->ends.count == 0 || sat->ends.at[sat->ends.count - 1] <= sat->literals.count);
    return rig_sat_ends_add(&sat->ends, sat->literals.count);
}

static size_t begin_of(const struct rig_sat *sat, size_t clause)
{
    return clause == 0 ? 0 : sat->ends.at[clause - 1];
}

static void give(const struct rig_sat *sat, struct CCaDiCaL *solver, size_t clause, int switched_on)
{
    RIG_REQUIRE(clause < sat->ends.count);
    for (size_t i = begin_of(sat, clause); i < sat->ends.at[clause]; i++)
        ccadical_add(solver, sat->literals.at[i]);
    if (switched_on != 0)
        ccadical_add(solver, -switched_on);
    ccadical_add(solver, 0);
}

static void note_learned(void *state, int *clause)
{
    struct rig_sat *sat = state;
    while (*clause++ != 0)
        sat->learned_literals++;
}

static struct CCaDiCaL *new_solver(struct rig_sat *sat)
{
    struct CCaDiCaL *solver = ccadical_init();
    ccadical_set_option(solver, "quiet", 1);
    ccadical_set_terminate(solver, sat, is_over);
    if (sat->budget.limit_bytes != 0)
        ccadical_set_learn(solver, sat, INT_MAX, note_learned);
    return solver;
}

enum rig_answer rig_sat_solve(struct rig_sat *sat)
{
    if (sat->solver == NULL)
        sat->solver = new_solver(sat);
    for (; sat->given < sat->ends.count; sat->given++)
        give(sat, sat->solver, sat->given, 0);
    sat->given_literals = sat->literals.count;
    const int result = is_over(sat) ? 0 : ccadical_solve(sat->solver);
    return result == SATISFIABLE ? RIG_ANSWER_YES : result == UNSATISFIABLE ? RIG_ANSWER_NO : RIG_ANSWER_SPENT;
}

struct rig_sat_pair rig_sat_chosen(const struct rig_sat *sat, size_t variable)
{
    RIG_REQUIRE(variable < sat->pairs.count && sat->solver != NULL);
    const struct rig_sat_pair pair = sat->pairs.at[variable];
    if (ccadical_val(sat->solver, (int)variable + 1) > 0)
        return pair;
    return (struct rig_sat_pair){pair.after, pair.before};
}

/* In place of the solver that said no, one for the same clauses with a switch each. */
static void replace_solver(struct rig_sat *sat)
{
    ccadical_release(sat->solver);
    sat->solver = new_solver(sat);
    sat->given = sat->switches = sat->ends.count;
    sat->given_literals = sat->literals.count;
    sat->learned_literals = 0;
}

/* The solver tells which switches it needed. */
bool rig_sat_core(struct rig_sat *sat, struct rig_sat_clauses *core)
{
    const int first_switch = (int)sat->pairs.count + 1;
    int result = 0;
    RIG_REQUIRE(sat->solver != NULL && sat->switches == 0);
    replace_solver(sat);
    if (!is_over(sat)) {
        for (size_t clause = 0; clause < sat->ends.count; clause++)
            give(sat, sat->solver, clause, first_switch + (int)clause);
        for (size_t clause = 0; clause < sat->ends.count; clause++)
            ccadical_assume(sat->solver, first_switch + (int)clause);
        result = ccadical_solve(sat->solver);
    }
    RIG_INVARIANT(result != SATISFIABLE);
    bool ok = true;
    for (size_t clause = 0; ok && clause < sat->ends.count; clause++) {
        if (result == 0 || ccadical_failed(sat->solver, first_switch + (int)clause))
            ok = rig_sat_clauses_add(core, (uint32_t)clause);
    }
    RIG_INVARIANT(!ok || core->count > 0 || sat->ends.count == 0);
    return ok;
}
