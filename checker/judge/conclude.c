#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/judge/asked.h"
#include "checker/judge/certify.h"
#include "checker/judge/crash_views.h"
#include "checker/evidence/claims.h"
#include "checker/model/own_level.h"
#include "checker/judge/fate.h"
#include "checker/judge/conclude.h"

struct rig_verdict_storage *rig_verdict_new(const struct rig_check_options *options)
{
    struct rig_verdict_storage *storage = calloc(1, sizeof *storage);
    if (storage == NULL)
        return NULL;
    rig_arena_init(&storage->arena, options->limit_bytes);
    storage->verdict =
        (struct rig_verdict){.requested_levels = options->levels,
                             .requested_anomalies = options->anomalies,
                             .lattice = options->lattice,
                             .prefilled = (options->assumptions & RIG_ASSUMES_PREFILLED) != 0,
                             .limit_bytes = options->limit_bytes,
                             .budget_ns = options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : options->budget_ns,
                             .storage = storage};
    storage->verdict.cost.window_count = 1;
    storage->verdict.cost.pass_count = 1;
    if (options->levels == 0 && options->anomalies == 0)
        storage->verdict.requested_levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    return storage;
}

void rig_verdict_free(struct rig_verdict *verdict)
{
    if (verdict == NULL)
        return;
    struct rig_verdict_storage *storage = verdict->storage;
    rig_certified_free(verdict->certified);
    rig_durability_free(verdict->durability);
    rig_claims_free(verdict->claims);
    rig_arena_done(&storage->arena);
    rig_history_free(storage->history);
    free(storage);
}

static uint64_t count_unknown_reads(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    uint64_t count = 0;
    for (; history->txns[txn].outcome == RIG_OUTCOME_OK && op < end; op++)
        count += rig_op_reads(op->kind) && op->read_state == RIG_READ_UNKNOWN;
    return count;
}

/* Counts over the transactions of an inference. */
struct tally {
    uint64_t txns, ops, ok, fail, committed, unknown_reads;
};

/* Subtracts the transactions that are not selected, which are few. */
static void leave_out(const struct rig_inference *inference, const uint8_t *selected, struct tally *tally)
{
    const struct rig_history *history = inference->history;
    const uint8_t *committed = inference->committed;
    const uint32_t count = history->txn_count;
    for (uint32_t txn = 0; (txn = rig_judge_left_out(selected, txn, count)) < count; txn++) {
        enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        tally->txns--;
        tally->ops -= rig_txn_op_count(history, txn);
        tally->ok -= outcome == RIG_OUTCOME_OK;
        tally->fail -= outcome == RIG_OUTCOME_FAIL;
        tally->committed -= committed[txn];
        if (inference->unknown_reads > 0)
            tally->unknown_reads -= count_unknown_reads(history, txn);
    }
}

/* The levels that transactions asked for. */
static void add_own_levels(const struct rig_history *history, const uint8_t *selected, struct rig_scope *scope)
{
    const uint32_t count = rig_history_has_levels(history) ? history->txn_count : 0;
    for (uint32_t txn = 0; txn < count; txn++) {
        enum rig_level level;
        if (selected != NULL && !selected[txn])
            continue;
        const bool has = rig_txn_own_level(history, txn, &level);
        scope->own_levels |= has ? RIG_LEVEL_BIT(level) : 0;
        scope->some_uncommitted |= !has || (RIG_LEVEL_BIT(level) & rig_levels_below_committed) != 0;
    }
}

void rig_verdict_add_scope(struct rig_verdict *verdict, const struct rig_inference *inference, const uint8_t *selected)
{
    const struct rig_history *history = inference->history;
    struct rig_scope *scope = &verdict->scope;
    struct tally tally = {.txns = history->txn_count,
                          .ops = history->op_count,
                          .ok = inference->ok_count,
                          .fail = inference->fail_count,
                          .committed = inference->committed_count,
                          .unknown_reads = inference->unknown_reads};
    if (selected != NULL)
        leave_out(inference, selected, &tally);
    else
        scope->unordered_keys = inference->unordered_keys;
    scope->workload = history->workload;
    scope->has_invocations = history->has_invocations;
    scope->op_count += tally.ops;
    scope->txn_count += tally.txns;
    scope->committed_count += tally.committed;
    scope->unknown_reads += tally.unknown_reads;
    scope->open_reads += inference->open_reads;
    scope->observations += inference->observations;
    scope->full_reads += inference->full_reads;
    add_own_levels(history, selected, scope);
    scope->unsettled |= tally.committed > tally.ok;
    verdict->ok_count += tally.ok;
    verdict->fail_count += tally.fail;
    verdict->info_count += tally.txns - tally.ok - tally.fail;
    RIG_INVARIANT(tally.ok <= tally.committed && tally.committed + tally.fail <= tally.txns);
    RIG_INVARIANT(verdict->ok_count + verdict->fail_count + verdict->info_count == scope->txn_count);
}

/* The peak of this program since its start; ru_maxrss can include the process that started it. */
static uint64_t peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kib = 0;
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoull(line + 6, NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return kib * 1024;
}

/* The ladder's decisions and the levels that the lattice derives from the witnesses must agree. */
static void cross_check(const struct rig_verdict *verdict, const struct rig_findings *findings)
{
    static const enum rig_level plain[RIG_RUNG_COUNT] = {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_READ_COMMITTED,
                                                         RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_SERIALIZABLE};
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            enum rig_fate fate = verdict->levels[rig_level_form(plain[rung], (enum rig_along)order)].fate;
            RIG_INVARIANT(!findings->cyclic[rung][order] || fate == RIG_FATE_REFUTED);
        }
    }
}

enum rig_rc rig_verdict_conclude(struct rig_verdict_storage *storage, const struct rig_findings *findings,
                                 const struct rig_judge *judge, struct rig_err *err)
{
    struct rig_verdict *verdict = &storage->verdict;
    memcpy(verdict->findings, findings->of, sizeof verdict->findings);
    verdict->lost = findings->lost;
    verdict->mixed_reads = findings->mixed_reads;
    verdict->mixed_read = findings->mixed_read;
    verdict->prefilled &= judge->type->found_no_row != NULL;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        RIG_INVARIANT(findings->of[anomaly].witness_count <= findings->of[anomaly].count);
    for (unsigned link = 0; link < 3; link++)
        verdict->edge_count[link] = judge->edge_count[link];
    uint64_t refuted = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        refuted |= findings->of[anomaly].refutes;
    verdict->scope.apart = (findings->apart | findings->doomed) & ~findings->unfit & ~refuted;
    verdict->scope.unfit = findings->unfit & ~refuted;
    verdict->spent_levels = findings->spent;
    verdict->unproven_levels = findings->unproven;
    verdict->too_large_levels = findings->too_large;
    memcpy(verdict->work, findings->effort, sizeof verdict->work);
    verdict->explained_levels = findings->explained;
    verdict->open_objects = findings->open_objects;
    verdict->sequential = findings->sequential;
    verdict->begun = findings->begun;
    if (judge->inference.initial.known)
        verdict->begun.given = (struct rig_begin){judge->inference.initial.value, RIG_BEGINS_GIVEN};
    enum rig_rc rc = rig_fates_decide(&storage->arena, verdict, err);
    if (rc == RIG_OK)
        rc = rig_asked_decide(&storage->arena, verdict, findings->undecided, err);
    if (rc != RIG_OK)
        return rc;
    cross_check(verdict, findings);
    verdict->cost.infer_ms = (double)judge->infer_ns / (double)RIG_NS_PER_MS;
    verdict->cost.search_ms = (double)(judge->search_ns + findings->decide_ns) / (double)RIG_NS_PER_MS;
    verdict->cost.solver_ms = (double)findings->decide_ns / (double)RIG_NS_PER_MS;
    verdict->cost.peak_bytes = peak_bytes();
    return RIG_OK;
}
