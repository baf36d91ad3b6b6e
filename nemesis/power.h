/*
 * Power loss on a disk that lied: all data that a node wrote since a certain moment are gone.
 *
 * At that moment the node's processes are stopped, its data folder is copied, and they are resumed: milliseconds for
 * the clusters that rig starts, which are small. The copy is the state that a crash at that moment would have left.
 * Losing the power kills the node, replaces its data by the copy, and starts it: the state of a disk with a cache that
 * reported "durable" and kept nothing. It is one of the states that such a disk may leave, the one from which a
 * database can recover; disks that lose only a part break databases in ways that are unrelated to isolation.
 *
 * Needs no privileges, no mount and no special file system; only space for a copy of the data.
 */
#ifndef RIG_NEMESIS_POWER_H
#define RIG_NEMESIS_POWER_H

#include "nemesis/fault_context.h"

enum { RIG_POWER_PATH_BYTES = 1024 };

/* Zeroed: no moment was marked. */
struct rig_power {
    char data[RIG_POWER_PATH_BYTES]; /* the data folder */
    char kept[RIG_POWER_PATH_BYTES]; /* its copy; empty: none */
    bool down;                       /* the node was killed and has to be started */
};

/* Marks the moment; calls `meanwhile` while the processes are stopped. RIG_E_CLUSTER, RIG_E_LIMIT (above 1 GiB). */
enum rig_rc rig_power_mark(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                           void (*meanwhile)(void *context), void *context, struct rig_err *err);
/* The node loses all data written since, and is started. Idempotent; continues where an earlier call failed. */
enum rig_rc rig_power_lose(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                           struct rig_err *err);

#endif
