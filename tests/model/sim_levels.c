/*
 * The checker against the simulated database: sim_levels [--seeds N] [--transactions N] [--first-seed N]
 *
 * A database that is right at a level is never refuted at it or below, and is refuted at the next stronger levels. Each
 * mistake is found under its name, and refutes no level that it leaves intact. Every case runs over all seeds; half of
 * them with aborts, lost answers and broken connections.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checker/judge/check.h"
#include "tests/model/sim_history.h"

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)
#define A(id) RIG_ANOMALY_BIT(RIG_ANOMALY_##id)

struct expectation {
    enum rig_sim_isolation isolation;
    enum rig_sim_bug bug;
    double bug_rate;
    uint64_t keeps;        /* levels that no history may refute; what they imply included */
    uint64_t breaks;       /* levels that every history must refute */
    rig_anomaly_set finds; /* anomalies that every history must show */
};

/* Mistakes that rarely show, such as rare aborts, have a rate at which 5,000 transactions surely show them. */
static const struct expectation expectations[] = {
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_NONE, 0, L(STRICT_SERIALIZABLE), 0, 0},
    {RIG_SIM_REPEATABLE_READ, RIG_SIM_BUG_NONE, 0, L(STRICT_SERIALIZABLE), 0, 0},
    {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NONE, 0, L(STRONG_SNAPSHOT_ISOLATION), L(REPEATABLE_READ) | L(SERIALIZABLE),
     A(G2_ITEM)},
    {RIG_SIM_READ_COMMITTED, RIG_SIM_BUG_NONE, 0, L(STRONG_READ_COMMITTED),
     L(CURSOR_STABILITY) | L(CONSISTENT_VIEW) | L(READ_ATOMIC), A(LOST_UPDATE) | A(G_SINGLE) | A(INTERNAL)},
    {RIG_SIM_READ_UNCOMMITTED, RIG_SIM_BUG_NONE, 0, L(STRONG_READ_UNCOMMITTED), L(READ_COMMITTED), A(G1B) | A(G1C)},

    {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_LOST_UPDATE, 0.2, 0, L(CURSOR_STABILITY), A(INCOMPATIBLE_ORDER) | A(LOST_UPDATE)},
    {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_STALE_READ, 0.2, L(SNAPSHOT_ISOLATION), L(STRONG_SESSION_SNAPSHOT_ISOLATION),
     A(G_SINGLE_PROCESS) | A(G_SINGLE_REALTIME)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_STALE_READ, 0.2, L(SERIALIZABLE), L(STRONG_SESSION_SERIALIZABLE),
     A(G_SINGLE_PROCESS) | A(G_SINGLE_REALTIME)},
    {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_LONG_FORK, 0.8, L(PARALLEL_SNAPSHOT_ISOLATION), L(SNAPSHOT_ISOLATION),
     A(G_NONADJACENT)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_DIRTY_READ, 0.2, L(READ_UNCOMMITTED), L(READ_COMMITTED), A(G1A) | A(G1B)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_ABORTED_READ, 0.2, L(READ_UNCOMMITTED), L(READ_COMMITTED), A(G1A)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_INTERMEDIATE_READ, 0.2, L(READ_UNCOMMITTED), L(READ_COMMITTED), A(G1B)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_DUPLICATE_APPEND, 0.05, 0, L(READ_UNCOMMITTED), A(DUPLICATE_ELEMENTS)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_LOST_APPEND, 0.05, 0, L(STRICT_SERIALIZABLE), A(G_SINGLE_REALTIME)},
    {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_REORDERED_APPEND, 0.05, 0, L(READ_COMMITTED), A(INCOMPATIBLE_ORDER)},
    {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NON_MONOTONIC_SESSION, 0.2, L(SNAPSHOT_ISOLATION),
     L(STRONG_SESSION_SNAPSHOT_ISOLATION), A(G_SINGLE_PROCESS)},
};

struct totals {
    uint64_t histories, transactions, problems;
    int64_t simulate_ns, build_ns, check_ns;
};

static uint64_t closed_downwards(uint64_t levels)
{
    uint64_t all = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if (levels & RIG_LEVEL_BIT(level))
            all |= rig_level_info((enum rig_level)level)->below;
    return all;
}

static void complain(struct totals *totals, const struct sim_settings *settings, const char *what, const char *name,
                     const char *detail)
{
    totals->problems++;
    (void)printf("FAILED: %s, bug %s, seed %" PRIu64 ": %s %s%s%s\n", rig_sim_isolation_names[settings->sim.isolation],
                 rig_sim_bug_names[settings->sim.bug], settings->seed, name, what, detail == NULL ? "" : ": ",
                 detail == NULL ? "" : detail);
}

static void judge_verdict(struct totals *totals, const struct sim_settings *settings,
                          const struct expectation *expected, const struct rig_verdict *verdict)
{
    uint64_t keeps = closed_downwards(expected->keeps);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        bool refuted = verdict->levels[level].fate == RIG_FATE_REFUTED;
        const char *name = rig_level_info((enum rig_level)level)->name;
        if (refuted && (keeps & RIG_LEVEL_BIT(level))) {
            complain(totals, settings, "is refuted", name, verdict->levels[level].reason);
            const struct rig_finding *finding = &verdict->findings[verdict->levels[level].because];
            if (finding->witness_count > 0)
                (void)printf("%s\n", finding->witnesses[0].text);
            keeps = 0;
        }
        if (!refuted && (expected->breaks & RIG_LEVEL_BIT(level)))
            complain(totals, settings, "is not refuted", name, verdict->levels[level].reason);
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        if ((expected->finds & RIG_ANOMALY_BIT(anomaly)) && verdict->findings[anomaly].count == 0)
            complain(totals, settings, "is not found", rig_anomaly_info((enum rig_anomaly)anomaly)->name, NULL);
}

static void run_one(struct totals *totals, const struct sim_settings *settings, const struct expectation *expected)
{
    struct seen_run run;
    int64_t start_ns = rig_clock_now_ns();
    seen_run_init(&run, settings);
    int64_t simulated_ns = rig_clock_now_ns();
    struct rig_history *history = seen_run_history(&run, RIG_WORKLOAD_LIST_APPEND);
    seen_run_done(&run);
    int64_t built_ns = rig_clock_now_ns();
    const struct rig_check_options options = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    if (rig_check(history, &options, &verdict, &err) != RIG_OK)
        complain(totals, settings, "failed", "the checker", err.text);
    else
        judge_verdict(totals, settings, expected, verdict);
    totals->histories++;
    totals->transactions += history->txn_count;
    totals->simulate_ns += simulated_ns - start_ns;
    totals->build_ns += built_ns - simulated_ns;
    totals->check_ns += rig_clock_now_ns() - built_ns;
    rig_verdict_free(verdict);
    rig_history_free(history);
}

static void run_case(const struct expectation *expected, uint64_t first_seed, uint64_t seed_count, uint32_t txn_count,
                     struct totals *totals)
{
    uint64_t problems_before = totals->problems;
    for (uint64_t i = 0; i < seed_count; i++) {
        struct sim_settings settings;
        sim_settings_init(&settings, expected->isolation, expected->bug);
        settings.seed = first_seed + i;
        settings.txn_count = txn_count;
        settings.sim.bug_rate = expected->bug_rate;
        settings.session_count = 3 + (uint32_t)(settings.seed % 4) * 4;
        if (settings.seed % 2 == 1) {
            settings.sim.abort_rate = 0.02;
            settings.sim.info_rate = 0.02;
            settings.sim.loss_rate = 0.01;
        }
        /* Without aborts no transaction reads an aborted write. */
        if (expected->bug == RIG_SIM_BUG_ABORTED_READ)
            settings.sim.abort_rate = 0.05;
        run_one(totals, &settings, expected);
    }
    (void)printf("%s, bug %s: %s\n", rig_sim_isolation_names[expected->isolation], rig_sim_bug_names[expected->bug],
                 totals->problems == problems_before ? "as expected" : "NOT as expected");
}

static uint64_t number_after(int argc, char **argv, const char *name, uint64_t fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return strtoull(argv[i + 1], NULL, 10);
    return fallback;
}

int main(int argc, char **argv)
{
    uint64_t seed_count = number_after(argc, argv, "--seeds", 50);
    uint64_t first_seed = number_after(argc, argv, "--first-seed", 1);
    uint64_t txn_count = number_after(argc, argv, "--transactions", 5000);
    struct totals totals = {0};
    (void)printf("%" PRIu64 " seeds from %" PRIu64 " on, %" PRIu64 " transactions each\n", seed_count, first_seed,
                 txn_count);
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++)
        run_case(&expectations[i], first_seed, seed_count, (uint32_t)txn_count, &totals);
    (void)printf("%" PRIu64 " histories, %" PRIu64
                 " transactions: simulated in %.1f s, built in %.1f s, checked in %.1f "
                 "s; %" PRIu64 " problems\n",
                 totals.histories, totals.transactions, (double)totals.simulate_ns / 1e9, (double)totals.build_ns / 1e9,
                 (double)totals.check_ns / 1e9, totals.problems);
    return totals.problems == 0 && totals.histories > 0 ? 0 : 1;
}
