/*
 * pause-session: stops the server process of one client's session, in the middle of a transaction if there is any; its
 * locks stay.
 *
 * Evidence: the process is in the state `stopped`, and no longer once it is healed. It needs no entry in the undo
 * journal: when rig dies its server goes down, and kills processes that do not end within 5 s.
 */
#include <signal.h>

#include "drivers/postgres/pg_fault.h"

struct state {
    struct rig_process victims[RIG_NODES_MOST]; /* by position among the targets; .pid 0: none */
};

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
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

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
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
    .state_size = sizeof(struct state),
    .inject_node = inject_node,
    .heal_node = heal_node,
};
