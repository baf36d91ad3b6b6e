/*
 * The driver http: any database with an HTTP API, as its dialect describes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/http/http_preview.h"
#include "drivers/http/http_script.h"
#include "drivers/http/http_session.h"
#include "drivers/local/command_cluster.h"

struct options {
    const char *dialect;
    struct rig_text_list parameters;
    struct rig_http_options http;
    struct rig_command_options servers;
};

struct run {
    struct rig_http_run http; /* first: sessions use it */
    struct rig_command_cluster cluster;
};

static const struct rig_option option_table[] = {
    {.name = "dialect",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct options, dialect),
     .required = true,
     .help = "the dialect of the database: the name of an installed one (etcd, couchdb, rqlite, libsql), or the path "
             "of a file"},
    {.name = "parameters",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct options, parameters),
     .help = "parameters of the dialect, each `name=value`"},
    {.name = "endpoints",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = RIG_HTTP_OFFSET(struct options, http, endpoints),
     .help = "the servers, each `http://HOST:PORT` or `https://...`, with a path if the API has one; of nodes that rig "
             "starts `http://{host:1}:{port:1}/path` and so on, or without any `http://127.0.0.1:PORT` of each"},
    RIG_HTTP_OPTION_ROWS(struct options, http),
    RIG_COMMAND_OPTION_ROWS(struct options, servers),
    {0},
};

static struct rig_dialect_choice choice_of(const void *object)
{
    const struct options *options = object;
    return (struct rig_dialect_choice){
        .name = options->dialect, .parameters = &options->parameters, .http = &options->http};
}

static enum rig_rc check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct options *options = object;
    const struct rig_dialect_choice choice = choice_of(options);
    struct rig_dialect *dialect = NULL;
    enum rig_rc rc = rig_http_options_check(&options->http, err);
    if (rc == RIG_OK && options->http.endpoints.count == 0 && options->servers.command.count == 0)
        rc = rig_fail(err, RIG_E_PLAN,
                      "`endpoints`: expected at least one server, or `cluster.local.command` that starts one");
    if (rc == RIG_OK)
        rc = rig_command_options_check(&options->servers, err);
    if (rc == RIG_OK && options->servers.command.count > 0)
        rc = rig_command_list_check("endpoints", &options->http.endpoints, (unsigned)options->servers.nodes, err);
    if (rc == RIG_OK)
        rc = rig_dialect_choose(&choice, workload, &dialect, err);
    rig_dialect_free(dialect);
    return rc;
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct run *run = object;
    const struct options *options = env->options;
    const struct rig_dialect_choice choice = choice_of(options);
    struct rig_dialect *dialect = NULL;
    enum rig_rc rc = rig_command_cluster_init(&run->cluster, "http", env, &options->servers, err);
    if (rc == RIG_OK)
        rc = rig_dialect_choose(&choice, env->workload, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_http_run_init(&run->http, env, &options->http, dialect, err);
    for (size_t i = 0; rc == RIG_OK && i < options->http.endpoints.count && options->servers.command.count == 0; i++)
        rc = rig_http_run_add_endpoint(&run->http, options->http.endpoints.at[i], NULL, err);
    return rc;
}

static void done(void *object)
{
    struct run *run = object;
    rig_command_cluster_done(&run->cluster);
    rig_http_run_done(&run->http);
}

static void teardown(void *object)
{
    struct run *run = object;
    if (!run->http.own_servers)
        rig_http_run_teardown(&run->http);
}

/* ---- nodes of its own ---- */

RIG_COMMAND_CLUSTER_IN(struct options, struct run)

bool rig_command_cluster_is_routed(const void *object)
{
    const struct options *options = object;
    for (size_t i = 0; i < options->http.endpoints.count; i++) {
        if (!rig_command_text_is_routed(options->http.endpoints.at[i]))
            return false;
    }
    return true;
}

static enum rig_rc add_node(struct run *run, uint32_t node, const char *text, const char *name, struct rig_err *err)
{
    char own[64];
    (void)snprintf(own, sizeof own, "http://127.0.0.1:{port:%u}", node + 1);
    char *base = rig_command_client_text(&run->cluster, text == NULL ? own : text, err);
    if (base == NULL)
        return RIG_E_PLAN;
    const enum rig_rc rc = rig_http_run_add_endpoint(&run->http, base, name, err);
    free(base);
    return rc;
}

enum rig_rc rig_command_cluster_started(void *object, struct rig_err *err)
{
    struct run *run = object;
    const struct rig_text_list *endpoints = &run->http.options->endpoints;
    const struct rig_command_cluster *cluster = &run->cluster;
    enum rig_rc rc = RIG_OK;
    run->http.endpoint_count = 0;
    run->http.own_servers = true;
    for (uint32_t i = 0; rc == RIG_OK && endpoints->count == 0 && i < cluster->count; i++)
        rc = add_node(run, i, NULL, cluster->nodes[i].node.name, err);
    for (uint32_t i = 0; rc == RIG_OK && i < endpoints->count; i++)
        rc = add_node(run, i, endpoints->at[i], i < cluster->count ? cluster->nodes[i].node.name : NULL, err);
    return rc;
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_http_run *run = &((const struct run *)object)->http;
    const char *what = run->dialect->summary[0] == '\0' ? run->dialect->name : run->dialect->summary;
    (void)snprintf(text, size, "%s%s%s", what, run->version[0] == '\0' ? "" : ", version ", run->version);
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

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "http",
    .summary = "any database with an HTTP API that a dialect in YAML describes",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_LOCK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK),
    .features = RIG_DRIVER_NODES | RIG_DRIVER_ROUTES | RIG_DRIVER_JOINS,
    .options = option_table,
    .options_size = sizeof(struct options),
    .run_size = sizeof(struct run),
    .session_size = sizeof(struct rig_http_session),
    .check = check,
    .init = init,
    .done = done,
    .setup = rig_http_run_setup,
    .teardown = teardown,
    .open = rig_http_session_open,
    .transact = rig_http_session_transact,
    .interrupt = rig_http_session_interrupt,
    .close = rig_http_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_MEMBER) | RIG_COLUMN_BIT(RIG_COLUMN_ORDER),
    .cluster = &rig_command_cluster_ops,
    .most_keys = most_keys,
    .preview = preview,
    .script = script,
};
