/*
 * Roles in a local cluster: the primary, its followers, and how a node becomes a follower again.
 *
 * A node with data that diverged from the primary's is rewound by pg_rewind; where that is not possible, a base backup
 * replaces its data.
 *
 * Threads: one at a time (main, then the nemesis's).
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_REPLICATION_H
#define RIG_DRIVERS_POSTGRES_PG_REPLICATION_H

#include <pthread.h>

#include "drivers/postgres/pg_node.h"

/*
 * The routes to each node: through rig's own proxy, where the plan has faults of the network.
 *
 * A route is requested before a client or a node connects, and again when the node listens on another port.
 *
 * Threads: any.
 */

struct rig_pg_route {
    uint16_t port; /* the node's port at the last request; 0: none */
    uint16_t via;
};

struct rig_pg_routes {
    pthread_mutex_t mutex;
    struct rig_pg_route table[RIG_NODES_MOST + 1][RIG_NODES_MOST]; /* from (last: clients), to */
};

void rig_pg_routes_init(struct rig_pg_routes *routes);
void rig_pg_routes_done(struct rig_pg_routes *routes);
/* The address of `to` for the node `from`, NULL: for a client. */
enum rig_rc rig_pg_routes_find(struct rig_pg_routes *routes, const struct rig_pg_node *from,
                               const struct rig_pg_node *to, struct rig_sql_endpoint *endpoint, struct rig_err *err);

/* The log of a primary: its timeline, and its fork from the previous one. */
struct rig_pg_line {
    int timeline;
    char fork[24]; /* a position, as PostgreSQL writes it */
};

/* Writes the node's configuration for the role of its data, and makes a running node read it. */
enum rig_rc rig_pg_follow(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                          struct rig_err *err);
/* The standby becomes a primary; returns once it takes writes. */
enum rig_rc rig_pg_promote(struct rig_pg_node *node, int64_t timeout_ns, struct rig_pg_line *line, struct rig_err *err);
/* The log that a primary writes. */
enum rig_rc rig_pg_find_line(const struct rig_pg_node *primary, struct rig_pg_line *line, struct rig_err *err);
/*
 * Waits until the standby streams on the line's timeline and shows everything up to `position` of the log; a standby
 * with delayed replay must have received it. A standby that never will, because it is past the fork on the previous
 * timeline, is not awaited.
 */
enum rig_rc rig_pg_await_caught_up(const struct rig_pg_node *node, const char *position, const struct rig_pg_line *line,
                                   int64_t deadline_ns, struct rig_err *err);
/* Whether the node could reach the primary now, by the route on which it follows: a fault of the network may cut it. */
bool rig_pg_has_line(const struct rig_pg_node *node, const struct rig_pg_node *primary, struct rig_pg_routes *routes);
/*
 * Makes the node a standby of `primary` with the primary's data, and starts it. Stops it first if it runs. `anew`: by a
 * base backup in any case.
 */
enum rig_rc rig_pg_rejoin(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                          bool anew, int64_t deadline_ns, struct rig_err *err);

#endif
