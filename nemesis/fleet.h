/*
 * The nodes of a run, as faults see them: those of a cluster that rig started, reached through the driver's hooks, or
 * those of a cluster that the user runs, reached by the commands that the plan gives (`nemesis.nodes`).
 *
 * Nodes are numbered from 0: by the driver for its own, otherwise in the order of the plan. The driver may know roles
 * and health of a user's cluster; its node and a node of the plan with the same name are then one.
 *
 * Threads: rig_fleet_status() from any; the others from the nemesis's, one call at a time.
 */
#ifndef RIG_NEMESIS_FLEET_H
#define RIG_NEMESIS_FLEET_H

#include "drivers/driver.h"
#include "nemesis/nemesis_options.h"
#include "nemesis/placeholder.h"

struct rig_fleet {
    /* The caller fills in these. */
    const struct rig_cluster_ops *cluster; /* NULL: none */
    void *run;
    const char *run_name; /* on the servers; NULL: none */
    bool started;         /* rig started the nodes */
    const struct rig_nemesis_plan *plan;
    bool (*stopping)(void);
    /* rig_fleet_init() fills in these. */
    char names[RIG_NODES_MOST][RIG_NODE_NAME_BYTES];
    uint32_t count;
    struct rig_node_address planned[RIG_NODES_MOST]; /* for nodes that rig did not start; empty: unknown */
};

/* Looks at the nodes of the cluster, which is up. RIG_E_CLUSTER when there are too many, when a target of the plan is a
 * role and there is no source for the nodes' roles, and when a command has a placeholder without a value for its
 * node. */
enum rig_rc rig_fleet_init(struct rig_fleet *fleet, struct rig_err *err);

/* Never fails: a node without an answer is not reachable. */
void rig_fleet_status(struct rig_fleet *fleet, uint32_t node, struct rig_node_status *status);
/* RIG_OK for a node that is already down. */
enum rig_rc rig_fleet_stop_node(struct rig_fleet *fleet, uint32_t node, enum rig_node_end how, struct rig_err *err);
/* A user's node counts as started when its `check`, if given, succeeds within the plan's `recover`. */
enum rig_rc rig_fleet_start_node(struct rig_fleet *fleet, uint32_t node, struct rig_err *err);
enum rig_rc rig_fleet_promote(struct rig_fleet *fleet, uint32_t node, struct rig_err *err);
/* Starts every node and restores the roles, where that is possible. */
enum rig_rc rig_fleet_restore(struct rig_fleet *fleet, struct rig_err *err);
/* Waits until every node is healthy, `timeout_ns` at most; unknown health counts as healthy. */
enum rig_rc rig_fleet_await_health(struct rig_fleet *fleet, int64_t timeout_ns, struct rig_err *err);

/* The target of an entry, as the plan writes it. */
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
/* Whether `role` is one of the roles that `wanted` names: primary, leader and master are synonyms, as are standby,
 * follower, replica and secondary. */
bool rig_fleet_role_is(const char *role, const char *wanted);

#endif
