/*
 * Power loss on a disk that lied: everything that a node wrote since a moment is gone.
 *
 * At that moment the node's processes are stopped, its data folder is copied, and they go on: milliseconds for the
 * clusters that rig starts, which are small. The copy is what a crash at that moment would have left. Losing the power
 * kills the node, puts the copy in the place of its data, and starts it: the state of a disk whose cache said "durable"
 * and kept nothing. It is one of the states that such a disk may leave, the one that a database can recover from; disks
 * that lose some of what they promised and keep the rest break databases in ways that say nothing about isolation.
 *
 * Takes no privileges, no mount and no file system of a certain kind; room for the data once more.
 */
#ifndef RIG_NEMESIS_POWER_H
#define RIG_NEMESIS_POWER_H

#include "nemesis/fault_context.h"

enum { RIG_POWER_PATH_BYTES = 1024 };

/* Zeroed: no moment was marked. */
struct rig_power {
    char data[RIG_POWER_PATH_BYTES]; /* the data folder */
    char kept[RIG_POWER_PATH_BYTES]; /* its copy; empty: none */
    bool down;                       /* the node was killed and is to be started */
};

/* Marks the moment; calls `meanwhile` while the processes are stopped. RIG_E_CLUSTER, RIG_E_LIMIT (above 1 GiB). */
enum rig_rc rig_power_mark(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                           void (*meanwhile)(void *context), void *context, struct rig_err *err);
/* The node loses what it wrote since, and is started. Idempotent, and goes on where an earlier call failed. */
enum rig_rc rig_power_lose(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                           struct rig_err *err);

#endif
