/*
 * A link of the proxy: all bytes from one party to another, whichever of them opened the connection, and the link's
 * rules.
 *
 * Rules come in groups, one group an injected fault; a group counts its effects on the bytes of all its links. Rules of
 * several groups on one link combine: delays are summed, each rate is a limit, and one rule that holds suffices.
 *
 * Private to the proxy. Threads: under the proxy's lock.
 */
#ifndef RIG_NEMESIS_PROXY_LINK_H
#define RIG_NEMESIS_PROXY_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "nemesis/proxy.h"

/*
 * A flow of the proxy: the bytes of one connection in one direction that were read and not written yet, each with the
 * earliest time to forward it, and the way in which the flow ended.
 *
 * Bounded: RIG_PROXY_FLOW_BYTES in a ring; when it is full nothing is read until bytes were written.
 *
 * Threads: under the proxy's lock.
 */

enum { RIG_PROXY_CHUNKS_MOST = 256 };

enum rig_proxy_end {
    RIG_PROXY_OPEN,
    RIG_PROXY_FIN,
    RIG_PROXY_RST,
};

struct rig_proxy_chunk {
    uint32_t size;
    int64_t due_ns;
};

struct rig_proxy_flow {
    unsigned char *bytes; /* NULL until the first byte */
    size_t first, used;
    struct rig_proxy_chunk chunks[RIG_PROXY_CHUNKS_MOST]; /* ring; due times ascend */
    uint32_t first_chunk, chunk_count;
    enum rig_proxy_end end; /* how the sender ended, behind the last byte */
    int64_t end_due_ns;
    bool ended;   /* the end was forwarded */
    bool holed;   /* bytes were dropped: the receiver cannot go on */
    bool blocked; /* the receiver's buffers are full */
};

void rig_proxy_flow_done(struct rig_proxy_flow *flow);
/* Discards the waiting bytes. */
void rig_proxy_flow_clear(struct rig_proxy_flow *flow);

/* Whether the sender is to be read from. */
bool rig_proxy_flow_wants(const struct rig_proxy_flow *flow);
/* Free space in one piece behind the waiting bytes, at most `most`; 0 with NULL when there is no memory. */
unsigned char *rig_proxy_flow_room(struct rig_proxy_flow *flow, size_t most, size_t *size);
/* `size` bytes were put there, to be forwarded from `due_ns` on, or later behind the bytes before them. */
void rig_proxy_flow_put(struct rig_proxy_flow *flow, size_t size, int64_t due_ns);
/* The sender ended. */
void rig_proxy_flow_put_end(struct rig_proxy_flow *flow, enum rig_proxy_end end);

/* The bytes that may be forwarded at `now_ns`, in one piece; 0: none. */
size_t rig_proxy_flow_due(const struct rig_proxy_flow *flow, int64_t now_ns, const unsigned char **bytes);
void rig_proxy_flow_take(struct rig_proxy_flow *flow, size_t size);
/* Whether all bytes were forwarded, and the end is due and was not forwarded. */
bool rig_proxy_flow_end_due(const struct rig_proxy_flow *flow, int64_t now_ns);
/* The time of the next due bytes, INT64_MAX: nothing waits. */
int64_t rig_proxy_flow_next_ns(const struct rig_proxy_flow *flow);
/* All waiting bytes may be forwarded at once. */
void rig_proxy_flow_hurry(struct rig_proxy_flow *flow);

enum { RIG_PROXY_LINK_RULES_MOST = 8 };

struct rig_proxy_group {
    uint32_t token; /* 0: free */
    struct rig_proxy_counts counts;
};

struct rig_proxy_link_rule {
    struct rig_proxy_rule rule;
    struct rig_proxy_group *group;
    int64_t free_ns; /* throttle: the time at which the link has sent all bytes so far */
};

struct rig_proxy_link {
    char from[RIG_NODE_NAME_BYTES];
    char to[RIG_NODE_NAME_BYTES];
    struct rig_proxy_link_rule rules[RIG_PROXY_LINK_RULES_MOST];
    uint32_t rule_count;
    struct rig_proxy_link *next;
};

/* The effect of the rules on a chunk. */
struct rig_proxy_fate {
    int64_t due_ns; /* it may be forwarded from then on; 0: at once */
    bool lost;      /* it vanishes */
    bool resets;    /* its connection is reset */
};

/* RIG_E_LIMIT: the link has the maximum number of rules. */
enum rig_rc rig_proxy_link_add(struct rig_proxy_link *link, struct rig_proxy_group *group,
                               const struct rig_proxy_rule *rule, struct rig_err *err);
/* Removes the group's rules; returns whether there were any. */
bool rig_proxy_link_remove(struct rig_proxy_link *link, const struct rig_proxy_group *group);

/* Bytes do not pass at the moment; they wait. */
bool rig_proxy_link_holds(const struct rig_proxy_link *link);
/* Bytes do not pass, and do not wait either. */
bool rig_proxy_link_drops(const struct rig_proxy_link *link);
/* The group of a rule that refuses new connections, or NULL. */
struct rig_proxy_group *rig_proxy_link_refuses(const struct rig_proxy_link *link);
/* Counts a connection that has to wait for the link. */
void rig_proxy_link_count_waiting(struct rig_proxy_link *link);

/* How much to read at once: small pieces for a slow link, so that one does not block it for long. */
size_t rig_proxy_link_piece(const struct rig_proxy_link *link, size_t most);
/* Draws and counts the effect on `size` bytes that were read at `now_ns`. */
struct rig_proxy_fate rig_proxy_link_fate(struct rig_proxy_link *link, struct rig_rng *rng, size_t size,
                                          int64_t now_ns);

#endif
