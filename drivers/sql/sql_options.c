#include "drivers/sql/sql_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const rig_sql_isolation_words[] = {"read-uncommitted", "read-committed", "repeatable-read", "serializable",
                                               NULL};
const char *const rig_sql_isolation_sql[] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE",
                                             NULL};
const char *const rig_sql_lock_words[] = {"update", "share", NULL};
const char *const rig_sql_listen_words[] = {"socket", "tcp", NULL};

/* ---- shares of levels ---- */

static enum rig_rc refuse_shares(const struct rig_sql_options *options, const char *why, struct rig_err *err)
{
    return rig_fail(err, RIG_E_PLAN,
                    "database.isolation: `%s` %s; write shares of levels that are 100%% together, such as "
                    "{serializable: 60%%, read-committed: 40%%}",
                    options->isolation_shares, why);
}

/* The level of a word, or -1. */
static int64_t level_of(const char *word, size_t length)
{
    for (int64_t level = 0; level < RIG_SQL_ISOLATION_COUNT; level++) {
        if (strlen(rig_sql_isolation_words[level]) == length &&
            strncmp(rig_sql_isolation_words[level], word, length) == 0)
            return level;
    }
    return -1;
}

/* "60%" or "0.6"; below 0: it is neither. */
static double share_of(const char *text, const char **end)
{
    char *rest = NULL;
    const double number = strtod(text, &rest);
    const bool is_percent = *rest == '%';
    *end = rest + is_percent;
    return rest == text || text[0] < '0' || text[0] > '9' ? -1 : is_percent ? number / 100 : number;
}

enum rig_rc rig_sql_options_shares(const struct rig_sql_options *options, double up_to[RIG_SQL_ISOLATION_COUNT],
                                   struct rig_err *err)
{
    static const double rounding = 1e-9;
    double shares[RIG_SQL_ISOLATION_COUNT] = {0}, sum = 0;
    for (unsigned level = 0; level < RIG_SQL_ISOLATION_COUNT; level++)
        up_to[level] = 0;
    if (!rig_sql_given(options->isolation_shares))
        return RIG_OK;
    for (const char *at = options->isolation_shares; *at != '\0';) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, ":, ");
        const int64_t level = level_of(at, length);
        at += length;
        at += strspn(at, " ");
        if (level < 0)
            return refuse_shares(options,
                                 "has a level that is none of read-uncommitted, read-committed, "
                                 "repeatable-read and serializable",
                                 err);
        if (*at != ':' || shares[level] > 0)
            return refuse_shares(options, "gives a level no share, or two", err);
        at += 1 + strspn(at + 1, " ");
        shares[level] = share_of(at, &at);
        at += strspn(at, " ");
        if (shares[level] < 0 || shares[level] > 1 || (*at != ',' && *at != '\0'))
            return refuse_shares(options, "has a share that is no percentage from 0% to 100%", err);
        at += *at == ',';
    }
    for (unsigned level = 0; level < RIG_SQL_ISOLATION_COUNT; level++)
        sum += shares[level];
    if (sum < 1 - rounding || sum > 1 + rounding)
        return refuse_shares(options, "is not 100% in sum", err);
    sum = 0;
    for (unsigned level = 0; level < RIG_SQL_ISOLATION_COUNT; level++) {
        sum += shares[level];
        up_to[level] = sum > 1 - rounding ? 1 : sum;
    }
    return RIG_OK;
}

/* ---- checks ---- */

static enum rig_rc check_endpoints(const char *option, const struct rig_text_list *list, struct rig_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct rig_sql_endpoint endpoint;
        if (!rig_sql_endpoint_parse(list->at[i], &endpoint))
            return rig_fail(err, RIG_E_PLAN,
                            "database.cluster.%s: `%s` is not a server: expected host, host:port, [address]:port or "
                            "the path of a socket",
                            option, list->at[i]);
    }
    return RIG_OK;
}

enum rig_rc rig_sql_options_check_timestamp(const char *option, const char *sql, bool pipelines, struct rig_err *err)
{
    if (sql == NULL || sql[0] == '\0')
        return RIG_OK;
    if (strncasecmp(sql, "SELECT ", 7) != 0 || strchr(sql, ';') != NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "database.%s: `%s` is not one SELECT without a semicolon; another statement could end the "
                        "transaction",
                        option, sql);
    if (pipelines)
        return rig_fail(err, RIG_E_PLAN, "database.%s: its answer is awaited in each transaction; give pipeline: false",
                        option);
    return RIG_OK;
}

enum rig_rc rig_sql_options_check_settings(const char *option, const struct rig_text_list *list, struct rig_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        char name[64];
        const char *value;
        if (!rig_sql_setting_split(list->at[i], name, sizeof name, &value))
            return rig_fail(err, RIG_E_PLAN, "database.cluster.local.%s: `%s` is not name=value", option, list->at[i]);
    }
    return RIG_OK;
}

int64_t rig_sql_options_others(const struct rig_sql_options *options)
{
    if (options->hosts.count > 0)
        return (int64_t)(options->hosts.count + options->read_only_hosts.count) - 1;
    return options->nodes > 1 ? options->nodes - 1 : 0;
}

static enum rig_rc check_no_socket(const struct rig_text_list *list, struct rig_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i][0] == '/')
            return rig_fail(err, RIG_E_PLAN,
                            "database.tls: %s is a socket of this machine, where connections have no TLS: leave out "
                            "tls, or give the server's host and port",
                            list->at[i]);
    }
    return RIG_OK;
}

/* TLS is for given servers that are reached over a network. */
static enum rig_rc check_tls(const struct rig_sql_options *options, struct rig_err *err)
{
    enum rig_rc rc = rig_tls_options_check(&options->tls, err);
    if (rc != RIG_OK || !rig_tls_is_required(&options->tls))
        return rc;
    if (options->hosts.count == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.tls: this is for given servers; those that rig starts on this machine have no TLS: "
                        "leave it out, or give cluster.hosts");
    rc = check_no_socket(&options->hosts, err);
    return rc == RIG_OK ? check_no_socket(&options->read_only_hosts, err) : rc;
}

/* The keys version (one or two numbers), servers (an absolute path) and bin-dir. */
static enum rig_rc check_version(const char *version, const char *servers, const char *bin_dir, struct rig_err *err)
{
    static const char digits[] = "0123456789";
    if (rig_sql_given(servers) && servers[0] != '/')
        return rig_fail(err, RIG_E_PLAN, "database.cluster.local.servers: `%s` is not an absolute path", servers);
    if (!rig_sql_given(version))
        return RIG_OK;
    const char *rest = version + strspn(version, digits);
    if (rest > version && rest[0] == '.' && strspn(rest + 1, digits) > 0)
        rest += 1 + strspn(rest + 1, digits);
    if (rest == version || *rest != '\0')
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.version: expected a version such as 14 or 14.3, not `%s`", version);
    if (rig_sql_given(bin_dir))
        return rig_fail(
            err, RIG_E_PLAN,
            "database.cluster.local: `bin-dir` names a server, and so does `version`: leave out one of them");
    return RIG_OK;
}

enum rig_rc rig_sql_options_check_cluster(const struct rig_sql_options *options, bool has_settings, struct rig_err *err)
{
    const bool given = options->hosts.count > 0;
    if (given && options->nodes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster: give either hosts (existing servers) or local.nodes (servers that rig "
                        "starts), not both");
    if (!given && options->read_only_hosts.count > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.read-only-hosts: this needs cluster.hosts, the servers for writes");
    const bool has_binary =
        rig_sql_given(options->bin_dir) || rig_sql_given(options->version) || rig_sql_given(options->servers);
    if (given && (options->settings.count > 0 || has_settings || has_binary))
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local: settings and bin-dir, version and servers are for a server that rig "
                        "starts; leave out cluster.hosts or them");
    if (given && options->replication != 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.replication: this is for servers that rig starts; leave out "
                        "cluster.hosts");
    if (options->reads_from == RIG_SQL_READS_PRIMARY && options->read_only_hosts.count > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.reads-from: primary sends no reads to cluster.read-only-hosts; leave out one of "
                        "them");
    enum rig_rc rc = check_endpoints("hosts", &options->hosts, err);
    if (rc == RIG_OK)
        rc = check_endpoints("read-only-hosts", &options->read_only_hosts, err);
    if (rc == RIG_OK)
        rc = check_tls(options, err);
    if (rc == RIG_OK)
        rc = check_version(options->version, options->servers, options->bin_dir, err);
    return rc == RIG_OK ? rig_sql_options_check_settings("settings", &options->settings, err) : rc;
}
