/*
 * The thread that sees a server end although rig did not end it.
 *
 * It looks 20 times a second. Each such end goes to core->server_ended() with the log's last lines; where that allows
 * it, the node is started again on its data.
 *
 * Private to drivers/local/.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_WATCH_H
#define RIG_DRIVERS_LOCAL_COMMAND_WATCH_H

#include "drivers/local/command_cluster.h"

enum rig_rc rig_command_watch_start(struct rig_command_cluster *cluster, struct rig_err *err);
/* Joins the thread. Safe where there is none. */
void rig_command_watch_end(struct rig_command_cluster *cluster);
/* Looks at one node, with the lock held. `restart`: start it again where that is allowed. */
void rig_command_watch_look(struct rig_command_cluster *cluster, uint32_t node, bool restart);

#endif
