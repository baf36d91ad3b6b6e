/*
 * The requests a second of the HTTP driver, compared with a bare loop of libcurl's that sends the same bodies.
 *
 *     bench_http http://127.0.0.1:2379 [clients] [seconds a round] [rounds]
 *
 * The server is an etcd; the transactions are those of the dialect etcd for registers, one request each. Rounds of both
 * alternate; the program prints the medians and their ratio.
 */
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "drivers/http/http_session.h"
#include "generator/generator.h"

enum { CLIENTS_MOST = 256, QUESTIONS = 2000, ROUNDS_MOST = 31 };

/* A client's request bodies, made before the measurement. */
struct question {
    struct rig_op ops[4];
    uint32_t count;
    bool read_only;
    char *body;
};

struct client {
    pthread_t thread;
    uint32_t index;
    struct question questions[QUESTIONS];
    uint64_t done;
    uint64_t failed;
};

static struct client clients[CLIENTS_MOST];
static uint32_t client_count = 16;
static const char *base_url;
static struct rig_http_run run;
static atomic_bool stopping;

static int64_t *elements(struct rig_transaction *transaction, size_t count)
{
    return transaction->element_count + count <= transaction->element_capacity
               ? transaction->elements + transaction->element_count
               : NULL;
}

static void log_nothing(int level, const char *area, const char *format, ...)
{
    (void)level, (void)area, (void)format;
}

static int64_t name_nothing(const char *text)
{
    (void)text;
    return RIG_COLUMN_NONE;
}

static uint64_t remind_of_nothing(const char *text)
{
    (void)text;
    return 0;
}

static void forget_nothing(uint64_t reminder)
{
    (void)reminder;
}

static const struct rig_core core = {.now_ns = rig_clock_now_ns,
                                     .elements = elements,
                                     .log = log_nothing,
                                     .name = name_nothing,
                                     .remind = remind_of_nothing,
                                     .forget = forget_nothing};

_Noreturn static void give_up(const char *text)
{
    (void)fprintf(stderr, "bench_http: %s\n", text);
    exit(1);
}

/* -- the two loops ------------------------------------------------------------------------------------------------- */

static void *drive(void *argument)
{
    struct client *client = argument;
    struct rig_http_session session = {.client_index = 0};
    struct rig_read reads[4];
    int64_t room[64];
    struct rig_err err = {0};
    if (rig_http_session_open(&session, &run, client->index, &err) != RIG_OK)
        give_up(err.text);
    for (uint64_t i = 0; !atomic_load(&stopping); i++) {
        const struct question *question = &client->questions[i % QUESTIONS];
        struct rig_transaction transaction = {.ops = question->ops,
                                              .op_count = question->count,
                                              .read_only = question->read_only,
                                              .reads = reads,
                                              .elements = room,
                                              .element_capacity = 64};
        memset(reads, 0, sizeof reads);
        client->failed += rig_http_session_transact(&session, &transaction) == RIG_OUTCOME_OK ? 0 : 1;
        client->done++;
    }
    rig_http_session_close(&session, true);
    return NULL;
}

static size_t take_nothing(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes, (void)context;
    return size * count;
}

static void *loop_bare(void *argument)
{
    struct client *client = argument;
    char url[512];
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    (void)snprintf(url, sizeof url, "%s/v3/kv/txn", base_url);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_nothing);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    for (uint64_t i = 0; !atomic_load(&stopping); i++) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, client->questions[i % QUESTIONS].body);
        client->failed += curl_easy_perform(easy) == CURLE_OK ? 0 : 1;
        client->done++;
    }
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return NULL;
}

/* Requests a second of all clients together. */
static double measure(void *(*loop)(void *), int64_t round_ns)
{
    uint64_t done = 0;
    atomic_store(&stopping, false);
    const int64_t start_ns = rig_clock_now_ns();
    for (uint32_t i = 0; i < client_count; i++) {
        clients[i].done = 0;
        if (pthread_create(&clients[i].thread, NULL, loop, &clients[i]) != 0)
            give_up("no thread");
    }
    rig_clock_sleep_until_ns(start_ns + round_ns);
    atomic_store(&stopping, true);
    for (uint32_t i = 0; i < client_count; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        done += clients[i].done;
    }
    return (double)done * 1e9 / (double)(rig_clock_now_ns() - start_ns);
}

/* -- set-up -------------------------------------------------------------------------------------------------------- */

static void make_body(struct question *question, struct rig_arena *arena, struct rig_request_maker *maker)
{
    struct rig_transaction transaction = {.ops = question->ops, .op_count = question->count};
    struct rig_transaction_state state;
    const struct rig_dialect_step *step = &run.dialect->workloads[RIG_WORKLOAD_RW_REGISTER].steps.at[0];
    rig_arena_reset(arena);
    if (!rig_state_begin(&state, &core, arena, &transaction))
        give_up("out of memory");
    const struct rig_render_scope scope = {.dialect = run.dialect, .state = &state};
    const char *refused = rig_request_make(maker, step, &scope);
    if (refused != NULL)
        give_up(refused);
    question->body = strdup(maker->request.body);
}

static void make_questions(struct client *client, uint32_t index)
{
    struct rig_generator_options options;
    struct rig_generator *generator = NULL;
    struct rig_arena arena;
    struct rig_request_maker maker;
    struct rig_err err = {0};
    memset(&options, 0, sizeof options);
    rig_arena_init(&arena, 0);
    rig_request_maker_init(&maker);
    if (rig_option_defaults(rig_generator_option_table, &options, &arena, &err) != RIG_OK)
        give_up(err.text);
    options.type = RIG_WORKLOAD_RW_REGISTER;
    options.transactions = QUESTIONS;
    options.max_operations = 4;
    if (rig_generator_new(&options, 1, index, client_count, &generator, &err) != RIG_OK)
        give_up(err.text);
    client->index = index;
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct question *question = &client->questions[i];
        struct rig_transaction transaction = {.client = index};
        rig_generator_next(generator, &transaction);
        memcpy(question->ops, transaction.ops, transaction.op_count * sizeof *question->ops);
        question->count = transaction.op_count;
        question->read_only = transaction.read_only;
        make_body(question, &arena, &maker);
    }
    rig_generator_free(generator);
    rig_request_maker_done(&maker);
    rig_arena_done(&arena);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

int main(int argc, char **argv)
{
    const struct rig_http_options options = {.connect_timeout_ns = INT64_C(2000000000),
                                             .request_timeout_ns = INT64_C(5000000000),
                                             .transaction_timeout_ns = INT64_C(10000000000),
                                             .max_answer_bytes = 1 << 20};
    struct rig_run_env env = {.core = &core, .workload = RIG_WORKLOAD_RW_REGISTER, .run_name = "rig_bench_http"};
    struct rig_dialect *dialect = NULL;
    struct rig_err err = {0};
    double driver[ROUNDS_MOST], bare[ROUNDS_MOST];
    if (argc < 2)
        give_up("bench_http URL [clients] [seconds a round] [rounds]");
    base_url = argv[1];
    client_count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 16;
    const int64_t round_ns = (argc > 3 ? strtoll(argv[3], NULL, 10) : 3) * RIG_NS_PER_S;
    const long rounds = argc > 4 ? strtol(argv[4], NULL, 10) : 5;
    if (client_count < 1 || client_count > CLIENTS_MOST || rounds < 1 || rounds > ROUNDS_MOST)
        give_up("1 to 256 clients, 1 to 31 rounds");
    env.client_count = client_count;
    if (rig_dialect_load("etcd", NULL, &dialect, &err) != RIG_OK ||
        rig_http_run_init(&run, &env, &options, dialect, &err) != RIG_OK ||
        rig_http_run_add_endpoint(&run, base_url, NULL, &err) != RIG_OK || rig_http_run_setup(&run, &err) != RIG_OK)
        give_up(err.text);
    for (uint32_t i = 0; i < client_count; i++)
        make_questions(&clients[i], i);
    for (long round = 0; round < rounds; round++) {
        driver[round] = measure(drive, round_ns);
        bare[round] = measure(loop_bare, round_ns);
    }
    uint64_t failed = 0;
    for (uint32_t i = 0; i < client_count; i++)
        failed += clients[i].failed;
    rig_http_run_teardown(&run);
    rig_http_run_done(&run);
    qsort(driver, (size_t)rounds, sizeof driver[0], compare);
    qsort(bare, (size_t)rounds, sizeof bare[0], compare);
    const double ours = driver[rounds / 2], theirs = bare[rounds / 2];
    (void)printf("%u clients: driver %.0f requests/s, bare libcurl %.0f, ratio %.2f; %llu failed\n", client_count, ours,
                 theirs, ours / theirs, (unsigned long long)failed);
    return 0;
}
