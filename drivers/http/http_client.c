#include "drivers/http/http_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"

enum { POLL_MOST_MS = 1000, LINE_BYTES_MOST = 16384, NS_PER_MS = 1000000 };

#define RIG_HTTP_END_NAME(name, text, help) text,
const char *const rig_http_end_names[] = {RIG_HTTP_END_TABLE(RIG_HTTP_END_NAME) NULL};
#undef RIG_HTTP_END_NAME

enum rig_rc rig_http_library_init(struct rig_err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return rig_fail(err, RIG_E_DRIVER, "libcurl cannot be initialised");
    return RIG_OK;
}

/* -- callbacks ----------------------------------------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct rig_http_client *client = context;
    const struct rig_http_request *request = client->request;
    if (request->take != NULL)
        return request->take(request->context, bytes, size * count) ? size * count : 0;
    rig_buf_add(&client->answer.body, bytes, size * count);
    return client->answer.body.failed ? 0 : size * count;
}

/* A head that ends with its connection is no answer: libcurl accepts it, with an empty body. */
static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct rig_http_client *client = context;
    const size_t length = size * count;
    client->head_bytes += length; /* libcurl keeps every line, of any number of heads */
    if (client->head_bytes > (size_t)client->options->max_answer_bytes)
        return 0;
    if (length > 5 && memcmp(line, "HTTP/", 5) == 0)
        client->head_is_whole = false; /* another head follows a 1xx */
    else if (length > 0 && (line[0] == '\r' || line[0] == '\n'))
        client->head_is_whole = true;
    return length;
}

/*
 * Whether something can be read from a kept connection before the request is sent: its end, or bytes without a request,
 * such as a second answer to the previous request, which would be taken for the answer to this one. HTTP/2 names the
 * request that it answers, and may send frames at any time. libcurl gives the ports here, not the socket.
 */
static bool has_unread(const struct rig_http_client *client, int local_port, int remote_port)
{
    long connects = 0;
    if (client->speaks_http_2 || curl_easy_getinfo(client->easy, CURLINFO_NUM_CONNECTS, &connects) != CURLE_OK ||
        connects > 0)
        return false;
    for (size_t i = 0; i < RIG_HTTP_CONNECTIONS_KEPT; i++) {
        const struct rig_http_kept *kept = &client->kept[i];
        if (kept->local_port != local_port || kept->remote_port != remote_port)
            continue;
        struct pollfd wait = {.fd = kept->socket, .events = POLLIN};
        return poll(&wait, 1, 0) > 0;
    }
    return false;
}

/* Before each sending of the request. The second one would be libcurl's own retry: see the header. */
static int before_sending(void *context, char *remote, char *local, int remote_port, int local_port)
{
    struct rig_http_client *client = context;
    (void)remote, (void)local;
    if (client->attempts == 0 && has_unread(client, local_port, remote_port)) {
        client->stale = true;
        return CURL_PREREQFUNC_ABORT;
    }
    return client->attempts++ == 0 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static bool add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer == NULL)
        return false;
    *list = longer;
    return true;
}

/* "Expect:" keeps libcurl from asking before it sends a body. */
static bool add_fixed_headers(struct rig_http_client *client)
{
    bool added = add_header(&client->fixed_headers, "Expect:");
    for (size_t i = 0; i < client->options->headers.count; i++)
        added = added && add_header(&client->fixed_headers, client->options->headers.at[i]);
    return added;
}

static void set_tls(CURL *easy, const struct rig_http_options *options)
{
    const struct rig_tls_options tls = rig_http_options_tls(options);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, rig_tls_verifies(&tls) ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, rig_tls_verifies(&tls) ? 2L : 0L);
    if (tls.ca != NULL)
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, tls.ca);
    if (tls.cert != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.cert);
        (void)curl_easy_setopt(easy, CURLOPT_SSLKEY, tls.key);
    }
}

static void set_login(CURL *easy, const struct rig_http_options *options)
{
    if (options->user != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        (void)curl_easy_setopt(easy, CURLOPT_USERNAME, options->user);
        (void)curl_easy_setopt(easy, CURLOPT_PASSWORD, options->password == NULL ? "" : options->password);
    }
    if (options->token != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        (void)curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, options->token);
    }
}

/*
 * libcurl 7.88 (Debian 12's) cannot use a connection of HTTP/2 without TLS a second time: it sets up the framing once
 * more (fixed in 8.0). There each request has a connection of its own.
 */
static bool reuse_is_broken(const struct rig_http_client *client)
{
    const unsigned version = curl_version_info(CURLVERSION_NOW)->version_num;
    return client->options->version == RIG_HTTP_VERSION_2 && version >= 0x075800 && version < 0x080000;
}

/* The options common to every request. */
static void set_fixed(struct rig_http_client *client)
{
    static const long versions[] = {
        [RIG_HTTP_VERSION_AUTO] = CURL_HTTP_VERSION_2TLS,
        [RIG_HTTP_VERSION_1] = CURL_HTTP_VERSION_1_1,
        [RIG_HTTP_VERSION_2] = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
    };
    CURL *easy = client->easy;
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Otherwise libcurl, giving up, would still wait for the resolver's answer. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever the environment contains */
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, versions[client->options->version]);
    (void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, reuse_is_broken(client) ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, client);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, client);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, client);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->problem);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "rig");
    set_tls(easy, client->options);
    set_login(easy, client->options);
}

enum rig_rc rig_http_client_init(struct rig_http_client *client, const struct rig_http_options *options,
                                 const struct rig_core *core, const struct rig_wake *wake, struct rig_err *err)
{
    *client = (struct rig_http_client){.options = options, .core = core, .wake = wake, .easy = curl_easy_init()};
    rig_buf_init(&client->answer.body, (size_t)options->max_answer_bytes);
    rig_buf_init(&client->line, LINE_BYTES_MOST);
    client->multi = curl_multi_init();
    if (client->easy == NULL || client->multi == NULL || !add_fixed_headers(client))
        return rig_no_memory(err, "an HTTP client");
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)RIG_HTTP_CONNECTIONS_KEPT);
    set_fixed(client);
    return RIG_OK;
}

void rig_http_client_done(struct rig_http_client *client)
{
    if (client->options == NULL)
        return;
    curl_easy_cleanup(client->easy);
    (void)curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->fixed_headers);
    rig_buf_done(&client->answer.body);
    rig_buf_done(&client->line);
    *client = (struct rig_http_client){0};
}

/* -- one request --------------------------------------------------------------------------------------------------- */

static void set_method(CURL *easy, const struct rig_http_request *request)
{
    /* The kind of transfer first, which also resets the one before; then its name. */
    if (request->body != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    } else {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, strcmp(request->method, "HEAD") == 0 ? 1L : 0L);
    }
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

/* The request's headers before the fixed ones, in a list that the caller separates again. */
static bool make_headers(struct rig_http_client *client, const struct rig_http_request *request,
                         struct curl_slist **list)
{
    struct rig_buf *line = &client->line;
    bool made = true;
    *list = NULL;
    for (size_t i = 0; made && i < request->header_count; i++) {
        const struct rig_http_header *header = &request->headers[i];
        rig_buf_clear(line);
        line->failed = false;
        rig_buf_add_text(line, header->name);
        rig_buf_add_text(line, ": ");
        rig_buf_add_text(line, header->value);
        made = !line->failed && add_header(list, rig_buf_text(line));
    }
    for (const struct curl_slist *fixed = client->fixed_headers; made && fixed != NULL; fixed = fixed->next)
        made = add_header(list, fixed->data);
    return made;
}

static enum rig_http_end end_of(const struct rig_http_client *client, CURLcode code)
{
    if (code == CURLE_OK)
        return client->head_is_whole ? RIG_HTTP_ANSWERED : RIG_HTTP_LOST;
    if (client->attempts == 0)
        return RIG_HTTP_NOT_SENT;
    if (client->attempts > 1)
        return RIG_HTTP_LOST;
    if (client->answer.body.failed || client->head_bytes > (size_t)client->options->max_answer_bytes)
        return RIG_HTTP_TOO_LARGE;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return RIG_HTTP_TIMEOUT;
    if (code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_BAD_CONTENT_ENCODING ||
        code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM)
        return RIG_HTTP_MALFORMED;
    return RIG_HTTP_LOST;
}

/* Drives the transfer; false when it was interrupted. */
static bool drive(struct rig_http_client *client, CURLcode *code)
{
    for (;;) {
        int running = 0;
        int left = 0;
        if (client->wake != NULL && rig_wake_is_raised(client->wake))
            return false;
        *code = CURLE_FAILED_INIT;
        if (curl_multi_perform(client->multi, &running) != CURLM_OK)
            return true;
        const CURLMsg *message = curl_multi_info_read(client->multi, &left);
        if (message != NULL) {
            *code = message->data.result;
            return true;
        }
        struct curl_waitfd wake = {.fd = client->wake == NULL ? -1 : rig_wake_fd(client->wake),
                                   .events = CURL_WAIT_POLLIN};
        if (curl_multi_poll(client->multi, &wake, wake.fd >= 0, POLL_MOST_MS, NULL) != CURLM_OK)
            return true;
        if ((wake.revents & CURL_WAIT_POLLIN) != 0)
            rig_wake_settle(client->wake);
    }
}

/* The parts of the plan to check when TLS or HTTP/2 fails; "": none, or unknown. */
static const char *remedy(const struct rig_http_client *client, const char *base, CURLcode code)
{
    long connects = 0;
    (void)curl_easy_getinfo(client->easy, CURLINFO_NUM_CONNECTS, &connects);
    const bool framing = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM || code == CURLE_RECV_ERROR;
    if (strncmp(base, "https:", 6) != 0)
        return framing && client->options->version == RIG_HTTP_VERSION_2 ? "; does it support `http-version: 2`?" : "";
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return "; `tls.ca` gives the certificates to trust";
    const bool lost = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_SSL_CONNECT_ERROR ||
                      code == CURLE_SSL_CLIENTCERT || code == CURLE_GOT_NOTHING;
    /* With TLS 1.3 the first read tells a client that it was rejected. */
    if (!lost || connects == 0)
        return "";
    return rig_http_options_tls(client->options).cert == NULL ? "; does the server require a `tls.cert`?"
                                                              : "; does the server accept the `tls.cert`?";
}

static void describe(struct rig_http_client *client, const char *base, CURLcode code)
{
    const char *text = code == CURLE_OK             ? "the connection ended within the head of the answer"
                       : client->problem[0] != '\0' ? client->problem
                                                    : curl_easy_strerror(code);
    (void)snprintf(client->answer.detail, sizeof client->answer.detail, "%.60s: %.110s%s", base, text,
                   remedy(client, base, code));
}

/* The facts about the connection once it has carried an answer. */
static void note_connection(struct rig_http_client *client)
{
    struct rig_http_kept now = {.socket = CURL_SOCKET_BAD};
    long local_port = 0;
    long remote_port = 0;
    long version = CURL_HTTP_VERSION_NONE;
    (void)curl_easy_getinfo(client->easy, CURLINFO_HTTP_VERSION, &version);
    client->speaks_http_2 = client->speaks_http_2 || version >= CURL_HTTP_VERSION_2_0;
    (void)curl_easy_getinfo(client->easy, CURLINFO_LOCAL_PORT, &local_port);
    (void)curl_easy_getinfo(client->easy, CURLINFO_PRIMARY_PORT, &remote_port);
    if (curl_easy_getinfo(client->easy, CURLINFO_ACTIVESOCKET, &now.socket) != CURLE_OK ||
        now.socket == CURL_SOCKET_BAD)
        return; /* it is already closed */
    now.local_port = (int)local_port;
    now.remote_port = (int)remote_port;
    size_t place = 0;
    while (place < RIG_HTTP_CONNECTIONS_KEPT &&
           (client->kept[place].local_port != now.local_port || client->kept[place].remote_port != now.remote_port))
        place++;
    if (place == RIG_HTTP_CONNECTIONS_KEPT)
        place = client->kept_next++ % RIG_HTTP_CONNECTIONS_KEPT;
    client->kept[place] = now;
}

static void perform(struct rig_http_client *client, const struct rig_http_request *request)
{
    struct rig_http_answer *answer = &client->answer;
    CURLcode code = CURLE_OK;
    client->stale = false;
    client->head_is_whole = false;
    client->head_bytes = 0;
    if (curl_multi_add_handle(client->multi, client->easy) != CURLM_OK) {
        answer->end = RIG_HTTP_NOT_SENT;
        (void)snprintf(answer->detail, sizeof answer->detail, "libcurl does not accept the request");
        return;
    }
    if (drive(client, &code)) {
        answer->end = end_of(client, code);
        if (answer->end == RIG_HTTP_ANSWERED) {
            (void)curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer->status);
            note_connection(client);
        } else if (client->attempts > 1)
            (void)snprintf(answer->detail, sizeof answer->detail, "%.60s: the kept connection was dead", request->base);
        else
            describe(client, request->base, code);
    } else {
        answer->end = client->attempts == 0 ? RIG_HTTP_NOT_SENT : RIG_HTTP_INTERRUPTED;
        (void)snprintf(answer->detail, sizeof answer->detail, "interrupted: the run is ending");
    }
    (void)curl_multi_remove_handle(client->multi, client->easy);
}

const struct rig_http_answer *rig_http_client_send(struct rig_http_client *client,
                                                   const struct rig_http_request *request)
{
    struct rig_http_answer *answer = &client->answer;
    struct curl_slist *headers = NULL;
    char url[4096];
    rig_buf_clear(&answer->body);
    answer->body.failed = false;
    answer->end = RIG_HTTP_NOT_SENT;
    answer->status = 0;
    answer->detail[0] = '\0';
    client->attempts = 0;
    client->request = request;
    client->problem[0] = '\0';
    const int64_t left_ns = request->deadline_ns - client->core->now_ns();
    const int64_t time_ns =
        left_ns < client->options->request_timeout_ns ? left_ns : client->options->request_timeout_ns;
    const int length = snprintf(url, sizeof url, "%s%s", request->base, request->path);
    if (time_ns <= 0)
        (void)snprintf(answer->detail, sizeof answer->detail, "no time left: transaction-timeout");
    else if (length < 0 || (size_t)length >= sizeof url || !make_headers(client, request, &headers))
        (void)snprintf(answer->detail, sizeof answer->detail, "a URL or a header that is too long");
    if (answer->detail[0] == '\0') {
        (void)curl_easy_setopt(client->easy, CURLOPT_URL, url);
        set_method(client->easy, request);
        (void)curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, headers);
        (void)curl_easy_setopt(client->easy, CURLOPT_TIMEOUT_MS, (long)(time_ns / NS_PER_MS + 1));
        (void)curl_easy_setopt(client->easy, CURLOPT_CONNECTTIMEOUT_MS,
                               (long)(client->options->connect_timeout_ns / NS_PER_MS + 1));
        perform(client, request);
        if (client->stale) { /* no byte of the request has left */
            (void)curl_easy_setopt(client->easy, CURLOPT_FRESH_CONNECT, 1L);
            perform(client, request);
            (void)curl_easy_setopt(client->easy, CURLOPT_FRESH_CONNECT, 0L);
        }
        (void)curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
    }
    curl_slist_free_all(headers);
    client->request = NULL;
    return answer;
}

const char *rig_http_client_header(const struct rig_http_client *client, const char *name)
{
    struct curl_header *header = NULL;
    if (curl_easy_header(client->easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return NULL;
    return header->value;
}

const char *rig_http_client_version(const struct rig_http_client *client)
{
    long version = CURL_HTTP_VERSION_NONE;
    (void)curl_easy_getinfo(client->easy, CURLINFO_HTTP_VERSION, &version);
    switch (version) {
    case CURL_HTTP_VERSION_1_0:
        return "HTTP/1.0";
    case CURL_HTTP_VERSION_1_1:
        return "HTTP/1.1";
    case CURL_HTTP_VERSION_2_0:
        return "HTTP/2";
    default:
        return NULL;
    }
}
