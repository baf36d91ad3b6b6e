/*
 * hold-commit: one session of PostgreSQL waits inside its commit until others have committed.
 *
 * The session waits when others can see its commit and it is not marked as committed, with its locks held. A race with
 * this window needs other commits inside it; a delay gives them only where the machine is quick enough. Their count
 * does not depend on the machine's load. Evidence: the commits that waited, and how many of them saw the others commit.
 */
#include "base/plural.h"
#include "nemesis/fault_context.h"
#include "nemesis/fault_setup.h"

struct options {
    int64_t until_commits;
    double chance;
    int64_t longest_ns;
};

static const struct rig_option table[] = {
    {.name = "until-commits",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, until_commits),
     .default_text = "3",
     .least = 1,
     .most = 1e6,
     .help = "commits of other sessions that a held one waits for"},
    {.name = "chance",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, chance),
     .default_text = "1%",
     .least = 0.0001,
     .most = 1,
     .help = "chance that a commit is held, if no other one of the node is"},
    {.name = "hold",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, longest_ns),
     .default_text = "50ms",
     .least = 1e5,
     .most = 10e9,
     .help = "longest time for which it is held; the others may all wait for its locks"},
    {.name = NULL},
};

struct target {
    struct rig_shim_control *control; /* NULL: no orders were given */
    uint64_t held, passed;            /* before */
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static bool available(const void *options, char *why, size_t size)
{
    return rig_shims_are_there(options, why, size);
}

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->passed) - target->passed;
}

static enum rig_rc strike(const struct rig_fault_site *site, uint32_t node, void *private_target, struct rig_err *err)
{
    struct target *target = private_target;
    const struct options *options = site->options;
    struct rig_shim_control *control = NULL;
    const enum rig_rc rc = rig_fault_setup_shim(site, node, false, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->holding.until) != 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "%s: its commits are already held: two faults `hold-commit` must not overlap",
                        rig_fleet_of(site)->names[node]);
    *target = (struct target){control, atomic_load(&control->held), atomic_load(&control->passed)};
    atomic_store(&control->holding.chance, (uint64_t)(options->chance * 0x1.0p32));
    atomic_store(&control->holding.seed, site->random + node);
    atomic_store(&control->holding.longest_ns, options->longest_ns);
    atomic_store(&control->holding.until, (uint32_t)options->until_commits);
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    static const struct rig_strike each = {strike, count, sizeof(struct target),
                                           "commits that were held until others had committed (PostgreSQL alone has "
                                           "the call)",
                                           "a commit was held until others had committed"};
    return rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    (void)err;
    if (target->control == NULL)
        return RIG_OK;
    atomic_store(&target->control->holding.until, 0);
    const unsigned long long held = atomic_load(&target->control->held) - target->held;
    rig_evidence_add(evidence, "%s: %llu commit%s %s held, %llu of them until others had committed",
                     rig_target_name(site, i), held, rig_plural(held), rig_was_were(held),
                     (unsigned long long)count(target));
    *target = (struct target){.control = NULL};
    return RIG_OK;
}

const struct rig_fault rig_fault_hold_commit = {
    .name = "hold-commit",
    .varied = "for: 300ms, chance: 20%",
    .summary = "holds a session of PostgreSQL inside its commit until other sessions have committed",
    .needs = RIG_NEED_PRELOAD,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject = inject,
    .heal_node = heal_node,
};
