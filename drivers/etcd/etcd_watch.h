/*
 * The answer to a watch of a run's keys: lines of JSON, whose events are commits and versions (docs/certificates.md).
 *
 * A line has all events of each revision that it has. The key `<run>/<number>` is a key of the run; `<run>/end` is the
 * mark that ends the stream. Each key counts its versions from 1, anew after it was removed: a version that does not
 * follow the last one is a gap in the watch.
 *
 * Space: the longest line, 16 bytes a key. Threads: one.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_WATCH_H
#define RIG_DRIVERS_ETCD_ETCD_WATCH_H

#include "base/buf.h"
#include "base/table.h"
#include "drivers/driver.h"

#define RIG_ETCD_END_OF_LOAD "end"

struct rig_etcd_watch {
    const struct rig_certificate_sink *sink;
    const char *run_name;
    bool is_list;              /* values are lists, else numbers */
    int64_t revision;          /* everything up to it was handed over */
    bool ended;                /* the mark was seen */
    struct rig_table versions; /* by key: the number of its last version */
    struct rig_buf line;
    struct rig_buf bytes; /* a decoded key or value */
    int64_t *elements;
    size_t element_capacity;
    /* Is given each line behind which everything was handed over, with its end; NULL: nothing is. */
    enum rig_rc (*keep)(void *context, const char *line, size_t size, struct rig_err *err);
    void *keep_context;
    struct rig_err err; /* the first failure; RIG_OK: none */
};

/* Everything is borrowed. `revision`: the last one before the run's. */
void rig_etcd_watch_init(struct rig_etcd_watch *watch, const struct rig_certificate_sink *sink, const char *run_name,
                         bool is_list, int64_t revision);
void rig_etcd_watch_done(struct rig_etcd_watch *watch);
/* Another connection goes on after `revision`: drops a part of a line. */
void rig_etcd_watch_resume(struct rig_etcd_watch *watch);
/* The next bytes, for rig_http_request.take; false at the end, or with `err` set. */
bool rig_etcd_watch_take(void *watch, const char *bytes, size_t size);

#endif
