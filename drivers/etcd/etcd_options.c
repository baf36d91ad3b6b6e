#include "drivers/etcd/etcd_options.h"

#include <string.h>

const char *const rig_etcd_reads_names[] = {"linearizable", "serializable", NULL};

/* clang-format off */
const struct rig_option rig_etcd_option_table[] = {
    {.name = "reads", .type = RIG_OPTION_CHOICE, .offset = offsetof(struct rig_etcd_options, reads),
     .default_text = "linearizable", .choices = rig_etcd_reads_names,
     .help = "reads of transactions that only read. linearizable: the member asks the leader first; serializable: it "
             "answers from its own state, which may be stale"},
    {.name = "dialect", .type = RIG_OPTION_TEXT, .offset = offsetof(struct rig_etcd_options, dialect),
     .default_text = "etcd",
     .help = "another dialect for the requests: the name of an installed one, or the path of a file"},
    {.name = "endpoints", .type = RIG_OPTION_TEXT_LIST, .offset = RIG_HTTP_OFFSET(struct rig_etcd_options, http, endpoints),
     .help = "existing members, each `http://HOST:PORT` or `https://HOST:PORT`; without any, rig starts its own"},
    {.name = "cluster.local.nodes", .type = RIG_OPTION_INT, .offset = offsetof(struct rig_etcd_options, nodes),
     .default_text = "0", .least = 0, .most = RIG_ETCD_MEMBERS_MOST,
     .help = "members that rig starts on 127.0.0.1; 0 means one, unless `endpoints` are given"},
    {.name = "cluster.local.program", .type = RIG_OPTION_TEXT, .offset = offsetof(struct rig_etcd_options, program),
     .help = "absolute path of etcd; without it, the one in PATH"},
    {.name = "cluster.local.run-as", .type = RIG_OPTION_TEXT, .offset = offsetof(struct rig_etcd_options, run_as),
     .default_text = "nobody", .help = "user under which the members run if rig is root"},
    {.name = "cluster.local.settings", .type = RIG_OPTION_TEXT_LIST, .offset = offsetof(struct rig_etcd_options, settings),
     .help = "further flags of etcd, each `name=value` for --name=value"},
    {.name = "cluster.local.heartbeat-interval", .type = RIG_OPTION_DURATION, .offset = offsetof(struct rig_etcd_options, heartbeat_ns),
     .default_text = "100ms", .least = 1e6, .most = 1e10, .help = "interval of the leader's heartbeats"},
    {.name = "cluster.local.election-timeout", .type = RIG_OPTION_DURATION, .offset = offsetof(struct rig_etcd_options, election_ns),
     .default_text = "1s", .least = 1e7, .most = 5e10, .help = "silence after which members elect another leader; at least five heartbeats"},
    {.name = "cluster.local.start-timeout", .type = RIG_OPTION_DURATION, .offset = offsetof(struct rig_etcd_options, start_timeout_ns),
     .default_text = "30s", .least = 1e9, .most = 6e11, .help = "time in which the members must elect a leader and answer"},
    {.name = "cluster.local.stop-timeout", .type = RIG_OPTION_DURATION, .offset = offsetof(struct rig_etcd_options, stop_timeout_ns),
     .default_text = "5s", .least = 1e8, .most = 6e10, .help = "time after which a member that does not end is killed"},
    RIG_HTTP_OPTION_ROWS(struct rig_etcd_options, http),
    {0},
};
/* clang-format on */

enum rig_rc rig_etcd_options_check(const struct rig_etcd_options *options, struct rig_err *err)
{
    if (options->http.endpoints.count > 0 &&
        (options->nodes > 0 || options->program != NULL || options->settings.count > 0))
        return rig_fail(
            err, RIG_E_PLAN,
            "`cluster.local.%s` is for members that rig starts, and `endpoints` are existing members: leave out one "
            "of them",
            options->nodes > 0         ? "nodes"
            : options->program != NULL ? "program"
                                       : "settings");
    const struct rig_tls_options tls = rig_http_options_tls(&options->http);
    if (options->http.endpoints.count == 0 && (tls.required == RIG_TLS_TRUE || rig_tls_has_files(&tls)))
        return rig_fail(err, RIG_E_PLAN,
                        "`tls` is for given members, and those that rig starts on this machine have no TLS: leave it "
                        "out, or give `endpoints`");
    for (size_t i = 0; i < options->settings.count; i++) {
        const char *text = options->settings.at[i];
        if (strchr(text, '=') == NULL || text[0] == '-' || text[0] == '=')
            return rig_fail(err, RIG_E_PLAN, "`cluster.local.settings`: expected name=value, not `%.60s`", text);
    }
    if (options->election_ns < 5 * options->heartbeat_ns)
        return rig_fail(err, RIG_E_PLAN,
                        "`cluster.local.election-timeout` is shorter than five `cluster.local.heartbeat-interval`s, "
                        "which etcd refuses");
    return rig_http_options_check(&options->http, err);
}
