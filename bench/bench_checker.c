/*
 * What checking a binary history costs, by phase: reading it, inferring the dependencies, searching them for cycles.
 *
 *   bench_checker [repetitions] [transactions] [case]...
 *
 * Per case, medians over the repetitions (5), in ns a transaction; "total" with its lowest and highest; "bytes" is the
 * most memory held by the whole process, over the transactions; "component" the largest strongly connected component.
 * The histories are synthetic (bench/synthetic.h), made once and written to a temporary file, which is then warm. Each
 * repetition is a process of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/synthetic.h"
#include "checker/check.h"
#include "checker/cycle/components.h"
#include "checker/infer/list_inference.h"
#include "history/load.h"

enum { MOST_REPETITIONS = 99, MOST_SETTINGS = 6 };

struct bench_case {
    const char *name;
    const char *settings[MOST_SETTINGS];
};

static const struct bench_case cases[] = {
    {"valid", {"workload.keys.active=100", "workload.keys.appends-per-key=100"}},
    {"write-skew-10", {"database.isolation=snapshot-isolation", "clients=100"}},
    {"write-skew-100", {"database.isolation=snapshot-isolation", "clients=1000", "workload.keys.active=100"}},
    {"lost-updates", {"database.isolation=read-committed", "clients=100"}},
    {"dirty-reads", {"database.isolation=read-uncommitted", "clients=100", "database.abort-rate=2%"}},
    {"stale-reads", {"database.isolation=snapshot-isolation", "database.bug=stale-read", "clients=100"}},
    {"long-fork", {"database.isolation=snapshot-isolation", "database.bug=long-fork", "clients=100"}},
    {"lost-appends", {"database.bug=lost-append"}},
    {"all-unread", {"shape=blind"}},
    {"ring-wr", {"shape=ring-wr"}},
    {"ring-rw", {"shape=ring-rw"}},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

struct sample {
    double read_ms, infer_ms, search_ms, total_ms, peak_bytes;
    uint32_t txn_count;
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_checker: %s\n", what);
    exit(EXIT_FAILURE);
}

static double since_ms(int64_t start)
{
    return (double)(rig_clock_now_ns() - start) / (double)RIG_NS_PER_MS;
}

static struct rig_history *load(const char *path)
{
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    if (rig_history_load(path, &(struct rig_load_options){0}, &history, &err) != RIG_OK)
        die(err.text);
    return history;
}

/* In a process of its own: one repetition. */
static struct sample check(const char *path)
{
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct sample sample = {0};
    int64_t start = rig_clock_now_ns();
    struct rig_history *history = load(path);
    sample.read_ms = since_ms(start);
    if (rig_check(history, &(struct rig_check_options){0}, &verdict, &err) != RIG_OK)
        die(err.text);
    sample.total_ms = since_ms(start);
    sample.infer_ms = verdict->cost.infer_ms;
    sample.search_ms = verdict->cost.search_ms;
    sample.txn_count = history->txn_count;
    rig_verdict_free(verdict);
    rig_history_free(history);
    return sample;
}

/* Likewise: the transactions in the largest component. */
static struct sample measure_component(const char *path)
{
    struct rig_err err = {0};
    struct rig_history *history = load(path);
    struct rig_arena arena;
    struct rig_inference inference;
    struct rig_components components;
    struct sample sample = {0};
    rig_arena_init(&arena, 0);
    if (rig_infer_list_append(history, 1, &arena, &inference, &err) != RIG_OK ||
        rig_inference_pack(&inference, &err) != RIG_OK)
        die(err.text);
    struct rig_view view = {.graph = &inference.graph, .links = RIG_LINKS_ALL};
    if (rig_components_find(view, &components, &err) != RIG_OK)
        die(err.text);
    for (size_t i = 0; i < components.list.count; i++) {
        uint32_t txns = 0;
        for (uint32_t at = components.list.at[i].begin; at < components.list.at[i].end; at++)
            txns += components.order[at] < history->txn_count;
        sample.txn_count = txns > sample.txn_count ? txns : sample.txn_count;
    }
    rig_components_done(&components);
    rig_inference_done(&inference);
    rig_arena_done(&arena);
    rig_history_free(history);
    return sample;
}

static struct sample in_child(struct sample (*work)(const char *), const char *path)
{
    int ends[2];
    struct sample sample;
    struct rusage usage;
    int status;
    if (pipe(ends) != 0)
        die("no pipe");
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sample = work(path);
        _exit(write(ends[1], &sample, sizeof sample) == (ssize_t)sizeof sample ? 0 : 1);
    }
    (void)close(ends[1]);
    bool got = child > 0 && read(ends[0], &sample, sizeof sample) == (ssize_t)sizeof sample;
    (void)close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !got || status != 0)
        die("a repetition failed");
    sample.peak_bytes = (double)usage.ru_maxrss * 1024;
    return sample;
}

/* In a process of its own, so that its memory does not count. */
static void make(const struct bench_case *what, const char *transactions, const char *path)
{
    (void)fflush(stdout);
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        struct rig_err err = {0};
        struct synthetic synthetic;
        struct rig_history *history = NULL;
        char count[64];
        (void)snprintf(count, sizeof count, "workload.transactions=%s", transactions);
        enum rig_rc rc = synthetic_defaults(&synthetic, &err);
        if (rc == RIG_OK)
            rc = synthetic_set(&synthetic, count, &err);
        for (size_t i = 0; rc == RIG_OK && i < MOST_SETTINGS && what->settings[i] != NULL; i++)
            rc = synthetic_set(&synthetic, what->settings[i], &err);
        if (rc == RIG_OK)
            rc = synthetic_make(&synthetic, &history, &err);
        if (rc == RIG_OK)
            rc = rig_history_save(history, path, RIG_FORM_RIG, &err);
        if (rc != RIG_OK)
            (void)fprintf(stderr, "bench_checker: %s: %s\n", what->name, err.text);
        _exit(rc == RIG_OK ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        die("a history could not be made");
}

static int compare_numbers(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void measure(const struct bench_case *what, const char *transactions, int repetitions, const char *path)
{
    double read[MOST_REPETITIONS], infer[MOST_REPETITIONS], search[MOST_REPETITIONS], total[MOST_REPETITIONS];
    double *const columns[] = {read, infer, search, total};
    double peak = 0, txns = 1;
    make(what, transactions, path);
    uint32_t component = in_child(measure_component, path).txn_count;
    for (int i = 0; i < repetitions; i++) {
        struct sample sample = in_child(check, path);
        txns = (double)sample.txn_count;
        read[i] = sample.read_ms * 1e6 / txns;
        infer[i] = sample.infer_ms * 1e6 / txns;
        search[i] = sample.search_ms * 1e6 / txns;
        total[i] = sample.total_ms * 1e6 / txns;
        peak = sample.peak_bytes > peak ? sample.peak_bytes : peak;
    }
    for (size_t i = 0; i < 4; i++)
        qsort(columns[i], (size_t)repetitions, sizeof(double), compare_numbers);
    int middle = repetitions / 2;
    (void)printf("| %s | %.0f | %u | %.0f | %.0f | %.0f | %.0f (%.0f to %.0f) | %.0f |\n", what->name, txns, component,
                 read[middle], infer[middle], search[middle], total[middle], total[0], total[repetitions - 1],
                 peak / txns);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return argc <= 3;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long repetitions = argc > 1 ? strtol(argv[1], &end, 10) : 5;
    const char *transactions = argc > 2 ? argv[2] : "1000000";
    if ((end != NULL && *end != '\0') || repetitions < 1 || repetitions > MOST_REPETITIONS)
        die("from 1 to 99 repetitions");
    char path[] = "/tmp/bench_checker_XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        die("no temporary file");
    (void)close(file);
    (void)printf("| case | transactions | component | read | infer | search | total | bytes |\n"
                 "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (is_wanted(cases[i].name, argc, argv))
            measure(&cases[i], transactions, (int)repetitions, path);
    }
    (void)unlink(path);
    return EXIT_SUCCESS;
}
