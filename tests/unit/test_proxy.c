/* The proxy with real sockets: forwarded bytes, ends of connections, the effect of each rule and what remains after
 * it. */
#include "tests/unit/proxy_ends.h"

#include <pthread.h>

struct world {
    struct rig_proxy *proxy;
    int server;
    uint16_t port, via;
    int client, peer; /* one connection through the proxy */
    uint32_t token;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct rig_err err = {0};
    world->server = server_open(&world->port);
    assert_int_equal(rig_proxy_start(7, &world->proxy, &err), RIG_OK);
    assert_int_equal(rig_proxy_route(world->proxy, "client", "n1", "127.0.0.1", world->port, &world->via, &err),
                     RIG_OK);
    world->client = client_open(world->via);
    world->peer = server_accept(world->server);
    await_connections(world->proxy, 1);
    assert_int_equal(rig_proxy_group_new(world->proxy, &world->token, &err), RIG_OK);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    rig_proxy_stop(world->proxy);
    (void)close(world->client);
    (void)close(world->peer);
    (void)close(world->server);
    free(world);
    return 0;
}

static void put(struct world *world, const char *from, const char *to, struct rig_proxy_rule rule)
{
    struct rig_err err = {0};
    assert_int_equal(rig_proxy_group_add(world->proxy, world->token, from, to, &rule, &err), RIG_OK);
}

static struct rig_proxy_counts end(struct world *world)
{
    return rig_proxy_group_end(world->proxy, world->token);
}

/* -- without rules ------------------------------------------------------------------------------------------------- */

static void bytes_pass_both_ways(void **state)
{
    struct world *world = *state;
    send_text(world->client, "ping");
    assert_receives(world->peer, "ping");
    send_text(world->peer, "pong");
    assert_receives(world->client, "pong");
    assert_int_equal(rig_proxy_route_count(world->proxy), 1);
    assert_int_equal(connection_count(world->proxy, "client", "n1"), 1);
    assert_int_equal(connection_count(world->proxy, "n1", "client"), 0);
}

struct stream {
    int fd;
    size_t size;
    unsigned seed;
    bool good;
};

static unsigned char byte_at(unsigned seed, size_t index)
{
    return (unsigned char)((index * 2654435761U + seed) >> 7);
}

static void *send_stream(void *argument)
{
    struct stream *stream = argument;
    unsigned char piece[5000];
    size_t sent = 0;
    stream->good = true;
    while (sent < stream->size && stream->good) {
        size_t size = stream->size - sent < sizeof piece ? stream->size - sent : sizeof piece;
        for (size_t i = 0; i < size; i++)
            piece[i] = byte_at(stream->seed, sent + i);
        ssize_t put_now = send(stream->fd, piece, size, MSG_NOSIGNAL);
        stream->good = put_now > 0;
        sent += put_now > 0 ? (size_t)put_now : 0;
    }
    (void)shutdown(stream->fd, SHUT_WR);
    return NULL;
}

static void *receive_stream(void *argument)
{
    struct stream *stream = argument;
    unsigned char piece[7001];
    size_t have = 0;
    ssize_t got = 0;
    stream->good = true;
    while ((got = recv(stream->fd, piece, sizeof piece, 0)) > 0) {
        for (size_t i = 0; i < (size_t)got; i++)
            stream->good = stream->good && piece[i] == byte_at(stream->seed, have + i);
        have += (size_t)got;
    }
    stream->good = stream->good && got == 0 && have == stream->size;
    return NULL;
}

/* Both ways at once, far more than all buffers hold; the ends are half-closes. */
static void carry(struct world *world, size_t size)
{
    struct stream streams[4] = {{world->client, size, 1, false},
                                {world->peer, size, 1, false},
                                {world->peer, size, 2, false},
                                {world->client, size, 2, false}};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 == 0 ? send_stream : receive_stream, &streams[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_true(streams[i].good);
    await_connections(world->proxy, 0);
}

static void long_streams_arrive_whole(void **state)
{
    carry(*state, 16 << 20);
}

static void long_streams_arrive_whole_under_delay_and_loss(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1",
        (struct rig_proxy_rule){.kind = RIG_PROXY_DELAY, .delay_ns = RIG_NS_PER_MS, .jitter_ns = RIG_NS_PER_MS});
    put(world, "n1", "client",
        (struct rig_proxy_rule){.kind = RIG_PROXY_LOSS, .share = 0.2, .timeout_ns = RIG_NS_PER_MS});
    carry(world, 1 << 20);
    struct rig_proxy_counts counts = end(world);
    assert_true(counts.bytes > (1 << 20) && counts.chunks > 64);
}

static void a_half_close_passes_behind_the_last_byte(void **state)
{
    struct world *world = *state;
    send_text(world->client, "question");
    assert_int_equal(shutdown(world->client, SHUT_WR), 0);
    assert_receives(world->peer, "question");
    assert_ends_with(world->peer, GOT_END);
    send_text(world->peer, "answer");
    assert_receives(world->client, "answer");
    assert_int_equal(connection_count(world->proxy, NULL, NULL), 1);
    assert_int_equal(shutdown(world->peer, SHUT_WR), 0);
    assert_ends_with(world->client, GOT_END);
    await_connections(world->proxy, 0);
}

static void a_reset_passes(void **state)
{
    struct world *world = *state;
    close_with_reset(world->client);
    assert_ends_with(world->peer, GOT_RESET);
    await_connections(world->proxy, 0);
    (void)close(world->peer);
    world->client = client_open(world->via);
    world->peer = server_accept(world->server);
    await_connections(world->proxy, 1);
    close_with_reset(world->peer);
    assert_ends_with(world->client, GOT_RESET);
    await_connections(world->proxy, 0);
    world->peer = -1;
}

static void a_half_close_and_then_a_reset_pass(void **state)
{
    struct world *world = *state;
    assert_int_equal(shutdown(world->client, SHUT_WR), 0);
    assert_ends_with(world->peer, GOT_END);
    close_with_reset(world->client);
    world->client = -1;
    /* The proxy notices the reset when it forwards data to the end that reset. */
    while (send(world->peer, "x", 1, MSG_NOSIGNAL) == 1)
        assert_int_equal(rig_proxy_route_count(world->proxy), 1);
    await_connections(world->proxy, 0);
}

static void a_target_that_is_down_resets_until_it_is_back(void **state)
{
    struct world *world = *state;
    (void)close(world->server);
    int lost = client_open(world->via);
    assert_ends_with(lost, GOT_RESET);
    (void)close(lost);
    world->server = server_open(&world->port);
    int found = client_open(world->via);
    int peer = server_accept(world->server);
    send_text(found, "again");
    assert_receives(peer, "again");
    (void)close(found);
    (void)close(peer);
}

static void a_target_that_moves_is_found(void **state)
{
    struct world *world = *state;
    struct rig_err err = {0};
    uint16_t elsewhere = 0, via = 0;
    int server = server_open(&elsewhere);
    assert_int_equal(rig_proxy_route(world->proxy, "client", "n1", "localhost", elsewhere, &via, &err), RIG_OK);
    assert_int_equal(via, world->via);
    int client = client_open(via);
    int peer = server_accept(server);
    send_text(peer, "here");
    assert_receives(client, "here");
    send_text(world->client, "there"); /* open connections stay where they are */
    assert_receives(world->peer, "there");
    (void)close(client);
    (void)close(peer);
    (void)close(server);
}

static void a_name_without_address_is_refused(void **state)
{
    struct world *world = *state;
    struct rig_err err = {0};
    uint16_t via = 99;
    assert_int_equal(rig_proxy_route(world->proxy, "client", "n2", "no such host", 1, &via, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "n2"));
    assert_int_equal(via, 99);
    assert_int_equal(rig_proxy_route_count(world->proxy), 1);
}

/* -- rules --------------------------------------------------------------------------------------------------------- */

static void cut(struct world *world, enum rig_proxy_kind kind)
{
    put(world, "client", "n1", (struct rig_proxy_rule){.kind = kind});
    put(world, "n1", "client", (struct rig_proxy_rule){.kind = kind});
}

static void what_is_held_passes_in_order_in_the_end(void **state)
{
    struct world *world = *state;
    cut(world, RIG_PROXY_HOLD);
    send_text(world->client, "one ");
    send_text(world->client, "two");
    send_text(world->peer, "three");
    assert_quiet(world->peer);
    assert_quiet(world->client);
    struct rig_proxy_counts counts = rig_proxy_group_counts(world->proxy, world->token);
    assert_int_equal(counts.bytes, 12);
    assert_int_equal(counts.connections, 0);
    assert_int_equal(end(world).bytes, 12);
    assert_receives(world->peer, "one two");
    assert_receives(world->client, "three");
    assert_int_equal(end(world).bytes, 0); /* ended already */
}

static void ends_are_held_as_well(void **state)
{
    struct world *world = *state;
    cut(world, RIG_PROXY_HOLD);
    send_text(world->client, "last");
    assert_int_equal(shutdown(world->client, SHUT_WR), 0);
    assert_quiet(world->peer);
    close_with_reset(world->peer);
    assert_quiet(world->client);
    (void)end(world);
    assert_ends_with(world->client, GOT_RESET);
    world->peer = -1;
    await_connections(world->proxy, 0);
}

static void a_cut_in_one_direction_leaves_the_other(void **state)
{
    struct world *world = *state;
    put(world, "n1", "client", (struct rig_proxy_rule){.kind = RIG_PROXY_HOLD});
    send_text(world->client, "heard");
    assert_receives(world->peer, "heard");
    send_text(world->peer, "unheard");
    assert_quiet(world->client);
    int late = client_open(world->via); /* the answer to its first packet is cut off: no connection */
    assert_false(is_ready(world->server, POLLIN, QUIET_MS));
    struct rig_proxy_counts counts = end(world);
    assert_int_equal(counts.bytes, 7);
    assert_int_equal(counts.connections, 1);
    assert_receives(world->client, "unheard");
    int peer = server_accept(world->server);
    (void)close(late);
    assert_ends_with(peer, GOT_END);
    (void)close(peer);
}

static void a_connection_waits_for_a_cut_link(void **state)
{
    struct world *world = *state;
    cut(world, RIG_PROXY_HOLD);
    int patient = client_open(world->via), impatient = client_open(world->via);
    send_text(patient, "hello");
    (void)close(impatient);
    assert_false(is_ready(world->server, POLLIN, QUIET_MS));
    assert_int_equal(end(world).connections, 2);
    int peer = server_accept(world->server);
    assert_receives(peer, "hello");
    send_text(peer, "welcome");
    assert_receives(patient, "welcome");
    assert_false(is_ready(world->server, POLLIN, QUIET_MS)); /* the peer never learns of a client that gave up */
    (void)close(patient);
    (void)close(peer);
}

static void dropped_bytes_cost_the_connection(void **state)
{
    struct world *world = *state;
    int other = client_open(world->via);
    int other_peer = server_accept(world->server);
    await_connections(world->proxy, 2);
    cut(world, RIG_PROXY_DROP);
    send_text(world->client, "gone");
    assert_quiet(world->peer);
    assert_int_equal(end(world).bytes, 4);
    assert_ends_with(world->client, GOT_RESET);
    assert_ends_with(world->peer, GOT_RESET);
    send_text(other, "here"); /* it lost nothing */
    assert_receives(other_peer, "here");
    (void)close(other);
    (void)close(other_peer);
}

static void delay_keeps_order_and_never_hurries(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1",
        (struct rig_proxy_rule){
            .kind = RIG_PROXY_DELAY, .delay_ns = 40 * RIG_NS_PER_MS, .jitter_ns = 20 * RIG_NS_PER_MS});
    int64_t before_ns = rig_clock_now_ns();
    for (int i = 0; i < 10; i++) {
        send_text(world->client, i % 2 == 0 ? "a" : "b");
        rig_clock_sleep_until_ns(before_ns + (i + 1) * RIG_NS_PER_MS);
    }
    assert_receives(world->peer, "ababababab");
    assert_true(rig_clock_now_ns() - before_ns >= 20 * RIG_NS_PER_MS);
    assert_int_equal(rig_proxy_group_counts(world->proxy, world->token).bytes, 10);
    send_text(world->peer, "back"); /* the other direction has no rule */
    assert_receives(world->client, "back");
}

static void what_is_delayed_passes_at_once_in_the_end(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1", (struct rig_proxy_rule){.kind = RIG_PROXY_DELAY, .delay_ns = 3600 * RIG_NS_PER_S});
    send_text(world->client, "tomorrow");
    assert_quiet(world->peer);
    assert_int_equal(end(world).bytes, 8);
    assert_receives(world->peer, "tomorrow");
}

static void delays_add_up(void **state)
{
    struct world *world = *state;
    const struct rig_proxy_rule rule = {.kind = RIG_PROXY_DELAY, .delay_ns = 30 * RIG_NS_PER_MS};
    put(world, "client", "n1", rule);
    put(world, "client", "n1", rule);
    int64_t before_ns = rig_clock_now_ns();
    send_text(world->client, "x");
    assert_receives(world->peer, "x");
    assert_true(rig_clock_now_ns() - before_ns >= 60 * RIG_NS_PER_MS);
}

static void a_throttled_link_takes_its_time(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1", (struct rig_proxy_rule){.kind = RIG_PROXY_THROTTLE, .bytes_per_s = 1000});
    int64_t before_ns = rig_clock_now_ns();
    char text[201];
    memset(text, 'x', 200);
    text[200] = '\0';
    send_text(world->client, text);
    assert_receives(world->peer, text);
    assert_true(rig_clock_now_ns() - before_ns >= 190 * RIG_NS_PER_MS);
    assert_int_equal(end(world).bytes, 200);
}

static void what_is_lost_stalls_and_arrives(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1",
        (struct rig_proxy_rule){.kind = RIG_PROXY_LOSS, .share = 1, .timeout_ns = RIG_NS_PER_MS});
    int64_t before_ns = rig_clock_now_ns();
    send_text(world->client, "x");
    assert_receives(world->peer, "x");
    assert_true(rig_clock_now_ns() - before_ns >= 63 * RIG_NS_PER_MS); /* 1 + 2 + ... + 32 */
    assert_int_equal(end(world).chunks, 1);
}

static void open_connections_are_reset(void **state)
{
    struct world *world = *state;
    assert_int_equal(rig_proxy_group_reset(world->proxy, world->token, "n2", NULL), 0);
    assert_int_equal(rig_proxy_group_reset(world->proxy, world->token, NULL, "n1"), 1);
    assert_ends_with(world->client, GOT_RESET);
    assert_ends_with(world->peer, GOT_RESET);
    assert_int_equal(rig_proxy_group_reset(world->proxy, world->token, NULL, NULL), 0);
    assert_int_equal(end(world).connections, 1);
}

static void a_chunk_can_reset_its_connection(void **state)
{
    struct world *world = *state;
    put(world, "n1", "client", (struct rig_proxy_rule){.kind = RIG_PROXY_RESET, .share = 1});
    send_text(world->client, "question");
    assert_receives(world->peer, "question");
    send_text(world->peer, "answer");
    assert_ends_with(world->client, GOT_RESET);
    assert_ends_with(world->peer, GOT_RESET);
    assert_int_equal(end(world).connections, 1);
}

static void the_other_end_never_learns(void **state)
{
    struct world *world = *state;
    assert_int_equal(rig_proxy_group_half_open(world->proxy, world->token, "client", "n1", false), 1);
    assert_ends_with(world->peer, GOT_RESET);
    assert_quiet(world->client);
    for (int i = 0; i < 100; i++)
        send_text(world->client, "hello");
    assert_quiet(world->client);
    assert_int_equal(rig_proxy_group_half_open(world->proxy, world->token, NULL, NULL, false), 0);
    int fresh = client_open(world->via); /* new connections are whole */
    int peer = server_accept(world->server);
    send_text(fresh, "yes");
    assert_receives(peer, "yes");
    assert_int_equal(end(world).connections, 1);
    assert_ends_with(world->client, GOT_RESET);
    send_text(fresh, "still");
    assert_receives(peer, "still");
    (void)close(fresh);
    (void)close(peer);
}

static void a_server_can_be_the_one_that_never_learns(void **state)
{
    struct world *world = *state;
    assert_int_equal(rig_proxy_group_half_open(world->proxy, world->token, NULL, "n1", true), 1);
    assert_ends_with(world->client, GOT_RESET);
    assert_quiet(world->peer);
    (void)close(world->peer); /* the client gives up by itself */
    world->peer = -1;
    await_connections(world->proxy, 0);
    assert_int_equal(end(world).connections, 1);
}

static void new_connections_are_refused(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1", (struct rig_proxy_rule){.kind = RIG_PROXY_REFUSE});
    int refused = client_open(world->via);
    assert_ends_with(refused, GOT_RESET);
    (void)close(refused);
    send_text(world->client, "old");
    assert_receives(world->peer, "old");
    assert_int_equal(end(world).connections, 1);
    int taken = client_open(world->via);
    int peer = server_accept(world->server);
    (void)close(taken);
    (void)close(peer);
}

static void groups_on_one_link_are_apart(void **state)
{
    struct world *world = *state;
    struct rig_err err = {0};
    uint32_t second = 0;
    assert_int_equal(rig_proxy_group_new(world->proxy, &second, &err), RIG_OK);
    assert_int_not_equal(second, world->token);
    const struct rig_proxy_rule hold = {.kind = RIG_PROXY_HOLD};
    put(world, "client", "n1", hold);
    assert_int_equal(rig_proxy_group_add(world->proxy, second, "client", "n1", &hold, &err), RIG_OK);
    send_text(world->client, "x");
    assert_quiet(world->peer);
    assert_int_equal(end(world).bytes, 1);
    assert_quiet(world->peer);
    assert_int_equal(rig_proxy_group_end(world->proxy, second).bytes, 1);
    assert_receives(world->peer, "x");
}

static void limits_are_said(void **state)
{
    struct world *world = *state;
    struct rig_err err = {0};
    const struct rig_proxy_rule hold = {.kind = RIG_PROXY_HOLD};
    enum rig_rc rc = RIG_OK;
    for (int i = 0; i < 20 && rc == RIG_OK; i++)
        rc = rig_proxy_group_add(world->proxy, world->token, "a", "b", &hold, &err);
    assert_int_equal(rc, RIG_E_LIMIT);
    assert_non_null(strstr(err.text, "between a and b"));
    err = (struct rig_err){0};
    uint32_t token = 0;
    rc = RIG_OK;
    for (int i = 0; i < 100 && rc == RIG_OK; i++)
        rc = rig_proxy_group_new(world->proxy, &token, &err);
    assert_int_equal(rc, RIG_E_LIMIT);
}

/* -- forbidden behaviour ------------------------------------------------------------------------------------------- */

static int64_t process_time_ns(void)
{
    struct timespec time;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
    return (int64_t)time.tv_sec * RIG_NS_PER_S + time.tv_nsec;
}

/* A sender is stopped by its own buffers once the proxy's are full; its end then uses no processor time. */
static void what_is_held_is_bounded_and_costs_no_time(void **state)
{
    struct world *world = *state;
    static char piece[1 << 16];
    cut(world, RIG_PROXY_HOLD);
    size_t sent = 0;
    while (is_ready(world->client, POLLOUT, QUIET_MS)) {
        ssize_t now = send(world->client, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        assert_true(now > 0 || errno == EAGAIN);
        sent += now > 0 ? (size_t)now : 0;
        assert_true(sent < ((size_t)64 << 20));
    }
    assert_int_equal(rig_proxy_group_counts(world->proxy, world->token).bytes, RIG_PROXY_FLOW_BYTES);
    close_with_reset(world->client);
    close_with_reset(world->peer);
    world->client = world->peer = -1;
    int64_t before_ns = process_time_ns();
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 200 * RIG_NS_PER_MS);
    assert_true(process_time_ns() - before_ns < 100 * RIG_NS_PER_MS);
    (void)end(world);
    await_connections(world->proxy, 0);
}

/* An end that is gone, reported while the other direction is cut, and the other end then closes. */
static void ends_under_a_cut_cost_no_time(void **state)
{
    struct world *world = *state;
    put(world, "client", "n1", (struct rig_proxy_rule){.kind = RIG_PROXY_HOLD});
    close_with_reset(world->client);
    world->client = -1;
    (void)send(world->peer, "x", 1, MSG_NOSIGNAL);
    assert_quiet(world->peer);
    (void)close(world->peer);
    world->peer = -1;
    int64_t before_ns = process_time_ns();
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 200 * RIG_NS_PER_MS);
    assert_true(process_time_ns() - before_ns < 100 * RIG_NS_PER_MS);
    (void)end(world);
    await_connections(world->proxy, 0);
}

enum { STORM_CLIENTS = 4, STORM_ROUNDS = 60 };

static void *echo(void *argument)
{
    int server = *(int *)argument;
    for (int i = 0; i < STORM_CLIENTS * STORM_ROUNDS; i++) {
        int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        char byte = '\0';
        if (recv(fd, &byte, 1, 0) == 1)
            (void)send(fd, &byte, 1, MSG_NOSIGNAL);
        (void)close(fd);
    }
    return NULL;
}

struct storm {
    uint16_t via;
    uint32_t answered;
};

static void *storm_client(void *argument)
{
    struct storm *storm = argument;
    for (int i = 0; i < STORM_ROUNDS; i++) {
        int fd = client_open(storm->via);
        char byte = 'x';
        (void)send(fd, &byte, 1, MSG_NOSIGNAL);
        if (receive_within(fd, &byte, 1, PATIENCE_MS) == 1)
            storm->answered++;
        (void)close(fd);
    }
    return NULL;
}

/* Connections come and go from several threads while rules come and go. */
static void a_storm_leaves_nothing(void **state)
{
    struct world *world = *state;
    struct rig_err err = {0};
    pthread_t server, clients[STORM_CLIENTS];
    struct storm storms[STORM_CLIENTS];
    assert_int_equal(pthread_create(&server, NULL, echo, &world->server), 0);
    for (int i = 0; i < STORM_CLIENTS; i++) {
        storms[i] = (struct storm){.via = world->via};
        assert_int_equal(pthread_create(&clients[i], NULL, storm_client, &storms[i]), 0);
    }
    const struct rig_proxy_rule hold = {.kind = RIG_PROXY_HOLD};
    const struct rig_proxy_rule delay = {.kind = RIG_PROXY_DELAY, .delay_ns = RIG_NS_PER_MS};
    for (int i = 0; i < 50; i++) {
        uint32_t token = 0;
        uint16_t via = 0;
        assert_int_equal(rig_proxy_group_new(world->proxy, &token, &err), RIG_OK);
        assert_int_equal(rig_proxy_group_add(world->proxy, token, "client", "n1", i % 2 == 0 ? &hold : &delay, &err),
                         RIG_OK);
        assert_int_equal(rig_proxy_route(world->proxy, "client", "n1", "127.0.0.1", world->port, &via, &err), RIG_OK);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        (void)rig_proxy_group_end(world->proxy, token);
    }
    uint32_t answered = 0;
    for (int i = 0; i < STORM_CLIENTS; i++) {
        assert_int_equal(pthread_join(clients[i], NULL), 0);
        answered += storms[i].answered;
    }
    assert_int_equal(pthread_join(server, NULL), 0);
    assert_int_equal(answered, STORM_CLIENTS * STORM_ROUNDS);
    await_connections(world->proxy, 1);
}

#define PROXY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROXY_TEST(bytes_pass_both_ways),
        PROXY_TEST(long_streams_arrive_whole),
        PROXY_TEST(long_streams_arrive_whole_under_delay_and_loss),
        PROXY_TEST(a_half_close_passes_behind_the_last_byte),
        PROXY_TEST(a_reset_passes),
        PROXY_TEST(a_half_close_and_then_a_reset_pass),
        PROXY_TEST(a_target_that_is_down_resets_until_it_is_back),
        PROXY_TEST(a_target_that_moves_is_found),
        PROXY_TEST(a_name_without_address_is_refused),
        PROXY_TEST(what_is_held_passes_in_order_in_the_end),
        PROXY_TEST(ends_are_held_as_well),
        PROXY_TEST(a_cut_in_one_direction_leaves_the_other),
        PROXY_TEST(a_connection_waits_for_a_cut_link),
        PROXY_TEST(dropped_bytes_cost_the_connection),
        PROXY_TEST(delay_keeps_order_and_never_hurries),
        PROXY_TEST(what_is_delayed_passes_at_once_in_the_end),
        PROXY_TEST(delays_add_up),
        PROXY_TEST(a_throttled_link_takes_its_time),
        PROXY_TEST(what_is_lost_stalls_and_arrives),
        PROXY_TEST(open_connections_are_reset),
        PROXY_TEST(a_chunk_can_reset_its_connection),
        PROXY_TEST(the_other_end_never_learns),
        PROXY_TEST(a_server_can_be_the_one_that_never_learns),
        PROXY_TEST(new_connections_are_refused),
        PROXY_TEST(groups_on_one_link_are_apart),
        PROXY_TEST(limits_are_said),
        PROXY_TEST(what_is_held_is_bounded_and_costs_no_time),
        PROXY_TEST(ends_under_a_cut_cost_no_time),
        PROXY_TEST(a_storm_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
