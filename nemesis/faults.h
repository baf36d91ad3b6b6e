/*
 * The table of faults: those for the nodes of any database, and those that a driver brings for its own
 * (cluster->faults).
 *
 * A fault is one file, nemesis/faults/fault_<name>.c, with one `const struct rig_fault rig_fault_<name>`, and has its
 * row here (drivers/fault.h is the contract).
 */
#ifndef RIG_NEMESIS_FAULTS_H
#define RIG_NEMESIS_FAULTS_H

#include "drivers/driver.h"
#include "nemesis/nemesis_options.h"

/* In the order of `rig list faults`. */
#define RIG_FAULT_TABLE(X)                                                                                             \
    X(kill)                                                                                                            \
    X(pause)                                                                                                           \
    X(restart)                                                                                                         \
    X(promote)                                                                                                         \
    X(partition)                                                                                                       \
    X(delay)                                                                                                           \
    X(loss)                                                                                                            \
    X(throttle)                                                                                                        \
    X(reset)                                                                                                           \
    X(half_open)                                                                                                       \
    X(fsync)                                                                                                           \
    X(power)                                                                                                           \
    X(disk_full)                                                                                                       \
    X(corrupt_files)                                                                                                   \
    X(clock)                                                                                                           \
    X(hold_commit)                                                                                                     \
    X(jitter)                                                                                                          \
    X(stutter)                                                                                                         \
    X(cpu)                                                                                                             \
    X(memory)                                                                                                          \
    X(exec)

#define RIG_FAULT_DECLARE(name) extern const struct rig_fault rig_fault_##name;
RIG_FAULT_TABLE(RIG_FAULT_DECLARE)
#undef RIG_FAULT_DECLARE

/* Generic faults first, then the driver's own; `cluster` may be NULL. `driver_own`: it came with the driver. */
void rig_fault_each(const struct rig_cluster_ops *cluster,
                    void (*visit)(void *context, const struct rig_fault *fault, bool driver_own), void *context);
/* NULL: there is none of this name. */
const struct rig_fault *rig_fault_find(const struct rig_cluster_ops *cluster, const char *name);

/* The cluster's properties on which faults depend. */
struct rig_fault_footing {
    const struct rig_cluster_ops *cluster; /* NULL: none */
    bool started;                          /* rig starts it */
    bool routes;                           /* the driver has RIG_DRIVER_ROUTES */
    uint64_t lacks;                        /* RIG_NEED_... that cluster->lacks() names for the plan's options */
    const struct rig_nemesis_node *nodes;  /* of the plan, for nodes that rig does not start */
    uint32_t node_count;
};

/*
 * Whether this machine and the cluster allow the fault. `footing` NULL: the machine alone. `options`: the fault's own,
 * or NULL. False: `why` names the missing part and the remedy.
 */
bool rig_fault_is_possible(const struct rig_fault *fault, const struct rig_fault_footing *footing, const void *options,
                           char *why, size_t size);

#endif
