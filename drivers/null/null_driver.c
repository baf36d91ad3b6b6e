/*
 * `null`: a driver that does nothing and answers ok; every read finds the initial state.
 *
 * It measures the cost of rig itself, and lets tests of `run/` call every hook without a server. Its record is no
 * history of a database: appends are acknowledged and never seen.
 */
#include <stdio.h>

#include "drivers/built_in.h"

struct null_run {
    const struct rig_run_env *env;
};

struct null_session {
    struct null_run *run;
};

static enum rig_rc null_init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    (void)err;
    ((struct null_run *)run)->env = env;
    return RIG_OK;
}

static void null_done(void *run)
{
    (void)run;
}

static enum rig_rc null_open(void *session, void *run, uint32_t client, struct rig_err *err)
{
    (void)client;
    (void)err;
    ((struct null_session *)session)->run = run;
    return RIG_OK;
}

static enum rig_outcome null_transact(void *session, struct rig_transaction *transaction)
{
    struct null_session *s = session;
    if (transaction->hold.wanted)
        (void)s->run->env->core->hold(transaction);
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (i > 0 && transaction->delayed)
            (void)s->run->env->core->delay(transaction);
        if (rig_op_reads(transaction->ops[i].kind))
            transaction->reads[i].state = RIG_READ_NIL;
    }
    transaction->phase = RIG_PHASE_COMMIT;
    return RIG_OUTCOME_OK;
}

static void null_interrupt(void *session)
{
    (void)session;
}

static void null_close(void *session, bool last)
{
    (void)session;
    (void)last;
}

static void null_describe(void *run, char *text, size_t size)
{
    (void)run;
    (void)snprintf(text, size, "null (no database: acknowledges everything, keeps nothing)");
}

const struct rig_driver rig_driver_null = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "null",
    .summary = "no database: acknowledges everything and keeps nothing, to measure rig itself",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_RW_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET),
    .features = RIG_DRIVER_HOLDS,
    .run_size = sizeof(struct null_run),
    .session_size = sizeof(struct null_session),
    .init = null_init,
    .done = null_done,
    .open = null_open,
    .transact = null_transact,
    .interrupt = null_interrupt,
    .close = null_close,
    .describe = null_describe,
};
