#include "drivers/mysql/my_fault.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "drivers/mysql/my_session.h"

static const int64_t step_ns = 20 * RIG_NS_PER_MS;

const struct rig_fault *const rig_my_faults[] = {
    &rig_my_fault_read_lock,
    &rig_my_fault_kill_query,
    &rig_my_fault_maintenance,
    &rig_my_fault_desync,
    &rig_my_fault_flow_control,
    &rig_my_fault_state_transfer,
    NULL,
};

struct rig_my_cluster *rig_my_fault_cluster(const struct rig_fault_site *site)
{
    return &((struct rig_my_run *)site->run)->cluster;
}

struct rig_my_node *rig_my_fault_node(const struct rig_fault_site *site, uint32_t i)
{
    struct rig_my_cluster *cluster = rig_my_fault_cluster(site);
    RIG_REQUIRE(i < site->node_count && site->nodes[i] < cluster->sql.count);
    return &cluster->nodes[site->nodes[i]];
}

enum rig_rc rig_my_fault_await(const struct rig_my_node *node, const char *sql, const char *wanted, bool always,
                               const char *missing, char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    const int64_t deadline_ns = core->now_ns() + RIG_MY_FAULT_NS;
    for (;;) {
        struct rig_err problem = {.rc = RIG_OK};
        const enum rig_rc rc = rig_my_node_ask(node, sql, RIG_NS_PER_S, answer, &problem);
        if (rc == RIG_OK &&
            (wanted != NULL ? strcmp(answer, wanted) == 0 : answer[0] != '\0' && strcmp(answer, "0") != 0))
            return RIG_OK;
        if (core->stopping() && !always)
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        if (core->now_ns() > deadline_ns || !rig_local_node_runs(&node->local))
            return rig_fail(err, RIG_E_CLUSTER, "%s: %s%s%s", node->local.name, missing, rc != RIG_OK ? ": " : "",
                            rc != RIG_OK ? problem.text : "");
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
}

/*
 * read-lock: FLUSH TABLES WITH READ LOCK, which a backup takes: statements that write and commits wait until it is released.
 *
 * Evidence: a client's statement waits for the lock, in the server's list of processes. The lock ends with the session
 * that holds it.
 */

struct read_lock {
    struct rig_sql_waiter waiter;
    struct rig_my_connection connection; /* that holds the lock of the first target; .my NULL: none */
};

static enum rig_rc take_read_lock(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                                  struct rig_err *err)
{
    /* MariaDB from 10.4 on, and before it and MySQL; the threads of replication have no client. */
    static const char waiting[] =
        "SELECT CONCAT(STATE, ' (thread ', ID, ')') FROM information_schema.PROCESSLIST WHERE STATE IN ('Waiting for "
        "backup lock', "
        "'Waiting for global read lock', 'Waiting for commit lock') AND USER NOT IN ('root', 'system user') LIMIT 1";
    struct read_lock *state = object;
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

static enum rig_rc release_read_lock(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                                     struct rig_err *err)
{
    struct read_lock *state = object;
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
    .state_size = sizeof(struct read_lock),
    .inject = take_read_lock,
    .heal = release_read_lock,
};

/*
 * kill-query: KILL QUERY for statements of clients, as an administrator or a time-out of an application would.
 *
 * A statement can have ended before the order comes, so the fault strikes until enough of them have failed.
 *
 * Evidence: clients were answered with error 1317, by their driver's own count. The connections stay, and there is nothing
 * to undo.
 */

struct kill_options {
    int64_t statements;
};

static const struct rig_option kill_table[] = {
    {.name = "statements",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct kill_options, statements),
     .default_text = "1",
     .least = 1,
     .most = 1000,
     .help = "number of statements that fail with it, at least"},
    {.name = NULL},
};

/* Chooses and strikes in one request, which most statements outlast. The victim may have ended all the same. */
static void strike(struct rig_my_connection *connection, uint64_t random, int64_t deadline_ns)
{
    char sql[512];
    struct rig_err none = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql,
                   "SET @victim = (SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') "
                   "AND USER NOT IN ('root', 'system user') ORDER BY MD5(CONCAT(ID, '%llu')) LIMIT 1); KILL QUERY "
                   "@victim",
                   (unsigned long long)random);
    (void)rig_my_query(connection, sql, deadline_ns, NULL, &none);
}

static enum rig_rc strike_until(const struct rig_fault_site *site, const struct rig_my_node *node,
                                struct rig_my_connection *connection, uint64_t *failed, struct rig_err *err)
{
    const struct kill_options *options = site->options;
    const struct rig_my_run *run = site->run;
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    const uint64_t before = atomic_load(&run->interrupted);
    for (uint64_t i = 0; (*failed = atomic_load(&run->interrupted) - before) < (uint64_t)options->statements; i++) {
        if (site->core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        if (site->core->now_ns() > deadline_ns || connection->reason != NULL)
            return rig_fail(err, RIG_E_CLUSTER, "%s: %llu statements of clients failed by KILL QUERY, fewer than %lld",
                            node->local.name, (unsigned long long)*failed, (long long)options->statements);
        strike(connection, site->random + i, deadline_ns);
    }
    return RIG_OK;
}

static enum rig_rc kill_queries(const struct rig_fault_site *site, uint32_t i, void *state,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    struct rig_my_connection connection;
    struct rig_sql_waiter waiter = {.core = site->core};
    struct rig_err problem = {.rc = RIG_OK};
    uint64_t failed = 0;
    enum rig_rc rc =
        rig_my_node_connect(node, &connection, &waiter, site->core->now_ns() + RIG_MY_FAULT_NS / 4, &problem);
    if (rc == RIG_OK)
        rc = strike_until(site, node, &connection, &failed, err);
    else
        rc = rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
    rig_my_disconnect(&connection);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %llu statement%s of clients failed with error 1317", node->local.name,
                      (unsigned long long)failed, rig_plural(failed));
    return rc;
}

const struct rig_fault rig_my_fault_kill_query = {
    .name = "kill-query",
    .summary = "ends statements of clients by KILL QUERY",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = kill_table,
    .options_size = sizeof(struct kill_options),
    .inject_node = kill_queries,
};
