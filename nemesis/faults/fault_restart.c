/*
 * restart: ends nodes and starts them again at once, one after the other.
 *
 * Evidence: another main process runs than before. `for` is only the time until the next fault may come.
 */
#include "base/clock.h"
#include "nemesis/fault_context.h"

static const char *const hows[] = {"fast", "immediate", "kill", NULL};

struct options {
    int64_t how;
};

static const struct rig_option table[] = {
    {.name = "how",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, how),
     .default_text = "fast",
     .choices = hows,
     .help = "fast: a clean shutdown that does not wait for clients; immediate: the database's own way without one; "
             "kill: SIGKILL to every process"},
    {.name = NULL},
};

struct state {
    bool down[RIG_NODES_MOST]; /* by position among the targets */
    uint64_t token[RIG_NODES_MOST];
};

static enum rig_rc stop(const struct rig_fault_site *site, struct state *state, uint32_t i, struct rig_err *err)
{
    static const enum rig_node_end ends[] = {RIG_NODE_FAST, RIG_NODE_IMMEDIATE, RIG_NODE_KILL};
    const struct options *options = site->options;
    struct rig_fleet *fleet = rig_fleet_of(site);
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, site->nodes[i]);
    const enum rig_rc rc =
        commands == NULL ? RIG_OK : rig_undo_command(site, site->nodes[i], &commands->start, &state->token[i], err);
    if (rc != RIG_OK)
        return rc;
    state->down[i] = true;
    return rig_fleet_stop_node(fleet, site->nodes[i], ends[options->how], err);
}

static enum rig_rc start(const struct rig_fault_site *site, struct state *state, uint32_t i, struct rig_err *err)
{
    const enum rig_rc rc = rig_fleet_start_node(rig_fleet_of(site), site->nodes[i], err);
    if (rc != RIG_OK)
        return rc;
    state->down[i] = false;
    rig_journal_forget(rig_fault_context_of(site)->journal, state->token[i]);
    state->token[i] = 0;
    return RIG_OK;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
    struct rig_fleet *fleet = rig_fleet_of(site);
    const char *name = rig_target_name(site, i);
    const pid_t before = rig_fleet_main_process(fleet, site->nodes[i]);
    const int64_t since_ns = rig_clock_now_ns();
    enum rig_rc rc = stop(site, state, i, err);
    if (rc == RIG_OK)
        rc = start(site, state, i, err);
    if (rc != RIG_OK)
        return rc;
    const pid_t after = rig_fleet_main_process(fleet, site->nodes[i]);
    if (fleet->started && (after == 0 || after == before))
        return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld still runs", name, (long)before);
    const double took_s = (double)(rig_clock_now_ns() - since_ns) / (double)RIG_NS_PER_S;
    if (fleet->started && before == 0)
        rig_evidence_add(evidence, "%s: was down; process %ld, in %.1f s", name, (long)after, took_s);
    else if (fleet->started)
        rig_evidence_add(evidence, "%s: process %ld instead of %ld, in %.1f s", name, (long)after, (long)before,
                         took_s);
    else
        rig_evidence_add(evidence, "%s: its commands succeeded, in %.1f s", name, took_s);
    return RIG_OK;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
    (void)evidence;
    return state->down[i] ? start(site, state, i, err) : RIG_OK;
}

const struct rig_fault rig_fault_restart = {
    .name = "restart",
    .summary = "ends nodes and starts them again at once",
    .needs = RIG_NEED_RESTART | RIG_FAULT_ENDS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject_node = inject_node,
    .heal_node = heal_node,
};
