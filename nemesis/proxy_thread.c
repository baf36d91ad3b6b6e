#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "nemesis/proxy_state.h"

enum { BATCH_EVENTS = 64, BATCH_ACCEPTS = 64 };
/* How long to leave connections in the kernel's queue when there are no descriptors for them. */
static const int64_t accept_pause_ns = 50 * RIG_NS_PER_MS;

void rig_proxy_watch_set(struct rig_proxy *proxy, struct rig_proxy_watch *watch, uint32_t events)
{
    if (watch->events == events)
        return;
    int operation = watch->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    struct epoll_event event = {.events = events, .data = {.ptr = watch}};
    RIG_INVARIANT(epoll_ctl(proxy->loop.epoll_fd, operation, watch->fd, &event) == 0);
    watch->events = events;
}

/* -- accepting ----------------------------------------------------------------------------------------------------- */

static void watch_listeners(struct rig_proxy *proxy, bool on)
{
    for (struct rig_proxy_route *route = proxy->routes; route != NULL; route = route->next)
        rig_proxy_watch_set(proxy, &route->listener, on ? EPOLLIN : 0);
}

static void pause_accepting(struct rig_proxy *proxy, int64_t now_ns)
{
    watch_listeners(proxy, false);
    proxy->accept_again_ns = now_ns + accept_pause_ns;
}

static void refuse(int fd, struct rig_proxy_group *group)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(fd);
    group->counts.connections++;
}

static void take_connection(struct rig_proxy *proxy, struct rig_proxy_route *route, int fd)
{
    struct rig_proxy_group *refuses = rig_proxy_link_refuses(route->way.links[0]);
    if (refuses != NULL) {
        refuse(fd, refuses);
        return;
    }
    struct rig_proxy_connection *connection = rig_proxy_connection_new(&proxy->loop, &route->way, fd);
    if (connection == NULL)
        return;
    connection->next = proxy->connections;
    if (proxy->connections != NULL)
        proxy->connections->previous = connection;
    proxy->connections = connection;
    proxy->connection_count++;
}

static bool is_of_one_connection(int error)
{
    return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

static void accept_some(struct rig_proxy *proxy, struct rig_proxy_route *route, int64_t now_ns)
{
    for (int i = 0; i < BATCH_ACCEPTS; i++) {
        if (proxy->connection_count == RIG_PROXY_CONNECTIONS_MOST) {
            pause_accepting(proxy, now_ns);
            return;
        }
        int fd = accept4(route->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_connection(proxy, route, fd);
        } else if (!is_of_one_connection(errno)) {
            if (errno != EAGAIN)
                pause_accepting(proxy, now_ns);
            return;
        }
    }
}

/* -- time ---------------------------------------------------------------------------------------------------------- */

static void set_timer(struct rig_proxy *proxy, int64_t due_ns)
{
    if (due_ns == proxy->timer_ns)
        return;
    struct itimerspec spec = {0};
    if (due_ns != INT64_MAX) {
        spec.it_value.tv_sec = due_ns / RIG_NS_PER_S;
        spec.it_value.tv_nsec = due_ns % RIG_NS_PER_S;
    }
    RIG_INVARIANT(timerfd_settime(proxy->timer.fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0);
    proxy->timer_ns = due_ns;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Advances every connection that can go on; returns the time of the next due one. */
static int64_t look_at_all(struct rig_proxy *proxy, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    if (proxy->accept_again_ns != 0 && proxy->accept_again_ns <= now_ns) {
        proxy->accept_again_ns = 0;
        watch_listeners(proxy, true);
    }
    if (proxy->accept_again_ns != 0)
        next_ns = proxy->accept_again_ns;
    for (struct rig_proxy_connection *at = proxy->connections; at != NULL; at = at->next)
        next_ns = sooner(next_ns, rig_proxy_connection_move(&proxy->loop, at, now_ns));
    return next_ns;
}

/* -- the loop ------------------------------------------------------------------------------------------------------ */

static void free_over(struct rig_proxy *proxy)
{
    struct rig_proxy_connection *next = NULL;
    for (struct rig_proxy_connection *at = proxy->connections; at != NULL; at = next) {
        next = at->next;
        if (at->state != RIG_PROXY_OVER)
            continue;
        if (at->previous != NULL)
            at->previous->next = next;
        else
            proxy->connections = next;
        if (next != NULL)
            next->previous = at->previous;
        proxy->connection_count--;
        rig_proxy_connection_free(&proxy->loop, at);
    }
}

static void drain(int fd)
{
    uint64_t count = 0;
    (void)!read(fd, &count, sizeof count);
}

/* The findings of a batch of events. */
struct batch {
    int64_t now_ns, next_ns;
    bool look; /* at every connection */
    bool over; /* a connection is */
};

static void handle(struct rig_proxy *proxy, const struct epoll_event *event, struct batch *batch)
{
    struct rig_proxy_watch *watch = event->data.ptr;
    switch (watch->what) {
    case RIG_PROXY_WATCH_WAKE:
        drain(watch->fd);
        if (watch == &proxy->timer)
            proxy->timer_ns = INT64_MAX;
        batch->look = true;
        return;
    case RIG_PROXY_WATCH_LISTENER:
        accept_some(proxy, watch->owner, batch->now_ns);
        if (proxy->accept_again_ns != 0)
            batch->next_ns = sooner(batch->next_ns, proxy->accept_again_ns);
        return;
    case RIG_PROXY_WATCH_OPENER:
    case RIG_PROXY_WATCH_TARGET: {
        struct rig_proxy_connection *connection = watch->owner;
        rig_proxy_connection_event(&proxy->loop, watch, event->events, batch->now_ns);
        batch->next_ns = sooner(batch->next_ns, rig_proxy_connection_move(&proxy->loop, connection, batch->now_ns));
        batch->over = batch->over || connection->state == RIG_PROXY_OVER;
        return;
    }
    }
}

static bool turn(struct rig_proxy *proxy, const struct epoll_event *events, int count)
{
    RIG_INVARIANT(pthread_mutex_lock(&proxy->lock) == 0);
    struct batch batch = {.now_ns = rig_clock_now_ns(), .next_ns = proxy->timer_ns};
    for (int i = 0; i < count; i++)
        handle(proxy, &events[i], &batch);
    if (batch.look)
        batch.next_ns = look_at_all(proxy, batch.now_ns);
    if (batch.look || batch.over)
        free_over(proxy);
    set_timer(proxy, batch.next_ns);
    bool go_on = !proxy->stopping;
    RIG_INVARIANT(pthread_mutex_unlock(&proxy->lock) == 0);
    return go_on;
}

void *rig_proxy_main(void *argument)
{
    struct rig_proxy *proxy = argument;
    struct epoll_event events[BATCH_EVENTS];
    int count = 0;
    do {
        count = epoll_wait(proxy->loop.epoll_fd, events, BATCH_EVENTS, -1);
        RIG_INVARIANT(count >= 0 || errno == EINTR);
    } while (turn(proxy, events, count));
    return NULL;
}
