/*
 * kill: ends the processes of nodes, or one process of each, and starts the nodes again.
 *
 * Evidence: the main process (or the one process), by number and start time, is gone. The plan's command ends nodes
 * that rig did not start; the evidence is that it succeeds and that `check` fails then.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "nemesis/fault_context.h"
#include "base/process.h"

enum how { HOW_KILL, HOW_IMMEDIATE, HOW_FAST };
static const int64_t settle_ns = 300 * RIG_NS_PER_MS;
/* A start that takes longer was a real one. */
static const int64_t noticed_ns = 50 * RIG_NS_PER_MS;
static const int64_t end_timeout_ns = 5 * RIG_NS_PER_S;

static const char *const hows[] = {"kill", "immediate", "fast", NULL};
static const char *const parts[] = {"node", "process", NULL};
enum { PART_NODE, PART_PROCESS };

struct options {
    int64_t how;
    int64_t part;
};

static const struct rig_option table[] = {
    {.name = "how",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, how),
     .default_text = "kill",
     .choices = hows,
     .help =
         "kill: SIGKILL to every process; immediate: the database's own way without a clean shutdown; fast: a clean "
         "shutdown that does not wait for clients"},
    {.name = "part",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, part),
     .default_text = "node",
     .choices = parts,
     .help = "node: all of it; process: SIGKILL to one of its processes other than the main one, such as that of a "
             "session"},
    {.name = NULL},
};

struct state {
    bool touched[RIG_NODES_MOST]; /* by position among the targets */
    uint64_t token[RIG_NODES_MOST];
};

static enum rig_node_end end_of(const struct options *options)
{
    static const enum rig_node_end ends[] = {
        [HOW_KILL] = RIG_NODE_KILL, [HOW_IMMEDIATE] = RIG_NODE_IMMEDIATE, [HOW_FAST] = RIG_NODE_FAST};
    return ends[options->how];
}

/* -- a whole node -------------------------------------------------------------------------------------------------- */

/* The undo for a node that outlives rig: the plan's command that starts it. */
static enum rig_rc note_undo(const struct rig_fault_site *site, uint32_t node, uint64_t *token, struct rig_err *err)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    return commands == NULL ? RIG_OK : rig_undo_command(site, node, &commands->start, token, err);
}

static enum rig_rc kill_node(const struct rig_fault_site *site, struct state *state, uint32_t i,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct rig_fleet *fleet = rig_fleet_of(site);
    const uint32_t node = site->nodes[i];
    struct rig_process before = {0};
    const pid_t pid = rig_fleet_main_process(fleet, node);
    const bool known = pid > 0 && rig_process_find(pid, &before);
    if (fleet->started && !known)
        return rig_fail(err, RIG_E_CLUSTER, "%s: there is no process to end: the node is already down",
                        fleet->names[node]);
    enum rig_rc rc = note_undo(site, node, &state->token[i], err);
    if (rc != RIG_OK)
        return rc;
    state->touched[i] = true;
    rc = rig_fleet_stop_node(fleet, node, end_of(options), err);
    if (rc != RIG_OK)
        return rc;
    if (known && !rig_process_await_end(&before, end_timeout_ns))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld still runs", fleet->names[node], (long)pid);
    if (known)
        rig_evidence_add(evidence, "%s: process %ld is gone", fleet->names[node], (long)pid);
    else
        return rig_confirm_down(site, node, evidence, err);
    return RIG_OK;
}

/* -- one process --------------------------------------------------------------------------------------------------- */

static enum rig_rc kill_process(const struct rig_fault_site *site, struct state *state, uint32_t i,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    const uint32_t node = site->nodes[i];
    struct rig_process victim;
    const enum rig_rc rc = rig_choose_process(site, node, &victim, err);
    if (rc != RIG_OK)
        return rc;
    state->touched[i] = true;
    if (!rig_process_signal(&victim, SIGKILL) && rig_process_lives(&victim))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld cannot be killed", fleet->names[node], (long)victim.pid);
    if (!rig_process_await_end(&victim, end_timeout_ns))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld still runs", fleet->names[node], (long)victim.pid);
    rig_evidence_add(evidence, "%s: process %ld, not the main one, is gone", fleet->names[node], (long)victim.pid);
    return RIG_OK;
}

/* -- the contract -------------------------------------------------------------------------------------------------- */

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    return options->part == PART_NODE ? kill_node(site, private_state, i, evidence, err)
                                      : kill_process(site, private_state, i, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
    const struct options *options = site->options;
    const int64_t since_ns = rig_clock_now_ns();
    if (!state->touched[i])
        return RIG_OK;
    /* The end of some processes takes down the whole node, after some time. */
    if (options->part == PART_PROCESS)
        rig_clock_sleep_until_ns(since_ns + settle_ns);
    const enum rig_rc rc = rig_fleet_start_node(rig_fleet_of(site), site->nodes[i], err);
    if (rc != RIG_OK)
        return rc;
    state->touched[i] = false;
    rig_journal_forget(rig_fault_context_of(site)->journal, state->token[i]);
    state->token[i] = 0;
    const int64_t took_ns = rig_clock_now_ns() - since_ns;
    if (options->part == PART_NODE || took_ns > settle_ns + noticed_ns)
        rig_evidence_add(evidence, "%s: started in %.1f s", rig_target_name(site, i),
                         (double)took_ns / (double)RIG_NS_PER_S);
    return RIG_OK;
}

const struct rig_fault rig_fault_kill = {
    .name = "kill",
    .summary = "ends nodes (killed, at once, or cleanly), or one of their processes, and starts them again",
    .needs = RIG_NEED_RESTART | RIG_FAULT_ENDS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject_node = inject_node,
    .heal_node = heal_node,
};
