/*
 * clock: the wall clock of nodes' processes jumps, or runs fast or slow; the machine's own is never touched.
 *
 * The shim changes the C library's answers. Monotonic clocks stay real, as they do when the clock of a machine is set.
 * Heal makes the clock right again, which is a jump as well. Evidence: wrong readings of the clock.
 */
#include <time.h>

#include "base/clock.h"
#include "base/plural.h"
#include "nemesis/fault_setup.h"
#include "nemesis/fault_context.h"

struct options {
    int64_t jump_ns;
    bool backwards;
    double drift;
};

static const struct rig_option table[] = {
    {.name = "jump",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, jump_ns),
     .default_text = "60s",
     .least = 0,
     .most = 366 * 24 * 3600e9,
     .help = "immediate jump of the clock, undone when it is healed"},
    {.name = "backwards",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, backwards),
     .default_text = "false",
     .help = "whether the clock jumps into the past"},
    {.name = "drift",
     .type = RIG_OPTION_DOUBLE,
     .offset = offsetof(struct options, drift),
     .default_text = "0",
     .least = -0.99,
     .most = 1000,
     .help = "seconds that the clock gains in each second from then on; negative: loses"},
    {.name = NULL},
};

struct target {
    struct rig_shim_control *control; /* the orders of the node */
    uint64_t before;
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->clocked) - target->before;
}

static int64_t real_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * RIG_NS_PER_S + now.tv_nsec;
}

static enum rig_rc set_clock(const struct rig_fault_site *site, uint32_t node, void *private_target,
                             struct rig_err *err)
{
    struct target *target = private_target;
    const struct options *options = site->options;
    const char *name = rig_fleet_of(site)->names[node];
    struct rig_shim_control *control = NULL;
    const enum rig_rc rc = rig_fault_setup_shim(site, node, false, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->clock) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: its clock is already wrong: faults of a clock must not overlap", name);
    struct rig_shim_clock *clock = &control->clocks[0];
    atomic_store(&clock->offset_ns, options->backwards ? -options->jump_ns : options->jump_ns);
    atomic_store(&clock->since_ns, real_ns());
    atomic_store(&clock->drift_ppm, (int64_t)(options->drift * 1e6));
    target->before = atomic_load(&control->clocked);
    target->control = control;
    atomic_store(&control->clock, 1);
    return RIG_OK;
}

static enum rig_rc check_options(const struct options *options, struct rig_err *err)
{
    if (options->jump_ns == 0 && (int64_t)(options->drift * 1e6) == 0)
        return rig_fail(err, RIG_E_CLUSTER, "neither `jump` nor `drift` is given: the clock would stay right");
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    static const struct rig_strike each = {set_clock, count, sizeof(struct target),
                                           "readings of the clock through rig's shim",
                                           "its programs read a wrong clock"};
    const enum rig_rc rc = check_options(site->options, err);
    return rc != RIG_OK ? rc : rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    (void)err;
    if (target->control == NULL)
        return RIG_OK;
    atomic_store(&target->control->clock, 0);
    const unsigned long long readings = count(target);
    rig_evidence_add(evidence, "%s: %llu reading%s %s wrong", rig_target_name(site, i), readings, rig_plural(readings),
                     rig_was_were(readings));
    *target = (struct target){.control = NULL};
    return RIG_OK;
}

const struct rig_fault rig_fault_clock = {
    .name = "clock",
    .summary = "makes the wall clock of nodes jump, or run fast or slow; never the machine's clock",
    .needs = RIG_NEED_PRELOAD,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = rig_shims_are_there,
    .inject = inject,
    .heal_node = heal_node,
};
