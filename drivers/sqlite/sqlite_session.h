/*
 * A client's session: runs transactions and programs on its link to the server.
 *
 * A transaction is one message and one answer. It is sent in parts where the client has to wait or to know in between: at
 * holds, and before an increment of something that it has read. Programs send each statement by itself.
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

/* Functions of struct rig_sql_client. */
enum rig_rc rig_sqlite_session_connect(struct rig_sql_run *run, uint32_t server, bool for_client,
                                       struct rig_sql_waiter *waiter, int64_t deadline_ns,
                                       struct rig_sql_connection *connection, struct rig_err *err);
enum rig_rc rig_sqlite_session_prepare(struct rig_sql_session *session, struct rig_sql_connection *connection,
                                       int64_t deadline_ns, struct rig_err *err);
void rig_sqlite_session_disconnect(struct rig_sql_connection *connection);
enum rig_rc rig_sqlite_session_query(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns,
                                     rig_sql_tell tell, void *context, struct rig_err *err);
void rig_sqlite_session_run(struct rig_sql_turn *turn);
bool rig_sqlite_session_begin(struct rig_sql_turn *turn);
bool rig_sqlite_session_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                                struct rig_row_answer *answer);
void rig_sqlite_session_commit(struct rig_sql_turn *turn);
void rig_sqlite_session_settle(struct rig_sql_turn *turn);

/* The driver's hooks. */
enum rig_outcome rig_sqlite_session_transact(void *session, struct rig_transaction *transaction);
enum rig_outcome rig_sqlite_session_run_program(void *session, struct rig_transaction *transaction,
                                                struct rig_row_program *program);

struct rig_sqlite_link *rig_sqlite_link_of(struct rig_sql_connection *connection);
/* The time limit of a connection of the run's own. */
struct rig_sqlite_patience rig_sqlite_own_patience(const struct rig_sql_own *own);

#endif
