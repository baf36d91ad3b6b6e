/*
 * A server of HTTP on one address, by the module rig-web.so.
 */
#ifndef RIG_JOBS_SERVE_WEB_SERVER_H
#define RIG_JOBS_SERVE_WEB_SERVER_H

#include "base/err.h"
#include "jobs/serve/web_module.h"

struct rig_web_server {
    const struct rig_web_module *module;
    int listener;      /* -1: none, or the daemon has it */
    void *daemon;      /* NULL: it does not answer yet */
    bool is_loopback;  /* the address is of this machine alone */
    char address[128]; /* "127.0.0.1:8437" or "[::1]:8437" */
};

/*
 * Listens at `address`, a numeric one of IPv4 or IPv6 or `localhost`, and `port` (0: a free one). RIG_E_USAGE: there is
 * no such address, or the port is in use; RIG_E_DRIVER: this rig has no module for HTTP. Stop it in any case.
 */
enum rig_rc rig_web_listen(struct rig_web_server *server, const char *address, unsigned port, struct rig_err *err);
/* Begins to answer. `context` lives until the server is stopped. RIG_E_LIMIT. */
enum rig_rc rig_web_serve(struct rig_web_server *server, rig_web_answer_fn *answer, void *context, struct rig_err *err);
void rig_web_stop(struct rig_web_server *server);

#endif
