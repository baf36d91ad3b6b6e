#include "checker/judge/row_levels.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/rows/row_search.h"
#include "checker/decide/rule.h"
#include "checker/decide/solve/solve.h"
#include "checker/explain/explain.h"
#include "checker/explain/row_cases.h"
#include "checker/infer/inference.h"
#include "checker/infer/row_guess.h"
#include "checker/infer/row_problem.h"
#include "checker/infer/row_reads.h"
#include "checker/infer/row_versions.h"
#include "checker/judge/proof/prove_order.h"
#include "checker/model/level.h"

/*
 * An order of the commits that explains all reads of rows, by the solver (infer/row_problem.h, decide/solve/solve.h):
 * complete within a budget, except for counts and sums.
 *
 * Time and space: those of the problem and of the solver.
 */

/* Places are a permutation of the nodes. A transaction whose start comes directly before its commit stands once. */
static bool list_events(const struct rig_row_problem *made, const uint32_t *place, struct rig_prove_events *events)
{
    const uint32_t count = made->problem.txn_count;
    uint32_t *at = malloc(((size_t)count + 1) * sizeof *at);
    bool ok = at != NULL;
    for (uint32_t node = 0; ok && node < count; node++)
        at[place[node]] = node;
    events->count = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        const uint32_t txn = made->txn_of[at[i]];
        if (events->count == 0 || events->at[events->count - 1] != txn)
            ok = rig_prove_events_add(events, txn);
    }
    free(at);
    return ok;
}

/* `inference`: of the history without a guess; a guess at what counts and sums saw is part of the question. YES: fills
 * in the events, of an order of the kind `serial`, or `snapshot` (`split`). NO: no order explains the rows that reads
 * show and miss. RIG_E_LIMIT when memory runs out. */
static enum rig_rc row_search(const struct rig_inference *inference, const struct rig_row_question *question,
                              const struct rig_solve_budget *budget, struct rig_prove_events *events,
                              enum rig_answer *answer, struct rig_err *err)
{
    const struct rig_rule rule = {.form = RIG_RULE_SERIAL, .along = question->along};
    struct rig_row_problem made;
    struct rig_solution solution = {0};
    enum rig_rc rc = rig_row_problem_make(inference, question, &made, err);
    if (rc == RIG_OK)
        rc = rig_solve(&made.problem, &rule, budget, &solution, err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_YES && !list_events(&made, solution.place, events))
        rc = rig_memory_limit(err, "the order of the commits");
    *answer = solution.answer;
    rig_solution_done(&solution);
    rig_row_problem_done(&made);
    return rc;
}

/* A witness that no order explains the rows that reads show and miss at the level. *found is false where there is an
 * order, the budget is spent, or an edge has no witness. The witness has no texts yet; it is allocated from `arena`. */
static enum rig_rc row_refute(const struct rig_inference *inference, enum rig_level level,
                              const struct rig_solve_budget *budget, struct rig_arena *arena,
                              struct rig_witness *witness, bool *found, struct rig_err *err)
{
    const struct rig_rule rule = {.form = RIG_RULE_SERIAL, .along = rig_level_rule(level)->along};
    const struct rig_row_question question = {.split = rig_level_rule(level)->form == RIG_RULE_SNAPSHOT,
                                              .along = RIG_ALONG_PLAIN};
    struct rig_row_problem made;
    struct rig_solution solution = {0};
    *found = false;
    enum rig_rc rc = rig_row_problem_make(inference, &question, &made, err);
    if (rc == RIG_OK)
        rc = rig_solve(&made.problem, &rule, budget, &solution, err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO)
        rc = rig_explain_row_cases(&(struct rig_row_refutation){inference, &made, &solution, level}, budget, arena,
                                   witness, found, err);
    rig_solution_done(&solution);
    rig_row_problem_done(&made);
    return rc;
}

static enum rig_level by_rung(unsigned rung, unsigned along)
{
    static const enum rig_level plain[RIG_RUNG_COUNT] = {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_READ_COMMITTED,
                                                         RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_SERIALIZABLE};
    return rig_level_form(plain[rung], (enum rig_along)along);
}

/* Bits: the levels that a graph without open reads decides by itself. */
static uint64_t held_by_graphs(void)
{
    uint64_t levels = 0;
    for (unsigned along = 0; along < RIG_ALONG_COUNT; along++)
        levels |= RIG_LEVEL_BIT(rig_level_form(RIG_LEVEL_REPEATABLE_READ, (enum rig_along)along));
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
            levels |= RIG_LEVEL_BIT(by_rung(rung, order));
    }
    return levels;
}

/* The levels that the graph of the judgement, in which nothing is open, shows to hold. */
static uint64_t held_by(const struct rig_judge *judge, uint64_t levels)
{
    const unsigned orders = judge->history->has_invocations ? RIG_ALONG_COUNT : RIG_ALONG_REALTIME;
    const struct rig_ladder *items = judge->has_items ? &judge->item_ladder : &judge->ladder;
    uint64_t held = 0;
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < orders; order++) {
            const uint64_t bit = RIG_LEVEL_BIT(by_rung(rung, order));
            if (!judge->ladder.cyclic[rung][order] && (levels & bit) != 0)
                held |= rig_level_info(by_rung(rung, order))->below;
        }
    }
    for (unsigned order = 0; order < orders; order++) {
        const enum rig_level level = rig_level_form(RIG_LEVEL_REPEATABLE_READ, (enum rig_along)order);
        if (!items->cyclic[RIG_RUNG_ALL][order] && (levels & RIG_LEVEL_BIT(level)) != 0)
            held |= rig_level_info(level)->below;
    }
    return held;
}

/* A question: which of some levels hold, or an order that proves one of them. */
struct asking {
    const struct rig_judge *judge;
    uint64_t levels;
    uint64_t defined; /* further levels, which are decided by their definitions */
    bool proves;      /* all guesses are tried, and the graph without one */
    int64_t deadline_ns;
    struct rig_facts facts; /* of the history */
    uint64_t held;
    uint64_t denied;                  /* the solver found that no order explains them */
    struct rig_arena *arena;          /* of witnesses; NULL: none is wanted */
    struct rig_rows_decided *decided; /* or NULL */
    struct rig_row_order order;       /* that of the last level tried */
    bool found;                       /* it proves it */
    struct rig_err *err;
};

/* Levels for which an order was found, of `levels`: the strongest first. */
static enum rig_rc prove_levels(struct asking *a, struct rig_inference *inference, uint64_t levels)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned i = RIG_LEVEL_COUNT; rc == RIG_OK && i-- > 0;) {
        const uint64_t below = rig_level_info((enum rig_level)i)->below;
        if ((levels & a->levels & ~a->held & RIG_LEVEL_BIT(i)) == 0 || (held_by_graphs() & RIG_LEVEL_BIT(i)) == 0)
            continue;
        rc = rig_row_order_find(inference, (enum rig_level)i, &a->facts, &a->order, &a->found, a->err);
        if (a->found)
            a->held |= below;
    }
    return rc;
}

/* Judges the history with the places of a guess. */
static enum rig_rc judge_guess(struct asking *a, const struct rig_history *history, struct rig_read_places *places)
{
    const struct rig_judge *judge = a->judge;
    struct rig_history *shared = rig_history_share(history);
    struct rig_row_chains rows = *places->rows;
    struct rig_judge again;
    if (shared == NULL)
        return rig_memory_limit(a->err, "the verdict");
    rows.history = shared;
    rows.guessed = true;
    places->rows = &rows;
    shared->places = places;
    rig_judge_init(&again, 1, judge->assumptions, judge->scratch.limit_bytes);
    enum rig_rc rc = rig_judge_infer(&again, shared, false, a->err);
    if (rc == RIG_OK && again.inference.open_reads == 0)
        rc = prove_levels(a, &again.inference, a->levels & ~a->held); /* none where the edges have a cycle */
    rig_judge_done(&again);
    shared->places = NULL;
    rig_history_free(shared);
    return rc;
}

/* The levels with one snapshot a transaction: their orders are the solver's, too. */
static uint64_t ordered_levels(void)
{
    uint64_t levels = 0;
    for (unsigned along = 0; along < RIG_ALONG_COUNT; along++)
        levels |= RIG_LEVEL_BIT(by_rung(RIG_RUNG_SNAPSHOT, along)) | RIG_LEVEL_BIT(by_rung(RIG_RUNG_ALL, along));
    return levels;
}

/* Whether the guess can decide one of the levels: snapshots of transactions where these matter, else those of reads. */
static bool is_for(enum rig_row_guess guess, uint64_t levels)
{
    return (levels & (guess == RIG_ROW_GUESS_APART ? ~ordered_levels() : ordered_levels())) != 0;
}

static enum rig_rc try_guesses(struct asking *a, const struct rig_inference *inference)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned guess = 0; rc == RIG_OK && guess < RIG_ROW_GUESSES && (a->levels & ~a->held) != 0; guess++) {
        struct rig_arena arena;
        struct rig_read_places places;
        uint64_t unfit;
        if (!a->proves && !is_for((enum rig_row_guess)guess, a->levels & ~a->held))
            continue;
        if (rig_clock_now_ns() >= a->deadline_ns)
            break;
        rig_arena_init(&arena, a->judge->scratch.limit_bytes);
        if (!rig_row_guess_find(inference, (enum rig_row_guess)guess, &arena, &places, &unfit))
            rc = rig_memory_limit(a->err, "the order of the commits");
        else if (unfit == 0)
            rc = judge_guess(a, inference->history, &places);
        rig_arena_done(&arena);
    }
    return rc;
}

/* Half of the time that is left. */
static struct rig_solve_budget half_of(const struct asking *a)
{
    const int64_t now_ns = rig_clock_now_ns(), left_ns = a->deadline_ns > now_ns ? a->deadline_ns - now_ns : 0;
    return (struct rig_solve_budget){.deadline_ns = now_ns + left_ns / 2, .limit_bytes = a->judge->scratch.limit_bytes};
}

/* Asks the solver for an order that explains the level. *answer: without a guess at counts, NO refutes it. */
static enum rig_rc ask_solver(struct asking *a, const struct rig_inference *inference, enum rig_level level,
                              const struct rig_row_counts *counts, enum rig_answer *answer)
{
    const struct rig_rule *rule = rig_level_rule(level);
    const struct rig_solve_budget budget = half_of(a);
    a->order.missed.count = 0;
    a->found = false;
    const struct rig_row_question question = {
        .split = rule->form == RIG_RULE_SNAPSHOT, .along = rule->along, .counts = counts};
    enum rig_rc rc = row_search(inference, &question, &budget, &a->order.events, answer, a->err);
    if (rc == RIG_OK && *answer == RIG_ANSWER_YES)
        rc = rig_row_order_try(level, &a->facts, &a->order, &a->found, a->err);
    if (rc == RIG_OK && a->found)
        a->held |= rig_level_info(level)->below;
    return rc;
}

/* Asks the solver about the levels that are open: the strongest first, because an order for one explains those below
 * it. Where counts matter, once more with a guess at what they saw. Each question has half of the time that is left. */
static enum rig_rc try_solver(struct asking *a, const struct rig_inference *inference,
                              const struct rig_row_counts *counts)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned i = 2 * RIG_ALONG_COUNT; rc == RIG_OK && i-- > 0 && !(a->proves && a->found);) {
        const enum rig_along along = (enum rig_along)(i / 2);
        const enum rig_level level = by_rung(i % 2 == 0 ? RIG_RUNG_SNAPSHOT : RIG_RUNG_ALL, along);
        enum rig_answer answer = RIG_ANSWER_NO;
        if ((a->levels & ~a->held & RIG_LEVEL_BIT(level)) == 0 ||
            (along == RIG_ALONG_REALTIME && !inference->history->has_invocations))
            continue;
        rc = ask_solver(a, inference, level, NULL, &answer);
        if (rc == RIG_OK && answer == RIG_ANSWER_NO)
            a->denied |= RIG_LEVEL_BIT(level);
        if (rc == RIG_OK && answer == RIG_ANSWER_YES && !a->found && counts != NULL)
            rc = ask_solver(a, inference, level, counts, &answer);
    }
    return rc;
}

/* Looks for witnesses of the levels that no order explains, the weakest first: each refutes those above it. */
static enum rig_rc refute(struct asking *a, const struct rig_inference *inference)
{
    uint64_t refuted = 0;
    enum rig_rc rc = RIG_OK;
    for (unsigned i = 0; rc == RIG_OK && a->decided != NULL && i < RIG_LEVEL_COUNT; i++) {
        /* Reads alone show each edge, so no serial order has the same reads, either. */
        const enum rig_level level = i == RIG_LEVEL_SERIALIZABLE ? RIG_LEVEL_VIEW_SERIALIZABLE : (enum rig_level)i;
        const struct rig_solve_budget budget = half_of(a);
        struct rig_rows_decided *decided = a->decided;
        bool found;
        if ((a->denied & ~refuted & RIG_LEVEL_BIT(i)) == 0)
            continue;
        rc = row_refute(inference, level, &budget, a->arena, &decided->refuted[decided->refuted_count].witness, &found,
                        a->err);
        if (rc != RIG_OK || !found)
            continue;
        decided->refuted[decided->refuted_count++].level = level;
        refuted |= rig_level_info(level)->above;
    }
    return rc;
}

/* Makes a guess at what counts saw, from the first guess of all, and asks the solver. */
static enum rig_rc solve(struct asking *a, const struct rig_inference *inference)
{
    struct rig_arena arena;
    struct rig_read_places places;
    struct rig_row_counts counts = {0};
    uint64_t unfit;
    rig_arena_init(&arena, a->judge->scratch.limit_bytes);
    enum rig_rc rc = RIG_OK;
    if (!rig_row_guess_find(inference, RIG_ROW_GUESS_EARLY, &arena, &places, &unfit) ||
        (unfit != UINT64_MAX && !rig_row_counts_find(inference, &places, &counts)))
        rc = rig_memory_limit(a->err, "the order of the commits");
    if (rc == RIG_OK)
        rc = try_solver(a, inference, unfit == UINT64_MAX || counts.unfit > 0 ? NULL : &counts);
    if (rc == RIG_OK)
        rc = refute(a, inference);
    rig_row_counts_done(&counts);
    rig_arena_done(&arena);
    return rc;
}

/* ---- levels by their definitions ---- */

/* Keeps the cycle that refutes the level. */
static enum rig_rc keep_cycle(struct asking *a, const struct rig_inference *inference, enum rig_level level,
                              const struct rig_arcs *cycle)
{
    struct rig_rows_decided *decided = a->decided;
    RIG_REQUIRE(decided->refuted_count < RIG_ROW_MOST_REFUTED);
    const enum rig_rc rc = rig_explain_arcs(inference, cycle->at, (uint32_t)cycle->count, a->arena,
                                            &decided->refuted[decided->refuted_count].witness, a->err);
    if (rc == RIG_OK)
        decided->refuted[decided->refuted_count++].level = level;
    return rc;
}

/* Decides the weakest of the levels first: one that is refuted refutes those above it. */
static enum rig_rc define_levels(struct asking *a, struct rig_row_reads *reads, const uint32_t *place)
{
    uint64_t open = a->defined & ~a->held;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && open != 0) {
        const enum rig_level level = (enum rig_level)__builtin_ctzll(rig_levels_weakest(open));
        const struct rig_solve_budget budget = half_of(a);
        struct rig_row_decision decision = {0};
        rc = rig_row_search(reads, rig_level_rule(level), place, &budget, &decision, a->err);
        open &= ~RIG_LEVEL_BIT(level);
        if (rc == RIG_OK && decision.answer == RIG_ANSWER_YES && reads->is_complete)
            a->held |= rig_level_info(level)->below;
        if (rc == RIG_OK && decision.answer == RIG_ANSWER_NO)
            open &= ~rig_level_info(level)->above;
        if (rc == RIG_OK && decision.answer == RIG_ANSWER_NO && decision.cycle.count > 0)
            rc = keep_cycle(a, reads->inference, level, &decision.cycle);
        else if (rc == RIG_OK && decision.answer == RIG_ANSWER_NO)
            a->decided->unproven |= rig_level_info(level)->above & rig_levels_by_states();
        rig_row_decision_done(&decision);
    }
    return rc;
}

static bool has_initial_rows(const struct rig_row_chains *rows)
{
    bool any = false;
    for (uint32_t i = 0; !any && i < rows->statement_count; i++)
        any = rig_row_action(rows->statements[i].number) == RIG_ROWS_INITIAL;
    return any;
}

/* Levels with one state a transaction, by the states that its reads saw. */
static enum rig_rc define(struct asking *a, const struct rig_inference *inference)
{
    struct rig_arena arena;
    struct rig_read_places places;
    struct rig_row_reads reads = {0};
    uint64_t unfit;
    if (has_initial_rows(inference->rows) || (a->defined & ~a->held) == 0)
        return RIG_OK;
    rig_arena_init(&arena, a->judge->scratch.limit_bytes);
    enum rig_rc rc = rig_row_guess_find(inference, RIG_ROW_GUESS_EARLY, &arena, &places, &unfit) &&
                             (unfit == UINT64_MAX || rig_row_reads_find(inference, &places, &reads))
                         ? RIG_OK
                         : rig_memory_limit(a->err, "the decision of the levels");
    if (rc == RIG_OK && unfit != UINT64_MAX) /* else ww and wr edges have a cycle, which refutes them all */
        rc = define_levels(a, &reads, places.of_txn);
    rig_row_reads_done(&reads);
    rig_arena_done(&arena);
    return rc;
}

/* Asks the graph of what the reads show, as far as nothing that they leave open matters, and then the guesses. */
static enum rig_rc ask(struct asking *a, const struct rig_history *history)
{
    struct rig_judge first;
    uint64_t free_levels = a->proves ? a->levels : 0;
    enum rig_rc rc = rig_facts_init(&a->facts, history, a->err);
    if (rc != RIG_OK)
        return rc;
    rig_judge_init(&first, 1, a->judge->assumptions, a->judge->scratch.limit_bytes);
    rc = rig_judge_infer(&first, history, false, a->err);
    if (rc == RIG_OK && first.inference.open_reads > 0)
        free_levels &=
            first.inference.open_reads == first.inference.missing_reads ? rig_levels_without_predicates() : 0;
    if (rc == RIG_OK)
        rc = prove_levels(a, &first.inference, free_levels);
    if (rc == RIG_OK && !a->found)
        rc = try_guesses(a, &first.inference);
    if (rc == RIG_OK && (a->levels & ~a->held & ordered_levels()) != 0 && !(a->proves && a->found))
        rc = solve(a, &first.inference);
    if (rc == RIG_OK)
        rc = define(a, &first.inference);
    rig_judge_done(&first);
    return rc;
}

enum rig_rc rig_rows_explain(const struct rig_history *history, const struct rig_judge *judge, uint64_t levels,
                             int64_t deadline_ns, struct rig_arena *arena, struct rig_rows_decided *decided,
                             struct rig_err *err)
{
    struct rig_err why = {0};
    struct asking a = {.judge = judge,
                       .levels = levels & held_by_graphs(),
                       .deadline_ns = deadline_ns,
                       .arena = arena,
                       .decided = decided,
                       .err = &why};
    RIG_REQUIRE(history->places == NULL);
    *decided = (struct rig_rows_decided){0};
    a.defined = levels & rig_levels_by_states();
    if (!history->has_invocations)
        a.defined &= ~rig_levels_along(RIG_ALONG_REALTIME);
    if (judge->inference.open_reads == 0) { /* the graph decides */
        a.defined &= ~held_by(judge, ~UINT64_C(0));
        a.levels = 0;
    }
    if (a.levels == 0 && a.defined == 0)
        return RIG_OK;
    const enum rig_rc rc = ask(&a, history);
    decided->held = a.held;
    rig_facts_done(&a.facts);
    rig_row_order_done(&a.order);
    return rc == RIG_OK || rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

enum rig_rc rig_rows_order(const struct rig_history *history, const struct rig_judge *judge, enum rig_level level,
                           int64_t deadline_ns, struct rig_row_order *order, bool *found, struct rig_err *err)
{
    struct asking a = {.judge = judge,
                       .levels = RIG_LEVEL_BIT(level) & held_by_graphs(),
                       .proves = true,
                       .deadline_ns = deadline_ns,
                       .err = err};
    struct rig_history *shared = rig_history_share(history);
    if (shared == NULL)
        return rig_memory_limit(err, "the proof");
    shared->places = NULL; /* a certificate takes no part in a proof */
    shared->certificate = NULL;
    const enum rig_rc rc = a.levels == 0 ? RIG_OK : ask(&a, shared);
    *found = rc == RIG_OK && a.found;
    *order = a.order;
    rig_facts_done(&a.facts);
    rig_history_free(shared);
    return rc;
}
