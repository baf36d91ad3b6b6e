#include "drivers/etcd/etcd_admin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/http/http_client.h"

enum { BODY_BYTES = 512, ANSWER_BYTES_MOST = 1 << 20 };

static enum rig_rc send_with(struct rig_http_client *client, const struct rig_etcd_asked *asked, const char *method,
                             const char *path, const char *body, json_t **answer, struct rig_err *err)
{
    static const struct rig_http_header json_header = {"Content-Type", "application/json"};
    char base[64];
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%u", asked->port);
    const struct rig_http_request request = {
        .method = method,
        .base = base,
        .path = path,
        .headers = &json_header,
        .header_count = body == NULL ? 0 : 1,
        .body = body,
        .body_size = body == NULL ? 0 : strlen(body),
        .deadline_ns = asked->core->now_ns() + asked->timeout_ns,
    };
    const struct rig_http_answer *got = rig_http_client_send(client, &request);
    if (got->end != RIG_HTTP_ANSWERED)
        return rig_fail(err, RIG_E_CLUSTER, "%s: %s (%s)", path, got->detail, rig_http_end_names[got->end]);
    json_t *root = json_loadb(rig_buf_text(&got->body), got->body.size, 0, NULL);
    if (got->status == 200 && json_is_object(root)) {
        *answer = root;
        return RIG_OK;
    }
    json_decref(root);
    return rig_fail(err, RIG_E_CLUSTER, "%s: answered with %ld: %.200s", path, got->status, rig_buf_text(&got->body));
}

static enum rig_rc ask(const struct rig_etcd_asked *asked, const char *method, const char *path, const char *body,
                       json_t **answer, struct rig_err *err)
{
    const struct rig_http_options options = {
        .version = RIG_HTTP_VERSION_1,
        .connect_timeout_ns = asked->timeout_ns,
        .request_timeout_ns = asked->timeout_ns,
        .max_answer_bytes = ANSWER_BYTES_MOST,
    };
    struct rig_http_client client;
    enum rig_rc rc = rig_http_client_init(&client, &options, asked->core, NULL, err);
    if (rc == RIG_OK)
        rc = send_with(&client, asked, method, path, body, answer, err);
    rig_http_client_done(&client);
    return rc;
}

enum rig_rc rig_etcd_call(const struct rig_etcd_asked *asked, const char *path, const char *body, json_t **answer,
                          struct rig_err *err)
{
    return ask(asked, "POST", path, body, answer, err);
}

bool rig_etcd_answers(const struct rig_etcd_asked *asked)
{
    json_t *answer = NULL;
    if (ask(asked, "GET", "/version", NULL, &answer, NULL) != RIG_OK)
        return false;
    json_decref(answer);
    return true;
}

uint64_t rig_etcd_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_integer(value))
        return (uint64_t)json_integer_value(value);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : 0;
}

enum rig_rc rig_etcd_say(const struct rig_etcd_asked *asked, struct rig_etcd_said *said, struct rig_err *err)
{
    json_t *answer = NULL;
    const enum rig_rc rc = rig_etcd_call(asked, "/v3/maintenance/status", "{}", &answer, err);
    if (rc != RIG_OK)
        return rc;
    const json_t *header = json_object_get(answer, "header");
    const char *version = json_string_value(json_object_get(answer, "version"));
    *said = (struct rig_etcd_said){
        .member = rig_etcd_number(header, "member_id"),
        .leader = rig_etcd_number(answer, "leader"),
        .revision = (int64_t)rig_etcd_number(header, "revision"),
        .raft_index = (int64_t)rig_etcd_number(answer, "raftIndex"),
        .applied_index = (int64_t)rig_etcd_number(answer, "raftAppliedIndex"),
    };
    (void)snprintf(said->version, sizeof said->version, "%s", version == NULL ? "" : version);
    json_decref(answer);
    return RIG_OK;
}

/* A call with an answer that reports only success. */
static enum rig_rc command(const struct rig_etcd_asked *asked, const char *path, const char *body, struct rig_err *err)
{
    json_t *answer = NULL;
    const enum rig_rc rc = rig_etcd_call(asked, path, body, &answer, err);
    if (rc == RIG_OK)
        json_decref(answer);
    return rc;
}

enum rig_rc rig_etcd_move_leader(const struct rig_etcd_asked *asked, uint64_t to, struct rig_err *err)
{
    char body[BODY_BYTES];
    (void)snprintf(body, sizeof body, "{\"targetID\":\"%" PRIu64 "\"}", to);
    return command(asked, "/v3/maintenance/transfer-leadership", body, err);
}

enum rig_rc rig_etcd_compact(const struct rig_etcd_asked *asked, int64_t revision, struct rig_err *err)
{
    char body[BODY_BYTES];
    (void)snprintf(body, sizeof body, "{\"revision\":\"%" PRId64 "\",\"physical\":true}", revision);
    return command(asked, "/v3/kv/compaction", body, err);
}

enum rig_rc rig_etcd_defragment(const struct rig_etcd_asked *asked, struct rig_err *err)
{
    return command(asked, "/v3/maintenance/defragment", "{}", err);
}

enum rig_rc rig_etcd_remove_member(const struct rig_etcd_asked *asked, uint64_t member, struct rig_err *err)
{
    char body[BODY_BYTES];
    (void)snprintf(body, sizeof body, "{\"ID\":\"%" PRIu64 "\"}", member);
    return command(asked, "/v3/cluster/member/remove", body, err);
}

enum rig_rc rig_etcd_add_member(const struct rig_etcd_asked *asked, const char *peer_url, uint64_t *member,
                                struct rig_err *err)
{
    char body[BODY_BYTES];
    json_t *answer = NULL;
    (void)snprintf(body, sizeof body, "{\"peerURLs\":[\"%s\"]}", peer_url);
    const enum rig_rc rc = rig_etcd_call(asked, "/v3/cluster/member/add", body, &answer, err);
    if (rc != RIG_OK)
        return rc;
    *member = rig_etcd_number(json_object_get(answer, "member"), "ID");
    json_decref(answer);
    return RIG_OK;
}
