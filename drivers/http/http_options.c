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
    if (rc == RIG_OK && (options->tls_certificate == NULL) != (options->tls_key == NULL))
        rc = rig_fail(err, RIG_E_PLAN, "`tls.certificate` and `tls.key` belong together: give both or neither");
    if (rc == RIG_OK && options->user != NULL && options->token != NULL)
        rc = rig_fail(err, RIG_E_PLAN, "`user` and `token` are two ways to authenticate: give one");
    if (rc == RIG_OK && options->request_timeout_ns > options->transaction_timeout_ns)
        rc = rig_fail(err, RIG_E_PLAN, "`request-timeout` is longer than `transaction-timeout`");
    return rc;
}
