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
#ifndef RIG_NEMESIS_FAULT_SETUP_H
#define RIG_NEMESIS_FAULT_SETUP_H

#include "drivers/driver.h"
#include "nemesis/nemesis_options.h"
#include "nemesis/proxy.h"
#include "nemesis/shim_control.h"

struct rig_shims {
    struct rig_shim_control *at[RIG_NODES_MOST]; /* NULL: that node has none */
    uint32_t count;
};

/* Whether the shared object exists; if not, `why` names the places that were searched. The `available` of faults that
 * need it: `options` have no effect. */
bool rig_shims_are_there(const void *options, char *why, size_t size);

/*
 * The parts that a plan's faults need before the cluster starts: the proxy for connections (RIG_NEED_ROUTES), and the
 * shim in the nodes' processes (RIG_NEED_PRELOAD).
 *
 * The proxy is made before the driver's `init`, the shims between that and the cluster's start; both are freed when the
 * cluster is down. Faults find them in struct rig_fault_context.
 */

struct rig_fault_setup {
    struct rig_proxy *proxy; /* NULL: no fault of the plan is one of the network */
    struct rig_shims shims;  /* of no node: no fault of the plan needs them */
};

/* Leaves `setup` safe for rig_fault_setup_done() also when it fails. */
enum rig_rc rig_fault_setup_init(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t seed,
                                 struct rig_err *err);
/* Before the cluster starts: `folder` is the run's, which every account may pass through; `more_needs` are those of
 * others than the plan's faults. RIG_E_CLUSTER, RIG_E_IO. */
enum rig_rc rig_fault_setup_fit(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t more_needs,
                                const struct rig_cluster_ops *cluster, void *run, const char *folder,
                                struct rig_err *err);
/* After the cluster's start, before the load: whether proxy and shims reach all nodes. RIG_E_CLUSTER. */
enum rig_rc rig_fault_setup_check(const struct rig_fault_setup *setup, const struct rig_cluster_ops *cluster, void *run,
                                  struct rig_err *err);
/* The orders of a node's shim; with `files`, those about files apply to files below its data folder. RIG_E_CLUSTER when
 * its processes do not have the shim. */
enum rig_rc rig_fault_setup_shim(const struct rig_fault_site *site, uint32_t node, bool files,
                                 struct rig_shim_control **control, struct rig_err *err);
void rig_fault_setup_done(struct rig_fault_setup *setup);

#endif
