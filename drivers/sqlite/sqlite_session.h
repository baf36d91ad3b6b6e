/*
 * A client's session: runs transactions and programs on its link to the server.
 *
 * A transaction is one message and one answer. It is sent in parts where the client has to wait or to know in between:
 * at holds, and before an increment of something that it has read. Programs send each statement by itself.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_SESSION_H
#define RIG_DRIVERS_SQLITE_SQLITE_SESSION_H

#include "drivers/sql/sql_session.h"
#include "drivers/sqlite/sqlite_cluster.h"
#include "drivers/sqlite/sqlite_schema.h"

struct rig_sqlite_run {
    struct rig_sql_run sql;
    const struct rig_sqlite_options *options;
    struct rig_sqlite_cluster cluster;
    struct rig_sqlite_schema schema;
    struct rig_buf pragmas; /* of each connection */
};

struct rig_sqlite_connection {
    struct rig_sql_connection sql;
    struct rig_sqlite_link link;
    struct rig_buf sent; /* the operations of the steps of a message, as uint32_t */
};

extern const struct rig_sql_client rig_sqlite_client;

struct rig_sqlite_link *rig_sqlite_link_of(struct rig_sql_connection *connection);
/* The time limit of a connection of the run's own. */
struct rig_sqlite_patience rig_sqlite_own_patience(const struct rig_sql_own *own);

#endif
