/*
 * reset: resets the open connections between the targets and others, on both sides. While it lasts, further ones are
 * reset by chance at any chunk, and, where the plan asks for it, every new one.
 *
 * Evidence: connections that were reset or refused. When none is open at first, the fault waits for new ones.
 */
#include "nemesis/network.h"

struct options {
    struct rig_network_options network; /* `direction` stays both */
    double chance;
    bool refuse;
};

static const struct rig_option table[] = {
    {.name = "chance",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, chance),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "probability that a chunk resets its connection instead of arriving, while the fault lasts"},
    {.name = "refuse",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, refuse),
     .default_text = "false",
     .help = "whether new connections are refused while the fault lasts"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    {.name = NULL},
};

static void reset_line(const struct rig_fault_site *site, struct rig_proxy *proxy, uint32_t token, const char *from,
                       const char *to)
{
    (void)site;
    (void)rig_proxy_group_reset(proxy, token, from, to);
}

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct rig_network *network = state;
    const struct options *options = site->options;
    const struct rig_proxy_rule refuse = {.kind = RIG_PROXY_REFUSE};
    const struct rig_proxy_rule chance = {.kind = RIG_PROXY_RESET, .share = options->chance};
    enum rig_rc rc = rig_network_begin(site, network, "reset", err);
    if (rc == RIG_OK && options->chance > 0)
        rc = rig_network_rules(site, network, &options->network, &chance, err);
    if (rc == RIG_OK && options->refuse)
        rc = rig_network_rules(site, network, &options->network, &refuse, err);
    if (rc != RIG_OK)
        return rc;
    return rig_network_strike_open(site, network, (enum rig_between)options->network.between, reset_line, evidence,
                                   err);
}

const struct rig_fault rig_fault_reset = {
    .name = "reset",
    .summary = "resets connections of nodes, and optionally refuses new ones",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
