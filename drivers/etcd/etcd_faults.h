/*
 * The faults of etcd clusters only: compact the history, defragment the files, replace a member.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_FAULTS_H
#define RIG_DRIVERS_ETCD_ETCD_FAULTS_H

#include "drivers/fault.h"

/* Ended by NULL. The `run` of their site begins with a struct rig_etcd_run. */
extern const struct rig_fault *const rig_etcd_faults[];

#endif
