/*
 * pause: stops the processes of nodes (SIGSTOP), or one of them, and resumes them (SIGCONT).
 *
 * The main process is stopped first, so that it forks no new ones, and the others until none runs any more. A stopped
 * process does not notice that rig died: each is in the undo journal before it is stopped. Evidence: /proc shows each
 * of them stopped.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "nemesis/fault_context.h"

enum { ROUNDS_MOST = 20 };
enum { PART_NODE, PART_PROCESS };
static const int64_t state_timeout_ns = 5 * RIG_NS_PER_S;

static const char *const parts[] = {"node", "process", NULL};

struct options {
    int64_t part;
};

static const struct rig_option table[] = {
    {.name = "part",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, part),
     .default_text = "node",
     .choices = parts,
     .help = "node: all of its processes; process: one other than the main one, such as that of a session"},
    {.name = NULL},
};

struct paused {
    struct rig_process process;
    uint64_t token;
};

/* The state of one target. */
struct target {
    struct paused *at; /* the stopped processes */
    uint32_t count;
    bool commanded; /* by the plan's command */
    uint64_t token;
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

/* -- nodes that rig started ---------------------------------------------------------------------------------------- */

static bool is_paused(const struct target *target, const struct rig_process *process)
{
    for (uint32_t i = 0; i < target->count; i++) {
        if (target->at[i].process.pid == process->pid && target->at[i].process.started == process->started)
            return true;
    }
    return false;
}

static enum rig_rc stop(const struct rig_fault_site *site, uint32_t node, struct target *target,
                        const struct rig_process *process, struct rig_err *err)
{
    const char *name = rig_fleet_of(site)->names[node];
    if (target->count == RIG_GROUND_PROCESSES_MOST)
        return rig_fail(err, RIG_E_CLUSTER, "%s: it has too many processes", name);
    struct paused *paused = &target->at[target->count];
    char what[RIG_NODE_NAME_BYTES + 32];
    (void)snprintf(what, sizeof what, "a paused process of %s", name);
    enum rig_rc rc = rig_journal_process(rig_fault_context_of(site)->journal, what, process, &paused->token, err);
    if (rc != RIG_OK)
        return rc;
    paused->process = *process;
    target->count++;
    if (!rig_process_signal(process, SIGSTOP) || !rig_process_await_state(process, true, state_timeout_ns)) {
        if (!rig_process_lives(process))
            return RIG_OK; /* it ended by itself meanwhile */
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld does not stop", name, (long)process->pid);
    }
    return RIG_OK;
}

static enum rig_rc stop_all(const struct rig_fault_site *site, uint32_t node, struct target *target,
                            struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    enum rig_rc rc = RIG_OK;
    bool more = true;
    for (int round = 0; more && rc == RIG_OK; round++) {
        if (round == ROUNDS_MOST)
            return rig_fail(err, RIG_E_CLUSTER, "%s: new processes come faster than they can be stopped",
                            rig_fleet_of(site)->names[node]);
        const uint32_t count = rig_node_processes(site, node, processes);
        more = false;
        for (uint32_t i = 0; i < count && rc == RIG_OK; i++) {
            if (is_paused(target, &processes[i]))
                continue;
            more = true;
            rc = stop(site, node, target, &processes[i], err);
        }
    }
    return rc;
}

static enum rig_rc pause_own(const struct rig_fault_site *site, uint32_t node, struct target *target,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    const char *name = rig_fleet_of(site)->names[node];
    target->at = calloc(RIG_GROUND_PROCESSES_MOST, sizeof *target->at);
    if (target->at == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "a list of processes", name);
    struct rig_process one;
    enum rig_rc rc =
        options->part == PART_NODE ? stop_all(site, node, target, err) : rig_choose_process(site, node, &one, err);
    if (rc == RIG_OK && options->part == PART_PROCESS)
        rc = stop(site, node, target, &one, err);
    if (rc != RIG_OK)
        return rc;
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < target->count; i++)
        stopped += rig_process_state(&target->at[i].process) == 'T' ? 1 : 0;
    if (stopped == 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: no process of it is stopped: the node is down", name);
    rig_evidence_add(evidence, "%s: %u process%s stopped, first %ld", name, stopped, stopped == 1 ? " is" : "es are",
                     (long)target->at[0].process.pid);
    return RIG_OK;
}

/* Also resumes processes that another program stopped; ended ones need nothing. */
static enum rig_rc resume_own(const struct rig_fault_site *site, uint32_t node, struct target *target,
                              struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = target->count; i-- > 0;)
        (void)rig_process_signal(&target->at[i].process, SIGCONT);
    for (uint32_t i = 0; i < target->count; i++) {
        struct paused *paused = &target->at[i];
        if (!rig_process_await_state(&paused->process, false, state_timeout_ns) &&
            rig_process_lives(&paused->process)) {
            rc = rig_fail(err, RIG_E_CLUSTER, "%s: process %ld does not resume", rig_fleet_of(site)->names[node],
                          (long)paused->process.pid);
            continue;
        }
        rig_journal_forget(rig_fault_context_of(site)->journal, paused->token);
        paused->token = 0;
    }
    if (rc == RIG_OK) {
        free(target->at);
        *target = (struct target){.count = 0};
    }
    return rc;
}

/* -- nodes that the user runs -------------------------------------------------------------------------------------- */

static enum rig_rc pause_by_command(const struct rig_fault_site *site, uint32_t node, struct target *target,
                                    struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    enum rig_rc rc = rig_undo_command(site, node, &commands->resume, &target->token, err);
    if (rc != RIG_OK)
        return rc;
    target->commanded = true;
    rc = rig_fleet_command(fleet, node, &commands->pause, "pause", err);
    return rc == RIG_OK ? rig_confirm_down(site, node, evidence, err) : rc;
}

static enum rig_rc resume_by_command(const struct rig_fault_site *site, uint32_t node, struct target *target,
                                     struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    const enum rig_rc rc = rig_fleet_command(fleet, node, &rig_fleet_commands(fleet, node)->resume, "resume", err);
    if (rc != RIG_OK)
        return rc;
    rig_journal_forget(rig_fault_context_of(site)->journal, target->token);
    *target = (struct target){.count = 0};
    return RIG_OK;
}

/* -- the contract -------------------------------------------------------------------------------------------------- */

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    const struct options *options = site->options;
    const bool own = rig_fleet_of(site)->started;
    if (!own && options->part == PART_PROCESS)
        return rig_fail(err, RIG_E_CLUSTER, "`part: process` needs nodes that rig started");
    return own ? pause_own(site, site->nodes[i], target, evidence, err)
               : pause_by_command(site, site->nodes[i], target, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    if (target->at == NULL && !target->commanded)
        return RIG_OK;
    const enum rig_rc rc = target->commanded ? resume_by_command(site, site->nodes[i], target, err)
                                             : resume_own(site, site->nodes[i], target, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: resumed", rig_target_name(site, i));
    return rc;
}

const struct rig_fault rig_fault_pause = {
    .name = "pause",
    .varied = "for: 100ms",
    .summary = "stops the processes of nodes, or one of them, without ending them, and resumes them",
    .needs = RIG_NEED_PAUSE | RIG_FAULT_STOPS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject_node = inject_node,
    .heal_node = heal_node,
};
