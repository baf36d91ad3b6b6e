/*
 * The TLS options of a database, under the same names for every driver.
 *
 * `tls: true` asks for TLS, and so do `tls: {ca: ...}`, `cert`, `key` and `verify`. A connection that TLS was asked for
 * is encrypted before a password is sent, or it is refused. Certificates and host names are verified unless
 * `verify: false`.
 *
 * Threads: any.
 */
#ifndef RIG_BASE_TLS_OPTIONS_H
#define RIG_BASE_TLS_OPTIONS_H

#include "base/err.h"
#include "base/option.h"

enum rig_tls_switch { RIG_TLS_AUTO, RIG_TLS_TRUE, RIG_TLS_FALSE };

struct rig_tls_options {
    int64_t required; /* enum rig_tls_switch; rig_tls_is_required() */
    int64_t verify;   /* enum rig_tls_switch; rig_tls_verifies() */
    const char *ca;   /* NULL: the system's */
    const char *cert; /* NULL: none */
    const char *key;
};

extern const char *const rig_tls_switch_names[];

/* The rows of a driver's table: `owner` is its options object, `member` the struct rig_tls_options in it. */
#define RIG_TLS_OFFSET(owner, member, field) RIG_OPTION_WITHIN(owner, member, struct rig_tls_options, field)
/* clang-format off */
#define RIG_TLS_OPTION_ROWS(owner, member)                                                                             \
    {.name = "tls.required", .type = RIG_OPTION_CHOICE, .offset = RIG_TLS_OFFSET(owner, member, required),             \
     .default_text = "auto", .choices = rig_tls_switch_names,                                                          \
     .help = "Whether connections to given servers must be encrypted; `tls: true` is short for it. auto: if another " \
             "option of tls is given; the scheme of a URL decides for it."},                                           \
    {.name = "tls.verify", .type = RIG_OPTION_CHOICE, .offset = RIG_TLS_OFFSET(owner, member, verify),                 \
     .default_text = "auto", .choices = rig_tls_switch_names,                                                          \
     .help = "Whether a server's certificate and host name are checked; auto: they are."},                             \
    {.name = "tls.ca", .type = RIG_OPTION_TEXT, .offset = RIG_TLS_OFFSET(owner, member, ca),                           \
     .help = "File of the certificates to trust, PEM; by default those of the system."},                               \
    {.name = "tls.cert", .type = RIG_OPTION_TEXT, .offset = RIG_TLS_OFFSET(owner, member, cert),                       \
     .help = "File of the client's own certificate, PEM."},                                                            \
    {.name = "tls.key", .type = RIG_OPTION_TEXT, .offset = RIG_TLS_OFFSET(owner, member, key),                         \
     .help = "File of the key to it, PEM."}
/* clang-format on */

/* Whether the plan gave a file: an endpoint in clear text contradicts it. */
bool rig_tls_has_files(const struct rig_tls_options *options);
/* Whether servers that have no scheme of their own, as in a URL, must be reached by TLS. */
bool rig_tls_is_required(const struct rig_tls_options *options);
bool rig_tls_verifies(const struct rig_tls_options *options);

/* Rejects a certificate without its key, and options that contradict `required: false`. No I/O. RIG_E_PLAN. */
enum rig_rc rig_tls_options_check(const struct rig_tls_options *options, struct rig_err *err);
/* Whether the files can be read, and certificates to trust are known. RIG_E_PLAN, naming the key. */
enum rig_rc rig_tls_options_find_files(const struct rig_tls_options *options, struct rig_err *err);
/* The file of certificates to trust: `ca`, or else the system's; NULL: the machine has none where it is looked for. */
const char *rig_tls_trusted(const struct rig_tls_options *options);

#endif
