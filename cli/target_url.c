#include "cli/target_url.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/password.h"

/* A part of the URL; not ended by a NUL. */
struct part {
    const char *at;
    size_t length;
};

struct target {
    struct part user, password, hosts, path, query;
    bool has_password;
};

enum target_kind { OF_HOSTS, OF_ENDPOINTS, OF_CONNECTION, OF_NOTHING };

/* Parameters after `?`, with the settings that they are. An empty value: any, which ends the setting. */
struct parameter {
    const char *name, *value, *settings[2];
};

static const struct parameter postgres_parameters[] = {
    {"sslmode", "disable", {"tls.required=false"}},
    {"sslmode", "allow", {NULL}},
    {"sslmode", "prefer", {NULL}},
    {"sslmode", "require", {"tls.required=true", "tls.verify=false"}},
    {"sslmode", "verify-ca", {"tls.required=true"}},
    {"sslmode", "verify-full", {"tls.required=true"}},
    {"sslrootcert", "", {"tls.ca="}},
    {"sslcert", "", {"tls.cert="}},
    {"sslkey", "", {"tls.key="}},
    {NULL, NULL, {NULL}},
};

static const struct parameter mysql_parameters[] = {
    {"tls", "true", {"tls.required=true"}},
    {"tls", "false", {"tls.required=false"}},
    {"verify", "false", {"tls.verify=false"}},
    {"ca", "", {"tls.ca="}},
    {"cert", "", {"tls.cert="}},
    {"key", "", {"tls.key="}},
    {NULL, NULL, {NULL}},
};

static const struct scheme {
    const char *name, *driver;
    enum target_kind kind;
    const char *endpoint; /* the scheme of the endpoints */
    const struct parameter *parameters;
} schemes[] = {
    {"postgres", "postgres", OF_HOSTS, NULL, postgres_parameters},
    {"postgresql", "postgres", OF_HOSTS, NULL, postgres_parameters},
    {"pg", "postgres", OF_HOSTS, NULL, postgres_parameters},
    {"mysql", "mysql", OF_HOSTS, NULL, mysql_parameters},
    {"mariadb", "mysql", OF_HOSTS, NULL, mysql_parameters},
    {"etcd", "etcd", OF_ENDPOINTS, "http", NULL},
    {"etcds", "etcd", OF_ENDPOINTS, "https", NULL},
    {"http", NULL, OF_ENDPOINTS, "http", NULL},
    {"https", NULL, OF_ENDPOINTS, "https", NULL},
    {"odbc", "odbc", OF_CONNECTION, NULL, NULL},
    {"sqlite", "sqlite", OF_NOTHING, NULL, NULL},
};

static const struct scheme *find_scheme(const char *url)
{
    const size_t length = strcspn(url, ":");
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (strlen(schemes[i].name) == length && strncmp(schemes[i].name, url, length) == 0)
            return &schemes[i];
    }
    return NULL;
}

/* ---- the parts ---- */

/* Takes the text up to the first of `ends`, which stays. */
static struct part take(const char **at, const char *ends)
{
    const struct part part = {*at, strcspn(*at, ends)};
    *at += part.length;
    return part;
}

static void split(const char *at, struct target *target)
{
    const struct part authority = {at, strcspn(at, "/?")};
    const char *at_sign = NULL;
    for (size_t i = 0; i < authority.length; i++) {
        if (at[i] == '@')
            at_sign = at + i;
    }
    *target = (struct target){.user = {at, 0}};
    if (at_sign != NULL) {
        target->user = (struct part){at, strcspn(at, ":@")};
        target->has_password = at[target->user.length] == ':';
        if (target->has_password)
            target->password =
                (struct part){at + target->user.length + 1, (size_t)(at_sign - at) - target->user.length - 1};
        at = at_sign + 1;
    }
    target->hosts = take(&at, "/?");
    at += *at == '/';
    target->path = take(&at, "?");
    at += *at == '?';
    target->query = (struct part){at, strlen(at)};
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, tolower((unsigned char)c));
    return found == NULL ? -1 : (int)(found - digits);
}

/* Adds a part with its escapes decoded, as a text of a plan: a `$` of its own is doubled. */
static enum rig_rc add_decoded(struct rig_buf *out, struct part part, const char *what, struct rig_err *err)
{
    for (size_t i = 0; i < part.length; i++) {
        char c = part.at[i];
        if (c == '%') {
            const int high = i + 2 < part.length ? hex(part.at[i + 1]) : -1;
            const int low = i + 2 < part.length ? hex(part.at[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return rig_fail(err, RIG_E_PLAN, "the %s of the URL has a `%%` without two hexadecimal digits", what);
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '$')
            rig_buf_add_char(out, '$');
        rig_buf_add_char(out, c);
    }
    return RIG_OK;
}

static void end(struct rig_buf *settings)
{
    rig_buf_add_char(settings, '\0');
}

static enum rig_rc add_setting(struct rig_buf *settings, const char *key, struct part part, const char *what,
                               struct rig_err *err)
{
    rig_buf_printf(settings, "database.%s=", key);
    const enum rig_rc rc = add_decoded(settings, part, what, err);
    end(settings);
    return rc;
}

/* ---- the kinds of targets ---- */

static bool is_text(struct part part, const char *text)
{
    return strlen(text) == part.length && memcmp(part.at, text, part.length) == 0;
}

static enum rig_rc refuse_parameter(const struct scheme *scheme, struct part name, struct rig_err *err)
{
    struct rig_buf known;
    rig_buf_init(&known, 400);
    const char *last = "";
    for (const struct parameter *row = scheme->parameters; row->name != NULL; row++) {
        if (strcmp(row->name, last) != 0)
            rig_buf_printf(&known, "%s%s", known.size == 0 ? "" : ", ", row->name);
        last = row->name;
    }
    const enum rig_rc rc = rig_fail(
        err, RIG_E_PLAN, "the URL's parameter %.*s is not known, or has a value that is not; parameters of %s: %s",
        (int)(name.length < 40 ? name.length : 40), name.at, scheme->name, rig_buf_text(&known));
    rig_buf_done(&known);
    return rc;
}

static enum rig_rc add_parameter(const struct scheme *scheme, struct part name, struct part value,
                                 struct rig_buf *settings, struct rig_err *err)
{
    for (const struct parameter *row = scheme->parameters; row->name != NULL; row++) {
        if (!is_text(name, row->name) || (row->value[0] != '\0' && !is_text(value, row->value)))
            continue;
        enum rig_rc rc = RIG_OK;
        for (size_t i = 0; rc == RIG_OK && i < 2 && row->settings[i] != NULL; i++) {
            rig_buf_printf(settings, "database.%s", row->settings[i]);
            rc = row->value[0] == '\0' ? add_decoded(settings, value, row->name, err) : RIG_OK;
            end(settings);
        }
        return rc;
    }
    return refuse_parameter(scheme, name, err);
}

static enum rig_rc add_parameters(const struct scheme *scheme, struct part query, struct rig_buf *settings,
                                  struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    const char *at = query.at, *query_end = query.at + query.length;
    while (rc == RIG_OK && at < query_end) {
        const struct part name = take(&at, "=&");
        struct part value = {at, 0};
        if (*at == '=') {
            at++;
            value = take(&at, "&");
        }
        at += *at == '&';
        rc = add_parameter(scheme, name, value, settings, err);
    }
    return rc;
}

static enum rig_rc add_account(const struct target *target, struct rig_buf *settings, struct rig_err *err)
{
    enum rig_rc rc = target->user.length > 0 ? add_setting(settings, "user", target->user, "user", err) : RIG_OK;
    if (rc == RIG_OK && target->has_password)
        rc = add_setting(settings, "password", target->password, "password", err);
    return rc;
}

static enum rig_rc add_hosts(const struct scheme *scheme, const struct target *target, struct rig_buf *settings,
                             struct rig_err *err)
{
    if (target->hosts.length == 0)
        return rig_fail(err, RIG_E_PLAN, "the URL names no host; write %s://HOST:PORT/DATABASE", scheme->name);
    enum rig_rc rc = add_setting(settings, "cluster.hosts", target->hosts, "host", err);
    if (rc == RIG_OK)
        rc = add_account(target, settings, err);
    if (rc == RIG_OK && target->path.length > 0)
        rc = add_setting(settings, "dbname", target->path, "database", err);
    return rc == RIG_OK ? add_parameters(scheme, target->query, settings, err) : rc;
}

static enum rig_rc add_endpoints(const struct scheme *scheme, const struct target *target, struct rig_buf *settings,
                                 struct rig_err *err)
{
    if (target->hosts.length == 0)
        return rig_fail(err, RIG_E_PLAN, "the URL names no host; write %s://HOST:PORT", scheme->name);
    if (target->query.length > 0)
        return rig_fail(err, RIG_E_PLAN, "parameters after `?` have no place in a URL of %s", scheme->name);
    rig_buf_add_text(settings, "database.endpoints=");
    const char *at = target->hosts.at, *hosts_end = at + target->hosts.length;
    while (at < hosts_end) {
        const struct part host = take(&at, ",/?");
        rig_buf_printf(settings, "%s://%.*s%s%.*s%s", scheme->endpoint, (int)host.length, host.at,
                       target->path.length > 0 ? "/" : "", (int)target->path.length, target->path.at,
                       *at == ',' && at < hosts_end ? "," : "");
        at += at < hosts_end;
    }
    end(settings);
    return add_account(target, settings, err);
}

static enum rig_rc add_connection(const char *text, struct rig_buf *settings, struct rig_err *err)
{
    const struct part whole = {text, strlen(text)};
    if (whole.length == 0)
        return rig_fail(err, RIG_E_PLAN, "the URL names no data source; write odbc:DSN or odbc:Driver=...;Server=...");
    rig_buf_printf(settings, "database.%s=", strchr(text, '=') != NULL ? "connection" : "dsn");
    for (size_t i = 0; i < whole.length; i++)
        rig_buf_printf(settings, "%s%c", text[i] == '$' ? "$" : "", text[i]);
    end(settings);
    return RIG_OK;
}

enum rig_rc rig_target_url_settings(const char *url, struct rig_buf *settings, struct rig_err *err)
{
    const struct scheme *scheme = find_scheme(url);
    if (scheme == NULL || url[strlen(scheme->name)] != ':')
        return rig_fail(
            err, RIG_E_PLAN,
            "the URL begins with none of postgres://, mysql://, etcd://, http://, https://, odbc: and sqlite:");
    const char *rest = url + strlen(scheme->name) + 1;
    const bool has_authority = scheme->kind == OF_HOSTS || scheme->kind == OF_ENDPOINTS;
    if (has_authority && strncmp(rest, "//", 2) != 0)
        return rig_fail(err, RIG_E_PLAN, "write %s://, with two slashes", scheme->name);
    if (scheme->driver != NULL) {
        rig_buf_printf(settings, "database.driver=%s", scheme->driver);
        end(settings);
    }
    struct target target;
    if (has_authority)
        split(rest + 2, &target);
    if (scheme->kind == OF_HOSTS)
        return add_hosts(scheme, &target, settings, err);
    if (scheme->kind == OF_ENDPOINTS)
        return add_endpoints(scheme, &target, settings, err);
    if (scheme->kind == OF_CONNECTION)
        return add_connection(rest, settings, err);
    return rest[0] == '\0'
               ? RIG_OK
               : rig_fail(err, RIG_E_PLAN, "rig makes a database file of its own for SQLite; write `sqlite:` alone");
}

void rig_target_url_hide(const char *argument)
{
    struct rig_password_span span;
    for (size_t at = 0; rig_password_find(NULL, argument, at, &span); at = span.start + span.length)
        memset((char *)(uintptr_t)argument + span.start, 'x', span.length); /* arguments of main() may be written */
}
