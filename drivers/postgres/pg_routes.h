/*
 * The routes to each node: through rig's own proxy, where the plan has faults of the network.
 *
 * A route is requested before a client or a node connects, and again when the node listens on another port.
 *
 * Threads: any.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_ROUTES_H
#define RIG_DRIVERS_POSTGRES_PG_ROUTES_H

#include <pthread.h>

#include "drivers/postgres/pg_node.h"

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

#endif
