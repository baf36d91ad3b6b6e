/*
 * Badly broken databases: histories of a million transactions, most or all of them in one strongly connected component,
 * are decided completely, with short witnesses where there are any, and within bounds of time and memory.
 *
 * The bounds are several times what an idle machine takes; sanitizers keep the first of them only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "generator/synthetic/synthetic.h"
#include "tests/model/made_history.h"
#include "checker/judge/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Seconds of a processor. */
enum { MOST_SECONDS = 40, MOST_MEBIBYTES = 2048, SANITIZED_SLOWDOWN = 5, SETTINGS = 3 };

struct expectation {
    const char *name;
    const char *settings[SETTINGS];
    enum rig_level weakest_refuted;
    enum rig_level held;
    enum rig_anomaly anomaly;
    uint32_t shortest; /* transactions in the first witness of the anomaly */
};

#define MILLION "workload.transactions=1000000"

/* The time of this process on a processor: other work on the machine does not count. */
static int64_t spent_ns(void)
{
    struct timespec spent = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000000000 + spent.tv_nsec;
}

static const struct expectation expectations[] = {
    {"one cycle of reads",
     {MILLION, "shape=ring-wr"},
     RIG_LEVEL_READ_COMMITTED,
     RIG_LEVEL_READ_UNCOMMITTED,
     RIG_ANOMALY_G1C,
     1000000},
    {"one cycle of overwrites",
     {MILLION, "shape=ring-rw"},
     RIG_LEVEL_SERIALIZABLE,
     RIG_LEVEL_READ_COMMITTED,
     RIG_ANOMALY_G2_ITEM,
     1000000},
    {"lost appends",
     {MILLION, "database.bug=lost-append"},
     RIG_LEVEL_READ_UNCOMMITTED,
     RIG_LEVEL_COUNT,
     RIG_ANOMALY_G_SINGLE,
     2},
    {"nothing visible", {MILLION, "shape=blind"}, RIG_LEVEL_SERIALIZABLE, RIG_LEVEL_COUNT, RIG_ANOMALY_LOST_UPDATE, 2},
};

static int failed(const char *name, const char *what)
{
    (void)printf("%s: %s\n", name, what);
    return 1;
}

static struct rig_history *make(const struct expectation *expected)
{
    struct rig_err err = {0};
    struct rig_synthetic synthetic;
    struct rig_history *history = NULL;
    enum rig_rc rc = rig_synthetic_defaults(&synthetic, &err);
    for (size_t i = 0; rc == RIG_OK && i < SETTINGS && expected->settings[i] != NULL; i++)
        rc = rig_synthetic_set(&synthetic, expected->settings[i], &err);
    if (rc == RIG_OK)
        rc = make_history(&synthetic, &history, &err);
    if (rc != RIG_OK)
        (void)printf("%s: %s\n", expected->name, err.text);
    return history;
}

static int judge(const struct expectation *expected, const struct rig_verdict *verdict)
{
    const struct rig_finding *finding = &verdict->findings[expected->anomaly];
    if (verdict->valid != RIG_VALID_FALSE)
        return failed(expected->name, "is not judged invalid");
    if (verdict->levels[expected->weakest_refuted].fate != RIG_FATE_REFUTED)
        return failed(expected->name, "a level that is broken is not refuted");
    if (expected->held != RIG_LEVEL_COUNT && verdict->levels[expected->held].fate != RIG_FATE_HELD)
        return failed(expected->name, "a level that was kept does not hold");
    if (finding->witness_count == 0 || finding->witnesses[0].txn_count != expected->shortest)
        return failed(expected->name, "the shortest witness is missing, or not the shortest");
    return 0;
}

/* In a process of its own, to measure its memory. */
static int decide(const struct expectation *expected)
{
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_history *history = make(expected);
    if (history == NULL)
        return 1;
    const int64_t start = spent_ns();
    if (rig_check(history, &(struct rig_check_options){.assumptions = RIG_ASSUMES_PREFILLED}, &verdict, &err) != RIG_OK)
        return failed(expected->name, err.text);
    const double seconds = (double)(spent_ns() - start) / 1e9;
    int status = judge(expected, verdict);
    (void)printf("%s: %.1f s\n", expected->name, seconds);
    if (seconds > MOST_SECONDS * (SANITIZED ? SANITIZED_SLOWDOWN : 1))
        status = failed(expected->name, "took too long");
    rig_verdict_free(verdict);
    rig_history_free(history);
    return status;
}

int main(void)
{
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        struct rusage usage;
        int ended = 1;
        (void)fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(decide(&expectations[i]));
        if (child < 0 || wait4(child, &ended, 0, &usage) != child || ended != 0)
            status = EXIT_FAILURE;
        else if (!SANITIZED && usage.ru_maxrss / 1024 > MOST_MEBIBYTES)
            status = failed(expectations[i].name, "took too much memory");
    }
    return status;
}
