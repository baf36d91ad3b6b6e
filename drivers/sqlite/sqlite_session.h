/*
 * A client's session: runs transactions and programs on its link to the server.
 *
 * A transaction is one message and one answer. It is sent in parts where the client has to wait or to know in between: at
 * holds, and before an increment of something that it has read. Programs send each statement by itself.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_SESSION_H
#define RIG_DRIVERS_SQLITE_SQLITE_SESSION_H

#include "drivers/sqlite/sqlite_cluster.h"
#include "drivers/sqlite/sqlite_schema.h"

struct rig_sqlite_run {
    const struct rig_run_env *env;
    const struct rig_sqlite_options *options;
    struct rig_sqlite_cluster cluster;
    struct rig_sqlite_schema schema;
    struct rig_buf pragmas; /* of each connection */
    struct rig_wakes wakes;
    char version[32];
};

struct rig_sqlite_session {
    struct rig_sqlite_run *run;
    struct rig_sqlite_link link;
    struct rig_wake wake;
    struct rig_buf sent; /* the operations of the steps of a message, as uint32_t */
    int64_t node;
    int64_t backend;
};

/* The driver's hooks of the same names. */
enum rig_rc rig_sqlite_session_open(void *session, void *run, uint32_t client, struct rig_err *err);
enum rig_outcome rig_sqlite_session_transact(void *session, struct rig_transaction *transaction);
enum rig_outcome rig_sqlite_session_run_program(void *session, struct rig_transaction *transaction,
                                                struct rig_row_program *program);
void rig_sqlite_session_interrupt(void *session);
void rig_sqlite_session_close(void *session, bool last);

/* Opens a link of the run's own, without the run's statements, and gives its time limit. Close it in any case. */
enum rig_rc rig_sqlite_run_open_link(struct rig_sqlite_run *run, struct rig_sqlite_link *link,
                                     struct rig_sqlite_patience *patience, struct rig_err *err);

#endif
