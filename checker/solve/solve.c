#include "checker/solve/solve.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/solve/breach.h"
#include "checker/solve/order_graph.h"
#include "checker/solve/sat.h"

enum { BREACHES_A_ROUND = 1000 };

RIG_VEC(uint32_t, solve_nodes)

/*
 * The search: guess an order; each cycle that the level forbids in it, and each cycle of the guess itself, is a clause
 * that all explanations satisfy ("one of these pairs is the other way round"); choose again, until nothing is forbidden
 * or no choice is left.
 */
struct search {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    int64_t deadline_ns;
    struct rig_frame frame;
    struct rig_order_graph graph;
    struct rig_sat sat;
    struct rig_table known;   /* the pairs of the problem */
    struct solve_nodes nodes; /* per clause: the transactions that it rests on */
    struct rig_sat_ends ends; /*   into nodes */
    struct rig_breaches found;
    struct rig_order_edges cycle;
    uint32_t *place, *rank;
    bool refuted; /* a clause without a choice; it is the last one */
};

static uint64_t pair_key(uint32_t before, uint32_t after)
{
    return (uint64_t)before << 32 | after;
}

static bool search_init(struct search *search, const struct rig_problem *problem, const struct rig_rule *rule,
                        int64_t deadline_ns)
{
    *search = (struct search){.problem = problem, .rule = rule, .deadline_ns = deadline_ns};
    rig_table_init(&search->known);
    search->place = malloc((problem->txn_count + 1) * sizeof search->place[0]);
    search->rank = malloc((problem->txn_count + 1) * sizeof search->rank[0]);
    bool ok = search->place != NULL && search->rank != NULL && rig_sat_init(&search->sat, deadline_ns) &&
              rig_frame_init(&search->frame, problem, rule) &&
              rig_order_graph_init(&search->graph, problem, &search->frame);
    for (size_t p = 0; ok && p < problem->pairs.count; p++) {
        uint32_t *value =
            rig_table_put(&search->known, pair_key(problem->pairs.at[p].before, problem->pairs.at[p].after));
        ok = value != NULL;
        if (ok)
            *value = 1;
    }
    for (uint32_t txn = 0; ok && txn < problem->txn_count; txn++)
        search->rank[txn] = txn;
    return ok;
}

static void search_done(struct search *search)
{
    rig_order_graph_done(&search->graph);
    rig_frame_done(&search->frame);
    rig_sat_done(&search->sat);
    rig_table_done(&search->known);
    solve_nodes_done(&search->nodes);
    rig_sat_ends_done(&search->ends);
    rig_arcs_done(&search->found.arcs);
    rig_arc_ends_done(&search->found.ends);
    rig_order_edges_done(&search->cycle);
    free(search->place);
    free(search->rank);
}

/* The open clause says that `before` is not before `after`, or something else that it names. */
static bool deny(struct search *search, uint32_t before, uint32_t after)
{
    if (rig_table_get(&search->known, pair_key(before, after)) != RIG_TABLE_NONE)
        return true;
    return rig_sat_add(&search->sat, -rig_sat_literal(&search->sat, before, after, false));
}

static bool rests_on(struct search *search, uint32_t txn)
{
    return txn == RIG_PROBLEM_NONE || solve_nodes_add(&search->nodes, txn);
}

static bool close_clause(struct search *search)
{
    const size_t clauses = search->sat.ends.count;
    const size_t begin = clauses == 0 ? 0 : search->sat.ends.at[clauses - 1];
    search->refuted = search->refuted || search->sat.literals.count == begin;
    return rig_sat_close(&search->sat) && rig_sat_ends_add(&search->ends, search->nodes.count);
}

static bool learn_cycle(struct search *search)
{
    bool ok = true;
    for (size_t i = 0; ok && i < search->cycle.count; i++) {
        const struct rig_order_edge *edge = &search->cycle.at[i];
        ok = rests_on(search, rig_frame_txn(&search->frame, edge->from)) &&
             (edge->before == RIG_PROBLEM_NONE ||
              (rests_on(search, edge->before) && deny(search, edge->before, edge->after)));
    }
    return ok && close_clause(search);
}

static bool learn_arc(struct search *search, const struct rig_arc *arc)
{
    if (!rests_on(search, arc->from))
        return false;
    if (arc->kind == RIG_EDGE_WW)
        return deny(search, arc->from, arc->to);
    if (arc->kind != RIG_EDGE_RW || arc->writer == RIG_ARC_NONE)
        return true;
    return rests_on(search, arc->writer) && deny(search, arc->writer, arc->to);
}

/* Stops at a clause without a choice. */
static bool learn_breaches(struct search *search)
{
    bool ok = true;
    size_t i = 0;
    for (size_t b = 0; ok && b < search->found.ends.count && !search->refuted; b++) {
        for (; ok && i < search->found.ends.at[b]; i++)
            ok = learn_arc(search, &search->found.arcs.at[i]);
        ok = ok && close_clause(search);
    }
    return ok;
}

/* One guess, from what is chosen: its cycles, and otherwise what it breaches. */
static bool guess(struct search *search, bool *explains)
{
    *explains = false;
    search->cycle.count = 0;
    search->found.arcs.count = 0;
    search->found.ends.count = 0;
    if (!rig_order_graph_sort(&search->graph, search->rank, search->place, &search->cycle))
        return false;
    if (search->cycle.count > 0)
        return learn_cycle(search);
    memcpy(search->rank, search->place, search->problem->txn_count * sizeof search->rank[0]);
    if (!rig_breach_find(search->problem, search->rule, search->place, BREACHES_A_ROUND, &search->found))
        return false;
    *explains = search->found.ends.count == 0;
    return learn_breaches(search);
}

static bool choose_again(struct search *search)
{
    bool ok = true;
    rig_order_graph_forget(&search->graph);
    for (size_t variable = 0; ok && variable < search->sat.pairs.count; variable++) {
        const struct rig_sat_pair pair = rig_sat_chosen(&search->sat, variable);
        ok = rig_order_graph_choose(&search->graph, pair.before, pair.after);
    }
    return ok;
}

static bool run(struct search *search, enum rig_answer *answer)
{
    for (;;) {
        bool explains = false;
        if (!guess(search, &explains))
            return false;
        *answer = explains ? RIG_ANSWER_YES : search->refuted ? RIG_ANSWER_NO : rig_sat_solve(&search->sat);
        if (explains || *answer != RIG_ANSWER_YES)
            return true;
        if (!choose_again(search))
            return false;
    }
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool add_clause_nodes(const struct search *search, size_t clause, struct solve_nodes *core)
{
    bool ok = true;
    for (size_t i = clause == 0 ? 0 : search->ends.at[clause - 1]; ok && i < search->ends.at[clause]; i++)
        ok = solve_nodes_add(core, search->nodes.at[i]);
    return ok;
}

static bool find_core(struct search *search, struct rig_solution *solution)
{
    struct rig_sat_clauses clauses = {0};
    struct solve_nodes core = {0};
    bool ok = search->refuted ? add_clause_nodes(search, search->ends.count - 1, &core)
                              : rig_sat_core(&search->sat, &clauses);
    for (size_t i = 0; ok && i < clauses.count; i++)
        ok = add_clause_nodes(search, clauses.at[i], &core);
    rig_sat_clauses_done(&clauses);
    if (!ok) {
        solve_nodes_done(&core);
        return false;
    }
    qsort(core.at, core.count, sizeof core.at[0], compare_nodes);
    size_t count = 0;
    for (size_t i = 0; i < core.count; i++) {
        if (count == 0 || core.at[count - 1] != core.at[i])
            core.at[count++] = core.at[i];
    }
    solution->core = core.at;
    solution->core_count = (uint32_t)count;
    return true;
}

void rig_solution_done(struct rig_solution *solution)
{
    free(solution->place);
    free(solution->core);
    *solution = (struct rig_solution){0};
}

enum rig_rc rig_solve(const struct rig_problem *problem, const struct rig_rule *rule,
                      const struct rig_solve_budget *budget, struct rig_solution *solution, struct rig_err *err)
{
    struct search search;
    struct rig_solution found = {0};
    bool ok = search_init(&search, problem, rule, budget->deadline_ns) && run(&search, &found.answer);
    if (ok && found.answer == RIG_ANSWER_NO)
        ok = find_core(&search, &found);
    if (ok && found.answer == RIG_ANSWER_YES) {
        found.place = search.place;
        search.place = NULL;
    }
    found.open_pairs = found.answer == RIG_ANSWER_SPENT ? search.sat.pairs.count : 0;
    search_done(&search);
    if (!ok)
        return rig_no_memory(err, "solving for version orders");
    *solution = found;
    return RIG_OK;
}
