/*
 * The servers of a plan, kept while other rigs run against them: started and stopped as those of a run, by a thread of
 * their own (a task of run/load/run.h).
 *
 * Threads: one caller; the thread has the driver.
 */
#ifndef RIG_CLI_KEPT_SERVERS_H
#define RIG_CLI_KEPT_SERVERS_H

#include <stdatomic.h>

#include "cli/plan_dimensions.h"

struct rig_cli_kept_servers;

/* Whether rig starts servers for the plan, and the driver lets other rigs use them. */
bool rig_cli_kept_servers_wanted(const struct rig_plan *plan);
/* Starts them, without the plan's faults, and waits until they answer. Takes the plan, also on failure.
 * RIG_E_INTERRUPTED when `interrupts` rises meanwhile; else the errors of rig_run(). */
enum rig_rc rig_cli_kept_servers_start(struct rig_plan *plan, const atomic_int *interrupts,
                                       struct rig_cli_kept_servers **servers, struct rig_err *err);
/* The settings with which a run uses them: the rig_cluster_ops.access() of their driver. Borrowed. */
const struct rig_text_list *rig_cli_kept_servers_access(const struct rig_cli_kept_servers *servers);
/* Whether each of them answers now. */
bool rig_cli_kept_servers_answer(struct rig_cli_kept_servers *servers);
/* Stops them and waits for that. Takes NULL. */
void rig_cli_kept_servers_end(struct rig_cli_kept_servers *servers);

#endif
