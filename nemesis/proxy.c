#include "nemesis/proxy.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/thread.h"
#include "nemesis/proxy_state.h"

enum { QUEUE_LENGTH = 256, DESCRIPTORS_WANTED = 4 * RIG_PROXY_CONNECTIONS_MOST };
static const int64_t longest_timeout_ns = 60 * RIG_NS_PER_S;

static void lock(struct rig_proxy *proxy)
{
    RIG_INVARIANT(pthread_mutex_lock(&proxy->lock) == 0);
}

static void unlock(struct rig_proxy *proxy)
{
    RIG_INVARIANT(pthread_mutex_unlock(&proxy->lock) == 0);
}

static void wake(struct rig_proxy *proxy)
{
    uint64_t one = 1;
    (void)!write(proxy->wake.fd, &one, sizeof one);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static bool open_descriptors(struct rig_proxy *proxy)
{
    proxy->wake = (struct rig_proxy_watch){.what = RIG_PROXY_WATCH_WAKE, .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    proxy->timer = (struct rig_proxy_watch){.what = RIG_PROXY_WATCH_WAKE,
                                            .fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    proxy->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (proxy->wake.fd < 0 || proxy->timer.fd < 0 || proxy->loop.epoll_fd < 0)
        return false;
    rig_proxy_watch_set(proxy, &proxy->wake, EPOLLIN);
    rig_proxy_watch_set(proxy, &proxy->timer, EPOLLIN);
    return true;
}

static void close_descriptor(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

/* The thread has ended, or never began. */
static void free_proxy(struct rig_proxy *proxy)
{
    while (proxy->connections != NULL) {
        struct rig_proxy_connection *next = proxy->connections->next;
        rig_proxy_connection_free(&proxy->loop, proxy->connections);
        proxy->connections = next;
    }
    while (proxy->routes != NULL) {
        struct rig_proxy_route *next = proxy->routes->next;
        close_descriptor(proxy->routes->listener.fd);
        free(proxy->routes);
        proxy->routes = next;
    }
    while (proxy->links != NULL) {
        struct rig_proxy_link *next = proxy->links->next;
        free(proxy->links);
        proxy->links = next;
    }
    close_descriptor(proxy->wake.fd);
    close_descriptor(proxy->timer.fd);
    close_descriptor(proxy->loop.epoll_fd);
    (void)pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

static int start_thread(struct rig_proxy *proxy)
{
    int error = rig_thread_start(&proxy->thread, rig_proxy_main, proxy);
    return error;
}

/* Each connection needs two descriptors beside the client's own: the usual limit of 1024 is soon reached. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_WANTED)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

enum rig_rc rig_proxy_start(uint64_t seed, struct rig_proxy **proxy, struct rig_err *err)
{
    struct rig_proxy *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the proxy");
    allow_descriptors();
    RIG_INVARIANT(pthread_mutex_init(&made->lock, NULL) == 0);
    rig_rng_init(&made->loop.rng, seed, 0);
    made->timer_ns = INT64_MAX;
    made->next_token = 1;
    int error = open_descriptors(made) ? start_thread(made) : errno;
    if (error != 0) {
        free_proxy(made);
        return rig_fail(err, RIG_E_LIMIT, "the proxy does not start: %s", strerror(error));
    }
    *proxy = made;
    return RIG_OK;
}

void rig_proxy_stop(struct rig_proxy *proxy)
{
    if (proxy == NULL)
        return;
    lock(proxy);
    proxy->stopping = true;
    unlock(proxy);
    wake(proxy);
    RIG_INVARIANT(pthread_join(proxy->thread, NULL) == 0);
    free_proxy(proxy);
}

/* -- routes and links ---------------------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct rig_proxy_link *link_between(struct rig_proxy *proxy, const char *from, const char *to)
{
    for (struct rig_proxy_link *at = proxy->links; at != NULL; at = at->next) {
        if (strcmp(at->from, from) == 0 && strcmp(at->to, to) == 0)
            return at;
    }
    struct rig_proxy_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    (void)snprintf(link->from, sizeof link->from, "%s", from);
    (void)snprintf(link->to, sizeof link->to, "%s", to);
    link->next = proxy->links;
    proxy->links = link;
    return link;
}

static bool is_between(const char *route_from, const char *route_to, const char *from, const char *to)
{
    return (from == NULL || strcmp(route_from, from) == 0) && (to == NULL || strcmp(route_to, to) == 0);
}

static struct rig_proxy_route *find_route(struct rig_proxy *proxy, const char *from, const char *to)
{
    struct rig_proxy_route *at = proxy->routes;
    while (at != NULL && !is_between(at->from, at->to, from, to))
        at = at->next;
    return at;
}

static enum rig_rc look_up(const char *to, const char *host, uint16_t port, struct addrinfo **found,
                           struct rig_err *err)
{
    char service[8];
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int error = getaddrinfo(host, service, &hints, found);
    if (error != 0)
        return rig_fail(err, RIG_E_CLUSTER, "the address of %s, %s port %u, is not found: %s", to, host, (unsigned)port,
                        gai_strerror(error));
    return RIG_OK;
}

static int listen_on_loopback(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, QUEUE_LENGTH) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    int error = errno;
    close_descriptor(fd);
    errno = error;
    return -1;
}

static enum rig_rc new_route(struct rig_proxy *proxy, const char *from, const char *to, struct rig_proxy_route **route,
                             struct rig_err *err)
{
    struct rig_proxy_route *made = calloc(1, sizeof *made);
    struct rig_proxy_link *there = link_between(proxy, from, to), *back = link_between(proxy, to, from);
    if (made == NULL || there == NULL || back == NULL) {
        free(made);
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the route from %s to %s", from, to);
    }
    made->way.links[0] = there;
    made->way.links[1] = back;
    (void)snprintf(made->from, sizeof made->from, "%s", from);
    (void)snprintf(made->to, sizeof made->to, "%s", to);
    made->listener = (struct rig_proxy_watch){
        .what = RIG_PROXY_WATCH_LISTENER, .fd = listen_on_loopback(&made->port), .owner = made};
    if (made->listener.fd < 0) {
        free(made);
        return rig_fail(err, RIG_E_CLUSTER, "the proxy has no port for the route from %s to %s: %s", from, to,
                        strerror(errno));
    }
    made->next = proxy->routes;
    proxy->routes = made;
    rig_proxy_watch_set(proxy, &made->listener, proxy->accept_again_ns == 0 ? EPOLLIN : 0);
    *route = made;
    return RIG_OK;
}

enum rig_rc rig_proxy_route(struct rig_proxy *proxy, const char *from, const char *to, const char *host, uint16_t port,
                            uint16_t *via, struct rig_err *err)
{
    RIG_REQUIRE(strlen(from) < RIG_NODE_NAME_BYTES && strlen(to) < RIG_NODE_NAME_BYTES);
    struct addrinfo *found = NULL;
    enum rig_rc rc = look_up(to, host, port, &found, err);
    if (rc != RIG_OK)
        return rc;
    lock(proxy);
    struct rig_proxy_route *route = find_route(proxy, from, to);
    if (route == NULL)
        rc = new_route(proxy, from, to, &route, err);
    if (rc == RIG_OK) {
        RIG_INVARIANT(found->ai_addrlen <= sizeof route->way.address);
        memcpy(&route->way.address, found->ai_addr, found->ai_addrlen);
        route->way.address_size = found->ai_addrlen;
        *via = route->port;
    }
    unlock(proxy);
    freeaddrinfo(found);
    return rc;
}

uint32_t rig_proxy_route_count(struct rig_proxy *proxy)
{
    uint32_t count = 0;
    lock(proxy);
    for (const struct rig_proxy_route *at = proxy->routes; at != NULL; at = at->next)
        count++;
    unlock(proxy);
    return count;
}

/* Under the lock: the next whole connection of such routes, from `at` on. */
static struct rig_proxy_connection *next_whole(struct rig_proxy_connection *at, const char *from, const char *to)
{
    while (at != NULL &&
           !(rig_proxy_connection_is_whole(at) && is_between(at->links[0]->from, at->links[0]->to, from, to)))
        at = at->next;
    return at;
}

/* -- groups -------------------------------------------------------------------------------------------------------- */

static struct rig_proxy_group *find_group(struct rig_proxy *proxy, uint32_t token)
{
    for (uint32_t i = 0; i < RIG_PROXY_GROUPS_MOST; i++) {
        if (proxy->groups[i].token == token)
            return &proxy->groups[i];
    }
    return NULL;
}

enum rig_rc rig_proxy_group_new(struct rig_proxy *proxy, uint32_t *token, struct rig_err *err)
{
    lock(proxy);
    struct rig_proxy_group *group = find_group(proxy, 0);
    if (group != NULL) {
        *group = (struct rig_proxy_group){.token = proxy->next_token};
        *token = proxy->next_token;
        if (++proxy->next_token == 0)
            proxy->next_token = 1;
    }
    unlock(proxy);
    if (group == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%d faults of the network are already in effect: let fewer of them overlap",
                        RIG_PROXY_GROUPS_MOST);
    return RIG_OK;
}

static void check_rule(const struct rig_proxy_rule *rule)
{
    RIG_REQUIRE(rule->delay_ns >= 0 && rule->jitter_ns >= 0);
    RIG_REQUIRE(rule->kind != RIG_PROXY_THROTTLE || rule->bytes_per_s > 0);
    RIG_REQUIRE(rule->share >= 0 && rule->share <= 1);
    RIG_REQUIRE(rule->timeout_ns >= 0 && rule->timeout_ns <= longest_timeout_ns);
}

enum rig_rc rig_proxy_group_add(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to,
                                const struct rig_proxy_rule *rule, struct rig_err *err)
{
    check_rule(rule);
    enum rig_rc rc = RIG_OK;
    lock(proxy);
    struct rig_proxy_group *group = find_group(proxy, token);
    RIG_REQUIRE(token != 0 && group != NULL);
    struct rig_proxy_link *link = link_between(proxy, from, to);
    if (link == NULL)
        rc = rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "a fault between %s and %s", from, to);
    else
        rc = rig_proxy_link_add(link, group, rule, err);
    unlock(proxy);
    wake(proxy);
    return rc;
}

uint32_t rig_proxy_group_reset(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to)
{
    uint32_t count = 0;
    lock(proxy);
    struct rig_proxy_group *group = find_group(proxy, token);
    RIG_REQUIRE(token != 0 && group != NULL);
    struct rig_proxy_connection *at = next_whole(proxy->connections, from, to);
    for (; at != NULL; at = next_whole(at->next, from, to), count++)
        rig_proxy_connection_reset(&proxy->loop, at);
    group->counts.connections += count;
    unlock(proxy);
    wake(proxy);
    return count;
}

uint32_t rig_proxy_group_half_open(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to,
                                   bool opener)
{
    uint32_t count = 0;
    lock(proxy);
    struct rig_proxy_group *group = find_group(proxy, token);
    RIG_REQUIRE(token != 0 && group != NULL);
    struct rig_proxy_connection *at = next_whole(proxy->connections, from, to);
    for (; at != NULL; at = next_whole(at->next, from, to), count++)
        rig_proxy_connection_half_open(&proxy->loop, at, opener ? RIG_PROXY_OPENER : RIG_PROXY_TARGET, token);
    group->counts.connections += count;
    unlock(proxy);
    return count;
}

struct rig_proxy_counts rig_proxy_group_counts(struct rig_proxy *proxy, uint32_t token)
{
    lock(proxy);
    const struct rig_proxy_group *group = token == 0 ? NULL : find_group(proxy, token);
    struct rig_proxy_counts counts = group == NULL ? (struct rig_proxy_counts){0} : group->counts;
    unlock(proxy);
    return counts;
}

/* Bytes that still wait on links that the group leaves are not delayed by other rules: they may pass. */
static void free_links(struct rig_proxy *proxy, const struct rig_proxy_group *group)
{
    for (struct rig_proxy_link *link = proxy->links; link != NULL; link = link->next) {
        if (!rig_proxy_link_remove(link, group) || link->rule_count > 0)
            continue;
        for (struct rig_proxy_connection *at = proxy->connections; at != NULL; at = at->next) {
            for (int from = 0; from < 2; from++) {
                if (at->links[from] == link)
                    rig_proxy_flow_hurry(&at->flows[from]);
            }
        }
    }
}

struct rig_proxy_counts rig_proxy_group_end(struct rig_proxy *proxy, uint32_t token)
{
    struct rig_proxy_counts counts = {0};
    lock(proxy);
    struct rig_proxy_group *group = token == 0 ? NULL : find_group(proxy, token);
    if (group != NULL) {
        counts = group->counts;
        free_links(proxy, group);
        for (struct rig_proxy_connection *at = proxy->connections; at != NULL; at = at->next) {
            if (at->half_open == token)
                rig_proxy_connection_reset(&proxy->loop, at);
        }
        *group = (struct rig_proxy_group){0};
    }
    unlock(proxy);
    wake(proxy);
    return counts;
}
