#include "checker/check.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/cycle/ladder.h"
#include "checker/infer/list_anomalies.h"
#include "checker/infer/list_inference.h"
#include "checker/infer/register_inference.h"
#include "checker/fate.h"
#include "checker/witness/explain.h"
#include "checker/witness/verify.h"

enum { DEFAULT_WITNESSES = 8 };

/* What a verdict owns. */
struct storage {
    struct rig_verdict verdict;
    struct rig_arena arena;
};

struct check {
    const struct rig_history *history;
    uint32_t most_kept;
    unsigned assumptions;
    struct rig_arena scratch; /* inference and graph */
    struct rig_inference inference;
    struct rig_ladder ladder;
    struct storage *storage;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for the verdict; raise --max-memory");
}

/* ---- witnesses ---- */

static struct rig_witness *witness_room(struct check *c, struct rig_finding *finding)
{
    if (finding->witnesses == NULL)
        finding->witnesses = rig_arena_array(&c->storage->arena, c->most_kept, sizeof *finding->witnesses);
    if (finding->witnesses == NULL)
        return NULL;
    RIG_INVARIANT(finding->witness_count < c->most_kept);
    return &finding->witnesses[finding->witness_count++];
}

static enum rig_rc keep_cycles(struct check *c, const struct rig_verifier *verifier)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_cycles_found *found = &c->ladder.found[anomaly];
        struct rig_finding *finding = &c->storage->verdict.findings[anomaly];
        if (found->count == 0)
            continue;
        finding->count = found->count;
        finding->exact = false;
        for (uint32_t i = 0; i < found->kept_count; i++) {
            struct rig_witness *witness = witness_room(c, finding);
            enum rig_rc rc = witness == NULL ? no_memory(c->err)
                                             : rig_explain_cycle(&c->inference, &found->kept[i], &c->storage->arena,
                                                                 witness, c->err);
            if (rc == RIG_OK)
                rc = rig_verify_witness(verifier, witness, c->err);
            if (rc != RIG_OK)
                return rc;
        }
    }
    return RIG_OK;
}

static enum rig_rc keep_oddities(struct check *c, const struct rig_verifier *verifier)
{
    const struct rig_oddities *oddities = &c->inference.oddities;
    for (size_t i = 0; i < oddities->kept.count; i++) {
        const struct rig_oddity *oddity = &oddities->kept.at[i];
        struct rig_finding *finding = &c->storage->verdict.findings[oddity->anomaly];
        finding->count = oddities->count[oddity->anomaly];
        finding->exact = true;
        struct rig_witness *witness = witness_room(c, finding);
        enum rig_rc rc = witness == NULL
                             ? no_memory(c->err)
                             : rig_explain_oddity(&c->inference, oddity, &c->storage->arena, witness, c->err);
        if (rc == RIG_OK)
            rc = rig_verify_witness(verifier, witness, c->err);
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

static enum rig_rc keep_witnesses(struct check *c)
{
    bool any = c->inference.oddities.kept.count > 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        any |= c->ladder.found[anomaly].count > 0;
    if (!any)
        return RIG_OK;
    struct rig_verifier *verifier = rig_verifier_new(c->history);
    if (verifier == NULL)
        return no_memory(c->err);
    enum rig_rc rc = keep_oddities(c, verifier);
    if (rc == RIG_OK)
        rc = keep_cycles(c, verifier);
    rig_verifier_free(verifier);
    return rc;
}

/* ---- the whole ---- */

static void count_outcomes(const struct rig_history *history, struct rig_verdict *verdict)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        uint8_t outcome = history->txns[txn].outcome;
        verdict->ok_count += outcome == RIG_OUTCOME_OK;
        verdict->fail_count += outcome == RIG_OUTCOME_FAIL;
        verdict->info_count += outcome == RIG_OUTCOME_INFO;
    }
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static enum rig_rc infer(struct check *c)
{
    int64_t start = rig_clock_now_ns();
    enum rig_rc rc =
        c->history->workload == RIG_WORKLOAD_RW_REGISTER
            ? rig_infer_registers(c->history, c->assumptions, c->most_kept, &c->scratch, &c->inference, c->err)
            : rig_infer_list_append(c->history, c->most_kept, &c->scratch, &c->inference, c->err);
    c->storage->verdict.cost.infer_ms = (double)(rig_clock_now_ns() - start) / (double)RIG_NS_PER_MS;
    return rc;
}

static enum rig_rc search(struct check *c)
{
    int64_t start = rig_clock_now_ns();
    enum rig_rc rc = rig_ladder_climb(c->history, &c->inference, c->most_kept, &c->ladder, c->err);
    const uint64_t *odd = c->inference.oddities.count;
    bool lists = c->history->workload == RIG_WORKLOAD_LIST_APPEND;
    bool possible = c->ladder.cyclic[RIG_RUNG_ALL][RIG_ORDER_PLAIN] || odd[RIG_ANOMALY_INCOMPATIBLE_ORDER] > 0 ||
                    odd[RIG_ANOMALY_DUPLICATE_ELEMENTS] > 0;
    if (rc == RIG_OK && lists && possible && !rig_list_lost_updates(&c->inference.versions, &c->inference.oddities))
        rc = no_memory(c->err);
    if (rc == RIG_OK)
        rc = keep_witnesses(c);
    c->storage->verdict.cost.search_ms = (double)(rig_clock_now_ns() - start) / (double)RIG_NS_PER_MS;
    return rc;
}

/* What the ladder decided and what the lattice says of the witnesses found must agree. */
static void cross_check(const struct check *c)
{
    static const enum rig_level levels[RIG_RUNG_COUNT][RIG_ORDER_COUNT] = {
        {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED, RIG_LEVEL_STRONG_READ_UNCOMMITTED},
        {RIG_LEVEL_READ_COMMITTED, RIG_LEVEL_STRONG_SESSION_READ_COMMITTED, RIG_LEVEL_STRONG_READ_COMMITTED},
        {RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION,
         RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION},
        {RIG_LEVEL_SERIALIZABLE, RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, RIG_LEVEL_STRICT_SERIALIZABLE},
    };
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ORDER_COUNT; order++) {
            enum rig_fate fate = c->storage->verdict.levels[levels[rung][order]].fate;
            RIG_INVARIANT(!c->ladder.cyclic[rung][order] || fate == RIG_FATE_REFUTED);
        }
    }
}

static enum rig_rc run(struct check *c)
{
    enum rig_rc rc = infer(c);
    if (rc == RIG_OK)
        rc = search(c);
    if (rc == RIG_OK)
        rc = rig_fates_decide(&c->inference, &c->storage->arena, &c->storage->verdict, c->err);
    if (rc != RIG_OK)
        return rc;
    cross_check(c);
    for (unsigned link = 0; link < 3; link++)
        c->storage->verdict.edge_count[link] = c->inference.graph.link_count[link];
    c->storage->verdict.cost.peak_bytes = peak_bytes();
    return RIG_OK;
}

enum rig_rc rig_check(const struct rig_history *history, const struct rig_check_options *options,
                      struct rig_verdict **verdict, struct rig_err *err)
{
    if (history->workload != RIG_WORKLOAD_LIST_APPEND && history->workload != RIG_WORKLOAD_RW_REGISTER)
        return rig_fail(err, RIG_E_INPUT,
                        "rig checks histories of list-append and rw-register; this one is of neither");
    struct storage *storage = calloc(1, sizeof *storage);
    if (storage == NULL)
        return no_memory(err);
    rig_arena_init(&storage->arena, options->limit_bytes);
    storage->verdict = (struct rig_verdict){.history = history,
                                            .requested_levels = options->levels,
                                            .requested_anomalies = options->anomalies,
                                            .storage = storage};
    if (options->levels == 0 && options->anomalies == 0)
        storage->verdict.requested_levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    count_outcomes(history, &storage->verdict);
    struct check c = {.history = history, .assumptions = options->assumptions, .storage = storage, .err = err};
    c.most_kept = options->max_witnesses == 0 ? DEFAULT_WITNESSES : options->max_witnesses;
    rig_arena_init(&c.scratch, options->limit_bytes);
    enum rig_rc rc = run(&c);
    rig_ladder_done(&c.ladder);
    rig_inference_done(&c.inference);
    rig_arena_done(&c.scratch);
    if (rc != RIG_OK)
        rig_verdict_free(&storage->verdict);
    else
        *verdict = &storage->verdict;
    return rc;
}

void rig_verdict_free(struct rig_verdict *verdict)
{
    if (verdict == NULL)
        return;
    struct storage *storage = verdict->storage;
    rig_arena_done(&storage->arena);
    free(storage);
}
