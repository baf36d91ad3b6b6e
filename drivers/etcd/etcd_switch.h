/*
 * The switch between members: it finds the member that opens a connection, and forwards the connection through the
 * proxy's route from that member.
 *
 * A member announces one address to all others, but a route of the proxy is for one pair. So each member's announced
 * port is a port of the switch. A connection to it comes from one of rig's own members; the kernel has the opener: the
 * connecting socket's inode, and the process that holds it (proc(5)). A connection with no identifiable owner is
 * closed.
 *
 * One thread; connections are few (members keep them) and their bytes pass through a buffer in each direction. Threads:
 * new and free on one thread.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_SWITCH_H
#define RIG_DRIVERS_ETCD_ETCD_SWITCH_H

#include <sys/types.h>

#include "drivers/driver.h"
#include "drivers/etcd/etcd_options.h"

struct rig_etcd_switch;

/* Returns the main process of a member; 0: it does not run. Called on the switch's thread. */
typedef pid_t rig_etcd_pid_function(void *context, uint32_t member);

/* Listens for `count` members; their ports are in `announced`. */
enum rig_rc rig_etcd_switch_new(uint32_t count, rig_etcd_pid_function *pid_of, void *context,
                                struct rig_etcd_switch **made, uint16_t *announced, struct rig_err *err);
/* Connections from `from` to `to` go through this port of 127.0.0.1; before the members start. */
void rig_etcd_switch_set_route(struct rig_etcd_switch *made, uint32_t from, uint32_t to, uint16_t via);
/* Ends all connections. Takes NULL. */
void rig_etcd_switch_free(struct rig_etcd_switch *made);

#endif
