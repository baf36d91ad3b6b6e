#include "checker/findings.h"

#include <string.h>

#include "base/bug.h"
#include "checker/cycle/collect.h"
#include "checker/witness/explain.h"
#include "checker/witness/sentence.h"
#include "checker/witness/verify.h"

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

/* Makes room for a witness at `place`; drops the last one when all places are taken. NULL when memory runs out. */
static struct rig_witness *witness_room(struct rig_findings *findings, struct rig_finding *finding, uint32_t place)
{
    RIG_REQUIRE(place <= finding->witness_count && place < findings->most_kept);
    if (finding->witnesses == NULL)
        finding->witnesses = rig_arena_array(findings->arena, findings->most_kept, sizeof *finding->witnesses);
    if (finding->witnesses == NULL)
        return NULL;
    finding->witness_count += finding->witness_count < findings->most_kept;
    struct rig_witness *room = finding->witnesses + place;
    memmove(room + 1, room, (finding->witness_count - 1 - place) * sizeof *room);
    return room;
}

/* Proves the witness and words it; where the window will be freed, keeps its transactions for the final text. */
static enum rig_rc settle(const struct adding *a, struct rig_witness *witness)
{
    const struct rig_history *history = a->judge->history;
    enum rig_rc rc = rig_verify_witness(a->verifier, witness, a->err);
    if (rc != RIG_OK)
        return rc;
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

static enum rig_rc keep_cycle(const struct adding *a, struct rig_finding *finding, const struct rig_cycle *cycle)
{
    uint32_t place = place_of_cycle(a->findings, finding, cycle->count);
    if (place >= a->findings->most_kept)
        return RIG_OK;
    struct rig_witness witness;
    enum rig_rc rc = rig_explain_cycle(&a->judge->inference, cycle, a->findings->arena, &witness, a->err);
    if (rc == RIG_OK)
        rc = settle(a, &witness);
    if (rc != RIG_OK)
        return rc;
    struct rig_witness *room = witness_room(a->findings, finding, place);
    if (room == NULL)
        return no_memory(a->err);
    *room = witness;
    while (finding->witness_count > 1 && finding->witnesses[finding->witness_count - 1].txn_count > RIG_CYCLE_LONG)
        finding->witness_count--;
    RIG_INVARIANT(finding->witness_count > 0 && finding->witness_count <= a->findings->most_kept);
    return RIG_OK;
}

static enum rig_rc keep_cycles(const struct adding *a)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_cycles_found *found = &a->judge->ladder.found[anomaly];
        struct rig_finding *finding = &a->findings->of[anomaly];
        finding->count += found->count;
        if (found->count > 0)
            finding->refutes |= rig_levels_refuted_by((enum rig_anomaly)anomaly, true);
        for (uint32_t i = 0; i < found->kept_count; i++) {
            enum rig_rc rc = keep_cycle(a, finding, &found->kept[i]);
            if (rc != RIG_OK)
                return rc;
        }
    }
    return RIG_OK;
}

/* The place after those that refute as many levels; `most_kept` when it is not kept. */
static uint32_t place_of_noncyclic(const struct rig_finding *finding, const struct rig_noncyclic *found)
{
    const uint64_t refutes = rig_levels_refuted_by(found->anomaly, !found->unsettled);
    uint32_t place = finding->witness_count;
    while (place > 0 && (refutes & ~finding->witnesses[place - 1].refutes) != 0)
        place--;
    return place;
}

static enum rig_rc keep_noncyclic(const struct adding *a, const struct rig_noncyclic *found)
{
    struct rig_finding *finding = &a->findings->of[found->anomaly];
    const uint32_t place = place_of_noncyclic(finding, found);
    RIG_INVARIANT(a->judge->inference.committed[found->txn] && found->key < a->judge->history->key_count);
    RIG_INVARIANT((a->judge->type->anomalies & RIG_ANOMALY_BIT(found->anomaly)) != 0);
    finding->exact = true;
    if (place == a->findings->most_kept)
        return RIG_OK;
    struct rig_witness witness;
    enum rig_rc rc = rig_explain_noncyclic(found, a->findings->arena, &witness, a->err);
    if (rc == RIG_OK)
        rc = settle(a, &witness);
    if (rc != RIG_OK)
        return rc;
    struct rig_witness *room = witness_room(a->findings, finding, place);
    if (room == NULL)
        return no_memory(a->err);
    *room = witness;
    return RIG_OK;
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
            finding->refutes |= rig_levels_refuted_by((enum rig_anomaly)anomaly, noncyclic->settled[anomaly] > 0);
    }
    return RIG_OK;
}

static bool any_found(const struct rig_judge *judge)
{
    bool any = judge->inference.noncyclic.kept.count > 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        any |= judge->ladder.found[anomaly].count > 0;
    return any;
}

enum rig_rc rig_findings_add(struct rig_findings *findings, const struct rig_judge *judge, struct rig_err *err)
{
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
            findings->cyclic[rung][order] |= judge->ladder.cyclic[rung][order];
    }
    findings->undecided |= judge->ladder.undecided;
    if (!any_found(judge))
        return RIG_OK;
    struct rig_verifier *verifier = rig_verifier_new(judge->history);
    if (verifier == NULL)
        return no_memory(err);
    struct adding a = {findings, judge, verifier, err};
    enum rig_rc rc = keep_all_noncyclic(&a);
    if (rc == RIG_OK)
        rc = keep_cycles(&a);
    rig_verifier_free(verifier);
    return rc;
}
