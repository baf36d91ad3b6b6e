/*
 * The cost of rig itself: the generator alone, and whole runs against the driver `null`, which does nothing.
 *
 *   bench_overhead [transactions] [repetitions] [online]
 *
 * With `online`, each run is also measured with a check during the run (run/load/online.h), for its cost to the
 * clients. The driver's answers make no history, so the check finds more anomalies than in any database.
 *
 * Prints medians. "wall" is the load's time times the threads that can run at once, over the transactions: a client's
 * time in rig between two calls of its driver, the recorder's thread competing for the cores. "cpu" is all processor
 * time of the process, the recorder's thread and the set-up included, over the transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/load/run.h"

enum { MOST_REPETITIONS = 100, CLIENT_COUNTS = 3 };

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_overhead: %s\n", what);
    exit(EXIT_FAILURE);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], ascending);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double cpu_ns(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

static struct rig_plan *make_plan(long transactions, int clients, bool online)
{
    char text[512];
    int length = snprintf(text, sizeof text,
                          "name: bench\nworkload: {type: list-append, transactions: %ld, final-reads: none}\n"
                          "clients: {count: %d}\ndatabase: {driver: 'null'}\ncheck: {online: %s}\n",
                          transactions, clients, online ? "true" : "false");
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    const uint64_t seed = 1;
    if (rig_plan_parse(&(struct rig_plan_text){"bench", text, (size_t)length}, NULL, 0, &seed, &plan, &err) != RIG_OK)
        die(err.text);
    return plan;
}

static void remove_record(const char *folder)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/history.rig", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* One run; returns the nanoseconds a transaction. */
static void measure_run(const struct rig_plan *plan, double *wall, double *cpu)
{
    static struct rig_run_result result;
    struct rig_err err = {0};
    char folder[] = "/tmp/rig-bench-XXXXXX";
    if (mkdtemp(folder) == NULL)
        die("cannot make a folder");
    const struct rig_run_options options = {.folder = folder};
    double before = cpu_ns();
    enum rig_rc rc = rig_run(plan, &options, &result, &err);
    double after = cpu_ns();
    rig_online_free(result.online); /* the part not checked during the load is left out */
    remove_record(folder);
    if (rc != RIG_OK)
        die(err.text);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double threads = (double)(plan->clients.count < cores ? plan->clients.count : cores);
    *wall = (double)result.load_ns * threads / (double)result.counters.invoked;
    *cpu = (after - before) / (double)result.counters.invoked;
}

static void bench_runs(long transactions, int repetitions, bool online)
{
    static const int counts[CLIENT_COUNTS] = {1, 2, 16};
    for (int i = 0; i < CLIENT_COUNTS; i++) {
        double wall[MOST_REPETITIONS], cpu[MOST_REPETITIONS];
        struct rig_plan *plan = make_plan(transactions, counts[i], online);
        for (int r = 0; r < repetitions; r++)
            measure_run(plan, &wall[r], &cpu[r]);
        rig_plan_free(plan);
        printf("whole run, %2d client%s   wall %6.0f ns   cpu %6.0f ns a transaction%s\n", counts[i],
               counts[i] == 1 ? " " : "s", median(wall, repetitions), median(cpu, repetitions),
               online ? ", checked meanwhile" : "");
        (void)fflush(stdout);
    }
}

static void bench_generator(long transactions, int repetitions)
{
    double times[MOST_REPETITIONS];
    struct rig_plan *plan = make_plan(transactions, 16, false);
    uint64_t operations = 0;
    for (int r = 0; r < repetitions; r++) {
        struct rig_generator *generator = NULL;
        struct rig_err err = {0};
        if (rig_generator_new(&plan->workload, 1, 3, 16, &generator, &err) != RIG_OK)
            die(err.text);
        int64_t start_ns = rig_clock_now_ns();
        for (long i = 0; i < transactions; i++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(generator, &transaction);
            operations += transaction.op_count;
        }
        times[r] = (double)(rig_clock_now_ns() - start_ns) / (double)transactions;
        rig_generator_free(generator);
    }
    rig_plan_free(plan);
    printf("generator alone         wall %6.0f ns a transaction of %.1f operations\n", median(times, repetitions),
           (double)operations / (double)transactions / repetitions);
}

int main(int argc, char **argv)
{
    long transactions = argc > 1 ? strtol(argv[1], NULL, 10) : 2000000;
    long repetitions = argc > 2 ? strtol(argv[2], NULL, 10) : 7;
    if (transactions < 1 || repetitions < 1 || repetitions > MOST_REPETITIONS)
        die("usage: bench_overhead [transactions] [repetitions, 1 to 100] [online]");
    bool online = argc > 3 && strcmp(argv[3], "online") == 0;
    printf("%ld transactions of 1 to 5 operations, median of %ld\n", transactions, repetitions);
    bench_generator(transactions, (int)repetitions);
    bench_runs(transactions, (int)repetitions, false);
    if (online)
        bench_runs(transactions, (int)repetitions, true);
    return EXIT_SUCCESS;
}
