/*
 * The certificate of etcd: all changes of the run's keys by revision, from a watch that begins after the load
 * (docs/certificates.md). Nothing is kept while the load runs: etcd keeps its history itself, until it is compacted.
 *
 * Threads: the main thread's.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H
#define RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H

#include "drivers/http/http_run.h"

struct rig_etcd_certificate {
    int64_t revision; /* the last one before the run's */
};

/* Before the first session: asks for the revision. */
enum rig_rc rig_etcd_certificate_begin(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       struct rig_err *err);
/*
 * After the last session: marks the end of the load, and hands over all changes before the mark. The mark is written
 * when etcd must have given up every request of the run: `election_ns` is the members' election time-out.
 */
enum rig_rc rig_etcd_certificate_drain(const struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       int64_t election_ns, const struct rig_certificate_sink *sink,
                                       struct rig_err *err);

#endif
