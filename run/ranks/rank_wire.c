#include "run/ranks/rank_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_MS = 3000, BACKLOG = 256 };

struct head {
    uint32_t kind, size;
};

/* -- places -------------------------------------------------------------------------------------------------------- */

static void add_address(struct rig_wire_place *place, uint32_t *count, const struct sockaddr *address)
{
    const bool is_4 = address->sa_family == AF_INET;
    if ((!is_4 && address->sa_family != AF_INET6) || *count == RIG_WIRE_ADDRESSES)
        return;
    const void *number = is_4 ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
                              : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (!is_4 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)number))
        return; /* means nothing without the name of an interface */
    if (inet_ntop(address->sa_family, number, place->addresses[*count], RIG_WIRE_ADDRESS_BYTES) != NULL)
        ++*count;
}

/* The loopback first: a rank on another machine finds another listener there, or none, and its greeting tells. */
static void list_addresses(struct rig_wire_place *place)
{
    struct ifaddrs *all = NULL;
    uint32_t count = 0;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (int loopback = 1; loopback >= 0; loopback--) {
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (one->ifa_addr != NULL && (one->ifa_flags & IFF_UP) != 0 &&
                ((one->ifa_flags & IFF_LOOPBACK) != 0) == (loopback == 1))
                add_address(place, &count, one->ifa_addr);
        }
    }
    if (all != NULL)
        freeifaddrs(all);
}

static int listen_on(int family)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int off = 0;
    struct sockaddr_in6 any_6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any_4 = {.sin_family = AF_INET};
    const bool is_6 = family == AF_INET6;
    const struct sockaddr *any = is_6 ? (const struct sockaddr *)&any_6 : (const struct sockaddr *)&any_4;
    const socklen_t size = is_6 ? sizeof any_6 : sizeof any_4;
    if ((is_6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) || bind(fd, any, size) != 0 ||
        listen(fd, BACKLOG) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

enum rig_rc rig_wire_listen(int *fd, struct rig_wire_place *place, struct rig_err *err)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    int made = listen_on(AF_INET6);
    if (made < 0)
        made = listen_on(AF_INET);
    if (made < 0 || getsockname(made, (struct sockaddr *)&bound, &size) != 0) {
        const int error = errno;
        if (made >= 0)
            (void)close(made);
        return rig_fail(err, RIG_E_IO, "cannot listen for the other ranks: %s", strerror(error));
    }
    *place = (struct rig_wire_place){.port = 0};
    place->port = bound.ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)(const void *)&bound)->sin6_port)
                                              : ntohs(((const struct sockaddr_in *)(const void *)&bound)->sin_port);
    list_addresses(place);
    *fd = made;
    return RIG_OK;
}

static int connect_to(const struct addrinfo *to)
{
    const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    if ((connect(fd, to->ai_addr, to->ai_addrlen) == 0 ||
         (errno == EINPROGRESS && poll(&wait, 1, CONNECT_MS) == 1 &&
          getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0))) {
        struct timeval for_ever = {.tv_sec = 0};
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof for_ever);
        return fd;
    }
    (void)close(fd);
    return -1;
}

enum rig_rc rig_wire_connect(const struct rig_wire_place *place, uint32_t from, int *fd, uint32_t *which,
                             struct rig_err *err)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", place->port);
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    for (uint32_t i = from; i < RIG_WIRE_ADDRESSES && place->addresses[i][0] != '\0'; i++) {
        struct addrinfo *found = NULL;
        if (getaddrinfo(place->addresses[i], port, &hints, &found) != 0)
            continue;
        *fd = connect_to(found);
        freeaddrinfo(found);
        if (*fd >= 0) {
            *which = i;
            return RIG_OK;
        }
    }
    return rig_fail(err, RIG_E_CLUSTER,
                    "cannot reach rank 0 on port %u of %s: the ranks of a run need TCP between them", place->port,
                    place->addresses[0]);
}

void rig_wire_tune(int fd, unsigned dead_after_ms)
{
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_after_ms, sizeof dead_after_ms);
}

/* -- messages ------------------------------------------------------------------------------------------------------ */

static bool wait_for(int fd, short what, int timeout_ms)
{
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = what};
        const int ready = poll(&wait, 1, timeout_ms);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static bool send_all(int fd, const void *bytes, size_t size, int flags)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL | flags);
        if (sent < 0 && errno == EAGAIN && wait_for(fd, POLLOUT, -1))
            continue;
        if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        }
    }
    return true;
}

bool rig_wire_send(int fd, uint32_t kind, const void *body, size_t size)
{
    if (size > RIG_WIRE_MESSAGE_MOST)
        return false;
    const struct head head = {.kind = kind, .size = (uint32_t)size};
    return send_all(fd, &head, sizeof head, size > 0 ? MSG_MORE : 0) && send_all(fd, body, size, 0);
}

static bool receive_all(int fd, int timeout_ms, char *into, size_t size)
{
    while (size > 0) {
        if (!wait_for(fd, POLLIN, timeout_ms))
            return false;
        const ssize_t got = recv(fd, into, size, 0);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        if (got > 0) {
            into += got;
            size -= (size_t)got;
        }
    }
    return true;
}

bool rig_wire_receive(int fd, unsigned timeout_ms, uint32_t *kind, struct rig_buf *body)
{
    struct head head;
    const int patience_ms = timeout_ms == 0 ? -1 : (int)timeout_ms;
    if (!receive_all(fd, patience_ms, (char *)&head, sizeof head) || head.size > RIG_WIRE_MESSAGE_MOST)
        return false;
    rig_buf_clear(body);
    if (head.size > 0) {
        char *into = rig_buf_reserve(body, head.size);
        if (into == NULL || !receive_all(fd, patience_ms, into, head.size))
            return false;
        body->size = head.size;
    }
    *kind = head.kind;
    return true;
}
