/*
 * The common parts of the PostgreSQL-only faults, and their list. Faults of one kind share a file: pg_fault_<kind>.c.
 *
 * They work by SQL through the nodes' private sockets, which no fault of the network reaches, and by signals to server
 * processes of the cluster that rig started. They never strike their own sessions ("rig control"), which never wait for
 * standbys, and give up on a lock or a statement in time.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_FAULT_H
#define RIG_DRIVERS_POSTGRES_PG_FAULT_H

#include "base/process.h"
#include "drivers/driver.h"
#include "drivers/local/local_fault.h"
#include "drivers/postgres/pg_cluster.h"
#include "drivers/postgres/pg_schema.h"

#define RIG_PG_FAULT_NS (INT64_C(20) * 1000000000) /* the maximum time of one step of a fault */

enum { RIG_PG_FAULT_TABLES_MOST = 16 };

/* Ended by NULL. The `run` of their site is a struct rig_pg_run. */
extern const struct rig_fault *const rig_pg_faults[];

extern const struct rig_fault rig_pg_fault_vacuum_full;
extern const struct rig_fault rig_pg_fault_reindex;
extern const struct rig_fault rig_pg_fault_alter;
extern const struct rig_fault rig_pg_fault_checkpoint;
extern const struct rig_fault rig_pg_fault_lock_pressure;
extern const struct rig_fault rig_pg_fault_deadlocks;

/* The target number `i` of the injection. */
struct rig_pg_node *rig_pg_fault_node(const struct rig_fault_site *site, uint32_t i);
/* The current primary. */
struct rig_pg_node *rig_pg_fault_primary(const struct rig_fault_site *site);
/* A session of the fault's own; it outlives inject where its state holds it. */
struct rig_pg_fault_session {
    struct rig_sql_waiter waiter;
    struct rig_pg_connection connection; /* .pg NULL: none */
};

/* Close it in any case. */
enum rig_rc rig_pg_fault_open(const struct rig_pg_node *node, struct rig_pg_fault_session *session,
                              struct rig_err *err);
void rig_pg_fault_close(struct rig_pg_fault_session *session);
/* Runs SQL; `answer` (may be NULL) is the first value, "" for none or a null. Errors name the node. */
enum rig_rc rig_pg_fault_ask(const struct rig_pg_node *node, struct rig_pg_fault_session *session, const char *sql,
                             char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err);

/* The run's tables on the node, at most RIG_PG_FAULT_TABLES_MOST; RIG_E_CLUSTER when there is none. */
struct rig_pg_fault_tables {
    char names[RIG_PG_FAULT_TABLES_MOST][RIG_PG_TABLE_BYTES]; /* as SQL names them */
    uint32_t count;
};
enum rig_rc rig_pg_fault_tables(const struct rig_pg_node *node, struct rig_pg_fault_session *session,
                                struct rig_pg_fault_tables *tables, struct rig_err *err);

#endif
