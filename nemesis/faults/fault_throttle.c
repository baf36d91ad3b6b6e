/*
 * throttle: limits the bytes a second on each link of the targets, over all its connections together.
 *
 * Evidence: bytes that had to wait.
 */
#include "nemesis/network.h"

struct options {
    struct rig_network_options network;
    int64_t bytes_per_s;
};

static const struct rig_option table[] = {
    {.name = "rate",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct options, bytes_per_s),
     .default_text = "16KiB",
     .least = 1,
     .most = 1e12,
     .help = "bytes a second over a link, each way"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    RIG_NETWORK_DIRECTION(struct options, network.direction),
    {.name = NULL},
};

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = {.kind = RIG_PROXY_THROTTLE, .bytes_per_s = options->bytes_per_s};
    return rig_network_strike(site, state, &options->network, &rule, "slowed down", evidence, err);
}

const struct rig_fault rig_fault_throttle = {
    .name = "throttle",
    .summary = "limits the bytes a second over the links of nodes",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
