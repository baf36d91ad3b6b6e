/*
 * The driver http: any database with an HTTP API, as its dialect describes it.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/http/http_preview.h"
#include "drivers/http/http_script.h"
#include "drivers/http/http_session.h"

struct options {
    const char *dialect;
    struct rig_text_list parameters;
    struct rig_http_options http;
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
     .required = true,
     .help = "the servers, each `http://HOST:PORT` or `https://...`, with a path if the API has one"},
    RIG_HTTP_OPTION_ROWS(struct options, http),
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
    if (rc == RIG_OK && options->http.endpoints.count == 0)
        rc = rig_fail(err, RIG_E_PLAN, "`endpoints`: expected at least one server");
    if (rc == RIG_OK)
        rc = rig_dialect_choose(&choice, workload, &dialect, err);
    rig_dialect_free(dialect);
    return rc;
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_http_run *run = object;
    const struct options *options = env->options;
    const struct rig_dialect_choice choice = choice_of(options);
    struct rig_dialect *dialect = NULL;
    enum rig_rc rc = rig_dialect_choose(&choice, env->workload, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_http_run_init(run, env, &options->http, dialect, err);
    for (size_t i = 0; rc == RIG_OK && i < options->http.endpoints.count; i++)
        rc = rig_http_run_add_endpoint(run, options->http.endpoints.at[i], NULL, err);
    return rc;
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_http_run *run = object;
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
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK),
    .features = RIG_DRIVER_NODES | RIG_DRIVER_JOINS,
    .options = option_table,
    .options_size = sizeof(struct options),
    .run_size = sizeof(struct rig_http_run),
    .session_size = sizeof(struct rig_http_session),
    .check = check,
    .init = init,
    .done = rig_http_run_done,
    .setup = rig_http_run_setup,
    .teardown = rig_http_run_teardown,
    .open = rig_http_session_open,
    .transact = rig_http_session_transact,
    .interrupt = rig_http_session_interrupt,
    .close = rig_http_session_close,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_MEMBER) | RIG_COLUMN_BIT(RIG_COLUMN_ORDER),
    .most_keys = most_keys,
    .preview = preview,
    .script = script,
};
