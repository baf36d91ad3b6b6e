#include "checker/judge/findings_private.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/rule.h"
#include "checker/explain/assumed.h"
#include "checker/explain/explain.h"
#include "checker/explain/refutes.h"
#include "checker/explain/sentence.h"
#include "checker/model/own_level.h"

enum rig_rc rig_findings_no_memory(struct rig_err *err)
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

bool rig_findings_put(struct rig_findings *findings, struct rig_finding *finding, uint32_t place,
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

enum rig_rc rig_findings_settle(const struct rig_findings_adding *a, bool settled, struct rig_witness *witness)
{
    const struct rig_history *history = a->judge->history;
    enum rig_rc rc = rig_verify_witness(a->verifier, witness, a->err);
    if (rc != RIG_OK)
        return rc;
    uint64_t refutes;
    if (!rig_witness_refutes(history, a->findings->lattice, witness, settled, &refutes))
        return rig_findings_no_memory(a->err);
    witness->refutes |= refutes; /* a proof by cases refutes levels that its cycles alone do not show */
    if (a->findings->reads_at_once && a->findings->lattice == RIG_LATTICE_EXACT) {
        /* Levels that compare operations are refuted by names alone, which hold in each order of the reads. */
        const uint64_t named = rig_levels_refuted_by(RIG_LATTICE_EXACT, witness->anomaly, settled);
        witness->refutes =
            rig_levels_above(RIG_LATTICE_EXACT, witness->refutes & (named | ~rig_levels_by_operations()));
    }
    if (a->findings->evidence == NULL)
        return rig_sentence_word(history, witness, a->findings->arena) ? RIG_OK : rig_findings_no_memory(a->err);
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

static enum rig_rc keep_cycle(const struct rig_findings_adding *a, struct rig_finding *finding,
                              struct rig_witness *witness)
{
    uint32_t place = place_of_cycle(a->findings, finding, witness->txn_count);
    if (place >= a->findings->most_kept)
        return RIG_OK;
    enum rig_rc rc = rig_findings_settle(a, true, witness);
    if (rc != RIG_OK)
        return rc;
    if (!rig_findings_put(a->findings, finding, place, witness))
        return rig_findings_no_memory(a->err);
    drop_long(finding);
    RIG_INVARIANT(finding->witness_count > 0 && finding->witness_count <= a->findings->most_kept);
    return RIG_OK;
}

static void count_cycles(const struct rig_findings_adding *a, enum rig_anomaly anomaly, uint64_t count)
{
    struct rig_finding *finding = &a->findings->of[anomaly];
    finding->count += count;
    if (count > 0)
        finding->refutes |= rig_levels_refuted_by(a->findings->lattice, anomaly, true);
}

/* The cycles of a ladder under one name. */
static enum rig_rc keep_cycles_of(const struct rig_findings_adding *a, const struct rig_ladder *ladder,
                                  enum rig_anomaly anomaly)
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

static enum rig_rc keep_cycles(const struct rig_findings_adding *a)
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
static enum rig_rc keep_mixed(const struct rig_findings_adding *a)
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
static bool breaks_own_level(const struct rig_findings_adding *a, const struct rig_noncyclic *found)
{
    const struct rig_history *history = a->judge->history;
    enum rig_level level;
    return (rig_own_level_reads & RIG_ANOMALY_BIT(found->anomaly)) != 0 && !found->unsettled &&
           rig_history_has_levels(history) && rig_txn_own_level(history, found->txn, &level) &&
           (rig_levels_refuted_by(RIG_LATTICE_EXACT, found->anomaly, true) & RIG_LEVEL_BIT(level)) != 0;
}

static enum rig_rc keep_noncyclic(const struct rig_findings_adding *a, const struct rig_noncyclic *found)
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
        rc = rig_findings_settle(a, !found->unsettled, &witness);
    if (rc != RIG_OK)
        return rc;
    return rig_findings_put(a->findings, finding, place, &witness) ? RIG_OK : rig_findings_no_memory(a->err);
}

static enum rig_rc keep_all_noncyclic(const struct rig_findings_adding *a)
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

static enum rig_rc keep_lost(const struct rig_findings_adding *a)
{
    const struct rig_judge *judge = a->judge;
    const struct rig_noncyclic_list *lost = &judge->inference.lost;
    for (size_t i = 0; i < lost->count; i++) {
        const struct rig_noncyclic *one = &lost->at[i];
        if ((judge->selected == NULL || judge->selected[one->txn]) &&
            !rig_lost_add(&a->findings->lost, judge->history, one->txn, one->other, one->key, one->value,
                          a->findings->arena))
            return rig_findings_no_memory(a->err);
    }
    return RIG_OK;
}

enum rig_rc rig_findings_keep_named(const struct rig_findings_adding *a)
{
    enum rig_rc rc = keep_all_noncyclic(a);
    if (rc == RIG_OK)
        rc = keep_lost(a);
    if (rc == RIG_OK)
        rc = keep_cycles(a);
    return rc == RIG_OK ? keep_mixed(a) : rc;
}

/* ---- witnesses of levels that were decided ---- */

uint64_t rig_findings_refuted(const struct rig_findings *findings)
{
    uint64_t refuted = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        refuted |= findings->of[anomaly].refutes;
    return refuted;
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

enum rig_rc rig_findings_keep_decided(const struct rig_findings_adding *a, enum rig_level level,
                                      struct rig_witness *witness)
{
    struct rig_finding *finding = &a->findings->of[witness->anomaly];
    enum rig_rc rc = rig_findings_settle(a, true, witness);
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
    return rig_findings_put(a->findings, finding, place, witness) ? RIG_OK : rig_findings_no_memory(a->err);
}
