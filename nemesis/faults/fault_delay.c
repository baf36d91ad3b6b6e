/*
 * delay: every chunk on the links of the targets takes longer, by a fixed time and a random one; order is kept.
 *
 * Evidence: bytes that were delayed.
 */
#include "base/clock.h"
#include "nemesis/network.h"

struct options {
    struct rig_network_options network;
    int64_t delay_ns, jitter_ns;
};

static const struct rig_option table[] = {
    {.name = "delay",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, delay_ns),
     .default_text = "50ms",
     .least = 1e3,
     .most = 600e9,
     .help = "additional time for a chunk, each way"},
    {.name = "jitter",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, jitter_ns),
     .default_text = "10ms",
     .least = 0,
     .most = 600e9,
     .help = "random variation of the delay, up or down, uniformly distributed; at most the delay itself"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    RIG_NETWORK_DIRECTION(struct options, network.direction),
    {.name = NULL},
};

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = {
        .kind = RIG_PROXY_DELAY, .delay_ns = options->delay_ns, .jitter_ns = options->jitter_ns};
    return rig_network_strike(site, state, &options->network, &rule, "delayed", evidence, err);
}

const struct rig_fault rig_fault_delay = {
    .name = "delay",
    .summary = "delays all bytes on the links of nodes, by a fixed and a random time",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
