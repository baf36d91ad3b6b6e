/*
 * rig's side of the nodes' shims: the file of orders of each node, and the environment that loads the shim into its
 * processes.
 *
 * The need for it is known before the cluster starts, and every node is then started with it
 * (cluster->set_environment), so that no fault needs a restart to begin. Without orders it costs a branch a call.
 *
 * rig-shim.so is searched beside rig, in its library folder, or at RIG_SHIM; a copy goes into the run's work folder,
 * which every account may reach. Programs that are linked statically, or that the kernel starts with other rights,
 * ignore it: rig_shim_is_attached() reports that.
 */
#ifndef RIG_NEMESIS_SHIMS_H
#define RIG_NEMESIS_SHIMS_H

#include "drivers/driver.h"
#include "nemesis/shim_control.h"

struct rig_shims {
    struct rig_shim_control *at[RIG_NODES_MOST]; /* NULL: that node has none */
    uint32_t count;
};

/* Whether the shared object exists; if not, `why` names the places that were searched. The `available` of faults that
 * need it: `options` have no effect. */
bool rig_shims_are_there(const void *options, char *why, size_t size);

/* Makes files of orders in `folder`, and sets the environment of each node of the cluster. RIG_E_CLUSTER, RIG_E_IO. */
enum rig_rc rig_shims_init(struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                           const char *folder, struct rig_err *err);
void rig_shims_done(struct rig_shims *shims);

/*
 * Once the cluster has started: whether the shim can reach the programs of all nodes. RIG_E_CLUSTER when one runs
 * without it (linked statically), or is written in Go and makes its system calls itself.
 */
enum rig_rc rig_shims_check(const struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                            struct rig_err *err);

/* The orders of the node with files below `data_dir`; RIG_E_CLUSTER when its processes do not have the shim. */
enum rig_rc rig_shim_of(const struct rig_shims *shims, uint32_t node, const char *name, const char *data_dir,
                        struct rig_shim_control **control, struct rig_err *err);

#endif
