/*
 * A run of the driver etcd: the engine for HTTP, and the cluster if rig starts it.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_RUN_H
#define RIG_DRIVERS_ETCD_ETCD_RUN_H

#include "drivers/etcd/etcd_certificate.h"
#include "drivers/etcd/etcd_cluster.h"
#include "drivers/http/http_run.h"

struct rig_etcd_run {
    struct rig_http_run http; /* first: sessions use it */
    struct rig_etcd_cluster cluster;
    struct rig_etcd_certificate certificate;
};

#endif
