#include "base/tls_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const rig_tls_switch_names[] = {"auto", "true", "false", NULL};

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

bool rig_tls_has_files(const struct rig_tls_options *options)
{
    return given(options->ca) || given(options->cert) || given(options->key);
}

bool rig_tls_is_required(const struct rig_tls_options *options)
{
    return options->required == RIG_TLS_TRUE ||
           (options->required == RIG_TLS_AUTO && (rig_tls_has_files(options) || options->verify != RIG_TLS_AUTO));
}

bool rig_tls_verifies(const struct rig_tls_options *options)
{
    return options->verify != RIG_TLS_FALSE;
}

enum rig_rc rig_tls_options_check(const struct rig_tls_options *options, struct rig_err *err)
{
    if (given(options->cert) != given(options->key))
        return rig_fail(err, RIG_E_PLAN,
                        "database.tls: `tls.cert` and `tls.key` belong together: give both or neither");
    if (options->required == RIG_TLS_FALSE && rig_tls_has_files(options))
        return rig_fail(err, RIG_E_PLAN,
                        "database.tls.required: false, and files for TLS are given: leave out one of the two");
    return RIG_OK;
}

static enum rig_rc find_file(const char *key, const char *path, struct rig_err *err)
{
    const int fd = given(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (given(path) && fd < 0)
        return rig_fail(err, RIG_E_PLAN, "database.tls.%s: %s: %s", key, path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return RIG_OK;
}

enum rig_rc rig_tls_options_find_files(const struct rig_tls_options *options, struct rig_err *err)
{
    enum rig_rc rc = find_file("ca", options->ca, err);
    if (rc == RIG_OK)
        rc = find_file("cert", options->cert, err);
    if (rc == RIG_OK)
        rc = find_file("key", options->key, err);
    if (rc == RIG_OK && rig_tls_is_required(options) && rig_tls_verifies(options) && rig_tls_trusted(options) == NULL)
        rc = rig_fail(err, RIG_E_PLAN,
                      "database.tls: no file of trusted certificates was found on this machine: give database.tls.ca");
    return rc;
}

const char *rig_tls_trusted(const struct rig_tls_options *options)
{
    static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    if (given(options->ca))
        return options->ca;
    const char *chosen = getenv("SSL_CERT_FILE");
    if (given(chosen))
        return chosen;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (access(files[i], R_OK) == 0)
            return files[i];
    }
    return NULL;
}
