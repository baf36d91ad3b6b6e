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
