/*
 * One HTTP request at a time, on libcurl: send it once, read the answer, report its end.
 *
 * A client belongs to one session. It keeps its connections open between requests (one a server, as many as there are
 * servers), and never sends a request twice: libcurl by default sends one again when a kept connection proves dead,
 * which would run a transaction twice; the second attempt is refused here and the request counts as lost. A kept
 * connection on which something can be read before the request is sent is replaced by a new one: its bytes cannot
 * answer this request. (Bytes that libcurl has already decrypted from TLS cannot be seen.) Redirects are not followed.
 *
 * Bounds: every request by its own time-out and by the deadline given; an answer by the maximum of bytes in the
 * options. interrupt: from any thread, does not block; the current request returns at once as RIG_HTTP_INTERRUPTED, and
 * every later one as well.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_CLIENT_H
#define RIG_DRIVERS_HTTP_HTTP_CLIENT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/thread.h"
#include "drivers/driver.h"
#include "drivers/http/http_options.h"

/* X(name, name in dialects, the event). In the order of the dialects' choices. */
#define RIG_HTTP_END_TABLE(X)                                                                                          \
    X(RIG_HTTP_ANSWERED, "answered", "a complete answer was read")                                                     \
    X(RIG_HTTP_NOT_SENT, "not-sent", "no connection: no byte of the request was sent")                                 \
    X(RIG_HTTP_TIMEOUT, "timeout", "no complete answer in time; the request may have been executed")                   \
    X(RIG_HTTP_LOST, "connection-lost", "the connection broke after the request may have been sent")                   \
    X(RIG_HTTP_INTERRUPTED, "interrupted", "the run is ending; the request may have been executed")                    \
    X(RIG_HTTP_TOO_LARGE, "too-large", "an answer above `max-answer`; the request was executed or refused")            \
    X(RIG_HTTP_MALFORMED, "malformed", "an answer that is not HTTP, not JSON, or not as the dialect requires")

enum rig_http_end {
#define RIG_HTTP_END_ENUM(name, text, help) name,
    RIG_HTTP_END_TABLE(RIG_HTTP_END_ENUM)
#undef RIG_HTTP_END_ENUM
        RIG_HTTP_END_COUNT
};

extern const char *const rig_http_end_names[]; /* NULL-ended */

struct rig_http_header {
    const char *name;
    const char *value;
};

struct rig_http_request {
    const char *method;
    const char *base;                      /* "http://127.0.0.1:2379" */
    const char *path;                      /* from the slash on */
    const struct rig_http_header *headers; /* beside the options' own */
    size_t header_count;
    const char *body; /* NULL: none */
    size_t body_size;
    int64_t deadline_ns; /* on the monotonic clock; its own time-out if that comes first */
    /* Takes the body piece by piece as it arrives, which then is not kept and has no maximum; false ends the request as
     * RIG_HTTP_LOST. NULL: the answer has the body. */
    bool (*take)(void *context, const char *bytes, size_t size);
    void *context;
};

struct rig_http_answer {
    enum rig_http_end end;
    long status;         /* of RIG_HTTP_ANSWERED */
    struct rig_buf body; /* the client's; valid until the next request */
    char detail[240];    /* its end, for a person */
};

enum { RIG_HTTP_CONNECTIONS_KEPT = 32 };

/* A connection that has carried an answer, and may be used again; one of ports 0 is none. */
struct rig_http_kept {
    int local_port, remote_port;
    curl_socket_t socket;
};

struct rig_http_client {
    const struct rig_http_options *options;
    const struct rig_core *core;
    CURL *easy;
    CURLM *multi;
    struct curl_slist *fixed_headers;
    struct rig_buf line;                    /* a header that is being received */
    const struct rig_wake *wake;            /* borrowed; NULL: nothing interrupts it */
    const struct rig_http_request *request; /* while it is sent */
    struct rig_http_answer answer;
    unsigned attempts;  /* connections that were about to carry this request */
    size_t head_bytes;  /* of all heads, also 1xx, and of trailers */
    bool head_is_whole; /* of the answer; a 1xx is none */
    bool stale;         /* the kept connection had something to read before this request was sent */
    bool speaks_http_2; /* some server of this client does */
    struct rig_http_kept kept[RIG_HTTP_CONNECTIONS_KEPT];
    size_t kept_next;
    char problem[CURL_ERROR_SIZE];
};

/* Once a process, before any other thread. */
enum rig_rc rig_http_library_init(struct rig_err *err);

/* All arguments are borrowed. */
enum rig_rc rig_http_client_init(struct rig_http_client *client, const struct rig_http_options *options,
                                 const struct rig_core *core, const struct rig_wake *wake, struct rig_err *err);
/* Safe for a zeroed client. */
void rig_http_client_done(struct rig_http_client *client);

/* Sends the request once. The answer is the client's. */
const struct rig_http_answer *rig_http_client_send(struct rig_http_client *client,
                                                   const struct rig_http_request *request);
/* The answer's header of this name, or NULL; valid until the next request. */
const char *rig_http_client_header(const struct rig_http_client *client, const char *name);
/* "HTTP/1.1": of the last answer; NULL when there is none. A static text. */
const char *rig_http_client_version(const struct rig_http_client *client);

#endif
