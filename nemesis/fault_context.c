#include "nemesis/fault_context.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/secret.h"
#include "nemesis/placeholder.h"

static const int64_t effect_timeout_ns = 10 * RIG_NS_PER_S;
static const int64_t hidden_timeout_ns = RIG_NS_PER_S;
static const int64_t effect_step_ns = 2 * RIG_NS_PER_MS;

/* The number of calls of a hook for one target. */
static uint32_t calls_of(const struct rig_fault_site *site)
{
    return site->node_count == 0 ? 1 : site->node_count;
}

enum rig_rc rig_fault_inject(const struct rig_fault *fault, const struct rig_fault_site *site, void *state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    if (fault->inject != NULL)
        return fault->inject(site, state, evidence, err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < calls_of(site) && rc == RIG_OK; i++)
        rc = fault->inject_node(site, i, state, evidence, err);
    return rc;
}

enum rig_rc rig_fault_heal(const struct rig_fault *fault, const struct rig_fault_site *site, void *state,
                           struct rig_evidence *evidence, struct rig_err *err)
{
    if (fault->heal != NULL)
        return fault->heal(site, state, evidence, err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < calls_of(site) && fault->heal_node != NULL; i++) {
        const enum rig_rc one = fault->heal_node(site, i, state, evidence, err);
        rc = rc == RIG_OK ? one : rc;
    }
    return rc;
}

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

/* Runs the rest of its arguments only while the process with this number is still the same one, and has not ended:
 * /proc has its state and, as the 20th word from there, its start time. */
static const char guard_format[] = "test \"$(sed -n 's/.*) \\([^ZX] \\)/\\1/p' /proc/%ld/stat 2>/dev/null | cut -d' ' "
                                   "-f20)\" = %llu || exit 0; exec \"$@\"";

/* The words before an undo command in the journal: a later start of rig does not know the nodes. */
struct prelude {
    const char *at[RIG_PLACEHOLDER_COUNT + 5];
    size_t count;
    char guard[160];
};

static enum rig_rc add_guard(const struct rig_place *place, struct prelude *prelude, struct rig_err *err)
{
    const char *number = place->at[RIG_PLACEHOLDER_PID];
    struct rig_process process;
    if (!rig_process_find((pid_t)strtol(number, NULL, 10), &process))
        return rig_fail(err, RIG_E_CLUSTER, "%s: it ended while a fault was prepared", place->at[RIG_PLACEHOLDER_NODE]);
    (void)snprintf(prelude->guard, sizeof prelude->guard, guard_format, (long)process.pid,
                   (unsigned long long)process.started);
    const char *const words[] = {"sh", "-c", prelude->guard, "rig"};
    memcpy(prelude->at, words, sizeof words);
    prelude->count = sizeof words / sizeof *words;
    return RIG_OK;
}

static enum rig_rc make_prelude(const struct rig_place *place, bool names_process, struct rig_arena *arena,
                                struct prelude *prelude, struct rig_err *err)
{
    const bool guarded = names_process && place->at[RIG_PLACEHOLDER_PID][0] != '\0';
    const enum rig_rc rc = guarded ? add_guard(place, prelude, err) : RIG_OK;
    if (rc != RIG_OK)
        return rc;
    prelude->at[prelude->count++] = "env";
    for (int i = 0; i < RIG_PLACEHOLDER_COUNT; i++) {
        if (place->at[i][0] == '\0' || (i == RIG_PLACEHOLDER_PID && !guarded))
            continue;
        const char *variable = rig_placeholder_variable(place, (enum rig_placeholder)i, arena);
        if (variable == NULL)
            return rig_no_memory(err, "a command");
        prelude->at[prelude->count++] = variable;
    }
    return RIG_OK;
}

static enum rig_rc journal_undo(struct rig_journal *journal, const struct rig_text_list *command,
                                const struct rig_place *place, struct rig_arena *arena, uint64_t *token,
                                struct rig_err *err)
{
    struct prelude prelude = {.count = 0};
    const char *const *expanded = NULL;
    enum rig_rc rc = rig_placeholder_expand(command, place, arena, &expanded, err);
    if (rc == RIG_OK && place != NULL)
        rc = make_prelude(place, rig_placeholder_names(command, RIG_PLACEHOLDER_PID), arena, &prelude, err);
    if (rc != RIG_OK)
        return rc;
    const char **arguments = rig_arena_array(arena, prelude.count + command->count + 1, sizeof *arguments);
    if (arguments == NULL)
        return rig_no_memory(err, "a command");
    memcpy(arguments, prelude.at, prelude.count * sizeof *arguments);
    memcpy(arguments + prelude.count, expanded, (command->count + 1) * sizeof *arguments);
    const char *name = place == NULL ? "" : place->at[RIG_PLACEHOLDER_NODE];
    char what[RIG_NODE_NAME_BYTES + 64];
    (void)snprintf(what, sizeof what, "a fault%s%.*s", place == NULL ? "" : " of ", RIG_NODE_NAME_BYTES, name);
    return rig_journal_command(journal, what, arguments, token, err);
}

enum rig_rc rig_undo_command(const struct rig_fault_site *site, uint32_t node, const struct rig_text_list *command,
                             uint64_t *token, struct rig_err *err)
{
    struct rig_fault_context *context = rig_fault_context_of(site);
    struct rig_place place;
    struct rig_arena arena;
    if (command->count == 0)
        return rig_fail(err, RIG_E_CLUSTER, "an undo command is missing");
    if (site->node_count > 0)
        rig_fleet_place(&context->fleet, node, &place);
    rig_arena_init(&arena, 0);
    const enum rig_rc rc =
        journal_undo(context->journal, command, site->node_count == 0 ? NULL : &place, &arena, token, err);
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
        return rig_fail(err, RIG_E_CLUSTER, "%s: the command succeeded, but the node's `check` still succeeds, too",
                        fleet->names[node]);
    rig_evidence_add(evidence, "%s: its check fails%s%.80s", fleet->names[node], status.detail[0] == '\0' ? "" : ": ",
                     status.detail);
    return RIG_OK;
}

static bool is_among(const pid_t *pids, uint32_t count, pid_t pid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            return true;
    }
    return false;
}

uint32_t rig_node_processes(const struct rig_fault_site *site, uint32_t node,
                            struct rig_process processes[RIG_GROUND_PROCESSES_MOST])
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    pid_t pids[RIG_GROUND_PROCESSES_MOST];
    if (!fleet->started || fleet->cluster->processes == NULL)
        return 0;
    uint32_t count = fleet->cluster->processes(fleet->run, node, pids, RIG_GROUND_PROCESSES_MOST);
    uint32_t found = 0, kept = 0;
    for (uint32_t i = 0; i < count && i < RIG_GROUND_PROCESSES_MOST; i++)
        found += rig_process_find(pids[i], &processes[found]) ? 1 : 0;
    /* A number may have gone to a stranger between the two: those that the node still has were the node's. */
    count = fleet->cluster->processes(fleet->run, node, pids, RIG_GROUND_PROCESSES_MOST);
    for (uint32_t i = 0; i < found; i++) {
        if (is_among(pids, count < RIG_GROUND_PROCESSES_MOST ? count : RIG_GROUND_PROCESSES_MOST, processes[i].pid))
            processes[kept++] = processes[i];
    }
    return kept;
}

enum rig_rc rig_choose_process(const struct rig_fault_site *site, uint32_t node, struct rig_process *process,
                               struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    const uint32_t count = rig_node_processes(site, node, processes);
    if (count < 2)
        return rig_fail(err, RIG_E_CLUSTER, "%s: no process other than the main one can be chosen",
                        rig_fleet_of(site)->names[node]);
    *process = processes[1 + site->random % (count - 1)];
    return RIG_OK;
}

enum rig_rc rig_await_effect(const struct rig_fault_site *site, const struct rig_effect *effect, struct rig_err *err)
{
    const bool alone = rig_fault_context_of(site)->under_way <= 1;
    const int64_t timeout_ns = alone ? effect_timeout_ns : hidden_timeout_ns;
    const int64_t until_ns = rig_clock_now_ns() + timeout_ns;
    while (effect->count(effect->context) == 0) {
        const int64_t now_ns = rig_clock_now_ns();
        if (rig_fault_context_is_over(site))
            return rig_fail(err, RIG_E_INTERRUPTED, "the load ended before there were %s", effect->what);
        if (now_ns >= until_ns && !alone)
            return rig_fail(err, RIG_E_INTERRUPTED, "there were no %s within %d s, while other faults were under way",
                            effect->what, (int)(timeout_ns / RIG_NS_PER_S));
        if (now_ns >= until_ns)
            return rig_fail(err, RIG_E_CLUSTER,
                            "there were no %s within %d s: no activity there, or too little for the fault's options",
                            effect->what, (int)(timeout_ns / RIG_NS_PER_S));
        rig_clock_sleep_until_ns(now_ns + effect_step_ns);
        if (effect->again != NULL)
            effect->again(effect->context);
    }
    return RIG_OK;
}

enum rig_rc rig_strike_nodes(const struct rig_fault_site *site, const struct rig_strike *strike, void *targets,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < site->node_count && rc == RIG_OK; i++)
        rc = strike->strike(site, site->nodes[i], (char *)targets + i * strike->target_bytes, err);
    for (uint32_t i = 0; i < site->node_count && rc == RIG_OK; i++) {
        const struct rig_effect effect = {
            .count = strike->count, .context = (char *)targets + i * strike->target_bytes, .what = strike->what};
        rc = rig_await_effect(site, &effect, err);
        if (rc == RIG_OK)
            rig_evidence_add(evidence, "%s: %s", rig_target_name(site, i), strike->told);
    }
    return rc;
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
