/*
 * The HTTP options of a database, whatever its dialect; one table for every driver that speaks HTTP.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_OPTIONS_H
#define RIG_DRIVERS_HTTP_HTTP_OPTIONS_H

#include "base/err.h"
#include "base/option.h"
#include "base/tls_options.h"

enum rig_http_spread { RIG_HTTP_PER_CLIENT, RIG_HTTP_ROUND_ROBIN, RIG_HTTP_LEADER, RIG_HTTP_FOLLOWERS };
enum rig_http_version { RIG_HTTP_VERSION_AUTO, RIG_HTTP_VERSION_1, RIG_HTTP_VERSION_2 };

struct rig_http_options {
    struct rig_text_list endpoints;
    int64_t spread;  /* enum rig_http_spread */
    int64_t version; /* enum rig_http_version */
    int64_t connect_timeout_ns;
    int64_t request_timeout_ns;
    int64_t transaction_timeout_ns;
    int64_t max_answer_bytes;
    const char *user;
    const char *password;
    const char *token;
    struct rig_text_list headers;
    struct rig_tls_options tls;
    const char *old_tls_cert; /* `tls.certificate`, as `tls.cert` was called here */
};

extern const char *const rig_http_spread_names[];
extern const char *const rig_http_version_names[];

/* The rows of a driver's table: `owner` is its options object, `member` the struct rig_http_options in it. */
#define RIG_HTTP_OFFSET(owner, member, field) RIG_OPTION_WITHIN(owner, member, struct rig_http_options, field)
/* clang-format off */
#define RIG_HTTP_OPTION_ROWS(owner, member)                                                                            \
    {RIG_OPTION_VARIED(.chance = 0.3), \
     .name = "spread", .type = RIG_OPTION_CHOICE, .offset = RIG_HTTP_OFFSET(owner, member, spread),                    \
     .default_text = "per-client", .choices = rig_http_spread_names,                                                   \
     .help = "the server of a session: one for each client in turn, another for each transaction, the leader, or " \
             "only the followers (the dialect tells which server leads)"}, \
    {.name = "http-version", .type = RIG_OPTION_CHOICE, .offset = RIG_HTTP_OFFSET(owner, member, version),             \
     .default_text = "auto", .choices = rig_http_version_names,                                                        \
     .help = "auto: HTTP/2 if TLS offers it, else 1.1; 2: HTTP/2 also without TLS, without negotiation (with libcurl " \
             "7.88 a connection for each request)"},                \
    {.name = "connect-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_HTTP_OFFSET(owner, member, connect_timeout_ns), \
     .default_text = "2s", .least = 1e6, .most = 6e11, .help = "time limit for connecting to a server"},            \
    {.name = "request-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_HTTP_OFFSET(owner, member, request_timeout_ns), \
     .default_text = "5s", .least = 1e6, .most = 6e11, .help = "time limit of one request, including its answer; 10s at least for setting up and cleaning up a run"},  \
    {.name = "transaction-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_HTTP_OFFSET(owner, member, transaction_timeout_ns), \
     .default_text = "10s", .least = 1e6, .most = 6e11, .help = "time limit of all requests of a transaction together"}, \
    {.name = "max-answer", .type = RIG_OPTION_SIZE, .offset = RIG_HTTP_OFFSET(owner, member, max_answer_bytes),        \
     .default_text = "16MiB", .least = 1024, .most = 1e9, .help = "largest answer that rig reads"},                    \
    {.name = "user", .type = RIG_OPTION_TEXT, .offset = RIG_HTTP_OFFSET(owner, member, user),                          \
     .help = "user for basic authentication"},                                                                         \
    {.name = "password", .type = RIG_OPTION_SECRET, .offset = RIG_HTTP_OFFSET(owner, member, password),                \
     .help = "password for basic authentication"},                                                                     \
    {.name = "token", .type = RIG_OPTION_SECRET, .offset = RIG_HTTP_OFFSET(owner, member, token),                      \
     .help = "bearer token, sent with every request"},                                                                 \
    {.name = "headers", .type = RIG_OPTION_HEADERS, .offset = RIG_HTTP_OFFSET(owner, member, headers),                 \
     .help = "further header lines for every request, each `Name: value`"},                                            \
    RIG_TLS_OPTION_ROWS(owner, member.tls),                                                                            \
    {.name = "tls.certificate", .type = RIG_OPTION_TEXT, .offset = RIG_HTTP_OFFSET(owner, member, old_tls_cert),       \
     .help = "The old name of tls.cert."}
/* clang-format on */

/* The TLS options, with `tls.certificate` as `tls.cert`. */
struct rig_tls_options rig_http_options_tls(const struct rig_http_options *options);
/* Rejects endpoints that are no URLs, or in clear text where TLS is asked for, headers without a colon, and TLS options
 * that contradict each other. */
enum rig_rc rig_http_options_check(const struct rig_http_options *options, struct rig_err *err);

#endif
