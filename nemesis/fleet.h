/*
 * The nodes of a run, as faults see them: those of a cluster that rig started, reached through the driver's hooks, or
 * those of a cluster that the user runs, reached by the commands that the plan gives (`nemesis.nodes`).
 *
 * Nodes are numbered from 0: as the driver does for its own, else in the order of the plan. Of a cluster of the user's
 * the driver may know roles and health; a node of the plan that has its name is then the same.
 *
 * Threads: rig_fleet_status() any; the others the nemesis's, one call at a time.
 */
#ifndef RIG_NEMESIS_FLEET_H
#define RIG_NEMESIS_FLEET_H

#include "drivers/driver.h"
#include "nemesis/nemesis_options.h"
#include "nemesis/placeholder.h"

struct rig_fleet {
    const struct rig_cluster_ops *cluster; /* NULL: none */
    void *run;
    bool started; /* rig started the nodes */
    const struct rig_nemesis_plan *plan;
    bool (*stopping)(void);
    char names[RIG_NODES_MOST][RIG_NODE_NAME_BYTES];
    uint32_t count;
    struct rig_node_address planned[RIG_NODES_MOST]; /* of nodes that rig did not start; empty: unknown */
};

/* Looks at the nodes. The cluster is up. RIG_E_CLUSTER when there are too many, when a target of the plan is a role and
 * nothing tells the nodes' roles, and when a command has a placeholder that its node has no value for. */
enum rig_rc rig_fleet_init(struct rig_fleet *fleet, const struct rig_cluster_ops *cluster, void *run, bool started,
                           const struct rig_nemesis_plan *plan, bool (*stopping)(void), struct rig_err *err);

/* Never fails: what cannot be found out is not reachable. */
void rig_fleet_status(struct rig_fleet *fleet, uint32_t node, struct rig_node_status *status);
/* Of one that is down already: RIG_OK. */
enum rig_rc rig_fleet_stop_node(struct rig_fleet *fleet, uint32_t node, enum rig_node_end how, struct rig_err *err);
/* A node of the user's is started when its `check`, where it is given, succeeds; within the plan's `recover`. */
enum rig_rc rig_fleet_start_node(struct rig_fleet *fleet, uint32_t node, struct rig_err *err);
enum rig_rc rig_fleet_promote(struct rig_fleet *fleet, uint32_t node, struct rig_err *err);
/* Brings every node back and makes the roles right, where there is a way to. */
enum rig_rc rig_fleet_restore(struct rig_fleet *fleet, struct rig_err *err);
/* Waits until every node is healthy, `timeout_ns` at most; what is not known counts as healthy. */
enum rig_rc rig_fleet_await_health(struct rig_fleet *fleet, int64_t timeout_ns, struct rig_err *err);

/* The target of an entry, in the plan's words. */
const char *rig_fleet_target(const struct rig_nemesis_entry *entry);
/* The main process of the node, 0 when rig did not start it or it is down. */
pid_t rig_fleet_main_process(struct rig_fleet *fleet, uint32_t node);
/* The current values of a command's placeholders: port and process may change when a node is started again. */
void rig_fleet_place(const struct rig_fleet *fleet, uint32_t node, struct rig_place *place);
/* The plan's commands for a node that rig did not start; NULL: it did. */
const struct rig_nemesis_node_options *rig_fleet_commands(const struct rig_fleet *fleet, uint32_t node);
/* Runs one of them; RIG_E_CLUSTER when it is not given. `key` is its name in the plan. */
enum rig_rc rig_fleet_command(struct rig_fleet *fleet, uint32_t node, const struct rig_text_list *command,
                              const char *key, struct rig_err *err);
/* Whether `role` is one of those that `wanted` means: primary, leader and master are one, as are standby, follower,
 * replica and secondary. */
bool rig_fleet_role_is(const char *role, const char *wanted);

#endif
