/*
 * Sessions and servers that end in the middle of a transaction: terminated, cancelled and interrupted before, during
 * and after COMMIT; shut down fast, shut down at once, crashed; full; silent. The outcome is compared with the database
 * afterwards: never ok or fail against the facts, info only where a client cannot know.
 */
#include "tests/system/postgres/pg_harness.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

extern const struct rig_driver rig_driver;

struct scene {
    struct harness run;
    struct client client;
    PGconn *pg; /* of the test's own */
    int backend;
};

static void set_scene(struct scene *scene, bool pipeline)
{
    struct rig_pg_options options;
    harness_defaults(&options);
    options.pipeline = pipeline;
    options.sql.isolation = RIG_SQL_READ_COMMITTED;
    harness_attach(&scene->run, &harness_server, &options);
    client_open(&scene->client, &scene->run);
    scene->backend = client_backend(&scene->client);
    scene->pg = sql_connect(&scene->run);
}

static void clear_scene(struct scene *scene)
{
    client_close(&scene->client);
    PQfinish(scene->pg);
    harness_stop(&scene->run);
}

static void await_gone(PGconn *pg, int backend)
{
    char query[128];
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d", backend);
    sql_await(pg, query, "0");
}

static void terminate(void *context)
{
    struct scene *scene = context;
    (void)sql(scene->pg, "SELECT pg_terminate_backend(%d)", scene->backend);
    await_gone(scene->pg, scene->backend);
}

/* ---- before COMMIT ---- */

static void terminated_between_transactions(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct scene scene;
        set_scene(&scene, pipeline == 1);
        client_begin(&scene.client);
        client_append(&scene.client, 1, 1);
        expect_outcome(&scene.client, client_run(&scene.client), RIG_OUTCOME_OK, "");
        terminate(&scene);
        /* The write acknowledged before is there; later ones are certain not to be, even when sent in one go. */
        client_begin(&scene.client);
        client_append(&scene.client, 1, 2);
        expect_outcome(&scene.client, client_run(&scene.client), RIG_OUTCOME_FAIL, "57P01");
        assert_true(scene.client.transaction.session_lost);
        assert_string_equal(sql_list(scene.pg, 1), "1");
        clear_scene(&scene);
    }
}

static void terminated_within_a_transaction(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        bool before_commit = (bits & 2) != 0;
        struct scene scene;
        set_scene(&scene, (bits & 1) != 0);
        client_begin(&scene.client);
        client_append(&scene.client, 1, 1);
        client_append(&scene.client, 2, 1);
        client_hold(&scene.client, before_commit ? 2 : 1, terminate, &scene);
        /* When only COMMIT was sent since, the answer could be that of a server that commits: info. */
        expect_outcome(&scene.client, client_run(&scene.client), before_commit ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL,
                       "57P01");
        assert_true(scene.client.transaction.session_lost);
        assert_string_equal(sql_list(scene.pg, 1), "nil");
        clear_scene(&scene);
    }
}

/* Starts the client's append of key 1, which waits for the row that the test's own session holds. */
static void start_blocked(struct scene *scene)
{
    (void)sql(scene->pg, "INSERT INTO rig_list_0 VALUES (1, '1')");
    (void)sql(scene->pg, "BEGIN");
    (void)sql(scene->pg, "UPDATE rig_list_0 SET v = v WHERE k = 1");
    client_begin(&scene->client);
    client_append(&scene->client, 2, 2);
    client_append(&scene->client, 1, 2);
    client_start(&scene->client);
    sql_await_wait(scene->pg, scene->backend, "transactionid");
}

static void expect_nothing_written(struct scene *scene)
{
    (void)sql(scene->pg, "COMMIT");
    await_gone(scene->pg, scene->backend);
    assert_string_equal(sql_list(scene->pg, 1), "1");
    assert_string_equal(sql_list(scene->pg, 2), "nil");
}

static void terminated_in_a_statement(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct scene scene;
        set_scene(&scene, pipeline == 1);
        start_blocked(&scene);
        (void)sql(scene.pg, "SELECT pg_terminate_backend(%d)", scene.backend);
        /* The error answers the statement, so COMMIT behind it is certain not to be executed. */
        expect_outcome(&scene.client, client_join(&scene.client), RIG_OUTCOME_FAIL, "57P01");
        assert_int_equal(scene.client.transaction.phase, RIG_PHASE_OPERATION);
        assert_true(scene.client.transaction.session_lost);
        expect_nothing_written(&scene);
        clear_scene(&scene);
    }
}

static void cancelled_in_a_statement(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct scene scene;
        set_scene(&scene, pipeline == 1);
        start_blocked(&scene);
        (void)sql(scene.pg, "SELECT pg_cancel_backend(%d)", scene.backend);
        expect_outcome(&scene.client, client_join(&scene.client), RIG_OUTCOME_FAIL, "57014");
        assert_false(scene.client.transaction.session_lost);
        client_close(&scene.client);
        expect_nothing_written(&scene);
        clear_scene(&scene);
    }
}

static void interrupted_in_a_statement(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct scene scene;
        set_scene(&scene, pipeline == 1);
        start_blocked(&scene);
        int64_t start_ns = rig_clock_now_ns();
        rig_driver.interrupt(scene.client.session);
        enum rig_outcome outcome = client_join(&scene.client);
        assert_true(rig_clock_now_ns() - start_ns < 25 * RIG_NS_PER_S);
        /* In one go COMMIT is already on its way. */
        expect_outcome(&scene.client, outcome, pipeline == 1 ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL, "interrupted");
        assert_true(scene.client.transaction.session_lost);
        client_begin(&scene.client);
        client_append(&scene.client, 3, 1);
        expect_outcome(&scene.client, client_run(&scene.client), RIG_OUTCOME_FAIL, "interrupted");
        assert_int_equal(scene.client.transaction.phase, RIG_PHASE_CONNECT);
        client_close(&scene.client);
        (void)sql(scene.pg, "COMMIT");
        await_gone(scene.pg, scene.backend);
        if (outcome == RIG_OUTCOME_FAIL)
            assert_string_equal(sql_list(scene.pg, 1), "1");
        assert_string_equal(sql_list(scene.pg, 3), "nil");
        clear_scene(&scene);
    }
}

/* ---- during COMMIT ---- */

enum ending { TERMINATED, CANCELLED, INTERRUPTED, TIMED_OUT };

static void end_commit(struct scene *scene, enum ending ending)
{
    switch (ending) {
    case TERMINATED:
        (void)sql(scene->pg, "SELECT pg_terminate_backend(%d)", scene->backend);
        break;
    case CANCELLED:
        (void)sql(scene->pg, "SELECT pg_cancel_backend(%d)", scene->backend);
        break;
    case INTERRUPTED:
        rig_driver.interrupt(scene->client.session);
        break;
    case TIMED_OUT:
        break; /* by itself */
    }
}

/* The commit record is written and the server waits for a standby: the row is there, whatever the client receives. */
static void ended_behind_the_commit_record(void **state)
{
    (void)state;
    static const char *const codes[] = {"57P01", "commit-warning", "interrupted", "timeout"};
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        for (int ending = TERMINATED; ending <= TIMED_OUT; ending++) {
            struct scene scene;
            set_scene(&scene, pipeline == 1);
            client_close(&scene.client);
            sql_commit_waits(&harness_server, scene.pg, true);
            client_open(&scene.client, &scene.run);
            scene.backend = client_backend(&scene.client);
            if (ending == TIMED_OUT)
                scene.run.options.sql.transaction_timeout_ns = 500 * RIG_NS_PER_MS;
            client_begin(&scene.client);
            client_append(&scene.client, 1, 1);
            client_start(&scene.client);
            sql_await_wait(scene.pg, scene.backend, "SyncRep");
            end_commit(&scene, (enum ending)ending);
            expect_outcome(&scene.client, client_join(&scene.client), RIG_OUTCOME_INFO, codes[ending]);
            assert_int_equal(scene.client.transaction.phase, RIG_PHASE_COMMIT);
            assert_true(scene.client.transaction.session_lost);
            client_close(&scene.client);
            sql_commit_waits(&harness_server, scene.pg, false);
            await_gone(scene.pg, scene.backend);
            assert_string_equal(sql_list(scene.pg, 1), "1");
            clear_scene(&scene);
        }
    }
}

/* A deferred trigger keeps COMMIT from reaching its record: the row is not there, and the client receives the same
 * answer. */
static void ended_before_the_commit_record(void **state)
{
    (void)state;
    static const char *const codes[] = {"57P01", "57014", "interrupted"};
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        for (int ending = TERMINATED; ending <= INTERRUPTED; ending++) {
            struct scene scene;
            set_scene(&scene, pipeline == 1);
            (void)sql(scene.pg, "CREATE OR REPLACE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                                "PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$");
            (void)sql(scene.pg, "CREATE CONSTRAINT TRIGGER waiting AFTER INSERT ON rig_list_0 DEFERRABLE INITIALLY "
                                "DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait()");
            (void)sql(scene.pg, "SELECT pg_advisory_lock(1)");
            client_begin(&scene.client);
            client_append(&scene.client, 1, 1);
            client_start(&scene.client);
            sql_await_wait(scene.pg, scene.backend, "advisory");
            end_commit(&scene, (enum ending)ending);
            expect_outcome(&scene.client, client_join(&scene.client), RIG_OUTCOME_INFO, codes[ending]);
            assert_int_equal(scene.client.transaction.phase, RIG_PHASE_COMMIT);
            client_close(&scene.client);
            if (ending == INTERRUPTED)
                (void)sql(scene.pg, "SELECT pg_terminate_backend(%d)", scene.backend);
            await_gone(scene.pg, scene.backend);
            assert_string_equal(sql_list(scene.pg, 1), "nil");
            clear_scene(&scene);
        }
    }
}

/* ---- the whole server ---- */

static pid_t server_pid(const struct harness *harness)
{
    struct rig_node_status status;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_driver.cluster->status(harness->run, 0, &status, &err), RIG_OK);
    return status.pid;
}

struct shutdown {
    struct harness own;
    struct client client;
    int signal;
    pid_t victim;
};

static void send_and_await_end(void *context)
{
    struct shutdown *shutdown = context;
    assert_int_equal(kill(shutdown->victim, shutdown->signal), 0);
    /* The session's end shows on its socket, which is not read meanwhile. */
    int fd = PQsocket(client_connection(&shutdown->client));
    char byte;
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0) {
        assert_true(rig_clock_now_ns() < deadline_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

/* A server that ends its sessions at once sends them the reason in most cases, not in all. */
static void expect_torn_down(const struct client *client, enum rig_outcome got, enum rig_outcome expected,
                             const char *code)
{
    bool told = strcmp(client->transaction.error_code, "connection-lost") != 0;
    expect_outcome(client, got, expected, told ? code : "connection-lost");
}

/* The server goes down while the transaction is held open. Afterwards sessions fail to open, with the reason. */
static void shut_down(int signal, bool pipeline, const char *code)
{
    struct shutdown shutdown = {.signal = signal};
    struct rig_pg_options options;
    struct rig_err err = {.rc = RIG_OK};
    harness_defaults(&options);
    options.pipeline = pipeline;
    harness_start(&shutdown.own, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    shutdown.victim = server_pid(&shutdown.own);
    client_open(&shutdown.client, &shutdown.own);
    client_begin(&shutdown.client);
    client_append(&shutdown.client, 1, 1);
    client_append(&shutdown.client, 2, 1);
    client_hold(&shutdown.client, 1, send_and_await_end, &shutdown);
    enum rig_outcome outcome = client_run(&shutdown.client);
    bool answered = signal == SIGINT;
    /* Without an answer to an earlier statement, the server may have received a pipeline that holds COMMIT. */
    if (answered)
        expect_outcome(&shutdown.client, outcome, RIG_OUTCOME_FAIL, code);
    else
        expect_torn_down(&shutdown.client, outcome, pipeline ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL, code);
    assert_true(shutdown.client.transaction.session_lost);
    client_close(&shutdown.client);
    assert_int_equal(client_try_open(&shutdown.client, &shutdown.own, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "connecting to PostgreSQL at"));
    client_close(&shutdown.client);
    harness_stop(&shutdown.own);
}

static void shut_down_fast(void **state)
{
    (void)state;
    shut_down(SIGINT, false, "57P01");
    shut_down(SIGINT, true, "57P01");
}

static void shut_down_at_once(void **state)
{
    (void)state;
    shut_down(SIGQUIT, false, "57P01");
    shut_down(SIGQUIT, true, "57P01");
}

/* One backend is killed; the server ends all others, recovers, and has all that it had committed. */
static void crash(bool pipeline, bool at_commit)
{
    struct shutdown shutdown = {.signal = SIGKILL};
    struct rig_pg_options options;
    struct rig_err err = {.rc = RIG_OK};
    harness_defaults(&options);
    options.pipeline = pipeline;
    harness_start(&shutdown.own, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    PGconn *pg = sql_connect(&shutdown.own);
    PGconn *victim = sql_connect(&shutdown.own);
    shutdown.victim = PQbackendPID(victim);
    if (at_commit)
        sql_commit_waits(&shutdown.own, pg, true);
    client_open(&shutdown.client, &shutdown.own);
    client_begin(&shutdown.client);
    client_append(&shutdown.client, 1, 1);
    client_append(&shutdown.client, 2, 1);
    enum rig_outcome outcome;
    if (at_commit) {
        client_start(&shutdown.client);
        sql_await_wait(pg, client_backend(&shutdown.client), "SyncRep");
        assert_int_equal(kill(shutdown.victim, SIGKILL), 0);
        outcome = client_join(&shutdown.client);
    } else {
        client_hold(&shutdown.client, 1, send_and_await_end, &shutdown);
        outcome = client_run(&shutdown.client);
    }
    expect_torn_down(&shutdown.client, outcome, pipeline || at_commit ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL, "57P02");
    PQfinish(pg);
    PQfinish(victim);
    client_close(&shutdown.client);
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (client_try_open(&shutdown.client, &shutdown.own, &err) != RIG_OK) {
        client_close(&shutdown.client);
        assert_true(rig_clock_now_ns() < deadline_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 5 * RIG_NS_PER_MS);
    }
    pg = sql_connect(&shutdown.own);
    assert_string_equal(sql_list(pg, 2), at_commit ? "1" : "nil");
    PQfinish(pg);
    client_close(&shutdown.client);
    harness_stop(&shutdown.own);
}

static void crashed(void **state)
{
    (void)state;
    crash(false, false);
    crash(false, true);
    crash(true, false);
    crash(true, true);
}

/* ---- opening ---- */

static void full_server_is_named(void **state)
{
    (void)state;
    static const char *const settings[] = {"max_connections=5", "superuser_reserved_connections=0",
                                           "max_wal_senders=0"};
    enum { MOST = 6 };
    struct harness own;
    struct client clients[MOST];
    struct rig_pg_options options;
    struct rig_err err = {.rc = RIG_OK};
    harness_defaults(&options);
    options.sql.settings = (struct rig_text_list){settings, 3};
    harness_start(&own, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    int opened = 0;
    while (opened < MOST && client_try_open(&clients[opened], &own, &err) == RIG_OK)
        opened++;
    assert_int_equal(opened, 5);
    assert_int_equal(err.rc, RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "too many clients"));
    for (int i = 0; i <= opened; i++)
        client_close(&clients[i]);
    /* A backend is gone a moment after its client; the test's time-out ends a server that stays full. */
    err = (struct rig_err){.rc = RIG_OK};
    while (client_try_open(&clients[0], &own, &err) != RIG_OK) {
        assert_non_null(strstr(err.text, "too many clients"));
        client_close(&clients[0]);
        err = (struct rig_err){.rc = RIG_OK};
    }
    client_close(&clients[0]);
    harness_stop(&own);
}

/* A listener that never answers: opening ends by its time-out, or at once when interrupted. */
struct silent {
    int fd;
    char host[64];
    const char *hosts[1];
};

static void listen_silently(struct silent *silent)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    silent->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(silent->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(silent->fd, 8), 0);
    assert_int_equal(getsockname(silent->fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(silent->host, sizeof silent->host, "127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    silent->hosts[0] = silent->host;
}

static void *open_in_thread(void *object)
{
    struct client *client = object;
    struct rig_err err = {.rc = RIG_OK};
    client->outcome =
        rig_driver.open(client->session, client->harness->run, 0, &err) == RIG_OK ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL;
    assert_non_null(strstr(err.text, "interrupted"));
    return NULL;
}

static void silent_server_is_given_up(void **state)
{
    (void)state;
    struct silent silent;
    struct harness run;
    struct client client;
    struct rig_pg_options options;
    struct rig_err err = {.rc = RIG_OK};
    harness_defaults(&options);
    listen_silently(&silent);
    options.sql.hosts = (struct rig_text_list){silent.hosts, 1};
    options.sql.connect_timeout_ns = 100 * RIG_NS_PER_MS;
    harness_attach_without_tables(&run, &harness_server, &options);
    int64_t start_ns = rig_clock_now_ns();
    assert_int_equal(client_try_open(&client, &run, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "no answer within connect-timeout"));
    assert_in_range(rig_clock_now_ns() - start_ns, 100 * RIG_NS_PER_MS, 5 * RIG_NS_PER_S);
    client_close(&client);

    /* An interrupt before, during or after the wait has the same effect: the flag stays set. */
    run.options.sql.connect_timeout_ns = 60 * RIG_NS_PER_S;
    client = (struct client){.harness = &run, .open = true, .session = calloc(1, rig_driver.session_size)};
    assert_non_null(client.session);
    assert_int_equal(pthread_create(&client.thread, NULL, open_in_thread, &client), 0);
    rig_driver.interrupt(client.session);
    assert_int_equal(client_join(&client), RIG_OUTCOME_FAIL);
    client_close(&client);
    run.options.sql.connect_timeout_ns = RIG_NS_PER_MS;
    harness_stop(&run);
    (void)close(silent.fd);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminated_between_transactions),
        cmocka_unit_test(terminated_within_a_transaction),
        cmocka_unit_test(terminated_in_a_statement),
        cmocka_unit_test(cancelled_in_a_statement),
        cmocka_unit_test(interrupted_in_a_statement),
        cmocka_unit_test(ended_behind_the_commit_record),
        cmocka_unit_test(ended_before_the_commit_record),
        cmocka_unit_test(shut_down_fast),
        cmocka_unit_test(shut_down_at_once),
        cmocka_unit_test(crashed),
        cmocka_unit_test(full_server_is_named),
        cmocka_unit_test(silent_server_is_given_up),
    };
    return cmocka_run_group_tests(tests, harness_start_server, harness_stop_server);
}
