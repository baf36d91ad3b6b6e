/*
 * A run over HTTP: the servers, the dialect, and the requests outside transactions (setup, teardown, roles). Shared by
 * every driver that speaks HTTP; each has its own source of the servers' addresses.
 *
 * Threads: the main thread's. rig_http_run_ask() works on a session's own client; the endpoints do not change while
 * sessions are open.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_RUN_H
#define RIG_DRIVERS_HTTP_HTTP_RUN_H

#include <stdatomic.h>

#include "drivers/http/http_answer.h"
#include "drivers/http/http_options.h"
#include "drivers/http/transaction_state.h"

enum { RIG_ENDPOINT_BYTES = 256, RIG_ENDPOINTS_MOST = 64 };

struct rig_http_run {
    const struct rig_run_env *env;
    const struct rig_http_options *options;
    struct rig_dialect *dialect; /* owned */
    char (*endpoints)[RIG_ENDPOINT_BYTES];
    int64_t *names; /* of the endpoints, as core->name() numbers them */
    uint32_t endpoint_count;
    bool own_servers;  /* rig started them, and removes them with all their data */
    bool set_up;       /* the setup was answered with ok: objects with the run's name are the run's */
    uint64_t reminder; /* for the run's data on given servers; 0: none */
    struct rig_wakes wakes;
    atomic_uint *shifts;        /* by client: the number of servers that it has left behind */
    char version[64];           /* of the server, for reports */
    atomic_bool told_version;   /* of HTTP, to the log */
    _Atomic int64_t unknown_ns; /* when a transaction last ended with an unknown outcome; 0: none did */
};

/* Takes the dialect, also when it fails. Safe for rig_http_run_done() in any case. Borrows `env` and `options`. */
enum rig_rc rig_http_run_init(struct rig_http_run *run, const struct rig_run_env *env,
                              const struct rig_http_options *options, struct rig_dialect *dialect, struct rig_err *err);
/* The hook `done` when the run owns nothing else. */
void rig_http_run_done(void *run);
/* Adds a server: the start of its URLs, without a slash behind it. `name`: its name in reports; NULL: the URL's host,
 * port and path. */
enum rig_rc rig_http_run_add_endpoint(struct rig_http_run *run, const char *base, const char *name,
                                      struct rig_err *err);

/* The hook `setup` of every driver on this engine: `run` begins with a struct rig_http_run. */
enum rig_rc rig_http_run_setup(void *run, struct rig_err *err);
/* The same for `teardown`, after a setup that succeeded: otherwise the name may belong to another run. Best effort;
 * logs the objects that remain. */
void rig_http_run_teardown(void *run);

/* One server, and when its answers must be complete. */
struct rig_http_peer {
    struct rig_http_client *client;
    uint32_t endpoint;
    int64_t deadline_ns;
};

/*
 * Sends steps that belong to no transaction to one server. `values`: NULL, or an array for the dialect's variables,
 * with texts in `arena`. RIG_E_CLUSTER unless every step was answered as ok.
 */
enum rig_rc rig_http_run_ask(const struct rig_http_run *run, const struct rig_http_peer *peer,
                             const struct rig_dialect_steps *steps, struct rig_arena *arena, struct rig_value *values,
                             struct rig_err *err);
/* The variable `name` as text among `values`; false when no answer has set it. */
bool rig_http_run_value(const struct rig_http_run *run, const struct rig_value *values, const char *name, char *text,
                        size_t size);

#endif
