/*
 * The configuration of a local server: rig's own settings, the plan's, and the primary of a standby.
 *
 * It is in rig.conf in the data folder, which postgresql.conf includes at its end. It is written before each start and
 * each change of roles, because pg_rewind and base backups copy that of another node.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CONFIGURATION_H
#define RIG_DRIVERS_POSTGRES_PG_CONFIGURATION_H

#include "drivers/postgres/pg_node.h"

/* `primary`: the address of the node's primary when it is a standby; NULL: it is none. */
enum rig_rc rig_pg_configuration_write(const struct rig_pg_node *node, const struct rig_sql_endpoint *primary,
                                       struct rig_err *err);

#endif
