/*
 * Requests of a certificate to the members of etcd, one after the other where one does not answer.
 *
 * Threads: an object is one thread's.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_ASKING_H
#define RIG_DRIVERS_ETCD_ETCD_ASKING_H

#include "drivers/etcd/etcd_watch.h"
#include "drivers/http/http_run.h"

enum { RIG_ETCD_BODY_BYTES = 512, RIG_ETCD_PROBLEM_BYTES = 400 };

struct rig_etcd_asking {
    const struct rig_http_run *run;
    struct rig_http_options options; /* the run's, with more time */
    struct rig_http_client client;
    uint32_t endpoint;
};

/* `request_ns`: the time-out of a request; `wake`: ends it, or NULL. rig_etcd_asking_done() also after a failure. */
enum rig_rc rig_etcd_asking_begin(struct rig_etcd_asking *asking, const struct rig_http_run *run, int64_t request_ns,
                                  const struct rig_wake *wake, struct rig_err *err);
void rig_etcd_asking_done(struct rig_etcd_asking *asking);
/* The next member is asked from now on. */
void rig_etcd_asking_next(struct rig_etcd_asking *asking);
/* Asks one member after the other until one answers with a revision. The request must be one that may run twice. */
enum rig_rc rig_etcd_ask_revision(struct rig_etcd_asking *asking, const char *path, const char *body, int64_t *revision,
                                  struct rig_err *err);
/* Adds `"name":"<run>rest"` to a body, in base64. */
void rig_etcd_add_key(struct rig_buf *body, const struct rig_http_run *run, const char *name, const char *rest);
/* One connection of a watch, which goes on behind watch->revision. `problem`: how it ended. */
void rig_etcd_watch_connect(struct rig_etcd_asking *asking, struct rig_etcd_watch *watch, int64_t deadline_ns,
                            char problem[static RIG_ETCD_PROBLEM_BYTES]);

#endif
