/*
 * loss: chunks on the links of the targets are lost with a probability, with TCP's behaviour: they, and all bytes
 * behind them, stall for the retransmission time-out, which doubles when the same chunk is lost again.
 *
 * Evidence: bytes of chunks that stalled.
 */
#include "nemesis/network.h"

struct options {
    struct rig_network_options network;
    double share;
    int64_t timeout_ns;
};

static const struct rig_option table[] = {
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, share),
     .default_text = "5%",
     .least = 0.0001,
     .most = 1,
     .help = "probability that a chunk is lost, each time it is sent"},
    {.name = "timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, timeout_ns),
     .default_text = "200ms",
     .least = 1e6,
     .most = 60e9,
     .help = "time after which a lost chunk is sent again; doubled each time, at most six times"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    RIG_NETWORK_DIRECTION(struct options, network.direction),
    {.name = NULL},
};

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = {
        .kind = RIG_PROXY_LOSS, .share = options->share, .timeout_ns = options->timeout_ns};
    return rig_network_strike(site, state, &options->network, &rule, "lost and sent again", evidence, err);
}

const struct rig_fault rig_fault_loss = {
    .name = "loss",
    .summary = "loses a share of the bytes on the links of nodes: they stall until they are sent again",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
