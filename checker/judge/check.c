#include "checker/judge/check.h"

#include "base/bug.h"
#include "checker/infer/type_inference.h"
#include "checker/infer/set_times.h"
#include "checker/judge/stream/budget.h"
#include "checker/judge/conclude.h"
#include "checker/judge/stream/type_windows.h"

/* The history and what was inferred from it. */
static uint64_t held_bytes(const struct rig_judge *judge, const struct rig_history *history)
{
    return (uint64_t)history->txn_count * sizeof *history->txns + (uint64_t)history->op_count * sizeof *history->ops +
           judge->scratch.held_bytes;
}

static bool solver_fits(const struct rig_judge *judge, const struct rig_history *history)
{
    return judge->scratch.limit_bytes == 0 ||
           held_bytes(judge, history) +
                   (uint64_t)history->op_count * rig_type_windows(history->workload)->solver_bytes <=
               judge->scratch.limit_bytes;
}

/* 0: no limit. */
static size_t bytes_for_solver(const struct rig_judge *judge, const struct rig_history *history)
{
    const uint64_t held = held_bytes(judge, history);
    struct rig_budget budget;
    if (judge->scratch.limit_bytes == 0)
        return 0;
    rig_budget_init(&budget, judge->scratch.limit_bytes, 0);
    return held < rig_budget_bytes(&budget) ? rig_budget_bytes(&budget) - held : 1;
}

static void time_elements(struct rig_judge *judge, struct rig_verdict *verdict)
{
    struct rig_element_timing *timing = rig_arena_array(&judge->scratch, 1, sizeof *timing);
    if (timing == NULL)
        return;
    judge->type->time_elements(&judge->inference, NULL, &judge->scratch, timing);
    rig_set_times_conclude(timing, &verdict->elements);
}

static enum rig_rc run(struct rig_verdict_storage *storage, struct rig_judge *judge, const struct rig_history *history,
                       struct rig_err *err)
{
    struct rig_verdict *verdict = &storage->verdict;
    struct rig_findings findings = {.most_kept = judge->most_kept,
                                    .lattice = verdict->lattice,
                                    .asks_sequential = rig_sequential_asked(verdict->requested_levels),
                                    .budget_ns = verdict->budget_ns,
                                    .limit_bytes = judge->scratch.limit_bytes,
                                    .reads_at_once = history->reads_at_once,
                                    .arena = &storage->arena};
    enum rig_rc rc = rig_judge_infer(judge, history, false, err);
    if (rc == RIG_OK && !solver_fits(judge, history))
        rc = rig_memory_limit(err, "the order of the versions");
    if (rc == RIG_OK)
        rc = rig_judge_search(judge, NULL, err);
    findings.solver_limit_bytes = bytes_for_solver(judge, history);
    if (rc == RIG_OK)
        rc = rig_findings_add(&findings, judge, err);
    if (rc != RIG_OK)
        return rc;
    if (judge->type->time_elements != NULL)
        time_elements(judge, verdict);
    verdict->history = history;
    rig_verdict_add_scope(verdict, &judge->inference, NULL);
    verdict->scope.truncated = history->truncated;
    verdict->scope.sorted = history->sorted;
    verdict->scope.damaged_at = history->damaged_at;
    verdict->scope.damaged_bytes = history->damaged_bytes;
    verdict->scope.damaged_txns = history->damaged_txns;
    verdict->scope.start_utc_ns = history->start_utc_ns;
    verdict->scope.skipped_count = history->skipped_count;
    /* One rank's record alone omits the transactions of the others, whose writes it may have read. */
    const uint64_t other_ranks = history->rank.count > 1 ? history->rank.count - 1 : 0;
    verdict->scope.lost_count = history->lost_count + other_ranks;
    verdict->scope.reused_count = history->reused_count;
    verdict->scope.reads_at_once = history->reads_at_once;
    verdict->scope.faults = history->faults;
    verdict->scope.fault_count = history->fault_count;
    return rig_verdict_conclude(storage, &findings, judge, err);
}

enum rig_rc rig_check(const struct rig_history *history, const struct rig_check_options *options,
                      struct rig_verdict **verdict, struct rig_err *err)
{
    enum rig_rc rc = rig_type_require(history->workload, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_verdict_storage *storage = rig_verdict_new(options);
    if (storage == NULL)
        return rig_memory_limit(err, "the verdict");
    struct rig_judge judge;
    rig_judge_init(&judge, options->max_witnesses == 0 ? RIG_DEFAULT_WITNESSES : options->max_witnesses,
                   rig_check_assumptions(options), options->limit_bytes);
    judge.asked = options->anomalies;
    rc = run(storage, &judge, history, err);
    rig_judge_done(&judge);
    if (rc != RIG_OK)
        rig_verdict_free(&storage->verdict);
    else
        *verdict = &storage->verdict;
    return rc;
}
