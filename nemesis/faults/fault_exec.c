/*
 * exec: any command, with one that undoes it and optionally one that checks its effect.
 *
 * With a placeholder (`{node}`, `{port}`, ...; nemesis/placeholder.h) or a variable of the node in one of the commands
 * all run once for each target, else once, with the first target's variables. The command and its check see the node as
 * it is before the fault, the undo as it is when the fault is healed. The undo is in the journal before the command is
 * started, and runs whatever the result of the command, so it must be harmless when there is nothing to undo. Evidence:
 * the command's exit status is 0, and that of `check`, if it is given; the first line that it prints.
 */
#include "nemesis/command.h"
#include "nemesis/fault_context.h"

struct options {
    struct rig_text_list command, undo, check;
    int64_t timeout_ns;
};

static const struct rig_option table[] = {
    {.name = "command",
     .type = RIG_OPTION_COMMAND,
     .offset = offsetof(struct options, command),
     .required = true,
     .help = "the command. `{node}`, `{host}`, `{port}`, `{socket}`, `{data}` and `{pid}` are the target's name, "
             "address, data folder and main process, in the environment RIG_NODE_NAME, RIG_NODE_HOST, ...; with one "
             "of them the command runs once for each target"},
    {.name = "undo",
     .type = RIG_OPTION_COMMAND,
     .offset = offsetof(struct options, undo),
     .required = true,
     .help = "the command that undoes it, harmless when there is nothing to undo (`true` if there never is)"},
    {.name = "check",
     .type = RIG_OPTION_COMMAND,
     .offset = offsetof(struct options, check),
     .help = "a command that succeeds (exit status 0) if the first took effect; its first line of output is the "
             "evidence"},
    {.name = "timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, timeout_ns),
     .default_text = "30s",
     .least = 1e6,
     .most = 24 * 3600e9,
     .help = "time limit of each command"},
    {.name = NULL},
};

struct state {
    bool touched[RIG_NODES_MOST]; /* by position among the targets; 0 when it runs once */
    uint64_t token[RIG_NODES_MOST];
};

static uint32_t times(const struct rig_fault_site *site)
{
    const struct options *options = site->options;
    const bool each = rig_placeholder_is_used(&options->command) || rig_placeholder_is_used(&options->undo) ||
                      rig_placeholder_is_used(&options->check);
    return each ? site->node_count : 1;
}

static const char *name_of(const struct rig_fault_site *site, uint32_t i)
{
    return site->node_count == 0 ? NULL : rig_target_name(site, i);
}

/* NULL: it has no node. */
static const struct rig_place *place_of(const struct rig_fault_site *site, uint32_t i, struct rig_place *place)
{
    if (site->node_count == 0)
        return NULL;
    rig_fleet_place(rig_fleet_of(site), site->nodes[i], place);
    return place;
}

static enum rig_rc run(const struct rig_fault_site *site, const struct rig_text_list *command,
                       const struct rig_place *place, bool (*stopping)(void), struct rig_command_answer *answer,
                       struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_command one = {
        .arguments = *command, .place = place, .timeout_ns = options->timeout_ns, .stopping = stopping};
    return rig_command_succeed(&one, answer, err);
}

static enum rig_rc inject_one(const struct rig_fault_site *site, struct state *state, uint32_t i,
                              struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    const char *node = name_of(site, i);
    struct rig_place room;
    const struct rig_place *place = place_of(site, i, &room);
    struct rig_command_answer answer = {.line = ""};
    enum rig_rc rc = rig_undo_command(site, site->nodes[i], &options->undo, &state->token[i], err);
    if (rc != RIG_OK)
        return rc;
    state->touched[i] = true;
    rc = run(site, &options->command, place, site->core->stopping, &answer, err);
    if (rc == RIG_OK && options->check.count > 0)
        rc = run(site, &options->check, place, site->core->stopping, &answer, err);
    if (rc != RIG_OK)
        return rc;
    const char *what = options->check.count > 0 ? options->check.at[0] : options->command.at[0];
    rig_evidence_add(evidence, "%s%s%s %s%s%.120s", node == NULL ? "" : node, node == NULL ? "" : ": ", what,
                     options->check.count > 0 ? "confirms it" : "succeeded", answer.line[0] == '\0' ? "" : ": ",
                     answer.line);
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    const uint32_t count = times(site);
    if (count == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "a command with a placeholder such as `{node}` needs a target: give `target`");
    for (uint32_t i = 0; i < count && rc == RIG_OK; i++)
        rc = inject_one(site, private_state, i, evidence, err);
    return rc;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct state *state = private_state;
    const struct options *options = site->options;
    struct rig_command_answer answer;
    struct rig_place room;
    if (!state->touched[i])
        return RIG_OK;
    const enum rig_rc rc = run(site, &options->undo, place_of(site, i, &room), NULL, &answer, err);
    if (rc != RIG_OK)
        return rc;
    state->touched[i] = false;
    rig_journal_forget(rig_fault_context_of(site)->journal, state->token[i]);
    rig_evidence_add(evidence, "undone");
    return RIG_OK;
}

const struct rig_fault rig_fault_exec = {
    .name = "exec",
    .summary = "runs any command, and one that undoes it",
    .target = "",
    .needs = RIG_FAULT_ENDS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject = inject,
    .heal_node = heal_node,
};
