#include "drivers/postgres/pg_fault.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "drivers/postgres/pg_session.h"

/*
 * Faults of single sessions of clients: ended by the server, killed, or paused.
 */

/*
 * terminate-sessions: ends clients' sessions by pg_terminate_backend(), as an administrator or a pooler would.
 *
 * Evidence: the server processes that were told to end are gone.
 */

struct terminate_options {
    double share;
};

static const struct rig_option terminate_table[] = {
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct terminate_options, share),
     .default_text = "100%",
     .least = 0.01,
     .most = 1,
     .help = "share of the sessions, at least one of them"},
    {.name = NULL},
};

/* Time to wait for a session to strike: clients may be connecting at the moment. */
static const int64_t patience_ns = 5 * RIG_NS_PER_S;

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

/* Whether a wait can succeed: it runs, and no fault has stopped it. */
static bool may_answer(const struct rig_pg_node *node)
{
    struct rig_process_stat server;
    return rig_local_node_runs(&node->local) && rig_process_stat(rig_child_pid(&node->local.server), &server) &&
           server.state != 'T';
}

static const int64_t step_ns = 10 * RIG_NS_PER_MS;

/*
 * Chooses a client's server process, one in the middle of a transaction if there is any. Waits a while for one;
 * RIG_E_CLUSTER when there is none, RIG_E_INTERRUPTED when the run ends.
 */
static enum rig_rc pg_fault_choose(const struct rig_fault_site *site, const struct rig_pg_node *node,
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

static enum rig_rc terminate_sessions(const struct rig_fault_site *site, uint32_t i, void *state,
                                      struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    const struct terminate_options *options = site->options;
    struct rig_process first;
    char sql[1024];
    char answer[RIG_PG_ANSWER_BYTES];
    /* Waits until there are sessions. */
    enum rig_rc rc = pg_fault_choose(site, node, &first, err);
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

static const struct rig_fault pg_fault_terminate = {
    .name = "terminate-sessions",
    .varied = "share: 20%",
    .summary = "ends sessions of clients by pg_terminate_backend()",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = terminate_table,
    .options_size = sizeof(struct terminate_options),
    .inject_node = terminate_sessions,
};

/*
 * kill-session: a signal to the server process of one client's session, in the middle of a transaction if there is any.
 *
 * The kernel sends SIGKILL when memory runs out: PostgreSQL then ends all its processes and recovers from the log,
 * since the killed one may have left shared memory inconsistent. SIGTERM ends the session only.
 *
 * Evidence: the process is gone; after SIGKILL the server has answered again by the time of healing.
 */

enum { BY_KILL, BY_TERM };
static const char *const words[] = {"kill", "term", NULL};

struct kill_options {
    int64_t by;
};

static const struct rig_option kill_table[] = {
    {.name = "signal",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct kill_options, by),
     .default_text = "kill",
     .choices = words,
     .help = "kill: SIGKILL, and the whole server recovers from a crash; term: SIGTERM, and the session ends"},
    {.name = NULL},
};

struct kill_state {
    bool struck[RIG_NODES_MOST]; /* by position among the targets: a recovery is to be awaited */
};

static enum rig_rc kill_session(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    const struct kill_options *options = site->options;
    struct kill_state *state = private_state;
    int signal_number = options->by == BY_KILL ? SIGKILL : SIGTERM;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    struct rig_process victim;
    enum rig_rc rc = pg_fault_choose(site, node, &victim, err);
    if (rc != RIG_OK)
        return rc;
    state->struck[i] = true;
    if (!rig_process_signal(&victim, signal_number) && errno != ESRCH)
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %d cannot be signalled: %s", node->local.name, (int)victim.pid,
                        strerror(errno));
    if (!rig_process_await_end(&victim, RIG_PG_FAULT_NS / 4))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %d still runs after signal %d", node->local.name,
                        (int)victim.pid, signal_number);
    rig_local_say(evidence, "%s: process %d of a session is gone", node->local.name, (int)victim.pid);
    return RIG_OK;
}

static enum rig_rc await_restart(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                 struct rig_evidence *evidence, struct rig_err *err)
{
    struct kill_state *state = private_state;
    struct rig_pg_node *node = rig_pg_fault_node(site, i);
    /* A fault that stopped the node meanwhile also starts it. */
    if (!state->struck[i] || !rig_local_node_runs(&node->local))
        return RIG_OK;
    enum rig_rc rc = rig_pg_node_start(node, true, site->core->now_ns() + RIG_PG_FAULT_NS, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s answers", node->local.name);
    state->struck[i] = rc != RIG_OK;
    return rc;
}

static const struct rig_fault pg_fault_kill_session = {
    .name = "kill-session",
    .summary = "kills the server process of one session: the server recovers from a crash",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = kill_table,
    .options_size = sizeof(struct kill_options),
    .state_size = sizeof(struct kill_state),
    .inject_node = kill_session,
    .heal_node = await_restart,
};

/*
 * pause-session: stops the server process of one client's session, in the middle of a transaction if there is any; its
 * locks stay.
 *
 * Evidence: the process is in the state `stopped`, and no longer once it is healed. It needs no entry in the undo
 * journal: when rig dies its server goes down, and kills processes that do not end within 5 s.
 */

struct pause_state {
    struct rig_process victims[RIG_NODES_MOST]; /* by position among the targets; .pid 0: none */
};

static enum rig_rc pause_session(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                 struct rig_evidence *evidence, struct rig_err *err)
{
    struct pause_state *state = private_state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    struct rig_process *victim = &state->victims[i];
    enum rig_rc rc = pg_fault_choose(site, node, victim, err);
    if (rc != RIG_OK)
        return rc;
    (void)rig_process_signal(victim, SIGSTOP);
    if (!rig_process_await_state(victim, true, RIG_PG_FAULT_NS / 4))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %d does not stop", node->local.name, (int)victim->pid);
    rig_local_say(evidence, "%s: process %d of a session is stopped", node->local.name, (int)victim->pid);
    return RIG_OK;
}

static enum rig_rc resume_session(const struct rig_fault_site *site, uint32_t i, void *private_state,
                                  struct rig_evidence *evidence, struct rig_err *err)
{
    struct pause_state *state = private_state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    struct rig_process *victim = &state->victims[i];
    if (victim->pid == 0)
        return RIG_OK;
    (void)rig_process_signal(victim, SIGCONT);
    bool goes_on = rig_process_await_state(victim, false, RIG_PG_FAULT_NS / 4);
    if (!goes_on && rig_process_lives(victim))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %d does not resume", node->local.name, (int)victim->pid);
    rig_local_say(evidence, "%s: %s", node->local.name, goes_on ? "it resumed" : "it is gone");
    victim->pid = 0;
    return RIG_OK;
}

static const struct rig_fault pg_fault_pause_session = {
    .name = "pause-session",
    .varied = "for: 100ms",
    .summary = "stops the server process of one session, with the locks that it holds",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES | RIG_FAULT_STOPS,
    .state_size = sizeof(struct pause_state),
    .inject_node = pause_session,
    .heal_node = resume_session,
};

const struct rig_fault *const rig_pg_faults[] = {
    &pg_fault_terminate,      &pg_fault_kill_session,
    &pg_fault_pause_session,  &rig_pg_fault_vacuum_full,
    &rig_pg_fault_reindex,    &rig_pg_fault_alter,
    &rig_pg_fault_checkpoint, &rig_pg_fault_lock_pressure,
    &rig_pg_fault_deadlocks,  NULL,
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
