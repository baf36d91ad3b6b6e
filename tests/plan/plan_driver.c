/*
 * A driver for the tests of plans: options of every kind, a check of its own, and limits to what it can run. No test
 * opens a session of it.
 */
#include "drivers/driver.h"

struct options {
    const char *conninfo;
    const char *password;
    struct rig_text_list hosts;
    int64_t isolation;
    int64_t nodes;
    int64_t start_timeout_ns;
    int64_t memory_bytes;
    bool pipeline;
};

#define AT(member) offsetof(struct options, member)

static const char *const isolation_choices[] = {"read-committed", "repeatable-read", NULL};

static const struct rig_option option_table[] = {
    {.name = "conninfo", .type = RIG_OPTION_TEXT, .offset = AT(conninfo), .help = "how to connect"},
    {.name = "password", .type = RIG_OPTION_SECRET, .offset = AT(password), .help = "what to say then"},
    {.name = "hosts", .type = RIG_OPTION_TEXT_LIST, .offset = AT(hosts), .help = "servers that are there"},
    {.name = "isolation",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(isolation),
     .default_text = "read-committed",
     .choices = isolation_choices,
     .help = "isolation of the transactions"},
    {.name = "cluster.local.nodes",
     .type = RIG_OPTION_INT,
     .offset = AT(nodes),
     .default_text = "1",
     .least = 1,
     .most = 9,
     .help = "servers to start"},
    {.name = "cluster.local.memory",
     .type = RIG_OPTION_SIZE,
     .offset = AT(memory_bytes),
     .default_text = "64MiB",
     .least = 1 << 20,
     .most = 0x1p40,
     .help = "memory of each"},
    {.name = "cluster.start-timeout",
     .type = RIG_OPTION_DURATION,
     .offset = AT(start_timeout_ns),
     .default_text = "30s",
     .least = 1e6,
     .most = 3600e9,
     .help = "longest wait for them"},
    {.name = "pipeline", .type = RIG_OPTION_BOOL, .offset = AT(pipeline), .default_text = "true", .help = "send ahead"},
    {.name = NULL},
};

static enum rig_rc check(const void *options, enum rig_workload workload, struct rig_err *err)
{
    const struct options *chosen = options;
    (void)workload;
    if (chosen->hosts.count > 0 && chosen->nodes > 1)
        return rig_fail(err, RIG_E_PLAN, "`cluster.local.nodes` and `hosts` exclude each other: leave one out");
    return RIG_OK;
}

static enum rig_rc init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    (void)run;
    (void)env;
    return rig_fail(err, RIG_E_DRIVER, "the driver of the plan tests runs nothing");
}

static void done(void *run)
{
    (void)run;
}

static enum rig_rc open_session(void *session, void *run, uint32_t client, struct rig_err *err)
{
    (void)session;
    (void)client;
    return init(run, NULL, err);
}

static enum rig_outcome transact(void *session, struct rig_transaction *transaction)
{
    (void)session;
    transaction->phase = RIG_PHASE_CONNECT;
    return RIG_OUTCOME_FAIL;
}

static void interrupt(void *session)
{
    (void)session;
}

static void close_session(void *session, bool last)
{
    (void)session;
    (void)last;
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "plantest",
    .summary = "options of every kind, for the tests of plans",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND),
    .options = option_table,
    .options_size = sizeof(struct options),
    .run_size = 1,
    .session_size = 1,
    .check = check,
    .init = init,
    .done = done,
    .open = open_session,
    .transact = transact,
    .interrupt = interrupt,
    .close = close_session,
};
