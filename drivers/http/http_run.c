#include "drivers/http/http_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/command_line.h"
#include "base/plural.h"
#include "drivers/http/http_outcome.h"
#include "drivers/http/http_request.h"

enum rig_rc rig_http_run_init(struct rig_http_run *run, const struct rig_run_env *env,
                              const struct rig_http_options *options, struct rig_dialect *dialect, struct rig_err *err)
{
    *run = (struct rig_http_run){.env = env, .options = options, .dialect = dialect};
    dialect->run_name = env->run_name;
    const uint32_t clients = env->client_count;
    run->endpoints = calloc(RIG_ENDPOINTS_MOST, sizeof *run->endpoints);
    run->names = calloc(RIG_ENDPOINTS_MOST, sizeof *run->names);
    run->shifts = calloc(clients + 1, sizeof *run->shifts);
    if (run->endpoints == NULL || run->names == NULL || run->shifts == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%u client%s", clients, rig_plural(clients));
    const struct rig_tls_options tls = rig_http_options_tls(options);
    enum rig_rc rc = rig_wakes_init(&run->wakes, clients, err);
    if (rc == RIG_OK)
        rc = rig_tls_options_find_files(&tls, err);
    return rc == RIG_OK ? rig_http_library_init(err) : rc;
}

void rig_http_run_done(void *object)
{
    struct rig_http_run *run = object;
    rig_wakes_done(&run->wakes);
    free(run->shifts);
    free(run->names);
    free(run->endpoints);
    rig_dialect_free(run->dialect);
    *run = (struct rig_http_run){0};
}

/* Without scheme, user and password. */
static const char *name_of(const char *base)
{
    const char *host = strstr(base, "://");
    host = host == NULL ? base : host + 3;
    const size_t length = strcspn(host, "/");
    for (size_t i = length; i > 0; i--) {
        if (host[i - 1] == '@')
            return host + i;
    }
    return host;
}

enum rig_rc rig_http_run_add_endpoint(struct rig_http_run *run, const char *base, const char *name, struct rig_err *err)
{
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/')
        length--;
    if (run->endpoint_count == RIG_ENDPOINTS_MOST)
        return rig_fail(err, RIG_E_PLAN, "more than %d servers", (int)RIG_ENDPOINTS_MOST);
    if (length >= RIG_ENDPOINT_BYTES)
        return rig_fail(err, RIG_E_PLAN, "`%.60s...` is longer than %d bytes", base, (int)RIG_ENDPOINT_BYTES - 1);
    char *endpoint = run->endpoints[run->endpoint_count];
    memcpy(endpoint, base, length);
    endpoint[length] = '\0';
    run->names[run->endpoint_count++] = run->env->core->name(name != NULL ? name : name_of(endpoint));
    return RIG_OK;
}

/* -- requests outside transactions --------------------------------------------------------------------------------- */

/* One step; the verdict's ruling decides. */
static enum rig_rc ask_step(const struct rig_http_run *run, const struct rig_http_peer *peer,
                            struct rig_request_maker *maker, const struct rig_dialect_step *step,
                            struct rig_transaction_state *state, struct rig_err *err)
{
    const struct rig_render_scope scope = {.dialect = run->dialect, .state = state};
    const char *base = run->endpoints[peer->endpoint];
    if (!rig_render_holds(&step->when, &scope))
        return RIG_OK;
    const char *refused = rig_request_make(maker, step, &scope);
    if (refused != NULL)
        return rig_fail(err, RIG_E_DRIVER, "dialect %s, %s: %s", run->dialect->name, step->name, refused);
    maker->request.base = base;
    maker->request.deadline_ns = peer->deadline_ns;
    const struct rig_http_answer *answer = rig_http_client_send(peer->client, &maker->request);
    if (answer->end != RIG_HTTP_ANSWERED)
        return rig_fail(err, RIG_E_CLUSTER, "%s %.80s: %s (%s)", step->method, maker->request.path, answer->detail,
                        rig_http_end_names[answer->end]);
    json_t *root =
        json_loadb(rig_buf_text(&answer->body), answer->body.size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    struct rig_http_ruling verdict;
    char problem[RIG_PROBLEM_BYTES] = "";
    const struct rig_answer_source source = {.client = peer->client, .status = answer->status, .root = root};
    rig_outcome_find(run->dialect, step, true, answer->end, answer, root, &verdict);
    enum rig_rc rc = RIG_OK;
    if (verdict.ruling != RIG_RULING_OK)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: `%s` of the dialect %s was answered with %s: %.200s", base, step->name,
                      run->dialect->name, verdict.code, rig_buf_text(&answer->body));
    else if (step->answer_is_json &&
             rig_answer_take(&step->answer, &source, RIG_SET_ONCE, 0, state, problem) != RIG_ANSWER_TAKEN)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: the answer to `%s` does not match the dialect %s: %s", base, step->name,
                      run->dialect->name, problem);
    json_decref(root);
    return rc;
}

enum rig_rc rig_http_run_ask(const struct rig_http_run *run, const struct rig_http_peer *peer,
                             const struct rig_dialect_steps *steps, struct rig_arena *arena, struct rig_value *values,
                             struct rig_err *err)
{
    struct rig_transaction none = {0};
    struct rig_transaction_state state;
    struct rig_request_maker maker;
    enum rig_rc rc = RIG_OK;
    RIG_REQUIRE(peer->endpoint < run->endpoint_count);
    if (!rig_state_begin(&state, run->env->core, arena, &none))
        return rig_no_memory(err, "a request");
    rig_request_maker_init(&maker);
    for (uint32_t i = 0; rc == RIG_OK && i < steps->count; i++)
        rc = ask_step(run, peer, &maker, &steps->at[i], &state, err);
    rig_request_maker_done(&maker);
    if (rc == RIG_OK && values != NULL)
        memcpy(values, state.variables, sizeof state.variables);
    return rc;
}

bool rig_http_run_value(const struct rig_http_run *run, const struct rig_value *values, const char *name, char *text,
                        size_t size)
{
    for (uint32_t i = 0; i < run->dialect->variable_count; i++) {
        if (strcmp(run->dialect->variables[i], name) != 0 || values[i].kind == RIG_IS_NOTHING)
            continue;
        if (values[i].kind == RIG_IS_INTEGER)
            (void)snprintf(text, size, "%lld", (long long)values[i].integer);
        else
            (void)snprintf(text, size, "%.*s", (int)values[i].size, values[i].text);
        return true;
    }
    return false;
}

/* -- setup and teardown -------------------------------------------------------------------------------------------- */

static void raise_to_least(int64_t *timeout_ns)
{
    static const int64_t least_ns = INT64_C(10000000000);
    if (*timeout_ns < least_ns)
        *timeout_ns = least_ns;
}

/* As rig_http_run_ask(), with a client of its own. The time limits of transactions may be so short that a busy machine
 * exceeds them. */
static enum rig_rc ask_once(const struct rig_http_run *run, const struct rig_dialect_steps *steps, uint32_t endpoint,
                            struct rig_arena *arena, struct rig_value *values, struct rig_err *err)
{
    struct rig_http_client client;
    struct rig_http_options options = *run->options;
    const struct rig_core *core = run->env->core;
    raise_to_least(&options.request_timeout_ns);
    raise_to_least(&options.transaction_timeout_ns);
    enum rig_rc rc = rig_http_client_init(&client, &options, core, NULL, err);
    if (rc == RIG_OK) {
        const struct rig_http_peer peer = {&client, endpoint, core->now_ns() + options.transaction_timeout_ns};
        rc = rig_http_run_ask(run, &peer, steps, arena, values, err);
    }
    rig_http_client_done(&client);
    return rc;
}

/* The first server that accepts all steps is enough. */
static enum rig_rc ask_first(const struct rig_http_run *run, const struct rig_dialect_steps *steps,
                             struct rig_arena *arena, struct rig_value *values, struct rig_err *err)
{
    struct rig_err last = {0};
    for (uint32_t i = 0; i < run->endpoint_count; i++) {
        last = (struct rig_err){0};
        if (ask_once(run, steps, i, arena, values, &last) == RIG_OK)
            return RIG_OK;
    }
    return rig_fail(err, last.rc == RIG_OK ? RIG_E_CLUSTER : last.rc, "%s",
                    run->endpoint_count == 0 ? "there is no server" : last.text);
}

/* One request of the teardown, as curl sends it; the plan's user, token and headers are left to the reader. */
static void add_curl(const struct rig_http_request *request, const char *base, struct rig_buf *line)
{
    enum { HEADERS_MOST = 16 };
    char url[1024], headers[HEADERS_MOST][128];
    const char *arguments[2 * HEADERS_MOST + 8] = {"curl", "-X", request->method};
    size_t count = 3;
    for (size_t i = 0; i < request->header_count && i < HEADERS_MOST; i++) {
        (void)snprintf(headers[i], sizeof headers[i], "%s: %s", request->headers[i].name, request->headers[i].value);
        arguments[count++] = "-H";
        arguments[count++] = headers[i];
    }
    if (request->body != NULL) {
        arguments[count++] = "-d";
        arguments[count++] = request->body;
    }
    (void)snprintf(url, sizeof url, "%s%s", base, request->path);
    arguments[count++] = url;
    if (line->size > 0)
        rig_buf_add_text(line, " && ");
    rig_command_line_join(arguments, count, line);
}

/* The teardown as commands of a shell; false when they do not fit, or depend on answers. */
static bool write_remedy(const struct rig_http_run *run, struct rig_buf *line)
{
    const struct rig_dialect_steps *steps = &run->dialect->teardown;
    struct rig_transaction none = {0};
    struct rig_transaction_state state;
    struct rig_request_maker maker;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    rig_request_maker_init(&maker);
    bool written = rig_state_begin(&state, run->env->core, &arena, &none);
    const struct rig_render_scope scope = {.dialect = run->dialect, .state = &state};
    for (uint32_t i = 0; written && i < steps->count; i++) {
        written =
            rig_render_holds(&steps->at[i].when, &scope) && rig_request_make(&maker, &steps->at[i], &scope) == NULL;
        if (written)
            add_curl(&maker.request, run->endpoints[0], line);
    }
    rig_request_maker_done(&maker);
    rig_arena_done(&arena);
    return written && !line->failed && strpbrk(rig_buf_text(line), "$`") == NULL; /* a shell would expand these */
}

/* For the case that rig is killed before the teardown; servers that rig started are removed with it. */
static void remind(struct rig_http_run *run)
{
    enum { REMEDY_BYTES = 640 };
    char text[RIG_ERR_TEXT_BYTES];
    struct rig_buf line;
    if (run->own_servers || run->options->endpoints.count == 0 || run->dialect->teardown.count == 0)
        return;
    rig_buf_init(&line, REMEDY_BYTES);
    if (write_remedy(run, &line))
        (void)snprintf(text, sizeof text, "data of a run remain at %.200s (dialect %.60s): `%s` removes them",
                       run->endpoints[0], run->dialect->name, rig_buf_text(&line));
    else
        (void)snprintf(text, sizeof text, "data of a run remain at %.200s (dialect %.60s): remove everything named %s",
                       run->endpoints[0], run->dialect->name, run->env->run_name);
    rig_buf_done(&line);
    run->reminder = run->env->core->remind(text);
}

enum rig_rc rig_http_run_setup(void *object, struct rig_err *err)
{
    struct rig_http_run *run = object;
    struct rig_arena arena;
    struct rig_value values[RIG_DIALECT_VARIABLES_MOST] = {{0}};
    struct rig_err unimportant = {0};
    rig_arena_init(&arena, 0);
    remind(run);
    const enum rig_rc rc = ask_first(run, &run->dialect->setup, &arena, NULL, err);
    run->set_up = rc == RIG_OK;
    if (rc == RIG_OK && ask_first(run, &run->dialect->describe, &arena, values, &unimportant) == RIG_OK) {
        if (!rig_http_run_value(run, values, "server-version", run->version, sizeof run->version))
            run->version[0] = '\0';
    }
    rig_arena_done(&arena);
    return rc;
}

void rig_http_run_teardown(void *object)
{
    struct rig_http_run *run = object;
    struct rig_arena arena;
    struct rig_err err = {0};
    const char *name = run->env->run_name;
    rig_arena_init(&arena, 0);
    if (!run->set_up)
        run->env->core->log(1, "http", "the setup failed; anything that it created is named %s and remains", name);
    else if (ask_first(run, &run->dialect->teardown, &arena, NULL, &err) != RIG_OK)
        run->env->core->log(0, "http", "the run's data remain, under the name %s: %s", name, err.text);
    if (err.rc == RIG_OK)
        run->env->core->forget(run->reminder);
    rig_arena_done(&arena);
}
