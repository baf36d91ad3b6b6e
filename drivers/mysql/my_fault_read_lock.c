/*
 * read-lock: FLUSH TABLES WITH READ LOCK, which a backup takes: statements that write and commits wait until it is released.
 *
 * Evidence: a client's statement waits for the lock, in the server's list of processes. The lock ends with the session
 * that holds it.
 */
#include "drivers/mysql/my_fault.h"

struct state {
    struct rig_sql_waiter waiter;
    struct rig_my_connection connection; /* that holds the lock of the first target; .my NULL: none */
};

static enum rig_rc inject(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    /* MariaDB from 10.4 on, and before it and MySQL; the threads of replication have no client. */
    static const char waiting[] =
        "SELECT CONCAT(STATE, ' (thread ', ID, ')') FROM information_schema.PROCESSLIST WHERE STATE IN ('Waiting for "
        "backup lock', "
        "'Waiting for global read lock', 'Waiting for commit lock') AND USER NOT IN ('root', 'system user') LIMIT 1";
    struct state *state = object;
    const struct rig_my_node *node = rig_my_fault_node(site, 0);
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err problem = {.rc = RIG_OK};
    state->waiter = (struct rig_sql_waiter){.core = site->core};
    enum rig_rc rc = rig_my_node_connect(node, &state->connection, &state->waiter, deadline_ns, &problem);
    if (rc == RIG_OK)
        rc = rig_my_query(&state->connection, "SET lock_wait_timeout = 15; FLUSH TABLES WITH READ LOCK", deadline_ns,
                          NULL, &problem);
    if (rc != RIG_OK)
        return rig_fail(err, site->core->stopping() ? RIG_E_INTERRUPTED : RIG_E_CLUSTER, "%s: %s", node->local.name,
                        problem.text);
    rc = rig_my_fault_await(node, waiting, NULL, false, "no client waited for the lock", answer, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: holds a global read lock; %s", node->local.name, answer);
    return rc;
}

static enum rig_rc heal(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    struct state *state = object;
    struct rig_err ignored = {.rc = RIG_OK};
    (void)evidence, (void)err;
    state->waiter.to_the_end = true;
    /* A server that is gone or does not answer releases it with the connection. */
    if (state->connection.my != NULL)
        (void)rig_my_query(&state->connection, "UNLOCK TABLES", site->core->now_ns() + RIG_MY_FAULT_NS / 10, NULL,
                           &ignored);
    rig_my_disconnect(&state->connection);
    return RIG_OK;
}

const struct rig_fault rig_my_fault_read_lock = {
    .name = "read-lock",
    .summary = "holds FLUSH TABLES WITH READ LOCK, as a backup does: writes and commits wait",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .state_size = sizeof(struct state),
    .inject = inject,
    .heal = heal,
};
