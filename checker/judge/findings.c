#include "checker/judge/findings.h"

#include <string.h>

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
#include "checker/explain/refutes.h"
#include "checker/explain/sentence.h"
#include "checker/model/own_level.h"
#include "checker/objects/object_decide.h"
#include "checker/objects/object_sequential.h"
#include "checker/judge/row_levels.h"
#include "checker/prove/witness/verify.h"

enum { SHARE_OF_ITEMS = 8 }; /* of the budget, where levels of items are decided apart */

struct adding {
    struct rig_findings *findings;
    const struct rig_judge *judge;
    const struct rig_verifier *verifier;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the verdict");
}

/* The levels that the witnesses refute without one of them. */
static uint64_t refuted_without(const struct rig_finding *finding, uint32_t without)
{
    uint64_t refuted = 0;
    for (uint32_t i = 0; i < finding->witness_count; i++)
        refuted |= i == without ? 0 : finding->witnesses[i].refutes;
    return refuted;
}

static bool is_needed(const struct rig_finding *finding, uint32_t witness)
{
    return (finding->witnesses[witness].refutes & ~refuted_without(finding, witness)) != 0;
}

static void drop(struct rig_finding *finding, uint32_t place)
{
    struct rig_witness *dropped = &finding->witnesses[place];
    finding->witness_count--;
    memmove(dropped, dropped + 1, (finding->witness_count - place) * sizeof *dropped);
}

/* Drops the last witness that refutes nothing alone; else the last one. */
static void drop_one(struct rig_finding *finding)
{
    uint32_t place = finding->witness_count - 1;
    while (place > 0 && is_needed(finding, place))
        place--;
    drop(finding, is_needed(finding, place) ? finding->witness_count - 1 : place);
}

/* Puts a witness at `place`; drops another one when all places are taken. False when memory runs out. */
static bool put_witness(struct rig_findings *findings, struct rig_finding *finding, uint32_t place,
                        const struct rig_witness *witness)
{
    const size_t room = (size_t)findings->most_kept + 1;
    RIG_REQUIRE(place <= finding->witness_count);
    if (finding->witnesses == NULL)
        finding->witnesses = rig_arena_array(findings->arena, room, sizeof *finding->witnesses);
    if (finding->witnesses == NULL)
        return false;
    struct rig_witness *at = &finding->witnesses[place];
    memmove(at + 1, at, (finding->witness_count - place) * sizeof *at);
    *at = *witness;
    finding->witness_count++;
    finding->refutes |= witness->refutes;
    if (finding->witness_count > findings->most_kept)
        drop_one(finding);
    return true;
}

/* Proves the witness and words it; where the window will be freed, keeps its transactions for the final text.
 * `settled`: see rig_levels_refuted_by(). */
static enum rig_rc settle(const struct adding *a, bool settled, struct rig_witness *witness)
{
    const struct rig_history *history = a->judge->history;
    enum rig_rc rc = rig_verify_witness(a->verifier, witness, a->err);
    if (rc != RIG_OK)
        return rc;
    uint64_t refutes;
    if (!rig_witness_refutes(history, a->findings->lattice, witness, settled, &refutes))
        return no_memory(a->err);
    witness->refutes |= refutes; /* a proof by cases refutes levels that its cycles alone do not show */
    if (a->findings->reads_at_once && a->findings->lattice == RIG_LATTICE_EXACT) {
        /* Levels that compare operations are refuted by names alone, which hold in each order of the reads. */
        const uint64_t named = rig_levels_refuted_by(RIG_LATTICE_EXACT, witness->anomaly, settled);
        witness->refutes =
            rig_levels_above(RIG_LATTICE_EXACT, witness->refutes & (named | ~rig_levels_by_operations()));
    }
    if (a->findings->evidence == NULL)
        return rig_sentence_word(history, witness, a->findings->arena) ? RIG_OK : no_memory(a->err);
    return rig_witness_txns_keep(a->findings->evidence, history, a->findings->retired, witness, a->err);
}

/* The place of a cycle of that many transactions, after equally short ones; `most_kept` when it is not kept. */
static uint32_t place_of_cycle(const struct rig_findings *findings, const struct rig_finding *finding, size_t txn_count)
{
    uint32_t place = finding->witness_count;
    while (place > 0 && finding->witnesses[place - 1].txn_count > txn_count)
        place--;
    return place > 0 && txn_count > RIG_CYCLE_LONG ? findings->most_kept : place;
}

/* Long cycles are kept only while no shorter one refutes as much. */
static void drop_long(struct rig_finding *finding)
{
    for (uint32_t last = finding->witness_count; last-- > 1;) {
        if (finding->witnesses[last].txn_count > RIG_CYCLE_LONG && !is_needed(finding, last))
            drop(finding, last);
    }
}

static enum rig_rc keep_cycle(const struct adding *a, struct rig_finding *finding, struct rig_witness *witness)
{
    uint32_t place = place_of_cycle(a->findings, finding, witness->txn_count);
    if (place >= a->findings->most_kept)
        return RIG_OK;
    enum rig_rc rc = settle(a, true, witness);
    if (rc != RIG_OK)
        return rc;
    if (!put_witness(a->findings, finding, place, witness))
        return no_memory(a->err);
    drop_long(finding);
    RIG_INVARIANT(finding->witness_count > 0 && finding->witness_count <= a->findings->most_kept);
    return RIG_OK;
}

static void count_cycles(const struct adding *a, enum rig_anomaly anomaly, uint64_t count)
{
    struct rig_finding *finding = &a->findings->of[anomaly];
    finding->count += count;
    if (count > 0)
        finding->refutes |= rig_levels_refuted_by(a->findings->lattice, anomaly, true);
}

/* The cycles of a ladder under one name. */
static enum rig_rc keep_cycles_of(const struct adding *a, const struct rig_ladder *ladder, enum rig_anomaly anomaly)
{
    const struct rig_cycles_found *found = &ladder->found[anomaly];
    for (uint32_t i = 0; i < found->kept_count; i++) {
        const struct rig_cycle *cycle = &found->kept[i];
        struct rig_witness witness;
        if (place_of_cycle(a->findings, &a->findings->of[anomaly], cycle->count) >= a->findings->most_kept)
            continue;
        enum rig_rc rc = rig_explain_cycle(&a->judge->inference, cycle, a->findings->arena, &witness, a->err);
        RIG_INVARIANT(rc != RIG_OK || witness.anomaly == anomaly);
        if (rc == RIG_OK)
            rc = keep_cycle(a, &a->findings->of[witness.anomaly], &witness);
        if (rc != RIG_OK)
            return rc;
    }
    count_cycles(a, anomaly, found->count);
    return RIG_OK;
}

static enum rig_rc keep_cycles(const struct adding *a)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned i = 0; rc == RIG_OK && i < RIG_ANOMALY_COUNT; i++) {
        const enum rig_anomaly anomaly = (enum rig_anomaly)i;
        const bool is_apart = a->judge->has_items && rig_anomaly_by_predicate(anomaly) != anomaly;
        rc = keep_cycles_of(a, is_apart ? &a->judge->item_ladder : &a->judge->ladder, anomaly);
    }
    return rc;
}

/* The cycles of transactions with levels of their own. */
static enum rig_rc keep_mixed(const struct adding *a)
{
    const struct rig_cycles_found *found = &a->judge->mixed;
    struct rig_finding *finding = &a->findings->of[RIG_ANOMALY_G_MIXED];
    for (uint32_t i = 0; i < found->kept_count; i++) {
        struct rig_witness witness;
        enum rig_rc rc = rig_explain_cycle(&a->judge->inference, &found->kept[i], a->findings->arena, &witness, a->err);
        if (rc != RIG_OK)
            return rc;
        witness.anomaly = RIG_ANOMALY_G_MIXED;
        rc = keep_cycle(a, finding, &witness);
        if (rc != RIG_OK)
            return rc;
    }
    count_cycles(a, RIG_ANOMALY_G_MIXED, found->count);
    return RIG_OK;
}

/* The place after those that refute as many levels; `most_kept` when it is not kept. */
static uint32_t place_of_noncyclic(enum rig_lattice lattice, const struct rig_finding *finding,
                                   const struct rig_noncyclic *found)
{
    const uint64_t refutes = rig_levels_refuted_by(lattice, found->anomaly, !found->unsettled);
    uint32_t place = finding->witness_count;
    while (place > 0 && (refutes & ~finding->witnesses[place - 1].refutes) != 0)
        place--;
    return place;
}

/*
 * Whether the read breaks what its transaction's own level promises, whatever the others did. A transaction of unknown
 * fate may have aborted, unless each reader is of read committed or above.
 */
static bool breaks_own_level(const struct adding *a, const struct rig_noncyclic *found)
{
    const struct rig_history *history = a->judge->history;
    enum rig_level level;
    return (rig_own_level_reads & RIG_ANOMALY_BIT(found->anomaly)) != 0 && !found->unsettled &&
           rig_history_has_levels(history) && rig_txn_own_level(history, found->txn, &level) &&
           (rig_levels_refuted_by(RIG_LATTICE_EXACT, found->anomaly, true) & RIG_LEVEL_BIT(level)) != 0;
}

static enum rig_rc keep_noncyclic(const struct adding *a, const struct rig_noncyclic *found)
{
    struct rig_finding *finding = &a->findings->of[found->anomaly];
    uint32_t place = place_of_noncyclic(a->findings->lattice, finding, found);
    if (breaks_own_level(a, found) && a->findings->mixed_reads++ == 0) {
        a->findings->mixed_read = found->anomaly;
        place = 0;
    }
    RIG_INVARIANT(a->judge->inference.committed[found->txn] && found->key < a->judge->history->key_count);
    RIG_INVARIANT((a->judge->type->anomalies & RIG_ANOMALY_BIT(found->anomaly)) != 0);
    finding->exact = true;
    if (place == a->findings->most_kept)
        return RIG_OK;
    struct rig_witness witness;
    enum rig_rc rc = rig_explain_noncyclic(found, a->findings->arena, &witness, a->err);
    if (rc == RIG_OK)
        rc = settle(a, !found->unsettled, &witness);
    if (rc != RIG_OK)
        return rc;
    return put_witness(a->findings, finding, place, &witness) ? RIG_OK : no_memory(a->err);
}

static enum rig_rc keep_all_noncyclic(const struct adding *a)
{
    const struct rig_noncyclic_findings *noncyclic = &a->judge->inference.noncyclic;
    for (size_t i = 0; i < noncyclic->kept.count; i++) {
        enum rig_rc rc = keep_noncyclic(a, &noncyclic->kept.at[i]);
        if (rc != RIG_OK)
            return rc;
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        struct rig_finding *finding = &a->findings->of[anomaly];
        finding->count += noncyclic->count[anomaly];
        if (noncyclic->count[anomaly] > 0)
            finding->refutes |=
                rig_levels_refuted_by(a->findings->lattice, (enum rig_anomaly)anomaly, noncyclic->settled[anomaly] > 0);
    }
    return RIG_OK;
}

static enum rig_rc keep_lost(const struct adding *a)
{
    const struct rig_judge *judge = a->judge;
    const struct rig_noncyclic_list *lost = &judge->inference.lost;
    for (size_t i = 0; i < lost->count; i++) {
        const struct rig_noncyclic *one = &lost->at[i];
        if ((judge->selected == NULL || judge->selected[one->txn]) &&
            !rig_lost_add(&a->findings->lost, judge->history, one->txn, one->other, one->key, one->value,
                          a->findings->arena))
            return no_memory(a->err);
    }
    return RIG_OK;
}

/* ---- levels that no anomaly refutes by its name ---- */

static uint64_t all_refuted(const struct rig_findings *findings)
{
    uint64_t refuted = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        refuted |= findings->of[anomaly].refutes;
    return refuted;
}

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
    return decidable_levels(findings, judge) & ~all_refuted(findings);
}

/* Whether only a part of the history is judged, by a type whose levels need the whole. */
static bool is_part(const struct rig_judge *judge)
{
    return judge->type->whole && judge->selected != NULL;
}

/* The levels to be decided here. */
static uint64_t open_levels(const struct adding *a)
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
    return all_refuted(findings) & ~plainly;
}

/* Whether `better` is of the same transactions, refutes as much as `witness` or more, and assumes no more. */
static bool surpasses(const struct rig_witness *better, const struct rig_witness *witness)
{
    return better->txn_count == witness->txn_count && (witness->refutes & ~better->refutes) == 0 &&
           (rig_witness_assumed(better) & ~rig_witness_assumed(witness)) == 0 &&
           memcmp(better->txns, witness->txns, witness->txn_count * sizeof witness->txns[0]) == 0;
}

/* Witnesses without assumptions come first, then those of fewer transactions. */
static bool comes_before(const struct rig_witness *witness, const struct rig_witness *other)
{
    const bool assumed = rig_witness_assumed(witness) != 0, other_assumed = rig_witness_assumed(other) != 0;
    return assumed != other_assumed ? other_assumed : witness->txn_count < other->txn_count;
}

/* Keeps a witness of the level; of two that concern the same transactions, the one that refutes more. */
static enum rig_rc keep_decided(const struct adding *a, enum rig_level level, struct rig_witness *witness)
{
    struct rig_finding *finding = &a->findings->of[witness->anomaly];
    enum rig_rc rc = settle(a, true, witness);
    if (rc != RIG_OK)
        return rc;
    RIG_INVARIANT((witness->refutes & RIG_LEVEL_BIT(level)) != 0);
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        struct rig_witness *other = &finding->witnesses[i];
        if (surpasses(other, witness))
            return RIG_OK;
        if (!surpasses(witness, other))
            continue;
        *other = *witness;
        finding->refutes |= witness->refutes;
        return RIG_OK;
    }
    uint32_t place = finding->witness_count;
    while (place > 0 && comes_before(witness, &finding->witnesses[place - 1]))
        place--;
    finding->count += finding->count == finding->witness_count; /* else it may have been counted */
    return put_witness(a->findings, finding, place, witness) ? RIG_OK : no_memory(a->err);
}

static enum rig_rc keep_decided_cycle(const struct adding *a, const struct rig_decisions *decisions,
                                      const struct rig_decided_cycle *cycle)
{
    struct rig_witness witness;
    enum rig_rc rc = rig_explain_arcs(&a->judge->inference, &decisions->arcs.at[cycle->first_arc], cycle->arc_count,
                                      a->findings->arena, &witness, a->err);
    return rc == RIG_OK ? keep_decided(a, cycle->level, &witness) : rc;
}

/* A proof without cases is a cycle. */
static enum rig_rc keep_proof(const struct adding *a, const struct rig_case_proof *proof)
{
    struct rig_witness witness = {0};
    enum rig_rc rc;
    if (proof->line_count == 1 && a->judge->type->total_orders) {
        struct rig_arc *arcs = rig_arena_array(a->findings->arena, proof->edge_count, sizeof *arcs);
        if (arcs == NULL)
            return no_memory(a->err);
        for (uint32_t i = 0; i < proof->edge_count; i++)
            arcs[i] = proof->edges[i].arc;
        rc = rig_explain_arcs(&a->judge->inference, arcs, proof->edge_count, a->findings->arena, &witness, a->err);
    } else {
        rc = rig_explain_proof(&a->judge->inference, proof, a->findings->arena, &witness, a->err);
    }
    return rc == RIG_OK ? keep_decided(a, proof->level, &witness) : rc;
}

/* Decides the levels, and keeps the witnesses of the refuted ones. */
static enum rig_rc decide_problem(const struct adding *a, const struct rig_problem *problem, uint64_t levels,
                                  const struct rig_solve_budget *budget, struct rig_decisions *decisions)
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
    RIG_INVARIANT((decisions->refuted & ~all_refuted(a->findings)) == 0); /* each has its witness */
    return RIG_OK;
}

static enum rig_rc decide_open(const struct adding *a, const struct rig_problem *problem, uint64_t levels,
                               const struct rig_solve_budget *budget, uint64_t *held)
{
    struct rig_decisions decisions = {0};
    enum rig_rc rc = levels == 0 ? RIG_OK : decide_problem(a, problem, levels, budget, &decisions);
    RIG_INVARIANT(rc != RIG_OK || (decisions.held & all_refuted(a->findings)) == 0);
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
static enum rig_rc decide_plainly(const struct adding *a, struct rig_problem *problem, uint64_t levels,
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

static bool needs_decisions(const struct adding *a)
{
    return open_levels(a) != 0 || (may_assume(a->judge) &&
                                   (decidable_levels(a->findings, a->judge) & refuted_by_assumption(a->findings)) != 0);
}

/* The question of all reads, or of those of items. */
static enum rig_rc build_problem(const struct adding *a, bool items, struct rig_problem *problem)
{
    const struct rig_judge *judge = a->judge;
    const uint8_t *among = judge->type->total_orders ? judge->ladder.possible : NULL;
    return judge->type->build_problem(&judge->inference, among, items, problem, a->err);
}

/* The levels of items, where a read found no row: a problem without that read decides them. */
static enum rig_rc decide_items(const struct adding *a, uint64_t levels, const struct rig_solve_budget *budget)
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
static enum rig_rc decide(const struct adding *a)
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

/* ---- objects ---- */

/* A witness whose proof takes too long leaves its object open. */
static enum rig_rc keep_object(const struct adding *a, struct rig_witness *witness, struct rig_objects_decided *decided)
{
    struct rig_finding *finding = &a->findings->of[witness->anomaly];
    struct rig_err why = {0};
    const struct adding trying = {a->findings, a->judge, a->verifier, &why};
    const enum rig_rc rc = settle(&trying, true, witness);
    if (witness->blocked != NULL)
        witness->blocked->from = NULL;
    if (rc == RIG_E_LIMIT) {
        decided->refuted--;
        decided->open++;
        return RIG_OK;
    }
    if (rc != RIG_OK)
        return rig_fail(a->err, rc, "%s", why.text);
    return put_witness(a->findings, finding, finding->witness_count, witness) ? RIG_OK : no_memory(a->err);
}

/* Takes over registers that begin with another value, or may. */
static enum rig_rc note_begun(const struct adding *a, const struct rig_object_begun *from, struct rig_begun *begun)
{
    char key[RIG_BEGUN_KEY_BYTES];
    rig_history_key_name(a->judge->history, from->key, key, sizeof key);
    if (begun->count == 0)
        *begun = (struct rig_begun){.value = from->value, .key = rig_arena_text(a->findings->arena, key, strlen(key))};
    begun->count += from->count;
    return begun->key != NULL ? RIG_OK : no_memory(a->err);
}

/* Counts elements that were lost, given twice or never added, and keeps witnesses. */
static enum rig_rc keep_elements(const struct adding *a, struct rig_objects_decided *decided)
{
    const struct rig_delivery_found *delivery = &decided->delivery;
    enum rig_rc rc = RIG_OK;
    for (unsigned i = 0; i < RIG_DELIVERY_COUNT; i++) {
        struct rig_finding *finding = &a->findings->of[rig_delivery_anomalies[i]];
        finding->count += delivery->count[i];
        finding->exact = !decided->delivery_open && (i != RIG_DELIVERY_LOST || !delivery->open);
    }
    for (uint32_t i = 0; rc == RIG_OK && i < delivery->kept_count; i++) {
        struct rig_witness *witness = &delivery->witnesses[i];
        struct rig_finding *finding = &a->findings->of[witness->anomaly];
        rc = settle(a, true, witness);
        if (rc == RIG_OK && !put_witness(a->findings, finding, finding->witness_count, witness))
            rc = no_memory(a->err);
    }
    return rc;
}

/* The levels that an order of all operations holds which keeps the order of each process. */
static uint64_t sequential_levels(void)
{
    return rig_level_info(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE)->below;
}

bool rig_sequential_asked(uint64_t levels)
{
    return (levels & sequential_levels()) != 0;
}

/* Objects that may not be linearizable, of a history that is whole. A refutation whose proof takes too long leaves it
 * open. */
static enum rig_rc decide_sequential(const struct adding *a, int64_t deadline_ns)
{
    enum { BRIEF_STEPS = 1 << 20 };
    struct rig_findings *findings = a->findings;
    struct rig_finding *finding = &findings->of[RIG_ANOMALY_NONSEQUENTIAL];
    struct rig_sequential sequential;
    struct rig_err why = {0};
    const struct adding trying = {findings, a->judge, a->verifier, &why};
    const struct rig_object_search_limits limits = {deadline_ns, findings->limit_bytes,
                                                    findings->asks_sequential ? 0 : BRIEF_STEPS};
    enum rig_rc rc = rig_objects_sequential(a->judge->history, a->judge->inference.initial, &limits, findings->arena,
                                            &sequential, a->err);
    if (rc == RIG_OK && sequential.doubted.count > 0)
        rc = note_begun(a, &sequential.doubted, &findings->begun.doubted);
    if (rc != RIG_OK)
        return rc;
    findings->sequential =
        findings->asks_sequential || sequential.doubted.count > 0 ? RIG_SEQUENTIAL_SPENT : RIG_SEQUENTIAL_BRIEF;
    if (sequential.answer == RIG_OBJECT_LINEARIZABLE)
        findings->sequential = RIG_SEQUENTIAL_HELD;
    rc = sequential.answer == RIG_OBJECT_REFUTED ? settle(&trying, true, &sequential.witness) : RIG_E_LIMIT;
    if (rc == RIG_E_LIMIT)
        return RIG_OK;
    if (rc != RIG_OK)
        return rig_fail(a->err, rc, "%s", why.text);
    findings->sequential = RIG_SEQUENTIAL_REFUTED;
    finding->count = 1;
    finding->exact = false;
    return put_witness(findings, finding, 0, &sequential.witness) ? RIG_OK : no_memory(a->err);
}

/* After the last judgement. */
static enum rig_rc end_objects(const struct adding *a, int64_t deadline_ns)
{
    struct rig_findings *findings = a->findings;
    const bool linearizable = findings->of[RIG_ANOMALY_NONLINEARIZABLE].count == 0 && findings->open_objects == 0 &&
                              findings->begun.doubted.count == 0 && a->judge->history->has_invocations;
    enum rig_rc rc = RIG_OK;
    if (linearizable || (findings->objects != NULL && !findings->objects->is_last))
        return RIG_OK;
    if (findings->objects == NULL)
        rc = decide_sequential(a, deadline_ns);
    else
        findings->sequential = RIG_SEQUENTIAL_PARTS;
    if (findings->sequential == RIG_SEQUENTIAL_HELD)
        findings->spent &= ~sequential_levels();
    else if (findings->sequential == RIG_SEQUENTIAL_SPENT)
        findings->spent |= sequential_levels();
    else if (findings->sequential == RIG_SEQUENTIAL_PARTS && findings->asks_sequential)
        findings->apart |= sequential_levels();
    return rc;
}

static enum rig_rc decide_objects(const struct adding *a)
{
    struct rig_findings *findings = a->findings;
    struct rig_finding *finding = &findings->of[RIG_ANOMALY_NONLINEARIZABLE];
    struct rig_objects_decided decided;
    const int64_t start_ns = rig_clock_now_ns();
    const struct rig_objects_limits limits = {start_ns + findings->budget_ns, findings->limit_bytes,
                                              findings->most_kept - finding->witness_count, findings->most_kept};
    enum rig_rc rc = rig_objects_decide(a->judge->inference.history, a->judge->inference.initial, findings->objects,
                                        &limits, findings->arena, &decided, a->err);
    for (uint32_t i = 0; rc == RIG_OK && i < decided.witness_count; i++)
        rc = keep_object(a, &decided.witnesses[i], &decided);
    if (rc == RIG_OK)
        rc = keep_elements(a, &decided);
    if (rc != RIG_OK)
        return rc;
    finding->count += decided.refuted;
    findings->open_objects += decided.open;
    if (decided.taken.count > 0)
        rc = note_begun(a, &decided.taken, &findings->begun.taken);
    if (rc == RIG_OK && decided.doubted.count > 0)
        rc = note_begun(a, &decided.doubted, &findings->begun.doubted);
    if (rc != RIG_OK)
        return rc;
    finding->exact = findings->open_objects == 0 && findings->begun.doubted.count == 0;
    if (findings->open_objects > 0 || findings->begun.doubted.count > 0)
        findings->spent = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1;
    rc = end_objects(a, limits.deadline_ns);
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    return rc;
}

/* ---- sums ---- */

/* Levels of counters and banks, by orders of the increments. An omitted increment might explain what a read shows. */
static enum rig_rc decide_sums(const struct adding *a)
{
    struct rig_findings *findings = a->findings;
    const int64_t start_ns = rig_clock_now_ns();
    const uint64_t levels = (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~all_refuted(findings);
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
static enum rig_rc decide_rows(const struct adding *a)
{
    struct rig_findings *findings = a->findings;
    const struct rig_inference *inference = &a->judge->inference;
    const int64_t start_ns = rig_clock_now_ns();
    uint64_t levels = (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~all_refuted(findings);
    struct rig_rows_decided decided;
    if (inference->open_reads == inference->missing_reads)
        findings->explained |= levels & rig_levels_without_predicates();
    levels &= ~levels_below(findings->explained);
    enum rig_rc rc = rig_rows_explain(a->judge->history, a->judge, levels, start_ns + findings->budget_ns,
                                      findings->arena, &decided, a->err);
    for (uint32_t i = 0; rc == RIG_OK && i < decided.refuted_count; i++)
        rc = keep_decided(a, decided.refuted[i].level, &decided.refuted[i].witness);
    findings->explained |= decided.held;
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    return rc;
}

static bool decides_rows(const struct rig_judge *judge)
{
    return judge->type->certified_by_rows && judge->inference.open_reads > 0 && judge->inference.unknown_reads == 0 &&
           judge->history->lost_count == 0 && judge->history->places == NULL && judge->history->certificate == NULL &&
           judge->selected == NULL;
}

static bool decides_sums(const struct rig_judge *judge)
{
    return judge->type->no_edges && judge->inference.open_reads > 0 && judge->history->lost_count == 0;
}

/* ---- all together ---- */

static bool any_found(const struct rig_judge *judge)
{
    bool any = judge->inference.noncyclic.kept.count > 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        any |= judge->ladder.found[anomaly].count > 0;
    return any;
}

/* The anomalies that the search leaves open: those of items by the graph without predicates, where there is one. */
static uint64_t undecided_items(const struct rig_judge *judge)
{
    uint64_t undecided = judge->ladder.undecided & judge->asked;
    for (unsigned i = 0; judge->has_items && i < RIG_ANOMALY_COUNT; i++) {
        if (rig_anomaly_by_predicate((enum rig_anomaly)i) != (enum rig_anomaly)i)
            undecided &= ~RIG_ANOMALY_BIT(i);
    }
    return judge->has_items ? undecided | judge->item_ladder.undecided : undecided;
}

/* A cycle with an rw edge by a predicate has the shape of one in the graph of all edges. Where that has cycles of the
 * shape, and no witness of one by a predicate, there may be another one. */
static void note_undecided_phantoms(const struct adding *a)
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
    struct adding a = {findings, judge, NULL, err};
    const bool decides_objects = judge->type->objects;
    if (!any_found(judge) && open_levels(&a) == 0 && !decides_objects && !decides_sums(judge) && !decides_rows(judge))
        return RIG_OK;
    struct rig_verifier *verifier = rig_verifier_new(judge->history, judge->inference.prefilled);
    if (verifier == NULL)
        return no_memory(err);
    a.verifier = verifier;
    rig_verifier_begin(verifier, judge->inference.initial);
    enum rig_rc rc = keep_all_noncyclic(&a);
    if (rc == RIG_OK)
        rc = keep_lost(&a);
    if (rc == RIG_OK)
        rc = keep_cycles(&a);
    if (rc == RIG_OK)
        rc = keep_mixed(&a);
    note_undecided_phantoms(&a);
    if (rc == RIG_OK && needs_decisions(&a))
        rc = decide(&a);
    if (rc == RIG_OK && decides_objects)
        rc = decide_objects(&a);
    if (rc == RIG_OK && findings->lattice == RIG_LATTICE_EXACT && decides_sums(judge))
        rc = decide_sums(&a);
    if (rc == RIG_OK && findings->lattice == RIG_LATTICE_EXACT && decides_rows(judge))
        rc = decide_rows(&a);
    rig_verifier_free(verifier);
    return rc;
}
