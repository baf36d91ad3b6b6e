/*
 * The PostgreSQL-only faults, each on a live cluster under load: their evidence, their effect on clients, and that the
 * original state returns once they are healed.
 */
#include "tests/system/postgres/pg_harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "drivers/postgres/pg_session.h"
#include "nemesis/fault_context.h"

extern const struct rig_driver rig_driver;

enum { LOAD_CLIENTS = 3 };

/* Clients that write and read until they are stopped, and reopen sessions that are lost. */
struct load {
    struct harness *harness;
    pthread_t threads[LOAD_CLIENTS];
    atomic_bool ending;
    atomic_int committed;
    atomic_int failed;
    atomic_int out_of_memory;
    atomic_int next_value;
};

static struct harness server;
static struct load load;

static void note(const struct client *client, enum rig_outcome outcome)
{
    if (outcome == RIG_OUTCOME_OK)
        (void)atomic_fetch_add(&load.committed, 1);
    else
        (void)atomic_fetch_add(&load.failed, 1);
    if (strcmp(client->transaction.error_code, "53200") == 0)
        (void)atomic_fetch_add(&load.out_of_memory, 1);
}

static void *run_load(void *unused)
{
    struct client client = {.open = false};
    (void)unused;
    while (!atomic_load(&load.ending)) {
        struct rig_err err = {.rc = RIG_OK};
        if (!client.open && client_try_open(&client, load.harness, &err) != RIG_OK) {
            client_close(&client);
            if (strstr(err.text, "out of shared memory") != NULL)
                (void)atomic_fetch_add(&load.out_of_memory, 1);
            rig_clock_sleep_until_ns(rig_clock_now_ns() + 5 * RIG_NS_PER_MS);
            continue;
        }
        int value = atomic_fetch_add(&load.next_value, 1);
        client_begin(&client);
        client_append(&client, value % 5, value);
        client_read(&client, (value + 1) % 5);
        enum rig_outcome outcome = client_run(&client);
        note(&client, outcome);
        if (client.transaction.session_lost || outcome == RIG_OUTCOME_INFO)
            client_close(&client);
    }
    client_close(&client);
    return NULL;
}

static void load_start(void)
{
    atomic_store(&load.ending, false);
    load.harness = &server;
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        assert_int_equal(pthread_create(&load.threads[i], NULL, run_load, NULL), 0);
}

static void load_stop(void)
{
    atomic_store(&load.ending, true);
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        assert_int_equal(pthread_join(load.threads[i], NULL), 0);
}

/* Waits until `count` more transactions have committed. */
static void load_goes_on(int count)
{
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    int goal = atomic_load(&load.committed) + count;
    while (atomic_load(&load.committed) < goal) {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("the load does not go on");
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

/* ---- one injection ---- */

struct injection {
    const struct rig_fault *fault;
    struct rig_fault_site site;
    char options[256]; /* its options object, as raw bytes */
    void *state;
    struct rig_evidence evidence;
};

static const struct rig_fault *find(const char *name)
{
    const struct rig_fault *const *fault = rig_driver.cluster->faults;
    while (*fault != NULL && strcmp((*fault)->name, name) != 0)
        fault++;
    assert_non_null(*fault);
    return *fault;
}

/* `option`: the first option's value. */
static void inject(struct injection *injection, const char *name, const void *option, size_t option_size)
{
    struct rig_err err = {.rc = RIG_OK};
    *injection = (struct injection){.fault = find(name)};
    assert_true(injection->fault->options_size <= sizeof injection->options);
    if (option_size > 0)
        memcpy(injection->options, option, option_size);
    injection->state = calloc(1, injection->fault->state_size + 1);
    assert_non_null(injection->state);
    injection->site = (struct rig_fault_site){.core = harness_core(),
                                              .cluster = rig_driver.cluster,
                                              .run = server.run,
                                              .options = injection->options,
                                              .node_count = 1,
                                              .random = 42};
    if (rig_fault_inject(injection->fault, &injection->site, injection->state, &injection->evidence, &err) != RIG_OK)
        fail_msg("%s: %s", name, err.text);
}

static void expect_evidence(const struct injection *injection, const char *part)
{
    if (strstr(injection->evidence.text, part) == NULL)
        fail_msg("`%s` does not say `%s`", injection->evidence.text, part);
}

static void heal(struct injection *injection)
{
    struct rig_err err = {.rc = RIG_OK};
    for (int i = 0; i < 2; i++) { /* heal is idempotent */
        if (rig_fault_heal(injection->fault, &injection->site, injection->state, &injection->evidence, &err) != RIG_OK)
            fail_msg("%s: %s", injection->fault->name, err.text);
    }
    free(injection->state);
    load_goes_on(20);
    (void)printf("%s: %s\n", injection->fault->name, injection->evidence.text);
}

/* ---- the faults ---- */

static void sessions_are_terminated(void **state)
{
    (void)state;
    const double all = 1;
    struct injection injection;
    int failed = atomic_load(&load.failed);
    inject(&injection, "terminate-sessions", &all, sizeof all);
    expect_evidence(&injection, "pg-1: ");
    expect_evidence(&injection, " ended");
    heal(&injection);
    assert_true(atomic_load(&load.failed) > failed);
}

static void killed_session_has_the_server_recover(void **state)
{
    (void)state;
    struct injection injection;
    const int64_t by_kill = 0;
    PGconn *bystander = sql_connect(&server);
    inject(&injection, "kill-session", &by_kill, sizeof by_kill);
    expect_evidence(&injection, "of a session is gone");
    heal(&injection);
    expect_evidence(&injection, "pg-1 answers");
    /* The server ended all sessions with the one. */
    PGresult *result = PQexec(bystander, "SELECT 1");
    assert_int_not_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    PQfinish(bystander);
}

static void ended_session_is_one(void **state)
{
    (void)state;
    struct injection injection;
    const int64_t by_term = 1;
    PGconn *bystander = sql_connect(&server);
    inject(&injection, "kill-session", &by_term, sizeof by_term);
    heal(&injection);
    assert_string_equal(sql(bystander, "SELECT 1"), "1");
    PQfinish(bystander);
}

static void session_is_paused(void **state)
{
    (void)state;
    struct injection injection;
    inject(&injection, "pause-session", NULL, 0);
    expect_evidence(&injection, "of a session is stopped");
    heal(&injection);
    expect_evidence(&injection, "it resumed");
}

static void tables_are_rewritten(void **state)
{
    (void)state;
    struct injection injection;
    inject(&injection, "vacuum-full", NULL, 0);
    expect_evidence(&injection, ".rig_list_0 moved from file ");
    heal(&injection);
}

static void indexes_are_rebuilt(void **state)
{
    (void)state;
    struct injection injection;
    inject(&injection, "reindex", NULL, 0);
    expect_evidence(&injection, "indexes of ");
    expect_evidence(&injection, ".rig_list_0 moved from file ");
    heal(&injection);
}

static void tables_are_altered_and_back(void **state)
{
    (void)state;
    PGconn *pg = sql_connect(&server);
    for (int64_t change = 0; change < 3; change++) {
        struct injection injection;
        inject(&injection, "alter-tables", &change, sizeof change);
        expect_evidence(&injection, "the catalogue shows ");
        load_goes_on(5);
        heal(&injection);
    }
    assert_string_equal(sql(pg, "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid ="
                                " 'rig_list_0'::regclass AND attnum > 0 AND NOT attisdropped"),
                        "k,v");
    assert_string_equal(sql(pg, "SELECT reloptions FROM pg_class WHERE oid = 'rig_list_0'::regclass"), "");
    PQfinish(pg);
}

static void checkpoint_is_made(void **state)
{
    (void)state;
    struct injection injection;
    inject(&injection, "checkpoint", NULL, 0);
    expect_evidence(&injection, "the last checkpoint is at ");
    heal(&injection);
}

static void lock_table_is_filled(void **state)
{
    (void)state;
    struct injection injection;
    const int64_t all = 0;
    int before = atomic_load(&load.out_of_memory);
    int committed = atomic_load(&load.committed);
    int failed = atomic_load(&load.failed);
    inject(&injection, "lock-pressure", &all, sizeof all);
    expect_evidence(&injection, "which is full");
    /* A transaction that writes needs one for its own number. */
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (atomic_load(&load.out_of_memory) == before && rig_clock_now_ns() < deadline_ns)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    if (atomic_load(&load.out_of_memory) == before)
        fail_msg("%s, and no client notices: %d committed, %d failed", injection.evidence.text,
                 atomic_load(&load.committed) - committed, atomic_load(&load.failed) - failed);
    heal(&injection);
    PGconn *pg = sql_connect(&server);
    sql_await(pg, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0");
    PQfinish(pg);
}

static void deadlocks_are_made(void **state)
{
    (void)state;
    struct injection injection;
    const int64_t rounds = 5;
    inject(&injection, "deadlocks", &rounds, sizeof rounds);
    expect_evidence(&injection, "detected by the server in 5 rounds");
    heal(&injection);
}

static void fault_without_a_session_fails(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_evidence evidence = {""};
    char options[256] = {0};
    char private_state[4096] = {0};
    load_stop();
    PGconn *pg = sql_connect(&server);
    sql_await(pg, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rig'", "0");
    PQfinish(pg);
    const struct rig_fault *fault = find("kill-session");
    struct rig_fault_site site = {
        .core = harness_core(), .cluster = rig_driver.cluster, .run = server.run, .options = options, .node_count = 1};
    assert_true(fault->state_size <= sizeof private_state);
    assert_int_equal(rig_fault_inject(fault, &site, private_state, &evidence, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "pg-1: no client has a session there");
    load_start();
    load_goes_on(1);
}

static int begin(void **state)
{
    struct rig_pg_options options;
    static const char *const settings[] = {"max_locks_per_transaction=10", "max_pred_locks_per_transaction=64"};
    (void)state;
    harness_defaults(&options);
    options.sql.nodes = 2;
    options.sql.settings = (struct rig_text_list){settings, 2};
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, LOAD_CLIENTS);
    load_start();
    load_goes_on(20);
    return 0;
}

static int end(void **state)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_node_status status;
    (void)state;
    load_stop();
    if (rig_driver.cluster->restore(server.run, &err) != RIG_OK)
        fail_msg("%s", err.text);
    for (uint32_t node = 0; node < 2; node++) {
        assert_int_equal(rig_driver.cluster->status(server.run, node, &status, &err), RIG_OK);
        assert_true(status.healthy);
    }
    harness_stop(&server);
    return 0;
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_terminated),       cmocka_unit_test(killed_session_has_the_server_recover),
        cmocka_unit_test(ended_session_is_one),          cmocka_unit_test(session_is_paused),
        cmocka_unit_test(tables_are_rewritten),          cmocka_unit_test(indexes_are_rebuilt),
        cmocka_unit_test(tables_are_altered_and_back),   cmocka_unit_test(checkpoint_is_made),
        cmocka_unit_test(lock_table_is_filled),          cmocka_unit_test(deadlocks_are_made),
        cmocka_unit_test(fault_without_a_session_fails),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
