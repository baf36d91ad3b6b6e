/*
 * One node of a cluster that a command starts: its texts, its programs, and waiting until it is ready.
 *
 * Private to drivers/local/.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_LAUNCH_H
#define RIG_DRIVERS_LOCAL_COMMAND_LAUNCH_H

#include "drivers/local/command_cluster.h"

/* Runs the plan's `prepare` over the node's empty folder. */
enum rig_rc rig_command_prepare(struct rig_command_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                struct rig_err *err);
/* Starts the process of a node that is down. */
enum rig_rc rig_command_launch(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err);
/* Waits until it is ready. `always`: also while the run ends. RIG_E_CLUSTER with its log's end. */
enum rig_rc rig_command_await(struct rig_command_cluster *cluster, uint32_t node, bool always, int64_t deadline_ns,
                              struct rig_err *err);
/* Whether it answers now, without its log being asked; by `deadline_ns` of core->now_ns(). */
bool rig_command_answers(struct rig_command_cluster *cluster, uint32_t node, int64_t deadline_ns, struct rig_err *why);
/* Runs a command of the plan for the node; its first line of output goes to `line`, if that is not NULL. */
enum rig_rc rig_command_ask(struct rig_command_cluster *cluster, uint32_t node, const struct rig_text_list *command,
                            int64_t deadline_ns, char *line, size_t size, struct rig_err *err);
/* Copies the file `{log}` into the run's folder, if the server wrote one. */
void rig_command_keep_log(const struct rig_command_cluster *cluster, uint32_t node);
/* The end of its output or, where there is none, of that file. */
void rig_command_log_tail(const struct rig_command_cluster *cluster, uint32_t node,
                          char line[static RIG_LOCAL_TAIL_BYTES]);

#endif
