/*
 * A link of the proxy: all that flows from one party to another, whichever of them opened the connection, and the rules
 * that it is under.
 *
 * Rules come in groups, one group an injected fault; a group counts what it did to the bytes of all its links. Rules
 * of several groups on one link add up: delays are summed, of two rates both are kept, one that holds is enough.
 *
 * Private to the proxy. Threads: under the proxy's lock.
 */
#ifndef RIG_NEMESIS_PROXY_LINK_H
#define RIG_NEMESIS_PROXY_LINK_H

#include "base/rng.h"
#include "nemesis/proxy.h"

enum { RIG_PROXY_LINK_RULES_MOST = 8 };

struct rig_proxy_group {
    uint32_t token; /* 0: free */
    struct rig_proxy_counts counts;
};

struct rig_proxy_link_rule {
    struct rig_proxy_rule rule;
    struct rig_proxy_group *group;
    int64_t free_ns; /* throttle: when the link has sent what it was given */
};

struct rig_proxy_link {
    char from[RIG_NODE_NAME_BYTES];
    char to[RIG_NODE_NAME_BYTES];
    struct rig_proxy_link_rule rules[RIG_PROXY_LINK_RULES_MOST];
    uint32_t rule_count;
    struct rig_proxy_link *next;
};

/* What becomes of a chunk. */
struct rig_proxy_fate {
    int64_t due_ns; /* it may be passed on from then; 0: at once */
    bool lost;      /* it vanishes */
    bool resets;    /* its connection is reset */
};

/* RIG_E_LIMIT: the link has as many rules as it may. */
enum rig_rc rig_proxy_link_add(struct rig_proxy_link *link, struct rig_proxy_group *group,
                               const struct rig_proxy_rule *rule, struct rig_err *err);
/* Removes the group's rules; returns whether there were any. */
bool rig_proxy_link_remove(struct rig_proxy_link *link, const struct rig_proxy_group *group);

/* Nothing gets through just now; it waits. */
bool rig_proxy_link_holds(const struct rig_proxy_link *link);
/* Nothing gets through, and it will not wait either. */
bool rig_proxy_link_drops(const struct rig_proxy_link *link);
/* The group of a rule that refuses new connections, or NULL. */
struct rig_proxy_group *rig_proxy_link_refuses(const struct rig_proxy_link *link);
/* Counts a connection that has to wait for the link. */
void rig_proxy_link_count_waiting(struct rig_proxy_link *link);

/* How much to read in one go: a slow link is given small pieces, so that it is not blocked by one for long. */
size_t rig_proxy_link_piece(const struct rig_proxy_link *link, size_t most);
/* Draws and counts what becomes of `size` bytes that were read at `now_ns`. */
struct rig_proxy_fate rig_proxy_link_fate(struct rig_proxy_link *link, struct rig_rng *rng, size_t size,
                                          int64_t now_ns);

#endif
