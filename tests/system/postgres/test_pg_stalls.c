/*
 * A server that falls silent, or sends single bytes slowly, at each phase of a session and of a transaction: nothing
 * exceeds its time-out, and the outcome agrees with the database.
 */
#include "tests/system/postgres/pg_harness.h"
#include "tests/system/postgres/pg_proxy.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define TIMEOUT_NS (150 * RIG_NS_PER_MS)
/* Beyond the time-out, for a busy machine. */
#define GRACE_NS (3 * RIG_NS_PER_S)

enum { STEP_BYTES = 23 };

static const char *hosts[1];

static struct rig_pg_options options_for(const char *host)
{
    struct rig_pg_options options;
    harness_defaults(&options);
    hosts[0] = host;
    options.sql.hosts = (struct rig_text_list){hosts, 1};
    return options;
}

static void expect_in_time(int64_t start_ns, const char *what, long place)
{
    int64_t taken_ns = rig_clock_now_ns() - start_ns;
    if (taken_ns > TIMEOUT_NS + GRACE_NS)
        fail_msg("%s at byte %ld took %lld ms", what, place, (long long)(taken_ns / RIG_NS_PER_MS));
}

struct scene {
    struct proxy proxy;
    struct harness run;
    PGconn *pg;
    bool held;     /* the transaction is held between its operations */
    int64_t value; /* of the transaction, also its key */
    int outcomes[3];
};

static void set_scene(struct scene *scene, bool pipeline)
{
    *scene = (struct scene){.value = 1};
    proxy_start(&scene->proxy, &harness_server);
    struct rig_pg_options options = options_for(scene->proxy.folder);
    options.pipeline = pipeline;
    harness_attach(&scene->run, &harness_server, &options); /* time-outs shrink once the tables are there */
    scene->pg = sql_connect(&harness_server);
    (void)sql(scene->pg, "SET search_path = %s", scene->run.run_name);
}

static void clear_scene(struct scene *scene)
{
    PQfinish(scene->pg);
    proxy_disarm(&scene->proxy);
    scene->run.options.sql.connect_timeout_ns = 10 * RIG_NS_PER_S;
    scene->run.options.sql.transaction_timeout_ns = 30 * RIG_NS_PER_S;
    harness_stop(&scene->run);
    proxy_stop(&scene->proxy);
}

static void do_nothing(void *context)
{
    (void)context;
}

/* One transaction on a connection that stalls, or drips, after `allowed` bytes in one direction. */
static void stall_once(struct scene *scene, enum proxy_direction direction, long allowed, enum proxy_end end)
{
    struct client client;
    int64_t value = scene->value++;
    proxy_disarm(&scene->proxy);
    scene->run.options.sql.transaction_timeout_ns = TIMEOUT_NS;
    client_open(&client, &scene->run);
    client_begin(&client);
    client_append(&client, value, value);
    client_read(&client, value);
    if (scene->held)
        client_hold(&client, 1, do_nothing, NULL);
    proxy_arm(&scene->proxy, direction, allowed, end);
    int64_t start_ns = rig_clock_now_ns();
    enum rig_outcome outcome = client_run(&client);
    expect_in_time(start_ns, "a transaction", allowed);
    if (outcome != RIG_OUTCOME_OK) {
        if (strcmp(client.transaction.error_code, "timeout") != 0 || !client.transaction.session_lost)
            fail_msg("%s to the %s after %ld bytes: [%s] %s", end == PROXY_DRIPS ? "drips" : "stalls",
                     direction == PROXY_TO_SERVER ? "server" : "client", allowed, client.transaction.error_code,
                     client.transaction.error_text);
        assert_int_equal(outcome == RIG_OUTCOME_INFO, client.transaction.phase == RIG_PHASE_COMMIT);
    }
    start_ns = rig_clock_now_ns();
    client_close(&client);
    expect_in_time(start_ns, "closing", allowed);
    sql_await(scene->pg, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rig'", "0");
    bool there = strcmp(sql_list(scene->pg, value), "nil") != 0;
    if ((outcome == RIG_OUTCOME_OK && !there) || (outcome == RIG_OUTCOME_FAIL && there))
        fail_msg("%s after %ld bytes, but the row is %s", outcome_name(outcome), allowed, there ? "there" : "missing");
    scene->outcomes[outcome]++;
}

static void transactions_stall(bool pipeline, bool held)
{
    struct scene scene;
    set_scene(&scene, pipeline);
    scene.held = held;
    stall_once(&scene, PROXY_TO_SERVER, 1000000, PROXY_STALLS);
    assert_int_equal(scene.outcomes[RIG_OUTCOME_OK], 1);
    long length[2] = {atomic_load(&scene.proxy.passed[0]), atomic_load(&scene.proxy.passed[1])};
    for (int direction = PROXY_TO_SERVER; direction <= PROXY_TO_CLIENT; direction++) {
        assert_in_range(length[direction], 50, 4000);
        for (long allowed = 0; allowed < length[direction]; allowed += STEP_BYTES)
            stall_once(&scene, (enum proxy_direction)direction, allowed, PROXY_STALLS);
        stall_once(&scene, (enum proxy_direction)direction, length[direction] - 1, PROXY_STALLS);
        for (long allowed = 1; allowed < length[direction]; allowed += 3 * STEP_BYTES)
            stall_once(&scene, (enum proxy_direction)direction, allowed, PROXY_DRIPS);
    }
    assert_true(scene.outcomes[RIG_OUTCOME_INFO] > 0);
    assert_int_equal(scene.outcomes[RIG_OUTCOME_FAIL] > 0,
                     !pipeline || held); /* in one go COMMIT leaves with the rest */
    clear_scene(&scene);
}

static void statements_stall(void **state)
{
    (void)state;
    transactions_stall(false, false);
}

static void pipelines_stall(void **state)
{
    (void)state;
    transactions_stall(true, false);
}

static void held_pipelines_stall(void **state)
{
    (void)state;
    transactions_stall(true, true);
}

/* connect-timeout covers the greeting, the authentication and the preparation. */
static void sessions_stall_while_they_open(void **state)
{
    struct scene scene;
    (void)state;
    set_scene(&scene, true);
    proxy_arm(&scene.proxy, PROXY_TO_SERVER, 1000000, PROXY_STALLS);
    struct client whole;
    client_open(&whole, &scene.run);
    client_close(&whole);
    long length[2] = {atomic_load(&scene.proxy.passed[0]), atomic_load(&scene.proxy.passed[1])};
    for (int direction = PROXY_TO_SERVER; direction <= PROXY_TO_CLIENT; direction++) {
        /* At its end the client sends its goodbye to the server; with fewer than 10 bytes missing a drip is in time. */
        for (long allowed = 0; allowed < length[direction] - 30; allowed += 50) {
            struct client client;
            struct rig_err err = {.rc = RIG_OK};
            scene.run.options.sql.connect_timeout_ns = TIMEOUT_NS;
            proxy_arm(&scene.proxy, (enum proxy_direction)direction, allowed,
                      allowed % 100 == 0 ? PROXY_STALLS : PROXY_DRIPS);
            int64_t start_ns = rig_clock_now_ns();
            enum rig_rc rc = client_try_open(&client, &scene.run, &err);
            expect_in_time(start_ns, "opening", allowed);
            assert_int_equal(rc, RIG_E_CLUSTER);
            client_close(&client);
        }
    }
    clear_scene(&scene);
}

/* More than the socket buffers: the sending itself has to wait. */
static void a_server_that_does_not_read(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct scene scene;
        struct client client;
        const int small = 1;
        set_scene(&scene, pipeline == 1);
        scene.run.options.sql.prepared = false;
        client_open(&client, &scene.run);
        scene.run.options.sql.transaction_timeout_ns = TIMEOUT_NS;
        assert_int_equal(setsockopt(PQsocket(client_connection(&client)), SOL_SOCKET, SO_SNDBUF, &small, sizeof small),
                         0);
        client_begin(&client);
        for (int i = 0; i < OPS_MOST; i++)
            client_append(&client, i, i + 1);
        proxy_arm(&scene.proxy, PROXY_TO_SERVER, 0, PROXY_STALLS);
        int64_t start_ns = rig_clock_now_ns();
        expect_outcome(&client, client_run(&client), pipeline == 1 ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL, "timeout");
        expect_in_time(start_ns, "sending", 0);
        start_ns = rig_clock_now_ns();
        client_close(&client);
        expect_in_time(start_ns, "closing", 0);
        clear_scene(&scene);
    }
}

/* ---- before there is a session ---- */

static void expect_no_session(const struct rig_pg_options *wanted, const char *words)
{
    struct rig_pg_options options = *wanted;
    struct harness run;
    struct client client;
    struct rig_err err = {.rc = RIG_OK};
    options.sql.connect_timeout_ns = TIMEOUT_NS;
    harness_attach_without_tables(&run, &harness_server, &options);
    int64_t start_ns = rig_clock_now_ns();
    assert_int_equal(client_try_open(&client, &run, &err), RIG_E_CLUSTER);
    expect_in_time(start_ns, "opening", 0);
    if (strstr(err.text, words) == NULL)
        fail_msg("`%s` without `%s`", err.text, words);
    client_close(&client);
    harness_stop(&run);
}

/* slow_resolver.c resolves the name. */
static void a_resolver_that_does_not_answer(void **state)
{
    (void)state;
    struct rig_pg_options options = options_for("slow.invalid");
    expect_no_session(&options, "the resolver does not answer within connect-timeout");
}

/* The kernel accepts the connection; neither TLS nor the greeting is answered. */
static void a_server_that_does_not_accept(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char host[32];
    (void)state;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    static const char *const modes[] = {"sslmode=require", "sslmode=disable"};
    for (int i = 0; i < 2; i++) {
        /* By a name that usually has two addresses, one of which refuses connections. */
        (void)snprintf(host, sizeof host, "localhost:%u", ntohs(address.sin_port));
        struct rig_pg_options options = options_for(host);
        options.conninfo = modes[i];
        expect_no_session(&options, "no answer within connect-timeout");
    }
    (void)close(listener);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_stall),
        cmocka_unit_test(pipelines_stall),
        cmocka_unit_test(held_pipelines_stall),
        cmocka_unit_test(sessions_stall_while_they_open),
        cmocka_unit_test(a_server_that_does_not_read),
        cmocka_unit_test(a_resolver_that_does_not_answer),
        cmocka_unit_test(a_server_that_does_not_accept),
    };
    return cmocka_run_group_tests(tests, harness_start_server, harness_stop_server);
}
