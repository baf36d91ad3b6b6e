#include "nemesis/ground.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/secret.h"
#include "nemesis/command.h"

enum { ARGUMENT_BYTES = 1 << 14 };
static const int64_t effect_timeout_ns = 10 * RIG_NS_PER_S;
static const int64_t hidden_timeout_ns = RIG_NS_PER_S;
static const int64_t effect_step_ns = 2 * RIG_NS_PER_MS;

void rig_evidence_add(struct rig_evidence *evidence, const char *format, ...)
{
    size_t used = strlen(evidence->text);
    if (used > 0 && used + 3 < sizeof evidence->text) {
        memcpy(evidence->text + used, "; ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(evidence->text + used, sizeof evidence->text - used, format, arguments);
    va_end(arguments);
    rig_secret_redact(evidence->text, sizeof evidence->text);
}

enum rig_rc rig_undo_command(const struct rig_fault_site *site, uint32_t node, const struct rig_text_list *command,
                             uint64_t *token, struct rig_err *err)
{
    struct rig_ground *ground = rig_ground_of(site);
    const char *name = site->node_count == 0 ? NULL : ground->fleet.names[node];
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    const char **arguments = rig_arena_array(&arena, command->count + 1, sizeof *arguments);
    char *room = rig_arena_alloc(&arena, ARGUMENT_BYTES);
    bool fits = arguments != NULL && room != NULL && command->count > 0;
    for (size_t i = 0; fits && i < command->count; i++) {
        fits = rig_command_expand(command->at[i], name, room, ARGUMENT_BYTES);
        arguments[i] = fits ? rig_arena_text(&arena, room, strlen(room)) : NULL;
        fits = arguments[i] != NULL;
    }
    char what[RIG_NODE_NAME_BYTES + 64];
    (void)snprintf(what, sizeof what, "a fault%s%s", name == NULL ? "" : " of ", name == NULL ? "" : name);
    const enum rig_rc rc = fits ? rig_journal_command(ground->journal, what, arguments, token, err)
                                : rig_fail(err, RIG_E_CLUSTER, "an undo command is missing or too long");
    rig_arena_done(&arena);
    return rc;
}

enum rig_rc rig_confirm_down(const struct rig_fault_site *site, uint32_t node, struct rig_evidence *evidence,
                             struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    if (commands == NULL || commands->check.count == 0) {
        rig_evidence_add(evidence, "%s: the command succeeded", fleet->names[node]);
        return RIG_OK;
    }
    struct rig_node_status status;
    rig_fleet_status(fleet, node, &status);
    if (status.reachable)
        return rig_fail(err, RIG_E_CLUSTER, "%s: the command succeeded, and the node's `check` still does too",
                        fleet->names[node]);
    rig_evidence_add(evidence, "%s: its check fails%s%.80s", fleet->names[node], status.detail[0] == '\0' ? "" : ": ",
                     status.detail);
    return RIG_OK;
}

uint32_t rig_node_processes(const struct rig_fault_site *site, uint32_t node,
                            struct rig_process processes[RIG_GROUND_PROCESSES_MOST])
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    pid_t pids[RIG_GROUND_PROCESSES_MOST];
    if (!fleet->started || fleet->cluster->processes == NULL)
        return 0;
    uint32_t count = fleet->cluster->processes(fleet->run, node, pids, RIG_GROUND_PROCESSES_MOST);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && i < RIG_GROUND_PROCESSES_MOST; i++)
        kept += rig_process_find(pids[i], &processes[kept]) ? 1 : 0;
    return kept;
}

enum rig_rc rig_choose_process(const struct rig_fault_site *site, uint32_t node, struct rig_process *process,
                               struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    const uint32_t count = rig_node_processes(site, node, processes);
    if (count < 2)
        return rig_fail(err, RIG_E_CLUSTER, "%s: it has no process beside the main one that could be chosen",
                        rig_fleet_of(site)->names[node]);
    *process = processes[1 + site->random % (count - 1)];
    return RIG_OK;
}

enum rig_rc rig_await_effect(const struct rig_fault_site *site, const struct rig_effect *effect, struct rig_err *err)
{
    const bool alone = rig_ground_of(site)->under_way <= 1;
    const int64_t timeout_ns = alone ? effect_timeout_ns : hidden_timeout_ns;
    const int64_t until_ns = rig_clock_now_ns() + timeout_ns;
    while (effect->count(effect->context) == 0) {
        const int64_t now_ns = rig_clock_now_ns();
        if (rig_ground_is_over(site))
            return rig_fail(err, RIG_E_INTERRUPTED, "the load ended before there were %s", effect->what);
        if (now_ns >= until_ns && !alone)
            return rig_fail(err, RIG_E_INTERRUPTED, "there were no %s within %d s, while other faults were under way",
                            effect->what, (int)(timeout_ns / RIG_NS_PER_S));
        if (now_ns >= until_ns)
            return rig_fail(
                err, RIG_E_CLUSTER,
                "there were no %s within %d s: nothing happens there, or too little for the fault's options",
                effect->what, (int)(timeout_ns / RIG_NS_PER_S));
        rig_clock_sleep_until_ns(now_ns + effect_step_ns);
        if (effect->again != NULL)
            effect->again(effect->context);
    }
    return RIG_OK;
}

enum rig_rc rig_revive(const struct rig_fault_site *site, uint32_t node, bool always, struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    struct rig_node_status status = {.reachable = false};
    if (!always)
        rig_fleet_status(fleet, node, &status);
    if (status.reachable)
        return RIG_OK;
    const enum rig_rc rc = rig_fleet_stop_node(fleet, node, RIG_NODE_IMMEDIATE, err);
    return rc == RIG_OK ? rig_fleet_start_node(fleet, node, err) : rc;
}
