/*
 * The certificate of etcd: all changes of the run's keys by revision, from a watch (docs/certificates.md). It reads
 * while the load runs, so that a compaction does not remove them; what it could not read then is read afterwards.
 *
 * Threads: the main thread's; the watch has one of its own.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H
#define RIG_DRIVERS_ETCD_ETCD_CERTIFICATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/thread.h"
#include "drivers/etcd/etcd_watch.h"
#include "drivers/http/http_run.h"

/*
 * A watch of the run's keys while the load runs, so that a compaction does not remove what is not read yet: etcd gives
 * a watch that keeps up each change before it compacts it.
 *
 * One thread reads, from one member after the other where one ends, and keeps the lines in a file of the run's folder.
 * Its end is the mark of the end of the load, a gap (a compaction passed it while it had no connection), or a full
 * file. The caller reads the rest afterwards, as far as etcd still has it.
 *
 * Space: the longest line, 16 bytes a key; the file at most ETCD_SPOOL_MOST bytes, about 400 a version and 11 an
 * element of a list.
 */

struct rig_etcd_live_watch {
    const struct rig_http_run *run; /* borrowed */
    struct rig_etcd_watch watch;    /* the thread's until it was joined */
    struct rig_wake wake;           /* ends its request, within a second */
    FILE *file;
    int64_t file_bytes;
    pthread_t thread;
    bool started;
    atomic_bool stopping, finished;
};

/* Begins behind a revision. RIG_E_DRIVER where there is no file or thread. */
enum rig_rc rig_etcd_live_watch_begin(struct rig_etcd_live_watch *live, const struct rig_http_run *run,
                                      int64_t revision, struct rig_err *err);
/* Waits until the watch has seen the mark, or for `patience_ns`, and ends it. Then gives all lines to `watch`, whose
 * own failure, a line that does not fit, is in watch->err. */
enum rig_rc rig_etcd_live_watch_end(struct rig_etcd_live_watch *live, int64_t patience_ns, struct rig_etcd_watch *watch,
                                    struct rig_err *err);
/* Ends it where nothing is to be read. Safe for a zeroed object, and after the end. */
void rig_etcd_live_watch_done(struct rig_etcd_live_watch *live);

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
