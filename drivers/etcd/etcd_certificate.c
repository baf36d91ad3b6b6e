#include "drivers/etcd/etcd_certificate.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "drivers/etcd/etcd_admin.h"
#include "drivers/etcd/etcd_watch.h"

/*
 * Requests of a certificate to the members of etcd, one after the other where one does not answer.
 *
 * Threads: an object is one thread's.
 */

enum { ETCD_BODY_BYTES = 512, ETCD_PROBLEM_BYTES = 400 };

struct etcd_asking {
    const struct rig_http_run *run;
    struct rig_http_options options; /* the run's, with more time */
    struct rig_http_client client;
    uint32_t endpoint;
};

/* The members may elect a leader meanwhile. */
static const int64_t leader_wait_ns = INT64_C(30000000000);
static const int64_t pause_ns = 100000000;

static void rest(int64_t ns)
{
    rig_clock_sleep_until_ns(rig_clock_now_ns() + ns);
}

/* `request_ns`: the time-out of a request; `wake`: ends it, or NULL. etcd_asking_done() also after a failure. */
static enum rig_rc etcd_asking_begin(struct etcd_asking *asking, const struct rig_http_run *run, int64_t request_ns,
                                     const struct rig_wake *wake, struct rig_err *err)
{
    *asking = (struct etcd_asking){.run = run, .options = *run->options};
    asking->options.request_timeout_ns = request_ns;
    return rig_http_client_init(&asking->client, &asking->options, run->env->core, wake, err);
}

static void etcd_asking_done(struct etcd_asking *asking)
{
    rig_http_client_done(&asking->client);
}

static const struct rig_http_answer *post(struct etcd_asking *asking, const char *path, const char *body,
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

/* The next member is asked from now on. */
static void etcd_asking_next(struct etcd_asking *asking)
{
    asking->endpoint = (asking->endpoint + 1) % asking->run->endpoint_count;
}

/* Asks one member after the other until one answers with a revision. The request must be one that may run twice. */
static enum rig_rc etcd_ask_revision(struct etcd_asking *asking, const char *path, const char *body, int64_t *revision,
                                     struct rig_err *err)
{
    const struct rig_core *core = asking->run->env->core;
    const int64_t until_ns = core->now_ns() + leader_wait_ns;
    char problem[ETCD_PROBLEM_BYTES] = "there is no member";
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
        etcd_asking_next(asking);
        rest(pause_ns);
    }
    return rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

/* Adds `"name":"<run>rest"` to a body, in base64. */
static void etcd_add_key(struct rig_buf *body, const struct rig_http_run *run, const char *name, const char *key_rest)
{
    char key[ETCD_BODY_BYTES];
    const int length = snprintf(key, sizeof key, "%s%s", run->env->run_name, key_rest);
    rig_buf_printf(body, "\"%s\":\"", name);
    rig_base64_add(key, (size_t)length, false, body);
    rig_buf_add_text(body, "\"");
}

/* One connection of a watch, which goes on behind watch->revision. `problem`: how it ended. */
static void etcd_watch_connect(struct etcd_asking *asking, struct rig_etcd_watch *watch, int64_t deadline_ns,
                               char problem[static ETCD_PROBLEM_BYTES])
{
    struct rig_buf body;
    rig_buf_init(&body, (size_t)2 * ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{\"create_request\":{");
    etcd_add_key(&body, asking->run, "key", "/");
    rig_buf_add_text(&body, ",");
    etcd_add_key(&body, asking->run, "range_end", "0"); /* the character after the slash */
    rig_buf_printf(&body, ",\"start_revision\":\"%" PRId64 "\"}}", watch->revision + 1);
    rig_etcd_watch_resume(watch);
    const struct rig_http_answer *answer = post(asking, "/v3/watch", rig_buf_text(&body), watch, deadline_ns);
    (void)snprintf(problem, ETCD_PROBLEM_BYTES, "the watch ended after revision %" PRId64 ": %.240s", watch->revision,
                   answer->detail);
    rig_buf_done(&body);
}

#define ETCD_SPOOL_MOST (INT64_C(2) << 30)

enum { PATH_BYTES = 512, CHUNK_BYTES = 65536 };

static const int64_t poll_ns = 10000000, retry_ns = 100000000, connection_ns = INT64_C(86400000000000);

/* ---- the thread ---- */

static bool count_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    (void)context;
    (void)place;
    (void)id;
    (void)timeline;
    return true;
}

static bool count_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    (void)context;
    (void)key;
    (void)elements;
    (void)count;
    return true;
}

static enum rig_rc keep_line(void *context, const char *line, size_t size, struct rig_err *err)
{
    struct rig_etcd_live_watch *live = context;
    if (live->file_bytes + (int64_t)size >= ETCD_SPOOL_MOST)
        return rig_fail(err, RIG_E_LIMIT, "the changes fill their file of %" PRId64 " MiB", ETCD_SPOOL_MOST >> 20);
    if (fwrite(line, 1, size, live->file) != size || fputc('\n', live->file) == EOF)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be written: %s", strerror(errno));
    live->file_bytes += (int64_t)size + 1;
    return RIG_OK;
}

/* Reads until the mark, a failure or the request to stop. */
static void *read_changes(void *object)
{
    struct rig_etcd_live_watch *live = object;
    const struct rig_core *core = live->run->env->core;
    struct etcd_asking asking;
    char problem[ETCD_PROBLEM_BYTES] = "";
    enum rig_rc rc = etcd_asking_begin(&asking, live->run, connection_ns, &live->wake, &live->watch.err);
    while (rc == RIG_OK && !atomic_load(&live->stopping) && !live->watch.ended && live->watch.err.rc == RIG_OK) {
        etcd_watch_connect(&asking, &live->watch, core->now_ns() + connection_ns, problem);
        if (live->watch.ended || live->watch.err.rc != RIG_OK || atomic_load(&live->stopping))
            break;
        etcd_asking_next(&asking);
        rest(retry_ns);
    }
    if (live->watch.err.rc != RIG_OK)
        core->log(1, "etcd", "the watch during the load ended: %s", live->watch.err.text);
    etcd_asking_done(&asking);
    atomic_store(&live->finished, true);
    return NULL;
}

enum rig_rc rig_etcd_live_watch_begin(struct rig_etcd_live_watch *live, const struct rig_http_run *run,
                                      int64_t revision, struct rig_err *err)
{
    static const struct rig_certificate_sink counts = {.commit = count_commit, .version = count_version};
    char path[PATH_BYTES];
    *live = (struct rig_etcd_live_watch){.run = run};
    (void)snprintf(path, sizeof path, "%s/changes", run->env->work_dir);
    live->file = fopen(path, "w+be");
    if (live->file == NULL)
        return rig_fail(err, RIG_E_DRIVER, "%.300s: %s", path, strerror(errno));
    rig_etcd_watch_init(&live->watch, &counts, run->env->run_name, rig_workload_has_sequences(run->env->workload),
                        revision);
    live->watch.keep = keep_line;
    live->watch.keep_context = live;
    const int failed = rig_thread_start(&live->thread, read_changes, live);
    live->started = failed == 0;
    if (!live->started)
        return rig_fail(err, RIG_E_DRIVER, "the thread of the watch does not start: %s", strerror(failed));
    return RIG_OK;
}

/* ---- the end ---- */

static void join(struct rig_etcd_live_watch *live)
{
    if (!live->started)
        return;
    atomic_store(&live->stopping, true);
    rig_wake_raise(&live->wake);
    (void)pthread_join(live->thread, NULL);
    live->started = false;
}

enum rig_rc rig_etcd_live_watch_end(struct rig_etcd_live_watch *live, int64_t patience_ns, struct rig_etcd_watch *watch,
                                    struct rig_err *err)
{
    const struct rig_core *core = live->run->env->core;
    const int64_t until_ns = core->now_ns() + patience_ns;
    char chunk[CHUNK_BYTES];
    size_t size;
    while (!atomic_load(&live->finished) && core->now_ns() < until_ns && !core->stopping())
        rest(poll_ns);
    join(live);
    if (fflush(live->file) != 0 || fseek(live->file, 0, SEEK_SET) != 0)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be read: %s", strerror(errno));
    while ((size = fread(chunk, 1, sizeof chunk, live->file)) > 0 && rig_etcd_watch_take(watch, chunk, size))
        ;
    if (ferror(live->file) != 0)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be read: %s", strerror(errno));
    return RIG_OK;
}

void rig_etcd_live_watch_done(struct rig_etcd_live_watch *live)
{
    join(live);
    if (live->run == NULL)
        return;
    if (live->file != NULL)
        (void)fclose(live->file);
    rig_etcd_watch_done(&live->watch);
    *live = (struct rig_etcd_live_watch){.run = NULL};
}

/* A member gives up a request after 5 s and two election time-outs (etcd's ReqTimeout); a second is for the way. */
static const int64_t server_timeout_ns = INT64_C(5000000000), margin_ns = INT64_C(1000000000);

/* A connection of the watch; what it has not shown by then the next one does. */
static const int64_t watch_ns = INT64_C(20000000000);

/* ---- the beginning ---- */

enum rig_rc rig_etcd_certificate_begin(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       struct rig_err *err)
{
    struct etcd_asking asking;
    struct rig_buf body;
    rig_buf_init(&body, ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{");
    etcd_add_key(&body, run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, "}");
    enum rig_rc rc = etcd_asking_begin(&asking, run, watch_ns, NULL, err);
    if (rc == RIG_OK)
        rc = etcd_ask_revision(&asking, "/v3/kv/range", rig_buf_text(&body), &certificate->revision, err);
    etcd_asking_done(&asking);
    rig_buf_done(&body);
    return rc == RIG_OK ? rig_etcd_live_watch_begin(&certificate->live, run, certificate->revision, err) : rc;
}

void rig_etcd_certificate_done(struct rig_etcd_certificate *certificate)
{
    rig_etcd_live_watch_done(&certificate->live);
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
static enum rig_rc mark_end(struct etcd_asking *asking, struct rig_err *err)
{
    int64_t revision;
    struct rig_buf body;
    rig_buf_init(&body, ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{");
    etcd_add_key(&body, asking->run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, ",\"value\":\"MQ==\"}");
    const enum rig_rc rc = etcd_ask_revision(asking, "/v3/kv/put", rig_buf_text(&body), &revision, err);
    rig_buf_done(&body);
    return rc;
}

/* Goes on with another member where one ends; two rounds without progress are the end. */
static enum rig_rc watch_all(struct etcd_asking *asking, struct rig_etcd_watch *watch, struct rig_err *err)
{
    char problem[ETCD_PROBLEM_BYTES] = "";
    for (uint32_t idle = 0; !watch->ended && idle < 2 * asking->run->endpoint_count;) {
        const int64_t before = watch->revision;
        etcd_watch_connect(asking, watch, asking->run->env->core->now_ns() + watch_ns, problem);
        if (watch->err.rc != RIG_OK)
            return rig_fail(err, watch->err.rc, "%s", watch->err.text);
        idle = watch->revision > before ? 0 : idle + 1;
        if (!watch->ended)
            etcd_asking_next(asking);
    }
    return watch->ended ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

enum rig_rc rig_etcd_certificate_drain(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       int64_t election_ns, const struct rig_certificate_sink *sink,
                                       struct rig_err *err)
{
    struct etcd_asking asking;
    struct rig_etcd_watch watch;
    rig_etcd_watch_init(&watch, sink, run->env->run_name, rig_workload_has_sequences(run->env->workload),
                        certificate->revision);
    enum rig_rc rc = etcd_asking_begin(&asking, run, watch_ns, NULL, err);
    wait_for_requests(run, election_ns);
    if (rc == RIG_OK)
        rc = mark_end(&asking, err);
    if (rc == RIG_OK)
        rc = rig_etcd_live_watch_end(&certificate->live, watch_ns, &watch, err);
    if (rc == RIG_OK && watch.err.rc != RIG_OK)
        rc = rig_fail(err, watch.err.rc, "%s", watch.err.text);
    if (rc == RIG_OK)
        rc = watch_all(&asking, &watch, err);
    if (rc == RIG_OK)
        sink->end(sink->context, true, "");
    etcd_asking_done(&asking);
    rig_etcd_watch_done(&watch);
    return rc;
}
