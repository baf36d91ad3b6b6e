/*
 * The module rig-web.so.
 */
#include "jobs/serve/web_module.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, CONNECTIONS_MOST = 512, IDLE_SECONDS = 30 };

struct server {
    struct MHD_Daemon *daemon;
    rig_web_answer_fn *answer;
    void *context;
};

static const char *parameter(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void add_header(struct MHD_Response *response, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0')
        (void)MHD_add_response_header(response, name, text);
}

/* Takes the file of the answer. */
static struct MHD_Response *make_response(struct rig_web_answer *answer)
{
    if (answer->fd < 0)
        return MHD_create_response_from_buffer(answer->text.size, answer->text.data, MHD_RESPMEM_MUST_COPY);
    struct MHD_Response *response = MHD_create_response_from_fd64(answer->size_bytes, answer->fd);
    if (response == NULL)
        (void)close(answer->fd);
    return response;
}

static enum MHD_Result respond(struct MHD_Connection *connection, struct rig_web_answer *answer)
{
    struct MHD_Response *response = make_response(answer);
    if (response == NULL)
        return MHD_NO;
    add_header(response, "Content-Type", answer->type);
    add_header(response, "Content-Security-Policy", answer->policy);
    add_header(response, "Allow", answer->allow);
    add_header(response, "Location", answer->location);
    add_header(response, "ETag", answer->tag);
    add_header(response, "Cache-Control", answer->is_stored ? "private, no-cache" : "no-store");
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "X-Frame-Options", "DENY");
    add_header(response, "Referrer-Policy", "no-referrer");
    const enum MHD_Result done = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *body, size_t *body_size, void **state)
{
    static char is_known;
    const struct server *server = context;
    const bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    (void)version;
    (void)body;
    /* The first call comes before a body. An answer there closes the connection: a request to change something. */
    if (reads && (*state == NULL || *body_size > 0)) {
        *state = &is_known;
        *body_size = 0;
        return MHD_YES;
    }
    const struct rig_web_request request = {.method = method,
                                            .path = path,
                                            .with = parameter(connection, "with"),
                                            .a = parameter(connection, "a"),
                                            .b = parameter(connection, "b"),
                                            .host = header(connection, "Host"),
                                            .if_none_match = header(connection, "If-None-Match")};
    struct rig_web_answer answer = {.fd = -1};
    rig_buf_init(&answer.text, 0);
    server->answer(server->context, &request, &answer);
    const enum MHD_Result done = respond(connection, &answer);
    rig_buf_done(&answer.text);
    return done;
}

/* The site decodes escapes itself, because it refuses some. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* Errors of clients' connections are theirs. */
static void ignore(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

static void *start(int socket, rig_web_answer_fn *answer, void *context)
{
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        (void)close(socket);
        return NULL;
    }
    server->answer = answer;
    server->context = context;
    /* ITC: a thread with as many connections as it may have does not listen, and would not be woken by the end. */
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, server,
        MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
    if (server->daemon == NULL) {
        (void)close(socket);
        free(server);
        return NULL;
    }
    return server;
}

static void stop(void *daemon)
{
    struct server *server = daemon;
    MHD_stop_daemon(server->daemon);
    free(server);
}

__attribute__((visibility("default"))) const struct rig_web_module rig_web_module = {
    .struct_size = sizeof(struct rig_web_module), .start = start, .stop = stop};
