#include "nemesis/proxy_connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/bug.h"

enum { PIECE_BYTES = 16 * 1024 };

/* -- sockets ------------------------------------------------------------------------------------------------------- */

static void watch(struct rig_proxy_loop *loop, struct rig_proxy_watch *end, uint32_t events)
{
    if (end->fd < 0 || end->events == events)
        return;
    int operation = end->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    struct epoll_event event = {.events = events, .data = {.ptr = end}};
    RIG_INVARIANT(epoll_ctl(loop->epoll_fd, operation, end->fd, &event) == 0);
    end->events = events;
}

static void close_end(struct rig_proxy_loop *loop, struct rig_proxy_watch *end, bool reset)
{
    if (end->fd < 0)
        return;
    watch(loop, end, 0);
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        (void)setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(end->fd);
    end->fd = -1;
}

static void close_both(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, bool reset)
{
    close_end(loop, &connection->ends[RIG_PROXY_OPENER], reset);
    close_end(loop, &connection->ends[RIG_PROXY_TARGET], reset);
    connection->state = RIG_PROXY_OVER;
}

static void send_at_once(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* -- connecting ---------------------------------------------------------------------------------------------------- */

static bool is_cut(const struct rig_proxy_link *link)
{
    return rig_proxy_link_holds(link) || rig_proxy_link_drops(link);
}

static void begin_connecting(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    const struct rig_proxy_way *way = connection->way;
    int fd = socket(way->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        close_both(loop, connection, true);
        return;
    }
    send_at_once(fd);
    connection->ends[RIG_PROXY_TARGET].fd = fd;
    if (connect(fd, (const struct sockaddr *)&way->address, way->address_size) == 0)
        connection->state = RIG_PROXY_PASSING;
    else if (errno == EINPROGRESS)
        connection->state = RIG_PROXY_CONNECTING;
    else
        close_both(loop, connection, true);
}

/* The target never learns of a client that gives up before its connection is made. */
static void wait_for_links(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    if (is_cut(connection->links[0]) || is_cut(connection->links[1]))
        watch(loop, &connection->ends[RIG_PROXY_OPENER], EPOLLRDHUP);
    else
        begin_connecting(loop, connection);
}

static void finish_connecting(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    int error = 0;
    socklen_t size = sizeof error;
    int asked = getsockopt(connection->ends[RIG_PROXY_TARGET].fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (asked != 0 || error != 0)
        close_both(loop, connection, true);
    else
        connection->state = RIG_PROXY_PASSING;
}

/* -- forwarding ---------------------------------------------------------------------------------------------------- */

static bool try_again(int error)
{
    return error == EAGAIN || error == EINTR;
}

/* The peer has reset this end: its earlier bytes pass, then the reset; bytes on their way to it are dropped. */
static void end_by_reset(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from)
{
    struct rig_proxy_flow *toward = &connection->flows[1 - from];
    rig_proxy_flow_put_end(&connection->flows[from], RIG_PROXY_RST);
    rig_proxy_flow_clear(toward);
    toward->ended = true;
    close_end(loop, &connection->ends[from], true);
}

/* A half-open end: its bytes are discarded, and when it ends, so does the connection. */
static void swallow(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from)
{
    unsigned char bytes[PIECE_BYTES];
    ssize_t got = recv(connection->ends[from].fd, bytes, sizeof bytes, 0);
    if (got == 0 || (got < 0 && !try_again(errno)))
        close_both(loop, connection, false);
}

static void keep(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from, size_t size,
                 int64_t now_ns)
{
    struct rig_proxy_flow *flow = &connection->flows[from];
    struct rig_proxy_fate fate = rig_proxy_link_fate(connection->links[from], &loop->rng, size, now_ns);
    if (fate.resets) {
        close_both(loop, connection, true);
        return;
    }
    bool gone = connection->ends[1 - from].fd < 0;
    flow->holed = flow->holed || fate.lost;
    if (!flow->holed && !gone)
        rig_proxy_flow_put(flow, size, fate.due_ns);
}

static void read_from(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from, int64_t now_ns)
{
    struct rig_proxy_flow *flow = &connection->flows[from];
    if (!rig_proxy_flow_wants(flow))
        return;
    size_t size = 0;
    unsigned char *room = rig_proxy_flow_room(flow, rig_proxy_link_piece(connection->links[from], PIECE_BYTES), &size);
    if (room == NULL) {
        close_both(loop, connection, true);
        return;
    }
    ssize_t got = recv(connection->ends[from].fd, room, size, 0);
    if (got > 0) {
        keep(loop, connection, from, (size_t)got, now_ns);
    } else if (got == 0) {
        flow->holed = flow->holed || rig_proxy_link_drops(connection->links[from]);
        rig_proxy_flow_put_end(flow, RIG_PROXY_FIN);
    } else if (!try_again(errno)) {
        flow->holed = flow->holed || rig_proxy_link_drops(connection->links[from]);
        end_by_reset(loop, connection, from);
    }
}

static void write_to(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int to, int64_t now_ns)
{
    struct rig_proxy_flow *flow = &connection->flows[1 - to];
    const unsigned char *bytes = NULL;
    size_t size = 0;
    flow->blocked = false;
    while ((size = rig_proxy_flow_due(flow, now_ns, &bytes)) > 0) {
        ssize_t sent = send(connection->ends[to].fd, bytes, size, MSG_NOSIGNAL);
        if (sent > 0) {
            rig_proxy_flow_take(flow, (size_t)sent);
            continue;
        }
        flow->blocked = sent < 0 && try_again(errno);
        if (!flow->blocked)
            end_by_reset(loop, connection, to);
        return;
    }
}

static void hand_end_through(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from)
{
    struct rig_proxy_flow *flow = &connection->flows[from];
    flow->ended = true;
    if (flow->end == RIG_PROXY_RST)
        close_both(loop, connection, true);
    else if (connection->ends[1 - from].fd >= 0)
        (void)shutdown(connection->ends[1 - from].fd, SHUT_WR);
}

/* A flow with lost bytes sends its receiver nothing while the link drops, and resets both sides after that. */
static void pass(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int from, int64_t now_ns)
{
    struct rig_proxy_flow *flow = &connection->flows[from];
    const struct rig_proxy_link *link = connection->links[from];
    if (connection->state != RIG_PROXY_PASSING || is_cut(link))
        return;
    if (flow->holed) {
        close_both(loop, connection, true);
        return;
    }
    if (connection->ends[1 - from].fd >= 0)
        write_to(loop, connection, 1 - from, now_ns);
    if (connection->state == RIG_PROXY_PASSING && rig_proxy_flow_end_due(flow, now_ns))
        hand_end_through(loop, connection, from);
}

/* -- progress ------------------------------------------------------------------------------------------------------ */

static void watch_end(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int end)
{
    uint32_t events = 0;
    if (rig_proxy_flow_wants(&connection->flows[end]))
        events |= EPOLLIN;
    if (connection->flows[1 - end].blocked && !is_cut(connection->links[1 - end]))
        events |= EPOLLOUT;
    watch(loop, &connection->ends[end], events);
}

/* A half-open survivor is watched for its bytes; otherwise both ends for the needs of their flows. */
static void watch_ends(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    if (connection->state == RIG_PROXY_CONNECTING)
        watch(loop, &connection->ends[RIG_PROXY_OPENER], 0);
    if (connection->state == RIG_PROXY_CONNECTING)
        watch(loop, &connection->ends[RIG_PROXY_TARGET], EPOLLOUT);
    for (int end = 0; end < 2 && connection->state == RIG_PROXY_PASSING; end++) {
        if (connection->half_open != 0)
            watch(loop, &connection->ends[end], EPOLLIN);
        else
            watch_end(loop, connection, end);
    }
}

static void close_when_ended(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    if (connection->state == RIG_PROXY_PASSING && connection->half_open == 0 && connection->flows[0].ended &&
        connection->flows[1].ended)
        close_both(loop, connection, false);
}

int64_t rig_proxy_connection_move(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int64_t now_ns)
{
    if (connection->state == RIG_PROXY_WAITING)
        wait_for_links(loop, connection);
    int64_t next_ns = INT64_MAX;
    /* The first direction once more: writing the second may have shown that the opener is gone. */
    for (int step = 0; step < 3 && connection->half_open == 0; step++)
        pass(loop, connection, step % 2, now_ns);
    close_when_ended(loop, connection);
    watch_ends(loop, connection);
    for (int from = 0; from < 2 && connection->state == RIG_PROXY_PASSING && connection->half_open == 0; from++) {
        int64_t due_ns = rig_proxy_flow_next_ns(&connection->flows[from]);
        bool waits = due_ns > now_ns && !is_cut(connection->links[from]);
        if (waits && due_ns < next_ns)
            next_ns = due_ns;
    }
    return next_ns;
}

void rig_proxy_connection_event(struct rig_proxy_loop *loop, struct rig_proxy_watch *end, uint32_t events,
                                int64_t now_ns)
{
    struct rig_proxy_connection *connection = end->owner;
    int which = end == &connection->ends[RIG_PROXY_OPENER] ? RIG_PROXY_OPENER : RIG_PROXY_TARGET;
    if (end->fd < 0) /* closed by an event before this one */
        return;
    if (connection->state == RIG_PROXY_WAITING)
        close_both(loop, connection, false);
    else if (connection->state == RIG_PROXY_CONNECTING && which == RIG_PROXY_TARGET)
        finish_connecting(loop, connection);
    else if (connection->state == RIG_PROXY_CONNECTING)
        return; /* an event that was fetched while it waited */
    else if (connection->half_open != 0)
        swallow(loop, connection, which);
    else if ((end->events & EPOLLIN) != 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        read_from(loop, connection, which, now_ns);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

struct rig_proxy_connection *rig_proxy_connection_new(struct rig_proxy_loop *loop, struct rig_proxy_way *way, int fd)
{
    struct rig_proxy_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        (void)close(fd);
        return NULL;
    }
    send_at_once(fd);
    connection->way = way;
    connection->links[0] = way->links[0];
    connection->links[1] = way->links[1];
    connection->ends[RIG_PROXY_OPENER] =
        (struct rig_proxy_watch){.what = RIG_PROXY_WATCH_OPENER, .fd = fd, .owner = connection};
    connection->ends[RIG_PROXY_TARGET] =
        (struct rig_proxy_watch){.what = RIG_PROXY_WATCH_TARGET, .fd = -1, .owner = connection};
    for (int i = 0; i < 2; i++) {
        if (is_cut(connection->links[i])) {
            rig_proxy_link_count_waiting(connection->links[i]);
            break;
        }
    }
    wait_for_links(loop, connection);
    watch_ends(loop, connection);
    return connection;
}

void rig_proxy_connection_free(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    close_both(loop, connection, true);
    rig_proxy_flow_done(&connection->flows[0]);
    rig_proxy_flow_done(&connection->flows[1]);
    free(connection);
}

void rig_proxy_connection_reset(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection)
{
    close_both(loop, connection, true);
}

void rig_proxy_connection_half_open(struct rig_proxy_loop *loop, struct rig_proxy_connection *connection, int closed,
                                    uint32_t token)
{
    RIG_REQUIRE(rig_proxy_connection_is_whole(connection) && token != 0);
    connection->half_open = token;
    rig_proxy_flow_clear(&connection->flows[0]);
    rig_proxy_flow_clear(&connection->flows[1]);
    close_end(loop, &connection->ends[closed], true);
    watch_ends(loop, connection);
}

bool rig_proxy_connection_is_whole(const struct rig_proxy_connection *connection)
{
    return connection->state == RIG_PROXY_PASSING && connection->half_open == 0 &&
           connection->ends[RIG_PROXY_OPENER].fd >= 0 && connection->ends[RIG_PROXY_TARGET].fd >= 0;
}
