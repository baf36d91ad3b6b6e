/*
 * terminate-sessions: ends clients' sessions by pg_terminate_backend(), as an administrator or a pooler would.
 *
 * Evidence: the server processes that were told to end are gone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"

#include "drivers/postgres/pg_fault.h"

struct options {
    double share;
};

static const struct rig_option table[] = {
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, share),
     .default_text = "100%",
     .least = 0.01,
     .most = 1,
     .help = "share of the sessions, at least one of them"},
    {.name = NULL},
};

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    const struct options *options = site->options;
    struct rig_process first;
    char sql[1024];
    char answer[RIG_PG_ANSWER_BYTES];
    /* Waits until there are sessions. */
    enum rig_rc rc = rig_pg_fault_choose(site, node, &first, err);
    if (rc != RIG_OK)
        return rc;
    /* From PostgreSQL 14 on the function waits for the end of each session, for the given time. */
    (void)snprintf(sql, sizeof sql,
                   "WITH s AS (SELECT pid, row_number() OVER (ORDER BY md5(concat(pid, '%llu'))) AS n, count(*) OVER ()"
                   " AS c FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'rig'),"
                   " t AS MATERIALIZED (SELECT pid, pg_terminate_backend(pid) AS told FROM s WHERE n <="
                   " greatest(1, ceil(c * %.4f))) SELECT count(*) FILTER (WHERE told) FROM t",
                   (unsigned long long)site->random, options->share);
    rc = rig_pg_node_ask(node, sql, RIG_PG_FAULT_NS, answer, err);
    if (rc != RIG_OK)
        return rc;
    long told = strtol(answer, NULL, 10);
    if (told == 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: no session could be ended", node->local.name);
    if (options->share >= 1 && !rig_process_await_end(&first, RIG_PG_FAULT_NS / 4))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %d was asked to end, and still runs", node->local.name,
                        (int)first.pid);
    rig_local_say(evidence, "%s: %ld session%s ended", node->local.name, told, rig_plural((uint64_t)told));
    return RIG_OK;
}

const struct rig_fault rig_pg_fault_terminate = {
    .name = "terminate-sessions",
    .summary = "ends sessions of clients by pg_terminate_backend()",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .inject_node = inject_node,
};
