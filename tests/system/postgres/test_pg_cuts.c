/*
 * A connection cut after every single byte of a transaction's conversation, in either direction, by a proxy between the
 * driver and the server. The driver's outcome must agree with the database: never ok without the row, never fail with
 * it.
 */
#include "tests/system/postgres/pg_harness.h"
#include "tests/system/postgres/pg_proxy.h"

#include <string.h>

#include "drivers/postgres/pg_session.h"

/* A hold: a pipeline ends its messages before it with a Sync of its own. */
static void do_nothing(void *context)
{
    (void)context;
}

struct tally {
    int outcomes[3];
    int rows[3]; /* of those, with the row in the database */
};

/* One transaction through the proxy, which cuts after `allowed` bytes; compares the outcome with the database. */
static enum rig_outcome cut_once(struct proxy *proxy, struct harness *run, PGconn *pg, enum proxy_direction direction,
                                 long allowed, int64_t value, bool held, struct tally *tally)
{
    struct client client;
    proxy_disarm(proxy);
    client_open(&client, run);
    client_begin(&client);
    client_append(&client, value, value);
    client_read(&client, value);
    client_append(&client, value, -value);
    if (held)
        client_hold(&client, 2, do_nothing, NULL);
    proxy_arm(proxy, direction, allowed, PROXY_CUTS);
    enum rig_outcome outcome = client_run(&client);
    char code[RIG_ERROR_CODE_BYTES];
    (void)snprintf(code, sizeof code, "%s", client.transaction.error_code);
    bool lost = client.transaction.session_lost;
    if (outcome == RIG_OUTCOME_OK)
        assert_int_equal(client.reads[1].state, RIG_READ_SEEN);
    client_close(&client);
    /* Once its server process is gone, the transaction cannot change any more. */
    sql_await(pg, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rig'", "0");
    char whole[64];
    (void)snprintf(whole, sizeof whole, "%lld,-%lld", (long long)value, (long long)value);
    const char *stored = sql_list(pg, value);
    bool there = strcmp(stored, whole) == 0;
    if ((!there && strcmp(stored, "nil") != 0) || (outcome == RIG_OUTCOME_OK && !there) ||
        (outcome == RIG_OUTCOME_FAIL && there))
        fail_msg("cut after %ld bytes to the %s: %s [%s], but the row is %s", allowed,
                 direction == PROXY_TO_SERVER ? "server" : "client", outcome_name(outcome), code, stored);
    if (outcome != RIG_OUTCOME_OK && (!lost || strcmp(code, "connection-lost") != 0))
        fail_msg("cut after %ld bytes to the %s: %s [%s], session %s", allowed,
                 direction == PROXY_TO_SERVER ? "server" : "client", outcome_name(outcome), code,
                 lost ? "lost" : "kept");
    tally->outcomes[outcome]++;
    tally->rows[outcome] += there;
    return outcome;
}

static void cut_everywhere(bool pipeline, bool prepared, bool held)
{
    static const char *hosts[1];
    struct rig_pg_options options;
    struct proxy proxy;
    struct harness run;
    struct tally tally[2] = {{{0}, {0}}, {{0}, {0}}};
    harness_defaults(&options);
    options.pipeline = pipeline;
    options.sql.prepared = prepared;
    proxy_start(&proxy, &harness_server);
    hosts[0] = proxy.folder;
    options.sql.hosts = (struct rig_text_list){hosts, 1};
    harness_attach(&run, &harness_server, &options);
    PGconn *pg = sql_connect(&harness_server);
    (void)sql(pg, "SET search_path = %s", run.run_name);
    int64_t value = 1;
    /* The whole conversation first, for its length in both directions. */
    assert_int_equal(cut_once(&proxy, &run, pg, PROXY_TO_SERVER, 1000000, value++, held, &tally[0]), RIG_OUTCOME_OK);
    long length[2] = {atomic_load(&proxy.passed[PROXY_TO_SERVER]), atomic_load(&proxy.passed[PROXY_TO_CLIENT])};
    tally[0] = (struct tally){{0}, {0}};
    for (int direction = PROXY_TO_SERVER; direction <= PROXY_TO_CLIENT; direction++) {
        assert_in_range(length[direction], 50, 4000);
        for (long allowed = 0; allowed < length[direction]; allowed++)
            (void)cut_once(&proxy, &run, pg, (enum proxy_direction)direction, allowed, value++, held,
                           &tally[direction]);
    }
    for (int direction = PROXY_TO_SERVER; direction <= PROXY_TO_CLIENT; direction++)
        (void)printf("%s, cut to the %s at %ld places: ok %d, fail %d, info %d of which %d committed\n",
                     pipeline ? "pipeline" : "statements", direction == PROXY_TO_SERVER ? "server" : "client",
                     length[direction], tally[direction].outcomes[0], tally[direction].outcomes[1],
                     tally[direction].outcomes[2], tally[direction].rows[2]);
    /* Both kinds of info occur: COMMIT lost on its way, and its answer lost. */
    assert_true(tally[PROXY_TO_SERVER].outcomes[RIG_OUTCOME_INFO] > tally[PROXY_TO_SERVER].rows[RIG_OUTCOME_INFO]);
    assert_true(tally[PROXY_TO_CLIENT].rows[RIG_OUTCOME_INFO] > 0);
    if (!pipeline || held)
        assert_true(tally[PROXY_TO_SERVER].outcomes[RIG_OUTCOME_FAIL] > 0 &&
                    tally[PROXY_TO_CLIENT].outcomes[RIG_OUTCOME_FAIL] > 0);
    PQfinish(pg);
    proxy_disarm(&proxy);
    harness_stop(&run);
    proxy_stop(&proxy);
}

static void statements_are_cut(void **state)
{
    (void)state;
    cut_everywhere(false, false, false);
    cut_everywhere(false, true, false);
}

static void pipelines_are_cut(void **state)
{
    (void)state;
    cut_everywhere(true, true, false);
}

/* Half of the pipeline is answered before COMMIT is sent. */
static void held_pipelines_are_cut(void **state)
{
    (void)state;
    cut_everywhere(true, true, true);
}

/* The pooler has forwarded all of the client's messages, and answers the first statement with an error of its own. */
static void a_pooler_loses_its_server(void **state)
{
    (void)state;
    static const char *hosts[1];
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct rig_pg_options options;
        struct proxy proxy;
        struct harness run;
        struct client client;
        harness_defaults(&options);
        options.pipeline = pipeline == 1;
        proxy_start(&proxy, &harness_server);
        hosts[0] = proxy.folder;
        options.sql.hosts = (struct rig_text_list){hosts, 1};
        harness_attach(&run, &harness_server, &options);
        PGconn *pg = sql_connect(&harness_server);
        (void)sql(pg, "SET search_path = %s", run.run_name);
        client_open(&client, &run);
        client_begin(&client);
        client_append(&client, 1, 1);
        proxy_arm(&proxy, PROXY_TO_CLIENT, 0, PROXY_LOSES);
        expect_outcome(&client, client_run(&client), pipeline == 1 ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL, "08P01");
        assert_true(client.transaction.session_lost);
        client_close(&client);
        sql_await(pg, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rig'", "0");
        assert_string_equal(sql_list(pg, 1), pipeline == 1 ? "1" : "nil");
        PQfinish(pg);
        proxy_disarm(&proxy);
        harness_stop(&run);
        proxy_stop(&proxy);
    }
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_cut),
        cmocka_unit_test(pipelines_are_cut),
        cmocka_unit_test(held_pipelines_are_cut),
        cmocka_unit_test(a_pooler_loses_its_server),
    };
    return cmocka_run_group_tests(tests, harness_start_server, harness_stop_server);
}
