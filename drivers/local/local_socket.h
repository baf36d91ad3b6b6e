/*
 * Sockets and the processes that hold them, as /proc shows them (proc(5)): which server listens on a port, and which one
 * opened a connection.
 *
 * A look reads the kernel's table of TCP sockets and the descriptors of the given processes. Threads: any.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_SOCKET_H
#define RIG_DRIVERS_LOCAL_LOCAL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"

/* The inode of the socket of port `local` that is connected to port `remote`, both on 127.0.0.1; 0: there is none. */
unsigned long rig_local_socket_connected(uint16_t local, uint16_t remote);
/* Whether a process of the child holds the socket of this inode. */
bool rig_local_socket_is_of(unsigned long inode, const struct rig_child *child);
/* Whether a process of the child listens on this TCP port, of any address. */
bool rig_local_socket_listens(const struct rig_child *child, uint16_t port);

#endif
