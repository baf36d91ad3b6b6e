/*
 * kill-query: KILL QUERY for statements of clients, as an administrator or a time-out of an application would.
 *
 * A statement can have ended before the order comes, so the fault strikes until enough of them have failed.
 *
 * Evidence: clients were answered with error 1317, by their driver's own count. The connections stay, and there is nothing
 * to undo.
 */
#include <stdio.h>

#include "base/plural.h"
#include "drivers/mysql/my_fault.h"
#include "drivers/mysql/my_session.h"

struct options {
    int64_t statements;
};

static const struct rig_option table[] = {
    {.name = "statements",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, statements),
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
    const struct options *options = site->options;
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

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
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
    .options = table,
    .options_size = sizeof(struct options),
    .inject_node = inject_node,
};
