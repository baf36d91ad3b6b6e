/*
 * The certificate of etcd: all changes of the run's keys by revision, from a watch (docs/certificates.md). It reads while
 * the load runs, so that a compaction does not remove them; what it could not read then is read afterwards.
 *
 * Threads: the main thread's; the watch has one of its own (etcd_live_watch.h).
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H
#define RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H

#include "drivers/etcd/etcd_live_watch.h"
#include "drivers/http/http_run.h"

struct rig_etcd_certificate {
    int64_t revision; /* the last one before the run's */
    struct rig_etcd_live_watch live;
};

/* Before the first session: asks for the revision, and begins the watch. rig_etcd_certificate_done() in any case. */
enum rig_rc rig_etcd_certificate_begin(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       struct rig_err *err);
/*
 * After the last session: marks the end of the load, and hands over all changes before the mark. The mark is written
 * when etcd must have given up every request of the run: `election_ns` is the members' election time-out.
 */
enum rig_rc rig_etcd_certificate_drain(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       int64_t election_ns, const struct rig_certificate_sink *sink,
                                       struct rig_err *err);
/* Ends the watch. Safe for a zeroed object. */
void rig_etcd_certificate_done(struct rig_etcd_certificate *certificate);

#endif
