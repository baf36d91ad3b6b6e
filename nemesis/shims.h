/*
 * The shims of the nodes, as rig sees them: the file of orders of each node, and the environment that its processes
 * need to have the shim in them.
 *
 * Whether a plan's faults need it is known before the cluster starts, and every node is started with it then
 * (cluster->set_environment), so that no fault needs a restart to begin. Without orders it costs a branch a call.
 *
 * rig-shim.so is looked for beside rig, in its library folder, or where RIG_SHIM says; a copy goes into the run's work
 * folder, which every account may reach. Programs that are linked statically, or that the kernel starts with other
 * rights, ignore it: rig_shim_is_attached() tells.
 */
#ifndef RIG_NEMESIS_SHIMS_H
#define RIG_NEMESIS_SHIMS_H

#include "drivers/driver.h"
#include "nemesis/shim_control.h"

struct rig_shims {
    struct rig_shim_control *at[RIG_NODES_MOST]; /* NULL: that node has none */
    uint32_t count;
};

/* Whether the shared object is there; else `why` says where it was looked for. The `available` of faults that need it:
 * `options` do not matter. */
bool rig_shims_are_there(const void *options, char *why, size_t size);

/* Makes files of orders in `folder`, and sets the environment of each node of the cluster. RIG_E_CLUSTER, RIG_E_IO. */
enum rig_rc rig_shims_init(struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                           const char *folder, struct rig_err *err);
void rig_shims_done(struct rig_shims *shims);

/*
 * Once the cluster has started: whether the shim can reach the programs of all nodes. RIG_E_CLUSTER where one runs
 * without it (linked statically), or was made in Go and makes its calls to the kernel itself.
 */
enum rig_rc rig_shims_check(const struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                            struct rig_err *err);

/* The orders of the node whose files are below `data_dir`; RIG_E_CLUSTER when its processes do not have the shim. */
enum rig_rc rig_shim_of(const struct rig_shims *shims, uint32_t node, const char *name, const char *data_dir,
                        struct rig_shim_control **control, struct rig_err *err);

#endif
