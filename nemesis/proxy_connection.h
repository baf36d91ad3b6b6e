/*
 * One connection through the proxy: the socket of the side that opened it, that of its target, and a flow each way.
 *
 *     waiting ──(both links are free)──> connecting ──> open ──(both ways have ended)──> over
 *        └───────────────(the opener gave up)─────────────┴────(a reset, a half-open end)───^
 *
 * A socket is registered with epoll only while it is to be read or written, so that an idle one cannot report its end
 * again and again.
 *
 * Private to the proxy. Threads: under the proxy's lock.
 */
#ifndef RIG_NEMESIS_PROXY_CONNECTION_H
#define RIG_NEMESIS_PROXY_CONNECTION_H

#include <sys/socket.h>

#include "nemesis/proxy_link.h"

/* The data of epoll events: the first member of every watched object. */
enum rig_proxy_watched {
    RIG_PROXY_WATCH_WAKE, /* to look at everything */
    RIG_PROXY_WATCH_LISTENER,
    RIG_PROXY_WATCH_OPENER,
    RIG_PROXY_WATCH_TARGET,
};

struct rig_proxy_watch {
    enum rig_proxy_watched what;
    int fd;          /* -1: closed */
    uint32_t events; /* that epoll watches for; 0: it does not */
    void *owner;
};

enum rig_proxy_state {
    RIG_PROXY_WAITING,
    RIG_PROXY_CONNECTING,
    RIG_PROXY_PASSING,
    RIG_PROXY_OVER, /* both sockets are closed */
};

/* The target of a connection, and its links. */
struct rig_proxy_way {
    struct sockaddr_storage address;
    socklen_t address_size;
    struct rig_proxy_link *links[2]; /* from the opener; to it */
};

enum { RIG_PROXY_OPENER, RIG_PROXY_TARGET }; /* index of an end, and of the flow that comes from it */

struct rig_proxy_connection {
    struct rig_proxy_watch ends[2];
    struct rig_proxy_flow flows[2];
    struct rig_proxy_link *links[2];
    struct rig_proxy_way *way;
    enum rig_proxy_state state;
    uint32_t half_open; /* token of the group that made it so; 0: none */
    struct rig_proxy_connection *previous, *next;
};

/* The state that connections share. */
struct rig_proxy_loop {
    int epoll_fd;
    struct rig_rng rng;
};

/* Takes `fd`, non-blocking; begins to connect unless a link is cut. NULL: no memory, and `fd` is closed. */
struct rig_proxy_connection *rig_proxy_connection_new(struct rig_proxy_loop *loop, struct rig_proxy_way *way, int fd);
/* Closes the open sockets (with a reset when the connection is not over), and frees. */
void rig_proxy_connection_free(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection);

/* An event at a socket. */
void rig_proxy_connection_event(struct rig_proxy_loop *loop, struct rig_proxy_watch *end, uint32_t events,
                                int64_t now_ns);
/* Does all that can be done now: connects, forwards due bytes. Returns the time of the next due byte, INT64_MAX:
 * none. */
int64_t rig_proxy_connection_move(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int64_t now_ns);
/* Resets both sides. */
void rig_proxy_connection_reset(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection);
/* Resets one side; the other is read, and not answered, until it ends. */
void rig_proxy_connection_half_open(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int closed,
                                    uint32_t token);
/* Both sides are connected, and none is half open. */
bool rig_proxy_connection_is_whole(const struct rig_proxy_connection *connection);

#endif
