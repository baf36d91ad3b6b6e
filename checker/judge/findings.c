#include "checker/judge/findings_private.h"

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/counters/counter_levels.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/rule.h"
#include "checker/decide/solve/decide.h"
#include "checker/decide/solve/solve.h"
#include "checker/explain/assumed.h"
#include "checker/explain/case_explain.h"
#include "checker/explain/explain.h"
#include "checker/judge/row_levels.h"

enum { SHARE_OF_ITEMS = 8 }; /* of the budget, where levels of items are decided apart */

/* ---- levels that no anomaly refutes by its name ---- */

/*
 * The levels that can be decided. The ladder decides what write cycles refute; of total orders also what flows and any
 * cycles refute, because the rest of an order can follow any order that the graph allows.
 */
static uint64_t decidable_levels(const struct rig_findings *findings, const struct rig_judge *judge)
{
    uint64_t levels = 0;
    if (findings->lattice != RIG_LATTICE_EXACT || judge->type->build_problem == NULL)
        return 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_rule *rule = rig_level_rule((enum rig_level)level);
        const bool by_ladder =
            rule->form == RIG_RULE_WRITES ||
            (judge->type->total_orders && (rule->form == RIG_RULE_FLOW || rule->form == RIG_RULE_SERIAL));
        const bool without_times = rule->along == RIG_ALONG_REALTIME && !judge->history->has_invocations;
        levels |= by_ladder || without_times ? 0 : RIG_LEVEL_BIT(level);
    }
    return findings->reads_at_once ? levels & ~rig_levels_by_operations() : levels;
}

uint64_t rig_findings_open(const struct rig_findings *findings, const struct rig_judge *judge)
{
    return decidable_levels(findings, judge) & ~rig_findings_refuted(findings);
}

/* Whether only a part of the history is judged, by a type whose levels need the whole. */
static bool is_part(const struct rig_judge *judge)
{
    return judge->type->whole && judge->selected != NULL;
}

/* The levels to be decided here. */
static uint64_t open_levels(const struct rig_findings_adding *a)
{
    if (a->judge->type->total_orders && a->judge->ladder.possible == NULL)
        return 0;
    return rig_findings_open(a->findings, a->judge) & (is_part(a->judge) ? a->findings->denied : ~UINT64_C(0));
}

/* The levels that are refuted only by witnesses that rest on assumptions. */
static uint64_t refuted_by_assumption(const struct rig_findings *findings)
{
    uint64_t plainly = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &findings->of[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++)
            plainly |= rig_witness_assumed(&finding->witnesses[i]) == 0 ? finding->witnesses[i].refutes : 0;
    }
    return rig_findings_refuted(findings) & ~plainly;
}

static enum rig_rc keep_decided_cycle(const struct rig_findings_adding *a, const struct rig_decisions *decisions,
                                      const struct rig_decided_cycle *cycle)
{
    struct rig_witness witness;
    enum rig_rc rc = rig_explain_arcs(&a->judge->inference, &decisions->arcs.at[cycle->first_arc], cycle->arc_count,
                                      a->findings->arena, &witness, a->err);
    return rc == RIG_OK ? rig_findings_keep_decided(a, cycle->level, &witness) : rc;
}

/* A proof without cases is a cycle. */
static enum rig_rc keep_proof(const struct rig_findings_adding *a, const struct rig_case_proof *proof)
{
    struct rig_witness witness = {0};
    enum rig_rc rc;
    if (proof->line_count == 1 && a->judge->type->total_orders) {
        struct rig_arc *arcs = rig_arena_array(a->findings->arena, proof->edge_count, sizeof *arcs);
        if (arcs == NULL)
            return rig_findings_no_memory(a->err);
        for (uint32_t i = 0; i < proof->edge_count; i++)
            arcs[i] = proof->edges[i].arc;
        rc = rig_explain_arcs(&a->judge->inference, arcs, proof->edge_count, a->findings->arena, &witness, a->err);
    } else {
        rc = rig_explain_proof(&a->judge->inference, proof, a->findings->arena, &witness, a->err);
    }
    return rc == RIG_OK ? rig_findings_keep_decided(a, proof->level, &witness) : rc;
}

/* Decides the levels, and keeps the witnesses of the refuted ones. */
static enum rig_rc decide_problem(const struct rig_findings_adding *a, const struct rig_problem *problem,
                                  uint64_t levels, const struct rig_solve_budget *budget,
                                  struct rig_decisions *decisions)
{
    enum rig_rc rc = rig_decide(problem, a->judge->history, levels, budget, a->findings->arena, decisions, a->err);
    for (size_t i = 0; rc == RIG_OK && i < decisions->cycles.count; i++)
        rc = keep_decided_cycle(a, decisions, &decisions->cycles.at[i]);
    for (size_t i = 0; rc == RIG_OK && i < decisions->proofs.count; i++)
        rc = keep_proof(a, &decisions->proofs.at[i]);
    if (rc != RIG_OK)
        return rc;
    RIG_INVARIANT((decisions->held & decisions->refuted) == 0);
    RIG_INVARIANT((decisions->held | decisions->refuted | decisions->spent) == levels);
    RIG_INVARIANT((decisions->refuted & ~rig_findings_refuted(a->findings)) == 0); /* each has its witness */
    return RIG_OK;
}

static enum rig_rc decide_open(const struct rig_findings_adding *a, const struct rig_problem *problem, uint64_t levels,
                               const struct rig_solve_budget *budget, uint64_t *held)
{
    struct rig_decisions decisions = {0};
    enum rig_rc rc = levels == 0 ? RIG_OK : decide_problem(a, problem, levels, budget, &decisions);
    RIG_INVARIANT(rc != RIG_OK || (decisions.held & rig_findings_refuted(a->findings)) == 0);
    if (rc == RIG_OK) {
        a->findings->spent |= decisions.spent;
        a->findings->apart |= is_part(a->judge) ? decisions.held : 0;
        a->findings->unproven |= decisions.unproven;
        a->findings->too_large |= decisions.too_large;
        rig_efforts_add(a->findings->effort, decisions.effort);
        *held |= decisions.held;
    }
    rig_decisions_done(&decisions);
    return rc;
}

/* Whether the levels that only assumptions refute so far are refuted without them. Drops the problem's pairs. */
static enum rig_rc decide_plainly(const struct rig_findings_adding *a, struct rig_problem *problem, uint64_t levels,
                                  const struct rig_solve_budget *budget)
{
    struct rig_decisions decisions = {0};
    enum rig_rc rc = RIG_OK;
    levels &= decidable_levels(a->findings, a->judge) & refuted_by_assumption(a->findings);
    if (levels != 0) {
        problem->pairs.count = 0;
        rc = decide_problem(a, problem, levels, budget, &decisions);
    }
    rig_decisions_done(&decisions);
    return rc;
}

/* Assumptions order the versions of registers only, whose other orders are open. In windows, each would ask again. */
static bool may_assume(const struct rig_judge *judge)
{
    return (judge->assumptions.made & RIG_ASSUMPTIONS_OF_VERSIONS) != 0 && !judge->type->total_orders &&
           !is_part(judge);
}

static bool needs_decisions(const struct rig_findings_adding *a)
{
    return open_levels(a) != 0 || (may_assume(a->judge) &&
                                   (decidable_levels(a->findings, a->judge) & refuted_by_assumption(a->findings)) != 0);
}

/* The question of all reads, or of those of items. */
static enum rig_rc build_problem(const struct rig_findings_adding *a, bool items, struct rig_problem *problem)
{
    const struct rig_judge *judge = a->judge;
    const uint8_t *among = judge->type->total_orders ? judge->ladder.possible : NULL;
    return judge->type->build_problem(&judge->inference, among, items, problem, a->err);
}

/* The levels of items, where a read found no row: a problem without that read decides them. */
static enum rig_rc decide_items(const struct rig_findings_adding *a, uint64_t levels,
                                const struct rig_solve_budget *budget)
{
    struct rig_problem problem = {0};
    uint64_t held = 0;
    enum rig_rc rc = build_problem(a, true, &problem);
    if (rc == RIG_OK)
        rc = decide_open(a, &problem, levels & open_levels(a), budget, &held);
    if (rc == RIG_OK && may_assume(a->judge))
        rc = decide_plainly(a, &problem, levels, budget);
    rig_problem_done(&problem);
    return rc;
}

/* The levels that hold where these do. */
static uint64_t levels_below(uint64_t levels)
{
    uint64_t below = 0;
    for (; levels != 0; levels &= levels - 1)
        below |= rig_level_info((enum rig_level)__builtin_ctzll(levels))->below;
    return below;
}

/* A part is searched for a refutation in all that is known of it, transactions judged before and waiting ones too:
 * a refutation of some transactions refutes the whole, and an explanation of them leaves the level open. */
static enum rig_rc decide(const struct rig_findings_adding *a)
{
    const int64_t start_ns = rig_clock_now_ns();
    const struct rig_solve_budget budget = {start_ns + a->findings->budget_ns, a->findings->solver_limit_bytes};
    struct rig_solve_budget share = budget;
    struct rig_problem problem = {0};
    uint64_t apart = 0, held = 0;
    enum rig_rc rc = build_problem(a, false, &problem);
    if (rc == RIG_OK && rig_type_has_phantoms(&a->judge->inference, &problem)) {
        apart = rig_levels_of_items();
        share.deadline_ns -= a->findings->budget_ns / SHARE_OF_ITEMS;
    }
    if (rc == RIG_OK)
        rc = decide_open(a, &problem, open_levels(a) & ~apart, &share, &held);
    if (rc == RIG_OK && may_assume(a->judge))
        rc = decide_plainly(a, &problem, ~apart, &share);
    rig_problem_done(&problem);
    if (rc == RIG_OK && is_part(a->judge))
        a->findings->apart |= apart & open_levels(a) & levels_below(held);
    apart &= ~levels_below(held) & (may_assume(a->judge) ? ~UINT64_C(0) : open_levels(a));
    if (rc == RIG_OK && apart != 0)
        rc = decide_items(a, apart, &budget);
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    a->findings->decide_ns += took_ns;
    a->findings->budget_ns -= took_ns < a->findings->budget_ns ? took_ns : a->findings->budget_ns;
    return rc;
}

/* ---- sums ---- */

/* Levels of counters and banks, by orders of the increments. An omitted increment might explain what a read shows. */
static enum rig_rc decide_sums(const struct rig_findings_adding *a)
{
    struct rig_findings *findings = a->findings;
    const int64_t start_ns = rig_clock_now_ns();
    const uint64_t levels = (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~rig_findings_refuted(findings);
    const struct rig_sum_limits limits = {.deadline_ns = start_ns + findings->budget_ns,
                                          .bytes = findings->solver_limit_bytes};
    struct rig_sum_decided decided;
    const enum rig_rc rc = rig_sums_decide(a->judge->history, levels, &limits, &decided, a->err);
    if (rc != RIG_OK)
        return rc;
    findings->explained |= decided.held;
    findings->spent |= decided.refuted; /* a search that ended early says nothing: no read refutes the level */
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    return RIG_OK;
}

/* Levels of rows that reads leave open. Those that count no rw edges by predicates do not depend on the versions of
 * rows that reads miss: each read may have been before all of them. */
static enum rig_rc decide_rows(const struct rig_findings_adding *a)
{
    struct rig_findings *findings = a->findings;
    const struct rig_inference *inference = &a->judge->inference;
    const int64_t start_ns = rig_clock_now_ns();
    uint64_t levels = (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~rig_findings_refuted(findings);
    struct rig_rows_decided decided;
    if (inference->open_reads > 0 && inference->open_reads == inference->missing_reads)
        findings->explained |= levels & rig_levels_without_predicates();
    levels &= ~levels_below(findings->explained);
    enum rig_rc rc = rig_rows_explain(a->judge->history, a->judge, levels, start_ns + findings->budget_ns,
                                      findings->arena, &decided, a->err);
    for (uint32_t i = 0; rc == RIG_OK && i < decided.refuted_count; i++)
        rc = rig_findings_keep_decided(a, decided.refuted[i].level, &decided.refuted[i].witness);
    findings->explained |= decided.held;
    findings->spent |= decided.unproven;
    findings->unproven |= decided.unproven;
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    return rc;
}

static bool any_found(const struct rig_judge *judge)
{
    bool any = judge->inference.noncyclic.kept.count > 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        any |= judge->ladder.found[anomaly].count > 0;
    return any;
}

static bool decides_rows(const struct rig_judge *judge)
{
    return judge->type->certified_by_rows && (judge->inference.open_reads > 0 || any_found(judge)) &&
           judge->inference.unknown_reads == 0 && judge->history->lost_count == 0 && judge->history->places == NULL &&
           judge->history->certificate == NULL && judge->selected == NULL;
}

static bool decides_sums(const struct rig_judge *judge)
{
    return judge->type->no_edges && judge->inference.open_reads > 0 && judge->history->lost_count == 0;
}

/* ---- all together ---- */

/* The anomalies that the search leaves open: those of items by the graph without predicates, where there is one. */
static rig_anomaly_set undecided_items(const struct rig_judge *judge)
{
    rig_anomaly_set undecided = judge->ladder.undecided & judge->asked;
    for (unsigned i = 0; judge->has_items && i < RIG_ANOMALY_COUNT; i++) {
        if (rig_anomaly_by_predicate((enum rig_anomaly)i) != (enum rig_anomaly)i)
            undecided &= ~RIG_ANOMALY_BIT(i);
    }
    return judge->has_items ? undecided | judge->item_ladder.undecided : undecided;
}

/* A cycle with an rw edge by a predicate has the shape of one in the graph of all edges. Where that has cycles of the
 * shape, and no witness of one by a predicate, there may be another one. */
static void note_undecided_phantoms(const struct rig_findings_adding *a)
{
    for (unsigned i = 0; a->judge->has_phantoms && i < RIG_ANOMALY_COUNT; i++) {
        enum rig_anomaly item;
        const struct rig_ladder *ladder = &a->judge->ladder;
        if ((a->judge->asked & RIG_ANOMALY_BIT(i)) != 0 && rig_anomaly_is_by_predicate((enum rig_anomaly)i, &item) &&
            (rig_ladder_count(ladder, item) > 0 || (ladder->undecided & RIG_ANOMALY_BIT(item)) != 0))
            a->findings->undecided |= RIG_ANOMALY_BIT(i);
    }
}

enum rig_rc rig_findings_add(struct rig_findings *findings, const struct rig_judge *judge, struct rig_err *err)
{
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
            findings->cyclic[rung][order] |= judge->ladder.cyclic[rung][order];
    }
    findings->undecided |= undecided_items(judge);
    struct rig_findings_adding a = {findings, judge, NULL, err};
    const bool decides_objects = judge->type->objects;
    if (!any_found(judge) && open_levels(&a) == 0 && !decides_objects && !decides_sums(judge) && !decides_rows(judge))
        return RIG_OK;
    struct rig_verifier *verifier = rig_verifier_new(judge->history, judge->inference.prefilled);
    if (verifier == NULL)
        return rig_findings_no_memory(err);
    a.verifier = verifier;
    rig_verifier_begin(verifier, judge->inference.initial);
    enum rig_rc rc = rig_findings_keep_named(&a);
    note_undecided_phantoms(&a);
    if (rc == RIG_OK && needs_decisions(&a))
        rc = decide(&a);
    if (rc == RIG_OK && decides_objects)
        rc = rig_findings_decide_objects(&a);
    if (rc == RIG_OK && findings->lattice == RIG_LATTICE_EXACT && decides_sums(judge))
        rc = decide_sums(&a);
    if (rc == RIG_OK && findings->lattice == RIG_LATTICE_EXACT && decides_rows(judge))
        rc = decide_rows(&a);
    rig_verifier_free(verifier);
    return rc;
}
