/*
 * Checking in windows against checking as a whole: windows_agree [--seeds N] [--first-seed N] [--bug NAME]
 * [--small N] [--rotating N] [--sets N] [FILE...]
 *
 * Histories of the simulated database, right and with each of its mistakes (or with one of them), as they are and with
 * keys that are used again long after their last use, small random ones of all kinds, and those of the files given, are
 * cut into windows of a few transactions, as are registers whose keys rotate. Registers of the files are checked under
 * --sets N of the sets of assumptions, those of the next file under the next ones; without --sets, under all of them.
 * The verdict must be the same: validity, every level's fate, the scope, the counts of anomalies that are no cycles,
 * and which anomalies exist. Each cut is checked twice: with a guess at which keys are finished, and with a census of
 * their last uses. Where a guess was wrong, the check must report it, and nothing else is compared; the number of such
 * checks is printed. A census must never be wrong. Registers are judged in windows here, as they are where memory falls
 * short: with the same verdict, or with levels left open; their number is printed, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/judge/check.h"
#include "checker/model/assumption.h"
#include "checker/judge/stream/stream.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "tests/model/as_registers.h"
#include "tests/model/cut_history.h"
#include "tests/model/late_history.h"
#include "tests/model/rotating_registers.h"
#include "tests/model/sim_history.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"

enum { MOST_OPEN = 10000 }; /* one level in this many may be left open */

/* A busy machine must not spend it: an hour. */
static const int64_t budget_ns = INT64_C(3600000000000);

struct totals {
    uint64_t checks, conflicts, contradictions, windows, exact_windows, other_types, levels, open_levels, problems;
};

struct cutting {
    const char *name; /* of the history */
    uint32_t segment, least_new, growth, idle;
    bool exact;           /* with a census */
    unsigned assumptions; /* of registers */
    unsigned contradicted;
    enum rig_lattice lattice;
    bool each_segment; /* ends a window */
};

static void complain(struct totals *totals, const struct cutting *cutting, const char *what, const char *name)
{
    totals->problems++;
    (void)printf("FAILED: %s in segments of %u, windows of %u, %s %u, assumptions %x: %s %s\n", cutting->name,
                 (unsigned)cutting->segment, (unsigned)cutting->least_new, cutting->exact ? "exact, not idle" : "idle",
                 (unsigned)cutting->idle, cutting->assumptions, what, name);
}

static void complain_of_level(struct totals *totals, const struct cutting *cutting, enum rig_level level,
                              const struct rig_verdict *whole, const struct rig_verdict *windowed)
{
    complain(totals, cutting, "another fate of", rig_level_info(level)->name);
    (void)printf("  whole: %s\n  windows: %s\n", whole->levels[level].reason, windowed->levels[level].reason);
}

static bool same_scope(const struct rig_verdict *a, const struct rig_verdict *b)
{
    return a->scope.txn_count == b->scope.txn_count && a->scope.op_count == b->scope.op_count &&
           a->scope.committed_count == b->scope.committed_count && a->scope.unknown_reads == b->scope.unknown_reads &&
           a->scope.unordered_keys == b->scope.unordered_keys && a->scope.unsettled == b->scope.unsettled &&
           a->scope.has_invocations == b->scope.has_invocations && a->ok_count == b->ok_count &&
           a->fail_count == b->fail_count && a->info_count == b->info_count;
}

/* Witnesses of the excerpt name transactions as those of the whole do. */
static bool has_names(const struct rig_verdict *verdict, const struct rig_history *whole)
{
    for (uint32_t txn = 0; txn < verdict->history->txn_count; txn++) {
        uint32_t name = rig_txn_name(verdict->history, txn), low = 0, high = whole->txn_count;
        bool found = false;
        for (; low < high && !found; low++)
            found = rig_txn_name(whole, low) == name;
        if (!found)
            return false;
    }
    return true;
}

/* Those that rest on an assumption may come after longer ones. */
static bool has_short_witness(const struct rig_finding *finding)
{
    bool found = false;
    for (uint32_t i = 0; i < finding->witness_count; i++)
        found |= finding->witnesses[i].txn_count == 2;
    return found;
}

static void compare(struct totals *totals, const struct cutting *cutting, const struct rig_history *history,
                    const struct rig_verdict *whole, const struct rig_verdict *windowed)
{
    if (whole->valid != windowed->valid)
        complain(totals, cutting, "another validity", "");
    if (!same_scope(whole, windowed))
        complain(totals, cutting, "another scope", "");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (whole->levels[level].fate != windowed->levels[level].fate)
            complain_of_level(totals, cutting, (enum rig_level)level, whole, windowed);
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *a = &whole->findings[anomaly], *b = &windowed->findings[anomaly];
        const char *name = rig_anomaly_info((enum rig_anomaly)anomaly)->name;
        /* Searches for longer cycles at levels already refuted are bounded, and bounded in each window. */
        const struct rig_finding *found = a->count > 0 ? a : b;
        bool longer = found->witness_count > 0 && found->witnesses[0].txn_count > 2 && !found->exact;
        /* A level is not put to the solver once an anomaly refuted it, which a window may not know of yet. */
        const bool unasked = anomaly == RIG_ANOMALY_NO_VERSION_ORDER;
        /* Where the graph of all edges has cycles of items and of predicates, each one kept has its name, and whether
         * there
           are further ones by a predicate is open (note_undecided_phantoms()). */
        enum rig_anomaly item;
        const bool beside = rig_anomaly_is_by_predicate((enum rig_anomaly)anomaly, &item) && !found->exact &&
                            whole->findings[item].count > 0 && windowed->findings[item].count > 0;
        bool more = (a->count > 0) != (b->count > 0) && (longer || unasked || beside);
        totals->other_types += more;
        if (more)
            continue;
        if ((a->count > 0) != (b->count > 0))
            complain(totals, cutting, a->count > 0 ? "did not find" : "found", name);
        else if (a->exact != b->exact || (a->exact && a->count != b->count))
            complain(totals, cutting, "another count of", name);
        else if ((a->witness_count > 0) != (b->witness_count > 0))
            complain(totals, cutting, "witnesses are missing of", name);
        else if (!unasked && has_short_witness(a) != has_short_witness(b))
            complain(totals, cutting, "a short witness is missing of", name);
    }
    if (!has_names(windowed, history))
        complain(totals, cutting, "other names of transactions", "");
}

/* Windows may leave levels open that need the whole history; what they hold or refute, the whole does, too. */
static void compare_fates(struct totals *totals, const struct cutting *cutting, const struct rig_verdict *whole,
                          const struct rig_verdict *windowed)
{
    if (windowed->valid != whole->valid && windowed->valid != RIG_VALID_UNKNOWN)
        complain(totals, cutting, "another validity", "");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const enum rig_fate fate = windowed->levels[level].fate;
        const bool open = fate == RIG_FATE_NOT_REFUTED && (windowed->scope.apart & RIG_LEVEL_BIT(level)) != 0;
        totals->open_levels += open;
        if (fate != whole->levels[level].fate && !open)
            complain_of_level(totals, cutting, (enum rig_level)level, whole, windowed);
    }
}

/* The progress that a watcher is told must match the result, unless it rests on an assumption that does not hold. */
static void look_on(struct totals *totals, const struct cutting *cutting, struct rig_stream *windows,
                    const struct rig_verdict *whole)
{
    struct rig_err err = {0};
    struct rig_stream_interim interim;
    if (rig_stream_interim(windows, &interim, &err) != RIG_OK) {
        complain(totals, cutting, "cannot be looked at:", err.text);
        return;
    }
    uint64_t refuted = 0;
    if (whole->findings[RIG_ANOMALY_CYCLIC_VERSIONS].count > 0)
        return;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (whole->levels[level].fate == RIG_FATE_REFUTED)
            refuted |= RIG_LEVEL_BIT(level);
    }
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)level);
        if ((interim.refuted & RIG_LEVEL_BIT(level)) && !(refuted & info->below))
            complain(totals, cutting, "was said to be refuted:", info->name);
    }
}

static struct rig_census *take_census(const struct cutting *cutting, const struct rig_history *history)
{
    struct rig_census *census = rig_census_new();
    struct cut_history cut;
    const struct rig_segment *segment;
    if (census == NULL)
        abort();
    cut_history_init(&cut, history, cutting->segment);
    while ((segment = cut_history_next(&cut)) != NULL) {
        if (!rig_census_note(census, segment))
            abort();
    }
    cut_history_done(&cut);
    return census;
}

/* The verdict of the windows; or that a guess was wrong, which is an error with a census. */
static enum rig_rc finish(struct totals *totals, const struct cutting *cutting, const struct rig_history *history,
                          const struct rig_verdict *whole, struct rig_stream *windows, unsigned contradicted_before,
                          struct rig_err *err)
{
    const struct rig_source_facts facts = {.workload = history->workload,
                                           .skipped_count = history->skipped_count,
                                           .lost_count = history->lost_count,
                                           .has_invocations = history->has_invocations};
    struct rig_verdict *verdict = NULL;
    enum rig_rc rc = RIG_OK;
    if (rig_stream_conflict(windows) != NULL)
        rig_stream_free(windows);
    else
        rc = rig_stream_finish(windows, &facts, &verdict, err);
    if (rc == RIG_OK && verdict == NULL) {
        bool contradicted = cutting->contradicted != contradicted_before;
        totals->conflicts += !contradicted;
        totals->contradictions += contradicted;
        if (cutting->exact && !contradicted)
            complain(totals, cutting, "guessed", "");
    } else if (rc == RIG_OK) {
        *(cutting->exact ? &totals->exact_windows : &totals->windows) += verdict->cost.window_count;
        totals->levels += RIG_LEVEL_COUNT;
        if (verdict->scope.apart != 0)
            compare_fates(totals, cutting, whole, verdict);
        else
            compare(totals, cutting, history, whole, verdict);
    }
    rig_verdict_free(verdict);
    return rc;
}

/* True when the check must be repeated, because an assumption proved wrong. */
static bool check_cut_once(struct totals *totals, struct cutting *cutting, const struct rig_history *history,
                           const struct rig_verdict *whole)
{
    struct rig_err err = {0};
    struct rig_stream *windows = NULL;
    struct rig_census *census = cutting->exact ? take_census(cutting, history) : NULL;
    const unsigned contradicted_before = cutting->contradicted;
    struct rig_stream_options options = {
        .check = {.assumptions = cutting->assumptions, .lattice = cutting->lattice, .budget_ns = budget_ns},
        .least_new = cutting->least_new,
        .growth = cutting->growth,
        .idle = cutting->idle,
        .contradicted = &cutting->contradicted,
        .in_windows = true,
        .each_segment = cutting->each_segment,
        .census = census};
    struct cut_history cut;
    cut_history_init(&cut, history, cutting->segment);
    enum rig_rc rc = rig_stream_begin(history->workload, &options, &windows, &err);
    const struct rig_segment *segment;
    uint32_t fed = 0;
    while (rc == RIG_OK && (segment = cut_history_next(&cut)) != NULL) {
        rc = rig_stream_feed(windows, segment, &err);
        if (rc == RIG_OK && history->txn_count < 64 && fed++ % 3 == 0)
            look_on(totals, cutting, windows, whole);
    }
    totals->checks++;
    if (rc == RIG_OK)
        rc = finish(totals, cutting, history, whole, windows, contradicted_before, &err);
    else
        rig_stream_free(windows);
    if (rc != RIG_OK)
        complain(totals, cutting, "failed:", err.text);
    cut_history_done(&cut);
    rig_census_free(census);
    return cutting->contradicted != contradicted_before;
}

static void check_cut(struct totals *totals, const struct cutting *cutting, const struct rig_history *history,
                      const struct rig_verdict *whole)
{
    struct cutting now = *cutting;
    unsigned times = 0;
    while (check_cut_once(totals, &now, history, whole)) {
        if (++times > 7)
            complain(totals, &now, "does not come to an end", "");
    }
}

static struct rig_verdict *check_whole(const struct rig_history *history, unsigned assumptions,
                                       enum rig_lattice lattice)
{
    struct rig_err err = {0};
    struct rig_verdict *whole = NULL;
    const struct rig_check_options options = {.assumptions = assumptions, .lattice = lattice, .budget_ns = budget_ns};
    return rig_check(history, &options, &whole, &err) == RIG_OK ? whole : NULL; /* NULL: unusable as a whole */
}

static void check_assuming(struct totals *totals, const char *name, const struct rig_history *history,
                           unsigned assumptions, enum rig_lattice lattice)
{
    struct rig_verdict *whole = check_whole(history, assumptions, lattice);
    if (whole == NULL)
        return;
    uint32_t count = history->txn_count;
    struct cutting cuttings[] = {
        {name, 1, 1, 1, 1, false, assumptions, 0, lattice, false},
        {name, 1, 1, 1, 4, false, assumptions, 0, lattice, false},
        {name, 3, 3, 1, 8, false, assumptions, 0, lattice, false},
        {name, 2, 5, 1, 12, false, assumptions, 0, lattice, false},
        {name, 10, 30, 1, 10, false, assumptions, 0, lattice, false},
        {name, count / 16 + 1, count / 16 + 1, 1, count / 32 + 1, false, assumptions, 0, lattice, false},
        {name, count / 6 + 1, count / 6 + 1, 2, count / 8 + 1, false, assumptions, 0, lattice, false},
        {name, count / 8 + 1, count / 8 + 1, 1, count / 3 + 1, false, assumptions, 0, lattice, false},
    };
    for (size_t i = 0; i < sizeof cuttings / sizeof cuttings[0]; i++) {
        if (cuttings[i].segment <= 3 && count >= 300)
            continue;
        check_cut(totals, &cuttings[i], history, whole);
        cuttings[i].exact = true;
        check_cut(totals, &cuttings[i], history, whole);
    }
    rig_verdict_free(whole);
}

/* In windows of one and of three transactions. */
static void check_in_smallest(struct totals *totals, const char *name, const struct rig_history *history,
                              unsigned assumptions)
{
    struct rig_verdict *whole = check_whole(history, assumptions, RIG_LATTICE_EXACT);
    struct cutting cuttings[] = {
        {name, 1, 1, 1, 1, true, assumptions, 0, RIG_LATTICE_EXACT, true},
        {name, 3, 1, 1, 1, true, assumptions, 0, RIG_LATTICE_EXACT, true},
        {name, 1, 1, 1, 8, false, assumptions, 0, RIG_LATTICE_EXACT, true},
    };
    for (size_t i = 0; whole != NULL && i < sizeof cuttings / sizeof cuttings[0]; i++)
        check_cut(totals, &cuttings[i], history, whole);
    rig_verdict_free(whole);
}

/* Registers under sets of assumptions: `count` sets, and the next sets for the next history. */
static void check_registers(struct totals *totals, const char *name, const struct rig_history *history, unsigned count)
{
    static unsigned next;
    for (unsigned i = 0; i < count; i++, next++) {
        check_assuming(totals, name, history, next % (1u << RIG_ASSUMPTION_COUNT), RIG_LATTICE_REFERENCE);
        check_assuming(totals, name, history, next % (1u << RIG_ASSUMPTION_COUNT), RIG_LATTICE_EXACT);
    }
}

/* A history of lists, as it is and as registers. */
static void check_history(struct totals *totals, const char *name, const struct rig_history *history)
{
    check_assuming(totals, name, history, 0, RIG_LATTICE_EXACT);
    if (history->key_texts != NULL)
        return;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_history *registers =
            as_registers(history, i * (2 + (uint32_t)(totals->checks % 11)), totals->checks);
        check_registers(totals, name, registers, 1);
        rig_history_free(registers);
    }
}

/* With keys that are used again: of one kind, of all kinds, one key only. */
static void check_late(struct totals *totals, const char *of, const struct rig_history *history, uint64_t seed)
{
    char name[160];
    const unsigned all = (1u << LATE_KINDS) - 1;
    const struct {
        uint32_t count;
        unsigned kinds;
    } lates[] = {{1, all}, {8, all & ~(1u << LATE_FAILED)}, {4, 1u << seed % LATE_KINDS}};
    for (size_t i = 0; i < sizeof lates / sizeof lates[0]; i++) {
        uint32_t idle = history->txn_count / (i == 0 ? 3 : 20);
        struct rig_history *late = late_history(history, seed * 8 + i, lates[i].count, lates[i].kinds, idle);
        (void)snprintf(name, sizeof name, "%s, late %zu", of, i);
        if (late->txn_count > history->txn_count)
            check_history(totals, name, late);
        rig_history_free(late);
    }
}

static void check_simulated(struct totals *totals, enum rig_sim_isolation isolation, enum rig_sim_bug bug,
                            uint64_t seed)
{
    struct rig_err err = {0};
    struct sim_settings settings;
    sim_settings_init(&settings, isolation, bug);
    if (rig_sim_options_check(&settings.sim, RIG_WORKLOAD_LIST_APPEND, &err) != RIG_OK)
        return;
    settings.seed = seed;
    settings.txn_count = seed % 3 == 0 ? 200 : seed % 3 == 1 ? 600 : 3000;
    settings.sim.bug_rate = seed % 2 == 0 ? 0.2 : 0.01;
    settings.workload.active_keys = seed % 5 == 0 ? 100 : 2 + (int64_t)(seed % 3) * 2;
    settings.workload.appends_per_key = 4 + (int64_t)(seed % 4) * 4;
    settings.workload.key_distribution = seed % 7 == 0 ? RIG_KEYS_EXPONENTIAL : RIG_KEYS_UNIFORM;
    settings.session_count = 3 + (uint32_t)(seed % 4) * 4;
    if (seed % 4 >= 2) {
        settings.sim.abort_rate = 0.02;
        settings.sim.info_rate = 0.02;
        settings.sim.loss_rate = 0.01;
    }
    struct seen_run run;
    char name[128];
    seen_run_init(&run, &settings);
    struct rig_history *history = seen_run_history(&run, RIG_WORKLOAD_LIST_APPEND);
    seen_run_done(&run);
    (void)snprintf(name, sizeof name, "%s, bug %s, seed %" PRIu64, rig_sim_isolation_names[isolation],
                   rig_sim_bug_names[bug], seed);
    check_history(totals, name, history);
    check_late(totals, name, history, seed);
    rig_history_free(history);
    settings.workload.type = RIG_WORKLOAD_RW_REGISTER;
    if (rig_sim_options_check(&settings.sim, RIG_WORKLOAD_RW_REGISTER, &err) != RIG_OK)
        return;
    seen_run_init(&run, &settings);
    history = seen_run_history(&run, RIG_WORKLOAD_RW_REGISTER);
    seen_run_done(&run);
    check_registers(totals, name, history, 2);
    rig_history_free(history);
}

/* `only`: the name of a bug; NULL: all of them, and none. */
static void check_all_simulated(struct totals *totals, uint64_t first_seed, uint64_t seed_count, const char *only)
{
    static const enum rig_sim_isolation levels[] = {RIG_SIM_SERIALIZABLE, RIG_SIM_SNAPSHOT, RIG_SIM_READ_COMMITTED,
                                                    RIG_SIM_READ_UNCOMMITTED};
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        for (size_t i = 0; only == NULL && i < sizeof levels / sizeof levels[0]; i++)
            check_simulated(totals, levels[i], RIG_SIM_BUG_NONE, seed);
        for (int bug = RIG_SIM_BUG_NONE + 1; rig_sim_bug_names[bug] != NULL; bug++) {
            /* Some of the seeds are enough for bugs of single reads and commits. */
            if (only == NULL && bug > RIG_SIM_BUG_NON_MONOTONIC_SESSION && seed % 4 != 0)
                continue;
            if (only == NULL || strcmp(rig_sim_bug_names[bug], only) == 0)
                check_simulated(totals, seed % 2 == 0 ? RIG_SIM_SERIALIZABLE : RIG_SIM_SNAPSHOT, (enum rig_sim_bug)bug,
                                seed);
        }
    }
}

/* Falsified in every way; each with some of the cuttings. */
static void check_small(struct totals *totals, uint64_t seed, uint64_t count)
{
    for (uint64_t number = 0; number < count; number++) {
        struct small_history small;
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        char name[64];
        small_random(seed, number, SMALL_FULL, &small);
        if (build_history(&small, NULL, &history, &err) != RIG_OK)
            continue;
        (void)snprintf(name, sizeof name, "small %" PRIu64 " of seed %" PRIu64, number, seed);
        check_history(totals, name, history);
        rig_history_free(history);
    }
}

static void check_rotating(struct totals *totals, uint64_t seed, uint64_t count)
{
    for (uint64_t number = 0; number < count; number++) {
        struct rig_history *history = rotating_registers(seed, number);
        char name[64];
        (void)snprintf(name, sizeof name, "rotating %" PRIu64 " of seed %" PRIu64, number, seed);
        const unsigned assumptions = number % 4 == 0 ? (unsigned)(number / 4 % (1u << RIG_ASSUMPTION_COUNT)) : 0;
        check_in_smallest(totals, name, history, assumptions);
        rig_history_free(history);
    }
}

static void check_file(struct totals *totals, const char *path, unsigned sets)
{
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    if (rig_history_load(path, &(struct rig_load_options){0}, &history, &err) != RIG_OK)
        return; /* rejected with its proper reason */
    if (history->workload == RIG_WORKLOAD_LIST_APPEND)
        check_history(totals, path, history);
    else if (history->workload == RIG_WORKLOAD_RW_REGISTER)
        check_registers(totals, path, history, sets);
    rig_history_free(history);
}

static const char *text_after(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return fallback;
}

static uint64_t number_after(int argc, char **argv, const char *name, const char *fallback)
{
    return strtoull(text_after(argc, argv, name, fallback), NULL, 10);
}

int main(int argc, char **argv)
{
    struct totals totals = {0};
    const uint64_t first_seed = number_after(argc, argv, "--first-seed", "1");
    check_all_simulated(&totals, first_seed, number_after(argc, argv, "--seeds", "0"),
                        text_after(argc, argv, "--bug", NULL));
    const unsigned all_sets = 1u << RIG_ASSUMPTION_COUNT;
    const uint64_t asked_sets = number_after(argc, argv, "--sets", "0");
    const unsigned sets = asked_sets == 0 || asked_sets > all_sets ? all_sets : (unsigned)asked_sets;
    check_small(&totals, first_seed, number_after(argc, argv, "--small", "0"));
    check_rotating(&totals, first_seed, number_after(argc, argv, "--rotating", "0"));
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) == 0)
            i++;
        else
            check_file(&totals, argv[i], sets);
    }
    (void)printf("%" PRIu64 " checks in %" PRIu64 " windows with a guess, %" PRIu64 " of them for nothing, %" PRIu64
                 " because of an assumption, and %" PRIu64 " with a census, %" PRIu64
                 " other types of long cycles; %" PRIu64 " of %" PRIu64 " levels left open; %" PRIu64 " problems\n",
                 totals.checks, totals.windows, totals.conflicts, totals.contradictions, totals.exact_windows,
                 totals.other_types, totals.open_levels, totals.levels, totals.problems);
    return totals.checks > 0 && totals.problems == 0 && totals.open_levels <= totals.levels / MOST_OPEN ? EXIT_SUCCESS
                                                                                                        : EXIT_FAILURE;
}
