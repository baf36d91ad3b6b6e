#include "drivers/postgres/pg_routes.h"

#include <stdio.h>
#include <string.h>

#define LOOPBACK "127.0.0.1"

void rig_pg_routes_init(struct rig_pg_routes *routes)
{
    (void)pthread_mutex_init(&routes->mutex, NULL);
    memset(routes->table, 0, sizeof routes->table);
}

void rig_pg_routes_done(struct rig_pg_routes *routes)
{
    (void)pthread_mutex_destroy(&routes->mutex);
}

static enum rig_rc ask_core(const struct rig_core *core, const char *from, const char *to, struct rig_pg_route *route,
                            uint16_t port, struct rig_err *err)
{
    uint16_t via = port;
    enum rig_rc rc = RIG_OK;
    if (core->routed != NULL && core->routed())
        rc = core->route(from, to, LOOPBACK, port, &via, err);
    if (rc == RIG_OK)
        *route = (struct rig_pg_route){.port = port, .via = via};
    return rc;
}

enum rig_rc rig_pg_routes_find(struct rig_pg_routes *routes, const struct rig_pg_node *from,
                               const struct rig_pg_node *to, struct rig_sql_endpoint *endpoint, struct rig_err *err)
{
    if (!to->site->tcp) {
        rig_pg_node_socket(to, endpoint);
        return RIG_OK;
    }
    uint16_t port = (uint16_t)atomic_load(&to->port);
    struct rig_pg_route *route = &routes->table[from == NULL ? RIG_NODES_MOST : from->index][to->index];
    enum rig_rc rc = RIG_OK;
    (void)pthread_mutex_lock(&routes->mutex);
    if (route->port != port)
        rc = ask_core(to->site->local.env->core, from == NULL ? "client" : from->local.name, to->local.name, route,
                      port, err);
    uint16_t via = route->via;
    (void)pthread_mutex_unlock(&routes->mutex);
    if (rc != RIG_OK)
        return rc;
    *endpoint = (struct rig_sql_endpoint){LOOPBACK, {0}};
    (void)snprintf(endpoint->port, sizeof endpoint->port, "%u", (unsigned)via);
    return RIG_OK;
}
