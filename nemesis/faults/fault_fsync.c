/*
 * fsync: calls that make files durable are slow, fail, or lie.
 *
 *   slow  each fsync takes longer
 *   fail  each returns EIO; databases rightly crash then, some repeatedly: the heal starts the node again
 *   lie   each reports success, and nothing is made durable; at the end the power fails (nemesis/power.h), and
 *         the node loses everything written since the fault began, acknowledged commits included
 *
 * Evidence: the number of calls that were slowed down, failed or lied about.
 */
#include "base/plural.h"
#include "nemesis/fault_setup.h"
#include "nemesis/power.h"

enum { MODE_SLOW, MODE_FAIL, MODE_LIE };
static const char *const modes[] = {"slow", "fail", "lie", NULL};
static const char *const happens[] = {"calls are slowed down", "calls fail", "calls are lied about"};
static const char *const happened[] = {" slowed down", "failed", " lied about"};

struct options {
    int64_t mode;
    int64_t delay_ns;
    double share;
    bool lose;
};

static const struct rig_option table[] = {
    {.name = "mode",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, mode),
     .default_text = "slow",
     .choices = modes,
     .help = "slow: it takes longer; fail: it fails with EIO; lie: it reports success and does nothing"},
    {.name = "delay",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, delay_ns),
     .default_text = "100ms",
     .least = 1e3,
     .most = 60e9,
     .help = "additional time of each call (`mode: slow`)"},
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, share),
     .default_text = "100%",
     .least = 0.0001,
     .most = 1,
     .help = "share of the calls that are affected"},
    {.name = "lose",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, lose),
     .default_text = "true",
     .help = ("whether the node finally loses everything that it wrote since the fault began, as in a power failure "
              "(`mode: lie`)")},
    {.name = NULL},
};

struct target {
    struct rig_shim_control *control; /* the orders of the node */
    uint64_t before;
    struct rig_power power;
    bool to_start; /* the node may have ended because of it */
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->syncs) - target->before;
}

static enum rig_shim_sync order_of(const struct options *options)
{
    return options->mode == MODE_SLOW   ? RIG_SHIM_SYNC_SLOW
           : options->mode == MODE_FAIL ? RIG_SHIM_SYNC_FAIL
                                        : RIG_SHIM_SYNC_LIE;
}

struct order {
    const struct options *options;
    struct rig_shim_control *control;
};

static void give(void *context)
{
    const struct order *order = context;
    atomic_store(&order->control->share, (uint64_t)(order->options->share * 4294967296.0));
    atomic_store(&order->control->delay_ns, order->options->delay_ns);
    atomic_store(&order->control->sync, (uint32_t)order_of(order->options));
}

static enum rig_rc strike(const struct rig_fault_site *site, uint32_t node, struct target *target, struct rig_err *err)
{
    const struct options *options = site->options;
    struct rig_shim_control *control = NULL;
    enum rig_rc rc = rig_fault_setup_shim(site, node, true, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->sync) != RIG_SHIM_SYNC_REAL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: a fault of fsync is already in effect: they must not overlap",
                        rig_fleet_of(site)->names[node]);
    struct order order = {.options = options, .control = control};
    target->before = atomic_load(&control->syncs);
    target->control = control;
    if (options->mode == MODE_LIE && options->lose)
        return rig_power_mark(site, node, &target->power, give, &order, err);
    give(&order);
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    const struct options *options = site->options;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < site->node_count && rc == RIG_OK; i++)
        rc = strike(site, site->nodes[i], &state->targets[i], err);
    const struct rig_effect effect = {
        .count = count, .context = state->targets, .what = "calls of fsync through rig's shim"};
    return rc != RIG_OK
               ? rc
               : rig_await_effects(site, &effect, sizeof state->targets[0], happens[options->mode], evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    const struct options *options = site->options;
    if (target->control != NULL) {
        const bool loses = target->power.kept[0] != '\0';
        atomic_store(&target->control->sync, RIG_SHIM_SYNC_REAL);
        const unsigned long long calls = count(target);
        rig_evidence_add(evidence, "%s: %llu call%s %s%s%s", rig_target_name(site, i), calls, rig_plural(calls),
                         options->mode == MODE_FAIL ? "" : rig_was_were(calls), happened[options->mode],
                         loses ? ", and everything written since is lost" : "");
        target->control = NULL;
        target->to_start = options->mode == MODE_FAIL;
    }
    enum rig_rc rc = rig_power_lose(site, site->nodes[i], &target->power, err);
    if (rc == RIG_OK && target->to_start)
        rc = rig_revive(site, site->nodes[i], true, err);
    target->to_start = target->to_start && rc != RIG_OK;
    return rc;
}

const struct rig_fault rig_fault_fsync = {
    .name = "fsync",
    .summary = "makes fsync slow, fail, or lie; after a lie a power failure loses everything that was not durable",
    .needs = RIG_NEED_PRELOAD | RIG_NEED_PROCESSES | RIG_NEED_RESTART | RIG_FAULT_STOPS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = rig_shims_are_there,
    .inject = inject,
    .heal_node = heal_node,
};
