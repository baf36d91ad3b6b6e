/*
 * promote: a failover. The primary is ended (or left alone, for a split of roles), and another node is made the
 * primary. Healing restores a healthy cluster, with the new primary.
 *
 * Evidence: the chosen node reports that it is the primary.
 */
#include <string.h>

#include "base/clock.h"
#include "nemesis/fault_context.h"

enum { OLD_LEFT_ALONE };
static const char *const olds[] = {"none", "fast", "immediate", "kill", NULL};
static const int64_t role_timeout_ns = 15 * RIG_NS_PER_S;
static const int64_t step_ns = 50 * RIG_NS_PER_MS;

struct options {
    int64_t old;
};

static const struct rig_option table[] = {
    {.name = "old",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, old),
     .default_text = "kill",
     .choices = olds,
     .help = "treatment of the old primary: kill (SIGKILL to every process), immediate (the database's own way "
             "without a clean shutdown), fast (a clean shutdown), none (it keeps running, uninformed)"},
    {.name = NULL},
};

struct state {
    bool touched;
    uint64_t restore_token[RIG_NODES_MOST], start_token[RIG_NODES_MOST]; /* of commands, by node */
};

/* Before any change: the commands that restore a user's cluster. */
static enum rig_rc note_undo(const struct rig_fault_site *site, struct state *state, struct rig_err *err)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    enum rig_rc rc = RIG_OK;
    for (uint32_t node = 0; node < fleet->count && rc == RIG_OK; node++) {
        const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
        if (commands != NULL && commands->restore.count > 0)
            rc = rig_undo_command(site, node, &commands->restore, &state->restore_token[node], err);
        if (rc == RIG_OK && commands != NULL && commands->start.count > 0)
            rc = rig_undo_command(site, node, &commands->start, &state->start_token[node], err);
    }
    return rc;
}

static enum rig_rc end_old_primaries(const struct rig_fault_site *site, uint32_t chosen, struct rig_evidence *evidence,
                                     struct rig_err *err)
{
    static const enum rig_node_end ends[] = {RIG_NODE_FAST, RIG_NODE_FAST, RIG_NODE_IMMEDIATE, RIG_NODE_KILL};
    const struct options *options = site->options;
    struct rig_fleet *fleet = rig_fleet_of(site);
    enum rig_rc rc = RIG_OK;
    for (uint32_t node = 0; node < fleet->count && rc == RIG_OK; node++) {
        struct rig_node_status status;
        rig_fleet_status(fleet, node, &status);
        if (node == chosen || !status.reachable || !rig_fleet_role_is(status.role, "primary"))
            continue;
        rc = rig_fleet_stop_node(fleet, node, ends[options->old], err);
        if (rc == RIG_OK)
            rig_evidence_add(evidence, "%s, the primary, is down", fleet->names[node]);
    }
    return rc;
}

static enum rig_rc await_primary(const struct rig_fault_site *site, uint32_t chosen, struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    const int64_t until_ns = rig_clock_now_ns() + role_timeout_ns;
    struct rig_node_status status;
    for (;;) {
        rig_fleet_status(fleet, chosen, &status);
        if (rig_fleet_role_is(status.role, "primary"))
            return RIG_OK;
        const int64_t now_ns = rig_clock_now_ns();
        if (now_ns >= until_ns || site->core->stopping())
            return rig_fail(err, RIG_E_CLUSTER, "%s was promoted, and is %s", fleet->names[chosen],
                            status.role[0] == '\0' ? "of no known role" : status.role);
        rig_clock_sleep_until_ns(now_ns + step_ns);
    }
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    const struct options *options = site->options;
    struct rig_fleet *fleet = rig_fleet_of(site);
    if (site->node_count != 1)
        return rig_fail(err, RIG_E_CLUSTER, "one node is promoted, not %u: give `target: one standby`",
                        site->node_count);
    const uint32_t chosen = site->nodes[0];
    struct rig_node_status before;
    rig_fleet_status(fleet, chosen, &before);
    if (rig_fleet_role_is(before.role, "primary"))
        return rig_fail(err, RIG_E_CLUSTER, "%s is already the primary", fleet->names[chosen]);
    enum rig_rc rc = note_undo(site, state, err);
    if (rc != RIG_OK)
        return rc;
    state->touched = true;
    if (options->old != OLD_LEFT_ALONE)
        rc = end_old_primaries(site, chosen, evidence, err);
    if (rc == RIG_OK)
        rc = rig_fleet_promote(fleet, chosen, err);
    if (rc == RIG_OK)
        rc = await_primary(site, chosen, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s, which was %s, is the primary", fleet->names[chosen],
                         before.role[0] == '\0' ? "of no known role" : before.role);
    return rc;
}

/* The user's nodes that the fault may have ended; starting one that runs is harmless. */
static enum rig_rc start_all(const struct rig_fault_site *site, struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    enum rig_rc rc = RIG_OK;
    for (uint32_t node = 0; node < fleet->count && rc == RIG_OK; node++) {
        const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
        if (commands != NULL && commands->start.count > 0)
            rc = rig_fleet_start_node(fleet, node, err);
    }
    return rc;
}

static enum rig_rc heal(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    struct state *state = private_state;
    struct rig_fleet *fleet = rig_fleet_of(site);
    struct rig_journal *journal = rig_fault_context_of(site)->journal;
    if (!state->touched)
        return RIG_OK;
    const int64_t since_ns = rig_clock_now_ns();
    enum rig_rc rc = start_all(site, err);
    if (rc == RIG_OK)
        rc = rig_fleet_restore(fleet, err);
    if (rc != RIG_OK)
        return rc;
    state->touched = false;
    for (uint32_t node = 0; node < fleet->count; node++) {
        rig_journal_forget(journal, state->restore_token[node]);
        rig_journal_forget(journal, state->start_token[node]);
    }
    memset(state, 0, sizeof *state);
    rig_evidence_add(evidence, "roles were restored in %.1f s",
                     (double)(rig_clock_now_ns() - since_ns) / (double)RIG_NS_PER_S);
    return RIG_OK;
}

const struct rig_fault rig_fault_promote = {
    .name = "promote",
    .summary = "a failover: ends the primary and makes another node the primary",
    .target = "one standby",
    .needs = RIG_NEED_PROMOTE | RIG_NEED_RESTART,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject = inject,
    .heal = heal,
};
