#include "drivers/etcd/etcd_certificate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "drivers/etcd/etcd_admin.h"
#include "drivers/etcd/etcd_watch.h"
#include "base/base64.h"

enum { BODY_BYTES = 512, PROBLEM_BYTES = 400 };

/* A member gives up a request after 5 s and two election time-outs (etcd's ReqTimeout); a second is for the way. */
static const int64_t server_timeout_ns = INT64_C(5000000000), margin_ns = INT64_C(1000000000);
/* The members may elect a leader meanwhile. */
static const int64_t patience_ns = INT64_C(30000000000), pause_ns = 100000000;
/* A connection of the watch; what it has not shown by then the next one does. */
static const int64_t watch_ns = INT64_C(20000000000);

static void rest(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000};
    (void)nanosleep(&pause, NULL);
}

/* ---- requests ---- */

struct asking {
    const struct rig_http_run *run;
    struct rig_http_options options; /* the run's, with more time */
    struct rig_http_client client;
    uint32_t endpoint;
};

static enum rig_rc begin_asking(struct asking *asking, const struct rig_http_run *run, struct rig_err *err)
{
    *asking = (struct asking){.run = run, .options = *run->options};
    asking->options.request_timeout_ns = watch_ns;
    return rig_http_client_init(&asking->client, &asking->options, run->env->core, NULL, err);
}

static const struct rig_http_answer *post(struct asking *asking, const char *path, const char *body,
                                          struct rig_etcd_watch *watch, int64_t deadline_ns)
{
    static const struct rig_http_header json_header = {"Content-Type", "application/json"};
    const struct rig_http_request request = {.method = "POST",
                                             .base = asking->run->endpoints[asking->endpoint],
                                             .path = path,
                                             .headers = &json_header,
                                             .header_count = 1,
                                             .body = body,
                                             .body_size = strlen(body),
                                             .deadline_ns = deadline_ns,
                                             .take = watch == NULL ? NULL : rig_etcd_watch_take,
                                             .context = watch};
    return rig_http_client_send(&asking->client, &request);
}

static void next_endpoint(struct asking *asking)
{
    asking->endpoint = (asking->endpoint + 1) % asking->run->endpoint_count;
}

/* Asks one member after the other until one answers with a revision. The request must be one that may run twice. */
static enum rig_rc ask_revision(struct asking *asking, const char *path, const char *body, int64_t *revision,
                                struct rig_err *err)
{
    const struct rig_core *core = asking->run->env->core;
    const int64_t until_ns = core->now_ns() + patience_ns;
    char problem[PROBLEM_BYTES] = "there is no member";
    while (asking->run->endpoint_count > 0 && core->now_ns() < until_ns && !core->stopping()) {
        const struct rig_http_answer *answer =
            post(asking, path, body, NULL, core->now_ns() + asking->run->options->request_timeout_ns);
        if (answer->end == RIG_HTTP_ANSWERED && answer->status == 200) {
            json_t *root = json_loadb(rig_buf_text(&answer->body), answer->body.size, 0, NULL);
            *revision = (int64_t)rig_etcd_number(json_object_get(root, "header"), "revision");
            json_decref(root);
            if (*revision > 0)
                return RIG_OK;
        }
        (void)snprintf(problem, sizeof problem, "%s: %.300s", path,
                       answer->end == RIG_HTTP_ANSWERED ? rig_buf_text(&answer->body) : answer->detail);
        next_endpoint(asking);
        rest(pause_ns);
    }
    return rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

/* The start of a body with the key `<run>/<rest>`. */
static void open_body(struct rig_buf *body, const struct rig_http_run *run, const char *name, const char *key_rest)
{
    char key[BODY_BYTES];
    const int length = snprintf(key, sizeof key, "%s%s", run->env->run_name, key_rest);
    rig_buf_printf(body, "\"%s\":\"", name);
    rig_base64_add(key, (size_t)length, false, body);
    rig_buf_add_text(body, "\"");
}

/* ---- the beginning ---- */

enum rig_rc rig_etcd_certificate_begin(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       struct rig_err *err)
{
    struct asking asking;
    struct rig_buf body;
    rig_buf_init(&body, BODY_BYTES);
    rig_buf_add_text(&body, "{");
    open_body(&body, run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, "}");
    enum rig_rc rc = begin_asking(&asking, run, err);
    if (rc == RIG_OK)
        rc = ask_revision(&asking, "/v3/kv/range", rig_buf_text(&body), &certificate->revision, err);
    rig_http_client_done(&asking.client);
    rig_buf_done(&body);
    return rc;
}

/* ---- draining ---- */

/* Until no member can still propose a request of a client that has given up on it. */
static void wait_for_requests(const struct rig_http_run *run, int64_t election_ns)
{
    const struct rig_core *core = run->env->core;
    const int64_t unknown_ns = atomic_load(&run->unknown_ns);
    const int64_t until_ns = unknown_ns + server_timeout_ns + 2 * election_ns + margin_ns;
    while (unknown_ns > 0 && !core->stopping() && core->now_ns() < until_ns)
        rest(pause_ns);
}

/* A write of the mark; twice does no harm. */
static enum rig_rc mark_end(struct asking *asking, struct rig_err *err)
{
    int64_t revision;
    struct rig_buf body;
    rig_buf_init(&body, BODY_BYTES);
    rig_buf_add_text(&body, "{");
    open_body(&body, asking->run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, ",\"value\":\"MQ==\"}");
    const enum rig_rc rc = ask_revision(asking, "/v3/kv/put", rig_buf_text(&body), &revision, err);
    rig_buf_done(&body);
    return rc;
}

/* One connection of the watch. */
static void watch_once(struct asking *asking, struct rig_etcd_watch *watch, char problem[static PROBLEM_BYTES])
{
    struct rig_buf body;
    rig_buf_init(&body, (size_t)2 * BODY_BYTES);
    rig_buf_add_text(&body, "{\"create_request\":{");
    open_body(&body, asking->run, "key", "/");
    rig_buf_add_text(&body, ",");
    open_body(&body, asking->run, "range_end", "0"); /* the character after the slash */
    rig_buf_printf(&body, ",\"start_revision\":\"%" PRId64 "\"}}", watch->revision + 1);
    rig_etcd_watch_resume(watch);
    const struct rig_http_answer *answer =
        post(asking, "/v3/watch", rig_buf_text(&body), watch, asking->run->env->core->now_ns() + watch_ns);
    (void)snprintf(problem, PROBLEM_BYTES, "the watch ended after revision %" PRId64 ": %.240s", watch->revision,
                   answer->detail);
    rig_buf_done(&body);
}

/* Goes on with another member where one ends; two rounds without progress are the end. */
static enum rig_rc watch_all(struct asking *asking, struct rig_etcd_watch *watch, struct rig_err *err)
{
    char problem[PROBLEM_BYTES] = "";
    for (uint32_t idle = 0; !watch->ended && idle < 2 * asking->run->endpoint_count;) {
        const int64_t before = watch->revision;
        watch_once(asking, watch, problem);
        if (watch->err.rc != RIG_OK)
            return rig_fail(err, watch->err.rc, "%s", watch->err.text);
        idle = watch->revision > before ? 0 : idle + 1;
        if (!watch->ended)
            next_endpoint(asking);
    }
    return watch->ended ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

enum rig_rc rig_etcd_certificate_drain(const struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       int64_t election_ns, const struct rig_certificate_sink *sink,
                                       struct rig_err *err)
{
    struct asking asking;
    struct rig_etcd_watch watch;
    rig_etcd_watch_init(&watch, sink, run->env->run_name, rig_workload_has_sequences(run->env->workload),
                        certificate->revision);
    enum rig_rc rc = begin_asking(&asking, run, err);
    wait_for_requests(run, election_ns);
    if (rc == RIG_OK)
        rc = mark_end(&asking, err);
    if (rc == RIG_OK)
        rc = watch_all(&asking, &watch, err);
    if (rc == RIG_OK)
        sink->end(sink->context, true, "");
    rig_http_client_done(&asking.client);
    rig_etcd_watch_done(&watch);
    return rc;
}
