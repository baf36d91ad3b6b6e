#include "drivers/etcd/etcd_certificate.h"

#include <time.h>

#include "drivers/etcd/etcd_asking.h"
#include "drivers/etcd/etcd_watch.h"

/* A member gives up a request after 5 s and two election time-outs (etcd's ReqTimeout); a second is for the way. */
static const int64_t server_timeout_ns = INT64_C(5000000000), margin_ns = INT64_C(1000000000);
static const int64_t pause_ns = 100000000;
/* A connection of the watch; what it has not shown by then the next one does. */
static const int64_t watch_ns = INT64_C(20000000000);

static void rest(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000};
    (void)nanosleep(&pause, NULL);
}

/* ---- the beginning ---- */

enum rig_rc rig_etcd_certificate_begin(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       struct rig_err *err)
{
    struct rig_etcd_asking asking;
    struct rig_buf body;
    rig_buf_init(&body, RIG_ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{");
    rig_etcd_add_key(&body, run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, "}");
    enum rig_rc rc = rig_etcd_asking_begin(&asking, run, watch_ns, NULL, err);
    if (rc == RIG_OK)
        rc = rig_etcd_ask_revision(&asking, "/v3/kv/range", rig_buf_text(&body), &certificate->revision, err);
    rig_etcd_asking_done(&asking);
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
static enum rig_rc mark_end(struct rig_etcd_asking *asking, struct rig_err *err)
{
    int64_t revision;
    struct rig_buf body;
    rig_buf_init(&body, RIG_ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{");
    rig_etcd_add_key(&body, asking->run, "key", "/" RIG_ETCD_END_OF_LOAD);
    rig_buf_add_text(&body, ",\"value\":\"MQ==\"}");
    const enum rig_rc rc = rig_etcd_ask_revision(asking, "/v3/kv/put", rig_buf_text(&body), &revision, err);
    rig_buf_done(&body);
    return rc;
}

/* Goes on with another member where one ends; two rounds without progress are the end. */
static enum rig_rc watch_all(struct rig_etcd_asking *asking, struct rig_etcd_watch *watch, struct rig_err *err)
{
    char problem[RIG_ETCD_PROBLEM_BYTES] = "";
    for (uint32_t idle = 0; !watch->ended && idle < 2 * asking->run->endpoint_count;) {
        const int64_t before = watch->revision;
        rig_etcd_watch_connect(asking, watch, asking->run->env->core->now_ns() + watch_ns, problem);
        if (watch->err.rc != RIG_OK)
            return rig_fail(err, watch->err.rc, "%s", watch->err.text);
        idle = watch->revision > before ? 0 : idle + 1;
        if (!watch->ended)
            rig_etcd_asking_next(asking);
    }
    return watch->ended ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

enum rig_rc rig_etcd_certificate_drain(struct rig_etcd_certificate *certificate, const struct rig_http_run *run,
                                       int64_t election_ns, const struct rig_certificate_sink *sink,
                                       struct rig_err *err)
{
    struct rig_etcd_asking asking;
    struct rig_etcd_watch watch;
    rig_etcd_watch_init(&watch, sink, run->env->run_name, rig_workload_has_sequences(run->env->workload),
                        certificate->revision);
    enum rig_rc rc = rig_etcd_asking_begin(&asking, run, watch_ns, NULL, err);
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
    rig_etcd_asking_done(&asking);
    rig_etcd_watch_done(&watch);
    return rc;
}
