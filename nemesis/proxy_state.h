/*
 * The proxy's state, shared by its API (proxy.c) and its thread (proxy_thread.c).
 *
 * Threads: all under `lock`. Only the proxy's thread frees connections, and only behind a batch of events, because
 * events that it has fetched refer to them.
 */
#ifndef RIG_NEMESIS_PROXY_STATE_H
#define RIG_NEMESIS_PROXY_STATE_H

#include <pthread.h>

#include "nemesis/proxy_connection.h"

enum { RIG_PROXY_GROUPS_MOST = 64 };

struct rig_proxy_route {
    struct rig_proxy_watch listener;
    uint16_t port; /* of the listener */
    char from[RIG_NODE_NAME_BYTES];
    char to[RIG_NODE_NAME_BYTES];
    struct rig_proxy_way way;
    struct rig_proxy_route *next;
};

struct rig_proxy {
    pthread_t thread;
    pthread_mutex_t lock;
    struct rig_proxy_loop loop;
    struct rig_proxy_watch wake;  /* an eventfd: check everything */
    struct rig_proxy_watch timer; /* a timerfd: something is due */
    int64_t timer_ns;             /* for when it is set; INT64_MAX: it is not */
    int64_t accept_again_ns;      /* listeners are not watched until then; 0: they are */
    bool stopping;
    struct rig_proxy_route *routes;
    struct rig_proxy_link *links;
    struct rig_proxy_group groups[RIG_PROXY_GROUPS_MOST];
    uint32_t next_token;
    struct rig_proxy_connection *connections;
    uint32_t connection_count;
};

/* Watches or unwatches a descriptor of the proxy's own. */
void rig_proxy_watch_set(struct rig_proxy *proxy, struct rig_proxy_watch *watch, uint32_t events);
/* The thread's main function; argument and result: the proxy, NULL. */
void *rig_proxy_main(void *proxy);

#endif
