/*
 * The recorder's cost to a client: invoke and complete of one transaction, without generator, driver and pacing.
 *
 *   bench_recorder [transactions] [repetitions] [times]
 *
 * With the word `times` each of a transaction's two operations is stamped at its start and its end, as by a driver that
 * waits for each answer: four readings of the clock more.
 *
 * Per number of channels, in ns a transaction, medians: "client" is processor time of the client threads, "writer" that
 * of the recorder's thread, from its start to the end of closing, "load" the time to read the record back. "stalls"
 * counts full rings: clients here do nothing but record, so they can outrun the writer, unlike clients of a database. A
 * transaction appends to one key and reads a list of 0 to 100 elements of another.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "history/source/load.h"
#include "history/record/recorder.h"

enum { MOST_REPETITIONS = 100, MOST_CHANNELS = 16, ELEMENTS = 100, KEYS = 10 };

static bool has_times;

struct client {
    pthread_t thread;
    struct rig_channel *channel;
    uint32_t index;
    uint32_t transactions;
    double cpu_ns;
};

struct result {
    double client_ns, writer_ns, bytes, load_ns;
    uint64_t stalls;
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_recorder: %s\n", what);
    exit(EXIT_FAILURE);
}

static double clock_of(clockid_t clock)
{
    struct timespec time;
    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *run_client(void *argument)
{
    struct client *client = argument;
    int64_t elements[ELEMENTS];
    for (int64_t i = 0; i < ELEMENTS; i++)
        elements[i] = i + 1;
    struct rig_read reads[2] = {{.state = RIG_READ_UNKNOWN}, {.state = RIG_READ_SEEN}};
    struct rig_column_row stamped = {0};
    rig_column_give(&stamped, RIG_COLUMN_TIMES, 2);
    double before = clock_of(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < client->transactions; i++) {
        int64_t key = (int64_t)(i / ELEMENTS * KEYS + i % KEYS) * MOST_CHANNELS + client->index;
        struct rig_op ops[2] = {{.kind = RIG_OP_APPEND, .key = key, .value = i % ELEMENTS},
                                {.kind = RIG_OP_READ_LIST, .key = key}};
        reads[1].count = i % ELEMENTS;
        int64_t now_ns = rig_clock_now_ns();
        rig_channel_invoke(client->channel, client->index, now_ns, now_ns, ops, 2);
        int64_t times[4];
        for (int at = 0; has_times && at < 4; at++)
            times[at] = rig_clock_now_ns();
        if (has_times)
            rig_channel_columns(client->channel, &stamped, times);
        rig_channel_complete(client->channel, rig_clock_now_ns(), RIG_OUTCOME_OK, reads, elements, NULL);
    }
    client->cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - before;
    return NULL;
}

static double load_ns(const char *path, uint32_t transactions)
{
    struct rig_load_options options = {.form = RIG_FORM_AUTO};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    double before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    if (rig_history_load(path, &options, &history, &err) != RIG_OK)
        die(err.text);
    double took_ns = clock_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    if (history->txn_count != transactions)
        die("transactions are missing");
    rig_history_free(history);
    return took_ns / transactions;
}

static struct result measure(const char *path, uint32_t channels, uint32_t transactions)
{
    struct client clients[MOST_CHANNELS] = {0};
    struct rig_recorder_options options = {
        .path = path, .channel_count = channels, .columns = has_times ? RIG_COLUMN_BIT(RIG_COLUMN_TIMES) : 0};
    struct rig_recorder *recorder = NULL;
    struct rig_err err = {0};
    struct result result = {0};
    double before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    if (rig_recorder_open(&options, &recorder, &err) != RIG_OK)
        die(err.text);
    for (uint32_t i = 0; i < channels; i++) {
        clients[i].channel = rig_recorder_channel(recorder, i);
        clients[i].index = i;
        clients[i].transactions = transactions / channels;
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
            die("no thread");
    }
    for (uint32_t i = 0; i < channels; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        result.client_ns += clients[i].cpu_ns;
    }
    struct rig_recorder_stats stats;
    rig_recorder_stats(recorder, &stats);
    result.stalls = stats.stalls;
    if (rig_recorder_close(recorder, &err) != RIG_OK)
        die(err.text);
    double count = transactions / channels * channels;
    result.writer_ns = (clock_of(CLOCK_PROCESS_CPUTIME_ID) - before - result.client_ns) / count;
    result.client_ns /= count;
    struct stat status = {0};
    (void)stat(path, &status);
    result.bytes = (double)status.st_size / count;
    result.load_ns = load_ns(path, transactions / channels * channels);
    (void)unlink(path);
    return result;
}

static int by_client(const void *a, const void *b)
{
    double x = ((const struct result *)a)->client_ns, y = ((const struct result *)b)->client_ns;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    long transactions = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    long repetitions = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    if (transactions < MOST_CHANNELS || transactions > 1000000000 || repetitions < 1 || repetitions > MOST_REPETITIONS)
        die("usage: bench_recorder [transactions] [repetitions] [times]");
    has_times = argc > 3 && strcmp(argv[3], "times") == 0;
    char folder[] = "/tmp/rig-bench-recorder-XXXXXX";
    char path[64];
    if (mkdtemp(folder) == NULL)
        die("no temporary folder");
    (void)snprintf(path, sizeof path, "%s/history.rig", folder);
    printf("%ld transactions, median of %ld\n", transactions, repetitions);
    printf("%8s %10s %10s %10s %10s %12s\n", "channels", "client ns", "writer ns", "load ns", "bytes", "stalls");
    for (uint32_t channels = 1; channels <= MOST_CHANNELS; channels *= 2) {
        struct result results[MOST_REPETITIONS];
        for (long i = 0; i < repetitions; i++)
            results[i] = measure(path, channels, (uint32_t)transactions);
        qsort(results, (size_t)repetitions, sizeof results[0], by_client);
        const struct result *middle = &results[repetitions / 2];
        printf("%8u %10.0f %10.0f %10.0f %10.1f %12llu\n", channels, middle->client_ns, middle->writer_ns,
               middle->load_ns, middle->bytes, (unsigned long long)middle->stalls);
    }
    return rmdir(folder);
}
