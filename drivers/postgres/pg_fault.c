#include "drivers/postgres/pg_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "drivers/postgres/pg_session.h"

static const int64_t step_ns = 10 * RIG_NS_PER_MS;
/* Time to wait for a session to strike: clients may be connecting at the moment. */
static const int64_t patience_ns = 5 * RIG_NS_PER_S;

const struct rig_fault *const rig_pg_faults[] = {
    &rig_pg_fault_terminate,     &rig_pg_fault_kill_session,
    &rig_pg_fault_pause_session, &rig_pg_fault_vacuum_full,
    &rig_pg_fault_reindex,       &rig_pg_fault_alter,
    &rig_pg_fault_checkpoint,    &rig_pg_fault_lock_pressure,
    &rig_pg_fault_deadlocks,     NULL,
};

struct rig_pg_node *rig_pg_fault_node(const struct rig_fault_site *site, uint32_t i)
{
    struct rig_pg_run *run = site->run;
    RIG_REQUIRE(i < site->node_count && site->nodes[i] < run->cluster.sql.count);
    return &run->cluster.nodes[site->nodes[i]];
}

struct rig_pg_node *rig_pg_fault_primary(const struct rig_fault_site *site)
{
    struct rig_pg_run *run = site->run;
    return &run->cluster.nodes[rig_pg_nodes.primary(&run->sql)];
}

/* ---- sessions ---- */

/* Whether a wait can succeed: it runs, and no fault has stopped it. */
static bool may_answer(const struct rig_pg_node *node)
{
    struct rig_process_stat server;
    return rig_local_node_runs(&node->local) && rig_process_stat(rig_child_pid(&node->local.server), &server) &&
           server.state != 'T';
}

enum rig_rc rig_pg_fault_open(const struct rig_pg_node *node, struct rig_pg_fault_session *session, struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    int64_t deadline_ns = core->now_ns() + RIG_PG_FAULT_NS / 2;
    session->waiter.core = core;
    session->waiter.to_the_end = true;
    for (;;) {
        struct rig_err problem = {.rc = RIG_OK};
        if (rig_pg_node_connect(node, &session->connection, &session->waiter, deadline_ns, &problem) == RIG_OK)
            break;
        rig_pg_disconnect(&session->connection);
        /* It may be recovering from a crash. */
        if (!may_answer(node) || core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "%s: %s", node->local.name, problem.text);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
    return rig_pg_fault_ask(node, session,
                            "SET synchronous_commit = local; SET lock_timeout = '15s'; SET statement_timeout = '18s'",
                            NULL, err);
}

void rig_pg_fault_close(struct rig_pg_fault_session *session)
{
    rig_pg_disconnect(&session->connection);
}

enum rig_rc rig_pg_fault_ask(const struct rig_pg_node *node, struct rig_pg_fault_session *session, const char *sql,
                             char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err)
{
    struct rig_err problem = {.rc = RIG_OK};
    PGresult *result = NULL;
    enum rig_rc rc =
        rig_pg_query(&session->connection, sql, session->waiter.core->now_ns() + RIG_PG_FAULT_NS, &result, &problem);
    if (rc == RIG_OK && answer != NULL)
        (void)snprintf(answer, RIG_PG_ANSWER_BYTES, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
}

enum rig_rc rig_pg_fault_tables(const struct rig_pg_node *node, struct rig_pg_fault_session *session,
                                struct rig_pg_fault_tables *tables, struct rig_err *err)
{
    char sql[1024];
    struct rig_pg_place place;
    struct rig_err problem = {.rc = RIG_OK};
    PGresult *result = NULL;
    rig_pg_place_find(node->site->local.env, node->site->options, &place);
    (void)snprintf(sql, sizeof sql,
                   "SELECT substr(c.relname, %zu) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                   " WHERE n.nspname = '%s' AND c.relkind = 'r' AND c.relname ~ '^%s[0-9]+$' ORDER BY c.relname",
                   strlen(place.stem) + 1, place.schema, place.stem);
    enum rig_rc rc =
        rig_pg_query(&session->connection, sql, session->waiter.core->now_ns() + RIG_PG_FAULT_NS, &result, &problem);
    tables->count = 0;
    for (int i = 0; rc == RIG_OK && i < PQntuples(result) && i < RIG_PG_FAULT_TABLES_MOST; i++)
        rig_pg_place_table(&place, strtoll(PQgetvalue(result, i, 0), NULL, 10), tables->names[tables->count++]);
    PQclear(result);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
    return tables->count > 0 ? RIG_OK
                             : rig_fail(err, RIG_E_CLUSTER, "%s: the run's tables are not there", node->local.name);
}

/* ---- choosing ---- */

/* Among equals the injection's random number decides. */
static enum rig_rc choose_once(const struct rig_fault_site *site, const struct rig_pg_node *node,
                               struct rig_process *victim, struct rig_err *err)
{
    char sql[512];
    char answer[RIG_PG_ANSWER_BYTES];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'rig'"
                   " ORDER BY xact_start IS NULL, md5(concat(pid, '%llu')) LIMIT 1",
                   (unsigned long long)site->random);
    enum rig_rc rc = rig_pg_node_ask(node, sql, RIG_PG_FAULT_NS / 4, answer, err);
    pid_t pid = rc == RIG_OK ? (pid_t)strtol(answer, NULL, 10) : 0;
    if (!rig_child_find(&node->local.server, pid, victim))
        victim->pid = 0;
    return rc;
}

enum rig_rc rig_pg_fault_choose(const struct rig_fault_site *site, const struct rig_pg_node *node,
                                struct rig_process *victim, struct rig_err *err)
{
    int64_t deadline_ns = site->core->now_ns() + patience_ns;
    for (;;) {
        struct rig_err problem = {.rc = RIG_OK};
        enum rig_rc rc = choose_once(site, node, victim, &problem);
        if (victim->pid != 0)
            return RIG_OK;
        if (site->core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        bool is_late = site->core->now_ns() > deadline_ns;
        if (rc != RIG_OK && (is_late || !may_answer(node)))
            return rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
        if (is_late)
            return rig_fail(err, RIG_E_CLUSTER, "%s: no client has a session there", node->local.name);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
}
