#include "drivers/etcd/etcd_asking.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "drivers/etcd/etcd_admin.h"

/* The members may elect a leader meanwhile. */
static const int64_t patience_ns = INT64_C(30000000000), pause_ns = 100000000;

static void rest(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000};
    (void)nanosleep(&pause, NULL);
}

enum rig_rc rig_etcd_asking_begin(struct rig_etcd_asking *asking, const struct rig_http_run *run, int64_t request_ns,
                                  const struct rig_wake *wake, struct rig_err *err)
{
    *asking = (struct rig_etcd_asking){.run = run, .options = *run->options};
    asking->options.request_timeout_ns = request_ns;
    return rig_http_client_init(&asking->client, &asking->options, run->env->core, wake, err);
}

void rig_etcd_asking_done(struct rig_etcd_asking *asking)
{
    rig_http_client_done(&asking->client);
}

static const struct rig_http_answer *post(struct rig_etcd_asking *asking, const char *path, const char *body,
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

void rig_etcd_asking_next(struct rig_etcd_asking *asking)
{
    asking->endpoint = (asking->endpoint + 1) % asking->run->endpoint_count;
}

enum rig_rc rig_etcd_ask_revision(struct rig_etcd_asking *asking, const char *path, const char *body, int64_t *revision,
                                  struct rig_err *err)
{
    const struct rig_core *core = asking->run->env->core;
    const int64_t until_ns = core->now_ns() + patience_ns;
    char problem[RIG_ETCD_PROBLEM_BYTES] = "there is no member";
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
        rig_etcd_asking_next(asking);
        rest(pause_ns);
    }
    return rig_fail(err, RIG_E_CLUSTER, "%s", problem);
}

void rig_etcd_add_key(struct rig_buf *body, const struct rig_http_run *run, const char *name, const char *key_rest)
{
    char key[RIG_ETCD_BODY_BYTES];
    const int length = snprintf(key, sizeof key, "%s%s", run->env->run_name, key_rest);
    rig_buf_printf(body, "\"%s\":\"", name);
    rig_base64_add(key, (size_t)length, false, body);
    rig_buf_add_text(body, "\"");
}

void rig_etcd_watch_connect(struct rig_etcd_asking *asking, struct rig_etcd_watch *watch, int64_t deadline_ns,
                            char problem[static RIG_ETCD_PROBLEM_BYTES])
{
    struct rig_buf body;
    rig_buf_init(&body, (size_t)2 * RIG_ETCD_BODY_BYTES);
    rig_buf_add_text(&body, "{\"create_request\":{");
    rig_etcd_add_key(&body, asking->run, "key", "/");
    rig_buf_add_text(&body, ",");
    rig_etcd_add_key(&body, asking->run, "range_end", "0"); /* the character after the slash */
    rig_buf_printf(&body, ",\"start_revision\":\"%" PRId64 "\"}}", watch->revision + 1);
    rig_etcd_watch_resume(watch);
    const struct rig_http_answer *answer = post(asking, "/v3/watch", rig_buf_text(&body), watch, deadline_ns);
    (void)snprintf(problem, RIG_ETCD_PROBLEM_BYTES, "the watch ended after revision %" PRId64 ": %.240s",
                   watch->revision, answer->detail);
    rig_buf_done(&body);
}
