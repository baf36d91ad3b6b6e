/*
 * The switch between the nodes of a cluster: it finds the node that opens a connection, and forwards the connection
 * through the proxy's route from that node.
 *
 * A node announces one address to all others, but a route of the proxy is for one pair. So each node's announced port
 * is a port of the switch. The kernel has the opener of a connection to it (local_switch.h). A connection that no node
 * opened takes the clients' route to that node, or is closed where there is none.
 *
 * One thread; connections are few (nodes keep them) and their bytes pass through a buffer in each direction. Threads:
 * new and free on one thread.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_SWITCH_H
#define RIG_DRIVERS_LOCAL_LOCAL_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "drivers/driver.h"

struct rig_local_switch;

/* Whether a process of the child listens on this TCP port, of any address. */
bool rig_local_socket_listens(const struct rig_child *child, uint16_t port);

struct rig_local_peer {
    const char *name;
    uint16_t port; /* on which it listens for the others */
};

/* Returns the server of a node. Called on the switch's thread. */
typedef const struct rig_child *rig_local_child_function(void *context, uint32_t node);

struct rig_local_peers {
    const struct rig_local_peer *at;
    uint32_t count;
    rig_local_child_function *child_of;
    void *context;
};

/* Connections from node `from` to `to` go through this port of 127.0.0.1; before the nodes start. `from` == count:
 * those of clients. */
void rig_local_switch_set_route(struct rig_local_switch *made, uint32_t from, uint32_t to, uint16_t via);
/* Listens for the nodes, where the plan has faults of the network and there are several; else `*made` stays as it is.
 * Their ports are in `announced`. Each pair of nodes gets a route of the core's; a node reaches itself directly, as it
 * may use the port that the others use. */
enum rig_rc rig_local_switch_join(const struct rig_core *core, const struct rig_local_peers *peers,
                                  struct rig_local_switch **made, uint16_t announced[static RIG_NODES_MOST],
                                  struct rig_err *err);
/* Ends all connections. Takes NULL. */
void rig_local_switch_free(struct rig_local_switch *made);

#endif
