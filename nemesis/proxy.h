/*
 * rig's own TCP proxy: every connection between the parties of a run (the clients, the nodes) goes through it when a
 * plan has faults of the network, so that these need no privileges.
 *
 * A route is a pair of parties (from, to). It has a listening port of its own on 127.0.0.1; a connection to it is
 * forwarded to the address of `to`. A link is the flow of bytes from one party to another, whichever of them opened the
 * connection. Rules are put on links, in groups: one group an injected fault.
 *
 * Effects of a rule on the bytes of its link:
 *
 *   hold      delays them until the rule is gone, in order, as TCP retransmits over a cut line. The proxy reads ahead
 *             at most RIG_PROXY_FLOW_BYTES; then the sender's own buffers fill. Ends of connections are delayed too.
 *   drop      discards them. A connection that lost bytes cannot continue: it is reset on both sides when the rule
 *             ends.
 *   delay     delays each chunk (the result of one read) by delay ± jitter; order is kept.
 *   throttle  limits the link, all its connections together, to a number of bytes a second.
 *   loss      loses a chunk with a probability, which TCP shows as a stall: everything after it is delayed by the
 *             retransmission time-out, which doubles with each further loss of the same chunk. (Losses that TCP repairs
 *             by fast retransmission are not visible on this scale.)
 *   reset     resets the connection of each chunk with a probability, on both sides; the chunk does not arrive.
 *   refuse    resets new connections at once.
 *
 * A connection that is opened while a link of its route, in either direction, holds or drops is accepted by the kernel
 * and then waits; the target is connected once both links are free. When the target does not answer, the connection is
 * reset: a refusal behind the proxy shows as a reset before the first byte. The proxy answers TCP's own keep-alive,
 * whatever the rules: only time-outs above TCP notice a cut link.
 *
 * Ends of connections are forwarded as they came: a half-close as a half-close behind the last byte, a reset as a
 * reset.
 *
 * Cost: one thread, epoll; a connection takes 2 x RIG_PROXY_FLOW_BYTES; while bytes wait for their time, the thread
 * checks all connections each time. At most RIG_PROXY_CONNECTIONS_MOST; others wait in the kernel's queue.
 *
 * Threads: every function from any thread; one lock, under which no other lock is taken and no call blocks.
 */
#ifndef RIG_NEMESIS_PROXY_H
#define RIG_NEMESIS_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drivers/fault.h"

enum { RIG_PROXY_FLOW_BYTES = 64 * 1024, RIG_PROXY_CONNECTIONS_MOST = 4096 };

/* The name of all clients as a party. */
#define RIG_PROXY_CLIENT "client"

struct rig_proxy;

enum rig_proxy_kind {
    RIG_PROXY_HOLD,
    RIG_PROXY_DROP,
    RIG_PROXY_DELAY,
    RIG_PROXY_THROTTLE,
    RIG_PROXY_LOSS,
    RIG_PROXY_RESET,
    RIG_PROXY_REFUSE,
};

struct rig_proxy_rule {
    enum rig_proxy_kind kind;
    int64_t delay_ns, jitter_ns; /* delay; never below 0 */
    int64_t bytes_per_s;         /* throttle, > 0 */
    double share;                /* loss, reset: probability for each chunk */
    int64_t timeout_ns;          /* loss: first retransmission time-out, at most 1 minute */
};

/* The counts of a group. */
struct rig_proxy_counts {
    uint64_t bytes;       /* that its rules touched */
    uint64_t chunks;      /* that its rules touched; for loss those that stalled */
    uint64_t connections; /* that had to wait, were refused, reset, or left half open */
};

/* Starts the thread, and raises the process's limit of open files where it may. `seed`: of jitter and loss. */
enum rig_rc rig_proxy_start(uint64_t seed, struct rig_proxy **proxy, struct rig_err *err);
/* Closes every connection and port, joins the thread. Takes NULL. */
void rig_proxy_stop(struct rig_proxy *proxy);

/*
 * The port of the route from `from` to `to`, which listens at `host`:`port`; the same for each call of a pair. A
 * further call forwards new connections to the new address. Looks `host` up, which may block. RIG_E_CLUSTER.
 */
enum rig_rc rig_proxy_route(struct rig_proxy *proxy, const char *from, const char *to, const char *host, uint16_t port,
                            uint16_t *via, struct rig_err *err);
uint32_t rig_proxy_route_count(struct rig_proxy *proxy);

/* A new group of rules, without any; never 0. RIG_E_LIMIT when there are 64 already. */
enum rig_rc rig_proxy_group_new(struct rig_proxy *proxy, uint32_t *token, struct rig_err *err);
/* Puts a rule on the link, which needs no route. */
enum rig_rc rig_proxy_group_add(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to,
                                const struct rig_proxy_rule *rule, struct rig_err *err);
/* Resets, on both sides, every connection from `from` to `to` (NULL: any). Returns how many, and counts them. */
uint32_t rig_proxy_group_reset(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to);
/*
 * Resets every such connection on one side only: that of `from`, when `opener` is true, else that of `to`. The other
 * side is not notified: its bytes are discarded. Returns how many, and counts them.
 */
uint32_t rig_proxy_group_half_open(struct rig_proxy *proxy, uint32_t token, const char *from, const char *to,
                                   bool opener);
struct rig_proxy_counts rig_proxy_group_counts(struct rig_proxy *proxy, uint32_t token);
/* Ends all effects of the group: held bytes pass, survivors of half-open connections are reset. Returns its last
 * counts; zeroes for an unknown token. */
struct rig_proxy_counts rig_proxy_group_end(struct rig_proxy *proxy, uint32_t token);

#endif
