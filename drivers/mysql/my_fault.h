/*
 * The faults that only MariaDB and Galera have, and their common parts. Faults of one kind share a file,
 * my_fault_<kind>.c.
 *
 * They work as root by the nodes' private sockets, which no fault of the network reaches. All of their effects are in a
 * server that ends with rig, so that none needs the undo journal.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_FAULT_H
#define RIG_DRIVERS_MYSQL_MY_FAULT_H

#include "drivers/driver.h"
#include "drivers/local/local_fault.h"
#include "drivers/mysql/my_cluster.h"

#define RIG_MY_FAULT_NS (INT64_C(20) * 1000000000) /* the maximum time of one step of a fault */

/* Ended by NULL. The `run` of their site is a struct rig_my_run. */
extern const struct rig_fault *const rig_my_faults[];

extern const struct rig_fault rig_my_fault_read_lock;
extern const struct rig_fault rig_my_fault_kill_query;
extern const struct rig_fault rig_my_fault_maintenance;
extern const struct rig_fault rig_my_fault_desync;
extern const struct rig_fault rig_my_fault_flow_control;
extern const struct rig_fault rig_my_fault_state_transfer;

struct rig_my_cluster *rig_my_fault_cluster(const struct rig_fault_site *site);
/* The target number `i` of the injection. */
struct rig_my_node *rig_my_fault_node(const struct rig_fault_site *site, uint32_t i);

/*
 * Asks the node until the first value of the answer is `wanted`, or, with NULL, anything but "" and "0". `answer` has the
 * last one. RIG_E_CLUSTER with `missing` when it does not come in RIG_MY_FAULT_NS, or the node does not answer then;
 * RIG_E_INTERRUPTED when the run ends first, unless `always`.
 */
enum rig_rc rig_my_fault_await(const struct rig_my_node *node, const char *sql, const char *wanted, bool always,
                               const char *missing, char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err);

/* Galera's own state of the node: "Synced", "Donor/Desynced", ... */
#define RIG_MY_FAULT_STATE                                                                                             \
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_local_state_comment'"

#endif
