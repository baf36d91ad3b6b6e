/*
 * Faults of single sessions of clients: ended by the server, killed, or paused.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "drivers/postgres/pg_fault.h"

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
    enum rig_rc rc = rig_pg_fault_choose(site, node, &victim, err);
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

const struct rig_fault rig_pg_fault_kill_session = {
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
    enum rig_rc rc = rig_pg_fault_choose(site, node, victim, err);
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

const struct rig_fault rig_pg_fault_pause_session = {
    .name = "pause-session",
    .summary = "stops the server process of one session, with the locks that it holds",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES | RIG_FAULT_STOPS,
    .state_size = sizeof(struct pause_state),
    .inject_node = pause_session,
    .heal_node = resume_session,
};
