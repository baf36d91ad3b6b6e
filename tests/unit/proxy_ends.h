/*
 * Sockets for tests of the proxy: a server that listens, a client that connects, and reads with a bounded wait.
 */
#ifndef RIG_TESTS_UNIT_PROXY_ENDS_H
#define RIG_TESTS_UNIT_PROXY_ENDS_H

#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "nemesis/proxy.h"
#include "nemesis/proxy_connection.h"
#include "nemesis/proxy_link.h"
#include "nemesis/proxy_state.h"

enum { PATIENCE_MS = 20000, QUIET_MS = 60 };

/* The results of a read of one byte or more, besides a count above 0. */
enum { GOT_END = 0, GOT_RESET = -1, GOT_NOTHING = -2 };

static inline int server_open(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 256), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static inline int client_open(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static inline bool is_ready(int fd, short events, int timeout_ms)
{
    struct pollfd at = {.fd = fd, .events = events};
    int ready = 0;
    do
        ready = poll(&at, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static inline int server_accept(int server)
{
    assert_true(is_ready(server, POLLIN, PATIENCE_MS));
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static inline void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* A count above 0, GOT_END or GOT_RESET; GOT_NOTHING when no byte arrives in this time. */
static inline ssize_t receive_within(int fd, char *bytes, size_t size, int timeout_ms)
{
    if (!is_ready(fd, POLLIN, timeout_ms))
        return GOT_NOTHING;
    ssize_t got = recv(fd, bytes, size, 0);
    return got < 0 ? GOT_RESET : got;
}

static inline void assert_receives(int fd, const char *text)
{
    char bytes[256];
    size_t length = strlen(text), have = 0;
    assert_true(length < sizeof bytes);
    while (have < length) {
        ssize_t got = receive_within(fd, bytes + have, length - have, PATIENCE_MS);
        assert_true(got > 0);
        have += (size_t)got;
    }
    assert_memory_equal(bytes, text, length);
}

static inline void assert_ends_with(int fd, ssize_t end)
{
    char byte = '\0';
    assert_int_equal(receive_within(fd, &byte, 1, PATIENCE_MS), end);
}

static inline void assert_quiet(int fd)
{
    char byte = '\0';
    assert_int_equal(receive_within(fd, &byte, 1, QUIET_MS), GOT_NOTHING);
}

static inline void close_with_reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    (void)close(fd);
}

static inline bool is_party(const char *name, const char *wanted)
{
    return wanted == NULL || strcmp(name, wanted) == 0;
}

/* The number of connections from `from` to `to` (NULL: any) that reach their target. */
static inline uint32_t connection_count(struct rig_proxy *proxy, const char *from, const char *to)
{
    uint32_t count = 0;
    pthread_mutex_lock(&proxy->lock);
    for (struct rig_proxy_connection *at = proxy->connections; at != NULL; at = at->next) {
        count +=
            rig_proxy_connection_is_whole(at) && is_party(at->links[0]->from, from) && is_party(at->links[0]->to, to);
    }
    pthread_mutex_unlock(&proxy->lock);
    return count;
}

static inline void await_connections(struct rig_proxy *proxy, uint32_t count)
{
    int64_t until_ns = rig_clock_now_ns() + PATIENCE_MS * RIG_NS_PER_MS;
    while (connection_count(proxy, NULL, NULL) != count) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

#endif
