/*
 * A connection cut after every single byte of a transaction's conversation, in either direction, by a proxy between the
 * driver and the server. Whatever the driver says must agree with the database: never ok without the row, never fail
 * with it.
 */
#include "tests/system/postgres/pg_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/folder.h"
#include "drivers/postgres/pg_session.h"

enum direction { TO_SERVER, TO_CLIENT };

/* Forwards one connection at a time; once armed it lets `allowed` more bytes pass in one direction, then cuts both. */
struct proxy {
    char folder[64];
    struct sockaddr_un server;
    int listener;
    pthread_t thread;
    atomic_bool ending;
    atomic_bool armed;
    atomic_int direction;
    atomic_long allowed;
    atomic_long passed[2]; /* bytes since it was armed */
};

static bool forward(struct proxy *proxy, int from, int to, enum direction direction)
{
    char bytes[4096];
    size_t most = sizeof bytes;
    bool limited = atomic_load(&proxy->armed) && atomic_load(&proxy->direction) == (int)direction;
    if (limited && (size_t)atomic_load(&proxy->allowed) < most)
        most = (size_t)atomic_load(&proxy->allowed);
    if (most == 0)
        return false;
    ssize_t got = recv(from, bytes, most, 0);
    if (got <= 0 || send(to, bytes, (size_t)got, MSG_NOSIGNAL) != got)
        return false;
    if (atomic_load(&proxy->armed))
        (void)atomic_fetch_add(&proxy->passed[direction], got);
    /* Cut as soon as the last allowed byte is through, not when the next one comes. */
    return !limited || atomic_fetch_sub(&proxy->allowed, got) > got;
}

static void serve(struct proxy *proxy, int client)
{
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool open = connect(server, (struct sockaddr *)&proxy->server, sizeof proxy->server) == 0;
    while (open && !atomic_load(&proxy->ending)) {
        struct pollfd polled[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
        if (poll(polled, 2, 50) < 0)
            break;
        if (polled[0].revents != 0)
            open = forward(proxy, client, server, TO_SERVER);
        if (open && polled[1].revents != 0)
            open = forward(proxy, server, client, TO_CLIENT);
    }
    (void)close(server);
    (void)close(client);
}

static void *run_proxy(void *object)
{
    struct proxy *proxy = object;
    while (!atomic_load(&proxy->ending)) {
        struct pollfd polled = {.fd = proxy->listener, .events = POLLIN};
        if (poll(&polled, 1, 50) <= 0)
            continue;
        int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            serve(proxy, client);
    }
    return NULL;
}

static void proxy_start(struct proxy *proxy, const struct harness *server)
{
    *proxy = (struct proxy){.server.sun_family = AF_UNIX};
    const struct rig_pg_endpoint endpoint = server_endpoint(server);
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    (void)snprintf(proxy->folder, sizeof proxy->folder, "/tmp/rig-cuts-XXXXXX");
    assert_non_null(mkdtemp(proxy->folder));
    int length = snprintf(proxy->server.sun_path, sizeof proxy->server.sun_path, "%.80s/.s.PGSQL.%s", endpoint.host,
                          endpoint.port);
    assert_in_range(length, 1, sizeof proxy->server.sun_path - 1);
    (void)snprintf(own.sun_path, sizeof own.sun_path, "%s/.s.PGSQL.5432", proxy->folder);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(listen(proxy->listener, 8), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run_proxy, proxy), 0);
}

static void proxy_stop(struct proxy *proxy)
{
    atomic_store(&proxy->ending, true);
    assert_int_equal(pthread_join(proxy->thread, NULL), 0);
    (void)close(proxy->listener);
    rig_folder_remove(proxy->folder);
}

static void proxy_arm(struct proxy *proxy, enum direction direction, long allowed)
{
    atomic_store(&proxy->direction, (int)direction);
    atomic_store(&proxy->allowed, allowed);
    atomic_store(&proxy->passed[0], 0);
    atomic_store(&proxy->passed[1], 0);
    atomic_store(&proxy->armed, true);
}

static struct harness server;

static int start_server(void **state)
{
    (void)state;
    struct rig_pg_options options;
    harness_defaults(&options);
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 4);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    harness_stop(&server);
    return 0;
}

struct tally {
    int outcomes[3];
    int rows[3]; /* of those, with the row in the database */
};

/* One transaction through the proxy, which cuts after `allowed` bytes; compares the outcome with the database. */
static enum rig_outcome cut_once(struct proxy *proxy, struct harness *run, PGconn *pg, enum direction direction,
                                 long allowed, int64_t value, struct tally *tally)
{
    struct client client;
    atomic_store(&proxy->armed, false);
    client_open(&client, run);
    client_begin(&client);
    client_append(&client, value, value);
    client_read(&client, value);
    client_append(&client, value, -value);
    proxy_arm(proxy, direction, allowed);
    enum rig_outcome outcome = client_run(&client);
    char code[RIG_ERROR_CODE_BYTES];
    (void)snprintf(code, sizeof code, "%s", client.transaction.error_code);
    bool lost = client.transaction.session_lost;
    if (outcome == RIG_OUTCOME_OK)
        assert_int_equal(client.reads[1].state, RIG_READ_SEEN);
    client_close(&client);
    /* Once its server process is gone, nothing of the transaction can happen any more. */
    sql_await(pg, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rig'", "0");
    char whole[64];
    (void)snprintf(whole, sizeof whole, "%lld,-%lld", (long long)value, (long long)value);
    const char *stored = sql_list(pg, value);
    bool there = strcmp(stored, whole) == 0;
    if ((!there && strcmp(stored, "nil") != 0) || (outcome == RIG_OUTCOME_OK && !there) ||
        (outcome == RIG_OUTCOME_FAIL && there))
        fail_msg("cut after %ld bytes to the %s: %s [%s], but the row is %s", allowed,
                 direction == TO_SERVER ? "server" : "client", outcome_name(outcome), code, stored);
    if (outcome != RIG_OUTCOME_OK && (!lost || strcmp(code, "connection-lost") != 0))
        fail_msg("cut after %ld bytes to the %s: %s [%s], session %s", allowed,
                 direction == TO_SERVER ? "server" : "client", outcome_name(outcome), code, lost ? "lost" : "kept");
    tally->outcomes[outcome]++;
    tally->rows[outcome] += there;
    return outcome;
}

static void cut_everywhere(bool pipeline, bool prepared)
{
    static const char *hosts[1];
    struct rig_pg_options options;
    struct proxy proxy;
    struct harness run;
    struct tally tally[2] = {{{0}, {0}}, {{0}, {0}}};
    harness_defaults(&options);
    options.pipeline = pipeline;
    options.prepared = prepared;
    proxy_start(&proxy, &server);
    hosts[0] = proxy.folder;
    options.hosts = (struct rig_text_list){hosts, 1};
    harness_attach(&run, &server, &options);
    PGconn *pg = sql_connect(&server);
    (void)sql(pg, "SET search_path = %s", run.run_name);
    int64_t value = 1;
    /* The whole conversation first, for its length in both directions. */
    assert_int_equal(cut_once(&proxy, &run, pg, TO_SERVER, 1000000, value++, &tally[0]), RIG_OUTCOME_OK);
    long length[2] = {atomic_load(&proxy.passed[TO_SERVER]), atomic_load(&proxy.passed[TO_CLIENT])};
    tally[0] = (struct tally){{0}, {0}};
    for (int direction = TO_SERVER; direction <= TO_CLIENT; direction++) {
        assert_in_range(length[direction], 50, 4000);
        for (long allowed = 0; allowed < length[direction]; allowed++)
            (void)cut_once(&proxy, &run, pg, (enum direction)direction, allowed, value++, &tally[direction]);
    }
    for (int direction = TO_SERVER; direction <= TO_CLIENT; direction++)
        (void)printf("%s, cut to the %s at %ld places: ok %d, fail %d, info %d of which %d committed\n",
                     pipeline ? "pipeline" : "statements", direction == TO_SERVER ? "server" : "client",
                     length[direction], tally[direction].outcomes[0], tally[direction].outcomes[1],
                     tally[direction].outcomes[2], tally[direction].rows[2]);
    /* Both kinds of info occur: COMMIT lost on its way, and its answer lost. */
    assert_true(tally[TO_SERVER].outcomes[RIG_OUTCOME_INFO] > tally[TO_SERVER].rows[RIG_OUTCOME_INFO]);
    assert_true(tally[TO_CLIENT].rows[RIG_OUTCOME_INFO] > 0);
    if (!pipeline)
        assert_true(tally[TO_SERVER].outcomes[RIG_OUTCOME_FAIL] > 0 && tally[TO_CLIENT].outcomes[RIG_OUTCOME_FAIL] > 0);
    PQfinish(pg);
    atomic_store(&proxy.armed, false);
    harness_stop(&run);
    proxy_stop(&proxy);
}

static void statements_are_cut(void **state)
{
    (void)state;
    cut_everywhere(false, false);
    cut_everywhere(false, true);
}

static void pipelines_are_cut(void **state)
{
    (void)state;
    cut_everywhere(true, true);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_cut),
        cmocka_unit_test(pipelines_are_cut),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
