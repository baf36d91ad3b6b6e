#include "checker/decide/solve/order_search.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/forced_explain.h"
#include "checker/decide/solve/forced_steps.h"
#include "checker/decide/solve/near_serial.h"
#include "checker/decide/solve/order_graph.h"
#include "checker/decide/solve/sat.h"

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
    const struct rig_solve_budget *budget;
    bool too_large; /* the memory is spent */
    struct rig_rule_frame frame;
    struct rig_order_graph graph;
    struct rig_sat sat;
    struct rig_forced forced;
    struct solve_nodes nodes;      /* per clause: the transactions that it rests on */
    struct rig_sat_ends ends;      /*   into nodes */
    struct rig_forced_facts facts; /* per clause: the forced pairs that it rests on */
    struct rig_sat_ends fact_ends; /*   into facts */
    struct rig_breaches found;
    struct rig_order_cycles cycles;
    uint32_t *place, *rank;
    bool refuted; /* a clause without a choice; it is the last one */
};

/* The bytes that the problem's size determines: frame, graph, saturation without its clocks, and one search for cycles.
 * As measured (bench/RESULTS.md). */
static size_t search_bytes(const struct rig_problem *problem)
{
    return (size_t)problem->txn_count * 200 + (problem->reads.count + problem->writes.count) * 125 +
           (size_t)problem->key_count * 60;
}

/* Whether nodes, relays and states have numbers of 32 bits. */
static bool can_be_numbered(const struct rig_problem *problem)
{
    const uint64_t versions = (uint64_t)problem->writes.count + problem->key_count;
    return UINT64_C(3) * problem->txn_count + versions + problem->reads.count < RIG_PROBLEM_NONE;
}

/* The memory that the search holds, apart from the SAT solver. */
static size_t held_bytes(const struct search *search)
{
    const size_t clocks =
        search->forced.clocks.at == NULL ? 0 : (size_t)search->forced.clocks.chains.count * search->frame.node_count;
    return search_bytes(search->problem) + clocks * sizeof(uint32_t) +
           search->forced.pairs.capacity * sizeof search->forced.pairs.at[0] +
           search->graph.edges.capacity * sizeof search->graph.edges.at[0] +
           (search->nodes.capacity + search->found.ends.capacity) * sizeof(uint32_t) +
           (search->ends.capacity + search->fact_ends.capacity + search->cycles.ends.capacity) * sizeof(size_t) +
           search->facts.capacity * sizeof search->facts.at[0] +
           search->found.arcs.capacity * sizeof search->found.arcs.at[0] +
           search->cycles.edges.capacity * sizeof search->cycles.edges.at[0];
}

/* Bytes of the budget that are left, for the SAT solver too; SIZE_MAX: no limit. */
static size_t bytes_left(const struct search *search)
{
    const size_t limit = search->budget->limit_bytes, held = limit == 0 ? 0 : held_bytes(search);
    return limit == 0 ? SIZE_MAX : held < limit ? limit - held : 0;
}

/* The budget of a part of the search, which may hold what is left without the bytes taken. */
static struct rig_solve_budget budget_left(const struct search *search, size_t taken)
{
    const size_t left = bytes_left(search), limit = taken < left ? left - taken : 1;
    return (struct rig_solve_budget){search->budget->deadline_ns, left == SIZE_MAX ? 0 : limit};
}

/* Chooses again, unless clauses and guesses have taken the memory. */
static enum rig_answer ask_solver(struct search *search)
{
    search->sat.budget = budget_left(search, 0);
    const enum rig_answer answer = rig_sat_solve(&search->sat);
    search->too_large = search->sat.too_large;
    return answer;
}

static bool improve(struct search *search, enum rig_near_serial_effort effort, bool *is_serial)
{
    const struct rig_solve_budget budget = budget_left(search, rig_sat_bytes(&search->sat));
    return rig_near_serial_improve(&search->graph, effort, &budget, search->place, is_serial);
}

static bool search_init(struct search *search, const struct rig_problem *problem, const struct rig_rule *rule,
                        const struct rig_rule *supposed, const struct rig_solve_budget *budget)
{
    *search = (struct search){.problem = problem, .rule = rule, .budget = budget};
    search->place = malloc(((size_t)problem->txn_count + 1) * sizeof search->place[0]);
    search->rank = malloc(((size_t)problem->txn_count + 1) * sizeof search->rank[0]);
    bool ok = search->place != NULL && search->rank != NULL && rig_sat_init(&search->sat, budget) &&
              rig_rule_frame_init(&search->frame, problem, supposed) &&
              rig_order_graph_init(&search->graph, problem, &search->frame);
    if (ok)
        rig_order_graph_rank(problem, search->rank);
    return ok;
}

static void search_done(struct search *search)
{
    rig_order_graph_done(&search->graph);
    rig_rule_frame_done(&search->frame);
    rig_sat_done(&search->sat);
    rig_forced_done(&search->forced);
    rig_forced_facts_done(&search->facts);
    rig_sat_ends_done(&search->fact_ends);
    solve_nodes_done(&search->nodes);
    rig_sat_ends_done(&search->ends);
    rig_arcs_done(&search->found.arcs);
    rig_arc_ends_done(&search->found.ends);
    rig_order_edges_done(&search->cycles.edges);
    rig_order_ends_done(&search->cycles.ends);
    free(search->place);
    free(search->rank);
}

/* The open clause says that `before` is not before `after`, or something else that it names. */
static bool deny(struct search *search, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before != after && before < search->problem->txn_count && after < search->problem->txn_count);
    if (rig_forced_before(&search->forced, before, after))
        return rig_forced_facts_add(&search->facts, (struct rig_forced_fact){before, after});
    return rig_sat_add(&search->sat, -rig_sat_literal(&search->sat, before, after));
}

static bool rests_on(struct search *search, uint32_t txn)
{
    RIG_REQUIRE(txn == RIG_PROBLEM_NONE || txn < search->problem->txn_count);
    return txn == RIG_PROBLEM_NONE || solve_nodes_add(&search->nodes, txn);
}

static bool close_clause(struct search *search)
{
    const size_t clauses = search->sat.ends.count;
    const size_t begin = clauses == 0 ? 0 : search->sat.ends.at[clauses - 1];
    RIG_INVARIANT(search->ends.count == clauses && search->fact_ends.count == clauses);
    search->refuted = search->refuted || search->sat.literals.count == begin;
    return rig_sat_close(&search->sat) && rig_sat_ends_add(&search->ends, search->nodes.count) &&
           rig_sat_ends_add(&search->fact_ends, search->facts.count);
}

static bool learn_edge(struct search *search, const struct rig_order_edge *edge, bool known)
{
    if (!rests_on(search, rig_rule_frame_txn(&search->frame, edge->from)) || !rests_on(search, edge->before))
        return false;
    return known || edge->before == RIG_PROBLEM_NONE || deny(search, edge->before, edge->after);
}

/* The cycles of the guess itself. `known`: each edge is known. */
static bool learn_cycles(struct search *search, bool known)
{
    bool ok = true;
    size_t i = 0;
    for (size_t c = 0; ok && c < search->cycles.ends.count && !search->refuted; c++) {
        for (; ok && i < search->cycles.ends.at[c]; i++)
            ok = learn_edge(search, &search->cycles.edges.at[i], known);
        ok = ok && close_clause(search);
    }
    return ok;
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
    RIG_REQUIRE(!search->refuted);
    *explains = false;
    search->cycles.edges.count = 0;
    search->cycles.ends.count = 0;
    search->found.arcs.count = 0;
    search->found.ends.count = 0;
    if (!rig_order_graph_sort(&search->graph, search->rank, search->place, &search->cycles))
        return false;
    if (search->cycles.ends.count > 0)
        return learn_cycles(search, false);
    bool is_serial;
    if (!improve(search, RIG_NEAR_SERIAL_BEST, &is_serial))
        return false;
    memcpy(search->rank, search->place, search->problem->txn_count * sizeof search->rank[0]);
    /* The graph has no edges out of sinks, which each may lie on a cycle by itself. */
    *explains = is_serial && !search->frame.sinks;
    if (*explains)
        return true;
    if (!rig_breach_find(search->problem, search->rule, search->place, BREACHES_A_ROUND, search->budget->deadline_ns,
                         &search->found))
        return false;
    *explains = search->found.ends.count == 0 && !search->found.spent;
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

/* Adds the pairs that every explanation shares, unless they refute all. */
static bool force_pairs(struct search *search, enum rig_answer *answer)
{
    struct rig_forced *forced = &search->forced;
    bool spent = false;
    if (!rig_forced_init_within(forced, search->problem, &search->frame, search->graph.sequence,
                                bytes_left(search) / 2) ||
        !rig_forced_run(forced, search->budget->deadline_ns, &spent))
        return false;
    if (forced->refuted || spent) {
        *answer = spent ? RIG_ANSWER_SPENT : RIG_ANSWER_NO;
        search->refuted = true;
        return !forced->refuted ||
               (rig_forced_facts_add(&search->facts, (struct rig_forced_fact){RIG_PROBLEM_NONE, RIG_PROBLEM_NONE}) &&
                close_clause(search));
    }
    bool ok = true;
    RIG_INVARIANT(forced->pairs.count >= search->problem->pairs.count);
    for (size_t p = search->problem->pairs.count; ok && p < forced->pairs.count; p++) {
        const struct rig_forced_pair *pair = &forced->pairs.at[p];
        ok = rig_order_graph_add(&search->graph, search->problem->writes.at[pair->write].key,
                                 search->problem->write_txn[pair->write], pair->after);
    }
    rig_order_graph_keep(&search->graph);
    return ok;
}

/* The known edges have an order; if not, they refute all. */
static bool sort_known(struct search *search)
{
    return rig_order_graph_sort(&search->graph, search->rank, search->place, &search->cycles) &&
           (search->cycles.ends.count == 0 || learn_cycles(search, true));
}

/* Whether the known edges alone give an explanation: often so where rw edges are no part of paths, because little is
 * forbidden there. */
static bool try_sorted(struct search *search, bool *explains)
{
    *explains = false;
    return search->frame.rw_path || !search->frame.reads_order ||
           rig_breach_none(search->problem, search->rule, search->place, search->budget->deadline_ns, explains);
}

/* These rules ask for no more than the saturation forces, apart from what real time shows: no order needs to be close
 * to a serial one. */
static bool is_forced(const struct search *search)
{
    return search->frame.shown || search->rule->form == RIG_RULE_CAUSAL;
}

/* Most problems that have an explanation need nothing but this. Where reads order nothing, each order that keeps what
 * is known is one; where there are sinks, the graph does not have all edges. */
static bool try_serial(struct search *search, bool *explains)
{
    *explains = !search->frame.reads_order;
    if (*explains || search->frame.sinks || is_forced(search))
        return true;
    return improve(search, RIG_NEAR_SERIAL_STRICT, explains);
}

/* Whether an order that keeps what is forced explains the problem. */
static bool try_forced(struct search *search, bool *explains)
{
    search->cycles.edges.count = 0;
    search->cycles.ends.count = 0;
    if (!is_forced(search))
        return true;
    return rig_order_graph_sort(&search->graph, search->rank, search->place, &search->cycles) &&
           (search->cycles.ends.count > 0 || try_sorted(search, explains));
}

static bool add_shown(void *context, uint32_t read, uint32_t write)
{
    struct search *search = context;
    const struct rig_problem_read *r = &search->problem->reads.at[read];
    return r->writer != RIG_PROBLEM_INITIAL &&
           rig_order_graph_add(&search->graph, r->key, search->problem->write_txn[write], r->writer);
}

/* Whether an order that keeps what single reads force explains the problem: no clocks are needed for that. Where there
 * is none, the saturation explains why. */
static bool try_shown(struct search *search, bool *explains)
{
    bool ended;
    if (!search->frame.shown)
        return true;
    if (!rig_forced_shown(search->problem, &search->frame, add_shown, search, &ended))
        return false;
    if (!ended && !try_forced(search, explains))
        return false;
    rig_order_graph_forget(&search->graph);
    search->cycles.edges.count = 0;
    search->cycles.ends.count = 0;
    return *explains || rig_order_graph_sort(&search->graph, search->rank, search->place, &search->cycles);
}

static bool run(struct search *search, enum rig_answer *answer)
{
    bool explained = false;
    *answer = RIG_ANSWER_NO;
    if (!sort_known(search))
        return false;
    if (search->refuted)
        return true;
    /* Without times the order says nothing, and does not explain what can be forced at once. */
    const bool told = !is_forced(search) || !rig_order_graph_in_turn(search->problem);
    if ((told && !try_sorted(search, &explained)) || (!explained && !try_serial(search, &explained)) ||
        (!explained && !try_shown(search, &explained)))
        return false;
    if (explained) {
        *answer = RIG_ANSWER_YES;
        return true;
    }
    if (!force_pairs(search, answer) || (!search->refuted && !try_forced(search, &explained)))
        return false;
    if (explained) {
        *answer = RIG_ANSWER_YES;
        return true;
    }
    while (!search->refuted) {
        bool explains = false;
        if (!guess(search, &explains))
            return false;
        *answer = explains              ? RIG_ANSWER_YES
                  : search->refuted     ? RIG_ANSWER_NO
                  : search->found.spent ? RIG_ANSWER_SPENT
                                        : ask_solver(search);
        if (explains || *answer != RIG_ANSWER_YES)
            return true;
        if (!choose_again(search))
            return false;
    }
    return true;
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t begin_of(const struct rig_sat_ends *ends, size_t clause)
{
    return clause == 0 ? 0 : ends->at[clause - 1];
}

static bool add_clause(const struct search *search, size_t clause, struct rig_forced_nodes *core,
                       struct rig_forced_facts *facts)
{
    RIG_REQUIRE(clause < search->ends.count && clause < search->fact_ends.count);
    bool ok = true;
    for (size_t i = begin_of(&search->ends, clause); ok && i < search->ends.at[clause]; i++)
        ok = rig_forced_nodes_add(core, search->nodes.at[i]);
    for (size_t i = begin_of(&search->fact_ends, clause); ok && i < search->fact_ends.at[clause]; i++)
        ok = rig_forced_facts_add(facts, search->facts.at[i]);
    return ok;
}

/* The transactions of the refuted clauses, and those of the reasons of their forced pairs. */
static bool collect_core(struct search *search, struct rig_forced_nodes *core)
{
    struct rig_sat_clauses clauses = {0};
    struct rig_forced_facts facts = {0};
    bool ok = search->refuted ? rig_sat_clauses_add(&clauses, (uint32_t)search->ends.count - 1)
                              : rig_sat_core(&search->sat, &clauses);
    for (size_t i = 0; ok && i < clauses.count; i++)
        ok = add_clause(search, clauses.at[i], core, &facts);
    ok = ok && (facts.count == 0 || rig_forced_explain(&search->forced, &facts, core));
    rig_sat_clauses_done(&clauses);
    rig_forced_facts_done(&facts);
    return ok;
}

static bool find_core(struct search *search, struct rig_solution *solution)
{
    struct rig_forced_nodes core = {0};
    if (!collect_core(search, &core)) {
        rig_forced_nodes_done(&core);
        return false;
    }
    qsort(core.at, core.count, sizeof core.at[0], compare_nodes);
    size_t count = 0;
    for (size_t i = 0; i < core.count; i++) {
        if (count == 0 || core.at[count - 1] != core.at[i])
            core.at[count++] = core.at[i];
    }
    RIG_INVARIANT(count == 0 || core.at[count - 1] < search->problem->txn_count);
    solution->core = core.at;
    solution->core_count = (uint32_t)count;
    return true;
}

bool rig_order_search(const struct rig_problem *problem, const struct rig_rule *rule, const struct rig_rule *supposed,
                      const struct rig_solve_budget *budget, struct rig_solution *solution)
{
    struct search search;
    struct rig_solution found = {0};
    if (!can_be_numbered(problem) || (budget->limit_bytes != 0 && search_bytes(problem) > budget->limit_bytes)) {
        *solution =
            (struct rig_solution){.answer = RIG_ANSWER_SPENT, .pairs = {.first = RIG_PROBLEM_NONE}, .too_large = true};
        return true;
    }
    bool ok = search_init(&search, problem, rule, supposed, budget) && run(&search, &found.answer);
    if (ok && found.answer == RIG_ANSWER_NO)
        ok = find_core(&search, &found);
    if (ok && found.answer == RIG_ANSWER_YES) {
        found.place = search.place;
        search.place = NULL;
    }
    if (ok && found.answer == RIG_ANSWER_SPENT)
        found.pairs = rig_forced_open(&search.forced);
    found.too_large = search.too_large;
    search_done(&search);
    if (ok)
        *solution = found;
    return ok;
}
