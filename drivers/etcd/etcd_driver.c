/*
 * The driver etcd: members that rig starts, or given ones, used by the dialect etcd.
 */
#include "drivers/etcd/etcd_driver.h"

#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "drivers/etcd/etcd_faults.h"
#include "drivers/etcd/etcd_launch.h"
#include "drivers/etcd/etcd_run.h"
#include "drivers/http/http_preview.h"
#include "drivers/http/http_script.h"
#include "drivers/http/http_session.h"

static const char *const etcd_reads_names[] = {"linearizable", "serializable", NULL};

/* clang-format off */
static const struct rig_option etcd_option_table[] = {
    {.name = "reads", .type = RIG_OPTION_CHOICE, .offset = offsetof(struct rig_etcd_options, reads),
     .default_text = "linearizable", .choices = etcd_reads_names,
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

static enum rig_rc etcd_options_check(const struct rig_etcd_options *options, struct rig_err *err)
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

static struct rig_dialect_choice choice_of(const void *object)
{
    const struct rig_etcd_options *options = object;
    return (struct rig_dialect_choice){.name = options->dialect,
                                       .own_parameter = "reads",
                                       .own_value = etcd_reads_names[options->reads],
                                       .http = &options->http};
}

static bool starts_cluster(const struct rig_etcd_options *options)
{
    return options->http.endpoints.count == 0;
}

static enum rig_rc check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_etcd_options *options = object;
    const struct rig_dialect_choice choice = choice_of(options);
    struct rig_dialect *dialect = NULL;
    enum rig_rc rc = etcd_options_check(options, err);
    if (rc == RIG_OK && starts_cluster(options) && options->nodes <= 1 && options->http.spread == RIG_HTTP_FOLLOWERS)
        rc = rig_fail(err, RIG_E_PLAN, "`spread`: a single member has no followers; give `cluster.local.nodes: 3`");
    if (rc == RIG_OK)
        rc = rig_dialect_choose(&choice, workload, &dialect, err);
    rig_dialect_free(dialect);
    return rc;
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_etcd_run *run = object;
    const struct rig_etcd_options *options = env->options;
    const struct rig_dialect_choice choice = choice_of(options);
    struct rig_dialect *dialect = NULL;
    rig_etcd_cluster_init(&run->cluster, env, options);
    enum rig_rc rc = rig_dialect_choose(&choice, env->workload, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_http_run_init(&run->http, env, &options->http, dialect, err);
    for (size_t i = 0; rc == RIG_OK && i < options->http.endpoints.count; i++)
        rc = rig_http_run_add_endpoint(&run->http, options->http.endpoints.at[i], NULL, err);
    return rc;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_etcd_run *run = object;
    enum rig_rc rc = rig_http_run_setup(&run->http, err);
    if (rc == RIG_OK && run->http.env->certificate != RIG_CERTIFICATE_NONE)
        rc = rig_etcd_certificate_begin(&run->certificate, &run->http, err);
    return rc;
}

static enum rig_rc certify(void *object, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    struct rig_etcd_run *run = object;
    return rig_etcd_certificate_drain(&run->certificate, &run->http, run->cluster.options->election_ns, sink, err);
}

static void done(void *object)
{
    struct rig_etcd_run *run = object;
    rig_etcd_certificate_done(&run->certificate);
    rig_etcd_cluster_done(&run->cluster);
    rig_http_run_done(&run->http);
}

static void teardown(void *object)
{
    struct rig_etcd_run *run = object;
    rig_etcd_certificate_done(&run->certificate);
    /* rig's own cluster is removed as a whole. */
    if (!starts_cluster(run->cluster.options))
        rig_http_run_teardown(&run->http);
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_etcd_run *run = object;
    (void)snprintf(text, size, "etcd%s%s, %u member%s", run->http.version[0] == '\0' ? "" : " ", run->http.version,
                   run->http.endpoint_count, rig_plural(run->http.endpoint_count));
}

/* The flags of a member that rig started; a given one does not report its own. */
static void settings(void *object, void (*tell)(void *context, const char *name, const char *value), void *context)
{
    const struct rig_etcd_run *run = object;
    if (run->cluster.count > 0)
        rig_etcd_tell_flags(&run->cluster, tell, context);
}

static int64_t most_keys(const void *options, enum rig_workload workload)
{
    const struct rig_dialect_choice choice = choice_of(options);
    return rig_dialect_most_keys(&choice, workload);
}

static enum rig_rc preview(const void *options, enum rig_workload workload, const struct rig_transaction *transaction,
                           void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    const struct rig_dialect_choice choice = choice_of(options);
    return rig_http_preview_choice(&choice, workload, transaction, show, context, err);
}

static enum rig_rc script(const void *options, enum rig_workload workload, const struct rig_script_part *part,
                          void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    const struct rig_dialect_choice choice = choice_of(options);
    return rig_http_script_show(&choice, workload, part, show, context, err);
}

/* ---- cluster ---- */

static bool cluster_wanted(const void *options)
{
    return starts_cluster(options);
}

/* Clients reach each member directly, or through the proxy. */
static enum rig_rc add_endpoints(struct rig_etcd_run *run, struct rig_err *err)
{
    const struct rig_core *core = run->http.env->core;
    enum rig_rc rc = RIG_OK;
    run->http.endpoint_count = 0;
    for (uint32_t i = 0; rc == RIG_OK && i < run->cluster.count; i++) {
        const struct rig_etcd_member *member = &run->cluster.members[i];
        uint16_t port = member->client_port;
        char base[64];
        if (core->routed())
            rc = core->route("client", member->node.name, "127.0.0.1", member->client_port, &port, err);
        (void)snprintf(base, sizeof base, "http://127.0.0.1:%u", port);
        if (rc == RIG_OK)
            rc = rig_http_run_add_endpoint(&run->http, base, member->node.name, err);
    }
    return rc;
}

static enum rig_rc cluster_start(void *object, struct rig_err *err)
{
    struct rig_etcd_run *run = object;
    const enum rig_rc rc = rig_etcd_cluster_start(&run->cluster, err);
    return rc == RIG_OK ? add_endpoints(run, err) : rc;
}

static void cluster_stop(void *run)
{
    rig_etcd_cluster_stop(&((struct rig_etcd_run *)run)->cluster);
}

static void cluster_kill_now(void *run)
{
    rig_etcd_cluster_kill_now(&((struct rig_etcd_run *)run)->cluster);
}

static uint32_t cluster_node_count(const void *run)
{
    return ((const struct rig_etcd_run *)run)->cluster.count;
}

static enum rig_rc cluster_status(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    return rig_etcd_cluster_status(&((struct rig_etcd_run *)run)->cluster, node, status, err);
}

static enum rig_rc cluster_stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    return rig_etcd_cluster_stop_node(&((struct rig_etcd_run *)run)->cluster, node, how, err);
}

static enum rig_rc cluster_start_node(void *run, uint32_t node, struct rig_err *err)
{
    return rig_etcd_cluster_start_node(&((struct rig_etcd_run *)run)->cluster, node, err);
}

static enum rig_rc cluster_promote(void *run, uint32_t node, struct rig_err *err)
{
    return rig_etcd_cluster_promote(&((struct rig_etcd_run *)run)->cluster, node, err);
}

static enum rig_rc cluster_restore(void *run, struct rig_err *err)
{
    return rig_etcd_cluster_restore(&((struct rig_etcd_run *)run)->cluster, err);
}

static uint32_t cluster_processes(void *run, uint32_t node, pid_t *pids, uint32_t capacity)
{
    return rig_child_processes(&((struct rig_etcd_run *)run)->cluster.members[node].node.server, pids, capacity);
}

static const char *cluster_data_dir(const void *run, uint32_t node)
{
    return ((const struct rig_etcd_run *)run)->cluster.members[node].node.data;
}

static enum rig_rc cluster_address(void *run, uint32_t node, struct rig_node_address *address, struct rig_err *err)
{
    const struct rig_etcd_cluster *cluster = &((const struct rig_etcd_run *)run)->cluster;
    if (node >= cluster->count || cluster->members[node].client_port == 0)
        return rig_fail(err, RIG_E_CLUSTER, "there is no member %u", node + 1);
    *address = (struct rig_node_address){.host = "127.0.0.1", .port = cluster->members[node].client_port};
    return RIG_OK;
}

static enum rig_rc tell_access(void *run, void (*tell)(void *context, const char *setting), void *context,
                               struct rig_err *err)
{
    struct rig_etcd_run *etcd = run;
    struct rig_buf setting;
    (void)err;
    rig_buf_init(&setting, 0);
    rig_buf_add_text(&setting, "database.endpoints=[");
    for (uint32_t i = 0; i < etcd->cluster.count; i++)
        rig_buf_printf(&setting, "%shttp://127.0.0.1:%u", i == 0 ? "" : ", ",
                       (unsigned)etcd->cluster.members[i].client_port);
    rig_buf_add_char(&setting, ']');
    tell(context, rig_buf_text(&setting));
    rig_buf_done(&setting);
    return RIG_OK;
}

/* No set_environment: a program in Go makes its system calls itself, so no preloaded library sees them. */
static const struct rig_cluster_ops cluster_ops = {
    .wanted = cluster_wanted,
    .start = cluster_start,
    .stop = cluster_stop,
    .kill_now = cluster_kill_now,
    .node_count = cluster_node_count,
    .status = cluster_status,
    .stop_node = cluster_stop_node,
    .start_node = cluster_start_node,
    .promote = cluster_promote,
    .restore = cluster_restore,
    .processes = cluster_processes,
    .data_dir = cluster_data_dir,
    .faults = rig_etcd_faults,
    .address = cluster_address,
    .access = tell_access,
};

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "etcd",
    .summary = "etcd v3, through its JSON gateway: members that rig starts, or existing ones",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_LOCK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK),
    .features = RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_JOINS,
    .options = etcd_option_table,
    .options_size = sizeof(struct rig_etcd_options),
    .run_size = sizeof(struct rig_etcd_run),
    .session_size = sizeof(struct rig_http_session),
    .check = check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = teardown,
    .open = rig_http_session_open,
    .transact = rig_http_session_transact,
    .interrupt = rig_http_session_interrupt,
    .close = rig_http_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_MEMBER) | RIG_COLUMN_BIT(RIG_COLUMN_ORDER),
    .settings = settings,
    .cluster = &cluster_ops,
    .most_keys = most_keys,
    .preview = preview,
    .script = script,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_LAST_VERSIONS,
    .certificate_source = "etcd's watch",
    .certify = certify,
};
