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

extern const struct rig_fault rig_my_fault_maintenance;

/* The target number `i` of the injection. */
struct rig_my_node *rig_my_fault_node(const struct rig_fault_site *site, uint32_t i);

#endif
