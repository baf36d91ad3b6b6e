#include "drivers/http/http_options.h"

#include <string.h>

const char *const rig_http_spread_names[] = {"per-client", "round-robin", "leader", "followers", NULL};
const char *const rig_http_version_names[] = {"auto", "1.1", "2", NULL};

static const char *host_of(const char *url)
{
    if (strncmp(url, "http://", 7) == 0)
        return url + 7;
    return strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

struct rig_tls_options rig_http_options_tls(const struct rig_http_options *options)
{
    struct rig_tls_options tls = options->tls;
    if (tls.cert == NULL)
        tls.cert = options->old_tls_cert;
    return tls;
}

/* The scheme of an endpoint decides alone, unless the plan asks for TLS, or gives files for it. */
static enum rig_rc check_tls(const struct rig_http_options *options, struct rig_err *err)
{
    const struct rig_tls_options tls = rig_http_options_tls(options);
    const bool encrypted = tls.required == RIG_TLS_TRUE || rig_tls_has_files(&tls);
    if (options->tls.cert != NULL && options->old_tls_cert != NULL)
        return rig_fail(err, RIG_E_PLAN, "`tls.certificate` is the old name of `tls.cert`: give one of them");
    const enum rig_rc rc = rig_tls_options_check(&tls, err);
    for (size_t i = 0; rc == RIG_OK && i < options->endpoints.count; i++) {
        const char *url = options->endpoints.at[i];
        const bool https = strncmp(url, "https://", 8) == 0;
        if (encrypted && !https)
            return rig_fail(err, RIG_E_PLAN,
                            "`endpoints`: `%.100s` is in clear text, and `tls` asks for TLS: write https://, or leave "
                            "out `tls`",
                            url);
        if (https && tls.required == RIG_TLS_FALSE)
            return rig_fail(err, RIG_E_PLAN,
                            "`endpoints`: `%.100s` uses TLS, and `tls.required` is false: leave it out, or write "
                            "http://",
                            url);
    }
    return rc;
}

static enum rig_rc check_endpoint(const char *url, struct rig_err *err)
{
    const char *host = host_of(url);
    if (host == NULL || *host == '\0' || *host == '/')
        return rig_fail(err, RIG_E_PLAN,
                        "`endpoints`: `%.100s` is not a server; expected http://HOST:PORT or "
                        "https://...",
                        url);
    if (strpbrk(host, "@?# \t") != NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "`endpoints`: `%.100s` has more than a server and a path; give a user as `user` and "
                        "`password`",
                        url);
    return RIG_OK;
}

enum rig_rc rig_http_options_check(const struct rig_http_options *options, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < options->endpoints.count; i++)
        rc = check_endpoint(options->endpoints.at[i], err);
    for (size_t i = 0; rc == RIG_OK && i < options->headers.count; i++) {
        const char *line = options->headers.at[i];
        const char *colon = strchr(line, ':');
        if (colon == NULL || colon == line || strpbrk(line, "\r\n") != NULL)
            rc = rig_fail(err, RIG_E_PLAN, "`headers`: expected `Name: value`, not `%.60s`", line);
    }
    if (rc == RIG_OK)
        rc = check_tls(options, err);
    if (rc == RIG_OK && options->user != NULL && options->token != NULL)
        rc = rig_fail(err, RIG_E_PLAN, "`user` and `token` are two ways to authenticate: give one");
    if (rc == RIG_OK && options->request_timeout_ns > options->transaction_timeout_ns)
        rc = rig_fail(err, RIG_E_PLAN, "`request-timeout` is longer than `transaction-timeout`");
    return rc;
}
