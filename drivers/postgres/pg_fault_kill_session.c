/*
 * kill-session: a signal to the server process of one client's session, in the middle of a transaction if there is any.
 *
 * The kernel sends SIGKILL when memory runs out: PostgreSQL then ends all its processes and recovers from the log,
 * since the killed one may have left shared memory inconsistent. SIGTERM ends the session only.
 *
 * Evidence: the process is gone; after SIGKILL the server has answered again by the time of healing.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"

enum { BY_KILL, BY_TERM };
static const char *const words[] = {"kill", "term", NULL};

struct options {
    int64_t by;
};

static const struct rig_option table[] = {
    {.name = "signal",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, by),
     .default_text = "kill",
     .choices = words,
     .help = "kill: SIGKILL, and the whole server recovers from a crash; term: SIGTERM, and the session ends"},
    {.name = NULL},
};

struct state {
    bool struck[RIG_NODES_MOST]; /* by position among the targets: a recovery is to be awaited */
};

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct state *state = private_state;
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

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
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
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject_node = inject_node,
    .heal_node = heal_node,
};
