/* The driver `sim` under threads: the results depend on the seed alone, and no client waits for ever. */
#include "tests/unit/cmocka_first.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "drivers/built_in.h"
#include "generator/generator.h"
#include "tests/conformance/bench_core.h"

enum { CLIENTS = 8, TRANSACTIONS = 300 };

struct worker {
    struct bench_run *run;
    uint32_t index;
    uint64_t seed;
    struct rig_buf seen;
    bool failed;
};

static void write_answer(struct rig_buf *out, const struct bench_client *client, enum rig_outcome outcome)
{
    const struct rig_transaction *t = &client->transaction;
    rig_buf_printf(out, "%lld %lld %d %s %d:", (long long)client->invoke_ns, (long long)client->complete_ns, outcome,
                   t->error_code, t->session_lost);
    for (uint32_t i = 0; i < t->op_count; i++) {
        rig_buf_printf(out, " %d %lld %lld %d %lld", t->ops[i].kind, (long long)t->ops[i].key,
                       (long long)t->ops[i].value, t->reads[i].state, (long long)t->reads[i].value);
        for (uint32_t j = 0; j < t->reads[i].count; j++)
            rig_buf_printf(out, ",%lld", (long long)t->elements[t->reads[i].first_element + j]);
    }
    rig_buf_add_char(out, '\n');
}

/* Clients end at different times. */
static void *work(void *context)
{
    struct worker *worker = context;
    const struct rig_generator_options options = {.type = RIG_WORKLOAD_LIST_APPEND,
                                                  .transactions = 1,
                                                  .min_operations = 1,
                                                  .max_operations = 4,
                                                  .reads = 0.5,
                                                  .active_keys = 5,
                                                  .key_distribution = RIG_KEYS_UNIFORM,
                                                  .zipf_exponent = 1,
                                                  .appends_per_key = 32,
                                                  .long_share = 0.05,
                                                  .long_commits = 10};
    struct rig_generator *generator = NULL;
    struct bench_client client = {0};
    struct rig_err err = {0};
    worker->failed = rig_generator_new(&options, worker->seed, worker->index, CLIENTS, &generator, &err) != RIG_OK ||
                     bench_client_open(&client, worker->run, worker->index, &err) != RIG_OK;
    for (uint32_t i = 0; i < TRANSACTIONS - 20 * worker->index && !worker->failed; i++) {
        struct rig_transaction question = {0};
        rig_generator_next(generator, &question);
        enum rig_outcome outcome = bench_client_transact_held(&client, question.ops, question.op_count, &question.hold);
        write_answer(&worker->seen, &client, outcome);
        if (!client.transaction.session_lost)
            continue;
        bench_client_close(&client, false);
        worker->failed = bench_client_open(&client, worker->run, worker->index, &err) != RIG_OK;
    }
    bench_client_close(&client, true);
    bench_client_done(&client);
    rig_generator_free(generator);
    return NULL;
}

/* The results of all clients of one run, client by client. */
static void run_once(const struct bench_settings *settings, uint64_t seed, struct rig_buf *seen)
{
    struct bench_run run;
    struct rig_err err = {0};
    assert_int_equal(bench_run_start(&run, settings, RIG_WORKLOAD_LIST_APPEND, CLIENTS, seed, &err), RIG_OK);
    struct worker workers[CLIENTS];
    pthread_t threads[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++) {
        workers[i] = (struct worker){.run = &run, .index = i, .seed = seed};
        rig_buf_init(&workers[i].seen, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(workers[i].failed);
        rig_buf_add(seen, workers[i].seen.data, workers[i].seen.size);
        rig_buf_done(&workers[i].seen);
    }
    bench_run_stop(&run);
}

static void same_seed_same_history(void **state)
{
    (void)state;
    static const char *const isolations[] = {"isolation=serializable", "isolation=snapshot-isolation",
                                             "isolation=repeatable-read", "isolation=read-committed",
                                             "isolation=read-uncommitted"};
    for (size_t i = 0; i < sizeof isolations / sizeof isolations[0]; i++) {
        const char *const overrides[] = {isolations[i], "abort-rate=3%", "info-rate=3%", "loss-rate=3%",
                                         "latency=5",   "think=20",      "patience=1h"};
        const struct bench_settings settings = {.driver = &rig_driver_sim, .overrides = overrides, .override_count = 7};
        struct rig_buf first, second, other;
        rig_buf_init(&first, 0);
        rig_buf_init(&second, 0);
        rig_buf_init(&other, 0);
        run_once(&settings, 11, &first);
        run_once(&settings, 11, &second);
        run_once(&settings, 12, &other);
        assert_true(first.size > 50000);
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.data, second.data, first.size);
        assert_true(first.size != other.size || memcmp(first.data, other.data, first.size) != 0);
        rig_buf_done(&first);
        rig_buf_done(&second);
        rig_buf_done(&other);
    }
}

static const struct rig_op one_append = {RIG_OP_APPEND, 1, 1};

/* Two clients take part, the second never comes: after `patience` the first goes on. */
static void missing_client_stops_no_other(void **state)
{
    (void)state;
    const char *const overrides[] = {"patience=20ms"};
    const struct bench_settings settings = {.driver = &rig_driver_sim, .overrides = overrides, .override_count = 1};
    struct bench_run run;
    struct bench_client client = {0};
    struct rig_err err = {0};
    assert_int_equal(bench_run_start(&run, &settings, RIG_WORKLOAD_LIST_APPEND, 2, 1, &err), RIG_OK);
    assert_int_equal(bench_client_open(&client, &run, 0, &err), RIG_OK);
    int64_t start_ns = rig_clock_now_ns();
    assert_int_equal(bench_client_transact(&client, &one_append, 1), RIG_OUTCOME_OK);
    assert_true(rig_clock_now_ns() - start_ns >= 20 * RIG_NS_PER_MS);
    bench_client_close(&client, true);
    bench_client_done(&client);
    bench_run_stop(&run);
}

static void *wait_for_ever(void *context)
{
    struct bench_client *client = context;
    static enum rig_outcome outcome;
    outcome = bench_client_transact(client, &one_append, 1);
    return &outcome;
}

static void interrupt_ends_the_wait(void **state)
{
    (void)state;
    const char *const overrides[] = {"patience=1h"};
    const struct bench_settings settings = {.driver = &rig_driver_sim, .overrides = overrides, .override_count = 1};
    struct bench_run run;
    struct bench_client client = {0}, other = {0};
    struct rig_err err = {0};
    assert_int_equal(bench_run_start(&run, &settings, RIG_WORKLOAD_LIST_APPEND, 2, 1, &err), RIG_OK);
    assert_int_equal(bench_client_open(&client, &run, 0, &err), RIG_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, &client), 0);
    rig_driver_sim.interrupt(client.session);
    void *outcome = NULL;
    assert_int_equal(pthread_join(thread, &outcome), 0);
    assert_int_equal(*(enum rig_outcome *)outcome, RIG_OUTCOME_FAIL);
    assert_string_equal(client.transaction.error_code, "interrupted");
    assert_true(client.transaction.session_lost);
    /* The session stays interrupted; a new one, and the other client, go on. */
    assert_int_equal(bench_client_transact(&client, &one_append, 1), RIG_OUTCOME_FAIL);
    bench_client_close(&client, true);
    bench_client_done(&client);
    assert_int_equal(bench_client_open(&other, &run, 1, &err), RIG_OK);
    const struct rig_op read = {.kind = RIG_OP_READ_LIST, .key = 1};
    assert_int_equal(bench_client_transact(&other, &read, 1), RIG_OUTCOME_OK);
    assert_int_equal(other.transaction.reads[0].state, RIG_READ_NIL);
    bench_client_close(&other, true);
    bench_client_done(&other);
    bench_run_stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_history),
        cmocka_unit_test(missing_client_stops_no_other),
        cmocka_unit_test(interrupt_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
