/*
 * The options of etcd: a cluster that rig starts, or an existing one.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_DRIVER_H
#define RIG_DRIVERS_ETCD_ETCD_DRIVER_H

#include "drivers/http/http_options.h"

enum { RIG_ETCD_MEMBERS_MOST = 5 };

struct rig_etcd_options {
    struct rig_http_options http; /* endpoints: empty when rig starts the cluster */
    const char *dialect;
    int64_t reads; /* index into etcd_reads_names */
    int64_t nodes;
    const char *program;
    const char *run_as;
    struct rig_text_list settings; /* "name=value", as --name=value */
    int64_t heartbeat_ns;
    int64_t election_ns;
    int64_t start_timeout_ns;
    int64_t stop_timeout_ns;
};

#endif
