/*
 * A primary with standbys that the driver starts: up in seconds, killed, promoted, repaired; clients find the primary
 * again, reads go to the configured nodes, and nothing of it remains.
 */
#include "tests/system/postgres/pg_harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/process.h"
#include "drivers/local/local_template.h"
#include "drivers/postgres/pg_session.h"

extern const struct rig_driver rig_driver;

static const struct rig_cluster_ops *ops(void)
{
    return rig_driver.cluster;
}

static void expect_done(enum rig_rc rc, const struct rig_err *err)
{
    if (rc != RIG_OK)
        fail_msg("%s", err->text);
}

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        struct rig_err err = {.rc = RIG_OK};                                                                           \
        expect_done(call, &err);                                                                                       \
    } while (0)

static void expect_status(struct harness *server, uint32_t node, const char *role, bool healthy)
{
    struct rig_node_status status;
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    for (;;) {
        DO(ops()->status(server->run, node, &status, &err));
        if (strcmp(status.role, role) == 0 && status.healthy == healthy)
            return;
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("%s: %s, %s: %s", status.name, status.role, status.healthy ? "healthy" : "ill", status.detail);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS);
    }
}

static void expect_all_healthy(struct harness *server, uint32_t primary)
{
    for (uint32_t i = 0; i < ops()->node_count(server->run); i++)
        expect_status(server, i, i == primary ? "primary" : "standby", true);
}

/* A connection to one node by its socket. */
static PGconn *node_connect(const struct harness *server, uint32_t node)
{
    const struct rig_pg_run *run = server->run;
    struct rig_sql_endpoint endpoint;
    rig_pg_node_socket(&run->cluster.nodes[node], &endpoint);
    const char *const names[] = {"host", "port", "user", "dbname", NULL};
    const char *const values[] = {endpoint.host, endpoint.port, "postgres", "postgres", NULL};
    PGconn *pg = PQconnectdbParams(names, values, 0);
    if (PQstatus(pg) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(pg));
    (void)sql(pg, "SET search_path = %s, public", server->run_name);
    return pg;
}

static void start(struct harness *server, int64_t nodes, int64_t replication)
{
    struct rig_pg_options options;
    harness_defaults(&options);
    options.sql.nodes = nodes;
    options.sql.replication = replication;
    harness_start(server, &options, RIG_WORKLOAD_LIST_APPEND, 2);
}

static void append(struct client *client, int64_t key, int64_t value)
{
    client_begin(client);
    client_append(client, key, value);
    expect_outcome(client, client_run(client), RIG_OUTCOME_OK, "");
}

/* A session opened after the last one was lost; tries again while no node accepts writes. */
static void reopen(struct client *client, struct harness *server)
{
    struct rig_err err = {.rc = RIG_OK};
    client_close(client);
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (client_try_open(client, server, &err) != RIG_OK) {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("%s", err.text);
        client_close(client);
        err = (struct rig_err){.rc = RIG_OK};
    }
}

/* Reads from one node until the read shows `expected`; connections to a node that was down fail first. */
static void read_from(struct client *client, uint32_t node, int64_t key, const char *expected)
{
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    for (;;) {
        client_begin(client);
        client_read(client, key);
        client->transaction.node = node + 1;
        if (client_run(client) == RIG_OUTCOME_OK && strcmp(client_seen(client, 0), expected) == 0)
            return;
        if (client->transaction.session_lost)
            reopen(client, client->harness);
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("node %u shows %s, not %s: %s", node, client_seen(client, 0), expected,
                     client->transaction.error_text);
    }
}

static void expect_gone(const pid_t *pids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_false(rig_process_find(pids[i], &(struct rig_process){.pid = 0}));
}

static void killed_primary_comes_back(struct harness *server, struct client *client)
{
    pid_t pids[64];
    struct rig_node_status status;
    uint32_t count = ops()->processes(server->run, 0, pids, 64);
    assert_in_range(count, 4, 64);
    DO(ops()->status(server->run, 0, &status, &err));
    assert_int_equal(status.pid, pids[0]);
    /* Stopped backends outlive their server until the driver ends them. */
    assert_int_equal(kill(client_backend(client), SIGSTOP), 0);
    DO(ops()->stop_node(server->run, 0, RIG_NODE_KILL, &err));
    expect_gone(pids, count);
    expect_status(server, 0, "", false);
    DO(ops()->stop_node(server->run, 0, RIG_NODE_FAST, &err));
    DO(ops()->start_node(server->run, 0, &err));
    DO(ops()->start_node(server->run, 0, &err));
    expect_all_healthy(server, 0);
    client_begin(client);
    client_read(client, 1);
    assert_true(client_run(client) != RIG_OUTCOME_OK);
    reopen(client, server);
    append(client, 1, 2);
}

static void standby_is_promoted_and_followed(struct harness *server, struct client *client)
{
    struct rig_err refused = {.rc = RIG_OK};
    read_from(client, 1, 1, "1,2"); /* acknowledged writes may not have arrived yet */
    DO(ops()->stop_node(server->run, 0, RIG_NODE_KILL, &err));
    assert_int_equal(ops()->promote(server->run, 0, &refused), RIG_E_CLUSTER);
    DO(ops()->promote(server->run, 1, &err));
    DO(ops()->promote(server->run, 1, &err));
    reopen(client, server);
    append(client, 1, 3);
    read_from(client, 1, 1, "1,2,3");
    read_from(client, 2, 1, "1,2,3");
    expect_status(server, 0, "", false);
    expect_status(server, 1, "primary", true);
    expect_status(server, 2, "standby", true);
    DO(ops()->restore(server->run, &err));
    expect_all_healthy(server, 1);
    read_from(client, 0, 1, "1,2,3");
}

/* Two primaries: the writes of the old one alone are lost when it becomes a standby again. */
static void set_aside_primary_is_set_back(struct harness *server, struct client *client)
{
    PGconn *standby = node_connect(server, 0);
    PGconn *old = node_connect(server, 1);
    sql_await(standby, "SELECT v FROM rig_list_0 WHERE k = 1", "1,2,3");
    DO(ops()->promote(server->run, 0, &err));
    (void)sql(old, "UPDATE rig_list_0 SET v = v || ',99' WHERE k = 1");
    expect_status(server, 1, "primary", false);
    append(client, 1, 100); /* the session is still there, on the old primary */
    reopen(client, server);
    append(client, 1, 4);
    DO(ops()->restore(server->run, &err));
    expect_all_healthy(server, 0);
    for (uint32_t node = 0; node < 3; node++)
        read_from(client, node, 1, "1,2,3,4");
    PQfinish(standby);
    PQfinish(old);
}

/* A standby's lost or damaged data are copied from the primary again. */
static void spoilt_standby_is_made_anew(struct harness *server, struct client *client)
{
    char path[512];
    DO(ops()->stop_node(server->run, 2, RIG_NODE_IMMEDIATE, &err));
    (void)snprintf(path, sizeof path, "%s/global/pg_control", ops()->data_dir(server->run, 2));
    assert_int_equal(truncate(path, 100), 0);
    DO(ops()->restore(server->run, &err));
    expect_all_healthy(server, 0);
    read_from(client, 2, 1, "1,2,3,4");
}

static void cluster_is_broken_and_mended(void **state)
{
    (void)state;
    struct harness server;
    struct client client;
    pid_t pids[3][64];
    uint32_t counts[3];
    char folder[128];
    int64_t start_ns = rig_clock_now_ns();
    start(&server, 3, RIG_PG_ASYNC);
    assert_in_range(rig_clock_now_ns() - start_ns, 1, 100 * RIG_NS_PER_S);
    expect_all_healthy(&server, 0);
    client_open(&client, &server);
    append(&client, 1, 1);
    for (uint32_t node = 0; node < 3; node++)
        read_from(&client, node, 1, "1");
    killed_primary_comes_back(&server, &client);
    standby_is_promoted_and_followed(&server, &client);
    set_aside_primary_is_set_back(&server, &client);
    spoilt_standby_is_made_anew(&server, &client);
    client_close(&client);
    for (uint32_t node = 0; node < 3; node++)
        counts[node] = ops()->processes(server.run, node, pids[node], 64);
    (void)snprintf(folder, sizeof folder, "%s", ((const struct rig_pg_run *)server.run)->cluster.site.local.folder);
    harness_stop(&server);
    for (uint32_t node = 0; node < 3; node++)
        expect_gone(pids[node], counts[node]);
    assert_int_equal(access(folder, F_OK), -1);
}

static void node_that_is_down_cannot_be_read(void **state)
{
    (void)state;
    struct harness server;
    struct client client;
    start(&server, 2, RIG_PG_ASYNC);
    client_open(&client, &server);
    append(&client, 1, 1);
    read_from(&client, 1, 1, "1");
    DO(ops()->stop_node(server.run, 1, RIG_NODE_FAST, &err));
    client_begin(&client);
    client_read(&client, 1);
    client.transaction.node = 2;
    assert_true(client_run(&client) != RIG_OUTCOME_OK);
    assert_false(client.transaction.session_lost);
    client_begin(&client);
    client_read(&client, 1);
    client.transaction.node = 2;
    expect_outcome(&client, client_run(&client), RIG_OUTCOME_FAIL, "unreachable");
    assert_false(client.transaction.session_lost);
    append(&client, 1, 2);
    client_close(&client);
    harness_stop(&server);
}

/* COMMIT waits until the standby shows the transaction; without one it waits, and a client that gave up has info. */
static void synchronous_commit_waits(void **state)
{
    (void)state;
    struct harness server;
    struct client client;
    struct rig_pg_options options;
    harness_defaults(&options);
    options.sql.nodes = 2;
    options.sql.replication = 3; /* remote_apply */
    options.sql.transaction_timeout_ns = 5 * RIG_NS_PER_S;
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 2);
    PGconn *pg = sql_connect(&server);
    assert_string_equal(sql(pg, "SHOW synchronous_commit"), "remote_apply");
    assert_string_equal(sql(pg, "SELECT sync_state FROM pg_stat_replication"), "quorum");
    client_open(&client, &server);
    append(&client, 1, 1);
    client_begin(&client);
    client_read(&client, 1);
    client.transaction.node = 2;
    expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
    assert_string_equal(client_seen(&client, 0), "1");
    DO(ops()->stop_node(server.run, 1, RIG_NODE_KILL, &err));
    client_begin(&client);
    client_append(&client, 1, 2);
    client_start(&client);
    sql_await_wait(pg, client_backend(&client), "SyncRep");
    expect_outcome(&client, client_join(&client), RIG_OUTCOME_INFO, "timeout");
    DO(ops()->restore(server.run, &err));
    expect_all_healthy(&server, 0);
    PQfinish(pg);
    client_close(&client);
    harness_stop(&server);
}

/* The standbys that COMMIT waits for, and their number, as the plan sets them and as the servers report them. */
static void synchronous_replication_is_as_asked(void **state)
{
    (void)state;
    static const char *const words[] = {"on", "remote_write", "on", "remote_apply"};
    for (int64_t kind = RIG_PG_ASYNC; kind <= 2; kind++) {
        struct harness server;
        struct client client;
        start(&server, 2, kind);
        PGconn *pg = sql_connect(&server);
        assert_string_equal(sql(pg, "SHOW synchronous_commit"), words[kind]);
        assert_string_equal(sql(pg, "SELECT sync_state FROM pg_stat_replication"),
                            kind == RIG_PG_ASYNC ? "async" : "quorum");
        client_open(&client, &server);
        append(&client, 1, 1);
        read_from(&client, 1, 1, "1");
        PQfinish(pg);
        client_close(&client);
        harness_stop(&server);
    }
}

static void reads_go_where_they_should(void **state)
{
    (void)state;
    static const enum rig_sql_reads_from modes[] = {RIG_SQL_READS_PRIMARY, RIG_SQL_READS_REPLICA, RIG_SQL_READS_ANY};
    static const char *const settings[] = {"recovery_min_apply_delay=2s"};
    struct harness server;
    struct rig_pg_options options;
    harness_defaults(&options);
    options.sql.nodes = 2;
    options.sql.listen = RIG_SQL_LISTEN_TCP;
    options.standby_settings = (struct rig_text_list){settings, 1};
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 2);
    struct client client;
    client_open(&client, &server);
    append(&client, 1, 1);
    read_from(&client, 1, 1, "1");
    client_close(&client);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        server.options.sql.reads_from = modes[i];
        client_open(&client, &server);
        const struct rig_sql_session *session = client.session;
        assert_int_equal(session->main_server, 0);
        assert_int_equal(session->reader->open, modes[i] == RIG_SQL_READS_REPLICA);
        if (session->reader->open)
            assert_int_equal(session->reader_server, 1);
        /* A write reaches the standby after the delay of its setting. */
        append(&client, 1, 2 + (int64_t)i);
        client_begin(&client);
        client_read(&client, 1);
        expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
        bool stale = strchr(client_seen(&client, 0), '2' + (int)i) == NULL;
        assert_int_equal(stale, modes[i] == RIG_SQL_READS_REPLICA);
        client_close(&client);
    }
    harness_stop(&server);
}

static void environment_reaches_the_server(void **state)
{
    (void)state;
    struct harness server;
    start(&server, 1, RIG_PG_ASYNC);
    DO(ops()->set_environment(server.run, 0, "RIG_A", "one", &err));
    DO(ops()->set_environment(server.run, 0, "RIG_B", "two", &err));
    DO(ops()->set_environment(server.run, 0, "RIG_A", "three", &err));
    DO(ops()->stop_node(server.run, 0, RIG_NODE_FAST, &err));
    DO(ops()->start_node(server.run, 0, &err));
    PGconn *pg = sql_connect(&server);
    (void)sql(pg, "CREATE TABLE said (line text)");
    (void)sql(pg, "COPY said FROM PROGRAM 'echo $RIG_A $RIG_B'");
    assert_string_equal(sql(pg, "SELECT line FROM said"), "three two");
    PQfinish(pg);
    DO(ops()->set_environment(server.run, 0, "RIG_A", NULL, &err));
    DO(ops()->stop_node(server.run, 0, RIG_NODE_FAST, &err));
    DO(ops()->start_node(server.run, 0, &err));
    pg = sql_connect(&server);
    (void)sql(pg, "TRUNCATE said");
    (void)sql(pg, "COPY said FROM PROGRAM 'echo $RIG_A $RIG_B'");
    assert_string_equal(sql(pg, "SELECT line FROM said"), "two");
    PQfinish(pg);
    harness_stop(&server);
}

/* ---- the template ---- */

static size_t count_entries(const char *folder, const char *prefix)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    size_t count = 0;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (entries != NULL)
        (void)closedir(entries);
    return count;
}

/* Starts a server; whether it came from a template. */
static bool starts_from_template(void)
{
    struct harness server;
    char log[512];
    start(&server, 1, RIG_PG_ASYNC);
    (void)snprintf(log, sizeof log, "%s/initdb.log", server.folder);
    bool used = access(log, F_OK) != 0;
    harness_stop(&server);
    return used;
}

static void template_is_kept_and_bounded(void **state)
{
    (void)state;
    char home[] = "/tmp/rig-test-XXXXXX";
    char cache[128];
    char path[256];
    assert_non_null(mkdtemp(home));
    assert_int_equal(setenv("XDG_CACHE_HOME", home, 1), 0);
    assert_false(starts_from_template());
    assert_true(starts_from_template());
    (void)snprintf(cache, sizeof cache, "%s/rig/postgres", home);
    assert_int_equal(count_entries(cache, "template-"), 1);
    rig_folder_remove(cache);
    assert_int_equal(mkdir(cache, 0700), 0);
    for (int i = 0; i < RIG_LOCAL_TEMPLATES_MOST + 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s%d", cache, i <= RIG_LOCAL_TEMPLATES_MOST ? "template-" : "new-", i);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_false(starts_from_template());
    assert_int_equal(count_entries(cache, "template-"), RIG_LOCAL_TEMPLATES_MOST);
    assert_int_equal(count_entries(cache, "new-"), 0);
    assert_true(starts_from_template());
    /* Another account could have written into it: not used. */
    assert_int_equal(chmod(cache, 0777), 0);
    assert_false(starts_from_template());
    rig_folder_remove(home);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cluster_is_broken_and_mended), cmocka_unit_test(node_that_is_down_cannot_be_read),
        cmocka_unit_test(synchronous_commit_waits),     cmocka_unit_test(synchronous_replication_is_as_asked),
        cmocka_unit_test(reads_go_where_they_should),   cmocka_unit_test(environment_reaches_the_server),
        cmocka_unit_test(template_is_kept_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
