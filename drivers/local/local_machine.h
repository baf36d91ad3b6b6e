/*
 * The machine's resources for a cluster that rig starts: programs and free ports.
 *
 * Threads: any.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_MACHINE_H
#define RIG_DRIVERS_LOCAL_LOCAL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/process.h"

/* Whether the folder has all of the programs (`programs`: NULL-ended) and rig may execute them. */
bool rig_local_has_programs(const char *folder, const char *const *programs);
/* Finds the first folder of PATH that has all of them and that the account can reach (NULL: rig's own); relative
 * folders are left out. False: there is none, or its path is longer than `size`. */
bool rig_local_find_programs(const char *const *programs, const struct rig_account *account, char *folder, size_t size);

/*
 * Finds `count` TCP ports that are free on 127.0.0.1 now, and that this process was not given before: it may not have
 * taken those yet. The system does not give them to outgoing connections either, unless
 * net.ipv4.ip_local_port_range is unusual. Another process may take one before the server does: when
 * rig_local_port_was_taken() is true of a failed start, try again with other ports. RIG_E_CLUSTER.
 */
enum rig_rc rig_local_free_ports(uint16_t *ports, size_t count, struct rig_err *err);
/* Whether the text of the error, with the end of a server's log in it, reports an address in use. */
bool rig_local_port_was_taken(const struct rig_err *err);

#endif
