/*
 * The records of several ranks against the record of one process:
 *   ranks_agree [--seeds N] [--first-seed N]
 *
 * Histories of the simulated database, right and with each of its mistakes, are split into the records of several
 * ranks, whose clocks are wrong by up to 5 s, and checked together, also in small windows. Every level without real
 * time must have the fate that it has in the whole. With clocks that are known exactly that holds for real time, too;
 * with others, no level is refuted that the whole does not refute, and what refutes the whole by more than the bound
 * refutes the records, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker/judge/check.h"
#include "checker/judge/check_source.h"
#include "history/model/history_excerpt.h"
#include "tests/model/sim_history.h"
#include "tests/model/split_ranks.h"

enum { MOST_RANKS = 5, STEP_NS = 1000 };

static const int64_t five_seconds_ns = INT64_C(5000000000);

struct totals {
    uint64_t checks, windows, refuted, lost, problems;
};

struct setting {
    const char *name;
    struct split_ranks split;
    bool exact; /* the bound is shorter than the time between any two events */
};

static const struct setting settings[] = {
    {"clocks that agree", {.count = 2, .sample_count = 2}, true},
    {"clocks off by up to 5 s", {.count = 4, .shift_ns = five_seconds_ns, .sample_count = 200}, true},
    {"small frames",
     {.count = 3, .shift_ns = five_seconds_ns, .sample_count = 200, .frame_bytes = 600, .block_bytes = 3000},
     true},
    {"errors of some transactions",
     {.count = 4, .shift_ns = five_seconds_ns, .error_ns = (int64_t)6 * STEP_NS, .drift = 5e-5, .sample_count = 50},
     false},
    {"errors of many transactions",
     {.count = 5, .shift_ns = five_seconds_ns, .error_ns = (int64_t)300 * STEP_NS, .drift = 5e-5, .sample_count = 5},
     false},
    {"a clock that steps",
     {.count = 3,
      .shift_ns = five_seconds_ns,
      .error_ns = STEP_NS,
      .sample_count = 20,
      .step_ns = (int64_t)500 * STEP_NS},
     false},
};

static void complain(struct totals *totals, const char *name, const struct setting *setting, const char *what,
                     const char *detail)
{
    totals->problems++;
    (void)printf("FAILED: %s, %s: %s %s\n", name, setting->name, what, detail);
}

/* The whole, in which every transaction began earlier and ended later by `ns`: what is left refutes the records, too.
 * */
static struct rig_verdict *check_widened(const struct rig_history *history, int64_t ns)
{
    struct rig_history *wide = NULL;
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {0};
    uint8_t *keep = malloc((size_t)history->txn_count + 1);
    if (keep == NULL)
        abort();
    memset(keep, 1, (size_t)history->txn_count + 1);
    if (rig_history_excerpt(history, keep, &wide, &err) != RIG_OK)
        abort();
    /* Positions are times in steps here. */
    const uint32_t steps = (uint32_t)(ns / STEP_NS + 1);
    for (uint32_t i = 0; i < wide->txn_count; i++) {
        struct rig_txn *txn = &wide->txns[i];
        txn->invoke_at = txn->invoke_at > steps ? txn->invoke_at - steps : 0;
        if (txn->complete_at != RIG_POSITION_NONE)
            txn->complete_at += steps;
    }
    wide->in_turn = true;
    if (rig_check(wide, &options, &verdict, &err) != RIG_OK)
        abort();
    verdict->history = NULL;
    rig_history_free(wide);
    free(keep);
    return verdict;
}

static bool is_of_time(enum rig_level level)
{
    return (rig_level_info(level)->below & RIG_LEVEL_BIT(RIG_LEVEL_STRONG_READ_UNCOMMITTED)) != 0;
}

static void complain_of_scope(struct totals *totals, const char *name, const struct setting *setting,
                              const struct rig_verdict *whole, const struct rig_verdict *merged)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " ok, %" PRIu64 " info, %" PRIu64 " operations; %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                   whole->ok_count, whole->info_count, whole->scope.op_count, merged->ok_count, merged->info_count,
                   merged->scope.op_count);
    complain(totals, name, setting, "another scope:", text);
}

static void compare(struct totals *totals, const char *name, const struct setting *setting,
                    const struct rig_verdict *whole, const struct rig_verdict *widened,
                    const struct rig_verdict *merged)
{
    if (whole->scope.txn_count != merged->scope.txn_count || whole->ok_count != merged->ok_count ||
        whole->info_count != merged->info_count || whole->scope.op_count != merged->scope.op_count)
        complain_of_scope(totals, name, setting, whole, merged);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)i;
        const enum rig_fate a = whole->levels[i].fate, b = merged->levels[i].fate;
        totals->refuted += b == RIG_FATE_REFUTED;
        if (a == b)
            continue;
        if (setting->exact || !is_of_time(level))
            complain(totals, name, setting, "another fate of", rig_level_info(level)->name);
        else if (b == RIG_FATE_REFUTED)
            complain(totals, name, setting, "wrongly refuted:", rig_level_info(level)->name);
        else if (widened->levels[i].fate == RIG_FATE_REFUTED)
            complain(totals, name, setting, "not found beyond the bound:", rig_level_info(level)->name);
        else
            totals->lost++;
        if (setting->exact || !is_of_time(level))
            (void)printf("  whole: %s\n  records: %s\n", whole->levels[i].reason, merged->levels[i].reason);
    }
}

static struct rig_verdict *check_records(const char *prefix, uint32_t count, unsigned variant, struct rig_err *err)
{
    char paths[MOST_RANKS][200];
    const char *given[MOST_RANKS];
    struct rig_source *source = NULL;
    struct rig_verdict *verdict = NULL;
    const struct rig_source_options from = {.threads = variant % 2 == 0 ? 1 : 2,
                                            .load = {.part_bytes = variant < 2 ? 0 : 700}};
    const struct rig_stream_options options = {
        .least_new = variant < 2 ? 0 : 50, .growth = 1, .idle = variant < 2 ? 0 : 60};
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s.%u.rig", prefix, (unsigned)((i + variant) % count));
        given[i] = paths[i];
    }
    if (rig_source_open_ranks(given, count, &from, &source, err) == RIG_OK)
        (void)rig_check_source(source, "the records", &options, &verdict, err);
    rig_source_close(source);
    return verdict;
}

static void check_history(struct totals *totals, const char *name, struct rig_history *history, const char *prefix,
                          uint64_t seed)
{
    struct rig_err err = {0};
    const struct rig_check_options options = {0};
    struct rig_verdict *whole = NULL;
    split_ranks_spread_times(history, STEP_NS, 1);
    if (rig_check(history, &options, &whole, &err) != RIG_OK) {
        complain(totals, name, &settings[0], "cannot be checked:", err.text);
        return;
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct split_ranks split = settings[i].split;
        const unsigned variant = (unsigned)((seed + i) % 4);
        split.seed = seed + 1;
        split_ranks(history, &split, prefix);
        err = (struct rig_err){0};
        struct rig_verdict *merged = check_records(prefix, split.count, variant, &err);
        totals->checks++;
        if (merged == NULL) {
            complain(totals, name, &settings[i], "failed:", err.text);
            continue;
        }
        struct rig_verdict *widened = check_widened(history, merged->scope.ranks.bound_ns);
        totals->windows += merged->cost.window_count;
        compare(totals, name, &settings[i], whole, widened, merged);
        rig_verdict_free(widened);
        rig_verdict_free(merged);
    }
    rig_verdict_free(whole);
}

static void check_seed(struct totals *totals, uint64_t seed, const char *prefix)
{
    static const struct {
        enum rig_sim_isolation isolation;
        enum rig_sim_bug bug;
    } cases[] = {
        {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_NONE},         {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NONE},
        {RIG_SIM_READ_COMMITTED, RIG_SIM_BUG_NONE},       {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_STALE_READ},
        {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_LONG_FORK},        {RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NON_MONOTONIC_SESSION},
        {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_ABORTED_READ}, {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_LOST_APPEND},
        {RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_STALE_READ},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_settings sim;
        struct seen_run run;
        char name[120];
        sim_settings_init(&sim, cases[i].isolation, cases[i].bug);
        sim.seed = seed;
        sim.session_count = 10;
        sim.txn_count = 1500;
        sim.workload.appends_per_key = i % 2 == 0 ? 64 : 16;
        const bool rare = i + 1 == sizeof cases / sizeof cases[0]; /* rare faults, and stale reads between processes */
        sim.sim.bug_rate = rare ? 0.02 : 0.05;
        sim.sim.staleness = rare ? 1 : 10;
        sim.sim.think = rare ? 50 : sim.sim.think;
        sim.sim.info_rate = seed % 2 == 0 ? 0.02 : 0;
        sim.sim.loss_rate = seed % 2 == 0 ? 0.01 : 0;
        (void)snprintf(name, sizeof name, "%s, bug %s, seed %" PRIu64, rig_sim_isolation_names[cases[i].isolation],
                       rig_sim_bug_names[cases[i].bug], seed);
        seen_run_init(&run, &sim);
        struct rig_history *history = seen_run_history(&run, RIG_WORKLOAD_LIST_APPEND);
        check_history(totals, name, history, prefix, seed);
        rig_history_free(history);
        seen_run_done(&run);
    }
}

static void remove_records(const char *folder, const char *prefix)
{
    char path[200];
    for (unsigned i = 0; i < MOST_RANKS; i++) {
        (void)snprintf(path, sizeof path, "%s.%u.rig", prefix, i);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

int main(int argc, char **argv)
{
    uint64_t seeds = 2, first = 1;
    char folder[] = "/tmp/rig-test-ranks-XXXXXX", prefix[64];
    struct totals totals = {0};
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--seeds") == 0 ? &seeds : &first) = strtoull(argv[i + 1], NULL, 10);
    if (mkdtemp(folder) == NULL)
        return 3;
    (void)snprintf(prefix, sizeof prefix, "%s/history", folder);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        check_seed(&totals, seed, prefix);
    remove_records(folder, prefix);
    (void)printf("%" PRIu64 " checks of records in %" PRIu64 " windows, %" PRIu64 " levels refuted, %" PRIu64
                 " refuted only by times within the bound, %" PRIu64 " problems\n",
                 totals.checks, totals.windows, totals.refuted, totals.lost, totals.problems);
    return totals.problems > 0 || totals.refuted == 0 || totals.lost == 0;
}
